//! The tool `read`: lines of a file, or an image.
//!
//! Memory does not grow with the file. Binary files are refused.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;
use std::sync::Arc;

use offshoot_session::medium::open_regular;
use offshoot_session::text::counted;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::mpsc::UnboundedSender;

use super::decode::Utf8;
use super::files::reason;
use super::truncate::{self, Hit, MAX_BYTES, MAX_LINES, TextLimits, Truncation};
use super::{Running, Tier, Tool, ToolContext, ToolOutcome, args, picture};
use crate::picture::PictureKind;
use crate::provider::ToolSpec;

/// Reads a text file or a picture (PNG, JPEG, GIF, WebP). Text is cut after 2000 lines or 50 KB, whichever comes first; a note
/// at the end gives the next offset.
#[derive(Debug, Deserialize, JsonSchema)]
struct ReadInput {
    /// Path of the file, relative or absolute.
    path: String,
    /// First line to read, counted from 1.
    #[serde(default, deserialize_with = "args::whole")]
    offset: Option<u64>,
    /// Maximum number of lines.
    #[serde(default, deserialize_with = "args::whole")]
    limit: Option<u64>,
}

/// The tool `read`.
#[derive(Debug, Clone, Copy, Default)]
pub struct Read;

impl Tool for Read {
    fn name(&self) -> &str {
        "read"
    }

    fn spec(&self) -> ToolSpec {
        args::spec::<ReadInput>(self.name())
    }

    fn summary(&self) -> Option<&str> {
        Some("read a file, or part of it")
    }

    fn guidelines(&self) -> Vec<&str> {
        vec!["Use read to look at files, not cat or sed."]
    }

    fn tier(&self, arguments: &Value, place: &ToolContext) -> Tier {
        Tier::read(arguments, place)
    }

    fn run(&self, arguments: Value, place: Arc<ToolContext>, _: UnboundedSender<ToolOutcome>) -> Running {
        Box::pin(super::blocking(move || {
            let input: ReadInput = args::parse("read", arguments)?;
            let found = place.paths().existing(&input.path);
            place.keys.refuse_key_file(&found.path)?;
            let outcome = read(&found.path, &input).map_err(|error| {
                let offer = if found.is_variant { String::new() } else { place.paths().offer(&input.path) };
                let path = found.path.display();
                ToolOutcome::failed(format!("cannot read {path}: {}{offer}", reason(&error)))
            })?;
            Ok(outcome.of_found(&found))
        }))
    }
}

fn read(path: &Path, input: &ReadInput) -> io::Result<ToolOutcome> {
    let about = std::fs::metadata(path)?;
    if about.is_dir() {
        let text = format!("{} is a folder: list it with ls (or with bash: ls)", path.display());
        return Ok(ToolOutcome::failed(text));
    }
    if !about.is_file() {
        return Ok(ToolOutcome::failed(format!(
            "{} is not a regular file: reading it might never end",
            path.display()
        )));
    }
    let mut file = open_regular(path)?;
    let mut start = vec![0; 8192];
    let length = fill(&mut file, &mut start)?;
    start.truncate(length);
    if let Some(kind) = PictureKind::of(&start) {
        return picture::read(kind, start, file, about.len());
    }
    if start.contains(&0) {
        let size = truncate::size(about.len());
        let text = format!("{} is binary ({size}): look at it with bash, for instance file or xxd", path.display());
        return Ok(ToolOutcome::failed(text));
    }
    lines(io::Cursor::new(start).chain(file), input)
}

fn fill(file: &mut File, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while let Some(rest) = buffer.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        match file.read(rest)? {
            0 => break,
            count => filled += count,
        }
    }
    Ok(filled)
}

/// The visible lines, and the position of the others.
#[derive(Default)]
struct Selection {
    first: u64,
    last: u64,
    /// The current line, from 0.
    line: u64,
    text: String,
    bytes: u64,
    first_line_bytes: u64,
    is_last_empty: bool,
}

impl Selection {
    fn add(&mut self, text: &str) {
        for (at, piece) in text.split('\n').enumerate() {
            if at > 0 {
                self.line += 1;
                let is_inside = self.line > self.first && self.line < self.last;
                self.keep(if is_inside { "\n" } else { "" });
                self.is_last_empty |= is_inside;
            }
            if self.line >= self.first && self.line < self.last && !piece.is_empty() {
                self.is_last_empty = false;
                self.first_line_bytes += if self.line == self.first { piece.len() as u64 } else { 0 };
                self.keep(piece);
            }
        }
    }

    /// Counts all bytes, keeps a little more than may be shown.
    fn keep(&mut self, piece: &str) {
        self.bytes += piece.len() as u64;
        if self.text.len() as u64 <= MAX_BYTES + 1 {
            self.text.push_str(piece);
        }
    }

    fn truncation(&self) -> Truncation {
        let mut truncation = truncate::head(&self.text, TextLimits::default());
        if self.bytes > self.text.len() as u64 {
            let lines = (self.line + 1).min(self.last) - self.first;
            truncation.total_lines = lines - u64::from(self.is_last_empty);
            truncation.total_bytes = self.bytes;
        }
        truncation
    }
}

fn lines(mut from: impl io::Read, input: &ReadInput) -> io::Result<ToolOutcome> {
    let first = input.offset.unwrap_or(1).max(1) - 1;
    let last = input.limit.map_or(u64::MAX, |limit| first.saturating_add(limit));
    let mut selection = Selection { first, last, ..Selection::default() };
    let mut decoder = Utf8::default();
    let mut buffer = vec![0; 64 * 1024];
    loop {
        match from.read(&mut buffer) {
            Ok(0) => break,
            Ok(count) => selection.add(&decoder.push(buffer.get(..count).unwrap_or_default())),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    selection.add(&decoder.finish());
    Ok(shown(&selection, input))
}

fn shown(selection: &Selection, input: &ReadInput) -> ToolOutcome {
    let (first, all) = (selection.first + 1, selection.line + 1);
    if first > all {
        let lines = counted(all, "line", "lines");
        return ToolOutcome::failed(format!("{} has only {lines}, so line {first} does not exist", input.path));
    }
    let truncation = selection.truncation();
    let end = first + truncation.output_lines - 1.min(truncation.output_lines);
    let next = first + truncation.output_lines;
    let limit = truncate::size(MAX_BYTES);
    let text = match truncation.truncated_by {
        _ if truncation.first_line_exceeds_limit => {
            let size = truncate::size(selection.first_line_bytes);
            let command = format!("sed -n '{first}p' {} | head -c {MAX_BYTES}", input.path);
            format!("[line {first} alone has {size}, more than the {limit} that can be shown; with bash: {command}]")
        }
        Some(Hit::Lines) => {
            format!("{}\n\n[lines {first}-{end} of {all}; go on with offset={next}]", truncation.content)
        }
        Some(Hit::Bytes) => {
            format!(
                "{}\n\n[lines {first}-{end} of {all}, cut at {limit}; go on with offset={next}]",
                truncation.content
            )
        }
        None if selection.last < all => {
            let (rest, next) = (all - selection.last, selection.last + 1);
            let rest = counted(rest, "more line", "more lines");
            format!("{}\n\n[{rest}; go on with offset={next}]", truncation.content)
        }
        None => truncation.content.clone(),
    };
    let details = truncation.truncated.then(|| json!({ "truncation": truncation }));
    ToolOutcome { details, ..ToolOutcome::text(text) }
}

const _: () = assert!(MAX_LINES == 2000 && MAX_BYTES == 50 * 1024, "the tools' descriptions say these numbers");

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::testing::{call, place, text_of};

    fn run(dir: &Path, arguments: Value) -> ToolOutcome {
        call(&Read, arguments, place(dir))
    }

    #[test]
    fn a_small_file_is_shown_as_it_is() {
        let dir = tempfile::tempdir().unwrap();
        for text in ["", "a", "a\nb\n", "\u{feff}a\r\nb\n"] {
            std::fs::write(dir.path().join("f"), text).unwrap();
            assert_eq!(run(dir.path(), json!({"path": "f"})), ToolOutcome::text(text));
        }
    }

    #[test]
    fn offset_and_limit_choose_lines_and_say_how_to_go_on() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("f"), "1\n2\n3\n4\n5").unwrap();
        let shown = |arguments: Value| text_of(&run(dir.path(), arguments));
        assert_eq!(shown(json!({"path": "f", "offset": 4})), "4\n5");
        assert_eq!(shown(json!({"path": "f", "offset": 2, "limit": 2})), "2\n3\n\n[2 more lines; go on with offset=4]");
        assert_eq!(shown(json!({"path": "f", "offset": 4, "limit": 9})), "4\n5");
        assert_eq!(
            shown(json!({"path": "f", "offset": 2, "limit": 3})),
            "2\n3\n4\n\n[1 more line; go on with offset=5]"
        );
        assert_eq!(shown(json!({"path": "f", "offset": 0, "limit": 0})), "\n\n[5 more lines; go on with offset=1]");
        let failed = run(dir.path(), json!({"path": "f", "offset": 6}));
        assert!(failed.is_error && text_of(&failed) == "f has only 5 lines, so line 6 does not exist");
    }

    #[test]
    fn long_files_are_cut_at_lines_or_bytes() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("f"), "x\n".repeat(5000)).unwrap();
        let outcome = run(dir.path(), json!({"path": "f", "offset": 11}));
        assert!(text_of(&outcome).ends_with("x\n\n[lines 11-2010 of 5001; go on with offset=2011]"));
        let truncation = outcome.details.unwrap()["truncation"].clone();
        assert_eq!((truncation["totalLines"].as_u64(), truncation["outputLines"].as_u64()), (Some(4990), Some(2000)));

        std::fs::write(dir.path().join("f"), format!("{}\n", "y".repeat(999)).repeat(1000)).unwrap();
        let outcome = run(dir.path(), json!({"path": "f"}));
        assert!(text_of(&outcome).ends_with("y\n\n[lines 1-51 of 1001, cut at 50.0KB; go on with offset=52]"));
        let truncation = outcome.details.unwrap()["truncation"].clone();
        assert_eq!(
            (truncation["totalLines"].as_u64(), truncation["totalBytes"].as_u64()),
            (Some(1000), Some(1_000_000))
        );
    }

    #[test]
    fn a_line_that_ends_at_the_limit_hides_nothing_of_the_reason() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("f"), format!("{}\nmore\n", "x".repeat(51_200))).unwrap();
        let outcome = run(dir.path(), json!({"path": "f"}));
        assert_eq!(outcome.details.unwrap()["truncation"]["truncatedBy"], "bytes");
    }

    #[test]
    fn a_line_that_is_too_long_is_told_with_a_way_to_see_it() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("f"), format!("a\n{}\nb", "z".repeat(200_000))).unwrap();
        let text = text_of(&run(dir.path(), json!({"path": "f", "offset": 2})));
        assert!(
            text.starts_with("[line 2 alone has 195.3KB") && text.contains("sed -n '2p' f | head -c 51200"),
            "{text}"
        );
    }

    #[test]
    fn what_is_no_text_is_refused_with_a_hint() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("b"), b"\x7fELF\0\0").unwrap();
        std::fs::write(dir.path().join("latin"), b"caf\xe9").unwrap();
        for (path, words) in
            [("b", "is binary"), (".", "is a folder"), ("none", "no such file"), ("/dev/zero", "regular")]
        {
            let outcome = run(dir.path(), json!({"path": path}));
            assert!(outcome.is_error && text_of(&outcome).contains(words), "{outcome:?}");
        }
        assert_eq!(run(dir.path(), json!({"path": "latin"})), ToolOutcome::text("caf\u{fffd}"));
    }
}
