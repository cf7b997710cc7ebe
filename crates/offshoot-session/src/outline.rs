//! The tree as rows of text. The trunk layout draws the current path straight down with other branches hanging from it;
//! the other layout is that of the peers' tree selectors. The documents' pictures, the `tree` command and the front
//! end's selector all use it. All walks are loops. Knows no colours and no keys.

mod order;
mod folds;
mod row_list;
mod pi_rows;
mod trunk_rows;
mod drawing;
mod row;
mod row_texts;
mod row_facts;
mod near;
mod left_out;
mod sums;
mod note;
mod words;

use std::collections::HashSet;
use std::ops::Range;

use crate::entry::{Entry, Source};
use crate::error::Result;
use crate::kind::Role;
use crate::provenance;
use crate::text::one_line;
use crate::tree::{NodeIx, Tree};

use drawing::Drawing;
pub use folds::Folds;
pub use left_out::{LeftOutCalls, left_out};
pub use note::{BranchNote, FittedNote};
use order::Order;
use pi_rows::PiRows;
pub use row_facts::RowFacts;
pub use row_texts::RowTexts;
pub use sums::{BranchSums, MergedPart, Sums};
use trunk_rows::{TrunkRows, TrunkScope};
pub use words::words;

/// The entries that an outline shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(missing_docs, reason = "the names of the others say what they show")]
pub enum Filter {
    /// Everything but settings, labels and state of extensions.
    #[default]
    Default,
    /// The default without tool results.
    NoTools,
    /// Only messages of the user.
    UserOnly,
    /// Only entries with a label.
    LabeledOnly,
    All,
}

#[expect(missing_docs, reason = "the names of the others say what they do")]
impl Filter {
    /// Every filter with its name, in the order of selectors.
    pub const NAMES: [(&'static str, Self); 5] = [
        ("default", Self::Default),
        ("no-tools", Self::NoTools),
        ("user-only", Self::UserOnly),
        ("labeled-only", Self::LabeledOnly),
        ("all", Self::All),
    ];

    pub fn parse(name: &str) -> Option<Self> {
        Self::NAMES.iter().find(|(known, _)| *known == name).map(|(_, filter)| *filter)
    }

    pub fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(_, filter)| *filter == self).map_or("default", |(name, _)| *name)
    }
}

/// The arrangement of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TreeLayout {
    /// The current path is one column; side branches hang from it, folded.
    #[default]
    Trunk,
    /// The peers' layout: every branch point indents what follows.
    Pi,
}

impl TreeLayout {
    /// Every layout with its name.
    pub const NAMES: [(&'static str, Self); 2] = [("trunk", Self::Trunk), ("pi", Self::Pi)];

    /// Parses a name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::NAMES.iter().find(|(known, _)| *known == name).map(|(_, layout)| *layout)
    }
}

/// A row of an outline.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names of the others say what they are")]
pub struct OutlineRow {
    pub ix: NodeIx,
    /// The lines that connect the row to its branch point.
    pub prefix: String,
    /// Whether the entry is on the path to the leaf.
    pub is_on_path: bool,
    /// Whether this is the row of the open entry, or of its nearest shown ancestor.
    pub is_selected: bool,
    pub label: Option<String>,
    /// One line of harmless text.
    pub text: String,
}

impl OutlineRow {
    /// The whole row as plain text.
    pub fn line(&self) -> String {
        let cursor = if self.is_selected { "› " } else { "  " };
        let bullet = if self.is_on_path { "• " } else { "" };
        let label = self.label.as_ref().map_or(String::new(), |label| format!("[{label}] "));
        format!("{cursor}{}{bullet}{label}{}", self.prefix, self.text)
    }
}

/// The part of a tree to show.
#[derive(Debug, Clone, Copy, Default)]
#[expect(missing_docs, reason = "the name says it")]
pub struct OutlineScope<'a> {
    pub filter: Filter,
    /// Whether a search found the entry, by [`Outline::place`]; `None` without a search.
    pub found: Option<&'a [bool]>,
    /// What is open and what is folded; `None` lets the layout decide.
    pub folds: Option<&'a Folds>,
    /// Entries with a label; `None` takes the tree's labels.
    pub labelled: Option<&'a HashSet<NodeIx>>,
}

/// The initial layout of a tree.
#[derive(Debug, Clone, Copy, Default)]
#[expect(missing_docs, reason = "the names of the others say what they are")]
pub struct OutlineSetup<'a> {
    pub layout: TreeLayout,
    pub filter: Filter,
    /// The home directory; paths below it are shown as `~`.
    pub home: Option<&'a str>,
    /// Makes plain words of the model's markdown. The peers' layout shows markdown as written.
    pub plain: Option<fn(&str) -> String>,
}

/// A tree as rows. The layout needs only envelopes; a row's text is read on demand.
#[derive(Debug, Clone, Default)]
pub struct Outline {
    layout: TreeLayout,
    order: Order,
    drawing: Drawing,
    /// By place in display order.
    shown: Vec<bool>,
    open: Option<NodeIx>,
    selected: Option<usize>,
    texts: RowTexts,
    filter: Filter,
    /// Whether only rows near the open entry are laid out; see [`Outline::near`].
    is_part: bool,
}

#[expect(missing_docs, reason = "the names of the others say what they return")]
impl Outline {
    /// Lays out the whole tree of a session that is open at `leaf`.
    ///
    /// # Errors
    /// The medium cannot be read.
    pub fn new(source: &dyn Source, leaf: Option<NodeIx>, setup: OutlineSetup<'_>) -> Result<Self> {
        let open = leaf.and_then(|leaf| source.tree().skip_leaf_markers(leaf));
        let order = Order::new(source, open, setup.layout)?;
        let texts = RowTexts::new(setup.home, setup.plain);
        let mut outline = Self { layout: setup.layout, order, open, texts, ..Self::default() };
        outline.arrange(source.tree(), OutlineScope { filter: setup.filter, ..OutlineScope::default() });
        source.tree().whole(outline)
    }

    /// Searches the call of a tool's result only near the result, to answer fast. A result whose call is far away shows
    /// its tool.
    #[must_use]
    pub fn reading_near(mut self) -> Self {
        self.texts.read_near_only();
        self
    }

    /// Lays out the entries in a scope. Reads no bodies; linear in the entries of the tree.
    pub fn arrange(&mut self, tree: &Tree, scope: OutlineScope<'_>) {
        let mut shown = match (scope.filter, scope.labelled) {
            (Filter::LabeledOnly, Some(labelled)) => self.order.labelled(labelled.iter().copied()),
            (filter, _) => self.order.filtered(tree, filter),
        };
        if let Some(found) = scope.found {
            let found = found.iter().copied().chain(std::iter::repeat(false));
            shown.iter_mut().zip(found).for_each(|(shown, found)| *shown &= found);
        }
        // Free the old drawing first: two would be the peak memory of a large tree.
        self.drawing = Drawing::default();
        self.drawing = match self.layout {
            TreeLayout::Pi => {
                let is_folded = |place| {
                    let folds = scope.folds.zip(self.order.entry(place));
                    folds.is_some_and(|(folds, ix)| !folds.is_open(ix))
                };
                Drawing::Pi(PiRows::new(&self.order, &shown, is_folded))
            }
            TreeLayout::Trunk => Drawing::Trunk(self.trunk(tree, &shown, scope)),
        };
        self.shown = shown;
        self.filter = scope.filter;
        self.selected = self.open.and_then(|open| self.nearest(open)).or_else(|| self.len().checked_sub(1));
    }

    /// Opens every branch if all rows then fit into `room`. Returns what is open.
    pub fn open_if_it_fits(&mut self, tree: &Tree, room: usize) -> Folds {
        if self.layout == TreeLayout::Pi {
            return Folds::all_open();
        }
        if self.len() <= room {
            let (filter, all) = (self.filter, Folds::all_open());
            self.arrange(tree, OutlineScope { filter, folds: Some(&all), ..OutlineScope::default() });
            if self.len() <= room {
                return all;
            }
            self.arrange(tree, OutlineScope { filter, ..OutlineScope::default() });
        }
        Folds::default()
    }

    fn trunk(&self, tree: &Tree, shown: &[bool], scope: OutlineScope<'_>) -> TrunkRows {
        // Entries that a search or this filter finds are wanted, so they are not folded.
        let is_narrow = scope.found.is_some() || scope.filter == Filter::LabeledOnly;
        let own = if is_narrow { Folds::all_open() } else { Folds::default() };
        let has_runs = scope.filter == Filter::Default && scope.found.is_none();
        let labelled = has_runs.then(|| {
            let labelled = scope.labelled.cloned().unwrap_or_else(|| self.labelled(tree));
            labelled.into_iter().filter_map(|ix| self.order.place(ix)).collect::<HashSet<u32>>()
        });
        let open = self.open.and_then(|open| self.order.place(open));
        let folds = scope.folds.unwrap_or(&own);
        TrunkRows::new(&self.order, &TrunkScope { shown, folds, labelled: labelled.as_ref(), open })
    }

    pub fn len(&self) -> usize {
        self.drawing.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of entries that are laid out, which is that of places.
    pub fn places(&self) -> usize {
        self.order.len()
    }

    /// An entry's index in display order over all that is laid out, shown or not.
    pub fn place(&self, ix: NodeIx) -> Option<usize> {
        self.order.place(ix).map(|place| place as usize)
    }

    /// The entry at a place.
    pub fn entry_at(&self, place: usize) -> Option<NodeIx> {
        self.order.entry(u32::try_from(place).ok()?)
    }

    /// The places of an entry and all its descendants.
    pub fn subtree(&self, ix: NodeIx) -> std::ops::Range<usize> {
        self.order.place(ix).map_or(0..0, |place| place as usize..self.order.end(place) as usize)
    }

    /// The first entry of an entry's branch, shown or not: the nearest entry at or above it with siblings, else the
    /// root. `None` if it is not laid out.
    pub fn branch_start(&self, ix: NodeIx) -> Option<NodeIx> {
        let mut place = self.order.place(ix)?;
        while let Some(parent) = self.order.parent(place) {
            // An only child directly follows its parent, and both subtrees end together.
            if place != parent + 1 || self.order.end(place) != self.order.end(parent) {
                break;
            }
            place = parent;
        }
        self.order.entry(place).filter(|_| place > 0 || !self.is_part)
    }

    /// The session's leaf, or the entry that a leaf marker there refers to.
    pub fn open(&self) -> Option<NodeIx> {
        self.open
    }

    /// The row of the open entry or its nearest shown ancestor, else the last row.
    pub fn selected(&self) -> Option<usize> {
        self.selected
    }

    /// The row of an entry, or of its nearest shown ancestor.
    pub fn nearest(&self, ix: NodeIx) -> Option<usize> {
        self.drawing.nearest(self.order.place(ix)?)
    }

    /// The entry that a row, counted from the top, stands for: a row of several tool calls for its last one.
    pub fn entry(&self, at: usize) -> Option<NodeIx> {
        self.order.entry(self.drawing.stands_at(at)?)
    }

    /// The entries that a row names: each call of a row of several tool calls, else the entry that it stands for.
    pub fn members(&self, at: usize) -> impl Iterator<Item = NodeIx> + '_ {
        let run = self.run(at).into_iter().flatten().filter(|place| self.shown.get(*place) == Some(&true));
        let (run, own) = (self.run(at).is_some().then_some(run), self.entry(at));
        let own = own.filter(|_| run.is_none());
        run.into_iter().flatten().filter_map(|place| self.entry_at(place)).chain(own)
    }

    /// Whether a row's entry is on the path to the open entry.
    pub fn is_on_path(&self, at: usize) -> bool {
        self.drawing.place(at).is_some_and(|place| self.order.is_on_path(place))
    }

    /// Whether the default filter leaves an entry out; `false` if it is not laid out.
    pub fn is_left_out(&self, ix: NodeIx) -> bool {
        self.order.place(ix).is_some_and(|place| !self.order.is_shown(place, Filter::Default))
    }

    /// Whether an entry is on the path to the open entry; `false` if it is not laid out.
    fn leads_to_open(&self, ix: NodeIx) -> bool {
        self.order.place(ix).is_some_and(|place| self.order.is_on_path(place))
    }

    pub fn layout(&self) -> TreeLayout {
        self.layout
    }

    /// Whether a branch, or in the peers' layout a root with descendants, starts at a row.
    pub fn is_foldable(&self, at: usize) -> bool {
        self.drawing.is_foldable(at)
    }

    /// Whether the rows after a row are folded.
    pub fn is_folded(&self, at: usize) -> bool {
        self.drawing.is_folded(at)
    }

    /// The places of the side branch that a row represents, which is folded or has a single row.
    pub fn branch(&self, at: usize) -> Option<Range<usize>> {
        self.drawing.branch(at)
    }

    /// The places of the run of tool calls that a row represents.
    pub fn run(&self, at: usize) -> Option<Range<usize>> {
        self.drawing.run(at)
    }

    /// The first entry of the run of tool calls at a row, which names it in [`Folds`]. The run may be open.
    pub fn run_start(&self, at: usize) -> Option<NodeIx> {
        self.order.entry(self.drawing.run_start(at)?)
    }

    /// Whether a row is one of an open run of tool calls.
    pub fn is_run_open(&self, at: usize) -> bool {
        self.drawing.is_run_open(at)
    }

    /// Whether a line connects a row to its branch point.
    pub fn has_connector(&self, at: usize) -> bool {
        self.drawing.has_connector(at)
    }

    /// The row at which a row's branch starts; for such a row, the branch above; else the root.
    pub fn segment_start(&self, at: usize) -> usize {
        self.drawing.segment_start(at)
    }

    /// The row of the next branch, else the last row.
    pub fn next_segment(&self, at: usize) -> usize {
        self.drawing.next_segment(at)
    }

    /// How many columns a row is indented.
    pub fn columns(&self, at: usize) -> usize {
        self.drawing.columns(at)
    }

    /// A range of columns of a row's prefix; both ends are multiples of three. The peers' layout indents rows far, and
    /// nobody needs all of it.
    pub fn prefix(&self, at: usize, columns: Range<usize>) -> String {
        self.drawing.window(at, columns)
    }

    /// How many entries the open one is below a row that represents it; 0 at its own row.
    pub fn steps_to_open(&self, at: usize) -> Option<usize> {
        let (open, row) = (self.order.place(self.open?)?, self.drawing.stands_at(at)?);
        std::iter::successors(Some(open), |place| self.order.parent(*place)).position(|place| place == row)
    }

    /// The place of the first hidden entry that leads only to a place, or the place itself.
    fn topmost_hidden(&self, place: usize) -> usize {
        let mut at = place as u32;
        while let Some(parent) = self.order.parent(at).filter(|parent| {
            let is_hidden = self.shown.get(*parent as usize) == Some(&false) && !self.order.is_on_path(*parent);
            is_hidden && *parent + 1 == at && self.order.end(*parent) == self.order.end(at)
        }) {
            at = parent;
        }
        at as usize
    }

    /// The text of a row: one line, harmless for a screen.
    ///
    /// # Errors
    /// The medium cannot be read.
    pub fn row_text(&self, source: &dyn Source, at: usize) -> Result<String> {
        if self.run(at).is_some() {
            return row::run(source, self.members(at), self.texts.calls());
        }
        let Some(ix) = self.entry(at) else { return Ok(String::new()) };
        match self.layout {
            TreeLayout::Trunk => self.text(source, ix),
            TreeLayout::Pi => row::text(source, &source.entry(ix)?, self.texts.calls()),
        }
    }

    /// The text of an entry in plain words: one line, harmless for a screen.
    ///
    /// # Errors
    /// The medium cannot be read.
    pub fn text(&self, source: &dyn Source, ix: NodeIx) -> Result<String> {
        let entry = source.entry(ix)?;
        let text = self.texts.text(source, &entry)?;
        if entry.role == Some(Role::Assistant) {
            self.texts.calls().saw(entry);
        }
        Ok(text)
    }

    /// See [`RowTexts::words`].
    fn words(&self, entry: &Entry) -> Option<String> {
        self.texts.words(entry)
    }

    /// A row, counted from the top; `None` after the last one. The peers' layout indents at most 64 levels.
    ///
    /// # Errors
    /// The medium cannot be read.
    pub fn row(&self, source: &dyn Source, at: usize) -> Result<Option<OutlineRow>> {
        let Some(ix) = self.entry(at) else { return Ok(None) };
        let tree = source.tree();
        Ok(Some(OutlineRow {
            ix,
            prefix: self.drawing.prefix(at),
            is_on_path: self.is_on_path(at),
            is_selected: Some(at) == self.selected,
            label: tree.label_of(ix).map(|label| one_line(&label.text, 80)),
            text: match provenance::mark(source, ix)? {
                Some(mark) => format!("{mark} {}", self.row_text(source, at)?),
                None => self.row_text(source, at)?,
            },
        }))
    }

    /// Every row from the top, read one by one.
    pub fn rows<'a>(&'a self, source: &'a dyn Source) -> impl Iterator<Item = Result<OutlineRow>> + 'a {
        (0..self.len()).filter_map(|at| self.row(source, at).transpose())
    }

    /// The status line: the selected row's number, the number of rows, and the filter.
    pub fn footer(&self) -> String {
        let tag = match self.filter {
            Filter::Default => String::new(),
            other => format!(" [{}]", other.name()),
        };
        format!("({}/{}){tag}", self.selected.map_or(0, |at| at + 1), self.len())
    }
}

/// The text of an entry as its row has it, for an entry without words of its own, such as a tool's result or a label.
///
/// # Errors
/// The medium cannot be read.
pub fn entry_text(source: &dyn Source, ix: NodeIx) -> Result<String> {
    let mut texts = RowTexts::default();
    texts.read_near_only();
    row::text(source, &source.entry(ix)?, texts.calls())
}

#[cfg(test)]
mod tests;
