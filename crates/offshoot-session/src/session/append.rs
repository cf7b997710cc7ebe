//! Growing: lines at the end of the file, durable before they are visible.
//!
//! The lock is held for one append. Under it the file is looked at again: what another process appended is read first,
//! a file that was replaced or shortened stops the append. What a failure leaves behind is for `put` to settle; the tree
//! never runs ahead of the file.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use super::put::{Batch, Failed, put};
use super::{Backing, Options, Session};
use crate::clock::Millis;
use crate::compose::NewEntry;
use crate::entry::Source as _;
use crate::error::{Error, Result};
use crate::extract;
use crate::header::Dialect;
use crate::id::EntryId;
use crate::json::Json;
use crate::kind::{Kind, Role};
use crate::load::load;
use crate::medium::{FileMedium, MemoryMedium, Standing};
use crate::pieces::{Pieces, create_folder_of};
use crate::tree::{NewNode, NodeIx};

impl Session {
    /// Appends an entry below the leaf and moves the leaf to it.
    ///
    /// When this returns, the entry is in the file as the session's [`Durability`](super::Durability) says; nothing else
    /// in the file has changed, but for a version 1 or 2 file, which is upgraded first (its old bytes stay as
    /// `<file>.v1.bak`).
    ///
    /// # Errors
    /// [`Error::EntryNotFound`] and [`Error::Invalid`] for entries that point at nothing; [`Error::Conflict`] if the
    /// file was replaced, shortened or deleted meanwhile; [`Error::Io`]. The entry is then not in the tree. If the write
    /// failed, the file is as it was, and the session can go on; if that could not be brought about, or if the sync
    /// failed, the session refuses appends until it is opened again.
    pub fn append(&mut self, new: &NewEntry) -> Result<EntryId> {
        let ids = self.append_all(std::slice::from_ref(new))?;
        ids.into_iter().next().ok_or_else(|| Error::no_entry("just appended"))
    }

    /// Appends entries below the leaf, each below the one before, and moves the leaf to the last: one write and one sync
    /// for all of them.
    ///
    /// All of them enter the tree, or none. A crash in the middle of the write may leave the first few of them in the
    /// file, whole, and at most one torn line behind them.
    ///
    /// # Errors
    /// As [`Session::append`]; also [`Error::Invalid`] for a compaction that is not the first of them, since it speaks of
    /// what is in the tree.
    pub fn append_all(&mut self, new: &[NewEntry]) -> Result<Vec<EntryId>> {
        let nodes = self.append_chain(new, self.leaf)?;
        self.leaf = nodes.last().copied().or(self.leaf);
        Ok(nodes.iter().filter_map(|ix| self.tree().node(*ix).id().cloned()).collect())
    }

    /// Appends an entry below any entry, or as a root. The leaf stays.
    ///
    /// # Errors
    /// As [`Session::append`].
    pub fn append_below(&mut self, new: &NewEntry, parent: Option<NodeIx>) -> Result<NodeIx> {
        let nodes = self.append_chain(std::slice::from_ref(new), parent)?;
        nodes.first().copied().ok_or_else(|| Error::no_entry("just appended"))
    }

    fn append_chain(&mut self, new: &[NewEntry], parent: Option<NodeIx>) -> Result<Vec<NodeIx>> {
        self.refuse_if_broken()?;
        for entry in new {
            self.check_target(entry)?;
        }
        let Some((first, others)) = new.split_first() else { return Ok(Vec::new()) };
        if others.iter().any(|entry| entry.kind() == Kind::Compaction) {
            return Err(Error::Invalid("of entries that are appended together, only the first can compact".to_owned()));
        }
        self.upgrade()?;
        // From here on the parent is named by id: another process may have changed the order of things.
        let at = self.options.clock.now();
        let with_system = self.with_system_message(first, parent, at)?;
        let parent = parent.and_then(|ix| self.tree().node(ix).id().cloned());
        let mut chain = vec![with_system.as_ref().unwrap_or(first)];
        chain.extend(others);
        let batch = self.written(&chain, parent, at)?;
        Ok(self.take_in(&batch))
    }

    fn refuse_if_broken(&self) -> Result<()> {
        let Some(why) = &self.broken else { return Ok(()) };
        let path = self.file().map(PathBuf::from).unwrap_or_default();
        Err(Error::Conflict { path, why: format!("{why}; open the session again") })
    }

    /// Puts entries into the file, which is born if need be.
    fn written(&mut self, chain: &[&NewEntry], parent: Option<EntryId>, at: Millis) -> Result<Batch> {
        if let Backing::Unborn(path) = &self.backing {
            let path = path.clone();
            let batch = self.composed(chain, parent, at, 0);
            self.backing = be_born(&path, &batch)?;
            return Ok(batch);
        }
        let standing = self.locked()?;
        let batch = self.composed(chain, parent, at, standing.length);
        let durability = self.options.durability;
        let (Backing::File(medium) | Backing::Memory(medium)) = &mut self.backing else {
            return Err(Error::Invalid("the session has no file yet".to_owned()));
        };
        let put = put(medium.as_mut(), standing.length, batch.bytes.as_bytes(), durability);
        let unlocked = self.unlock();
        if let Err(Failed { error, broken }) = put {
            self.broken = broken.map(str::to_owned);
            return Err(error);
        }
        // The entries are in the file whatever becomes of the lock; it ends when the session does.
        if unlocked.is_err() {
            self.broken = Some("the lock could not be given back".to_owned());
        }
        Ok(batch)
    }

    fn unlock(&mut self) -> Result<()> {
        let (Backing::File(medium) | Backing::Memory(medium)) = &mut self.backing else { return Ok(()) };
        let path = medium.path().to_path_buf();
        medium.unlock().map_err(Error::io("unlock", &path))
    }

    /// Takes the lock on the file as it now is.
    fn locked(&mut self) -> Result<Standing> {
        let (Backing::File(medium) | Backing::Memory(medium)) = &mut self.backing else {
            return Err(Error::Invalid("the session has no file yet".to_owned()));
        };
        let path = medium.path().to_path_buf();
        let standing = medium.lock().map_err(Error::io("lock", &path))?;
        let known = self.loaded.end.length;
        let trouble = if !standing.is_current {
            Some("the file was replaced or deleted by another program")
        } else if standing.length < known {
            Some("the file was shortened by another program")
        } else {
            None
        };
        if let Some(why) = trouble {
            self.unlock()?;
            self.broken = Some(why.to_owned());
            return Err(Error::Conflict { path, why: format!("{why}; open the session again") });
        }
        if standing.length > known
            && let Err(error) = self.catch_up(standing.length)
        {
            self.unlock()?;
            return Err(error);
        }
        Ok(standing)
    }

    /// Reads what other processes have appended since; answers whether there was something. The leaf stays.
    ///
    /// # Errors
    /// [`Error::Conflict`] if the file was replaced or shortened; [`Error::Io`].
    pub fn refresh(&mut self) -> Result<bool> {
        let (Backing::File(medium) | Backing::Memory(medium)) = &self.backing else { return Ok(false) };
        let path = medium.path().to_path_buf();
        let length = medium.len().map_err(Error::io("read", &path))?;
        if length == self.loaded.end.length {
            return Ok(false);
        }
        if length < self.loaded.end.length {
            return Err(Error::Conflict { path, why: "the file was shortened by another program".to_owned() });
        }
        self.catch_up(length)?;
        Ok(true)
    }

    /// Whether the file is still the one that was opened; a session that is in memory or not begun is.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn is_current(&self) -> Result<bool> {
        let (Backing::File(medium) | Backing::Memory(medium)) = &self.backing else { return Ok(true) };
        medium.is_current().map_err(Error::io("look at", medium.path()))
    }

    fn catch_up(&mut self, length: u64) -> Result<()> {
        let (Backing::File(medium) | Backing::Memory(medium)) = &self.backing else { return Ok(()) };
        if self.loaded.extend(medium.as_ref(), length)? {
            return Ok(());
        }
        self.reload()
    }

    /// Reads the whole file again. The leaf stays where it is.
    fn reload(&mut self) -> Result<()> {
        let leaf = self.leaf_id().cloned();
        self.loaded = load(self.medium()?)?;
        self.facts = Mutex::default();
        if let Some(header) = &self.loaded.header {
            self.header = header.clone();
        }
        self.leaf = leaf.and_then(|id| self.tree().find(id.as_str()));
        Ok(())
    }

    /// A compaction in pi's dialect carries what the system messages before it come to.
    fn with_system_message(&self, new: &NewEntry, parent: Option<NodeIx>, at: Millis) -> Result<Option<NewEntry>> {
        let is_wanted = new.kind() == Kind::Compaction
            && self.dialect() == Dialect::Pi
            && new.member("systemMessage").is_none()
            && parent.is_some();
        if !is_wanted {
            return Ok(None);
        }
        let system = self.context_at(parent)?.system_message(self, at)?;
        Ok(system.map(|system| new.clone().verbatim("systemMessage", Json::trusted(&system))))
    }

    /// The lines to be written at `length`, and what they are in the tree.
    fn composed(&mut self, chain: &[&NewEntry], mut parent: Option<EntryId>, at: Millis, length: u64) -> Batch {
        let opening = if length == 0 { self.opening_lines() } else { String::new() };
        let heal = if self.loaded.end.terminated { "" } else { "\n" };
        let first = 1 + self.loaded.end.lines + opening.matches('\n').count() as u64;
        let mut batch =
            Batch { start: length, bytes: format!("{heal}{opening}"), nodes: Vec::with_capacity(chain.len()) };
        let mut given = HashSet::new();
        for (line_number, new) in (first..).zip(chain) {
            let id = self.fresh_id(&given);
            given.insert(id.clone());
            let line = new.line(&id, parent.as_ref(), at);
            batch.nodes.push(NewNode {
                id: Some(id.clone()),
                parent: parent.replace(id),
                kind: new.kind(),
                role: new.role(),
                time: Some(at),
                is_leaf_marker: new.is_leaf_marker(),
                offset: length + batch.bytes.len() as u64,
                length: line.len() as u64,
                line: line_number,
            });
            batch.bytes.push_str(&line);
            batch.bytes.push('\n');
        }
        batch
    }

    /// The tree after the file: only now do the entries exist.
    fn take_in(&mut self, batch: &Batch) -> Vec<NodeIx> {
        self.loaded.end.length = batch.start + batch.bytes.len() as u64;
        self.loaded.end.lines = batch.nodes.last().map_or(self.loaded.end.lines, |node| node.line);
        self.loaded.end.terminated = true;
        if self.loaded.header.is_none() {
            self.loaded.header = Some(self.header.clone());
        }
        let mut taken = Vec::with_capacity(batch.nodes.len());
        for new in &batch.nodes {
            let ix = self.loaded.tree.insert(new);
            match new.kind {
                Kind::SessionInfo => self.loaded.last_session_info = Some(ix),
                Kind::Label => self.loaded.note_label(batch.line(new)),
                _ => {}
            }
            taken.push(ix);
        }
        taken
    }

    fn fresh_id(&mut self, given: &HashSet<EntryId>) -> EntryId {
        loop {
            let id = self.options.ids.entry_id();
            if self.loaded.tree.find(id.as_str()).is_none() && !given.contains(&id) {
                return id;
            }
        }
    }

    /// Entries that name another entry name one that is there.
    fn check_target(&self, new: &NewEntry) -> Result<()> {
        if !matches!(new.kind(), Kind::Label | Kind::ContextEdit) {
            return Ok(());
        }
        let target = new.member("targetId").map(Json::trusted).and_then(Json::as_str);
        let target = target.ok_or_else(|| Error::Invalid("the entry needs a string \"targetId\"".to_owned()))?;
        let ix = self.find(&target)?;
        if new.kind() == Kind::Label {
            return Ok(());
        }
        let node = self.tree().node(ix);
        let is_editable = matches!(
            (node.kind(), node.role()),
            (Kind::CustomMessage, _) | (Kind::Message, Some(Role::User | Role::Assistant | Role::ToolResult))
        );
        if !is_editable {
            let what = "only user, assistant, tool result and custom messages can be edited for the model";
            return Err(Error::Invalid(format!("entry {target}: {what}")));
        }
        if !self.leaf.is_some_and(|leaf| self.tree().ancestors(leaf).any(|at| at == ix)) {
            return Err(Error::Invalid(format!("entry {target} is not on the active branch")));
        }
        Ok(())
    }

    /// Upgrades an old file now; answers the backup's path, or `None` if there was nothing to do.
    ///
    /// The new file is written beside the old one and takes its place in one step. In memory it simply happens.
    ///
    /// # Errors
    /// [`Error::Conflict`] if another program replaced, shortened or deleted the file; [`Error::Io`]. The file is then as
    /// it was.
    pub fn upgrade(&mut self) -> Result<Option<PathBuf>> {
        if !self.loaded.is_old() {
            return Ok(None);
        }
        self.refuse_if_broken()?;
        // The lock keeps others from appending to bytes that are about to be replaced; who waits for it finds the file
        // replaced. It ends with the old medium.
        if matches!(self.backing, Backing::File(_)) {
            self.locked()?;
        }
        let upgraded = self.upgrade_locked();
        if upgraded.is_err() {
            self.unlock()?;
        }
        upgraded
    }

    fn upgrade_locked(&mut self) -> Result<Option<PathBuf>> {
        let suffix = format!(".v{}.bak", self.version());
        let leaf = self.leaf_id().cloned();
        let pieces = extract::everything(self, &self.loaded, None)?;
        let backup = match &self.backing {
            Backing::Unborn(_) => None,
            Backing::File(medium) => {
                let path = medium.path().to_path_buf();
                let backup = pieces.replace(medium.as_ref(), &path, &suffix)?;
                let medium = FileMedium::open(&path).map_err(Error::io("open", &path))?;
                self.backing = Backing::File(Box::new(medium));
                Some(backup)
            }
            Backing::Memory(_) => {
                self.backing = Backing::Memory(Box::new(self.in_memory_copy(&pieces)?));
                None
            }
        };
        self.reload()?;
        self.leaf = leaf.and_then(|id| self.tree().find(id.as_str()));
        Ok(backup)
    }

    pub(super) fn in_memory_copy(&self, pieces: &Pieces) -> Result<MemoryMedium> {
        let mut bytes = Vec::new();
        let source = self.medium()?;
        pieces.write(source, &mut bytes).map_err(Error::io("read", source.path()))?;
        Ok(MemoryMedium::new(bytes))
    }

    /// Replaces where time, ids and promises come from.
    pub fn set_options(&mut self, options: Options) {
        self.options = options;
    }
}

/// A new session's file: it appears with its header and its first entries, or not at all.
fn be_born(path: &Path, batch: &Batch) -> Result<Backing> {
    create_folder_of(path)?;
    let mut pieces = Pieces::default();
    pieces.text(batch.bytes.as_str());
    pieces.create(&MemoryMedium::default(), path)?;
    let medium = FileMedium::open(path).map_err(Error::io("open", path))?;
    Ok(Backing::File(Box::new(medium)))
}
