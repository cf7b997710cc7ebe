//! Plans what a branch has that the current one lacks, to be brought here as one summary. Writes nothing;
//! [`Session::merge`](crate::session::Session::merge) does. See *Merges* in `docs/format.md`.
//!
//! Costs the two paths down from where they part, not the file.

mod progress;

use std::collections::HashSet;

use crate::branch_summary::{self, BranchPlan, MergedPart};
use crate::compose::{NewBranchSummary, NewEntry};
use crate::context::{self, ContextWeight};
use crate::entry::Source;
use crate::error::Result;
use crate::header::Dialect;
use crate::id::EntryId;
use crate::json::{Json, Object, quote};
use crate::kind::Kind;
use crate::pick::{PickEnd, shared_end};
use crate::provenance::{Merged, Origin, Present, is_shared};
use crate::selection::range;
use crate::summariser::Drafted;
use crate::tree::NodeIx;

pub use progress::{MergeProgress, progress};

/// What to merge.
#[derive(Debug, Clone, Copy)]
pub struct MergeRequest<'a> {
    /// The session that has the branch; `None` for the one that receives.
    pub from: Option<PickEnd<'a>>,
    /// The end of the branch.
    pub tip: NodeIx,
    /// The entry below which the summary goes; `None` for a new root.
    pub onto: Option<NodeIx>,
    /// The most tokens of conversation for the summariser; 0 means no limit.
    pub budget: u64,
}

/// A merge, before it is written.
#[derive(Debug, Clone)]
pub struct MergePlan {
    /// What the summary will name as merged.
    pub merged: Merged,
    /// The entries of the branch that are not here, in order.
    pub entries: Vec<NodeIx>,
    /// How many of the branch are here already, as copies.
    pub already: usize,
    /// Whether the base is the tip of an earlier merge.
    pub is_repeated: bool,
    /// What a summariser would read.
    pub summary: BranchPlan,
    /// The context at the target, before the merge.
    pub before: ContextWeight,
    /// The entry below which the summary goes.
    pub onto: Option<NodeIx>,
}

/// Plans a merge into `here`.
///
/// # Errors
/// A medium cannot be read.
pub fn plan(here: PickEnd<'_>, request: &MergeRequest<'_>) -> Result<MergePlan> {
    let from = request.from.unwrap_or(here);
    let elsewhere = request.from.map(|from| from.session).filter(|session| *session != here.session);
    let parted = shared_end(here, request.from, request.onto, request.tip);
    let earlier = last_merged(here, from, elsewhere, (request.onto, request.tip), parted)?;
    let base = earlier.or(parted);
    let context = context::build(here.source, request.onto, here.dialect)?;
    let present = Present::of(here.source, &context, here.family(request.from))?;
    let (mut entries, mut already) = (Vec::new(), 0);
    for ix in range(from.source.tree(), base, request.tip)? {
        match is_here(here, from, elsewhere, &present, ix)? {
            true => already += 1,
            false => entries.push(ix),
        }
    }
    let id = |ix: NodeIx| from.source.tree().node(ix).id().cloned();
    let merged = Merged {
        base: base.and_then(id),
        tip: id(request.tip).unwrap_or_else(|| EntryId::new("root")),
        session: elsewhere.map(|_| from.writer(request.tip)).filter(|it| *it != here.session).map(str::to_owned),
    };
    let part = MergedPart { tip: request.tip, base, entries: entries.clone() };
    let since = said_since(here.source, &context, request.onto, parted);
    let summary = branch_summary::plan_merge(from.source, part, since, request.budget)?;
    let is_repeated = earlier.is_some();
    let before = context.weigh(here.source, request.onto)?;
    let onto = request.onto;
    from.source.tree().whole(MergePlan { merged, entries, already, is_repeated, summary, before, onto })
}

/// The messages of the context below an entry, from the last one on.
fn said_since<'a>(
    here: &'a dyn Source,
    context: &'a context::Context,
    onto: Option<NodeIx>,
    parted: Option<NodeIx>,
) -> impl Iterator<Item = Result<context::Message>> + 'a {
    let tree = here.tree();
    let above = onto.into_iter().flat_map(|onto| tree.ancestors(onto));
    let below: HashSet<NodeIx> = above.take_while(|ix| Some(*ix) != parted).collect();
    let is_below = move |message: &context::Message| {
        let entry = message.entry.as_ref().and_then(|id| tree.find(id.as_str()));
        entry.is_some_and(|ix| below.contains(&ix))
    };
    context.messages_from_end(here).filter(move |message| message.as_ref().is_ok_and(&is_below) || message.is_err())
}

/// The tip of the newest merge on the path here that is at or above the branch's end.
fn last_merged(
    here: PickEnd<'_>,
    from: PickEnd<'_>,
    elsewhere: Option<&str>,
    (onto, tip): (Option<NodeIx>, NodeIx),
    parted: Option<NodeIx>,
) -> Result<Option<NodeIx>> {
    let (tree, theirs) = (here.source.tree(), from.source.tree());
    let family = here.family(elsewhere.map(|_| from));
    let above = onto.into_iter().flat_map(|onto| tree.ancestors(onto));
    // In one session a merge of this branch is below the point where it parted.
    let below = above.take_while(|ix| elsewhere.is_some() || Some(*ix) != parted);
    for ix in below.filter(|ix| tree.node(*ix).kind() == Kind::BranchSummary) {
        let Some(merged) = Merged::of(&here.source.entry(ix)?) else { continue };
        let is_of_source = family.is_one(merged.session.as_deref(), elsewhere);
        let found = theirs.find(merged.tip.as_str()).filter(|_| is_of_source);
        if let Some(found) = found.filter(|found| theirs.common_ancestor(*found, tip) == Some(*found)) {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

/// Whether the context has the entry, itself or as a copy. Markers are nowhere.
fn is_here(
    here: PickEnd<'_>,
    from: PickEnd<'_>,
    elsewhere: Option<&str>,
    present: &Present<'_>,
    ix: NodeIx,
) -> Result<bool> {
    let itself = if elsewhere.is_some() { is_shared(here.source, from.source, ix) } else { Some(ix) };
    if itself.is_some_and(|ix| present.has(ix)) {
        return Ok(true);
    }
    if !present.has_copies() {
        return Ok(false);
    }
    let origin = Origin::first(&from.source.entry(ix)?, elsewhere.map(|_| from.writer(ix)), here.session);
    Ok(origin.is_some_and(|origin| present.find(here.source, &origin).is_some()))
}

impl MergePlan {
    /// Whether the branch has no messages that here lacks.
    pub fn is_empty(&self) -> bool {
        !self.summary.has_messages()
    }

    /// The summary's entry.
    pub fn entry(&self, drafted: &Drafted, dialect: Dialect) -> NewEntry {
        let details = with_merged(&drafted.details, &self.merged);
        let details = Json::parse(&details).ok();
        let usage = drafted.usage.as_deref().and_then(|usage| Json::parse(usage).ok());
        let new = NewBranchSummary { summary: &drafted.text, details, from_hook: Some(false), usage };
        // Ids of another session may be those of other entries here.
        let tip = Some(self.merged.tip.as_str()).filter(|_| self.merged.session.is_none());
        NewEntry::branch_summary(tip, &new, dialect)
    }

    /// A person's own words as the summary.
    pub fn in_words(&self, text: &str) -> Drafted {
        let details = self.summary.files.details(Object::new()).finish();
        Drafted { text: text.to_owned(), details, usage: None }
    }

    /// The plan as JSON.
    pub fn to_json(&self, from: &dyn Source, onto: Option<&str>) -> Object {
        let entries = self.entries.iter().filter_map(|ix| from.tree().node(*ix).id());
        let entries: Vec<String> = entries.map(|id| quote(id.as_str())).collect();
        let object = Object::new()
            .str_or_null("ontoId", onto)
            .raw("merged", self.merged.to_json())
            .raw("entries", format!("[{}]", entries.join(",")))
            .raw("alreadyHere", self.already)
            .raw("isRepeated", self.is_repeated)
            .raw("tokens", self.summary.tokens)
            .raw("tokensBefore", self.before.total(0))
            .raw("leftOut", self.summary.left_out);
        self.summary.files.details(object)
    }
}

fn with_merged(details: &str, merged: &Merged) -> String {
    let members = Json::parse(details).ok();
    let members = members.into_iter().flat_map(Json::members);
    members
        .fold(Object::new(), |object, (name, value)| object.json(&name, value))
        .raw("merged", merged.to_json())
        .finish()
}
