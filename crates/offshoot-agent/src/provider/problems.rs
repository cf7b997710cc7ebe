//! Finds errors in a conversation before it is sent: calls without results, results without calls.

use crate::message::{Block, Message};

/// Describes what a provider would refuse; empty for a valid conversation.
///
/// Every call of an assistant message must be answered, once, before the next message; every result must answer such a
/// call; failed and aborted answers do not count. Ids and names that a provider would refuse are not problems: each
/// request has others in their place.
pub fn problems(messages: &[Message]) -> Vec<String> {
    let mut found = Vec::new();
    let mut open: Vec<&str> = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        match message {
            Message::ToolResult(result) => match open.iter().position(|id| *id == result.tool_call_id) {
                Some(place) => {
                    open.remove(place);
                }
                None => {
                    found.push(format!("message {at}: result of call `{}`, which is not open", result.tool_call_id));
                }
            },
            Message::User(_) | Message::Custom(_) => close(&mut open, at, &mut found),
            Message::Assistant(answer) => {
                close(&mut open, at, &mut found);
                if !answer.stop_reason.is_complete() {
                    found.push(format!("message {at}: an answer that failed or was stopped"));
                    continue;
                }
                for block in &answer.content {
                    if let Block::ToolCall { id, .. } = block {
                        open.push(id);
                    }
                }
            }
        }
    }
    close(&mut open, messages.len(), &mut found);
    found
}

fn close(open: &mut Vec<&str>, at: usize, found: &mut Vec<String>) {
    found.extend(open.drain(..).map(|id| format!("before message {at}: call `{id}` has no result")));
}
