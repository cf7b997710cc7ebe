//! Estimates tokens as pi does: characters divided by four. Characters are UTF-16 units, as in the peers.

use crate::json::{Json, JsonKind, stringify};

/// An image counts as this many characters (pi 0.87).
const IMAGE_CHARS: u64 = 4800;

/// What a part of a message is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names of the others say what they are")]
pub enum MessagePart {
    /// What the person wrote.
    Prompt,
    Answer,
    Thinking,
    /// A tool call's name and arguments.
    Call,
    Result,
    Picture,
    /// A command of the person, with its output.
    Command,
    Summary,
    /// A message of an extension.
    Note,
    /// A stored system prompt.
    System,
}

impl MessagePart {
    /// All of them, in the order of a list.
    pub const ALL: [Self; 10] = [
        Self::Prompt,
        Self::Answer,
        Self::Thinking,
        Self::Call,
        Self::Result,
        Self::Picture,
        Self::Command,
        Self::Summary,
        Self::Note,
        Self::System,
    ];
}

/// The tokens of one message.
pub fn estimate(message: Json<'_>) -> u64 {
    let mut chars = 0;
    each_part(message, &mut |_, more| chars += more);
    chars.div_ceil(4)
}

/// Adds the tokens of the parts of one message; together they are its [`estimate`].
pub fn estimate_parts(message: Json<'_>, add: &mut dyn FnMut(MessagePart, u64)) {
    let mut chars = 0_u64;
    each_part(message, &mut |part, more| {
        let before = chars.div_ceil(4);
        chars += more;
        add(part, chars.div_ceil(4) - before);
    });
}

/// The characters of each part of a message.
fn each_part(message: Json<'_>, add: &mut dyn FnMut(MessagePart, u64)) {
    let [content, role] = message.pick(["content", "role"]);
    match role.and_then(Json::as_str).as_deref() {
        Some("user" | "developer") => text_and_images(content, MessagePart::Prompt, add),
        Some("toolResult") => text_and_images(content, MessagePart::Result, add),
        Some("custom" | "hookMessage") => text_and_images(content, MessagePart::Note, add),
        Some("assistant") => content.into_iter().for_each(|content| assistant(content, add)),
        Some("bashExecution") => {
            add(MessagePart::Command, member_chars(message, "command") + member_chars(message, "output"));
        }
        Some("branchSummary" | "compactionSummary") => add(MessagePart::Summary, member_chars(message, "summary")),
        Some("system") => {
            let sections = message.get("sections").map(Json::members).into_iter().flatten();
            let sections: u64 = sections.filter_map(|(_, text)| text.as_str()).map(|text| units(&text)).sum();
            let tools = message.get("toolsAdded").map_or(0, |tools| units(&stringify(tools)));
            add(MessagePart::System, sections + tools);
            text_and_images(content, MessagePart::System, add);
        }
        _ => {}
    }
}

/// The tokens of a summary in a context.
pub fn estimate_summary(text: &str) -> u64 {
    units(text).div_ceil(4)
}

fn units(text: &str) -> u64 {
    if text.is_ascii() { text.len() as u64 } else { text.encode_utf16().count() as u64 }
}

fn member_chars(message: Json<'_>, name: &str) -> u64 {
    chars(message.get(name))
}

fn chars(text: Option<Json<'_>>) -> u64 {
    text.and_then(Json::as_str).map_or(0, |text| units(&text))
}

fn text_and_images(content: Option<Json<'_>>, part: MessagePart, add: &mut dyn FnMut(MessagePart, u64)) {
    let Some(content) = content else { return };
    if content.kind() == JsonKind::String {
        return add(part, content.as_str().map_or(0, |text| units(&text)));
    }
    content.items().for_each(|block| {
        let [kind, text] = block.pick(["type", "text"]);
        match kind.and_then(Json::as_str).as_deref() {
            Some("text") => add(part, chars(text)),
            Some("image") => add(MessagePart::Picture, IMAGE_CHARS),
            _ => {}
        }
    });
}

fn assistant(content: Json<'_>, add: &mut dyn FnMut(MessagePart, u64)) {
    content.items().for_each(|block| {
        let [kind, text, thinking, name, arguments] = block.pick(["type", "text", "thinking", "name", "arguments"]);
        match kind.and_then(Json::as_str).as_deref() {
            Some("text") => add(MessagePart::Answer, chars(text)),
            Some("thinking") => add(MessagePart::Thinking, chars(thinking)),
            Some("toolCall") => {
                let arguments = arguments.map_or(0, |arguments| units(&stringify(arguments)));
                add(MessagePart::Call, chars(name) + arguments);
            }
            _ => {}
        }
    });
}

/// A provider's usage report for one message.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[expect(missing_docs, reason = "the names of the others say what they are; all are tokens")]
pub struct Usage {
    pub input: u64,
    pub output: u64,
    pub cache_read: u64,
    pub cache_write: u64,
    /// The reported total, else the sum.
    pub total: u64,
    /// In dollars.
    pub cost: f64,
}

impl Usage {
    /// The tokens of the request: all but the answer.
    pub fn prompt(&self) -> u64 {
        self.input + self.cache_read + self.cache_write
    }

    /// Reads a `usage` object; numbers that are missing or that no provider can mean are 0.
    pub fn read(usage: Json<'_>) -> Self {
        let mut read = Self::default();
        for (name, value) in usage.members() {
            let count = || plausible(Some(value)).max(0.0) as u64;
            match name.as_ref() {
                "input" => read.input = count(),
                "output" => read.output = count(),
                "cacheRead" => read.cache_read = count(),
                "cacheWrite" => read.cache_write = count(),
                "totalTokens" => read.total = count(),
                "cost" => read.cost = plausible(value.get("total")),
                _ => {}
            }
        }
        if read.total == 0 {
            let parts = [read.input, read.output, read.cache_read, read.cache_write];
            read.total = parts.into_iter().fold(0, u64::saturating_add);
        }
        read
    }
}

/// More than any provider counts. Sums of larger numbers would overflow.
const MOST: f64 = 1e12;

fn plausible(number: Option<Json<'_>>) -> f64 {
    number.and_then(Json::as_f64).filter(|number| number.abs() <= MOST).unwrap_or(0.0)
}

/// The total that a provider reported with a message, if its turn did not fail.
pub(crate) fn reported(message: Json<'_>) -> Option<u64> {
    let total = reported_usage(message)?.total;
    (total > 0).then_some(total)
}

/// What a provider reported with a message, if its turn did not fail.
pub(crate) fn reported_usage(message: Json<'_>) -> Option<Usage> {
    let is_assistant = message.str("role").is_some_and(|role| role == "assistant");
    if !is_assistant || matches!(message.str("stopReason").as_deref(), Some("aborted" | "error")) {
        return None;
    }
    Some(Usage::read(message.get("usage")?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_that_no_provider_can_mean_is_none() {
        let usage = |text: &str| Usage::read(Json::parse(text).unwrap());
        let odd = usage(r#"{"input":18446744073709551615,"output":-1,"totalTokens":1e999,"cost":{"total":1e999}}"#);
        assert_eq!(odd, Usage::default());
        assert_eq!(usage(r#"{"input":3,"totalTokens":1e13}"#).total, 3);
    }

    #[test]
    fn estimates_are_pis() {
        for (message, tokens) in [
            (r#"{"role":"user","content":"abcde"}"#, 2),
            (r#"{"role":"user","content":[{"type":"text","text":"abcde"},{"type":"image","data":""}]}"#, 1202),
            (r#"{"role":"toolResult","content":[{"type":"image"}]}"#, 1200),
            (r#"{"role":"assistant","content":[{"type":"toolCall","name":"bash","arguments":{"command":"ls"}}]}"#, 5),
            (r#"{"role":"bashExecution","command":"ls","output":"abc"}"#, 2),
            (r#"{"role":"user","content":"😀😀"}"#, 1),
            (r#"{"role":"developer","content":"abcde"}"#, 2),
            (r#"{"role":"novel","content":"abcde"}"#, 0),
        ] {
            assert_eq!(estimate(Json::parse(message).unwrap()), tokens, "{message}");
            let mut sum = 0;
            estimate_parts(Json::parse(message).unwrap(), &mut |_, tokens| sum += tokens);
            assert_eq!(sum, tokens, "the parts of {message}");
        }
    }

    #[test]
    fn an_answer_has_thinking_words_and_calls() {
        let message = r#"{"role":"assistant","content":[{"type":"thinking","thinking":"abcde"},{"type":"text","text":"abcde"},{"type":"toolCall","name":"ls","arguments":{}}]}"#;
        let mut parts = Vec::new();
        estimate_parts(Json::parse(message).unwrap(), &mut |part, tokens| parts.push((part, tokens)));
        assert_eq!(parts, [(MessagePart::Thinking, 2), (MessagePart::Answer, 1), (MessagePart::Call, 1)]);
    }
}
