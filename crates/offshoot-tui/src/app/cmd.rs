//! What the front end wants done. The loop does what concerns the screen; the program around it does the rest.

use offshoot_agent::command::Command;

/// Something to be done.
#[derive(Debug, Clone, PartialEq)]
pub enum Cmd {
    /// Say this to the agent; answered with [`super::msg::Msg::Answered`].
    Ask(Box<Command>),
    /// Find out about the open session; answered with [`super::msg::Msg::Looked`].
    Look,
    /// Keep what is being written, so that it survives a crash; nothing to keep removes it.
    SaveDraft(String),
    /// Put a text into the clipboard.
    Copy(String),
    /// Give the terminal back to the shell for a while.
    Suspend,
    /// Draw everything anew.
    Repaint,
    /// End.
    Quit,
}
