//! Finds errors in a conversation before it is sent: calls without results, results without calls.

use offshoot_protocol::message::{Block, Message};

/// What a provider would refuse.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The index of the message.
    pub message: usize,
    /// As a clause.
    pub what: String,
}

/// Finds what a provider would refuse; nothing in a valid conversation.
///
/// Every call of an assistant message must be answered, once, before the next message; every result must answer such a
/// call; failed and aborted answers do not count. Ids and names that a provider would refuse are not problems: each
/// request has others in their place.
pub fn problems(messages: &[Message]) -> Vec<Problem> {
    let mut found = Vec::new();
    let mut open: Vec<(usize, &str)> = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        match message {
            Message::ToolResult(result) => match open.iter().position(|(_, id)| *id == result.tool_call_id) {
                Some(place) => {
                    open.remove(place);
                }
                None => {
                    let what = format!("the result is of call `{}`, which is not open", result.tool_call_id);
                    found.push(Problem { message: at, what });
                }
            },
            Message::User(_) | Message::Custom(_) => close(&mut open, &mut found),
            Message::Assistant(answer) => {
                close(&mut open, &mut found);
                if !answer.stop_reason.is_complete() {
                    found.push(Problem { message: at, what: "the answer failed or was stopped".to_owned() });
                    continue;
                }
                for block in &answer.content {
                    if let Block::ToolCall { id, .. } = block {
                        open.push((at, id));
                    }
                }
            }
        }
    }
    close(&mut open, &mut found);
    found
}

fn close(open: &mut Vec<(usize, &str)>, found: &mut Vec<Problem>) {
    let problem = |(message, id)| Problem { message, what: format!("call `{id}` has no result") };
    found.extend(open.drain(..).map(problem));
}
