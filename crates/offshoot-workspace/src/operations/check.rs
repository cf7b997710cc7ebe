//! Reports everything that is odd about session files.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use offshoot_session::error::{Code, Diagnostic, Error, Severity};
use offshoot_session::json::Object;
use offshoot_session::medium::FileMedium;
use offshoot_session::session::{Session, SpillPolicy};
use offshoot_session::text::{counted, one_line};

use crate::failure::{Failure, FailureKind, Hint, Result};
use crate::given::SessionName;
use crate::input;
use crate::lookup::Access;
use crate::operation::{About, CommandGroup, Finished, FrontEnd, Operation, OperationEffect, Output};
use crate::place::Place;
use crate::several::FailedInputs;
use crate::words::{Line, Role, Words};

input! {
    /// What `check` gets.
    pub struct CheckInput {
        /// Paths of files and folders, ids, names, or `latest`
        session: Vec<SessionName> = arg (needed),
        /// Also list the files of a folder in which nothing is odd
        verbose: bool = flag ('v'),
    }
}

/// Reports what is odd about sessions.
#[derive(Debug)]
pub struct Check;

/// What was found in what was named.
#[derive(Debug)]
pub struct CheckOutput {
    inputs: Vec<CheckedInput>,
    verbose: bool,
    unread: FailedInputs,
    failure: Option<Failure>,
}

#[derive(Debug)]
struct CheckedInput {
    /// The folder, if it is one.
    folder: Option<PathBuf>,
    files: Vec<CheckedFile>,
}

#[derive(Debug)]
struct CheckedFile {
    file: PathBuf,
    /// What is odd about it, or why it could not be read.
    found: std::result::Result<Vec<Diagnostic>, String>,
}

impl CheckedFile {
    fn is_ok(&self) -> bool {
        self.found.as_ref().is_ok_and(Vec::is_empty)
    }

    fn is_damaged(&self) -> bool {
        let is_error = |diagnostic: &Diagnostic| diagnostic.severity() == Severity::Error;
        self.found.as_ref().is_ok_and(|found| found.iter().any(is_error))
    }
}

#[derive(Debug, Default, Clone, Copy)]
struct CheckTotals {
    files: usize,
    /// Not damaged.
    ok: usize,
    /// Not damaged, and with notes or warnings.
    noted: usize,
    damaged: usize,
}

impl CheckTotals {
    fn of<'a>(files: impl Iterator<Item = &'a CheckedFile>) -> Self {
        files.fold(Self::default(), |all, checked| {
            let is_read = checked.found.is_ok();
            let is_damaged = checked.is_damaged();
            Self {
                files: all.files + 1,
                ok: all.ok + usize::from(is_read && !is_damaged),
                noted: all.noted + usize::from(is_read && !is_damaged && !checked.is_ok()),
                damaged: all.damaged + usize::from(is_damaged),
            }
        })
    }

    fn noted(self) -> String {
        if self.noted > 0 { format!(" ({} with notes)", self.noted) } else { String::new() }
    }
}

impl Operation for Check {
    type Input = CheckInput;
    type Plan = CheckOutput;
    type Written = ();
    type Output = CheckOutput;

    const ABOUT: About = About {
        name: "check",
        aliases: &[],
        title: "Report problems in session files",
        says: "Reads every line of every file and changes none. Folders are searched for\n\
               `*.jsonl` files. Below the name of a folder are its files with problems; -v\n\
               lists all files. A file that cannot be read is reported, and the others are\n\
               still checked. The report ends with a total.\n\n\
               Notes and warnings are not damage. Errors are, and the exit code is then 4.\n\n\
               --json prints an array with an element for each file:\n\n  \
               [{\"file\", \"diagnostics\": [{\"code\", \"severity\", \"line\", \"offset\",\n    \
               \"entryId\", \"message\"}], \"error\"?}]\n\n\
               `error` says why a file could not be read. `severity` is \"note\", \"warning\"\n\
               or \"error\". `line` counts from 1, or is null; `offset` is in bytes;\n\
               `entryId` is an id or null. Codes do not change between versions.",
        examples: "Examples:\n  offshoot check latest\n  offshoot check ~/.pi/agent/sessions\n  \
                   offshoot check session.jsonl --json | jq '.[].diagnostics[].code'",
        past: "checked",
        effect: OperationEffect::Reads,
    };
    const GROUP: CommandGroup = CommandGroup::Maintain;
    const NOT_ON: &'static [FrontEnd] = &[FrontEnd::Slash];

    fn session(_: &CheckInput) -> Option<&SessionName> {
        None
    }

    fn plan(place: &Place, _: Option<&Session>, input: &CheckInput) -> Result<CheckOutput> {
        let mut unread = FailedInputs::none_of(input.session.len());
        let mut inputs = Vec::new();
        for SessionName(given) in &input.session {
            let folder = place.session_path(given);
            if folder.is_dir() {
                inputs.push(check_folder(place, folder, &mut unread)?);
                continue;
            }
            let file = place.file(given, Access::Read);
            let path = file.as_ref().map_or_else(|_| PathBuf::from(given), Clone::clone);
            let checked = file.and_then(|file| check(place, &file));
            inputs.push(CheckedInput { folder: None, files: vec![caught(path, checked, &mut unread)?] });
        }
        let failure = damage(&inputs).or_else(|| unread.end(("input", "inputs"), "read"));
        Ok(CheckOutput { inputs, verbose: input.verbose, unread, failure })
    }

    fn output(checked: CheckOutput, _: Finished<'_, ()>) -> Result<CheckOutput> {
        Ok(checked)
    }
}

fn check_folder(place: &Place, folder: PathBuf, failed: &mut FailedInputs) -> Result<CheckedInput> {
    let (files, unread) = session_files(&folder);
    failed.expect_several(files.len() + unread.len());
    for failure in unread {
        failed.catch::<()>(Err(failure))?;
    }
    let progress = place.progress("checking");
    let mut checked = Vec::new();
    let all = files.len() as u64;
    for (at, file) in files.into_iter().enumerate() {
        progress(at as u64, all);
        let found = check(place, &file);
        checked.push(caught(file, found, failed)?);
    }
    Ok(CheckedInput { folder: Some(folder), files: checked })
}

fn caught(file: PathBuf, checked: Result<Vec<Diagnostic>>, failed: &mut FailedInputs) -> Result<CheckedFile> {
    let why = checked.as_ref().err().map(Failure::on_one_line).unwrap_or_default();
    Ok(CheckedFile { file, found: failed.catch(checked)?.ok_or(why) })
}

/// A prompt that another program is answering.
fn unanswered(place: &Place, file: &Path) -> Option<Diagnostic> {
    place.turns()?.read_dir().ok()?.next()?.ok()?;
    // What cannot be opened has been reported.
    let session = place.open_file(file, SpillPolicy::Temporary).ok()?;
    session.diagnostics().iter().find(|told| told.code == Code::UnansweredPrompt).cloned()
}

fn check(place: &Place, file: &Path) -> Result<Vec<Diagnostic>> {
    let medium = FileMedium::open(file).map_err(|error| Failure::io(format!("open {}", file.display()), &error))?;
    match offshoot_session::check::check(&medium) {
        Ok(diagnostics) => Ok(diagnostics.into_iter().chain(unanswered(place, file)).collect()),
        Err(Error::NotASession { .. }) if place.agent_of_session(file).is_some() => {
            Ok(place.open_to_read(file)?.diagnostics().to_vec())
        }
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

/// Every session file below a folder, sorted by path, and the folders that cannot be read. Links to folders are not
/// followed: they may form cycles.
fn session_files(folder: &Path) -> (Vec<PathBuf>, Vec<Failure>) {
    let mut folders = vec![folder.to_path_buf()];
    let (mut found, mut unread) = (Vec::new(), Vec::new());
    while let Some(folder) = folders.pop() {
        let listed = std::fs::read_dir(&folder).and_then(Iterator::collect::<io::Result<Vec<_>>>);
        let entries = match listed {
            Ok(entries) => entries,
            Err(error) => {
                unread.push(Failure::io(format!("read folder {}", folder.display()), &error));
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

fn name(path: &Path) -> String {
    one_line(&path.to_string_lossy(), 4096)
}

impl CheckedFile {
    /// Its name; below the folder that was named only the rest of its path, indented.
    fn shown(&self, folder: Option<&Path>) -> String {
        match folder.and_then(|folder| self.file.strip_prefix(folder).ok()) {
            Some(rest) => format!("  {}", name(rest)),
            None => name(&self.file),
        }
    }

    fn say(&self, folder: Option<&Path>, words: &mut Words) {
        for diagnostic in self.found.iter().flatten() {
            let role = match diagnostic.severity() {
                Severity::Note => Role::Note,
                Severity::Warning => Role::Warning,
                Severity::Error => Role::Error,
            };
            let file = self.shown(folder);
            let place = diagnostic.line.map_or_else(|| file.clone(), |line| format!("{file}:{line}"));
            let line = Line::of(Role::Bold, place).and(Role::Plain, ": ").and(role, diagnostic.severity().as_str());
            let line = line.and(Role::Dim, format!("[{}]", diagnostic.code.as_str()));
            words.line(line.and(Role::Plain, format!(": {}", one_line(&diagnostic.message, 1000))));
        }
    }

    fn say_ok(&self, folder: Option<&Path>, words: &mut Words) {
        if self.is_ok() {
            words.line(Line::of(Role::Bold, self.shown(folder)).and(Role::Plain, ": ok"));
        }
    }

    fn json(&self, out: &mut dyn Write) -> io::Result<()> {
        let diagnostics: Vec<String> = self.found.iter().flatten().map(Diagnostic::to_json).collect();
        let object = Object::new().str("file", &self.file.to_string_lossy());
        let object = object.raw("diagnostics", format!("[{}]", diagnostics.join(",")));
        out.write_all(object.opt_str("error", self.found.as_ref().err().map(String::as_str)).finish().as_bytes())
    }
}

impl CheckedInput {
    fn say(&self, verbose: bool, words: &mut Words) {
        let folder = self.folder.as_deref();
        if let Some(folder) = folder {
            words.line(Line::of(Role::Bold, name(folder)).and(Role::Plain, format!(": {}", self.in_total())));
        }
        for checked in &self.files {
            checked.say(folder, words);
            if verbose || folder.is_none() {
                checked.say_ok(folder, words);
            }
        }
    }

    fn in_total(&self) -> String {
        let totals = CheckTotals::of(self.files.iter());
        match (totals.files, totals.ok) {
            (0, _) => "no session files".to_owned(),
            (all, ok) if all == ok => format!("{} ok{}", counted(all, "file", "files"), totals.noted()),
            (all, ok) => format!("{ok} of {} ok{}", counted(all, "file", "files"), totals.noted()),
        }
    }
}

fn damage(inputs: &[CheckedInput]) -> Option<Failure> {
    let CheckTotals { files, damaged, .. } = CheckTotals::of(inputs.iter().flat_map(|input| &input.files));
    let what = format!("{damaged} of {} damaged", counted(files, "session", "sessions"));
    let help = "what is damaged stays where it is; everything else can be read and continued";
    (damaged > 0).then(|| Failure::refused(FailureKind::Damaged, what).hint(Hint::Text(help.to_owned())))
}

impl CheckOutput {
    fn files(&self) -> impl Iterator<Item = &CheckedFile> {
        self.inputs.iter().flat_map(|input| &input.files)
    }
}

impl Output for CheckOutput {
    fn json(&self, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(b"[")?;
        for (at, checked) in self.files().enumerate() {
            out.write_all(if at == 0 { b"" } else { b",\n" })?;
            checked.json(out)?;
        }
        out.write_all(b"]")
    }

    fn words(&self, words: &mut Words) {
        self.inputs.iter().for_each(|input| input.say(self.verbose, words));
        if self.inputs.len() > 1 {
            let totals = CheckTotals::of(self.files());
            let CheckTotals { files, ok, damaged, .. } = totals;
            let unread = match self.unread.all().len() {
                0 => String::new(),
                unread => format!(", {unread} could not be read"),
            };
            let files = counted(files, "file", "files");
            words.line(format!("{files}: {ok} ok{}, {damaged} damaged{unread}", totals.noted()));
        }
    }

    fn failed(&self) -> &[Failure] {
        self.unread.all()
    }

    fn failure(&self) -> Option<&Failure> {
        self.failure.as_ref()
    }
}
