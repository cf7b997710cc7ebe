//! Reading on: what another process appended to a file that is open here.
//!
//! Lines that simply continue the tree join it. Anything else (an id that is known, a parent that is not, a line that is
//! no entry) is left to a fresh reading of the whole file, which settles such things in one way only.

use std::ops::ControlFlow;

use super::{Loaded, label_of, new_node};
use crate::envelope::{Envelope, scan};
use crate::error::{Error, Result};
use crate::id::EntryId;
use crate::json::validate;
use crate::kind::Kind;
use crate::lines::{LineSpan, for_each_line};
use crate::medium::Medium;

impl Loaded {
    /// Reads what stands between the known end and `length`. Answers whether that was enough; if not, nothing has
    /// changed but for entries that a fresh reading would find as well.
    pub(crate) fn extend(&mut self, medium: &dyn Medium, length: u64) -> Result<bool> {
        if self.header.is_none() || self.is_old() || !self.end.terminated {
            return Ok(false);
        }
        let mut simple = true;
        let (from, first) = (self.end.length, self.end.lines + 1);
        for_each_line(medium, from, length, first, |span, line| {
            let whole = line.tail.is_none() && span.terminated && validate(line.head).is_ok();
            simple = whole && scan(line).is_ok_and(|envelope| self.join(span, line.head, &envelope));
            if simple { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })
        .map_err(Error::io("read", medium.path()))?;
        Ok(simple)
    }

    /// Takes in one line that continues the tree.
    fn join(&mut self, span: LineSpan, bytes: &[u8], envelope: &Envelope<'_>) -> bool {
        let Some(id) = envelope.id.as_deref().filter(|id| self.tree.find(id).is_none()) else { return false };
        let parent_is_known = envelope.parent.as_deref().is_none_or(|parent| self.tree.find(parent).is_some());
        if !parent_is_known || matches!(envelope.kind, Kind::Session | Kind::Title) {
            return false;
        }
        let ids = (Some(EntryId::new(id)), envelope.parent.as_deref().map(EntryId::new));
        let ix = self.tree.insert(&new_node(span, envelope, ids));
        match envelope.kind {
            Kind::SessionInfo => self.last_session_info = Some(ix),
            Kind::Label => self.note_label(&String::from_utf8_lossy(bytes)),
            _ => {}
        }
        self.end.length = span.offset + span.length + 1;
        self.end.lines = span.number;
        true
    }

    /// Takes in what a label entry says.
    pub(crate) fn note_label(&mut self, line: &str) {
        if let Some((target, label)) = label_of(line) {
            self.tree.set_label(target, label);
        }
    }
}
