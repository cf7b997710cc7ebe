//! Aider's history in Markdown: the runs of a file, and what each says. Records are made of its blocks.

use std::io;
use std::path::{Path, PathBuf};

use offshoot_session::clock::{Millis, parse_iso};
use offshoot_session::compose::NewEntry;
use offshoot_session::error::Result;
use offshoot_session::json::{Json, Object};
use offshoot_session::kind::{Kind, Operation, Role};
use offshoot_session::medium::read_regular_text;

use crate::composing::{Composing, message, text_block_of, usage};
use crate::key::hex_hash;
use crate::linear::{LinearEntry, LinearFormat, LinearStep};
use crate::planned::{ForeignHead, Shape};

/// Aider's own name of the file.
pub(crate) const HISTORY: &str = ".aider.chat.history.md";
const BEGIN: &str = "# aider chat started at ";
/// The id of what is listed of a history that cannot be read: opening it says why.
pub(crate) const UNREADABLE: &str = "0000000000000000";
/// A longer history is not read.
const LONGEST: u64 = 256 << 20;

/// What an entry of a run is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AiderForm {
    Prompt,
    Answer,
    /// What Aider itself printed.
    Printed,
    LeafMarker,
}

/// Nothing is remembered.
#[derive(Debug, Default)]
pub(crate) struct AiderFormat;

/// The history and the run in a session's path; `None` if it is a path of another kind.
pub(crate) fn parts_of(path: &Path) -> Option<(PathBuf, String)> {
    let (file, id) = (path.parent()?, path.file_name()?.to_str()?);
    let is_history = file.file_name()?.to_str()?.ends_with(".md") && file.is_file();
    let is_id = id.len() == 16 && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    (is_history && is_id).then(|| (file.to_path_buf(), id.to_owned()))
}

/// The ids of the runs of a history, oldest first.
///
/// # Errors
/// The history cannot be read, is too long, or is not UTF-8.
pub(crate) fn ids_of(file: &Path) -> io::Result<Vec<String>> {
    let text = read_regular_text(file, LONGEST)?;
    Ok(runs(file, &text).into_iter().map(|(id, _)| id).collect())
}

/// The records of a run.
pub(crate) fn records_of(file: &Path, id: &str) -> io::Result<Vec<u8>> {
    let text = read_regular_text(file, LONGEST)?;
    let run = runs(file, &text).into_iter().find(|(own, _)| own == id).map(|(_, run)| run);
    let run = run.ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, "the history has no such run"))?;
    Ok(records(run).into_bytes())
}

/// The runs with their ids: a hash of the path, the first line, and its number among equal ones.
fn runs<'a>(file: &Path, text: &'a str) -> Vec<(String, &'a str)> {
    let mut starts: Vec<usize> = Vec::new();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        if line.strip_prefix(BEGIN).is_some_and(|time| time_of(time).is_some()) {
            starts.push(at);
        }
        at += line.len();
    }
    let ends = starts.iter().skip(1).copied().chain([text.len()]);
    let mut repeated = std::collections::HashMap::new();
    let path = file.to_string_lossy();
    let run = |(start, end): (&usize, usize)| {
        let run = text.get(*start..end).unwrap_or_default();
        let first = run.lines().next().unwrap_or_default();
        let number: u32 = *repeated.entry(first).and_modify(|number| *number += 1).or_insert(0);
        (hex_hash(&[path.as_bytes(), first.as_bytes(), number.to_string().as_bytes()], 16), run)
    };
    starts.iter().zip(ends).map(run).collect()
}

/// `2026-09-19 09:00:00`, in the local time of its machine, which the file does not say.
fn time_of(text: &str) -> Option<Millis> {
    parse_iso(&format!("{}Z", text.trim().replace(' ', "T")))
}

/// One record for each stretch of lines of one kind, which keeps every byte of them.
fn records(run: &str) -> String {
    let mut records = String::new();
    let mut open: Option<(&str, String)> = None;
    let close = |open: Option<(&str, String)>, records: &mut String| {
        if let Some((kind, text)) = open {
            *records += &(Object::new().str("kind", kind).str("text", &text).finish() + "\n");
        }
    };
    for line in run.split_inclusive('\n') {
        let kind = match line {
            _ if line.starts_with(BEGIN) && time_of(line.strip_prefix(BEGIN).unwrap_or_default()).is_some() => "begin",
            _ if line.starts_with("#### ") => "user",
            _ if line.starts_with("> ") => "printed",
            // A blank line belongs to the text before it.
            _ if line.trim().is_empty() => open.as_ref().map_or("assistant", |(kind, _)| kind),
            _ => "assistant",
        };
        match &mut open {
            Some((known, text)) if *known == kind => text.push_str(line),
            _ => {
                close(open.take(), &mut records);
                open = Some((kind, line.to_owned()));
            }
        }
    }
    close(open, &mut records);
    records
}

impl LinearFormat for AiderFormat {
    type Form = AiderForm;

    const WORD: &'static str = "aider";
    const LEAF: AiderForm = AiderForm::LeafMarker;

    fn read(&mut self, record: Json<'_>, head: &mut ForeignHead) -> Vec<LinearStep<AiderForm>> {
        let (kind, form) = match record.str("kind").as_deref() {
            Some("user") => ((Kind::Message, Some(Role::User)), AiderForm::Prompt),
            Some("assistant") => ((Kind::Message, Some(Role::Assistant)), AiderForm::Answer),
            Some("printed") => ((Kind::CustomMessage, None), AiderForm::Printed),
            _ => return Vec::new(),
        };
        head.has_header = true;
        vec![LinearStep::Entry(LinearEntry::new(None, kind, form, record))]
    }

    fn record_id(_: Json<'_>) -> Option<String> {
        None
    }

    fn record_time(record: Json<'_>) -> Option<Millis> {
        time_of(record.str("text")?.lines().next()?.strip_prefix(BEGIN)?)
    }

    fn compose(shape: Shape<AiderForm>, of: &Composing<'_>) -> Result<NewEntry> {
        let record = of.records.first().copied().unwrap_or(Json::NULL);
        let text = record.str("text").unwrap_or_default();
        let without = |mark: &str| {
            let lines = text.trim_end().lines().map(|line| line.strip_prefix(mark).unwrap_or(line).trim_end());
            lines.collect::<Vec<_>>().join("\n")
        };
        match shape.form {
            AiderForm::Prompt => message(
                Object::new().str("role", "user").raw("content", format!("[{}]", text_block_of(&without("#### ")))),
                of.time,
            ),
            AiderForm::Printed => {
                let content = format!("[{}]", text_block_of(&without("> ")));
                NewEntry::custom_message("aider.printed", Json::parse(&content).unwrap_or(Json::NULL), false, None)
            }
            AiderForm::Answer => {
                let object = Object::new()
                    .str("role", "assistant")
                    .raw("content", format!("[{}]", text_block_of(text.trim())))
                    .str("api", "openai-completions")
                    .str("provider", "aider")
                    .str("model", "")
                    .raw("usage", usage([0; 5], 0.0))
                    .str("stopReason", "stop");
                message(object, of.time)
            }
            AiderForm::LeafMarker => Ok(NewEntry::leaf_marker(Operation::Switch, None)),
        }
    }
}
