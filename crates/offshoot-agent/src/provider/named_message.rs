//! Finds the message that a provider means when it refuses a request and names a place in its body, such as
//! `messages.3.content.1`. Knows no session.

use serde_json::Value;

use super::wire::Api;
use super::{Request, anthropic, bedrock, completions, google, mistral, responses};

/// The separators between a list's name and an index, as providers and compatible servers write them.
const JOINTS: &[&str] = &[".[", "[", ".", "/", " -> ", "\", ", "\",", "', ", "',"];
/// An index with more digits is none.
const MAX_DIGITS: usize = 6;

/// A place in the list of a body: the item, and the part of its content if that is named, too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct NamedPlace {
    item: usize,
    part: Option<usize>,
}

/// The index in `request` of the message that is named in the words of a refusal. `None` if none is named, or the body has
/// no such place.
///
/// A body has other items than the request has messages. Each beginning of the request makes the beginning of the body;
/// the message is the first with which the named place is as it was sent.
pub(crate) fn named_message(request: &Request, said: &str) -> Option<usize> {
    let api = Api::parse(&request.model.api)?;
    let place = named_place(api, said)?;
    let sent = part_at(&items(api, request), place)?;
    let mut beginning = Request { messages: Vec::new(), ..request.clone() };
    let mut is_there = |count: usize| {
        beginning.messages = request.messages.get(..count).unwrap_or_default().to_vec();
        part_at(&items(api, &beginning), place).is_some_and(|part| part == sent)
    };
    if is_there(0) {
        // The system prompt.
        return None;
    }
    let (mut without, mut with) = (0, request.messages.len());
    while with - without > 1 {
        let middle = without + (with - without) / 2;
        if is_there(middle) { with = middle } else { without = middle }
    }
    with.checked_sub(1)
}

fn items(api: Api, request: &Request) -> Vec<Value> {
    match api {
        Api::Anthropic => anthropic::messages(request),
        Api::Responses => responses::items(request),
        Api::Completions => completions::items(request),
        Api::Google => google::contents(request),
        Api::Mistral => mistral::items(request),
        Api::Bedrock => bedrock::messages(request),
    }
}

/// The named part, or the whole item if it has no such part.
fn part_at(items: &[Value], NamedPlace { item, part }: NamedPlace) -> Option<Value> {
    let item = items.get(item)?;
    let parts = || item.get("content").or_else(|| item.get("parts"));
    Some(part.and_then(|part| parts()?.get(part)).unwrap_or(item).clone())
}

/// The first place that is named. The list's name depends on the wire format.
fn named_place(api: Api, said: &str) -> Option<NamedPlace> {
    let list = match api {
        Api::Anthropic | Api::Completions | Api::Mistral | Api::Bedrock => "messages",
        Api::Responses => "input",
        Api::Google => "contents",
    };
    let (item, rest) = indexed(said, list)?;
    // The part is named in the same breath.
    let breath = rest.get(..rest.find(char::is_whitespace).unwrap_or(rest.len())).unwrap_or_default();
    let part = indexed(breath, "content").or_else(|| indexed(breath, "parts")).map(|(part, _)| part);
    Some(NamedPlace { item, part })
}

/// The index after the name of a list, and the words after it.
fn indexed<'a>(said: &'a str, list: &str) -> Option<(usize, &'a str)> {
    let whole = |at: &usize| !said.get(..*at).unwrap_or_default().ends_with(|c: char| c.is_alphanumeric() || c == '_');
    let after = |at: usize| {
        let rest = said.get(at + list.len()..)?;
        let rest = JOINTS.iter().find_map(|joint| rest.strip_prefix(joint))?;
        let (digits, rest) = rest.split_at(rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len()));
        Some((digits.parse().ok().filter(|_| digits.len() <= MAX_DIGITS)?, rest))
    };
    said.match_indices(list).map(|(at, _)| at).filter(whole).find_map(after)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use offshoot_protocol::ThinkingLevel;
    use offshoot_protocol::message::{AssistantMessage, Block, Message, StopReason, ToolResultMessage, UserMessage};
    use offshoot_protocol::model::Model;

    use super::*;
    use crate::provider::Hooks;

    fn answer(content: Vec<Block>) -> Message {
        AssistantMessage { content, stop_reason: StopReason::Stop, ..Model::default().blank_answer(1) }.into()
    }

    fn result(id: &str, text: &str) -> Message {
        ToolResultMessage {
            tool_call_id: id.to_owned(),
            tool_name: "ls".to_owned(),
            content: vec![Block::text(text)],
            details: None,
            nested_calls: None,
            is_error: false,
            timestamp: 2,
        }
        .into()
    }

    /// 0 the user, 1 two calls, 2 and 3 their results in the other order, 4 an answer that is not sent, 5 the user, 6 an
    /// answer, 7 the user.
    fn request(api: Api) -> Request {
        let said = |text: &str| Message::from(UserMessage::new(text, Vec::new(), 0));
        let calls = vec![Block::text("I look."), Block::call("c1", "ls"), Block::call("c2", "ls")];
        let failed = AssistantMessage { stop_reason: StopReason::Error, ..Model::default().blank_answer(1) };
        Request {
            model: Arc::new(Model { api: api.as_str().to_owned(), ..Model::default() }),
            system: "You are a test.".to_owned(),
            messages: vec![
                said("first"),
                answer(calls),
                result("c2", "two"),
                result("c1", "one"),
                failed.into(),
                said("second"),
                answer(vec![Block::text("done")]),
                said("third"),
            ],
            tools: Vec::new(),
            thinking: ThinkingLevel::Off,
            max_tokens: None,
            key: None,
            session_id: None,
            hooks: Hooks::default(),
        }
    }

    #[test]
    fn a_place_in_the_body_is_the_message_that_made_it() {
        use Api::{Anthropic, Completions, Google, Responses};
        for (api, said, expected) in [
            (Anthropic, "messages.0: all messages must have non-empty content", Some(0)),
            (Anthropic, "messages.1.content.2.tool_use.id: String should match pattern", Some(1)),
            (Anthropic, "messages.2.content.0.tool_result.content: wrong", Some(2)),
            (Anthropic, "messages.2.content.1.image.source.base64: could not process image", Some(3)),
            (Anthropic, "messages.2: `tool_use` ids were found without `tool_result` blocks", Some(3)),
            (Anthropic, "messages.3.content: wrong", Some(5)),
            (Anthropic, "messages.5.content.0: wrong", Some(7)),
            (Anthropic, r#"{"loc":["body","messages",4,"content"]}"#, Some(6)),
            (Anthropic, "messages.6: there is none", None),
            (Anthropic, "messages: at least one message is required", None),
            (Anthropic, "tools.0.custom.input_schema: wrong", None),
            (Anthropic, "max_messages.1 is not it, messages.1 is", Some(1)),
            (Anthropic, "messages.99999999999999999999999: wrong", None),
            (Completions, "Invalid parameter: messages[0] is the system prompt", None),
            (Completions, "Invalid type for 'messages[1].content': expected a string", Some(0)),
            (Completions, "Invalid 'messages[2].tool_calls[0].id': string too long", Some(1)),
            (Completions, "messages.[3].content must not be empty", Some(2)),
            (Completions, "Invalid value: 'messages[4].content[0].type'", Some(3)),
            (Completions, "[{'loc': ('body', 'messages', 5, 'content')}]", Some(5)),
            (Completions, "body -> messages -> 7 -> content: wrong", Some(7)),
            (Responses, "Invalid 'input[1].content': wrong", Some(0)),
            (Responses, "Invalid 'input[2].content[0].text': wrong", Some(1)),
            (Responses, "Invalid 'input[4].call_id': string too long", Some(1)),
            (Responses, "Invalid 'input[5].output': wrong", Some(2)),
            (Responses, "Invalid 'input[6].output': wrong", Some(3)),
            (Responses, "Invalid 'input[9]': wrong", Some(7)),
            (Responses, "Your input is wrong", None),
            (Google, "Invalid value at 'contents[0].parts[0]'", Some(0)),
            (Google, "* GenerateContentRequest.contents[1].parts[1].function_call.name: wrong", Some(1)),
            (Google, "* GenerateContentRequest.contents[2].parts[0].function_response.name: wrong", Some(2)),
            (Google, "* GenerateContentRequest.contents[2].parts[1].function_response.name: wrong", Some(3)),
            (Google, "contents[3].parts[0].data: wrong", Some(5)),
            (Google, "Please ensure that function call turn comes after a user turn", None),
        ] {
            assert_eq!(named_message(&request(api), said), expected, "{api:?}: {said}");
        }
    }
}
