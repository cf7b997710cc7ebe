//! Foreign text on the screen: made harmless, measured, cut, wrapped and drawn; large numbers in short. Knows no widget and no theme.
//!
//! Everything here counts in columns as ratatui draws them, and never takes a grapheme apart. What comes from outside
//! passes [`clean`], [`clean_lines`] or [`fit`] before it becomes a span; after that each of its graphemes takes at
//! least one column and nothing in it steers a terminal.

mod measure;
mod cut;
mod number;
mod wrap;
#[cfg(test)]
mod props;

pub use cut::{fit, joined, truncate, truncate_line, truncate_middle};
pub use measure::{draw, line_width, width};
pub use number::in_short;
pub use offshoot_session::text::{clean, clean_lines};
pub use wrap::{WrappedRow, WrappedRows, rows, wrap};

/// What stands for text that was left out.
pub const ELLIPSIS: &str = "…";
