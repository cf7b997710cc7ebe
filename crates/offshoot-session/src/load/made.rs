//! A session whose lines are made when they are read: records of another program, shown as entries. Knows no program.

use std::fmt;
use std::sync::Arc;

use super::{FileEnd, Loaded};
use crate::error::{Diagnostic, Result};
use crate::header::{Dialect, Header};
use crate::id::EntryId;
use crate::kind::Kind;
use crate::tree::link::TreeBuilder;
use crate::tree::{Label, NewNode, NodeIx, Tree};

/// Makes the lines of a session's entries.
pub trait MadeLines: Send + Sync {
    /// The version 3 line of an entry, without line feed. Its envelope is that of the entry's node.
    ///
    /// # Errors
    /// The records of which it is made cannot be read.
    fn line(&self, tree: &Tree, ix: NodeIx) -> Result<String>;
}

/// The lines of a session that are made; clones share them.
#[derive(Clone)]
pub(crate) struct Made(Arc<dyn MadeLines>);

impl fmt::Debug for Made {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Made")
    }
}

impl Made {
    pub(crate) fn line(&self, tree: &Tree, ix: NodeIx) -> Result<String> {
        self.0.line(tree, ix)
    }
}

/// Entries of another program in the order of their records, to become a tree.
#[derive(Debug, Default)]
pub struct MadeTree {
    builder: TreeBuilder,
    labels: Vec<(EntryId, Label)>,
    last_session_info: Option<NodeIx>,
}

impl MadeTree {
    /// A tree without entries.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes room for so many more entries.
    pub fn expect(&mut self, more: usize) {
        self.builder.tree_mut().expect(more);
    }

    /// Adds an entry. Its offset and length are those of its first record.
    pub fn push(&mut self, new: &NewNode) {
        let ix = self.builder.push(new);
        if new.kind == Kind::SessionInfo {
            self.last_session_info = Some(ix);
        }
    }

    /// Puts a label on an entry.
    pub fn label(&mut self, target: EntryId, label: Label) {
        self.labels.push((target, label));
    }

    /// The whole session. `end` is the end of the records that were read.
    #[must_use]
    pub fn finish(
        mut self,
        header: Header,
        end: FileEnd,
        mut diagnostics: Vec<Diagnostic>,
        lines: Arc<dyn MadeLines>,
    ) -> Loaded {
        for (target, label) in self.labels {
            self.builder.tree_mut().set_label(target, Some(label));
        }
        let is_sound = |_: &_| Ok::<_, std::convert::Infallible>(true);
        let (tree, linked) = match self.builder.finish(is_sound) {
            Ok(linked) => linked,
            Err(never) => match never {},
        };
        diagnostics.extend(linked);
        diagnostics.sort_by_key(|told| told.line);
        Loaded {
            header: Some(header),
            tree,
            diagnostics,
            dialect: Some(Dialect::Pi),
            last_session_info: self.last_session_info,
            end,
            made: Some(Made(lines)),
            ..Loaded::default()
        }
    }
}
