//! Reads the user's and the project's settings files, and replaces one. `offshoot_settings` defines their contents.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use offshoot_agent::yaml::yaml_to_json;
use offshoot_files::FileLimits;
use offshoot_protocol::{Peer, PeerFolder};
use offshoot_session::medium::{SharedFile, read_regular};
use offshoot_settings::{Layer, Layers, OmpConfig, PeerLayer, PeerUse, Scope, Settings, Value, edit, omp_settings};

use super::Environment;
use crate::error::{CommandError, FailureKind, Result};

/// A larger file is refused: a cloned project may contain anything.
const LIMIT: u64 = 1 << 20;

/// oh-my-pi's files of settings, of which the first counts.
const OMP_FILES: [&str; 3] = ["config.yml", "config.yaml", "settings.json"];

/// The settings files of the user and of a project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingsFiles {
    /// The user's; `None` without a data folder.
    pub global: Option<PathBuf>,
    /// The project's; `None` if it is the same file as the user's, or not trusted.
    pub project: Option<PathBuf>,
    /// The project's folder of oh-my-pi; `None` if it is not trusted.
    omp_project: Option<PathBuf>,
    /// Why the project's files are not used.
    refusals: Vec<String>,
    /// The peers' own folders, in the order of precedence.
    peers: Vec<PeerFolder>,
}

/// pi's own settings. What pi makes of an unreadable file is pi's affair.
pub fn of_pi(pi: &Path) -> Layer {
    let text = text(&pi.join("settings.json")).unwrap_or_default();
    Layer::read(&text, Scope::Global).map(|(layer, _)| layer).unwrap_or_default()
}

/// The name of oh-my-pi's file of settings in its folder, and its text as JSON, in which each value keeps its line. The older
/// file counts without the newer one.
///
/// # Errors
/// The file cannot be read. The message names its line.
pub fn omp_text(folder: &Path) -> std::result::Result<Option<(&'static str, String)>, String> {
    for name in OMP_FILES {
        let path = folder.join(name);
        if !exists(&path) {
            continue;
        }
        let text = text(&path).map_err(|error| error.on_one_line())?;
        let json = match name.ends_with(".json") {
            true => text,
            false => {
                yaml_to_json(&text).map_err(|fault| format!("{}:{}: {}", path.display(), fault.line, fault.why))?
            }
        };
        return Ok(Some((name, json)));
    }
    Ok(None)
}

/// oh-my-pi's own settings, which name themes of this folder.
pub fn of_omp(folder: &Path, scope: Scope) -> OmpConfig {
    let has_theme = |name: &str| {
        let is_name = !name.contains(['/', '\\']);
        matches!(name, "light" | "dark") || (is_name && folder.join("themes").join(format!("{name}.json")).is_file())
    };
    let json = omp_text(folder).ok().flatten().map(|(_, json)| json).unwrap_or_default();
    omp_settings(&json, scope, &has_theme)
}

/// The peers' own folders that count by the user's settings, in the order of precedence.
pub fn peer_folders(environment: &Environment) -> Vec<PeerFolder> {
    let found = Peer::ALL.into_iter().filter_map(|peer| Some((peer, environment.peer(peer)?)));
    let found: Vec<_> = found.filter(|(_, path)| path.is_dir()).collect();
    if found.is_empty() {
        return Vec::new();
    }
    let files = SettingsFiles {
        project: None,
        omp_project: None,
        ..SettingsFiles::of(environment.data.as_deref(), &environment.cwd)
    };
    let Ok((layers, _)) = files.load() else { return Vec::new() };
    let counts = found.into_iter().filter(|(peer, _)| layers.use_of(*peer) == PeerUse::On);
    counts.map(|(peer, path)| PeerFolder { peer, path: path.to_path_buf() }).collect()
}

/// A peer's own folder, if it counts.
pub fn peer_folder(environment: &Environment, peer: Peer) -> Option<PathBuf> {
    peer_folders(environment).into_iter().find(|folder| folder.peer == peer).map(|folder| folder.path)
}

/// The user's own settings, of which a project's file and a peer's have no part. What is wrong with the file is reported where
/// all of it is read.
pub fn own_settings(environment: &Environment) -> Settings {
    let files = SettingsFiles {
        project: None,
        omp_project: None,
        ..SettingsFiles::of(environment.data.as_deref(), &environment.cwd)
    };
    files.load().map(|(layers, _)| Settings::from(&layers)).unwrap_or_default()
}

/// The bounds of recorded files that these settings name.
pub fn file_limits(settings: &Settings) -> FileLimits {
    FileLimits { file: settings.largest_file, store: settings.largest_file_store, ..FileLimits::default() }
}

impl SettingsFiles {
    /// Those of a data folder and of a working directory. Reads nothing yet.
    pub fn of(data: Option<&Path>, cwd: &Path) -> Self {
        let global = data.map(|data| data.join("settings.json"));
        let project =
            Some(cwd.join(".offshoot").join("settings.json")).filter(|project| global.as_ref() != Some(project));
        let omp_project = Some(cwd.join(Peer::Omp.in_project()));
        Self { global, project, omp_project, refusals: Vec::new(), peers: Vec::new() }
    }

    /// With the peers' own folders behind the user's file, each if that says so.
    pub fn before_peers(self, peers: Vec<PeerFolder>) -> Self {
        Self { peers, ..self }
    }

    /// The user's files only, with warnings why.
    pub fn without_project(self, refusals: Vec<String>) -> Self {
        Self { project: None, omp_project: None, refusals, ..self }
    }

    /// The project's file, if there is one.
    pub fn existing_project(&self) -> Option<&Path> {
        self.project.as_deref().filter(|project| exists(project))
    }

    /// The project's file of oh-my-pi, if there is one.
    pub fn existing_omp_project(&self) -> Option<PathBuf> {
        let folder = self.omp_project.as_ref()?;
        OMP_FILES.map(|name| folder.join(name)).into_iter().find(|path| exists(path))
    }

    fn path(&self, scope: Scope) -> Option<&Path> {
        match scope {
            Scope::Global => self.global.as_deref(),
            Scope::Project => self.project.as_deref(),
        }
    }

    /// The settings of both files, and warnings about them. A missing file has none. A project's file that cannot be
    /// read is a warning: a cloned project must not stop the start.
    pub fn load(&self) -> Result<(Layers, Vec<String>)> {
        let (global, mut troubles) = self.layer(Scope::Global)?;
        let (project, more) = self.layer(Scope::Project).unwrap_or_else(|error| {
            (Layer::default(), vec![format!("{}; the project's settings are not used", error.on_one_line())])
        });
        troubles.extend(more);
        troubles.extend(self.refusals.clone());
        let mut layers = Layers { global, project, ..Layers::default() };
        let peers = self.peers.iter().filter(|of| layers.use_of(of.peer) == PeerUse::On);
        let mut peers: Vec<(Peer, Scope, &Path)> =
            peers.map(|PeerFolder { peer, path }| (*peer, Scope::Global, path.as_path())).collect();
        if let Some(project) = &self.omp_project {
            let unreadable = omp_text(project).err();
            troubles.extend(unreadable.map(|why| format!("{why}; the project's settings of oh-my-pi are not used")));
            peers.push((Peer::Omp, Scope::Project, project));
        }
        // A project's file comes before the user's of the same peer.
        peers.sort_by_key(|(peer, scope, _)| (*peer, *scope == Scope::Global));
        let of_peer = |(peer, scope, path)| {
            let layer = match peer {
                Peer::Pi => of_pi(path),
                Peer::Omp => of_omp(path, scope).layer,
            };
            PeerLayer { peer, scope, layer }
        };
        layers.peers = peers.into_iter().map(of_peer).filter(|of| of.layer != Layer::default()).collect();
        Ok((layers, troubles))
    }

    /// The file and position of a setting, as the start of a message; empty if neither file sets it.
    pub fn position_prefix(&self, layers: &Layers, key: &str) -> String {
        let said = [Scope::Project, Scope::Global].into_iter().find_map(|scope| {
            Some(format!("{}:{}: ", self.path(scope)?.display(), layers.layer(scope).position(key)?))
        });
        said.unwrap_or_default()
    }

    /// Sets or removes a value. The file is replaced atomically.
    pub fn store(&self, scope: Scope, key: &str, value: Option<&Value>) -> Result<()> {
        self.edit(scope, key, |_, _| Ok(value.cloned()))
    }

    /// Changes a value into another, which is made from the file as it is now: it may have changed since it was loaded.
    pub fn change(
        &self,
        scope: Scope,
        key: &str,
        change: impl FnOnce(Option<&Value>) -> Result<Option<Value>>,
    ) -> Result<()> {
        self.edit(scope, key, |path, text| {
            let (layer, _) = Layer::read(text, scope).map_err(|error| damaged(path, &error))?;
            change(layer.get(key))
        })
    }

    /// Both files have one lock, in the user's folder: a project's folder gets no file that nobody wants to commit.
    fn edit(&self, scope: Scope, key: &str, value: impl FnOnce(&Path, &str) -> Result<Option<Value>>) -> Result<()> {
        let path = self.path(scope).ok_or_else(|| {
            CommandError::new(FailureKind::Failed, "there is no home directory to keep settings in")
                .hint("set OFFSHOOT_HOME")
        })?;
        let failed = |error: io::Error| CommandError::io(format!("write {}", path.display()), &error);
        let SharedFile { lock, limit, .. } =
            SharedFile::private(self.global.as_deref().unwrap_or(path).to_owned(), LIMIT);
        let new_mode = if scope == Scope::Global { 0o600 } else { 0o666 };
        let file = SharedFile { path: path.to_owned(), lock, limit, new_mode };
        let locked = file.lock().map_err(failed)?;
        let old = text(path)?;
        let new = edit(&old, key, value(path, &old)?.as_ref()).map_err(|error| {
            let error = CommandError { causes: vec![format!("{}: {error}", path.display())], ..unreadable() };
            error.hint("correct the file by hand; it was left as it is")
        })?;
        if new == old { Ok(()) } else { locked.replace(&new).map_err(failed) }
    }

    fn layer(&self, scope: Scope) -> Result<(Layer, Vec<String>)> {
        let Some(path) = self.path(scope) else { return Ok(Default::default()) };
        let (layer, diagnostics) = Layer::read(&text(path)?, scope).map_err(|error| damaged(path, &error))?;
        Ok((layer, diagnostics.iter().map(|diagnostic| format!("{}:{diagnostic}", path.display())).collect()))
    }
}

fn exists(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

fn damaged(path: &Path, error: &dyn std::fmt::Display) -> CommandError {
    let error = CommandError { causes: vec![format!("{}:{error}", path.display())], ..unreadable() };
    error.hint("correct the file, or move it away to do without it")
}

fn unreadable() -> CommandError {
    CommandError::new(FailureKind::Damaged, "could not read the settings")
}

/// The text of a file; empty if it does not exist.
pub fn text(path: &Path) -> Result<String> {
    match read_regular(path, LIMIT) {
        Ok(bytes) => String::from_utf8(bytes).map_err(|error| {
            let what = format!("{} is not UTF-8 from byte {}", path.display(), error.utf8_error().valid_up_to());
            CommandError { causes: vec![what], ..unreadable() }
                .hint("correct the file, or move it away to do without it")
        }),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(String::new()),
        Err(error) => Err(CommandError::io(format!("read {}", path.display()), &error)),
    }
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "tests prepare their own files")]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn files() -> (tempfile::TempDir, SettingsFiles) {
        let folder = tempfile::tempdir().unwrap();
        let files = SettingsFiles::of(Some(&folder.path().join("data")), &folder.path().join("work"));
        (folder, files)
    }

    fn write(path: Option<&Path>, text: impl AsRef<[u8]>) {
        let path = path.unwrap();
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    #[test]
    fn what_is_not_there_says_nothing() {
        let (_folder, files) = files();
        assert_eq!(files.load().unwrap(), (Layers::default(), Vec::new()));
        let nowhere = SettingsFiles::of(None, Path::new("/dev/null"));
        assert_eq!(nowhere.load().unwrap().0, Layers::default());
    }

    #[test]
    fn the_users_own_folder_is_no_project() {
        let same = SettingsFiles::of(Some(Path::new("/w/.offshoot")), Path::new("/w"));
        assert_eq!(same.project, None);
    }

    #[test]
    fn troubles_name_file_and_place() {
        let (_folder, files) = files();
        write(files.global.as_deref(), "{\n  \"them\": 1\n}");
        write(files.project.as_deref(), r#"{"shellPath": "./evil"}"#);
        let (_, troubles) = files.load().unwrap();
        let global = files.global.as_ref().unwrap().display();
        assert_eq!(troubles[0], format!("{global}:2:11: there is no setting \"them\": did you mean theme?"));
        assert!(
            troubles[1].ends_with(
                "/work/.offshoot/settings.json:1:15: shellPath works only in the user's settings, not in a project's"
            ),
            "{troubles:?}"
        );
    }

    #[test]
    fn a_users_file_that_is_no_json_is_an_error() {
        let (_folder, files) = files();
        write(files.global.as_deref(), "{\"theme\": }");
        let error = files.load().unwrap_err();
        assert_eq!((error.kind, error.message.as_str()), (FailureKind::Damaged, "could not read the settings"));
        assert!(error.causes[0].ends_with("settings.json:1:11: expected a value for JSON"), "{error:?}");
        write(files.global.as_deref(), b"{\"theme\": \"\xff\"}");
        let error = files.load().unwrap_err();
        assert!(error.causes[0].ends_with("settings.json is not UTF-8 from byte 11"), "{error:?}");
    }

    /// A link to `/dev/zero` was read until the memory was full, and any other of these refused the start.
    #[test]
    fn a_projects_file_that_cannot_be_read_is_a_warning() {
        let (_folder, files) = files();
        write(files.global.as_deref(), "{\"theme\": \"light\"}");
        let path = files.project.clone().unwrap();
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let broken: [(&str, &dyn Fn()); 4] = [
            ("1:11: expected a value for JSON", &|| fs::write(&path, "{\"theme\": }").unwrap()),
            ("it is a device, not a regular file", &|| std::os::unix::fs::symlink("/dev/zero", &path).unwrap()),
            ("it is a FIFO, not a regular file", &|| {
                assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
            }),
            ("it is larger than 1 MiB", &|| fs::write(&path, vec![b' '; 2 << 20]).unwrap()),
        ];
        for (why, make) in broken {
            make();
            let (layers, troubles) = files.load().unwrap();
            assert_eq!(layers.global.get("theme"), Some(&Value::Text("light".to_owned())));
            assert_eq!(layers.project, Layer::default());
            assert!(troubles[0].contains(why), "{troubles:?}");
            assert!(troubles[0].ends_with("; the project's settings are not used"), "{troubles:?}");
            fs::remove_file(&path).unwrap();
        }
    }

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn what_is_stored_counts_and_the_rest_stays() {
        let (_folder, files) = files();
        let theme = |name: &str| Value::Text(name.to_owned());
        files.store(Scope::Global, "theme", Some(&theme("dark"))).unwrap();
        let global = files.global.as_deref().unwrap();
        assert_eq!(mode(global), 0o600);
        write(files.global.as_deref(), "{ \"unknown\": 1.0e2, \"theme\": \"dark\" }");
        fs::set_permissions(global, Permissions::from_mode(0o640)).unwrap();
        files.store(Scope::Global, "theme", Some(&theme("light"))).unwrap();
        assert_eq!(fs::read_to_string(global).unwrap(), "{ \"unknown\": 1.0e2, \"theme\": \"light\" }");
        assert_eq!(mode(global), 0o640);
        files.store(Scope::Project, "theme", Some(&theme("dark"))).unwrap();
        assert_eq!(files.load().unwrap().0.project.get("theme"), Some(&theme("dark")));
        files.store(Scope::Project, "theme", None).unwrap();
        assert_eq!(files.load().unwrap().0.project.get("theme"), None);
        let beside = fs::read_dir(global.parent().unwrap()).unwrap().count();
        assert_eq!(beside, 2, "the file and its lock");
        let project = files.project.as_deref().unwrap();
        assert_eq!(fs::read_dir(project.parent().unwrap()).unwrap().count(), 1, "no lock among a project's files");
    }

    #[test]
    fn a_link_stays_one() {
        let (folder, files) = files();
        let global = files.global.as_deref().unwrap();
        let dotfiles = folder.path().join("dotfiles.json");
        fs::create_dir_all(global.parent().unwrap()).unwrap();
        fs::write(&dotfiles, "{}").unwrap();
        std::os::unix::fs::symlink(&dotfiles, global).unwrap();
        files.store(Scope::Global, "hideThinkingBlock", Some(&Value::Flag(true))).unwrap();
        assert!(fs::symlink_metadata(global).unwrap().is_symlink());
        assert!(fs::read_to_string(&dotfiles).unwrap().contains("hideThinkingBlock"));
        fs::remove_file(&dotfiles).unwrap();
        files.store(Scope::Global, "theme", Some(&Value::Text("dark".to_owned()))).unwrap();
        assert!(fs::symlink_metadata(global).unwrap().is_symlink(), "also one to a file that is not there yet");
        assert!(fs::read_to_string(&dotfiles).unwrap().contains("theme"));
    }

    #[test]
    fn a_file_that_cannot_be_read_is_not_written() {
        let (_folder, files) = files();
        write(files.global.as_deref(), "{\"theme\": }");
        let error = files.store(Scope::Global, "theme", None).unwrap_err();
        assert!(error.causes[0].ends_with("settings.json: 1:11: expected a value for JSON"), "{error:?}");
        assert_eq!(fs::read_to_string(files.global.unwrap()).unwrap(), "{\"theme\": }");
    }
}
