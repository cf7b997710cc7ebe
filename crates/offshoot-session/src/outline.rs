//! The tree as rows of text: which entries are shown, in which order, how far in, and what each row says.
//!
//! The layout is that of the peers' tree selectors, so that a picture in the documents, the
//! `tree` command and a front end's selector are the same. All walks are loops. Knows no colours and no keys.

mod order;
mod layout;
mod row;
mod sums;
mod words;

use std::collections::HashSet;

use crate::entry::Source;
use crate::error::Result;
use crate::text::one_line;
use crate::tree::{NodeIx, Tree};

use layout::{LEVEL, Layout};
use order::Order;
use row::Calls;
pub use sums::{BranchSums, Sums};
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
    /// Entries whose descendants are folded away.
    pub folded: Option<&'a HashSet<NodeIx>>,
    /// Entries with a bookmark; `None` takes the tree's word.
    pub labelled: Option<&'a HashSet<NodeIx>>,
}

/// A tree as rows. Where rows go is settled at once, by envelopes; what a row says is read when it is asked for.
#[derive(Debug, Clone, Default)]
pub struct Outline {
    order: Order,
    layout: Layout,
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
    pub fn new(source: &dyn Source, leaf: Option<NodeIx>, filter: Filter) -> Result<Self> {
        Self::with_home(source, leaf, filter, None)
    }

    /// The same, with paths inside the home directory shown as `~`.
    ///
    /// # Errors
    /// The medium cannot be read.
    pub fn with_home(source: &dyn Source, leaf: Option<NodeIx>, filter: Filter, home: Option<&str>) -> Result<Self> {
        let open = leaf.and_then(|leaf| source.tree().behind_markers(leaf));
        let order = Order::new(source, open)?;
        let mut outline = Self { order, open, calls: Calls::new(home), ..Self::default() };
        outline.arrange(source.tree(), Scope { filter, ..Scope::default() });
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
        let folded: HashSet<u32> = scope.folded.into_iter().flatten().filter_map(|ix| self.order.place(*ix)).collect();
        // Two of them at a time would be the most that a large tree takes.
        self.layout = Layout::default();
        self.layout = Layout::new(&self.order, &shown, |place| !folded.is_empty() && folded.contains(&place));
        self.filter = scope.filter;
        self.selected = self.open.and_then(|open| self.nearest(open)).or_else(|| self.len().checked_sub(1));
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.layout.len()
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
        self.layout.nearest(self.order.place(ix)?)
    }

    /// The entry of a row, counted from the top.
    pub fn entry(&self, at: usize) -> Option<NodeIx> {
        self.order.entry(self.layout.place(at)?)
    }

    /// Whether a row's entry is on the path to where the session is.
    pub fn is_on_path(&self, at: usize) -> bool {
        self.layout.place(at).is_some_and(|place| self.order.is_on_path(place))
    }

    /// Whether a branch, or a whole tree, starts at a row and goes on behind it.
    pub fn is_foldable(&self, at: usize) -> bool {
        self.layout.is_foldable(at)
    }

    /// Whether a line connects a row with its branch point.
    pub fn has_connector(&self, at: usize) -> bool {
        self.layout.has_connector(at as u32)
    }

    /// The row at which the branch of a row starts; of such a row the one before; at last the root's.
    pub fn segment_start(&self, at: usize) -> usize {
        self.layout.segment_start(at)
    }

    /// The first row behind the next branch point, along first children; without one the last row there.
    pub fn next_segment(&self, at: usize) -> usize {
        self.layout.next_segment(at)
    }

    /// How many columns a row is moved in.
    pub fn columns(&self, at: usize) -> usize {
        self.layout.columns(at)
    }

    /// What stands before a row's text from one column to another, both multiples of three. Rows of deep trees are moved in
    /// far: nobody needs all of it.
    pub fn prefix(&self, at: usize, columns: std::ops::Range<usize>, is_folded: bool) -> String {
        self.layout.window(at, columns.start / LEVEL..columns.end.div_ceil(LEVEL), is_folded)
    }

    /// What a row of this entry says, on one line, harmless for a screen.
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
            prefix: self.layout.prefix(at, false),
            is_on_path: self.is_on_path(at),
            is_selected: Some(at) == self.selected,
            label: tree.node(ix).id().and_then(|id| tree.label(id)).map(|label| one_line(&label.text, 80)),
            text: self.text(source, ix)?,
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
