//! Who writes the summaries of `compact`, `pop` and `switch`: the one place where commands meet a summariser.
//!
//! A model if there is one with a key; without one, or if it fails, the summariser without a model, and it is said.

use offshoot_session::branch_summary::{self, Instructions};
use offshoot_session::compact::Plan;
use offshoot_session::error::Error;
use offshoot_session::session::Session;
use offshoot_session::summariser::{Drafted, Extractive};
use offshoot_session::tree::NodeIx;

use crate::agent::{Asked, Summaries, summaries};
use crate::app::App;
use crate::error::Result;

/// A compaction's summary. `instructions` are the person's; a model that was asked for and cannot be is an error.
pub(crate) fn compaction(
    app: &App,
    session: &Session,
    plan: &Plan,
    instructions: Option<&str>,
    asked: &Asked,
) -> Result<Drafted> {
    let by_model = |model: &Summaries| plan.run(model, instructions);
    if let Some(drafted) = with_model(app, session, asked, by_model)? {
        return Ok(drafted);
    }
    if instructions.is_some() {
        app.ui.note("without a model the summary is put together by rule: the instructions were not used");
    }
    Ok(plan.run(&Extractive::new(session), instructions)?)
}

/// The summary of what going to `target` leaves behind.
pub(crate) fn left_behind(app: &App, session: &Session, target: NodeIx, asked: &Asked) -> Result<Drafted> {
    let plan = |budget: u64| branch_summary::plan(session, session.leaf(), Some(target), budget);
    let by_model = |model: &Summaries| plan(model.branch_budget())?.run(model, Instructions::Plain);
    if let Some(drafted) = with_model(app, session, asked, by_model)? {
        return Ok(drafted);
    }
    // By rule any length is summarised: no model's window is the limit.
    Ok(plan(0)?.run(&Extractive::new(session), Instructions::Plain)?)
}

/// What the model wrote; nothing if there is none, or if it wrote nothing that can be used.
fn with_model(
    app: &App,
    session: &Session,
    asked: &Asked,
    write: impl FnOnce(&Summaries) -> offshoot_session::error::Result<Drafted>,
) -> Result<Option<Drafted>> {
    let Some(model) = summaries(app, session, asked)? else { return Ok(None) };
    match write(&model) {
        Ok(drafted) => Ok(Some(drafted)),
        Err(Error::NoSummary(why)) => {
            app.ui.warning(&format!("the model wrote no summary: {why}"));
            app.ui.note("the summary is put together by rule instead");
            Ok(None)
        }
        Err(error) => Err(error.into()),
    }
}
