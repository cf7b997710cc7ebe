//! The tree of a session, to walk, search, fold, label and leave: its state, what keys do to it, and what they ask for.
//!
//! It reads a snapshot of the session: the caller opens one for reading ([`Snapshot`]) and gives another one when the session
//! has grown ([`TreeSelector::renew`]). Entries are read when they are shown. Nothing is written here: labels,
//! copies and walks leave as an [`Outcome`].

mod compare;
mod keys;
mod list;
mod panes;
mod preview;
mod question;
mod rows;
mod search;
mod view;
#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use jiff::tz::TimeZone;
use offshoot_session::clock::{Millis, to_iso};
use offshoot_session::entry::Source;
use offshoot_session::error::Result;
use offshoot_session::outline::{Filter, Outline, Sums};
use offshoot_session::tree::{Label, NodeIx};
use ratatui::crossterm::event::KeyEvent;

use crate::keymap::{Action, Context, Keymap};
use crate::overlay::line::LineInput;

use compare::Compare;
use keys::Step;
use list::{Limits, List, cycled};
use panes::Panes;
use preview::Preview;
use question::{Answer, Question};
use search::{Place, Search};

/// What the selector reads: a session that was opened for reading, or anything else that gives a tree and its bodies.
pub type Snapshot = Arc<dyn Source + Send + Sync>;

/// What a status line says when there is no tree to open.
pub const NO_ENTRIES: &str = "no entries in this session";

/// What a status line says to [`Outcome::AlreadyHere`].
pub const ALREADY_HERE: &str = "already at this point";

/// How much a search reads before a key is answered; what is left is for [`TreeSelector::work`].
const AT_ONCE: usize = 1 << 19;

/// How a selector is opened.
#[derive(Debug, Clone)]
pub struct Setup {
    /// The entry to select; `None` selects where the session is.
    pub selected: Option<NodeIx>,
    /// The filter to begin with (pi's setting `treeFilterMode`).
    pub filter: Filter,
    /// Leave without a summary and without a question (pi's setting `branchSummary.skipPrompt`).
    pub skips_question: bool,
    /// Whether the preview is shown.
    pub shows_preview: bool,
    /// The home directory, which paths show as `~`.
    pub home: Option<String>,
    /// Where the clock on the wall hangs.
    pub zone: TimeZone,
    /// What it says.
    pub now: Millis,
    /// The terminal's columns and rows.
    pub size: (u16, u16),
    /// Which key does what.
    pub keymap: Keymap,
}

impl Default for Setup {
    fn default() -> Self {
        Self {
            selected: None,
            filter: Filter::Default,
            skips_question: false,
            shows_preview: true,
            home: None,
            zone: TimeZone::UTC,
            now: 0,
            size: (80, 24),
            keymap: Keymap::default(),
        }
    }
}

/// What a key came to, for the caller to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// Nothing but another picture.
    Stay,
    /// Close the selector.
    Close,
    /// Close it and say [`ALREADY_HERE`].
    AlreadyHere,
    /// Go to an entry. The selector stays and shows that it waits: close it when the walk is done, or call
    /// [`TreeSelector::stopped`] or [`TreeSelector::failed`].
    Navigate {
        /// The entry's id.
        target: String,
        /// Whether what is left behind is summarised.
        summarize: bool,
        /// What the summary shall mind.
        instructions: Option<String>,
    },
    /// Stop the summary that is being written.
    Abort,
    /// Set or clear a bookmark, at once; the selector shows it already.
    Label {
        /// The entry's id.
        entry: String,
        /// The bookmark; `None` clears it.
        text: Option<String>,
    },
    /// Copy this text.
    Copy(String),
    /// Have this text written on in the external editor; [`TreeSelector::written`] takes what comes of it.
    Edit(String),
}

/// What the selector is doing.
#[derive(Debug)]
enum Mode {
    Browse,
    /// A bookmark is being written for an entry.
    Label(NodeIx, LineInput),
    /// Before leaving to an entry.
    Question(NodeIx, Question),
    /// Two marked branches side by side.
    Compare(Box<Compare>),
    /// On the way, perhaps with a summary.
    Leaving {
        summarize: bool,
        is_stopping: bool,
    },
}

/// The selector.
pub struct TreeSelector {
    source: Snapshot,
    setup: Setup,
    list: List,
    search: Search,
    mode: Mode,
    /// Bookmarks set and cleared since the snapshot.
    labels: HashMap<NodeIx, Option<Label>>,
    shows_label_times: bool,
    shows_sums: bool,
    marks: Vec<NodeIx>,
    sums: Option<Sums>,
    preview: Preview,
    rows: rows::Texts,
    /// What went wrong, or was done.
    notice: Option<String>,
}

impl TreeSelector {
    /// Opens the selector over a session that is at `leaf`.
    ///
    /// # Errors
    /// The session cannot be read.
    pub fn new(source: Snapshot, leaf: Option<NodeIx>, setup: Setup) -> Result<Self> {
        let outline = Outline::with_home(source.as_ref(), leaf, setup.filter, setup.home.as_deref())?.reading_near();
        let mut list = List::new(outline, setup.selected);
        list.filter = setup.filter;
        let mut selector = Self {
            source,
            list,
            search: Search::default(),
            mode: Mode::Browse,
            labels: HashMap::new(),
            shows_label_times: false,
            shows_sums: true,
            marks: Vec::new(),
            sums: None,
            preview: Preview::default(),
            rows: rows::Texts::default(),
            notice: None,
            setup,
        };
        selector.fetch();
        Ok(selector)
    }

    /// Whether the session has no entry that could ever be shown: then there is nothing to open (see [`NO_ENTRIES`]).
    pub fn is_empty(&self) -> bool {
        self.list.outline.places() == 0
    }

    /// Takes another snapshot of the same session, after it has grown. Selection, filter, folds and search stay.
    ///
    /// # Errors
    /// The session cannot be read; then the selector is as it was.
    pub fn renew(&mut self, source: Snapshot, leaf: Option<NodeIx>) -> Result<()> {
        let setup = &self.setup;
        let outline = Outline::with_home(source.as_ref(), leaf, setup.filter, setup.home.as_deref())?.reading_near();
        // Entries are named by their place in the file, which stays.
        let mut list = List::new(outline, self.list.remembered());
        list.filter = self.list.filter;
        list.folded = std::mem::take(&mut self.list.folded);
        self.source = source;
        self.list = list;
        self.labels.clear();
        self.sums = None;
        self.rows = rows::Texts::default();
        self.search.forget();
        let query = self.search.query().to_owned();
        self.look_for(query);
        Ok(())
    }

    /// The terminal has another size.
    pub fn resize(&mut self, columns: u16, rows: u16) {
        self.setup.size = (columns, rows);
        if let Mode::Question(_, question) = &mut self.mode {
            question.prompt.resize(columns, rows);
        }
        self.fetch();
    }

    /// It is later now.
    pub fn tick(&mut self, now: Millis) {
        self.setup.now = now;
    }

    /// The rows that it would take of the terminal.
    pub fn height(&self) -> u16 {
        Panes::wanted(self.setup.size, self.shows_preview())
    }

    /// Takes a key.
    pub fn key(&mut self, key: KeyEvent) -> Outcome {
        self.notice = None;
        let outcome = match &mut self.mode {
            Mode::Browse => Step::of(&self.setup.keymap, key).map_or(Outcome::Stay, |step| self.act(step)),
            Mode::Compare(_) => self.compare_key(key),
            Mode::Label(..) => self.label_key(key),
            Mode::Question(..) => self.question_key(key),
            Mode::Leaving { .. } => self.leaving_key(key),
        };
        self.fetch();
        outcome
    }

    /// Takes a text that was pasted.
    pub fn paste(&mut self, text: &str) {
        match &mut self.mode {
            Mode::Browse => {
                let query = format!("{}{}", self.search.query(), crate::text::clean(text));
                self.look_for(query);
            }
            Mode::Label(_, input) => _ = input.insert(text),
            Mode::Question(_, question) if question.is_writing => drop(question.prompt.paste(text)),
            Mode::Question(..) | Mode::Compare(_) | Mode::Leaving { .. } => {}
        }
        self.fetch();
    }

    /// Does something while the tree is shown.
    fn act(&mut self, step: Step) -> Outcome {
        let mut outcome = Outcome::Stay;
        match step {
            Step::Up => self.list.step(false),
            Step::Down => self.list.step(true),
            Step::PageUp => self.list.select(self.list.selected.saturating_sub(self.page())),
            Step::PageDown => self.list.select(self.list.selected + self.page()),
            Step::First => self.list.select(0),
            Step::Last => self.list.select(usize::MAX),
            Step::Confirm => outcome = self.confirm(),
            Step::Cancel if self.search.query().is_empty() => outcome = Outcome::Close,
            Step::Cancel => self.look_for(String::new()),
            Step::FoldOrUp => {
                if self.list.fold_or_up() {
                    self.arrange();
                }
            }
            Step::UnfoldOrDown => {
                if self.list.unfold_or_down() {
                    self.arrange();
                }
            }
            Step::EditLabel => self.edit_label(),
            Step::ToggleLabelTimes => self.shows_label_times = !self.shows_label_times,
            Step::Copy => outcome = self.copy(),
            Step::Filter(filter) if filter == self.list.filter => self.filter(Filter::Default),
            Step::Filter(filter) => self.filter(filter),
            Step::NextFilter => self.filter(cycled(self.list.filter, 1)),
            Step::PreviousFilter => self.filter(cycled(self.list.filter, Filter::NAMES.len() - 1)),
            Step::Mark => self.mark(),
            Step::Compare => self.compare(),
            Step::ToggleSums => self.shows_sums = !self.shows_sums,
            Step::JumpToLabel => {
                let query = format!("{} #", self.search.query());
                self.look_for(query.trim_start().to_owned());
            }
            Step::TogglePreview => self.setup.shows_preview = !self.setup.shows_preview,
            Step::PreviewUp => self.preview.scroll(false),
            Step::PreviewDown => self.preview.scroll(true),
            Step::DeleteBack => {
                let mut query = self.search.query().to_owned();
                if query.pop().is_some() {
                    self.look_for(query);
                }
            }
            Step::Type(c) => {
                let query = format!("{}{c}", self.search.query());
                self.look_for(query);
            }
        }
        outcome
    }

    /// Looks on with what is under way, through about so many bytes. Says whether there is more: then it wants to be called
    /// again when nothing else is to be done.
    pub fn work(&mut self, budget: usize) -> bool {
        if let Mode::Compare(compare) = &mut self.mode
            && compare.is_reading()
            && let Err(error) = compare.work(self.source.as_ref(), budget)
        {
            self.failed(&error.to_string());
        }
        if self.search.is_running() {
            self.search_on(budget);
            self.fetch();
        }
        self.search.is_running() || matches!(&self.mode, Mode::Compare(compare) if compare.is_reading())
    }

    /// The walk was stopped: nothing has changed.
    pub fn stopped(&mut self) {
        self.mode = Mode::Browse;
        self.notice = Some("the summary was stopped; nothing has changed".to_owned());
        self.fetch();
    }

    /// The walk, or what else was asked for, has failed.
    pub fn failed(&mut self, why: &str) {
        self.mode = Mode::Browse;
        self.notice = Some(why.to_owned());
        self.fetch();
    }

    fn page(&self) -> usize {
        Panes::rows(self.setup.size)
    }

    fn shows_preview(&self) -> bool {
        self.setup.shows_preview
    }

    fn id(&self, ix: NodeIx) -> Option<String> {
        self.source.tree().node(ix).id().map(ToString::to_string)
    }

    fn label(&self, ix: NodeIx) -> Option<&Label> {
        match self.labels.get(&ix) {
            Some(label) => label.as_ref(),
            None => self.source.tree().node(ix).id().and_then(|id| self.source.tree().label(id)),
        }
    }

    /// The entries with a bookmark, if that is another matter than the snapshot says.
    fn labelled(&self) -> Option<HashSet<NodeIx>> {
        let tree = self.source.tree();
        (!self.labels.is_empty()).then(|| {
            let known = tree.labels().into_iter().filter_map(|(target, _)| tree.find(target.as_str()));
            known.chain(self.labels.keys().copied()).filter(|ix| self.label(*ix).is_some()).collect()
        })
    }

    fn filter(&mut self, filter: Filter) {
        self.list.filter = filter;
        self.list.folded.clear();
        self.arrange();
    }

    fn arrange(&mut self) {
        let labelled = self.labelled();
        let limits = Limits { found: self.search.found(), labelled: labelled.as_ref() };
        self.list.arrange(self.source.tree(), limits);
        if !self.search.is_running() {
            self.list.settle();
        }
    }

    fn look_for(&mut self, query: String) {
        self.search.set(query, self.list.outline.places());
        self.list.folded.clear();
        self.arrange();
        self.search_on(AT_ONCE);
    }

    fn search_on(&mut self, budget: usize) {
        let was_running = self.search.is_running();
        let labels = &self.labels;
        let source = &self.source;
        let label = |ix: NodeIx| match labels.get(&ix) {
            Some(label) => label.as_ref().map(|label| label.text.clone()),
            None => {
                let tree = source.tree();
                tree.node(ix).id().and_then(|id| tree.label(id)).map(|label| label.text.clone())
            }
        };
        let place = Place { source: source.as_ref(), outline: &self.list.outline, label: &label };
        match self.search.work(&place, budget) {
            Ok(true) => self.arrange(),
            Ok(false) => {}
            Err(error) => self.notice = Some(error.to_string()),
        }
        if was_running && !self.search.is_running() {
            self.select_label();
        }
    }

    /// Selects the bookmark that was asked for: the one of that name, or one that begins so, or one with it in it.
    fn select_label(&mut self) {
        let Some(wanted) = self.search.label().map(str::to_owned) else { return };
        let rank = |label: &str| match label {
            label if label == wanted => 0,
            label if label.starts_with(&wanted) => 1,
            label if label.contains(&wanted) => 2,
            _ => 3,
        };
        let tree = self.source.tree();
        let known = tree.labels().into_iter().filter_map(|(target, _)| tree.find(target.as_str()));
        let labelled = known.chain(self.labels.keys().copied());
        let ranked = labelled.filter_map(|ix| {
            let row = self.list.outline.nearest(ix).filter(|row| self.list.outline.entry(*row) == Some(ix))?;
            let rank = rank(&self.label(ix)?.text.to_lowercase());
            (rank < 3).then_some((rank, row))
        });
        if let Some((_, row)) = ranked.min() {
            self.list.select(row);
        }
    }

    fn confirm(&mut self) -> Outcome {
        let Some(ix) = self.list.entry() else { return Outcome::Stay };
        if self.list.outline.open() == Some(ix) {
            return Outcome::AlreadyHere;
        }
        if self.id(ix).is_none() {
            self.notice = Some("this entry has no id, so nothing can follow it".to_owned());
            return Outcome::Stay;
        }
        if self.setup.skips_question {
            return self.leave(ix, false, None);
        }
        self.mode = Mode::Question(ix, Question::new(self.setup.size));
        Outcome::Stay
    }

    fn leave(&mut self, ix: NodeIx, summarize: bool, instructions: Option<String>) -> Outcome {
        let Some(target) = self.id(ix) else { return Outcome::Stay };
        self.mode = Mode::Leaving { summarize, is_stopping: false };
        Outcome::Navigate { target, summarize, instructions }
    }

    /// Takes what was written in the external editor; `None`: the text stays.
    pub fn written(&mut self, text: Option<&str>) {
        if let (Mode::Question(_, question), Some(text)) = (&mut self.mode, text) {
            question.prompt.replace(text.trim_end());
        }
    }

    fn question_key(&mut self, key: KeyEvent) -> Outcome {
        let Mode::Question(ix, question) = &mut self.mode else { return Outcome::Stay };
        let ix = *ix;
        match question.key(&self.setup.keymap, key) {
            Answer::Open => Outcome::Stay,
            Answer::External(text) => Outcome::Edit(text),
            Answer::Back => {
                self.mode = Mode::Browse;
                Outcome::Stay
            }
            Answer::Leave { summarize, instructions } => self.leave(ix, summarize, instructions),
        }
    }

    fn leaving_key(&mut self, key: KeyEvent) -> Outcome {
        let is_cancel = self.setup.keymap.actions(Context::Dialog, key).contains(&Action::SelectCancel);
        match &mut self.mode {
            Mode::Leaving { is_stopping: is_stopping @ false, .. } if is_cancel => {
                *is_stopping = true;
                Outcome::Abort
            }
            _ => Outcome::Stay,
        }
    }

    fn edit_label(&mut self) {
        let Some(ix) = self.list.entry() else { return };
        if self.id(ix).is_none() {
            self.notice = Some("this entry has no id, so it can have no label".to_owned());
            return;
        }
        let known = self.label(ix).map(|label| label.text.clone()).unwrap_or_default();
        self.mode = Mode::Label(ix, LineInput::new(&known));
    }

    fn label_key(&mut self, key: KeyEvent) -> Outcome {
        let Mode::Label(ix, input) = &mut self.mode else { return Outcome::Stay };
        let ix = *ix;
        match self.setup.keymap.action(Context::Dialog, key) {
            Some(Action::SelectCancel) => self.mode = Mode::Browse,
            Some(Action::SelectConfirm) => {
                let text = Some(input.text().trim().to_owned()).filter(|text| !text.is_empty());
                self.mode = Mode::Browse;
                let label = text.clone().map(|text| Label { text, timestamp: Some(to_iso(self.setup.now)) });
                self.labels.insert(ix, label);
                return self.id(ix).map_or(Outcome::Stay, |entry| Outcome::Label { entry, text });
            }
            _ => _ = input.key(&self.setup.keymap, key),
        }
        Outcome::Stay
    }

    fn copy(&mut self) -> Outcome {
        let Some(ix) = self.list.entry() else { return Outcome::Stay };
        match preview::copied(self.source.as_ref(), ix) {
            Ok(Some(text)) => return Outcome::Copy(text),
            Ok(None) => self.notice = Some("the entry has no text to copy".to_owned()),
            Err(error) => self.notice = Some(error.to_string()),
        }
        Outcome::Stay
    }

    fn mark(&mut self) {
        let Some(ix) = self.list.entry() else { return };
        match self.marks.iter().position(|marked| *marked == ix) {
            Some(at) => _ = self.marks.remove(at),
            None => {
                if self.marks.len() > 1 {
                    self.marks.remove(0);
                }
                self.marks.push(ix);
            }
        }
    }

    fn compare(&mut self) {
        let [first, second] = self.marks.as_slice() else {
            self.notice = Some("mark two entries first: the branches up to them are compared".to_owned());
            return;
        };
        let opened = Compare::new(self.source.as_ref(), *first, *second).and_then(|mut compare| {
            compare.work(self.source.as_ref(), AT_ONCE)?;
            Ok(compare)
        });
        match opened {
            Ok(compare) => self.mode = Mode::Compare(Box::new(compare)),
            Err(error) => self.notice = Some(error.to_string()),
        }
    }

    fn compare_key(&mut self, key: KeyEvent) -> Outcome {
        let Mode::Compare(compare) = &mut self.mode else { return Outcome::Stay };
        let (columns, rows) = self.setup.size;
        let room = usize::from(rows.min(Panes::wanted(self.setup.size, self.setup.shows_preview))).saturating_sub(5);
        let page = isize::try_from(room).unwrap_or(isize::MAX);
        let by = match Step::of(&self.setup.keymap, key) {
            Some(Step::Up) => -1,
            Some(Step::Down) => 1,
            Some(Step::PageUp) => -page,
            Some(Step::PageDown) => page,
            Some(Step::First) => isize::MIN,
            Some(Step::Last) => isize::MAX,
            Some(Step::Cancel | Step::Confirm | Step::Compare) => {
                self.mode = Mode::Browse;
                return Outcome::Stay;
            }
            _ => 0,
        };
        compare.scroll(by, columns, room);
        Outcome::Stay
    }

    /// Reads what the next picture needs.
    fn fetch(&mut self) {
        if self.sums.is_none() {
            match Sums::new(self.source.as_ref(), &self.list.outline) {
                Ok(sums) => self.sums = Some(sums),
                Err(error) => self.notice = Some(error.to_string()),
            }
        }
        let rows = rows::window(self.list.selected, self.list.len(), self.page());
        let wanted: Vec<NodeIx> = rows.filter_map(|row| self.list.outline.entry(row)).collect();
        self.rows.fetch(&self.list.outline, self.source.as_ref(), &wanted);
        if self.shows_preview() {
            self.preview.fetch(self.source.as_ref(), self.list.entry());
        }
    }
}

impl std::fmt::Debug for TreeSelector {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "TreeSelector {{ {}/{}, {:?} }}", self.list.selected, self.list.len(), self.mode)
    }
}
