//! From an entry to what a server is started with: variables and the home directory are filled in, and commands that print a value run.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use offshoot_agent::expand_home;
use offshoot_agent::model::{is_key_variable, printed_key};
use offshoot_protocol::Secret;

use crate::config_file::{ConfigScope, ConfiguredServer};
use crate::server_config::{OauthConfig, Reach};

/// Looks a variable up.
pub type Lookup = Arc<dyn Fn(&str) -> Option<String> + Send + Sync>;

/// From the words of a command and its folder to those that run it in a sandbox. The error is a clause.
pub type Confine = Arc<dyn Fn(&[OsString], &Path) -> Result<ConfinedWords, String> + Send + Sync>;

/// A command in a sandbox.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct ConfinedWords {
    pub words: Vec<OsString>,
    /// Beside the server's own, which come first.
    pub env: Vec<(String, String)>,
}

/// Where servers start.
#[derive(Clone)]
pub struct Surroundings {
    /// Every variable of this program.
    pub variables: Lookup,
    /// Those that a server inherits.
    pub inherited: Vec<(String, String)>,
    /// The home directory.
    pub home: Option<PathBuf>,
    /// The folder of the session.
    pub cwd: PathBuf,
    /// This program's own file, which stays as the parent of servers; `None`: they end with their pipes alone.
    pub launcher: Option<PathBuf>,
    /// Puts the processes of servers with `sandbox` into one.
    pub confine: Confine,
    /// Gets values that no text must contain: those of headers, and of variables that a command or another variable has filled in.
    pub keep_secret: Arc<dyn Fn(&str) + Send + Sync>,
}

/// How a server is reached, filled in.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say what they are")]
pub enum StartPlan {
    Stdio { words: Vec<OsString>, env: Vec<(String, String)>, cwd: PathBuf },
    Http { url: String, headers: Vec<(String, Secret)>, oauth: OauthConfig },
}

/// The variables that every server inherits, beside those that begin with [`INHERITED_PREFIXES`].
const INHERITED: &[&str] = &["HOME", "PATH", "USER", "LOGNAME", "SHELL", "TERM", "LANG", "TMPDIR", "TZ"];
const INHERITED_PREFIXES: &[&str] = &["LC_", "XDG_"];
/// Longer values are refused.
const LONGEST: usize = 128 << 10;

/// Whether servers get this variable of the program. Keys of providers must not reach every server.
pub fn is_inherited(name: &str) -> bool {
    INHERITED.contains(&name) || INHERITED_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

/// What a server is started with.
///
/// # Errors
/// A variable is not set, or a command does not print a value, as a clause.
pub async fn plan(server: &ConfiguredServer, around: &Surroundings) -> Result<StartPlan, String> {
    let fill = |text: &str| expand_for(text, server.source.scope, around);
    let home = |text: String| expand_home(OsString::from(text), around.home.as_deref());
    match &server.config.reach {
        Reach::Stdio { command, args, env, cwd } => {
            let mut words = vec![home(fill(command)?).into_os_string()];
            for arg in args {
                words.push(home(fill(arg)?).into_os_string());
            }
            let folder = cwd.as_deref().map(fill).transpose()?.map(home);
            let mut variables = around.inherited.clone();
            for (name, value) in env {
                let filled =
                    value_of(value, server.source.scope, around).await.map_err(|why| format!("env.{name}: {why}"))?;
                if filled != *value {
                    (around.keep_secret)(&filled);
                }
                let value = filled;
                variables.retain(|(known, _)| known != name);
                variables.push((name.clone(), value));
            }
            let cwd = folder.map_or_else(|| around.cwd.clone(), |folder| around.cwd.join(folder));
            if server.config.is_sandboxed {
                let confined = (around.confine)(&words, &cwd).map_err(|why| format!("sandbox: {why}"))?;
                words = confined.words;
                for (name, value) in confined.env {
                    if env.iter().all(|(own, _)| *own != name) {
                        variables.retain(|(known, _)| *known != name);
                        variables.push((name, value));
                    }
                }
            }
            Ok(StartPlan::Stdio { words, env: variables, cwd })
        }
        Reach::Http { url, headers, oauth } => {
            let url = fill(url)?;
            if !url.starts_with("http://") && !url.starts_with("https://") {
                return Err("the url does not begin with http:// or https://".to_owned());
            }
            let mut filled = Vec::new();
            for (name, value) in headers {
                let value = value_of(value, server.source.scope, around).await;
                let value = value.map_err(|why| format!("headers.{name}: {why}"))?;
                (around.keep_secret)(&value);
                filled.push((name.clone(), Secret::new(value)));
            }
            let client_secret = oauth.client_secret.as_deref().map(fill).transpose()?;
            Ok(StartPlan::Http { url, headers: filled, oauth: OauthConfig { client_secret, ..oauth.clone() } })
        }
    }
}

/// A value that may be a command in a file of the user. A project must not run one.
async fn value_of(text: &str, scope: ConfigScope, around: &Surroundings) -> Result<String, String> {
    match text.strip_prefix('!') {
        None => expand_for(text, scope, around),
        Some(_) if scope == ConfigScope::Project => Err("a project's file runs no command for a value".to_owned()),
        Some(command) => printed_key(command).await.map(|value| value.expose().to_owned()),
    }
}

/// Fills a text in. A project's file must not name the variable of a provider's key.
fn expand_for(text: &str, scope: ConfigScope, around: &Surroundings) -> Result<String, String> {
    match named_variables(text).find(|name| scope == ConfigScope::Project && is_key_variable(name)) {
        None => expand(text, &*around.variables),
        Some(key) => Err(format!(
            "{key} is a provider's key, which a project's file does not get; a file of yours may give it to the server"
        )),
    }
}

/// What is before the first `${NAME}` or `${NAME:-default}` of a text, the name, the default, and the rest.
fn next_variable(text: &str) -> Option<(&str, &str, Option<&str>, &str)> {
    let (before, after) = text.split_once("${")?;
    let (inside, rest) = after.split_once('}')?;
    let (name, default) = match inside.split_once(":-") {
        Some((name, default)) => (name, Some(default)),
        None => (inside, None),
    };
    Some((before, name, default, rest))
}

/// The variables that a text names.
fn named_variables(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let (_, name, _, after) = next_variable(rest)?;
        rest = after;
        Some(name)
    })
}

/// Fills in `${NAME}` and `${NAME:-default}`.
fn expand(text: &str, variables: &(dyn Fn(&str) -> Option<String> + Send + Sync)) -> Result<String, String> {
    let mut filled = String::new();
    let mut rest = text;
    while let Some((before, name, default, behind)) = next_variable(rest) {
        filled.push_str(before);
        let value = variables(name).filter(|value| !value.is_empty() || default.is_none());
        let value = value.or_else(|| default.map(str::to_owned)).ok_or_else(|| format!("{name} is not set"))?;
        filled.push_str(&value);
        rest = behind;
    }
    filled.push_str(rest);
    if filled.len() > LONGEST { Err("a value is too long".to_owned()) } else { Ok(filled) }
}

/// A command line as a person reads it.
pub fn shown_words(words: &[OsString]) -> String {
    let word = |word: &OsString| offshoot_session::text::shell_word(&word.to_string_lossy());
    words.iter().map(word).collect::<Vec<_>>().join(" ")
}

/// What a server runs or asks, as it is written, with the variables that it gets, for the question about it.
pub fn shown_reach(reach: &Reach) -> String {
    let (runs, values) = match reach {
        Reach::Stdio { command, args, env, .. } => {
            let words: Vec<OsString> = std::iter::once(command).chain(args).map(OsString::from).collect();
            (shown_words(&words), env)
        }
        Reach::Http { url, headers, .. } => (url.clone(), headers),
    };
    let mut names: Vec<&str> = values.iter().flat_map(|(_, value)| named_variables(value)).collect();
    names.sort_unstable();
    names.dedup();
    if names.is_empty() { runs } else { format!("{runs} (gets {})", names.join(", ")) }
}

/// All that a person should see before a server runs: its command or address, its folder and what it is given, as they are written.
pub fn shown_whole(reach: &Reach) -> Vec<String> {
    let mut lines = Vec::new();
    match reach {
        Reach::Stdio { command, args, env, cwd } => {
            let words: Vec<OsString> = std::iter::once(command).chain(args).map(OsString::from).collect();
            lines.push(shown_words(&words));
            lines.extend(cwd.iter().map(|cwd| format!("in {cwd}")));
            lines.extend(env.iter().map(|(name, value)| format!("with {name}={value}")));
        }
        Reach::Http { url, headers, .. } => {
            lines.push(url.clone());
            lines.extend(headers.iter().map(|(name, value)| format!("sends {name}: {value}")));
        }
    }
    lines
}

/// The path of a folder of servers, whatever the session's folder is.
pub(crate) fn file_uri(folder: &Path) -> String {
    let escape = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' | b'~' => char::from(byte).to_string(),
        other => format!("%{other:02X}"),
    };
    use std::os::unix::ffi::OsStrExt as _;
    format!("file://{}", folder.as_os_str().as_bytes().iter().map(|byte| escape(*byte)).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config_file::{ConfigFile, ConfigSource, merge};
    use crate::server_config::ConfigDialect;

    fn planned(entry: &str, scope: ConfigScope) -> Result<StartPlan, String> {
        let file = ConfigFile::parse(&format!(r#"{{"mcpServers":{{"a":{entry}}}}}"#), ConfigDialect::Common);
        let source = ConfigSource { path: "f".into(), scope, dialect: ConfigDialect::Common };
        let server = merge(&[(Arc::new(source), file)]).0.remove(0);
        let set = [("HOST", "h"), ("EMPTY", "")];
        let variables =
            move |name: &str| set.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
        let around = Surroundings {
            variables: Arc::new(variables),
            inherited: vec![("PATH".to_owned(), "/bin".to_owned())],
            home: Some("/home/u".into()),
            cwd: "/w".into(),
            launcher: None,
            confine: Arc::new(|words, cwd| {
                let mut all = vec![OsString::from("box"), cwd.as_os_str().to_owned()];
                all.extend(words.iter().cloned());
                Ok(ConfinedWords { words: all, env: vec![("TMPDIR".to_owned(), "/t".to_owned())] })
            }),
            keep_secret: Arc::new(|_| {}),
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(plan(&server, &around))
    }

    fn env_of(value: &str, scope: ConfigScope) -> Result<String, String> {
        match planned(&format!(r#"{{"command":"x","env":{{"K":{value}}}}}"#), scope)? {
            StartPlan::Stdio { env, .. } => Ok(env.into_iter().find(|(name, _)| name == "K").unwrap().1),
            StartPlan::Http { .. } => panic!("no command"),
        }
    }

    #[test]
    fn a_variable_that_is_not_set_starts_nothing() {
        let user = |value| env_of(value, ConfigScope::User);
        assert_eq!(user(r#""${NOPE}""#), Err("env.K: NOPE is not set".to_owned()));
        assert_eq!(user(r#""${NOPE:-d}""#), Ok("d".to_owned()));
        assert_eq!(user(r#""a${HOST}b${EMPTY:-e}${EMPTY}$""#), Ok("ahbe$".to_owned()));
        assert_eq!(user(r#""${HOST""#), Ok("${HOST".to_owned()));
    }

    #[test]
    fn only_a_users_file_runs_a_command_for_a_value() {
        assert_eq!(env_of(r#""!echo from-a-command""#, ConfigScope::User), Ok("from-a-command".to_owned()));
        let refused = env_of(r#""!echo x""#, ConfigScope::Project);
        assert_eq!(refused, Err("env.K: a project's file runs no command for a value".to_owned()));
    }

    #[test]
    fn a_project_does_not_name_a_providers_key() {
        let refused = "ANTHROPIC_API_KEY is a provider's key, which a project's file does not get; a file of yours may \
                       give it to the server";
        let value = r#""x${HOST}${ANTHROPIC_API_KEY:-}""#;
        assert_eq!(env_of(value, ConfigScope::Project), Err(format!("env.K: {refused}")));
        assert_eq!(env_of(value, ConfigScope::User), Ok("xh".to_owned()));
        for entry in [
            r#"{"command":"${ANTHROPIC_API_KEY:-a}"}"#,
            r#"{"command":"a","args":["${ANTHROPIC_API_KEY:-a}"]}"#,
            r#"{"command":"a","cwd":"${ANTHROPIC_API_KEY:-a}"}"#,
            r#"{"url":"http://h/${ANTHROPIC_API_KEY:-a}"}"#,
            r#"{"url":"http://h","headers":{"a":"${ANTHROPIC_API_KEY:-a}"}}"#,
        ] {
            assert!(planned(entry, ConfigScope::Project).is_err_and(|why| why.ends_with(refused)), "{entry}");
            assert!(planned(entry, ConfigScope::User).is_ok(), "{entry}");
        }
    }

    #[test]
    fn the_question_shows_which_variables_a_server_gets() {
        let env = ["A", "B"].map(|name| (name.to_owned(), "${HOST}${EMPTY:-x}".to_owned())).to_vec();
        let reach = Reach::Stdio { command: "a b".to_owned(), args: Vec::new(), env, cwd: None };
        assert_eq!(shown_reach(&reach), "'a b' (gets EMPTY, HOST)");
    }

    #[test]
    fn a_person_sees_the_whole_entry() {
        let shown = |entry: &str| {
            let file = ConfigFile::parse(&format!(r#"{{"mcpServers":{{"a":{entry}}}}}"#), ConfigDialect::Common);
            let source = ConfigSource { path: "f".into(), scope: ConfigScope::Project, dialect: ConfigDialect::Common };
            shown_whole(&merge(&[(Arc::new(source), file)]).0.remove(0).config.reach)
        };
        assert_eq!(
            shown(r#"{"command":"x","args":["a b"],"cwd":"sub","env":{"NODE_OPTIONS":"-r ./evil.js"}}"#),
            ["x 'a b'", "in sub", "with NODE_OPTIONS=-r ./evil.js"]
        );
        assert_eq!(shown(r#"{"url":"http://h/","headers":{"A":"${B}"}}"#), ["http://h/", "sends A: ${B}"]);
    }

    #[test]
    fn a_server_may_start_in_a_sandbox() {
        let entry = r#"{"command":"x","args":["a"],"cwd":"sub","sandbox":true}"#;
        let words = ["box", "/w/sub", "x", "a"].map(OsString::from).to_vec();
        let env =
            [("PATH", "/bin"), ("TMPDIR", "/t")].map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
        assert_eq!(planned(entry, ConfigScope::User), Ok(StartPlan::Stdio { words, env, cwd: "/w/sub".into() }));
    }

    #[test]
    fn home_and_folder_are_filled_in() {
        let plan = planned(r#"{"command":"~/bin/s","args":["~/x","a~"],"cwd":"sub"}"#, ConfigScope::User);
        let words = ["/home/u/bin/s", "/home/u/x", "a~"].map(OsString::from).to_vec();
        let env = vec![("PATH".to_owned(), "/bin".to_owned())];
        assert_eq!(plan, Ok(StartPlan::Stdio { words, env, cwd: "/w/sub".into() }));
        assert_eq!(
            planned(r#"{"url":"ftp://h"}"#, ConfigScope::User).unwrap_err(),
            "the url does not begin with http:// or https://"
        );
        assert_eq!(file_uri(Path::new("/a b/ü")), "file:///a%20b/%C3%BC");
    }

    #[test]
    fn few_variables_reach_a_server() {
        for (name, expected) in
            [("HOME", true), ("LC_ALL", true), ("XDG_DATA_HOME", true), ("ANTHROPIC_API_KEY", false), ("HOMES", false)]
        {
            assert_eq!(is_inherited(name), expected, "{name}");
        }
    }
}
