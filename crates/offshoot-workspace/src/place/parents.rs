//! Which session another one was made from, where its header does not say it by a path: it says an id, or it is a fork of Claude Code's
//! that says nothing, or one of opencode's, whose title says it. Only sessions that are listed together are looked at.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};

use offshoot_foreign::{Agent, unnamed_forks};
use offshoot_session::clock::Millis;
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
    /// Sessions of opencode by their store, title and first prompt, with the time when they were begun.
    titled: HashMap<TitleInStore, Vec<(Option<Millis>, PathBuf)>>,
    /// Forks of opencode's, with what their parents are called.
    forks_by_title: Vec<(PathBuf, Option<Millis>, TitleInStore)>,
}

/// The store, the title, and a hash of the first prompt.
type TitleInStore = (PathBuf, String, u64);

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
        let Some(folder) = info.path.parent().filter(|_| program.is_some() && !is_copy) else { return };
        let mut hasher = DefaultHasher::new();
        info.first_message.hash(&mut hasher);
        let (folder, prompt) = (folder.to_path_buf(), hasher.finish());
        if program == Some(Agent::Claude.word()) {
            self.alike.entry((folder, prompt)).or_default().push(info.path.clone());
        } else if program == Some(Agent::Opencode.word())
            && let Some(title) = &info.name
        {
            if let Some(above) = title_of_parent(title) {
                self.forks_by_title.push((info.path.clone(), info.created, (folder.clone(), above, prompt)));
            }
            let titled = self.titled.entry((folder, title.clone(), prompt)).or_default();
            titled.push((info.created, info.path.clone()));
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
        for (path, created, titled) in std::mem::take(&mut self.forks_by_title) {
            let above = self.titled.get(&titled).into_iter().flatten();
            // A fork begins with a copy of its parent's messages, and is newer.
            if let Some((_, parent)) = above.filter(|(begun, _)| *begun <= created).max()
                && !found.contains_key(&path)
            {
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
        // Nearly all sessions name their parents by paths.
        let has_agents = store.roots().iter().any(|root| root.format().is_some());
        if !has_agents && !sessions.iter().any(|info| info.parent_session_path.as_deref().is_some_and(is_id)) {
            return;
        }
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

/// What the parent of a fork of opencode's is called: the forks of a fork are counted on.
fn title_of_parent(title: &str) -> Option<String> {
    let (base, number) = title.strip_suffix(')')?.rsplit_once(" (fork #")?;
    match number.parse::<u64>().ok()? {
        0 => None,
        1 => Some(base.to_owned()),
        number => Some(format!("{base} (fork #{})", number - 1)),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forks_of_forks_are_counted_on() {
        let titles =
            ["a (fork #1)", "a (fork #3)", "a (fork #1) (fork #1)", "a (fork #0)", "a (fork #x)", "fork #1", ""];
        let parents = titles.map(title_of_parent);
        let some = |title: &str| Some(title.to_owned());
        assert_eq!(parents, [some("a"), some("a (fork #2)"), some("a (fork #1)"), None, None, None, None]);
    }
}
