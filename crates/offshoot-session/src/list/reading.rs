//! How far a session file was read for a list: a state that can be stored and continued when the file has grown.

use std::borrow::Cow;
use std::ops::ControlFlow;
use std::path::Path;

use memchr::memmem;

use super::SessionInfo;
use super::child_marks::ChildMarks;
use crate::clock::{Millis, parse_iso};
use crate::entry::{Source as _, text_of};
use crate::envelope::{LineBytes, NoEnvelope, scan};
use crate::error::{Error, Result};
use crate::header::{Header, TitleSlot};
use crate::json::{Json, JsonKind, validate};
use crate::kind::{Kind, Role};
use crate::lines::{LineSpan, for_each_line_in};
use crate::medium::{Medium, MemoryMedium, read_exact_at};
use crate::session::Session;
use crate::tokens::Usage;

/// What was read of a session file for a list, up to the end of a line. Reading in two steps, divided anywhere, gives
/// the same as reading at once.
#[derive(Debug, Clone, PartialEq, Default)]
#[expect(missing_docs, reason = "the name says it")]
pub struct Reading {
    /// Bytes read.
    pub offset: u64,
    /// Lines read.
    pub lines: u64,
    /// Line and byte of a first record that is not a header; the file is then not a session.
    pub refused: Option<(u64, u64)>,
    /// The header's fields, once it was read.
    pub beginning: Option<Beginning>,
    /// The title in omp's slot; empty means none.
    pub slot_title: Option<String>,
    /// The last name.
    pub name: Option<String>,
    /// omp's short summary in the last compaction that has one.
    pub short_summary: Option<String>,
    /// The latest time of a message by the user or the model, as in JavaScript.
    pub activity: Option<f64>,
    pub message_count: u64,
    /// Tokens of all kinds that providers reported, on all branches.
    pub tokens: u64,
    /// US dollars that providers reported, on all branches.
    pub cost: f64,
    /// The user's first message.
    pub first_message: Option<String>,
    /// What it says of itself as a child.
    pub child: Option<Box<ChildMarks>>,
}

/// The header's fields that a list shows.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[expect(missing_docs, reason = "the names of the others say what they are")]
pub struct Beginning {
    pub id: String,
    /// Empty if there is none.
    pub cwd: String,
    /// The header's parent session.
    pub parent_session: Option<String>,
    pub created: Option<Millis>,
    pub title: Option<String>,
}

/// What a list shows of an open session, and the text of all messages.
pub(super) fn of_session(session: &Session, with_text: bool) -> Result<(Reading, Option<String>)> {
    let nothing = MemoryMedium::default();
    let reading = Reading { beginning: Some(Beginning::of(session.header())), ..Reading::default() };
    let mut gather = Gather::new(&nothing, reading, with_text);
    for ix in session.tree().entries() {
        let node = session.tree().node(ix);
        if matches!(node.kind(), Kind::Custom | Kind::SessionInit) {
            ChildMarks::take(&mut gather.reading.child, node.kind(), session.entry(ix)?.line());
        }
        gather.reading.is_said(node.kind());
        gather.reading.message_count += u64::from(node.kind() == Kind::Message);
        let is_said = matches!(node.role(), Some(Role::User | Role::Assistant));
        if is_said || node.kind() == Kind::SessionInfo || node.kind().has_usage() {
            gather.body(node.kind(), session.entry(ix)?.line().as_bytes());
        }
    }
    Ok((gather.reading, gather.text))
}

impl Reading {
    /// What a list shows of an open session of another agent, as if its file were read to this length.
    ///
    /// # Errors
    /// An entry cannot be read.
    pub fn of_session(session: &Session, length: u64) -> Result<Self> {
        Ok(Self { offset: length, ..of_session(session, false)?.0 })
    }

    /// Reads up to `length`. A last line without line feed may still grow, so it is not included, but the result is the
    /// reading with it. Pieces of the file are read into `buffer`, which can be reused for other files.
    ///
    /// # Errors
    /// [`Error::Io`]; nothing changes then. [`Reading::info`] fails if the file is not a session.
    pub fn read_further(&mut self, medium: &dyn Medium, length: u64, buffer: &mut Vec<u8>) -> Result<Option<Self>> {
        let mut gather = Gather::new(medium, self.clone(), false);
        let settled = gather.read_further(length, buffer)?;
        Ok(match settled {
            Some(settled) => {
                *self = settled;
                Some(gather.reading)
            }
            None => {
                *self = gather.reading;
                None
            }
        })
    }

    /// What is said after its end goes on with a child's work.
    fn is_said(&mut self, kind: Kind) {
        if let Some(child) = self.child.as_mut().filter(|_| matches!(kind, Kind::Message | Kind::CustomMessage)) {
            child.status = None;
        }
    }

    /// The list record of the file at `path` with the modification time `file_time`.
    ///
    /// # Errors
    /// [`Error::NotASession`].
    pub fn into_info(self, path: &Path, file_time: Option<Millis>) -> Result<SessionInfo> {
        let Some(header) = self.beginning else {
            let (line, offset) = self.refused.unwrap_or((1, 0));
            return Err(no_header(path, line, offset));
        };
        // Larger numbers are not dates.
        let activity = self.activity.map(|ms| (ms.abs() <= 8.64e15).then_some(ms.trunc() as Millis));
        let said = activity.unwrap_or_else(|| header.created.or(file_time));
        let forked = header.created.filter(|_| header.parent_session.is_some());
        let title = self.slot_title.or(header.title).filter(|title| !title.is_empty());
        Ok(SessionInfo {
            path: path.to_path_buf(),
            id: header.id,
            cwd: header.cwd,
            name: self.name.or(title).or(self.short_summary),
            parent_session_path: header.parent_session,
            created: header.created,
            modified: said.max(forked),
            message_count: self.message_count,
            tokens: self.tokens,
            cost: self.cost,
            first_message: self.first_message.unwrap_or_else(|| "(no messages)".to_owned()),
            all_messages_text: None,
        })
    }

    /// [`Reading::into_info`] of a copy.
    ///
    /// # Errors
    /// Those of [`Reading::into_info`].
    pub fn info(&self, path: &Path, file_time: Option<Millis>) -> Result<SessionInfo> {
        self.clone().into_info(path, file_time)
    }
}

impl Beginning {
    fn of(header: &Header) -> Self {
        Self {
            id: header.id().to_owned(),
            cwd: header.cwd().unwrap_or_default().to_owned(),
            parent_session: header.parent_session().map(str::to_owned),
            created: header.timestamp().and_then(parse_iso),
            title: header.title().map(str::to_owned),
        }
    }
}

pub(super) fn no_header(path: &Path, line: u64, offset: u64) -> Error {
    Error::NotASession { path: path.to_path_buf(), line, offset, why: "the first record is not a session header" }
}

pub(super) struct Gather<'a> {
    medium: &'a dyn Medium,
    pub(super) reading: Reading,
    pub(super) text: Option<String>,
}

impl<'a> Gather<'a> {
    pub(super) fn new(medium: &'a dyn Medium, reading: Reading, with_text: bool) -> Self {
        Self { medium, reading, text: with_text.then(String::new) }
    }

    /// Reads on; returns the state before a last line without line feed, if there is one.
    pub(super) fn read_further(&mut self, length: u64, buffer: &mut Vec<u8>) -> Result<Option<Reading>> {
        let (from, first) = (self.reading.offset, self.reading.lines + 1);
        if self.reading.refused.is_some() || from >= length {
            return Ok(None);
        }
        let mut settled = None;
        let mut trouble = Ok(None);
        for_each_line_in(buffer, self.medium, (from, length), first, |span, line| {
            if !span.terminated {
                settled = Some(self.reading.clone());
            }
            trouble = self.line(span, line);
            if trouble.is_ok() && self.reading.refused.is_none() {
                ControlFlow::Continue(())
            } else {
                ControlFlow::Break(())
            }
        })
        .map_err(Error::io("read", self.medium.path()))?;
        trouble?;
        Ok(settled)
    }

    /// Reads a line; returns the header if it is one.
    pub(super) fn line(&mut self, span: LineSpan, line: LineBytes<'_>) -> Result<Option<Header>> {
        let header = self.record(span, line)?;
        self.reading.offset = span.offset + span.length + u64::from(span.terminated);
        self.reading.lines = span.number;
        Ok(header)
    }

    fn record(&mut self, span: LineSpan, mut line: LineBytes<'_>) -> Result<Option<Header>> {
        if span.number == 1 && line.head.starts_with(b"\xef\xbb\xbf") {
            line.head = &line.head[3..];
        }
        while let Some((0, rest)) = line.head.split_first().map(|(first, rest)| (*first, rest)) {
            line.head = rest;
        }
        match &mut line.tail {
            Some(tail) => *tail = before_nuls(tail),
            None => line.head = before_nuls(line.head),
        }
        let envelope = match scan(line) {
            Ok(envelope) => envelope,
            Err(NoEnvelope::NeedWholeLine) => {
                let whole = self.read(span)?;
                return self.record(span, LineBytes { head: &whole, tail: None });
            }
            Err(NoEnvelope::Malformed(_)) => return Ok(None),
        };
        if self.reading.beginning.is_none() {
            return match line.tail {
                None => Ok(self.first_record(span, envelope.kind, line.head)),
                Some(_) => Ok(self.first_record(span, envelope.kind, &self.read(span)?)),
            };
        }
        if ChildMarks::may_be_in(envelope.kind, line) {
            let whole = match line.tail {
                None => Cow::Borrowed(line.head),
                Some(_) => Cow::Owned(self.read(span)?),
            };
            ChildMarks::take(&mut self.reading.child, envelope.kind, &String::from_utf8_lossy(&whole));
            return Ok(None);
        }
        self.reading.is_said(envelope.kind);
        let wants_body = match envelope.role.filter(|_| envelope.kind == Kind::Message) {
            Some(role) => {
                self.reading.message_count += 1;
                let is_said = matches!(role, Role::User | Role::Assistant);
                is_said || (role == Role::ToolResult && mentions_usage(line))
            }
            None => envelope.kind == Kind::SessionInfo || envelope.kind.has_usage(),
        };
        if !wants_body {
            return Ok(None);
        }
        match line.tail {
            None => self.body(envelope.kind, line.head),
            Some(_) => self.body(envelope.kind, &self.read(span)?),
        }
        Ok(None)
    }

    fn read(&self, span: LineSpan) -> Result<Vec<u8>> {
        let length = usize::try_from(span.length).unwrap_or(usize::MAX);
        read_exact_at(self.medium, span.offset, length).map_err(Error::io("read", self.medium.path()))
    }

    fn first_record(&mut self, span: LineSpan, kind: Kind, bytes: &[u8]) -> Option<Header> {
        let text = String::from_utf8_lossy(bytes);
        let text = text.trim_start_matches(['\u{feff}', '\0']).trim_end_matches('\0');
        if kind == Kind::Title && span.number == 1 {
            self.reading.slot_title = TitleSlot::parse(text).map(|slot| slot.title);
            if self.reading.slot_title.is_some() {
                return None;
            }
        }
        let header = Header::parse(text);
        match &header {
            Some(header) => self.reading.beginning = Some(Beginning::of(header)),
            None => self.reading.refused = Some((span.number, span.offset)),
        }
        header
    }

    fn body(&mut self, kind: Kind, bytes: &[u8]) {
        let text = match std::str::from_utf8(bytes) {
            Ok(text) => Cow::Borrowed(text),
            Err(_) => String::from_utf8_lossy(bytes),
        };
        let json = Json::trusted(&text);
        if kind == Kind::SessionInfo && validate(text.as_bytes()).is_ok() {
            let name = json.str("name").map(|name| name.trim().to_owned());
            self.reading.name = name.filter(|name| !name.is_empty());
        }
        if kind.has_usage() {
            if let Some(summary) = json.str("shortSummary").filter(|_| kind == Kind::Compaction) {
                self.reading.short_summary = Some(summary.into_owned());
            }
            self.usage(json.get("usage"));
        }
        if kind == Kind::Message
            && let Some(message) = json.get("message")
        {
            self.message(message, json);
        }
    }

    fn usage(&mut self, usage: Option<Json<'_>>) {
        let usage = usage.filter(|usage| !usage.is_null()).map(Usage::read).unwrap_or_default();
        self.reading.tokens += usage.total;
        self.reading.cost += usage.cost;
    }

    /// Reads a message. In a damaged line it only ends early.
    fn message(&mut self, message: Json<'_>, entry: Json<'_>) {
        let (mut content, mut time, mut is_user, mut is_tools) = (None, None, false, false);
        for (name, value) in message.members() {
            match name.as_ref() {
                "content" => content = Some(value),
                "timestamp" => time = value.as_f64(),
                "usage" => self.usage(Some(value)),
                "role" => {
                    let role = value.as_str();
                    is_user = role.as_deref() == Some("user");
                    is_tools = role.as_deref() == Some("toolResult");
                }
                _ => {}
            }
        }
        let Some(content) = content.filter(|_| !is_tools) else { return };
        let time = time.or_else(|| entry.str("timestamp").and_then(|text| parse_iso(&text)).map(|ms| ms as f64));
        if let Some(time) = time.filter(|time| *time > 0.0) {
            let known = self.reading.activity;
            self.reading.activity = Some(known.map_or(time, |known| known.max(time)));
        }
        let wants_first = is_user && self.reading.first_message.is_none();
        if !wants_first && self.text.is_none() {
            return;
        }
        if !matches!(content.kind(), JsonKind::String | JsonKind::Array) {
            return;
        }
        let said = text_of(content, " ");
        if said.is_empty() {
            return;
        }
        if let Some(text) = &mut self.text {
            if !text.is_empty() {
                text.push(' ');
            }
            text.push_str(&said);
        }
        if wants_first {
            self.reading.first_message = Some(said);
        }
    }
}

/// Whether a line may report usage. Most results of tools do not, so their bodies are not read.
fn mentions_usage(line: LineBytes<'_>) -> bool {
    [Some(line.head), line.tail].into_iter().flatten().any(|part| memmem::find(part, b"\"usage\"").is_some())
}

/// A record without the NUL bytes that a system crash left after it.
fn before_nuls(bytes: &[u8]) -> &[u8] {
    &bytes[..bytes.iter().rposition(|byte| *byte != 0).map_or(0, |at| at + 1)]
}
