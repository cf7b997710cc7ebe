//! `offshoot export`: writes a session, a branch or a subtree to a file.

use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use offshoot_session::entry::Source as _;
use offshoot_session::id::EntryId;
use offshoot_session::session::{Session, SessionPart};
use offshoot_session::text::one_line;
use offshoot_session::transcript::items;
use offshoot_session::tree::NodeIx;

use super::fork::empty;
use super::show::title;
use crate::app::App;
use crate::error::{CommandError, FailureKind, Result};
use crate::select;
use crate::transcript::markdown;

/// Write a session, a branch or a subtree into a file
///
/// The name's ending says what is written:
///
///   .jsonl  A session file. The whole session as it stands, byte for byte
///           (an old version upgraded); with --at the path to ENTRY, with
///           --subtree ENTRY and everything below it, as new sessions.
///   .html   A page to read in a browser: the tree, every branch, and the
///           session's lines to download. It needs no network. --at and
///           --subtree as above.
///   .md     The transcript of the current branch, or with --at of the path to
///           ENTRY, to read. Text is kept as it is, but control characters
///           are spelt out (\u001b): `cat` is safe.
///
/// A file that is there already is never written over.
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment, after_help = EXAMPLES)]
pub(crate) struct Args {
    /// A path, an id or its unique start or end, a name, or `latest`
    session: String,

    /// The file to write: .jsonl, .html or .md
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
  offshoot export latest -o page.html
  offshoot export latest -o transcript.md";

pub(crate) fn run(app: &App, args: &Args) -> Result<()> {
    let extension = args.output.extension().map(|extension| extension.to_string_lossy().to_lowercase());
    let session = app.open(&args.session)?;
    match extension.as_deref() {
        Some("jsonl") => jsonl(app, session, args),
        Some("html" | "htm") => page(app, &session, args),
        Some("md") => document(app, &session, args),
        _ => {
            let what = format!("the ending of {} says nothing that can be written", args.output.display());
            Err(CommandError::usage(what)
                .hint("end the name with .jsonl for a session file, .html for a page, or .md for a transcript"))
        }
    }
}

/// The extension of a page that shows a whole session.
pub(crate) const PAGE: &str = "html";

/// `run`, for a session file and an entry's id.
pub(crate) fn write(app: &App, session: &Path, output: PathBuf, at: Option<String>) -> Result<()> {
    run(app, &Args { session: session.display().to_string(), output, at, subtree: None })
}

fn part(app: &App, session: &Session, args: &Args) -> Result<SessionPart> {
    Ok(match (&args.at, &args.subtree) {
        (Some(given), _) => SessionPart::Path(select::entry(app, session, given)?),
        (None, Some(given)) => SessionPart::Subtree(select::entry(app, session, given)?),
        (None, None) => SessionPart::Everything,
    })
}

fn jsonl(app: &App, mut session: Session, args: &Args) -> Result<()> {
    match part(app, &session, args)? {
        // A copy keeps the session's id.
        SessionPart::Everything => Ok(session.copy_to(&args.output)?),
        part => Ok(session.export(part, None, |_, _| args.output.clone()).map(drop)?),
    }
}

fn page(app: &App, session: &Session, args: &Args) -> Result<()> {
    let options = offshoot_html::Options {
        part: part(app, session, args)?,
        home: app.environment.home.as_ref().map(|home| home.to_string_lossy().into_owned()),
        plain: Some(offshoot_tui::markdown::plain_row),
    };
    create(&args.output, |file| match offshoot_html::render(session, &options, file) {
        Ok(()) => Ok(()),
        Err(offshoot_html::Error::Read(error)) => Err(error.into()),
        Err(offshoot_html::Error::Write(error)) => Err(not_written(&args.output, &error)),
    })?;
    app.report(session, &args.session);
    Ok(())
}

fn document(app: &App, session: &Session, args: &Args) -> Result<()> {
    if args.subtree.is_some() {
        let error = CommandError::usage("a transcript has no branches: --subtree needs a .jsonl or .html file");
        return Err(error.hint("--at ENTRY writes the transcript up to an entry"));
    }
    let leaf = match &args.at {
        Some(given) => Some(select::entry(app, session, given)?),
        None => session.leaf(),
    };
    let path = leaf.map(|leaf| session.tree().path(leaf)).ok_or_else(empty)?;
    let text = markdown_of(session, &path)?;
    create(&args.output, |file| file.write_all(text.as_bytes()).map_err(|error| not_written(&args.output, &error)))?;
    app.report(session, &args.session);
    Ok(())
}

fn markdown_of(session: &Session, path: &[NodeIx]) -> Result<String> {
    let mut out = Vec::new();
    let tree = session.tree();
    let name = title(session)?.unwrap_or_else(|| format!("Session {}", one_line(session.id(), 60)));
    writeln!(out, "# {}\n", markdown::escape(&name))?;
    for item in items(session, path) {
        let (ix, item) = item?;
        let id = tree.node(ix).id();
        let label = id.and_then(|id| tree.label(id)).map(|label| one_line(&label.text, 80));
        let id = id.map_or("-", EntryId::as_str);
        markdown::write(&mut out, &item, &one_line(id, 40), label.as_deref())?;
    }
    Ok(String::from_utf8_lossy(&out).into_owned())
}

/// Creates a file atomically, never over another.
fn create(path: &Path, write: impl FnOnce(&mut File) -> Result<()>) -> Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(folder).map_err(|error| not_written(path, &error))?;
    write(file.as_file_mut())?;
    file.as_file().sync_all().map_err(|error| not_written(path, &error))?;
    match file.persist_noclobber(path) {
        Ok(_) => Ok(()),
        Err(error) if error.error.kind() == std::io::ErrorKind::AlreadyExists => {
            Err(CommandError::new(FailureKind::Conflict, format!("{}: the file exists already", path.display())))
        }
        Err(error) => Err(not_written(path, &error.error)),
    }
}

fn not_written(path: &Path, error: &std::io::Error) -> CommandError {
    CommandError::io(format!("write {}", path.display()), error)
}
