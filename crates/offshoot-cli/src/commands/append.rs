//! `offshoot append`: entries from a stream, each on disk before it is answered.

use std::io::{self, BufRead, Write as _};
use std::path::{Path, PathBuf};

use offshoot_session::compose::NewEntry;
use offshoot_session::entry::Source as _;
use offshoot_session::id::EntryId;
use offshoot_session::json::{Json, Object};
use offshoot_session::session::{NewSession, Session};
use offshoot_session::store::Store as _;

use crate::app::App;
use crate::error::{CommandError, Result};
use crate::select;

/// Append entries from standard input
///
/// Every line of the input is an entry as a JSON object: its `type` and its
/// payload, such as
///
///   {"type":"message","message":{"role":"user","content":"why?"}}
///
/// `id`, `parentId` and `timestamp` are given here; naming them is an error.
/// The first entry goes below the open entry, or below --parent, every other
/// one below the one before. Each is answered by one line, as soon as it is
/// safely on disk:
///
///   {"id":"1a2b3c4d"}
///
/// A line that is no entry is answered by {"error", "line"} and ends the run
/// with exit code 2; the entries before it stay.
///
/// If SESSION is the path of a file that does not exist, or with --new, the
/// first entry begins a new session. With --new it is in the store, and its
/// path is printed on stderr.
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment, after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Path, id, unique start of an id, name, or `latest`
    #[arg(required_unless_present = "new")]
    session: Option<String>,

    /// The entry below which the first one goes
    #[arg(long, value_name = "ENTRY", conflicts_with = "new")]
    parent: Option<String>,

    /// Begin a new session in the store
    #[arg(long, conflicts_with = "session")]
    new: bool,

    /// The working directory of a new session; without it this one
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Examples:
  offshoot append latest < entries.jsonl
  echo '{\"type\":\"custom\",\"customType\":\"mine\",\"data\":1}' | offshoot append latest --parent 1a2b3c4d
  my-agent | offshoot append --new --cwd ~/project";

/// Appends entries.
pub(crate) fn run(app: &App, args: &Args) -> Result<()> {
    let mut session = open(app, args)?;
    if let Some(given) = &args.parent {
        let parent = select::entry(&session, given)?;
        let parent = app.upgraded(&mut session, parent)?;
        let id = session.tree().node(parent).id().cloned();
        session.branch(id.as_ref().map_or(given, EntryId::as_str))?;
    } else {
        app.upgrade(&mut session)?;
    }
    let mut out = app.ui.raw();
    let mut lines = Lines { input: io::stdin().lock(), number: 0 };
    let mut is_announced = !args.new;
    while let Some(line) = lines.next()? {
        match append(&mut session, &line) {
            Ok(answer) => writeln!(out, "{answer}")?,
            Err(error) => {
                let answer = Object::new().str("error", &error.message).raw("line", lines.number).finish();
                writeln!(out, "{answer}")?;
                out.finish()?;
                return Err(CommandError {
                    message: format!("line {} of the input: {}", lines.number, error.message),
                    ..error
                });
            }
        }
        out.flush()?;
        if !is_announced {
            is_announced = true;
            app.ui.note(&format!("the session is {}", session.file().unwrap_or(Path::new("")).display()));
        }
    }
    Ok(out.finish()?)
}

fn open(app: &App, args: &Args) -> Result<Session> {
    let cwd = args.cwd.as_ref().map_or_else(|| app.cwd(), |cwd| app.absolute(cwd));
    let new = NewSession { cwd: &cwd, ..NewSession::default() };
    match args.session.as_deref() {
        None => Ok(app.store()?.create(&new, app.options())?),
        Some(given) if select::is_path(given) => {
            let file = Path::new(given);
            Ok(Session::open_or_create(file, &new, app.options_for(file))?)
        }
        Some(given) => app.open(given),
    }
}

fn append(session: &mut Session, line: &[u8]) -> Result<String> {
    let text = std::str::from_utf8(line).map_err(|_| CommandError::usage("the line is not UTF-8"))?;
    let json = Json::parse(text).map_err(|error| CommandError::usage(format!("the line is not JSON: {error}")))?;
    let id = session.append(&NewEntry::from_json(json)?)?;
    Ok(Object::new().str("id", id.as_str()).finish())
}

/// The input line by line, without those that are blank.
struct Lines<R> {
    input: R,
    number: u64,
}

impl<R: BufRead> Lines<R> {
    fn next(&mut self) -> Result<Option<Vec<u8>>> {
        loop {
            let mut line = Vec::new();
            let read = self.input.read_until(b'\n', &mut line);
            if read.map_err(|error| CommandError::io("read the input", &error))? == 0 {
                return Ok(None);
            }
            self.number += 1;
            if !line.trim_ascii().is_empty() {
                return Ok(Some(line));
            }
        }
    }
}
