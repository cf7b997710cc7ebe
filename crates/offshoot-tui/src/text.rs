//! Foreign text on the screen: cleaned, measured, cut, wrapped and drawn. Knows no widget and no theme.
//!
//! Widths are columns as ratatui draws them; graphemes are never split. Foreign text passes [`clean`], [`clean_lines`]
//! or [`fit`] before it becomes a span: afterwards each grapheme takes at least one column, and none steers a terminal.

mod measure;
mod cut;
mod wrap;
#[cfg(test)]
mod props;

pub use cut::{fit, joined, truncate, truncate_line, truncate_middle};
pub use measure::{clear, draw, line_width, width};
pub use offshoot_session::text::{clean, clean_lines, spell_blanks, strip, strip_lines, without_erasures};
pub use offshoot_session::text::{dollars, in_short};
pub use wrap::{WrappedRow, WrappedRows, rows, wrap};

/// Replaces omitted text.
pub const ELLIPSIS: &str = "…";
