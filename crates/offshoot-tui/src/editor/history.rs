//! The history of prompts. Knows no file: lines go in and out.

use offshoot_session::json::{Json, Object};

/// Older prompts are dropped.
const KEPT: usize = 1000;

/// A prompt that was sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PastPrompt {
    /// As written.
    pub text: String,
    /// The folder of its session; `None` of prompts of earlier versions.
    pub folder: Option<String>,
}

impl PastPrompt {
    /// Reads a line of the history: an object, or of an earlier version the JSON of a text. `None` of a damaged line.
    #[must_use]
    pub fn of_line(line: &str) -> Option<Self> {
        let json = Json::parse(line).ok()?;
        match json.as_str() {
            Some(text) => Some(Self { text: text.into_owned(), folder: None }),
            None => Some(Self {
                text: json.str("prompt")?.into_owned(),
                folder: json.str("folder").map(std::borrow::Cow::into_owned),
            }),
        }
    }

    /// A line of the history, with its line feed.
    #[must_use]
    pub fn line(&self) -> String {
        Object::new().str("prompt", &self.text).opt_str("folder", self.folder.as_deref()).finish() + "\n"
    }
}

#[derive(Debug, Clone, Default)]
pub struct History {
    prompts: Vec<String>,
    /// The position, counted from the newest; `None` at the draft.
    back: Option<usize>,
    /// The text before the user went back.
    draft: String,
}

impl History {
    /// Reads lines, each with one prompt, oldest first. Other lines are ignored: a line cut off by a crash costs one prompt.
    #[must_use]
    pub fn read(lines: &str) -> Self {
        let mut history = Self::default();
        for prompt in lines.lines().filter_map(PastPrompt::of_line) {
            history.add(&prompt.text);
        }
        history
    }

    /// Adds a sent prompt; returns whether it differs from the one before.
    pub fn add(&mut self, prompt: &str) -> bool {
        self.leave();
        let prompt = prompt.trim();
        if prompt.is_empty() || self.prompts.last().is_some_and(|last| last == prompt) {
            return false;
        }
        self.prompts.push(prompt.to_owned());
        if self.prompts.len() > KEPT {
            self.prompts.remove(0);
        }
        true
    }

    pub(super) fn prompts(&self) -> &[String] {
        &self.prompts
    }

    pub(super) fn is_walked(&self) -> bool {
        self.back.is_some()
    }

    /// The shown prompt was edited: it becomes the draft.
    pub(super) fn leave(&mut self) {
        self.back = None;
        self.draft.clear();
    }

    /// The previous prompt; `now` is the current draft.
    pub(super) fn older(&mut self, now: &str) -> Option<&str> {
        let back = self.back.map_or(0, |back| back + 1);
        let prompt = self.prompts.iter().rev().nth(back)?;
        if self.back.is_none() {
            self.draft = now.to_owned();
        }
        self.back = Some(back);
        Some(prompt)
    }

    pub(super) fn newer(&mut self) -> Option<String> {
        match self.back? {
            0 => {
                self.back = None;
                Some(std::mem::take(&mut self.draft))
            }
            back => {
                self.back = Some(back - 1);
                self.prompts.iter().rev().nth(back - 1).cloned()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_go_in_and_out() {
        let line = |text: &str| PastPrompt { text: text.to_owned(), folder: Some("/w".to_owned()) }.line();
        // Earlier versions wrote the text alone.
        let lines = [line("one\ntwo \"x\""), "{\"torn".to_owned(), "\n7\n".to_owned(), "\"three\"\n".to_owned()];
        let mut history = History::read(&lines.concat());
        assert_eq!(history.older(""), Some("three"));
        assert_eq!(history.older(""), Some("one\ntwo \"x\""));
        assert_eq!(history.older(""), None);
    }

    #[test]
    fn what_was_being_written_comes_back() {
        let mut history = History::default();
        assert!(history.add("a"));
        assert!(!history.add(" a "));
        assert!(!history.add(""));
        assert!(history.add("b"));
        assert_eq!(history.newer(), None);
        assert_eq!(history.older("draft"), Some("b"));
        assert_eq!(history.older("b"), Some("a"));
        assert_eq!(history.newer().as_deref(), Some("b"));
        assert_eq!(history.newer().as_deref(), Some("draft"));
        assert!(!history.is_walked());
    }

    #[test]
    fn the_oldest_go() {
        let mut history = History::default();
        for number in 0..KEPT + 5 {
            history.add(&number.to_string());
        }
        assert_eq!(history.prompts.len(), KEPT);
        assert_eq!(history.prompts.first().map(String::as_str), Some("5"));
    }
}
