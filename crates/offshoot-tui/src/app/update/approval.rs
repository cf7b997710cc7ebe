//! The question whether a call may run. Letters answer it only after a key has given them to it: text that is being typed
//! stays text.

use offshoot_protocol::request::Approve;
use offshoot_protocol::{ApprovalDecision, ApprovalMode, ApprovalScope, Event};
use offshoot_session::text::spell_name;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use super::call_list;
use crate::app::call_list::{AskedCall, CallList, CallMark};
use crate::app::cmd::{Cmd, ProgramTask};
use crate::app::model::{Model, Overlay, Picking, Question, QuestionStage};
use crate::app::view;
use crate::keymap::{Action, Context};
use crate::overlay::pick::{Choice, Pick};

/// Shows the question of an event, or takes it back. What was decided in a list is answered at once.
pub(super) fn event(model: &mut Model, event: &Event) -> Vec<Cmd> {
    match event {
        Event::ApprovalRequest {
            id,
            tool_call_id,
            tool_name,
            args,
            reason,
            rule,
            rules,
            diff,
            options,
            waiting,
            following,
            ..
        } => {
            let call = AskedCall::new((tool_call_id, tool_name), args, (reason, diff.as_deref()));
            let once = options.first().copied().unwrap_or(ApprovalDecision::AllowOnce);
            if let Some(decision) = call_list::decided(model, &call, once) {
                return vec![Cmd::ask(Approve { id: *id, decision, message: None, rule: None, scope: None })];
            }
            let is_listed = model.decided.is_none();
            model.question = Some(Question {
                id: *id,
                list: is_listed.then(|| CallList::new(&call, following)).flatten(),
                call,
                rule: rule.as_deref().map(|rule| spell_name(rule).into_owned()),
                rules: rules.clone(),
                selected: 0,
                once,
                waiting: *waiting,
                stage: QuestionStage::default(),
                scrolled: 0,
                draft: String::new(),
            });
        }
        Event::ApprovalEnd { id, .. } => {
            if let Some(question) = model.question.take_if(|question| *id == Some(question.id)) {
                model.editor.restore(&[question.draft]);
            }
        }
        _ => {}
    }
    Vec::new()
}

/// A key while a question is open; `None` leaves it to the editor.
pub(super) fn key(model: &mut Model, key: KeyEvent) -> Option<Vec<Cmd>> {
    let stage = model.question.as_ref()?.stage;
    let actions = model.preferences.keymap.actions(Context::Editor, key);
    let does = |action: Action| actions.contains(&action);
    let typed = typed(key);
    match stage {
        _ if does(Action::AnswerQuestion) && !model.editor.is_completing() => {
            let is_answering = stage == QuestionStage::Answering;
            go_to(model, if is_answering { QuestionStage::Shown } else { QuestionStage::Answering })
        }
        QuestionStage::Shown => None,
        QuestionStage::Answering if model.question.as_ref()?.list.is_some() => {
            let outcome = call_list::key(model, (key, typed), (does(Action::Submit), does(Action::Interrupt)))?;
            Some(outcome.map_or_else(Vec::new, |mark| decide(model, mark)))
        }
        QuestionStage::Answering => match typed {
            Some(letter) => Some(chosen(model, letter)),
            None => scroll(model, key),
        },
        QuestionStage::Choosing => match typed {
            Some(letter) => Some(chosen_scope(model, letter)),
            None if does(Action::Interrupt) => go_to(model, QuestionStage::Answering),
            // The scope that lasts the shortest time. The draft is not sent meanwhile.
            None if does(Action::Submit) => Some(chosen_scope(model, 's')),
            None => select(model, key),
        },
        QuestionStage::Explaining if does(Action::Interrupt) => go_to(model, QuestionStage::Answering),
        QuestionStage::Explaining if does(Action::Submit) => {
            let why = model.editor.draft();
            model.editor.clear();
            let mut cmds = answer(model, Answer { message: Some(why), ..Answer::of(ApprovalDecision::Reject) });
            cmds.push(ProgramTask::SaveDraft(model.kept_draft()).into());
            Some(cmds)
        }
        QuestionStage::Explaining => None,
    }
}

/// Answers the first call of a list as it is marked. The others are answered when their turn comes.
fn decide(model: &mut Model, mark: CallMark) -> Vec<Cmd> {
    let once = model.question.as_ref().map_or(ApprovalDecision::AllowOnce, |question| question.once);
    match mark {
        CallMark::ByItself => Vec::new(),
        CallMark::Allow => answer(model, Answer::of(once)),
        CallMark::Refuse => answer(model, Answer::of(ApprovalDecision::Reject)),
    }
}

/// The letter of a key, in lower case.
fn typed(key: KeyEvent) -> Option<char> {
    let is_plain = key.modifiers.difference(KeyModifiers::SHIFT).is_empty() && key.kind != KeyEventKind::Release;
    match key.code {
        KeyCode::Char(letter) if is_plain => Some(letter.to_ascii_lowercase()),
        _ => None,
    }
}

fn chosen(model: &mut Model, letter: char) -> Vec<Cmd> {
    let Some(Question { rule, rules, once, .. }) = &model.question else { return Vec::new() };
    let (has_rule, has_rules, once) = (rule.is_some(), !rules.is_empty(), *once);
    match letter {
        'y' => answer(model, Answer::of(once)),
        's' if has_rule => answer(model, Answer::of(ApprovalDecision::AllowSession)),
        'a' if has_rules => go_to(model, QuestionStage::Choosing).unwrap_or_default(),
        'n' => answer(model, Answer::of(ApprovalDecision::Reject)),
        't' => go_to(model, QuestionStage::Explaining).unwrap_or_default(),
        _ => Vec::new(),
    }
}

/// A digit selects a rule, a letter says where it counts.
fn chosen_scope(model: &mut Model, letter: char) -> Vec<Cmd> {
    let Some(question) = &mut model.question else { return Vec::new() };
    if let Some(number) = letter.to_digit(10).and_then(|number| usize::try_from(number).ok()) {
        question.selected = number.saturating_sub(1).min(question.rules.len().saturating_sub(1));
        return Vec::new();
    }
    let scope = match letter {
        's' => ApprovalScope::Session,
        'p' => ApprovalScope::Project,
        'e' => ApprovalScope::Everywhere,
        _ => return Vec::new(),
    };
    let rule = question.rules.get(question.selected).map(|offered| offered.rule.clone());
    answer(model, Answer { rule, scope: Some(scope), ..Answer::of(ApprovalDecision::AllowAlways) })
}

fn select(model: &mut Model, key: KeyEvent) -> Option<Vec<Cmd>> {
    let question = model.question.as_mut()?;
    let last = question.rules.len().saturating_sub(1);
    question.selected = match key.code {
        KeyCode::Up => question.selected.saturating_sub(1),
        KeyCode::Down => (question.selected + 1).min(last),
        _ => return None,
    };
    Some(Vec::new())
}

/// What is answered to the open question.
struct Answer {
    decision: ApprovalDecision,
    message: Option<String>,
    rule: Option<String>,
    scope: Option<ApprovalScope>,
}

impl Answer {
    fn of(decision: ApprovalDecision) -> Self {
        Self { decision, message: None, rule: None, scope: None }
    }
}

fn answer(model: &mut Model, answer: Answer) -> Vec<Cmd> {
    let Some(Question { id, draft, .. }) = model.question.take() else { return Vec::new() };
    model.editor.restore(&[draft]);
    let Answer { decision, message, rule, scope } = answer;
    vec![Cmd::ask(Approve { id, decision, message, rule, scope })]
}

/// What was being written is put aside while the editor takes the reason, and comes back after it.
fn go_to(model: &mut Model, stage: QuestionStage) -> Option<Vec<Cmd>> {
    let question = model.question.as_mut()?;
    question.stage = stage;
    let draft = std::mem::take(&mut question.draft);
    if stage == QuestionStage::Explaining {
        question.draft = model.editor.draft();
        model.editor.clear();
    } else {
        model.editor.restore(&[draft]);
    }
    Some(Vec::new())
}

/// Moves the rows of the call by a row or a page.
fn scroll(model: &mut Model, key: KeyEvent) -> Option<Vec<Cmd>> {
    let (rows, page) = view::question_rows(model);
    let question = model.question.as_mut()?;
    let last = rows.saturating_sub(page);
    let now = question.scrolled.min(last);
    question.scrolled = match key.code {
        KeyCode::Up => now.saturating_sub(1),
        KeyCode::Down => now + 1,
        KeyCode::PageUp => now.saturating_sub(page),
        KeyCode::PageDown => now + page,
        _ => return None,
    }
    .min(last);
    Some(Vec::new())
}

/// Shows the modes, with what each lets run.
pub(super) fn pick(model: &mut Model) -> Vec<Cmd> {
    let choice = |mode: ApprovalMode| Choice {
        detail: match mode {
            ApprovalMode::Auto => "everything runs but critical commands",
            ApprovalMode::Edits => "reads and changes in this folder run, the rest asks",
            ApprovalMode::Ask => "reads in this folder run, the rest asks",
            ApprovalMode::ReadOnly => "reads run, the rest is refused",
            ApprovalMode::Plan => "reads run, the network asks, the rest waits for a plan that you accept",
        }
        .to_owned(),
        is_current: model.approval == mode,
        ..Choice::new(mode.as_str())
    };
    let pick = Pick::new("What the model may do unasked", ApprovalMode::ALL.map(choice).into());
    model.overlay = Some(Overlay::Pick(Box::new(pick), Picking::Approval));
    Vec::new()
}
