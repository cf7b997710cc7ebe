//! The range before a compaction that stays in the context. Contexts, plans, checks and extracts all ask here.

use super::checkpoint::Checkpoint;
use crate::entry::{Entry, Source};
use crate::error::{Code, Diagnostic};
use crate::header::Dialect;
use crate::tree::{NodeIx, Tree};

/// How a compaction names the range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Retained {
    /// Nothing stays, on purpose.
    Nothing,
    /// The range begins with this entry.
    From(String),
    /// The range begins after this entry, the last one that a provider's checkpoint covers.
    After(String),
}

impl Retained {
    pub(crate) fn of(compaction: &Entry, form: Dialect) -> Self {
        match form {
            Dialect::Pi => Self::from_first_kept(compaction),
            Dialect::Omp => match Checkpoint::of(compaction) {
                Some(Checkpoint::OpenAi(_)) => Self::after_checkpoint(compaction),
                Some(Checkpoint::Anthropic(_)) if names_no_first_kept(compaction) => Self::after_checkpoint(compaction),
                Some(Checkpoint::Anthropic(_)) | None => Self::from_first_kept(compaction),
            },
        }
    }

    fn from_first_kept(compaction: &Entry) -> Self {
        match compaction.str("firstKeptEntryId") {
            Some(kept) if !is_own_id(compaction, &kept) => Self::From(kept.into_owned()),
            Some(_) | None => Self::Nothing,
        }
    }

    fn after_checkpoint(compaction: &Entry) -> Self {
        match compaction.str("providerReplayThroughEntryId").filter(|id| !id.is_empty()) {
            Some(id) => Self::After(id.into_owned()),
            None => Self::Nothing,
        }
    }

    /// The entry that the compaction names, and the member that names it.
    pub(crate) fn reference(&self) -> Option<(&'static str, &str)> {
        match self {
            Self::Nothing => None,
            Self::From(id) => Some(("firstKeptEntryId", id)),
            Self::After(id) => Some(("providerReplayThroughEntryId", id)),
        }
    }

    /// Where the range begins among the entries before the compaction; `None` if nothing stays.
    pub(crate) fn start(&self, tree: &Tree, before: &[NodeIx]) -> Option<usize> {
        let position = |id: &str| {
            let ix = tree.find(id)?;
            before.iter().position(|at| *at == ix)
        };
        match self {
            Self::Nothing => None,
            Self::From(id) => position(id),
            Self::After(id) => position(id).map(|at| at + 1),
        }
    }

    /// What is wrong if the entry that it names is not on the path of the compaction at `ix`.
    pub(crate) fn missing(&self, source: &dyn Source, ix: NodeIx) -> Option<Diagnostic> {
        let node = source.tree().node(ix);
        let what = match self {
            Self::Nothing => return None,
            Self::From(id) => format!("from {id}"),
            Self::After(id) => format!("what follows {id}"),
        };
        Some(Diagnostic {
            code: Code::KeptEntryMissing,
            line: Some(node.line()),
            offset: node.offset(),
            entry: node.id().cloned(),
            message: format!("the compaction keeps {what}, which is not on its path; nothing before it is kept"),
        })
    }
}

fn is_own_id(compaction: &Entry, id: &str) -> bool {
    compaction.id.as_ref().is_some_and(|own| own.as_str() == id)
}

/// omp 18.3 writes an empty id if the provider's block covers all that it was sent.
fn names_no_first_kept(compaction: &Entry) -> bool {
    compaction.str("firstKeptEntryId").is_some_and(|kept| kept.is_empty())
}
