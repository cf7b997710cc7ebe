//! The calls of an answer as the session records them: each has an id that no other call of the answer has, and its
//! arguments are an object. Names stay as the model wrote them. Knows no wire format.

use offshoot_protocol::message::{AssistantMessage, Block};
use serde_json::{Map, Value};

use crate::call_arguments;

/// The part of an id that names the call: servers of the Responses format add the item after a `|`.
pub(crate) fn call_part(id: &str) -> &str {
    id.split_once('|').map_or(id, |(call, _)| call)
}

/// The id under which a call is recorded: its own, or one that is made if it has none or another call has it.
pub(crate) fn own_id(id: &str, content: &[Block], timestamp: i64) -> String {
    let is_taken = |wanted: &str| {
        content.iter().any(|block| match block {
            Block::ToolCall { id, .. } => call_part(id) == call_part(wanted),
            Block::Text { .. } | Block::Thinking { .. } | Block::Image { .. } => false,
        })
    };
    if !call_part(id).trim().is_empty() && !is_taken(id) {
        return id.to_owned();
    }
    let item = id.split_once('|').map(|(_, item)| format!("|{item}")).unwrap_or_default();
    let made = (content.len()..).map(|number| format!("call_{timestamp}_{number}{item}"));
    made.into_iter().find(|made| !is_taken(made)).unwrap_or_default()
}

/// Makes the calls of an answer from elsewhere what a session may record.
pub(crate) fn settle(message: &mut AssistantMessage) {
    let timestamp = message.timestamp;
    for at in 0..message.content.len() {
        let (before, rest) = message.content.split_at_mut(at);
        let Some(Block::ToolCall { id, arguments, arguments_error, .. }) = rest.first_mut() else { continue };
        *id = own_id(id, before, timestamp);
        if !arguments.is_object() {
            let text = std::mem::replace(arguments, Value::Object(Map::new())).to_string();
            match call_arguments::parse(&text) {
                Ok(whole) => *arguments = Value::Object(whole),
                Err(error) => _ = arguments_error.get_or_insert(error),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use offshoot_protocol::model::Model;
    use serde_json::json;

    #[test]
    fn ids_are_made_where_they_are_missing_or_repeated() {
        let mut message = Model::default().blank_answer(7);
        let ids = ["", "a", "a", "|fc_1", "a|fc_2", " ", "call_7_5", "b|fc_3"];
        message.content = ids.iter().map(|id| Block::call(*id, "ls")).collect();
        settle(&mut message);
        let ids = message.content.iter().map(|block| match block {
            Block::ToolCall { id, .. } => id.as_str(),
            other => panic!("{other:?}"),
        });
        let made = ["call_7_0", "a", "call_7_2", "call_7_3|fc_1", "call_7_4|fc_2", "call_7_5", "call_7_6", "b|fc_3"];
        assert_eq!(ids.collect::<Vec<_>>(), made);
    }

    #[test]
    fn arguments_that_are_no_object_are_an_error() {
        let mut message = Model::default().blank_answer(7);
        for value in [json!(null), json!([1]), json!("{}")] {
            let Block::ToolCall { id, name, .. } = Block::call("c", "ls") else { return };
            let call = Block::ToolCall { id, name, arguments: value, arguments_error: None, thought_signature: None };
            message.content = vec![call];
            settle(&mut message);
            let [Block::ToolCall { arguments, arguments_error: Some(error), .. }] = &message.content[..] else {
                panic!("{message:?}")
            };
            assert!(*arguments == json!({}) && error.contains("a JSON object"), "{error}");
        }
    }
}
