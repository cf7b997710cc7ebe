//! The context at the end of a turn or a run, as the entries that an extension drafts would leave it. Reads no session.

use serde_json::{Value, json};

/// `entries` are those of the context with their messages, `queue` the texts that wait to be sent.
pub(crate) fn preview(mut entries: Vec<Value>, drafts: &[Value], queue: impl Iterator<Item = String>) -> Value {
    drafts.iter().for_each(|draft| apply(&mut entries, draft));
    let messages: Vec<&Value> = entries.iter().filter_map(|entry| entry["messages"].as_array()).flatten().collect();
    let pending: Vec<Value> =
        queue.map(|text| json!({"role": "user", "content": [{"type": "text", "text": text}]})).collect();
    let is_answered = messages.last().is_none_or(|last| last["role"] == "assistant");
    json!({
        "contextMessages": messages, "llmMessages": messages, "canContinue": !(pending.is_empty() && is_answered),
        "pendingMessages": pending, "contextEntries": entries
    })
}

fn apply(entries: &mut Vec<Value>, draft: &Value) {
    match draft["type"].as_str().unwrap_or_default() {
        "custom_message" => {
            let mut message = draft.clone();
            message["role"] = json!("custom");
            message.as_object_mut().into_iter().for_each(|message| drop(message.remove("type")));
            entries.push(json!({"sourceEntry": draft, "messages": [message]}));
        }
        "context_edit" => {
            let is_target = |entry: &&mut Value| entry["sourceEntry"]["id"] == draft["targetId"];
            for entry in entries.iter_mut().filter(is_target) {
                match draft["replacement"].get("content") {
                    Some(content) => entry["messages"][0]["content"] = content.clone(),
                    None => entry["messages"] = json!([]),
                }
            }
        }
        "compaction" => {
            let is_kept = |entry: &Value| entry["sourceEntry"]["id"] == draft["firstKeptEntryId"];
            let kept = entries.iter().position(is_kept).map_or_else(Vec::new, |at| entries.split_off(at));
            let summary = json!({"role": "compactionSummary", "summary": draft["summary"]});
            *entries = vec![json!({"sourceEntry": draft, "messages": [summary]})];
            entries.extend(kept);
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drafts_change_the_context() {
        let entry =
            |id: &str, role: &str| json!({"sourceEntry": {"id": id}, "messages": [{"role": role, "content": id}]});
        let entries = || vec![entry("a", "user"), entry("b", "assistant")];
        let roles = |drafts: &[Value]| {
            let preview = preview(entries(), drafts, std::iter::empty());
            let messages = preview["contextMessages"].as_array().unwrap().clone();
            let words: Vec<_> = messages.iter().map(|message| message["role"].as_str().unwrap().to_owned()).collect();
            (words.join(" "), preview["canContinue"] == true)
        };
        assert_eq!(roles(&[]), ("user assistant".to_owned(), false));
        let omitted = json!({"type": "context_edit", "targetId": "b", "replacement": null});
        assert_eq!(roles(&[omitted]), ("user".to_owned(), true));
        let said = json!({"type": "custom_message", "customType": "x", "content": "y", "display": true});
        assert_eq!(roles(&[said]), ("user assistant custom".to_owned(), true));
        let compaction = json!({"type": "compaction", "summary": "s", "firstKeptEntryId": "b"});
        assert_eq!(roles(&[compaction]), ("compactionSummary assistant".to_owned(), false));
    }
}
