//! What may happen to the front end.

use std::sync::Arc;

use offshoot_agent::command::{AgentError, Command, Reply};
use offshoot_agent::event::Event;
use offshoot_agent::provider::{Model, ThinkingLevel};
use offshoot_session::clock::Millis;
use ratatui::crossterm::event::KeyEvent;
use ratatui::layout::Size;

/// Something that happened.
#[derive(Debug)]
pub enum Msg {
    /// What time it is.
    Now(Millis),
    /// A key.
    Key(KeyEvent),
    /// Text that was pasted.
    Paste(String),
    /// The terminal has another size.
    Resized(Size),
    /// Whether the terminal is looked at.
    Focus(bool),
    /// Something that the agent does.
    Agent(Arc<Event>),
    /// What a command for the agent came to.
    Answered(Box<Command>, Result<Reply, AgentError>),
    /// What is known of the open session.
    Looked(Box<Looked>),
    /// Something that the user shall know.
    Notice(Level, String),
    /// The system wants the program to stop for a while.
    Suspend,
    /// The program goes on after it was stopped.
    Continued,
    /// The system wants the program to end.
    End,
}

/// How much something matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// It is good to know.
    Info,
    /// It is odd.
    Warning,
    /// It went wrong.
    Error,
}

/// Where a session's words are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Persistence {
    /// In its file.
    #[default]
    Durable,
    /// Some of them wait beside it, because the file could not be written.
    Spilled,
    /// Nowhere but in memory.
    InMemory,
}

/// What is known of the open session and of who answers.
#[derive(Debug, Clone, Default)]
pub struct Looked {
    /// The session's id.
    pub id: String,
    /// Its file, for people.
    pub file: Option<String>,
    /// Its name.
    pub name: Option<String>,
    /// Its folder, for people.
    pub cwd: String,
    /// Who answers.
    pub model: Option<Arc<Model>>,
    /// How much the model thinks.
    pub thinking: Option<ThinkingLevel>,
    /// Estimated tokens of the context.
    pub tokens: u64,
    /// What all of it cost, in US dollars.
    pub cost: f64,
    /// The label that names the open branch, or its last words.
    pub branch: Option<String>,
    /// How many branches there are.
    pub branches: usize,
    /// Where the words are kept.
    pub persistence: Persistence,
    /// The entry of newer work on another branch.
    pub diverged: Option<Diverged>,
}

/// Newer work on another branch than the open one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diverged {
    /// Where it stands.
    pub entry: String,
    /// What is known of it, in words.
    pub message: String,
}
