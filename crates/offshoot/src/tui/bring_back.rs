//! Commands that bring work back, and what the next request would cost: finds what the user named.

use offshoot_agent::agent_session::AgentSession;
use offshoot_agent::branch_files::FilePatch;
use offshoot_agent::bring_plan::{merge_words, pick_words};
use offshoot_agent::forecast::{RequestPlace, request_forecast, summary_cost_words};
use offshoot_agent::request_queue::AgentState;
use offshoot_app::error::{CommandError, FailureKind, Result};
use offshoot_app::lookup;
use offshoot_session::branch_summary;
use offshoot_session::entry::Source as _;
use offshoot_session::header::Dialect;
use offshoot_session::pick::PickEnd;
use offshoot_session::provenance::{Ancestor, Origin};
use offshoot_session::session::{Session, Snapshot};
use offshoot_session::stats::words;
use offshoot_session::text::one_line;
use offshoot_tui::app::cmd::Purpose;
use offshoot_tui::app::msg::Msg;
use offshoot_tui::overlay::tree::{ForecastWish, ForecastWords};
use offshoot_workspace::compare::{ComparedBranches, Patches};
use offshoot_workspace::{find_elsewhere, navigate, not_here};

use super::actions::{find, read};
use super::job_context::{JobContext, blocking};
use super::snapshots;

/// Opens the tree with the comparison of two entries; of one, with the current entry.
pub(super) async fn compare(
    context: &JobContext,
    agent: &AgentSession,
    entry: String,
    other: Option<String>,
) -> Result<()> {
    drop(agent.refresh().await);
    let app = context.app.clone();
    let both = read(agent, move |session| {
        let first = find(&app, session, &entry)?;
        let here = || CommandError::new(FailureKind::NotFound, "this session has no entries to compare");
        let second = match &other {
            Some(other) => find(&app, session, other)?,
            None => session.leaf().ok_or_else(here)?,
        };
        Ok((first, second))
    });
    let (first, second) = both.await?;
    snapshots::snapshot(context, agent, Purpose::Compare(first, second)).await;
    Ok(())
}

/// Sends what the files of an entry would change.
pub(super) async fn files_preview(context: &JobContext, agent: &AgentSession, entry: String) {
    let (place, named) = (context.app.place(), entry.clone());
    let found = read(agent, move |session| {
        let missing = || CommandError::new(FailureKind::NotFound, "the entry is no longer there");
        let ix = session.tree().find(&named).ok_or_else(missing)?;
        navigate::files_preview(&place, session, ix).map_err(|failure| CommandError::of_operation(failure, None))
    });
    let found = found.await.map_err(|error| error.on_one_line());
    context.tell(Msg::FilesPreview(entry, found));
}

/// Sends what differs in the files of two branches. Read from a snapshot: the agent does not wait.
pub(super) async fn patches(context: &JobContext, agent: &AgentSession, first: String, second: String) {
    let patches = file_patches(context, agent, (first.clone(), second.clone())).await;
    let patches = patches.map_err(|error| error.with_hints_on_one_line());
    context.tell(Msg::Patches(first, second, patches));
}

async fn file_patches(
    context: &JobContext,
    agent: &AgentSession,
    (first, second): (String, String),
) -> Result<Vec<FilePatch>> {
    let snapshot = read(agent, |session: &Session| Ok(session.snapshot()?)).await?;
    let place = context.app.place();
    blocking(move || {
        let missing = || CommandError::new(FailureKind::NotFound, "the compared entries are no longer there");
        let found = |id: &str| snapshot.tree().find(id).ok_or_else(missing);
        let both = (found(&first)?, found(&second)?);
        Ok(ComparedBranches::read(&place, &snapshot, both, Patches::Wanted)?.into_patches())
    })
    .await
}

/// Sends what the next request from an entry would cost, and a summary of what is left for it; and what would be brought
/// here. Read from a snapshot: the agent does not wait. What cannot be worked out is not shown.
pub(super) async fn forecast(context: &JobContext, agent: &AgentSession, wish: ForecastWish) {
    let words = forecast_words(context, agent, wish.clone()).await;
    context.tell(Msg::Forecast(wish, words.unwrap_or_default()));
}

/// A session at one moment, with what a plan needs.
struct SessionToPlan {
    snapshot: Snapshot,
    id: String,
    ancestors: Vec<Ancestor>,
    dialect: Dialect,
}

async fn forecast_words(context: &JobContext, agent: &AgentSession, wish: ForecastWish) -> Result<ForecastWords> {
    let AgentState { model, branch_reserve, overhead, .. } = agent.state().await?;
    let taken = read(agent, |session: &Session| {
        let (id, ancestors) = (session.id().to_owned(), session.ancestors().to_vec());
        Ok(SessionToPlan { snapshot: session.snapshot()?, id, ancestors, dialect: session.dialect() })
    });
    let (taken, now) = (taken.await?, context.app.now());
    let work = move || {
        let SessionToPlan { snapshot, id, ancestors, dialect } = taken;
        let Some(ix) = snapshot.tree().find(&wish.entry) else { return Ok(ForecastWords::default()) };
        let place = RequestPlace { target: Some(ix), more_tokens: 0, overhead };
        let forecast = request_forecast((&snapshot, dialect), place, &model, now)?;
        let summary = summary_cost_words(&snapshot, (snapshot.leaf(), ix), (&model, branch_reserve))?;
        let leaf = snapshot.leaf();
        let here = PickEnd { source: &snapshot, session: &id, ancestors: &ancestors, dialect, leaf };
        let budget = branch_summary::budget(model.context_window, branch_reserve);
        let bring = match wish.marked.as_slice() {
            [] => merge_words(here, ix, (&model, budget)),
            marked => pick_words(here, marked),
        };
        let bring = bring.unwrap_or_else(|error| Some(error.to_string()));
        Ok(ForecastWords { request: Some([forecast.words(), forecast.brief_words()]), summary, bring })
    };
    context.forecasts.run(work).await
}

/// Says where the original of a copy or a merge is that this session does not have.
pub(super) async fn find_source(context: &JobContext, agent: &AgentSession, origin: Origin) -> Result<()> {
    let ancestors = read(agent, |session: &Session| Ok(session.ancestors().to_vec())).await?;
    let app = context.app.clone();
    let words = blocking(move || {
        let Some((session, ix)) = find_elsewhere(&app.place(), &ancestors, &origin) else {
            return Ok(not_here(&origin));
        };
        // What is typed to go there comes first, so that a narrow screen does not cut it.
        let (entry, id) = (lookup::short_id(&session, origin.id.as_str())?, one_line(session.id(), 60));
        let name = session.name()?.map(|name| format!(" · “{}”", one_line(&name, 60))).unwrap_or_default();
        let said = words(&session.entry(ix)?).map(|said| format!(" · {}", one_line(&said, 80))).unwrap_or_default();
        Ok(format!("source: entry {entry} · /resume {id}{name}{said}"))
    });
    context.tell(Msg::Source(words.await?));
    Ok(())
}
