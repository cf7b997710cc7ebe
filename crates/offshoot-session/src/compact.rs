//! Compaction: where to cut a path, what goes and what stays, the requests to a summariser, and the resulting entry.
//!
//! Planning reads envelopes and the context once; it writes nothing and asks nobody. The plans are pi's, so that every
//! program cuts a session at the same place. See `docs/compaction.md`.

mod pinned;
mod projection;
mod cut;
pub mod report;

use crate::compose::NewEntry;
use crate::context::{ContextWeight, Retained};
use crate::conversation::{self, SpokenPart};
use crate::entry::Source;
use crate::error::{Error, Result};
use crate::files::{FileLists, Files};
use crate::header::Dialect;
use crate::id::EntryId;
use crate::json::{Object, quote};
use crate::kind::{Kind, Role};
use crate::summariser::{
    Drafted, Purpose, SYSTEM_PROMPT, Summariser, SummariserAnswer, SummariserRequest, answered_text, combined,
};
use crate::tokens::estimate_summary;
use crate::tree::NodeIx;

pub use pinned::{PIN, Pinned};

const HISTORY: &str = include_str!("compact/prompts/history.md");
const UPDATE: &str = include_str!("compact/prompts/update.md");
const TURN_PREFIX: &str = include_str!("compact/prompts/turn-prefix.md");

/// Replaces the history if the session's first turn is cut.
const NO_HISTORY: &str = "(nothing before this turn)";

/// When to compact and how much to keep. The defaults are pi's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    /// Whether to compact automatically.
    pub enabled: bool,
    /// Tokens of the window kept free for the answer, or for a summary.
    pub reserve_tokens: u64,
    /// Tokens of the newest messages that are kept verbatim.
    pub keep_recent_tokens: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Self { enabled: true, reserve_tokens: 16_384, keep_recent_tokens: 20_000 }
    }
}

impl Settings {
    /// A context of more tokens than this must be compacted for a model's window; `None` if nothing is compacted automatically.
    #[must_use]
    pub fn compact_above(&self, window: u64) -> Option<u64> {
        self.enabled.then(|| window.saturating_sub(self.reserve_tokens))
    }
}

/// The result of planning.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "the names of the others say what they are")]
pub enum Planned {
    Cut(Box<CompactionPlan>),
    AlreadyCompacted,
    /// Everything would be kept.
    TooSmall,
}

#[expect(missing_docs, reason = "the name says it")]
impl Planned {
    pub fn plan(self) -> Option<CompactionPlan> {
        match self {
            Self::Cut(plan) => Some(*plan),
            Self::AlreadyCompacted | Self::TooSmall => None,
        }
    }
}

/// One message of a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names of the others say what they are")]
pub struct PlannedMessage {
    pub ix: NodeIx,
    pub role: Role,
    /// An estimate.
    pub tokens: u64,
    /// The text for a summariser.
    pub parts: Vec<SpokenPart>,
    pub(crate) files: Files,
}

/// A planned compaction; see [`plan`].
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "the names of the others say what they are")]
pub struct CompactionPlan {
    /// The first entry that stays.
    pub first_kept: NodeIx,
    pub first_kept_id: EntryId,
    /// The start of the turn that the cut splits; `None` if it falls between turns.
    pub turn_start: Option<NodeIx>,
    /// What goes, without the start of a split turn; empty if only that goes.
    pub history: Vec<PlannedMessage>,
    /// The start of a split turn. It goes and gets a summary of its own.
    pub turn_prefix: Vec<PlannedMessage>,
    pub kept: Vec<PlannedMessage>,
    /// The context before the compaction.
    pub before: ContextWeight,
    /// The compaction at the start of the context.
    pub previous: Option<NodeIx>,
    /// That compaction's summary, as in the file.
    pub previous_summary: Option<String>,
    /// The previous summary without the parts that every summary gets anew: pinned entries and files.
    earlier: Option<String>,
    /// Files read and changed in what goes, and before it.
    pub files: FileLists,
    /// Pinned entries in what goes, and before it. Their texts stay in the summary verbatim.
    pub pinned: Vec<Pinned>,
    pub settings: Settings,
}

/// Why a compaction is planned. It decides what happens with messages that are larger than all that is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Occasion {
    /// Somebody asks for it. The cut is pi's.
    Asked,
    /// A request is about to be sent: a message that the model has not read yet stays as it is.
    BeforeRequest,
    /// A request was too long, and will be sent again. What the model has not read stays; an older message that alone is
    /// larger than all that is kept goes.
    AfterOverflow,
}

/// Plans the compaction of the path to `leaf`. `form` is the session's dialect.
///
/// # Errors
/// The medium cannot be read.
pub fn plan(source: &dyn Source, leaf: Option<NodeIx>, form: Dialect, settings: &Settings) -> Result<Planned> {
    plan_on(Occasion::Asked, source, (leaf, form), settings)
}

/// Plans a compaction as [`plan`] does, for this occasion.
///
/// # Errors
/// The medium cannot be read.
pub fn plan_on(
    occasion: Occasion,
    source: &dyn Source,
    (leaf, form): (Option<NodeIx>, Dialect),
    settings: &Settings,
) -> Result<Planned> {
    let tree = source.tree();
    let path = leaf.map(|leaf| tree.path(leaf)).unwrap_or_default();
    let end = leaf.and_then(|leaf| tree.skip_leaf_markers(leaf));
    if let Some(end) = end.filter(|end| tree.node(*end).kind() == Kind::Compaction) {
        match Retained::of(&source.entry(end)?, form) {
            Retained::After(_) => {} // what came while the checkpoint was made is in no summary
            Retained::Nothing | Retained::From(_) => return Ok(Planned::AlreadyCompacted),
        }
    }
    let projection = projection::project(source, &path, leaf, form)?;
    let cut = cut::find(source, &projection, (settings.keep_recent_tokens, occasion))?;
    let first_kept = projection.entries.get(cut.first_kept).map(|entry| entry.ix);
    let named = first_kept.and_then(|ix| Some((ix, tree.node(ix).id()?.clone())));
    let Some((first_kept, first_kept_id)) = named else { return tree.whole(Planned::TooSmall) };
    let history = projection.planned_messages(projection.start()..cut.turn_start.unwrap_or(cut.first_kept));
    let turn_prefix = cut.turn_start.map_or(Vec::new(), |start| projection.planned_messages(start..cut.first_kept));
    if history.is_empty() && turn_prefix.is_empty() {
        return tree.whole(Planned::TooSmall);
    }
    let pinned = pinned::before(source, &path, first_kept)?;
    let mut plan = CompactionPlan {
        first_kept,
        first_kept_id,
        turn_start: cut.turn_start.and_then(|start| projection.entries.get(start)).map(|entry| entry.ix),
        kept: projection.planned_messages(cut.first_kept..projection.entries.len()),
        before: projection.weight,
        previous: projection.previous,
        previous_summary: None,
        earlier: None,
        files: FileLists::default(),
        pinned,
        settings: *settings,
        history,
        turn_prefix,
    };
    plan.carry_on(source)?;
    tree.whole(Planned::Cut(Box::new(plan)))
}

impl CompactionPlan {
    /// Adds the previous compaction's summary and files, and the files of what goes.
    fn carry_on(&mut self, source: &dyn Source) -> Result<()> {
        let mut files = Files::default();
        if let Some(previous) = self.previous {
            let entry = source.entry(previous)?;
            files.take_summary(entry.json());
            self.previous_summary = entry.str("summary").map(std::borrow::Cow::into_owned);
            let carried = FileLists::of_summary(entry.json()).unwrap_or_default();
            self.earlier = self.previous_summary.as_deref().map(|summary| {
                let summary = summary.strip_suffix(&carried.blocks()).unwrap_or(summary);
                pinned::without(summary, &self.pinned)
            });
        }
        self.dropped().for_each(|said| files.extend(said.files.clone()));
        self.files = files.lists();
        Ok(())
    }

    /// All messages that go, in order.
    pub fn dropped(&self) -> impl Iterator<Item = &PlannedMessage> {
        self.history.iter().chain(&self.turn_prefix)
    }

    /// Whether the cut splits a turn.
    pub fn is_split(&self) -> bool {
        self.turn_start.is_some()
    }

    /// The context before the compaction, as pi counts it for the entry.
    pub fn tokens_before(&self) -> u64 {
        self.before.stored_total()
    }

    /// An estimate of the messages that stay.
    pub fn tokens_kept(&self) -> u64 {
        self.kept.iter().map(|said| said.tokens).sum()
    }

    /// An estimate of the context after a compaction with this summary.
    pub fn tokens_after(&self, summary: &str) -> u64 {
        estimate_summary(summary) + self.tokens_kept()
    }

    /// The history as text.
    pub fn history_text(&self) -> String {
        text_of(&self.history)
    }

    /// The start of a split turn as text.
    pub fn turn_prefix_text(&self) -> String {
        text_of(&self.turn_prefix)
    }

    /// The requests to a summariser: one for the history, unless it is empty, then one for the start of a split turn.
    /// `instructions` are the user's.
    pub fn requests(&self, instructions: Option<&str>) -> Vec<SummariserRequest> {
        let entries = |said: &[PlannedMessage]| said.iter().map(|said| said.ix).collect();
        let mut requests = Vec::new();
        if !self.history.is_empty() {
            let previous = self.earlier.as_ref().filter(|earlier| !earlier.is_empty());
            let (purpose, task) = match previous {
                Some(_) => (Purpose::Update, UPDATE),
                None => (Purpose::History, HISTORY),
            };
            let tag = |summary: &String| format!("<previous-summary>\n{summary}\n</previous-summary>\n\n");
            let earlier = previous.map(tag).unwrap_or_default();
            requests.push(SummariserRequest {
                purpose,
                system: SYSTEM_PROMPT,
                prompt: prompt(&self.history_text(), &earlier, &focused(task, instructions)),
                max_tokens: self.settings.reserve_tokens.saturating_mul(4) / 5,
                entries: entries(&self.history),
                previous: previous.cloned(),
            });
        }
        if !self.turn_prefix.is_empty() {
            requests.push(SummariserRequest {
                purpose: Purpose::TurnPrefix,
                system: SYSTEM_PROMPT,
                prompt: prompt(&self.turn_prefix_text(), "", &focused(TURN_PREFIX, instructions)),
                max_tokens: self.settings.reserve_tokens / 2,
                entries: entries(&self.turn_prefix),
                previous: None,
            });
        }
        requests
    }

    /// Requests all summaries and joins them.
    ///
    /// # Errors
    /// The summariser's, and those of [`CompactionPlan::summary`].
    pub fn run(&self, summariser: &dyn Summariser, instructions: Option<&str>) -> Result<Drafted> {
        let requests = self.requests(instructions);
        let answers = requests.iter().map(|request| summariser.summarise(request)).collect::<Result<Vec<_>>>()?;
        self.summary(&answers, summariser.name())
    }

    /// Joins the answers to [`CompactionPlan::requests`] and adds pinned entries and files. `summariser` is the name for the
    /// details, unless it is a model.
    ///
    /// # Errors
    /// [`Error::NoSummary`] if answers are missing or empty.
    pub fn summary(&self, answers: &[SummariserAnswer], summariser: Option<&str>) -> Result<Drafted> {
        let texts = answers.iter().map(answered_text).collect::<Result<Vec<_>>>()?;
        let earlier = self.earlier.as_deref().filter(|earlier| !earlier.is_empty()).unwrap_or(NO_HISTORY);
        let text = match (texts.as_slice(), self.history.is_empty(), self.turn_prefix.is_empty()) {
            ([history], false, true) => (*history).to_owned(),
            ([prefix], true, false) => joined(earlier, prefix),
            ([history, prefix], false, false) => joined(history, prefix),
            _ => {
                let (wanted, got) = (self.requests(None).len(), texts.len());
                return Err(Error::NoSummary(format!("the plan asks {wanted} questions, {got} were answered")));
            }
        };
        let usages = answers.iter().map(|answer| answer.usage.as_deref());
        let usage = usages.fold(None, |all: Option<String>, usage| combined(all.as_deref(), usage));
        let text = text + &pinned::section(&self.pinned) + &self.files.blocks();
        Ok(Drafted { text, details: self.details(summariser), usage })
    }

    fn details(&self, summariser: Option<&str>) -> String {
        let mut details = self.files.details(Object::new());
        if !self.pinned.is_empty() {
            let ids: Vec<String> = self.pinned.iter().map(|pinned| quote(pinned.id.as_str())).collect();
            details = details.raw("pinned", format!("[{}]", ids.join(",")));
        }
        details.opt_str("summariser", summariser).finish()
    }

    /// The compaction entry for the leaf of the plan.
    pub fn entry(&self, drafted: &Drafted, dialect: Dialect) -> NewEntry {
        NewEntry::compaction(&drafted.compaction(self.first_kept_id.as_str(), self.tokens_before()), dialect)
    }
}

fn text_of(said: &[PlannedMessage]) -> String {
    conversation::text(said.iter().flat_map(|said| &said.parts))
}

/// Joins two summaries as pi does.
fn joined(history: &str, prefix: &str) -> String {
    format!("{history}\n\n---\n\n**Turn Context (split turn):**\n\n{prefix}")
}

pub(crate) fn prompt(conversation: &str, more: &str, task: &str) -> String {
    format!("<conversation>\n{conversation}\n</conversation>\n\n{more}{task}")
}

/// A task with the user's instructions.
pub(crate) fn focused(task: &str, instructions: Option<&str>) -> String {
    let task = task.trim_end();
    match instructions.map(str::trim).filter(|instructions| !instructions.is_empty()) {
        Some(instructions) => format!("{task}\n\nPay special attention to this: {instructions}"),
        None => task.to_owned(),
    }
}

#[cfg(test)]
mod tests;
