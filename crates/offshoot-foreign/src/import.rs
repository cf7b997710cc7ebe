//! A foreign session as lines of offshoot's own format: its entries, and before them the bytes of each record. The same records
//! give the same lines, however many are known; no clock and no path of this machine is in them but the source's.

mod beside;
mod newer;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io;
use std::path::Path;

use offshoot_session::child::{ChildEnd, ChildStart};
use offshoot_session::clock::Millis;
use offshoot_session::compose::NewEntry;
use offshoot_session::error::{Error, Result};
use offshoot_session::header::{Header, NewHeader};
use offshoot_session::id::{EntryId, is_valid_session_id};
use offshoot_session::json::{Json, Object, quote};
use offshoot_session::kind::{IMPORT_MARKER, Kind, SOURCE_RECORD};
use offshoot_session::medium::{Medium as _, read_exact_at};

use crate::agent::Agent;
use crate::composing::{Composing, ReadFiles, SideFiles};
use crate::foreign_medium::ForeignMedium;
use crate::key::{Key, hex_hash};
use crate::mapper::Mapper;
use crate::planned::PlannedEntry;
use crate::record::{LONGEST_RECORD, RawRecord, RecordSpan, for_each_record, read_record};
use crate::source_record::{PAYLOADS, Payload, data_of};
use crate::subagent_status::SubagentStatus;
use crate::versions::KeptVersions;

/// Whether an entry that may still grow is imported as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OpenEnd {
    /// It is held back until a later record closes it.
    Held,
    /// It is taken as it is, and so is the place where the session is open.
    Taken,
}

/// What an import says of itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ImportReport {
    /// Records that were read.
    pub records: u64,
    /// Entries that were made of them.
    pub entries: u64,
    /// Records of which no entry was made: only their bytes are there.
    pub kept: u64,
    /// Records at the end that are not imported yet.
    pub held: u64,
    /// Files beside the session that were kept.
    pub files: u64,
    /// Sessions of subagents that came along.
    pub subagents: u64,
    /// What has no place in the tree, or is odd: how often, and the number of the first record.
    pub losses: BTreeMap<String, (u64, u64)>,
}

impl ImportReport {
    /// Adds the figures of another import.
    pub fn add(&mut self, other: &Self) {
        self.records += other.records;
        self.entries += other.entries;
        self.kept += other.kept;
        self.held += other.held;
        self.files += other.files;
        self.subagents += other.subagents;
        for (code, (count, first)) in &other.losses {
            self.losses.entry(code.clone()).or_insert((0, *first)).0 += count;
        }
    }
}

/// A line of the imported session.
#[derive(Debug)]
pub struct ImportedLine<'a> {
    /// `None` of the header.
    pub id: Option<&'a str>,
    /// Whether it is the marker of where the session is open.
    pub is_leaf: bool,
    /// Without line feed.
    pub text: &'a str,
}

/// Where lines go.
type Take<'t> = &'t mut dyn FnMut(ImportedLine<'_>) -> Result<()>;

/// How the import is named.
pub(crate) struct ImportAs<'a> {
    pub(crate) agent: Agent,
    /// The source, as it is written.
    pub(crate) path: &'a Path,
    /// The id; the agent's own if it is `None` and fits.
    pub(crate) id: Option<&'a str>,
    pub(crate) end: OpenEnd,
    /// Ids of lines that are there already: they are passed over.
    pub(crate) known: &'a HashSet<String>,
    /// Of an agent that changes its records in place: the records that are there already.
    pub(crate) versions: &'a KeptVersions,
    /// What made the session, if it is a subagent's.
    pub(crate) child: Option<ImportedChild<'a>>,
}

/// How a subagent's session is linked to that of its parent.
#[derive(Debug, Clone, Copy)]
pub struct ImportedChild<'a> {
    /// What its first entry says.
    pub start: &'a ChildStart,
    /// The file of the parent's imported session.
    pub parent: &'a Path,
    /// How it stands.
    pub status: SubagentStatus,
}

/// Passes the lines of a session on.
pub(crate) fn import<M: Mapper>(
    medium: &ForeignMedium,
    mapper: M,
    side: &dyn SideFiles,
    how: &ImportAs<'_>,
    take: Take<'_>,
) -> Result<ImportReport> {
    let failed = |error| Error::io("read", medium.path())(error);
    let marker = EntryId::new(import_id(how.agent));
    let mut importing = Importing {
        medium,
        mapper,
        side: ReadFiles::new(side),
        how,
        take,
        waiting: BTreeMap::new(),
        ids: HashMap::new(),
        tails: HashMap::new(),
        records: HashSet::new(),
        newer: HashMap::new(),
        renamed: HashMap::new(),
        open_at: None,
        written: how.versions.open_at.clone(),
        last: (marker.clone(), marker),
        before: Vec::new(),
        has_begun: false,
        files: HashSet::new(),
        leaf_line: None,
        said: ChildEnd::default(),
        time: 0,
        report: ImportReport::default(),
        trouble: None,
    };
    let read = for_each_record(medium, |raw| {
        importing.record(raw).map_err(|error| {
            importing.trouble = Some(error);
            io::ErrorKind::Other.into()
        })
    });
    if let Some(error) = importing.trouble.take() {
        return Err(error);
    }
    read.map_err(failed)?;
    importing.finish()
}

/// A record that has no line yet.
struct Waiting {
    span: RecordSpan,
    /// The id of the entry that keeps it.
    id: String,
    time: Option<Millis>,
}

struct LineToBe {
    id: EntryId,
    parent: Option<EntryId>,
    entry: NewEntry,
    time: Millis,
    is_leaf: bool,
}

impl LineToBe {
    fn text(&self, first: Millis) -> String {
        // A record before the first time has that.
        let time = if self.time == 0 { first } else { self.time };
        self.entry.line(&self.id, self.parent.as_ref(), time)
    }
}

struct Importing<'a, 't, M: Mapper> {
    medium: &'a ForeignMedium,
    mapper: M,
    side: ReadFiles<'a>,
    how: &'a ImportAs<'a>,
    take: Take<'t>,
    /// By number.
    waiting: BTreeMap<u32, Waiting>,
    /// How often an id of a record was wanted.
    ids: HashMap<Key, u32>,
    /// The kept records that follow an entry: what hangs on the entry hangs on them.
    tails: HashMap<EntryId, EntryId>,
    /// Ids of records, where those that are gone are counted.
    records: HashSet<String>,
    /// Records that are there in another version, by number.
    newer: HashMap<u32, String>,
    /// The entries that are made of them.
    renamed: HashMap<EntryId, EntryId>,
    /// The entry at which the agent would go on, and the one of the last line that was written.
    open_at: Option<EntryId>,
    written: Option<EntryId>,
    /// The last line, and the entry that it is or follows.
    last: (EntryId, EntryId),
    /// Lines before the header can be written.
    before: Vec<LineToBe>,
    has_begun: bool,
    /// Ids of files beside the session that have a place.
    files: HashSet<String>,
    /// The marker of where the session is open, if it was written.
    leaf_line: Option<EntryId>,
    /// Of a subagent's session: what it has said so far.
    said: ChildEnd,
    time: Millis,
    report: ImportReport,
    trouble: Option<Error>,
}

impl<M: Mapper> Importing<'_, '_, M> {
    fn record(&mut self, raw: RawRecord<'_>) -> Result<()> {
        if !raw.is_terminated {
            self.report.held += 1;
            return Ok(());
        }
        self.report.records += 1;
        let text = raw.text();
        let json = Json::parse(&text).ok().filter(|_| u64::from(raw.span.length) <= LONGEST_RECORD);
        if json.is_none() && !text.trim().is_empty() || raw.has_nuls() {
            self.lose("damaged", raw.span);
        }
        let own = json.and_then(|json| M::record_id(json));
        let id = own.unwrap_or_else(|| hex_hash(&[self.how.agent.word().as_bytes(), raw.bytes], 16));
        let count = self.ids.entry(Key::of(&id)).and_modify(|count| *count += 1).or_insert(0);
        let id = if *count == 0 { id } else { format!("{id}-{count}") };
        let newer = self.how.versions.version(&id, raw.bytes);
        if !self.how.agent.only_appends(self.how.path) {
            self.records.insert(id.clone());
        }
        let id = match newer {
            Some(version) => {
                let named = format!("{id}~{version}.s");
                self.newer.insert(raw.span.number, version);
                named
            }
            None => format!("{id}.s"),
        };
        let time = json.and_then(M::record_time);
        self.waiting.insert(raw.span.number, Waiting { span: raw.span, id, time });
        let mut planned = Vec::new();
        if let Some(json) = json {
            if let Some(code) = M::loss(json) {
                self.lose(&code, raw.span);
            }
            self.mapper.take(raw.span, json, &mut planned);
        }
        self.place(planned)?;
        if !self.mapper.is_waiting() {
            self.keep_all()?;
        }
        Ok(())
    }

    fn finish(mut self) -> Result<ImportReport> {
        let mut planned = Vec::new();
        if self.how.end == OpenEnd::Taken {
            self.mapper.close_open(&mut planned);
            self.place(std::mem::take(&mut planned))?;
            self.keep_all()?;
            self.keep_files()?;
        }
        let records = u32::try_from(self.report.records).unwrap_or(u32::MAX);
        planned.extend(self.mapper.leaf_marker(records));
        self.place(planned)?;
        self.open_where_the_agent_is()?;
        self.end_child()?;
        let gone = self.how.versions.gone(self.records.iter().map(String::as_str));
        if gone > 0 {
            self.report.losses.insert("source-shrunk".to_owned(), (gone, 1));
        }
        self.report.held += self.waiting.len() as u64;
        Ok(self.report)
    }

    fn lose(&mut self, code: &str, span: RecordSpan) {
        let row = self.report.losses.entry(code.to_owned()).or_insert((0, u64::from(span.number)));
        row.0 += 1;
    }

    /// Entries with the records of which they are made before them.
    fn place(&mut self, planned: Vec<PlannedEntry<M::Form>>) -> Result<()> {
        if planned.is_empty() {
            return Ok(());
        }
        let mut older = HashMap::new();
        let planned: Vec<_> = planned.into_iter().map(|entry| self.version(entry, &mut older)).collect();
        let (mut made, mut used) = (Vec::with_capacity(planned.len()), Vec::new());
        for entry in &planned {
            let new = self.compose(entry)?;
            self.note_said(&new);
            used.push(self.files_read(entry));
            made.push(new);
        }
        let mut users: HashMap<u32, Vec<usize>> = HashMap::new();
        for (at, entry) in planned.iter().enumerate() {
            entry.spans.as_slice().iter().for_each(|span| users.entry(span.number).or_default().push(at));
        }
        for ((entry, new), used) in planned.iter().zip(&made).zip(used) {
            let is_known = self.how.known.contains(entry.id.as_str());
            let mut parent = self.parent_of(entry);
            for span in entry.spans.as_slice() {
                let Some(record) = self.waiting.remove(&span.number) else { continue };
                let made_of_it = users.get(&span.number).map(Vec::as_slice).unwrap_or_default();
                let payload = |at: &usize| {
                    let (entry, new) = (planned.get(*at)?, made.get(*at)?);
                    // What is there already may have been made of fewer records.
                    let is_new = !self.how.known.contains(entry.id.as_str());
                    is_new.then_some(Payload { id: entry.id.as_str(), text: payload_of(new)? })
                };
                let payloads: Vec<Payload<'_>> = made_of_it.iter().filter_map(payload).collect();
                parent = Some(self.keep(&record, parent, &payloads)?);
            }
            if !is_known {
                parent = self.keep_used(used, entry, new, parent)?;
            }
            self.time = entry.time.unwrap_or(self.time);
            let is_leaf = entry.kind == Kind::Custom && entry.spans.as_slice().is_empty();
            self.report.entries += u64::from(!is_leaf);
            if entry.kind == Kind::Message {
                self.begin()?;
            }
            let line = LineToBe { id: entry.id.clone(), parent, entry: new.clone(), time: self.time, is_leaf };
            self.write(line)?;
            if entry.kind != Kind::SessionInfo {
                self.open_at = if is_leaf { entry.parent.clone() } else { Some(entry.id.clone()) };
                self.written = if is_known { self.written.take() } else { self.open_at.clone() };
            }
            if !is_leaf {
                self.last = (entry.id.clone(), entry.id.clone());
            }
            if let Some(older) = older.remove(&entry.id).filter(|_| !is_known) {
                self.supersede(&older, &entry.id)?;
            }
        }
        Ok(())
    }

    fn parent_of(&self, entry: &PlannedEntry<M::Form>) -> Option<EntryId> {
        match &entry.parent {
            Some(parent) => Some(self.tail(parent)),
            // The first root follows what stands before it.
            None if self.report.entries == 0 => Some(self.last.0.clone()),
            None => None,
        }
    }

    fn compose(&self, entry: &PlannedEntry<M::Form>) -> Result<NewEntry> {
        let failed = || Error::io("read", self.medium.path());
        let texts: Vec<String> = entry
            .spans
            .as_slice()
            .iter()
            .map(|span| read_record(self.medium, *span))
            .collect::<io::Result<_>>()
            .map_err(failed())?;
        let records: Vec<Json<'_>> = texts.iter().map(|text| Json::parse(text).unwrap_or(Json::NULL)).collect();
        let of = Composing {
            records: &records,
            name: self.mapper.names().get(entry.shape.name),
            refers: entry.refers.as_ref(),
            time: entry.time.unwrap_or(self.time),
            side: &self.side,
        };
        M::compose(entry.shape, &of)
    }

    /// All records that wait and that no entry is waiting for.
    fn keep_all(&mut self) -> Result<()> {
        while let Some((_, record)) = self.waiting.pop_first() {
            self.report.kept += 1;
            let id = self.keep(&record, Some(self.how.versions.tail(&self.last.0).clone()), &[])?;
            self.follow(id);
        }
        Ok(())
    }

    /// This line is the last one, and what hangs on the last entry hangs on it.
    fn follow(&mut self, id: EntryId) {
        let owner = self.last.1.clone();
        self.tails.insert(owner.clone(), id.clone());
        self.last = (id, owner);
    }

    /// The line on which the next one of an entry hangs.
    fn tail(&self, entry: &EntryId) -> EntryId {
        self.how.versions.tail(self.tails.get(entry).unwrap_or(entry)).clone()
    }

    fn keep(&mut self, record: &Waiting, parent: Option<EntryId>, payloads: &[Payload<'_>]) -> Result<EntryId> {
        let RecordSpan { at, length, number } = record.span;
        let length = usize::try_from(length).unwrap_or(usize::MAX).saturating_add(1);
        let bytes = read_exact_at(self.medium, at, length).map_err(Error::io("read", self.medium.path()))?;
        let data = data_of(number, at, &bytes, payloads);
        self.time = record.time.unwrap_or(self.time);
        let entry = NewEntry::custom(SOURCE_RECORD, Some(Json::parse(&data).unwrap_or(Json::NULL)));
        let id = EntryId::new(&record.id);
        self.write(LineToBe { id: id.clone(), parent, entry, time: self.time, is_leaf: false })?;
        Ok(id)
    }

    /// Writes the header, now that a message is there: the records before it say whose session it is.
    fn begin(&mut self) -> Result<()> {
        if std::mem::replace(&mut self.has_begun, true) {
            return Ok(());
        }
        let head = self.mapper.head().clone();
        let id = self.how.id.map_or_else(|| imported_id(self.how.agent, &head.native_id), str::to_owned);
        let at = head.first.unwrap_or_default();
        let parent = match self.how.child {
            Some(child) => Some(child.parent.to_string_lossy().into_owned()),
            None => head.parent.clone(),
        };
        let header = Header::new(&NewHeader {
            id: &id,
            at,
            cwd: head.cwd.as_deref().unwrap_or_default(),
            parent_session: parent.as_deref(),
            title: None,
        });
        if head.cwd.is_none() {
            self.report.losses.insert("cwd-unknown".to_owned(), (1, 1));
        }
        if self.how.known.is_empty() {
            (self.take)(ImportedLine { id: None, is_leaf: false, text: header.line() })?;
        }
        let formats: Vec<String> = head.versions.iter().take(1).map(|version| quote(version)).collect();
        let data = Object::new()
            .raw("v", 1)
            .str("agent", self.how.agent.word())
            .str("nativeId", &head.native_id)
            .str("path", &self.how.path.to_string_lossy())
            .raw("formats", format!("[{}]", formats.join(",")));
        let data = match &head.parent {
            Some(parent) => data.raw("parent", Object::new().str("nativeId", parent).finish()),
            None => data,
        };
        let (start, data) = self.child_start(&head.native_id, at, data)?;
        let marker = NewEntry::custom(IMPORT_MARKER, Some(Json::parse(&data.finish()).unwrap_or(Json::NULL)));
        let id = EntryId::new(import_id(self.how.agent));
        self.write(LineToBe { id, parent: start, entry: marker, time: at, is_leaf: false })?;
        for line in std::mem::take(&mut self.before) {
            self.write(line)?;
        }
        Ok(())
    }

    fn write(&mut self, line: LineToBe) -> Result<()> {
        if self.how.known.contains(line.id.as_str()) {
            return Ok(());
        }
        if !self.has_begun {
            self.before.push(line);
            return Ok(());
        }
        if line.is_leaf {
            self.leaf_line = Some(line.id.clone());
        }
        let text = line.text(self.mapper.head().first.unwrap_or_default());
        (self.take)(ImportedLine { id: Some(line.id.as_str()), is_leaf: line.is_leaf, text: &text })
    }
}

/// The id of an imported session, whose agent has this one for it.
#[must_use]
pub fn imported_id(agent: Agent, native_id: &str) -> String {
    let fits = (8..=64).contains(&native_id.len()) && is_valid_session_id(native_id);
    if fits {
        return native_id.to_owned();
    }
    format!("{}-{}", agent.word(), hex_hash(&[agent.word().as_bytes(), native_id.as_bytes()], 16))
}

/// The id of the entry that says where a session comes from.
fn import_id(agent: Agent) -> String {
    hex_hash(&[IMPORT_MARKER.as_bytes(), agent.word().as_bytes()], 16)
}

fn payload_of(new: &NewEntry) -> Option<&str> {
    PAYLOADS.iter().find_map(|name| new.member(name))
}
