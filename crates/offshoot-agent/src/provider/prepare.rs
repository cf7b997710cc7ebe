//! Fits a conversation to the model that gets it: other models' thoughts and signatures, images, ids, calls and
//! results.
//!
//! The changes are never stored. Afterwards [`super::problems`] finds nothing. Knows no wire format except for its rule
//! of ids.

use std::collections::HashSet;

use offshoot_protocol::message::{AssistantMessage, Block, Content, Message, ToolResultMessage, Usage, UserMessage};
use offshoot_protocol::model::Model;
use serde_json::{Map, Value};

use crate::recorded_calls::call_part;

const USER_IMAGE: &str = "(image omitted: model does not support images)";
const TOOL_IMAGE: &str = "(tool image omitted: model does not support images)";
/// For providers that refuse a conversation that begins with an answer.
pub(super) const NO_PROMPT: &str = "(no prompt)";
const NO_RESULT: &str = "No result: the tool call was not completed.";

/// A wire format's rules of calls.
#[derive(Clone, Copy)]
pub(super) struct CallRules<'a> {
    /// Converts the id of another model's call, or one that the server would refuse.
    pub(super) fit_id: &'a dyn Fn(&str, &AssistantMessage) -> String,
    /// Whether the server accepts an id that it may have given itself.
    pub(super) accepts_id: &'a dyn Fn(&str) -> bool,
    pub(super) names: NameRule,
}

/// What a server accepts as the name of a function, beside letters and digits. Models call tools that do not exist, and
/// a name that breaks the rule makes every later request invalid.
///
/// - Anthropic: `^[a-zA-Z0-9_-]{1,128}$`, in the service's words at <https://github.com/home-assistant/core/issues/147760> and
///   <https://github.com/anthropics/claude-code/issues/96152>.
/// - OpenAI: letters, digits, `_` and `-`, at most 64: <https://platform.openai.com/docs/api-reference/chat/create> (the copy that was
///   read: <https://pub.dev/documentation/dart_openai/latest/dart_openai/OpenAIFunctionModel/name.html>).
/// - Google: also `.` and `:`, at most 64:
///   <https://pub.dev/documentation/google_cloud_ai_generativelanguage_v1beta/latest/generativelanguage/FunctionDeclaration/name.html>. It
///   begins with a letter or `_`: <https://github.com/google-gemini/gemini-cli/issues/9535>.
#[derive(Debug, Clone, Copy)]
pub(super) struct NameRule {
    pub(super) marks: &'static str,
    pub(super) longest: usize,
    /// Whether it begins with a letter or `_`.
    pub(super) begins_with_letter: bool,
}

pub(super) fn prepare(messages: &[Message], model: &Model, rules: CallRules<'_>) -> Vec<Message> {
    let mut made = Maker { model, rules, out: Vec::new(), open: Vec::new(), taken: HashSet::new() };
    for message in messages {
        match message {
            Message::User(user) => made.push_user(&user.content, user.timestamp),
            Message::Custom(custom) => made.push_user(&custom.content, custom.timestamp),
            Message::Assistant(answer) => made.answer(answer),
            Message::ToolResult(result) => made.result(result),
        }
    }
    made.answer_open_calls();
    made.out
}

impl NameRule {
    /// The name as the server accepts it; the session keeps the model's own.
    fn fit(&self, name: &str) -> String {
        let is_fine = |c: char| c.is_ascii_alphanumeric() || self.marks.contains(c);
        let fitted: String = name.chars().take(self.longest).map(|c| if is_fine(c) { c } else { '_' }).collect();
        match fitted.chars().next() {
            None => "unnamed".to_owned(),
            Some(first) if self.begins_with_letter && !(first.is_ascii_alphabetic() || first == '_') => {
                format!("_{}", fitted.chars().take(self.longest - 1).collect::<String>())
            }
            Some(_) => fitted,
        }
    }
}

/// Whether the answer came from this model: only then are its signatures sent back.
fn is_same(answer: &AssistantMessage, model: &Model) -> bool {
    answer.provider == model.provider && answer.api == model.api && answer.model == model.id
}

struct Maker<'a> {
    model: &'a Model,
    rules: CallRules<'a>,
    out: Vec<Message>,
    /// The last turn's calls without result: old id, new id, name in the request.
    open: Vec<(String, String, String)>,
    taken: HashSet<String>,
}

impl Maker<'_> {
    fn push_user(&mut self, content: &Content, timestamp: i64) {
        self.answer_open_calls();
        let content = match content {
            Content::Blocks(blocks) => Content::Blocks(pictures(blocks, self.model, USER_IMAGE)),
            text @ Content::Text(_) => text.clone(),
        };
        self.out.push(UserMessage { content, timestamp }.into());
    }

    fn answer(&mut self, answer: &AssistantMessage) {
        self.answer_open_calls();
        if !answer.stop_reason.is_complete() {
            return;
        }
        let same = is_same(answer, self.model);
        let mut content = Vec::with_capacity(answer.content.len());
        for block in &answer.content {
            content.extend(self.block(block, answer, same));
        }
        self.out.push(AssistantMessage { content, ..answer.clone_without_content() }.into());
    }

    fn block(&mut self, block: &Block, answer: &AssistantMessage, same: bool) -> Option<Block> {
        match block {
            // As text, another model's thinking would be part of the visible answer.
            Block::Thinking { .. } if !same => None,
            Block::Thinking { redacted: Some(true), .. } => Some(block.clone()),
            Block::Thinking { thinking, thinking_signature, .. } => {
                let is_signed = thinking_signature.as_ref().is_some_and(|signature| !signature.is_empty());
                (is_signed || !thinking.trim().is_empty()).then(|| block.clone())
            }
            Block::Text { text, .. } if !same => Some(Block::Text { text: text.clone(), text_signature: None }),
            Block::ToolCall { id, name, arguments, arguments_error, thought_signature } => {
                let is_kept = same && (self.rules.accepts_id)(id);
                let new = if is_kept { id.clone() } else { (self.rules.fit_id)(id, answer) };
                let (new, name) = (self.unique(&new), self.rules.names.fit(name));
                self.open.push((id.clone(), new.clone(), name.clone()));
                let is_sent = arguments.is_object() && arguments_error.is_none();
                let arguments = if is_sent { arguments.clone() } else { Value::Object(Map::new()) };
                let thought_signature = thought_signature.clone().filter(|_| same);
                Some(Block::ToolCall { id: new, name, arguments, arguments_error: None, thought_signature })
            }
            Block::Text { .. } | Block::Image { .. } => Some(block.clone()),
        }
    }

    /// An id that is unique in the request: calls with the same id could not be distinguished.
    fn unique(&mut self, id: &str) -> String {
        let id = if call_part(id).is_empty() { format!("call{id}") } else { id.to_owned() };
        let mut candidate = id.clone();
        let mut count = 2;
        while !self.taken.insert(call_part(&candidate).to_owned()) {
            // Only what is before a `|` names the call; the suffix goes there, and the id does not grow.
            let mark = format!("_{count}");
            let (call, item) = id.split_once('|').map_or((id.as_str(), None), |(call, item)| (call, Some(item)));
            let keep = call.char_indices().map(|(at, _)| at).take_while(|at| at + mark.len() < 40).count();
            let short: String = call.chars().take(keep).collect();
            candidate = match item {
                Some(item) => format!("{short}{mark}|{item}"),
                None => format!("{short}{mark}"),
            };
            count += 1;
        }
        candidate
    }

    fn result(&mut self, result: &ToolResultMessage) {
        let Some(at) = self.open.iter().position(|(old, ..)| *old == result.tool_call_id) else { return };
        // The name is that of the call: a server compares them.
        let (_, id, tool_name) = self.open.remove(at);
        let content = pictures(&result.content, self.model, TOOL_IMAGE);
        let ToolResultMessage { is_error, timestamp, .. } = result;
        let (is_error, timestamp) = (*is_error, *timestamp);
        let result = ToolResultMessage {
            tool_call_id: id,
            tool_name,
            content,
            details: None,
            nested_calls: None,
            is_error,
            timestamp,
        };
        self.out.push(result.into());
    }

    fn answer_open_calls(&mut self) {
        for (_, tool_call_id, tool_name) in std::mem::take(&mut self.open) {
            let content = vec![Block::Text { text: NO_RESULT.to_owned(), text_signature: None }];
            let result = ToolResultMessage {
                tool_call_id,
                tool_name,
                content,
                details: None,
                nested_calls: None,
                is_error: true,
                timestamp: 0,
            };
            self.out.push(result.into());
        }
    }
}

/// Replaces images with a placeholder for a model that accepts none; one placeholder for several in a row.
fn pictures(blocks: &[Block], model: &Model, placeholder: &str) -> Vec<Block> {
    let mut out: Vec<Block> = Vec::with_capacity(blocks.len());
    for block in blocks {
        match block {
            Block::Image { .. } if !model.images => {
                let repeats = matches!(out.last(), Some(Block::Text { text, .. }) if text == placeholder);
                if !repeats {
                    out.push(Block::Text { text: placeholder.to_owned(), text_signature: None });
                }
            }
            Block::Text { .. } | Block::Image { .. } => out.push(block.clone()),
            // Only models think or call.
            Block::Thinking { .. } | Block::ToolCall { .. } => {}
        }
    }
    out
}

/// The limit of the answer: as requested, as far as the window has room beside the conversation.
pub(super) fn max_tokens(request: &super::Request) -> u64 {
    let wanted = request.max_tokens.unwrap_or(request.model.max_tokens);
    let window = request.model.context_window;
    if window == 0 {
        return wanted.max(1);
    }
    let room = window.saturating_sub(estimate(request)).saturating_sub(SAFETY).max(1);
    wanted.min(room)
}

/// A margin, because the rest is estimated.
const SAFETY: u64 = 4096;
/// The characters that an image counts as.
const IMAGE: usize = 4800;

/// Estimates the request's tokens: the last answer's count and the characters since then; without one, all characters.
fn estimate(request: &super::Request) -> u64 {
    let mut newest = i64::MIN;
    let mut counted = None;
    for (at, message) in request.messages.iter().enumerate() {
        if let Message::Assistant(answer) = message {
            let total = total(&answer.usage);
            // An answer older than an earlier message was counted with another conversation.
            if answer.timestamp >= newest && answer.stop_reason.is_complete() && total > 0 {
                counted = Some((at, total));
            }
        }
        newest = newest.max(timestamp(message));
    }
    let (from, tokens) = match counted {
        Some((at, total)) => (at + 1, total),
        None => (0, tokens(request.system.encode_utf16().count()) + request.tools.iter().map(tool_tokens).sum::<u64>()),
    };
    let rest = request.messages.get(from..).unwrap_or_default();
    tokens + rest.iter().map(message_tokens).sum::<u64>()
}

fn total(usage: &Usage) -> u64 {
    if usage.total_tokens > 0 {
        usage.total_tokens
    } else {
        usage.input + usage.output + usage.cache_read + usage.cache_write
    }
}

fn tokens(characters: usize) -> u64 {
    characters.div_ceil(4) as u64
}

fn tool_tokens(tool: &super::ToolSpec) -> u64 {
    tokens(tool.name.len() + tool.description.encode_utf16().count() + tool.parameters.to_string().len())
}

fn message_tokens(message: &Message) -> u64 {
    let blocks = |blocks: &[Block]| blocks.iter().map(characters).sum::<usize>();
    let said = |content: &Content| match content {
        Content::Text(text) => text.encode_utf16().count(),
        Content::Blocks(content) => blocks(content),
    };
    tokens(match message {
        Message::User(user) => said(&user.content),
        Message::Custom(custom) => said(&custom.content),
        Message::Assistant(answer) => blocks(&answer.content),
        Message::ToolResult(result) => blocks(&result.content),
    })
}

fn characters(block: &Block) -> usize {
    match block {
        Block::Text { text, .. } => text.encode_utf16().count(),
        Block::Thinking { thinking, .. } => thinking.encode_utf16().count(),
        Block::Image { .. } => IMAGE,
        Block::ToolCall { name, arguments, .. } => name.len() + arguments.to_string().encode_utf16().count(),
    }
}

fn timestamp(message: &Message) -> i64 {
    match message {
        Message::User(user) => user.timestamp,
        Message::Custom(custom) => custom.timestamp,
        Message::Assistant(answer) => answer.timestamp,
        Message::ToolResult(result) => result.timestamp,
    }
}

/// Replaces every character except letters, digits, `_` and `-` with `_`, and cuts to `longest`.
pub(super) fn plain_id(id: &str, longest: usize) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '_' | '-') { c } else { '_' };
    id.chars().take(longest).map(plain).collect()
}

/// Whether an id follows that rule already.
pub(super) fn is_plain_id(id: &str, longest: usize) -> bool {
    !id.is_empty() && plain_id(id, longest) == id
}

/// A short, deterministic name of a long one.
pub(super) fn short_hash(text: &str) -> String {
    // FNV-1a.
    let hash = text
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    format!("{hash:016x}")
}

/// The text blocks, joined by line feeds.
pub(super) fn joined(blocks: &[Block]) -> String {
    let texts = blocks.iter().filter_map(|block| match block {
        Block::Text { text, .. } => Some(text.as_str()),
        Block::Thinking { .. } | Block::Image { .. } | Block::ToolCall { .. } => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}

/// The images: type and base64.
pub(super) fn images(blocks: &[Block]) -> Vec<(&str, &str)> {
    let images = blocks.iter().filter_map(|block| match block {
        Block::Image { data, mime_type } => Some((mime_type.as_str(), data.as_str())),
        Block::Text { .. } | Block::Thinking { .. } | Block::ToolCall { .. } => None,
    });
    images.collect()
}
