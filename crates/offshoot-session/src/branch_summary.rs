//! Branch summaries, as in pi: what a move in the tree leaves behind, the request to a summariser, and the resulting
//! entry. Writes nothing and asks nobody. See *Branch summaries* in `docs/compaction.md`.

use crate::compact::{PlannedMessage, focused, prompt};
use crate::compose::NewEntry;
use crate::context::{EditedEntry, EntryEdits, Message};
use crate::conversation::{self, Results, parts};
use crate::entry::{Entry, Source};
use crate::error::Result;
use crate::files::{FileLists, Files};
use crate::header::Dialect;
use crate::id::EntryId;
use crate::in_order::{batches, made_in_order};
use crate::json::Object;
use crate::kind::{Kind, KindSpeech, Role};
use crate::summariser::{
    Drafted, Purpose, SYSTEM_PROMPT, Summariser, SummariserAnswer, SummariserRequest, answered_text,
};
use crate::tokens::{estimate, estimate_summary};
use crate::tree::reader::NodeReader;
use crate::tree::{Node, NodeIx};

const BRANCH: &str = include_str!("compact/prompts/branch.md");
const MERGE: &str = include_str!("compact/prompts/merge.md");
const LEAD: &str =
    "Another branch of this conversation was tried before the return to this point. What happened there:";
const MERGE_LEAD: &str = "Another branch of this conversation was merged into this one. What happened there:";
const NOTHING_SAID: &str = "(nothing was said on this branch)";
/// The most tokens of an answer.
const MAX_TOKENS: u64 = 4096;
/// The most tokens of the branch that receives a merge.
const HERE_TOKENS: u64 = 8192;
/// The window of a model whose size is unknown.
const DEFAULT_WINDOW: u64 = 128_000;
/// Tokens of a window kept free for the task and the answer by default.
pub const RESERVE: u64 = 16_384;

/// The most tokens of conversation for a summariser with this window, of which `reserve` tokens stay free. A window of 0 is
/// unknown.
pub fn budget(window: u64, reserve: u64) -> u64 {
    let window = if window == 0 { DEFAULT_WINDOW } else { window };
    window.saturating_sub(reserve)
}

/// A user's instructions to a summariser.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the name says it")]
pub enum Instructions<'a> {
    #[default]
    Plain,
    /// Text to emphasise.
    Focus(&'a str),
    /// A task that replaces the usual one.
    Instead(&'a str),
}

/// A planned branch summary; see [`plan`].
#[derive(Debug, Clone)]
pub struct BranchPlan {
    /// The leaf that is left.
    pub from: Option<NodeIx>,
    /// The last entry that both paths share.
    pub ancestor: Option<NodeIx>,
    /// The entries that are left, from below the ancestor to the leaf.
    pub entries: Vec<NodeIx>,
    /// The newest messages of them that fit the budget, in order.
    pub said: Vec<PlannedMessage>,
    /// An estimate of these messages.
    pub tokens: u64,
    /// How many messages exceeded the budget.
    pub left_out: usize,
    /// Files read and changed on the branch, and on branches left from it.
    pub files: FileLists,
    /// Of a merge: the newest of what was said on the branch that receives it, as text.
    pub here: String,
    /// The sentence before the summary.
    lead: &'static str,
    task: &'static str,
}

/// Plans a summary of what a move from `from` to `target` leaves. `budget` is the most tokens of conversation for the
/// summariser: the model's window without the reserve; 0 means no limit.
///
/// # Errors
/// The medium cannot be read.
pub fn plan(source: &dyn Source, from: Option<NodeIx>, target: Option<NodeIx>, budget: u64) -> Result<BranchPlan> {
    let (ancestor, entries) = left_behind(source, from, target);
    let (said, files) = (Vec::new(), FileLists::default());
    let (here, lead, task) = (String::new(), LEAD, BRANCH);
    BranchPlan { from, ancestor, entries, said, tokens: 0, left_out: 0, files, here, lead, task }.filled(source, budget)
}

/// A part of a branch that is merged: these entries, below `base` and up to `tip`.
#[derive(Debug)]
pub(crate) struct MergedPart {
    pub(crate) tip: NodeIx,
    pub(crate) base: Option<NodeIx>,
    pub(crate) entries: Vec<NodeIx>,
}

/// Plans a summary of a part of a branch, for the branch on which `here` was said, from the last message on.
///
/// # Errors
/// A medium cannot be read.
pub(crate) fn plan_merge(
    source: &dyn Source,
    part: MergedPart,
    here: impl Iterator<Item = Result<Message>>,
    budget: u64,
) -> Result<BranchPlan> {
    let limit = if budget == 0 { HERE_TOKENS } else { HERE_TOKENS.min(budget / 4) };
    let (here, tokens) = newest(here, limit)?;
    let MergedPart { tip, base, entries } = part;
    let (said, files, lead, task) = (Vec::new(), FileLists::default(), MERGE_LEAD, MERGE);
    let plan =
        BranchPlan { from: Some(tip), ancestor: base, entries, said, tokens: 0, left_out: 0, files, here, lead, task };
    plan.filled(source, if budget == 0 { 0 } else { (budget - tokens).max(1) })
}

/// The newest messages that fit, in order, as text, and an estimate of them.
fn newest(messages: impl Iterator<Item = Result<Message>>, limit: u64) -> Result<(String, u64)> {
    let (mut said, mut tokens) = (Vec::new(), 0);
    for message in messages {
        let parts = parts(message?, Results::Cut);
        let more = estimate_summary(&conversation::text(&parts));
        if tokens + more > limit {
            break;
        }
        tokens += more;
        said.push(parts);
    }
    Ok((conversation::text(said.iter().rev().flatten()), tokens))
}

/// The common ancestor, and the entries below it up to `from`.
fn left_behind(source: &dyn Source, from: Option<NodeIx>, target: Option<NodeIx>) -> (Option<NodeIx>, Vec<NodeIx>) {
    let Some(from) = from else { return (None, Vec::new()) };
    let tree = source.tree();
    let ancestor = target.and_then(|target| tree.common_ancestor(from, target));
    let nodes = NodeReader::new(tree);
    let mut entries: Vec<NodeIx> = nodes.ancestors(from).take_while(|ix| Some(*ix) != ancestor).collect();
    entries.reverse();
    (ancestor, entries)
}

impl BranchPlan {
    /// The plan with messages and files.
    fn filled(mut self, source: &dyn Source, budget: u64) -> Result<Self> {
        let mut files = Files::default();
        let nodes = NodeReader::new(source.tree());
        for ix in self.entries.iter().filter(|ix| nodes.look(**ix, Node::kind) == Kind::BranchSummary) {
            files.take_summary(source.entry(*ix)?.json());
        }
        self.take_newest(source, budget, &mut files)?;
        self.files = files.lists();
        source.tree().whole(self)
    }

    /// Takes messages from the newest back until the budget is used up. An earlier summary that exceeds it slightly is
    /// taken, because it replaces much.
    fn take_newest(&mut self, source: &dyn Source, budget: u64, files: &mut Files) -> Result<()> {
        let edits = EntryEdits::among(source, &self.entries)?;
        let nodes = NodeReader::new(source.tree());
        let spoken: Vec<NodeIx> = self.entries.iter().rev().copied().filter(|ix| nodes.look(*ix, may_speak)).collect();
        let said = |at: usize| spoken.get(at).map_or(Ok(None), |ix| SaidEntry::of(source, &edits, *ix));
        if budget == 0 {
            let parts = batches(spoken.iter().map(|ix| nodes.look(*ix, Node::length)));
            made_in_order(&parts, said, |_, said| {
                self.take(said.take(), budget, files);
                Ok(())
            })?;
        }
        // What exceeds a budget is not read.
        for at in 0..if budget == 0 { 0 } else { spoken.len() } {
            if self.take(said(at)?, budget, files) {
                self.left_out += spoken.len() - at - 1;
                break;
            }
        }
        self.said.reverse();
        Ok(())
    }

    /// Takes a message, or counts it as left out. Returns whether the budget is used up.
    fn take(&mut self, said: Option<SaidEntry>, budget: u64, files: &mut Files) -> bool {
        let Some(SaidEntry { message, files: named }) = said else { return false };
        files.extend(named);
        let is_full = budget > 0 && self.tokens + message.tokens > budget;
        let is_summary = matches!(message.role, Role::CompactionSummary | Role::BranchSummary);
        if is_full && !(is_summary && self.tokens.saturating_mul(10) < budget.saturating_mul(9)) {
            self.left_out += 1;
        } else {
            self.tokens += message.tokens;
            self.said.push(message);
        }
        is_full
    }

    /// Whether there is more to summarise than the summaries of other branches.
    pub fn has_messages(&self) -> bool {
        self.left_out > 0 || self.said.iter().any(|said| said.role != Role::BranchSummary)
    }

    /// The messages as text.
    pub fn text(&self) -> String {
        conversation::text(self.said.iter().flat_map(|said| &said.parts))
    }

    /// The request to a summariser; `None` if the branch has no messages.
    pub fn request(&self, instructions: Instructions<'_>) -> Option<SummariserRequest> {
        if self.said.is_empty() {
            return None;
        }
        let task = match instructions {
            Instructions::Plain => focused(self.task, None),
            Instructions::Focus(text) => focused(self.task, Some(text)),
            Instructions::Instead(text) => text.to_owned(),
        };
        let here = match self.here.as_str() {
            "" => String::new(),
            here => format!("<current-branch>\n{here}\n</current-branch>\n\n"),
        };
        Some(SummariserRequest {
            purpose: Purpose::Branch,
            system: SYSTEM_PROMPT,
            prompt: prompt(&self.text(), &here, &task),
            max_tokens: MAX_TOKENS,
            entries: self.said.iter().map(|said| said.ix).collect(),
            previous: None,
        })
    }

    /// Requests the summary.
    ///
    /// # Errors
    /// The summariser's, and those of [`BranchPlan::summary`].
    pub fn run(&self, summariser: &dyn Summariser, instructions: Instructions<'_>) -> Result<Drafted> {
        let answer = self.request(instructions).map(|request| summariser.summarise(&request)).transpose()?;
        self.summary(answer.as_ref(), summariser.name())
    }

    /// The summary from the answer to [`BranchPlan::request`], with an introduction and the files. Without an answer,
    /// it says that the branch is empty.
    ///
    /// # Errors
    /// [`crate::error::Error::NoSummary`] if the answer is empty.
    pub fn summary(&self, answer: Option<&SummariserAnswer>, summariser: Option<&str>) -> Result<Drafted> {
        let text = match answer {
            Some(answer) => format!("{}\n\n{}{}", self.lead, answered_text(answer)?, self.files.blocks()),
            None => NOTHING_SAID.to_owned(),
        };
        let details = self.files.details(Object::new()).opt_str("summariser", summariser.filter(|_| answer.is_some()));
        Ok(Drafted { text, details: details.finish(), usage: answer.and_then(|answer| answer.usage.clone()) })
    }

    /// The branch summary entry, to be appended at the new place.
    pub fn entry(&self, source: &dyn Source, drafted: &Drafted, dialect: Dialect) -> NewEntry {
        let from = self.from.and_then(|from| source.tree().node(from).id());
        NewEntry::branch_summary(from.map(EntryId::as_str), &drafted.branch_summary(), dialect)
    }
}

/// What an entry says to a summariser, and the files that its calls name.
struct SaidEntry {
    message: PlannedMessage,
    files: Files,
}

impl SaidEntry {
    fn of(source: &dyn Source, edits: &EntryEdits, ix: NodeIx) -> Result<Option<Self>> {
        let mut files = Files::default();
        let said = match edits.apply(source, ix)? {
            EditedEntry::Unedited => {
                let entry = source.entry(ix)?;
                let said = message(&entry);
                if said.as_ref().is_some_and(|said| said.role == Role::Assistant) {
                    files.take_calls_of(&entry);
                }
                said
            }
            EditedEntry::Omitted => None,
            EditedEntry::Said(message) => {
                if message.role == Role::Assistant {
                    files.take_calls(message.json());
                }
                Some(message)
            }
        };
        Ok(said.map(|message| {
            let (role, tokens) = (message.role, estimate(message.json()));
            let parts = parts(message, Results::Cut);
            Self { message: PlannedMessage { ix, role, tokens, parts, files: Files::default() }, files }
        }))
    }
}

/// Whether an entry may have a message. Results do not count: their calls suffice.
fn may_speak(node: &Node) -> bool {
    match node.kind().speech() {
        KindSpeech::Message => node.role() != Some(Role::ToolResult),
        KindSpeech::CustomMessage | KindSpeech::BranchSummary | KindSpeech::Compaction => true,
        KindSpeech::Nothing => false,
    }
}

/// The message of an entry as stored; edits are ignored.
pub(crate) fn message(entry: &Entry) -> Option<Message> {
    let of =
        |role, json: crate::json::Json<'_>| Message { entry: entry.id.clone(), role, json: json.text().to_owned() };
    if entry.damage().is_some() {
        return None;
    }
    Some(match entry.kind.speech() {
        // The node may still have the role of version 2.
        KindSpeech::Message if entry.role == Some(Role::HookMessage) => of(Role::Custom, entry.message()?),
        KindSpeech::Message => of(entry.role?, entry.message()?),
        // These lines have their messages' members.
        KindSpeech::CustomMessage => with_role(of(Role::Custom, entry.json())),
        KindSpeech::BranchSummary => with_role(of(Role::BranchSummary, entry.json())),
        KindSpeech::Compaction => with_role(of(Role::CompactionSummary, entry.json())),
        KindSpeech::Nothing => return None,
    })
}

/// The message with its role, which estimates need.
fn with_role(message: Message) -> Message {
    let members = ["content", "summary"];
    let json = message.json();
    let found = members.iter().filter_map(|name| Some((name, json.get(name)?)));
    let role = Object::new().opt_str("role", message.role.word());
    let json = found.fold(role, |object, (name, value)| object.json(name, value)).finish();
    Message { json, ..message }
}

#[cfg(test)]
mod tests;
