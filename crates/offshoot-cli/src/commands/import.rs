//! `offshoot import`: copies a session file into the store.

use std::io::Write as _;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use offshoot_app::app::App;
use offshoot_app::error::{CommandError, Result};
use offshoot_session::error::{Conflict, Error};
use offshoot_session::json::Object;
use offshoot_session::medium::{FileMedium, Medium as _, read_exact_at};
use offshoot_session::pieces::Pieces;
use offshoot_session::store::DirStore;

use super::export::empty;

/// Copy a session file into the store
///
/// The copy has the same bytes, ids and file name. It goes to the folder that
/// the store has for the session's working directory. If another file has that
/// name, -1, -2 and so on is added; no file is overwritten. A file that is in
/// the store already stays where it is.
///
/// The copy comes from elsewhere: `-c` and `latest` pass over it until it was
/// opened by its id, name or path.
///
/// Prints the path of the file in the store; with --json {"path", "note"}, where
/// the note says that the file or its id is there already, or is null.
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment, after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The session file
    file: PathBuf,

    /// Show what would be copied, and where,, and write nothing
    #[arg(long)]
    dry_run: bool,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  offshoot import ~/Downloads/session.jsonl";

pub(crate) fn run(app: &App, args: &Args) -> Result<()> {
    let file = app.environment.path(&args.file);
    let (path, note) = if args.dry_run { planned(app, &file)? } else { take(app, &file)? };
    let mut out = app.ui.raw();
    if args.json {
        let object = Object::new().str("path", &path.to_string_lossy());
        writeln!(out, "{}", object.str_or_null("note", note.as_deref()).finish())?;
        return Ok(out.finish()?);
    }
    writeln!(out, "{}", path.display())?;
    out.finish()?;
    if let Some(note) = note {
        app.ui.note(&note);
    }
    Ok(())
}

/// Copies a session file into the store; returns its path there and a note for the user.
pub(crate) fn take(app: &App, file: &Path) -> Result<(PathBuf, Option<String>)> {
    place(app, file, copy)
}

/// What [`take`] would return. Writes nothing.
fn planned(app: &App, file: &Path) -> Result<(PathBuf, Option<String>)> {
    place(app, file, free_place)
}

/// A path in the store, and whether the same file is there already.
type Placed = (PathBuf, Option<&'static str>);

fn place(
    app: &App,
    file: &Path,
    copy: impl FnOnce(&DirStore, &Path, &Path) -> Result<Placed>,
) -> Result<(PathBuf, Option<String>)> {
    let session = app.open_file(file)?;
    if std::fs::metadata(file).is_ok_and(|meta| meta.len() == 0) {
        return Err(empty());
    }
    let store = app.store()?;
    let known = store.path_of(session.id()).ok();
    let (path, note) = match inside(&store, file) {
        Some(path) => (path, Some("the file is in the store already")),
        None => {
            let cwd = session.cwd().filter(|cwd| !cwd.is_empty()).map_or_else(|| app.cwd(), str::to_owned);
            let target = store.path_for(&cwd, session.id(), session.header().timestamp().unwrap_or_default());
            let name = file_name(file, &target);
            copy(&store, file, &target.with_file_name(name))?
        }
    };
    let note = match (note, known) {
        (Some(note), _) => Some(note.to_owned()),
        (None, Some(other)) => Some(format!("{} has the same id; name a session by its path", other.display())),
        (None, None) => None,
    };
    Ok((path, note))
}

/// The file's canonical path, if it is in one of the store's roots.
fn inside(store: &DirStore, file: &Path) -> Option<PathBuf> {
    let file = file.canonicalize().ok()?;
    let holds = |folder: &Path| folder.canonicalize().is_ok_and(|folder| file.starts_with(folder));
    store.roots().iter().any(|root| holds(&root.folder)).then_some(file.clone())
}

/// The file's name; only a name that ends in `.jsonl` would be listed.
fn file_name(file: &Path, otherwise: &Path) -> PathBuf {
    let is_jsonl = file.extension().is_some_and(|extension| extension == "jsonl");
    let name = if is_jsonl { file.file_name() } else { otherwise.file_name() };
    name.map(PathBuf::from).unwrap_or_default()
}

/// Copies the file to the first free name; a file with the same bytes counts as the copy.
fn copy(store: &DirStore, file: &Path, target: &Path) -> Result<Placed> {
    let folder = target.parent().unwrap_or(Path::new("."));
    let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder);
    made.map_err(|error| CommandError::io(format!("create folder {}", folder.display()), &error))?;
    let medium =
        FileMedium::open(file).map_err(|error| CommandError::io(format!("open {}", file.display()), &error))?;
    let length = medium.len().map_err(|error| CommandError::io(format!("read {}", file.display()), &error))?;
    let mut pieces = Pieces::default();
    pieces.range(0, length);
    let mut number = 0;
    loop {
        let path = numbered(target, number);
        match pieces.create(&medium, &path) {
            Ok(()) => {
                store.note_import(&path)?;
                return Ok((path, None));
            }
            Err(Error::Conflict { why: Conflict::Exists, .. }) if is_same(&medium, &path) => {
                return Ok((path, Some(IS_THERE)));
            }
            Err(Error::Conflict { why: Conflict::Exists, .. }) => number += 1,
            Err(error) => return Err(error.into()),
        }
    }
}

/// Where [`copy`] would copy the file to.
fn free_place(_: &DirStore, file: &Path, target: &Path) -> Result<Placed> {
    let medium =
        FileMedium::open(file).map_err(|error| CommandError::io(format!("open {}", file.display()), &error))?;
    let mut number = 0;
    loop {
        let path = numbered(target, number);
        if std::fs::symlink_metadata(&path).is_err() {
            return Ok((path, None));
        }
        if is_same(&medium, &path) {
            return Ok((path, Some(IS_THERE)));
        }
        number += 1;
    }
}

const IS_THERE: &str = "the same file is in the store already";

fn numbered(path: &Path, number: u32) -> PathBuf {
    if number == 0 {
        return path.to_path_buf();
    }
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!("{stem}-{number}.jsonl"))
}

/// Whether a file has the same bytes; false if it cannot be read.
fn is_same(medium: &FileMedium, path: &Path) -> bool {
    const STEP: u64 = 1 << 20;
    let Ok(other) = FileMedium::open(path) else { return false };
    let (Ok(length), Ok(others)) = (medium.len(), other.len()) else { return false };
    let read = |medium: &FileMedium, at: u64| {
        let step = usize::try_from(STEP.min(length - at)).unwrap_or_default();
        read_exact_at(medium, at, step).ok()
    };
    let mut starts = (0..length).step_by(STEP as usize);
    length == others && starts.all(|at| read(medium, at).is_some_and(|bytes| read(&other, at) == Some(bytes)))
}
