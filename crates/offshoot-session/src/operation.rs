//! The operations that change where a session continues: which one was the last, where the leaf was before it, and
//! those that a crash cut off. See *Operations* in `docs/format.md`.
//!
//! An operation of several entries begins with a marker; a move of the leaf is a marker. Summaries of branches and
//! compactions are operations of one entry and need none. Writes nothing.

use crate::entry::{Entry, Source};
use crate::error::{Code, Diagnostic, Result};
use crate::id::EntryId;
use crate::json::Json;
use crate::kind::{IMPORT_MARKER, Kind, OPERATION_MARKER, Operation, SOURCE_RECORD};
use crate::text::counted;
use crate::tree::{NodeIx, Tree};

/// The last operation on a path; see [`last`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LastOperation {
    /// What it was.
    pub operation: Operation,
    /// The leaf before it; `None` before the first entry.
    pub before: Option<NodeIx>,
    /// The newest message after it.
    pub said_since: Option<NodeIx>,
}

/// An operation whose last entries are missing, as a crash leaves it at the end of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unfinished {
    /// What it was.
    pub operation: Operation,
    /// The leaf before it.
    pub before: Option<NodeIx>,
    /// Its marker.
    pub marker: NodeIx,
    /// The last of its entries, or the marker.
    pub last: NodeIx,
    /// How many entries the marker announces.
    pub announced: usize,
    /// How many there are.
    pub written: usize,
}

/// A marker's data.
struct Marker {
    operation: Operation,
    before: Option<EntryId>,
    /// `None` for a move of the leaf.
    lines: Option<usize>,
}

impl Marker {
    /// `None` for an entry that is not a marker, or one without data, as earlier versions wrote.
    fn read(entry: &Entry) -> Option<Self> {
        let data = entry.get("data")?;
        let is_operation = entry.str("customType")? == OPERATION_MARKER;
        let lines = data.get("lines").and_then(Json::as_f64).map(|lines| lines as usize);
        Some(Self {
            operation: Operation::from_word(data.str("op")?.as_bytes()),
            before: data.str("before").map(EntryId::new),
            lines: if is_operation { Some(lines?) } else { None },
        })
    }

    /// `None` if the file has no such entry.
    fn before(&self, tree: &Tree) -> Option<Option<NodeIx>> {
        match &self.before {
            None => Some(None),
            Some(id) => tree.find(id.as_str()).map(Some),
        }
    }
}

/// The last operation at or above an entry; `None` if there is none that can be undone. Walks the path up to it.
///
/// # Errors
/// The medium cannot be read.
pub fn last(source: &dyn Source, leaf: NodeIx) -> Result<Option<LastOperation>> {
    let tree = source.tree();
    // The newest message, and how many entries follow it.
    let mut said: Option<(NodeIx, usize)> = None;
    for (passed, ix) in tree.ancestors(leaf).enumerate() {
        let node = tree.node(ix);
        let (operation, before, lines) = if node.is_leaf_marker() {
            let entry = source.entry(ix)?;
            if entry.str("customType").is_some_and(|custom| [SOURCE_RECORD, IMPORT_MARKER].contains(&custom.as_ref())) {
                continue;
            }
            let Some(marker) = Marker::read(&entry) else { return Ok(None) };
            let Some(before) = marker.before(tree) else { return Ok(None) };
            (marker.operation, before, marker.lines.unwrap_or(0))
        } else if is_operation_of_one(source, ix)? {
            match of_one(source, ix)? {
                Some((operation, before)) => (operation, before, 0),
                None => return Ok(None),
            }
        } else {
            if node.is_said() && said.is_none() {
                said = Some((ix, passed));
            }
            continue;
        };
        // The first entries below a marker are its own.
        let later = passed.saturating_sub(lines);
        let said_since = said.filter(|(_, at)| *at < later).map(|(ix, _)| ix);
        return tree.whole(Some(LastOperation { operation, before, said_since }));
    }
    tree.whole(None)
}

/// Whether the entry is an operation without a marker.
fn is_operation_of_one(source: &dyn Source, ix: NodeIx) -> Result<bool> {
    let tree = source.tree();
    let node = tree.node(ix);
    if !matches!(node.kind(), Kind::Compaction | Kind::BranchSummary) || node.is_copy() {
        return Ok(false);
    }
    let Some(parent) = tree.parent(ix).filter(|parent| tree.node(*parent).is_leaf_marker()) else { return Ok(true) };
    let marker = Marker::read(&source.entry(parent)?);
    Ok(marker.and_then(|marker| marker.lines).is_none())
}

/// The operation of an entry without a marker, and the leaf before it, if it is known.
fn of_one(source: &dyn Source, ix: NodeIx) -> Result<Option<(Operation, Option<NodeIx>)>> {
    let tree = source.tree();
    let parent = tree.parent(ix);
    if tree.node(ix).kind() == Kind::Compaction {
        return Ok(Some((Operation::Compact, parent)));
    }
    let entry = source.entry(ix)?;
    if entry.get("details").is_some_and(|details| details.get("merged").is_some()) {
        return Ok(Some((Operation::Merge, parent)));
    }
    // Some programs name the place to which they went, and not the leaf that they left.
    let left = entry.str("fromId").and_then(|from| tree.find(&from));
    let is_left = |left: &NodeIx| parent.is_none_or(|parent| tree.common_ancestor(parent, *left) != Some(*left));
    Ok(left.filter(is_left).map(|left| (Operation::Pop, Some(left))))
}

/// The operation that ends a file and lacks entries. Costs the entries of the operation.
///
/// # Errors
/// The medium cannot be read.
pub fn unfinished(source: &dyn Source, last: NodeIx) -> Result<Option<Unfinished>> {
    let tree = source.tree();
    let time = tree.node(last).time();
    for (written, ix) in tree.ancestors(last).enumerate() {
        let node = tree.node(ix);
        if node.time() != time || (node.is_said() && !node.is_copy()) {
            return Ok(None);
        }
        if node.is_leaf_marker() {
            return unfinished_at(source, ix, last, written);
        }
    }
    Ok(None)
}

fn unfinished_at(source: &dyn Source, marker: NodeIx, last: NodeIx, written: usize) -> Result<Option<Unfinished>> {
    let tree = source.tree();
    let Some(found) = Marker::read(&source.entry(marker)?) else { return Ok(None) };
    let announced = found.lines.unwrap_or(0);
    let before = found.before(tree).unwrap_or_else(|| tree.parent(marker));
    let unfinished = Unfinished { operation: found.operation, before, marker, last, announced, written };
    tree.whole((written < announced).then_some(unfinished))
}

impl Unfinished {
    /// Tells people.
    pub fn diagnostic(&self, tree: &Tree) -> Diagnostic {
        let node = tree.node(self.marker);
        let entries = counted(self.announced, "entry", "entries");
        let message = format!(
            "{} was interrupted after {} of {entries}; the session opens before it",
            self.operation.with_article(),
            self.written
        );
        Diagnostic {
            code: Code::UnfinishedOperation,
            line: Some(node.line()),
            offset: node.offset(),
            entry: node.id().cloned(),
            message,
        }
    }
}

impl Operation {
    /// The operation in a sentence: `a pick`.
    pub fn with_article(self) -> &'static str {
        match self {
            Self::Switch => "a switch",
            Self::Pop => "a pop",
            Self::Pick => "a pick",
            Self::Merge => "a merge",
            Self::Compact => "a compaction",
            Self::Uncompact => "the undoing of a compaction",
            Self::Undo => "an undo",
            Self::Unknown => "an operation",
        }
    }
}
