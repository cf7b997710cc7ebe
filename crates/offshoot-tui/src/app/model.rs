//! All that the front end holds. Plain data; [`super::update`] alone changes it.

use std::collections::VecDeque;

use offshoot_agent::message::Block;
use offshoot_session::clock::Millis;
use ratatui::layout::Size;

use super::msg::{Level, Looked};
use crate::theme::Theme;

/// How many finished items are kept to draw the screen anew.
const KEPT: usize = 200;

/// All that the front end holds.
#[derive(Debug, Clone, Default)]
pub struct Model {
    /// What time it is.
    pub now: Millis,
    /// How large the terminal is.
    pub size: Size,
    /// The colours.
    pub theme: Theme,
    /// What is being written.
    pub editor: String,
    /// What goes on and may still change, oldest first.
    pub live: Vec<Item>,
    /// What is finished.
    pub finished: Finished,
    /// What waits to be said: after the current turn, and when the agent would stop.
    pub queue: (Vec<String>, Vec<String>),
    /// What is known of the session.
    pub looked: Looked,
    /// Whether the agent is at work.
    pub is_working: bool,
    /// When Ctrl+C was pressed last.
    pub interrupted: Option<Millis>,
    /// Whether the program is about to end.
    pub is_ending: bool,
}

/// One thing in the conversation.
#[derive(Debug, Clone, PartialEq)]
pub enum Item {
    /// Something that was said by the user.
    User(String),
    /// An answer, as far as it has come.
    Answer {
        /// Its blocks.
        blocks: Vec<Block>,
        /// What went wrong.
        error: Option<String>,
    },
    /// A tool at work.
    Tool {
        /// The call.
        id: String,
        /// The tool.
        name: String,
        /// Its arguments.
        args: String,
        /// What it gave back so far.
        output: String,
        /// Whether it ended, and whether it failed.
        ended: Option<bool>,
    },
    /// A word of the front end.
    Notice(Level, String),
}

/// Items that are finished; the newest wait to be printed.
#[derive(Debug, Clone, Default)]
pub struct Finished {
    items: VecDeque<Item>,
    unprinted: usize,
}

impl Finished {
    /// Adds one.
    pub fn push(&mut self, item: Item) {
        self.items.push_back(item);
        self.unprinted += 1;
        while self.items.len() > KEPT.max(self.unprinted) {
            self.items.pop_front();
        }
    }

    /// Those that wait to be printed; they are taken as printed from now on.
    pub fn take(&mut self) -> Vec<Item> {
        let from = self.items.len().saturating_sub(std::mem::take(&mut self.unprinted));
        self.items.iter().skip(from).cloned().collect()
    }

    /// Those that have been printed, oldest first.
    pub fn printed(&self) -> impl DoubleEndedIterator<Item = &Item> {
        self.items.iter().take(self.items.len().saturating_sub(self.unprinted))
    }
}
