//! Calls a person who is elsewhere: a turn has ended, or a question waits.

use crate::app::cmd::{Cmd, ScreenTask};
use crate::app::extension::AskedId;
use crate::app::model::{Model, Overlay};
use crate::app::view::title;

/// What could be a reason to call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Situation {
    is_in_run: bool,
    question: Option<WaitingQuestion>,
}

/// A question that waits for the person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WaitingQuestion {
    Approval(u64),
    Asked(AskedId),
}

impl Situation {
    pub(super) fn of(model: &Model) -> Self {
        let extension = match &model.overlay {
            Some(Overlay::Dialog(_, question)) => Some(question.id),
            _ => model.extensions.waiting.front().map(|(question, _)| question.id),
        };
        let approval = model.question.as_ref().map(|question| WaitingQuestion::Approval(question.id));
        Self { is_in_run: model.is_in_run, question: approval.or(extension.map(WaitingQuestion::Asked)) }
    }
}

/// Calls the person, if there is a reason since the situation before.
pub(super) fn call(model: &mut Model, before: Situation) -> Option<Cmd> {
    let (now, is) = (model.now, Situation::of(model));
    if is.question.is_none() {
        model.attention.due = None;
    } else if is.question != before.question {
        model.attention.asked(now);
    }
    let what = match model.attention.due.take_if(|due| *due <= now) {
        Some(_) => "a question waits for you",
        None if before.is_in_run && !is.is_in_run && model.attention.is_away(now) => "the turn has ended",
        None => return None,
    };
    let way = model.preferences.notifier.way(model.preferences.settings.notifications)?;
    // No name makes another sequence of what begins like this.
    let from = title::name(model).map_or_else(String::new, |name| format!(" {name}:"));
    Some(ScreenTask::Notify(way, format!("offshoot:{from} {what}")).into())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use offshoot_protocol::{ApprovalDecision, Event};
    use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

    use super::*;
    use crate::app::call_list::AskedCall;
    use crate::app::model::{Question, QuestionStage};
    use crate::app::msg::Msg;
    use crate::app::update::update;

    fn notices(cmds: &[Cmd]) -> Vec<String> {
        let text =
            |cmd: &Cmd| if let Cmd::Screen(ScreenTask::Notify(_, text)) = cmd { Some(text.clone()) } else { None };
        cmds.iter().filter_map(text).collect()
    }

    /// The person has typed at 1 s.
    fn typed(focus: Option<bool>) -> Model {
        let mut model = Model::default();
        update(&mut model, Msg::Now(1_000));
        focus.into_iter().for_each(|focus| drop(update(&mut model, Msg::Focus(focus))));
        update(&mut model, Msg::Key(KeyEvent::new(KeyCode::Char('x'), KeyModifiers::NONE)));
        model
    }

    #[test]
    fn the_end_of_a_turn_calls_who_is_elsewhere() {
        for (focus, at, is_called) in
            [(Some(false), 1_001, true), (Some(true), 90_000, false), (None, 10_999, false), (None, 11_000, true)]
        {
            let mut model = typed(focus);
            update(&mut model, Msg::Agent(Arc::new(Event::AgentStart)));
            update(&mut model, Msg::Now(at));
            let cmds = update(&mut model, Msg::Agent(Arc::new(Event::AgentSettled { aborted: false })));
            let expected: &[&str] = if is_called { &["offshoot: the turn has ended"] } else { &[] };
            assert_eq!(notices(&cmds), expected, "{focus:?} {at}");
        }
    }

    fn asked(model: &mut Model) -> Option<Cmd> {
        let before = Situation::of(model);
        model.question = Some(Question {
            id: 1,
            call: AskedCall::new(("c1", "bash"), &serde_json::json!({"command": "ls"}), ("", None)),
            list: None,
            rule: None,
            rules: Vec::new(),
            selected: 0,
            once: ApprovalDecision::AllowOnce,
            waiting: 0,
            stage: QuestionStage::Shown,
            scrolled: 0,
            draft: String::new(),
        });
        call(model, before)
    }

    /// Without a focus that is known, somebody who types is there; nobody is called twice about one question.
    #[test]
    fn a_question_calls_who_does_not_answer() {
        let mut model = typed(Some(false));
        assert!(asked(&mut model).is_some());
        assert!(notices(&update(&mut model, Msg::Idle)).is_empty());
        let mut model = typed(Some(true));
        assert!(asked(&mut model).is_none() && model.next_look().is_none());
        let mut model = typed(None);
        update(&mut model, Msg::Now(4_000));
        assert!(asked(&mut model).is_none());
        assert_eq!(model.next_look(), Some(7_000));
        update(&mut model, Msg::Now(11_000));
        assert_eq!(notices(&update(&mut model, Msg::Idle)), ["offshoot: a question waits for you"]);
        let mut model = typed(None);
        asked(&mut model);
        update(&mut model, Msg::Key(KeyEvent::new(KeyCode::Char('x'), KeyModifiers::NONE)));
        update(&mut model, Msg::Now(90_000));
        assert!(notices(&update(&mut model, Msg::Idle)).is_empty());
    }

    #[test]
    fn a_name_is_no_part_of_a_sequence() {
        let mut model = typed(Some(false));
        model.facts.name = Some(format!("a\x1b]0;b\x07\u{9c}{}", "c".repeat(500)));
        let Some(Cmd::Screen(ScreenTask::Notify(_, text))) = asked(&mut model) else { panic!("nobody is called") };
        assert!(!text.contains(char::is_control) && text.len() < 140, "{text:?}");
        let title = title::title(&model).unwrap();
        assert!(!title.contains(char::is_control) && title.len() < 140, "{title:?}");
        model.extensions.title = Some("mine".to_owned());
        assert_eq!(title::title(&model).as_deref(), Some("mine"));
    }
}
