//! The tree as rows of text: which entries are shown, in which order, how far in, and what each row says.
//!
//! The layout is that of the peers' tree selectors, so that a picture in the documents, the
//! `tree` command and a front end's selector are the same. All walks are loops. Knows no colours and no keys.

mod layout;
mod row;

use crate::entry::{Entry, Source};
use crate::error::Result;
use crate::gather;
use crate::kind::{Kind, Role};
use crate::text::one_line;
use crate::tree::NodeIx;

use layout::Placed;
use row::Calls;

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

    /// Whether it lets an entry through, as far as its envelope tells. A turn of the model that only calls tools is hidden
    /// by every filter, unless the session is open there.
    pub fn shows(self, source: &dyn Source, ix: NodeIx) -> bool {
        may_show(source, ix, self)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(_, filter)| *filter == self).map_or("default", |(name, _)| *name)
    }
}

/// One row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
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

impl Row {
    /// The whole row as plain text.
    pub fn line(&self) -> String {
        let cursor = if self.is_selected { "› " } else { "  " };
        let bullet = if self.is_on_path { "• " } else { "" };
        let label = self.label.as_ref().map_or(String::new(), |label| format!("[{label}] "));
        format!("{cursor}{}{bullet}{label}{}", self.prefix, self.text)
    }
}

/// What rows say, entry by entry and without a layout.
#[derive(Debug, Clone, Default)]
pub struct Wording {
    calls: Calls,
}

impl Wording {
    /// With paths inside the home directory shown as `~`.
    pub fn new(home: Option<&str>) -> Self {
        Self { calls: Calls::new(home) }
    }

    /// What the row of an entry says, on one line, harmless for a screen.
    ///
    /// # Errors
    /// The medium cannot be read.
    pub fn of(&self, source: &dyn Source, entry: &Entry) -> Result<String> {
        row::text(source, entry, &self.calls)
    }
}

/// A tree as rows. Where rows go is settled at once, by envelopes; what a row says is read when it is asked for.
#[derive(Debug, Clone, Default)]
pub struct Outline {
    rows: Vec<Placed>,
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
        let tree = source.tree();
        let open = leaf.and_then(|leaf| tree.behind_markers(leaf));
        let facts = gather::of(source)?;
        let mut visible = vec![false; tree.stored_len()]; // by place in file order
        for ix in tree.entries() {
            visible[ix.index()] = may_show(source, ix, filter) && (open == Some(ix) || !facts.is_silent(ix));
        }
        let rows = layout::place(tree, open, &visible);
        let nearest = open.and_then(|open| tree.ancestors(open).find(|ix| visible.get(ix.index()) == Some(&true)));
        let selected = nearest.and_then(|nearest| rows.iter().position(|row| row.ix == nearest));
        let selected = selected.or_else(|| rows.len().checked_sub(1));
        Ok(Self { rows, selected, calls: Calls::new(home), filter })
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The row that is selected.
    pub fn selected(&self) -> Option<usize> {
        self.selected
    }

    /// The entry of a row, counted from the top.
    pub fn entry(&self, at: usize) -> Option<NodeIx> {
        self.rows.get(at).map(|row| row.ix)
    }

    /// A row, counted from the top; `None` behind the last one.
    ///
    /// # Errors
    /// The medium cannot be read.
    pub fn row(&self, source: &dyn Source, at: usize) -> Result<Option<Row>> {
        let Some(placed) = self.rows.get(at) else { return Ok(None) };
        let tree = source.tree();
        Ok(Some(Row {
            ix: placed.ix,
            prefix: placed.prefix.clone(),
            is_on_path: placed.is_on_path,
            is_selected: Some(at) == self.selected,
            label: tree.node(placed.ix).id().and_then(|id| tree.label(id)).map(|label| one_line(&label.text, 80)),
            text: row::text(source, &source.entry(placed.ix)?, &self.calls)?,
        }))
    }

    /// Every row from the top, read one by one.
    pub fn rows<'a>(&'a self, source: &'a dyn Source) -> impl Iterator<Item = Result<Row>> + 'a {
        (0..self.len()).filter_map(|at| self.row(source, at).transpose())
    }

    /// The line below the rows: the selected one's number, how many there are, and the filter.
    pub fn footer(&self) -> String {
        let tag = match self.filter {
            Filter::Default => String::new(),
            other => format!(" [{}]", other.name()),
        };
        format!("({}/{}){tag}", self.selected.map_or(0, |at| at + 1), self.rows.len())
    }
}

/// Whether the filter lets an entry through, as far as its envelope tells.
fn may_show(source: &dyn Source, ix: NodeIx, filter: Filter) -> bool {
    let node = source.tree().node(ix);
    if node.is_leaf_marker() || node.kind() == Kind::Usage {
        return false;
    }
    let is_bookkeeping = matches!(
        node.kind(),
        Kind::Label
            | Kind::Custom
            | Kind::ModelChange
            | Kind::ThinkingLevelChange
            | Kind::SessionInfo
            | Kind::ContextEdit
            | Kind::TtsrInjection
            | Kind::SessionInit
            | Kind::ModeChange
            | Kind::ServiceTierChange
            | Kind::TitleChange
            | Kind::CredentialPin
            | Kind::ModelUsage
    );
    match filter {
        Filter::All => true,
        Filter::Default => !is_bookkeeping,
        Filter::NoTools => !is_bookkeeping && node.role() != Some(Role::ToolResult),
        Filter::UserOnly => node.role() == Some(Role::User),
        Filter::LabeledOnly => node.id().is_some_and(|id| source.tree().label(id).is_some()),
    }
}

#[cfg(test)]
mod tests;
