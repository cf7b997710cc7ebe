//! Rules with conditions: an answer's parts are held against them as they grow. What fits stops the answer, or follows it.
//! What fits is the rule's own matter, and what follows the turn's.

use std::path::Path;
use std::sync::Arc;

use offshoot_protocol::message::{Content, CustomMessage, Message};
use serde_json::{Value, json};

use super::Driver;
use crate::provider::Delta;
use crate::resources::{Rule, RuleTrigger, RuleUse, StreamPart, WRITING_TOOLS};
use crate::turn::{RuleInjection, RuleNote, Ticket, TurnInput, WrittenPart};

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

    /// Stops the answer if the part that has grown fits a rule that this branch has not had, or notes the rule for what follows.
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
        let places = (cwd.as_path(), home.as_deref());
        let stops = rules.iter().any(|rule| stops(rule, &written));
        let input = match &written {
            _ if stops => {
                TurnInput::RuleFits { ticket, injection: Box::new(injection(&rules, places, STOPPED, at)), at }
            }
            WrittenPart::Call { id, .. } => {
                let note = RuleNote::Call { id: id.clone(), text: words(&rules, places, CALLED), rules: names(&rules) };
                TurnInput::RuleNoted { ticket, note: Box::new(note) }
            }
            WrittenPart::Text(_) | WrittenPart::Thinking(_) => {
                let note = RuleNote::After(injection(&rules, places, ANSWERED, at));
                TurnInput::RuleNoted { ticket, note: Box::new(note) }
            }
        };
        self.rule_watch.injected.extend(names(&rules));
        self.step(input);
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
        WrittenPart::Call { tool, arguments, .. } => {
            let value =
                ENDINGS.iter().find_map(|ending| serde_json::from_str::<Value>(&format!("{arguments}{ending}")).ok());
            let (mut texts, mut paths) = (String::new(), Vec::new());
            let is_written = WRITING_TOOLS.contains(&tool.as_str());
            value.iter().for_each(|value| collect(value, ("", is_written), &mut texts, &mut paths));
            let paths: Vec<String> = paths.iter().flat_map(|path| spellings(path, cwd)).collect();
            let part = StreamPart::Call { tool, paths: &paths };
            // Of a file that is written what is new in it counts, not what goes.
            trigger.fits(part, &texts) || (!WRITING_TOOLS.contains(&tool.as_str()) && trigger.fits(part, arguments))
        }
    };
    triggers.filter(|(_, trigger)| fits(trigger)).map(|(rule, _)| rule).collect()
}

fn fits_text(trigger: &RuleTrigger, part: StreamPart<'_>, text: &str) -> bool {
    let begin = text.ceil_char_boundary(text.len().saturating_sub(LONGEST_TEXT));
    trigger.fits(part, &text[begin..])
}

/// The texts among arguments, and those that name a path. Of a file that is written only its new texts are among them.
fn collect(value: &Value, (name, is_written): (&str, bool), texts: &mut String, paths: &mut Vec<String>) {
    let lower = name.to_lowercase();
    match value {
        Value::String(text) => {
            let is_path = lower.ends_with("path") || lower.ends_with("paths");
            if is_path {
                paths.push(text.clone());
            }
            if !(is_written && (is_path || lower.starts_with("old"))) {
                texts.push_str(text);
                texts.push('\n');
            }
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, (name, is_written), texts, paths)),
        Value::Object(members) => {
            members.iter().for_each(|(name, value)| collect(value, (name, is_written), texts, paths));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// A path as it is written, whole, and relative to the working folder.
fn spellings(path: &str, cwd: &Path) -> Vec<String> {
    let whole = cwd.join(path);
    let relative = whole.strip_prefix(cwd).ok().map(|path| path.display().to_string());
    [Some(path.to_owned()), Some(whole.display().to_string()), relative].into_iter().flatten().collect()
}

/// What the model is told of a rule: the element around it, and its first words.
type RuleFrame = (&'static str, &'static str);

const STOPPED: RuleFrame =
    ("system-interrupt", "Your answer was stopped: it breaks a rule of the user. Answer again and obey the rule:");
const CALLED: RuleFrame =
    ("system-reminder", "This call fits a rule of the user and ran all the same. Obey the rule in what follows:");
const ANSWERED: RuleFrame = (
    "system-reminder",
    "Your answer fits a rule of the user. Obey the rule, and correct what you wrote if it breaks it:",
);

/// Whether a rule that fits a part stops the answer there.
fn stops(rule: &Rule, written: &WrittenPart) -> bool {
    let part = match written {
        WrittenPart::Text(_) => StreamPart::Text,
        WrittenPart::Thinking(_) => StreamPart::Thinking,
        WrittenPart::Call { tool, .. } => StreamPart::Call { tool, paths: &[] },
    };
    matches!(&rule.applies, RuleUse::Stream(trigger) if trigger.interruption.stops(part))
}

fn names(rules: &[&Rule]) -> Vec<String> {
    rules.iter().map(|rule| rule.about.name.clone()).collect()
}

/// The rules in words.
fn words(rules: &[&Rule], (cwd, home): (&Path, Option<&Path>), (element, first): RuleFrame) -> String {
    let of_rule = |rule: &&Rule| {
        let file = &rule.about.file;
        let within = |root: &Path, before: &str| Some(format!("{before}{}", file.strip_prefix(root).ok()?.display()));
        let path = within(cwd, "").or_else(|| within(home?, "~/")).unwrap_or_else(|| file.display().to_string());
        let (name, text) = (&rule.about.name, &rule.text);
        format!(
            "<{element} reason=\"rule_violation\" rule=\"{name}\" path=\"{path}\">\n{first}\n\n{text}\n</{element}>"
        )
    };
    rules.iter().map(of_rule).collect::<Vec<_>>().join("\n\n")
}

/// What the model gets, and what the branch records.
fn injection(rules: &[&Rule], places: (&Path, Option<&Path>), frame: RuleFrame, at: i64) -> RuleInjection {
    let names = names(rules);
    let message = CustomMessage {
        custom_type: KIND.to_owned(),
        content: Content::Text(words(rules, places, frame)),
        display: false,
        details: Some(json!({ "rules": names })),
        timestamp: at,
    };
    RuleInjection { message: Message::Custom(Arc::new(message)), rules: names }
}
