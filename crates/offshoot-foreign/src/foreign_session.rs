//! Opens a foreign session: one pass over its records gives the tree, and lines are made when somebody looks at them.
//! Never writes.

use std::collections::HashMap;
use std::io;
use std::marker::PhantomData;
use std::path::Path;
use std::sync::Arc;

use offshoot_session::clock::to_iso;
use offshoot_session::error::{Code, Diagnostic, Error, Result};
use offshoot_session::header::{Header, NewHeader};
use offshoot_session::id::EntryId;
use offshoot_session::json::Json;
use offshoot_session::kind::Kind;
use offshoot_session::load::{FileEnd, MadeLines, MadeTree};
use offshoot_session::medium::{Medium as _, read_exact_at};
use offshoot_session::session::{Options, Session};
use offshoot_session::tree::{Label, NewNode, NodeIx, Tree};

use crate::composing::{Composing, SideFiles};
use crate::digested::{Division, FoundRecord, RecordDigester as _, for_each_digest};
use crate::foreign_medium::ForeignMedium;
use crate::mapper::{Mapper, Names};
use crate::planned::{ForeignHead, PlannedEntry, Shape, Spans};
use crate::record::{LONGEST_RECORD, RawRecord, RecordSpan, for_each_record, read_record};

/// An opened session and what it says of itself.
#[derive(Debug)]
pub struct ForeignSession {
    /// It can be read; whatever writes to it is refused.
    pub session: Session,
    /// What its records say of it.
    pub head: ForeignHead,
}

/// What is known of a session beside its records.
pub(crate) struct OpenedBeside<'a> {
    /// What is odd about it.
    pub(crate) told: Option<Diagnostic>,
    /// The session from which it was made, if its records do not say it.
    pub(crate) parent: &'a dyn Fn(&ForeignHead) -> Option<String>,
}

/// Reads all records with a mapper.
pub(crate) fn open<M: Mapper + Send + Sync + 'static>(
    medium: ForeignMedium,
    mapper: M,
    side: Box<dyn SideFiles>,
    beside: OpenedBeside<'_>,
    options: impl FnOnce() -> Options,
) -> Result<ForeignSession> {
    open_divided((medium, Division::USUAL), mapper, side, beside, options)
}

/// The same with the bytes divided among threads.
pub(crate) fn open_divided<M: Mapper + Send + Sync + 'static>(
    (medium, division): (ForeignMedium, Division),
    mapper: M,
    side: Box<dyn SideFiles>,
    beside: OpenedBeside<'_>,
    options: impl FnOnce() -> Options,
) -> Result<ForeignSession> {
    let failed = |error| Error::io("read", medium.path())(error);
    let mut reading = Reading { mapper, gathered: Gathered::new(), planned: Vec::new() };
    reading.read(&medium, division).map_err(failed)?;
    let length = medium.len().map_err(failed)?;
    let Reading { mut mapper, mut gathered, mut planned } = reading;
    gathered.diagnostics.extend(beside.told);
    mapper.close_open(&mut planned);
    planned.extend(mapper.leaf_marker(gathered.records));
    planned.drain(..).for_each(|entry| gathered.add(entry));
    let (head, names) = mapper.into_head();
    let parent = head.parent.clone().or_else(|| (beside.parent)(&head));
    let header = Header::new(&NewHeader {
        id: &head.native_id,
        at: head.first.unwrap_or_default(),
        cwd: head.cwd.as_deref().unwrap_or_default(),
        parent_session: parent.as_deref(),
        title: None,
    });
    let end = FileEnd { length, lines: u64::from(gathered.records), terminated: gathered.is_terminated };
    for (target, name, timestamp) in gathered.labels {
        gathered.tree.label(target, Label { text: names.get(name).to_owned(), timestamp });
    }
    let lines = ForeignLines::<M> {
        medium: medium.clone(),
        shapes: gathered.shapes,
        joined: gathered.joined,
        refers: gathered.refers,
        names,
        side,
        mapper: PhantomData,
    };
    let loaded = gathered.tree.finish(header, end, gathered.diagnostics, Arc::new(lines));
    Ok(ForeignSession { session: Session::of_records(Box::new(medium), loaded, options())?, head })
}

struct Reading<M: Mapper> {
    mapper: M,
    gathered: Gathered<M::Form>,
    planned: Vec<PlannedEntry<M::Form>>,
}

impl<M: Mapper> Reading<M> {
    fn read(&mut self, medium: &ForeignMedium, division: Division) -> io::Result<()> {
        if !M::Digester::IS_USED || !division.divides(medium.len()?) {
            return for_each_record(medium, |record| {
                self.take(record);
                Ok(())
            });
        }
        let mut is_expected = false;
        for_each_digest::<M::Digester>(medium, division, |found| {
            if !is_expected && found.span().at >= division.stretch {
                is_expected = true;
                let more = self.gathered.expected(found.span().at, medium.len()?);
                self.gathered.tree.expect(more);
                self.mapper.expect(more);
            }
            let (span, is_terminated) = match found {
                FoundRecord::Digest(span, digest) => {
                    if self.mapper.take_digest(span, digest, &mut self.planned) {
                        self.gathered.records = span.number;
                        self.gathered.is_terminated = true;
                        self.planned.drain(..).for_each(|entry| self.gathered.add(entry));
                        return Ok(());
                    }
                    (span, true)
                }
                FoundRecord::Place(span, is_terminated) => (span, is_terminated),
            };
            let length = if u64::from(span.length) > LONGEST_RECORD { 0 } else { span.length as usize };
            let bytes = read_exact_at(medium, span.at, length)?;
            self.take(RawRecord { span, bytes: &bytes, is_terminated });
            Ok(())
        })
    }

    fn take(&mut self, raw: RawRecord<'_>) {
        let gathered = &mut self.gathered;
        gathered.records = raw.span.number;
        gathered.is_terminated = raw.is_terminated;
        let text = raw.text();
        if raw.has_nuls() {
            gathered.tell(Code::NulBytes, &raw, "NUL bytes before the record, as a power failure leaves them");
        }
        if u64::from(raw.span.length) > LONGEST_RECORD {
            gathered.tell(Code::MalformedLine, &raw, "the record is longer than 256 MiB and is not read");
            return;
        }
        if matches!(text, std::borrow::Cow::Owned(_)) {
            gathered.tell(Code::InvalidUtf8, &raw, "bytes that are not UTF-8 are shown as U+FFFD");
        }
        match self.mapper.take_text(raw.span, &text, &mut self.planned) {
            Ok(()) => self.planned.drain(..).for_each(|entry| gathered.add(entry)),
            Err(_) if text.trim().is_empty() => {}
            Err(_) if !raw.is_terminated => {
                gathered.tell(Code::TornTail, &raw, "the last record is incomplete, or is still being written");
            }
            Err(error) => gathered.tell(Code::MalformedLine, &raw, &format!("the record is not JSON: {error}")),
        }
    }
}

/// Room is made for no more entries than if each had so many bytes.
const SHORTEST_USUAL: u64 = 1 << 10;

/// What the records have given so far.
struct Gathered<F> {
    tree: MadeTree,
    shapes: Vec<Shape<F>>,
    /// The records of entries that are not made of one alone.
    joined: HashMap<u32, Box<[RecordSpan]>>,
    refers: HashMap<u32, EntryId>,
    labels: Vec<(EntryId, u16, Option<String>)>,
    diagnostics: Vec<Diagnostic>,
    records: u32,
    is_terminated: bool,
}

impl<F> Gathered<F> {
    fn new() -> Self {
        Self {
            tree: MadeTree::new(),
            shapes: Vec::new(),
            joined: HashMap::new(),
            refers: HashMap::new(),
            labels: Vec::new(),
            diagnostics: Vec::new(),
            records: 0,
            is_terminated: true,
        }
    }

    /// How many entries the rest has if it is like what is before `at`. To make room for them at once takes less time.
    fn expected(&self, at: u64, length: u64) -> usize {
        let so_far = self.shapes.len() as u64;
        let rest = (so_far * (length - at) / at.max(1)).min(length / SHORTEST_USUAL);
        usize::try_from(rest).unwrap_or_default()
    }

    fn add(&mut self, entry: PlannedEntry<F>) {
        let first = entry.spans.first();
        let length = entry.spans.as_slice().iter().map(|span| u64::from(span.length)).sum();
        self.tree.push(&NewNode {
            id: Some(entry.id),
            parent: entry.parent,
            kind: entry.kind,
            role: entry.role,
            time: entry.time,
            is_leaf_marker: entry.kind == Kind::Custom && entry.spans.as_slice().is_empty(),
            is_copy: false,
            offset: first.at,
            length,
            line: u64::from(first.number),
        });
        if let Some(refers) = entry.refers {
            if entry.kind == Kind::Label {
                self.labels.push((refers.clone(), entry.shape.name, entry.time.map(to_iso)));
            }
            self.refers.insert(self.shapes.len() as u32, refers);
        }
        // Where the only record of an entry is, the tree knows.
        if let Spans::Many(spans) = entry.spans {
            self.joined.insert(self.shapes.len() as u32, spans);
        }
        self.shapes.push(entry.shape);
    }

    fn tell(&mut self, code: Code, raw: &RawRecord<'_>, message: &str) {
        let (line, offset) = (Some(u64::from(raw.span.number)), raw.span.at);
        self.diagnostics.push(Diagnostic { code, line, offset, entry: None, message: message.to_owned() });
    }
}

/// Makes lines of records.
struct ForeignLines<M: Mapper> {
    medium: ForeignMedium,
    shapes: Vec<Shape<M::Form>>,
    joined: HashMap<u32, Box<[RecordSpan]>>,
    refers: HashMap<u32, EntryId>,
    names: Names,
    side: Box<dyn SideFiles>,
    mapper: PhantomData<M>,
}

impl<M: Mapper + Send + Sync> MadeLines for ForeignLines<M> {
    fn line(&self, tree: &Tree, ix: NodeIx) -> Result<String> {
        let path = self.medium.path();
        let node = tree.node(ix);
        let (Some(shape), Some(id)) = (self.shapes.get(ix.index()), node.id()) else {
            return Err(changed(path, "there is no such entry"));
        };
        let number = |whole: u64| u32::try_from(whole).unwrap_or(u32::MAX);
        let only = RecordSpan { at: node.offset(), length: number(node.length()), number: number(node.line()) };
        let joined = self.joined.get(&(ix.index() as u32));
        let spans = joined.map_or(std::slice::from_ref(&only), |spans| spans);
        let texts: Vec<String> = spans
            .iter()
            .map(|span| read_record(&self.medium, *span))
            .collect::<io::Result<_>>()
            .map_err(Error::io("read", path))?;
        let records: Vec<Json<'_>> = texts
            .iter()
            .map(|text| Json::parse(text))
            .collect::<std::result::Result<_, _>>()
            .map_err(|_| changed(path, "a record is no longer what it was: open the session again"))?;
        let time = node.time().unwrap_or_default();
        let of = Composing {
            records: &records,
            name: self.names.get(shape.name),
            refers: self.refers.get(&(ix.index() as u32)),
            time,
            side: self.side.as_ref(),
        };
        Ok(M::compose(*shape, &of)?.line(id, tree.parent_id(ix), time))
    }
}

fn changed(path: &Path, why: &'static str) -> Error {
    Error::io("read", path)(io::Error::new(io::ErrorKind::InvalidData, why))
}
