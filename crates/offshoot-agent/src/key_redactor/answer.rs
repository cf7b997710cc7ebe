//! Removes keys from an answer while it streams. Its server knows the key in use; the session and other servers must not
//! get it.

use std::collections::BTreeMap;

use offshoot_protocol::message::AssistantMessage;

use super::KeyRedactor;
use crate::provider::{Delta, TextFilter};
use crate::tool::Hide;

pub(crate) struct AnswerRedactor {
    redactor: KeyRedactor,
    /// The beginnings of keys that were held back, by block.
    blocks: BTreeMap<usize, Hide>,
}

impl AnswerRedactor {
    pub(crate) fn new(redactor: KeyRedactor) -> Self {
        Self { redactor, blocks: BTreeMap::new() }
    }

    fn redact(&self, message: &mut AssistantMessage) {
        self.redactor.redact_blocks(&mut message.content);
        // The rest: ids, names, errors. A message can always be written as JSON and read back.
        let Ok(mut value) = serde_json::to_value(&*message) else { return };
        if self.redactor.redact_value(&mut value)
            && let Ok(redacted) = serde_json::from_value(value)
        {
            *message = redacted;
        }
    }
}

impl TextFilter for AnswerRedactor {
    fn more(&mut self, index: usize, text: &str) -> String {
        let hide = self.blocks.entry(index).or_insert_with(|| Hide::new(self.redactor.keys()));
        // Nothing is cut within a character: keys begin at one.
        String::from_utf8_lossy(&hide.push(text.as_bytes())).into_owned()
    }

    fn end(&mut self, index: usize) -> String {
        let held = self.blocks.remove(&index).map(|mut hide| hide.finish()).unwrap_or_default();
        String::from_utf8_lossy(&held).into_owned()
    }

    fn other(&mut self, mut delta: Delta) -> Vec<Delta> {
        match &mut delta {
            Delta::Done(answer) => self.redact(&mut answer.message),
            // What could not be read is shown in the server's words.
            Delta::LostEvent { what } => *what = self.redactor.redact_text(std::mem::take(what)),
            Delta::ToolCallStart { id, name, .. } => {
                for text in [id, name] {
                    *text = self.redactor.redact_text(std::mem::take(text));
                }
            }
            _ => {}
        }
        vec![delta]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider::Answer;
    use offshoot_protocol::message::Block;
    use offshoot_protocol::model::Model;
    use offshoot_protocol::{MASK, Secret, Secrets};
    use serde_json::json;

    const KEY: &str = "sk-0123456789-0123456789";

    /// A server that sent its key back as an answer had it in the session, and so in the requests to other servers.
    #[test]
    fn no_part_of_an_answer_contains_a_key() {
        let mut redactor = AnswerRedactor::new(KeyRedactor(Secrets::new([Secret::new(KEY)])));
        let (begin, rest) = KEY.split_at(7);
        let mut shown = String::new();
        for delta in [
            Delta::TextStart { index: 0 },
            Delta::Text { index: 0, delta: format!("it is {begin}") },
            Delta::Text { index: 0, delta: format!("{rest}! or sk-0é") },
            Delta::TextEnd { index: 0 },
            Delta::ToolCall { index: 1, delta: format!("{{\"command\": \"echo {KEY}") },
        ] {
            for delta in redactor.filter(delta) {
                if let Delta::Text { delta, .. } | Delta::ToolCall { delta, .. } = delta {
                    shown += &delta;
                }
            }
        }
        assert_eq!(shown, format!("it is {MASK}! or sk-0é{{\"command\": \"echo {MASK}"));
        for delta in [
            Delta::LostEvent { what: format!("no JSON: bad key {KEY}") },
            Delta::ToolCallStart { index: 2, id: KEY.to_owned(), name: format!("x{KEY}") },
        ] {
            let told = format!("{:?}", redactor.filter(delta));
            assert!(!told.contains(KEY) && told.contains(MASK), "{told}");
        }
        let thought = |thinking: &str| Block::Thinking {
            thinking: thinking.to_owned(),
            thinking_signature: Some("s".to_owned()),
            redacted: None,
        };
        let mut message = Model::default().blank_answer(0);
        message.content = vec![
            thought(KEY),
            thought("other"),
            Block::ToolCall {
                id: KEY.to_owned(),
                name: "bash".to_owned(),
                arguments: json!({"command": format!("echo {KEY}")}),
                arguments_error: None,
                thought_signature: None,
            },
        ];
        let done = redactor.filter(Delta::Done(Box::new(Answer { message, failure: None })));
        let [Delta::Done(answer)] = done.as_slice() else { panic!("{done:?}") };
        let text = serde_json::to_string(&answer.message).unwrap();
        assert!(!text.contains(KEY) && text.matches(MASK).count() == 3, "{text}");
        assert_eq!(text.matches("thinkingSignature").count(), 1, "{text}");
    }
}
