//! The state of a scan, one line at a time.

use crate::envelope::{Envelope, LineBytes, NoEnvelope, scan};
use crate::error::{Code, Diagnostic, Error, Result};
use crate::header::{CURRENT_VERSION, Dialect, Header, TitleSlot};
use crate::id::EntryId;
use crate::json::Json;
use crate::kind::{Kind, KindDialect};
use crate::lines::LineSpan;
use crate::medium::{Medium, read_exact_at};
use crate::migrate::derived_id;
use crate::tree::{NewNode, link::TreeBuilder};

use super::{FileEnd, Loaded, is_sound, label_of, new_node, not_a_session};

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

pub(super) struct Scan<'a> {
    medium: &'a dyn Medium,
    loaded: Loaded,
    /// The id by which the first entry of the tree proposal names the header as its parent.
    header_uuid: Option<String>,
    builder: TreeBuilder,
    records: u64,
    /// The last entry of a version 1 file, which is the next one's parent.
    previous: Option<EntryId>,
    last: Option<LineSpan>,
    garbage: Option<LineSpan>,
}

impl<'a> Scan<'a> {
    pub(super) fn new(medium: &'a dyn Medium) -> Self {
        Self {
            medium,
            loaded: Loaded::default(),
            header_uuid: None,
            builder: TreeBuilder::default(),
            records: 0,
            previous: None,
            last: None,
            garbage: None,
        }
    }

    pub(super) fn line(&mut self, mut span: LineSpan, mut line: LineBytes<'_>) -> Result<()> {
        if span.number == 1 && line.head.starts_with(BYTE_ORDER_MARK) {
            self.note(Code::ByteOrderMark, 1, 0, "the file starts with a byte order mark");
            (span, line) = behind(span, line, BYTE_ORDER_MARK.len());
        }
        let nuls = line.head.iter().take_while(|b| **b == 0).count();
        if nuls > 0 {
            let message = format!("{nuls} NUL bytes, as a power failure leaves them; the rest of the line is read");
            self.note(Code::NulBytes, span.number, span.offset, message);
            (span, line) = behind(span, line, nuls);
        }
        (span, line) = self.before_nuls(span, line);
        self.last = Some(span);
        if line.tail.is_none() && line.head.iter().all(u8::is_ascii_whitespace) {
            return Ok(());
        }
        match scan(line) {
            Err(NoEnvelope::NeedWholeLine) => {
                let whole = self.read(span)?;
                let line = LineBytes { head: &whole, tail: None };
                self.settled(span, line, scan(line))
            }
            settled => self.settled(span, line, settled),
        }
    }

    pub(super) fn expect(&mut self, more: usize) {
        self.builder.tree_mut().expect(more);
    }

    /// Takes an entry that was recognised from its line alone.
    pub(super) fn entry(&mut self, mut new: NewNode) -> Result<()> {
        let span = LineSpan { number: new.line, offset: new.offset, length: new.length, terminated: true };
        if self.loaded.header.is_none() {
            let whole = self.read(span)?;
            return self.line(span, LineBytes { head: &whole, tail: None });
        }
        self.last = Some(span);
        self.records += 1;
        let ids = self.ids(span, new.id.take(), new.parent.take());
        (new.id, new.parent) = ids;
        self.builder.push(&new);
        Ok(())
    }

    pub(super) fn is_old(&self) -> bool {
        self.loaded.is_old()
    }

    /// Cuts off NUL bytes after a complete record. Power failures leave them up to the end of the file's last block.
    fn before_nuls<'b>(&mut self, span: LineSpan, line: LineBytes<'b>) -> (LineSpan, LineBytes<'b>) {
        let last = line.tail.unwrap_or(line.head);
        let nuls = last.iter().rev().take_while(|b| **b == 0).count();
        if nuls == 0 || nuls == last.len() {
            return (span, line);
        }
        let message = format!("{nuls} NUL bytes after the record, as a power failure leaves them; the record is read");
        let offset = span.offset + span.length - nuls as u64;
        self.note(Code::NulBytes, span.number, offset, message);
        let rest = &last[..last.len() - nuls];
        let line = match line.tail {
            None => LineBytes { head: rest, tail: None },
            Some(_) => LineBytes { head: line.head, tail: Some(rest) },
        };
        (LineSpan { length: span.length - nuls as u64, ..span }, line)
    }

    fn settled(
        &mut self,
        span: LineSpan,
        line: LineBytes<'_>,
        envelope: std::result::Result<Envelope<'_>, NoEnvelope>,
    ) -> Result<()> {
        match (envelope, self.loaded.header.is_some()) {
            (Ok(envelope), true) => self.record(span, line, &envelope)?,
            (Ok(envelope), false) => self.first_record(span, &envelope)?,
            (Err(error), true) => self.malformed(span, error),
            (Err(_), false) => {
                self.garbage.get_or_insert(span);
            }
        }
        Ok(())
    }

    fn note(&mut self, code: Code, line: u64, offset: u64, message: impl Into<String>) {
        let message = message.into();
        self.loaded.diagnostics.push(Diagnostic { code, line: Some(line), offset, entry: None, message });
    }

    fn read(&self, span: LineSpan) -> Result<Vec<u8>> {
        let length = usize::try_from(span.length).unwrap_or(usize::MAX);
        read_exact_at(self.medium, span.offset, length).map_err(Error::io("read", self.medium.path()))
    }

    fn malformed(&mut self, span: LineSpan, error: NoEnvelope) {
        let at = match error {
            NoEnvelope::Malformed(at) => span.offset + at as u64,
            NoEnvelope::NeedWholeLine => span.offset,
        };
        let (code, message) = if span.terminated {
            (Code::MalformedLine, "the line is not one JSON object; it stays in the file but not in the tree")
        } else {
            (
                Code::TornTail,
                "the last line is cut off; it stays in the file, and the next entry starts on a line of its own",
            )
        };
        self.note(code, span.number, at, message);
    }

    /// The first record must be the header; omp's title slot may precede it.
    fn first_record(&mut self, span: LineSpan, envelope: &Envelope<'_>) -> Result<()> {
        let text = String::from_utf8_lossy(&self.read(span)?).into_owned();
        if span.number == 1
            && envelope.kind == Kind::Title
            && let Some(slot) = TitleSlot::parse(&text)
        {
            self.loaded.slot = Some(slot);
            self.loaded.dialect = Some(Dialect::Omp);
            return Ok(());
        }
        let refuse = |why| not_a_session(self.medium.path(), span.number, span.offset, why);
        if envelope.kind != Kind::Session {
            return Err(refuse("the first record is not a session header"));
        }
        let header = Header::parse(&text).ok_or_else(|| refuse("the session header has no id or is not valid JSON"))?;
        if let Some(garbage) = self.garbage {
            let message = "the lines before the session header are not records; they are left alone";
            self.note(Code::GarbageBeforeHeader, garbage.number, garbage.offset, message);
        }
        if header.version() > CURRENT_VERSION {
            let message = format!(
                "version {} is newer than {CURRENT_VERSION}; read as version {CURRENT_VERSION}",
                header.version()
            );
            self.note(Code::NewerVersion, span.number, span.offset, message);
        }
        if header.is_omp() {
            self.loaded.dialect = Some(Dialect::Omp);
        }
        self.header_uuid = header.json().str("uuid").map(std::borrow::Cow::into_owned);
        self.loaded.header = Some(header);
        self.loaded.header_span = (span.offset, span.length);
        self.records = 1;
        Ok(())
    }

    fn record(&mut self, span: LineSpan, line: LineBytes<'_>, envelope: &Envelope<'_>) -> Result<()> {
        let record = self.records;
        self.records += 1;
        if envelope.kind == Kind::Session {
            self.loaded.second_headers.push(record);
            let message = "a second session header; only the first one counts";
            self.note(Code::SecondHeader, span.number, span.offset, message);
            return Ok(());
        }
        let new = self.new_node(span, envelope);
        let ix = self.builder.push(&new);
        if envelope.kind == Kind::SessionInfo {
            self.loaded.last_session_info = Some(ix);
        } else if envelope.kind == Kind::Label {
            self.label(span, line)?;
        } else if self.loaded.dialect.is_none() {
            self.loaded.dialect = dialect_of(envelope.kind, line.head);
        }
        Ok(())
    }

    fn new_node(&mut self, span: LineSpan, envelope: &Envelope<'_>) -> NewNode {
        let named = |id: &Option<std::borrow::Cow<'_, str>>| id.as_deref().map(EntryId::new);
        let ids = self.ids(span, named(&envelope.id), named(&envelope.parent));
        new_node(span, envelope, ids)
    }

    /// The ids of an entry and its parent, from those in its line.
    fn ids(
        &mut self,
        span: LineSpan,
        id: Option<EntryId>,
        parent: Option<EntryId>,
    ) -> (Option<EntryId>, Option<EntryId>) {
        if self.loaded.version() < 2 {
            let id = self.derive_id(span.number);
            return (Some(id.clone()), self.previous.replace(id));
        }
        (id, parent.filter(|parent| Some(parent.as_str()) != self.header_uuid.as_deref()))
    }

    fn derive_id(&self, line: u64) -> EntryId {
        let session = self.loaded.header.as_ref().map_or("", Header::id);
        let free = |id: &EntryId| self.builder.tree().find(id.as_str()).is_none();
        (0..)
            .map(|attempt| derived_id(session, line, attempt))
            .find(free)
            .unwrap_or_else(|| derived_id(session, line, 0))
    }

    fn label(&mut self, span: LineSpan, line: LineBytes<'_>) -> Result<()> {
        let bytes = if line.tail.is_some() { self.read(span)? } else { line.head.to_vec() };
        if let Some((target, label)) = label_of(&String::from_utf8_lossy(&bytes)) {
            self.builder.tree_mut().set_label(target, label);
        }
        Ok(())
    }

    pub(super) fn finish(mut self, length: u64) -> Result<Loaded> {
        let terminated = self.last.is_none_or(|span| span.terminated);
        if self.loaded.header.is_none() && length > 0 {
            let at = self.garbage.or(self.last);
            let (line, offset) = at.map_or((1, 0), |span| (span.number, span.offset));
            return Err(not_a_session(self.medium.path(), line, offset, "there is no session header"));
        }
        let failed = Error::io("read", self.medium.path());
        let (tree, linked) =
            std::mem::take(&mut self.builder).finish(|node| is_sound(self.medium, node)).map_err(failed)?;
        self.loaded.diagnostics.extend(linked);
        let is_torn = self.loaded.diagnostics.iter().any(|d| d.code == Code::TornTail);
        if let Some(last) = self.last.filter(|_| !terminated && !is_torn) {
            let message = "the last line has no line feed; the next append writes one first";
            self.note(Code::NoFinalNewline, last.number, last.offset, message);
        }
        if let Some(header) = self.loaded.header.as_ref().filter(|header| header.version() < CURRENT_VERSION) {
            let message = format!("version {}; upgraded in memory, and on disk by the first append", header.version());
            self.note(Code::OldVersion, 1, 0, message);
        }
        self.loaded.diagnostics.sort_by_key(|d| d.line);
        let lines = self.last.map_or(0, |span| span.number);
        let last_session_info = self.loaded.last_session_info.filter(|ix| tree.node(*ix).id().is_some());
        Ok(Loaded { tree, last_session_info, end: FileEnd { length, lines, terminated }, ..self.loaded })
    }
}

/// A line without its first bytes.
fn behind(span: LineSpan, line: LineBytes<'_>, count: usize) -> (LineSpan, LineBytes<'_>) {
    let span = LineSpan { offset: span.offset + count as u64, length: span.length - count as u64, ..span };
    (span, LineBytes { head: &line.head[count..], tail: line.tail })
}

/// The dialect that an entry shows: by a kind that only one peer writes, or by a model change's members.
pub(super) fn dialect_of(kind: Kind, line: &[u8]) -> Option<Dialect> {
    match kind.dialect() {
        KindDialect::Omp => Some(Dialect::Omp),
        KindDialect::Pi => Some(Dialect::Pi),
        KindDialect::Both if kind == Kind::ModelChange => {
            let text = String::from_utf8_lossy(line);
            let json = Json::trusted(&text);
            match (json.get("modelId"), json.get("model")) {
                (Some(_), _) => Some(Dialect::Pi),
                (None, Some(_)) => Some(Dialect::Omp),
                (None, None) => None,
            }
        }
        KindDialect::Both | KindDialect::Unknown => None,
    }
}
