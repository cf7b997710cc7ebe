//! `offshoot export`: a session, a branch or a subtree as a file of its own.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use offshoot_session::entry::Source as _;
use offshoot_session::id::EntryId;
use offshoot_session::session::{Part, Session};
use offshoot_session::text::one_line;
use offshoot_session::tree::NodeIx;

use super::fork::empty;
use super::show::title;
use crate::app::App;
use crate::error::{CommandError, Kind, Result};
use crate::select;
use crate::transcript::{markdown, turns};

/// Write a session, a branch or a subtree into a file
///
/// The name's ending says what is written:
///
///   .jsonl  A session file. The whole session as it stands, byte for byte
///           (an old version upgraded); with --at the path to ENTRY, with
///           --subtree ENTRY and everything below it, as new sessions.
///   .md     The transcript of the open branch, or with --at of the path to
///           ENTRY, to read.
///
/// A file that is there already is never written over.
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment, after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Path, id, unique start of an id, name, or `latest`
    session: String,

    /// The file to write: .jsonl or .md
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,

    /// Only the path from the root to this entry
    #[arg(long, value_name = "ENTRY")]
    at: Option<String>,

    /// Only this entry and everything below it
    #[arg(long, value_name = "ENTRY", conflicts_with = "at")]
    subtree: Option<String>,
}

const EXAMPLES: &str = "\
Examples:
  offshoot export latest -o session.jsonl
  offshoot export latest -o branch.jsonl --at 1a2b3c4d
  offshoot export latest -o transcript.md";

/// Exports a session.
pub(crate) fn run(app: &App, args: &Args) -> Result<()> {
    let extension = args.output.extension().map(|extension| extension.to_string_lossy().to_lowercase());
    let session = app.open(&args.session)?;
    match extension.as_deref() {
        Some("jsonl") => jsonl(session, args),
        Some("md") => document(app, &session, args),
        _ => {
            let what = format!("the ending of {} says nothing that can be written", args.output.display());
            Err(CommandError::usage(what).hint("end the name with .jsonl for a session file, or .md for a transcript"))
        }
    }
}

/// The ending of a file that shows a whole session.
pub(crate) const PAGE: &str = "md";

/// The same for a session file and an entry's id.
pub(crate) fn write(app: &App, session: &Path, output: PathBuf, at: Option<String>) -> Result<()> {
    run(app, &Args { session: session.display().to_string(), output, at, subtree: None })
}

fn jsonl(mut session: Session, args: &Args) -> Result<()> {
    let part = match (&args.at, &args.subtree) {
        (Some(given), _) => Part::Path(select::entry(&session, given)?),
        (None, Some(given)) => Part::Subtree(select::entry(&session, given)?),
        (None, None) => return Ok(session.copy_to(&args.output)?),
    };
    session.export(part, None, |_, _| args.output.clone())?;
    Ok(())
}

fn document(app: &App, session: &Session, args: &Args) -> Result<()> {
    if args.subtree.is_some() {
        let error = CommandError::usage("a transcript has no branches: --subtree needs a .jsonl file");
        return Err(error.hint("--at ENTRY writes the transcript up to an entry"));
    }
    let leaf = match &args.at {
        Some(given) => Some(select::entry(session, given)?),
        None => session.leaf(),
    };
    let path = leaf.map(|leaf| session.tree().path(leaf)).ok_or_else(empty)?;
    let text = markdown_of(session, &path)?;
    create(&args.output, text.as_bytes())?;
    app.report(session, &args.session);
    Ok(())
}

fn markdown_of(session: &Session, path: &[NodeIx]) -> Result<String> {
    let mut out = Vec::new();
    let tree = session.tree();
    let name = title(session)?.unwrap_or_else(|| format!("Session {}", one_line(session.id(), 60)));
    writeln!(out, "# {}\n", markdown::escape(&name))?;
    for turn in turns(session, path) {
        let (ix, turn) = turn?;
        let id = tree.node(ix).id();
        let label = id.and_then(|id| tree.label(id)).map(|label| one_line(&label.text, 80));
        let id = id.map_or("-", EntryId::as_str);
        markdown::write(&mut out, &turn, &one_line(id, 40), label.as_deref())?;
    }
    Ok(String::from_utf8_lossy(&out).into_owned())
}

/// Writes a new file: it appears whole or not at all, and never over another.
fn create(path: &Path, bytes: &[u8]) -> Result<()> {
    let failed = |error: &std::io::Error| CommandError::io(format!("write {}", path.display()), error);
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(folder).map_err(|error| failed(&error))?;
    file.write_all(bytes).and_then(|()| file.as_file().sync_all()).map_err(|error| failed(&error))?;
    match file.persist_noclobber(path) {
        Ok(_) => Ok(()),
        Err(error) if error.error.kind() == std::io::ErrorKind::AlreadyExists => {
            Err(CommandError::new(Kind::Conflict, format!("{}: the file exists already", path.display())))
        }
        Err(error) => Err(failed(&error.error)),
    }
}
