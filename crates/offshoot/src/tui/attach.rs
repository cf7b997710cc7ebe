//! Adds the pictures to a prompt that it names.

use offshoot_agent::agent_session::AgentSession;
use offshoot_app::agent::{may_attach, with_pictures};
use offshoot_protocol::AgentError;
use offshoot_protocol::request::{FollowUp, Prompt, Steer, UserPrompt};
use offshoot_session::text::counted;
use offshoot_session::transcript::Level;
use offshoot_tui::app::ask::{TerminalAnswer, TerminalAsk};

use super::job_context::{JobContext, blocking};

/// Whether the request may name pictures.
pub(super) fn is_asked(request: &TerminalAsk) -> bool {
    match request {
        TerminalAsk::Prompt(Prompt(said)) | TerminalAsk::Steer(Steer(said)) | TerminalAsk::FollowUp(FollowUp(said)) => {
            may_attach(said)
        }
        _ => false,
    }
}

/// The request with the pictures that its prompt names, or what the front end hears: a prompt whose picture cannot be sent
/// comes back.
pub(super) async fn attached(
    context: &JobContext,
    agent: &AgentSession,
    request: TerminalAsk,
) -> Result<TerminalAsk, TerminalAnswer> {
    match request {
        TerminalAsk::Prompt(Prompt(said)) => match with_its_pictures(context, agent, &said).await {
            Ok(said) => Ok(Prompt(said).into()),
            Err(why) => Err(TerminalAnswer::Prompt(Prompt(said), Err(why))),
        },
        TerminalAsk::Steer(Steer(said)) => match with_its_pictures(context, agent, &said).await {
            Ok(said) => Ok(Steer(said).into()),
            Err(why) => Err(TerminalAnswer::Steer(Steer(said), Err(why))),
        },
        TerminalAsk::FollowUp(FollowUp(said)) => match with_its_pictures(context, agent, &said).await {
            Ok(said) => Ok(FollowUp(said).into()),
            Err(why) => Err(TerminalAnswer::FollowUp(FollowUp(said), Err(why))),
        },
        other => Ok(other),
    }
}

/// The prompt with its pictures. Says so if the model does not see them.
async fn with_its_pictures(
    context: &JobContext,
    agent: &AgentSession,
    said: &UserPrompt,
) -> Result<UserPrompt, AgentError> {
    let cwd = agent.read(|session| session.cwd().unwrap_or_default().to_owned()).await?;
    let (app, typed) = (context.app.clone(), said.clone());
    let read = blocking(move || with_pictures(&app, typed, &cwd)).await;
    let read = read.map_err(|error| AgentError::from(error.on_one_line()))?;
    let pictures = read.images.len().saturating_sub(said.images.len());
    let state = agent.state().await?;
    if pictures > 0 && !state.model.images {
        let pictures = counted(pictures as u64, "picture", "pictures");
        let why = format!("{} takes no pictures: {pictures} will be left out", state.model.name);
        context.notice(Level::Warning, why);
    }
    Ok(read)
}
