//! Calls of an answer that still streams: their arguments so far, and when an extension draws them again.

use offshoot_agent::lenient_json::unfinished;
use offshoot_protocol::Update;
use offshoot_session::clock::Millis;
use serde_json::{Value, json};

/// The shortest time between two drawings of streaming calls, in milliseconds.
const STEP: Millis = 50;
/// Of the time of a stream, one part of so many may be spent on drawing it.
const SHARE: Millis = 5;
/// Longer arguments are drawn again when they are complete.
const MAX_ARGUMENTS: usize = 128 << 10;
/// More calls of one answer are drawn when they are complete.
const MAX_CALLS: usize = 64;

#[derive(Default)]
pub(super) struct StreamingCalls {
    calls: Vec<StreamingCall>,
    /// When the next drawing may begin.
    next: Millis,
    /// Whether somebody waits for that.
    is_awaited: bool,
}

struct StreamingCall {
    /// Its place in the answer.
    at: usize,
    id: String,
    name: String,
    arguments: String,
    /// Whether more has come since it was drawn.
    is_stale: bool,
}

/// A call to draw, with its arguments so far.
#[derive(Debug, PartialEq)]
pub(super) struct DueCall {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) arguments: Value,
}

/// What an update of an answer asks for.
#[derive(Debug, PartialEq)]
pub(super) enum StreamStep {
    Nothing,
    /// A call begins: it is drawn before it is shown.
    Begins(DueCall),
    /// After so many milliseconds [`StreamingCalls::take_stale`] has calls to draw.
    Grows(u64),
}

impl StreamingCalls {
    /// Another answer begins, or this one is complete.
    pub(super) fn forget(&mut self) {
        self.calls.clear();
    }

    /// Whether this call still streams.
    pub(super) fn has(&self, id: &str) -> bool {
        self.calls.iter().any(|call| call.id == id)
    }

    /// Follows an answer.
    pub(super) fn follow(&mut self, update: &Update, now: Millis) -> StreamStep {
        match update {
            Update::ToolCallStart { content_index, id, tool_name } if self.calls.len() < MAX_CALLS => {
                let (id, name) = (id.clone(), tool_name.clone());
                let begun = DueCall { id: id.clone(), name: name.clone(), arguments: json!({}) };
                let call = StreamingCall { at: *content_index, id, name, arguments: String::new(), is_stale: false };
                self.calls.push(call);
                StreamStep::Begins(begun)
            }
            Update::ToolCallDelta { content_index, delta } => {
                let Some(call) = self.calls.iter_mut().find(|call| call.at == *content_index) else {
                    return StreamStep::Nothing;
                };
                if call.arguments.len() + delta.len() > MAX_ARGUMENTS {
                    self.calls.retain(|call| call.at != *content_index);
                    return StreamStep::Nothing;
                }
                call.arguments.push_str(delta);
                call.is_stale = true;
                if std::mem::replace(&mut self.is_awaited, true) {
                    return StreamStep::Nothing;
                }
                StreamStep::Grows(u64::try_from(self.next - now).unwrap_or(0))
            }
            _ => StreamStep::Nothing,
        }
    }

    /// The calls of which more has come since they were drawn.
    pub(super) fn take_stale(&mut self) -> Vec<DueCall> {
        self.is_awaited = false;
        let due = |call: &mut StreamingCall| {
            call.is_stale = false;
            let arguments = unfinished(&call.arguments).filter(Value::is_object).unwrap_or_else(|| json!({}));
            DueCall { id: call.id.clone(), name: call.name.clone(), arguments }
        };
        self.calls.iter_mut().filter(|call| call.is_stale).map(due).collect()
    }

    /// A drawing took from one time to another.
    pub(super) fn drawn(&mut self, began: Millis, ended: Millis) {
        self.next = ended + STEP.max((ended - began).max(0) * (SHARE - 1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn start(at: usize) -> Update {
        Update::ToolCallStart { content_index: at, id: format!("c{at}"), tool_name: "draw".to_owned() }
    }

    fn delta(at: usize, text: &str) -> Update {
        Update::ToolCallDelta { content_index: at, delta: text.to_owned() }
    }

    #[test]
    fn arguments_grow_and_drawings_leave_time_for_the_stream() {
        let mut calls = StreamingCalls::default();
        let begins = calls.follow(&start(1), 1_000);
        assert!(matches!(begins, StreamStep::Begins(call) if call.id == "c1" && call.arguments == json!({})));
        calls.drawn(1_000, 1_001);
        assert_eq!(calls.follow(&delta(1, r#"{"na"#), 1_011), StreamStep::Grows(40), "soon");
        assert_eq!(calls.follow(&delta(1, r#"me": "ab"#), 1_020), StreamStep::Nothing, "that is awaited already");
        let stale = calls.take_stale();
        assert_eq!(stale.first().map(|call| &call.arguments), Some(&json!({"name": "ab"})));
        calls.drawn(1_051, 1_151);
        assert_eq!(calls.take_stale(), []);
        assert_eq!(calls.follow(&delta(1, "c"), 1_500), StreamStep::Grows(51), "a slow drawing is not repeated soon");
        assert!(calls.has("c1") && calls.take_stale().len() == 1);
        assert_eq!(calls.follow(&delta(1, &"x".repeat(MAX_ARGUMENTS)), 9_000), StreamStep::Nothing);
        assert!(!calls.has("c1"), "too long");
        assert!(matches!(calls.follow(&start(2), 9_000), StreamStep::Begins(_)));
        calls.forget();
        assert_eq!(calls.follow(&delta(2, "{}"), 9_000), StreamStep::Nothing);
    }
}
