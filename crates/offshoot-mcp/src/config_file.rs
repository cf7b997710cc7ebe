//! Files of servers: what each says, and which of several entries of one name counts. Reads no file itself.

use std::path::PathBuf;
use std::sync::Arc;

use offshoot_agent::lenient_json;
use serde_json::Value;

use crate::server_config::{ConfigDialect, ServerConfig, ServerEntry, ServerSwitches, read_entry};
use crate::tool_name::in_name;

/// More servers in one file are not read.
const MOST_SERVERS: usize = 200;

/// Whose a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConfigScope {
    /// The command line names it.
    Named,
    /// It comes with a project: its servers start only when a person has named each.
    Project,
    /// The user's own.
    User,
    /// An extension has registered it.
    Extension,
}

/// Where servers are configured.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct ConfigSource {
    pub path: PathBuf,
    pub scope: ConfigScope,
    pub dialect: ConfigDialect,
}

/// What a file says.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ConfigFile {
    /// In the order of the file.
    pub entries: Vec<ServerEntry>,
    /// Servers of any file that this one turns off.
    pub disabled: Vec<String>,
    /// What is wrong with it, and members that mean nothing.
    pub troubles: Vec<String>,
}

/// A server, and where it comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct ConfiguredServer {
    pub config: ServerConfig,
    pub source: Arc<ConfigSource>,
    /// The file that changes its switches.
    pub overridden_by: Option<Arc<ConfigSource>>,
}

impl ConfiguredServer {
    /// Whether nothing turns it off.
    pub fn is_enabled(&self) -> bool {
        self.config.switches.enabled.unwrap_or(true)
    }
}

impl ConfigFile {
    /// Reads the text of a file. Entries that are wrong are left out, and named in the troubles.
    pub fn parse(text: &str, dialect: ConfigDialect) -> Self {
        match lenient_json::from_str::<Value>(text) {
            Ok(value) => Self::of(&value, dialect),
            Err(error) => Self { troubles: vec![format!("it is not JSON: {error}")], ..Self::default() },
        }
    }

    /// The servers of a value that has `mcpServers`.
    pub fn of(value: &Value, dialect: ConfigDialect) -> Self {
        let mut file = Self::default();
        let list = |key: &str| value[key].as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned);
        file.disabled = list("disabledServers").collect();
        let servers = match value.get("mcpServers") {
            None if value.is_object() => return file,
            Some(Value::Object(servers)) => servers,
            None | Some(_) => {
                file.troubles.push("mcpServers is not an object".to_owned());
                return file;
            }
        };
        let mut taken: Vec<String> = Vec::new();
        for (name, value) in servers.iter().take(MOST_SERVERS) {
            let same = in_name(name);
            if taken.contains(&same) {
                file.troubles.push(format!("{name}: another server has this name but for - and _"));
                continue;
            }
            match read_entry(name, value, dialect) {
                Ok((entry, unknown)) => {
                    taken.push(same);
                    file.entries.push(entry);
                    file.troubles.extend(unknown.iter().map(|key| format!("{name}: {key} means nothing here")));
                }
                Err(why) => file.troubles.push(format!("{name}: {why}")),
            }
        }
        if servers.len() > MOST_SERVERS {
            file.troubles.push(format!("only the first {MOST_SERVERS} of {} servers count", servers.len()));
        }
        file
    }
}

/// The servers of all files, of which the first counts most: an entry counts whole, and one that only has switches changes that of a file
/// after it. Also what is wrong.
pub fn merge(files: &[(Arc<ConfigSource>, ConfigFile)]) -> (Vec<ConfiguredServer>, Vec<String>) {
    let mut servers: Vec<ConfiguredServer> = Vec::new();
    let mut waiting: Vec<(Arc<ConfigSource>, String, ServerSwitches)> = Vec::new();
    let mut troubles = Vec::new();
    for (source, file) in files {
        let told = |why: &String| format!("{}: {why}", source.path.display());
        troubles.extend(file.troubles.iter().map(told));
        for entry in &file.entries {
            match entry {
                ServerEntry::Override(name, switches) => {
                    let is_known = waiting.iter().any(|(_, other, _)| in_name(other) == in_name(name));
                    if !is_known && servers.iter().all(|server| in_name(&server.config.name) != in_name(name)) {
                        waiting.push((source.clone(), name.clone(), switches.clone()));
                    }
                }
                ServerEntry::Whole(config) => {
                    if servers.iter().any(|server| in_name(&server.config.name) == in_name(&config.name)) {
                        continue;
                    }
                    let mut server =
                        ConfiguredServer { config: (**config).clone(), source: source.clone(), overridden_by: None };
                    let at = waiting.iter().position(|(_, name, _)| in_name(name) == in_name(&config.name));
                    if let Some((by, _, switches)) = at.map(|at| waiting.remove(at)) {
                        server.change(&switches);
                        server.overridden_by = Some(by);
                    }
                    servers.push(server);
                }
            }
        }
    }
    let lost = waiting.iter().map(|(source, name, _)| {
        format!(
            "{}: {name}: it needs a command or a url, or a server of this name in another file",
            source.path.display()
        )
    });
    troubles.extend(lost);
    let disabled: Vec<&String> = files.iter().flat_map(|(_, file)| &file.disabled).collect();
    for server in &mut servers {
        if disabled.contains(&&server.config.name) {
            server.config.switches.enabled = Some(false);
        }
    }
    (servers, troubles)
}

impl ConfiguredServer {
    fn change(&mut self, by: &ServerSwitches) {
        let own = &mut self.config.switches;
        own.enabled = by.enabled.or(own.enabled);
        own.exposure = by.exposure.or(own.exposure);
        if !by.tool_exposure.is_empty() {
            own.tool_exposure.clone_from(&by.tool_exposure);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn source(scope: ConfigScope) -> Arc<ConfigSource> {
        let path = if scope == ConfigScope::User { "user" } else { "project" };
        Arc::new(ConfigSource { path: path.into(), scope, dialect: ConfigDialect::Common })
    }

    fn merged(project: &str, user: &str) -> (Vec<ConfiguredServer>, Vec<String>) {
        let file = |servers: &str| ConfigFile::parse(&format!(r#"{{"mcpServers":{servers}}}"#), ConfigDialect::Common);
        merge(&[(source(ConfigScope::Project), file(project)), (source(ConfigScope::User), file(user))])
    }

    /// The vectors that were observed on pi 1.5.2.
    #[test]
    fn a_project_changes_the_switches_of_a_users_server() {
        let (servers, troubles) = merged(r#"{"a":{"enabled":false}}"#, r#"{"a":{"command":"x"}}"#);
        assert_eq!(troubles, [""; 0]);
        let a = &servers[0];
        assert_eq!((a.is_enabled(), a.source.scope), (false, ConfigScope::User));
        assert_eq!(a.overridden_by.as_ref().map(|by| by.scope), Some(ConfigScope::Project));

        let (servers, troubles) = merged(r#"{"b":{"enabled":false}}"#, "{}");
        assert_eq!(servers, []);
        assert_eq!(troubles, ["project: b: it needs a command or a url, or a server of this name in another file"]);

        let (servers, troubles) = merged(r#"{"a":{"enabled":false,"env":{}}}"#, r#"{"a":{"command":"x"}}"#);
        assert!(servers[0].is_enabled());
        let expected =
            "project: a: it has neither command nor url, and env is not one of enabled, exposure, toolExposure";
        assert_eq!(troubles, [expected]);
    }

    #[test]
    fn the_first_of_a_name_counts_whole_and_is_never_merged() {
        let (servers, _) =
            merged(r#"{"a":{"command":"p"}}"#, r#"{"a":{"command":"u","description":"d"},"b":{"url":"http://h/"}}"#);
        let names: Vec<&str> = servers.iter().map(|server| server.config.name.as_str()).collect();
        assert_eq!(names, ["a", "b"]);
        assert_eq!((servers[0].source.scope, &servers[0].config.description), (ConfigScope::Project, &None));
    }

    #[test]
    fn names_that_differ_in_hyphens_are_one_name() {
        let file = ConfigFile::parse(
            r#"{"mcpServers":{"my-srv":{"command":"x"},"my_srv":{"command":"y"}}}"#,
            ConfigDialect::Common,
        );
        assert_eq!(file.entries.len(), 1);
        assert_eq!(file.troubles, ["my_srv: another server has this name but for - and _"]);
    }

    #[test]
    fn a_timeout_has_the_unit_of_its_file() {
        let of =
            |entry: &str, dialect| match ConfigFile::parse(&format!(r#"{{"mcpServers":{{"a":{entry}}}}}"#), dialect)
                .entries
                .remove(0)
            {
                ServerEntry::Whole(config) => config.timeout,
                ServerEntry::Override(..) => panic!("an override"),
            };
        use ConfigDialect::{Common, Omp, Pi};
        for (entry, dialect, expected) in [
            (r#"{"command":"x"}"#, Common, Some(60_000)),
            (r#"{"command":"x"}"#, Pi, Some(60_000)),
            (r#"{"command":"x"}"#, Omp, Some(30_000)),
            (r#"{"command":"x","timeout":5}"#, Pi, Some(5_000)),
            (r#"{"command":"x","timeout":5}"#, Common, Some(5)),
            (r#"{"command":"x","timeout":0}"#, Omp, None),
            (r#"{"command":"x","timeoutMs":7,"timeout":5}"#, Common, Some(7)),
        ] {
            assert_eq!(of(entry, dialect), expected.map(Duration::from_millis), "{entry}");
        }
    }

    #[test]
    fn what_is_wrong_is_said_and_the_others_count() {
        let wrong = r#"{"mcpServers":{"both":{"command":"x","url":"y"},"Ünï":{"command":"x"},"old":{"type":"sse","url":"http://h/sse"},
            "n":7,"t":{"command":"x","timeout":"a"},"ok":{"command":"x","colour":1}}}"#;
        let file = ConfigFile::parse(wrong, ConfigDialect::Common);
        assert_eq!(file.entries.len(), 1);
        assert_eq!(
            file.troubles,
            [
                "both: it has both command and url",
                "Ünï: a name has only letters, digits, `_` and `-`",
                "old: type sse is the old transport, which is not spoken: try the same host with /mcp and type http",
                "n: it is not an object",
                "t: timeout is not a number of 0 or more",
                "ok: colour means nothing here",
            ]
        );
        assert!(ConfigFile::parse("{", ConfigDialect::Common).troubles[0].starts_with("it is not JSON"));
    }
}
