//! The command of the user that runs, and the end of what it printed so far. What it came to takes its place.

use offshoot_session::transcript::{Item, Run};

/// How much of the output is held, as of a tool's; twice of it at most.
const HELD: usize = 50 * 1024;

/// A command that runs.
#[derive(Debug, Clone)]
pub(super) struct RunningShell {
    item: Item,
}

impl RunningShell {
    /// A command that printed nothing yet. `is_private`: the model will not see it.
    pub(super) fn new(command: &str, is_private: bool) -> Self {
        let run = Run { command: command.to_owned(), is_private, ..Run::default() };
        Self { item: Item::Run(run) }
    }

    /// Takes what it printed; so many bytes before that are left out.
    pub(super) fn print(&mut self, delta: &str, omitted: u64) {
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

    pub(super) fn item(&self) -> &Item {
        &self.item
    }
}
