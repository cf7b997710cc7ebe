//! Foldable parts: all of a kind, the focused one, or the one under a row of the screen.

use super::path::Key;
use super::{Parts, Transcript};
use crate::message::{Folds, RenderedRows};

impl Transcript {
    pub(super) fn folds(&self, key: Key) -> Folds<'_> {
        let other = self.flipped.get(&key).map(Vec::as_slice).unwrap_or_default();
        Folds { thinking: self.thinking, tools: self.tools, other }
    }

    pub(super) fn is_focused(&self, key: Key, laid: Option<&RenderedRows>, row: usize) -> bool {
        let Some((focused, part)) = self.focus.filter(|(focused, _)| *focused == key) else { return false };
        let starts = laid.map(|laid| laid.folds.as_slice()).unwrap_or_default();
        focused == key && starts.iter().any(|(start, own)| *own == part && *start == row)
    }

    /// Whether a part is chosen.
    #[must_use]
    pub fn has_focus(&self) -> bool {
        self.focus.is_some()
    }

    /// Folds or unfolds these parts of all items.
    pub fn fold_all(&mut self, parts: Parts) {
        match parts {
            Parts::Thinking => self.thinking = !self.thinking,
            Parts::Tools => self.tools = !self.tools,
        }
        self.flipped.clear();
        self.forget_rows();
    }

    /// Folds or unfolds one part.
    pub(super) fn flip(&mut self, key: Key, part: usize) {
        let flipped = self.flipped.entry(key).or_default();
        match flipped.iter().position(|known| *known == part) {
            Some(at) => drop(flipped.swap_remove(at)),
            None => flipped.push(part),
        }
        self.laid.remove(key);
        self.forget_under_way();
    }

    /// Folds or unfolds the focused part. Returns whether there is one.
    pub fn toggle(&mut self) -> bool {
        let focus = self.focus;
        if let Some((key, part)) = focus {
            self.flip(key, part);
        }
        focus.is_some()
    }

    /// Moves the focus to the next foldable part on the screen, or to the previous one.
    pub fn focus(&mut self, is_forward: bool) {
        let mut parts = Vec::new();
        for slice in &self.visible {
            let rows = slice.at.row..slice.at.row + slice.rows;
            let folds = self.peek(slice.key).map(|laid| laid.folds.as_slice()).unwrap_or_default();
            parts.extend(folds.iter().filter(|(row, _)| rows.contains(row)).map(|(_, part)| (slice.key, *part)));
        }
        let at = self.focus.and_then(|focus| parts.iter().position(|part| *part == focus));
        let next = match (at, is_forward) {
            (Some(at), true) => parts.get(at + 1).or(parts.first()),
            (Some(at), false) => at.checked_sub(1).and_then(|at| parts.get(at)).or(parts.last()),
            (None, true) => parts.first(),
            (None, false) => parts.last(),
        };
        self.focus = next.copied();
    }
}
