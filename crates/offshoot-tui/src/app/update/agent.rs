//! What is heard of the agent, and what it answers.

use std::sync::Arc;

use offshoot_agent::command::{Command, Navigated, Reply};
use offshoot_agent::error::AgentError;
use offshoot_agent::event::Event;
use offshoot_agent::message::{Message, StopReason};
use offshoot_session::json::Json;
use offshoot_session::kind::Role;
use offshoot_session::transcript::{Item, Level};

use super::overlay;
use crate::app::cmd::{Cmd, ProgramTask};
use crate::app::model::{Model, Overlay};

pub(super) fn event(model: &mut Model, event: &Event) -> Vec<Cmd> {
    model.live.apply(event);
    if let Some(Overlay::Transcript(pager)) = &mut model.overlay {
        pager.transcript().apply(event);
    }
    match event {
        Event::AgentStart => {
            model.is_working = true;
            model.retry_at = None;
        }
        Event::AutoRetryStart { delay_ms, .. } => {
            let delay = i64::try_from(*delay_ms).unwrap_or(i64::MAX);
            model.retry_at = Some(model.now.saturating_add(delay));
        }
        Event::AgentSettled { .. } => {
            model.is_working = false;
            model.retry_at = None;
            return vec![ProgramTask::Look.into()];
        }
        Event::MessageEnd { message: Message::Assistant(answer) } => {
            model.looked.cost += answer.usage.cost.total;
            if !matches!(answer.stop_reason, StopReason::Aborted | StopReason::Error) && answer.usage.total_tokens > 0 {
                model.looked.tokens = answer.usage.total_tokens;
            }
        }
        Event::QueueUpdate { steering, follow_up } => {
            model.queue = (steering.clone(), follow_up.clone());
            model.editor.set_queue(steering.clone(), follow_up.clone());
        }
        Event::SessionInfoChanged { name } => {
            model.looked.name.clone_from(name);
            let text = name.as_ref().map_or("the session has no name now".to_owned(), |name| format!("named {name}"));
            model.notice(Level::Info, text);
        }
        Event::ThinkingLevelChanged { .. } | Event::CompactionEnd { .. } | Event::EntryAppended { .. } => {
            return vec![ProgramTask::Look.into()];
        }
        _ => {}
    }
    Vec::new()
}

pub(super) fn answered(model: &mut Model, command: &Command, result: Result<Reply, AgentError>) -> Vec<Cmd> {
    match result {
        Ok(reply) => replied(model, command, reply),
        Err(error) => refused(model, command, &error),
    }
}

fn replied(model: &mut Model, command: &Command, reply: Reply) -> Vec<Cmd> {
    match reply {
        Reply::Queue(steering, follow_up) => {
            let waiting: Vec<String> = steering.into_iter().chain(follow_up).collect();
            model.editor.restore(&waiting);
            vec![ProgramTask::SaveDraft(model.editor.draft()).into()]
        }
        Reply::Ran(raw) => {
            model.live.bash = None;
            let item = Json::parse(&raw.0).ok().map(|json| Item::of_message(Role::BashExecution, json));
            model.live.ran(item);
            vec![ProgramTask::Look.into()]
        }
        Reply::Navigated(navigated) => arrived(model, navigated),
        Reply::Session(forked) => {
            overlay::arrived(model);
            if let Some(text) = forked.text {
                model.editor.replace(&text);
            }
            Vec::new()
        }
        Reply::Thinking(level) => {
            model.looked.thinking = Some(level);
            Vec::new()
        }
        Reply::Done => done(model, command),
        Reply::Settled(_) | Reply::Compacted(_) | Reply::Standing(_) => Vec::new(),
    }
}

fn done(model: &mut Model, command: &Command) -> Vec<Cmd> {
    match command {
        Command::SetModel(answers) => {
            model.looked.model = Some(Arc::clone(answers));
            vec![ProgramTask::Look.into()]
        }
        Command::SetLabel { .. } => vec![ProgramTask::Look.into()],
        _ => Vec::new(),
    }
}

/// A walk through the tree has ended.
fn arrived(model: &mut Model, navigated: Navigated) -> Vec<Cmd> {
    model.live.job = None;
    if navigated.aborted {
        if let Some(Overlay::Tree(tree)) = &mut model.overlay {
            tree.stopped();
        }
        model.notice(Level::Info, "the summary was stopped; nothing has changed");
        return Vec::new();
    }
    overlay::arrived(model);
    if let Some(why) = navigated.warning {
        model.notice(Level::Warning, format!("the summary was put together without a model: {why}"));
    }
    // What is being written comes first, as in pi.
    if let Some(text) = navigated.editor_text.filter(|_| model.editor.is_empty()) {
        model.editor.replace(&text);
    }
    vec![ProgramTask::SaveDraft(model.editor.draft()).into()]
}

fn refused(model: &mut Model, command: &Command, error: &AgentError) -> Vec<Cmd> {
    match command {
        // What could not be said is not lost.
        Command::Prompt(said) | Command::Steer(said) | Command::FollowUp(said) => {
            model.is_working = matches!(error, AgentError::Busy(_));
            model.editor.restore(std::slice::from_ref(&said.text));
        }
        Command::Bash { command, .. } => {
            if !matches!(error, AgentError::Busy(_)) {
                model.live.bash = None;
            }
            model.editor.restore(&[format!("!{command}")]);
        }
        Command::NavigateTree(_) => model.live.job = None,
        // The event has said it.
        Command::Compact { .. } => return Vec::new(),
        _ => {}
    }
    let why = match error {
        AgentError::NoAccess(why) => format!("{why}; /model shows who can be asked"),
        error => error.to_string(),
    };
    overlay::told(model, &why);
    model.notice(Level::Error, why);
    vec![ProgramTask::SaveDraft(model.editor.draft()).into()]
}
