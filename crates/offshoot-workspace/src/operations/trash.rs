//! Deletes sessions so that they can be restored.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use offshoot_session::clock::{Millis, to_iso};
use offshoot_session::json::Object;
use offshoot_session::list::{SessionInfo, session_info};
use offshoot_session::medium::FileMedium;
use offshoot_session::session::Session;
use offshoot_session::text::one_line;

use crate::failure::{Failure, FailureKind, Hint, Result};
use crate::given::SessionName;
use crate::input;
use crate::lookup::Access;
use crate::operation::{About, Finished, FrontEnd, Operation, OperationEffect, Output};
use crate::place::Place;
use crate::trash_folder::{Trash, Trashed};
use crate::when;
use crate::words::{Line, NextStep, Note, Role, TableColumn, Words, WordsTable};

input! {
    /// What `trash` gets.
    pub struct TrashInput {
        /// Paths, ids or their unique starts or ends, names, or `latest`
        session: Vec<SessionName> = arg (conflicts ["list"] unless ["list", "restore"]),
        /// List what is in the trash
        list: bool = flag (conflicts ["restore", "dry_run"]),
        /// Restore a session
        restore: bool = flag,
    }
}

/// Moves sessions to the trash, or restores one.
#[derive(Debug)]
pub struct MoveToTrash;

/// What is to be done, with the sessions.
#[derive(Debug)]
pub enum TrashPlan {
    /// These files go to the trash.
    Throw(Vec<PathBuf>),
    /// This one comes back.
    Restore(Box<(TrashRow, Trashed)>),
    /// What is in the trash.
    List(Vec<TrashRow>),
}

/// What was moved, and why not all was.
#[derive(Debug)]
pub struct MovedFiles(Vec<Trashed>, Option<Failure>);

/// A session that is or was in the trash.
#[derive(Debug, Clone)]
pub struct TrashRow {
    /// `None` if it cannot be read.
    info: Option<SessionInfo>,
    /// Where it was.
    path: PathBuf,
    /// Since when it is in the trash.
    trashed: Option<Millis>,
    /// Where it is there.
    file: Option<PathBuf>,
}

/// What came of `trash`.
#[derive(Debug)]
pub struct TrashOutput {
    rows: Vec<TrashRow>,
    what: &'static str,
    is_list: bool,
    /// What brings them back.
    next: Option<NextStep>,
    failure: Option<Failure>,
    place: Place,
}

impl Operation for MoveToTrash {
    type Input = TrashInput;
    type Plan = TrashPlan;
    type Written = MovedFiles;
    type Output = TrashOutput;

    const ABOUT: About = About {
        name: "trash",
        aliases: &["rm"],
        title: "Move sessions to the trash, or restore one",
        says: "The files move to the folder `trash` of the data folder and stay there. If\n\
               an argument does not match exactly one session, nothing is moved.\n\n\
               --restore moves a session back to its place, never over another file. Give\n\
               its id, a unique start of the id, its name or its old path. Without SESSION\n\
               it restores the session that was trashed last.\n\n\
               --json prints an array, with --list the session trashed last first:\n\n  \
               [{\"id\", \"name\"?, \"firstMessage\", \"path\", \"trashed\", \"file\"}]\n\n\
               `path` is where the session came from, `file` where it is now: null with\n\
               --dry-run, and after --restore.",
        examples: "Examples:\n  offshoot trash 0198c2\n  offshoot trash 'my refactoring' 'the one I miss'\n  \
                   offshoot trash --list\n  offshoot trash --restore",
        past: "trashed",
        effect: OperationEffect::Makes { dry_run: "Show what would be moved, and move nothing" },
    };
    // The open session may be among them.
    const NOT_ON: &'static [FrontEnd] = &[FrontEnd::Rpc, FrontEnd::Slash];

    fn session(_: &TrashInput) -> Option<&SessionName> {
        None
    }

    fn plan(place: &Place, _: Option<&Session>, input: &TrashInput) -> Result<TrashPlan> {
        let trash = Trash::of(place)?;
        match input.session.as_slice() {
            _ if input.list => Ok(TrashPlan::List(trash.list()?.iter().map(TrashRow::of).collect())),
            [] => restored(trash.list()?, None),
            [SessionName(given)] if input.restore => restored(trash.list()?, Some(given)),
            _ if input.restore => Err(Failure::refused(FailureKind::Usage, "--restore brings back one session")),
            several => thrown(place, several),
        }
    }

    fn make(place: &Place, _: Option<&mut Session>, plan: &TrashPlan) -> Result<Option<MovedFiles>> {
        let files = match plan {
            TrashPlan::List(_) => return Ok(None),
            TrashPlan::Restore(trashed) => {
                trashed.1.restore()?;
                return Ok(Some(MovedFiles(Vec::new(), None)));
            }
            TrashPlan::Throw(files) => files,
        };
        let (trash, mut moved) = (Trash::of(place)?, Vec::new());
        for file in files {
            match trash.put(file, place.now()) {
                Ok(trashed) => moved.push(trashed),
                Err(failure) if moved.is_empty() => return Err(failure),
                Err(failure) => return Ok(Some(MovedFiles(moved, Some(failure)))),
            }
        }
        Ok(Some(MovedFiles(moved, None)))
    }

    fn output(plan: TrashPlan, finished: Finished<'_, MovedFiles>) -> Result<TrashOutput> {
        let Finished { place, written, is_dry, .. } = finished;
        let is_list = matches!(plan, TrashPlan::List(_));
        let (moved, failure) = written.map_or((Vec::new(), None), |MovedFiles(moved, failure)| (moved, failure));
        let (rows, what) = match plan {
            TrashPlan::List(rows) => (rows, ""),
            TrashPlan::Restore(trashed) if is_dry => (vec![trashed.0], "would be brought back:"),
            TrashPlan::Restore(trashed) => (vec![TrashRow { file: None, ..trashed.0 }], "brought back:"),
            TrashPlan::Throw(files) if is_dry => {
                (files.into_iter().map(TrashRow::of_file).collect(), "would go to the trash:")
            }
            TrashPlan::Throw(files) => {
                let row = |(path, trashed): (PathBuf, &Trashed)| TrashRow { path, ..TrashRow::of(trashed) };
                (files.into_iter().zip(&moved).map(row).collect(), "in the trash:")
            }
        };
        let next = (!moved.is_empty() && failure.is_none()).then(|| {
            let says = match moved.len() {
                1 => "brings it back",
                _ => "brings back the last one; with the id, another one",
            };
            NextStep::of_all("trash", says).with("--restore")
        });
        Ok(TrashOutput { rows, what, is_list, next, failure, place: place.clone() })
    }
}

fn thrown(place: &Place, given: &[SessionName]) -> Result<TrashPlan> {
    let mut files: Vec<PathBuf> = Vec::new();
    for SessionName(given) in given {
        let file = place.file(given, Access::Write)?;
        place.note_opened(&file);
        if !files.contains(&file) {
            files.push(file);
        }
    }
    Ok(TrashPlan::Throw(files))
}

/// The matching session; of several that match equally, the most recently deleted.
fn restored(all: Vec<Trashed>, given: Option<&str>) -> Result<TrashPlan> {
    let missing = |message: String| Failure::refused(FailureKind::NotFound, message);
    let restore = |trashed: Trashed| Ok(TrashPlan::Restore(Box::new((TrashRow::of(&trashed), trashed))));
    let Some(given) = given else {
        return all.into_iter().next().map_or_else(|| Err(missing("the trash is empty".to_owned())), restore);
    };
    let fits = |trashed: &Trashed, is_whole: bool| {
        let info = info(&trashed.file);
        let by_id = info.as_ref().is_some_and(|info| info.id == given || (!is_whole && info.id.starts_with(given)));
        by_id || info.and_then(|info| info.name).as_deref() == Some(given) || trashed.origin == Path::new(given)
    };
    if let Some(whole) = all.iter().find(|trashed| fits(trashed, true)) {
        return restore(whole.clone());
    }
    let mut fitting: Vec<Trashed> = all.into_iter().filter(|trashed| fits(trashed, false)).collect();
    let mut ids: Vec<String> = fitting.iter().filter_map(|trashed| info(&trashed.file)).map(|info| info.id).collect();
    ids.sort();
    ids.dedup();
    if ids.len() > 1 {
        let why = format!("{given:?} fits several in the trash: {}", ids.join(", "));
        return Err(Failure::refused(FailureKind::Usage, why).hint(Hint::Text("give more of the id".to_owned())));
    }
    if fitting.is_empty() {
        let list = NextStep::of_all("trash", "shows what is in the trash").with("--list");
        return Err(missing(format!("nothing in the trash fits {given:?}")).hint(Hint::Step(list)));
    }
    restore(fitting.remove(0))
}

/// The list row of a session file; `None` if it cannot be read.
fn info(file: &Path) -> Option<SessionInfo> {
    session_info(&FileMedium::open(file).ok()?, None, false).ok()
}

impl TrashRow {
    fn of(trashed: &Trashed) -> Self {
        let Trashed { file, origin, at, .. } = trashed;
        Self { info: info(file), path: origin.clone(), trashed: Some(*at), file: Some(file.clone()) }
    }

    /// Of a file that is not in the trash.
    fn of_file(file: PathBuf) -> Self {
        Self { info: info(&file), path: file, trashed: None, file: None }
    }

    fn to_json(&self) -> String {
        let info = self.info.as_ref();
        Object::new()
            .str_or_null("id", info.map(|info| info.id.as_str()))
            .opt_str("name", info.and_then(|info| info.name.as_deref()))
            .str_or_null("firstMessage", info.map(|info| info.first_message.as_str()))
            .str("path", &self.path.to_string_lossy())
            .str_or_null("trashed", self.trashed.map(to_iso).as_deref())
            .str_or_null("file", self.file.as_deref().map(Path::to_string_lossy).as_deref())
            .finish()
    }

    fn words(&self) -> String {
        let words = |info: &SessionInfo| one_line(info.name.as_deref().unwrap_or(&info.first_message), 200);
        self.info.as_ref().map(words).unwrap_or_default()
    }
}

impl TrashOutput {
    fn path(&self, row: &TrashRow) -> String {
        one_line(&self.place.short(&row.path.to_string_lossy()), 400)
    }

    fn table(&self) -> WordsTable {
        let row = |row: &TrashRow| {
            let when = row.trashed.map(|at| when::ago(at, self.place.now())).unwrap_or_default();
            let id = row.info.as_ref().map_or_else(|| "?".to_owned(), |info| one_line(&info.id, 40));
            let is_named = row.info.as_ref().is_some_and(|info| info.name.is_some());
            (vec![when, id, row.words(), self.path(row)], if is_named { Role::Bold } else { Role::Plain })
        };
        WordsTable {
            columns: vec![
                TableColumn::right("WHEN", Role::Dim),
                TableColumn::left("ID", Role::Id),
                TableColumn::left("SESSION", Role::Plain).cut_to(40),
                TableColumn::left("FROM", Role::Dim),
            ],
            rows: self.rows.iter().map(row).collect(),
        }
    }
}

impl Output for TrashOutput {
    fn json(&self, out: &mut dyn Write) -> io::Result<()> {
        let rows: Vec<String> = self.rows.iter().map(TrashRow::to_json).collect();
        write!(out, "[{}]", rows.join(",\n"))
    }

    fn words(&self, words: &mut Words) {
        if self.is_list {
            words.is_long = true;
            words.table(self.table());
            if self.rows.is_empty() {
                words.notes.push(Note::Told("the trash is empty".to_owned()));
            }
            return;
        }
        for row in &self.rows {
            words.line(Line::from(format!("{} ", self.what)).and(Role::Bold, row.words()));
            if self.what.ends_with("brought back:") {
                words.line(Line::of(Role::Dim, self.path(row)));
            }
        }
        words.next.extend(self.next.clone());
    }

    fn failure(&self) -> Option<&Failure> {
        self.failure.as_ref()
    }
}
