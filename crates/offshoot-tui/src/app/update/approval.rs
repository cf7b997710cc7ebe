//! The question whether a call may run. Letters answer it only after a key has given them to it: text that is being typed
//! stays text.

use offshoot_agent::approval::{ApprovalDecision, ApprovalMode};
use offshoot_agent::command::Command;
use offshoot_agent::event::Event;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use crate::app::cmd::Cmd;
use crate::app::model::{Model, Overlay, Picking, Question};
use crate::keymap::{Action, Context};
use crate::overlay::pick::{Choice, Pick};

/// Shows the question of an event, or takes it back.
pub(super) fn event(model: &mut Model, event: &Event) {
    match event {
        Event::ApprovalRequest { id, tool_name, args, reason, rule, .. } => {
            let member = |name: &str| args.get(name).and_then(serde_json::Value::as_str).map(str::to_owned);
            let what = member("command").or_else(|| member("path")).unwrap_or_else(|| args.to_string());
            let (tool, reason, rule) = (tool_name.clone(), reason.clone(), rule.clone());
            model.question = Some(Question { id: *id, tool, what, reason, rule, has_keys: false });
        }
        _ => model.question = None,
    }
}

/// A key while a question is open; `None` leaves it to the editor.
pub(super) fn key(model: &mut Model, key: KeyEvent) -> Option<Vec<Cmd>> {
    let question = model.question.as_mut()?;
    let actions = model.wishes.keymap.actions(Context::Editor, key);
    if actions.contains(&Action::AnswerQuestion) && !model.editor.is_completing() {
        question.has_keys = !question.has_keys;
        return Some(Vec::new());
    }
    let KeyCode::Char(letter) = key.code else { return None };
    let is_letter = key.modifiers.difference(KeyModifiers::SHIFT).is_empty() && key.kind != KeyEventKind::Release;
    if !question.has_keys || !is_letter {
        return None;
    }
    let decision = match letter.to_ascii_lowercase() {
        'y' => ApprovalDecision::AllowOnce,
        's' if question.rule.is_some() => ApprovalDecision::AllowSession,
        'n' => ApprovalDecision::Reject,
        _ => return Some(Vec::new()),
    };
    let id = question.id;
    model.question = None;
    Some(vec![Cmd::ask(Command::Approve { id, decision, message: None })])
}

/// Shows the modes, with what each lets run.
pub(super) fn pick(model: &mut Model) -> Vec<Cmd> {
    let choice = |mode: ApprovalMode| Choice {
        detail: match mode {
            ApprovalMode::Auto => "everything runs but critical commands",
            ApprovalMode::Edits => "reads and changes in this folder run, the rest asks",
            ApprovalMode::Ask => "reads in this folder run, the rest asks",
            ApprovalMode::ReadOnly => "reads run, the rest is refused",
        }
        .to_owned(),
        is_current: model.approval == mode,
        ..Choice::new(mode.as_str())
    };
    let pick = Pick::new("What the model may do unasked", ApprovalMode::ALL.map(choice).into());
    model.overlay = Some(Overlay::Pick(Box::new(pick), Picking::Approval));
    Vec::new()
}
