//! A session as rows of the index: made on any thread, without the database.

use std::path::{Path, PathBuf};

use offshoot_session::entry::Source as _;
use offshoot_session::error::Result;
use offshoot_session::medium::Stamp;
use offshoot_session::session::Session;
use offshoot_session::tree::NodeIx;

use super::blocks::{BlockMaker, PreparedBlock};
use super::database::flag;
use super::known_end::KnownEnd;
use crate::document::{Document, DocumentKind, LONGEST_TEXT};
use crate::session_documents::{OpenPath, PlacedDocument, Selected, for_each_document};
use crate::word_list::{WordList, push_words_and_parts};

/// A piece of a prepared session. They come in this order.
pub(super) enum Prepared {
    /// What it is.
    Begin(Box<SessionHead>),
    /// Some of its documents.
    Documents(Vec<PreparedDocument>),
    /// Some of its blocks.
    Blocks(Vec<PreparedBlock>),
    /// That it is whole, and how many entries were left out.
    End(usize),
    /// That blocks follow of a session that has its words in the index, from this place in the file on.
    BeginBlocks { source: i64, from: i64 },
    /// That so many of its entries are in blocks.
    EndBlocks { source: i64, entries: usize },
}

impl Prepared {
    /// About how many bytes it has.
    pub(super) fn weight(&self) -> usize {
        match self {
            Self::Documents(documents) => documents.iter().map(PreparedDocument::weight).sum(),
            Self::Blocks(blocks) => blocks.iter().map(|block| block.trigrams.len()).sum(),
            Self::Begin(head) => 512 + 16 * head.places.len(),
            Self::End(_) | Self::BeginBlocks { .. } | Self::EndBlocks { .. } => 0,
        }
    }
}

/// A session to be written into the index.
pub(super) struct SessionHead {
    pub(super) path: PathBuf,
    pub(super) agent: &'static str,
    pub(super) session: String,
    pub(super) folder: Option<String>,
    pub(super) title: Option<String>,
    /// Whether the file's lines are not those of version 3.
    pub(super) is_old: bool,
    pub(super) stamp: Option<Stamp>,
    pub(super) is_settled: bool,
    /// How many entries it has, the id of the last one and where it is.
    pub(super) end: KnownEnd,
    /// The entry from which on its documents follow; before it, the index has them.
    pub(super) from: usize,
    /// How many of its entries are in blocks when all of it is written.
    pub(super) in_blocks: usize,
    /// What the flags of the path are now for the entries before `from`, by the places of their lines.
    pub(super) places: Vec<(u64, i64)>,
}

/// A document to be written.
pub(super) struct PreparedDocument {
    pub(super) entry: Option<String>,
    pub(super) offset: u64,
    pub(super) length: u64,
    pub(super) kind: DocumentKind,
    pub(super) number: usize,
    pub(super) tool: Option<String>,
    pub(super) model: Option<String>,
    pub(super) files: Option<String>,
    pub(super) time: Option<i64>,
    pub(super) flags: i64,
    pub(super) hash: i64,
    pub(super) words: DocumentWords,
}

/// The words of a document.
pub(super) struct DocumentWords {
    pub(super) words: WordList,
    /// The parts of its identifiers.
    pub(super) parts: WordList,
    /// Words for its kind.
    pub(super) kinds: WordList,
}

/// A file to prepare.
pub(super) struct ToPrepare<'a> {
    pub(super) path: &'a Path,
    pub(super) agent: &'static str,
    pub(super) stamp: Option<Stamp>,
    pub(super) is_settled: bool,
    pub(super) known: Option<KnownEnd>,
    /// How many of its entries are in blocks.
    pub(super) in_blocks: usize,
    /// Whether to make its blocks, too.
    pub(super) with_blocks: bool,
}

/// Documents are passed on in pieces of this many bytes of words.
pub(super) const PORTION: usize = 1 << 20;

/// Passes what the index lacks of a session to `tell`, until that returns false.
///
/// # Errors
/// The file cannot be read.
pub(super) fn prepare(
    session: &Session,
    task: &ToPrepare<'_>,
    maker: &mut BlockMaker,
    mask: &dyn Fn(&str) -> Option<String>,
    tell: &mut dyn FnMut(Prepared) -> bool,
) -> Result<()> {
    maker.begin();
    let path = OpenPath::of(session)?;
    // A file that only grew has its old last entry where it was.
    let from = task.known.as_ref().filter(|known| known.stands(session, task.path)).map_or(0, |known| known.entries);
    let known_blocks = if from > 0 { task.in_blocks } else { 0 };
    // What lacks blocks before these documents gets all of them later.
    let with_blocks = task.with_blocks && known_blocks == from;
    let mut head = head(session, task, from, &path)?;
    head.in_blocks = if with_blocks { head.end.entries } else { known_blocks };
    if !tell(Prepared::Begin(Box::new(head))) {
        return Ok(());
    }
    let (mut portion, mut blocks, mut weight, mut is_wanted) = (Vec::new(), Vec::new(), 0, true);
    let left_out = for_each_document(session, Selected { from, can_matter: None, mask }, &mut |placed| {
        if with_blocks || placed.document.kind.is_name() {
            blocks.extend(maker.add(session, &placed).inspect(|block| weight += block.trigrams.len()));
        }
        let document = PreparedDocument::of(session, placed, &path);
        weight += document.weight();
        portion.push(document);
        if weight >= PORTION {
            weight = 0;
            is_wanted = tell(Prepared::Documents(std::mem::take(&mut portion)))
                && tell(Prepared::Blocks(std::mem::take(&mut blocks)));
        }
        is_wanted
    })?;
    blocks.extend(maker.end());
    if is_wanted && tell(Prepared::Documents(portion)) && tell(Prepared::Blocks(blocks)) {
        tell(Prepared::End(left_out));
    }
    Ok(())
}

fn head(session: &Session, task: &ToPrepare<'_>, from: usize, path: &OpenPath) -> Result<SessionHead> {
    let tree = session.tree();
    let known = tree.entries().filter(|ix| ix.index() < from);
    Ok(SessionHead {
        path: task.path.to_path_buf(),
        agent: task.agent,
        session: session.id().to_owned(),
        folder: session.cwd().map(str::to_owned),
        title: session.name()?.or_else(|| session.title().map(str::to_owned)),
        is_old: session.version() < 3 || session.is_made(),
        stamp: task.stamp,
        is_settled: task.is_settled,
        end: KnownEnd::of(session, task.path),
        from,
        in_blocks: 0,
        places: known.map(|ix| (tree.node(ix).offset(), path_flags(path, Some(ix)))).collect(),
    })
}

impl PreparedDocument {
    fn of(session: &Session, placed: PlacedDocument, path: &OpenPath) -> Self {
        let node = placed.node.map(|ix| session.tree().node(ix));
        let (offset, length) = node.map_or((0, 0), |node| (node.offset(), node.length()));
        let document = placed.document;
        let (mut words, mut parts) = (WordList::default(), WordList::default());
        for end in document.ends() {
            push_words_and_parts(end, &mut words, &mut parts);
        }
        Self {
            entry: placed.entry.map(|id| id.as_str().to_owned()),
            offset,
            length,
            number: placed.number,
            time: placed.at,
            flags: own_flags(&document) | path_flags(path, placed.node),
            hash: placed.hash.cast_signed(),
            files: Some(document.files.join("\n")).filter(|files| !files.is_empty()),
            words: DocumentWords { words, parts, kinds: kind_words(&document).into() },
            kind: document.kind,
            tool: document.tool,
            model: document.model,
        }
    }

    /// About how many bytes it has.
    pub(super) fn weight(&self) -> usize {
        self.words.words.len() + self.words.parts.len() + 256
    }
}

fn own_flags(document: &Document) -> i64 {
    let set = |is_set: bool, flag: i64| if is_set { flag } else { 0 };
    set(document.is_error, flag::ERROR)
        | set(document.has_picture, flag::PICTURE)
        | set(document.is_injected, flag::INJECTED)
        | set(document.text.len() > LONGEST_TEXT, flag::CUT)
}

fn path_flags(path: &OpenPath, node: Option<NodeIx>) -> i64 {
    match (path.has(node), path.has_compacted(node)) {
        (false, _) => flag::OFF_PATH,
        (true, true) => flag::COMPACTED,
        (true, false) => 0,
    }
}

/// A word for the kind, so that the index itself can choose by it.
pub(super) fn kind_word(kind: DocumentKind) -> String {
    format!("k{}", kind_number(kind))
}

/// The number of a kind in the index.
pub(super) fn kind_number(kind: DocumentKind) -> i64 {
    DocumentKind::ALL.iter().position(|known| *known == kind).and_then(|at| i64::try_from(at).ok()).unwrap_or_default()
}

/// Whether the column of kinds may contain a word.
pub(super) fn is_kind_word(word: &str) -> bool {
    matches!(word, "error" | "image") || word.strip_prefix('k').is_some_and(|number| number.parse::<u8>().is_ok())
}

fn kind_words(document: &Document) -> String {
    let mut words = kind_word(document.kind);
    for (is_set, word) in [(document.is_error, " error"), (document.has_picture, " image")] {
        if is_set {
            words.push_str(word);
        }
    }
    words
}
