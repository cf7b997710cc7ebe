//! Plans copies of entries from another branch or session: what comes along, what is left out and why, what is here
//! already. Writes nothing; [`Session::pick`](crate::session::Session::pick) does. See *Copies* in `docs/format.md`.
//!
//! Costs the selected entries and the two contexts, not the file.

mod copy;
mod widen;
mod plan;

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use crate::branch_summary;
use crate::compose::NewEntry;
use crate::context::{self, Context};
use crate::entry::{Entry, Source};
use crate::error::Result;
use crate::files::Files;
use crate::header::Dialect;
use crate::id::EntryId;
use crate::json::Json;
use crate::kind::{Kind, KindDialect, Operation, Role};
use crate::provenance::{Ancestor, Family, Lineage, Origin, Present, is_shared};
use crate::tokens;
use crate::tree::NodeIx;

use copy::Changes;
pub use plan::{Gone, LeftOut, PickPlan, PlannedCopy};
use widen::Widened;
pub(crate) use widen::answered;

/// The session that receives, or the one that gives.
#[derive(Clone, Copy)]
pub struct PickEnd<'a> {
    /// Its entries.
    pub source: &'a dyn Source,
    /// Its id.
    pub session: &'a str,
    /// The sessions that it was forked from, the nearest first.
    pub ancestors: &'a [Ancestor],
    /// Its spelling.
    pub dialect: Dialect,
    /// Where it continues.
    pub leaf: Option<NodeIx>,
}

impl std::fmt::Debug for PickEnd<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "PickEnd {{ {}, {:?} }}", self.session, self.leaf)
    }
}

impl<'a> PickEnd<'a> {
    /// The sessions whose ids count here, too.
    pub(crate) fn family(self, from: Option<PickEnd<'a>>) -> Family<'a> {
        Family::of(self.lineage(), from.map(PickEnd::lineage))
    }

    fn lineage(self) -> Lineage<'a> {
        Lineage { session: self.session, ancestors: self.ancestors }
    }

    /// The session that an entry of this one names as its origin.
    pub(crate) fn writer(self, ix: NodeIx) -> &'a str {
        self.lineage().writer(self.source.tree().node(ix).time())
    }
}

/// What a pick brings besides the conversation, and how.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PickOptions {
    /// Also entries that the context has already.
    pub again: bool,
    /// Models, thinking levels and other settings.
    pub settings: bool,
    /// What extensions stored.
    pub state: bool,
    /// The labels of what is picked.
    pub labels: bool,
}

/// What to pick.
#[derive(Debug, Clone, Copy)]
pub struct PickRequest<'a> {
    /// The session that gives; `None` for the one that receives.
    pub from: Option<PickEnd<'a>>,
    /// Selections, each in the order of its path.
    pub selections: &'a [Vec<NodeIx>],
    /// The entry below which the copies go; `None` for a new root.
    pub onto: Option<NodeIx>,
    /// What comes along.
    pub options: PickOptions,
}

/// Plans a pick into `here`.
///
/// # Errors
/// The medium cannot be read.
pub fn plan<'a>(here: PickEnd<'a>, request: &PickRequest<'a>) -> Result<PickPlan> {
    let context = context::build(here.source, request.onto, here.dialect)?;
    let present = Present::of(here.source, &context, here.family(request.from))?;
    let from = request.from.unwrap_or(here);
    let mut planner = Planner::new(here, request, present);
    for selection in request.selections {
        let widened = widen::widen(from.source, selection, from.leaf)?;
        planner.take(&widened)?;
    }
    planner.finish(&context)
}

/// The last entry above `to` that the session `here` has, too: where `A..B` begins without A.
pub fn shared_end(here: PickEnd<'_>, from: Option<PickEnd<'_>>, onto: Option<NodeIx>, to: NodeIx) -> Option<NodeIx> {
    match from {
        None => here.source.tree().common_ancestor(onto?, to),
        Some(from) => from.source.tree().ancestors(to).find(|ix| is_shared(here.source, from.source, *ix).is_some()),
    }
}

/// Whether calls of a turn have no result among these answers. Those of failed turns are not waited for.
pub(crate) fn waits_for_results(turn: &Entry, answered: &[String]) -> bool {
    let stop = turn.message().and_then(|message| message.str("stopReason").map(Cow::into_owned));
    let has_failed = matches!(stop.as_deref(), Some("aborted" | "error"));
    !has_failed && widen::calls(turn).iter().any(|call| !answered.contains(call))
}

struct Planner<'a> {
    here: PickEnd<'a>,
    from: PickEnd<'a>,
    /// Whether another session gives.
    is_elsewhere: bool,
    onto: Option<NodeIx>,
    options: PickOptions,
    present: Present<'a>,
    chosen: Vec<Chosen>,
    seen: HashSet<NodeIx>,
    left_out: Vec<(EntryId, LeftOut)>,
    already: Vec<(EntryId, EntryId)>,
    /// Calls that the context has, of turns that come again because it lacks a result.
    partly_here: HashSet<String>,
}

struct Chosen {
    entry: Entry,
    origin: Origin,
    is_added: bool,
}

impl<'a> Planner<'a> {
    fn new(here: PickEnd<'a>, request: &PickRequest<'a>, present: Present<'a>) -> Self {
        Self {
            here,
            from: request.from.unwrap_or(here),
            is_elsewhere: request.from.is_some_and(|from| from.session != here.session),
            onto: request.onto,
            options: request.options,
            present,
            chosen: Vec::new(),
            seen: HashSet::new(),
            left_out: Vec::new(),
            already: Vec::new(),
            partly_here: HashSet::new(),
        }
    }

    /// Sorts the entries of a selection.
    fn take(&mut self, widened: &Widened) -> Result<()> {
        let partly_here = self.turns_partly_here(widened);
        for entry in &widened.entries {
            let (ix, node) = (entry.ix, self.from.source.tree().node(entry.ix));
            let is_known = !self.seen.insert(ix);
            let comes_again = is_known && partly_here.contains(&ix) && self.take_back(entry);
            if node.is_leaf_marker() || (is_known && !comes_again) {
                continue;
            }
            let Some(origin) = self.origin(entry) else {
                let line = EntryId::new(format!("line {}", node.line()));
                self.left_out.push((line, LeftOut::Damaged));
                continue;
            };
            let id = entry.id.clone().unwrap_or_else(|| EntryId::new("-"));
            let orphan = widened.orphans.contains(&ix).then_some(LeftOut::NoCall);
            if let Some(why) = orphan.or_else(|| self.refused(entry)) {
                self.left_out.push((id, why));
            } else if let Some(found) = self.found_here(entry, &origin).filter(|_| !partly_here.contains(&ix)) {
                let here = self.here.source.tree().node(found).id().cloned();
                self.already.push((id.clone(), here.unwrap_or(id)));
            } else {
                self.chosen.push(Chosen { entry: entry.clone(), origin, is_added: widened.added.contains(&ix) });
            }
        }
        Ok(())
    }

    fn origin(&self, entry: &Entry) -> Option<Origin> {
        Origin::first(entry, self.is_elsewhere.then(|| self.from.writer(entry.ix)), self.here.session)
    }

    /// Whether an earlier selection found this entry here. It comes all the same with a later one that has its results.
    fn take_back(&mut self, entry: &Entry) -> bool {
        let before = self.already.len();
        self.already.retain(|(id, _)| Some(id) != entry.id.as_ref());
        self.already.len() < before
    }

    /// Turns with their results of which the context has some entries and lacks others: all of them come.
    fn turns_partly_here(&mut self, widened: &Widened) -> HashSet<NodeIx> {
        let mut partly = HashSet::new();
        let is_here =
            |entry: &Entry| self.origin(entry).is_some_and(|origin| self.found_here(entry, &origin).is_some());
        let with_role = |role| widened.entries.iter().filter(move |entry| entry.role == Some(role));
        let mut calls_here = HashSet::new();
        for turn in with_role(Role::Assistant) {
            let calls = widen::calls(turn);
            let is_of_turn = |entry: &&Entry| answered(entry).is_some_and(|call| calls.contains(&call));
            let group: Vec<&Entry> =
                std::iter::once(turn).chain(with_role(Role::ToolResult).filter(is_of_turn)).collect();
            let count = group.iter().filter(|entry| is_here(entry)).count();
            if count > 0 && count < group.len() {
                partly.extend(group.iter().map(|entry| entry.ix));
                calls_here.extend(calls);
            }
        }
        self.partly_here.extend(calls_here);
        partly
    }

    /// The entry that the context has for this one.
    fn found_here(&self, entry: &Entry, origin: &Origin) -> Option<NodeIx> {
        if self.options.again {
            return None;
        }
        let itself = self.itself(entry.ix).filter(|ix| self.present.has(*ix));
        itself.or_else(|| self.present.find(self.here.source, origin))
    }

    /// Why an entry of this kind is not copied.
    fn refused(&self, entry: &Entry) -> Option<LeftOut> {
        if entry.damage().is_some() {
            return Some(LeftOut::Damaged);
        }
        let unless = |is_wanted: bool, why| if is_wanted { self.foreign(entry.kind) } else { Some(why) };
        match entry.kind {
            Kind::Message => match entry.role {
                Some(Role::System) => unless(self.options.settings, LeftOut::Setting),
                Some(Role::CompactionSummary) => Some(LeftOut::Compaction),
                _ => None,
            },
            Kind::CustomMessage | Kind::BranchSummary => None,
            Kind::ContextEdit => {
                let target = entry.str("targetId");
                let is_chosen = |chosen: &Chosen| chosen.entry.id.as_ref().map(EntryId::as_str) == target.as_deref();
                if self.chosen.iter().any(is_chosen) { None } else { Some(LeftOut::EditTarget) }
            }
            Kind::Compaction | Kind::ResetBoundary => Some(LeftOut::Compaction),
            Kind::ModelChange | Kind::ThinkingLevelChange | Kind::ModeChange | Kind::ServiceTierChange => {
                unless(self.options.settings, LeftOut::Setting)
            }
            Kind::Custom | Kind::TtsrInjection => unless(self.options.state, LeftOut::State),
            Kind::Label => {
                if self.options.labels {
                    None
                } else {
                    Some(LeftOut::Label)
                }
            }
            Kind::SessionInfo | Kind::TitleChange | Kind::SessionInit | Kind::CredentialPin => Some(LeftOut::Name),
            Kind::Usage | Kind::ModelUsage => Some(LeftOut::Usage),
            Kind::Session | Kind::Title | Kind::Unknown => Some(LeftOut::Unknown),
        }
    }

    fn foreign(&self, kind: Kind) -> Option<LeftOut> {
        let is_known = match (kind.dialect(), self.here.dialect) {
            (KindDialect::Pi, Dialect::Omp) | (KindDialect::Omp, Dialect::Pi) => false,
            // Each program has its own spelling.
            _ => kind != Kind::ModelChange || self.from.dialect == self.here.dialect,
        };
        (!is_known).then_some(LeftOut::OtherDialect)
    }

    /// Makes the entries to be written.
    fn finish(mut self, context: &Context) -> Result<PickPlan> {
        let source = self.here.source;
        let calls = self.renamed_calls();
        let gone = self.gone();
        let chosen = std::mem::take(&mut self.chosen);
        let (mut entries, mut copies, mut files, mut images) = (Vec::new(), Vec::new(), Files::default(), 0);
        let mut places: HashMap<EntryId, usize> = HashMap::new();
        let blob = |hash: &str| self.from.source.blob(hash);
        let writes_out = self.from.dialect == Dialect::Omp && self.here.dialect == Dialect::Pi;
        for Chosen { entry, origin, is_added } in &chosen {
            if entry.kind == Kind::Label {
                continue;
            }
            let changes = Changes { origin, calls: &calls, blob: writes_out.then_some(&blob as _) };
            let (line, has_images) = copy::line(entry, &changes);
            images += usize::from(has_images);
            let mut copy = NewEntry::copy(entry.kind, entry.role, line);
            if entry.kind == Kind::ContextEdit {
                let target = entry.str("targetId").map(EntryId::new);
                // One more, because the marker comes first.
                copy = target.and_then(|target| places.get(&target)).map_or(copy.clone(), |at| copy.targeting(at + 1));
            }
            if entry.role == Some(Role::Assistant) {
                files.take_calls_of(entry);
            }
            let message = branch_summary::message(entry);
            let tokens = message.map_or(0, |message| tokens::estimate(message.json()));
            let id = entry.id.clone().unwrap_or_else(|| EntryId::new("-"));
            places.insert(id.clone(), entries.len());
            let (kind, role, gone) = (entry.kind, entry.role, gone.get(&entry.ix).copied());
            copies.push(PlannedCopy { ix: entry.ix, id, kind, role, is_added: *is_added, gone, tokens });
            entries.push(copy);
        }
        let restated = if self.options.settings { None } else { self.restated(context, &chosen)? };
        if let Some((provider, model)) = &restated {
            entries.push(NewEntry::model(provider, model, self.here.dialect));
        }
        if self.options.labels {
            for copy in &copies {
                let label = self.from.source.tree().label(&copy.id);
                let at = places.get(&copy.id).copied().unwrap_or_default();
                entries
                    .extend(label.map(|label| NewEntry::label(copy.id.as_str(), Some(&label.text)).targeting(at + 1)));
            }
        }
        let tokens = copies.iter().map(|copy| copy.tokens).sum();
        let plan = PickPlan {
            copies,
            left_out: self.left_out,
            already: self.already,
            restated: restated.map(|(provider, model)| format!("{provider}/{model}")),
            tokens,
            before: context.weigh(source, self.onto)?,
            bytes: entries.iter().map(NewEntry::size).sum(),
            files: files.lists(),
            images,
            onto: self.onto,
            entries,
            operation: Operation::Pick,
        };
        source.tree().whole(plan)
    }

    /// New ids for calls that the context may have already: a request must not have one twice.
    fn renamed_calls(&self) -> HashMap<String, String> {
        let turns = self.chosen.iter().filter(|chosen| chosen.entry.role == Some(Role::Assistant));
        let calls = turns.flat_map(|turn| widen::calls(&turn.entry));
        let may_be_here = |id: &String| self.options.again || self.partly_here.contains(id);
        calls.filter(may_be_here).map(|id| (id.clone(), self.new_call_id(&id))).collect()
    }

    /// The entry itself in the session that receives.
    fn itself(&self, ix: NodeIx) -> Option<NodeIx> {
        if self.is_elsewhere { is_shared(self.here.source, self.from.source, ix) } else { Some(ix) }
    }

    /// Differs for every target, and so for every pick of the same entries.
    fn new_call_id(&self, old: &str) -> String {
        let target = self.onto.and_then(|onto| self.here.source.tree().node(onto).id());
        let mut hasher = DefaultHasher::new();
        (old, target.map(EntryId::as_str)).hash(&mut hasher);
        format!("call_{:016x}", hasher.finish())
    }

    /// Selected entries above the target that its context does not show.
    fn gone(&self) -> HashMap<NodeIx, Gone> {
        let mut gone = HashMap::new();
        let tree = self.here.source.tree();
        let Some(first) = self.chosen.iter().map(|chosen| chosen.entry.ix).min().filter(|_| !self.is_elsewhere) else {
            return gone;
        };
        let wanted: HashSet<NodeIx> = self.chosen.iter().map(|chosen| chosen.entry.ix).collect();
        let compaction = self.onto.and_then(|onto| tree.compaction(onto));
        let above = self.onto.into_iter().flat_map(|onto| tree.ancestors(onto));
        for ix in above.take_while(|ix| *ix >= first).filter(|ix| wanted.contains(ix) && !self.present.has(*ix)) {
            let is_before = compaction.is_some_and(|compaction| ix < compaction);
            gone.insert(ix, if is_before { Gone::Compacted } else { Gone::EditedOut });
        }
        gone
    }

    /// The model of here, if the copies would change it.
    fn restated(&self, context: &Context, chosen: &[Chosen]) -> Result<Option<(String, String)>> {
        let last = chosen.iter().rev().find(|chosen| chosen.entry.role == Some(Role::Assistant));
        let named =
            |message: Json<'_>| Some((message.str("provider")?.into_owned(), message.str("model")?.into_owned()));
        let Some(copied) = last.and_then(|chosen| chosen.entry.message()) else { return Ok(None) };
        let own = match (&context.omp, &context.model) {
            (Some(omp), _) => {
                let model = omp.models.iter().find(|(role, _)| role == "default").map(|(_, model)| model);
                model
                    .and_then(|model| model.split_once('/'))
                    .map(|(provider, model)| (provider.to_owned(), model.to_owned()))
            }
            (None, Some(model)) => {
                let model = Json::trusted(model);
                model.str("provider").zip(model.str("modelId")).map(|(a, b)| (a.into_owned(), b.into_owned()))
            }
            (None, None) => None,
        };
        Ok(own.filter(|own| named(copied).as_ref() != Some(own)))
    }
}
