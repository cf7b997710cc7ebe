//! The promises that hold for any bytes: the bodies of the fuzz targets as plain functions, so that every finding stays
//! a test. Knows no fuzzer. See `fuzz/` and `cargo xtask fuzz`.

mod codec;
mod lines;
mod open;
mod operations;
mod text;

pub use codec::codec;
pub use lines::lines;
pub use open::open;
pub use operations::session_ops;
pub use text::text;

/// A fuzz target, which panics if a promise does not hold for the bytes.
pub type Target = fn(&[u8]);

/// Every target with its name.
pub const TARGETS: &[(&str, Target)] =
    &[("lines", lines), ("codec", codec), ("open", open), ("session_ops", session_ops), ("text", text)];

/// Bytes as a source of choices; 0 once they are used up.
struct Choices<'a>(&'a [u8]);

impl Choices<'_> {
    fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        *first
    }

    /// A number below `count`, which is not 0.
    fn below(&mut self, count: usize) -> usize {
        usize::from(self.byte()) % count
    }

    fn is_over(&self) -> bool {
        self.0.is_empty()
    }
}
