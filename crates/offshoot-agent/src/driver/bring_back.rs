//! Picks, merges and compactions taken back: planned on the session's thread, a merge summarised in a task,
//! written in one step. Plans are made for the session as it is; the library checks them again when they are written.

use offshoot_session::branch_summary::{BranchPlan, Instructions};
use offshoot_session::context::ContextWeight;
use offshoot_session::error::Error;
use offshoot_session::files::FileLists;
use offshoot_session::merge::MergeRequest;
use offshoot_session::pick::{PickOptions, PickRequest};
use offshoot_session::session::{PlannedMerge, PlannedPick, Session};
use offshoot_session::summariser::Drafted;
use offshoot_session::text::{counted, one_line};
use offshoot_session::tokens::estimate_summary;
use offshoot_session::tree::NodeIx;
use std::path::Path;

use super::summaries::{JobResources, asked, drafted_branch};
use crate::bring_plan::{NOTHING_NEW, merged, nothing_to_pick, picked};
use crate::error::AgentError;
use crate::turn::{BringBack, JobDraft};
use crate::writer::OwnedSession;

/// More files are counted.
const FILES: usize = 5;

/// What a model can read: of a summary's conversation, and as a context. 0 means no limit.
#[derive(Clone, Copy)]
pub(super) struct Limits {
    pub(super) budget: u64,
    pub(super) window: u64,
    /// The tokens of the system prompt and the tools.
    pub(super) overhead: u64,
}

pub(super) enum ReadyBringBack {
    Pick(Box<PlannedPick>),
    Merge(Box<PlannedMerge>, Drafted),
    Uncompact(Box<PlannedPick>),
    /// There is nothing to write, and why.
    Nothing(String),
}

impl ReadyBringBack {
    /// Whether it is written below the current entry.
    pub(super) fn is_below(&self) -> bool {
        match self {
            Self::Pick(_) | Self::Merge(..) => true,
            Self::Uncompact(_) | Self::Nothing(_) => false,
        }
    }
}

pub(super) async fn plan(
    resources: &JobResources,
    what: BringBack,
    limits: Limits,
) -> Result<(ReadyBringBack, Option<String>), JobDraft> {
    let (tip, instructions) = match what {
        BringBack::Merge { tip, instructions } => (tip, instructions),
        BringBack::Pick { selections } => {
            return planned(resources, move |session| plan_pick(session, &selections, limits)).await;
        }
        BringBack::Uncompact => return planned(resources, move |session| plan_uncompact(session, limits)).await,
    };
    let planned = asked(resources, move |owned| plan_merge(owned.session(), &tip, limits)).await??;
    if planned.plan.is_empty() {
        return Ok((ReadyBringBack::Nothing(format!("nothing to do: {NOTHING_NEW}")), None));
    }
    let instructions = instructions.as_deref().map_or(Instructions::Plain, Instructions::Focus);
    let summary: Box<BranchPlan> = Box::new(planned.plan.summary.clone());
    let (drafted, warning) = drafted_branch(resources, &summary, instructions).await?;
    let (before, more) = (planned.plan.before, estimate_summary(&drafted.text));
    let checked = move |owned: &mut OwnedSession| refuse_too_big(owned.session(), before, more, limits);
    asked(resources, checked).await??;
    Ok((ReadyBringBack::Merge(planned, drafted), warning))
}

/// Plans what needs no model.
async fn planned(
    resources: &JobResources,
    plan: impl FnOnce(&Session) -> Result<ReadyBringBack, JobDraft> + Send + 'static,
) -> Result<(ReadyBringBack, Option<String>), JobDraft> {
    asked(resources, move |owned| plan(owned.session())).await?.map(|ready| (ready, None))
}

fn plan_uncompact(session: &Session, limits: Limits) -> Result<ReadyBringBack, JobDraft> {
    let Some(planned) = session.plan_uncompact().map_err(failed)? else {
        return Ok(ReadyBringBack::Nothing("the current branch has no compaction".to_owned()));
    };
    refuse_too_big(session, planned.plan.before, planned.plan.tokens, limits)?;
    Ok(ReadyBringBack::Uncompact(Box::new(planned)))
}

fn plan_pick(session: &Session, selections: &[Vec<String>], limits: Limits) -> Result<ReadyBringBack, JobDraft> {
    let found = |ids: &Vec<String>| ids.iter().map(|id| session.find(id)).collect::<Result<Vec<NodeIx>, Error>>();
    let selections = selections.iter().map(found).collect::<Result<Vec<_>, _>>().map_err(failed)?;
    let options = PickOptions::default();
    let request = PickRequest { from: None, selections: &selections, onto: session.leaf(), options };
    let planned = session.plan_pick(&request).map_err(failed)?;
    if planned.plan.is_empty() {
        return Ok(ReadyBringBack::Nothing(format!("nothing to do: {}", nothing_to_pick(&planned.plan))));
    }
    refuse_too_big(session, planned.plan.before, planned.plan.tokens, limits)?;
    Ok(ReadyBringBack::Pick(Box::new(planned)))
}

fn plan_merge(session: &Session, tip: &str, limits: Limits) -> Result<Box<PlannedMerge>, JobDraft> {
    let tip = session.find(tip).map_err(failed)?;
    let request = MergeRequest { from: None, tip, onto: session.leaf(), budget: limits.budget };
    session.plan_merge(&request).map(Box::new).map_err(failed)
}

fn refuse_too_big(session: &Session, before: ContextWeight, more: u64, limits: Limits) -> Result<(), JobDraft> {
    match limits.window {
        0 => Ok(()),
        window => session.refuse_beyond_window(before.total(limits.overhead), more, window).map_err(failed),
    }
}

fn failed(error: Error) -> JobDraft {
    JobDraft::Failed(error.into())
}

/// Writes what was planned, and says what was done; whether the leaf moved.
pub(super) fn write(owned: &mut OwnedSession, ready: ReadyBringBack) -> Result<(String, bool), AgentError> {
    let said = match ready {
        ReadyBringBack::Nothing(why) => return Ok((why, false)),
        ReadyBringBack::Pick(planned) => {
            owned.write(|session| session.pick(&planned))?;
            with_files(owned.session(), format!("picked {}", picked(&planned.plan)), &planned.plan.files)
        }
        ReadyBringBack::Merge(planned, drafted) => {
            owned.write(|session| session.merge(&planned, &drafted))?;
            let said = format!("merged {} as a summary", merged(&planned.plan));
            with_files(owned.session(), said, &planned.plan.summary.files)
        }
        ReadyBringBack::Uncompact(planned) => {
            owned.write(|session| session.uncompact(&planned))?;
            let count = counted(planned.plan.copies.len(), "entry", "entries");
            format!("continued before the compaction, {count} copied")
        }
    };
    Ok((format!("{said} · /undo takes it back"), true))
}

fn with_files(session: &Session, said: String, files: &FileLists) -> String {
    let folder = session.cwd().unwrap_or_default();
    let lacks = |file: &&String| !Path::new(folder).join(file).exists();
    let missing: Vec<String> = files.modified.iter().filter(lacks).map(|file| one_line(file, 80)).collect();
    if missing.is_empty() {
        return said;
    }
    let more = missing.len().saturating_sub(FILES);
    let mut named = missing.into_iter().take(FILES).collect::<Vec<_>>().join(", ");
    if more > 0 {
        named.push_str(&format!(" and {more} more"));
    }
    format!("{said}; words came, files did not: the folder lacks {named}")
}
