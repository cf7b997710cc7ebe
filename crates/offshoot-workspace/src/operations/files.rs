//! The files of a session's entries: which there are, what changed them, and the way back to them.

use std::io::{self, Write};

use offshoot_agent::branch_files::file_patch;
use offshoot_agent::file_entries::{files_between, files_data};
use offshoot_files::{
    ChangeSet, ChangedBy, CollectedFiles, Collection, FileLimits, FileState, ReachedContents, RestoreReport, StoreSize,
    Workspace, fold,
};
use offshoot_session::entry::Source as _;
use offshoot_session::json::Object;
use offshoot_session::session::{Session, SpillPolicy};
use offshoot_session::store::Scope;
use offshoot_session::text::{clean_lines, counted, one_line};
use offshoot_session::tree::NodeIx;

use crate::entry_words::short_id;
use crate::failure::{Failure, Hint, Result};
use crate::file_moves::{
    FileMove, FileMoveOutcome, LISTED, change_verb, files_at, files_failure, list_some, workspace,
};
use crate::given::{EntryName, SessionName};
use crate::lookup::Access;
use crate::operation::{About, CommandGroup, Finished, FrontEnd, Operation, OperationEffect, Output};
use crate::place::Place;
use crate::run::open_session;
use crate::words::{Line, Role, Words};
use crate::{closed_words, input};

closed_words! {
    /// What `files` does.
    pub enum FilesAction {
        /// Which files are covered and where they are.
        Status = "status",
        /// Which entries changed files.
        Log = "log",
        /// What a restore would change.
        Diff = "diff",
        /// Brings the files of an entry.
        Restore = "restore",
        /// Removes contents that no session needs.
        Gc = "gc",
    }
}

input! {
    /// What `files` gets.
    pub struct FilesInput {
        /// status, log, diff, restore or gc
        action: FilesAction = arg,
        /// A path, an id or its unique start or end, a name, or `latest`
        session: SessionName = arg,
        /// An id or its unique start, a label, `@`, `@-`, or a time such as 2h
        entry: Option<EntryName> = arg,
        /// Restore files also if git has another commit checked out than when they were recorded
        across_commits: bool = flag,
    }
}

/// Shows and restores the files of entries.
#[derive(Debug)]
pub struct Files;

/// What was found, and what would be done.
#[derive(Debug)]
pub enum FilesPlan {
    /// Of `status`.
    Status(FilesStatus),
    /// Of `log`: the newest entry last.
    Log(Vec<LoggedFiles>),
    /// Of `diff`: the patch of each file, if both contents are texts.
    Diff(Box<FileMove>),
    /// Of `restore`.
    Restore(Box<FileMove>),
    /// Of `gc`.
    Gc(Box<(Workspace, ReachedContents, i64)>),
}

/// How the files are.
#[derive(Debug)]
pub struct FilesStatus {
    folder: String,
    at: Option<String>,
    /// How many files the session's calls changed, on the way to the entry.
    owned: usize,
    /// Those that somebody else has changed since.
    changed: Vec<String>,
    /// Those whose content is not known, and why.
    not_covered: Vec<(String, String)>,
    size: StoreSize,
    limits: FileLimits,
}

/// The changes of an entry.
#[derive(Debug)]
pub struct LoggedFiles {
    entry: String,
    calls: Vec<String>,
    changes: Vec<(&'static str, String)>,
    count: usize,
}

/// What was done.
#[derive(Debug)]
pub enum FilesDone {
    /// Files came.
    Restored(RestoreReport),
    /// Contents went.
    Collected(CollectedFiles),
}

/// What came of `files`.
#[derive(Debug)]
pub enum FilesOutput {
    /// Of `status`.
    Status(FilesStatus),
    /// Of `log`.
    Log(Vec<LoggedFiles>),
    /// Of `diff`: paths with their patches; `None` where a content is no text.
    Diff(Vec<(String, Option<String>)>),
    /// Of `restore`.
    Restore(FileMoveOutcome),
    /// Of `gc`, and whether it was only planned.
    Gc(CollectedFiles, bool),
}

impl Operation for Files {
    type Input = FilesInput;
    type Plan = FilesPlan;
    type Written = FilesDone;
    type Output = FilesOutput;

    const ABOUT: About = About {
        name: "files",
        aliases: &[],
        title: "Show, compare and restore the files of an entry",
        says: "offshoot records which files each turn changed (see docs/files.md).\n\n\
               status    where the files are, and what changed or is not covered\n\
               log       the entries that changed files, the newest last\n\
               diff      what `restore` would change, as a patch\n\
               restore   bring the files of ENTRY; the conversation stays where it is\n\
               gc        remove contents that no session in this folder needs\n\n\
               Without ENTRY it is the current one. `switch --files` brings conversation\n\
               and files. What somebody else changed in a file is merged, or stays.\n\n\
               --json prints an object for status, restore and gc, and an array for log\n\
               and diff: [{\"entry\", \"calls\", \"count\", \"changes\"}], [{\"path\", \"patch\"}].",
        examples: "Examples:\n  offshoot files status latest\n  offshoot files log latest\n  \
                   offshoot files diff latest 1a2b3c4d\n  offshoot files restore latest 1a2b3c4d --dry-run\n  \
                   offshoot files restore latest 1a2b3c4d\n  offshoot files gc latest",
        past: "done",
        effect: OperationEffect::Makes { dry_run: "Show what would be done, and change no file" },
    };
    const GROUP: CommandGroup = CommandGroup::Move;
    const NOT_ON: &'static [FrontEnd] = &[FrontEnd::Rpc];

    fn session(input: &FilesInput) -> Option<&SessionName> {
        Some(&input.session)
    }

    fn warning(input: &FilesInput, plan: &FilesPlan) -> Option<Failure> {
        let FilesPlan::Restore(files) = plan else { return None };
        if input.across_commits { None } else { files.across_commits() }
    }

    fn plan(place: &Place, at: Option<&Session>, input: &FilesInput) -> Result<FilesPlan> {
        let session = open_session(at)?;
        let given = input.entry.as_ref().map(|entry| place.last_entry(session, &entry.0, Access::Read)).transpose()?;
        let target = given.or_else(|| session.leaf());
        let moved = |target: Option<NodeIx>| FileMove::plan(place, session, target).map(Box::new);
        Ok(match input.action {
            FilesAction::Status => FilesPlan::Status(status(place, session)?),
            FilesAction::Log => FilesPlan::Log(log(session, target)),
            FilesAction::Diff => FilesPlan::Diff(moved(target)?),
            FilesAction::Restore => FilesPlan::Restore(moved(target)?),
            FilesAction::Gc => {
                let workspace = workspace(place)?;
                let reached = reached(place, &workspace, session)?;
                FilesPlan::Gc(Box::new((workspace, reached, place.now())))
            }
        })
    }

    fn nothing(plan: &FilesPlan) -> Option<Line> {
        match plan {
            FilesPlan::Restore(files) if files.plan.is_empty() => Some("the files are as at this entry".into()),
            FilesPlan::Restore(_)
            | FilesPlan::Status(_)
            | FilesPlan::Log(_)
            | FilesPlan::Diff(_)
            | FilesPlan::Gc(_) => None,
        }
    }

    fn make(_: &Place, at: Option<&mut Session>, plan: &FilesPlan) -> Result<Option<FilesDone>> {
        Ok(match plan {
            FilesPlan::Status(_) | FilesPlan::Log(_) | FilesPlan::Diff(_) => None,
            FilesPlan::Restore(files) => Some(FilesDone::Restored(files.run_alone(open_session(at.as_deref())?)?)),
            FilesPlan::Gc(gc) => {
                let collected = gc.0.collect(&gc.1, gc.2, Collection::Remove).map_err(files_failure)?;
                Some(FilesDone::Collected(collected))
            }
        })
    }

    fn output(plan: FilesPlan, finished: Finished<'_, FilesDone>) -> Result<FilesOutput> {
        Ok(match (plan, finished.written) {
            (FilesPlan::Status(status), _) => FilesOutput::Status(status),
            (FilesPlan::Log(log), _) => FilesOutput::Log(log),
            (FilesPlan::Diff(files), _) => FilesOutput::Diff(files.patches(file_patch)),
            (FilesPlan::Restore(files), Some(FilesDone::Restored(report))) => {
                FilesOutput::Restore(files.into_moved(Some(report)))
            }
            (FilesPlan::Restore(files), _) => FilesOutput::Restore(files.into_moved(None)),
            (FilesPlan::Gc(_), Some(FilesDone::Collected(collected))) => FilesOutput::Gc(collected, false),
            (FilesPlan::Gc(gc), _) => {
                let planned = gc.0.collect(&gc.1, gc.2, Collection::Look).map_err(files_failure)?;
                FilesOutput::Gc(planned, true)
            }
        })
    }
}

fn status(place: &Place, session: &Session) -> Result<FilesStatus> {
    let workspace = workspace(place)?;
    let at = files_at(&workspace, session);
    let (_, down) = files_between(session, None, at);
    let files = fold(workspace.way(&[], &down).way.down);
    let (mut changed, mut not_covered) = (Vec::new(), Vec::new());
    for (path, state) in &files {
        if let FileState::NotCovered { why } = state {
            not_covered.push((path.to_string(), why.clone()));
        } else if workspace.state_of(path).map_err(files_failure)? != *state {
            changed.push(path.to_string());
        }
    }
    let id = at.and_then(|at| session.tree().node(at).id()).map(ToString::to_string);
    Ok(FilesStatus {
        folder: place.short(&workspace.root().to_string_lossy()),
        at: id,
        owned: files.len(),
        changed,
        not_covered,
        size: workspace.store().size(),
        limits: workspace.limits(),
    })
}

fn log(session: &Session, at: Option<NodeIx>) -> Vec<LoggedFiles> {
    let tree = session.tree();
    let path = at.into_iter().flat_map(|at| tree.path(at));
    let logged = |ix: NodeIx| {
        let set = ChangeSet::read(&files_data(session, ix)?).ok()?;
        let entry = tree.node(ix).id().and_then(|id| short_id(session, id.as_str()).ok()).unwrap_or_default();
        let ours = set.changes.iter().filter(|change| change.by == ChangedBy::Calls);
        let changes = ours.map(|change| (change_verb(change), change.path.to_string())).collect();
        Some(LoggedFiles {
            entry,
            calls: set.calls.into_iter().map(|call| call.name).collect(),
            changes,
            count: set.count,
        })
    };
    path.filter_map(logged).collect()
}

/// What sessions of this folder need. A session in the trash needs nothing.
fn reached(place: &Place, workspace: &Workspace, open: &Session) -> Result<ReachedContents> {
    let mut reached = ReachedContents::default();
    let mut add = |session: &Session| {
        for ix in session.tree().entries() {
            files_data(session, ix).into_iter().for_each(|data| reached.add(workspace, &data));
        }
    };
    add(open);
    let (sessions, _) = place.list(place.store()?, Scope { cwd: None, with_text: false }, &mut |_, _| {})?;
    for info in sessions {
        let unread = |failure: Failure| {
            let hint = Hint::Text("repair it or move it to the trash first: what it needs is not known".to_owned());
            failure.hint(hint)
        };
        add(&place.open_file(&info.path, SpillPolicy::Temporary).map_err(unread)?);
    }
    Ok(reached)
}

fn size_json(size: StoreSize) -> String {
    Object::new().raw("contents", size.contents).raw("bytes", size.bytes).finish()
}

/// A number of bytes in the largest unit that leaves no rest.
fn exact_size(bytes: u64) -> String {
    let units = [(30, "GiB"), (20, "MiB"), (10, "KiB")];
    let fits = units.into_iter().find(|(shift, _)| bytes > 0 && bytes.trailing_zeros() >= *shift);
    fits.map_or_else(|| format!("{bytes} bytes"), |(shift, unit)| format!("{} {unit}", bytes >> shift))
}

fn limits_json(limits: FileLimits) -> String {
    Object::new().raw("file", limits.file).raw("store", limits.store).finish()
}

fn strings(items: impl Iterator<Item = String>) -> String {
    format!("[{}]", items.collect::<Vec<_>>().join(","))
}

impl Output for FilesOutput {
    fn json(&self, out: &mut dyn Write) -> io::Result<()> {
        let text = match self {
            Self::Status(status) => {
                let not_covered = status.not_covered.iter();
                let not_covered =
                    not_covered.map(|(path, why)| Object::new().str("path", path).str("why", why).finish());
                Object::new()
                    .str("folder", &status.folder)
                    .str_or_null("at", status.at.as_deref())
                    .raw("files", status.owned)
                    .raw("changed", strings(status.changed.iter().map(|path| offshoot_session::json::quote(path))))
                    .raw("notCovered", strings(not_covered))
                    .raw("store", size_json(status.size))
                    .raw("limits", limits_json(status.limits))
                    .finish()
            }
            Self::Log(entries) => strings(entries.iter().map(|entry| {
                let changes = entry.changes.iter();
                let changes = changes.map(|(verb, path)| Object::new().str("path", path).str("verb", verb).finish());
                Object::new()
                    .str("entry", &entry.entry)
                    .raw("calls", strings(entry.calls.iter().map(|call| offshoot_session::json::quote(call))))
                    .raw("count", entry.count)
                    .raw("changes", strings(changes))
                    .finish()
            })),
            Self::Diff(patches) => {
                strings(patches.iter().map(|(path, patch)| {
                    Object::new().str("path", path).str_or_null("patch", patch.as_deref()).finish()
                }))
            }
            Self::Restore(files) => files.json(),
            Self::Gc(collected, _) => Object::new()
                .raw("unreached", size_json(collected.unreached))
                .raw("oldest", size_json(collected.oldest))
                .raw("kept", size_json(collected.kept))
                .finish(),
        };
        out.write_all(text.as_bytes())
    }

    fn words(&self, words: &mut Words) {
        let dim = |text: String| Line::of(Role::Dim, text);
        match self {
            Self::Status(status) => {
                let at = status.at.as_deref().map_or_else(|| "no entry".to_owned(), |at| one_line(at, 8));
                words.line(format!("files of {} are at {at}", one_line(&status.folder, 200)));
                let counts = counted(status.owned, "file", "files");
                words.line(dim(format!("{counts} changed by this session up to this entry")));
                list_some(words, &status.changed, |path| format!("changed since: {}", one_line(path, 200)).into());
                list_some(words, &status.not_covered, |(path, why)| {
                    format!("not covered: {}: {}", one_line(path, 200), one_line(why, 200)).into()
                });
                words.line(dim(size_words("store", status.size)));
                let [file, store] = [status.limits.file, status.limits.store].map(exact_size);
                words.line(dim(format!(
                    "bounds: {file} per file (files.maxBytes), {store} in all (files.maxStoreBytes)"
                )));
            }
            Self::Log(entries) => {
                if entries.is_empty() {
                    words.line(dim("no entry on this branch changed files".to_owned()));
                }
                for entry in entries {
                    let calls = one_line(&entry.calls.join(", "), 100);
                    words.line(Line::of(Role::Id, entry.entry.clone()).and(Role::Plain, format!("  {calls}")));
                    for (verb, path) in entry.changes.iter().take(LISTED) {
                        words.line(dim(format!("  {verb} {}", one_line(path, 200))));
                    }
                    if entry.count > LISTED {
                        words.line(dim(format!("  {} changes in all", entry.count)));
                    }
                }
            }
            Self::Diff(patches) => {
                if patches.is_empty() {
                    words.line(dim("no file would change".to_owned()));
                }
                for (path, patch) in patches {
                    match patch {
                        Some(patch) if patch.is_empty() => {
                            words.line(format!("{}: its permissions would change", one_line(path, 200)));
                        }
                        Some(patch) => words.line(clean_lines(patch).trim_end_matches('\n').to_owned()),
                        None => words.line(format!("{}: not a text, or too long to compare", one_line(path, 200))),
                    }
                }
            }
            Self::Restore(files) => files.words(words),
            Self::Gc(collected, is_planned) => {
                let verb = if *is_planned { "would remove" } else { "removed" };
                words.line(size_words(&format!("{verb}, needed by no session"), collected.unreached));
                if collected.oldest.contents > 0 {
                    words.line(size_words(&format!("{verb}, the oldest beyond the bound"), collected.oldest));
                }
                words.line(dim(size_words("kept", collected.kept)));
            }
        }
    }
}

fn size_words(what: &str, size: StoreSize) -> String {
    let contents = counted(usize::try_from(size.contents).unwrap_or(usize::MAX), "content", "contents");
    format!("{what}: {contents}, {} KiB", size.bytes.div_ceil(1024))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_is_printed_as_it_is() {
        let sizes = [0, 1023, 1024, 1500, 10 << 20, (10 << 20) + 1, 2 << 30].map(exact_size);
        assert_eq!(
            sizes,
            ["0 bytes", "1023 bytes", "1 KiB", "1500 bytes", "10 MiB", "10485761 bytes", "2 GiB"].map(str::to_owned)
        );
    }
}
