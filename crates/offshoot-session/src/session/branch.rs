//! Moves the leaf, and makes new sessions from parts of this one.

use std::path::{Path, PathBuf};

use super::diverged::OtherBranches;
use super::open::{NewSession, check_session_id, read_file};
use super::snapshot::FactsCache;
use super::spill::OwnSpill;
use super::{Backing, Session};
use crate::compose::{NewBranchSummary, NewEntry};
use crate::entry::Source as _;
use crate::error::{Error, Invalid, Result};
use crate::extract;
use crate::header::{Header, NewHeader};
use crate::id::EntryId;
use crate::kind::{Kind, Role};
use crate::load::load;
use crate::medium::FileMedium;
use crate::pieces::{Pieces, create_folder_of};
use crate::tree::{NodeIx, Tree};

/// A new session made from another.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the name says it")]
pub struct Extracted {
    pub id: String,
    /// `None` for a session in memory.
    pub file: Option<PathBuf>,
}

/// The result of [`Session::pop`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Popped {
    /// The summary entry, which is the new leaf.
    pub summary: EntryId,
    /// The entry from which it continues.
    pub target: EntryId,
    /// The previous leaf.
    pub left: EntryId,
}

impl Session {
    /// Moves the leaf to an entry. Writes nothing, so only a following append makes it last; see [`Session::switch`].
    ///
    /// # Errors
    /// [`Error::EntryNotFound`].
    pub fn branch(&mut self, id: &str) -> Result<()> {
        self.leaf = Some(self.find(id)?);
        self.own.tail = None;
        Ok(())
    }

    /// Moves the leaf before the first entry, so that the next append is a new root.
    pub fn reset_leaf(&mut self) {
        self.leaf = None;
        self.own.tail = None;
    }

    /// Appends an entry below any entry, or as a root, and moves the leaf to it. If that fails, the leaf stays.
    ///
    /// # Errors
    /// Those of [`Session::append`].
    pub fn append_from(&mut self, target: Option<NodeIx>, new: &NewEntry) -> Result<EntryId> {
        let before = (std::mem::replace(&mut self.leaf, target), self.own.tail.take());
        self.append(new).inspect_err(|error| {
            if matches!(error, Error::Spilled { .. }) {
                self.leaf = before.0;
            } else {
                (self.leaf, self.own.tail) = before;
            }
        })
    }

    /// Moves the leaf durably: appends a marker (`custom`, `offshoot.leaf`) below the target, so that every program
    /// opens there. Writes nothing if the session would open there anyway.
    ///
    /// # Errors
    /// Those of [`Session::append`].
    pub fn switch(&mut self, target: NodeIx) -> Result<()> {
        let tree = self.tree();
        let last = tree.last();
        let opens_there = last.and_then(|last| tree.skip_leaf_markers(last)) == tree.skip_leaf_markers(target);
        if tree.whole(opens_there)? && !self.own.is_pending {
            self.leaf = last;
            return Ok(());
        }
        self.append_from(Some(target), &NewEntry::leaf_marker()).map(drop)
    }

    /// Continues from an entry (or before the first) with a summary of the branch that is left (`fromId`).
    ///
    /// # Errors
    /// [`Error::EntryNotFound`], and those of [`Session::append`].
    pub fn branch_with_summary(&mut self, id: Option<&str>, new: &NewBranchSummary<'_>) -> Result<EntryId> {
        let target = id.map(|id| self.find(id)).transpose()?;
        let left = self.leaf_id().cloned();
        let left = left.as_ref().map(EntryId::as_str);
        let entry = NewEntry::branch_summary(left, new, self.dialect());
        self.append_from(target, &entry)
    }

    /// The entry to which [`Session::pop`] goes back: the given one, else the last user message with messages after it.
    /// Summaries of branches do not count, so that another pop goes further back.
    ///
    /// # Errors
    /// [`Error::Invalid`] if no message would be left.
    pub fn pop_target(&self, entry: Option<NodeIx>) -> Result<NodeIx> {
        let tree = self.tree();
        let leaf = self.leaf.and_then(|leaf| tree.skip_leaf_markers(leaf));
        let leaf = leaf.ok_or(Invalid::NothingToPop)?;
        let target = match entry {
            Some(target) => Some(target),
            None => {
                let mut ancestors = tree.ancestors(leaf).skip_while(|ix| !is_said(tree, *ix));
                ancestors.by_ref().next();
                ancestors.find(|ix| tree.node(*ix).role() == Some(Role::User))
            }
        };
        let target = tree.whole(target)?.ok_or(Invalid::NoUserMessage)?;
        if !self.leaves_messages(target) {
            return Err(Invalid::NothingLeft.into());
        }
        Ok(target)
    }

    /// Whether a move to `target` leaves messages, and not only summaries of branches, labels or settings.
    pub fn leaves_messages(&self, target: NodeIx) -> bool {
        self.abandoned_by(Some(target)).into_iter().any(|ix| is_said(self.tree(), ix))
    }

    /// Goes back to an entry and continues from it with a summary of the branch that is left.
    ///
    /// # Errors
    /// Those of [`Session::branch_with_summary`].
    pub fn pop(&mut self, target: NodeIx, new: &NewBranchSummary<'_>) -> Result<Popped> {
        let id_of = |ix: Option<NodeIx>| ix.and_then(|ix| self.tree().node(ix).id().cloned());
        let left = id_of(self.leaf).ok_or_else(|| Error::no_entry("leaf"))?;
        let target = id_of(Some(target)).ok_or_else(|| Error::no_entry("target"))?;
        let summary = self.branch_with_summary(Some(target.as_str()), new)?;
        Ok(Popped { summary, target, left })
    }

    /// The entries that a move to `target` leaves, from below the common ancestor to the leaf.
    pub fn abandoned_by(&self, target: Option<NodeIx>) -> Vec<NodeIx> {
        let Some(leaf) = self.leaf else { return Vec::new() };
        let path = self.tree().path(leaf);
        let shared = target.and_then(|target| self.tree().common_ancestor(leaf, target));
        let from = shared.and_then(|shared| path.iter().position(|ix| *ix == shared)).map_or(0, |at| at + 1);
        path[from..].to_vec()
    }

    /// Makes a new session from the path to `leaf` (see [`extract::path`]) and becomes it, as pi's session manager
    /// does; the source does not change. `place` chooses the new file's path; a session in memory stays in memory.
    /// `cwd` replaces the working directory.
    ///
    /// # Errors
    /// [`Error::Conflict`] if the file exists; [`Error::Io`].
    pub fn create_branched(
        &mut self,
        leaf: NodeIx,
        cwd: Option<&str>,
        place: impl FnOnce(&str, &str) -> PathBuf,
    ) -> Result<Extracted> {
        let header = self.child_header(cwd);
        let now = self.options.clock.now();
        let mut ids = std::mem::replace(&mut self.options.ids, Box::new(crate::id::RandomIds));
        let pieces = extract::path(self, leaf, &header, ids.as_mut(), now);
        self.options.ids = ids;
        self.become_copy(&pieces?, &header, place)
    }

    /// Writes a part of this session to a new session file.
    ///
    /// # Errors
    /// [`Error::Conflict`] if the file exists; [`Error::Io`].
    pub fn export(
        &mut self,
        part: SessionPart,
        cwd: Option<&str>,
        place: impl FnOnce(&str, &str) -> PathBuf,
    ) -> Result<Extracted> {
        let header = self.child_header(cwd);
        let now = self.options.clock.now();
        let pieces = match part {
            SessionPart::Path(leaf) => extract::path(self, leaf, &header, &mut crate::id::RandomIds, now)?,
            SessionPart::Subtree(top) => extract::subtree(self, top, &header)?,
            SessionPart::Everything => extract::everything(self, &self.loaded, Some(&header))?,
        };
        let path = place(header.id(), header.timestamp().unwrap_or_default());
        create_folder_of(&path)?;
        pieces.create(self.medium()?, &path)?;
        Ok(Extracted { id: header.id().to_owned(), file: Some(path) })
    }

    /// Copies the session to a new file, with all bytes and ids; an old version is upgraded in the copy.
    ///
    /// # Errors
    /// [`Error::Conflict`] if the file exists; [`Error::Io`].
    pub fn copy_to(&self, path: &Path) -> Result<()> {
        extract::everything(self, &self.loaded, None)?.create(self.medium()?, path)
    }

    fn child_header(&mut self, cwd: Option<&str>) -> Header {
        let id = self.options.ids.session_id();
        let parent = self.file().map(|path| std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf()));
        let parent = parent.map(|path| path.display().to_string());
        let title = self.title().map(str::to_owned);
        Header::new(&NewHeader {
            id: &id,
            at: self.options.clock.now(),
            cwd: &lexical(cwd.or(self.cwd()).unwrap_or_default()),
            parent_session: parent.as_deref(),
            title: title.as_deref(),
        })
    }

    fn become_copy(
        &mut self,
        pieces: &Pieces,
        header: &Header,
        place: impl FnOnce(&str, &str) -> PathBuf,
    ) -> Result<Extracted> {
        let (backing, mut loaded, file) = if let Backing::Memory(_) = self.backing {
            let medium = self.in_memory_copy(pieces)?;
            let loaded = load(&medium)?;
            (Backing::Memory(Box::new(medium)), loaded, None)
        } else {
            let path = place(header.id(), header.timestamp().unwrap_or_default());
            create_folder_of(&path)?;
            pieces.create(self.medium()?, &path)?;
            let medium = FileMedium::open(&path).map_err(Error::io("open", &path))?;
            let loaded = read_file(&medium, &self.options)?;
            (self.options.file(&path)?, loaded, Some(path))
        };
        loaded.dialect = loaded.dialect.or(self.loaded.dialect);
        self.leaf = loaded.tree.last();
        self.header = header.clone();
        self.loaded = loaded;
        self.facts = FactsCache::default();
        self.backing = backing;
        self.broken = None;
        self.own = OwnSpill::default();
        self.others = OtherBranches::default();
        Ok(Extracted { id: header.id().to_owned(), file })
    }

    /// Copies every branch of a session file to a new session for `cwd` (`forkFrom`), including lines that do not
    /// parse; an old version is upgraded in the copy.
    ///
    /// # Errors
    /// [`Error::NotASession`]; [`Error::Invalid`] for an empty source; [`Error::Conflict`]; [`Error::Io`].
    pub fn fork_file(
        source: &Path,
        new: &NewSession<'_>,
        options: super::Options,
        place: impl FnOnce(&str, &str) -> PathBuf,
    ) -> Result<Extracted> {
        let mut session = Self::open(source, options)?;
        if let Some(id) = new.id {
            check_session_id(id)?;
            session.options.ids = Box::new(GivenId(Some(id.to_owned()), session.options.ids));
        }
        session.export(SessionPart::Everything, Some(new.cwd), place)
    }
}

fn is_said(tree: &Tree, ix: NodeIx) -> bool {
    matches!(tree.node(ix).kind(), Kind::Message | Kind::CustomMessage | Kind::Compaction)
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

/// Returns the caller's session id once.
struct GivenId(Option<String>, Box<dyn crate::id::IdSource>);

impl crate::id::IdSource for GivenId {
    fn entry_id(&mut self) -> EntryId {
        self.1.entry_id()
    }

    fn session_id(&mut self) -> String {
        self.0.take().unwrap_or_else(|| self.1.session_id())
    }
}
