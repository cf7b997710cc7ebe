//! Which session another one was made from, where its header does not say it by a path: it says an id, or it is a fork of Claude Code's
//! that says nothing. Only sessions that are listed together are looked at.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};

use offshoot_foreign::{Agent, unnamed_forks};
use offshoot_session::list::SessionInfo;
use offshoot_session::store::{DirStore, Root};

/// The program of a session; `None` for those whose sessions are ours.
type Program = Option<&'static str>;

/// Sessions as they are listed, one after another.
#[derive(Debug, Default)]
pub struct ListedParents {
    by_id: HashMap<(Program, String), PathBuf>,
    /// Sessions with the id of their parent.
    named: Vec<(PathBuf, Program, String)>,
    /// Transcripts of Claude Code by their folder and their first prompt, which a fork has, too.
    alike: HashMap<(PathBuf, u64), Vec<PathBuf>>,
}

impl ListedParents {
    /// Notes a listed session.
    pub fn note(&mut self, store: &DirStore, info: &SessionInfo) {
        let root = store.root_of(&info.path);
        let program = root.and_then(Root::format).map(|format| format.word);
        let is_copy = root.is_some_and(Agent::is_kept_root);
        let known = (program, info.id.clone());
        if is_copy {
            self.by_id.entry(known).or_insert_with(|| info.path.clone());
        } else {
            self.by_id.insert(known, info.path.clone());
        }
        if let Some(named) = info.parent_session_path.as_ref().filter(|named| is_id(named)) {
            self.named.push((info.path.clone(), program, named.clone()));
        }
        if program == Some(Agent::Claude.word())
            && !is_copy
            && let Some(folder) = info.path.parent()
        {
            let mut hasher = DefaultHasher::new();
            info.first_message.hash(&mut hasher);
            self.alike.entry((folder.to_path_buf(), hasher.finish())).or_default().push(info.path.clone());
        }
    }

    /// The parents that nothing names by a path. Reads the beginnings of transcripts that begin with the same prompt.
    #[must_use]
    pub fn found(mut self) -> HashMap<PathBuf, PathBuf> {
        let mut found: HashMap<PathBuf, PathBuf> = HashMap::new();
        for (path, program, id) in std::mem::take(&mut self.named) {
            if let Some(parent) = self.by_id.get(&(program, id)).filter(|parent| **parent != path) {
                found.insert(path, parent.clone());
            }
        }
        for files in self.alike.values().filter(|files| files.len() > 1) {
            for (fork, parent) in unnamed_forks(files) {
                if !found.contains_key(&fork) && !is_below(&found, &parent, &fork) {
                    found.insert(fork, parent);
                }
            }
        }
        found
    }

    /// Gives sessions that are listed together the paths of their parents.
    pub(crate) fn name(store: &DirStore, sessions: &mut [SessionInfo]) {
        let mut parents = Self::default();
        sessions.iter().for_each(|info| parents.note(store, info));
        let mut found = parents.found();
        for info in sessions {
            if let Some(parent) = found.remove(&info.path) {
                info.parent_session_path = Some(parent.to_string_lossy().into_owned());
            }
        }
    }
}

/// Headers name parents by paths, by file names or by ids.
fn is_id(named: &str) -> bool {
    !named.contains('/') && !named.ends_with(".jsonl")
}

/// Whether the one session is made from the other, as far as that is known.
fn is_below(found: &HashMap<PathBuf, PathBuf>, one: &Path, other: &Path) -> bool {
    let above = std::iter::successors(Some(one), |at| found.get(*at).map(PathBuf::as_path));
    // What names each other in a circle has no first one.
    above.take(found.len() + 1).any(|at| at == other)
}
