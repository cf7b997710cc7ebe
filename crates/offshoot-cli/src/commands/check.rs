//! `offshoot check`: all diagnostics of session files.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use offshoot_session::error::{Code, Diagnostic, Error, Severity};
use offshoot_session::json::quote;
use offshoot_session::medium::FileMedium;
use offshoot_session::text::one_line;

use crate::app::App;
use crate::error::{CommandError, FailureKind, Result};
use crate::transcript::screen::count;
use crate::ui::style::{BOLD, DIM, ERROR, NOTE, Painted, WARNING};

/// Report everything that is odd about sessions
///
/// Reads every line of every file and changes none. Folders are searched for
/// `*.jsonl` files. Notes and warnings are no damage; errors are: then the
/// exit code is 4.
///
/// --json prints an array with an element for each file:
///
///   [{"file", "diagnostics": [{"code", "severity", "line", "offset",
///     "entryId", "message"}]}]
///
/// `severity` is "note", "warning" or "error"; `line` counts from 1, or is
/// null; `offset` is in bytes; `entryId` is an id or null. Codes are stable.
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment, after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Paths of files and folders, ids, names, or `latest`
    #[arg(required = true, value_name = "SESSION")]
    sessions: Vec<String>,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  offshoot check latest
  offshoot check ~/.pi/agent/sessions
  offshoot check session.jsonl --json | jq '.[].diagnostics[].code'";

pub(crate) fn run(app: &App, args: &Args) -> Result<()> {
    let mut files = Vec::new();
    for given in &args.sessions {
        if Path::new(given).is_dir() {
            session_files(Path::new(given), &mut files)?;
        } else {
            files.push(app.file(given)?);
        }
    }
    let mut out = if args.json { app.ui.raw() } else { app.ui.text() };
    let mut progress = app.ui.progress("checking");
    let mut damaged = 0;
    for (at, file) in files.iter().enumerate() {
        progress.at(at, files.len());
        let mut diagnostics = check(file)?;
        diagnostics.extend(unanswered(app, file));
        damaged += usize::from(diagnostics.iter().any(|diagnostic| diagnostic.severity() == Severity::Error));
        if args.json {
            out.write_all(if at == 0 { b"[" } else { b",\n" })?;
            json(&mut out, file, &diagnostics)?;
        } else {
            text(&mut out, file, &diagnostics)?;
        }
    }
    drop(progress);
    if args.json {
        out.write_all(if files.is_empty() { b"[]\n" } else { b"]\n" })?;
    } else if files.is_empty() {
        writeln!(out, "no session files")?;
    }
    out.finish()?;
    if damaged > 0 {
        let what = format!("{damaged} of {} damaged", count(files.len(), "session"));
        return Err(CommandError::new(FailureKind::Damaged, what)
            .hint("what is damaged stays where it is; everything else can be read and continued"));
    }
    Ok(())
}

/// A prompt that another program is answering.
fn unanswered(app: &App, file: &Path) -> Option<Diagnostic> {
    let turns = app.options().turns?;
    turns.read_dir().ok()?.next()?.ok()?;
    // What cannot be opened has been reported.
    let session = app.open_file(file).ok()?;
    session.diagnostics().iter().find(|told| told.code == Code::UnansweredPrompt).cloned()
}

fn check(file: &Path) -> Result<Vec<Diagnostic>> {
    let medium =
        FileMedium::open(file).map_err(|error| CommandError::io(format!("open {}", file.display()), &error))?;
    match offshoot_session::check::check(&medium) {
        Err(Error::NotASession { line, offset, why, .. }) => Ok(vec![Diagnostic {
            code: Code::UnreadableSession,
            line: Some(line),
            offset,
            entry: None,
            message: format!("not a session: {why}"),
        }]),
        other => Ok(other?),
    }
}

fn text(out: &mut dyn Write, file: &Path, diagnostics: &[Diagnostic]) -> io::Result<()> {
    let file = one_line(&file.to_string_lossy(), 4096);
    if diagnostics.is_empty() {
        return writeln!(out, "{}: ok", Painted(BOLD, &file));
    }
    for diagnostic in diagnostics {
        let style = match diagnostic.severity() {
            Severity::Note => NOTE,
            Severity::Warning => WARNING,
            Severity::Error => ERROR,
        };
        let place = diagnostic.line.map_or_else(|| file.clone(), |line| format!("{file}:{line}"));
        let code = format!("[{}]", diagnostic.code.as_str());
        let (severity, message) = (diagnostic.severity().as_str(), one_line(&diagnostic.message, 1000));
        let severity = Painted(style, severity);
        writeln!(out, "{}: {severity}{}: {message}", Painted(BOLD, &place), Painted(DIM, &code))?;
    }
    Ok(())
}

fn json(out: &mut dyn Write, file: &Path, diagnostics: &[Diagnostic]) -> io::Result<()> {
    write!(out, "{{\"file\":{},\"diagnostics\":[", quote(&file.to_string_lossy()))?;
    for (at, diagnostic) in diagnostics.iter().enumerate() {
        write!(out, "{}{}", if at > 0 { "," } else { "" }, diagnostic.to_json())?;
    }
    out.write_all(b"]}")
}

/// Every session file below a folder, sorted by path. Links to folders are not followed: they may form cycles.
fn session_files(folder: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    let mut folders = vec![folder.to_path_buf()];
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        let failed = |error: io::Error| CommandError::io(format!("read folder {}", folder.display()), &error);
        for entry in std::fs::read_dir(&folder).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            if path.is_dir() {
                folders.extend(Some(path).filter(|path| !path.is_symlink()));
            } else if path.extension().is_some_and(|extension| extension == "jsonl") {
                found.push(path);
            }
        }
    }
    found.sort();
    files.extend(found);
    Ok(())
}
