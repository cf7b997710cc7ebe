//! What the front end shows of the open session beside its words.

use offshoot_agent::agent_session::AgentSession;
use offshoot_session::entry::Source as _;
use offshoot_session::error::{Code, Error};
use offshoot_session::session::Session;
use offshoot_session::stats;
use offshoot_session::tokens::Estimator;
use offshoot_tui::app::msg::{Diverged, Looked, Persistence};

use crate::app::App;

pub(super) async fn look(app: &App, agent: &AgentSession) -> Result<Looked, String> {
    let standing = agent.standing().await.map_err(|error| error.to_string())?;
    let read = agent.read(seen).await.map_err(|error| error.to_string())?;
    let looked = read.map_err(|error| error.to_string())?;
    Ok(Looked {
        file: looked.file.map(|file| app.settings.short(&file)),
        cwd: app.settings.short(&looked.cwd),
        model: Some(standing.model),
        thinking: Some(standing.thinking),
        ..looked
    })
}

/// What the session itself says.
fn seen(session: &Session) -> Result<Looked, Error> {
    let open = stats::branches(session, session.leaf())?;
    let totals = stats::totals(session)?;
    let branch = open.iter().find(|branch| branch.is_open);
    let named = branch.and_then(|branch| branch.label.clone().or_else(|| Some(branch.last_words.clone())));
    let diverged = session.diagnostics().iter().rev().find(|told| told.code == Code::Diverged);
    let diverged = diverged
        .and_then(|told| Some(Diverged { entry: told.entry.as_ref()?.to_string(), message: told.message.clone() }));
    let is_spilled = session.diagnostics().iter().any(|told| told.code == Code::Spilled);
    Ok(Looked {
        id: session.id().to_owned(),
        file: session.file().map(|file| file.display().to_string()),
        name: session.name()?,
        cwd: session.cwd().unwrap_or_default().to_owned(),
        tokens: tokens(session)?,
        cost: totals.cost,
        branch: named.filter(|named| !named.is_empty()),
        branches: open.len(),
        persistence: match session.file() {
            None => Persistence::InMemory,
            Some(_) if is_spilled => Persistence::Spilled,
            Some(_) => Persistence::Durable,
        },
        diverged,
        ..Looked::default()
    })
}

/// How full the context is.
fn tokens(session: &Session) -> Result<u64, Error> {
    if session.tree().is_empty() {
        return Ok(0);
    }
    let mut estimator = Estimator::default();
    for message in session.context()?.messages(session) {
        estimator.add(message?.json());
    }
    Ok(estimator.finish().tokens)
}
