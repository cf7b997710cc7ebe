//! The nodes of a side index, read page by page on demand.
//!
//! If a page is damaged, the session file is scanned and provides every page.

use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use super::ids::Run;
use crate::error::Error;
use crate::load::load_until;
use crate::medium::{FileMedium, Medium as _};
use crate::packed::{PackedReader, PackedWriter, hash};
use crate::per_thread::with_room;
use crate::tree::nodes::{BranchEnd, PAGE, Pages};
use crate::tree::stored::StoredNode;
use crate::tree::{Node, Tree};

/// The place of a page in the index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PageSpan {
    pub(super) offset: u64,
    pub(super) length: u32,
    pub(super) sum: u64,
}

#[derive(Debug)]
pub(super) struct IndexPages {
    pub(super) index: File,
    /// The index's path, to remove a damaged one.
    pub(super) path: PathBuf,
    pub(super) count: usize,
    pub(super) places: Vec<PageSpan>,
    pub(super) runs: Vec<Run>,
    pub(super) ends: Vec<BranchEnd>,
    pub(super) session: FileMedium,
    pub(super) indexed: u64,
    /// The tree read from the session file after damage was found, or why that failed.
    pub(super) anew: OnceLock<Result<Tree, String>>,
}

impl IndexPages {
    pub(super) fn bytes(&self, offset: u64, length: usize) -> Option<Vec<u8>> {
        let mut bytes = vec![0; length];
        self.index.read_exact_at(&mut bytes, offset).ok()?;
        Some(bytes)
    }

    /// A page's bytes, checked.
    pub(super) fn encoded(&self, page: usize) -> Option<Vec<u8>> {
        let place = self.places.get(page)?;
        let bytes = self.bytes(place.offset, place.length as usize)?;
        (hash(&bytes) == place.sum).then_some(bytes)
    }

    fn decoded(&self, page: usize) -> Option<Arc<[Node]>> {
        let place = self.places.get(page)?;
        with_room(place.length as usize, |bytes| {
            self.index.read_exact_at(bytes, place.offset).ok()?;
            if hash(bytes) == place.sum { self.nodes(page, bytes) } else { None }
        })
    }

    fn nodes(&self, page: usize, bytes: &[u8]) -> Option<Arc<[Node]>> {
        let mut reader = PackedReader::new(bytes);
        let count = PAGE.min(self.count.checked_sub(page * PAGE)?);
        // Made where it stays: a list that can fail would be copied there.
        let mut is_whole = true;
        let one = |_| {
            node(&mut reader).unwrap_or_else(|| {
                is_whole = false;
                Node::unreadable()
            })
        };
        let nodes = (0..count).map(one).collect();
        is_whole.then_some(nodes)
    }

    fn anew(&self) -> Option<&Tree> {
        let read = || {
            drop(std::fs::remove_file(&self.path));
            load_until(&self.session, self.indexed).map(|loaded| loaded.tree).map_err(|error| error.to_string())
        };
        self.anew.get_or_init(read).as_ref().ok()
    }
}

impl Pages for IndexPages {
    fn count(&self) -> usize {
        self.count
    }

    fn page(&self, page: usize) -> Arc<[Node]> {
        let count = PAGE.min(self.count.saturating_sub(page * PAGE));
        if let Some(nodes) = self.decoded(page) {
            return nodes;
        }
        let nodes = self.anew().map(|tree| tree.page_of_nodes(page)).filter(|nodes| nodes.len() == count);
        nodes.unwrap_or_else(|| std::iter::repeat_with(Node::unreadable).take(count).collect())
    }

    fn candidates(&self, id: &str) -> Vec<u32> {
        let mut found = Vec::new();
        if self.runs.iter().all(|run| run.candidates(id, |at, length| self.bytes(at, length), &mut found).is_some()) {
            return found;
        }
        let known = self.anew().and_then(|tree| tree.find(id));
        known.map(|ix| ix.index() as u32).filter(|at| (*at as usize) < self.count).into_iter().collect()
    }

    fn ends(&self) -> &[BranchEnd] {
        &self.ends
    }

    fn check(&self) -> Result<(), Error> {
        let why = match self.anew.get() {
            Some(Err(why)) => why.as_str(),
            Some(Ok(tree)) if tree.stored_len() != self.count => "the file is not what it was when it was indexed",
            Some(Ok(_)) | None => return Ok(()),
        };
        let source = std::io::Error::other(why.to_owned());
        Err(Error::io("read again, since its side index is damaged,", self.session.path())(source))
    }
}

pub(super) fn encode<'a>(nodes: impl Iterator<Item = &'a Node>) -> Vec<u8> {
    let mut writer = PackedWriter::with_capacity(PAGE * 64);
    for node in nodes {
        let node = node.stored();
        writer.optional(node.id);
        writer.number(node.offset);
        writer.number(node.length);
        writer.number(node.time.cast_unsigned());
        node.places.iter().for_each(|place| writer.short(*place));
        writer.short(node.line);
        writer.byte(node.kind);
        writer.byte(node.role);
        writer.byte(node.flags);
    }
    writer.finish()
}

fn node(reader: &mut PackedReader<'_>) -> Option<Node> {
    let id = reader.optional()?;
    // One array, and so one look at how much is left, for all numbers of a node.
    let mut rest = reader.array::<FIXED>()?.as_slice();
    let mut long = || split(&mut rest).map(u64::from_le_bytes);
    let (offset, length, time) = (long()?, long()?, long()?.cast_signed());
    let mut short = || split(&mut rest).map(u32::from_le_bytes);
    let places = [short()?, short()?, short()?, short()?, short()?, short()?];
    let line = short()?;
    let [kind, role, flags] = split(&mut rest)?;
    Some(Node::from_stored(&StoredNode { id, offset, length, time, places, line, kind, role, flags }))
}

/// The bytes of a node after its id.
const FIXED: usize = 3 * size_of::<u64>() + 7 * size_of::<u32>() + 3;

fn split<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (first, after) = rest.split_first_chunk()?;
    *rest = after;
    Some(*first)
}
