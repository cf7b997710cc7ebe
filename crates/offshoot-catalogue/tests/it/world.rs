//! A store of two folders beside a cache folder, listed with and without the catalogue.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use offshoot_catalogue::{Catalogue, Portion};
use offshoot_session::clock::{Clock as _, Millis, SystemClock};
use offshoot_session::error::Diagnostic;
use offshoot_session::list::SessionInfo;
use offshoot_session::medium::Stamp;
use offshoot_session::store::{DirStore, Flavour, Root, Scope, Store as _};

pub(crate) type Listed = (Vec<SessionInfo>, Vec<Diagnostic>);

pub(crate) struct World {
    folder: tempfile::TempDir,
}

/// Long enough for every file to have settled.
const HOUR: Millis = 3_600_000;

impl World {
    pub(crate) fn new() -> Self {
        let world = Self { folder: tempfile::tempdir().unwrap() };
        for cwd in ["--a--", "--b--"] {
            fs::create_dir_all(world.sessions().join(cwd)).unwrap();
        }
        world
    }

    pub(crate) fn sessions(&self) -> PathBuf {
        self.folder.path().join("sessions")
    }

    /// A session file by a short name: `a/x` is `sessions/--a--/x.jsonl`.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        let (cwd, file) = name.split_once('/').unwrap();
        self.sessions().join(format!("--{cwd}--/{file}.jsonl"))
    }

    pub(crate) fn put(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, text).unwrap();
        path
    }

    pub(crate) fn cache(&self) -> PathBuf {
        self.folder.path().join("cache")
    }

    pub(crate) fn database(&self) -> PathBuf {
        self.cache().join("catalogue.sqlite")
    }

    pub(crate) fn store(&self) -> DirStore {
        DirStore::new(Root::new(self.sessions(), Flavour::Offshoot), Vec::new())
    }

    pub(crate) fn on_disk(&self, cwd: Option<&str>) -> Listed {
        sorted(self.store().list(Scope { cwd, with_text: false }, &mut |_, _| {}).unwrap())
    }

    /// Lists through the catalogue long after the last write.
    pub(crate) fn at_rest(&self, cwd: Option<&str>) -> Listed {
        self.listed(cwd, SystemClock.now() + HOUR)
    }

    /// Lists through the catalogue immediately after the last write.
    pub(crate) fn at_once(&self, cwd: Option<&str>) -> Listed {
        self.listed(cwd, SystemClock.now())
    }

    fn listed(&self, cwd: Option<&str>, now: Millis) -> Listed {
        let catalogue = Catalogue::new(&self.cache());
        sorted(catalogue.list(&self.store(), cwd, now, &mut |_, _| {}).unwrap())
    }

    /// Streams through the catalogue long after the last write.
    pub(crate) fn portions(&self, cwd: Option<&str>) -> (Vec<Portion>, Vec<Diagnostic>) {
        let mut portions = Vec::new();
        let catalogue = Catalogue::new(&self.cache());
        let now = SystemClock.now() + HOUR;
        let diagnostics = catalogue.stream(&self.store(), cwd, now, &mut |portion| portions.push(portion)).unwrap();
        (portions, diagnostics)
    }

    /// Returns once a new change gets a later time than all before it.
    pub(crate) fn next_tick(&self) {
        let probe = self.folder.path().join("probe");
        let tick = || {
            fs::write(&probe, "x").unwrap();
            Stamp::of(&fs::metadata(&probe).unwrap()).changed
        };
        let before = tick();
        while tick() == before {}
    }
}

/// Sorts diagnostics, which come in directory order.
fn sorted((sessions, mut diagnostics): Listed) -> Listed {
    diagnostics.sort_by(|a, b| a.message.cmp(&b.message));
    (sessions, diagnostics)
}

pub(crate) fn header(id: &str, cwd: &str) -> String {
    format!(r#"{{"type":"session","version":3,"id":"{id}","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/{cwd}"}}"#)
        + "\n"
}

pub(crate) fn said(text: &str, at: u64) -> String {
    format!(
        r#"{{"type":"message","id":"e{at}","parentId":null,"timestamp":"2026-01-01T00:00:00.000Z","message":{{"role":"user","content":"{text}","timestamp":{at}}}}}"#
    ) + "\n"
}

pub(crate) fn restore_time(path: &Path, modified: std::time::SystemTime) {
    File::options().append(true).open(path).unwrap().set_modified(modified).unwrap();
}
