//! The command of the user that runs, and the end of what it printed so far. What it came to takes its place.

use offshoot_session::transcript::{Item, Run};
use ratatui::text::Line;

use crate::message::{Beside, Folds, Look};

/// How much of the output is held, as of a tool's; twice of it at most.
const HELD: usize = 50 * 1024;

/// A command that runs.
#[derive(Debug, Clone)]
pub struct Shell {
    item: Item,
}

impl Shell {
    /// A command that printed nothing yet. `is_private`: the model will not see it.
    #[must_use]
    pub fn new(command: &str, is_private: bool) -> Self {
        let run = Run { command: command.to_owned(), is_private, ..Run::default() };
        Self { item: Item::Run(run) }
    }

    /// Takes what it printed; so many bytes before that are left out.
    pub(super) fn printed(&mut self, delta: &str, omitted: u64) {
        let Item::Run(Run { output, remarks, .. }) = &mut self.item else { return };
        if omitted > 0 {
            output.clear();
        }
        output.push_str(delta);
        let start = if output.len() > 2 * HELD { output.ceil_char_boundary(output.len() - HELD) } else { 0 };
        output.drain(..start);
        if (omitted > 0 || start > 0) && remarks.is_empty() {
            remarks.push("while it runs only the end of its output is here".to_owned());
        }
    }

    /// Its rows.
    pub(super) fn rows(&self, look: &Look<'_>, folds: Folds<'_>) -> Vec<Line<'static>> {
        look.rows(&self.item, folds, Beside::default()).lines
    }
}
