//! What is said to a model, and when.

use crate::message::Block;

#[derive(Debug, Clone, PartialEq, Default)]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct UserPrompt {
    /// Files and piped input, sent before the text.
    pub before: String,
    /// As it was typed: it may call a skill or a template.
    pub text: String,
    pub images: Vec<Block>,
}

impl UserPrompt {
    /// The files and the piped input, then the text as it was typed.
    pub fn with_files(&self) -> String {
        [self.before.as_str(), &self.text].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n")
    }
}

impl From<&str> for UserPrompt {
    fn from(text: &str) -> Self {
        Self::from(text.to_owned())
    }
}

impl From<String> for UserPrompt {
    fn from(text: String) -> Self {
        Self { text, ..Self::default() }
    }
}

/// When a message of an extension is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delivery {
    /// Between two turns at once, during a run after the current turn. Starts no run.
    Add,
    /// Starts a run; during one as a steering message.
    Steer,
    /// Starts a run; during one when the model would stop.
    FollowUp,
    /// With the next prompt.
    NextPrompt,
}

/// What a person says to a child that runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChildOrder {
    /// For the model after the current turn.
    Steer(String),
    /// For the model when it would stop.
    FollowUp(String),
    /// It ends with what it said last.
    Stop,
}
