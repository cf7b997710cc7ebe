//! The named inputs of the benchmarks, generated once into a cache folder.
//!
//! A file gets its name only when it is complete. `GENERATION` goes up when a shape changes, so that an old file is
//! never measured under a new name.

mod chance;
mod prose;
mod record;
mod session;
mod transcript;

use std::fs::{self, File};
use std::io::{BufWriter, Result, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use prose::Prose;
use record::{EPOCH_MS, EntryPlace, Records, Version, iso, session_id};
use session::Shape;
use transcript::Writer;

const GENERATION: u32 = 3;
const CWD: &str = "/home/u/project";
/// How many records a long transcript has.
const TRANSCRIPT: u32 = 250_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Input {
    S,
    M,
    L,
    XL,
    Deep,
    Wide,
    Early,
    V1,
    Many,
    Corpus,
    Multitude,
    Lines,
    Requests,
    Huge,
    Fifty,
    Hundred,
    Crowd,
    Archive,
    Million,
    Claude,
    Twin,
}

impl Input {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::S => "S",
            Self::M => "M",
            Self::L => "L",
            Self::XL => "XL",
            Self::Deep => "deep",
            Self::Wide => "wide",
            Self::Early => "early",
            Self::V1 => "v1",
            Self::Many => "many",
            Self::Corpus => "corpus",
            Self::Multitude => "multitude",
            Self::Lines => "lines",
            Self::Requests => "requests",
            Self::Huge => "huge",
            Self::Fifty => "50-MB",
            Self::Hundred => "100-k",
            Self::Crowd => "crowd",
            Self::Archive => "archive",
            Self::Million => "million",
            Self::Claude => "claude",
            Self::Twin => "twin",
        }
    }

    pub(crate) fn what(self) -> &'static str {
        match self {
            Self::S => "1,000 entries: branches, compactions, labels",
            Self::M => "20,000 entries, 20 images of 200 KB",
            Self::L => "200,000 entries, 100 images of 200 KB",
            Self::XL => "430,000 entries, 200 images of 200 KB",
            Self::Deep => "one chain of 1,000,000 tiny messages",
            Self::Wide => "200,000 children of one entry",
            Self::Early => "one early compaction, 200,000 entries after it, all in the context",
            Self::V1 => {
                "200,000 entries in version 1, 100 images of 200 KB; for `migrate` copied afresh before every run"
            }
            Self::Many => "1,000 sessions of one project in one folder",
            Self::Corpus => "10,000 sessions of 50 projects in 50 folders",
            Self::Multitude => "100,000 short sessions of 500 projects in 500 folders",
            Self::Lines => "100,000 messages of 1 KB on stdin, for a new session",
            Self::Requests => "2,000 messages of 1 KB as JSON-RPC requests on stdin, for a new session",
            Self::Huge => "4,300,000 entries, 2,000 images of 200 KB; removed afterwards",
            Self::Fifty => "21,000 entries, 20 images of 200 KB",
            Self::Hundred => "100,000 entries, 50 images of 200 KB",
            Self::Crowd => "10,000 sessions of one project in one folder",
            Self::Archive => "10,000 longer sessions of one project in one folder, 20 of which mention Zanzibar",
            Self::Million => "1,000,000 entries with short results",
            Self::Claude => "250,000 records of Claude Code",
            Self::Twin => "the texts of `claude` as a session of version 3",
        }
    }

    fn shape(self) -> Shape {
        match self {
            Self::S => Shape {
                entries: 1000,
                branches: 12,
                compactions: 2,
                labels: 10,
                result: 700,
                seed: 11,
                ..Shape::default()
            },
            Self::M => Shape {
                entries: 20_000,
                branches: 200,
                compactions: 20,
                labels: 100,
                images: 20,
                seed: 12,
                ..Shape::default()
            },
            Self::L => Shape {
                entries: 200_000,
                branches: 1500,
                compactions: 150,
                labels: 800,
                images: 100,
                seed: 13,
                ..Shape::default()
            },
            Self::Early => Shape { entries: 200_060, compact_at: Some(60), result: 60, seed: 14, ..Shape::default() },
            Self::XL => Shape {
                entries: 430_000,
                branches: 3000,
                compactions: 300,
                labels: 1600,
                images: 200,
                seed: 17,
                ..Shape::default()
            },
            Self::V1 => Shape {
                entries: 200_000,
                compactions: 150,
                images: 100,
                version: Version::V1,
                seed: 15,
                ..Shape::default()
            },
            Self::Huge => Shape {
                entries: 4_300_000,
                branches: 30_000,
                compactions: 3000,
                labels: 16_000,
                images: 2000,
                seed: 16,
                ..Shape::default()
            },
            Self::Fifty => Shape {
                entries: 21_000,
                branches: 200,
                compactions: 20,
                labels: 100,
                images: 20,
                seed: 18,
                ..Shape::default()
            },
            Self::Hundred => Shape {
                entries: 100_000,
                branches: 750,
                compactions: 75,
                labels: 400,
                images: 50,
                seed: 19,
                ..Shape::default()
            },
            Self::Million => Shape {
                entries: 1_000_000,
                branches: 7500,
                compactions: 750,
                labels: 4000,
                result: 60,
                seed: 20,
                ..Shape::default()
            },
            Self::Deep
            | Self::Wide
            | Self::Many
            | Self::Corpus
            | Self::Multitude
            | Self::Crowd
            | Self::Archive
            | Self::Lines
            | Self::Requests
            | Self::Claude
            | Self::Twin => Shape::default(),
        }
    }
}

pub(crate) struct Inputs {
    folder: PathBuf,
    prose: Prose,
}

impl Inputs {
    pub(crate) fn new(folder: &Path) -> Result<Self> {
        let folder = folder.join(format!("inputs-{GENERATION}"));
        fs::create_dir_all(&folder)?;
        Ok(Self { folder: folder.canonicalize()?, prose: Prose::new() })
    }

    /// The path of an input, which is generated if missing.
    pub(crate) fn path(&self, input: Input) -> Result<PathBuf> {
        let is_folder = matches!(input, Input::Many | Input::Corpus | Input::Multitude | Input::Crowd | Input::Archive);
        let path = self.folder.join(input.name()).with_extension(if is_folder { "" } else { "jsonl" });
        if path.exists() {
            return Ok(path);
        }
        let unfinished = self.folder.join(format!("{}.unfinished", input.name()));
        match input {
            Input::Many => self.many(&unfinished, 1000)?,
            Input::Crowd => self.many(&unfinished, 10_000)?,
            Input::Archive => self.archive(&unfinished)?,
            Input::Corpus => self.corpus(&unfinished, 50, &|number| 12 + number * 37 % 110)?,
            Input::Multitude => self.corpus(&unfinished, 500, &|_| 2)?,
            _ => self.file(input, &unfinished)?,
        }
        fs::rename(&unfinished, &path)?;
        Ok(path)
    }

    pub(crate) fn path_if_there(&self, input: Input) -> Option<PathBuf> {
        Some(self.folder.join(input.name()).with_extension("jsonl")).filter(|path| path.exists())
    }

    pub(crate) fn remove(&self, input: Input) -> Result<()> {
        fs::remove_file(self.path(input)?)
    }

    /// The id of a session of a corpus.
    pub(crate) fn id_in_corpus(number: u32) -> String {
        session_id(u64::from(number) + 1000)
    }

    /// The folder that `many` and the sessions for the screen name as their own; programs that need it run there.
    pub(crate) fn project(&self) -> &Path {
        &self.folder
    }

    fn file(&self, input: Input, path: &Path) -> Result<()> {
        let out = BufWriter::with_capacity(1 << 20, File::create(path)?);
        match input {
            Input::Deep => tiny(out, 1_000_000, |at| at.checked_sub(1)),
            Input::Lines => messages(out, 100_000, |_, message| format!(r#"{{"type":"message","message":{message}}}"#)),
            Input::Requests => requests(out, 2000),
            Input::Claude => transcript::write(out, &self.prose, TRANSCRIPT, CWD, Writer::ClaudeCode),
            Input::Twin => transcript::write(out, &self.prose, TRANSCRIPT, CWD, Writer::Pi),
            Input::Wide => tiny(out, 200_001, |at| (at > 0).then_some(0)),
            Input::Fifty | Input::Hundred | Input::Million => {
                // A session is continued in its folder.
                let cwd = self.folder.to_string_lossy();
                session::write(out, &self.prose, &input.shape(), &cwd).map(|_| ())
            }
            _ => session::write(out, &self.prose, &input.shape(), CWD).map(|_| ()),
        }
    }

    /// Sessions of one project, in one folder.
    fn many(&self, folder: &Path, count: u32) -> Result<()> {
        fresh(folder)?;
        let cwd = self.folder.to_string_lossy();
        (0..count).try_for_each(|number| self.one_of_many(folder, &cwd, (number, 4 + number * 7 % 23), ""))
    }

    /// Sessions of one project, in one folder; every 500th says a word that the others do not.
    fn archive(&self, folder: &Path) -> Result<()> {
        fresh(folder)?;
        let cwd = self.folder.to_string_lossy();
        (0..10_000).try_for_each(|number| {
            let says = if number % 500 == 250 { "The ferry to Zanzibar is late." } else { "" };
            self.one_of_many(folder, &cwd, (number, 40 + number * 37 % 51), says)
        })
    }

    /// 200 sessions each of many projects, in the folders where agents keep them.
    fn corpus(&self, folder: &Path, projects: u32, entries: &dyn Fn(u32) -> u32) -> Result<()> {
        fresh(folder)?;
        for project in 0..projects {
            let cwd = format!("{CWD}-{project}");
            let own = folder.join("sessions").join(format!("-{}--", cwd.replace('/', "-")));
            fs::create_dir_all(&own)?;
            (0..200)
                .map(|number| project * 200 + number)
                .try_for_each(|number| self.one_of_many(&own, &cwd, (number, entries(number)), ""))?;
        }
        Ok(())
    }

    /// A session with the name and modification time that a front end would give it.
    fn one_of_many(&self, folder: &Path, cwd: &str, (number, entries): (u32, u32), says: &'static str) -> Result<()> {
        let shape = Shape { entries, seed: u64::from(number) + 1000, says, ..Shape::default() };
        let started = EPOCH_MS + (i64::from(number) + 1000) * 61_000;
        let name = format!("{}_{}.jsonl", iso(started).replace([':', '.'], "-"), session_id(shape.seed));
        let file = File::create(folder.join(name))?;
        let last = session::write(BufWriter::new(&file), &self.prose, &shape, cwd)?;
        file.set_modified(UNIX_EPOCH + Duration::from_millis(last.unsigned_abs()))
    }
}

/// An empty folder; leftovers of an interrupted run are removed.
fn fresh(folder: &Path) -> Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    fs::create_dir_all(folder)
}

/// Messages of 1 KB, one per line, in the form that `line` makes.
fn messages(mut out: impl Write, count: u32, line: impl Fn(u32, &str) -> String) -> Result<()> {
    for at in 0..count {
        let text = format!("{:x<1000}", format!("message {at} "));
        let who = if at % 2 == 0 { "user" } else { "assistant" };
        let message = format!(
            r#"{{"role":"{who}","content":[{{"type":"text","text":"{text}"}}],"timestamp":{}}}"#,
            EPOCH_MS + i64::from(at)
        );
        writeln!(out, "{}", line(at, &message))?;
    }
    out.flush()
}

/// The same messages as requests, after the request that creates the session.
fn requests(mut out: impl Write, count: u32) -> Result<()> {
    let create = r#""method":"create","params":{"cwd":"/home/u/project","sessionDir":"."}"#;
    writeln!(out, r#"{{"jsonrpc":"2.0","id":0,{create}}}"#)?;
    messages(out, count, |at, message| {
        let params = format!(r#"{{"session":1,"message":{message}}}"#);
        format!(r#"{{"jsonrpc":"2.0","id":{},"method":"appendMessage","params":{params}}}"#, at + 1)
    })
}

/// User messages of a few bytes each, with parents from `parent`.
fn tiny(out: impl Write, entries: u32, parent: impl Fn(u32) -> Option<u32>) -> Result<()> {
    let mut records = Records::new(out, Version::V3);
    records.header(&session_id(1), CWD, EPOCH_MS)?;
    for at in 0..entries {
        let body = format!(r#""message":{{"role":"user","content":"m{at}","timestamp":{EPOCH_MS}}}"#);
        records.entry("message", EntryPlace { at, parent: parent(at), ms: EPOCH_MS }, body.as_bytes())?;
    }
    records.finish().map(|_| ())
}

pub(crate) fn stamp(path: &Path) -> Result<(u64, SystemTime)> {
    let metadata = fs::metadata(path)?;
    Ok((metadata.len(), metadata.modified()?))
}

pub(crate) fn size(path: &Path) -> Result<u64> {
    if path.is_file() {
        return Ok(fs::metadata(path)?.len());
    }
    fs::read_dir(path)?.map(|item| size(&item?.path())).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_input_is_made_once_and_whole() {
        let folder = tempfile::tempdir().unwrap();
        let inputs = Inputs::new(folder.path()).unwrap();
        let path = inputs.path(Input::S).unwrap();
        let before = (fs::read(&path).unwrap(), fs::metadata(&path).unwrap().modified().unwrap());
        assert_eq!(before.0.iter().filter(|byte| **byte == b'\n').count(), 1001);
        let again = inputs.path(Input::S).unwrap();
        assert_eq!(fs::metadata(again).unwrap().modified().unwrap(), before.1);
    }

    #[test]
    fn a_folder_of_sessions_is_dated_by_their_last_messages() {
        let folder = tempfile::tempdir().unwrap();
        let inputs = Inputs::new(folder.path()).unwrap();
        let many = inputs.path(Input::Many).unwrap();
        assert_eq!(fs::read_dir(&many).unwrap().count(), 1000);
        let one = fs::read_dir(&many).unwrap().next().unwrap().unwrap();
        let modified = one.metadata().unwrap().modified().unwrap();
        let last_line = fs::read_to_string(one.path()).unwrap().lines().last().unwrap().to_owned();
        let ms = i64::try_from(modified.duration_since(UNIX_EPOCH).unwrap().as_millis()).unwrap();
        assert!(last_line.contains(&iso(ms)), "{last_line}");
    }

    #[test]
    fn tiny_entries_hang_where_they_are_told() {
        let mut out = Vec::new();
        tiny(&mut out, 3, |at| (at > 0).then_some(0)).unwrap();
        let text = String::from_utf8(out).unwrap();
        let root = record::id(0);
        assert_eq!(text.matches(&format!("\"parentId\":\"{root}\"")).count(), 2);
    }
}
