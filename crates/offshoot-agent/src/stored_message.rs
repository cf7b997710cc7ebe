//! Stored messages as messages of the agent, whatever other programs and accidents have made of their members.
//!
//! A member of another type counts as missing, and a block that says nothing is left out: no entry makes a conversation unusable. Nothing of
//! this is stored. Knows no session.

use offshoot_protocol::message::{AssistantMessage, Block, Message, Usage};
use serde_json::{Map, Value, json};

use crate::lenient_json;

/// More tokens than any provider counts.
const MOST: u64 = 1_000_000_000_000;
/// Members that a message must have, and texts that it may have.
const REQUIRED: [&str; 6] = ["api", "provider", "model", "toolCallId", "toolName", "customType"];
const OPTIONAL: [&str; 2] = ["responseId", "errorMessage"];
/// Members of blocks that other programs leave out or write differently.
const SIGNATURES: [&str; 4] = ["textSignature", "thinkingSignature", "thoughtSignature", "argumentsError"];

/// Reads a message of a known role.
///
/// # Errors
/// The text is not JSON, or the role is none of a conversation's.
pub(crate) fn read_message(json: &str) -> Result<Message, serde_json::Error> {
    let read = lenient_json::from_str(json).or_else(|_| {
        let mut value: Value = lenient_json::from_str(json)?;
        if let Some(message) = value.as_object_mut() {
            mend(message);
        }
        serde_json::from_value(value)
    })?;
    Ok(without_odd_usage(read))
}

/// A report that no provider can mean is none: sums of such overflow.
fn without_odd_usage(message: Message) -> Message {
    if let Message::Assistant(answer) = &message {
        let Usage { input, output, cache_read, cache_write, cache_write_1h, total_tokens, .. } = answer.usage;
        if [input, output, cache_read, cache_write, cache_write_1h, total_tokens].into_iter().any(|count| count > MOST)
        {
            return AssistantMessage { usage: Usage::default(), ..AssistantMessage::clone(answer) }.into();
        }
    }
    message
}

fn mend(message: &mut Map<String, Value>) {
    if message.get("role").is_some_and(|role| role == "developer") {
        message.insert("role".to_owned(), json!("user"));
    }
    for name in REQUIRED {
        if !message.get(name).is_some_and(Value::is_string) {
            message.insert(name.to_owned(), json!(""));
        }
    }
    let is_reason =
        |reason: &Value| matches!(reason.as_str(), Some("stop" | "length" | "toolUse" | "error" | "aborted"));
    if !message.get("stopReason").is_some_and(is_reason) {
        message.insert("stopReason".to_owned(), json!("stop"));
    }
    if !message.get("isError").is_some_and(Value::is_boolean) {
        message.insert("isError".to_owned(), json!(false));
    }
    keep_if(message, "display", Value::is_boolean);
    keep_if(message, "timestamp", Value::is_i64);
    keep_if(message, "usage", |usage| serde_json::from_value::<Usage>(usage.clone()).is_ok());
    OPTIONAL.iter().for_each(|name| keep_if(message, name, Value::is_string));
    let is_user = message.get("role").is_some_and(|role| role == "user" || role == "custom");
    let content = message.insert("content".to_owned(), Value::Null).unwrap_or_default();
    let content = match content {
        Value::String(text) if is_user => json!(text),
        Value::Array(blocks) => json!(blocks.into_iter().filter_map(read_block).collect::<Vec<_>>()),
        one => json!(read_block(one).filter(|block| block.as_text().is_some()).into_iter().collect::<Vec<_>>()),
    };
    message.insert("content".to_owned(), content);
}

/// Words alone are a text. Other values that are not blocks say nothing.
fn read_block(value: Value) -> Option<Block> {
    match value {
        Value::String(text) => Some(Block::text(text)),
        Value::Object(mut block) => {
            SIGNATURES.iter().for_each(|name| keep_if(&mut block, name, Value::is_string));
            keep_if(&mut block, "redacted", Value::is_boolean);
            match block.get("type").and_then(Value::as_str) {
                Some("toolCall") => {
                    for name in ["id", "name"]
                        .into_iter()
                        .filter(|name| !block.get(*name).is_some_and(Value::is_string))
                        .collect::<Vec<_>>()
                    {
                        block.insert(name.to_owned(), json!(""));
                    }
                    block.entry("arguments").or_insert_with(|| json!({}));
                }
                Some("thinking") if !block.get("thinking").is_some_and(Value::is_string) => {
                    block.insert("thinking".to_owned(), json!(""));
                }
                _ => {}
            }
            serde_json::from_value(Value::Object(block)).ok()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => None,
    }
}

fn keep_if(members: &mut Map<String, Value>, name: &str, is_fine: impl Fn(&Value) -> bool) {
    if members.get(name).is_some_and(|value| !is_fine(value)) {
        members.shift_remove(name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(message: &Value) -> Value {
        serde_json::to_value(read_message(&message.to_string()).unwrap()).unwrap()
    }

    #[test]
    fn members_of_another_type_count_as_missing() {
        let odd = json!({
            "role": "assistant", "content": null, "api": 1, "provider": null, "model": [], "stopReason": "novel", "usage": {"input": -1},
            "timestamp": 1.5, "errorMessage": {}, "responseId": 7
        });
        let read = read(&odd);
        assert_eq!(
            (&read["content"], &read["api"], &read["stopReason"], &read["timestamp"]),
            (&json!([]), &json!(""), &json!("stop"), &json!(0))
        );
        assert_eq!(
            (read["usage"]["input"].clone(), read.get("errorMessage"), read.get("responseId")),
            (json!(0), None, None)
        );
    }

    #[test]
    fn content_is_a_list_of_the_blocks_that_say_something() {
        for (content, expected) in [
            (json!("said"), json!([{"type": "text", "text": "said"}])),
            (json!(["said", 1, null, [[]], {"type": "novel"}]), json!([{"type": "text", "text": "said"}])),
            (json!({"type": "text", "text": "said", "textSignature": 5}), json!([{"type": "text", "text": "said"}])),
            (
                json!([{"type": "toolCall", "id": null}]),
                json!([{"type": "toolCall", "id": "", "name": "", "arguments": {}}]),
            ),
            (json!([{"type": "thinking", "redacted": 1}]), json!([{"type": "thinking", "thinking": ""}])),
        ] {
            let read = read(
                &json!({"role": "toolResult", "toolCallId": "c", "toolName": "t", "isError": "no", "content": content}),
            );
            assert_eq!((&read["content"], &read["isError"]), (&expected, &json!(false)));
        }
        let user = read(&json!({"role": "developer", "content": "said", "timestamp": null}));
        assert_eq!(user, json!({"role": "user", "content": "said", "timestamp": 0}));
    }

    #[test]
    fn a_report_that_no_provider_can_mean_is_none() {
        let huge = json!({"role": "assistant", "content": [], "usage": {"input": u64::MAX, "output": 1}});
        assert_eq!(read(&huge)["usage"]["output"], json!(0));
    }

    #[test]
    fn half_a_character_is_replaced() {
        let message = read_message(r#"{"role":"user","content":"a\ud83d","\ud83d":1,"timestamp":1e999}"#).unwrap();
        assert_eq!(serde_json::to_value(message).unwrap()["content"], json!("a\u{fffd}"));
    }
}
