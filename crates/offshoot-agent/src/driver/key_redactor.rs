//! Removes the model's key from output of tools and commands (`env`, a settings file) before it is shown, stored or
//! sent.

use serde_json::Value;

use crate::message::Block;
use crate::provider::Secret;
use crate::tool::ToolOutcome;

#[derive(Clone, Default)]
pub(super) struct KeyRedactor(Option<Secret>);

impl KeyRedactor {
    /// Ignores placeholders.
    pub(super) fn new(key: Option<Secret>) -> Self {
        Self(key.filter(Secret::is_telling))
    }

    pub(super) fn key(&self) -> Option<Secret> {
        self.0.clone()
    }

    pub(super) fn redact(&self, mut outcome: ToolOutcome) -> ToolOutcome {
        for block in &mut outcome.content {
            if let Block::Text { text, .. } = block {
                self.redact_text(text);
            }
        }
        outcome.details.iter_mut().for_each(|details| self.redact_value(details));
        outcome
    }

    fn redact_text(&self, text: &mut String) {
        if let Some(key) = &self.0
            && text.contains(key.expose().trim())
        {
            *text = key.mask(text);
        }
    }

    fn redact_value(&self, value: &mut Value) {
        match value {
            Value::String(text) => self.redact_text(text),
            Value::Array(values) => values.iter_mut().for_each(|value| self.redact_value(value)),
            Value::Object(members) => members.values_mut().for_each(|value| self.redact_value(value)),
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
        let shown = || ToolOutcome {
            details: Some(json!({"all": [{"content": format!("KEY={key}")}], "lines": 3})),
            ..ToolOutcome::text(format!("KEY={key}\nollama"))
        };
        let covered = KeyRedactor::new(Some(Secret::new(key))).redact(shown());
        assert_eq!(covered.content, ToolOutcome::text("KEY=…\nollama").content);
        assert_eq!(covered.details, Some(json!({"all": [{"content": "KEY=…"}], "lines": 3})));
        assert_eq!(KeyRedactor::new(Some(Secret::new("ollama"))).redact(shown()), shown());
    }
}
