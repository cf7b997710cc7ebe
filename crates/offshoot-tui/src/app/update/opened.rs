//! Opens another session, or another place in the session.

use crate::app::children::ChildAgents;
use crate::app::cmd::{Cmd, ProgramTask, Purpose};
use crate::app::model::{Model, Overlay};
use crate::app::msg::{Opened, OpenedReason, SessionFacts};
use crate::editor::Choice;
use crate::slash::Argument;
use crate::theme::Token;
use offshoot_protocol::SessionChangeReason;
use offshoot_session::text::counted;
use offshoot_session::transcript::Level;

/// Shows the last blocks of the place. The terminal keeps the rows above.
pub(super) fn opened(model: &mut Model, mut opened: Opened) -> Vec<Cmd> {
    model.conversation.leave_place();
    (model.is_working, model.is_in_run) = (false, false);
    model.start = opened.start.take();
    if let Some(what) = separator(&opened) {
        model.notice(Level::Info, what);
    }
    if opened.hidden > 0 && opened.reason != OpenedReason::Grown {
        let key = model.preferences.keymap.hint(crate::keymap::Action::OpenTranscript).unwrap_or_default();
        let messages = counted(opened.hidden, "earlier message", "earlier messages");
        let them = if opened.hidden == 1 { "it" } else { "them" };
        model.notice(Level::Info, format!("{messages}: {key} shows {them}"));
    }
    model.live.hold(opened.held);
    model.conversation.open_place(opened.tail, opened.entries);
    if matches!(opened.reason, OpenedReason::Grown | OpenedReason::Changed(SessionChangeReason::Tree)) {
        model.conversation.arrive();
    }
    let mut cmds = vec![ProgramTask::ReadSessionFacts.into(), ProgramTask::ReadChildren.into()];
    if !matches!(opened.reason, OpenedReason::Grown | OpenedReason::Changed(SessionChangeReason::Tree)) {
        model.agents = ChildAgents::default();
    }
    // A hit in another session was read there, and the user goes on from it.
    let is_other = matches!(opened.reason, OpenedReason::Start | OpenedReason::Changed(SessionChangeReason::Resume));
    match &model.goes_on_at {
        Some(_) if is_other => cmds.push(ProgramTask::Snapshot(Purpose::GoOn).into()),
        Some(_) if opened.reason != OpenedReason::Grown => model.goes_on_at = None,
        Some(_) | None => {}
    }
    // The transcript belongs to another place.
    if matches!(model.overlay, Some(Overlay::Transcript(_))) {
        cmds.push(ProgramTask::Snapshot(Purpose::Transcript).into());
    }
    cmds
}

fn separator(opened: &Opened) -> Option<String> {
    let OpenedReason::Changed(reason) = opened.reason else { return None };
    Some(match reason {
        SessionChangeReason::New => "a new session".to_owned(),
        SessionChangeReason::Resume => format!("session {}", opened.id),
        SessionChangeReason::Fork => format!("a new session, begun from the other: {}", opened.id),
        SessionChangeReason::Tree => "at another place of the tree".to_owned(),
    })
}

/// Updates the state of the session and of the model.
pub(super) fn take_facts(model: &mut Model, facts: SessionFacts) {
    // A session of another folder may have a stricter one.
    model.approval = facts.approval.unwrap_or(model.approval);
    model.facts = facts;
    border(model);
    let levels = model.facts.model.as_ref().map(|answers| answers.levels()).unwrap_or_default();
    let levels = levels.iter().map(|level| Choice::new(level.as_str())).collect();
    let sessions = sessions(model);
    model.editor.offer(|offers| {
        offers.set(Argument::Thinking, levels);
        offers.set(Argument::Session, sessions);
    });
}

/// The other sessions that were open, the latest first. A session without messages is in no file.
fn sessions(model: &mut Model) -> Vec<Choice> {
    let SessionFacts { id, name, path, branches, .. } = &model.facts;
    model.visited.retain(|(visited, _)| visited != id);
    let choice = |(id, name): &(String, Option<String>)| match name {
        Some(name) => Choice { insert: id.clone(), label: name.clone(), detail: id.clone() },
        None => Choice::new(id),
    };
    let others = model.visited.iter().rev().map(choice).collect();
    if path.is_some() && *branches > 0 {
        model.visited.push((id.clone(), name.clone()));
    }
    others
}

/// Sets the colour of the editor's border to the thinking level.
fn border(model: &mut Model) {
    use offshoot_protocol::ThinkingLevel as Level;
    model.editor.set_border(match model.facts.thinking {
        None | Some(Level::Off) => Token::ThinkingOff,
        Some(Level::Minimal) => Token::ThinkingMinimal,
        Some(Level::Low) => Token::ThinkingLow,
        Some(Level::Medium) => Token::ThinkingMedium,
        Some(Level::High) => Token::ThinkingHigh,
        Some(Level::XHigh) => Token::ThinkingXhigh,
        Some(Level::Max) => Token::ThinkingMax,
    });
}
