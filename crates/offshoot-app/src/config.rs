//! Environment variables, home and working directory, read only here.
//!
//! Turns them into settings and into the folders where offshoot, pi and oh-my-pi keep sessions. Opens no session.

pub mod settings;
pub mod trust_file;
pub mod mcp_files;
pub mod mcp_tokens;
pub mod project_rules;
pub mod auth_file;
pub mod local_models_file;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use offshoot_agent::expand_home;
use offshoot_agent::model::Env as Variables;
use offshoot_foreign::Agent;
use offshoot_protocol::{CacheRetention, Peer, PeerFolder};
use offshoot_session::clock::{Millis, parse_iso};
use offshoot_session::path_words::path_words;
use offshoot_session::store::{Flavour, Root};
use offshoot_workspace::short_path;

/// The environment as settings and folders.
#[derive(Debug, Clone, Default)]
pub struct Environment {
    /// The working directory.
    pub cwd: PathBuf,
    /// The home directory.
    pub home: Option<PathBuf>,
    /// `OFFSHOOT_HOME`: contains sessions, models.json and auth.json.
    pub data: Option<PathBuf>,
    /// The peers' own folders, pi's first: `PI_CODING_AGENT_DIR`, else `~/.pi/agent` and `~/.omp/agent`. They may not exist.
    pub peers: Vec<PeerFolder>,
    /// The folder of new sessions; `None` if neither `OFFSHOOT_HOME` nor a home directory is known.
    pub own: Option<Root>,
    /// May be deleted at any time.
    pub cache: Option<PathBuf>,
    /// The folder of entries that could not be written to their session.
    pub spill: Option<PathBuf>,
    /// `OFFSHOOT_DURABILITY`: what appends guarantee.
    pub durability: Option<String>,
    /// `OFFSHOOT_SESSION`: the session of a command that names none.
    pub session: Option<String>,
    /// How long an append waits for another program's lock, in seconds.
    pub lock_wait: Option<f64>,
    /// The folders of pi's and oh-my-pi's sessions.
    pub others: Vec<Root>,
    /// The folders of other agents, which are only read.
    pub agents: Vec<Root>,
    /// The variable that names each root, the own one first, or `default`.
    pub named_by: Vec<&'static str>,
    /// Roots that would be used if no variable named others.
    pub passed_over: Vec<Root>,
    /// The pager; `None` for the default.
    pub pager: Option<String>,
    /// `VISUAL`, else `EDITOR`.
    pub editor: Option<String>,
    /// `COLUMNS`, for output that is not a terminal.
    pub columns: Option<usize>,
    /// `OFFSHOOT_NOW`: the time, where it is fixed.
    pub now: Option<Millis>,
    /// `PI_NODE`: the Node.js that runs extensions.
    pub node: Option<PathBuf>,
    /// The folders of `PATH`.
    pub path: Vec<PathBuf>,
    /// Whether variables such as `GIT_DIR` say where git's repository is.
    pub names_repository: bool,
    /// `NODE_EXTRA_CA_CERTS`: a file of certificates that count beside the system's.
    pub extra_roots: Option<PathBuf>,
    /// `PI_CACHE_RETENTION`: how long providers keep conversations in their caches, if no setting says it.
    pub cache_retention: Option<CacheRetention>,
    /// `OFFSHOOT_LIMITS`: what this agent may do at most, if an extension of another one has started it.
    pub limits: Option<String>,
    /// `OFFSHOOT_EXTENSION_PATIENCE`, in seconds: how long an extension may work without yielding.
    pub extension_patience: Option<Duration>,
    /// `OFFSHOOT_EXTENSION_LIMIT`, in seconds: how long a handler may wait for nothing that offshoot knows of.
    pub extension_limit: Option<Duration>,
}

/// Variables by which git uses another repository, or parts of one, than that of its folder.
const OF_REPOSITORY: &[&str] = &[
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_COMMON_DIR",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_NAMESPACE",
    "GIT_CEILING_DIRECTORIES",
    "GIT_DISCOVERY_ACROSS_FILESYSTEM",
    "GIT_ATTR_SOURCE",
    "GIT_GRAFT_FILE",
    "GIT_SHALLOW_FILE",
    "GIT_CONFIG",
    "GIT_CONFIG_COUNT",
    "GIT_EXEC_PATH",
];

/// Files that a folder of oh-my-pi has, and one of pi has not.
const OF_OMP: [&str; 3] = ["models.yml", "agent.db", "config.yml"];

type Env<'a> = &'a dyn Fn(&str) -> Option<OsString>;

impl Environment {
    /// Reads the environment of this process.
    #[expect(clippy::disallowed_methods, reason = "the one reader of environment, home and working directory")]
    pub fn read() -> Self {
        let env = |name: &str| std::env::var_os(name);
        let cwd = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("."));
        Self::from(&env, cwd, std::env::home_dir(), &std::env::temp_dir())
    }

    /// A path that a person wrote: `~` and what begins with `~/` is in the home directory, and all else is exactly what it says.
    pub fn path(&self, given: impl Into<OsString>) -> PathBuf {
        expand_home(given.into(), self.home.as_deref())
    }

    /// The same as a whole path.
    pub fn whole_path(&self, given: impl Into<OsString>) -> PathBuf {
        self.cwd.join(self.path(given))
    }

    /// The folder of recorded files.
    pub fn files(&self) -> Option<PathBuf> {
        Some(self.data.as_ref()?.join("files"))
    }

    /// The folder in which programs name the prompts that they are answering.
    pub fn turns(&self) -> Option<PathBuf> {
        Some(self.spill.as_ref()?.parent()?.join("turns"))
    }

    fn from(all: Env<'_>, cwd: PathBuf, home: Option<PathBuf>, temp: &Path) -> Self {
        // An empty variable counts as unset.
        let env = &|name: &str| all(name).filter(|value| !value.is_empty());
        let home = home.filter(|home| !home.as_os_str().is_empty());
        let text = |name: &str| env(name).map(|value| value.to_string_lossy().into_owned());
        let base = env("OFFSHOOT_HOME").map(PathBuf::from).or_else(|| {
            let data = env("XDG_DATA_HOME").map(PathBuf::from);
            data.or_else(|| home.as_ref().map(|home| home.join(".local/share"))).map(|data| data.join("offshoot"))
        });
        let cache = env("XDG_CACHE_HOME").map(PathBuf::from).filter(|cache| cache.is_absolute());
        let cache = cache.or_else(|| home.as_ref().map(|home| home.join(".cache"))).map(|cache| cache.join("offshoot"));
        let own = base.as_ref().map(|base| Root::new(base.join("sessions"), Flavour::Offshoot));
        // Not the cache: spilled entries exist nowhere else.
        let state = env("XDG_STATE_HOME").map(PathBuf::from).filter(|state| state.is_absolute());
        let state = state.or_else(|| home.as_ref().map(|home| home.join(".local/state")));
        // An empty OMP_PROFILE is the default profile, whatever PI_PROFILE says.
        let profile =
            all("OMP_PROFILE").or_else(|| all("PI_PROFILE")).map(|name| name.to_string_lossy().trim().to_owned());
        let profile = profile.filter(|name| !name.is_empty() && name != "default" && !name.contains(['/', '\\']));
        let pi = pi_folder(env, home.as_deref()).map(|path| PeerFolder { peer: Peer::Pi, path });
        let omp = omp_folder(env, profile.as_deref(), home.as_deref());
        // One variable names the folders of both.
        let is_of_pi = |path: &PathBuf| pi.as_ref().is_some_and(|pi| pi.path == *path);
        let omp = omp.filter(|path| !is_of_pi(path) || OF_OMP.iter().any(|name| path.join(name).exists()));
        let omp = omp.map(|path| PeerFolder { peer: Peer::Omp, path });
        let peers = pi.into_iter().chain(omp).collect();
        let omp = omp_root(env, profile.as_deref(), home.as_deref(), temp);
        let others: Vec<Root> = pi_root(env, home.as_deref()).into_iter().chain(omp).collect();
        let roots: Vec<&Root> = own.iter().chain(&others).collect();
        let named_by = roots.iter().map(|root| named_by(env, root)).collect();
        let defaults = default_roots(home.as_deref(), temp);
        let is_other = |root: &Root| roots.iter().all(|known| known.folder != root.folder);
        let passed_over = defaults.into_iter().filter(is_other).collect();
        let agents = agent_roots(env, home.as_deref(), base.as_deref());
        Self {
            cwd,
            data: base,
            peers,
            named_by,
            passed_over,
            own,
            cache,
            spill: state.map(|state| state.join("offshoot/spill")),
            durability: text("OFFSHOOT_DURABILITY"),
            session: env("OFFSHOOT_SESSION").map(|session| path_words(&session)),
            lock_wait: text("OFFSHOOT_LOCK_WAIT").and_then(|wait| wait.parse().ok()),
            others,
            agents,
            pager: pager(all),
            editor: text("VISUAL").or_else(|| text("EDITOR")),
            columns: text("COLUMNS").and_then(|columns| columns.parse().ok()),
            now: text("OFFSHOOT_NOW").and_then(|now| parse_iso(&now)),
            node: env("PI_NODE").map(PathBuf::from),
            extra_roots: env("NODE_EXTRA_CA_CERTS").map(PathBuf::from),
            cache_retention: text("PI_CACHE_RETENTION").and_then(|name| CacheRetention::parse(&name)),
            limits: text("OFFSHOOT_LIMITS"),
            extension_patience: text("OFFSHOOT_EXTENSION_PATIENCE").and_then(|text| seconds(&text)),
            extension_limit: text("OFFSHOOT_EXTENSION_LIMIT").and_then(|text| seconds(&text)),
            names_repository: OF_REPOSITORY.iter().any(|name| all(name).is_some()),
            path: env("PATH").map(|path| std::env::split_paths(&path).collect()).unwrap_or_default(),
            home,
        }
    }

    /// A peer's own folder, which may not exist. The data folder is none.
    pub fn peer(&self, peer: Peer) -> Option<&Path> {
        let folder = self.peers.iter().find(|folder| folder.peer == peer)?;
        Some(folder.path.as_path()).filter(|path| self.data.as_deref() != Some(*path))
    }

    /// A path as it is shown: the home directory is `~`.
    pub fn short(&self, path: &str) -> String {
        short_path(self.home.as_deref(), path)
    }
}

fn seconds(text: &str) -> Option<Duration> {
    Duration::try_from_secs_f64(text.parse().ok()?).ok()
}

/// A variable of this name; an empty one counts as unset.
#[expect(clippy::disallowed_methods, reason = "the one reader of the environment: terminals have many variables")]
pub fn variable(name: &str) -> Option<String> {
    let value = std::env::var_os(name).filter(|value| !value.is_empty())?;
    Some(value.to_string_lossy().into_owned())
}

/// Looks up variables that may contain providers' keys; an empty one counts as unset.
#[expect(clippy::disallowed_methods, reason = "the one reader of the environment: keys are read when they are needed")]
pub fn variables() -> Variables {
    Arc::new(|name| std::env::var(name).ok().filter(|value| !value.is_empty()))
}

/// All variables that are text.
#[expect(clippy::disallowed_methods, reason = "the one reader of the environment: secrets in it are masked")]
pub fn all_variables() -> Vec<(String, String)> {
    let all = std::env::vars_os();
    all.filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?))).collect()
}

/// The pager of the environment. An empty variable is one that is set: nothing is paged.
fn pager(env: Env<'_>) -> Option<String> {
    let named = env("OFFSHOOT_PAGER").or_else(|| env("PAGER"));
    named.map(|line| line.to_string_lossy().into_owned())
}

/// This program's own file.
#[expect(clippy::disallowed_methods, reason = "extensions start the program again")]
pub fn own_program() -> Option<PathBuf> {
    std::env::current_exe().ok()
}

/// The command line, the program's name first.
#[expect(clippy::disallowed_methods, reason = "the one reader of the arguments")]
pub fn arguments() -> Vec<OsString> {
    std::env::args_os().collect()
}

fn pi_root(env: Env<'_>, home: Option<&Path>) -> Option<Root> {
    if let Some(folder) = env("PI_CODING_AGENT_SESSION_DIR") {
        return Some(Root::new(expand_home(folder, home), Flavour::Flat));
    }
    Some(Root::new(pi_folder(env, home)?.join("sessions"), Flavour::Pi))
}

fn pi_folder(env: Env<'_>, home: Option<&Path>) -> Option<PathBuf> {
    match env("PI_CODING_AGENT_DIR") {
        Some(folder) => Some(expand_home(folder, home)),
        None => Some(home?.join(".pi/agent")),
    }
}

/// oh-my-pi's own folder. A profile takes precedence over the folder in the environment.
fn omp_folder(env: Env<'_>, profile: Option<&str>, home: Option<&Path>) -> Option<PathBuf> {
    let named = env("PI_CODING_AGENT_DIR").filter(|_| profile.is_none());
    if let Some(folder) = named {
        return Some(expand_home(folder, home));
    }
    let name = env("PI_CONFIG_DIR").map(|name| name.to_string_lossy().into_owned());
    let name = name.as_deref().map_or(".omp", |name| name.trim_start_matches('/'));
    Some(home?.join(name).join(of_profile(profile)).join("agent"))
}

fn of_profile(profile: Option<&str>) -> PathBuf {
    profile.map(|name| Path::new("profiles").join(name)).unwrap_or_default()
}

/// oh-my-pi's root. Unless a variable names the folder, that under `XDG_DATA_HOME` is used if it exists.
fn omp_root(env: Env<'_>, profile: Option<&str>, home: Option<&Path>, temp: &Path) -> Option<Root> {
    let is_named = profile.is_none() && env("PI_CODING_AGENT_DIR").is_some();
    let data = env("XDG_DATA_HOME").map(|data| Path::new(&data).join("omp").join(of_profile(profile)));
    let data = data.filter(|data| !is_named && data.is_dir());
    let agent = data.or_else(|| omp_folder(env, profile, home))?;
    let root = Root::new(agent.join("sessions"), Flavour::Omp);
    Some(Root { home: home.map(Path::to_path_buf), temp: Some(temp.to_path_buf()), ..root })
}

/// The folders of other agents that exist, and those of copies of their sessions.
fn agent_roots(env: Env<'_>, home: Option<&Path>, data: Option<&Path>) -> Vec<Root> {
    let named = |name: &str| env(name).map(|folder| expand_home(folder, home));
    let root = |agent: &Agent| Some(agent.root(agent.folder(home, &named).filter(|folder| folder.is_dir())?));
    let archive = data.map(|data| data.join("archive"));
    let kept = |agent: &Agent| Some(agent.kept_root(archive.as_deref()?)).filter(|root| root.folder.is_dir());
    Agent::ALL.iter().filter_map(root).chain(Agent::ALL.iter().filter_map(kept)).collect()
}

/// The roots if no variable is set.
fn default_roots(home: Option<&Path>, temp: &Path) -> Vec<Root> {
    let nothing = &|_: &str| None;
    let own = home.map(|home| Root::new(home.join(".local/share/offshoot/sessions"), Flavour::Offshoot));
    own.into_iter().chain(pi_root(nothing, home)).chain(omp_root(nothing, None, home, temp)).collect()
}

/// The first of the root's variables that is set.
fn named_by(env: Env<'_>, root: &Root) -> &'static str {
    let names: &[&'static str] = match root.flavour {
        Flavour::Offshoot => &["OFFSHOOT_HOME", "XDG_DATA_HOME"],
        Flavour::Foreign(_) => &[],
        Flavour::Pi | Flavour::Flat => &["PI_CODING_AGENT_SESSION_DIR", "PI_CODING_AGENT_DIR"],
        Flavour::Omp => &["OMP_PROFILE", "PI_PROFILE", "PI_CODING_AGENT_DIR", "XDG_DATA_HOME", "PI_CONFIG_DIR"],
    };
    let counts = |name: &&&'static str| match env(name) {
        // A profile may be invalid, and a data folder may have no folder of omp.
        Some(value) if root.flavour == Flavour::Omp => {
            let value = value.to_string_lossy().trim().trim_start_matches(['~', '/']).to_owned();
            root.folder.to_string_lossy().contains(&value)
        }
        value => value.is_some(),
    };
    names.iter().find(counts).copied().unwrap_or("default")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(variables: &[(&str, &str)]) -> Environment {
        let env =
            |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| OsString::from(*value));
        Environment::from(&env, "/work".into(), Some("/home/u".into()), Path::new("/tmp"))
    }

    fn folders(variables: &[(&str, &str)]) -> Vec<String> {
        let settings = settings(variables);
        settings.own.iter().chain(&settings.others).map(|root| root.folder.display().to_string()).collect()
    }

    #[test]
    fn roots_follow_the_peers_rules() {
        let own = "/home/u/.local/share/offshoot/sessions";
        let (pi, omp) = ("/home/u/.pi/agent/sessions", "/home/u/.omp/agent/sessions");
        assert_eq!(folders(&[]), [own, pi, omp]);
        assert_eq!(folders(&[("OFFSHOOT_HOME", "/o")]), ["/o/sessions", pi, omp]);
        assert_eq!(folders(&[("XDG_DATA_HOME", "/d")]), ["/d/offshoot/sessions", pi, omp]);
        let both = folders(&[("PI_CODING_AGENT_DIR", "~/a")]);
        assert_eq!(both, [own, "/home/u/a/sessions", "/home/u/a/sessions"]);
        assert_eq!(folders(&[("PI_CODING_AGENT_SESSION_DIR", "~/s")])[1], "/home/u/s");
        assert_eq!(folders(&[("PI_CONFIG_DIR", ".my")])[2], "/home/u/.my/agent/sessions");
        let profile = folders(&[("OMP_PROFILE", "w"), ("PI_CODING_AGENT_DIR", "/a")]);
        assert_eq!(profile, [own, "/a/sessions", "/home/u/.omp/profiles/w/agent/sessions"]);
        assert_eq!(folders(&[("PI_PROFILE", "default")])[2], omp);
        assert_eq!(folders(&[("OMP_PROFILE", ""), ("PI_PROFILE", "w")])[2], omp);
    }

    #[test]
    fn an_empty_pager_pages_nothing() {
        let pager = |variables| settings(variables).pager;
        assert_eq!(pager(&[]), None);
        assert_eq!(pager(&[("PAGER", "")]).as_deref(), Some(""));
        assert_eq!(pager(&[("PAGER", "more"), ("OFFSHOOT_PAGER", "")]).as_deref(), Some(""));
        assert_eq!(pager(&[("PAGER", "more")]).as_deref(), Some("more"));
    }

    #[test]
    fn spilled_entries_are_no_cache() {
        let spill = |variables| settings(variables).spill.unwrap();
        assert_eq!(spill(&[("XDG_CACHE_HOME", "/c")]), Path::new("/home/u/.local/state/offshoot/spill"));
        assert_eq!(spill(&[("XDG_STATE_HOME", "/s")]), Path::new("/s/offshoot/spill"));
    }

    #[test]
    fn omps_data_folder_counts_only_if_it_is_there() {
        let data = tempfile::tempdir().unwrap();
        let data = data.path().to_str().unwrap().to_owned();
        assert_eq!(folders(&[("XDG_DATA_HOME", &data)])[2], "/home/u/.omp/agent/sessions");
        std::fs::create_dir(format!("{data}/omp")).unwrap();
        assert_eq!(folders(&[("XDG_DATA_HOME", &data)])[2], format!("{data}/omp/sessions"));
        let profile = folders(&[("XDG_DATA_HOME", &data), ("OMP_PROFILE", "w")]);
        assert_eq!(profile[2], "/home/u/.omp/profiles/w/agent/sessions");
    }

    #[test]
    fn it_is_known_what_names_each_root() {
        let said = |variables: &[(&str, &str)]| {
            let settings = settings(variables);
            (settings.named_by.join(" "), settings.passed_over.len())
        };
        assert_eq!(said(&[]), ("default default default".to_owned(), 0));
        assert_eq!(said(&[("OFFSHOOT_HOME", "/o")]), ("OFFSHOOT_HOME default default".to_owned(), 1));
        let pi = &[("PI_CODING_AGENT_SESSION_DIR", "/s")];
        assert_eq!(said(pi), ("default PI_CODING_AGENT_SESSION_DIR default".to_owned(), 1));
        let both = &[("PI_CODING_AGENT_DIR", "~/a")];
        assert_eq!(said(both), ("default PI_CODING_AGENT_DIR PI_CODING_AGENT_DIR".to_owned(), 2));
        assert_eq!(said(&[("PI_PROFILE", "w")]), ("default default PI_PROFILE".to_owned(), 1));
        assert_eq!(said(&[("PI_PROFILE", "default")]), ("default default default".to_owned(), 0));
        assert_eq!(said(&[("XDG_DATA_HOME", "/d")]), ("XDG_DATA_HOME default default".to_owned(), 1));
    }

    #[test]
    fn home_is_a_tilde_only_at_a_folders_edge() {
        let settings = settings(&[]);
        assert_eq!(settings.short("/home/u"), "~");
        assert_eq!(settings.short("/home/u/x"), "~/x");
        assert_eq!(settings.short("/home/user2"), "/home/user2");
    }
}
