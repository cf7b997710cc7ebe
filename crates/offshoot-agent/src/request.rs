//! Builds a request from a session: the context at the leaf, converted for a model, with the system prompt and the
//! tools.
//!
//! Every request pairs calls and results: missing ones are added, never stored; other problems are errors.

use std::sync::Arc;

use offshoot_protocol::message::{Content, Message};
use offshoot_protocol::model::Model;
use offshoot_protocol::{AgentError, Secret, ThinkingLevel};
use offshoot_session::compose::NewEntry;
use offshoot_session::context::{self, ContextScale};
use offshoot_session::entry::Source as _;
use offshoot_session::error::Diagnostic;
use offshoot_session::json::Json;
use offshoot_session::kind::{Kind, Role};
use offshoot_session::llm::Converter;
use offshoot_session::session::Session;
use offshoot_session::tokens::estimate;
use serde_json::Value;

use crate::pictures::{CHOICE, PictureTrail, count_pictures};
use crate::prompt_weight::{tool_units, units};
use crate::provider::{Hooks, Problem, Request, ToolSpec, problems};
use crate::stored_message::read_message;
use crate::way_round::way_round;

/// Where a message comes from that no entry made.
const OF_EXTENSION: &str = "an extension gave the messages: `--no-extensions` starts without it";

/// The parts of a request that are not in the session.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct Frame {
    pub model: Arc<Model>,
    pub thinking: ThinkingLevel,
    pub system: String,
    pub tools: Vec<ToolSpec>,
    pub key: Option<Secret>,
}

impl Frame {
    fn into_request(self, session: &Session, messages: Vec<Message>) -> Request {
        let Self { model, thinking, system, tools, key } = self;
        let session_id = Some(session.id().to_owned());
        Request { model, system, messages, tools, thinking, max_tokens: None, key, session_id, hooks: Hooks::default() }
    }
}

/// A request, with diagnostics of its conversion.
#[derive(Debug)]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct Built {
    pub request: Request,
    /// Tokens of the request: the last usable report plus an estimate of later messages; without a report, an estimate
    /// of everything, system prompt and tools included.
    pub tokens: u64,
    pub diagnostics: Vec<Diagnostic>,
    pub(crate) trail: PictureTrail,
    /// The entry of each message, empty if it has none; nothing if the messages are not those of the session.
    pub(crate) owners: Vec<String>,
    /// The rules that the branch has had, if somebody looked.
    pub(crate) injected_rules: Vec<String>,
}

/// Builds the request for the session's leaf.
///
/// # Errors
/// The session cannot be read, or is not a valid conversation.
pub fn build(session: &Session, frame: Frame) -> Result<Built, AgentError> {
    let context = session.context()?;
    let mut scale = ContextScale::new(session.tree(), session.leaf());
    let mut converter = Converter::default();
    let (mut messages, mut owners) = (Vec::new(), Vec::new());
    for message in context.messages(session) {
        let message = message?;
        scale.add(session.tree(), &message);
        take(session, converter.push(message), &mut messages, &mut owners)?;
    }
    let (rest, diagnostics) = converter.finish();
    take(session, rest, &mut messages, &mut owners)?;
    check(&messages, |at| way_round(session, owner_of(&owners, at)))?;
    let trail = picture_trail(session, &frame.model.api, (&messages, &owners))?;
    let request = frame.into_request(session, messages);
    let tokens = scale.finish().total(overhead_tokens(&request.system, &request.tools));
    Ok(Built { request, tokens, diagnostics, trail, owners, injected_rules: Vec::new() })
}

/// The rules that the branch has had.
///
/// # Errors
/// The session cannot be read.
pub(crate) fn injected_rules(session: &Session) -> Result<Vec<String>, AgentError> {
    let tree = session.tree();
    let mut rules = Vec::new();
    let path = session.leaf().into_iter().flat_map(|leaf| tree.ancestors(leaf));
    for ix in path.filter(|ix| tree.node(*ix).kind() == Kind::TtsrInjection) {
        let entry = session.entry(ix)?;
        let names = entry.get("injectedRules").map(Json::items).into_iter().flatten();
        rules.extend(names.filter_map(|name| Some(name.as_str()?.into_owned())));
    }
    Ok(rules)
}

/// The messages of the context as JSON, before they are converted for a model. Stored system prompts are not among them.
///
/// # Errors
/// The session cannot be read.
pub fn context_messages(session: &Session) -> Result<Vec<String>, AgentError> {
    let context = session.context()?;
    let said =
        |message: &Result<context::Message, _>| message.as_ref().map_or(true, |message| message.role != Role::System);
    let messages = context.messages(session).filter(said).map(|message| message.map(|message| message.json));
    Ok(messages.collect::<Result<_, _>>()?)
}

/// Builds a request of other messages than those of the session: all of it is an estimate.
///
/// # Errors
/// A message is none, or they are not a valid conversation.
pub fn build_from(session: &Session, frame: Frame, messages: Vec<String>) -> Result<Built, AgentError> {
    let (mut converter, mut sum) = (Converter::default(), 0);
    let mut converted = Vec::new();
    for (at, json) in messages.into_iter().enumerate() {
        let role = Json::parse(&json).ok().and_then(|json| Some(Role::from_word(json.str("role")?.as_bytes())));
        let role = role.ok_or_else(|| format!("message {at} that an extension gave has no role"))?;
        let message = context::Message { entry: None, role, json };
        if role != Role::System {
            sum += estimate(message.json());
        }
        take(session, converter.push(message), &mut converted, &mut Vec::new())?;
    }
    let (rest, diagnostics) = converter.finish();
    take(session, rest, &mut converted, &mut Vec::new())?;
    check(&converted, |_| OF_EXTENSION.to_owned())?;
    let request = frame.into_request(session, converted);
    let tokens = sum + overhead_tokens(&request.system, &request.tools);
    Ok(Built {
        request,
        tokens,
        diagnostics,
        trail: PictureTrail::default(),
        owners: Vec::new(),
        injected_rules: Vec::new(),
    })
}

/// `owners` gets the entry of each message.
fn take(
    session: &Session,
    converted: Vec<context::Message>,
    messages: &mut Vec<Message>,
    owners: &mut Vec<String>,
) -> Result<(), String> {
    for message in converted {
        let owner = message.entry.as_ref().map(|id| id.as_str().to_owned()).unwrap_or_default();
        let refused = |error| {
            let way = if owner.is_empty() { OF_EXTENSION.to_owned() } else { way_round(session, Some(&owner)) };
            format!("a message is not understood: {error} ({way})")
        };
        let Some(whole) = convert_message(&message).map_err(refused)? else { continue };
        owners.push(owner);
        messages.push(whole);
    }
    Ok(())
}

/// The entry that made a message of a request. A result that no entry made belongs to the call before it.
pub(crate) fn owner_of(owners: &[String], message: usize) -> Option<&str> {
    owners.get(..=message)?.iter().rev().map(String::as_str).find(|owner| !owner.is_empty())
}

fn picture_trail(
    session: &Session,
    wire: &str,
    (messages, owners): (&[Message], &[String]),
) -> Result<PictureTrail, AgentError> {
    let of_message =
        |(message, owner): (&Message, &String)| std::iter::repeat_n(owner.clone(), count_pictures(message));
    let owners: Vec<String> = messages.iter().zip(owners).flat_map(of_message).collect();
    let from = if owners.is_empty() { 0 } else { chosen_picture(session, wire, &owners)? };
    Ok(PictureTrail { owners, from })
}

/// The first picture that is sent, as the newest choice on the path says for this wire format.
fn chosen_picture(session: &Session, wire: &str, owners: &[String]) -> Result<usize, AgentError> {
    let tree = session.tree();
    let path = session.leaf().into_iter().flat_map(|leaf| tree.ancestors(leaf));
    for ix in path.filter(|ix| tree.node(*ix).kind() == Kind::Custom) {
        let entry = session.entry(ix)?;
        let data = entry.get("data").filter(|_| entry.str("customType").is_some_and(|kind| kind == CHOICE));
        let Some(data) = data.filter(|data| data.str("wire").is_some_and(|of| of == wire)) else { continue };
        let from = data.str("from").unwrap_or_default();
        let skip = data.get("skip").and_then(Json::as_f64).map_or(0, |skip| skip.max(0.0) as usize);
        if let Some(first) = owners.iter().position(|owner| *owner == from) {
            let of_entry = owners.iter().skip(first).take_while(|owner| **owner == from).count();
            return Ok(first + skip.min(of_entry));
        }
        // The entry is not in the context any more: what comes after it is sent.
        let Some(line) = tree.find(&from).map(|ix| tree.node(ix).line()) else { return Ok(0) };
        let is_after = |owner: &String| tree.find(owner).is_some_and(|ix| tree.node(ix).line() > line);
        return Ok(owners.iter().position(is_after).unwrap_or(0));
    }
    Ok(0)
}

/// Converts one message.
fn convert_message(message: &context::Message) -> Result<Option<Message>, serde_json::Error> {
    // Stored system prompts are history; every request has the current prompt.
    if message.role == Role::System {
        return Ok(None);
    }
    read_message(&message.json).map(Some)
}

/// Refuses what no provider accepts, in case the conversion missed it. `way` says what goes round a message.
fn check(messages: &[Message], way: impl Fn(usize) -> String) -> Result<(), String> {
    if let Some(Problem { message, what }) = problems(messages).first() {
        return Err(format!("the session makes no valid request: {what} ({})", way(*message)));
    }
    if !messages.iter().any(|message| !is_empty(message)) {
        return Err("there is nothing to send: the session has no message".to_owned());
    }
    Ok(())
}

fn is_empty(message: &Message) -> bool {
    match message {
        Message::User(user) => matches!(&user.content, Content::Blocks(blocks) if blocks.is_empty()),
        Message::Custom(custom) => matches!(&custom.content, Content::Blocks(blocks) if blocks.is_empty()),
        Message::Assistant(_) | Message::ToolResult(_) => false,
    }
}

/// The tokens of what a request has beside its messages: the system prompt and the tools.
#[must_use]
pub fn overhead_tokens(system: &str, tools: &[ToolSpec]) -> u64 {
    (units(system) + tools.iter().map(tool_units).sum::<u64>()).div_ceil(4)
}

/// The session entry of a message.
///
/// # Errors
/// The message cannot be written as JSON.
pub fn to_entry(message: &Message) -> Result<NewEntry, AgentError> {
    if let Message::Custom(custom) = message {
        let wrong = |error: serde_json::Error| format!("could not write a message: {error}");
        let content = serde_json::to_string(&custom.content).map_err(wrong)?;
        let details = custom.details.as_ref().map(Value::to_string);
        let parsed = |text| Json::parse(text).map_err(|error| format!("could not write a message: {error}"));
        let (content, details) = (parsed(&content)?, details.as_deref().map(parsed).transpose()?);
        return Ok(NewEntry::custom_message(&custom.custom_type, content, custom.display, details)?);
    }
    let json = serde_json::to_string(message).map_err(|error| format!("could not write a message: {error}"))?;
    let json = Json::parse(&json).map_err(|error| format!("could not write a message: {error}"))?;
    Ok(NewEntry::message(json)?)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use offshoot_protocol::message::{AssistantMessage, StopReason, ToolResultMessage, Usage, UserMessage};
    use offshoot_session::session::{NewSession, Options};

    fn tokens(session: &Session, system: &str, tools: Vec<ToolSpec>) -> u64 {
        let (model, thinking) = (Arc::new(Model::default()), ThinkingLevel::Off);
        build(session, Frame { model, thinking, system: system.to_owned(), tools, key: None }).unwrap().tokens
    }

    /// The conversion leaves no such conversation; if one comes, a person can go on.
    #[test]
    fn what_is_refused_here_names_its_entry_and_the_command_that_goes_round_it() {
        let mut session = Session::in_memory(&NewSession::default(), Options::default()).unwrap();
        let said = |text: &str| Message::from(UserMessage::new(text, Vec::new(), 1));
        let ids: Vec<String> = ["one", "two", "three"]
            .map(|text| session.append(&to_entry(&said(text)).unwrap()).unwrap().to_string())
            .to_vec();
        let orphan = ToolResultMessage {
            tool_call_id: "c1".to_owned(),
            tool_name: "ls".to_owned(),
            content: Vec::new(),
            details: None,
            nested_calls: None,
            is_error: false,
            timestamp: 1,
        };
        let messages = [said("one"), said("two"), orphan.into()];
        let refused = check(&messages, |at| way_round(&session, owner_of(&ids, at))).unwrap_err();
        let (own, before) = (&ids[2][..4], &ids[1][..4]);
        assert!(refused.contains("`c1`, which is not open"), "{refused}");
        assert!(refused.contains(&format!("entry {own}")), "{refused}");
        assert!(refused.contains(&format!("{before} in `/tree` goes back to the entry before it")), "{refused}");
        let first = way_round(&session, Some(&ids[0]));
        assert!(first.contains("a new session goes round it"), "{first}");
        assert_eq!(owner_of(&["a".to_owned(), String::new()], 1), Some("a"));
    }

    #[test]
    fn prompt_and_tools_count_until_a_provider_has_counted_them() {
        let mut session = Session::in_memory(&NewSession::default(), Options::default()).unwrap();
        session.append(&to_entry(&UserMessage::new("12345678", Vec::new(), 1).into()).unwrap()).unwrap();
        assert_eq!(tokens(&session, "", Vec::new()), 2);
        assert_eq!(tokens(&session, "123456789", Vec::new()), 2 + 3);
        let tool = ToolSpec { name: "ls".to_owned(), description: "x".repeat(400), parameters: json!({}) };
        assert!(tokens(&session, "", vec![tool.clone()]) > 102);
        let answer = AssistantMessage {
            content: Vec::new(),
            api: String::new(),
            provider: String::new(),
            model: String::new(),
            response_id: None,
            usage: Usage { total_tokens: 70, ..Usage::default() },
            stop_reason: StopReason::Stop,
            error_message: None,
            timestamp: 2,
        };
        session.append(&to_entry(&answer.into()).unwrap()).unwrap();
        session.append(&to_entry(&UserMessage::new("1234", Vec::new(), 3).into()).unwrap()).unwrap();
        assert_eq!(tokens(&session, "123456789", vec![tool]), 71, "the report has them");
    }
}
