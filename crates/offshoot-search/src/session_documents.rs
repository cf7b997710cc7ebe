//! The documents of one session, without keys, and where in the tree each is. Opens no file.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hasher as _};

use offshoot_session::clock::Millis;
use offshoot_session::entry::Source as _;
use offshoot_session::error::Result;
use offshoot_session::id::EntryId;
use offshoot_session::session::Session;
use offshoot_session::transcript::{Item, ItemShape};
use offshoot_session::tree::{NodeIx, Tree};

use crate::document::{Document, DocumentKind, documents_of};

/// A document of a session.
#[derive(Debug)]
pub struct PlacedDocument {
    /// The node; `None` for the session's name.
    pub node: Option<NodeIx>,
    /// The entry's id; of a label the id of the entry that has it.
    pub entry: Option<EntryId>,
    /// The place of the document among those of its entry.
    pub number: usize,
    /// When it was said.
    pub at: Option<Millis>,
    /// What was said.
    pub document: Document,
    /// Of the text with its keys; copies of an entry have the same.
    pub hash: u64,
}

/// Longer lines are not searched, in bytes.
pub const LONGEST_LINE: u64 = 64 << 20;

/// Tells of a line whether it can have what is looked for.
pub type CanMatter<'a> = &'a dyn Fn(&[u8]) -> bool;

/// What of a session is read.
#[derive(Clone, Copy)]
pub struct Selected<'a> {
    /// Entries from this one on; names and labels always.
    pub from: usize,
    /// Whether an entry's line is decoded; each is if there is none.
    pub can_matter: Option<CanMatter<'a>>,
    /// A text without the keys in it; `None` if it has none.
    pub mask: &'a dyn Fn(&str) -> Option<String>,
}

impl std::fmt::Debug for Selected<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Selected").field("from", &self.from).finish_non_exhaustive()
    }
}

/// Calls `each` with every selected document of a session, on all branches, until it is false. Returns how many entries were left
/// out because their lines are longer than [`LONGEST_LINE`].
///
/// # Errors
/// The file cannot be read.
pub fn for_each_document(
    session: &Session,
    selected: Selected<'_>,
    each: &mut dyn FnMut(PlacedDocument) -> bool,
) -> Result<usize> {
    let mut tell = |node, entry, number, at, mut document: Document| {
        let hash = hash(&document.text);
        document.text = masked(selected.mask, document.text);
        each(PlacedDocument { node, entry, number, at, document, hash })
    };
    let mut left_out = 0;
    let tree = session.tree();
    let name = session.name()?.or_else(|| session.title().map(str::to_owned));
    if let Some(name) = name.filter(|name| !name.is_empty()) {
        let document = Document::new(DocumentKind::Title, name);
        if !tell(None, None, 0, session_time(tree), document) {
            return Ok(left_out);
        }
    }
    for (target, label) in tree.labels() {
        let node = tree.find(target.as_str());
        let at = node.and_then(|ix| tree.node(ix).time());
        let document = Document::new(DocumentKind::Label, label.text.clone());
        if !tell(node, Some(target.clone()), 0, at, document) {
            return Ok(left_out);
        }
    }
    for ix in tree.entries().filter(|ix| ix.index() >= selected.from) {
        let node = tree.node(ix);
        if ItemShape::of(node.kind(), node.role()).is_none() || node.is_leaf_marker() {
            continue;
        }
        if node.length() > LONGEST_LINE {
            left_out += 1;
            continue;
        }
        if let Some(can_matter) = selected.can_matter
            && !can_matter(&session.raw_line(ix)?)
        {
            continue;
        }
        let Some(item) = Item::of_entry(&session.entry(ix)?) else { continue };
        for (number, document) in documents_of(&item).into_iter().enumerate() {
            if !tell(Some(ix), node.id().cloned(), number, node.time(), document) {
                return Ok(left_out);
            }
        }
    }
    Ok(left_out)
}

fn hash(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(text.as_bytes());
    hasher.finish()
}

/// A text without keys.
pub(crate) fn masked(mask: &dyn Fn(&str) -> Option<String>, text: String) -> String {
    mask(&text).unwrap_or(text)
}

/// When the newest entry was written.
fn session_time(tree: &Tree) -> Option<Millis> {
    tree.last().and_then(|ix| tree.node(ix).time())
}

/// What is on the way to a session's leaf.
#[derive(Debug)]
pub struct OpenPath {
    nodes: HashSet<NodeIx>,
    compacted: HashSet<NodeIx>,
}

impl OpenPath {
    /// The way to the leaf. What stands before the first entry that the last compaction keeps is compacted.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn of(session: &Session) -> Result<Self> {
        let tree = session.tree();
        let Some(leaf) = session.leaf() else {
            return Ok(Self { nodes: HashSet::new(), compacted: HashSet::new() });
        };
        let path = tree.path(leaf);
        let mut compacted = HashSet::new();
        if let Some(compaction) = tree.compaction(leaf) {
            let entry = session.entry(compaction)?;
            let kept = entry.json().str("firstKeptEntryId").and_then(|id| tree.find(&id)).unwrap_or(compaction);
            compacted.extend(path.iter().take_while(|ix| **ix != kept && **ix != compaction));
        }
        Ok(Self { nodes: path.into_iter().collect(), compacted })
    }

    /// Whether a node is on it; the session itself is.
    #[must_use]
    pub fn has(&self, node: Option<NodeIx>) -> bool {
        node.is_none_or(|node| self.nodes.contains(&node))
    }

    /// Whether a compaction replaced it.
    #[must_use]
    pub fn has_compacted(&self, node: Option<NodeIx>) -> bool {
        node.is_some_and(|node| self.compacted.contains(&node))
    }
}
