//! What extensions are asked about summaries: pi's `preparation` of a compaction or a move, and what their answers make of it.

use offshoot_protocol::{AgentError, Reason};
use offshoot_session::branch_summary::BranchPlan;
use offshoot_session::compact::{CompactionPlan, PlannedMessage};
use offshoot_session::compose::{NewCompaction, NewEntry};
use offshoot_session::entry::Source as _;
use offshoot_session::header::Dialect;
use offshoot_session::id::EntryId;
use offshoot_session::json::Json;
use offshoot_session::records::write_entries;
use offshoot_session::session::Session;
use offshoot_session::summariser::Drafted;
use offshoot_session::tree::NodeIx;
use serde_json::{Map, Value, json};

use super::summaries::{JobResources, asked};
use crate::extensions::{GivenSummary, Question, SummaryQuestion, SummaryVerdict};
use crate::lenient_json;
use crate::operate::MoveQuestion;
use crate::turn::JobDraft;

/// What extensions make of a compaction.
pub(super) async fn about_compaction(
    resources: &JobResources,
    plan: &CompactionPlan,
    instructions: Option<&str>,
    reason: Reason,
) -> Result<SummaryVerdict, JobDraft> {
    let Some(extensions) = resources.extensions(Question::BeforeCompaction) else { return Ok(SummaryVerdict::Usual) };
    let (plan, instructions) = (plan.clone(), instructions.map(str::to_owned));
    let question = asked(resources, move |owned| compaction(owned.session(), &plan, instructions, reason)).await?;
    let verdict = extensions.before_compaction(question).await;
    allowed(verdict)
}

/// A move in the tree, and pi's `preparation`, which extensions get.
pub(super) struct AskedMove {
    pub(super) wants_summary: bool,
    preparation: String,
}

impl AskedMove {
    /// `words` are the user's instructions, and whether they replace the usual ones.
    pub(super) fn of(
        session: &Session,
        (moves, plan): (MoveQuestion, &BranchPlan),
        wants_summary: bool,
        words: Option<(String, bool)>,
    ) -> Self {
        let MoveQuestion { target, label } = moves;
        let id = |ix: Option<NodeIx>| ix.and_then(|ix| session.tree().node(ix).id()).map(EntryId::as_str);
        let mut preparation = Map::new();
        preparation.insert("targetId".to_owned(), json!(target));
        preparation.insert("oldLeafId".to_owned(), json!(id(session.leaf())));
        preparation.insert("commonAncestorId".to_owned(), json!(id(plan.ancestor)));
        let left = lenient_json::from_str::<Value>(&entries(session, &plan.entries)).unwrap_or_default();
        preparation.insert("entriesToSummarize".to_owned(), left);
        preparation.insert("userWantsSummary".to_owned(), json!(wants_summary));
        if let Some((text, replaces)) = words {
            preparation.insert("customInstructions".to_owned(), json!(text));
            preparation.insert("replaceInstructions".to_owned(), json!(replaces));
        }
        if let Some(label) = &label {
            preparation.insert("label".to_owned(), json!(label));
        }
        Self { wants_summary, preparation: Value::Object(preparation).to_string() }
    }
}

/// What extensions make of a move.
pub(super) async fn about_move(resources: &JobResources, moves: AskedMove) -> Result<SummaryVerdict, JobDraft> {
    let Some(extensions) = resources.extensions(Question::BeforeMove) else { return Ok(SummaryVerdict::Usual) };
    let AskedMove { preparation, .. } = moves;
    let question = SummaryQuestion { preparation, instructions: None, entries: String::new(), reason: None };
    allowed(extensions.before_move(question).await)
}

fn allowed(verdict: SummaryVerdict) -> Result<SummaryVerdict, JobDraft> {
    match verdict {
        SummaryVerdict::Cancelled => Err(JobDraft::Failed(AgentError::Cancelled)),
        verdict => Ok(verdict),
    }
}

/// The draft that a given summary is.
pub(super) fn drafted(given: &GivenSummary) -> Drafted {
    let details = given.details.clone().unwrap_or_else(|| "{}".to_owned());
    Drafted { text: given.text.clone(), details, usage: given.usage.clone() }
}

/// The entry of a compaction that an extension gave.
pub(super) fn given_compaction(
    session: &Session,
    plan: &CompactionPlan,
    given: &GivenSummary,
    dialect: Dialect,
) -> Result<NewEntry, AgentError> {
    let first_kept = given.first_kept.as_deref().unwrap_or(plan.first_kept_id.as_str());
    let tree = session.tree();
    let is_here = session.leaf().is_some_and(|leaf| tree.ancestors(leaf).any(|ix| Some(ix) == tree.find(first_kept)));
    if !is_here {
        return Err(AgentError::Failed(format!(
            "the extension's summary keeps from {first_kept}, which is not on this branch"
        )));
    }
    let parsed = |text: &Option<String>| text.as_deref().map(Json::parse).transpose().ok().flatten().is_some();
    let (has_details, has_usage) = (parsed(&given.details), parsed(&given.usage));
    let json = |has: bool, text: &'_ Option<String>| text.clone().filter(|_| has);
    let (details, usage) = (json(has_details, &given.details), json(has_usage, &given.usage));
    let new = NewCompaction {
        summary: &given.text,
        first_kept: Some(first_kept),
        tokens_before: given.tokens_before.unwrap_or(plan.tokens_before()),
        details: details.as_deref().and_then(|text| Json::parse(text).ok()),
        from_hook: Some(true),
        usage: usage.as_deref().and_then(|text| Json::parse(text).ok()),
        ..NewCompaction::default()
    };
    Ok(NewEntry::compaction(&new, dialect))
}

fn compaction(
    session: &Session,
    plan: &CompactionPlan,
    instructions: Option<String>,
    reason: Reason,
) -> SummaryQuestion {
    let messages = |planned: &[PlannedMessage]| {
        Value::Array(planned.iter().filter_map(|planned| message(session, planned.ix)).collect())
    };
    let settings = plan.settings;
    let preparation = json!({
        "firstKeptEntryId": plan.first_kept_id.as_str(),
        "messagesToSummarize": messages(&plan.history),
        "turnPrefixMessages": messages(&plan.turn_prefix),
        "isSplitTurn": plan.is_split(),
        "tokensBefore": plan.tokens_before(),
        "previousSummary": plan.previous_summary.as_deref(),
        "fileOps": {"read": plan.files.read, "written": [], "edited": plan.files.modified},
        "settings": {
            "enabled": settings.enabled, "reserveTokens": settings.reserve_tokens, "keepRecentTokens": settings.keep_recent_tokens
        }
    });
    let path = session.leaf().map(|leaf| session.tree().path(leaf)).unwrap_or_default();
    let (preparation, entries) = (preparation.to_string(), entries(session, &path));
    SummaryQuestion { preparation, instructions, entries, reason: Some(reason) }
}

fn entries(session: &Session, entries: &[NodeIx]) -> String {
    let mut out = Vec::new();
    // An entry that cannot be read is reported where it is used.
    drop(write_entries(&mut out, session, entries));
    String::from_utf8(out).unwrap_or_default()
}

/// The message of an entry, as pi's agent has it.
fn message(session: &Session, ix: NodeIx) -> Option<Value> {
    let entry = session.entry(ix).ok()?;
    let mut line: Value = lenient_json::from_str(&entry.to_json(session.tree())).ok()?;
    if let Some(message) = line.get_mut("message") {
        return Some(message.take());
    }
    let role = match line["type"].as_str()? {
        "custom_message" => "custom",
        "branch_summary" => "branchSummary",
        "compaction" => "compactionSummary",
        _ => return None,
    };
    let object = line.as_object_mut()?;
    ["type", "id", "parentId", "timestamp"].iter().for_each(|name| drop(object.remove(*name)));
    object.insert("role".to_owned(), json!(role));
    Some(line)
}
