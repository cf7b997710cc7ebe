//! Copies a session file into the store. One of another agent becomes a session of offshoot's.

mod many;

use std::io::{self, Write};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use offshoot_foreign::{Agent, ImportReport};
use offshoot_session::error::{Conflict, Error};
use offshoot_session::json::Object;
use offshoot_session::medium::{FileMedium, Medium as _, read_exact_at};
use offshoot_session::pieces::Pieces;
use offshoot_session::session::{Session, SpillPolicy};
use offshoot_session::store::DirStore;
use offshoot_session::text::counted;

use crate::failure::{Failure, Result};
use crate::foreign_import::{ForeignImport, report_json};
use crate::given::{FileName, FolderName, SessionName, Text};
use crate::input;
use crate::lookup::Access;
use crate::operation::{About, Finished, FrontEnd, Operation, OperationEffect, Output};
use crate::operations::fork::nothing_to_copy;
use crate::operations::list::ListedProgram;
use crate::place::Place;
use crate::words::{Note, Words};
use many::{ImportedOne, WantedImport};

input! {
    /// What `import` gets.
    pub struct ImportInput {
        /// The session file; of another agent also its id or a unique start of it
        file: Option<FileName> = arg (conflicts ["all", "agent", "since", "cwd"]),
        /// Import every session of other agents
        all: bool = flag,
        /// Those of this agent only
        agent: Option<ListedProgram> = option ("AGENT"),
        /// Those with activity since then: an age such as 2h, 3d, 1w, or a date
        since: Option<Text> = option ("TIME"),
        /// Those of this working directory only
        cwd: Option<FolderName> = option ("DIR"),
        /// List what has no place in the tree
        report: bool = flag,
        /// Of another agent: take an entry that may still grow as it is
        now: bool = flag,
        /// Of another agent: rebuild the source from the import, and compare
        verify: bool = flag,
    }
}

/// Copies a session file into the store.
#[derive(Debug)]
pub struct Import;

/// What is copied, and where to.
#[derive(Debug)]
pub struct ImportPlan {
    is_verified: bool,
    is_now: bool,
    /// Whether losses are listed.
    has_report: bool,
    file: PathBuf,
    to: ImportPlace,
    /// Another file of the store with the same id.
    known: Option<PathBuf>,
}

#[derive(Debug)]
enum ImportPlace {
    /// It is in the store already.
    Inside(PathBuf),
    /// Under this name, or the first free one after it.
    Beside(PathBuf),
    /// Another agent's.
    Foreign(Box<ForeignImport>),
    /// Many of other agents; they are only counted unless all are asked for.
    Many { wanted: Vec<WantedImport>, is_all: bool },
}

/// A file of the store.
#[derive(Debug)]
pub struct ImportOutput {
    /// Its path.
    pub path: PathBuf,
    /// Says that it or its id was there already.
    pub note: Option<String>,
    /// Of another agent's session: what was imported.
    pub report: Option<ImportReport>,
    /// The sha256 of the source, if it was rebuilt.
    pub sha256: Option<String>,
    /// Of many sessions: what was or would be imported, and what failed.
    many: Option<ManyOutput>,
    has_report: bool,
}

#[derive(Debug)]
struct ManyOutput {
    wanted: Vec<WantedImport>,
    is_all: bool,
    done: Option<ManyImported>,
}

/// A path in the store.
#[derive(Debug)]
pub struct ImportedFile {
    path: PathBuf,
    /// Whether the same is there already.
    note: Option<String>,
    sha256: Option<String>,
    many: Option<ManyImported>,
}

/// What came of each session, and what failed.
type ManyImported = (Vec<ImportedOne>, Vec<Failure>);

impl ImportedFile {
    fn new(path: PathBuf, note: Option<&str>) -> Self {
        Self { path, note: note.map(str::to_owned), sha256: None, many: None }
    }
}

impl Operation for Import {
    type Input = ImportInput;
    type Plan = ImportPlan;
    type Written = ImportedFile;
    type Output = ImportOutput;

    const ABOUT: About = About {
        name: "import",
        aliases: &[],
        title: "Copy a session file into the store",
        says: "The copy has the same bytes, ids and file name. It goes to the folder that\n\
               the store has for the session's working directory. If another file has that\n\
               name, -1, -2 and so on is added; no file is overwritten. A file that is in\n\
               the store already stays where it is.\n\n\
               The copy comes from elsewhere: `-c` and `latest` pass over it until it was\n\
               opened by its id, name or path.\n\n\
               A session of another agent becomes a session of offshoot's, with the\n\
               agent's ids, all branches and every byte of its records. Importing it again\n\
               appends what the agent has added; if you have continued the session here,\n\
               that goes to a session beside it. What may still grow waits until the file\n\
               was still for ten minutes, unless --now takes it. --verify rebuilds the\n\
               agent's file from the import and compares it byte for byte. Its subagents\n\
               come along as sessions beside it, and so do files that belong to it. Rows of\n\
               a store that the agent has changed become newer versions beside the old ones.\n\
               --report lists what has no place in the tree.\n\n\
               Without FILE it says how many sessions of other agents there are. --all imports\n\
               them, and --agent, --since and --cwd choose some.\n\n\
               Prints the path of the file in the store; with --json {\"path\", \"note\"}, where\n\
               the note says that the file or its id is there already, or is null. Of\n\
               another agent's session it also has \"report\": {\"records\", \"entries\", \"kept\",\n\
               \"held\", \"files\", \"subagents\", \"losses\": [{\"code\", \"count\", \"first\"}]},\n\
               and with --verify \"sha256\".\n\
               Of many: {\"sessions\": [{\"agent\", \"source\", \"path\", \"note\", \"report\", \"sha256\"?}],\n\
               \"failed\"}; before they are imported {\"agent\", \"source\", \"bytes\"} of each.",
        examples: "Examples:\n  offshoot import ~/Downloads/session.jsonl\n  offshoot import --all --since 4w",
        past: "imported",
        effect: OperationEffect::Makes { dry_run: "Show what would be copied, and where, and write nothing" },
    };
    // Its own command opens the copy.
    const NOT_ON: &'static [FrontEnd] = &[FrontEnd::Slash];

    fn session(_: &ImportInput) -> Option<&SessionName> {
        None
    }

    fn plan(place: &Place, _: Option<&Session>, input: &ImportInput) -> Result<ImportPlan> {
        let (is_verified, is_now, has_report) = (input.verify, input.now, input.report);
        let Some(given) = &input.file else {
            let wanted = many::wanted(place, input)?;
            let to = ImportPlace::Many { wanted, is_all: input.all };
            return Ok(ImportPlan { is_verified, is_now, has_report, file: PathBuf::new(), to, known: None });
        };
        let file = place.path(&given.0);
        let words = given.0.to_string_lossy();
        let file = match (file.try_exists(), place.store()) {
            (Ok(false), Ok(_)) => match place.named_of_agents(&words, Access::Read)? {
                Some(found) => found,
                // A word of an agent says that no file is meant.
                None if words.split_once(':').is_some_and(|(word, _)| Agent::from_word(word).is_some()) => {
                    return Err(Error::SessionNotFound { given: words.into_owned() }.into());
                }
                None => file,
            },
            _ => file,
        };
        if let Some(agent) = place.agent_of_session(&file) {
            let foreign = ForeignImport::plan(place, agent, &file, input.now)?;
            let to = ImportPlace::Foreign(Box::new(foreign));
            return Ok(ImportPlan { is_verified, is_now, has_report, file, to, known: None });
        }
        let session = place.open_file(&file, SpillPolicy::Temporary)?;
        if std::fs::metadata(&file).is_ok_and(|meta| meta.len() == 0) {
            return Err(nothing_to_copy());
        }
        let store = place.store()?;
        let known = store.path_of(session.id()).ok();
        let to = match inside(store, &file) {
            Some(path) => ImportPlace::Inside(path),
            None => {
                let here = place.cwd().to_string_lossy();
                let cwd = session.cwd().filter(|cwd| !cwd.is_empty()).unwrap_or(&here);
                let target = store.path_for(cwd, session.id(), session.header().timestamp().unwrap_or_default());
                ImportPlace::Beside(target.with_file_name(file_name(&file, &target)))
            }
        };
        Ok(ImportPlan { is_verified: false, is_now, has_report, file, to, known })
    }

    fn make(place: &Place, _: Option<&mut Session>, plan: &ImportPlan) -> Result<Option<ImportedFile>> {
        match &plan.to {
            ImportPlace::Inside(_) => Ok(None),
            ImportPlace::Beside(target) => copy(place.store()?, &plan.file, target).map(Some),
            ImportPlace::Foreign(foreign) => {
                let done = foreign.make(place)?;
                let verified = if plan.is_verified { Some(foreign.verify(place)?.sha256) } else { None };
                Ok(Some(ImportedFile { path: done.target, note: done.note, sha256: verified, many: None }))
            }
            ImportPlace::Many { is_all: false, .. } => Ok(None),
            ImportPlace::Many { wanted, .. } => {
                let many = many::import_all(place, wanted, |one| one.import(place, plan));
                Ok(Some(ImportedFile { many: Some(many), ..ImportedFile::new(PathBuf::new(), None) }))
            }
        }
    }

    fn output(plan: ImportPlan, finished: Finished<'_, ImportedFile>) -> Result<ImportOutput> {
        let (mut report, mut many) = (None, None);
        let has_report = plan.has_report;
        let placed = match (plan.to, finished.written) {
            (ImportPlace::Inside(path), _) => ImportedFile::new(path, Some("the file is in the store already")),
            (ImportPlace::Foreign(foreign), placed) => {
                report = Some(foreign.report.clone());
                placed.unwrap_or_else(|| ImportedFile::new(foreign.target().to_path_buf(), foreign.note().as_deref()))
            }
            (ImportPlace::Many { wanted, is_all }, placed) => {
                many = Some(ManyOutput { wanted, is_all, done: placed.and_then(|placed| placed.many) });
                ImportedFile::new(PathBuf::new(), None)
            }
            (ImportPlace::Beside(_), Some(placed)) => placed,
            (ImportPlace::Beside(target), None) => free_place(&plan.file, &target)?,
        };
        let has_id = |other: PathBuf| format!("{} has the same id; name a session by its path", other.display());
        let note = placed.note.or_else(|| plan.known.map(has_id));
        Ok(ImportOutput { path: placed.path, note, report, sha256: placed.sha256, many, has_report })
    }
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

fn medium_of(file: &Path) -> Result<FileMedium> {
    FileMedium::open(file).map_err(|error| Failure::io(format!("open {}", file.display()), &error))
}

/// Copies the file to the first free name; a file with the same bytes counts as the copy.
fn copy(store: &DirStore, file: &Path, target: &Path) -> Result<ImportedFile> {
    let folder = target.parent().unwrap_or(Path::new("."));
    let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder);
    made.map_err(|error| Failure::io(format!("create folder {}", folder.display()), &error))?;
    let medium = medium_of(file)?;
    let length = medium.len().map_err(|error| Failure::io(format!("read {}", file.display()), &error))?;
    let mut pieces = Pieces::default();
    pieces.range(0, length);
    let mut number = 0;
    loop {
        let path = numbered(target, number);
        match pieces.create(&medium, &path) {
            Ok(()) => {
                store.note_import(&path)?;
                return Ok(ImportedFile::new(path, None));
            }
            Err(Error::Conflict { why: Conflict::Exists, .. }) if is_same(&medium, &path) => {
                return Ok(ImportedFile::new(path, Some(IS_THERE)));
            }
            Err(Error::Conflict { why: Conflict::Exists, .. }) => number += 1,
            Err(error) => return Err(error.into()),
        }
    }
}

/// Where [`copy`] would copy the file to.
fn free_place(file: &Path, target: &Path) -> Result<ImportedFile> {
    let medium = medium_of(file)?;
    let mut number = 0;
    loop {
        let path = numbered(target, number);
        if std::fs::symlink_metadata(&path).is_err() {
            return Ok(ImportedFile::new(path, None));
        }
        if is_same(&medium, &path) {
            return Ok(ImportedFile::new(path, Some(IS_THERE)));
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

impl Output for ImportOutput {
    fn json(&self, out: &mut dyn Write) -> io::Result<()> {
        if let Some(many) = &self.many {
            let sessions: Vec<String> = match &many.done {
                Some((done, _)) => done.iter().map(ImportedOne::json).collect(),
                None => many.wanted.iter().map(WantedImport::json).collect(),
            };
            let object = Object::new().raw("sessions", format!("[{}]", sessions.join(",")));
            let failed = many.done.as_ref().map_or(0, |(_, failed)| failed.len());
            return out.write_all(object.raw("failed", failed).finish().as_bytes());
        }
        let object = Object::new().str("path", &self.path.to_string_lossy());
        let object = object.str_or_null("note", self.note.as_deref());
        let object = match &self.report {
            Some(report) => object.raw("report", report_json(report)),
            None => object,
        };
        out.write_all(object.opt_str("sha256", self.sha256.as_deref()).finish().as_bytes())
    }

    fn failed(&self) -> &[Failure] {
        self.many.as_ref().and_then(|many| many.done.as_ref()).map_or(&[], |(_, failed)| failed)
    }

    fn failure(&self) -> Option<&Failure> {
        self.failed().first()
    }

    fn words(&self, words: &mut Words) {
        if let Some(many) = &self.many {
            many.words(words, self.has_report);
            return;
        }
        words.is_exact = true;
        words.line(self.path.display().to_string());
        words.notes.extend(self.note.clone().map(Note::Told));
        if let Some(report) = &self.report {
            let held = if report.held > 0 { format!(", {} held back", report.held) } else { String::new() };
            let kept = counted(usize::try_from(report.kept).unwrap_or(usize::MAX), "record", "records");
            let files = counted(usize::try_from(report.files).unwrap_or(usize::MAX), "file", "files");
            let files = if report.files > 0 { format!(", {files} beside it") } else { String::new() };
            let subagents = counted(usize::try_from(report.subagents).unwrap_or(usize::MAX), "subagent", "subagents");
            let subagents = if report.subagents > 0 { format!(", with {subagents}") } else { String::new() };
            let told = format!("{} entries; {kept} kept as bytes only{held}{files}{subagents}", report.entries);
            words.notes.push(Note::Told(told));
            if self.has_report {
                losses(report).for_each(|line| words.notes.push(Note::Told(line)));
            }
        }
        if self.sha256.is_some() {
            words.notes.push(Note::Told("the import gives back the source byte for byte".to_owned()));
        }
    }
}

impl ManyOutput {
    fn words(&self, words: &mut Words, has_report: bool) {
        let Some((done, failed)) = &self.done else {
            if self.wanted.is_empty() {
                words.line("no session of another agent fits");
                return;
            }
            words.line(format!("would import {}", many::words_of(&self.wanted)));
            if !self.is_all {
                words.notes.push(Note::Helps("--all imports them; --agent, --since and --cwd choose some".to_owned()));
            }
            return;
        };
        let mut sum = ImportReport::default();
        for one in done {
            words.line(one.line());
            sum.add(&one.report);
        }
        let failures = if failed.is_empty() { String::new() } else { format!(", {} failed", failed.len()) };
        let told = format!(
            "{} imported{failures}: {} records, {} entries, {} kept as bytes only, {} held back",
            counted(done.len(), "session", "sessions"),
            sum.records,
            sum.entries,
            sum.kept,
            sum.held
        );
        words.notes.push(Note::Told(told));
        if has_report {
            losses(&sum).for_each(|line| words.notes.push(Note::Told(line)));
        }
    }
}

/// What has no place in the tree, a line each.
fn losses(report: &ImportReport) -> impl Iterator<Item = String> {
    report.losses.iter().map(|(code, (count, first))| format!("{code}: {count}, first in record {first}"))
}
