//! Methods that plan compactions and branch summaries. They write nothing.

use std::io::Write;

use offshoot_session::branch_summary;
use offshoot_session::compact::{self, Settings};
use offshoot_session::entry::Source as _;
use offshoot_session::json::{Json, JsonKind};
use offshoot_session::manager::Params;
use offshoot_session::tree::NodeIx;
use offshoot_workspace::{CompactionJson, branch_summary_json};

use crate::api::handles::OpenSession;
use crate::api::records::write_null;
use crate::api::wire::{ApiFailure, MethodResult};

/// The plan for the path to an entry, or to the leaf; null if there is nothing to compact.
pub(in crate::api) fn compaction(handle: &OpenSession, params: &Params<'_>, out: &mut dyn Write) -> MethodResult {
    let session = &handle.session;
    let leaf = named_entry(handle, params, "leafId")?;
    let settings = settings(params.given("settings"))?;
    match compact::plan(session, leaf, session.dialect(), &settings)?.plan() {
        Some(plan) => {
            let json = CompactionJson::of(session.tree(), &plan).object(&plan);
            Ok(out.write_all(json.finish().as_bytes())?)
        }
        None => write_null(out),
    }
}

/// The plan for the entries that moving from one entry (default: the leaf) to another abandons.
pub(in crate::api) fn branch_summary(handle: &OpenSession, params: &Params<'_>, out: &mut dyn Write) -> MethodResult {
    let session = &handle.session;
    params.raw("targetId")?;
    let from = named_entry(handle, params, "oldLeafId")?;
    let target = params.opt_str("targetId")?.map(|id| handle.find(&id)).transpose()?;
    let budget = params.given("tokenBudget").map_or(Ok(0), |_| params.count("tokenBudget"))?;
    let plan = branch_summary::plan(session, from, target, budget)?;
    Ok(out.write_all(branch_summary_json(session.tree(), &plan).finish().as_bytes())?)
}

/// The entry that an argument names; the leaf if it is absent, no entry for `null`.
fn named_entry(handle: &OpenSession, params: &Params<'_>, name: &str) -> Result<Option<NodeIx>, ApiFailure> {
    match (params.opt(name), params.opt_str(name)?) {
        (None, _) => Ok(handle.session.leaf()),
        (Some(_), None) => Ok(None),
        (Some(_), Some(id)) => Ok(Some(handle.find(&id)?)),
    }
}

/// The defaults are pi's.
fn settings(given: Option<Json<'_>>) -> Result<Settings, ApiFailure> {
    let mut settings = Settings::default();
    let Some(given) = given else { return Ok(settings) };
    if given.kind() != JsonKind::Object {
        return Err(ApiFailure::params("the argument \"settings\" must be an object"));
    }
    let params = Params::new(Some(given));
    params.check(&["enabled? reserveTokens? keepRecentTokens?"])?;
    if let Some(enabled) = params.opt_bool("enabled")? {
        settings.enabled = enabled;
    }
    for (name, place) in
        [("reserveTokens", &mut settings.reserve_tokens), ("keepRecentTokens", &mut settings.keep_recent_tokens)]
    {
        if params.given(name).is_some() {
            *place = params.count(name)?;
        }
    }
    Ok(settings)
}
