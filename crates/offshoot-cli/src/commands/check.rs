//! `offshoot check`: all diagnostics of session files.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use offshoot_app::app::App;
use offshoot_app::error::{CommandError, FailureKind, Result};
use offshoot_app::ui::Output;
use offshoot_app::ui::style::{BOLD, DIM, ERROR, NOTE, Painted, WARNING};
use offshoot_session::error::{Code, Diagnostic, Error, Severity};
use offshoot_session::json::Object;
use offshoot_session::medium::FileMedium;
use offshoot_session::text::{counted, one_line};

use crate::failures::Failures;

/// Report everything that is odd about sessions
///
/// Reads every line of every file and changes none. Folders are searched for
/// `*.jsonl` files. A folder in which nothing is odd gets one line; -v lists
/// its files. A file that cannot be read is reported, and the others are still
/// checked; a total ends the report.
///
/// Notes and warnings are not damage. Errors are, and the exit code is then 4.
///
/// --json prints an array with an element for each file:
///
///   [{"file", "diagnostics": [{"code", "severity", "line", "offset",
///     "entryId", "message"}], "error"?}]
///
/// `error` says why a file could not be read. `severity` is "note", "warning"
/// or "error". `line` counts from 1, or is null; `offset` is in bytes;
/// `entryId` is an id or null. Codes do not change between versions.
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment, after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Paths of files and folders, ids, names, or `latest`
    #[arg(required = true, value_name = "SESSION")]
    sessions: Vec<String>,

    /// Also list the files of a folder in which nothing is odd
    #[arg(short, long)]
    verbose: bool,

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
    let mut run = CheckRun {
        app,
        args,
        out: if args.json { app.ui.raw() } else { app.ui.text() },
        failures: Failures::new(app, args.sessions.len()),
        totals: Totals::default(),
    };
    for given in &args.sessions {
        let folder = app.environment.path(given);
        if folder.is_dir() {
            run.folder(&folder)?;
            continue;
        }
        let file = app.file(given);
        let path = file.as_ref().map_or_else(|_| PathBuf::from(given), Clone::clone);
        let checked = file.and_then(|file| check(app, &file));
        if run.input(&path, checked)? && !args.json {
            said_ok(&mut run.out, &path)?;
        }
    }
    run.finish()
}

#[derive(Debug, Default, Clone, Copy)]
struct Totals {
    files: usize,
    /// Not damaged.
    ok: usize,
    /// Not damaged, and with notes or warnings.
    noted: usize,
    damaged: usize,
}

impl Totals {
    fn noted(self) -> String {
        if self.noted > 0 { format!(" ({} with notes)", self.noted) } else { String::new() }
    }
}

struct CheckRun<'a> {
    app: &'a App,
    args: &'a Args,
    out: Output,
    failures: Failures<'a>,
    totals: Totals,
}

impl CheckRun<'_> {
    fn folder(&mut self, folder: &Path) -> Result<()> {
        let (files, unread) = session_files(folder);
        let before = self.totals;
        self.failures.expect_several(files.len() + unread.len());
        for error in unread {
            self.failures.catch::<()>(&mut self.out, Err(error))?;
        }
        let mut progress = self.app.ui.progress("checking");
        for (at, file) in files.iter().enumerate() {
            progress.at(at, files.len());
            let checked = check(self.app, file);
            if self.input(file, checked)? && self.args.verbose && !self.args.json {
                said_ok(&mut self.out, file)?;
            }
        }
        drop(progress);
        if self.args.json {
            return Ok(());
        }
        let name = one_line(&folder.to_string_lossy(), 4096);
        let here = Totals { noted: self.totals.noted - before.noted, ..self.totals };
        let said = match (files.len(), self.totals.ok - before.ok) {
            (0, _) => "no session files".to_owned(),
            (all, ok) if all == ok => format!("{} ok{}", counted(all, "file", "files"), here.noted()),
            (all, ok) => format!("{ok} of {} ok{}", counted(all, "file", "files"), here.noted()),
        };
        Ok(writeln!(self.out, "{}: {said}", Painted(BOLD, &name))?)
    }

    /// Reports one file; returns whether nothing is odd about it.
    fn input(&mut self, file: &Path, checked: Result<Vec<Diagnostic>>) -> Result<bool> {
        let why = checked.as_ref().err().map(CommandError::on_one_line);
        let diagnostics = self.failures.catch(&mut self.out, checked)?;
        self.totals.files += 1;
        if self.args.json {
            self.out.write_all(if self.totals.files == 1 { b"[" } else { b",\n" })?;
            json(&mut self.out, file, diagnostics.as_deref().unwrap_or_default(), why.as_deref())?;
        }
        let Some(diagnostics) = diagnostics else { return Ok(false) };
        let is_damaged = diagnostics.iter().any(|diagnostic| diagnostic.severity() == Severity::Error);
        self.totals.damaged += usize::from(is_damaged);
        self.totals.ok += usize::from(!is_damaged);
        self.totals.noted += usize::from(!is_damaged && !diagnostics.is_empty());
        if !self.args.json {
            text(&mut self.out, file, &diagnostics)?;
        }
        Ok(diagnostics.is_empty())
    }

    fn finish(mut self) -> Result<()> {
        let Totals { files, ok, damaged, .. } = self.totals;
        let noted = self.totals.noted();
        let unread = self.failures.count;
        if self.args.json {
            self.out.write_all(if files == 0 { b"[]\n" } else { b"]\n" })?;
        } else if self.args.sessions.len() > 1 {
            let unread = if unread > 0 { format!(", {unread} could not be read") } else { String::new() };
            writeln!(self.out, "{}: {ok} ok{noted}, {damaged} damaged{unread}", counted(files, "file", "files"))?;
        }
        self.out.finish()?;
        if damaged > 0 {
            let what = format!("{damaged} of {} damaged", counted(files, "session", "sessions"));
            return Err(CommandError::new(FailureKind::Damaged, what)
                .hint("what is damaged stays where it is; everything else can be read and continued"));
        }
        self.failures.outcome(&format!("{} could not be read", counted(unread, "input", "inputs")))
    }
}

/// A prompt that another program is answering.
fn unanswered(app: &App, file: &Path) -> Option<Diagnostic> {
    let turns = app.options().turns?;
    turns.read_dir().ok()?.next()?.ok()?;
    // What cannot be opened has been reported.
    let session = app.open_file(file).ok()?;
    session.diagnostics().iter().find(|told| told.code == Code::UnansweredPrompt).cloned()
}

fn check(app: &App, file: &Path) -> Result<Vec<Diagnostic>> {
    let medium =
        FileMedium::open(file).map_err(|error| CommandError::io(format!("open {}", file.display()), &error))?;
    match offshoot_session::check::check(&medium) {
        Ok(diagnostics) => Ok(diagnostics.into_iter().chain(unanswered(app, file)).collect()),
        Err(Error::NotASession { line, offset, why, .. }) => Ok(vec![Diagnostic {
            code: Code::UnreadableSession,
            line: Some(line),
            offset,
            entry: None,
            message: format!("not a session: {why}"),
        }]),
        Err(error) => Err(error.into()),
    }
}

fn text(out: &mut dyn Write, file: &Path, diagnostics: &[Diagnostic]) -> io::Result<()> {
    let file = one_line(&file.to_string_lossy(), 4096);
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

fn said_ok(out: &mut dyn Write, file: &Path) -> io::Result<()> {
    writeln!(out, "{}: ok", Painted(BOLD, &one_line(&file.to_string_lossy(), 4096)))
}

fn json(out: &mut dyn Write, file: &Path, diagnostics: &[Diagnostic], why: Option<&str>) -> io::Result<()> {
    let diagnostics: Vec<String> = diagnostics.iter().map(Diagnostic::to_json).collect();
    let object = Object::new().str("file", &file.to_string_lossy());
    let object = object.raw("diagnostics", format!("[{}]", diagnostics.join(",")));
    out.write_all(object.opt_str("error", why).finish().as_bytes())
}

/// Every session file below a folder, sorted by path, and the folders that cannot be read. Links to folders are not
/// followed: they may form cycles.
fn session_files(folder: &Path) -> (Vec<PathBuf>, Vec<CommandError>) {
    let mut folders = vec![folder.to_path_buf()];
    let (mut found, mut unread) = (Vec::new(), Vec::new());
    while let Some(folder) = folders.pop() {
        let listed = std::fs::read_dir(&folder).and_then(Iterator::collect::<io::Result<Vec<_>>>);
        let entries = match listed {
            Ok(entries) => entries,
            Err(error) => {
                unread.push(CommandError::io(format!("read folder {}", folder.display()), &error));
                continue;
            }
        };
        for path in entries.iter().map(std::fs::DirEntry::path) {
            if path.is_dir() {
                folders.extend(Some(path).filter(|path| !path.is_symlink()));
            } else if path.extension().is_some_and(|extension| extension == "jsonl") {
                found.push(path);
            }
        }
    }
    found.sort();
    (found, unread)
}
