//! Inputs that fail while an operation works through several: it goes on, and tells of each.

use offshoot_session::text::counted;

use crate::failure::{Failure, Result};

/// The inputs that failed so far.
#[derive(Debug)]
pub(crate) struct FailedInputs {
    is_only_input: bool,
    all: Vec<Failure>,
}

impl FailedInputs {
    /// None yet, of so many inputs.
    pub(crate) fn none_of(inputs: usize) -> Self {
        Self { is_only_input: inputs == 1, all: Vec::new() }
    }

    /// More inputs than somebody named.
    pub(crate) fn expect_several(&mut self, inputs: usize) {
        self.is_only_input &= inputs == 1;
    }

    /// The value, or `None` after a failure, which is kept.
    ///
    /// # Errors
    /// The failure itself if there is one input only.
    pub(crate) fn catch<T>(&mut self, result: Result<T>) -> Result<Option<T>> {
        match result {
            Ok(value) => Ok(Some(value)),
            Err(failure) if self.is_only_input => Err(failure),
            Err(failure) => {
                self.all.push(failure);
                Ok(None)
            }
        }
    }

    /// Adds those of a later step.
    pub(crate) fn join(&mut self, later: Self) {
        self.all.extend(later.all);
    }

    pub(crate) fn all(&self) -> &[Failure] {
        &self.all
    }

    /// How the whole run ended: with the kind of the first failure.
    pub(crate) fn end(&self, (one, many): (&str, &str), done: &str) -> Option<Failure> {
        let what = format!("{} could not be {done}", counted(self.all.len(), one, many));
        self.all.first().map(|first| Failure::refused(first.kind(), what))
    }
}
