//! What operations share that bring back the files of an entry: the plan, its steps beside the session's move, and the words.
//!
//! Files are those below the working directory, as far as this folder recorded them.

use std::path::Path;
use std::sync::Arc;

use offshoot_agent::branch_files::{FilePatch, file_patch};
use offshoot_agent::file_entries::{files_between, files_data};
use offshoot_agent::sessions::ReadyFiles;
use offshoot_files::{
    BegunRestore, ChangeSet, FILES_ENTRY, FileChange, FileState, FilesError, LeftFile, PlannedFile, RestoreFor,
    RestorePlan, RestoreReport, Workspace,
};
use offshoot_protocol::{AgentError, FilesAlong, FilesThatCame};
use offshoot_session::compose::NewEntry;
use offshoot_session::entry::Source as _;
use offshoot_session::id::EntryId;
use offshoot_session::json::{Json, Object, quote};
use offshoot_session::path_words::{path_of_words, path_words};
use offshoot_session::session::{Session, SpillPolicy};
use offshoot_session::text::{counted, one_line};
use offshoot_session::tree::NodeIx;

use crate::failure::{Failure, FailureKind, Hint, Result};
use crate::place::Place;
use crate::words::{Line, Note, Role, Words};

/// How many files are shown before they come.
pub(crate) const MOST_PREVIEWED: usize = 200;

/// The most lines of patches that are shown in all.
pub const MOST_PATCH_LINES: usize = 10_000;
/// How many paths are listed by name.
pub(crate) const LISTED: usize = 20;

/// Lists the first of many, and says how many more there are.
pub(crate) fn list_some<T>(words: &mut Words, items: &[T], line: impl Fn(&T) -> Line) {
    items.iter().take(LISTED).for_each(|item| words.line(line(item)));
    if let Some(more) = items.len().checked_sub(LISTED).filter(|more| *more > 0) {
        words.line(Line::of(Role::Dim, format!("and {more} more")));
    }
}

/// What bringing back the files of an entry would do.
#[derive(Debug)]
pub struct FileMove {
    workspace: Arc<Workspace>,
    pub(crate) plan: RestorePlan,
    /// The entry, and the leaf before.
    entry: String,
    leaf: Option<String>,
    /// How many entries of the way this folder did not record.
    foreign: usize,
    unreadable: usize,
    /// A commit that was checked out when files were recorded, where another one is now.
    other_head: Option<String>,
}

/// What it did, or would do.
#[derive(Debug)]
pub struct FileMoveOutcome {
    pub(crate) plan: RestorePlan,
    pub(crate) report: Option<RestoreReport>,
    foreign: usize,
    unreadable: usize,
    other_head: Option<String>,
}

#[expect(clippy::needless_pass_by_value, reason = "for `map_err`")]
pub(crate) fn files_failure(error: FilesError) -> Failure {
    let kind = match &error {
        FilesError::Locked => FailureKind::Conflict,
        FilesError::Io { .. } | FilesError::Missing(_) | FilesError::Malformed(_) | FilesError::Beyond(_) => {
            FailureKind::Failed
        }
    };
    let causes = std::error::Error::source(&error).map(ToString::to_string).into_iter().collect();
    Failure::Refused { kind, why: error.to_string(), causes, hints: Vec::new() }
}

/// The workspace of the working directory. What a killed program has left of a restore is completed or taken back first.
///
/// # Errors
/// Files are not recorded, or the folder cannot be opened.
pub(crate) fn workspace(place: &Place) -> Result<Workspace> {
    let workspace = open_workspace(place, place.cwd())?;
    recover(place, &workspace)?;
    Ok(workspace)
}

/// The workspace of any folder.
pub(crate) fn open_workspace(place: &Place, folder: &Path) -> Result<Workspace> {
    let Some((data, limits)) = place.files() else {
        let hint = Hint::Text("set OFFSHOOT_HOME to a folder for them".to_owned());
        return Err(Failure::refused(FailureKind::Failed, "there is no folder to keep files in").hint(hint));
    };
    let workspace = Workspace::open(folder, data, limits).map_err(files_failure)?;
    let keys = place.known_keys();
    Ok(workspace.without_keys(move |bytes| keys.are_in(bytes)))
}

/// What became of a file, in a word.
pub(crate) fn change_verb(change: &FileChange) -> &'static str {
    match (&change.before, &change.after) {
        (FileState::Absent, _) => "added",
        (_, FileState::Absent) => "removed",
        _ => "changed",
    }
}

/// Completes or takes back what a killed program has left of a restore in the working directory, and tells the place of it.
pub fn recover_files(place: &Place) {
    let Some((data, limits)) = place.files() else { return };
    // A folder that cannot be opened says so when its files are asked for.
    let Ok(workspace) = Workspace::open(place.cwd(), data, limits) else { return };
    if let Err(failure) = recover(place, &workspace) {
        place.tell(Note::Warning(failure.on_one_line()));
    }
}

/// Completes or takes back what a killed program has left of a restore.
fn recover(place: &Place, workspace: &Workspace) -> Result<()> {
    if !workspace.has_rest() {
        return Ok(());
    }
    let moved_to = |of: &RestoreFor| match &of.appends {
        Some(digest) => find_appended(place, of, digest),
        None => has_moved(place, of).then(|| of.entry.clone()),
    };
    let found = workspace.recover(moved_to).map_err(files_failure)?;
    let told = match found {
        Some((of, Some(_))) => {
            format!("a restore of files to {} was interrupted, and is completed now", short(&of.entry))
        }
        Some((of, None)) => format!("a restore of files to {} was interrupted, and changed nothing", short(&of.entry)),
        None => return Ok(()),
    };
    place.tell(Note::Warning(told));
    Ok(())
}

/// Whether a session has moved for a restore: then its leaf is no longer below the one before.
fn has_moved(place: &Place, of: &RestoreFor) -> bool {
    let (Some(file), Some(before)) = (&of.file, &of.moves_from) else { return false };
    let Ok(session) = place.open_file(&path_of_words(file), SpillPolicy::Temporary) else { return false };
    let tree = session.tree();
    let is_before = |ix: NodeIx| tree.node(ix).id().is_some_and(|id| id.as_str() == before);
    session.leaf().is_some_and(|leaf| !tree.ancestors(leaf).any(is_before))
}

/// The entry that was appended with a restore: it has this digest.
fn find_appended(place: &Place, of: &RestoreFor, digest: &str) -> Option<String> {
    let session = place.open_file(&path_of_words(of.file.as_ref()?), SpillPolicy::Temporary).ok()?;
    let tree = session.tree();
    let is_it = |ix: &NodeIx| {
        files_data(&session, *ix).and_then(|data| ChangeSet::digest_of(&data)).is_some_and(|found| found == digest)
    };
    let found = session.leaf().into_iter().flat_map(|leaf| tree.ancestors(leaf)).find(is_it)?;
    tree.node(found).id().map(ToString::to_string)
}

/// A commit, or a branch without one.
fn short_head(head: &str) -> String {
    match head.strip_prefix("refs/heads/") {
        Some(branch) => one_line(branch, 60),
        None => one_line(&head.chars().take(12).collect::<String>(), 60),
    }
}

fn short(entry: &str) -> String {
    one_line(entry, 8)
}

/// The entry at which the files are, as far as that is known.
pub(crate) fn files_at(workspace: &Workspace, session: &Session) -> Option<NodeIx> {
    match workspace.position(session.id()) {
        // Before the first entry.
        Some(entry) if entry.is_empty() => None,
        known => known.and_then(|entry| session.find(&entry).ok()).or_else(|| session.leaf()),
    }
}

impl FileMove {
    /// Plans, to an entry or before the first one; writes nothing but what a killed program has left.
    pub(crate) fn plan(place: &Place, session: &Session, target: Option<NodeIx>) -> Result<Self> {
        let workspace = workspace(place)?;
        let (up, down) = files_between(session, files_at(&workspace, session), target);
        let known = workspace.way(&up, &down);
        let now = workspace.head();
        let other_head = known.heads.iter().find(|head| Some(*head) != now.as_ref()).cloned();
        let plan = workspace.plan(known.way).map_err(files_failure)?;
        let id = |ix: Option<NodeIx>| ix.and_then(|ix| session.tree().node(ix).id()).map(ToString::to_string);
        Ok(Self {
            workspace: Arc::new(workspace),
            plan,
            entry: id(target).unwrap_or_default(),
            leaf: id(session.leaf()),
            foreign: known.foreign,
            unreadable: known.unreadable,
            other_head,
        })
    }

    /// Why the files do not come unless the person says so: git has another commit checked out than when they were recorded.
    pub(crate) fn across_commits(&self) -> Option<Failure> {
        let recorded = self.other_head.as_deref().filter(|_| !self.plan.is_empty())?;
        let now = self.workspace.head().unwrap_or_else(|| "no commit".to_owned());
        let (recorded, now) = (short_head(recorded), short_head(&now));
        let why = format!(
            "these files were recorded with {recorded} checked out in git, and {now} is now: no file was changed without \
             --across-commits (`acrossCommits` over RPC)"
        );
        let hint = "`--dry-run` lists what would change";
        Some(Failure::refused(FailureKind::Conflict, why).hint(Hint::Text(hint.to_owned())))
    }

    /// Plans changes that come here from other entries, onto the files as they are; `name` is in the names of conflict files.
    pub(crate) fn of_changes(place: &Place, session: &Session, datas: &[String], name: String) -> Result<Self> {
        let workspace = workspace(place)?;
        let known = workspace.way(&[], datas);
        let plan = workspace.plan(known.way).map_err(files_failure)?;
        let leaf = session.leaf().and_then(|ix| session.tree().node(ix).id()).map(ToString::to_string);
        Ok(Self {
            workspace: Arc::new(workspace),
            plan,
            entry: name,
            leaf,
            foreign: known.foreign,
            unreadable: known.unreadable,
            other_head: None,
        })
    }

    /// Brings the files with what `moves` writes to the session, and records them as changes of `by` in an entry after it: all of it happens, or
    /// only what `moves` writes.
    pub(crate) fn run_recorded<T>(
        &self,
        session: &mut Session,
        by: &str,
        moves: impl FnOnce(&mut Session) -> Result<T>,
    ) -> Result<(T, RestoreReport)> {
        let Some(data) = self.workspace.compose(session.id(), by, &self.plan).map_err(files_failure)? else {
            let moved = moves(session)?;
            return Ok((moved, self.run_alone(session)?));
        };
        let json = Json::parse(&data).map_err(|error| Failure::refused(FailureKind::Failed, error.to_string()))?;
        let appends = ChangeSet::digest_of(&data);
        let of = RestoreFor { appends, ..self.restore_for(session, false) };
        let begun = self.workspace.begin(self.plan.clone(), of).map_err(files_failure)?;
        let record = |session: &mut Session| {
            let moved = moves(session)?;
            Ok((moved, session.append_all(&[NewEntry::custom(FILES_ENTRY, Some(json))])?))
        };
        match record(session) {
            Ok((moved, ids)) => {
                let at = ids.first().map(EntryId::as_str).unwrap_or_default();
                Ok((moved, self.workspace.finish_at(begun, at).map_err(files_failure)?))
            }
            Err(failure) => {
                self.workspace.abandon(begun).map_err(files_failure)?;
                Err(failure)
            }
        }
    }

    /// Brings the files, and moves the session in between: both happen, or neither.
    pub(crate) fn run<T>(
        &self,
        session: &mut Session,
        moves: impl FnOnce(&mut Session) -> Result<T>,
    ) -> Result<(T, RestoreReport)> {
        let begun = self.begin(session, true)?;
        match moves(session) {
            Ok(moved) => Ok((moved, self.workspace.finish(begun).map_err(files_failure)?)),
            Err(failure) => {
                self.workspace.abandon(begun).map_err(files_failure)?;
                Err(failure)
            }
        }
    }

    /// Remembers that the files are those of another session as well, which has the entry.
    pub(crate) fn belongs_to(&self, session: &str) -> Result<()> {
        self.workspace.set_position(session, &self.entry).map_err(files_failure)
    }

    /// Brings the files alone.
    pub(crate) fn run_alone(&self, session: &Session) -> Result<RestoreReport> {
        let begun = self.begin(session, false)?;
        self.workspace.finish(begun).map_err(files_failure)
    }

    fn begin(&self, session: &Session, moves: bool) -> Result<BegunRestore> {
        self.workspace.begin(self.plan.clone(), self.restore_for(session, moves)).map_err(files_failure)
    }

    fn restore_for(&self, session: &Session, moves: bool) -> RestoreFor {
        RestoreFor {
            session: session.id().to_owned(),
            file: session.file().map(|file| path_words(file.as_os_str())),
            entry: self.entry.clone(),
            moves_from: moves.then(|| self.leaf.clone().unwrap_or_default()),
            appends: None,
        }
    }

    /// The patch of each file that would change, empty if only its permissions would; `None` where a content is not text.
    pub(crate) fn patches(&self, patch: fn(&str, &str, &str) -> String) -> Vec<(String, Option<String>)> {
        let of_file = |file: &PlannedFile| {
            let (old, new) = self.workspace.texts(file)?;
            // An empty file that comes or goes has no line either.
            let stays = file.current != FileState::Absent && file.target != FileState::Absent;
            Some(if stays && old == new { String::new() } else { patch(file.path.as_str(), &old, &new) })
        };
        self.plan.files.iter().map(|file| (file.path.to_string(), of_file(file))).collect()
    }

    pub(crate) fn into_moved(self, report: Option<RestoreReport>) -> FileMoveOutcome {
        let Self { plan, foreign, unreadable, other_head, .. } = self;
        FileMoveOutcome { plan, report, foreign, unreadable, other_head }
    }
}

/// What bringing back the files of an entry would change, for a look before it is chosen.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FilesPreview {
    /// The files that would be written or removed.
    pub patches: Vec<FilePatch>,
    /// How many more there are than are listed.
    pub more: usize,
    /// What would stay although it should come, in words.
    pub staying: Vec<String>,
    /// Why one may not want it.
    pub warning: Option<String>,
}

impl FilesPreview {
    /// Of the files at an entry, or before the first one. Writes nothing but what a killed program has left.
    ///
    /// # Errors
    /// Files are not recorded, or one cannot be read.
    pub fn read(place: &Place, session: &Session, at: Option<NodeIx>) -> Result<Self> {
        let mut files = FileMove::plan(place, session, at)?;
        let warning = files.across_commits().map(|failure| failure.to_string());
        let more = files.plan.files.len().saturating_sub(MOST_PREVIEWED);
        files.plan.files.truncate(MOST_PREVIEWED);
        let patches = files.patches(file_patch).into_iter().map(|(path, patch)| FilePatch { path, patch }).collect();
        let conflicts = files
            .plan
            .conflicts
            .iter()
            .map(|conflict| format!("{}: changed by somebody else, stays", one_line(conflict.path.as_str(), 200)));
        let left = files.plan.left.iter();
        let left =
            left.map(|left| format!("{}: stays: {}", one_line(left.path.as_str(), 200), one_line(&left.why, 200)));
        Ok(Self { staying: conflicts.chain(left).take(MOST_PREVIEWED).collect(), patches, more, warning })
    }
}

/// Files that are ready for a session that begins at an entry.
#[derive(Debug)]
struct ForkFiles {
    files: FileMove,
    begun: BegunRestore,
}

/// Makes the files of an entry ready for a session that begins there; `None`: of before the first entry.
///
/// # Errors
/// Files are not recorded, cannot come, or git has another commit checked out and that was not allowed.
pub fn fork_files(
    place: &Place,
    session: &Session,
    at: Option<NodeIx>,
    along: FilesAlong,
) -> Result<Box<dyn ReadyFiles>> {
    let files = FileMove::plan(place, session, at)?;
    if let Some(warning) = files.across_commits().filter(|_| along != FilesAlong::ComeAcrossCommits) {
        return Err(warning);
    }
    let begun = files.begin(session, true)?;
    Ok(Box::new(ForkFiles { files, begun }))
}

impl ReadyFiles for ForkFiles {
    fn come(self: Box<Self>, session: &str) -> std::result::Result<FilesThatCame, AgentError> {
        let Self { files, begun } = *self;
        let report = files.workspace.finish(begun).map_err(|error| AgentError::Failed(error.to_string()))?;
        files.belongs_to(session).map_err(|failure| AgentError::Failed(failure.on_one_line()))?;
        let moved = files.into_moved(Some(report));
        let mut words = Words::default();
        moved.words(&mut words);
        Ok(FilesThatCame { json: moved.json(), words: words.plain().lines().map(str::to_owned).collect() })
    }

    fn stay(self: Box<Self>) -> std::result::Result<(), AgentError> {
        self.files.workspace.abandon(self.begun).map_err(|error| AgentError::Failed(error.to_string()))
    }
}

fn left_line(what: &str, left: &LeftFile) -> Line {
    format!("{what}: {}: {}", one_line(left.path.as_str(), 200), one_line(&left.why, 200)).into()
}

fn list<'a>(paths: impl Iterator<Item = &'a str>) -> String {
    let items: Vec<String> = paths.map(quote).collect();
    format!("[{}]", items.join(","))
}

impl FileMoveOutcome {
    /// `{"written", "removed", "merged", "conflicts", "left", "foreign"}`.
    pub(crate) fn json(&self) -> String {
        let (mut written, mut removed, mut merged, mut conflicts) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let mut left: Vec<(&str, &str)> =
            self.plan.left.iter().map(|left| (left.path.as_str(), left.why.as_str())).collect();
        match &self.report {
            Some(report) => {
                written.extend(report.written.iter().map(offshoot_files::RelPath::as_str));
                removed.extend(report.removed.iter().map(offshoot_files::RelPath::as_str));
                merged.extend(report.merged.iter().map(offshoot_files::RelPath::as_str));
                conflicts.extend(
                    report
                        .conflicts
                        .iter()
                        .map(|one| (one.path.as_str(), one.beside.as_ref().map(offshoot_files::RelPath::as_str))),
                );
                left = report.left.iter().map(|left| (left.path.as_str(), left.why.as_str())).collect();
            }
            None => {
                for file in &self.plan.files {
                    let paths = if file.target == FileState::Absent { &mut removed } else { &mut written };
                    paths.push(file.path.as_str());
                    if file.is_merged {
                        merged.push(file.path.as_str());
                    }
                }
                conflicts.extend(self.plan.conflicts.iter().map(|one| (one.path.as_str(), None)));
            }
        }
        [&mut written, &mut removed, &mut merged].into_iter().for_each(|paths| paths.sort_unstable());
        let conflicts: Vec<String> = conflicts
            .into_iter()
            .map(|(path, beside)| Object::new().str("path", path).str_or_null("beside", beside).finish())
            .collect();
        let left: Vec<String> =
            left.into_iter().map(|(path, why)| Object::new().str("path", path).str("why", why).finish()).collect();
        Object::new()
            .raw("written", list(written.into_iter()))
            .raw("removed", list(removed.into_iter()))
            .raw("merged", list(merged.into_iter()))
            .raw("conflicts", format!("[{}]", conflicts.join(",")))
            .raw("left", format!("[{}]", left.join(",")))
            .raw("foreign", self.foreign)
            .finish()
    }

    /// What it did, or would do, line by line.
    pub(crate) fn words(&self, words: &mut Words) {
        let dim = |text: String| Line::of(Role::Dim, text);
        if let Some(head) = &self.other_head {
            let head = short_head(head);
            words.line(Line::of(
                Role::Warning,
                format!("some of these files were recorded with {head} checked out in git"),
            ));
        }
        match &self.report {
            Some(report) => {
                let (written, removed) = (report.written.len(), report.removed.len());
                words.line(dim(format!("{} written, {removed} removed", counted(written, "file", "files"))));
                list_some(words, &report.conflicts, |conflict| {
                    let path = one_line(conflict.path.as_str(), 200);
                    let stays = format!("conflict: {path} was changed by somebody else and stays");
                    match &conflict.beside {
                        Some(beside) => {
                            format!("{stays}; the content at the entry is in {}", one_line(beside.as_str(), 200)).into()
                        }
                        None => stays.into(),
                    }
                });
                list_some(words, &report.left, |left| left_line("not restored", left));
            }
            None => {
                list_some(words, &self.plan.files, |file| {
                    let verb = match (&file.target, file.is_merged) {
                        (FileState::Absent, _) => "would remove",
                        (_, true) => "would merge",
                        (_, false) => "would write",
                    };
                    dim(format!("{verb} {}", one_line(file.path.as_str(), 200)))
                });
                list_some(words, &self.plan.conflicts, |conflict| {
                    let path = one_line(conflict.path.as_str(), 200);
                    format!("conflict: {path} was changed by somebody else and would stay").into()
                });
                list_some(words, &self.plan.left, |left| left_line("would not be restored", left));
                if self.plan.is_empty() {
                    words.line(dim("no file would change".to_owned()));
                }
            }
        }
        if self.foreign > 0 {
            let count = counted(self.foreign, "entry", "entries");
            words.line(format!(
                "{count} recorded in another folder or by another program: their files stay as they are"
            ));
        }
        if self.unreadable > 0 {
            let count = counted(self.unreadable, "entry", "entries");
            words.line(format!("{count} cannot be read: their files stay as they are"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_list_says_how_many_more_there_are() {
        let mut words = Words::default();
        list_some(&mut words, &(0..23).collect::<Vec<_>>(), |item| format!("{item}").into());
        let text = format!("{words:?}");
        assert!(text.contains("\"19\"") && text.contains("and 3 more") && !text.contains("\"20\""), "{text}");
        let mut words = Words::default();
        list_some(&mut words, &(0..20).collect::<Vec<_>>(), |item| format!("{item}").into());
        assert!(!format!("{words:?}").contains("more"));
    }
}
