//! One server of a configuration: what its entry says, and what is wrong with it. Reads no file and no variable.

use std::time::Duration;

use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

use crate::exposure::Exposure;
use crate::tool_name::{hex, is_server_name};

/// How a server is reached, as it is written: variables are not expanded.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say what they are")]
pub enum Reach {
    Stdio { command: String, args: Vec<String>, env: Vec<(String, String)>, cwd: Option<String> },
    Http { url: String, headers: Vec<(String, String)>, oauth: OauthConfig },
}

/// How a person signs in to a server.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct OauthConfig {
    pub client_id: Option<String>,
    pub client_secret: Option<String>,
    pub callback_port: Option<u16>,
    pub scope: Option<String>,
    pub client_name: Option<String>,
}

/// What an entry says besides how the server is reached.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct ServerSwitches {
    pub enabled: Option<bool>,
    pub exposure: Option<Exposure>,
    /// Of single tools: names and patterns.
    pub tool_exposure: Vec<(String, Exposure)>,
}

impl ServerSwitches {
    /// Whether tools have to be searched, whatever the server offers.
    pub(crate) fn may_defer(&self) -> bool {
        let of_tools = self.tool_exposure.iter().map(|(_, exposure)| *exposure);
        self.exposure.into_iter().chain(of_tools).any(|exposure| exposure == Exposure::Deferred)
    }
}

/// A server.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct ServerConfig {
    pub name: String,
    pub reach: Reach,
    /// Of each request; `None`: it may take any time.
    pub timeout: Option<Duration>,
    pub description: Option<String>,
    pub switches: ServerSwitches,
    /// Whether a tool that says of itself that it only reads counts as one.
    pub trusts_annotations: bool,
    /// Whether its process runs in the sandbox of commands.
    pub is_sandboxed: bool,
    /// Of the entry as it is written: who changes it changes this.
    pub hash: String,
}

/// An entry of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServerEntry {
    /// A server.
    Whole(Box<ServerConfig>),
    /// Changes the switches of a server that another file has.
    Override(String, ServerSwitches),
}

/// The program that wrote a file: they count time in different units.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConfigDialect {
    /// offshoot's own files, and `.mcp.json`.
    Common,
    /// pi's: time-outs are seconds.
    Pi,
    /// oh-my-pi's.
    Omp,
}

const MEMBERS: &[&str] = &[
    "type",
    "command",
    "args",
    "env",
    "cwd",
    "url",
    "headers",
    "enabled",
    "timeout",
    "timeoutMs",
    "description",
    "exposure",
    "toolExposure",
    "oauth",
    "auth",
    "requestIdFormat",
    "trustAnnotations",
    "sandbox",
    "disabled",
];
const SWITCHES: &[&str] = &["enabled", "exposure", "toolExposure"];
/// Larger texts of a configuration are refused.
const LONGEST: usize = 64 << 10;
/// Longer time-outs are none.
const LONGEST_TIMEOUT: f64 = 24.0 * 3600.0 * 1000.0;

/// Reads an entry. Unknown members are named in the list.
///
/// # Errors
/// What is wrong with the entry, as a clause.
pub fn read_entry(name: &str, value: &Value, dialect: ConfigDialect) -> Result<(ServerEntry, Vec<String>), String> {
    if !is_server_name(name) {
        return Err("a name has only letters, digits, `_` and `-`".to_owned());
    }
    let entry = value.as_object().ok_or("it is not an object")?;
    let unknown = entry.keys().filter(|key| !MEMBERS.contains(&key.as_str())).cloned().collect();
    let switches = switches(entry)?;
    let Some(reach) = reach(entry)? else {
        if let Some(key) = entry.keys().find(|key| !SWITCHES.contains(&key.as_str())) {
            return Err(format!("it has neither command nor url, and {key} is not one of {}", SWITCHES.join(", ")));
        }
        return Ok((ServerEntry::Override(name.to_owned(), switches), unknown));
    };
    let is_sandboxed = flag(entry, "sandbox")?.unwrap_or(false);
    if is_sandboxed && matches!(reach, Reach::Http { .. }) {
        return Err("sandbox is for a server with a command".to_owned());
    }
    let config = ServerConfig {
        name: name.to_owned(),
        reach,
        timeout: timeout(entry, dialect)?,
        description: text(entry, "description")?,
        switches,
        trusts_annotations: flag(entry, "trustAnnotations")?.unwrap_or(false),
        is_sandboxed,
        hash: hash(name, value),
    };
    Ok((ServerEntry::Whole(Box::new(config)), unknown))
}

fn hash(name: &str, value: &Value) -> String {
    hex(&Sha256::digest(format!("{name}\0{value}")))
}

fn switches(entry: &Map<String, Value>) -> Result<ServerSwitches, String> {
    let word = |key: &str, value: &Value| {
        let known = value.as_str().and_then(Exposure::parse);
        known.ok_or_else(|| format!("{key} is not direct, deferred or hidden"))
    };
    let exposure = entry.get("exposure").map(|value| word("exposure", value)).transpose()?;
    let rules = match entry.get("toolExposure") {
        None => Vec::new(),
        Some(Value::Object(rules)) => rules
            .iter()
            .map(|(name, value)| Ok((name.clone(), word(&format!("toolExposure of {name}"), value)?)))
            .collect::<Result<_, String>>()?,
        Some(_) => return Err("toolExposure is not an object".to_owned()),
    };
    // Claude Code's spelling says the opposite.
    let enabled = match flag(entry, "enabled")? {
        None => flag(entry, "disabled")?.map(|is_disabled| !is_disabled),
        enabled => enabled,
    };
    Ok(ServerSwitches { enabled, exposure, tool_exposure: rules })
}

fn reach(entry: &Map<String, Value>) -> Result<Option<Reach>, String> {
    let (command, url) = (text(entry, "command")?, text(entry, "url")?);
    let kind = text(entry, "type")?;
    let is_stdio = match (kind.as_deref(), &command, &url) {
        (_, Some(_), Some(_)) => return Err("it has both command and url".to_owned()),
        (None, None, None) => return Ok(None),
        (Some("sse"), ..) => {
            return Err(
                "type sse is the old transport, which is not spoken: try the same host with /mcp and type http"
                    .to_owned(),
            );
        }
        (Some("stdio"), ..) | (None, Some(_), None) => true,
        (Some("http" | "streamable-http"), ..) | (None, None, Some(_)) => false,
        (Some(other), ..) => return Err(format!("type {other:?} is not stdio or http")),
    };
    if is_stdio {
        let command = command.filter(|command| !command.is_empty()).ok_or("it needs a command")?;
        let (args, env, cwd) = (texts(entry, "args")?, pairs(entry, "env")?, text(entry, "cwd")?);
        return Ok(Some(Reach::Stdio { command, args, env, cwd }));
    }
    let url = url.filter(|url| !url.is_empty()).ok_or("it needs a url")?;
    Ok(Some(Reach::Http { url, headers: pairs(entry, "headers")?, oauth: oauth(entry)? }))
}

fn oauth(entry: &Map<String, Value>) -> Result<OauthConfig, String> {
    let Some(value) = entry.get("oauth") else { return Ok(OauthConfig::default()) };
    let oauth = value.as_object().ok_or("oauth is not an object")?;
    let port = oauth.get("callbackPort").and_then(Value::as_u64).and_then(|port| u16::try_from(port).ok());
    Ok(OauthConfig {
        client_id: text(oauth, "clientId")?,
        client_secret: text(oauth, "clientSecret")?,
        callback_port: port,
        scope: text(oauth, "scope")?,
        client_name: text(oauth, "clientName")?,
    })
}

/// pi's files count seconds, all others milliseconds; 0 means that there is no limit.
fn timeout(entry: &Map<String, Value>, dialect: ConfigDialect) -> Result<Option<Duration>, String> {
    let usual = match dialect {
        ConfigDialect::Pi | ConfigDialect::Common => 60_000.0,
        ConfigDialect::Omp => 30_000.0,
    };
    let number = |key: &str| match entry.get(key) {
        None => Ok(None),
        Some(value) => {
            let number = value.as_f64().filter(|number| *number >= 0.0);
            number.map(Some).ok_or_else(|| format!("{key} is not a number of 0 or more"))
        }
    };
    let unit = if dialect == ConfigDialect::Pi { 1000.0 } else { 1.0 };
    let named = number("timeout")?.map(|number| number * unit);
    let millis = number("timeoutMs")?.or(named).unwrap_or(usual);
    let is_limit = millis > 0.0 && millis <= LONGEST_TIMEOUT;
    Ok(is_limit.then(|| Duration::try_from_secs_f64(millis / 1000.0).unwrap_or(Duration::from_secs(60))))
}

fn short(text: &str, key: &str) -> Result<String, String> {
    if text.len() > LONGEST || text.contains('\0') {
        return Err(format!("{key} is too long or has a zero byte"));
    }
    Ok(text.to_owned())
}

fn text(entry: &Map<String, Value>, key: &str) -> Result<Option<String>, String> {
    match entry.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => short(text, key).map(Some),
        Some(_) => Err(format!("{key} is not a text")),
    }
}

fn flag(entry: &Map<String, Value>, key: &str) -> Result<Option<bool>, String> {
    match entry.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Bool(flag)) => Ok(Some(*flag)),
        Some(_) => Err(format!("{key} is not true or false")),
    }
}

fn texts(entry: &Map<String, Value>, key: &str) -> Result<Vec<String>, String> {
    match entry.get(key) {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::Array(list)) => {
            let text = |value: &Value| short(value.as_str().ok_or(format!("{key} is not a list of texts"))?, key);
            list.iter().map(text).collect()
        }
        Some(_) => Err(format!("{key} is not a list of texts")),
    }
}

fn pairs(entry: &Map<String, Value>, key: &str) -> Result<Vec<(String, String)>, String> {
    match entry.get(key) {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::Object(pairs)) => {
            let pair = |(name, value): (&String, &Value)| match value {
                Value::String(text) => Ok((short(name, key)?, short(text, key)?)),
                Value::Number(_) | Value::Bool(_) => Ok((short(name, key)?, value.to_string())),
                Value::Null | Value::Array(_) | Value::Object(_) => Err(format!("{key}.{name} is not a text")),
            };
            pairs.iter().map(pair).collect()
        }
        Some(_) => Err(format!("{key} is not an object")),
    }
}
