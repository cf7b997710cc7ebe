//! What a list shows of a session, read in one pass over its file without building a tree.
//!
//! The fields and their rules are pi's (`docs/format.md`, *Lists*), but no session ever falls off the list for an odd line.

use std::borrow::Cow;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use crate::clock::{Millis, parse_iso, to_iso};
use crate::entry::text_of;
use crate::envelope::{LineBytes, NoEnvelope, scan};
use crate::error::{Error, Result};
use crate::header::{Header, TitleSlot};
use crate::json::{Json, JsonKind, Object, validate};
use crate::kind::{Kind, Role};
use crate::lines::{LineSpan, for_each_line};
use crate::medium::{Medium, read_exact_at};

/// A session in a list.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionInfo {
    /// Its file.
    pub path: PathBuf,
    /// Its id.
    pub id: String,
    /// Its working directory; empty if the header names none.
    pub cwd: String,
    /// Its name: the last `session_info`, else omp's title.
    pub name: Option<String>,
    /// What its header names as its source.
    pub parent_session_path: Option<String>,
    /// When it began.
    pub created: Option<Millis>,
    /// The last time the person or the model said something; else when it began; else the file's time.
    pub modified: Option<Millis>,
    /// How many message entries there are, on all branches, of any role.
    pub message_count: u64,
    /// The first thing the person said, or `(no messages)`.
    pub first_message: String,
    /// Everything the person and the model said, joined by spaces; `None` if it was not asked for.
    pub all_messages_text: Option<String>,
}

impl SessionInfo {
    /// The record as pi's `SessionInfo`.
    pub fn to_json(&self) -> String {
        let time = |object: Object, name: &str, ms: Option<Millis>| match ms {
            Some(ms) => object.str(name, &to_iso(ms)),
            None => object.raw(name, "null"),
        };
        let object = Object::new()
            .str("path", &self.path.to_string_lossy())
            .str("id", &self.id)
            .str("cwd", &self.cwd)
            .opt_str("name", self.name.as_deref())
            .opt_str("parentSessionPath", self.parent_session_path.as_deref());
        time(time(object, "created", self.created), "modified", self.modified)
            .raw("messageCount", self.message_count)
            .str("firstMessage", &self.first_message)
            .opt_str("allMessagesText", self.all_messages_text.as_deref())
            .finish()
    }
}

/// Puts a list into its order: last activity first, then by file name, downwards.
pub fn sort_by_activity(sessions: &mut [SessionInfo]) {
    sessions.sort_by(|a, b| {
        let name = |info: &SessionInfo| info.path.file_name().map(std::ffi::OsStr::to_owned);
        b.modified.cmp(&a.modified).then_with(|| name(b).cmp(&name(a)))
    });
}

/// Reads what a list shows of a session file.
///
/// # Errors
/// [`Error::NotASession`]; [`Error::Io`].
pub fn session_info(medium: &dyn Medium, file_time: Option<Millis>, with_text: bool) -> Result<SessionInfo> {
    let failed = Error::io("read", medium.path());
    let mut gather = Gather::new(medium, with_text);
    let length = medium.len().map_err(Error::io("read", medium.path()))?;
    let mut trouble = Ok(());
    for_each_line(medium, 0, length, 1, |span, line| {
        trouble = gather.line(span, line);
        if trouble.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })
    .map_err(failed)?;
    trouble?;
    gather.finish(file_time)
}

/// Reads a session's header and nothing behind it.
///
/// # Errors
/// [`Error::NotASession`]; [`Error::Io`].
pub fn header(medium: &dyn Medium) -> Result<Header> {
    let length = medium.len().map_err(Error::io("read", medium.path()))?;
    let mut window = FIRST_PIECE.min(length);
    loop {
        let mut gather = Gather::new(medium, false);
        let mut trouble = Ok(());
        for_each_line(medium, 0, window, 1, |span, line| {
            if !span.terminated && window < length {
                return ControlFlow::Break(()); // only the piece ends here, not the line
            }
            trouble = gather.line(span, line);
            if trouble.is_ok() && gather.header.is_none() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })
        .map_err(Error::io("read", medium.path()))?;
        trouble?;
        match gather.header {
            Some(header) => return Ok(header),
            None if window == length => return Err(no_header(medium.path(), 1, 0)),
            None => window = window.saturating_mul(16).min(length),
        }
    }
}

/// How much of a file is read for its header at first; headers are seldom longer.
const FIRST_PIECE: u64 = 16 << 10;

fn no_header(path: &Path, line: u64, offset: u64) -> Error {
    Error::NotASession { path: path.to_path_buf(), line, offset, why: "the first record is no session header" }
}

/// A record without the NUL bytes that a crash of the system left behind it.
fn before_nuls(bytes: &[u8]) -> &[u8] {
    &bytes[..bytes.iter().rposition(|byte| *byte != 0).map_or(0, |at| at + 1)]
}

struct Gather<'a> {
    medium: &'a dyn Medium,
    header: Option<Header>,
    slot: Option<TitleSlot>,
    name: Option<String>,
    short_summary: Option<String>,
    activity: Option<f64>,
    message_count: u64,
    first_message: Option<String>,
    text: Option<String>,
}

impl<'a> Gather<'a> {
    fn new(medium: &'a dyn Medium, with_text: bool) -> Self {
        Self {
            medium,
            header: None,
            slot: None,
            name: None,
            short_summary: None,
            activity: None,
            message_count: 0,
            first_message: None,
            text: with_text.then(String::new),
        }
    }

    fn line(&mut self, span: LineSpan, mut line: LineBytes<'_>) -> Result<()> {
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
                return self.line(span, LineBytes { head: &whole, tail: None });
            }
            Err(NoEnvelope::Malformed(_)) => return Ok(()),
        };
        if self.header.is_none() {
            return self.first_record(span, envelope.kind);
        }
        let wants_body = match (envelope.kind, envelope.role) {
            (Kind::Message, Some(role)) => {
                self.message_count += 1;
                matches!(role, Role::User | Role::Assistant)
            }
            (Kind::SessionInfo | Kind::Compaction, _) => true,
            _ => false,
        };
        if !wants_body {
            return Ok(());
        }
        match line.tail {
            None => self.body(envelope.kind, line.head),
            Some(_) => self.body(envelope.kind, &self.read(span)?),
        }
        Ok(())
    }

    fn read(&self, span: LineSpan) -> Result<Vec<u8>> {
        let length = usize::try_from(span.length).unwrap_or(usize::MAX);
        read_exact_at(self.medium, span.offset, length).map_err(Error::io("read", self.medium.path()))
    }

    fn first_record(&mut self, span: LineSpan, kind: Kind) -> Result<()> {
        let bytes = self.read(span)?;
        let text = String::from_utf8_lossy(&bytes);
        let text = text.trim_start_matches(['\u{feff}', '\0']).trim_end_matches('\0');
        if kind == Kind::Title && span.number == 1 && self.slot.is_none() {
            self.slot = TitleSlot::parse(text);
            if self.slot.is_some() {
                return Ok(());
            }
        }
        self.header = Some(Header::parse(text).ok_or_else(|| no_header(self.medium.path(), span.number, span.offset))?);
        Ok(())
    }

    fn body(&mut self, kind: Kind, bytes: &[u8]) {
        let text = match std::str::from_utf8(bytes) {
            Ok(text) => Cow::Borrowed(text),
            Err(_) => String::from_utf8_lossy(bytes),
        };
        let json = Json::trusted(&text);
        match kind {
            Kind::SessionInfo if validate(text.as_bytes()).is_ok() => {
                let name = json.str("name").map(|name| name.trim().to_owned());
                self.name = name.filter(|name| !name.is_empty());
            }
            Kind::Compaction => {
                self.short_summary = json.str("shortSummary").map(Cow::into_owned).or(self.short_summary.take());
            }
            Kind::Message => {
                if let Some(message) = json.get("message") {
                    self.message(message, json.get("timestamp"));
                }
            }
            _ => {}
        }
    }

    /// A message of the person or the model. (A damaged line can only end early here.)
    fn message(&mut self, message: Json<'_>, entry_time: Option<Json<'_>>) {
        let (mut content, mut time, mut is_user) = (None, None, false);
        for (name, value) in message.members() {
            match name.as_ref() {
                "content" => content = Some(value),
                "timestamp" => time = value.as_f64(),
                "role" => is_user = value.as_str().is_some_and(|role| role == "user"),
                _ => {}
            }
        }
        let Some(content) = content else { return };
        let time =
            time.or_else(|| entry_time.and_then(Json::as_str).and_then(|text| parse_iso(&text)).map(|ms| ms as f64));
        if let Some(time) = time.filter(|time| *time > 0.0) {
            self.activity = Some(self.activity.map_or(time, |known| known.max(time)));
        }
        let wants_first = is_user && self.first_message.is_none();
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
            self.first_message = Some(said);
        }
    }

    fn finish(self, file_time: Option<Millis>) -> Result<SessionInfo> {
        let header = self.header.ok_or_else(|| no_header(self.medium.path(), 1, 0))?;
        let created = header.timestamp().and_then(parse_iso);
        // A double beyond what a date can hold has no date.
        let activity = self.activity.map(|ms| (ms.abs() <= 8.64e15).then_some(ms.trunc() as Millis));
        let slot_title = self.slot.as_ref().map(|slot| slot.title.clone());
        let title = slot_title.or_else(|| header.title().map(str::to_owned)).filter(|title| !title.is_empty());
        Ok(SessionInfo {
            path: self.medium.path().to_path_buf(),
            id: header.id().to_owned(),
            cwd: header.cwd().unwrap_or_default().to_owned(),
            name: self.name.or(title).or(self.short_summary),
            parent_session_path: header.parent_session().map(str::to_owned),
            created,
            modified: activity.unwrap_or_else(|| created.or(file_time)),
            message_count: self.message_count,
            first_message: self.first_message.unwrap_or_else(|| "(no messages)".to_owned()),
            all_messages_text: self.text,
        })
    }
}
