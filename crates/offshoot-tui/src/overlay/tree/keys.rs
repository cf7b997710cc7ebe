//! What keys mean in the tree: pi's defaults under pi's names, and offshoot's own.

use offshoot_session::outline::Filter;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// What can be done in the tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// One row up; from the first to the last.
    Up,
    /// One row down; from the last to the first.
    Down,
    /// A page up.
    PageUp,
    /// A page down.
    PageDown,
    /// To the first row.
    First,
    /// To the last row.
    Last,
    /// Go to the entry.
    Confirm,
    /// Clear the search, or else leave.
    Cancel,
    /// Fold the branch, or go to where it starts.
    FoldOrUp,
    /// Unfold the branch, or go to the next one below.
    UnfoldOrDown,
    /// Edit the entry's bookmark.
    EditLabel,
    /// Show or hide when bookmarks were set.
    ToggleLabelTimes,
    /// Copy what the entry says.
    Copy,
    /// This filter, or the default one if it is this already.
    Filter(Filter),
    /// The next filter.
    NextFilter,
    /// The filter before.
    PreviousFilter,
    /// Mark the entry for a comparison, or take the mark away.
    Mark,
    /// Compare the two marked branches.
    Compare,
    /// Show or hide the preview.
    TogglePreview,
    /// Scroll the preview up.
    PreviewUp,
    /// Scroll the preview down.
    PreviewDown,
    /// Take the last character of the search away.
    DeleteBack,
    /// Add to the search.
    Type(char),
}

impl Action {
    /// What a key means unless it was bound otherwise. Capitals with a meaning cannot be typed into the search, which
    /// does not tell them from small letters.
    pub fn of(key: KeyEvent) -> Option<Self> {
        let ctrl = key.modifiers.contains(KeyModifiers::CONTROL);
        let alt = key.modifiers.contains(KeyModifiers::ALT);
        let shift = key.modifiers.contains(KeyModifiers::SHIFT);
        Some(match key.code {
            KeyCode::Left if ctrl || alt => Self::FoldOrUp,
            KeyCode::Right if ctrl || alt => Self::UnfoldOrDown,
            KeyCode::Up if shift => Self::PreviewUp,
            KeyCode::Down if shift => Self::PreviewDown,
            KeyCode::Up => Self::Up,
            KeyCode::Down => Self::Down,
            KeyCode::Left | KeyCode::PageUp => Self::PageUp,
            KeyCode::Right | KeyCode::PageDown => Self::PageDown,
            KeyCode::Home => Self::First,
            KeyCode::End => Self::Last,
            KeyCode::Enter => Self::Confirm,
            KeyCode::Esc => Self::Cancel,
            KeyCode::Backspace => Self::DeleteBack,
            KeyCode::Char(c) if ctrl => return Self::of_control(c, shift),
            KeyCode::Char(_) if alt => return None,
            KeyCode::Char(c) => Self::of_character(c, shift),
            _ => return None,
        })
    }

    fn of_control(c: char, shift: bool) -> Option<Self> {
        Some(match c {
            'c' => Self::Cancel,
            'b' => Self::PageUp,
            'f' => Self::PageDown,
            'd' => Self::Filter(Filter::Default),
            't' => Self::Filter(Filter::NoTools),
            'u' => Self::Filter(Filter::UserOnly),
            'l' => Self::Filter(Filter::LabeledOnly),
            'a' => Self::Filter(Filter::All),
            'o' if !shift => Self::NextFilter,
            'o' | 'O' => Self::PreviousFilter,
            'x' => Self::Copy,
            _ => return None,
        })
    }

    fn of_character(c: char, shift: bool) -> Self {
        match if shift { c.to_ascii_uppercase() } else { c } {
            'L' => Self::EditLabel,
            'T' => Self::ToggleLabelTimes,
            'M' => Self::Mark,
            'D' => Self::Compare,
            'P' => Self::TogglePreview,
            _ => Self::Type(c),
        }
    }
}
