//! `offshoot export`: writes a session, a branch or a subtree to a file.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use offshoot_session::entry::Source as _;
use offshoot_session::id::EntryId;
use offshoot_session::kind::Kind;
use offshoot_session::session::{Abridged, NewFork, Session, SessionPart};
use offshoot_session::text::{counted, one_line};
use offshoot_session::transcript::items;
use offshoot_session::tree::NodeIx;

use super::fork::empty;
use super::show::title;
use crate::app::{App, quoted};
use crate::error::{CommandError, FailureKind, Result};
use crate::select;
use crate::transcript::markdown;

/// Write a session, a branch or a subtree into a file
///
/// The extension of the file, or --format, selects the format:
///
///   .jsonl  A session file. Without other options it is the whole session,
///           byte for byte (an old version is upgraded). --at takes the path
///           to ENTRY, --subtree takes ENTRY and everything below it; both
///           make a new session.
///   .html   A page for a browser: the tree, every branch, and the session
///           file to download. It needs no network. --at and --subtree work
///           as above.
///   .md     The transcript of the current branch, or of the path to --at.
///           Text is kept as it is, but control characters are spelt out
///           (\u001b), so `cat` is safe.
///
/// A page and a transcript leave out lines of more than 64 MiB, and say how
/// to print them.
///
/// An existing file is never replaced. A session without entries is refused.
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment, after_help = EXAMPLES)]
pub(crate) struct Args {
    /// A path, an id or its unique start or end, a name, or `latest`
    session: String,

    /// The file to write: .jsonl, .html or .md; `-` writes to standard output
    #[arg(short, long, value_name = "FILE", required_unless_present = "format")]
    output: Option<PathBuf>,

    /// The format: jsonl, html or md; without --output it goes to standard output
    #[arg(long, value_enum, hide_possible_values = true)]
    format: Option<ExportFormat>,

    /// Only the path from the root to this entry
    #[arg(long, value_name = "ENTRY")]
    at: Option<String>,

    /// Only this entry and everything below it
    #[arg(long, value_name = "ENTRY", conflicts_with = "at")]
    subtree: Option<String>,

    /// Show what would be written, and write nothing
    #[arg(long, requires = "output")]
    dry_run: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum ExportFormat {
    Jsonl,
    Html,
    Md,
}

impl Args {
    /// `None` for standard output.
    fn file(&self) -> Option<&Path> {
        self.output.as_deref().filter(|file| *file != Path::new("-"))
    }
}

const EXAMPLES: &str = "\
Examples:
  offshoot export latest -o copy.jsonl
  offshoot export latest -o branch.jsonl --at 1a2b3c4d
  offshoot export latest -o page.html
  offshoot export latest -o transcript.md
  offshoot export latest --format md | less";

pub(crate) fn run(app: &App, args: &Args) -> Result<()> {
    let format = format(args)?;
    if let Some(file) = args.file() {
        check_free(file)?;
    }
    let session = app.open(&args.session)?;
    if session.leaf().is_none() {
        return Err(empty());
    }
    if let Some(file) = args.file().filter(|_| args.dry_run) {
        return would_write(app, &session, args, file);
    }
    match format {
        ExportFormat::Jsonl => jsonl(app, session, args),
        ExportFormat::Html => page(app, &session, args),
        ExportFormat::Md => document(app, &session, args),
    }
}

fn would_write(app: &App, session: &Session, args: &Args, file: &Path) -> Result<()> {
    let tree = session.tree();
    let is_written = |ix: &NodeIx| !tree.node(*ix).is_leaf_marker() && tree.node(*ix).kind() != Kind::Label;
    let count = match part(app, session, args)? {
        SessionPart::Path(ix) => tree.ancestors(ix).filter(is_written).count(),
        SessionPart::Everything => tree.entries().filter(is_written).count(),
        SessionPart::Subtree(top) => {
            let (mut open, mut count) = (vec![top], 0);
            while let Some(ix) = open.pop() {
                count += usize::from(is_written(&ix));
                open.extend(tree.children(ix));
            }
            count
        }
    };
    let mut out = app.ui.text();
    let (count, file) = (counted(count, "entry", "entries"), one_line(&file.to_string_lossy(), 4096));
    writeln!(out, "would write {count} with their labels to {file}")?;
    Ok(out.finish()?)
}

fn format(args: &Args) -> Result<ExportFormat> {
    if let Some(format) = args.format {
        return Ok(format);
    }
    let Some(file) = args.file() else {
        let error = CommandError::usage("standard output has no ending that says what is written");
        return Err(error.hint("--format jsonl, --format html or --format md says it"));
    };
    match file.extension().map(|extension| extension.to_string_lossy().to_lowercase()).as_deref() {
        Some("jsonl") => Ok(ExportFormat::Jsonl),
        Some("html" | "htm") => Ok(ExportFormat::Html),
        Some("md") => Ok(ExportFormat::Md),
        _ => Err(CommandError::usage(format!("the name {} does not say the format", file.display()))
            .hint("end the name with .jsonl for a session file, .html for a page, or .md for a transcript")
            .hint("--format sets the format for any name")),
    }
}

/// Refuses a file that exists, or whose folder does not, before any work.
pub(crate) fn check_free(file: &Path) -> Result<()> {
    if std::fs::symlink_metadata(file).is_ok() {
        return Err(exists(file));
    }
    let folder = folder_of(file);
    if folder.is_dir() {
        return Ok(());
    }
    let error = CommandError::new(FailureKind::NotFound, format!("the folder {} does not exist", folder.display()));
    Err(error.hint(format!("`mkdir -p {}` makes it", quoted(&folder.to_string_lossy()))))
}

fn folder_of(file: &Path) -> &Path {
    file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn exists(file: &Path) -> CommandError {
    CommandError::new(FailureKind::Conflict, format!("{}: the file exists already", file.display()))
}

/// The extension of a page that shows a whole session.
pub(crate) const PAGE: &str = "html";

/// `run`, for a session file and an entry's id.
pub(crate) fn write(app: &App, session: &Path, output: PathBuf, at: Option<String>) -> Result<()> {
    let session = session.display().to_string();
    run(app, &Args { session, output: Some(output), format: None, at, subtree: None, dry_run: false })
}

fn part(app: &App, session: &Session, args: &Args) -> Result<SessionPart> {
    Ok(match (&args.at, &args.subtree) {
        (Some(given), _) => SessionPart::Path(select::entry(app, session, given)?),
        (None, Some(given)) => SessionPart::Subtree(select::entry(app, session, given)?),
        (None, None) => SessionPart::Everything,
    })
}

fn jsonl(app: &App, mut session: Session, args: &Args) -> Result<()> {
    let part = part(app, &session, args)?;
    let mut copy = |file: &Path| match part {
        // A copy keeps the session's id.
        SessionPart::Everything => session.copy_to(file),
        part => {
            let fork = NewFork { part, ..NewFork::default() };
            session.export(&fork, |_, _| file.to_path_buf()).map(drop)
        }
    };
    if let Some(file) = args.file() {
        return Ok(copy(file)?);
    }
    // Copies are files, so that the system can copy ranges.
    let folder = tempfile::tempdir().map_err(|error| CommandError::io("create a temporary folder", &error))?;
    let file = folder.path().join("session.jsonl");
    copy(&file)?;
    let mut text = File::open(&file).map_err(|error| CommandError::io(format!("open {}", file.display()), &error))?;
    let mut out = app.ui.raw();
    std::io::copy(&mut text, &mut out)?;
    Ok(out.finish()?)
}

fn page(app: &App, session: &Session, args: &Args) -> Result<()> {
    let options = offshoot_html::Options {
        part: part(app, session, args)?,
        home: app.environment.home.as_ref().map(|home| home.to_string_lossy().into_owned()),
        plain: Some(offshoot_tui::markdown::plain_row),
        ..offshoot_html::Options::default()
    };
    output(app, args, |mut out| match offshoot_html::render(session, &options, &mut out) {
        Ok(_) => Ok(()),
        Err(offshoot_html::Error::Read(error)) => Err(error.into()),
        Err(offshoot_html::Error::Write(error)) => Err(not_written(args, error)),
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
    output(app, args, |out| out.write_all(text.as_bytes()).map_err(|error| not_written(args, error)))?;
    app.report(session, &args.session);
    Ok(())
}

fn markdown_of(session: &Session, path: &[NodeIx]) -> Result<String> {
    let mut out = Vec::new();
    let tree = session.tree();
    let name = title(session)?.unwrap_or_else(|| format!("Session {}", one_line(session.id(), 60)));
    writeln!(out, "# {}\n", markdown::escape(&name))?;
    let shown = Abridged::new(session);
    for item in items(&shown, path) {
        let (ix, item) = item?;
        let id = tree.node(ix).id();
        let label = id.and_then(|id| tree.label(id)).map(|label| one_line(&label.text, 80));
        let id = id.map_or("-", EntryId::as_str);
        markdown::write(&mut out, &item, &one_line(id, 40), label.as_deref())?;
    }
    Ok(String::from_utf8_lossy(&out).into_owned())
}

fn output(app: &App, args: &Args, write: impl FnOnce(&mut dyn Write) -> Result<()>) -> Result<()> {
    let Some(path) = args.file() else {
        let mut out = app.ui.raw();
        write(&mut out)?;
        return Ok(out.finish()?);
    };
    create(path, |file| write(file))
}

/// Creates a file atomically, never over another.
fn create(path: &Path, write: impl FnOnce(&mut File) -> Result<()>) -> Result<()> {
    let folder = folder_of(path);
    // Its name would tell nobody anything.
    let unnamed =
        |error: std::io::Error| CommandError::io(format!("write into {}", folder.display()), &error.kind().into());
    let mut file = tempfile::NamedTempFile::new_in(folder).map_err(unnamed)?;
    write(file.as_file_mut())?;
    let failed = |error: &std::io::Error| CommandError::io(format!("write {}", path.display()), error);
    file.as_file().sync_all().map_err(|error| failed(&error))?;
    match file.persist_noclobber(path) {
        Ok(_) => Ok(()),
        Err(error) if error.error.kind() == std::io::ErrorKind::AlreadyExists => Err(exists(path)),
        Err(error) => Err(failed(&error.error)),
    }
}

fn not_written(args: &Args, error: std::io::Error) -> CommandError {
    match args.file() {
        Some(path) => CommandError::io(format!("write {}", path.display()), &error),
        None => error.into(),
    }
}
