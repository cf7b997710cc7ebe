//! The tree selector: its state, its keys and its outcomes. The user walks, searches, folds, labels and leaves the tree
//! of a session.
//!
//! The selector reads a snapshot of the session ([`Snapshot`]), and reads entries when they are shown. It writes
//! nothing: labels, copies and navigation are returned as a [`TreeOutcome`].

mod draw;
mod keys;
mod panes;
mod rows;
mod bring;
mod patch_lines;
mod compare;
mod files;
mod labels;
mod list;
mod agents;
mod preview;
mod question;
mod leave;
mod search;
mod near;
mod view;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use jiff::tz::TimeZone;
use offshoot_protocol::{ComesBack, FilesAlong};
use offshoot_session::clock::Millis;
use offshoot_session::entry::Source;
use offshoot_session::error::Result;
use offshoot_session::outline::{Filter, Outline, OutlineSetup, Sums, TreeLayout};
use offshoot_session::provenance::Origin;
use offshoot_session::tree::{Label, NodeIx};
use offshoot_workspace::OperationOrder;
use ratatui::crossterm::event::KeyEvent;

use crate::keymap::Keymap;
use crate::markdown::plain_row;
use crate::overlay::line::LineInput;
use crate::text::width;

pub use agents::AgentRow;
use agents::TreeAgents;
use compare::Compare;
use keys::TreeAction;
use labels::Labels;
use list::{Limits, List, cycled};
use panes::Panes;
use preview::Preview;
use question::Question;
pub(crate) use question::files_words;
use search::{Search, SearchedTree};

/// The data that the selector reads: a session opened for reading, or any other source of a tree and its bodies.
pub type Snapshot = Arc<dyn Source + Send + Sync>;

/// The status message for a session without entries.
pub const NO_ENTRIES: &str = "no entries in this session";

/// The status message for [`TreeOutcome::AlreadyHere`].
pub const ALREADY_HERE: &str = "already at this point";

/// The bytes that a search reads before a key returns. [`TreeSelector::work`] reads the rest.
const AT_ONCE: usize = 1 << 19;

/// The options of a new selector.
#[derive(Debug, Clone)]
pub struct Setup {
    /// The entry to select; `None` selects the current leaf.
    pub selected: Option<NodeIx>,
    /// The tree layout (setting `treeLayout`).
    pub layout: TreeLayout,
    /// The initial filter (pi's setting `treeFilterMode`).
    pub filter: Filter,
    /// Whether to leave without a question and without a summary (pi's setting `branchSummary.skipPrompt`).
    pub skips_question: bool,
    /// What comes back (setting `treeFiles`); `None` asks where files would change.
    pub files: Option<ComesBack>,
    pub shows_preview: bool,
    /// The home directory, shown as `~`.
    pub home: Option<String>,
    pub zone: TimeZone,
    pub now: Millis,
    /// The terminal's size in columns and rows.
    pub size: (u16, u16),
    pub keymap: Keymap,
}

impl Setup {
    fn outline(&self) -> OutlineSetup<'_> {
        let (layout, filter, home) = (self.layout, self.filter, self.home.as_deref());
        OutlineSetup { layout, filter, home, plain: Some(plain_row) }
    }
}

impl Default for Setup {
    fn default() -> Self {
        Self {
            selected: None,
            layout: TreeLayout::default(),
            filter: Filter::Default,
            skips_question: false,
            files: None,
            shows_preview: true,
            home: None,
            zone: TimeZone::UTC,
            now: 0,
            size: (80, 24),
            keymap: Keymap::default(),
        }
    }
}

/// The outcome of a key, for the caller to act on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TreeOutcome {
    /// Only a redraw is needed.
    Stay,
    Close,
    /// Close the selector and report [`ALREADY_HERE`].
    AlreadyHere,
    /// Go to an entry. The selector stays open and shows that it waits. The caller closes it after the navigation, or
    /// calls [`TreeSelector::stopped`] or [`TreeSelector::failed`].
    Navigate {
        target: String,
        /// Whether to summarise the branch that is left.
        summarize: bool,
        instructions: Option<String>,
        /// The completed tool calls that the entry leaves out, in words, unless the question has shown them.
        left_out: Option<String>,
        /// Whether the files of the entry come back, too.
        files: FilesAlong,
    },
    /// Work out what the files of an entry would change. [`TreeSelector::take_files_preview`] takes the result.
    PreviewFiles(String),
    /// As [`TreeOutcome::Navigate`].
    Operate(OperationOrder),
    Abort,
    /// Set or clear a label. The selector already shows the change.
    Label {
        entry: String,
        /// The label; `None` clears it.
        text: Option<String>,
    },
    Copy(String),
    /// Read the session of this agent, over the tree.
    OpenAgent(String),
    /// Find the original of a copy or of a merge, which is in another session.
    FindSource(Origin),
    /// Work out what differs in the files of two branches. [`TreeSelector::take_patches`] takes the result.
    Patches(String, String),
    /// Edit this text in the external editor. [`TreeSelector::written`] takes the result.
    Edit(String),
}

#[derive(Debug)]
enum Mode {
    Browse,
    Label(NodeIx, LineInput),
    /// The question before leaving to an entry.
    Question(NodeIx, Question),
    Compare(Box<Compare>),
    Leaving {
        summarize: bool,
        is_stopping: bool,
    },
}

/// What the user may do next: go to the entry under the cursor, or bring here what is marked or its branch.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub struct ForecastWish {
    pub entry: String,
    /// The ids of the marked entries.
    pub marked: Vec<String>,
}

/// The answer to a [`ForecastWish`], in words; `None` is not known.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ForecastWords {
    /// What the next request from the entry would cost, in full and brief words.
    pub request: Option<[String; 2]>,
    /// What a summary of the branch that is left would cost.
    pub summary: Option<String>,
    /// What a pick of the marked entries, or without marks a merge of the entry's branch, would bring.
    pub bring: Option<String>,
}

impl ForecastWords {
    /// The words that fit, or else the brief ones.
    fn request_line(&self, columns: usize) -> Option<String> {
        let [full, brief] = self.request.as_ref()?;
        Some(if width(full) <= columns { full } else { brief }.clone())
    }

    /// The same, with the cost of a summary.
    fn line(&self, columns: usize) -> Option<String> {
        let Some(summary) = &self.summary else { return self.request_line(columns) };
        let [full, brief] = self.request.as_ref()?;
        let full = format!("{full} · summary ≈ {summary}");
        Some(if width(&full) <= columns { full } else { format!("{brief} · summary {summary}") })
    }
}

/// What is known of the entry under the cursor. One answer is worked out at a time.
#[derive(Debug, Default)]
struct Forecasts {
    known: Option<(ForecastWish, ForecastWords)>,
    is_awaited: bool,
}

pub struct TreeSelector {
    source: Snapshot,
    /// What the user answered about files, for the caller to keep.
    files_answer: Option<ComesBack>,
    leaf: Option<NodeIx>,
    setup: Setup,
    list: List,
    search: Search,
    mode: Mode,
    labels: Labels,
    shows_label_times: bool,
    shows_sums: bool,
    marks: Vec<NodeIx>,
    agents: TreeAgents,
    sums: Option<Sums>,
    preview: Preview,
    rows: rows::RowTexts,
    notice: Option<String>,
    forecast: Forecasts,
    /// Whether the layout of the whole tree failed.
    is_incomplete: bool,
}

impl TreeSelector {
    /// Opens the selector for a session at `leaf`.
    pub fn new(source: Snapshot, leaf: Option<NodeIx>, setup: Setup) -> Result<Self> {
        let outline = match Self::near(source.as_ref(), leaf, &setup)? {
            Some(near) => near,
            None => Outline::new(source.as_ref(), leaf, setup.outline())?,
        };
        let list = List::new(outline.reading_near(), source.tree(), &setup);
        let mut selector = Self {
            source,
            files_answer: None,
            leaf,
            list,
            search: Search::default(),
            mode: Mode::Browse,
            labels: Labels::default(),
            shows_label_times: false,
            shows_sums: true,
            marks: Vec::new(),
            agents: TreeAgents::default(),
            sums: None,
            preview: Preview::default(),
            rows: rows::RowTexts::default(),
            notice: None,
            forecast: Forecasts::default(),
            is_incomplete: false,
            setup,
        };
        selector.fetch();
        Ok(selector)
    }

    /// Whether the session has no entry that can be shown. The selector is not opened then (see [`NO_ENTRIES`]).
    pub fn is_empty(&self) -> bool {
        self.list.outline.places() == 0
    }

    /// Sets the terminal's size.
    pub fn resize(&mut self, columns: u16, rows: u16) {
        self.complete();
        self.setup.size = (columns, rows);
        if let Mode::Question(_, question) = &mut self.mode {
            question.prompt.resize(columns, rows);
        }
        self.fetch();
    }

    pub fn tick(&mut self, now: Millis) {
        self.setup.now = now;
    }

    pub fn key(&mut self, key: KeyEvent) -> TreeOutcome {
        self.notice = None;
        let step = TreeAction::of(&self.setup.keymap, key).filter(|_| matches!(self.mode, Mode::Browse));
        if !step.is_some_and(|step| self.is_near(step)) {
            self.complete();
        }
        let outcome = match &mut self.mode {
            Mode::Browse => step.map_or(TreeOutcome::Stay, |step| self.act(step)),
            Mode::Compare(_) => self.compare_key(key),
            Mode::Label(..) => self.label_key(key),
            Mode::Question(..) => self.question_key(key),
            Mode::Leaving { .. } => self.leaving_key(key),
        };
        self.fetch();
        outcome
    }

    pub fn paste(&mut self, text: &str) {
        self.complete();
        match &mut self.mode {
            Mode::Browse => {
                let query = format!("{}{}", self.search.query(), crate::text::strip(text));
                self.look_for(query);
            }
            Mode::Label(_, input) => _ = input.insert(text),
            Mode::Question(_, question) if question.is_writing => drop(question.prompt.paste(text)),
            Mode::Question(..) | Mode::Compare(_) | Mode::Leaving { .. } => {}
        }
        self.fetch();
    }

    /// Applies an action while the tree is shown.
    fn act(&mut self, step: TreeAction) -> TreeOutcome {
        let mut outcome = TreeOutcome::Stay;
        let agent = self.agents.chosen(self.list.selected).map(|agent| agent.id.clone());
        if let (TreeAction::Confirm, Some(agent)) = (step, agent) {
            return TreeOutcome::OpenAgent(agent);
        }
        if !matches!(step, TreeAction::Up | TreeAction::Down) {
            self.agents.leave();
        }
        match step {
            TreeAction::Up => self.agents.step(&mut self.list, false),
            TreeAction::Down => self.agents.step(&mut self.list, true),
            TreeAction::Left if self.list.folds_with_arrows() && self.list.fold() => self.arrange(),
            TreeAction::Right if self.list.folds_with_arrows() && self.list.open() => self.arrange(),
            TreeAction::PageUp | TreeAction::Left => {
                self.list.select(self.list.selected.saturating_sub(self.page()));
            }
            TreeAction::PageDown | TreeAction::Right => self.list.select(self.list.selected + self.page()),
            TreeAction::First => self.list.select(0),
            TreeAction::Last => self.list.select(usize::MAX),
            TreeAction::Confirm => outcome = self.confirm(),
            TreeAction::Cancel if self.search.query().is_empty() => outcome = TreeOutcome::Close,
            TreeAction::Cancel => self.look_for(String::new()),
            TreeAction::FoldOrUp if self.list.fold() => self.arrange(),
            TreeAction::FoldOrUp => self.list.select(self.list.outline.segment_start(self.list.selected)),
            TreeAction::UnfoldOrDown if self.list.open() => self.arrange(),
            TreeAction::UnfoldOrDown => self.list.select(self.list.outline.next_segment(self.list.selected)),
            TreeAction::EditLabel => self.edit_label(),
            TreeAction::ToggleLabelTimes => self.shows_label_times = !self.shows_label_times,
            TreeAction::Copy => outcome = self.copy(),
            TreeAction::Filter(filter) if filter == self.list.filter => self.filter(Filter::Default),
            TreeAction::Filter(filter) => self.filter(filter),
            TreeAction::NextFilter => self.filter(cycled(self.list.filter, 1)),
            TreeAction::PreviousFilter => self.filter(cycled(self.list.filter, Filter::NAMES.len() - 1)),
            TreeAction::Mark => self.mark(),
            TreeAction::MarkRange => self.mark_range(),
            TreeAction::Compare => self.compare(),
            TreeAction::Pick => outcome = self.pick(),
            TreeAction::Merge => outcome = self.merge(),
            TreeAction::Undo => outcome = self.undo(),
            TreeAction::GoToSource => outcome = self.go_to_source(),
            TreeAction::ToggleSums => self.shows_sums = !self.shows_sums,
            TreeAction::JumpToLabel => {
                let query = format!("{} #", self.search.query());
                self.look_for(query.trim_start().to_owned());
            }
            TreeAction::TogglePreview => self.setup.shows_preview = !self.setup.shows_preview,
            TreeAction::PreviewUp => self.preview.scroll(false),
            TreeAction::PreviewDown => self.preview.scroll(true),
            TreeAction::DeleteBack => {
                let mut query = self.search.query().to_owned();
                if query.pop().is_some() {
                    self.look_for(query);
                }
            }
            TreeAction::Type(c) => {
                let query = format!("{}{c}", self.search.query());
                self.look_for(query);
            }
        }
        outcome
    }

    /// Whether [`TreeSelector::work`] has work to do.
    pub fn is_at_work(&self) -> bool {
        self.completes_idly()
            || self.sums_idly()
            || self.search.is_running()
            || matches!(&self.mode, Mode::Compare(compare) if compare.is_reading())
    }

    /// Completes the layout, and continues the search or the comparison for about `budget` bytes. Returns whether work is left. The caller then
    /// calls again when idle.
    pub fn work(&mut self, budget: usize) -> bool {
        if self.completes_idly() {
            self.complete();
            self.fetch();
        }
        if self.sums_idly() {
            self.sum_up();
            self.fetch();
        }
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
        self.is_at_work()
    }

    /// Reports that the navigation, or another request, failed.
    pub fn failed(&mut self, why: &str) {
        self.mode = Mode::Browse;
        self.notice = Some(why.to_owned());
        self.fetch();
    }

    /// What is to be worked out for the entry under the cursor and the marks, if that is not known and nothing is awaited.
    pub fn wants_forecast(&mut self) -> Option<ForecastWish> {
        let wish = self.wish().filter(|_| !self.forecast.is_awaited)?;
        if self.forecast.known.as_ref().is_some_and(|(known, _)| *known == wish) {
            return None;
        }
        self.forecast.is_awaited = true;
        Some(wish)
    }

    /// Takes the answer to a wish.
    pub fn set_forecast(&mut self, wish: ForecastWish, words: ForecastWords) {
        self.forecast = Forecasts { known: Some((wish, words)), is_awaited: false };
    }

    fn wish(&self) -> Option<ForecastWish> {
        let entry = self.list.entry().and_then(|ix| self.id(ix))?;
        Some(ForecastWish { entry, marked: self.marked().into_iter().filter_map(|ix| self.id(ix)).collect() })
    }

    fn forecast(&self) -> Option<&ForecastWords> {
        let (known, words) = self.forecast.known.as_ref()?;
        self.wish().is_some_and(|wish| wish == *known).then_some(words)
    }

    /// Shows words until the next key.
    pub fn tell(&mut self, words: &str) {
        self.notice = Some(words.to_owned());
    }

    /// The number of rows that a page up or down moves by: those of the tree on a terminal of this size.
    pub fn page(&self) -> usize {
        Panes::rows(self.setup.size, self.shows_preview())
    }

    fn shows_preview(&self) -> bool {
        self.setup.shows_preview
    }

    fn id(&self, ix: NodeIx) -> Option<String> {
        self.source.tree().node(ix).id().map(ToString::to_string)
    }

    fn label(&self, ix: NodeIx) -> Option<&Label> {
        self.labels.of(self.source.tree(), ix)
    }

    fn filter(&mut self, filter: Filter) {
        self.list.filter = filter;
        self.list.refold();
        self.arrange();
    }

    fn arrange(&mut self) {
        self.arrange_after(false);
    }

    /// Arranges the rows. When a search is cleared, also unfolds the branches that hide the selected entry.
    fn arrange_after(&mut self, is_search_over: bool) {
        let labelled = self.labels.all_if_changed(self.source.tree());
        let limits = Limits { found: self.search.found(), labelled: labelled.as_ref() };
        self.list.arrange(self.source.tree(), limits);
        if is_search_over {
            self.list.reveal(self.source.tree(), limits);
        }
        if !self.search.is_running() {
            self.list.settle();
        }
    }

    fn look_for(&mut self, query: String) {
        let is_search_over = query.is_empty();
        self.search.set(query, self.list.outline.places());
        self.list.refold();
        self.arrange_after(is_search_over);
        self.search_on(AT_ONCE);
    }

    fn search_on(&mut self, budget: usize) {
        let was_running = self.search.is_running();
        let (labels, tree) = (&self.labels, self.source.tree());
        let label = |ix: NodeIx| labels.of(tree, ix).map(|label| label.text.clone());
        let place = SearchedTree { source: self.source.as_ref(), outline: &self.list.outline, label: &label };
        match self.search.work(&place, budget) {
            Ok(true) => self.arrange(),
            Ok(false) => {}
            Err(error) => self.notice = Some(error.to_string()),
        }
        if was_running && !self.search.is_running() {
            self.select_label();
        }
    }

    fn copy(&mut self) -> TreeOutcome {
        let Some(ix) = self.list.entry() else { return TreeOutcome::Stay };
        match preview::copied(self.source.as_ref(), ix) {
            Ok(Some(text)) => return TreeOutcome::Copy(text),
            Ok(None) => self.notice = Some("the entry has no text to copy".to_owned()),
            Err(error) => self.notice = Some(error.to_string()),
        }
        TreeOutcome::Stay
    }

    /// Reads the data for the next frame.
    fn fetch(&mut self) {
        if self.sums.is_none() && !self.sums_idly() {
            self.sum_up();
        }
        self.place_agents();
        let seen = self.list.window(self.page());
        self.list.top = seen.start;
        self.rows.fetch(seen, &self.list.outline, self.source.as_ref(), self.sums.as_ref());
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
