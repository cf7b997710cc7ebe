//! Methods that bring work of another branch or session here, or take that back. A plan can be looked at first; it is
//! written by its number, and only if the session is still as it was planned for.

use std::io::Write;

use offshoot_session::branch_summary::Instructions;
use offshoot_session::entry::Source as _;
use offshoot_session::id::EntryId;
use offshoot_session::json::{JsonKind, Object};
use offshoot_session::manager::Params;
use offshoot_session::merge::MergeRequest;
use offshoot_session::pick::{PickOptions, PickRequest};
use offshoot_session::session::{PlannedMerge, PlannedPick, Session};
use offshoot_session::summariser::Extractive;
use offshoot_session::tokens::estimate_summary;
use offshoot_session::tree::NodeIx;

use crate::api::handles::{ApiServer, HeldPlan, OpenSession};
use crate::api::records::write_null;
use crate::api::wire::{ApiFailure, MethodResult};
use crate::plans;
use offshoot_workspace::{Selecting, with_brought};

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
pub(in crate::api) fn undo(handle: &mut OpenSession, params: &Params<'_>, out: &mut dyn Write) -> MethodResult {
    let session = &mut handle.session;
    let Some(plan) = session.plan_undo()? else { return write_null(out) };
    let id = if params.opt_bool("dryRun")?.unwrap_or(false) { None } else { session.undo(&plan)? };
    Ok(out.write_all(plans::undo(session.tree(), &plan, id.as_ref()).finish().as_bytes())?)
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

/// The session that receives, and the one of the argument `from`, if it is another one.
struct Ends<'a> {
    here: &'a OpenSession,
    from: Option<&'a OpenSession>,
    onto: Option<NodeIx>,
}

impl<'a> Ends<'a> {
    fn of(server: &'a mut ApiServer<'_>, params: &Params<'_>) -> Result<Self, ApiFailure> {
        let from = params.given("from").map(|_| params.count("from")).transpose()?;
        from.map(|from| server.refreshed(from)).transpose()?;
        server.handle(params)?;
        let here = server.open_session(params.count("session")?)?;
        let from = from.map(|from| server.open_session(from)).transpose()?;
        let from = from.filter(|from| from.session.id() != here.session.id());
        let onto = params.opt_str("onto")?.map(|onto| here.find(&onto)).transpose()?;
        Ok(Self { here, from, onto: onto.or(here.session.leaf()) })
    }

    fn source(&self) -> &OpenSession {
        self.from.unwrap_or(self.here)
    }
}

fn picked(server: &mut ApiServer<'_>, params: &Params<'_>) -> Planned {
    let ends = Ends::of(server, params)?;
    let from = ends.from.map(|from| &from.session);
    let find = |given: &str| ends.source().find(given);
    let selecting = Selecting { here: &ends.here.session, from, onto: ends.onto, find: &find };
    let mut selections = Vec::new();
    for given in params.array("selections")?.items() {
        let turn = given.str("turn").filter(|_| given.kind() == JsonKind::Object);
        selections.push(match (given.as_str(), turn) {
            (Some(entries), _) => selecting.entries(&entries)?,
            (None, Some(turn)) => selecting.turn(&turn)?,
            (None, None) => return Err(ApiFailure::params("a selection is a string or {\"turn\": ENTRY}")),
        });
    }
    let flag = |name: &str| Ok::<_, ApiFailure>(params.opt_bool(name)?.unwrap_or(false));
    let (again, settings, state, labels) = (flag("again")?, flag("settings")?, flag("state")?, flag("labels")?);
    let options = PickOptions { again, settings, state, labels };
    let request = PickRequest { from: from.map(Session::pick_end), selections: &selections, onto: ends.onto, options };
    Ok(HeldPlan::Pick(ends.here.session.plan_pick(&request)?))
}

fn merged(server: &mut ApiServer<'_>, params: &Params<'_>) -> Planned {
    let number = params.given("from").map(|_| params.count("from")).transpose()?;
    let ends = Ends::of(server, params)?;
    let from = ends.from.map(|from| from.session.pick_end());
    let tip = ends.source().find(&params.str("source")?)?;
    let budget = params.given("tokenBudget").map_or(Ok(0), |_| params.count("tokenBudget"))?;
    let planned = ends.here.session.plan_merge(&MergeRequest { from, tip, onto: ends.onto, budget })?;
    if !params.opt_bool("entries")?.unwrap_or(false) {
        return Ok(HeldPlan::Merge(planned, number));
    }
    let selections = [planned.plan.entries.clone()];
    let request = PickRequest { from, selections: &selections, onto: ends.onto, options: PickOptions::default() };
    Ok(HeldPlan::Pick(ends.here.session.plan_pick(&request)?.as_merge()))
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
    let window = server.models.window(&here.session).map_or("null".to_owned(), |window| window.to_string());
    let number = server.keep_plan(params, planned)?;
    Ok(out.write_all(object.raw("contextWindow", window).raw("plan", number).finish().as_bytes())?)
}

fn commit(server: &mut ApiServer<'_>, params: &Params<'_>, planned: HeldPlan, out: &mut dyn Write) -> MethodResult {
    let written = match planned {
        HeldPlan::Pick(planned) => write_copies(server, params, &planned, Session::pick),
        HeldPlan::Uncompact(planned) => {
            write_copies(server, params, &planned, |session, planned| session.uncompact(planned).map(Some))
        }
        HeldPlan::Merge(planned, from) => write_summary(server, params, &planned, from),
    };
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
        refuse_too_big(server, params, planned.plan.before.total(0), planned.plan.tokens)?;
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
    refuse_too_big(server, params, planned.plan.before.total(0), estimate_summary(&drafted.text))?;
    let id = server.stale_handle(params)?.1.session.merge(planned, &drafted)?;
    Ok(Some(Object::new().str("id", id.as_str()).str("summary", &drafted.text)))
}

fn refuse_too_big(server: &ApiServer<'_>, params: &Params<'_>, here: u64, more: u64) -> Result<(), ApiFailure> {
    if params.opt_bool("force")?.unwrap_or(false) {
        return Ok(());
    }
    let session = &server.open_session(params.count("session")?)?.session;
    let window = server.models.window(session);
    Ok(window.map_or(Ok(()), |window| session.refuse_beyond_window(here, more, window))?)
}
