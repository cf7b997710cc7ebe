//! Foreign text on the screen: made harmless, measured, cut and wrapped. Knows no widget and no theme.

use std::borrow::Cow;

use unicode_width::UnicodeWidthStr as _;

/// A text with everything left out that could move the cursor or change the terminal: control characters, escape
/// sequences, bidirectional overrides. Tabs and line ends become spaces.
#[must_use]
pub fn clean(text: &str) -> Cow<'_, str> {
    if text.chars().any(char::is_control) {
        Cow::Owned(
            text.chars()
                .filter_map(|at| if matches!(at, '\t' | '\n') { Some(' ') } else { (!at.is_control()).then_some(at) })
                .collect(),
        )
    } else {
        Cow::Borrowed(text)
    }
}

/// How many columns a text takes.
#[must_use]
pub fn width(text: &str) -> usize {
    text.width()
}
