//! The question before one leaves: shall what is left behind be summarised? Knows no tree.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use crate::overlay::line::LineInput;

/// What may be answered.
pub(super) const ANSWERS: [&str; 3] = ["No summary", "Summarize", "Summarize with custom prompt"];

/// The question, and what was answered so far.
#[derive(Debug, Default)]
pub(super) struct Question {
    pub(super) at: usize,
    /// The prompt that is being written.
    pub(super) prompt: Option<LineInput>,
}

/// What a key came to.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// Not answered yet.
    Open,
    /// Back to the tree.
    Back,
    /// Leave, without or with a summary.
    Leave { summarize: bool, instructions: Option<String> },
}

impl Question {
    pub(super) fn key(&mut self, key: KeyEvent) -> Answer {
        let is_control_c = key.code == KeyCode::Char('c') && key.modifiers.contains(KeyModifiers::CONTROL);
        let is_cancel = key.code == KeyCode::Esc || is_control_c;
        if let Some(prompt) = &mut self.prompt {
            match key.code {
                _ if is_cancel => self.prompt = None,
                KeyCode::Enter => return leave(prompt.text()),
                _ => _ = prompt.key(key),
            }
            return Answer::Open;
        }
        match key.code {
            _ if is_cancel => return Answer::Back,
            KeyCode::Up => self.at = self.at.checked_sub(1).unwrap_or(ANSWERS.len() - 1),
            KeyCode::Down => self.at = (self.at + 1) % ANSWERS.len(),
            KeyCode::Char(c @ '1'..='3') => {
                self.at = usize::from(c as u8 - b'1');
                return self.answered();
            }
            KeyCode::Enter => return self.answered(),
            _ => {}
        }
        Answer::Open
    }

    fn answered(&mut self) -> Answer {
        match self.at {
            0 => Answer::Leave { summarize: false, instructions: None },
            1 => Answer::Leave { summarize: true, instructions: None },
            _ => {
                self.prompt = Some(LineInput::default());
                Answer::Open
            }
        }
    }
}

fn leave(prompt: &str) -> Answer {
    let prompt = prompt.trim();
    Answer::Leave { summarize: true, instructions: (!prompt.is_empty()).then(|| prompt.to_owned()) }
}
