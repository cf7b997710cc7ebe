//! Runs operations of the table for the terminal.

use std::path::{Path, PathBuf};

use offshoot_agent::agent_session::AgentSession;
use offshoot_app::held::{self, HeldOutcome};
use offshoot_protocol::AgentError;
use offshoot_tui::app::msg::{Msg, OperationRefusal, OperationSaid, RefusalCause};
use offshoot_tui::overlay::sessions::{Answer, Request};
use offshoot_workspace::{Failure, Given, OperationEffect, OperationOrder, Words, WordsBlock};

use super::job_context::JobContext;

pub(super) async fn operate(context: &JobContext, agent: &AgentSession, order: OperationOrder) {
    let ran = held::operate(&context.app, agent, order.clone()).await;
    if let Some((title, lines)) = ran.as_ref().ok().and_then(page) {
        return context.tell(Msg::Page(title, lines));
    }
    let result = ran.map(|outcome| said(&outcome)).map_err(|failure| OperationRefusal {
        why: held::refusal(&failure, |operation, with, says| {
            let words: Vec<&str> = with.iter().map(String::as_str).collect();
            let words: String = words.iter().map(|word| format!(" {word}")).collect();
            format!("/{operation}{words} {says}")
        }),
        cause: match &failure {
            Failure::Agent(AgentError::Busy(_)) => RefusalCause::Busy,
            Failure::Stopped => RefusalCause::Stopped,
            _ => RefusalCause::Other,
        },
    });
    context.tell(Msg::Operated(order, result));
}

/// Passes a request of the session list on. The open session is renamed where it is held, not by a second writer.
pub(super) async fn change_list(context: &JobContext, agent: &AgentSession, request: Request) {
    let Request::Rename(file, name) = request else { return context.session_list.take(request) };
    let (real, wanted) = (canonical(&file), file.clone());
    let is_open = agent.read(move |session| session.file().is_some_and(|own| own == wanted || canonical(own) == real));
    if !is_open.await.unwrap_or(false) {
        return context.session_list.take(Request::Rename(file, name));
    }
    let mut given = Given::default();
    given.put_text("text", name.clone());
    let renamed = held::operate(&context.app, agent, OperationOrder::new("name", given)).await;
    let renamed = renamed.map(|_| name.trim().to_owned()).map_err(|failure| failure.to_string());
    context.tell(Msg::Sessions(Answer::Renamed(file, renamed)));
}

fn canonical(file: &Path) -> Option<PathBuf> {
    file.canonicalize().ok()
}

/// What an operation reads and is too long for a notice, with its title.
fn page(outcome: &HeldOutcome) -> Option<(String, Vec<String>)> {
    let mut words = Words::default();
    outcome.output.words(&mut words);
    let has_read = outcome.row.about.effect == OperationEffect::Reads || words.is_answer;
    if !has_read || outcome.nothing.is_some() {
        return None;
    }
    let name = outcome.row.about.name.replace('-', " ");
    let title = name.get(..1)?.to_uppercase() + name.get(1..)?;
    words.is_long.then(|| (title, words.blocks.iter().filter_map(WordsBlock::plain).collect()))
}

fn said(outcome: &HeldOutcome) -> OperationSaid {
    OperationSaid {
        text: outcome.said(|operation, says| format!("/{operation} {says}")),
        warning: outcome.warning(),
        to_edit: outcome.to_edit(),
        is_done: outcome.nothing.is_none(),
    }
}
