//! What a command does about inputs that fail while it works through several: reports each, continues, counts.

use std::io::Write;

use offshoot_app::app::App;
use offshoot_app::error::{CommandError, FailureKind, Result};

pub(crate) struct Failures<'a> {
    app: &'a App,
    is_only_input: bool,
    pub(crate) count: usize,
    kind: Option<FailureKind>,
}

impl<'a> Failures<'a> {
    pub(crate) fn new(app: &'a App, inputs: usize) -> Self {
        Self { app, is_only_input: inputs == 1, count: 0, kind: None }
    }

    /// The value, or `None` after a failure, which is printed below what `out` has.
    ///
    /// # Errors
    /// The failure itself if there is one input only, and a closed pipe.
    pub(crate) fn catch<T>(&mut self, out: &mut dyn Write, result: Result<T>) -> Result<Option<T>> {
        match result {
            Ok(value) => Ok(Some(value)),
            Err(error) if self.is_only_input || error.kind == FailureKind::ClosedPipe => Err(error),
            Err(error) => {
                out.flush()?;
                self.app.ui.error(&error);
                self.count += 1;
                self.kind.get_or_insert(error.kind);
                Ok(None)
            }
        }
    }

    /// The error of the whole run, with the exit code of the first failure.
    pub(crate) fn outcome(&self, what: &str) -> Result<()> {
        match self.kind {
            None => Ok(()),
            Some(kind) => Err(CommandError::new(kind, what)),
        }
    }
}
