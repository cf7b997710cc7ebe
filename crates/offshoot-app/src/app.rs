//! What every command works with: the terminal, the environment, the store, and how sessions are opened.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use offshoot_agent::WorkFolders;
use offshoot_catalogue::Catalogue;
use offshoot_files::FileLimits;
use offshoot_protocol::{Peer, PeerFolder};
use offshoot_search::SearchIndex;
use offshoot_session::clock::{Clock as _, Millis, SystemClock};
use offshoot_session::entry::Source as _;
use offshoot_session::error::{Code, Diagnostic, Severity};
use offshoot_session::list::SessionInfo;
use offshoot_session::session::{Durability, Options, Session, SpillPolicy};
use offshoot_session::store::{DirStore, Flavour, Progress, Root, Scope};
use offshoot_session::tree::NodeIx;
use offshoot_settings::{Layers, Settings};

use offshoot_workspace::{NoModels, Note, PageOrder, Place, PlaceOptions, ReadProgress, with_short_ids};

use crate::config::Environment;
use crate::config::settings::SettingsFiles;
use crate::error::{CommandError, FailureKind, Result};
use crate::registered::Registered;
use crate::trust::{RunTrust, Trust};
use crate::ui::Ui;
pub use offshoot_session::text::shell_word as quoted;

/// More diagnostics of one code are counted, not printed.
const SAID: usize = 3;

/// Writes a session as a page, and says what the page lacks.
pub type WritePage = fn(&App, &Session, &PageOrder, &mut dyn Write) -> Result<Option<String>>;

/// The program as one run of it was started. Clones share what extensions register.
#[derive(Debug, Clone)]
pub struct App {
    /// What is printed beside a result.
    pub ui: Ui,
    /// The environment, home and working directory.
    pub environment: Environment,
    /// The folder of `--session-dir` or of the setting `sessionDir`.
    pub session_dir: Option<PathBuf>,
    /// The option or the setting that names `session_dir`.
    pub session_dir_by: &'static str,
    /// How much is recorded of files.
    pub file_limits: FileLimits,
    /// What appends guarantee.
    pub durability: Durability,
    /// Where entries go that cannot be written to their session.
    pub spill_policy: SpillPolicy,
    /// Which folders are trusted in this run.
    pub trust: RunTrust,
    /// Where sessions are continued.
    pub folders: WorkFolders,
    /// By extensions.
    pub registered: Registered,
    /// A text in Markdown as one plain row.
    pub plain: fn(&str) -> String,
    /// Writes a session as a page.
    pub page: WritePage,
}

impl App {
    /// The folder of `--session-dir`, else the roots of offshoot, pi and oh-my-pi.
    pub fn store(&self) -> Result<DirStore> {
        if let Some(folder) = &self.session_dir {
            // The sessions in the folder, and those of a root with a folder for each working directory.
            let home = self.environment.home.clone();
            let below = [Root::new(folder, Flavour::Offshoot), Root { home, ..Root::new(folder, Flavour::Omp) }];
            let store = DirStore::new(Root::new(folder, Flavour::Flat), below.to_vec());
            return Ok(store.with_index(self.index_folder()).with_imports(self.imports()));
        }
        let own = self.environment.own.clone().ok_or_else(|| {
            CommandError::new(FailureKind::Failed, "there is no home directory to keep sessions in")
                .hint("set OFFSHOOT_HOME, or name a folder with --session-dir")
        })?;
        let store = DirStore::new(own, self.environment.others.clone());
        Ok(store.with_index(self.index_folder()).with_imports(self.imports()))
    }

    /// The same with the folders of other agents: to list, to search and to read.
    pub fn store_with_agents(&self) -> Result<DirStore> {
        Ok(self.store()?.beside(self.agents()))
    }

    /// The folders of other agents. Who names one folder for all sessions means none of them.
    fn agents(&self) -> &[Root] {
        if self.session_dir.is_some() { &[] } else { &self.environment.agents }
    }

    /// The record of imports.
    fn imports(&self) -> Option<PathBuf> {
        self.environment.data.as_ref().map(|data| data.join("imported"))
    }

    /// Somebody chose this session by its name: from now on it may be the latest one.
    pub fn note_opened(&self, file: &Path) {
        let place = self.place();
        place.note_opened(file);
        self.tell(&place.take_notes(), "");
    }

    /// How long an append waits for another program's lock.
    pub fn lock_wait(&self) -> Duration {
        let wait = self.environment.lock_wait.and_then(|wait| Duration::try_from_secs_f64(wait).ok());
        wait.unwrap_or(Options::default().lock_wait)
    }

    /// The folder of side indexes; `None` with `--no-index`, or without a cache folder.
    pub fn index_folder(&self) -> Option<PathBuf> {
        self.environment.cache.as_ref().map(|cache| cache.join("index"))
    }

    /// What commands and RPC keep only for a while.
    pub fn output_folder(&self) -> PathBuf {
        let (cache, data) = (&self.environment.cache, &self.environment.data);
        cache.as_ref().or(data.as_ref()).cloned().unwrap_or_default().join("output")
    }

    /// `None` with `--no-index`, or without a cache folder.
    pub fn catalogue(&self) -> Option<Catalogue> {
        self.environment.cache.as_deref().map(Catalogue::new)
    }

    /// Lists sessions, last activity first, through the catalogue if possible.
    pub fn list(
        &self,
        store: &DirStore,
        scope: Scope<'_>,
        progress: Progress<'_>,
    ) -> Result<(Vec<SessionInfo>, Vec<Diagnostic>)> {
        self.place().list(store, scope, progress).map_err(|failure| CommandError::of_operation(failure, None))
    }

    /// Where operations run.
    pub fn place(&self) -> Place {
        let ui = self.ui.clone();
        let progress = move |work| -> ReadProgress {
            let bar = Mutex::new(ui.progress(work));
            Box::new(move |done, total| {
                let mut bar = bar.lock().unwrap_or_else(PoisonError::into_inner);
                bar.at(usize::try_from(done).unwrap_or(usize::MAX), usize::try_from(total).unwrap_or(usize::MAX));
            })
        };
        let ui = self.ui.clone();
        let announce = move |words: &str| ui.note(words);
        Place::new(PlaceOptions {
            cwd: self.environment.cwd.clone(),
            home: self.environment.home.clone(),
            // Without a store the operation that needs one says so.
            store: self.store().ok(),
            agents: self.agents().to_vec(),
            named_store: self.session_dir.clone(),
            data: self.environment.data.clone(),
            catalogue: self.catalogue(),
            search_index: self.environment.cache.as_deref().map(SearchIndex::new),
            index: self.index_folder(),
            spill: self.environment.spill.clone(),
            turns: self.environment.turns(),
            files: self.environment.files().map(|data| (data, self.file_limits)),
            durability: self.durability,
            lock_wait: self.lock_wait(),
            now: self.environment.now,
            progress: Arc::new(progress),
            announce: Arc::new(announce),
            is_stopped: Arc::new(|| false),
            next_request: Arc::new(NoModels),
            plain: self.plain,
        })
    }

    /// The name of a fork that goes to this folder, with a suffix that none of the folder's newest sessions has.
    pub fn fork_name(
        &self,
        session: &Session,
        store: &DirStore,
        cwd: &str,
    ) -> offshoot_session::error::Result<Option<String>> {
        self.place().fork_name(session, store, cwd)
    }

    /// The working directory, as sessions name it.
    pub fn cwd(&self) -> String {
        self.environment.cwd.to_string_lossy().into_owned()
    }

    /// Fails in a folder that was deleted: nothing can be created there.
    pub fn check_cwd(&self) -> Result<()> {
        if self.environment.cwd.is_absolute() {
            return Ok(());
        }
        let error = CommandError::new(FailureKind::NotFound, "the working directory does not exist any more");
        Err(error.hint("go to another folder, or name the session by its whole path"))
    }

    /// The real path of a folder; the absolute path if the folder does not exist.
    pub fn absolute(&self, folder: &Path) -> String {
        let whole = self.environment.whole_path(folder);
        whole.canonicalize().unwrap_or(whole).to_string_lossy().into_owned()
    }

    /// The time.
    pub fn now(&self) -> Millis {
        self.environment.now.unwrap_or_else(|| SystemClock.now())
    }

    /// How sessions are opened, whatever their file.
    pub fn options(&self) -> Options {
        self.place().opening(self.spill_policy)
    }

    /// Opens a session file. If the file does not show its dialect, its folder decides.
    pub fn open_file(&self, file: &Path) -> Result<Session> {
        let opened = self.place().open_file(file, self.spill_policy);
        opened.map_err(|failure| CommandError::of_operation(failure, None))
    }

    /// How this session file is opened.
    pub fn options_for(&self, file: &Path) -> Options {
        self.place().options_for(file, self.spill_policy)
    }

    /// The folder of a session; the working directory if its header names none.
    pub fn folder_of(&self, session: &Session) -> PathBuf {
        session.cwd().filter(|cwd| !cwd.is_empty()).map_or_else(|| self.environment.cwd.clone(), PathBuf::from)
    }

    /// Whether a folder is trusted, and why the kept answers cannot be read, if so.
    pub fn trust_of(&self, folder: &Path) -> (Trust, Option<String>) {
        self.trust.of(self.environment.data.as_deref(), folder)
    }

    /// The settings files that have an effect in a folder.
    pub fn settings_files(&self, folder: &Path) -> SettingsFiles {
        let files = self.trust.settings_files(self.environment.data.as_deref(), folder);
        let of_peer = |peer| Some(PeerFolder { peer, path: self.environment.peer(peer)?.to_path_buf() });
        files.before_peers(Peer::ALL.into_iter().filter_map(of_peer).collect())
    }

    /// The settings in effect for a session.
    ///
    /// # Errors
    /// A settings file cannot be read.
    pub fn user_settings(&self, session: &Session) -> Result<Settings> {
        Ok(Settings::from(&self.layers(session)?))
    }

    /// What each settings file of a session's folder sets. What is wrong in them is printed.
    ///
    /// # Errors
    /// A settings file cannot be read.
    pub fn layers(&self, session: &Session) -> Result<Layers> {
        let (layers, troubles) = self.settings_files(&self.folder_of(session)).load()?;
        troubles.iter().for_each(|trouble| self.ui.warning(trouble));
        Ok(layers)
    }

    /// Upgrades a session of an old version, as its first append would, and prints the path of the backup.
    pub fn upgrade(&self, session: &mut Session) -> Result<()> {
        let version = session.version();
        if let Some(backup) = session.upgrade()? {
            let backup = backup.display();
            self.ui.note(&format!("upgraded from version {version}; the old file is kept as {backup}"));
        }
        Ok(())
    }

    /// Upgrades, and returns the place of the same entry afterwards.
    pub fn upgraded(&self, session: &mut Session, ix: NodeIx) -> Result<NodeIx> {
        let id = session.tree().node(ix).id().cloned();
        self.upgrade(session)?;
        match id {
            Some(id) => Ok(session.find(id.as_str())?),
            None => Ok(ix),
        }
    }

    /// Warns about entries outside the session and newer work on other branches, for somebody who continues it.
    pub fn report_waiting(&self, session: &Session, given: &str) {
        let is_waiting = |told: &&Diagnostic| matches!(told.code, Code::Spilled | Code::Diverged);
        let told: Vec<Diagnostic> = session.diagnostics().iter().filter(is_waiting).cloned().collect();
        self.report_all(&with_short_ids(session, told), given);
    }

    /// Says what an operation told beside its result.
    pub fn tell(&self, notes: &[Note], session: &str) {
        for note in notes {
            match note {
                Note::Told(text) => self.ui.note(text),
                Note::Warning(text) => self.ui.warning(text),
                Note::Helps(text) => self.ui.hint(text),
                Note::Odd(diagnostics) => self.report_all(diagnostics, session),
                Note::OddOf(named, diagnostics) => self.report_all(diagnostics, named),
            }
        }
    }

    /// Warns of what is odd about a session; `given` names it in hints.
    pub fn report(&self, session: &Session, given: &str) {
        self.report_all(&with_short_ids(session, session.diagnostics().to_vec()), given);
    }

    /// Warns on stderr; notes are not shown.
    pub fn report_all(&self, diagnostics: &[Diagnostic], given: &str) {
        let odd = |diagnostic: &&Diagnostic| diagnostic.severity() >= Severity::Warning;
        let mut is_cut = false;
        for code in Code::ALL {
            let same: Vec<_> = diagnostics.iter().filter(odd).filter(|diagnostic| diagnostic.code == *code).collect();
            for diagnostic in same.iter().take(SAID) {
                // The message about an unreadable session is complete without a line.
                let line = diagnostic.line.filter(|_| *code != Code::UnreadableSession);
                let place = line.map_or(String::new(), |line| format!("line {line}: "));
                self.ui.warning(&format!("{place}{}", diagnostic.message));
            }
            if same.len() > SAID {
                self.ui.warning(&format!("and {} more [{}]", same.len() - SAID, code.as_str()));
                is_cut = true;
            }
        }
        if is_cut {
            self.ui.hint(&format!("`offshoot check {}` says them all", quoted(given)));
        }
        if diagnostics.iter().any(|diagnostic| diagnostic.code == Code::Spilled) {
            self.ui.hint(&format!("`offshoot repair {}` puts them into the session", quoted(given)));
            self.ui.hint(&format!("`offshoot repair {} --spilled` lists them, --discard drops them", quoted(given)));
        }
        for diverged in diagnostics.iter().filter(|diagnostic| diagnostic.code == Code::Diverged) {
            self.ui.note(&diverged.message);
            if let Some(entry) = &diverged.entry {
                self.ui.hint(&format!("`offshoot switch {} {entry}` goes there", quoted(given)));
            }
        }
    }
}
