//! Finds every diagnostic of a session: those of opening, and those that need every byte. Changes nothing.

use crate::context::{self, Retained};
use crate::entry::Source as _;
use crate::error::{Code, Diagnostic, Error, Result};
use crate::json::{Json, JsonKind, first_half, validate};
use crate::kind::Kind;
use crate::lines::{LineSpan, for_each_whole_line};
use crate::llm::Converter;
use crate::load::{Loaded, Opened, load};
use crate::medium::Medium;
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

fn every_line(medium: &dyn Medium, loaded: &Loaded, diagnostics: &mut Vec<Diagnostic>) -> Result<()> {
    let mut entries = loaded.tree.entries().peekable();
    for_each_whole_line(medium, loaded.end.length, |span, bytes| {
        let entry = entries.next_if(|ix| loaded.tree.node(*ix).line() == span.number);
        one_line(loaded, span, bytes, entry, diagnostics);
    })
    .map_err(Error::io("read", medium.path()))
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
    if let Err(error) = std::str::from_utf8(bytes) {
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
    if let Err(error) = validate(record) {
        let what = format!("the entry's body is damaged ({error}); it keeps its place in the tree without content");
        note(Code::DamagedEntry, before + error.at, what);
        return;
    }
    let text = String::from_utf8_lossy(record);
    let json = Json::trusted(&text);
    if let Some(at) = first_half(&text) {
        note(
            Code::HalfCharacter,
            before + at,
            "half of a surrogate pair; shown and sent as U+FFFD, kept as it is".to_owned(),
        );
    }
    if json.str("type").is_none() {
        note(Code::MissingType, 0, "the entry has no type; it keeps its place without content".to_owned());
    }
    if node.kind() == Kind::Message && json.get("message").is_none_or(Json::is_null) {
        note(Code::EmptyMessage, 0, "the message entry has no message; it keeps its place without content".to_owned());
    }
    if node.time().is_none() {
        note(Code::BadTimestamp, 0, "the timestamp is missing or not a date; siblings are ordered by time".to_owned());
    }
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
