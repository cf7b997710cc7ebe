//! `/sandbox`: what the commands of the model run in, and another sandbox until the program ends. Sets none up.

use std::sync::Arc;

use offshoot_agent::agent_session::AgentSession;
use offshoot_agent::request_queue::{NextSandbox, SetSandbox};
use offshoot_agent::sandbox::SandboxCoverage;
use offshoot_app::agent::{switch_sandbox, why_sandbox};
use offshoot_app::error::{CommandError, FailureKind, Result};
use offshoot_protocol::{AgentError, SandboxMode};
use offshoot_session::session::Session;
use offshoot_session::transcript::Level;

use super::actions::read;
use super::job_context::JobContext;
use super::session_facts;

/// Switches to a mode, or says which one counts and why.
pub(super) async fn run(context: &JobContext, agent: &AgentSession, mode: Option<SandboxMode>) -> Result<()> {
    let failed = |error: AgentError| CommandError::new(FailureKind::Failed, error.to_string());
    if let Some(mode) = mode {
        let (app, args) = (context.app.clone(), Arc::clone(&context.args));
        let next = read(agent, move |session: &Session| switch_sandbox(&app, &args, session, mode)).await?;
        agent.ask(SetSandbox(NextSandbox(next.map(Arc::new)))).await.map_err(failed)?;
        session_facts::look(context, agent).await;
    }
    let (app, args) = (context.app.clone(), Arc::clone(&context.args));
    let why = read(agent, move |session: &Session| why_sandbox(&app, &args, session)).await?;
    let (level, words) = match agent.state().await.map_err(failed)?.sandbox {
        None => (Level::Info, "sandbox: off: commands do what you could do".to_owned()),
        Some(report) if report.coverage == SandboxCoverage::Whole => (Level::Info, report.words),
        Some(report) => (Level::Warning, report.words),
    };
    context.notice(level, format!("{words} ({why})"));
    Ok(())
}
