//! The text of an entry's row.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, MutexGuard, OnceLock};

use crate::call_view::{CallFile, CallVerb, CallView};
use crate::entry::{Entry, Source, text_of};
use crate::error::Result;
use crate::json::Json;
use crate::kind::{Kind, Role};
use crate::per_thread::PerThread;
use crate::text::one_line;
use crate::transcript::{calls, context_edit, error_words, value_text};
use crate::tree::NodeIx;

const MAX: usize = 200;

/// How many entries above a result its call is searched. It usually directly precedes the result, or is far away.
const NEAR: usize = 64;

/// How many turns are remembered: the results of a turn usually follow it.
const REMEMBERED: usize = 16;
/// A turn with more calls is read for each of its results.
const MOST_CALLS: usize = 64;

/// The calls of a turn that its results may answer.
pub(super) type TurnCalls = Arc<Vec<TurnCall>>;

/// A call as the rows of its results need it.
#[derive(Debug)]
pub(super) struct TurnCall {
    /// Empty if it has none.
    id: String,
    row: String,
    pub(super) files: Vec<CallFile>,
}

/// A longer turn is not kept.
const LONGEST_SEEN: usize = 64 << 10;

/// The last turns that each thread read: the rows of a turn's results usually follow it on the same thread.
#[derive(Debug, Default)]
struct Recent(PerThread<RecentTurns>);

#[derive(Debug, Default)]
struct RecentTurns {
    calls: VecDeque<(NodeIx, TurnCalls)>,
    /// Turns whose own rows were made: their calls are read if a result asks for them.
    seen: VecDeque<Entry>,
}

impl Clone for Recent {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl Recent {
    fn turns(&self) -> MutexGuard<'_, RecentTurns> {
        self.0.lock()
    }

    fn get(&self, turn: NodeIx) -> Option<TurnCalls> {
        self.turns().calls.iter().find(|(known, _)| *known == turn).map(|(_, calls)| Arc::clone(calls))
    }

    fn put(&self, turn: NodeIx, calls: &TurnCalls) {
        if calls.len() > MOST_CALLS {
            return;
        }
        let mut turns = self.turns();
        turns.calls.truncate(REMEMBERED - 1);
        turns.calls.push_front((turn, Arc::clone(calls)));
    }

    fn saw(&self, turn: Entry) {
        if turn.line().len() <= LONGEST_SEEN {
            let mut turns = self.turns();
            turns.seen.truncate(REMEMBERED - 1);
            turns.seen.push_front(turn);
        }
    }

    fn take_seen(&self, turn: NodeIx) -> Option<Entry> {
        let mut turns = self.turns();
        let at = turns.seen.iter().position(|seen| seen.ix == turn)?;
        turns.seen.remove(at)
    }
}

/// Tool calls as their results' rows show them.
#[derive(Debug, Clone, Default)]
pub(super) struct Calls {
    home: Option<String>,
    is_near_only: bool,
    recent: Recent,
    /// The text of every call by id, read only for a result whose call is not near.
    all: Arc<OnceLock<HashMap<String, String>>>,
}

impl Calls {
    pub(super) fn new(home: Option<&str>) -> Self {
        Self { home: home.map(str::to_owned), ..Self::default() }
    }

    /// Restricts the search to calls near their results.
    pub(super) fn reads_near_only(&mut self) {
        self.is_near_only = true;
    }

    /// The row's text for the call that the result at `ix` answers.
    fn of(&self, source: &dyn Source, ix: NodeIx, id: &str) -> Result<Option<String>> {
        let row = self.near(source, ix, id, |call| call.row.clone())?;
        if row.is_some() || self.is_near_only {
            return Ok(row);
        }
        let is_turn = |at: &NodeIx| source.tree().node(*at).role() == Some(Role::Assistant);
        if self.all.get().is_none() {
            let mut all = HashMap::new();
            for turn in source.tree().entries().filter(is_turn) {
                self.take(&source.entry(turn)?, |call| {
                    if !call.id.is_empty() {
                        all.insert(call.id, call.row);
                    }
                });
            }
            drop(self.all.set(all));
        }
        Ok(self.all.get().and_then(|all| all.get(id)).cloned())
    }

    /// The files that the call of a result reads or changes; none if the call is not near.
    pub(super) fn files_of(&self, source: &dyn Source, result: &Entry) -> Result<Vec<CallFile>> {
        let Some(id) = result.of_message("toolCallId").and_then(value_text) else { return Ok(Vec::new()) };
        Ok(self.near(source, result.ix, &id, |call| call.files.clone())?.unwrap_or_default())
    }

    /// What `read` takes from the call with this id, if it is not far above the result.
    fn near<T>(
        &self,
        source: &dyn Source,
        result: NodeIx,
        id: &str,
        read: impl FnOnce(&TurnCall) -> T,
    ) -> Result<Option<T>> {
        let tree = source.tree();
        let is_turn = |at: &NodeIx| tree.node(*at).role() == Some(Role::Assistant);
        if id.is_empty() {
            return Ok(None);
        }
        for turn in tree.ancestors(result).skip(1).take(NEAR).filter(is_turn) {
            let calls = self.of_turn(source, turn)?;
            if let Some(call) = calls.iter().rev().find(|call| call.id == id) {
                return Ok(Some(read(call)));
            }
        }
        Ok(None)
    }

    fn of_turn(&self, source: &dyn Source, turn: NodeIx) -> Result<TurnCalls> {
        if let Some(calls) = self.recent.get(turn) {
            return Ok(calls);
        }
        let entry = self.recent.take_seen(turn).map_or_else(|| source.entry(turn), Ok)?;
        Ok(self.remember(&entry))
    }

    /// Keeps a turn that has been read, because the rows of its results probably follow.
    pub(super) fn saw(&self, turn: Entry) {
        self.recent.saw(turn);
    }

    /// Reads the calls of a turn, so that the rows of its results need not read it.
    pub(super) fn remember(&self, turn: &Entry) -> TurnCalls {
        let mut calls = Vec::new();
        self.take(turn, |call| calls.push(TurnCall { row: one_line(&call.row, MAX), ..call }));
        let calls = Arc::new(calls);
        self.recent.put(turn.ix, &calls);
        calls
    }

    /// Passes on the calls of an assistant's turn.
    fn take(&self, entry: &Entry, mut take: impl FnMut(TurnCall)) {
        for block in calls(entry) {
            let Some(name) = block.str("name") else { continue };
            let view = CallView::new(name, block.get("arguments"));
            let id = block.str("id").unwrap_or_default().into_owned();
            take(TurnCall { id, row: self.call(&view), files: view.files() });
        }
    }

    /// In pi's form, which cuts commands and arguments of unknown tools.
    fn call(&self, view: &CallView<'_>) -> String {
        let subject = view.subject_start(&|path| self.short(path), MAX);
        let (subject, most) = match view.verb() {
            CallVerb::Run => (one_line(&subject, 200), 50),
            CallVerb::Other => (subject, 40),
            CallVerb::Read | CallVerb::Write | CallVerb::Edit | CallVerb::Grep | CallVerb::Find | CallVerb::List => {
                return format!("[{}: {subject}]", view.name());
            }
        };
        let more = if subject.encode_utf16().count() > most { "..." } else { "" };
        format!("[{}: {}{more}]", view.name(), units(&subject, most))
    }

    /// Shortens a path inside the home directory with `~`.
    fn short(&self, path: &str) -> String {
        match self.home.as_deref().and_then(|home| path.strip_prefix(home)) {
            Some(rest) if rest.is_empty() || rest.starts_with('/') => format!("~{rest}"),
            _ => path.to_owned(),
        }
    }
}

/// The first `max` UTF-16 units of a text, as the peers count.
pub(super) fn units(text: &str, max: usize) -> &str {
    let mut left = max;
    let end = text.char_indices().find(|(_, c)| left.checked_sub(c.len_utf16()).map(|rest| left = rest).is_none());
    end.map_or(text, |(end, _)| text.get(..end).unwrap_or_default())
}

/// The most calls of a run that are named.
const NAMED: usize = 64;

/// The text for a run of tool calls: `[read ×3, edit ×2, bash: cargo test]`.
pub(super) fn run(source: &dyn Source, mut results: impl Iterator<Item = NodeIx>, calls: &Calls) -> Result<String> {
    let mut tools: Vec<(String, String, usize)> = Vec::new();
    for ix in results.by_ref().take(NAMED) {
        let row = text(source, &source.entry(ix)?, calls)?;
        let said = row.strip_prefix('[').and_then(|row| row.strip_suffix(']')).unwrap_or(&row);
        let name = said.split_once(": ").map_or(said, |(name, _)| name);
        match tools.iter_mut().find(|(known, ..)| known == name) {
            Some((_, _, count)) => *count += 1,
            None => tools.push((name.to_owned(), said.to_owned(), 1)),
        }
    }
    let said = tools.into_iter().map(|(name, said, count)| if count == 1 { said } else { format!("{name} ×{count}") });
    let more = match results.count() {
        0 => None,
        more => Some(format!("{more} more")),
    };
    let said: Vec<String> = said.chain(more).collect();
    Ok(one_line(&format!("[{}]", said.join(", ")), MAX))
}

pub(super) fn text(source: &dyn Source, entry: &Entry, calls: &Calls) -> Result<String> {
    if entry.damage().is_some() {
        return Ok("[damaged entry]".to_owned());
    }
    let member = |name: &str| entry.get(name).and_then(value_text).unwrap_or_default();
    let text = match entry.kind {
        Kind::Message => message(source, entry, calls)?,
        Kind::CustomMessage => {
            let content = entry.get("content").map(|content| text_of(content, "")).unwrap_or_default();
            format!("[{}]: {content}", member("customType"))
        }
        Kind::Compaction => {
            let tokens = entry.get("tokensBefore").and_then(Json::as_f64).unwrap_or(0.0);
            format!("[compaction: {}k tokens]", (tokens / 1000.0).round() as i64)
        }
        Kind::BranchSummary => format!("[branch summary]: {}", member("summary")),
        Kind::ModelChange => match entry.get("modelId") {
            Some(_) => format!("[model: {}]", member("modelId")),
            None => format!("[model: {}]", member("model")),
        },
        Kind::ThinkingLevelChange => format!("[thinking: {}]", member("thinkingLevel")),
        Kind::Custom => format!("[custom: {}]", member("customType")),
        Kind::Label => match member("label") {
            label if label.is_empty() => "[label: (cleared)]".to_owned(),
            label => format!("[label: {label}]"),
        },
        Kind::SessionInfo => match member("name") {
            name if name.is_empty() => "[title: empty]".to_owned(),
            name => format!("[title: {name}]"),
        },
        Kind::ContextEdit => format!("[context {}: {}]", context_edit(entry), member("targetId")),
        Kind::TitleChange => format!("[title: {}]", member("title")),
        Kind::ModeChange => format!("[mode: {}]", member("mode")),
        Kind::ResetBoundary => "[context reset]".to_owned(),
        Kind::Usage
        | Kind::TtsrInjection
        | Kind::SessionInit
        | Kind::ServiceTierChange
        | Kind::CredentialPin
        | Kind::ModelUsage
        | Kind::Session
        | Kind::Title
        | Kind::Unknown => format!("[{}]", member("type")),
    };
    Ok(one_line(&text, MAX))
}

fn message(source: &dyn Source, entry: &Entry, calls: &Calls) -> Result<String> {
    if entry.message().is_none() {
        return Ok("[empty message]".to_owned());
    }
    let member = |name: &str| entry.of_message(name).and_then(value_text);
    let said = || entry.message_text("").unwrap_or_default();
    Ok(match entry.role.unwrap_or(Role::Unknown) {
        Role::User => format!("user: {}", said()),
        Role::Assistant => {
            let said = said();
            let error = member("errorMessage").filter(|error| !error.is_empty());
            match (said.trim().is_empty(), member("stopReason").as_deref(), error) {
                (false, ..) => format!("assistant: {said}"),
                (true, Some("aborted"), _) => "assistant: (aborted)".to_owned(),
                (true, _, Some(error)) => format!("assistant: {}", one_line(&error_words(&error), 80)),
                (true, ..) => "assistant: (no content)".to_owned(),
            }
        }
        Role::ToolResult => {
            let call = member("toolCallId").map(|id| calls.of(source, entry.ix, &id)).transpose()?.flatten();
            call.unwrap_or_else(|| format!("[{}]", member("toolName").unwrap_or_else(|| "tool".to_owned())))
        }
        Role::BashExecution => format!("[bash]: {}", member("command").unwrap_or_default()),
        Role::System
        | Role::Developer
        | Role::PythonExecution
        | Role::Custom
        | Role::HookMessage
        | Role::BranchSummary
        | Role::CompactionSummary
        | Role::FileMention
        | Role::Unknown => format!("[{}]", member("role").unwrap_or_else(|| "message".to_owned())),
    })
}
