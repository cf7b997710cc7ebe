//! `offshoot append`: appends entries from a stream; each is on disk before it is acknowledged.

use std::io::{self, BufRead as _, BufReader, Read, Write as _};
use std::path::{Path, PathBuf};
use std::slice::from_ref;

use offshoot_app::app::App;
use offshoot_app::error::{CommandError, FailureKind, Result, spilled_hints};
use offshoot_app::lookup;
use offshoot_app::session_words::session_words;
use offshoot_app::ui::UiOutput;
use offshoot_session::compose::NewEntry;
use offshoot_session::entry::Source as _;
use offshoot_session::error::{Diagnostic, Error};
use offshoot_session::id::EntryId;
use offshoot_session::json::{Json, Object};
use offshoot_session::kind::Kind as EntryKind;
use offshoot_session::path_words::path_of_words;
use offshoot_session::session::{Durability, NewSession, Session};
use offshoot_session::store::Store as _;
use offshoot_session::text::counted;

/// Append entries from standard input
///
/// Every line of the input is an entry as a JSON object: its `type` and its
/// payload, such as
///
///   {"type":"message","message":{"role":"user","content":"why?"}}
///
/// offshoot sets `id`, `parentId` and `timestamp`; a line that has one of them
/// is refused. The first entry goes below the current one, or below --parent;
/// each further entry goes below the one before it. When an entry is synced to
/// disk, the command prints a line:
///
///   {"id":"1a2b3c4d"}
///
/// Lines that arrive together are written together, with one sync. If another
/// program has appended on another branch, the printed line has "diagnostics".
/// For a line that is not an entry the command prints {"error", "line"} and ends
/// with exit code 2; the entries before it stay.
///
/// An entry that cannot be written, as on a full disk, is kept outside the
/// session, and the printed line is {"id", "spilled"}. It is added to the
/// session as soon as there is room. If there is no room before the input ends,
/// the exit code is 1, and `offshoot repair SESSION` adds the entry later.
///
/// If SESSION is the path of a file that does not exist, or with --new, the
/// first entry begins a new session. With --new it is in the store, and its
/// path is printed on standard error.
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment, after_help = EXAMPLES)]
pub(crate) struct Args {
    /// A path, an id or its unique start or end, a name, or `latest`
    #[arg(required_unless_present = "new", value_parser = session_words())]
    session: Option<String>,

    /// The parent of the first entry; without it the current entry
    #[arg(long, value_name = "ENTRY", conflicts_with = "new")]
    parent: Option<String>,

    /// Begin a new session in the store
    #[arg(long, conflicts_with = "session")]
    new: bool,

    /// What an answered entry survives: os (the end of the program), data
    /// (a crash of the system: the default), full (the same, and the file's
    /// times are synced)
    #[arg(long, value_name = "LEVEL", value_parser = Durability::from_word)]
    durability: Option<Durability>,

    /// The working directory of a new session; without it this folder
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,

    /// Check the entries, and write nothing; the answers have no ids
    #[arg(long, conflicts_with = "new")]
    dry_run: bool,
}

const EXAMPLES: &str = "\
Examples:
  offshoot append latest < entries.jsonl
  echo '{\"type\":\"custom\",\"customType\":\"mine\",\"data\":1}' | offshoot append latest --parent 1a2b3c4d
  my-agent | offshoot append --new --cwd ~/project";

pub(crate) fn run(app: &App, args: &Args) -> Result<()> {
    if args.dry_run {
        return check(app, args);
    }
    let mut session = open(app, args)?;
    if let Some(level) = args.durability {
        session.set_durability(level);
    }
    let name = session.file().map(|file| file.to_string_lossy().into_owned()).unwrap_or_default();
    app.report_waiting(&session, &name);
    if let Some(given) = &args.parent {
        let parent = lookup::entry_to_write(app, &session, given)?;
        let parent = app.upgraded(&mut session, parent)?;
        let id = session.tree().node(parent).id().cloned();
        session.branch(id.as_ref().map_or(given, EntryId::as_str))?;
    } else {
        app.upgrade(&mut session)?;
    }
    let mut run = AppendRun { app, session, name, out: app.ui.raw(), kept: 0, is_announced: !args.new };
    let mut lines = Lines { input: BufReader::with_capacity(BUFFER, io::stdin().lock()), number: 0 };
    loop {
        let batch = lines.available()?;
        if batch.is_empty() {
            return run.finish();
        }
        run.batch(batch)?;
    }
}

/// Answers each line as [`run`] would, without an id, and finds the parent.
fn check(app: &App, args: &Args) -> Result<()> {
    let given = args.session.as_deref().unwrap_or_default();
    // The path of a file that does not exist begins a session.
    let is_new = offshoot_workspace::is_path(given) && !app.environment.path(path_of_words(given)).exists();
    let session = if is_new { None } else { Some(app.open(given)?) };
    if let (Some(parent), Some(session)) = (&args.parent, &session) {
        lookup::entry_to_write(app, session, parent)?;
    }
    let mut out = app.ui.raw();
    let mut lines = Lines { input: BufReader::with_capacity(BUFFER, io::stdin().lock()), number: 0 };
    loop {
        let batch = lines.available()?;
        if batch.is_empty() {
            return Ok(out.finish()?);
        }
        for (number, entry) in batch {
            match entry {
                Ok(_) => writeln!(out, "{}", Object::new().str_or_null("id", None).finish())?,
                Err(error) => return refused(&mut out, number, error),
            }
        }
        out.flush()?;
    }
}

fn refused(out: &mut UiOutput, number: u64, error: CommandError) -> Result<()> {
    let answer = Object::new().str("error", &error.message).raw("line", number).finish();
    writeln!(out, "{answer}")?;
    out.flush()?;
    Err(CommandError { message: format!("line {number} of the input: {}", error.message), ..error })
}

const BUFFER: usize = 256 << 10;

/// The number of an input line, and its entry or the reason why it is not one.
type ReadEntry = (u64, Result<NewEntry>);

struct AppendRun<'a> {
    app: &'a App,
    session: Session,
    name: String,
    out: UiOutput,
    /// How many entries are in the spill file.
    kept: usize,
    is_announced: bool,
}

impl AppendRun<'_> {
    /// Appends the entries together as far as possible; acknowledges them when all are on disk.
    fn batch(&mut self, batch: Vec<ReadEntry>) -> Result<()> {
        let (mut entries, mut numbers) = (Vec::with_capacity(batch.len()), Vec::with_capacity(batch.len()));
        for (number, entry) in batch {
            match entry {
                Ok(entry) => {
                    entries.push(entry);
                    numbers.push(number);
                }
                Err(error) => {
                    self.entries(&entries, &numbers)?;
                    return self.refuse(number, error);
                }
            }
        }
        self.entries(&entries, &numbers)
    }

    fn entries(&mut self, entries: &[NewEntry], numbers: &[u64]) -> Result<()> {
        if entries.is_empty() {
            return Ok(());
        }
        match self.session.append_all(entries) {
            Ok(ids) => self.appended(&ids),
            Err(Error::Spilled { spill, ids, source, .. }) => self.spilled(&spill, &ids, *source),
            // One entry is invalid, or there is no room for all: those before it can still be appended.
            Err(error) if entries.len() > 1 && !matches!(error, Error::Locked { .. } | Error::Conflict { .. }) => {
                entries.iter().zip(numbers).try_for_each(|(entry, number)| self.entries(from_ref(entry), &[*number]))
            }
            Err(error) => self.refuse(numbers.first().copied().unwrap_or_default(), error.into()),
        }
    }

    fn appended(&mut self, ids: &[EntryId]) -> Result<()> {
        if self.kept > 0 {
            self.app.ui.note(&format!("{} kept before are in the session now", counted(self.kept, "entry", "entries")));
            self.kept = 0;
        }
        let news = self.session.take_news();
        for (at, id) in ids.iter().enumerate() {
            let answer = Object::new().str("id", id.as_str());
            // News is reported once, with the first entry.
            let told: Vec<String> = news.iter().filter(|_| at == 0).map(Diagnostic::to_json).collect();
            let answer =
                if told.is_empty() { answer } else { answer.raw("diagnostics", format!("[{}]", told.join(","))) };
            writeln!(self.out, "{}", answer.finish())?;
        }
        self.out.flush()?;
        self.app.report_all(&news, &self.name);
        if !std::mem::replace(&mut self.is_announced, true) {
            self.app.ui.note(&format!("the session is {}", self.name));
        }
        Ok(())
    }

    fn spilled(&mut self, spill: &Path, ids: &[EntryId], error: Error) -> Result<()> {
        for id in ids {
            let answer = Object::new().str("id", id.as_str()).str("spilled", &spill.to_string_lossy());
            writeln!(self.out, "{}", answer.finish())?;
        }
        self.out.flush()?;
        if self.kept == 0 {
            let error = CommandError::from(error);
            let why = [vec![error.message], error.causes].concat().join(": ");
            self.app.ui.warning(&format!("{why}; entries are kept in {} until there is room", spill.display()));
        }
        self.kept += ids.len();
        Ok(())
    }

    fn refuse(&mut self, number: u64, error: CommandError) -> Result<()> {
        refused(&mut self.out, number, error)
    }

    fn finish(self) -> Result<()> {
        self.out.finish()?;
        if self.kept == 0 {
            return Ok(());
        }
        let what = format!(
            "{} could not be written to {} and wait outside it",
            counted(self.kept, "entry", "entries"),
            self.name
        );
        Err(CommandError { hints: spilled_hints(&self.name), ..CommandError::new(FailureKind::Failed, what) })
    }
}

fn open(app: &App, args: &Args) -> Result<Session> {
    let cwd = args.cwd.as_ref().map_or_else(|| app.cwd(), |cwd| app.absolute(cwd));
    let new = NewSession { cwd: &cwd, ..NewSession::default() };
    match args.session.as_deref() {
        None => {
            app.check_cwd()?;
            Ok(app.store()?.create(&new, app.options())?)
        }
        Some(given) if offshoot_workspace::is_path(given) => {
            let file = app.environment.path(path_of_words(given));
            if file.is_relative() {
                app.check_cwd()?;
            }
            let session = Session::open_or_create(&file, &new, app.options_for(&file))?;
            session.check_writable()?;
            Ok(session)
        }
        Some(given) => app.open_to_write(given),
    }
}

/// The entry of a line; `None` for a blank one.
fn parse_line(line: &[u8]) -> Option<Result<NewEntry>> {
    (!line.trim_ascii().is_empty()).then(|| entry(line))
}

fn entry(line: &[u8]) -> Result<NewEntry> {
    let text = std::str::from_utf8(line).map_err(|_| CommandError::usage("the line is not UTF-8"))?;
    let json = Json::parse(text).map_err(|error| CommandError::usage(format!("the line is not JSON: {error}")))?;
    Ok(NewEntry::from_json(json)?)
}

/// The input line by line, without blank lines.
struct Lines<R> {
    input: BufReader<R>,
    number: u64,
}

impl<R: Read> Lines<R> {
    /// Waits for the next line and also returns the buffered lines after it; empty at the end. Stops after an invalid
    /// line, and before an entry that must start a new batch.
    fn available(&mut self) -> Result<Vec<ReadEntry>> {
        let mut taken: Vec<ReadEntry> = Vec::new();
        loop {
            let buffered = self.input.buffer();
            let (line, length) = match memchr::memchr(b'\n', buffered) {
                Some(end) => (parse_line(&buffered[..end]), end + 1),
                None if taken.is_empty() => {
                    let mut line = Vec::new();
                    let read = self.input.read_until(b'\n', &mut line);
                    if read.map_err(|error| CommandError::io("read the input", &error))? == 0 {
                        break;
                    }
                    (parse_line(&line), 0)
                }
                None => break,
            };
            let is_first = matches!(&line, Some(Ok(entry)) if entry.kind() == EntryKind::Compaction);
            if is_first && !taken.is_empty() {
                break;
            }
            self.input.consume(length);
            self.number += 1;
            let is_bad = matches!(line, Some(Err(_)));
            taken.extend(line.map(|entry| (self.number, entry)));
            if is_bad {
                break;
            }
        }
        Ok(taken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns one piece at a time, like a pipe.
    struct Pieces(Vec<String>);

    impl Read for Pieces {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            if self.0.is_empty() {
                return Ok(0);
            }
            let piece = self.0.remove(0);
            buffer[..piece.len()].copy_from_slice(piece.as_bytes());
            Ok(piece.len())
        }
    }

    const CUSTOM: &str = "{\"type\":\"custom\",\"customType\":\"x\"}\n";

    fn sizes(pieces: &[String]) -> Vec<Vec<u64>> {
        let mut lines = Lines { input: BufReader::with_capacity(BUFFER, Pieces(pieces.to_vec())), number: 0 };
        let batches = std::iter::from_fn(|| Some(lines.available().unwrap()).filter(|batch| !batch.is_empty()));
        batches.map(|batch| batch.into_iter().map(|(number, _)| number).collect()).collect()
    }

    #[test]
    fn what_is_there_is_taken_together_and_nothing_waits_for_more() {
        let half = CUSTOM.len() / 2;
        let torn = [format!("{CUSTOM}{}", &CUSTOM[..half]), format!("{}{CUSTOM}", &CUSTOM[half..])];
        assert_eq!(sizes(&[CUSTOM.to_owned(), CUSTOM.repeat(3), CUSTOM.to_owned()]), [vec![1], vec![2, 3, 4], vec![5]]);
        assert_eq!(sizes(&torn), [vec![1], vec![2, 3]]);
        assert_eq!(sizes(&[format!("\n{CUSTOM}\n\n{}", CUSTOM.trim_end())]), [vec![2], vec![5]], "blank lines count");
    }

    #[test]
    fn a_bad_line_ends_a_batch_and_a_compaction_begins_one() {
        let compaction = "{\"type\":\"compaction\",\"summary\":\"s\",\"tokensBefore\":1}\n";
        assert_eq!(sizes(&[format!("{CUSTOM}{compaction}{CUSTOM}")]), [vec![1], vec![2, 3]]);
        assert_eq!(sizes(&[format!("{CUSTOM}bad\n{CUSTOM}")]), [vec![1, 2], vec![3]]);
    }
}
