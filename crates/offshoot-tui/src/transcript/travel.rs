//! Movement through the conversation: by rows, pages and messages. Only the passed rows are laid out.

use offshoot_session::transcript::ItemShape;

use super::path::Key;
use super::{RowPlace, Slice, Transcript};

/// A movement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Move {
    Up(usize),
    Down(usize),
    PageUp,
    PageDown,
    Top,
    /// To the end. New content is followed.
    Bottom,
    /// To the user message before the first visible row.
    PreviousUser,
    /// To the user message after the first visible row.
    NextUser,
    /// To the last foldable part of a group.
    LastPart(usize),
    /// To a group, with some rows before it.
    Group(usize),
}

/// The assumed rows of a group without a body.
const UNKNOWN: usize = 2;
/// The number of moves that can wait for bodies.
const MAX_MOVES: usize = 64;

impl Transcript {
    /// Queues a movement for the next frame.
    pub fn go(&mut self, to: Move) {
        if self.moves.len() < MAX_MOVES {
            self.moves.push(to);
        }
    }

    /// Moves to the foldable part of a conversation block. `first` is the number of the first block after the path.
    pub(crate) fn go_to_block(&mut self, first: u64, block: u64) {
        let distance = |from: u64, to: u64| usize::try_from(to.saturating_sub(from)).unwrap_or(usize::MAX);
        let group = self.path.len().saturating_sub(distance(block, first)).saturating_add(distance(first, block));
        self.go(Move::LastPart(group));
    }

    /// Applies the queued movements, as far as bodies are loaded.
    pub(super) fn travel(&mut self) {
        if self.moves.is_empty() {
            return;
        }
        if self.is_at_end {
            let Some(top) = self.top_of_end() else { return };
            self.top = top;
        }
        let moves = std::mem::take(&mut self.moves);
        for (at, to) in moves.iter().enumerate() {
            if !self.try_to(*to) {
                self.moves = moves.get(at..).unwrap_or_default().to_vec();
                return;
            }
        }
    }

    fn try_to(&mut self, to: Move) -> bool {
        let page = self.height.saturating_sub(2).max(1);
        match to {
            Move::Up(rows) => self.up(rows),
            Move::Down(rows) => self.down(rows),
            Move::PageUp => self.up(page),
            Move::PageDown => self.down(page),
            Move::Top => self.land(RowPlace::default()),
            Move::Bottom => {
                self.is_at_end = true;
                true
            }
            Move::PreviousUser => {
                let before = self.top.group + usize::from(self.top.row > 1);
                let found = (0..before.min(self.path.len())).rev().find(|at| self.is_user(*at));
                self.land(RowPlace { group: found.unwrap_or(0), row: 0 })
            }
            Move::NextUser => match (self.top.group + 1..self.path.len()).find(|at| self.is_user(*at)) {
                Some(group) => self.land(RowPlace { group, row: 0 }),
                None => {
                    self.is_at_end = true;
                    true
                }
            },
            Move::Group(group) => {
                let before = self.top;
                let top = RowPlace { group, row: 0 };
                self.land(top);
                // What is before it may have to be read first.
                self.up(self.height / 4) || {
                    self.top = before;
                    false
                }
            }
            Move::LastPart(group) => {
                if self.height_of(group).is_none() {
                    return false;
                }
                let laid = self.group(group).and_then(|group| self.peek(group.key));
                let row = laid.and_then(|laid| laid.folds.last()).map_or(0, |(row, _)| *row);
                self.land(RowPlace { group, row })
            }
        }
    }

    fn is_user(&self, at: usize) -> bool {
        self.group(at).is_some_and(|group| group.shape == ItemShape::User)
    }

    fn land(&mut self, place: RowPlace) -> bool {
        self.top = place;
        self.is_at_end = false;
        true
    }

    pub(super) fn up(&mut self, rows: usize) -> bool {
        let (mut place, mut left) = (self.top, rows);
        while left > place.row {
            left -= place.row;
            let Some(group) = place.group.checked_sub(1) else { return self.land(RowPlace::default()) };
            let Some(height) = self.height_of(group) else { return false };
            place = RowPlace { group, row: height };
        }
        self.land(RowPlace { row: place.row - left, ..place })
    }

    fn down(&mut self, rows: usize) -> bool {
        if self.is_at_end {
            return true;
        }
        let (mut place, mut left) = (self.top, rows);
        loop {
            let Some(height) = self.height_of(place.group) else { return false };
            if place.row + left < height {
                return self.land(RowPlace { row: place.row + left, ..place });
            }
            left -= height.saturating_sub(place.row).min(left);
            place = RowPlace { group: place.group + 1, row: 0 };
            if place.group >= self.count() {
                self.is_at_end = true;
                return true;
            }
        }
    }

    /// The height of a group; `None` if its body is not loaded.
    fn height_of(&mut self, at: usize) -> Option<usize> {
        self.rows_of(at).map(|(_, laid)| laid.lines.len())
    }

    /// The first row of the last screen; `None` if bodies are missing.
    fn top_of_end(&mut self) -> Option<RowPlace> {
        let mut left = self.height;
        let mut at = self.count();
        let mut is_known = true;
        while left > 0 {
            let Some(group) = at.checked_sub(1) else {
                return is_known.then(RowPlace::default);
            };
            let height = self.height_of(group);
            is_known &= height.is_some();
            let height = height.unwrap_or(UNKNOWN);
            if height >= left {
                return is_known.then_some(RowPlace { group, row: height - left });
            }
            left -= height;
            at = group;
        }
        is_known.then_some(RowPlace { group: at, row: 0 })
    }

    /// Finds the visible rows.
    pub(super) fn show(&mut self) {
        self.visible.clear();
        if self.is_at_end {
            self.show_end();
            return;
        }
        if let Some(height) = self.height_of(self.top.group) {
            self.top.row = self.top.row.min(height.saturating_sub(1));
        }
        if self.show_from(self.top) < self.height && self.wanted.is_empty() {
            // The end is visible: the last screen is always full.
            self.visible.clear();
            self.is_at_end = true;
            self.show_end();
        }
    }

    fn show_from(&mut self, top: RowPlace) -> usize {
        let (mut place, mut shown) = (top, 0);
        while shown < self.height && place.group < self.count() {
            let (key, height) = self.known_or_not(place.group);
            let rows = height.saturating_sub(place.row).min(self.height - shown);
            if rows > 0 {
                self.visible.push(Slice { at: place, key, rows });
            }
            shown += rows;
            place = RowPlace { group: place.group + 1, row: 0 };
        }
        shown
    }

    fn show_end(&mut self) {
        let (mut left, mut at) = (self.height, self.count());
        while left > 0
            && let Some(group) = at.checked_sub(1)
        {
            let (key, height) = self.known_or_not(group);
            let rows = height.min(left);
            if rows > 0 {
                self.visible.push(Slice { at: RowPlace { group, row: height - rows }, key, rows });
            }
            left -= rows;
            at = group;
        }
        self.visible.reverse();
        self.top = self.visible.first().map(|slice| slice.at).unwrap_or_default();
    }

    fn known_or_not(&mut self, at: usize) -> (Key, usize) {
        if let Some((key, laid)) = self.rows_of(at) {
            return (key, laid.lines.len());
        }
        let key = self.group(at).map_or(Key::UnderWay(at - self.path.len().min(at)), |group| group.key);
        (key, UNKNOWN)
    }
}
