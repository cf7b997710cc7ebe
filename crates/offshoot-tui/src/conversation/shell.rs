//! The user's running command, and the end of its output. The result of the command replaces it.

use offshoot_session::transcript::{Item, Run};

/// The number of bytes of output to keep, as for a tool. At most twice as many are held.
const HELD: usize = 50 * 1024;

#[derive(Debug, Clone)]
pub(super) struct RunningShell {
    item: Item,
}

impl RunningShell {
    /// A command without output. `is_private` means that the model will not see it.
    pub(super) fn new(command: &str, is_private: bool) -> Self {
        let run = Run { command: command.to_owned(), is_private, ..Run::default() };
        Self { item: Item::Run(run) }
    }

    /// Adds output. `omitted` bytes before it were left out.
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
