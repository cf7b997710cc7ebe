//! Codex' rollouts: the lines of one thread to planned entries. A pure function of the records, one after another.
//!
//! Records have no parents: each follows the one before it, and a rollback goes back by turns. What a person typed is a
//! message that an event beside it repeats; an answer is what stands between such records.

pub(crate) mod files;
mod item;
pub(crate) mod compose;

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::convert::Infallible;

use offshoot_session::clock::Millis;
use offshoot_session::compose::NewEntry;
use offshoot_session::error::Result;
use offshoot_session::id::EntryId;
use offshoot_session::json::Json;
use offshoot_session::kind::{Kind, Role};

use crate::composing::Composing;
use crate::digested::NoDigests;
use crate::growth::{Coming, EntryAt, Growth, Parent};
use crate::key::Key;
use crate::mapper::{Mapper, Names};
use crate::planned::{ForeignHead, PlannedEntry, Shape, Spans};
use crate::record::RecordSpan;
use compose::CodexForm;
use item::{CodexItem, CodexRecord};

/// A compaction that does not say what it keeps keeps the newest prompts, up to so many.
const MOST_KEPT: usize = 64;

type Planned = PlannedEntry<CodexForm>;

/// What is remembered of the records so far. It has no texts.
#[derive(Debug)]
pub(crate) struct CodexMapper {
    growth: Growth,
    names: Names,
    head: ForeignHead,
    /// How often a record with this hash has come.
    repeated: HashMap<Key, u32>,
    /// The entry that the next one follows.
    point: Option<EntryAt>,
    /// The turns in force.
    turns: Vec<CodexTurn>,
    /// Where the turn began whose prompt has not come.
    turn_began: Option<Settings>,
    settings: Settings,
    /// A message that a person may have typed.
    waiting: Option<CodexDraft>,
    /// Whether an event said that the next message is typed.
    is_typed: bool,
    has_events: bool,
    open: Option<OpenAnswer>,
    late: Vec<CodexDraft>,
    calls: HashMap<Key, u16>,
    /// The last report of usage: it may be repeated.
    reported: Option<Key>,
    provider: String,
}

/// What is in force at an entry.
#[derive(Debug, Clone, Copy, Default)]
struct Settings {
    at: Option<EntryAt>,
    /// Numbers of names.
    model: u16,
    thinking: u16,
}

#[derive(Debug)]
struct CodexTurn {
    before: Settings,
    prompt: RecordSpan,
}

/// A record that may have to wait.
#[derive(Debug, Clone)]
struct CodexDraft {
    span: RecordSpan,
    id: String,
    time: Option<Millis>,
    /// Its type, if it begins with a mark.
    mark: Option<String>,
    call: Option<Key>,
}

/// An answer whose items still come.
#[derive(Debug, Default)]
struct OpenAnswer {
    items: Vec<CodexDraft>,
    usage: Option<RecordSpan>,
    calls: HashSet<Key>,
    /// Results, which follow the answer.
    results: Vec<CodexDraft>,
}

impl Mapper for CodexMapper {
    type Form = CodexForm;

    fn take(&mut self, span: RecordSpan, record: Json<'_>, out: &mut Vec<Planned>) {
        let Some(item) = CodexItem::read(record) else { return };
        self.has_events |= item.kind == "event_msg";
        if self.head.first.is_none() {
            self.head.first = item.time;
        }
        match item.record() {
            CodexRecord::Meta => self.note_head(&item),
            CodexRecord::User => {
                self.settle(out);
                self.close(false, out);
                let draft = self.draft(span, &item);
                if self.head.cwd.is_none() {
                    self.head.cwd = item.environment_cwd();
                }
                if std::mem::take(&mut self.is_typed) {
                    self.prompt(&draft, out);
                } else {
                    self.waiting = Some(draft);
                }
            }
            CodexRecord::Typed => match self.waiting.take() {
                Some(draft) => self.prompt(&draft, out),
                None => self.is_typed = true,
            },
            CodexRecord::Injected(name) => {
                self.settle(out);
                self.close(false, out);
                let draft = self.draft(span, &item);
                self.injected(&draft, &name, out);
            }
            CodexRecord::Answer => {
                self.settle(out);
                self.answer_item(span, &item, out);
            }
            CodexRecord::Output => {
                self.settle(out);
                self.output(span, &item, out);
            }
            CodexRecord::Usage => self.usage(span, &item),
            CodexRecord::Turn => {
                self.settle(out);
                self.close(false, out);
                self.turn_began.get_or_insert(self.here());
                self.turn_settings(span, &item, out);
            }
            CodexRecord::TurnStarted => {
                self.settle(out);
                self.close(false, out);
                self.turn_began = Some(self.here());
            }
            CodexRecord::TurnEnded { is_aborted } => {
                self.settle(out);
                self.close(is_aborted, out);
                self.turn_began = None;
            }
            CodexRecord::RolledBack(turns) => {
                self.settle(out);
                self.close(false, out);
                self.roll_back(turns);
            }
            CodexRecord::Compacted => {
                self.settle(out);
                self.close(false, out);
                self.compaction(span, &item, out);
            }
            CodexRecord::Title => {
                let draft = self.draft(span, &item);
                self.late.push(draft);
                if self.open.is_none() && self.waiting.is_none() {
                    self.settle_late(out);
                }
            }
            CodexRecord::Other => {}
        }
    }

    type Digester = NoDigests;

    fn take_digest(&mut self, _: RecordSpan, digest: Infallible, _: &mut Vec<Planned>) -> bool {
        match digest {}
    }

    fn close_open(&mut self, out: &mut Vec<Planned>) {
        if let Some(draft) = self.waiting.take() {
            match draft.mark.clone() {
                Some(mark) => self.injected(&draft, &mark, out),
                None => self.prompt(&draft, out),
            }
        }
        self.close(false, out);
        self.settle_late(out);
    }

    fn leaf_marker(&mut self, records: u32) -> Option<Planned> {
        self.growth.leaf_marker(self.point?, records, CodexForm::LeafMarker)
    }

    fn is_waiting(&self) -> bool {
        self.open.is_some() || self.waiting.is_some() || !self.late.is_empty()
    }

    fn head(&self) -> &ForeignHead {
        &self.head
    }

    fn names(&self) -> &Names {
        &self.names
    }

    fn record_id(record: Json<'_>) -> Option<String> {
        CodexItem::read(record).map(|item| item.hash())
    }

    fn record_time(record: Json<'_>) -> Option<Millis> {
        CodexItem::read(record).and_then(|item| item.time)
    }

    fn loss(record: Json<'_>) -> Option<String> {
        CodexItem::read(record).and_then(|item| item.loss())
    }

    fn into_head(self) -> (ForeignHead, Names) {
        (self.head, self.names)
    }

    fn compose(shape: Shape<CodexForm>, of: &Composing<'_>) -> Result<NewEntry> {
        compose::compose(shape, of)
    }
}

impl CodexMapper {
    /// A thread; without an id it is that of the first header.
    pub(crate) fn new(native_id: Option<&str>) -> Self {
        let head = ForeignHead { native_id: native_id.unwrap_or_default().to_owned(), ..ForeignHead::default() };
        Self {
            growth: Growth::default(),
            names: Names::default(),
            head,
            repeated: HashMap::new(),
            point: None,
            turns: Vec::new(),
            turn_began: None,
            settings: Settings::default(),
            waiting: None,
            is_typed: false,
            has_events: false,
            open: None,
            late: Vec::new(),
            calls: HashMap::new(),
            reported: None,
            provider: "openai".to_owned(),
        }
    }

    /// The first header is this thread's, and later ones are copies of those of its parents. Where a prefix of the parent's file
    /// stands before, the id tells them apart.
    fn note_head(&mut self, item: &CodexItem<'_>) {
        let text = |name: &str| item.payload.str(name).filter(|text| !text.is_empty()).map(Cow::into_owned);
        if let Some(version) = text("cli_version").filter(|version| !self.head.versions.contains(version)) {
            self.head.versions.push(version);
        }
        let id = text("id").unwrap_or_default();
        if self.head.native_id.is_empty() {
            self.head.native_id.clone_from(&id);
        }
        if self.head.native_id != id || self.head.has_header {
            return;
        }
        self.head.has_header = true;
        self.growth.note_time(item.time);
        self.head.cwd = text("cwd");
        if let Some(provider) = text("model_provider") {
            self.provider = provider;
        }
        let spawn = item.payload.get("source").and_then(|source| source.get("subagent"));
        self.head.is_subagent = spawn.is_some();
        let spawned = spawn.and_then(|spawn| spawn.get("thread_spawn")?.str("parent_thread_id"));
        let based = item.payload.get("history_base").and_then(|base| base.str("thread_id"));
        let parent = spawned.or(based).map(Cow::into_owned);
        self.head.parent = parent.or_else(|| text("forked_from_id")).or_else(|| text("parent_thread_id"));
    }

    fn here(&self) -> Settings {
        Settings { at: self.point, ..self.settings }
    }

    /// A record with its id: a hash of what it says, because copies in forks have other times.
    fn draft(&mut self, span: RecordSpan, item: &CodexItem<'_>) -> CodexDraft {
        let hash = item.hash();
        let count = self.repeated.entry(Key::of(&hash)).and_modify(|count| *count += 1).or_insert(0);
        let id = if *count == 0 { hash } else { format!("{hash}-{count}") };
        let call = item.call().map(|call| Key::of(&call));
        CodexDraft { span, id, time: item.time, mark: item.mark(), call }
    }

    fn add(&mut self, coming: Coming<CodexForm>, out: &mut Vec<Planned>) -> EntryAt {
        let at = self.growth.plan(coming, self.point.map_or(Parent::Root, Parent::Of), out);
        self.point = Some(at);
        at
    }

    /// Decides about a message that no event repeated.
    fn settle(&mut self, out: &mut Vec<Planned>) {
        let Some(draft) = self.waiting.take() else { return };
        match draft.mark.clone() {
            Some(mark) => self.injected(&draft, &mark, out),
            // Rollouts from before there were events.
            None if !self.has_events => self.prompt(&draft, out),
            None => self.injected(&draft, "codex.injected", out),
        }
    }

    fn prompt(&mut self, draft: &CodexDraft, out: &mut Vec<Planned>) {
        let before = self.turn_began.take().unwrap_or(self.here());
        self.turns.push(CodexTurn { before, prompt: draft.span });
        self.add(Coming { is_typed: true, ..coming(draft, CodexForm::Prompt) }, out);
    }

    fn injected(&mut self, draft: &CodexDraft, name: &str, out: &mut Vec<Planned>) {
        let name = self.names.number(name);
        self.add(Coming { name, ..coming(draft, CodexForm::Injected) }, out);
    }

    fn answer_item(&mut self, span: RecordSpan, item: &CodexItem<'_>, out: &mut Vec<Planned>) {
        if self.open.as_ref().is_some_and(|open| open.usage.is_some() || !open.results.is_empty()) {
            self.close(false, out);
        }
        let draft = self.draft(span, item);
        if let Some(call) = draft.call {
            let tool = self.names.number(&item.tool());
            self.calls.insert(call, tool);
        }
        let open = self.open.get_or_insert_default();
        open.calls.extend(draft.call);
        open.items.push(draft);
    }

    fn output(&mut self, span: RecordSpan, item: &CodexItem<'_>, out: &mut Vec<Planned>) {
        let draft = self.draft(span, item);
        let is_of = |open: &OpenAnswer| draft.call.is_some_and(|call| open.calls.contains(&call));
        match &mut self.open {
            Some(open) if is_of(open) => open.results.push(draft),
            _ => {
                self.close(false, out);
                self.result(&draft, out);
            }
        }
    }

    fn result(&mut self, draft: &CodexDraft, out: &mut Vec<Planned>) {
        let name = draft.call.and_then(|call| self.calls.remove(&call)).unwrap_or_default();
        self.add(Coming { name, ..coming(draft, CodexForm::Result) }, out);
    }

    fn usage(&mut self, span: RecordSpan, item: &CodexItem<'_>) {
        let total = item.payload.get("info").and_then(|info| info.get("total_token_usage"));
        let print = Key::of(total.unwrap_or(item.payload).text());
        if total.is_some() && self.reported.replace(print) == Some(print) {
            return;
        }
        if let Some(open) = &mut self.open {
            open.usage.get_or_insert(span);
        }
    }

    /// Ends an answer: it comes out, and then its results.
    fn close(&mut self, is_aborted: bool, out: &mut Vec<Planned>) {
        if let Some(open) = self.open.take()
            && let Some(first) = open.items.first()
        {
            let spans = open.items.iter().map(|item| item.span).chain(open.usage);
            let coming = Coming {
                spans: spans.collect(),
                part: u32::from(is_aborted),
                name: self.settings.model,
                ..coming(first, CodexForm::Answer)
            };
            self.add(coming, out);
            for result in &open.results {
                self.result(result, out);
            }
        }
        self.settle_late(out);
    }

    fn settle_late(&mut self, out: &mut Vec<Planned>) {
        for title in std::mem::take(&mut self.late) {
            self.add(coming(&title, CodexForm::Title), out);
        }
    }

    fn turn_settings(&mut self, span: RecordSpan, item: &CodexItem<'_>, out: &mut Vec<Planned>) {
        let model = item.payload.str("model").map(|model| format!("{}/{model}", self.provider));
        let thinking = item.payload.str("effort").map(|effort| match effort.as_ref() {
            "none" => "off".to_owned(),
            level => level.to_owned(),
        });
        let draft = self.draft(span, item);
        let numbers = [model, thinking].map(|name| name.map(|name| self.names.number(&name)));
        if let Some(name) = numbers[0].filter(|number| *number != self.settings.model) {
            self.settings.model = name;
            self.add(Coming { name, ..coming(&draft, CodexForm::Model) }, out);
        }
        if let Some(name) = numbers[1].filter(|number| *number != self.settings.thinking) {
            self.settings.thinking = name;
            let id = EntryId::new(format!("{}.1", draft.id));
            self.add(Coming { id, name, ..coming(&draft, CodexForm::Thinking) }, out);
        }
    }

    /// Takes back turns: what follows is a branch beside them.
    fn roll_back(&mut self, turns: u64) {
        let left = self.turns.len().saturating_sub(usize::try_from(turns).unwrap_or(usize::MAX));
        if let Some(first) = self.turns.drain(left..).next() {
            self.point = first.before.at.map(|at| self.growth.tip(at));
            self.settings = first.before;
        }
    }

    /// The summary, then what stays of the history as messages behind it.
    fn compaction(&mut self, span: RecordSpan, item: &CodexItem<'_>, out: &mut Vec<Planned>) {
        let draft = self.draft(span, item);
        self.add(coming(&draft, CodexForm::Compaction), out);
        let name = self.names.number("codex.kept");
        let kept: Vec<(u32, RecordSpan)> = match item.payload.get("replacement_history") {
            Some(history) => {
                let summary = item.payload.str("message").unwrap_or_default();
                let is_kept = |item: &Json<'_>| {
                    let text =
                        item.get("content").and_then(|content| content.items().find_map(|part| part.str("text")));
                    item.get("content").is_some()
                        && (summary.is_empty() || text.is_none_or(|text| !text.contains(summary.as_ref())))
                };
                let items = (0u32..).zip(history.items()).filter(|(_, item)| is_kept(item));
                items.map(|(part, _)| (part, span)).collect()
            }
            None => {
                let prompts = self.turns.get(self.turns.len().saturating_sub(MOST_KEPT)..).unwrap_or_default();
                prompts.iter().map(|turn| (u32::MAX, turn.prompt)).collect()
            }
        };
        for (number, (part, span)) in kept.into_iter().enumerate() {
            let id = EntryId::new(format!("{}.{}", draft.id, number + 1));
            self.add(Coming { id, part, name, spans: Spans::One(span), ..coming(&draft, CodexForm::Kept) }, out);
        }
    }
}

fn coming(draft: &CodexDraft, form: CodexForm) -> Coming<CodexForm> {
    let (kind, role) = match form {
        CodexForm::Prompt => (Kind::Message, Some(Role::User)),
        CodexForm::Answer => (Kind::Message, Some(Role::Assistant)),
        CodexForm::Result => (Kind::Message, Some(Role::ToolResult)),
        CodexForm::Injected | CodexForm::Kept => (Kind::CustomMessage, None),
        CodexForm::Model => (Kind::ModelChange, None),
        CodexForm::Thinking => (Kind::ThinkingLevelChange, None),
        CodexForm::Compaction => (Kind::Compaction, None),
        CodexForm::Title => (Kind::SessionInfo, None),
        CodexForm::LeafMarker => (Kind::Custom, None),
    };
    Coming { time: draft.time, ..Coming::new(EntryId::new(&draft.id), (kind, role), Spans::One(draft.span), form) }
}
