//! Reads lines that another process appended to an open file.
//!
//! Lines that continue the tree join it. Anything else (a known id, an unknown parent, a line that is not an entry)
//! requires a fresh read of the whole file, so that such cases are settled in one way only.

use std::collections::HashSet;
use std::ops::ControlFlow;

use super::found::{FoundLine, for_each_found};
use super::scan::dialect_of;
use super::{Loaded, PROGRESS, Stretch, is_sound, label_of, new_node};
use crate::envelope::{Envelope, LineBytes, scan};
use crate::error::{Error, Result};
use crate::id::EntryId;
use crate::kind::Kind;
use crate::lines::LineSpan;
use crate::medium::Medium;
use crate::tree::{NewNode, NodeIx};

pub(crate) struct More<'a> {
    pub(crate) stretch: Stretch,
    /// Whether an entry outside memory may have this id. A false answer saves the look-up.
    pub(crate) may_be_known: &'a dyn Fn(&str) -> bool,
    pub(crate) progress: &'a mut dyn FnMut(u64),
}

impl<'a> More<'a> {
    pub(crate) fn all(progress: &'a mut dyn FnMut(u64)) -> Self {
        Self { stretch: Stretch::ALL, may_be_known: &|_| true, progress }
    }
}

impl Loaded {
    /// Reads up to `length`. Returns whether that was enough; otherwise only entries were added that a fresh read finds
    /// too.
    pub(crate) fn extend(&mut self, medium: &dyn Medium, length: u64) -> Result<bool> {
        self.extend_some(medium, length, &mut More::all(&mut |_| ()))
    }

    /// [`Loaded::extend`] with a limit; [`Loaded::end`] then says how far it went.
    pub(crate) fn extend_some(&mut self, medium: &dyn Medium, length: u64, more: &mut More<'_>) -> Result<bool> {
        if self.header.is_none() || self.is_old() || self.is_made() || !self.end.terminated {
            return Ok(false);
        }
        let known = self.tree.stored_len();
        let missing: HashSet<EntryId> = self.tree.missing_parents().cloned().collect();
        let (mut simple, mut lines) = (true, 0);
        let (from, first) = (self.end.length, self.end.lines + 1);
        for_each_found(medium, (from, length), first, |found| {
            simple = match found {
                FoundLine::Line(span, line) => {
                    let envelope = scan(line).ok().filter(|_| span.terminated);
                    envelope.is_some_and(|envelope| self.join_line(span, line, &envelope, (&missing, more)))
                }
                FoundLine::Entry(new) => self.join(&new, (&missing, more)).is_some(),
            };
            lines += 1;
            if lines % PROGRESS == 0 {
                (more.progress)(self.end.length);
            }
            let goes_on = simple && !more.stretch.is_full(lines, self.end.length - from);
            Ok(if goes_on { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
        })?;
        Ok(simple && self.ends_are_sound(medium, known)?)
    }

    /// Whether the new entries without children have lines that are JSON throughout.
    fn ends_are_sound(&self, medium: &dyn Medium, known: usize) -> Result<bool> {
        for ix in self.tree.entries_from(known).filter(|ix| self.tree.is_leaf(*ix)) {
            if !is_sound(medium, self.tree.node(ix)).map_err(Error::io("read", medium.path()))? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn join(&mut self, new: &NewNode, (missing, more): (&HashSet<EntryId>, &More<'_>)) -> Option<NodeIx> {
        let id = new.id.as_ref()?;
        let is_known = self.tree.find_fresh(id.as_str()).is_some()
            || missing.contains(id)
            || ((more.may_be_known)(id.as_str()) && self.tree.find(id.as_str()).is_some());
        let parent_is_known = match &new.parent {
            None => true,
            Some(parent) => self.tree.last_is(parent) || self.tree.find(parent.as_str()).is_some(),
        };
        if is_known || !parent_is_known || matches!(new.kind, Kind::Session | Kind::Title) {
            return None;
        }
        self.end.length = new.offset + new.length + 1;
        self.end.lines = new.line;
        Some(self.tree.insert(new))
    }

    fn join_line(
        &mut self,
        span: LineSpan,
        line: LineBytes<'_>,
        envelope: &Envelope<'_>,
        known: (&HashSet<EntryId>, &More<'_>),
    ) -> bool {
        // Labels, and lines that may show the dialect, must be read whole.
        let is_part = line.tail.is_some();
        if is_part && (envelope.kind == Kind::Label || self.dialect.is_none()) {
            return false;
        }
        let ids = (envelope.id.as_deref().map(EntryId::new), envelope.parent.as_deref().map(EntryId::new));
        let Some(ix) = self.join(&new_node(span, envelope, ids), known) else { return false };
        if envelope.kind == Kind::SessionInfo {
            self.last_session_info = Some(ix);
        } else if envelope.kind == Kind::Label {
            self.note_label(&String::from_utf8_lossy(line.head));
        } else if self.dialect.is_none() {
            self.dialect = dialect_of(envelope.kind, line.head);
        }
        true
    }

    pub(crate) fn note_label(&mut self, line: &str) {
        if let Some((target, label)) = label_of(line) {
            self.tree.set_label(target, label);
        }
    }
}
