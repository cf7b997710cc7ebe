//! Who writes the summaries of `compact`, `pop` and `switch`: the one place where commands meet a summariser.
//!
//! In this version that is the summariser without a model.

use offshoot_session::branch_summary::{self, Instructions};
use offshoot_session::compact::Plan;
use offshoot_session::session::Session;
use offshoot_session::summariser::{Drafted, Extractive};
use offshoot_session::tree::NodeIx;

use crate::app::App;
use crate::error::Result;

/// A compaction's summary. `instructions` are the person's.
pub(crate) fn compaction(app: &App, session: &Session, plan: &Plan, instructions: Option<&str>) -> Result<Drafted> {
    if instructions.is_some() {
        app.ui.note("without a model the summary is put together by rule: the instructions were not used");
    }
    Ok(plan.run(&Extractive::new(session), instructions)?)
}

/// The summary of what going to `target` leaves behind.
pub(crate) fn left_behind(session: &Session, target: NodeIx) -> Result<Drafted> {
    // By rule any length is summarised: no model's window is the limit.
    let plan = branch_summary::plan(session, session.leaf(), Some(target), 0)?;
    Ok(plan.run(&Extractive::new(session), Instructions::Plain)?)
}
