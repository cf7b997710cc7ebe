//! A second folder that is a copy of the working directory, with the files of any entry of a session. The working directory is only read.

use std::path::Path;

use offshoot_agent::file_entries::{files_between, files_data};
use offshoot_files::{
    FileChange, FolderCopy, GitCopy, RestoreFor, RestoreReport, Workspace, copy_folder, files_at as files_at_entry,
};
use offshoot_session::entry::Source as _;
use offshoot_session::json::Object;
use offshoot_session::session::Session;
use offshoot_session::text::{counted, one_line};
use offshoot_session::tree::NodeIx;

use crate::failure::Result;
use crate::file_moves::{files_at, files_failure, open_workspace, workspace};
use crate::place::Place;
use crate::words::Note;

/// How many of the files that were not copied are named.
const NAMED: usize = 5;

/// A copy of the working directory.
#[derive(Debug)]
pub struct SecondFolder {
    workspace: Workspace,
    /// What the copy has.
    pub copied: FolderCopy,
    /// All changes of the session, those on the way to the files of the working directory first.
    others: Vec<Vec<FileChange>>,
    /// Entries of the session that the working directory did not record.
    pub foreign: usize,
}

/// What is kept goes first: it is found by the folder.
fn remove(workspace: &Workspace) {
    for folder in [workspace.data(), workspace.root()] {
        drop(std::fs::remove_dir_all(folder));
    }
}

fn entry_id(session: &Session, at: Option<NodeIx>) -> String {
    at.and_then(|at| session.tree().node(at).id()).map(ToString::to_string).unwrap_or_default()
}

impl SecondFolder {
    /// Copies the working directory. `to` is new, or an empty folder.
    ///
    /// # Errors
    /// Something cannot be read or written: then nothing is left.
    pub fn make(place: &Place, session: &Session, to: &Path, git: GitCopy) -> Result<Self> {
        let first = workspace(place)?;
        let copied = copy_folder(place.cwd(), to, git).map_err(files_failure)?;
        let made = Self::open(place, session, &first, to);
        if made.is_err() {
            drop(std::fs::remove_dir_all(to));
        }
        made.map(|made| Self { copied, ..made })
    }

    fn open(place: &Place, session: &Session, first: &Workspace, to: &Path) -> Result<Self> {
        let workspace = open_workspace(place, to)?;
        // There may have been another folder at this path.
        workspace.forget_rest().map_err(files_failure)?;
        let (_, mut datas) = files_between(session, None, files_at(first, session));
        let every: Vec<String> = session.tree().entries().filter_map(|ix| files_data(session, ix)).collect();
        workspace.adopt(first, session.id(), &every).map_err(files_failure)?;
        datas.extend(every);
        let known = workspace.way(&[], &datas);
        let foreign = known.foreign + known.unreadable;
        Ok(Self { workspace, copied: FolderCopy::default(), others: known.way.down, foreign })
    }

    /// The folder, without links.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.workspace.root()
    }

    /// Brings the files of an entry, or those before the first one.
    ///
    /// # Errors
    /// A file cannot be read or written.
    pub fn bring(&self, session: &Session, at: Option<NodeIx>) -> Result<RestoreReport> {
        let (_, datas) = files_between(session, None, at);
        let files = files_at_entry(self.workspace.way(&[], &datas).way.down, self.others.clone());
        let plan = self.workspace.plan_to(files).map_err(files_failure)?;
        let of = RestoreFor {
            session: session.id().to_owned(),
            file: None,
            entry: entry_id(session, at),
            moves_from: None,
            appends: None,
        };
        let begun = self.workspace.begin(plan, of).map_err(files_failure)?;
        self.workspace.finish(begun).map_err(files_failure)
    }

    /// Remembers that its files are those at an entry of another session, which is a fork.
    pub(crate) fn belongs_to(&self, fork: &str, session: &Session, at: Option<NodeIx>) -> Result<()> {
        self.workspace.set_position(fork, &entry_id(session, at)).map_err(files_failure)
    }

    /// Removes the folder and what is kept of it.
    pub fn remove(self) {
        remove(&self.workspace);
    }

    /// The same of a folder that a killed program has made.
    pub fn remove_left_behind(place: &Place, folder: &Path) {
        if let Ok(workspace) = open_workspace(place, folder) {
            remove(&workspace);
        }
        drop(std::fs::remove_dir_all(folder));
    }

    /// What came of it, as JSON: `{"path", "copied", "left", "changed"}`.
    pub(crate) fn json(&self, report: &RestoreReport) -> String {
        let left = self.copied.left.iter().map(|(path, why)| (path.as_str(), why.as_str()));
        let left = left.chain(report.left.iter().map(|left| (left.path.as_str(), left.why.as_str())));
        let left: Vec<String> =
            left.map(|(path, why)| Object::new().str("path", path).str("why", why).finish()).collect();
        Object::new()
            .str("path", &self.path().to_string_lossy())
            .raw("copied", self.copied.files)
            .raw("changed", report.written.len() + report.removed.len())
            .raw("left", format!("[{}]", left.join(",")))
            .finish()
    }

    /// The same in words.
    pub(crate) fn notes(&self, report: &RestoreReport) -> Vec<Note> {
        let copied = counted(usize::try_from(self.copied.files).unwrap_or(usize::MAX), "file", "files");
        let changed = report.written.len() + report.removed.len();
        let path = one_line(&self.path().to_string_lossy(), 200);
        let mut notes = vec![Note::Told(format!("{copied} copied to {path}; {changed} brought to the entry"))];
        let left = self.copied.left.iter().map(|(path, why)| format!("{path}: {why}"));
        let left: Vec<String> =
            left.chain(report.left.iter().map(|left| format!("{}: {}", left.path, left.why))).collect();
        notes.extend(left.iter().take(NAMED).map(|left| Note::Warning(format!("not copied: {}", one_line(left, 300)))));
        if let Some(more) = left.len().checked_sub(NAMED).filter(|more| *more > 0) {
            notes.push(Note::Warning(format!("not copied: {more} more")));
        }
        if self.foreign > 0 {
            let count = counted(self.foreign, "entry", "entries");
            notes.push(Note::Warning(format!(
                "{count} recorded in another folder or by another program: their files are as in this folder"
            )));
        }
        notes
    }
}
