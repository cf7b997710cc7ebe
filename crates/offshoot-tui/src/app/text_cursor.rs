//! The text cursor of rows that are drawn. Does not know the terminal's own cursor.

use ratatui::layout::Position;

/// Where the next letter goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextCursor {
    Plain(Position),
    /// The rows show it by themselves.
    Marked(Position),
}

impl TextCursor {
    #[must_use]
    pub fn place(self) -> Position {
        match self {
            Self::Plain(place) | Self::Marked(place) => place,
        }
    }

    /// The cursor at the place that this one has elsewhere, if it has one there.
    #[must_use]
    pub fn moved(self, with: impl FnOnce(Position) -> Option<Position>) -> Option<Self> {
        Some(match self {
            Self::Plain(place) => Self::Plain(with(place)?),
            Self::Marked(place) => Self::Marked(with(place)?),
        })
    }
}
