//! Copies a branch, or all of them, into a new session.

use std::io::{self, Write};
use std::path::PathBuf;

use offshoot_agent::forecast::RequestForecast;
use offshoot_files::{GitCopy, RestoreReport};
use offshoot_session::children::carry_children;
use offshoot_session::entry::Source as _;
use offshoot_session::id::EntryId;
use offshoot_session::json::Object;
use offshoot_session::session::{Extracted, NewFork, Session, SessionPart};
use offshoot_session::text::{counted, one_line};
use offshoot_session::tree::NodeIx;

use crate::copied::id_of;
use crate::costs::{forecast_line, with_forecast};
use crate::entry_words::entry_line;
use crate::failure::{Failure, FailureKind, Result};
use crate::file_moves::{FileMove, FileMoveOutcome};
use crate::given::{EntryName, FolderName, SessionName};
use crate::input;
use crate::lookup::Access;
use crate::operation::{About, CommandGroup, Finished, FrontEnd, Operation, OperationEffect, Output};
use crate::place::Place;
use crate::run::open_session;
use crate::second_folder::SecondFolder;
use crate::session_to_read::with_short_ids;
use crate::words::{Line, Note, Role, Words};

input! {
    /// What `fork` gets.
    pub struct ForkInput {
        /// A path, an id or its unique start or end, a name, or `latest`
        session: SessionName = arg,
        /// The last entry to copy; without it the current one
        at: Option<EntryName> = option ("ENTRY" conflicts ["all"]),
        /// The working directory of the new session; without it the source's
        cwd: Option<FolderName> = option ("DIR"),
        /// Copy every branch
        all: bool = flag,
        /// Bring back the files of the entry, too
        files: bool = flag (conflicts ["all", "cwd", "worktree"]),
        /// Bring files also if git has another commit checked out than when they were recorded
        across_commits: bool = flag (requires ["files"]),
        /// Copy this folder to DIR, with the files of the entry, for the new session
        worktree: Option<FolderName> = option ("DIR" conflicts ["all", "cwd", "files"]),
        /// Copy the folder without `.git`
        no_git: bool = flag (requires ["worktree"]),
    }
}

/// Makes a session of a part of another one.
#[derive(Debug)]
pub struct Fork;

/// What is copied, and where to.
#[derive(Debug)]
pub struct ForkPlan {
    /// The last entry; `None` for every branch.
    target: Option<NodeIx>,
    cwd: String,
    name: Option<String>,
    given: String,
    files: Option<FileMove>,
    /// The new folder, and whether git's is copied.
    worktree: Option<(PathBuf, GitCopy)>,
}

/// What was made.
#[derive(Debug)]
pub struct ForkWritten {
    path: PathBuf,
    files: Option<RestoreReport>,
    worktree: Option<(SecondFolder, RestoreReport)>,
}

/// What came of `fork`.
#[derive(Debug)]
pub struct ForkOutput {
    plan: ForkPlan,
    /// The new file; `None` of a dry run.
    path: Option<PathBuf>,
    at: Option<EntryId>,
    entries: usize,
    /// What a dry run says of the entry, and what the next request would be.
    would: Option<(Line, RequestForecast)>,
    files: Option<FileMoveOutcome>,
    worktree: Option<(SecondFolder, RestoreReport)>,
    odd: Note,
}

impl Operation for Fork {
    type Input = ForkInput;
    type Plan = ForkPlan;
    type Written = ForkWritten;
    type Output = ForkOutput;

    const ABOUT: About = About {
        name: "fork",
        aliases: &[],
        title: "Make a new session from the path to an entry",
        says: "The new session holds the entries from the root to ENTRY with their ids,\n\
               and the labels on them; its header names the session it comes from. --all\n\
               copies every branch. The source stays as it is; one of an old version is\n\
               upgraded in the copy.\n\n\
               The new session is named after the source, or after its first words, with\n\
               `(fork)`, `(fork 2)` and so on, and comes first in `list`.\n\n\
               Prints the path of the new file, which is in offshoot's own store or, with\n\
               --session-dir, in that folder.\n\n\
               --dry-run shows what would be copied and what the next request would cost.\n\n\
               --json prints {\"path\", \"name\", \"at\", \"entries\"}: `at` is the last entry that\n\
               is copied, null with --all. With --dry-run `path` is null, and there is\n\
               \"forecast\", as `switch` prints it. With --files there is \"files\", as `switch`\n\
               prints it; with --worktree there is \"folder\": {\"path\", \"copied\", \"changed\",\n\
               \"left\"}.",
        examples: "Examples:\n  offshoot fork latest --at 1a2b3c4d\n  offshoot fork latest --at 1a2b3c4d --dry-run\n  \
                   offshoot fork latest --at 1a2b3c4d --worktree ../second-try\n  \
                   offshoot fork 019b --all --cwd ~/other-project\n  offshoot show \"$(offshoot fork latest)\"",
        past: "forked",
        effect: OperationEffect::Makes { dry_run: "Show what would be copied, and write nothing" },
    };
    const GROUP: CommandGroup = CommandGroup::Move;
    // There it opens the new session, which is theirs to do.
    const NOT_ON: &'static [FrontEnd] = &[FrontEnd::Rpc, FrontEnd::Slash];

    fn session(input: &ForkInput) -> Option<&SessionName> {
        Some(&input.session)
    }

    fn access(_: &ForkInput) -> Access {
        Access::Read
    }

    fn warning(input: &ForkInput, plan: &ForkPlan) -> Option<Failure> {
        plan.files.as_ref().filter(|_| !input.across_commits)?.across_commits()
    }

    fn plan(place: &Place, at: Option<&Session>, input: &ForkInput) -> Result<ForkPlan> {
        let session = open_session(at)?;
        let target = match &input.at {
            Some(EntryName(given)) => Some(place.last_entry(session, given, Access::Read)?),
            None if input.all => None,
            None => Some(session.leaf().ok_or_else(nothing_to_copy)?),
        };
        let files = input.files.then(|| FileMove::plan(place, session, target)).transpose()?;
        let git = if input.no_git { GitCopy::LeftOut } else { GitCopy::Taken };
        let worktree = input.worktree.as_ref().map(|FolderName(to)| (PathBuf::from(place.folder(to)), git));
        let cwd = match input.cwd.as_ref().or(input.worktree.as_ref()) {
            Some(FolderName(cwd)) => place.folder(cwd),
            None => {
                let own = session.cwd().filter(|cwd| !cwd.is_empty());
                own.map_or_else(|| place.cwd().to_string_lossy().into_owned(), str::to_owned)
            }
        };
        let name = place.fork_name(session, place.store()?, &cwd)?;
        Ok(ForkPlan { target, cwd, name, given: input.session.0.clone(), files, worktree })
    }

    fn make(place: &Place, at: Option<&mut Session>, plan: &ForkPlan) -> Result<Option<ForkWritten>> {
        let Some(session) = at else { return Ok(None) };
        if let Some(files) = &plan.files {
            let (new, report) = files.run(session, |session| copy_session(place, session, plan, &plan.cwd))?;
            files.belongs_to(&new.id)?;
            let path = new.file.unwrap_or_default();
            return Ok(Some(ForkWritten { path, files: Some(report), worktree: None }));
        }
        let Some((to, git)) = &plan.worktree else {
            let path = copy_session(place, session, plan, &plan.cwd)?.file.unwrap_or_default();
            return Ok(Some(ForkWritten { path, files: None, worktree: None }));
        };
        let second = SecondFolder::make(place, session, to, *git)?;
        let cwd = second.path().to_string_lossy().into_owned();
        let made = second.bring(session, plan.target).and_then(|report| {
            let new = copy_session(place, session, plan, &cwd)?;
            second.belongs_to(&new.id, session, plan.target)?;
            Ok((report, new))
        });
        match made {
            Ok((report, new)) => {
                let worktree = Some((second, report));
                Ok(Some(ForkWritten { path: new.file.unwrap_or_default(), files: None, worktree }))
            }
            Err(failure) => {
                second.remove();
                Err(failure)
            }
        }
    }

    fn output(mut plan: ForkPlan, finished: Finished<'_, ForkWritten>) -> Result<ForkOutput> {
        let Finished { place, session, written, is_dry } = finished;
        let session = open_session(session)?;
        let upto = |at: NodeIx| entry_line(session, at).map(|line| Line::from("up to ").then(line));
        let would = is_dry
            .then(|| {
                let forecast = place.forecast(session, plan.target.or(session.leaf()), 0)?;
                Ok::<_, Failure>((plan.target.map_or_else(|| Ok("of every branch".into()), upto)?, forecast))
            })
            .transpose()?;
        let odd = Note::OddOf(plan.given.clone(), with_short_ids(session, session.diagnostics().to_vec()));
        let (at, entries) = (id_of(session, plan.target), entries(session, plan.target));
        let (path, report, worktree) = match written {
            Some(ForkWritten { path, files, worktree }) => (Some(path), files, worktree),
            None => (None, None, None),
        };
        let files = plan.files.take().map(|files| files.into_moved(report));
        Ok(ForkOutput { plan, path, at, entries, would, files, worktree, odd })
    }
}

fn copy_session(place: &Place, session: &mut Session, plan: &ForkPlan, cwd: &str) -> Result<Extracted> {
    let store = place.store()?;
    let part = plan.target.map_or(SessionPart::Everything, SessionPart::Path);
    let fork = NewFork { part, cwd: Some(cwd), name: plan.name.as_deref(), id: None };
    let copy = session.export(&fork, |id, timestamp| store.path_for(cwd, id, timestamp))?;
    copy.file.iter().try_for_each(|file| carry_children(session, part, file).map(drop))?;
    Ok(copy)
}

/// The session has no entry.
#[must_use]
pub fn nothing_to_copy() -> Failure {
    Failure::refused(FailureKind::Usage, "the session is empty: there is nothing to copy")
}

/// The entries of a path, or of the session, without leaf markers.
fn entries(session: &Session, target: Option<NodeIx>) -> usize {
    let tree = session.tree();
    let is_shown = |ix: &NodeIx| !tree.node(*ix).is_leaf_marker();
    match target {
        Some(target) => tree.path(target).iter().filter(|ix| is_shown(ix)).count(),
        None => tree.entries().filter(is_shown).count(),
    }
}

impl Output for ForkOutput {
    fn json(&self, out: &mut dyn Write) -> io::Result<()> {
        let path = self.path.as_ref().map(|path| path.to_string_lossy());
        let object = Object::new()
            .str_or_null("path", path.as_deref())
            .str_or_null("name", self.plan.name.as_deref())
            .str_or_null("at", self.at.as_ref().map(EntryId::as_str))
            .raw("entries", self.entries);
        let object = with_forecast(object, self.would.as_ref().map(|(_, forecast)| forecast));
        let object = self.files.iter().fold(object, |object, files| object.raw("files", files.json()));
        let folder = |object: Object, (second, report): &(SecondFolder, RestoreReport)| {
            object.raw("folder", second.json(report))
        };
        let object = self.worktree.iter().fold(object, folder);
        out.write_all(object.finish().as_bytes())
    }

    fn words(&self, words: &mut Words) {
        let Some((upto, forecast)) = &self.would else {
            words.is_exact = true;
            words.line(self.path.as_ref().map(|path| path.display().to_string()).unwrap_or_default());
            if let Some(files) = &self.files {
                let mut said = Words::default();
                files.words(&mut said);
                words.notes.push(Note::Told(said.plain().trim_end().to_owned()));
            }
            words.notes.extend(self.worktree.iter().flat_map(|(second, report)| second.notes(report)));
            return words.notes.push(self.odd.clone());
        };
        let copied = format!("would copy {} ", counted(self.entries, "entry", "entries"));
        words.line(Line::from(copied).then(upto.clone()));
        let name = self.plan.name.as_ref();
        let named = name.map_or_else(|| "without a name".to_owned(), |name| format!("named {}", one_line(name, 100)));
        words.line(Line::of(Role::Dim, named));
        words.line(forecast_line(forecast));
        self.files.iter().for_each(|files| files.words(words));
        if let Some((to, _)) = &self.plan.worktree {
            let to = one_line(&to.to_string_lossy(), 200);
            words.line(Line::of(Role::Dim, format!("would copy this folder to {to}, with the files of the entry")));
        }
    }
}
