//! New sessions from existing ones: a path, a subtree or everything, as pieces of a new file.
//!
//! Entries keep ids, times and payloads; unchanged lines are copied as bytes. Knows no files. See *Extraction and
//! forks* in `docs/format.md`.

use std::collections::{HashMap, HashSet};

use crate::clock::{Millis, to_iso};
use crate::compose::{NewEntry, with_member};
use crate::entry::{Entry, Source};
use crate::error::{Invalid, Result};
use crate::header::Header;
use crate::id::{EntryId, IdSource};
use crate::json::{Json, quote};
use crate::kind::Kind;
use crate::load::Loaded;
use crate::migrate::upgrade_header;
use crate::pieces::Pieces;
use crate::tree::{NodeIx, Tree};

/// A new session's lines.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "the name says it")]
pub struct Extract {
    pub pieces: Pieces,
    /// The entry below which the next one goes.
    pub last: Option<EntryId>,
}

/// The path to `leaf` as a new session. Label entries and leaf markers are left out, with parents adjusted; labels in
/// effect on the path are set again at its end.
///
/// # Errors
/// The medium cannot be read.
pub fn path(
    source: &dyn Source,
    leaf: NodeIx,
    header: &Header,
    ids: &mut dyn IdSource,
    now: Millis,
) -> Result<Extract> {
    let tree = source.tree();
    let path = tree.path(leaf);
    let kept: Vec<NodeIx> = path.iter().copied().filter(|ix| !is_dropped(tree, *ix)).collect();
    let moved = MovedIds::on(tree, &path);
    let mut pieces = Pieces::default();
    pieces.line(header.line());
    let mut parent: Option<EntryId> = None;
    for ix in &kept {
        let node = tree.node(*ix);
        // A root's parent may be written in other ways than null.
        let is_chained = parent.is_some() && tree.parent_id(*ix) == parent.as_ref();
        let may_name_dropped = node.kind() == Kind::Compaction && !moved.is_empty();
        if is_chained && !may_name_dropped {
            verbatim(source, *ix, &mut pieces)?;
        } else {
            pieces.line(&rechained(&source.entry(*ix)?, parent.as_ref(), &moved));
        }
        parent = node.id().cloned().or(parent);
    }
    let last = add_labels(&mut pieces, (tree, &kept), parent, ids, now);
    tree.whole(Extract { pieces, last })
}

/// An entry and its descendants as a new session with the entry as root.
///
/// # Errors
/// The medium cannot be read.
pub fn subtree(source: &dyn Source, top: NodeIx, header: &Header) -> Result<Extract> {
    let mut chosen: Vec<NodeIx> = source.tree().walk_from(top).map(|(_, ix)| ix).collect();
    chosen.sort_unstable();
    let mut pieces = Pieces::default();
    pieces.line(header.line());
    for &ix in &chosen {
        if ix == top {
            pieces.line(&rechained(&source.entry(ix)?, None, &MovedIds::default()));
        } else {
            verbatim(source, ix, &mut pieces)?;
        }
    }
    let last = chosen.iter().rev().find_map(|ix| source.tree().node(*ix).id().cloned());
    source.tree().whole(Extract { pieces, last })
}

/// Everything after the header: all branches and unreadable lines, with old versions upgraded. `header` replaces the
/// file's own, which is otherwise kept and upgraded.
///
/// # Errors
/// The medium cannot be read; [`Invalid::NothingToCopy`] if the session has not begun.
pub fn everything(source: &dyn Source, loaded: &Loaded, header: Option<&Header>) -> Result<Pieces> {
    let own = loaded.header.as_ref().ok_or(Invalid::NothingToCopy)?;
    let mut pieces = Pieces::default();
    if loaded.is_made() {
        pieces.line(header.unwrap_or(own).line());
        for ix in loaded.tree.entries() {
            pieces.line(source.entry(ix)?.line());
        }
        return Ok(pieces);
    }
    let (offset, length) = loaded.header_span;
    let mut done = offset + length; // the source is copied up to here
    match header {
        Some(header) => pieces.text(header.line()),
        None => {
            pieces.range(0, offset);
            match upgrade_header(own) {
                Some(line) => pieces.text(line),
                None => pieces.range(offset, length),
            }
        }
    }
    if loaded.is_old() {
        for ix in loaded.tree.entries() {
            let node = loaded.tree.node(ix);
            if let Some((offset, length, behind)) = source.splice(ix)? {
                pieces.range(done, offset + length - done);
                pieces.text(behind);
            } else {
                pieces.range(done, node.offset() - done);
                pieces.text(source.entry(ix)?.line());
            }
            done = node.offset() + node.length();
        }
    }
    pieces.range(done, loaded.end.length - done);
    if !loaded.end.terminated {
        pieces.text("\n");
    }
    Ok(pieces)
}

fn is_dropped(tree: &Tree, ix: NodeIx) -> bool {
    tree.node(ix).kind() == Kind::Label || tree.node(ix).is_leaf_marker()
}

/// What a compaction names instead of an entry that is dropped.
#[derive(Debug, Default)]
struct MovedIds {
    /// The next entry that stays: what is kept begins with it.
    next: HashMap<EntryId, EntryId>,
    /// The last entry before it that stays: what is kept begins after it.
    previous: HashMap<EntryId, EntryId>,
}

impl MovedIds {
    fn on(tree: &Tree, path: &[NodeIx]) -> Self {
        Self { next: neighbours(tree, path.iter().rev()), previous: neighbours(tree, path.iter()) }
    }

    fn is_empty(&self) -> bool {
        self.next.is_empty() && self.previous.is_empty()
    }
}

/// For every dropped entry, the entry that was last before it in this order and stays.
fn neighbours<'a>(tree: &Tree, order: impl Iterator<Item = &'a NodeIx>) -> HashMap<EntryId, EntryId> {
    let mut moved = HashMap::new();
    let mut last: Option<&EntryId> = None;
    for ix in order {
        let id = tree.node(*ix).id();
        if !is_dropped(tree, *ix) {
            last = id.or(last);
        } else if let (Some(id), Some(last)) = (id, last) {
            moved.insert(id.clone(), last.clone());
        }
    }
    moved
}

fn verbatim(source: &dyn Source, ix: NodeIx, pieces: &mut Pieces) -> Result<()> {
    match source.splice(ix)? {
        Some((offset, length, behind)) if behind.is_empty() => pieces.source_line(offset, length),
        Some((offset, length, behind)) => {
            pieces.range(offset, length);
            pieces.line(&behind);
        }
        None => pieces.line(source.entry(ix)?.line()),
    }
    Ok(())
}

/// The entry's line with another parent, and with the entries that a compaction names moved off dropped ones.
fn rechained(entry: &Entry, parent: Option<&EntryId>, moved: &MovedIds) -> String {
    if entry.damage().is_some() {
        return entry.line().to_owned();
    }
    let parent = parent.map_or("null".to_owned(), |id| quote(id.as_str()));
    let line = with_member(entry.json(), "parentId", &parent);
    if entry.kind != Kind::Compaction {
        return line;
    }
    let names = [("firstKeptEntryId", &moved.next), ("providerReplayThroughEntryId", &moved.previous)];
    names.iter().fold(line, |line, (name, moved)| {
        let to = Json::trusted(&line).str(name).and_then(|id| moved.get(&EntryId::new(id)).cloned());
        match to {
            Some(to) => with_member(Json::trusted(&line), name, &quote(to.as_str())),
            None => line,
        }
    })
}

/// Adds the labels in effect on the kept entries, in the order in which they were set; returns the last entry.
fn add_labels(
    pieces: &mut Pieces,
    (tree, kept): (&Tree, &[NodeIx]),
    mut parent: Option<EntryId>,
    ids: &mut dyn IdSource,
    now: Millis,
) -> Option<EntryId> {
    let mut taken: HashSet<EntryId> = kept.iter().filter_map(|ix| tree.node(*ix).id().cloned()).collect();
    let kept_ids: HashSet<&EntryId> = kept.iter().filter_map(|ix| tree.node(*ix).id()).collect();
    for (target, label) in tree.labels().into_iter().filter(|(target, _)| kept_ids.contains(target)) {
        let mut id = ids.entry_id();
        while taken.contains(&id) {
            id = ids.entry_id();
        }
        let line = NewEntry::label(target.as_str(), Some(&label.text)).line(&id, parent.as_ref(), now);
        let time = label.timestamp.clone().unwrap_or_else(|| to_iso(now));
        pieces.line(&with_member(Json::trusted(&line), "timestamp", &quote(&time)));
        taken.insert(id.clone());
        parent = Some(id);
    }
    parent
}
