//! Rows that extensions drew for messages and tool calls, and texts that they show otherwise. They are foreign, and made before the message or the result is
//! shown.

use std::collections::VecDeque;

use offshoot_session::transcript::ItemPart;

/// Messages and calls whose rows are kept. Printed ones are not needed again, except by the reader.
const KEPT: usize = 500;

/// What extensions drew.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DrawnByExtensions {
    notes: VecDeque<(String, Foldable<Vec<String>>)>,
    calls: VecDeque<(String, Foldable<DrawnCall>)>,
    texts: VecDeque<(String, String)>,
}

/// The same in two forms.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct Foldable<T> {
    pub folded: T,
    pub open: T,
}

/// The rows of a call; `None` for a part that is shown as usual.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct DrawnCall {
    pub call: Option<Vec<String>>,
    pub result: Option<Vec<String>>,
}

impl<T> Foldable<T> {
    pub(super) fn form(&self, is_open: bool) -> &T {
        if is_open { &self.open } else { &self.folded }
    }
}

impl DrawnByExtensions {
    /// Keeps the rows of a message with this type and text.
    pub fn keep_note(&mut self, custom_type: &str, text: &str, rows: Foldable<Vec<String>>) {
        keep(&mut self.notes, key(custom_type, text), rows);
    }

    /// Keeps the rows of a call.
    pub fn keep_call(&mut self, id: String, rows: Foldable<DrawnCall>) {
        keep(&mut self.calls, id, rows);
    }

    /// Keeps what is shown in place of a text.
    pub fn keep_text(&mut self, text: String, shown: String) {
        keep(&mut self.texts, text, shown);
    }

    /// The text as it is shown.
    pub(super) fn shown<'a>(&'a self, text: &'a str) -> &'a str {
        self.texts.iter().rev().find(|(known, _)| known == text).map_or(text, |(_, shown)| shown)
    }

    pub(super) fn note(&self, label: &str, parts: &[ItemPart]) -> Option<&Foldable<Vec<String>>> {
        if self.notes.is_empty() {
            return None;
        }
        let text = |part: &ItemPart| if let ItemPart::Text(text) = part { Some(text.clone()) } else { None };
        let wanted = key(label, &parts.iter().filter_map(text).collect::<Vec<_>>().join("\n"));
        self.notes.iter().rev().find(|(known, _)| *known == wanted).map(|(_, rows)| rows)
    }

    pub(super) fn call(&self, id: &str) -> Option<&Foldable<DrawnCall>> {
        self.calls.iter().rev().find(|(known, _)| known == id).map(|(_, rows)| rows)
    }
}

fn key(custom_type: &str, text: &str) -> String {
    format!("{custom_type}\0{text}")
}

fn keep<T>(kept: &mut VecDeque<(String, T)>, name: String, rows: T) {
    kept.retain(|(known, _)| *known != name);
    if kept.len() >= KEPT {
        kept.pop_front();
    }
    kept.push_back((name, rows));
}
