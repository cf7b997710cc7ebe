//! Handles the agent's events and answers.

use offshoot_protocol::message::{Message, StopReason};
use offshoot_protocol::request::{
    ClearedQueue, FollowUp, Prompt, RunBash, SetApproval, SetModel, Spoken, Steer, UserPrompt,
};
use offshoot_protocol::{AgentError, Event, Settled};

use super::leaving::take_back_queue;
use super::{agents, approval, overlay};
use crate::app::ask::TerminalAnswer;
use crate::app::cmd::{Cmd, ProgramTask};
use crate::app::model::Model;
use offshoot_session::json::Json;
use offshoot_session::text::counted;
use offshoot_session::todo::{TODO_TOOL, TodoList};
use offshoot_session::transcript::Level;
use serde_json::Value;

pub(super) fn event(model: &mut Model, event: &Event) -> Vec<Cmd> {
    model.conversation.set_now(model.now);
    model.conversation.apply(event);
    if model.conversation.answer().is_none() {
        let unsent = model.unsent_notice.take();
        unsent.into_iter().for_each(|text| model.notice(Level::Warning, text));
    }
    model.heard_at = model.now;
    if matches!(event, Event::MessageEnd { .. } | Event::TurnEnd { .. } | Event::AgentStart) {
        model.extensions.invalidate_all();
    }
    // Servers may use the id of a call again.
    if matches!(event, Event::MessageEnd { message: Message::Assistant(_) } | Event::AgentSettled { .. }) {
        model.decided = None;
    }
    match event {
        Event::AgentStart => {
            (model.is_working, model.is_in_run) = (true, true);
            model.extensions.called = None;
            model.retry_at = None;
        }
        Event::AutoRetryStart { delay_ms, attempt, max_attempts, .. }
        | Event::SummarizationRetryScheduled { delay_ms, attempt, max_attempts, .. } => {
            model.retry_number = (*attempt, *max_attempts);
            let delay = i64::try_from(*delay_ms).unwrap_or(i64::MAX);
            model.retry_at = Some(model.now.saturating_add(delay));
        }
        Event::SummarizationRetryAttemptStart { .. } | Event::SummarizationRetryFinished => model.retry_at = None,
        Event::AgentSettled { .. } => {
            (model.is_working, model.is_in_run) = (false, false);
            model.retry_at = None;
            let mut cmds = vec![ProgramTask::ReadSessionFacts.into()];
            // A run that has failed sends no more messages.
            if !(model.queue.0.is_empty() && model.queue.1.is_empty()) {
                cmds.push(take_back_queue(model));
            }
            return cmds;
        }
        Event::MessageEnd { message: Message::Assistant(answer) } => {
            model.facts.cost += answer.usage.cost.total;
            if !matches!(answer.stop_reason, StopReason::Aborted | StopReason::Error) && answer.usage.total_tokens > 0 {
                model.facts.tokens = answer.usage.total_tokens;
            }
        }
        Event::ToolExecutionEnd { tool_name, result, is_error, .. } => {
            let list = result.details.as_ref().filter(|_| tool_name == TODO_TOOL && !is_error).and_then(listed);
            model.facts.todo = list.or(model.facts.todo.take());
        }
        Event::QueueUpdate { steering, follow_up } => {
            model.queue = (steering.clone(), follow_up.clone());
            model.editor.set_queue(steering.clone(), follow_up.clone());
            return save_draft(model);
        }
        Event::ChildStart { child } | Event::ChildUpdate { child } | Event::ChildEnd { child } => {
            return agents::told(model, child);
        }
        Event::BackgroundCommands { commands } => model.background.clone_from(commands),
        Event::ApprovalRequest { .. } | Event::ApprovalEnd { .. } => return approval::event(model, event),
        Event::ApprovalModeChanged { mode } => model.approval = *mode,
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
        // They take the place of the editor, as questions of extensions do.
        | Event::QuestionRequest { .. }
        | Event::QuestionEnd { .. }
        | Event::ToolExecutionStart { .. }
        | Event::ToolExecutionUpdate { .. }
        | Event::BashExecutionUpdate { .. }
        | Event::AutoRetryEnd { .. }
        | Event::CompactionStart { .. }
        | Event::SessionChanged { .. }
        | Event::SessionShutdown { .. }
        | Event::Failed { .. } => {}
    }
    Vec::new()
}

/// The list in the details of a result.
fn listed(details: &Value) -> Option<TodoList> {
    let text = details.to_string();
    TodoList::of_details(Json::parse(&text).ok()?)
}

/// A look that began before a change arrives after it, with the state before it. Therefore each change asks for another look.
pub(super) fn answered(model: &mut Model, answer: TerminalAnswer) -> Vec<Cmd> {
    let look = || vec![ProgramTask::ReadSessionFacts.into()];
    match answer {
        TerminalAnswer::Prompt(Prompt(said), Ok(spoken)) => prompt_ended(model, &said, spoken),
        TerminalAnswer::Prompt(Prompt(said), Err(error)) => prompt_refused(model, said, &error),
        TerminalAnswer::Steer(Steer(said), Err(error)) | TerminalAnswer::FollowUp(FollowUp(said), Err(error)) => {
            restore(model, &said);
            refused(model, &error)
        }
        TerminalAnswer::ClearQueue(_, Ok(ClearedQueue { steering, follow_up })) => {
            let waiting: Vec<String> = steering.into_iter().chain(follow_up).collect();
            model.editor.restore(&waiting);
            if std::mem::take(&mut model.tells_unsent) && !waiting.is_empty() {
                let unsent = counted(waiting.len(), "queued message was", "queued messages were");
                let text = format!("{unsent} not sent: back in the editor");
                // Not between two paragraphs of the answer that is being stopped.
                match model.conversation.answer() {
                    Some(_) => model.unsent_notice = Some(text),
                    None => model.notice(Level::Warning, text),
                }
            }
            save_draft(model)
        }
        TerminalAnswer::RunBash(_, Ok(ran)) => {
            model.conversation.shell_ended(&ran);
            look()
        }
        TerminalAnswer::RunBash(RunBash { command, .. }, Err(error)) => {
            if !matches!(error, AgentError::Busy(_)) {
                model.conversation.drop_shell();
            }
            model.editor.restore(&[format!("!{command}")]);
            refused(model, &error)
        }
        TerminalAnswer::StartSession(_, Ok(forked))
        | TerminalAnswer::SwitchSession(_, Ok(forked))
        | TerminalAnswer::Fork(_, Ok(forked))
        | TerminalAnswer::CloneSession(_, Ok(forked)) => {
            overlay::arrived(model);
            forked.text.into_iter().for_each(|text| model.editor.replace(&text));
            let came = forked.files.filter(|came| !came.words.is_empty());
            came.into_iter().for_each(|came| model.notice(Level::Info, came.words.join("\n")));
            Vec::new()
        }
        TerminalAnswer::SetModel(SetModel(answers), Ok(())) => {
            model.facts.model = Some(answers);
            look()
        }
        TerminalAnswer::SetThinkingLevel(_, Ok(level)) => {
            model.facts.thinking = Some(level);
            look()
        }
        TerminalAnswer::SetApproval(SetApproval(mode), Ok(())) => {
            model.approval = mode;
            look()
        }
        // The event has reported it, or the question is gone.
        TerminalAnswer::StopBackground(_, Ok(_))
        | TerminalAnswer::Compact(..)
        | TerminalAnswer::Approve(..)
        | TerminalAnswer::AnswerForm(..) => Vec::new(),
        TerminalAnswer::Steer(_, Ok(_))
        | TerminalAnswer::FollowUp(_, Ok(_))
        | TerminalAnswer::Abort(_, Ok(_))
        | TerminalAnswer::AbortBash(_, Ok(()))
        | TerminalAnswer::ToChild(_, Ok(()))
        | TerminalAnswer::SetSteeringMode(_, Ok(()))
        | TerminalAnswer::SetFollowUpMode(_, Ok(()))
        | TerminalAnswer::SetRunSettings(_, Ok(())) => Vec::new(),
        TerminalAnswer::ToChild(order, Err(error)) => agents::refused(model, &order, &error),
        TerminalAnswer::ClearQueue(_, Err(error))
        | TerminalAnswer::Abort(_, Err(error))
        | TerminalAnswer::AbortBash(_, Err(error))
        | TerminalAnswer::StartSession(_, Err(error))
        | TerminalAnswer::SwitchSession(_, Err(error))
        | TerminalAnswer::Fork(_, Err(error))
        | TerminalAnswer::CloneSession(_, Err(error))
        | TerminalAnswer::SetModel(_, Err(error))
        | TerminalAnswer::SetThinkingLevel(_, Err(error))
        | TerminalAnswer::SetSteeringMode(_, Err(error))
        | TerminalAnswer::SetFollowUpMode(_, Err(error))
        | TerminalAnswer::SetRunSettings(_, Err(error))
        | TerminalAnswer::SetApproval(_, Err(error))
        | TerminalAnswer::StopBackground(_, Err(error)) => refused(model, &error),
    }
}

fn prompt_ended(model: &mut Model, said: &UserPrompt, spoken: Spoken<Settled>) -> Vec<Cmd> {
    match spoken {
        // The prompt begins no run. An extension's command may have begun one, and so may a message sent meanwhile.
        Spoken::Handled => {
            begins_no_run(model);
            Vec::new()
        }
        Spoken::Taken(Settled::Failed(why @ AgentError::Oversized(_))) => {
            restore(model, said);
            model.notice(Level::Error, why.to_string());
            save_draft(model)
        }
        Spoken::Taken(Settled::Done | Settled::Failed(_) | Settled::Aborted | Settled::Broken(_)) => Vec::new(),
    }
}

fn prompt_refused(model: &mut Model, said: UserPrompt, error: &AgentError) -> Vec<Cmd> {
    // Other work began before it, so the message is queued.
    if matches!(error, AgentError::Busy(_)) {
        return vec![Cmd::ask(Steer(said))];
    }
    // A message that was not sent is not lost. One for a turn does not end it.
    begins_no_run(model);
    restore(model, &said);
    refused(model, error)
}

fn begins_no_run(model: &mut Model) {
    model.is_working = model.is_in_run;
    model.extensions.called = None;
}

/// Says why something is not done.
fn refused(model: &mut Model, error: &AgentError) -> Vec<Cmd> {
    let why = match error {
        AgentError::NoAccess(why) => format!("{why}; /model shows who can be asked"),
        error => error.to_string(),
    };
    overlay::told(model, &why);
    model.notice(Level::Error, why);
    save_draft(model)
}

fn save_draft(model: &Model) -> Vec<Cmd> {
    vec![ProgramTask::SaveDraft(model.kept_draft()).into()]
}

/// The editor takes words only, so lost pictures are reported.
fn restore(model: &mut Model, said: &UserPrompt) {
    model.editor.restore(&[said.with_files()]);
    if !said.images.is_empty() {
        let lost = counted(said.images.len(), "picture was", "pictures were");
        model.notice(Level::Warning, format!("{lost} not sent: name the files again with @"));
    }
}
