//! Half a surrogate pair in a stream: halves that meet are one character, others become U+FFFD. Knows no wire format.
//!
//! Strings cannot contain half a pair. From the event to the deltas, a private character that no text has is in its place.

use std::borrow::Cow;
use std::collections::BTreeMap;

use offshoot_session::json::strict_with;
use serde_json::Value;

use super::held_texts::TextFilter;
use super::{Answer, Delta};

/// The mark of the half U+D800; the others follow.
const FIRST_MARK: u32 = 0x10_F000;
const FIRST_HALF: u32 = 0xD800;
const FIRST_LOW: u32 = 0xDC00;
const LAST_HALF: u32 = 0xDFFF;

/// An event for a strict parser, with marks of halves. Without halves the text is never looked at again.
#[derive(Debug, Default)]
pub(super) struct HalfJoiner {
    has_marks: bool,
    /// The first halves at the end of blocks that may continue.
    waiting: BTreeMap<usize, char>,
}

impl HalfJoiner {
    pub(super) fn mark<'a>(&mut self, data: &'a str) -> Cow<'a, str> {
        strict_with(data, |half| {
            self.has_marks = true;
            char::from_u32(FIRST_MARK + (half - FIRST_HALF)).unwrap_or(char::REPLACEMENT_CHARACTER)
        })
    }

    /// The deltas without marks. The first half of a pair waits for more of its block.
    pub(super) fn join(&mut self, deltas: Vec<Delta>) -> Vec<Delta> {
        if !self.has_marks {
            return deltas;
        }
        deltas.into_iter().flat_map(|delta| self.filter(delta)).collect()
    }

    /// The message has every delta: a block that never ended gets its last half here.
    fn done(&mut self, mut answer: Answer) -> Vec<Delta> {
        use offshoot_protocol::message::Block;
        let content = &answer.message.content;
        let rest = std::mem::take(&mut self.waiting).into_keys().filter_map(|index| {
            let delta = char::REPLACEMENT_CHARACTER.to_string();
            match content.get(index)? {
                Block::Text { .. } => Some(Delta::Text { index, delta }),
                Block::Thinking { .. } => Some(Delta::Thinking { index, delta }),
                Block::ToolCall { .. } => Some(Delta::ToolCall { index, delta }),
                Block::Image { .. } => None,
            }
        });
        let rest: Vec<Delta> = rest.collect();
        // A message can always be written as JSON and read back.
        if let Ok(mut value) = serde_json::to_value(&answer.message) {
            join_within(&mut value);
            if let Ok(message) = serde_json::from_value(value) {
                answer.message = message;
            }
        }
        rest.into_iter().chain([Delta::Done(Box::new(answer))]).collect()
    }
}

impl TextFilter for HalfJoiner {
    fn more(&mut self, index: usize, text: &str) -> String {
        let mut whole: String = self.waiting.remove(&index).into_iter().collect();
        whole.push_str(text);
        if whole.chars().next_back().and_then(half).is_some_and(|half| half < FIRST_LOW) {
            self.waiting.extend(whole.pop().map(|last| (index, last)));
        }
        joined(&whole)
    }

    fn end(&mut self, index: usize) -> String {
        self.waiting.remove(&index).map(|_| char::REPLACEMENT_CHARACTER.to_string()).unwrap_or_default()
    }

    fn other(&mut self, delta: Delta) -> Vec<Delta> {
        match delta {
            Delta::ToolCallStart { index, id, name } => {
                vec![Delta::ToolCallStart { index, id: joined(&id), name: joined(&name) }]
            }
            Delta::LostEvent { what } => vec![Delta::LostEvent { what: joined(&what) }],
            Delta::Done(answer) => self.done(*answer),
            Delta::Start
            | Delta::TextStart { .. }
            | Delta::Text { .. }
            | Delta::TextEnd { .. }
            | Delta::ThinkingStart { .. }
            | Delta::Thinking { .. }
            | Delta::ThinkingEnd { .. }
            | Delta::ToolCall { .. }
            | Delta::ToolCallEnd { .. }
            | Delta::Usage(_) => vec![delta],
        }
    }
}

fn join_within(value: &mut Value) {
    match value {
        Value::String(text) => *text = joined(text),
        Value::Array(items) => items.iter_mut().for_each(join_within),
        Value::Object(members) => {
            let old = std::mem::take(members);
            members.extend(old.into_iter().map(|(name, mut value)| {
                join_within(&mut value);
                (joined(&name), value)
            }));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// The half that a mark stands for.
fn half(mark: char) -> Option<u32> {
    let half = u32::from(mark).checked_sub(FIRST_MARK)? + FIRST_HALF;
    (half <= LAST_HALF).then_some(half)
}

/// The text with characters in the place of marks.
fn joined(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(next) = rest.next() {
        let Some(first) = half(next) else {
            out.push(next);
            continue;
        };
        let second = rest.peek().copied().and_then(half).filter(|second| first < FIRST_LOW && *second >= FIRST_LOW);
        let pair =
            second.and_then(|second| char::from_u32(0x1_0000 + ((first - FIRST_HALF) << 10) + (second - FIRST_LOW)));
        if pair.is_some() {
            rest.next();
        }
        out.push(pair.unwrap_or(char::REPLACEMENT_CHARACTER));
    }
    out
}
