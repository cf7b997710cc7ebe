//! Makes new sessions from parts of this one: forks and exported files. See *Extraction and forks* in `docs/format.md`.

use std::path::{Path, PathBuf};

use super::ancestors::Ancestors;
use super::diverged::OtherBranches;
use super::open::{check_session_id, read_file};
use super::snapshot::FactsCache;
use super::spill::OwnSpill;
use super::{Backing, Session};
use crate::compose::{NewEntry, with_member};
use crate::entry::{Source as _, text_of};
use crate::error::{Error, Result};
use crate::extract::{self, Extract};
use crate::header::{Dialect, Header, NewHeader};
use crate::json::{Json, quote};
use crate::kind::Role;
use crate::load::load;
use crate::medium::FileMedium;
use crate::pieces::{Pieces, create_folder_of};
use crate::text::one_line;
use crate::tree::NodeIx;

/// The entries that go into a file or onto a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(missing_docs, reason = "the name says it")]
pub enum SessionPart {
    /// The path from the root to an entry.
    Path(NodeIx),
    /// An entry and its descendants.
    Subtree(NodeIx),
    #[default]
    Everything,
}

/// The properties of a session made from another.
#[derive(Debug, Clone, Copy, Default)]
pub struct NewFork<'a> {
    /// What is copied.
    pub part: SessionPart,
    /// A new id if `None`.
    pub id: Option<&'a str>,
    /// Replaces the working directory.
    pub cwd: Option<&'a str>,
    /// The name, such as [`Session::fork_name`] makes; without one only the copied entries name the fork.
    pub name: Option<&'a str>,
}

/// A new session made of another.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the name says it")]
pub struct Extracted {
    pub id: String,
    /// `None` for a session in memory.
    pub file: Option<PathBuf>,
}

/// The longest name made of a person's first words.
const FIRST_WORDS: usize = 50;
/// How many user messages are searched for words.
const SEARCHED: usize = 16;

impl Session {
    /// The name of a fork: this session's name, else its title, else its first words, with `(fork)`, or with
    /// `(fork 2)` and so on for the fork of a fork and for names that are taken. `None` if nothing was said.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn fork_name(&self, is_taken: &dyn Fn(&str) -> bool) -> Result<Option<String>> {
        let own = match self.name()? {
            Some(name) => Some(name),
            None => self.title().map(str::to_owned),
        };
        let own = match own {
            Some(name) => Some(name),
            None => self.first_words()?,
        };
        Ok(own.map(|own| next_name(&own, is_taken)))
    }

    fn first_words(&self) -> Result<Option<String>> {
        let tree = self.tree();
        for ix in tree.entries().filter(|ix| tree.node(*ix).role() == Some(Role::User)).take(SEARCHED) {
            let entry = self.entry(ix)?;
            let content = entry.message().and_then(|message| message.get("content"));
            let words = content.map(|content| one_line(&text_of(content, " "), FIRST_WORDS)).unwrap_or_default();
            if !words.is_empty() {
                return Ok(Some(words));
            }
        }
        Ok(None)
    }

    /// Makes a new session from a part of this one and becomes it, as pi's session manager does; the source does not
    /// change. `place` chooses the new file's path; a session in memory stays in memory.
    ///
    /// # Errors
    /// [`Error::Invalid`] for an invalid id; [`Error::Conflict`] if the file exists; [`Error::Io`].
    pub fn become_fork(&mut self, fork: &NewFork<'_>, place: impl FnOnce(&str, &str) -> PathBuf) -> Result<Extracted> {
        let header = self.fork_header(fork)?;
        let pieces = self.fork_pieces(fork, &header)?;
        let (backing, mut loaded, file) = if let Backing::Memory(_) = self.backing {
            let medium = self.in_memory_copy(&pieces)?;
            let loaded = load(&medium)?;
            (Backing::Memory(Box::new(medium)), loaded, None)
        } else {
            let path = self.create_fork(&header, &pieces, place)?;
            let medium = FileMedium::open(&path).map_err(Error::io("open", &path))?;
            let loaded = read_file(&medium, &self.options)?;
            (self.options.file(&path)?, loaded, Some(path))
        };
        loaded.dialect = loaded.dialect.or(self.loaded.dialect);
        let id = header.id().to_owned();
        self.leaf = loaded.tree.last();
        self.header = header;
        self.loaded = loaded;
        self.facts = FactsCache::default();
        self.ancestors = Ancestors::default();
        self.backing = backing;
        self.broken = None;
        self.own = OwnSpill::default();
        self.others = OtherBranches::default();
        Ok(Extracted { id, file })
    }

    /// Writes a part of this session to a new session file, with the new name in the same write. The path to the leaf
    /// includes the entries that wait below it because they could not be written.
    ///
    /// # Errors
    /// [`Error::Invalid`] for an invalid id or an empty source; [`Error::Conflict`] if the file exists; [`Error::Io`].
    pub fn export(&mut self, fork: &NewFork<'_>, place: impl FnOnce(&str, &str) -> PathBuf) -> Result<Extracted> {
        let header = self.fork_header(fork)?;
        let pieces = self.fork_pieces(fork, &header)?;
        let path = self.create_fork(&header, &pieces, place)?;
        Ok(Extracted { id: header.id().to_owned(), file: Some(path) })
    }

    /// Copies the session to a new file, with all bytes and ids; an old version is upgraded in the copy.
    ///
    /// # Errors
    /// [`Error::Conflict`] if the file exists; [`Error::Io`].
    pub fn copy_to(&self, path: &Path) -> Result<()> {
        extract::everything(self, &self.loaded, None)?.create(self.medium()?, path)
    }

    fn fork_header(&mut self, fork: &NewFork<'_>) -> Result<Header> {
        let id = match fork.id {
            Some(id) => check_session_id(id).map(|()| id.to_owned())?,
            None => self.options.ids.session_id(),
        };
        let parent = self.file().map(|path| std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf()));
        let parent = parent.map(|path| path.display().to_string());
        // omp shows the title, and no entry's name.
        let name = fork.name.filter(|_| self.dialect() == Dialect::Omp);
        let title = name.or(self.title()).map(str::to_owned);
        Ok(Header::new(&NewHeader {
            id: &id,
            at: self.options.clock.now(),
            cwd: &lexical(fork.cwd.or(self.cwd()).unwrap_or_default()),
            parent_session: parent.as_deref(),
            title: title.as_deref(),
        }))
    }

    fn fork_pieces(&mut self, fork: &NewFork<'_>, header: &Header) -> Result<Pieces> {
        let now = self.options.clock.now();
        let mut ids = std::mem::replace(&mut self.options.ids, Box::new(crate::id::RandomIds));
        let extract = match fork.part {
            SessionPart::Path(leaf) => extract::path(self, leaf, header, ids.as_mut(), now),
            SessionPart::Subtree(top) => extract::subtree(self, top, header),
            SessionPart::Everything => extract::everything(self, &self.loaded, Some(header)).map(|pieces| {
                let last = self.tree().last().and_then(|last| self.tree().node(last).id().cloned());
                Extract { pieces, last }
            }),
        };
        self.options.ids = ids;
        let Extract { mut pieces, mut last } = extract?;
        // What could not be written here goes along.
        if matches!(fork.part, SessionPart::Path(leaf) if Some(leaf) == self.leaf) {
            for (id, line) in self.waiting_path()? {
                let parent = last.replace(id).map_or("null".to_owned(), |parent| quote(parent.as_str()));
                pieces.line(&with_member(Json::trusted(&line), "parentId", &parent));
            }
        }
        if let Some(name) = fork.name {
            let mut id = self.options.ids.entry_id();
            while self.tree().find(id.as_str()).is_some() || last.as_ref() == Some(&id) {
                id = self.options.ids.entry_id();
            }
            pieces.line(&NewEntry::session_info(name).line(&id, last.as_ref(), now));
        }
        Ok(pieces)
    }

    fn create_fork(
        &self,
        header: &Header,
        pieces: &Pieces,
        place: impl FnOnce(&str, &str) -> PathBuf,
    ) -> Result<PathBuf> {
        let path = place(header.id(), header.timestamp().unwrap_or_default());
        create_folder_of(&path)?;
        pieces.create(self.medium()?, &path)?;
        Ok(path)
    }
}

/// The name with the first free suffix after its own.
fn next_name(parent: &str, is_taken: &dyn Fn(&str) -> bool) -> String {
    let (base, own) = match parent.strip_suffix(')').and_then(|parent| parent.rsplit_once(" (fork")) {
        Some((base, "")) => (base, 1),
        Some((base, number)) => match number.trim_start().parse::<u32>() {
            Ok(number) => (base, number),
            Err(_) => (parent, 0),
        },
        None => (parent, 0),
    };
    let suffixed = |number: u32| match number {
        1 => format!("{base} (fork)"),
        number => format!("{base} (fork {number})"),
    };
    let mut number = own.saturating_add(1);
    while number < u32::MAX && is_taken(&suffixed(number)) {
        number += 1;
    }
    suffixed(number)
}

/// Removes `.`, `..` and redundant separators from an absolute path; other paths stay.
fn lexical(path: &str) -> String {
    use std::path::Component;
    if !path.starts_with('/') {
        return path.to_owned();
    }
    let mut clean = PathBuf::new();
    for part in Path::new(path).components() {
        match part {
            Component::ParentDir => drop(clean.pop()),
            Component::CurDir => {}
            part => clean.push(part),
        }
    }
    clean.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suffixes_count_up_and_never_pile_up() {
        let taken = ["b (fork)", "b (fork 2)"];
        let next = |parent: &str| next_name(parent, &|name| taken.contains(&name));
        for (parent, fork) in [
            ("a", "a (fork)"),
            ("a (fork)", "a (fork 2)"),
            ("a (fork 9)", "a (fork 10)"),
            ("b", "b (fork 3)"),
            ("b (fork)", "b (fork 3)"),
            ("a (fork it)", "a (fork it) (fork)"),
            ("(fork)", "(fork) (fork)"),
            ("a (fork 4294967295)", "a (fork 4294967295)"),
        ] {
            assert_eq!(next(parent), fork);
        }
    }
}
