//! Rules that stop an answer as soon as what the model writes fits one: the answer's parts are held against them as they grow.
//! What fits is the rule's own matter, and what follows the turn's.

use std::path::Path;
use std::sync::Arc;

use offshoot_protocol::message::{Content, CustomMessage, Message};
use serde_json::{Value, json};

use super::Driver;
use crate::provider::Delta;
use crate::resources::{Rule, RuleTrigger, RuleUse, StreamPart};
use crate::turn::{RuleInjection, Ticket, TurnInput, WrittenPart};

/// Of a longer text or thought the end is looked at.
const LONGEST_TEXT: usize = 16 << 10;
/// A call is looked at again when it has grown by this, or by a part of what was looked at: a long one costs no square.
const CALL_STEP: usize = 64;
const CALL_PART: usize = 32;
/// The kind of the message that has the rule, as oh-my-pi has it.
const KIND: &str = "ttsr-injection";
/// What may be missing at the end of arguments that are still being written.
const ENDINGS: [&str; 8] = ["", "\"}", "}", "\"]}", "]}", "\"}]}", "}]}", "null}"];

/// What the watch over an answer remembers.
#[derive(Debug, Default)]
pub(super) struct RuleWatch {
    /// The rules that the branch of the request has had.
    injected: Vec<String>,
    call: WatchedCall,
}

impl RuleWatch {
    /// For the answer to a request whose branch has had these rules.
    pub(super) fn over(injected: Vec<String>) -> Self {
        Self { injected, call: WatchedCall::default() }
    }
}

/// How far the call that is being written was looked at.
#[derive(Debug, Default)]
struct WatchedCall {
    index: usize,
    length: usize,
}

/// The part of an answer that a delta has made grow, and whether it is complete.
pub(super) fn grown_part(delta: &Delta) -> Option<(usize, bool)> {
    match delta {
        Delta::Text { index, .. } | Delta::Thinking { index, .. } | Delta::ToolCall { index, .. } => {
            Some((*index, false))
        }
        Delta::ToolCallEnd { index } => Some((*index, true)),
        _ => None,
    }
}

impl Driver {
    /// Whether a rule may stop an answer.
    pub(super) fn has_stream_rules(&self) -> bool {
        self.setup.resources.rules.iter().any(|rule| matches!(rule.applies, RuleUse::Stream(_)))
    }

    /// Stops the answer if the part that has grown fits a rule that this branch has not had.
    pub(super) fn watch(&mut self, ticket: Ticket, part: Option<(usize, bool)>) {
        let Some((index, is_whole)) = part.filter(|_| self.has_stream_rules()) else { return };
        let Some(written) = self.state.written(ticket, index) else { return };
        if let WrittenPart::Call { arguments, .. } = &written {
            let seen = std::mem::take(&mut self.rule_watch.call);
            let before = if seen.index == index { seen.length } else { 0 };
            if !is_whole && arguments.len() < before + CALL_STEP.max(before / CALL_PART) {
                self.rule_watch.call = WatchedCall { index, length: before };
                return;
            }
            self.rule_watch.call = WatchedCall { index, length: arguments.len() };
        }
        let cwd = self.setup.tool_context.cwd.clone();
        let rules = fitting(&self.setup.resources.rules, &written, &self.rule_watch.injected, &cwd);
        if rules.is_empty() {
            return;
        }
        let at = self.setup.clock.now();
        let home = self.setup.tool_context.home.clone();
        let injection = injection(&rules, (&cwd, home.as_deref()), at);
        self.rule_watch.injected.extend(injection.rules.iter().cloned());
        self.step(TurnInput::RuleFits { ticket, injection: Box::new(injection), at });
    }
}

fn fitting<'a>(rules: &'a [Rule], written: &WrittenPart, injected: &[String], cwd: &Path) -> Vec<&'a Rule> {
    let triggers = rules.iter().filter_map(|rule| match &rule.applies {
        RuleUse::Stream(trigger) if !injected.contains(&rule.about.name) => Some((rule, trigger.as_ref())),
        RuleUse::Stream(_) | RuleUse::Always | RuleUse::OnDemand => None,
    });
    let fits = |trigger: &RuleTrigger| match written {
        WrittenPart::Text(text) => fits_text(trigger, StreamPart::Text, text),
        WrittenPart::Thinking(text) => fits_text(trigger, StreamPart::Thinking, text),
        WrittenPart::Call { tool, arguments } => {
            let value =
                ENDINGS.iter().find_map(|ending| serde_json::from_str::<Value>(&format!("{arguments}{ending}")).ok());
            let (mut texts, mut paths) = (String::new(), Vec::new());
            value.iter().for_each(|value| collect(value, "", &mut texts, &mut paths));
            let paths: Vec<String> = paths.iter().flat_map(|path| spellings(path, cwd)).collect();
            let part = StreamPart::Call { tool, paths: &paths };
            trigger.interruption.stops(part) && (trigger.fits(part, &texts) || trigger.fits(part, arguments))
        }
    };
    triggers.filter(|(_, trigger)| fits(trigger)).map(|(rule, _)| rule).collect()
}

fn fits_text(trigger: &RuleTrigger, part: StreamPart<'_>, text: &str) -> bool {
    let begin = text.ceil_char_boundary(text.len().saturating_sub(LONGEST_TEXT));
    trigger.interruption.stops(part) && trigger.fits(part, &text[begin..])
}

/// The texts among arguments, and those that name a path.
fn collect(value: &Value, name: &str, texts: &mut String, paths: &mut Vec<String>) {
    let lower = name.to_lowercase();
    match value {
        Value::String(text) => {
            if lower.ends_with("path") || lower.ends_with("paths") {
                paths.push(text.clone());
            }
            texts.push_str(text);
            texts.push('\n');
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, name, texts, paths)),
        Value::Object(members) => members.iter().for_each(|(name, value)| collect(value, name, texts, paths)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// A path as it is written, whole, and relative to the working folder.
fn spellings(path: &str, cwd: &Path) -> Vec<String> {
    let whole = cwd.join(path);
    let relative = whole.strip_prefix(cwd).ok().map(|path| path.display().to_string());
    [Some(path.to_owned()), Some(whole.display().to_string()), relative].into_iter().flatten().collect()
}

/// What the model gets, and what the branch records.
fn injection(rules: &[&Rule], (cwd, home): (&Path, Option<&Path>), at: i64) -> RuleInjection {
    let names: Vec<String> = rules.iter().map(|rule| rule.about.name.clone()).collect();
    let mut words = String::new();
    for rule in rules {
        let file = &rule.about.file;
        let within = |root: &Path, before: &str| Some(format!("{before}{}", file.strip_prefix(root).ok()?.display()));
        let path = within(cwd, "").or_else(|| within(home?, "~/")).unwrap_or_else(|| file.display().to_string());
        let gap = if words.is_empty() { "" } else { "\n\n" };
        let name = &rule.about.name;
        words.push_str(&format!(
            "{gap}<system-interrupt reason=\"rule_violation\" rule=\"{name}\" path=\"{path}\">\nYour answer was stopped: it breaks a \
             rule of the user. Answer again and obey the rule:\n\n{}\n</system-interrupt>",
            rule.text
        ));
    }
    let message = CustomMessage {
        custom_type: KIND.to_owned(),
        content: Content::Text(words),
        display: false,
        details: Some(json!({ "rules": names })),
        timestamp: at,
    };
    RuleInjection { message: Message::Custom(Arc::new(message)), rules: names }
}
