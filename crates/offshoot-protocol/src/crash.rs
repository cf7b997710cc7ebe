//! What is known of a panic.

use std::fmt;

/// The message of a panic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Crash(pub String);

impl fmt::Display for Crash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
