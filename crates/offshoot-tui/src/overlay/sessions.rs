//! The session selector: search, sort, rename, trash and open sessions while the list is still loading.
//!
//! It reads and changes no file. [`Sessions::key`] returns the user's decision, and [`Sessions::requests`] returns the
//! reads and actions that it needs. The owner hands back an [`Answer`]. Late answers are harmless, because each names
//! its subject.

mod lineage;
pub mod search;
mod list;
mod protocol;
mod file_actions;
mod found;
mod view;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use offshoot_session::clock::Millis;
use ratatui::crossterm::event::KeyEvent;

use crate::keymap::{Action, Context, Keymap};
use crate::overlay::hits::{HitAnswer, HitPlace, HitRequest};
use crate::overlay::line::{LineInput, Typed};
use list::{Filling, Kept, List, SessionListRow};
pub use list::{Listed, Names, Sort};
pub use protocol::{Answer, Preview, Request, Scope, SessionsOutcome, Speaker, Utterance};
use search::{Query, TextHits};

/// The context of a new selector.
#[derive(Debug, Clone, Default)]
pub struct Setting {
    pub now: Millis,
    /// The home directory, shown as `~`.
    pub home: Option<PathBuf>,
    /// The canonical path of the open session's file. The open session cannot be moved to the trash.
    pub current: Option<PathBuf>,
    pub keymap: Keymap,
}

/// The mode, which decides where keys go.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Mode {
    Browse,
    Rename(PathBuf, LineInput),
    Confirm(PathBuf),
}

/// A one-line report about the last action.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Notice {
    Done(String),
    /// This session is in the trash. A key restores it.
    Trashed(String),
    Trouble(String),
}

#[derive(Debug)]
pub struct Sessions {
    setting: Setting,
    folder: List,
    all: List,
    scope: Scope,
    sort: Sort,
    names: Names,
    shows_paths: bool,
    hides_preview: bool,
    line: LineInput,
    query: Option<Query>,
    searched: String,
    search: u64,
    mode: Mode,
    cursor: usize,
    /// The canonical path of the chosen session. `None` chooses the first row, until the user moves the cursor.
    held: Option<PathBuf>,
    notice: Option<Notice>,
    /// The sessions that were moved to the trash here, the latest last: the file, its canonical path and its name.
    trashed: Vec<(PathBuf, PathBuf, String)>,
    preview: Option<(PathBuf, Preview)>,
    /// The file of the last preview request.
    asked: Option<PathBuf>,
    requests: Vec<Request>,
}

/// The number of rows that a page key moves, as in pi.
const PAGE: usize = 10;

impl Sessions {
    /// A selector without sessions, which requests the sessions of the working directory.
    #[must_use]
    pub fn new(setting: Setting) -> Self {
        let mut sessions = Self {
            setting,
            folder: List::default(),
            all: List::default(),
            scope: Scope::default(),
            sort: Sort::default(),
            names: Names::default(),
            shows_paths: false,
            hides_preview: false,
            line: LineInput::default(),
            query: None,
            searched: String::new(),
            search: 0,
            mode: Mode::Browse,
            cursor: 0,
            held: None,
            notice: None,
            trashed: Vec::new(),
            preview: None,
            asked: None,
            requests: Vec::new(),
        };
        sessions.load();
        sessions
    }

    /// The requests since the last call.
    pub fn requests(&mut self) -> Vec<Request> {
        self.ask_for_preview();
        std::mem::take(&mut self.requests)
    }

    /// Sets the current time.
    pub fn set_now(&mut self, now: Millis) {
        self.setting.now = now;
    }

    /// Applies the answer to a request.
    pub fn take(&mut self, answer: Answer) {
        match answer {
            Answer::Listed(scope, sessions) => self.add(scope, sessions),
            Answer::Parents(scope, parents) => {
                self.list_mut(scope).link_all(parents);
                if scope == self.scope {
                    self.arrange();
                }
            }
            Answer::Progress(scope, done, of) => self.list_mut(scope).filling = Filling::Reading(done, of),
            Answer::Done(scope, Ok(unread)) => self.list_mut(scope).filling = Filling::Done(unread),
            Answer::Done(scope, Err(why)) => self.list_mut(scope).filling = Filling::Failed(why),
            Answer::Preview(file, preview) => {
                if self.asked.as_ref() == Some(&file) {
                    self.preview = Some((file, preview));
                }
            }
            Answer::Judged(search, judged) => {
                if let Some(query) = self.query.take_if(|_| search == self.search) {
                    self.list_mut(self.scope).judge(&query, judged);
                    self.query = Some(query);
                    self.arrange();
                }
            }
            Answer::Renamed(file, result) => self.renamed(&file, result),
            Answer::Trashed(file, result) => self.trashed(&file, result),
            Answer::Restored(file, result) => self.restored(&file, result),
            Answer::Hits(HitAnswer::Read(_, Err(why))) => self.notice = Some(Notice::Trouble(why)),
            Answer::Hits(_) => {}
        }
    }

    /// Whether the list is empty, and this answer brings the first rows.
    pub(crate) fn awaits(&self, answer: &Answer) -> bool {
        match answer {
            Answer::Listed(scope, sessions) => *scope == self.scope && self.list().len() == 0 && !sessions.is_empty(),
            Answer::Judged(search, judged) => {
                let has_hits = |(_, hits): &(PathBuf, TextHits)| hits.first.is_some();
                *search == self.search && self.list().shown().is_empty() && judged.iter().any(has_hits)
            }
            Answer::Parents(..)
            | Answer::Progress(..)
            | Answer::Done(..)
            | Answer::Preview(..)
            | Answer::Renamed(..)
            | Answer::Trashed(..)
            | Answer::Restored(..)
            | Answer::Hits(_) => false,
        }
    }

    fn add(&mut self, scope: Scope, sessions: Vec<Listed>) {
        let query = self.query.as_ref().filter(|_| scope == self.scope);
        let list = match scope {
            Scope::Folder => &mut self.folder,
            Scope::All => &mut self.all,
        };
        list.add(sessions, query);
        if scope == self.scope {
            self.arrange();
            self.ask_for_texts();
        }
    }

    /// Inserts pasted text into the current line.
    pub fn paste(&mut self, pasted: &str) {
        match &mut self.mode {
            Mode::Browse => {
                if self.line.insert(pasted) == Typed::Changed {
                    self.search_anew();
                }
            }
            Mode::Rename(_, line) => {
                line.insert(pasted);
            }
            Mode::Confirm(_) => {}
        }
    }

    pub fn key(&mut self, key: KeyEvent) -> SessionsOutcome {
        match std::mem::replace(&mut self.mode, Mode::Browse) {
            Mode::Browse => self.browse(key),
            Mode::Rename(file, line) => self.rename(key, file, line),
            Mode::Confirm(file) => self.confirm(key, file),
        }
    }

    fn browse(&mut self, key: KeyEvent) -> SessionsOutcome {
        self.notice = None;
        let actions = self.setting.keymap.actions(Context::Sessions, key);
        if let Some(outcome) = actions.into_iter().find_map(|action| self.act(action)) {
            return outcome;
        }
        if self.line.letter(key) == Typed::Changed {
            self.search_anew();
        }
        SessionsOutcome::Open
    }

    /// Applies an action. `None` means that the action does nothing now, and the next action of the key is tried.
    fn act(&mut self, action: Action) -> Option<SessionsOutcome> {
        match action {
            Action::SelectCancel if !self.line.is_empty() => {
                self.line = LineInput::default();
                self.search_anew();
            }
            Action::SelectCancel => return Some(SessionsOutcome::Cancelled),
            Action::SelectConfirm => match self.chosen().and_then(place_of) {
                Some(place) => self.requests.push(Request::Hits(HitRequest::Read(self.search, place))),
                None => return self.act(Action::OpenAtEnd),
            },
            Action::OpenAtEnd => {
                let chosen = self.chosen().map(|row| row.path.clone());
                return Some(chosen.map_or(SessionsOutcome::Open, SessionsOutcome::Chosen));
            }
            Action::SelectUp => self.go(self.cursor.saturating_sub(1)),
            Action::SelectDown => self.go(self.cursor.saturating_add(1)),
            Action::SelectPageUp => self.go(self.cursor.saturating_sub(PAGE)),
            Action::SelectPageDown => self.go(self.cursor.saturating_add(PAGE)),
            Action::CursorLineStart if self.line.is_empty() => self.go(0),
            Action::CursorLineEnd if self.line.is_empty() => self.go(usize::MAX),
            Action::ToggleScope => self.change_scope(),
            Action::ToggleSort => self.change_sort(),
            Action::ToggleNamedFilter => self.change_names(),
            Action::TogglePath => self.shows_paths = !self.shows_paths,
            Action::ToggleSessionPreview => self.hides_preview = !self.hides_preview,
            Action::RenameSession => self.begin_rename(),
            Action::DeleteSession => self.begin_trash(),
            Action::DeleteSessionQuietly if self.line.is_empty() => self.begin_trash(),
            // The usual key of this action deletes a word in other lines.
            Action::DeleteSessionQuietly => return self.act(Action::DeleteWordBackward),
            Action::RestoreSession if !self.trashed.is_empty() => self.bring_back(),
            action => {
                if self.line.act(action)? == Typed::Changed {
                    self.search_anew();
                }
            }
        }
        Some(SessionsOutcome::Open)
    }

    /// Whether Enter shows what was found in the session under the cursor.
    fn reads(&self) -> bool {
        self.chosen().and_then(place_of).is_some()
    }

    fn change_sort(&mut self) {
        self.sort = match self.sort {
            Sort::Threaded => Sort::Recent,
            Sort::Recent => Sort::Relevance,
            Sort::Relevance => Sort::Threaded,
        };
        self.arrange();
    }

    fn change_names(&mut self) {
        self.names = match self.names {
            Names::All => Names::Named,
            Names::Named => Names::All,
        };
        self.arrange();
    }

    fn change_scope(&mut self) {
        self.scope = match self.scope {
            Scope::Folder => Scope::All,
            Scope::All => Scope::Folder,
        };
        self.load();
        self.judge_anew(Kept::Nothing);
    }

    /// Requests the list of the scope, unless it was requested before.
    fn load(&mut self) {
        let list = self.list_mut(self.scope);
        if list.filling == Filling::Unasked {
            list.filling = Filling::Reading(0, None);
            self.requests.push(Request::List(self.scope));
        }
    }

    fn search_anew(&mut self) {
        let kept = Kept::from(&self.searched, self.line.text());
        self.searched = self.line.text().to_owned();
        self.query = Some(Query::parse(&self.searched)).filter(|query| !query.is_empty());
        self.held = None;
        self.judge_anew(kept);
    }

    /// Starts a search of the scope. The fields are searched at once, and the matches in the messages come later.
    fn judge_anew(&mut self, kept: Kept) {
        self.search += 1;
        self.requests.retain(|request| !matches!(request, Request::Search { .. }));
        if self.query.is_none() {
            self.requests.push(Request::StopSearch);
        }
        let query = self.query.take();
        self.list_mut(self.scope).search(query.as_ref(), kept);
        self.query = query;
        self.arrange();
        self.ask_for_texts();
    }

    fn ask_for_texts(&mut self) {
        if self.query.as_ref().is_none_or(|query| query.error().is_some()) {
            return;
        }
        let files = self.list_mut(self.scope).unasked();
        if !files.is_empty() {
            self.requests.push(Request::Search { search: self.search, query: self.searched.clone(), files });
        }
    }

    fn ask_for_preview(&mut self) {
        let file = self.chosen().map(|row| row.path.clone());
        if file != self.asked {
            self.requests.extend(file.clone().map(Request::Preview));
            self.preview = None;
            self.asked = file;
        }
    }

    /// Recomputes the shown rows. The chosen session stays chosen if it is still shown.
    fn arrange(&mut self) {
        let (sort, names, is_search) = (self.sort, self.names, self.query.is_some());
        self.list_mut(self.scope).arrange(sort, names, is_search);
        let list = self.list();
        let last = list.shown().len().saturating_sub(1);
        let place = match &self.held {
            None => 0,
            Some(held) => list.place_of(held).unwrap_or(self.cursor),
        };
        self.cursor = place.min(last);
    }

    /// Moves the cursor to a place, or to the last row if there are fewer rows.
    fn go(&mut self, place: usize) {
        self.cursor = place.min(self.list().shown().len().saturating_sub(1));
        self.hold();
    }

    /// Keeps the cursor on its session while other sessions arrive.
    fn hold(&mut self) {
        self.held = self.chosen().map(|row| row.real.clone());
    }

    fn chosen(&self) -> Option<&SessionListRow> {
        self.list().at(self.cursor)
    }

    fn list(&self) -> &List {
        match self.scope {
            Scope::Folder => &self.folder,
            Scope::All => &self.all,
        }
    }

    fn list_mut(&mut self, scope: Scope) -> &mut List {
        match scope {
            Scope::Folder => &mut self.folder,
            Scope::All => &mut self.all,
        }
    }

    /// The canonical path of a listed file.
    fn real_of(&self, file: &Path) -> PathBuf {
        self.folder.real_of(file).or_else(|| self.all.real_of(file)).unwrap_or(file).to_path_buf()
    }
}

/// Where a session has what was searched for, if a message has it.
fn place_of(row: &SessionListRow) -> Option<HitPlace> {
    let said = row.said.as_ref()?;
    let entry = Some(said.entry.clone()?);
    let title = row.name.clone().unwrap_or_else(|| row.words().to_owned());
    Some(HitPlace { file: row.path.clone(), entry, found: vec![said.words.clone()], title, child: None })
}
