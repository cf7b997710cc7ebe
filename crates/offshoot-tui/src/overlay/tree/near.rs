//! The rows that a large tree shows first, and when the rest of its layout is made. Draws nothing.

use offshoot_session::entry::Source;
use offshoot_session::error::Result;
use offshoot_session::outline::{Outline, Sums};
use offshoot_session::tree::NodeIx;

use super::keys::TreeAction;
use super::{Setup, TreeSelector, rows};

/// From this number of entries on, the first rows are laid out before the whole tree.
pub(super) const LARGE: usize = 10_000;

/// From this number of entries on, the whole tree is laid out only when a key needs it: that takes tens of megabytes.
pub(super) const HUGE: usize = 200_000;

/// The first rows of a large tree, in screens.
const NEAR_SCREENS: usize = 12;

impl TreeSelector {
    /// The first rows of a large tree, if the selection is among them.
    pub(super) fn near(source: &dyn Source, leaf: Option<NodeIx>, setup: &Setup) -> Result<Option<Outline>> {
        let is_here = setup.selected.is_none_or(|selected| Some(selected) == leaf);
        if !is_here || source.tree().len() < LARGE {
            return Ok(None);
        }
        Outline::near(source, leaf, setup.outline(), NEAR_SCREENS * usize::from(setup.size.1))
    }

    /// Lays out the whole tree, if only its first rows are laid out.
    pub(super) fn complete(&mut self) {
        if self.list.outline.is_whole() || self.is_incomplete {
            return;
        }
        match Outline::new(self.source.as_ref(), self.leaf, self.setup.outline()) {
            Ok(outline) => self.list.complete(outline.reading_near()),
            Err(error) => (self.is_incomplete, self.notice) = (true, Some(error.to_string())),
        }
        // A note of the first rows may lack a label.
        self.rows = rows::RowTexts::default();
    }

    /// Whether an action stays among the first rows of a huge tree.
    pub(super) fn is_near(&self, step: TreeAction) -> bool {
        let (at, last) = (self.list.selected, self.list.len().saturating_sub(1));
        self.source.tree().len() >= HUGE
            && match step {
                TreeAction::Up => at > 0,
                TreeAction::PageUp => at > self.page(),
                TreeAction::Down => at < last,
                TreeAction::PageDown
                | TreeAction::Last
                | TreeAction::Copy
                | TreeAction::TogglePreview
                | TreeAction::PreviewUp
                | TreeAction::PreviewDown
                | TreeAction::ToggleSums => true,
                TreeAction::Cancel => self.search.query().is_empty(),
                TreeAction::Left
                | TreeAction::Right
                | TreeAction::First
                | TreeAction::Confirm
                | TreeAction::FoldOrUp
                | TreeAction::UnfoldOrDown
                | TreeAction::EditLabel
                | TreeAction::ToggleLabelTimes
                | TreeAction::Filter(_)
                | TreeAction::NextFilter
                | TreeAction::PreviousFilter
                | TreeAction::Mark
                | TreeAction::MarkRange
                | TreeAction::Compare
                | TreeAction::Pick
                | TreeAction::Merge
                | TreeAction::Undo
                | TreeAction::GoToSource
                | TreeAction::JumpToLabel
                | TreeAction::DeleteBack
                | TreeAction::Type(_) => false,
            }
    }

    /// Whether the rest of the layout is made while idle.
    pub(super) fn completes_idly(&self) -> bool {
        !self.list.outline.is_whole() && !self.is_incomplete && self.source.tree().len() < HUGE
    }

    /// Whether the sums over branches are made while idle: over a huge tree they take longer than a frame.
    pub(super) fn sums_idly(&self) -> bool {
        self.sums.is_none() && !self.list.outline.is_whole() && self.source.tree().len() >= HUGE
    }

    pub(super) fn sum_up(&mut self) {
        match Sums::new(self.source.as_ref(), &self.list.outline) {
            Ok(sums) => self.sums = Some(sums),
            Err(error) => (self.sums, self.notice) = (Some(Sums::default()), Some(error.to_string())),
        }
        // The rows that were read before have no figures.
        self.rows = rows::RowTexts::default();
    }
}
