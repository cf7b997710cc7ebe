//! A command's streaming output: its end for the model, and a file for all of it once it is long.
//!
//! Memory is bounded. If the file cannot be written, the command still succeeds and the text says so.

use std::fs::File;
use std::io::Write as _;
use std::path::PathBuf;

use super::decode::Utf8;
use super::output_folder::OutputFolder;
use super::truncate::{self, Hit, MAX_BYTES, TextLimits, Truncation};

/// Up to twice as much of the end is kept.
const ROLLING: usize = 2 * 50 * 1024;

#[derive(Debug, Default)]
enum Spill {
    #[default]
    Held,
    File {
        path: PathBuf,
        file: File,
        bytes: u64,
    },
    /// Why the rest, or all of it, could not be written; the file with the beginning.
    Lost {
        why: String,
        path: Option<PathBuf>,
    },
}

#[derive(Debug)]
pub(crate) struct Output {
    folder: OutputFolder,
    decoder: Utf8,
    /// All bytes, while there is no file.
    held: Vec<u8>,
    spill: Spill,
    tail: String,
    is_line_start: bool,
    bytes: u64,
    feeds: u64,
    last_line: u64,
    /// Whether the last character is a carriage return.
    has_returned: bool,
}

/// Output since the last call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Printed {
    /// Cut to the limits of a result.
    pub text: String,
    /// Bytes left out before it.
    pub omitted: u64,
}

#[derive(Debug, Default)]
pub(crate) struct Recent {
    text: String,
    omitted: u64,
}

impl Recent {
    pub(crate) fn push(&mut self, text: &str) {
        self.text.push_str(text);
        if self.text.len() > 2 * ROLLING {
            let start = self.text.ceil_char_boundary(self.text.len() - ROLLING);
            self.text.drain(..start);
            self.omitted += start as u64;
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    pub(crate) fn take(&mut self) -> Option<Printed> {
        let text = std::mem::take(&mut self.text);
        let omitted = std::mem::take(&mut self.omitted);
        let shown = truncate::tail(&text, TextLimits::default());
        if !shown.truncated {
            return (!text.is_empty()).then_some(Printed { text, omitted });
        }
        // Keeps the line feed, after which the next text starts.
        let end = if text.ends_with('\n') { "\n" } else { "" };
        let left_out = text.len() - shown.content.len() - end.len();
        Some(Printed { text: shown.content + end, omitted: omitted + left_out as u64 })
    }
}

#[derive(Debug)]
pub(crate) struct Snapshot {
    pub(crate) truncation: Truncation,
    pub(crate) path: Option<PathBuf>,
    /// Why the file is missing or lacks the rest.
    pub(crate) lost: Option<String>,
    /// The length of the last line.
    pub(crate) last_line: u64,
}

impl Output {
    pub(crate) fn new(folder: &OutputFolder) -> Self {
        Self {
            folder: folder.clone(),
            decoder: Utf8::default(),
            held: Vec::new(),
            spill: Spill::Held,
            tail: String::new(),
            is_line_start: true,
            bytes: 0,
            feeds: 0,
            last_line: 0,
            has_returned: false,
        }
    }

    pub(crate) fn push(&mut self, bytes: &[u8]) {
        let text = self.decoder.push(bytes);
        self.add(&text);
        match &mut self.spill {
            Spill::File { .. } => self.write(bytes),
            Spill::Held => self.held.extend_from_slice(bytes),
            Spill::Lost { .. } => {}
        }
        self.spill_if_long();
    }

    /// Includes the rest of an incomplete character.
    pub(crate) fn finish(&mut self) {
        let text = self.decoder.finish();
        self.add(&text);
        self.spill_if_long();
    }

    pub(crate) fn snapshot(&self) -> Snapshot {
        let limits = TextLimits::default();
        // After the line that has lost its start. If there is nothing, that line is the last one: its end is shown.
        let end = match self.tail.split_once('\n') {
            Some((_, lines)) if !self.is_line_start && !lines.is_empty() => lines,
            _ => &self.tail,
        };
        let mut truncation = truncate::tail(end, limits);
        truncation.truncated = self.lines() > limits.lines || self.bytes > limits.bytes;
        let by = if self.bytes > limits.bytes { Hit::Bytes } else { Hit::Lines };
        truncation.truncated_by = truncation.truncated.then(|| truncation.truncated_by.unwrap_or(by));
        truncation.total_lines = self.lines();
        truncation.total_bytes = self.bytes;
        let (path, lost) = match &self.spill {
            Spill::Held => (None, None),
            Spill::File { path, .. } => (Some(path.clone()), None),
            Spill::Lost { why, path } => (path.clone(), Some(why.clone())),
        };
        Snapshot { truncation, path, lost, last_line: self.last_line }
    }

    fn lines(&self) -> u64 {
        self.feeds + u64::from(self.last_line > 0)
    }

    /// Adds text to the end. A carriage return begins the last line anew, as on a terminal, unless a line feed follows: of
    /// a progress bar the last state counts.
    fn add(&mut self, text: &str) {
        for piece in text.split_inclusive('\r') {
            if self.has_returned && !piece.starts_with(['\r', '\n']) {
                self.drop_last_line();
            }
            self.has_returned = piece.ends_with('\r');
            self.append(piece);
        }
    }

    fn drop_last_line(&mut self) {
        let start = self.tail.rfind('\n').map(|at| at + 1);
        // What the end lacks of this line does not matter any more.
        self.is_line_start |= start.is_none();
        self.tail.truncate(start.unwrap_or(0));
        self.bytes -= self.last_line;
        self.last_line = 0;
    }

    fn append(&mut self, text: &str) {
        self.bytes += text.len() as u64;
        self.feeds += memchr::memchr_iter(b'\n', text.as_bytes()).count() as u64;
        self.last_line = match text.rsplit_once('\n') {
            Some((_, line)) => line.len() as u64,
            None => self.last_line + text.len() as u64,
        };
        self.tail.push_str(text);
        if self.tail.len() > 2 * ROLLING {
            let start = self.tail.len() - ROLLING;
            let start = (start..self.tail.len()).find(|at| self.tail.is_char_boundary(*at)).unwrap_or(0);
            self.is_line_start = self.tail.as_bytes().get(start.wrapping_sub(1)) == Some(&b'\n');
            self.tail.drain(..start);
        }
    }

    fn spill_if_long(&mut self) {
        let limits = TextLimits::default();
        let is_long = self.bytes.max(self.held.len() as u64) > MAX_BYTES || self.lines() > limits.lines;
        if is_long && matches!(self.spill, Spill::Held) {
            let held = std::mem::take(&mut self.held);
            self.spill = match self.folder.create() {
                Ok((path, file)) => Spill::File { path, file, bytes: 0 },
                Err(error) => Spill::Lost { why: error.to_string(), path: None },
            };
            self.write(&held);
        }
    }

    /// Writes into the file as far as the limits allow.
    fn write(&mut self, more: &[u8]) {
        let Spill::File { path, file, bytes } = &mut self.spill else { return };
        let written = self.folder.claim(*bytes, more.len() as u64).and_then(|()| {
            *bytes += more.len() as u64;
            file.write_all(more).map_err(|error| error.to_string())
        });
        if let Err(why) = written {
            self.spill = Spill::Lost { why, path: Some(std::mem::take(path)) };
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn folder(dir: &Path) -> OutputFolder {
        OutputFolder::new(dir, "s")
    }

    #[test]
    fn short_output_is_held_and_no_file_is_made() {
        let dir = tempfile::tempdir().unwrap();
        let mut output = Output::new(&folder(&dir.path().join("spill")));
        output.push(b"a\nb\xe2");
        output.push(b"\x82\xac\xff\n");
        output.finish();
        let shown = output.snapshot();
        assert_eq!((shown.truncation.content.as_str(), shown.path), ("a\nb€\u{fffd}\n", None));
        assert!(!dir.path().join("spill").exists());
    }

    /// A progress bar of a user's command was one long line of all its states, and so was the model's of a tool.
    #[test]
    fn a_line_that_is_written_anew_counts_once() {
        let dir = tempfile::tempdir().unwrap();
        for (pieces, shown, lines) in [
            (&["get\n", " 1%\r 2%", "\r100%\n", "done\n"][..], "get\n100%\ndone\n", 3),
            (&["a\r\nb\r", "\n", "c\r\r\nd"], "a\r\nb\r\nc\r\r\nd", 4),
            (&["10%\r", "\r20%\r"], "20%\r", 1),
        ] {
            let mut output = Output::new(&folder(dir.path()));
            pieces.iter().for_each(|piece| output.push(piece.as_bytes()));
            output.finish();
            let truncation = output.snapshot().truncation;
            assert_eq!((truncation.content.as_str(), truncation.total_lines), (shown, lines), "{pieces:?}");
        }
        let mut output = Output::new(&folder(dir.path()));
        (0..100_000).for_each(|nth| output.push(format!("{nth} bytes\r").as_bytes()));
        output.push(b"all bytes\n");
        output.finish();
        let shown = output.snapshot();
        assert_eq!((shown.truncation.content.as_str(), shown.truncation.truncated), ("all bytes\n", false));
        assert!(output.tail.len() < 20 && output.held.is_empty());
    }

    #[test]
    fn long_output_is_shown_from_its_end_and_kept_whole_and_private() {
        use std::os::unix::fs::PermissionsExt as _;
        let dir = tempfile::tempdir().unwrap();
        let mut output = Output::new(&folder(&dir.path().join("spill")));
        let all: Vec<u8> = (0..100_000).flat_map(|n| format!("line {n}\n").into_bytes()).collect();
        for piece in all.chunks(4099) {
            output.push(piece);
        }
        output.finish();
        assert!(output.tail.len() <= 2 * ROLLING && output.held.is_empty());
        let shown = output.snapshot();
        assert!(shown.truncation.content.ends_with("line 99999") && shown.truncation.content.starts_with("line "));
        assert_eq!((shown.truncation.total_lines, shown.truncation.total_bytes), (100_000, all.len() as u64));
        let path = shown.path.unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), all);
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
    }

    #[test]
    fn of_a_last_line_that_is_too_long_the_end_is_shown() {
        let dir = tempfile::tempdir().unwrap();
        for end in ["", "\n"] {
            let mut output = Output::new(&folder(dir.path()));
            output.push(b"1\n2\n");
            for _ in 0..100 {
                output.push(&[b'y'; 3000]);
            }
            output.push(end.as_bytes());
            output.finish();
            let shown = output.snapshot().truncation;
            assert_eq!((shown.content.len() as u64, shown.output_lines, shown.last_line_partial), (MAX_BYTES, 1, true));
            assert_eq!((shown.truncated_by, shown.total_lines), (Some(Hit::Bytes), 3));
        }
    }

    #[test]
    fn what_is_told_on_the_way_is_all_that_came_or_says_how_much_is_left_out() {
        let mut recent = Recent::default();
        assert_eq!(recent.take(), None);
        recent.push("a\n");
        recent.push("\nb");
        assert_eq!(recent.take(), Some(Printed { text: "a\n\nb".to_owned(), omitted: 0 }));
        assert_eq!(recent.take(), None);
        let mut all = String::new();
        for n in 0..100_000 {
            let line = format!("line {n}: ä\n");
            recent.push(&line);
            all.push_str(&line);
            assert!(recent.text.len() <= 2 * ROLLING);
        }
        let Printed { text, omitted } = recent.take().unwrap();
        assert!(text.len() as u64 <= MAX_BYTES + 1 && text.starts_with("line "), "{} {text:.20}", text.len());
        assert_eq!(text, all.split_off(usize::try_from(omitted).unwrap()));
    }

    #[test]
    fn a_file_that_cannot_be_made_is_told() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let mut output = Output::new(&folder(&file.path().join("spill")));
        output.push(&[b'a'; 60_000]);
        let shown = output.snapshot();
        assert!(shown.lost.is_some() && shown.path.is_none() && shown.truncation.last_line_partial);
    }

    #[test]
    fn beyond_a_limit_the_file_keeps_the_beginning() {
        let dir = tempfile::tempdir().unwrap();
        let limited = OutputFolder { call_limit: 100_000, ..folder(dir.path()) };
        let mut output = Output::new(&limited);
        for n in 0..100_000 {
            output.push(format!("line {n}\n").as_bytes());
        }
        output.finish();
        let shown = output.snapshot();
        assert!(shown.truncation.content.ends_with("line 99999") && shown.truncation.total_lines == 100_000);
        assert_eq!(shown.lost.unwrap(), "no more than 0 MiB of a command is kept");
        let kept = std::fs::read_to_string(shown.path.unwrap()).unwrap();
        assert!(kept.starts_with("line 0\n") && kept.len() <= 100_000 && kept.len() > 99_000, "{}", kept.len());
    }
}
