//! Where operations run: the working directory, the store, and how sessions are opened there. What the next request would be
//! comes through a seam. Prints nothing: what is told beside a result is collected.

mod programs;
mod foreign_sessions;
mod listed_sessions;
mod parents;
mod watched;

use std::ffi::OsString;
use std::fmt;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use offshoot_agent::expand_home;
use offshoot_agent::forecast::RequestForecast;
use offshoot_agent::model::LocalServer;
use offshoot_agent::operate::{PlanQuestion, SummaryWish};
use offshoot_catalogue::Catalogue;
use offshoot_files::FileLimits;
use offshoot_foreign::Agent;
use offshoot_protocol::Secrets;
use offshoot_search::SearchIndex;
use offshoot_session::clock::{Clock as _, FixedClock, Millis, SystemClock};
use offshoot_session::compact::{self, CompactionPlan};
use offshoot_session::context::ContextWeight;
use offshoot_session::error;
use offshoot_session::list::SessionInfo;
use offshoot_session::outline::TreeLayout;
use offshoot_session::path_words::path_of_words;
use offshoot_session::session::{Durability, Options, Session, SpillPolicy};
use offshoot_session::store::{DirStore, Flavour, Root};
use offshoot_session::summariser::Drafted;
use offshoot_session::tree::NodeIx;

use crate::failure::{Failure, FailureKind, Hint, Result};
use crate::next_request::{KnownModels, LocalSearch, NextRequest, NoModels, PageOrder, RequestParts};
use crate::words::Note;

pub use parents::ListedParents;
pub use programs::SessionProgram;

/// How many sessions of a folder a fork's name is compared with.
const NAMES_COMPARED: usize = 200;

/// What is called during work, such as reading a file, with what is done and the whole.
pub type ReadProgress = Box<dyn Fn(u64, u64) + Send + Sync>;

/// A path as people read it: `~` stands for the home directory.
#[must_use]
pub fn short_path(home: Option<&Path>, path: &str) -> String {
    let home = home.map(Path::to_string_lossy);
    match home.and_then(|home| path.strip_prefix(home.as_ref())) {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => format!("~{rest}"),
        _ => path.to_owned(),
    }
}

/// What a [`Place`] is made of.
#[derive(Clone)]
pub struct PlaceOptions {
    /// The working directory.
    pub cwd: PathBuf,
    /// The home directory, which `~` means in paths.
    pub home: Option<PathBuf>,
    /// Where sessions are; `None` if nobody says where.
    pub store: Option<DirStore>,
    /// The folders of other agents, which are only read.
    pub agents: Vec<Root>,
    /// The folder that somebody named for all sessions.
    pub named_store: Option<PathBuf>,
    /// The folder of the user's data, with the trash.
    pub data: Option<PathBuf>,
    /// The cache of what lists show; `None` uses none.
    pub catalogue: Option<Catalogue>,
    /// The index of what was said; `None` reads every session at each search.
    pub search_index: Option<SearchIndex>,
    /// The folder of side indexes; `None` uses none.
    pub index: Option<PathBuf>,
    /// The folder for entries that cannot be written to their session.
    pub spill: Option<PathBuf>,
    /// The folder in which processes name the prompts that they are answering.
    pub turns: Option<PathBuf>,
    /// What appends guarantee.
    pub durability: Durability,
    /// How long an append waits for another program's lock.
    pub lock_wait: Duration,
    /// The time, where it is fixed.
    pub now: Option<Millis>,
    /// Makes what is called during work that has a name, such as `reading`.
    pub progress: Arc<dyn Fn(&'static str) -> ReadProgress + Send + Sync>,
    /// Says at once, before it is done, what is written where another program reads.
    pub announce: Arc<dyn Fn(&str) + Send + Sync>,
    /// Whether nobody waits for long work any more.
    pub is_stopped: Arc<dyn Fn() -> bool + Send + Sync>,
    /// The folder of all recorded files, and the bounds of what is recorded.
    pub files: Option<(PathBuf, FileLimits)>,
    /// What the next request would be.
    pub next_request: Arc<dyn NextRequest>,
    /// A text in Markdown as one plain row.
    pub plain: fn(&str) -> String,
}

impl PlaceOptions {
    /// A working directory and nothing else: sessions are named by their paths, nothing is cached, and no model is known.
    #[must_use]
    pub fn in_folder(cwd: impl Into<PathBuf>) -> Self {
        let options = Options::default();
        Self {
            cwd: cwd.into(),
            home: None,
            store: None,
            agents: Vec::new(),
            named_store: None,
            data: None,
            catalogue: None,
            search_index: None,
            index: None,
            spill: None,
            turns: None,
            files: None,
            durability: options.durability,
            lock_wait: options.lock_wait,
            now: None,
            progress: Arc::new(|_| Box::new(|_, _| {})),
            announce: Arc::new(|_| {}),
            is_stopped: Arc::new(|| false),
            next_request: Arc::new(NoModels),
            plain: str::to_owned,
        }
    }
}

impl fmt::Debug for PlaceOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PlaceOptions").field("cwd", &self.cwd).field("store", &self.store).finish_non_exhaustive()
    }
}

/// Where an operation runs.
#[derive(Debug, Clone)]
pub struct Place {
    options: Arc<PlaceOptions>,
    notes: Arc<Mutex<Vec<Note>>>,
}

impl Place {
    /// A place; nothing is read yet.
    #[must_use]
    pub fn new(options: PlaceOptions) -> Self {
        Self { options: Arc::new(options), notes: Arc::default() }
    }

    /// The same where the next request is known.
    #[must_use]
    pub fn with_next_request(&self, next_request: Arc<dyn NextRequest>) -> Self {
        let options = PlaceOptions { next_request, ..PlaceOptions::clone(&self.options) };
        Self { options: Arc::new(options), notes: Arc::clone(&self.notes) }
    }

    /// The working directory.
    #[must_use]
    pub fn cwd(&self) -> &Path {
        &self.options.cwd
    }

    /// A path that a person wrote: `~` and what begins with `~/` is in the home directory, and all else is exactly what it
    /// says.
    #[must_use]
    pub fn path(&self, given: impl Into<OsString>) -> PathBuf {
        expand_home(given.into(), self.options.home.as_deref())
    }

    /// The path of a name that can only be one: bytes that are not UTF-8 as [`offshoot_session::path_words`] spells them.
    #[must_use]
    pub fn session_path(&self, given: &str) -> PathBuf {
        self.path(path_of_words(given))
    }

    /// The same as a whole path without links, as sessions name their folders.
    #[must_use]
    pub fn folder(&self, given: impl Into<OsString>) -> String {
        let whole = self.cwd().join(self.path(given));
        whole.canonicalize().unwrap_or(whole).to_string_lossy().into_owned()
    }

    /// A path as people read it: `~` stands for the home directory.
    #[must_use]
    pub fn short(&self, path: &str) -> String {
        short_path(self.options.home.as_deref(), path)
    }

    /// Shows how far work is, until it is dropped.
    #[must_use]
    pub fn progress(&self, work: &'static str) -> ReadProgress {
        (self.options.progress)(work)
    }

    /// Says at once what is about to be written where another program reads.
    pub(crate) fn announce(&self, words: &str) {
        (self.options.announce)(words);
    }

    /// Where sessions are.
    ///
    /// # Errors
    /// Nobody says where.
    pub fn store(&self) -> Result<&DirStore> {
        self.options.store.as_ref().ok_or_else(|| {
            Failure::refused(FailureKind::Failed, "there is no home directory to keep sessions in")
                .hint(Hint::Text("set OFFSHOOT_HOME, or name a folder with --session-dir".to_owned()))
        })
    }

    /// The folder that somebody named for all sessions.
    #[must_use]
    pub fn named_store(&self) -> Option<&Path> {
        self.options.named_store.as_deref()
    }

    /// The program whose session it is.
    #[must_use]
    pub fn program_of(&self, store: &DirStore, info: &SessionInfo) -> SessionProgram {
        match store.root_of(&info.path).map(|root| root.flavour) {
            Some(Flavour::Pi) => SessionProgram::Pi,
            Some(Flavour::Omp) => SessionProgram::Omp,
            Some(Flavour::Foreign(format)) => {
                Agent::from_word(format.word).map_or(SessionProgram::Offshoot, SessionProgram::of_agent)
            }
            Some(Flavour::Flat) if self.named_store().is_none() => SessionProgram::Pi,
            // Stores of Crush and histories of Aider are in the folders of projects.
            None => self.agent_of(&info.path).map_or(SessionProgram::Offshoot, SessionProgram::of_agent),
            Some(Flavour::Flat | Flavour::Offshoot) => SessionProgram::Offshoot,
        }
    }

    /// The time.
    #[must_use]
    pub fn now(&self) -> Millis {
        self.options.now.unwrap_or_else(|| SystemClock.now())
    }

    /// A text in Markdown as one plain row.
    #[must_use]
    pub fn plain(&self, text: &str) -> String {
        (self.options.plain)(text)
    }

    /// Tells something beside the result, once: a plan may be made again.
    pub fn tell(&self, note: Note) {
        let mut notes = self.notes.lock().unwrap_or_else(PoisonError::into_inner);
        if !notes.contains(&note) {
            notes.push(note);
        }
    }

    /// What was told since the last time.
    #[must_use]
    pub fn take_notes(&self) -> Vec<Note> {
        std::mem::take(&mut *self.notes.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The name of a fork that goes to this folder, with a suffix that none of the folder's newest sessions has.
    ///
    /// # Errors
    /// The sessions cannot be read.
    pub fn fork_name(&self, session: &Session, store: &DirStore, cwd: &str) -> error::Result<Option<String>> {
        let newest = |cache: &Catalogue| cache.newest(store, Some(cwd), SystemClock.now(), NAMES_COMPARED);
        let others = self.options.catalogue.as_ref().map(newest).transpose()?.unwrap_or_default();
        let is_taken = |name: &str| others.iter().any(|info| info.name.as_deref() == Some(name));
        session.fork_name(&is_taken)
    }

    /// The index of what was said.
    pub(crate) fn search_index(&self) -> Option<&SearchIndex> {
        self.options.search_index.as_ref()
    }

    /// The folder of the user's data.
    pub(crate) fn data(&self) -> Option<&Path> {
        self.options.data.as_deref()
    }

    /// How long a change of a file waits for another program's lock.
    pub(crate) fn lock_wait(&self) -> Duration {
        self.options.lock_wait
    }

    /// How a session file is opened here.
    #[must_use]
    pub fn options_for(&self, file: &Path, spill_policy: SpillPolicy) -> Options {
        let options = self.opening(spill_policy);
        match &self.options.store {
            Some(store) => store.options_for(file, options),
            None => options,
        }
    }

    /// How sessions are opened here, whatever their file.
    #[must_use]
    pub fn opening(&self, spill_policy: SpillPolicy) -> Options {
        let place = &self.options;
        let options = Options {
            index: place.index.clone(),
            progress: Some((place.progress)("reading")),
            spill: place.spill.clone(),
            turns: place.turns.clone(),
            spill_policy,
            durability: place.durability,
            lock_wait: place.lock_wait,
            ..Options::default()
        };
        match place.now {
            Some(now) => Options { clock: Box::new(FixedClock(now)), ..options },
            None => options,
        }
    }

    /// Upgrades a session of an old version, as its first append would, and tells where the old file is kept. Returns whether it
    /// was old: then places in its tree are others.
    ///
    /// # Errors
    /// The backup or the session cannot be written.
    pub(crate) fn upgrade(&self, session: &mut Session) -> Result<bool> {
        let version = session.version();
        if let Some(backup) = session.upgrade()? {
            let backup = backup.display();
            self.tell(Note::Told(format!("upgraded from version {version}; the old file is kept as {backup}")));
        }
        Ok(session.version() != version)
    }

    /// What the next request from an entry would cost, after so many more tokens.
    ///
    /// # Errors
    /// The session, the settings or the models cannot be read.
    pub fn forecast(&self, session: &Session, target: Option<NodeIx>, more_tokens: u64) -> Result<RequestForecast> {
        self.options.next_request.forecast(session, target, more_tokens)
    }

    /// The tokens of the system prompt and the tools.
    ///
    /// # Errors
    /// The settings cannot be read.
    pub(crate) fn overhead(&self, session: &Session) -> Result<u64> {
        self.options.next_request.overhead(session)
    }

    /// What a request has beside the session's messages, and the model that is asked.
    ///
    /// # Errors
    /// The settings cannot be read.
    pub(crate) fn request_parts(&self, session: &Session) -> Result<RequestParts> {
        self.options.next_request.request_parts(session)
    }

    /// How the tree of a session of this folder is drawn.
    pub(crate) fn tree_layout(&self, folder: &str) -> TreeLayout {
        let folder = if folder.is_empty() { self.cwd() } else { Path::new(folder) };
        self.options.next_request.tree_layout(folder).unwrap_or_default()
    }

    /// The folder for entries that cannot be written to their session.
    pub(crate) fn spill(&self) -> Option<&Path> {
        self.options.spill.as_deref()
    }

    /// The folder in which processes name the prompts that they are answering.
    pub(crate) fn turns(&self) -> Option<&Path> {
        self.options.turns.as_deref()
    }

    /// What makes one plain row of a text in Markdown.
    pub(crate) fn plain_row(&self) -> fn(&str) -> String {
        self.options.plain
    }

    /// The folder of all recorded files, and the bounds of what is recorded.
    pub(crate) fn files(&self) -> Option<(&Path, FileLimits)> {
        self.options.files.as_ref().map(|(data, limits)| (data.as_path(), *limits))
    }

    /// The home directory.
    pub(crate) fn home(&self) -> Option<&Path> {
        self.options.home.as_deref()
    }

    /// Has a model write a summary; without one it is put together by rule.
    ///
    /// # Errors
    /// The model that was chosen cannot be asked, or the session not be read.
    pub(crate) fn summary(&self, session: &Session, question: &PlanQuestion, wish: &SummaryWish) -> Result<Drafted> {
        self.options.next_request.summary(session, question, wish)
    }

    /// What the request for a summary would cost, in US dollars.
    ///
    /// # Errors
    /// The session or the settings cannot be read.
    pub(crate) fn summary_cost(&self, session: &Session, question: &PlanQuestion) -> Result<Option<f64>> {
        self.options.next_request.summary_cost(session, question)
    }

    /// How sessions are compacted.
    ///
    /// # Errors
    /// The settings cannot be read.
    pub(crate) fn compaction_settings(&self, session: &Session) -> Result<compact::Settings> {
        self.options.next_request.compaction_settings(session)
    }

    /// The summary of a compaction.
    ///
    /// # Errors
    /// The model that was chosen cannot be asked, or the session not be read.
    pub(crate) fn compaction(&self, session: &Session, plan: &CompactionPlan, words: Option<&str>) -> Result<Drafted> {
        self.options.next_request.compaction(session, plan, words)
    }

    /// What the request for that would cost, in US dollars.
    ///
    /// # Errors
    /// The settings cannot be read.
    pub(crate) fn compaction_cost(
        &self,
        session: &Session,
        plan: &CompactionPlan,
        words: Option<&str>,
    ) -> Result<Option<f64>> {
        self.options.next_request.compaction_cost(session, plan, words)
    }

    /// What the request after a compaction would cost that keeps so many tokens, without its summary.
    ///
    /// # Errors
    /// The session, the settings or the models cannot be read.
    pub(crate) fn after_compaction(&self, session: &Session, kept: u64) -> Result<RequestForecast> {
        self.options.next_request.after_compaction(session, kept)
    }

    /// Writes a session as a page, and says what the page lacks.
    ///
    /// # Errors
    /// The session or the theme cannot be read, or `out` takes no more.
    pub(crate) fn page(&self, session: &Session, order: &PageOrder, out: &mut dyn Write) -> Result<Option<String>> {
        self.options.next_request.page(session, order, out)
    }

    /// Refuses a model that was chosen where none is asked.
    ///
    /// # Errors
    /// One was chosen.
    pub(crate) fn refuse_model(&self, why: &str) -> Result<()> {
        self.options.next_request.refuse_model(why)
    }

    /// The models that there are.
    ///
    /// # Errors
    /// They are not known here.
    pub(crate) fn models(&self) -> Result<KnownModels> {
        self.options.next_request.models()
    }

    /// The keys that offshoot knows; none if they are not known here.
    pub(crate) fn known_keys(&self) -> Secrets {
        self.models().map(|known| Secrets::new(known.keys.known(&known.models))).unwrap_or_default()
    }

    /// Looks for model servers on this machine, or for those of one kind.
    ///
    /// # Errors
    /// Nobody can be asked from here.
    pub(crate) fn local_models(&self, only: Option<LocalServer>) -> Result<LocalSearch> {
        self.options.next_request.local_models(only)
    }

    /// The tokens that the session's model takes; `None` if it is not known.
    ///
    /// # Errors
    /// The settings cannot be read.
    pub fn window(&self, session: &Session) -> Result<Option<u64>> {
        Ok(self.options.next_request.window(session)?.map(|(window, _)| window))
    }

    /// Refuses what does not fit into the window of the session's model, if that is known: the context before, and the tokens
    /// that come.
    ///
    /// # Errors
    /// It does not fit.
    pub fn refuse_beyond_window(&self, session: &Session, before: ContextWeight, more_tokens: u64) -> Result<()> {
        if more_tokens == 0 {
            return Ok(());
        }
        let Some((window, overhead)) = self.options.next_request.window(session)? else { return Ok(()) };
        Ok(session.refuse_beyond_window(before.total(overhead), more_tokens, window)?)
    }
}
