//! Finds every diagnostic of a session: those of opening, and those that need every byte. Changes nothing.

use std::borrow::Cow;
use std::io;
use std::thread;

use crate::context::{self, Retained};
use crate::entry::Source as _;
use crate::error::{Code, Diagnostic, Error, Result};
use crate::json::{Json, JsonKind, first_half, validate_members};
use crate::kind::Kind;
use crate::lines::{LineSpan, for_each_whole_line};
use crate::llm::Converter;
use crate::load::{Loaded, Opened, load};
use crate::medium::{Medium, read_exact_at};
use crate::operation;
use crate::tree::NodeIx;

/// Reads a whole session and returns its diagnostics in file order.
///
/// # Errors
/// [`Error::NotASession`]; [`Error::Io`].
pub fn check(medium: &dyn Medium) -> Result<Vec<Diagnostic>> {
    let loaded = load(medium)?;
    let mut diagnostics = loaded.diagnostics.clone();
    every_line(medium, &loaded, &mut diagnostics)?;
    odd_version(&loaded, &mut diagnostics);
    references(medium, &loaded, &mut diagnostics)?;
    open_context(medium, &loaded, &mut diagnostics)?;
    diagnostics.sort_by_key(|d| (d.line.unwrap_or(u64::MAX), d.offset));
    diagnostics.dedup();
    Ok(diagnostics)
}

fn odd_version(loaded: &Loaded, diagnostics: &mut Vec<Diagnostic>) {
    let version = loaded.header.as_ref().and_then(|header| header.json().get("version"));
    let Some(version) = version.filter(|version| !matches!(version.kind(), JsonKind::Number | JsonKind::Null)) else {
        return;
    };
    let message = format!("the header's version is {}, not a number", version.text());
    diagnostics.push(Diagnostic {
        code: Code::OddVersion,
        line: None,
        offset: loaded.header_span.0,
        entry: None,
        message,
    });
}

/// Below this many bytes one thread is as fast.
const SMALL: u64 = 8 << 20;

/// Where a thread begins to read: at the start of a line, whose entry is the first of its part.
#[derive(Debug, Clone, Copy)]
struct PartStart {
    offset: u64,
    number: u64,
    entry: usize,
}

fn every_line(medium: &dyn Medium, loaded: &Loaded, diagnostics: &mut Vec<Diagnostic>) -> Result<()> {
    let cores = thread::available_parallelism().map_or(1, std::num::NonZero::get) as u64;
    let parts = if loaded.end.length < SMALL || loaded.is_made() { 1 } else { cores };
    diagnostics.extend(every_line_in(parts, medium, loaded)?);
    Ok(())
}

/// What is odd about the lines, read in so many parts at once.
fn every_line_in(parts: u64, medium: &dyn Medium, loaded: &Loaded) -> Result<Vec<Diagnostic>> {
    let failed = || Error::io("read", medium.path());
    let starts = part_starts(parts, medium, loaded).map_err(failed())?;
    let found: Vec<io::Result<Vec<Diagnostic>>> = thread::scope(|scope| {
        let ends = starts.iter().skip(1).map(|next| next.offset).chain([loaded.end.length]);
        let parts = starts.iter().zip(ends);
        let running: Vec<_> =
            parts.map(|(start, end)| scope.spawn(move || lines_of(medium, loaded, *start, end))).collect();
        running
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    });
    let mut diagnostics = Vec::new();
    for part in found {
        diagnostics.extend(part.map_err(failed())?);
    }
    Ok(diagnostics)
}

/// Where the parts of a file begin: at most so many, of about the same length.
fn part_starts(parts: u64, medium: &dyn Medium, loaded: &Loaded) -> io::Result<Vec<PartStart>> {
    let mut starts = vec![PartStart { offset: 0, number: 1, entry: 0 }];
    let (length, tree) = (loaded.end.length, &loaded.tree);
    for part in 1..parts {
        // Entries are in the order of the file.
        let wanted = length / parts * part;
        let (mut from, mut to) = (0, tree.stored_len());
        while from < to {
            let middle = from.midpoint(to);
            let is_before = tree.entries_from(middle).next().is_some_and(|ix| tree.node(ix).offset() < wanted);
            (from, to) = if is_before { (middle + 1, to) } else { (from, middle) };
        }
        // Bytes before an entry in its line, such as NUL bytes, belong to it: a part begins only where a line does.
        for ix in tree.entries_from(from) {
            let (offset, number) = (tree.node(ix).offset(), tree.node(ix).line());
            let is_later = starts.last().is_some_and(|last| last.offset < offset);
            if is_later && offset < length && read_exact_at(medium, offset - 1, 1)? == b"\n" {
                starts.push(PartStart { offset, number, entry: ix.index() });
                break;
            }
        }
    }
    Ok(starts)
}

fn lines_of(medium: &dyn Medium, loaded: &Loaded, start: PartStart, end: u64) -> io::Result<Vec<Diagnostic>> {
    let mut diagnostics = Vec::new();
    let mut entries = loaded.tree.entries_from(start.entry).peekable();
    for_each_whole_line(medium, (start.offset, end), start.number, |span, bytes| {
        let entry = entries.next_if(|ix| loaded.tree.node(*ix).line() == span.number);
        one_line(loaded, span, bytes, entry, &mut diagnostics);
    })?;
    Ok(diagnostics)
}

fn one_line(loaded: &Loaded, span: LineSpan, bytes: &[u8], entry: Option<NodeIx>, diagnostics: &mut Vec<Diagnostic>) {
    let mut note = |code, at: usize, message: String| {
        let id = entry.and_then(|ix| loaded.tree.node(ix).id().cloned());
        let offset = span.offset + at as u64;
        diagnostics.push(Diagnostic { code, line: Some(span.number), offset, entry: id, message });
    };
    if bytes.iter().all(u8::is_ascii_whitespace) {
        note(Code::BlankLine, 0, "a blank line".to_owned());
    }
    let whole = std::str::from_utf8(bytes);
    if let Err(error) = whole {
        note(
            Code::InvalidUtf8,
            error.valid_up_to(),
            "bytes that are not UTF-8; shown as U+FFFD, kept as they are".to_owned(),
        );
    }
    let Some(ix) = entry else { return };
    let node = loaded.tree.node(ix);
    let before = usize::try_from(node.offset() - span.offset).unwrap_or(0);
    let length = usize::try_from(node.length()).unwrap_or(0);
    let record = bytes.get(before..).and_then(|rest| rest.get(..length)).unwrap_or_default();
    let mut members = SeenMembers::default();
    if let Err(error) = validate_members(record, |name, value| members.see(name, value)) {
        let what = format!("the entry's body is damaged ({error}); it keeps its place in the tree without content");
        note(Code::DamagedEntry, before + error.at, what);
        return;
    }
    let text = match whole.ok().and_then(|line| line.get(before..before + length)) {
        Some(text) => Cow::Borrowed(text),
        None => String::from_utf8_lossy(record),
    };
    if let Some(at) = first_half(&text) {
        note(
            Code::HalfCharacter,
            before + at,
            "half of a surrogate pair; shown and sent as U+FFFD, kept as it is".to_owned(),
        );
    }
    if !members.has_type {
        note(Code::MissingType, 0, "the entry has no type; it keeps its place without content".to_owned());
    }
    if node.kind() == Kind::Message && !members.has_message {
        note(Code::EmptyMessage, 0, "the message entry has no message; it keeps its place without content".to_owned());
    }
    if node.time().is_none() {
        note(Code::BadTimestamp, 0, "the timestamp is missing or not a date; siblings are ordered by time".to_owned());
    }
}

/// Which members of an entry have a value. The last one of a name counts.
#[derive(Debug, Default)]
struct SeenMembers {
    has_type: bool,
    has_message: bool,
}

impl SeenMembers {
    fn see(&mut self, name: &[u8], value: &[u8]) {
        let name = if name.contains(&b'\\') { unescaped(name) } else { Cow::Borrowed(name) };
        match name.as_ref() {
            b"type" => self.has_type = value.starts_with(b"\""),
            b"message" => self.has_message = value != b"null",
            _ => {}
        }
    }
}

/// A name as it reads.
fn unescaped(name: &[u8]) -> Cow<'_, [u8]> {
    let quoted = format!("\"{}\"", String::from_utf8_lossy(name));
    let read = Json::trusted(&quoted).as_str().map(|name| name.into_owned().into_bytes());
    read.map_or(Cow::Borrowed(name), Cow::Owned)
}

/// Checks the entries that compactions and labels name.
fn references(medium: &dyn Medium, loaded: &Loaded, diagnostics: &mut Vec<Diagnostic>) -> Result<()> {
    let opened = Opened { medium, loaded };
    for ix in loaded.tree.entries() {
        let kind = loaded.tree.node(ix).kind();
        if kind == Kind::Compaction {
            diagnostics.extend(missing_range(&opened, ix)?);
        } else if kind == Kind::Label {
            diagnostics.extend(missing_target(&opened, ix)?);
        }
    }
    Ok(())
}

fn missing_range(opened: &Opened<'_>, ix: NodeIx) -> Result<Option<Diagnostic>> {
    let retained = Retained::of(&opened.entry(ix)?, opened.loaded.dialect.unwrap_or_default());
    let Some((_, id)) = retained.reference() else { return Ok(None) };
    let tree = opened.tree();
    let is_fine = tree.find(id).is_some_and(|found| tree.ancestors(ix).any(|at| at == found));
    Ok(if is_fine { None } else { retained.missing(opened, ix) })
}

fn missing_target(opened: &Opened<'_>, ix: NodeIx) -> Result<Option<Diagnostic>> {
    let entry = opened.entry(ix)?;
    let target = entry.get("targetId").and_then(Json::as_str).filter(|target| opened.tree().find(target).is_none());
    let node = opened.tree().node(ix);
    Ok(target.map(|target| Diagnostic {
        code: Code::LabelTargetMissing,
        line: Some(node.line()),
        offset: node.offset(),
        entry: entry.id.clone(),
        message: format!("the label names {target}, which is not in the file"),
    }))
}

/// Converts the context at the end of the file for a model.
fn open_context(medium: &dyn Medium, loaded: &Loaded, diagnostics: &mut Vec<Diagnostic>) -> Result<()> {
    let opened = Opened { medium, loaded };
    let last = loaded.tree.last();
    let unfinished = last.map_or(Ok(None), |last| operation::unfinished(&opened, last))?;
    diagnostics.extend(unfinished.as_ref().map(|unfinished| unfinished.diagnostic(&loaded.tree)));
    // The session opens before what a crash cut off.
    let leaf = unfinished.map_or(last, |unfinished| unfinished.before);
    let context = context::build(&opened, leaf, loaded.dialect.unwrap_or_default())?;
    let mut converter = Converter::default();
    for message in context.messages(&opened) {
        converter.push(message?);
    }
    diagnostics.extend(converter.finish().1);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::medium::MemoryMedium;

    #[test]
    fn parts_find_what_one_reading_finds() {
        let mut bytes = br#"{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/"}
"#
        .to_vec();
        for at in 0..300 {
            let message = match at % 7 {
                0 => "null".to_owned(),
                1 => format!("{{\"role\":\"user\",\"content\":\"{} \\ud83d\"}}", "word ".repeat(at)),
                2 => "{\"role\":}".to_owned(),
                _ => format!("{{\"role\":\"user\",\"content\":\"{}\"}}", "word ".repeat(at % 50)),
            };
            bytes.extend_from_slice(match at % 11 {
                0 => b"\n",
                1 => b"\0\0\0",
                2 => b"no record \xff\n",
                _ => b"",
            });
            let line =
                format!(r#"{{"type":"message","id":"{at:08x}","parentId":null,"timestamp":"t","message":{message}}}"#);
            bytes.extend_from_slice(line.as_bytes());
            bytes.push(b'\n');
        }
        let medium = MemoryMedium::new(bytes);
        let loaded = load(&medium).unwrap();
        let one = every_line_in(1, &medium, &loaded).unwrap();
        assert!(one.len() > 200, "{}", one.len());
        for parts in [2, 3, 7, 50, 1000] {
            assert!(part_starts(parts, &medium, &loaded).unwrap().len() as u64 > parts.min(20) / 2, "{parts}");
            assert_eq!(every_line_in(parts, &medium, &loaded).unwrap(), one, "{parts}");
        }
    }
}
