//! Methods that bring work of another branch or session here, or take that back. A plan can be looked at first; it is
//! written by its number, and only if the session is still as it was planned for.

use std::io::Write;

use offshoot_session::branch_summary::Instructions;
use offshoot_session::context::ContextWeight;
use offshoot_session::entry::Source as _;
use offshoot_session::id::EntryId;
use offshoot_session::json::{JsonKind, Object};
use offshoot_session::manager::Params;
use offshoot_session::pick::PickOptions;
use offshoot_session::session::{PlannedMerge, PlannedPick, Session};
use offshoot_session::summariser::Extractive;
use offshoot_session::tokens::estimate_summary;
use offshoot_session::tree::NodeIx;

use crate::api::handles::{ApiServer, HeldPlan};
use crate::api::records::write_null;
use crate::api::wire::{ApiFailure, MethodResult};
use offshoot_workspace::undo::{Undo, UndoInput};
use offshoot_workspace::{Finished, Operation as _, Output as _, Selecting, SessionName, with_brought};

type Planned = Result<HeldPlan, ApiFailure>;

pub(in crate::api) fn plan_pick(server: &mut ApiServer<'_>, params: &Params<'_>, out: &mut dyn Write) -> MethodResult {
    let planned = picked(server, params)?;
    show(server, params, planned, out)
}

pub(in crate::api) fn pick(server: &mut ApiServer<'_>, params: &Params<'_>, out: &mut dyn Write) -> MethodResult {
    let planned = planned(server, params, "selections", picked)?;
    commit(server, params, planned, out)
}

pub(in crate::api) fn plan_merge(server: &mut ApiServer<'_>, params: &Params<'_>, out: &mut dyn Write) -> MethodResult {
    let planned = merged(server, params)?;
    show(server, params, planned, out)
}

pub(in crate::api) fn merge(server: &mut ApiServer<'_>, params: &Params<'_>, out: &mut dyn Write) -> MethodResult {
    let planned = planned(server, params, "source", merged)?;
    commit(server, params, planned, out)
}

pub(in crate::api) fn plan_uncompact(
    server: &mut ApiServer<'_>,
    params: &Params<'_>,
    out: &mut dyn Write,
) -> MethodResult {
    match server.handle(params)?.session.plan_uncompact()? {
        Some(planned) => show(server, params, HeldPlan::Uncompact(planned), out),
        None => write_null(out),
    }
}

pub(in crate::api) fn uncompact(server: &mut ApiServer<'_>, params: &Params<'_>, out: &mut dyn Write) -> MethodResult {
    let planned = match server.handle(params)?.session.plan_uncompact()? {
        _ if params.given("plan").is_some() => server.take_plan(params)?,
        Some(planned) => HeldPlan::Uncompact(planned),
        None => return write_null(out),
    };
    commit(server, params, planned, out)
}

/// Goes back to before the last operation; null if there is none.
pub(in crate::api) fn undo(server: &mut ApiServer<'_>, params: &Params<'_>, out: &mut dyn Write) -> MethodResult {
    let (place, input) =
        (server.place, UndoInput { session: SessionName(String::new()), files: false, across_commits: false });
    let is_dry = params.opt_bool("dryRun")?.unwrap_or(false);
    let session = &mut server.handle(params)?.session;
    let plan = Undo::plan(place, Some(session), &input)?;
    let written = if is_dry { None } else { Undo::commit(place, session, &plan)? };
    // Clients ask for forecasts by themselves.
    let finished = Finished { place, session: Some(session), written, is_dry: false };
    let undone = Undo::output(plan, finished)?;
    server.close_writer(params);
    Ok(undone.json(out)?)
}

/// The plan that the argument `plan` names, or a new one from the others.
fn planned(
    server: &mut ApiServer<'_>,
    params: &Params<'_>,
    needed: &str,
    make: fn(&mut ApiServer<'_>, &Params<'_>) -> Planned,
) -> Planned {
    if params.given("plan").is_none() {
        return make(server, params);
    }
    match params.given(needed) {
        None => server.take_plan(params),
        Some(_) => Err(ApiFailure::params(format!("\"plan\" and {needed:?} exclude each other"))),
    }
}

/// Plans with the session that receives and the one of the argument `from`, if it is another one.
fn with_ends<T>(
    server: &mut ApiServer<'_>,
    params: &Params<'_>,
    plan: impl FnOnce(Selecting<'_, ApiFailure>) -> Result<T, ApiFailure>,
) -> Result<T, ApiFailure> {
    let from = number_of_other(params)?;
    from.map(|from| server.refreshed(from)).transpose()?;
    server.handle(params)?;
    let here = server.open_session(params.count("session")?)?;
    let from = from.map(|from| server.open_session(from)).transpose()?;
    let from = from.filter(|from| from.session.id() != here.session.id());
    let onto = params.opt_str("onto")?.map(|onto| here.find(&onto)).transpose()?.or(here.session.leaf());
    let find = |given: &str| from.unwrap_or(here).find(given);
    plan(Selecting { here: &here.session, from: from.map(|from| &from.session), onto, find: &find })
}

/// The number of the session that has the entries, if it is named.
fn number_of_other(params: &Params<'_>) -> Result<Option<u64>, ApiFailure> {
    Ok(params.given("from").map(|_| params.count("from")).transpose()?)
}

fn picked(server: &mut ApiServer<'_>, params: &Params<'_>) -> Planned {
    let flag = |name: &str| Ok::<_, ApiFailure>(params.opt_bool(name)?.unwrap_or(false));
    with_ends(server, params, |selecting| {
        let mut selections = Vec::new();
        for given in params.array("selections")?.items() {
            let turn = given.str("turn").filter(|_| given.kind() == JsonKind::Object);
            selections.push(match (given.as_str(), turn) {
                (Some(entries), _) => selecting.entries(&entries)?,
                (None, Some(turn)) => selecting.turn(&turn)?,
                (None, None) => return Err(ApiFailure::params("a selection is a string or {\"turn\": ENTRY}")),
            });
        }
        let (again, settings, state, labels) = (flag("again")?, flag("settings")?, flag("state")?, flag("labels")?);
        let options = PickOptions { again, settings, state, labels };
        Ok(HeldPlan::Pick(selecting.pick(&selections, options)?))
    })
}

fn merged(server: &mut ApiServer<'_>, params: &Params<'_>) -> Planned {
    let number = number_of_other(params)?;
    with_ends(server, params, |selecting| {
        let tip = (selecting.find)(&params.str("source")?)?;
        let budget = params.given("tokenBudget").map_or(Ok(0), |_| params.count("tokenBudget"))?;
        let planned = selecting.merge(tip, budget)?;
        Ok(match params.opt_bool("entries")?.unwrap_or(false) {
            true => HeldPlan::Pick(selecting.copies(planned)?),
            false => HeldPlan::Merge(planned, number),
        })
    })
}

/// Answers a plan with its number, and keeps it instead of the session's last one.
fn show(server: &mut ApiServer<'_>, params: &Params<'_>, planned: HeldPlan, out: &mut dyn Write) -> MethodResult {
    let here = server.open_session(params.count("session")?)?;
    let id = |onto: Option<NodeIx>| onto.and_then(|onto| here.session.tree().node(onto).id()).map(EntryId::as_str);
    let object = match &planned {
        HeldPlan::Pick(planned) | HeldPlan::Uncompact(planned) => planned.plan.to_json(id(planned.plan.onto)),
        HeldPlan::Merge(planned, from) => {
            let from = from.map_or(Ok(here), |from| server.open_session(from))?;
            let object = planned.plan.to_json(&from.session, id(planned.plan.onto));
            object.str("conversation", &planned.plan.summary.text())
        }
    };
    let window = server.place.window(&here.session)?.map_or("null".to_owned(), |window| window.to_string());
    let number = server.keep_plan(params, planned)?;
    Ok(out.write_all(object.raw("contextWindow", window).raw("plan", number).finish().as_bytes())?)
}

fn commit(server: &mut ApiServer<'_>, params: &Params<'_>, planned: HeldPlan, out: &mut dyn Write) -> MethodResult {
    let written = match &planned {
        HeldPlan::Pick(planned) => write_copies(server, params, planned, Session::pick),
        HeldPlan::Uncompact(planned) => {
            write_copies(server, params, planned, |session, planned| session.uncompact(planned).map(Some))
        }
        HeldPlan::Merge(planned, from) => write_summary(server, params, planned, *from),
    };
    if written.as_ref().is_err_and(ApiFailure::is_locked) {
        server.put_plan_back(params, planned)?;
    }
    let written = written.map(|object| object.map_or("null".to_owned(), Object::finish))?;
    server.close_writer(params);
    Ok(out.write_all(written.as_bytes())?)
}

type Written = Result<Option<Object>, ApiFailure>;

fn write_copies(
    server: &mut ApiServer<'_>,
    params: &Params<'_>,
    planned: &PlannedPick,
    write: fn(
        &mut Session,
        &PlannedPick,
    ) -> offshoot_session::error::Result<Option<offshoot_session::session::Brought>>,
) -> Written {
    if !planned.plan.is_empty() {
        check_fits(server, params, planned.plan.before, planned.plan.tokens)?;
    }
    let brought = write(&mut server.stale_handle(params)?.1.session, planned)?;
    Ok(brought.map(|brought| with_brought(Object::new(), Some(&brought))))
}

fn write_summary(
    server: &mut ApiServer<'_>,
    params: &Params<'_>,
    planned: &PlannedMerge,
    from: Option<u64>,
) -> Written {
    if planned.plan.is_empty() {
        return Ok(None);
    }
    let drafted = match params.opt_str("summary")?.filter(|summary| !summary.is_empty()) {
        Some(summary) => planned.plan.in_words(&summary),
        None => {
            let from = server.open_session(from.map_or_else(|| params.count("session"), Ok)?)?;
            planned.plan.summary.run(&Extractive::new(&from.session), Instructions::Plain)?
        }
    };
    check_fits(server, params, planned.plan.before, estimate_summary(&drafted.text))?;
    let id = server.stale_handle(params)?.1.session.merge(planned, &drafted)?;
    Ok(Some(Object::new().str("id", id.as_str()).str("summary", &drafted.text)))
}

/// Refuses what does not fit into the window, unless it is forced.
fn check_fits(server: &ApiServer<'_>, params: &Params<'_>, before: ContextWeight, more: u64) -> MethodResult {
    if params.opt_bool("force")?.unwrap_or(false) {
        return Ok(());
    }
    let session = &server.open_session(params.count("session")?)?.session;
    Ok(server.place.refuse_beyond_window(session, before, more)?)
}
