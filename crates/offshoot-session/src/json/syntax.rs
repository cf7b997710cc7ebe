//! What is wrong with a text that is not JSON. Knows no grammar.

/// The position at which a text stops being JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("expected {expected} at byte {at}")]
pub struct SyntaxError {
    /// The byte, from the start of the text.
    pub at: usize,
    /// What JSON allows there.
    pub expected: &'static str,
}

pub(super) type ValidationStep = Result<usize, SyntaxError>;

pub(super) fn fail(at: usize, expected: &'static str) -> ValidationStep {
    Err(SyntaxError { at, expected })
}
