//! Approval questions in pi's UI sub-protocol: a choice by its words, and why not. Sends nothing.

use std::collections::BTreeMap;

use offshoot_agent::approval::Rule;
use offshoot_protocol::{ApprovalDecision, ApprovalTier, Event};
use offshoot_session::call_view::CallView;
use offshoot_session::text::spell_name;

use crate::request::UiResponse;
use crate::ui_request::UiMethod;

const PREFIX: &str = "approval-";
const WHY: &str = "-why";
const NO_AND_WHY: &str = "no, and say why";

/// The questions that wait for an answer, by their number.
#[derive(Default)]
pub(crate) struct OpenQuestions {
    open: BTreeMap<u64, OpenQuestion>,
}

struct OpenQuestion {
    /// The words of each option.
    options: Vec<(String, Option<ApprovalDecision>)>,
    is_about_a_file: bool,
}

/// What an answer leads to.
pub(crate) enum NextStep {
    Decide(ApprovalDecision, Option<String>),
    /// One more question.
    Ask(String, UiMethod),
}

impl OpenQuestions {
    /// The question of an event; `None` if it asks nothing.
    pub(crate) fn ask(&mut self, event: &Event, timeout: Option<u64>) -> Option<(String, UiMethod)> {
        let (id, tool_name, args, reason, diff, rule, options, tier) = match event {
            Event::ApprovalRequest { id, tool_name, args, reason, diff, rule, options, tier, .. } => {
                (id, tool_name, args, reason, diff, rule.as_deref(), options, tier)
            }
            Event::ApprovalEnd { id: Some(id), .. } => {
                self.open.remove(id);
                return None;
            }
            _ => return None,
        };
        let args = args.to_string();
        let call = CallView::of_text(&**tool_name, &args);
        let (reason, rule) = (spell_name(reason), rule.map(spell_name));
        let (rule, beside) = (rule.as_deref(), call.beside_subject());
        let is_in_diff = |name: &str| diff.is_some() && call.is_changed_by(name);
        let beside =
            beside.iter().filter(|(name, _)| !is_in_diff(name)).map(|(name, value)| format!(", {name}: {value}"));
        let what = format!("{} {}{}", call.tool(), call.subject(&str::to_owned), beside.collect::<String>());
        let said = options.iter().map(|option| (words(*option, rule), Some(*option)));
        let options: Vec<_> = said.chain([(NO_AND_WHY.to_owned(), None)]).collect();
        let only_outside = options.iter().all(|(_, option)| {
            matches!(option, None | Some(ApprovalDecision::OnceUnsandboxed | ApprovalDecision::Reject))
        });
        let method = match only_outside {
            true => {
                let title = "Run it outside the sandbox?".to_owned();
                UiMethod::Confirm { title, message: format!("{what}: {reason}"), timeout }
            }
            false => {
                let title = format!("{what}: {reason}. Run it?");
                UiMethod::Select { title, options: options.iter().map(|(words, _)| words.clone()).collect(), timeout }
            }
        };
        self.open.insert(*id, OpenQuestion { options, is_about_a_file: *tier == ApprovalTier::Write });
        Some((format!("{PREFIX}{id}"), method))
    }

    /// `None` for an answer to nothing that is asked. Whatever is no yes is no.
    pub(crate) fn answer(&self, response: &UiResponse, timeout: Option<u64>) -> Option<(u64, NextStep)> {
        let given = response.id.strip_prefix(PREFIX)?;
        let value = response.value.as_deref().filter(|_| response.cancelled != Some(true));
        let number = |id: &str| id.parse().ok().filter(|id| self.open.contains_key(id));
        if let Some(id) = given.strip_suffix(WHY) {
            let why = value.map(str::trim).filter(|why| !why.is_empty()).map(str::to_owned);
            return Some((number(id)?, NextStep::Decide(ApprovalDecision::Reject, why)));
        }
        let id = number(given)?;
        let question = self.open.get(&id)?;
        let chosen = value.and_then(|value| question.options.iter().find(|(words, _)| words == value));
        let next = match chosen {
            Some((_, Some(decision))) => NextStep::Decide(*decision, None),
            Some((_, None)) => NextStep::Ask(format!("{PREFIX}{id}{WHY}"), why(question.is_about_a_file, timeout)),
            None if response.confirmed == Some(true) && response.cancelled != Some(true) => {
                let first = question.options.iter().find_map(|(_, decision)| *decision);
                NextStep::Decide(first.unwrap_or(ApprovalDecision::Reject), None)
            }
            None => NextStep::Decide(ApprovalDecision::Reject, None),
        };
        Some((id, next))
    }
}

fn words(option: ApprovalDecision, rule: Option<&str>) -> String {
    let rule = rule.unwrap_or_default();
    match option {
        ApprovalDecision::AllowOnce => "yes, once".to_owned(),
        ApprovalDecision::AllowSession => format!("yes, {rule} until the end"),
        ApprovalDecision::AllowAlways => match Rule::parse(rule).ok().and_then(|rule| rule.note()) {
            Some(note) => format!("yes, {rule} always ({note})"),
            None => format!("yes, {rule} always"),
        },
        ApprovalDecision::OnceUnsandboxed => "yes, once outside the sandbox".to_owned(),
        ApprovalDecision::Reject => "no".to_owned(),
    }
}

/// Why not: about a change of a file there may be more to say than a line.
fn why(is_about_a_file: bool, timeout: Option<u64>) -> UiMethod {
    let title = "What should the model do instead?".to_owned();
    match is_about_a_file {
        true => UiMethod::Editor { title, prefill: String::new() },
        false => UiMethod::Input { title, placeholder: String::new(), timeout },
    }
}

#[cfg(test)]
mod tests {
    use offshoot_protocol::{ApprovalOutcome, ApprovalRecord, ApprovedBy};
    use serde_json::json;

    use super::*;

    fn asked(options: Vec<ApprovalDecision>) -> Event {
        Event::ApprovalRequest {
            id: 7,
            tool_call_id: "c".to_owned(),
            tool_name: "bash".to_owned(),
            args: json!({"command": "make"}),
            tier: ApprovalTier::Exec,
            reason: "it failed in the sandbox".to_owned(),
            diff: None,
            rule: None,
            rules: Vec::new(),
            options,
            waiting: 0,
            following: Vec::new(),
        }
    }

    fn decided(questions: &OpenQuestions, response: serde_json::Value) -> Option<ApprovalDecision> {
        match questions.answer(&serde_json::from_value(response).unwrap(), None)? {
            (7, NextStep::Decide(decision, None)) => Some(decision),
            _ => None,
        }
    }

    #[test]
    fn the_way_out_of_the_sandbox_is_confirmed_and_whatever_is_no_yes_is_no() {
        let mut questions = OpenQuestions::default();
        let event = asked(vec![ApprovalDecision::OnceUnsandboxed, ApprovalDecision::Reject]);
        let (id, method) = questions.ask(&event, Some(5)).unwrap();
        assert!(matches!(method, UiMethod::Confirm { timeout: Some(5), .. }), "{method:?}");
        let yes = decided(&questions, json!({"id": id, "confirmed": true}));
        assert_eq!(yes, Some(ApprovalDecision::OnceUnsandboxed));
        for no in [
            json!({"id": id}),
            json!({"id": id, "value": "yes"}),
            json!({"id": id, "confirmed": true, "cancelled": true}),
        ] {
            assert_eq!(decided(&questions, no), Some(ApprovalDecision::Reject));
        }
        assert_eq!(decided(&questions, json!({"id": "approval-8", "confirmed": true})), None);
        let record = ApprovalRecord {
            tool_call_id: "c".to_owned(),
            decision: ApprovalOutcome::Stopped,
            by: ApprovedBy::User,
            rule: None,
            scope: None,
        };
        assert!(questions.ask(&Event::ApprovalEnd { id: Some(7), record }, None).is_none());
        assert_eq!(decided(&questions, json!({"id": id, "confirmed": true})), None);
    }

    /// The calls with which every other face is tried.
    #[test]
    fn a_question_names_a_call_as_every_other_face_does() {
        let cases: Vec<serde_json::Value> =
            serde_json::from_str(include_str!("../../../conformance/faces/calls.json")).unwrap();
        for case in cases {
            let mut event = asked(vec![ApprovalDecision::AllowOnce, ApprovalDecision::Reject]);
            if let Event::ApprovalRequest { tool_name, args, .. } = &mut event {
                *tool_name = case["name"].as_str().unwrap().into();
                *args = case["given"].clone();
            }
            let Some((_, UiMethod::Select { title, .. })) = OpenQuestions::default().ask(&event, None) else {
                panic!("no question about {case}")
            };
            let words = format!("{} {}", case["name"].as_str().unwrap(), case["subject"].as_str().unwrap());
            let title = title.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(title.starts_with(&words), "{title} does not begin with {words}");
        }
    }

    #[test]
    fn a_rule_is_offered_with_its_note() {
        let always = |rule| words(ApprovalDecision::AllowAlways, Some(rule));
        assert_eq!(always("bash(make test)"), "yes, bash(make test) always (files in the folder decide what it runs)");
        assert_eq!(always("bash(git status)"), "yes, bash(git status) always");
    }
}
