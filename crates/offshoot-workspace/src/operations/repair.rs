//! Repairs a damaged session file and keeps every byte; lists, copies and discards entries that wait outside sessions.

mod waiting;

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use offshoot_session::id::EntryId;
use offshoot_session::json::{Object, quote};
use offshoot_session::medium::FileMedium;
use offshoot_session::repair::{Action, RepairPlan, RepairStep, Repaired, plan};
use offshoot_session::session::{Session, SpillPolicy};
use offshoot_session::text::{counted, one_line, shell_word};

use crate::failure::{Failure, FailureKind, Hint, Result};
use crate::given::{FileName, SessionName};
use crate::input;
use crate::lookup::{Access, is_path};
use crate::new_file::check_free;
use crate::operation::{About, CommandGroup, Finished, FrontEnd, Operation, OperationEffect, Output};
use crate::place::Place;
use crate::spills::Spill;
use crate::words::{Line, Role, Words};
use waiting::WaitingEntries;

input! {
    /// What `repair` gets.
    pub struct RepairInput {
        /// A path, an id or its unique start or end, a name, or `latest`
        session: Option<SessionName> = arg (unless ["spilled"]),
        /// List the entries that wait outside SESSION, or outside any session
        spilled: bool = flag (conflicts ["dry_run", "discard", "copy"]),
        /// Discard the entries that wait outside SESSION
        discard: bool = flag (conflicts ["dry_run", "copy", "json"] requires ["session"]),
        /// Write a copy of SESSION that has the entries that wait outside it; change neither
        copy: Option<FileName> = option ("FILE" conflicts ["dry_run", "json"] requires ["session"]),
    }
}

/// Repairs a file, or looks after entries that wait outside sessions.
#[derive(Debug)]
pub struct Repair;

/// What is to be done.
#[derive(Debug)]
pub enum PlannedRepair {
    /// A file is repaired.
    File(Box<FileRepair>),
    /// Entries that wait are listed.
    List(WaitingEntries),
    /// They are discarded.
    Discard(Vec<Spill>),
    /// A new file gets the session and them.
    Copy(Box<Session>, PathBuf),
}

/// A file whose waiting entries are put back, and whose damaged lines are taken out.
#[derive(Debug)]
pub struct FileRepair {
    named: String,
    file: PathBuf,
    /// Whether the session exists only outside its file.
    is_unborn: bool,
    /// The entries that wait outside it.
    returned: Vec<EntryId>,
    plan: RepairPlan,
}

/// What was done.
#[derive(Debug)]
pub enum RepairWritten {
    /// The entries that were put back, the damage found after that, and the repair, if one was needed.
    File(Vec<EntryId>, Box<RepairPlan>, Option<Repaired>),
    /// The waiting entries are gone.
    Discarded,
    /// A copy has so many of them.
    Copied(usize),
}

/// What came of `repair`.
#[derive(Debug)]
pub struct RepairOutput {
    planned: PlannedRepair,
    repaired: Option<Repaired>,
    copied: usize,
    is_dry: bool,
}

impl Operation for Repair {
    type Input = RepairInput;
    type Plan = PlannedRepair;
    type Written = RepairWritten;
    type Output = RepairOutput;

    const ABOUT: About = About {
        name: "repair",
        aliases: &[],
        title: "Move damaged lines out of a session file",
        says: "offshoot can read and continue a damaged session without this command,\n\
               because it skips damaged lines. Other programs may fail on them. Unreadable\n\
               lines, NUL bytes and torn ends move to FILE.quarantine, byte for byte, each\n\
               below a line with its old place. If a line has several records, each gets a\n\
               line of its own. A damaged entry with children is replaced by an empty entry.\n\
               The old file is kept as FILE.bak, and the new one replaces it in one step.\n\
               Programs that have the session open must open it again.\n\n\
               Entries that could not be written, as on a full disk, wait outside the\n\
               session. They are added first, each below its parent. --spilled lists them,\n\
               --discard drops them, --copy writes a copy of the session that has them.\n\n\
               If there is nothing to repair, nothing is written.\n\n\
               --json prints one object:\n\n  \
               {\"file\", \"steps\": [{\"code\", \"line\", \"offset\", \"length\", \"action\"}],\n    \
               \"backup\", \"quarantine\", \"givenBack\": [id]}\n\n\
               `action` is \"quarantine\", \"own-line\" or \"hold-place\"; `code` and `line` are\n\
               those of `offshoot check`; `offset` and `length` are the place of the bytes;\n\
               `backup` and `quarantine` are paths or null.\n\n\
               --spilled --json prints an array with an element for each session:\n\n  \
               [{\"file\", \"sessionId\", \"spill\", \"entries\": [the entries' lines]}]",
        examples: "Examples:\n  offshoot repair latest --dry-run\n  offshoot repair session.jsonl\n  \
                   offshoot repair --spilled                      # entries that wait outside sessions\n  \
                   offshoot repair session.jsonl --json | jq '.steps[].line'",
        past: "repaired",
        effect: OperationEffect::Makes { dry_run: "Show what would be done, and change nothing" },
    };
    const GROUP: CommandGroup = CommandGroup::Maintain;
    // It replaces the file, which an agent has open.
    const NOT_ON: &'static [FrontEnd] = &[FrontEnd::Rpc, FrontEnd::Slash];

    fn session(_: &RepairInput) -> Option<&SessionName> {
        None
    }

    fn check(place: &Place, input: &RepairInput) -> Result<()> {
        input.copy.as_ref().map_or(Ok(()), |copy| check_free(&place.path(&copy.0)))
    }

    fn plan(place: &Place, _: Option<&Session>, input: &RepairInput) -> Result<PlannedRepair> {
        let named = input.session.as_ref().map(|session| session.0.as_str());
        if input.spilled {
            return Ok(PlannedRepair::List(WaitingEntries::of(place, named)?));
        }
        if input.discard {
            return Ok(PlannedRepair::Discard(waiting::spills_of(place, named)?));
        }
        let named = named.unwrap_or_default();
        if let Some(FileName(copy)) = &input.copy {
            let session = match unborn(place, named)? {
                Some(session) => session,
                None => place.open(named, Access::Read, SpillPolicy::Temporary)?,
            };
            if session.file().is_none() {
                return Err(Failure::refused(FailureKind::Failed, "the session is in no file"));
            }
            return Ok(PlannedRepair::Copy(Box::new(session), place.path(copy)));
        }
        let (file, session, is_unborn) = opened(place, named)?;
        let plan = if is_unborn { RepairPlan::default() } else { damage(&file, named)? };
        let (named, returned) = (named.to_owned(), session.spilled_ids()?);
        Ok(PlannedRepair::File(Box::new(FileRepair { named, file, is_unborn, returned, plan })))
    }

    fn nothing(plan: &PlannedRepair) -> Option<Line> {
        match plan {
            PlannedRepair::File(repair) => {
                let is_sound = repair.plan.steps.is_empty() && repair.returned.is_empty() && !repair.is_unborn;
                is_sound.then(|| format!("{} has no damaged lines", shown(&repair.file)).into())
            }
            PlannedRepair::List(waiting) => waiting.is_empty().then(|| "no entries wait outside their session".into()),
            PlannedRepair::Discard(spills) => spills.is_empty().then(|| "no entries wait outside this session".into()),
            PlannedRepair::Copy(..) => None,
        }
    }

    fn make(place: &Place, _: Option<&mut Session>, plan: &PlannedRepair) -> Result<Option<RepairWritten>> {
        match plan {
            PlannedRepair::File(repair) => repair.run(place).map(Some),
            PlannedRepair::List(_) => Ok(None),
            PlannedRepair::Discard(spills) => {
                waiting::discard(spills)?;
                Ok(Some(RepairWritten::Discarded))
            }
            PlannedRepair::Copy(session, copy) => {
                Ok(Some(RepairWritten::Copied(session.copy_with_spilled(copy)?.len())))
            }
        }
    }

    fn output(mut planned: PlannedRepair, finished: Finished<'_, RepairWritten>) -> Result<RepairOutput> {
        let (mut done, mut copied, is_dry) = (None, 0, finished.is_dry);
        match (&mut planned, finished.written) {
            (PlannedRepair::File(repair), None) if repair.is_unborn => {
                let why = format!("{} would begin with what was kept outside it", repair.file.display());
                return Err(Failure::refused(FailureKind::Usage, why));
            }
            (PlannedRepair::File(repair), Some(RepairWritten::File(returned, plan, repaired))) => {
                (repair.returned, repair.plan, done) = (returned, *plan, repaired);
            }
            (_, Some(RepairWritten::Copied(count))) => copied = count,
            _ => {}
        }
        Ok(RepairOutput { planned, repaired: done, copied, is_dry })
    }
}

/// The session whose first append failed: it exists only in its spill file.
fn unborn(place: &Place, named: &str) -> Result<Option<Session>> {
    let file = place.session_path(named);
    if file.exists() || !is_path(named) {
        return Ok(None);
    }
    Ok(Session::open_spilled(&file, place.options_for(&file, SpillPolicy::Temporary))?)
}

/// The file, the session, and whether it exists only outside the file.
fn opened(place: &Place, named: &str) -> Result<(PathBuf, Session, bool)> {
    if let Some(session) = unborn(place, named)? {
        return Ok((place.session_path(named), session, true));
    }
    let file = place.file(named, Access::Write)?;
    let session = place.open_file(&file, SpillPolicy::Temporary).map_err(|failure| hinted(failure, named))?;
    Ok((file, session, false))
}

fn medium(file: &Path) -> Result<FileMedium> {
    FileMedium::open(file).map_err(|error| Failure::io(format!("open {}", file.display()), &error))
}

fn damage(file: &Path, named: &str) -> Result<RepairPlan> {
    plan(&medium(file)?).map_err(|error| hinted(error.into(), named))
}

/// An old version is the one refusal that a person can act on.
fn hinted(failure: Failure, named: &str) -> Failure {
    match failure.kind() {
        FailureKind::Usage => failure.hint(Hint::Text(format!("`offshoot migrate {}` upgrades it", shell_word(named)))),
        _ => failure,
    }
}

impl FileRepair {
    fn run(&self, place: &Place) -> Result<RepairWritten> {
        place.note_opened(&self.file);
        let (mut returned, mut plan) = (Vec::new(), self.plan.clone());
        if self.is_unborn || !self.returned.is_empty() {
            returned = opened(place, &self.named)?.1.append_spilled()?;
            plan = damage(&self.file, &self.named)?;
        }
        let is_sound = plan.steps.is_empty();
        let repaired = if is_sound { None } else { Some(plan.apply(&mut medium(&self.file)?)?) };
        Ok(RepairWritten::File(returned, Box::new(plan), repaired))
    }
}

fn shown(path: &Path) -> String {
    one_line(&path.to_string_lossy(), 4096)
}

fn what(step: &RepairStep) -> String {
    let bytes = counted(step.length, "byte", "bytes");
    match step.action {
        Action::Quarantine => format!("{bytes} from byte {} on to the quarantine", step.offset),
        Action::HoldPlace => {
            format!("{bytes} from byte {} on to the quarantine; an empty entry holds their place", step.offset)
        }
        Action::OwnLine => format!("the record at byte {} on a line of its own", step.offset),
    }
}

fn step_json(step: &RepairStep) -> String {
    Object::new()
        .str("code", step.code.as_str())
        .raw("line", step.line)
        .raw("offset", step.offset)
        .raw("length", step.length)
        .str("action", step.action.as_str())
        .finish()
}

impl RepairOutput {
    fn file_words(&self, repair: &FileRepair, words: &mut Words) {
        let name = shown(&repair.file);
        if !repair.returned.is_empty() {
            let verb = if self.is_dry { "wait to be put" } else { "were put" };
            let count = counted(repair.returned.len(), "entry", "entries");
            words.line(format!("{name}: {count} that could not be written {verb} into the session"));
        }
        for step in &repair.plan.steps {
            let line = Line::of(Role::Bold, format!("{name}:{}", step.line));
            let line = line.and(Role::Plain, format!(": {} ", what(step)));
            words.line(line.and(Role::Dim, format!("[{}]", step.code.as_str())));
        }
        if let Some(repaired) = &self.repaired {
            words.line(format!("the old file is {}", shown(&repaired.backup)));
            if let Some(quarantine) = &repaired.quarantine {
                words.line(format!("what was taken out is in {}", shown(quarantine)));
            }
        } else if self.is_dry {
            words.line(Line::of(Role::Warning, "nothing was changed"));
        }
    }
}

impl Output for RepairOutput {
    fn json(&self, out: &mut dyn Write) -> io::Result<()> {
        let repair = match &self.planned {
            PlannedRepair::File(repair) => repair,
            PlannedRepair::List(waiting) => return waiting.json(out),
            // No JSON can be asked for.
            PlannedRepair::Discard(_) | PlannedRepair::Copy(..) => return out.write_all(b"null"),
        };
        let returned: Vec<String> = repair.returned.iter().map(|id| quote(id.as_str())).collect();
        let steps: Vec<String> = repair.plan.steps.iter().map(step_json).collect();
        let backup = self.repaired.as_ref().map(|repaired| repaired.backup.to_string_lossy());
        let quarantine = self.repaired.as_ref().and_then(|repaired| repaired.quarantine.as_deref());
        let object = Object::new()
            .str("file", &repair.file.to_string_lossy())
            .raw("steps", format!("[{}]", steps.join(",")))
            .str_or_null("backup", backup.as_deref())
            .str_or_null("quarantine", quarantine.map(Path::to_string_lossy).as_deref())
            .raw("givenBack", format!("[{}]", returned.join(",")));
        out.write_all(object.finish().as_bytes())
    }

    fn words(&self, words: &mut Words) {
        match &self.planned {
            PlannedRepair::File(repair) => self.file_words(repair, words),
            PlannedRepair::List(waiting) => waiting.words(words),
            PlannedRepair::Discard(spills) => spills.iter().for_each(|spill| words.line(waiting::discarded(spill))),
            PlannedRepair::Copy(_, copy) => {
                let count = counted(self.copied, "entry", "entries");
                let says = format!(": a copy of the session, with {count} that waited outside it");
                words.line(Line::of(Role::Bold, shown(copy)).and(Role::Plain, says));
            }
        }
    }
}
