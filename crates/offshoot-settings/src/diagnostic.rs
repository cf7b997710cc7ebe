//! A position in a text, and a diagnostic there. Knows no file format.

use std::fmt;

/// A line and a column, both from 1; columns are characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TextPosition {
    pub line: usize,
    pub column: usize,
}

impl TextPosition {
    /// The position of a byte; a byte after the end gives the end.
    #[must_use]
    pub fn at(text: &str, byte: usize) -> Self {
        let mut end = byte.min(text.len());
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let before = text.get(..end).unwrap_or_default();
        let line = before.rsplit('\n').next().unwrap_or_default();
        Self { line: before.matches('\n').count() + 1, column: line.chars().count() + 1 }
    }

    /// The position of `part`, a slice of `text`.
    #[must_use]
    pub fn of(text: &str, part: &str) -> Self {
        Self::at(text, (part.as_ptr() as usize).saturating_sub(text.as_ptr() as usize))
    }
}

impl fmt::Display for TextPosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// Something in a user's file that has no effect, or a different one than it seems.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigDiagnostic {
    pub place: TextPosition,
    pub what: String,
}

impl fmt::Display for ConfigDiagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.what)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_columns_count_from_one() {
        let text = "ab\nüx\n";
        assert_eq!(TextPosition::at(text, 0).to_string(), "1:1");
        assert_eq!(TextPosition::at(text, 5).to_string(), "2:2");
        assert_eq!(TextPosition::at(text, 4).to_string(), "2:1");
        assert_eq!(TextPosition::at(text, 99).to_string(), "3:1");
        assert_eq!(TextPosition::of(text, &text[5..]).to_string(), "2:2");
    }
}
