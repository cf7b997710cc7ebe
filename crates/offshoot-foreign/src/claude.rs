//! Claude Code's transcripts: the lines of one file to planned entries. A pure function of the records, one after another.
//!
//! An answer is spread over several lines, and results of parallel calls stand between them: [`group`] holds them until it
//! is whole. A command waits for its output, a boundary for its summary.

mod line;
mod draft;
mod group;
pub(crate) mod compose;
mod state;
mod digest;
pub(crate) mod forks;
pub(crate) mod continued;

use std::borrow::Cow;
use std::collections::HashMap;

use offshoot_session::clock::Millis;
use offshoot_session::compose::NewEntry;
use offshoot_session::error::Result;
use offshoot_session::id::EntryId;
use offshoot_session::json::{Json, SyntaxError};
use offshoot_session::kind::{Kind, Role};

use crate::composing::Composing;
use crate::growth::{Coming, EntryAt, Growth, Parent};
use crate::key::{ForeignId, Key, hex_hash, print_of};
use crate::mapper::{Mapper, Names};
use crate::planned::{ForeignHead, PlannedEntry, Shape, Spans};
use crate::record::RecordSpan;
use compose::ClaudeForm;
use digest::{ClaudeDigest, ClaudeDigester, HeadSaid};
use draft::ClaudeDraft;
use group::AnswerGroup;
use line::{ClaudeLine, ClaudeRecord};
use state::{LateState, Titles};

/// Walks up the tree for what compactions keep take no more steps altogether.
const MOST_STEPS: u64 = 50_000_000;

type Planned = PlannedEntry<ClaudeForm>;

/// What is remembered of the records so far. It has no texts.
#[derive(Debug)]
pub(crate) struct ClaudeMapper {
    growth: Growth,
    names: Names,
    head: ForeignHead,
    open: Option<Open>,
    /// The tools of calls without result.
    calls: HashMap<Key, u16>,
    titles: Titles,
    late: Vec<LateState>,
    /// The entry that was labelled last, and its label.
    labelled: Option<(EntryAt, String)>,
    /// How often a state record with this hash has come.
    repeated: HashMap<Key, u32>,
    /// Where the agent says that the session is open.
    leaf: Option<Key>,
    last_said: Option<EntryAt>,
    steps_left: u64,
}

/// A record that waits for the next one.
#[derive(Debug)]
enum Open {
    Answer(AnswerGroup),
    Boundary(ClaudeDraft),
    Bash(ClaudeDraft),
}

fn coming(draft: &ClaudeDraft, form: ClaudeForm) -> Coming<ClaudeForm> {
    let (kind, role) = match form {
        ClaudeForm::Prompt | ClaudeForm::Queued => (Kind::Message, Some(Role::User)),
        ClaudeForm::Result => (Kind::Message, Some(Role::ToolResult)),
        ClaudeForm::Answer => (Kind::Message, Some(Role::Assistant)),
        ClaudeForm::Bash => (Kind::Message, Some(Role::BashExecution)),
        ClaudeForm::Injected => (Kind::CustomMessage, None),
        ClaudeForm::Compaction => (Kind::Compaction, None),
        ClaudeForm::Title => (Kind::SessionInfo, None),
        ClaudeForm::Label => (Kind::Label, None),
        ClaudeForm::Other | ClaudeForm::LeafMarker => (Kind::Custom, None),
    };
    let is_typed = matches!(form, ClaudeForm::Prompt | ClaudeForm::Queued);
    let new = Coming::new(draft.id(), (kind, role), Spans::One(draft.span), form);
    Coming { time: draft.time, is_typed, ..new }
}

impl Mapper for ClaudeMapper {
    type Form = ClaudeForm;

    fn expect(&mut self, more: usize) {
        self.growth.expect(more);
    }

    fn take(&mut self, span: RecordSpan, record: Json<'_>, out: &mut Vec<Planned>) {
        if let Some(line) = ClaudeLine::read(record) {
            self.take_line(span, &line, out);
        }
    }

    fn take_text(
        &mut self,
        span: RecordSpan,
        text: &str,
        out: &mut Vec<Planned>,
    ) -> std::result::Result<(), SyntaxError> {
        if let Some(line) = ClaudeLine::parse(text)? {
            self.take_line(span, &line, out);
        }
        Ok(())
    }

    type Digester = ClaudeDigester;

    fn take_digest(&mut self, span: RecordSpan, digest: ClaudeDigest, out: &mut Vec<Planned>) -> bool {
        let draft = digest.draft.map(|mut draft| {
            draft.span = span;
            draft
        });
        let known = draft.as_ref().and_then(|draft| self.growth.print(draft.key()).map(|print| print == draft.print));
        if known == Some(false) {
            // The id of another version is made of its bytes.
            return false;
        }
        self.note_head(digest.time, digest.head.as_deref());
        if let Some(draft) = draft.filter(|_| known.is_none()) {
            self.take_draft(draft, out);
        }
        true
    }

    fn close_open(&mut self, out: &mut Vec<Planned>) {
        self.close(None, out);
    }

    fn leaf_marker(&mut self, records: u32) -> Option<Planned> {
        let named = self.leaf.and_then(|leaf| self.growth.find(leaf)).map(|at| self.growth.end_of(at));
        let leaf = named.or(self.last_said)?;
        self.growth.leaf_marker(leaf, records, ClaudeForm::LeafMarker)
    }

    fn is_waiting(&self) -> bool {
        // A title that waits for a record of its id holds nothing back.
        self.open.is_some()
    }

    fn head(&self) -> &ForeignHead {
        &self.head
    }

    fn names(&self) -> &Names {
        &self.names
    }

    fn record_id(record: Json<'_>) -> Option<String> {
        ClaudeLine::read(record)?.uuid.map(Cow::into_owned)
    }

    fn record_time(record: Json<'_>) -> Option<Millis> {
        ClaudeLine::read(record)?.time
    }

    fn loss(record: Json<'_>) -> Option<String> {
        ClaudeLine::read(record)?.loss()
    }

    fn into_head(self) -> (ForeignHead, Names) {
        (self.head, self.names)
    }

    fn compose(shape: Shape<ClaudeForm>, of: &Composing<'_>) -> Result<NewEntry> {
        compose::compose(shape, of)
    }
}

impl ClaudeMapper {
    pub(crate) fn new(native_id: &str, is_subagent: bool) -> Self {
        Self {
            growth: Growth::default(),
            names: Names::default(),
            head: ForeignHead { native_id: native_id.to_owned(), is_subagent, ..ForeignHead::default() },
            open: None,
            calls: HashMap::new(),
            titles: Titles::default(),
            late: Vec::new(),
            labelled: None,
            repeated: HashMap::new(),
            leaf: None,
            last_said: None,
            steps_left: MOST_STEPS,
        }
    }

    fn take_line(&mut self, span: RecordSpan, line: &ClaudeLine<'_>, out: &mut Vec<Planned>) {
        self.note_head(line.time, HeadSaid::of(line).as_ref());
        if !line.is_chain() {
            self.state(span, line, out);
            return;
        }
        let draft = ClaudeDraft::of(line, span, print_of(line.json.text()));
        match self.growth.print(draft.key()) {
            // Some versions write lines twice.
            Some(print) if print == draft.print => {}
            Some(_) => self.take_draft(draft.with_version(hex_hash(&[line.json.text().as_bytes()], 8)), out),
            None => self.take_draft(draft, out),
        }
    }

    fn take_draft(&mut self, draft: ClaudeDraft, out: &mut Vec<Planned>) {
        self.follow(draft, out);
        if self.open.is_none() && !self.late.is_empty() {
            self.settle_late(out);
        }
    }

    fn note_head(&mut self, time: Option<Millis>, said: Option<&HeadSaid<'_>>) {
        let head = &mut self.head;
        head.first = head.first.or(time);
        let Some(said) = said else { return };
        let owned = |text: &Option<Cow<'_, str>>| text.as_deref().map(str::to_owned);
        if head.cwd.is_none() {
            head.cwd = owned(&said.cwd);
        }
        if head.versions.len() < 20
            && let Some(version) = said.version.as_deref()
            && head.versions.iter().all(|known| known != version)
        {
            head.versions.push(version.to_owned());
        }
        if head.parent.is_none() {
            head.parent = owned(&said.forked_from);
        }
    }

    /// Gives a record of the chain to what is open, or to its own place.
    fn follow(&mut self, draft: ClaudeDraft, out: &mut Vec<Planned>) {
        let open = self.open.take();
        let draft = match open {
            Some(Open::Answer(mut group)) => {
                self.note_calls(&draft);
                let back = group.take(draft);
                self.open = Some(Open::Answer(group));
                match back {
                    Some(draft) => draft,
                    None => return,
                }
            }
            Some(Open::Boundary(boundary)) if draft.record == ClaudeRecord::Summary => {
                self.compaction(&boundary, Some(&draft), out);
                return;
            }
            Some(Open::Bash(input)) if draft.record == ClaudeRecord::BashOutput => {
                self.bash(&input, Some(&draft), out);
                return;
            }
            other => {
                self.open = other;
                draft
            }
        };
        self.close(Some(&draft), out);
        self.place(draft, out);
    }

    /// Ends what is open, because this record comes next.
    fn close(&mut self, next: Option<&ClaudeDraft>, out: &mut Vec<Planned>) {
        match self.open.take() {
            Some(Open::Answer(group)) => {
                let is_aborted = next.is_some_and(ClaudeDraft::is_interruption);
                self.answer(&group, is_aborted, out);
            }
            Some(Open::Boundary(boundary)) => self.compaction(&boundary, None, out),
            Some(Open::Bash(input)) => self.bash(&input, None, out),
            None => {}
        }
        self.settle_late(out);
    }

    /// Puts a record where it belongs, or lets it wait.
    fn place(&mut self, draft: ClaudeDraft, out: &mut Vec<Planned>) {
        match draft.record {
            ClaudeRecord::Answer => {
                self.note_calls(&draft);
                self.open = Some(Open::Answer(AnswerGroup::new(draft)));
            }
            ClaudeRecord::Boundary => self.open = Some(Open::Boundary(draft)),
            ClaudeRecord::BashInput => self.open = Some(Open::Bash(draft)),
            ClaudeRecord::Summary => self.compaction(&draft, None, out),
            _ => {
                let parent = named(&mut self.growth, draft.parent.as_ref());
                self.plain(&draft, parent, out);
            }
        }
    }

    /// The entries of a record that waits for nothing. Returns the last one.
    fn plain(&mut self, draft: &ClaudeDraft, parent: Parent, out: &mut Vec<Planned>) -> Option<EntryAt> {
        let next = match draft.record {
            ClaudeRecord::Prompt => coming(draft, ClaudeForm::Prompt),
            ClaudeRecord::Queued => coming(draft, ClaudeForm::Queued),
            ClaudeRecord::Results(_) => return self.results(draft, parent, out),
            ClaudeRecord::Injected(name) => {
                Coming { name: self.names.number(name), ..coming(draft, ClaudeForm::Injected) }
            }
            ClaudeRecord::BashInput | ClaudeRecord::BashOutput => {
                Coming { name: self.names.number("claude.bash"), ..coming(draft, ClaudeForm::Injected) }
            }
            ClaudeRecord::Progress => {
                let above = parent.at()?;
                self.growth.name(draft.key(), above, draft.print);
                return Some(above);
            }
            ClaudeRecord::Answer
            | ClaudeRecord::Boundary
            | ClaudeRecord::Summary
            | ClaudeRecord::Other
            | ClaudeRecord::State => {
                Coming { name: self.names.number(&draft.details().name), ..coming(draft, ClaudeForm::Other) }
            }
        };
        let is_root = parent == Parent::Root;
        let at = self.growth.plan(next, parent, out);
        self.growth.name(draft.key(), at, draft.print);
        self.note_said(draft, at);
        if is_root && draft.is_sidechain && !self.head.is_subagent {
            self.label(draft, at, "subagent", out);
        }
        Some(at)
    }

    fn note_said(&mut self, draft: &ClaudeDraft, at: EntryAt) {
        if !draft.is_sidechain || self.head.is_subagent {
            self.last_said = Some(at);
            if draft.record == ClaudeRecord::Prompt {
                self.leaf = None;
            }
        }
    }

    fn note_calls(&mut self, draft: &ClaudeDraft) {
        if draft.record == ClaudeRecord::Answer {
            for (call, name) in &draft.details().tools {
                let number = self.names.number(name);
                self.calls.insert(*call, number);
            }
        }
    }

    fn results(&mut self, draft: &ClaudeDraft, mut parent: Parent, out: &mut Vec<Planned>) -> Option<EntryAt> {
        let mut last = None;
        let details = draft.details();
        let beside = details.beside.map(|name| (self.names.number(name), details.answered.len()));
        for (part, call) in details.answered.iter().enumerate() {
            let name = self.calls.remove(call).unwrap_or_default();
            let next = Coming { part: part as u32, name, ..coming(draft, ClaudeForm::Result) };
            let at = self.growth.plan(numbered(next, part), parent, out);
            (parent, last) = (Parent::Of(at), Some(at));
        }
        if let Some((name, part)) = beside {
            let next = Coming { name, ..coming(draft, ClaudeForm::Injected) };
            last = Some(self.growth.plan(numbered(next, part), parent, out));
        }
        if let Some(at) = last {
            self.growth.name(draft.key(), at, draft.print);
            self.note_said(draft, at);
        }
        last
    }

    /// The answer, then what stood between its lines, one below the other.
    fn answer(&mut self, group: &AnswerGroup, is_aborted: bool, out: &mut Vec<Planned>) {
        let is_ended = group.parts().any(|part| part.details().is_ended);
        let next = Coming {
            spans: group.parts().map(|part| part.span).collect(),
            part: u32::from(is_aborted && !is_ended),
            ..coming(&group.first, ClaudeForm::Answer)
        };
        let parent = named(&mut self.growth, group.first.parent.as_ref());
        let at = self.growth.plan(next, parent, out);
        for part in group.parts() {
            self.growth.name(part.key(), at, part.print);
        }
        self.note_said(&group.first, at);
        let (mut tip, mut passed) = (at, Vec::new());
        for held in &group.held {
            if let Some(last) = self.plain(held, Parent::Of(tip), out) {
                passed.push(std::mem::replace(&mut tip, last));
            }
        }
        for at in passed.into_iter().filter(|at| *at < tip) {
            self.growth.continue_at(at, tip);
        }
    }

    fn bash(&mut self, input: &ClaudeDraft, output: Option<&ClaudeDraft>, out: &mut Vec<Planned>) {
        let parent = named(&mut self.growth, input.parent.as_ref());
        let Some(output) = output else {
            self.plain(input, parent, out);
            return;
        };
        let next = Coming { spans: [input.span, output.span].into_iter().collect(), ..coming(input, ClaudeForm::Bash) };
        let at = self.growth.plan(next, parent, out);
        for draft in [input, output] {
            self.growth.name(draft.key(), at, draft.print);
        }
        self.note_said(output, at);
    }

    fn compaction(&mut self, first: &ClaudeDraft, summary: Option<&ClaudeDraft>, out: &mut Vec<Planned>) {
        let details = first.details();
        let parent = match &details.logical_parent {
            Some(before) => {
                let parent = named_here(&mut self.growth, before);
                if parent == Parent::Root && self.last_said.is_none() {
                    self.head.continues = Some((before.clone(), first.time));
                }
                parent
            }
            None if first.parent.is_some() => named(&mut self.growth, first.parent.as_ref()),
            None => self.last_said.map_or(Parent::Root, |at| Parent::Of(self.growth.tip(at))),
        };
        let kept = details.kept.and_then(|kept| self.growth.find(kept));
        let mut steps = self.steps_left;
        let kept = kept.filter(|kept| parent.at().is_some_and(|at| self.growth.is_above(*kept, at, &mut steps)));
        self.steps_left = steps;
        let next = Coming {
            spans: std::iter::once(first).chain(summary).map(|draft| draft.span).collect(),
            refers: kept.and_then(|kept| self.growth.id(kept)),
            ..coming(first, ClaudeForm::Compaction)
        };
        let at = self.growth.plan(next, parent, out);
        for draft in std::iter::once(first).chain(summary) {
            self.growth.name(draft.key(), at, draft.print);
        }
        self.note_said(first, at);
    }
}

/// The entry with this number among those of its record.
fn numbered(coming: Coming<ClaudeForm>, part: usize) -> Coming<ClaudeForm> {
    match part {
        0 => coming,
        _ => Coming { id: EntryId::new(format!("{}.{part}", coming.id)), ..coming },
    }
}

/// The entry of an id on which the next one hangs.
fn named(growth: &mut Growth, id: Option<&ForeignId>) -> Parent {
    match id {
        Some(id) => match growth.find(id.key()) {
            Some(at) => Parent::Of(growth.tip(at)),
            None => Parent::Unknown(id.clone()),
        },
        None => Parent::Root,
    }
}

/// The same for an id that may be one of another file.
fn named_here(growth: &mut Growth, id: &str) -> Parent {
    match named(growth, Some(&ForeignId::of(id))) {
        Parent::Unknown(_) => Parent::Root,
        known => known,
    }
}
