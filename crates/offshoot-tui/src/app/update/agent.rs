//! Handles the agent's events and replies.

use std::sync::Arc;

use offshoot_agent::command::{Command, Reply, UserPrompt};
use offshoot_agent::error::AgentError;
use offshoot_agent::event::Event;
use offshoot_agent::message::{Message, StopReason};
use offshoot_agent::turn::{BringBack, Navigated, Settled};

use super::{approval, overlay};
use crate::app::cmd::{Cmd, ProgramTask};
use crate::app::model::{Model, Overlay};
use offshoot_session::text::counted;
use offshoot_session::transcript::Level;

pub(super) fn event(model: &mut Model, event: &Event) -> Vec<Cmd> {
    model.conversation.apply(event);
    if matches!(event, Event::MessageEnd { .. } | Event::TurnEnd { .. } | Event::AgentStart) {
        model.extensions.invalidate_all();
    }
    match event {
        Event::AgentStart => {
            (model.is_working, model.is_in_run) = (true, true);
            model.extensions.called = None;
            model.retry_at = None;
        }
        Event::AutoRetryStart { delay_ms, .. } | Event::SummarizationRetryScheduled { delay_ms, .. } => {
            let delay = i64::try_from(*delay_ms).unwrap_or(i64::MAX);
            model.retry_at = Some(model.now.saturating_add(delay));
        }
        Event::SummarizationRetryAttemptStart { .. } | Event::SummarizationRetryFinished => model.retry_at = None,
        Event::AgentSettled { .. } => {
            (model.is_working, model.is_in_run) = (false, false);
            model.retry_at = None;
            return vec![ProgramTask::ReadSessionFacts.into()];
        }
        Event::MessageEnd { message: Message::Assistant(answer) } => {
            model.facts.cost += answer.usage.cost.total;
            if !matches!(answer.stop_reason, StopReason::Aborted | StopReason::Error) && answer.usage.total_tokens > 0 {
                model.facts.tokens = answer.usage.total_tokens;
            }
        }
        Event::QueueUpdate { steering, follow_up } => {
            model.queue = (steering.clone(), follow_up.clone());
            model.editor.set_queue(steering.clone(), follow_up.clone());
        }
        Event::ApprovalRequest { .. } | Event::ApprovalEnd { .. } => approval::event(model, event),
        Event::SessionInfoChanged { name } => model.facts.name.clone_from(name),
        Event::ThinkingLevelChanged { .. }
        | Event::CompactionEnd { .. }
        | Event::EntryAppended { .. }
        | Event::Notice { .. } => {
            return vec![ProgramTask::ReadSessionFacts.into()];
        }
        Event::AgentEnd { .. }
        | Event::TurnStart
        | Event::SummarizationUpdate { .. }
        | Event::TurnEnd { .. }
        | Event::MessageStart { .. }
        | Event::MessageUpdate { .. }
        | Event::MessageEnd { message: Message::User(_) | Message::ToolResult(_) | Message::Custom(_) }
        | Event::SystemStart { .. }
        | Event::SystemEnd { .. }
        | Event::ToolExecutionStart { .. }
        | Event::ToolExecutionUpdate { .. }
        | Event::ToolExecutionEnd { .. }
        | Event::BashExecutionUpdate { .. }
        | Event::AutoRetryEnd { .. }
        | Event::CompactionStart { .. }
        | Event::SessionChanged { .. }
        | Event::SessionShutdown { .. }
        | Event::Failed { .. } => {}
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
    model.conversation.take_reply(&reply);
    match reply {
        Reply::Queue(steering, follow_up) => {
            let waiting: Vec<String> = steering.into_iter().chain(follow_up).collect();
            model.editor.restore(&waiting);
            vec![ProgramTask::SaveDraft(model.editor.draft()).into()]
        }
        Reply::Ran(_) => vec![ProgramTask::ReadSessionFacts.into()],
        Reply::Navigated(navigated) => arrived(model, navigated),
        Reply::Session(forked) => {
            overlay::arrived(model);
            if let Some(text) = forked.text {
                model.editor.replace(&text);
            }
            Vec::new()
        }
        Reply::Thinking(level) => {
            model.facts.thinking = Some(level);
            vec![ProgramTask::ReadSessionFacts.into()]
        }
        Reply::Done => done(model, command),
        // The prompt begins no run. An extension's command may have begun one, and so may a message sent meanwhile.
        Reply::Handled => {
            if matches!(command, Command::Prompt(_)) {
                model.is_working = model.is_in_run;
                model.extensions.called = None;
            }
            Vec::new()
        }
        Reply::Settled(Settled::Failed(why @ AgentError::Oversized(_))) => {
            if let Command::Prompt(said) = command {
                restore(model, said);
            }
            model.notice(Level::Error, why.to_string());
            vec![ProgramTask::SaveDraft(model.editor.draft()).into()]
        }
        Reply::Entry(_)
        | Reply::Settled(_)
        | Reply::Compacted(_)
        | Reply::Standing(_)
        | Reply::BuiltIn(_)
        | Reply::Outcome(_) => Vec::new(),
    }
}

/// A look that began before a change arrives after it, with the state before it. Therefore each change asks for another look.
fn done(model: &mut Model, command: &Command) -> Vec<Cmd> {
    match command {
        Command::SetModel(answers) => {
            model.facts.model = Some(Arc::clone(answers));
            vec![ProgramTask::ReadSessionFacts.into()]
        }
        Command::SetLabel { .. } => vec![ProgramTask::ReadSessionFacts.into()],
        Command::SetApproval(mode) => {
            model.approval = *mode;
            vec![ProgramTask::ReadSessionFacts.into()]
        }
        Command::Prompt(_)
        | Command::Steer(_)
        | Command::FollowUp(_)
        | Command::Inject { .. }
        | Command::InjectUser { .. }
        | Command::AppendEntry { .. }
        | Command::SetTools { .. }
        | Command::SetActiveTools(_)
        | Command::ClearQueue
        | Command::Abort
        | Command::WaitForIdle
        | Command::Bash { .. }
        | Command::AbortBash
        | Command::Compact { .. }
        | Command::NavigateTree(_)
        | Command::BringBack(_)
        | Command::Operate(_)
        | Command::NewSession { .. }
        | Command::SwitchSession { .. }
        | Command::Fork { .. }
        | Command::ForkAt { .. }
        | Command::Clone
        | Command::PrepareSession(_)
        | Command::SetThinkingLevel(_)
        | Command::SetName(_)
        | Command::SetSteeringMode(_)
        | Command::SetFollowUpMode(_)
        | Command::SetAutoCompaction(_)
        | Command::SetAutoRetry(_)
        | Command::SetRules(_)
        | Command::SetSystemPrompt(_)
        | Command::SetResources(_)
        | Command::Reload(_)
        | Command::Approve { .. }
        | Command::Inspect
        | Command::BuiltIn(_)
        | Command::RunNested(_) => Vec::new(),
    }
}

/// Handles the end of a navigation in the tree.
fn arrived(model: &mut Model, navigated: Navigated) -> Vec<Cmd> {
    if navigated.aborted {
        if let Some(Overlay::Tree(tree)) = &mut model.overlay {
            tree.stopped();
        }
        return Vec::new();
    }
    overlay::arrived(model);
    // The draft takes precedence, as in pi.
    if let Some(text) = navigated.editor_text.filter(|_| model.editor.is_empty()) {
        model.editor.replace(&text);
    }
    vec![ProgramTask::SaveDraft(model.editor.draft()).into()]
}

fn refused(model: &mut Model, command: &Command, error: &AgentError) -> Vec<Cmd> {
    match command {
        // Other work began before it, so the message is queued.
        Command::Prompt(said) if matches!(error, AgentError::Busy(_)) => {
            return vec![Cmd::ask(Command::Steer(said.clone()))];
        }
        // A message that was not sent is not lost. One for a turn does not end it.
        Command::Prompt(said) => {
            model.is_working = model.is_in_run;
            model.extensions.called = None;
            restore(model, said);
        }
        Command::Steer(said) | Command::FollowUp(said) => restore(model, said),
        Command::Bash { command, .. } => {
            if !matches!(error, AgentError::Busy(_)) {
                model.conversation.drop_shell();
            }
            model.editor.restore(&[format!("!{command}")]);
        }
        // Other work continues, and its row stays.
        Command::NavigateTree(_) | Command::BringBack(_) if matches!(error, AgentError::Busy(_)) => {}
        Command::NavigateTree(_) | Command::BringBack(_) => model.conversation.set_job(None),
        // The event has reported it, or the question is gone.
        Command::Compact { .. } | Command::Approve { .. } => return Vec::new(),
        Command::ClearQueue
        | Command::Abort
        | Command::WaitForIdle
        | Command::AbortBash
        | Command::Operate(_)
        | Command::NewSession { .. }
        | Command::SwitchSession { .. }
        | Command::Fork { .. }
        | Command::ForkAt { .. }
        | Command::Clone
        | Command::PrepareSession(_)
        | Command::SetModel(_)
        | Command::Inject { .. }
        | Command::InjectUser { .. }
        | Command::AppendEntry { .. }
        | Command::SetTools { .. }
        | Command::SetActiveTools(_)
        | Command::SetThinkingLevel(_)
        | Command::SetName(_)
        | Command::SetLabel { .. }
        | Command::SetSteeringMode(_)
        | Command::SetFollowUpMode(_)
        | Command::SetAutoCompaction(_)
        | Command::SetAutoRetry(_)
        | Command::SetRules(_)
        | Command::SetSystemPrompt(_)
        | Command::SetResources(_)
        | Command::Reload(_)
        | Command::SetApproval(_)
        | Command::Inspect
        | Command::BuiltIn(_)
        | Command::RunNested(_) => {}
    }
    let why = match error {
        AgentError::NoAccess(why) => format!("{why}; /model shows who can be asked"),
        AgentError::Busy(why) => format!("{}{why}", not_done(command)),
        error => error.to_string(),
    };
    overlay::told(model, &why);
    model.notice(Level::Error, why);
    vec![ProgramTask::SaveDraft(model.editor.draft()).into()]
}

/// The editor takes words only, so lost pictures are reported.
fn restore(model: &mut Model, said: &UserPrompt) {
    model.editor.restore(&[said.with_files()]);
    if !said.images.is_empty() {
        let lost = counted(said.images.len(), "picture was", "pictures were");
        model.notice(Level::Warning, format!("{lost} not sent: name the files again with @"));
    }
}

/// What a refused command would have done.
fn not_done(command: &Command) -> &'static str {
    match command {
        Command::NavigateTree(_) => "not moved: ",
        Command::BringBack(BringBack::Merge { .. }) => "not merged: ",
        Command::BringBack(BringBack::Uncompact) => "not undone: ",
        _ => "",
    }
}
