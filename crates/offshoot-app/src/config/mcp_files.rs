//! The files of MCP servers, read; and the user's answers which servers of projects may start: `mcp-enabled.json` in the data folder, by the
//! file that names the server and a hash of its entry, and `mcp-refused.json` beside it. Never in the project: what comes with a clone
//! enables nothing.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use offshoot_agent::lenient_json;
use offshoot_mcp::config_file::{ConfigFile, ConfigScope, ConfigSource, ConfiguredServer};
use offshoot_mcp::server_config::ConfigDialect;
use offshoot_protocol::Peer;
use offshoot_session::medium::{SharedFile, read_regular_text, real_path_or_same};
use serde_json::Value;

use super::Environment;
use crate::error::{CommandError, FailureKind, Result};

const LIMIT: u64 = 4 << 20;
/// Claude Code keeps much in its file besides.
const CLAUDE_LIMIT: u64 = 64 << 20;
/// The file of a project, beside `.mcp.json`, and of the user.
pub const FILE: &str = "mcp.json";
/// The file of many programs.
pub const COMMON_FILE: &str = ".mcp.json";

/// Whose servers are used besides: the values of the setting `mcp.import`.
pub const IMPORTS: [&str; 3] = ["pi", "omp", "claude"];

/// A file of servers, before it is read.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Place {
    path: PathBuf,
    scope: ConfigScope,
    dialect: ConfigDialect,
}

/// The places of files for a folder, of which the first counts most.
fn places(environment: &Environment, folder: &Path, named: &[PathBuf], imports: &[String]) -> Vec<Place> {
    use ConfigDialect::{Common, Omp, Pi};
    use ConfigScope::{Named, Project, User};
    let place = |path: PathBuf, scope, dialect| Place { path, scope, dialect };
    let imported = |name: &str| imports.iter().any(|known| known == name);
    let mut places: Vec<Place> = named.iter().map(|path| place(environment.whole_path(path), Named, Common)).collect();
    places.push(place(folder.join(".offshoot").join(FILE), Project, Common));
    places.push(place(folder.join(COMMON_FILE), Project, Common));
    places.extend(environment.data.as_ref().map(|data| place(data.join(FILE), User, Common)));
    if imported("pi") {
        places.push(place(folder.join(".pi").join(FILE), Project, Pi));
        places.extend(environment.peer(Peer::Pi).map(|pi| place(pi.join(FILE), User, Pi)));
    }
    if imported("omp") {
        let own = environment.peer(Peer::Omp).map(Path::to_path_buf);
        let of_project = [FILE, COMMON_FILE].map(|name| place(folder.join(".omp").join(name), Project, Omp));
        let of_user = own.iter().flat_map(|omp| [FILE, COMMON_FILE].map(|name| place(omp.join(name), User, Omp)));
        places.extend(of_project.into_iter().chain(of_user));
    }
    places
}

/// The files of servers that come with a project.
pub fn of_project(environment: &Environment, folder: &Path, imports: &[String]) -> Vec<PathBuf> {
    let all = places(environment, folder, &[], imports).into_iter();
    all.filter(|place| place.scope == ConfigScope::Project && place.path.exists()).map(|place| place.path).collect()
}

/// Every file of servers that there is, read, of which the first counts most; and what cannot be read.
pub fn read(
    environment: &Environment,
    folder: &Path,
    named: &[PathBuf],
    imports: &[String],
) -> (Vec<(Arc<ConfigSource>, ConfigFile)>, Vec<String>) {
    let (mut files, mut troubles) = (Vec::new(), Vec::new());
    for Place { path, scope, dialect } in places(environment, folder, named, imports) {
        let file = match read_regular_text(&path, LIMIT) {
            Ok(text) => ConfigFile::parse(&text, dialect),
            Err(error) if error.kind() == io::ErrorKind::NotFound && scope != ConfigScope::Named => continue,
            Err(error) => {
                troubles.push(format!("could not read {}: {error}", path.display()));
                continue;
            }
        };
        files.push((Arc::new(ConfigSource { path, scope, dialect }), file));
    }
    if imports.iter().any(|known| known == "claude") {
        files.extend(of_claude(environment, folder));
    }
    (files, troubles)
}

/// Claude Code's servers: those of the folder, which are the user's own too, and those of all folders.
fn of_claude(environment: &Environment, folder: &Path) -> Vec<(Arc<ConfigSource>, ConfigFile)> {
    let Some(path) = environment.home.as_ref().map(|home| home.join(".claude.json")) else { return Vec::new() };
    let Ok(text) = read_regular_text(&path, CLAUDE_LIMIT) else { return Vec::new() };
    let Ok(all) = lenient_json::from_str::<Value>(&text) else { return Vec::new() };
    let (scope, dialect) = (ConfigScope::User, ConfigDialect::Common);
    let source = Arc::new(ConfigSource { path, scope, dialect });
    let folder = folder.to_string_lossy();
    [&all["projects"][folder.as_ref()], &all]
        .into_iter()
        .filter(|value| value["mcpServers"].is_object())
        .map(|value| (source.clone(), ConfigFile::of(value, dialect)))
        .collect()
}

/// By file and name: the hash of the entry that was answered about.
type Answers = BTreeMap<String, BTreeMap<String, String>>;

/// The user's answers about servers of projects. A changed entry has no answer.
#[derive(Debug, Clone)]
pub struct EnabledServers {
    enabled: SharedFile,
    /// Those that must not be asked about again.
    refused: SharedFile,
}

impl EnabledServers {
    /// That of this data folder. Reads nothing yet.
    pub fn of(data: &Path) -> Self {
        let file = |name: &str| SharedFile::private(data.join(name), LIMIT);
        Self { enabled: file("mcp-enabled.json"), refused: file("mcp-refused.json") }
    }

    /// Whether the user has let exactly this entry of this file run. A file that cannot be read lets none run.
    pub fn has(&self, server: &ConfiguredServer) -> bool {
        is_answered(&self.enabled, server)
    }

    /// Whether the user wants to hear no more of exactly this entry.
    pub fn has_refused(&self, server: &ConfiguredServer) -> bool {
        is_answered(&self.refused, server)
    }

    /// Lets a server run as it is written now.
    ///
    /// # Errors
    /// The file cannot be read or written; a file with other contents is left as it is.
    pub fn enable(&self, server: &ConfiguredServer) -> Result<()> {
        keep_answer(&self.enabled, server)
    }

    /// Asks about a server no more, as it is written now. [`EnabledServers::enable`] still lets it run.
    ///
    /// # Errors
    /// The file cannot be read or written; a file with other contents is left as it is.
    pub fn refuse(&self, server: &ConfiguredServer) -> Result<()> {
        keep_answer(&self.refused, server)
    }
}

fn is_answered(file: &SharedFile, server: &ConfiguredServer) -> bool {
    let all = read_answers(file).unwrap_or_default();
    let of_file = all.get(&key(&server.source.path));
    of_file.and_then(|servers| servers.get(&server.config.name)).is_some_and(|hash| *hash == server.config.hash)
}

fn keep_answer(file: &SharedFile, server: &ConfiguredServer) -> Result<()> {
    let failed = |error: io::Error| CommandError::io(format!("write {}", file.path.display()), &error);
    let locked = file.lock().map_err(failed)?;
    let mut all = read_answers(file)?;
    let servers = all.entry(key(&server.source.path)).or_default();
    servers.insert(server.config.name.clone(), server.config.hash.clone());
    let text = serde_json::to_string_pretty(&all).map_err(|error| failed(error.into()))?;
    locked.replace(&(text + "\n")).map_err(failed)
}

fn read_answers(file: &SharedFile) -> Result<Answers> {
    let failed = |cause: String| {
        let what = format!("could not read {}", file.path.display());
        CommandError { causes: vec![cause], ..CommandError::new(FailureKind::Damaged, what) }
    };
    match file.read() {
        Ok(Some(text)) => serde_json::from_str(&text).map_err(|error| failed(error.to_string())),
        Ok(None) => Ok(Answers::new()),
        Err(error) => Err(failed(error.to_string())),
    }
}

fn key(path: &Path) -> String {
    real_path_or_same(path).to_string_lossy().into_owned()
}
