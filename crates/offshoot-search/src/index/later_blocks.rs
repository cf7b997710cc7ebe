//! The blocks of a session whose words are in the index already.

use std::path::PathBuf;

use offshoot_session::entry::Source as _;
use offshoot_session::error::Result;
use offshoot_session::session::Session;

use super::blocks::BlockMaker;
use super::known_end::KnownEnd;
use super::prepared::{PORTION, Prepared};
use crate::session_documents::{Selected, for_each_document};

/// A session that has its words in the index, and not all of its blocks.
pub(super) struct ToBlock {
    pub(super) source: i64,
    pub(super) path: PathBuf,
    pub(super) end: KnownEnd,
    /// How many of its entries are in blocks.
    pub(super) in_blocks: usize,
}

/// Makes the missing blocks of a session and passes them to `tell`. Makes none if the file is no longer the one in the index.
///
/// # Errors
/// The file cannot be read.
pub(super) fn prepare_blocks(
    session: &Session,
    task: &ToBlock,
    maker: &mut BlockMaker,
    mask: &dyn Fn(&str) -> Option<String>,
    tell: &mut dyn FnMut(Prepared) -> bool,
) -> Result<()> {
    maker.begin();
    if !task.end.stands(session, &task.path) {
        return Ok(());
    }
    let tree = session.tree();
    let first = tree.entries().find(|ix| ix.index() >= task.in_blocks).map_or(0, |ix| tree.node(ix).offset());
    if !tell(Prepared::BeginBlocks { source: task.source, from: first.cast_signed() }) {
        return Ok(());
    }
    let (mut portion, mut weight) = (Vec::new(), 0);
    let mut is_wanted = true;
    let selected = Selected { from: task.in_blocks, can_matter: None, mask };
    for_each_document(session, selected, &mut |placed| {
        if placed.document.kind.is_name() {
            return true;
        }
        if placed.node.is_some_and(|ix| ix.index() >= task.end.entries) {
            return false;
        }
        portion.extend(maker.add(session, &placed).inspect(|block| weight += block.trigrams.len()));
        if weight >= PORTION {
            weight = 0;
            is_wanted = tell(Prepared::Blocks(std::mem::take(&mut portion)));
        }
        is_wanted
    })?;
    portion.extend(maker.end());
    if is_wanted && tell(Prepared::Blocks(portion)) {
        tell(Prepared::EndBlocks { source: task.source, entries: task.end.entries });
    }
    Ok(())
}
