//! What tools and commands show may hold the key of the model (`env`, a file of settings). It is taken out before anything
//! of it is told, stored or sent.

use serde_json::Value;

use crate::message::Block;
use crate::provider::Secret;
use crate::tool::{Outcome, is_telling};

/// What is not to be seen.
#[derive(Clone, Default)]
pub(super) struct Veil(Option<Secret>);

impl Veil {
    /// Hides a key.
    pub(super) fn new(key: Option<Secret>) -> Self {
        Self(key.filter(is_telling))
    }

    /// What it hides.
    pub(super) fn key(&self) -> Option<Secret> {
        self.0.clone()
    }

    /// An outcome without the key.
    pub(super) fn outcome(&self, mut outcome: Outcome) -> Outcome {
        for block in &mut outcome.content {
            if let Block::Text { text, .. } = block {
                self.cover(text);
            }
        }
        outcome.details.iter_mut().for_each(|details| self.value(details));
        outcome
    }

    /// A text without the key.
    pub(super) fn cover(&self, text: &mut String) {
        if let Some(key) = &self.0
            && text.contains(key.expose().trim())
        {
            *text = key.mask(text);
        }
    }

    fn value(&self, value: &mut Value) {
        match value {
            Value::String(text) => self.cover(text),
            Value::Array(values) => values.iter_mut().for_each(|value| self.value(value)),
            Value::Object(members) => members.values_mut().for_each(|value| self.value(value)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn keys_are_covered_and_words_are_not() {
        let key = "sk-0123456789-0123456789";
        let shown = || Outcome {
            details: Some(json!({"all": [{"content": format!("KEY={key}")}], "lines": 3})),
            ..Outcome::text(format!("KEY={key}\nollama"))
        };
        let covered = Veil::new(Some(Secret::new(key))).outcome(shown());
        assert_eq!(covered.content, Outcome::text("KEY=…\nollama").content);
        assert_eq!(covered.details, Some(json!({"all": [{"content": "KEY=…"}], "lines": 3})));
        assert_eq!(Veil::new(Some(Secret::new("ollama"))).outcome(shown()), shown());
    }
}
