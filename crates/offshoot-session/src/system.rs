//! System prompts of pi 0.87: messages that change each other, and their combination.

use crate::entry::text_of;
use crate::json::{Json, Object, quote};

#[derive(Debug, Default)]
pub(crate) struct Replay {
    seen: bool,
    content: Vec<String>,
    /// JSON values by name, in the order first named.
    sections: Vec<(String, String)>,
    /// JSON by name, in the order first added.
    tools: Vec<(String, String)>,
}

impl Replay {
    pub(crate) fn take(&mut self, message: Json<'_>) {
        self.seen = true;
        let text = message.get("content").map(|content| text_of(content, "\n")).unwrap_or_default();
        if !text.is_empty() {
            self.content.push(text);
        }
        for (name, value) in message.get("sections").map(Json::members).into_iter().flatten() {
            if value.is_null() {
                self.sections.retain(|(known, _)| *known != name);
            } else {
                put(&mut self.sections, name.into_owned(), value.text());
            }
        }
        let named = |list: &str| message.get(list).map(Json::items).into_iter().flatten();
        for tool in named("toolsRemoved") {
            if let Some(name) = tool.str("name") {
                self.tools.retain(|(known, _)| *known != name);
            }
        }
        for tool in named("toolsAdded") {
            if let Some(name) = tool.str("name") {
                put(&mut self.tools, name.into_owned(), tool.text());
            }
        }
    }

    /// One system message equal to all; `None` if there were none.
    pub(crate) fn finish(self, at: i64) -> Option<String> {
        if !self.seen {
            return None;
        }
        let mut object = Object::new().str("role", "system").raw("content", quote(&self.content.join("\n\n")));
        if !self.sections.is_empty() {
            let sections = self.sections.iter().fold(Object::new(), |all, (name, text)| all.raw(name, text));
            object = object.raw("sections", sections.finish());
        }
        if !self.tools.is_empty() {
            let tools: Vec<&str> = self.tools.iter().map(|(_, tool)| tool.as_str()).collect();
            object = object.raw("toolsAdded", format!("[{}]", tools.join(",")));
        }
        Some(object.raw("timestamp", at).finish())
    }
}

fn put(list: &mut Vec<(String, String)>, name: String, value: &str) {
    match list.iter_mut().find(|(known, _)| *known == name) {
        Some((_, known)) => value.clone_into(known),
        None => list.push((name, value.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn later_messages_add_and_take_away() {
        let mut replay = Replay::default();
        for message in [
            r#"{"content":"base","sections":{"a":"A","b":"B"},"toolsAdded":[{"name":"t1","v":1.0}]}"#,
            r#"{"content":"","sections":{"b":null,"c":"C"},"toolsAdded":[{"name":"t2"}],"toolsRemoved":[{"name":"t1"}]}"#,
            r#"{"content":[{"type":"text","text":"x"},{"type":"text","text":"y"}]}"#,
        ] {
            replay.take(Json::parse(message).unwrap());
        }
        assert_eq!(
            replay.finish(5).unwrap(),
            r#"{"role":"system","content":"base\n\nx\ny","sections":{"a":"A","c":"C"},"toolsAdded":[{"name":"t2"}],"timestamp":5}"#
        );
        assert_eq!(Replay::default().finish(5), None);
    }
}
