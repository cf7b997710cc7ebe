//! The keys of the tree.

use offshoot_session::outline::Filter;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use crate::keymap::{Action, Context, Keymap};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TreeAction {
    Up,
    Down,
    PageUp,
    PageDown,
    /// Fold the open branch. If there is none, go a page up.
    Left,
    /// Open the folded branch. If there is none, go a page down.
    Right,
    First,
    Last,
    Confirm,
    Cancel,
    FoldOrUp,
    UnfoldOrDown,
    EditLabel,
    ToggleLabelTimes,
    Copy,
    /// Set this filter, or the default one if this filter is set already.
    Filter(Filter),
    NextFilter,
    PreviousFilter,
    Mark,
    /// Mark everything between the last mark and the cursor.
    MarkRange,
    Compare,
    Pick,
    Merge,
    Undo,
    GoToSource,
    TogglePreview,
    ToggleSums,
    PreviewUp,
    PreviewDown,
    JumpToLabel,
    DeleteBack,
    Type(char),
}

impl TreeAction {
    /// The action of a key. A capital letter with an action cannot be typed into the search, but the search ignores
    /// case.
    pub(super) fn of(keymap: &Keymap, key: KeyEvent) -> Option<Self> {
        let bound = keymap.actions(Context::Tree, key).into_iter().find_map(Self::of_action);
        bound.or_else(|| match key.code {
            KeyCode::Char(c) if !key.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT) => {
                Some(Self::Type(c))
            }
            _ => None,
        })
    }

    fn of_action(action: Action) -> Option<Self> {
        Some(match action {
            Action::SelectUp => Self::Up,
            Action::SelectDown => Self::Down,
            Action::SelectPageUp => Self::PageUp,
            Action::SelectPageDown => Self::PageDown,
            Action::CursorLeft => Self::Left,
            Action::CursorRight => Self::Right,
            Action::CursorLineStart => Self::First,
            Action::CursorLineEnd => Self::Last,
            Action::SelectConfirm => Self::Confirm,
            Action::SelectCancel => Self::Cancel,
            Action::FoldOrUp => Self::FoldOrUp,
            Action::UnfoldOrDown => Self::UnfoldOrDown,
            Action::EditLabel => Self::EditLabel,
            Action::ToggleLabelTimestamp => Self::ToggleLabelTimes,
            Action::CopyMessage => Self::Copy,
            Action::FilterDefault => Self::Filter(Filter::Default),
            Action::FilterNoTools => Self::Filter(Filter::NoTools),
            Action::FilterUserOnly => Self::Filter(Filter::UserOnly),
            Action::FilterLabeledOnly => Self::Filter(Filter::LabeledOnly),
            Action::FilterAll => Self::Filter(Filter::All),
            Action::FilterNext => Self::NextFilter,
            Action::FilterPrevious => Self::PreviousFilter,
            Action::MarkBranch => Self::Mark,
            Action::MarkRange => Self::MarkRange,
            Action::DiffBranches => Self::Compare,
            Action::PickEntries => Self::Pick,
            Action::MergeBranch => Self::Merge,
            Action::UndoOperation => Self::Undo,
            Action::GoToSource => Self::GoToSource,
            Action::ToggleTreePreview => Self::TogglePreview,
            Action::ToggleTreeStats => Self::ToggleSums,
            Action::TreePreviewUp => Self::PreviewUp,
            Action::TreePreviewDown => Self::PreviewDown,
            Action::JumpToLabel => Self::JumpToLabel,
            Action::DeleteCharBackward => Self::DeleteBack,
            _ => return None,
        })
    }
}
