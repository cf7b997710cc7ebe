//! The tree as rows of text: which entries are shown, in which order, how far in, and what each row says.
//!
//! There are two layouts: the trunk layout, in which the current path runs straight down and other branches hang from it, and
//! that of the peers' tree selectors. Pictures in the documents, the `tree` command and a front end's selector are the same.
//! All walks are loops. Knows no colours and no keys.

mod order;
mod folds;
mod pi_rows;
mod trunk_rows;
mod drawing;
mod row;
mod sums;
mod note;
mod words;

use std::collections::HashSet;
use std::ops::Range;

use crate::entry::Source;
use crate::error::Result;
use crate::kind::Kind;
use crate::stats;
use crate::text::one_line;
use crate::tree::{NodeIx, Tree};

use drawing::Drawing;
pub use folds::Folds;
pub use note::{BranchNote, FittedNote};
use order::Order;
use pi_rows::PiRows;
use row::Calls;
pub use sums::{BranchSums, Sums};
use trunk_rows::{TrunkRows, TrunkScope};
pub use words::words;

/// Which entries an outline shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Filter {
    /// All but settings, labels and the state of extensions.
    #[default]
    Default,
    /// The same without tool results.
    NoTools,
    /// Only what the person said.
    UserOnly,
    /// Only entries with a label.
    LabeledOnly,
    /// Everything.
    All,
}

impl Filter {
    /// Every filter with its name, in the order in which selectors cycle through them.
    pub const NAMES: [(&'static str, Self); 5] = [
        ("default", Self::Default),
        ("no-tools", Self::NoTools),
        ("user-only", Self::UserOnly),
        ("labeled-only", Self::LabeledOnly),
        ("all", Self::All),
    ];

    /// From its name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::NAMES.iter().find(|(known, _)| *known == name).map(|(_, filter)| *filter)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(_, filter)| *filter == self).map_or("default", |(name, _)| *name)
    }
}

/// Where rows go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TreeLayout {
    /// The current path is one column; side branches hang from it, folded.
    #[default]
    Trunk,
    /// The peers' layout: every branch point moves what follows to the right.
    Pi,
}

impl TreeLayout {
    /// Every layout with its name.
    pub const NAMES: [(&'static str, Self); 2] = [("trunk", Self::Trunk), ("pi", Self::Pi)];

    /// From its name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::NAMES.iter().find(|(known, _)| *known == name).map(|(_, layout)| *layout)
    }
}

/// One row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutlineRow {
    /// The entry.
    pub ix: NodeIx,
    /// The lines that connect it to its branch point.
    pub prefix: String,
    /// Whether it is on the path to the leaf.
    pub is_on_path: bool,
    /// Whether it is where the session is, or the nearest shown entry above that.
    pub is_selected: bool,
    /// Its bookmark.
    pub label: Option<String>,
    /// What it says, on one line, harmless for a screen.
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

/// What is hidden besides what the filter hides.
#[derive(Debug, Clone, Copy, Default)]
pub struct Scope<'a> {
    /// The filter.
    pub filter: Filter,
    /// The entries that a search has found, by their place in display order (see [`Outline::place`]); `None` without a
    /// search.
    pub found: Option<&'a [bool]>,
    /// What is open and what is folded; `None` leaves that to the layout.
    pub folds: Option<&'a Folds>,
    /// Entries with a bookmark; `None` takes the tree's word.
    pub labelled: Option<&'a HashSet<NodeIx>>,
}

/// How a tree is laid out at first.
#[derive(Debug, Clone, Copy, Default)]
pub struct OutlineSetup<'a> {
    /// Where rows go.
    pub layout: TreeLayout,
    /// Which entries are shown.
    pub filter: Filter,
    /// The home directory: paths inside it are shown as `~`.
    pub home: Option<&'a str>,
}

/// A tree as rows. Where rows go is settled at once, by envelopes; what a row says is read when it is asked for.
#[derive(Debug, Clone, Default)]
pub struct Outline {
    layout: TreeLayout,
    order: Order,
    drawing: Drawing,
    /// By place in display order.
    shown: Vec<bool>,
    open: Option<NodeIx>,
    selected: Option<usize>,
    calls: Calls,
    filter: Filter,
}

impl Outline {
    /// Lays out the whole tree of a session that is open at `leaf`.
    ///
    /// # Errors
    /// The medium cannot be read.
    pub fn new(source: &dyn Source, leaf: Option<NodeIx>, setup: OutlineSetup<'_>) -> Result<Self> {
        let open = leaf.and_then(|leaf| source.tree().behind_markers(leaf));
        let order = Order::new(source, open, setup.layout)?;
        let calls = Calls::new(setup.home);
        let mut outline = Self { layout: setup.layout, order, open, calls, ..Self::default() };
        outline.arrange(source.tree(), Scope { filter: setup.filter, ..Scope::default() });
        source.tree().whole(outline)
    }

    /// Looks for the call of a tool's result only near the result, not in the whole session: for those who must answer at
    /// once. A result whose call is far names its tool.
    #[must_use]
    pub fn reading_near(mut self) -> Self {
        self.calls.reads_near_only();
        self
    }

    /// Lays out anew what is left in a scope. Reads no bodies; linear in the entries of the tree.
    pub fn arrange(&mut self, tree: &Tree, scope: Scope<'_>) {
        let mut shown = match (scope.filter, scope.labelled) {
            (Filter::LabeledOnly, Some(labelled)) => self.order.labelled(labelled.iter().copied()),
            (filter, _) => self.order.filtered(tree, filter),
        };
        if let Some(found) = scope.found {
            let found = found.iter().copied().chain(std::iter::repeat(false));
            shown.iter_mut().zip(found).for_each(|(shown, found)| *shown &= found);
        }
        // Two drawings at a time would be the most that a large tree takes.
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

    /// Opens every branch if all rows fit into `room` then. Returns what is open.
    pub fn open_if_it_fits(&mut self, tree: &Tree, room: usize) -> Folds {
        if self.layout == TreeLayout::Pi {
            return Folds::all_open();
        }
        if self.len() <= room {
            let (filter, all) = (self.filter, Folds::all_open());
            self.arrange(tree, Scope { filter, folds: Some(&all), ..Scope::default() });
            if self.len() <= room {
                return all;
            }
            self.arrange(tree, Scope { filter, ..Scope::default() });
        }
        Folds::default()
    }

    fn trunk(&self, tree: &Tree, shown: &[bool], scope: Scope<'_>) -> TrunkRows {
        // What a search or this filter lets through is what somebody looks for: it is not folded away.
        let is_narrow = scope.found.is_some() || scope.filter == Filter::LabeledOnly;
        let own = if is_narrow { Folds::all_open() } else { Folds::default() };
        let has_runs = scope.filter == Filter::Default && scope.found.is_none();
        let labelled = has_runs.then(|| {
            let of_tree = || tree.labels().into_iter().filter_map(|(target, _)| tree.find(target.as_str())).collect();
            let labelled = scope.labelled.cloned().unwrap_or_else(of_tree);
            labelled.into_iter().filter_map(|ix| self.order.place(ix)).collect::<HashSet<u32>>()
        });
        let open = self.open.and_then(|open| self.order.place(open));
        let folds = scope.folds.unwrap_or(&own);
        TrunkRows::new(&self.order, &TrunkScope { shown, folds, labelled: labelled.as_ref(), open })
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.drawing.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many entries the whole tree has: the places in display order.
    pub fn places(&self) -> usize {
        self.order.len()
    }

    /// An entry's place in display order, counted over the whole tree, shown or not.
    pub fn place(&self, ix: NodeIx) -> Option<usize> {
        self.order.place(ix).map(|place| place as usize)
    }

    /// The entry at a place in display order.
    pub fn entry_at(&self, place: usize) -> Option<NodeIx> {
        self.order.entry(u32::try_from(place).ok()?)
    }

    /// The places of an entry and all its descendants.
    pub fn subtree(&self, ix: NodeIx) -> std::ops::Range<usize> {
        self.order.place(ix).map_or(0..0, |place| place as usize..self.order.end(place) as usize)
    }

    /// The first entry of an entry's branch, shown or not: itself or the nearest ancestor with siblings, at last the root.
    pub fn branch_start(&self, ix: NodeIx) -> Option<NodeIx> {
        let mut place = self.order.place(ix)?;
        while let Some(parent) = self.order.parent(place) {
            // An only child stands right behind its parent and ends where it does.
            if place != parent + 1 || self.order.end(place) != self.order.end(parent) {
                break;
            }
            place = parent;
        }
        self.order.entry(place)
    }

    /// Where the session is: its leaf, or what a marker there stands for.
    pub fn open(&self) -> Option<NodeIx> {
        self.open
    }

    /// The row of where the session is, or of the nearest shown entry above that; without one the last row.
    pub fn selected(&self) -> Option<usize> {
        self.selected
    }

    /// The row of an entry, or of its nearest shown ancestor.
    pub fn nearest(&self, ix: NodeIx) -> Option<usize> {
        self.drawing.nearest(self.order.place(ix)?)
    }

    /// The entry of a row, counted from the top.
    pub fn entry(&self, at: usize) -> Option<NodeIx> {
        self.order.entry(self.drawing.place(at)?)
    }

    /// Whether a row's entry is on the path to where the session is.
    pub fn is_on_path(&self, at: usize) -> bool {
        self.drawing.place(at).is_some_and(|place| self.order.is_on_path(place))
    }

    /// The layout.
    pub fn layout(&self) -> TreeLayout {
        self.layout
    }

    /// Whether a branch, or in the peers' layout a whole tree, starts at a row and goes on behind it.
    pub fn is_foldable(&self, at: usize) -> bool {
        self.drawing.is_foldable(at)
    }

    /// Whether what follows a row is folded away.
    pub fn is_folded(&self, at: usize) -> bool {
        self.drawing.is_folded(at)
    }

    /// The places of the side branch that a row stands for: one that is folded, or has nothing to fold.
    pub fn branch(&self, at: usize) -> Option<Range<usize>> {
        self.drawing.branch(at)
    }

    /// The places of the run of tool calls that a row stands for.
    pub fn run(&self, at: usize) -> Option<Range<usize>> {
        self.drawing.run(at)
    }

    /// Whether a row is the first of a run of tool calls that is open.
    pub fn is_run_open(&self, at: usize) -> bool {
        self.drawing.is_run_open(at)
    }

    /// Whether a line connects a row with its branch point.
    pub fn has_connector(&self, at: usize) -> bool {
        self.drawing.has_connector(at)
    }

    /// The row at which the branch of a row starts; of such a row the one before; at last the root's.
    pub fn segment_start(&self, at: usize) -> usize {
        self.drawing.segment_start(at)
    }

    /// The row of the next branch; without one the last row.
    pub fn next_segment(&self, at: usize) -> usize {
        self.drawing.next_segment(at)
    }

    /// How many columns a row is moved in.
    pub fn columns(&self, at: usize) -> usize {
        self.drawing.columns(at)
    }

    /// What stands before a row's text from one column to another, both multiples of three. In the peers' layout rows are
    /// moved in far: nobody needs all of it.
    pub fn prefix(&self, at: usize, columns: Range<usize>) -> String {
        self.drawing.window(at, columns)
    }

    /// How many entries the open one is below a row that stands for it: 0 at its own.
    pub fn steps_to_open(&self, at: usize) -> Option<usize> {
        let (open, row) = (self.order.place(self.open?)?, self.drawing.place(at)?);
        std::iter::successors(Some(open), |place| self.order.parent(*place)).position(|place| place == row)
    }

    /// The place of the first of the hidden entries that lead to a place and nowhere else, or the place itself.
    fn with_hidden_above(&self, place: usize) -> usize {
        let mut at = place as u32;
        while let Some(parent) = self.order.parent(at).filter(|parent| {
            let is_hidden = self.shown.get(*parent as usize) == Some(&false) && !self.order.is_on_path(*parent);
            is_hidden && *parent + 1 == at && self.order.end(*parent) == self.order.end(at)
        }) {
            at = parent;
        }
        at as usize
    }

    /// What a row says, on one line, harmless for a screen.
    ///
    /// # Errors
    /// The medium cannot be read.
    pub fn row_text(&self, source: &dyn Source, at: usize) -> Result<String> {
        if let Some(run) = self.run(at) {
            let shown = run.filter(|place| self.shown.get(*place) == Some(&true));
            return row::run(source, shown.filter_map(|place| self.entry_at(place)), &self.calls);
        }
        let Some(ix) = self.entry(at) else { return Ok(String::new()) };
        if self.layout == TreeLayout::Trunk
            && source.tree().node(ix).kind() == Kind::BranchSummary
            && let Some(named) = stats::words(&source.entry(ix)?)
        {
            return Ok(format!("[branch summary]: {named}"));
        }
        self.text(source, ix)
    }

    /// What an entry says, on one line, harmless for a screen.
    ///
    /// # Errors
    /// The medium cannot be read.
    pub fn text(&self, source: &dyn Source, ix: NodeIx) -> Result<String> {
        row::text(source, ix, &self.calls)
    }

    /// A row, counted from the top; `None` behind the last one. Rows of deep trees are moved in no further than 64 levels.
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
            label: tree.node(ix).id().and_then(|id| tree.label(id)).map(|label| one_line(&label.text, 80)),
            text: self.row_text(source, at)?,
        }))
    }

    /// Every row from the top, read one by one.
    pub fn rows<'a>(&'a self, source: &'a dyn Source) -> impl Iterator<Item = Result<OutlineRow>> + 'a {
        (0..self.len()).filter_map(|at| self.row(source, at).transpose())
    }

    /// The line below the rows: the selected one's number, how many there are, and the filter.
    pub fn footer(&self) -> String {
        let tag = match self.filter {
            Filter::Default => String::new(),
            other => format!(" [{}]", other.name()),
        };
        format!("({}/{}){tag}", self.selected.map_or(0, |at| at + 1), self.len())
    }
}

#[cfg(test)]
mod tests;
