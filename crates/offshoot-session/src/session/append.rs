//! Appends lines to the file, durable before they are visible.
//!
//! The lock is held for one append (`standing`). `put` undoes failures, `spill` keeps entries that could not be
//! written. The tree never has more than the file.

use std::collections::HashSet;
use std::path::Path;

use super::operate::Standpoint;
use super::put::{Batch, Failed, put};
use super::standing::Broken;
use super::{Backing, Options, Session};
use crate::clock::Millis;
use crate::compose::NewEntry;
use crate::entry::Source as _;
use crate::error::{Conflict, Error, Invalid, Result};
use crate::header::Dialect;
use crate::id::EntryId;
use crate::json::Json;
use crate::kind::{Kind, Role};
use crate::medium::MemoryMedium;
use crate::pieces::{Pieces, create_folder_of};
use crate::tree::{NewNode, NodeIx};

/// Where and when entries are appended.
pub(super) struct Place<'a> {
    // An id, because another process may have changed the tree.
    pub(super) parent: Option<EntryId>,
    pub(super) at: Millis,
    /// What must not have changed.
    standpoint: Option<&'a Standpoint>,
}

/// What becomes of entries while another program holds the lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WhileLocked {
    /// The caller still has them, and may try again.
    Refused,
    /// They are kept in the spill folder.
    Kept,
}

/// How often an append is repeated after a program without lock wrote into it.
const ATTEMPTS: usize = 3;

impl Session {
    /// Appends an entry below the leaf and moves the leaf to it.
    ///
    /// When this returns, the entry is in the file as durably as [`Durability`](super::Durability) says. Nothing else
    /// in the file has changed, except that a version 1 or 2 file is upgraded first (its old bytes stay as
    /// `<file>.v1.bak`).
    ///
    /// # Errors
    /// [`Error::EntryNotFound`] and [`Error::Invalid`] for a wrong target; [`Error::Locked`] if another program keeps
    /// the lock; [`Error::Conflict`] if the file was replaced, shortened or deleted; [`Error::Io`]. The entry is then
    /// not in the tree. After a failed write the session can continue: the file is unchanged, or the next append looks
    /// at its end. After a failed sync the session refuses appends until it is opened again.
    ///
    /// With a spill folder ([`Options::spill`]) the last two become [`Error::Spilled`]: the entry is on disk but not in
    /// the session, and the next successful append puts it there first.
    pub fn append(&mut self, new: &NewEntry) -> Result<EntryId> {
        let ids = self.append_all(std::slice::from_ref(new))?;
        ids.into_iter().next().ok_or_else(|| Error::no_entry("just appended"))
    }

    /// Appends a chain of entries below the leaf with one write and one sync, and moves the leaf to the last one.
    ///
    /// All entries enter the tree, or none: all of them are checked before any is written. A crash during the write may leave
    /// some of them, and a torn line.
    ///
    /// # Errors
    /// Those of [`Session::append`]; also [`Error::Invalid`] for a compaction after a message or another compaction, since
    /// it is about entries in the tree.
    pub fn append_all(&mut self, new: &[NewEntry]) -> Result<Vec<EntryId>> {
        self.append_to_leaf(new, WhileLocked::Refused)
    }

    /// [`Session::append_all`] for entries that nobody can say again, such as answers and results of tools: they are also kept
    /// in the spill folder while another program holds the lock.
    ///
    /// # Errors
    /// Those of [`Session::append_all`].
    pub fn append_all_or_keep(&mut self, new: &[NewEntry]) -> Result<Vec<EntryId>> {
        self.append_to_leaf(new, WhileLocked::Kept)
    }

    fn append_to_leaf(&mut self, new: &[NewEntry], while_locked: WhileLocked) -> Result<Vec<EntryId>> {
        if !(new.is_empty() || self.has_looked_for_halves) {
            self.take_half_answers();
        }
        let appended = self.append_chain(new, self.leaf, while_locked);
        let is_kept = !matches!(&appended, Err(error) if !matches!(error, Error::Spilled { .. }));
        if is_kept && new.iter().any(|entry| entry.role() == Some(Role::Assistant)) {
            self.forget_half_answer();
        }
        let nodes = appended.inspect_err(|error| {
            if let Error::Spilled { ids, .. } = error {
                self.own.tail = ids.last().cloned();
            }
        })?;
        self.leaf = nodes.last().copied().or(self.leaf);
        Ok(nodes.iter().filter_map(|ix| self.tree().node(*ix).id().cloned()).collect())
    }

    /// Appends an entry below any entry, or as a root. The leaf stays.
    ///
    /// # Errors
    /// Those of [`Session::append`].
    pub fn append_below(&mut self, new: &NewEntry, parent: Option<NodeIx>) -> Result<NodeIx> {
        let nodes = self.append_chain(std::slice::from_ref(new), parent, WhileLocked::Refused)?;
        nodes.first().copied().ok_or_else(|| Error::no_entry("just appended"))
    }

    fn append_chain(
        &mut self,
        new: &[NewEntry],
        parent: Option<NodeIx>,
        while_locked: WhileLocked,
    ) -> Result<Vec<NodeIx>> {
        if new.is_empty() {
            return self.refuse_unless_sound().map(|()| Vec::new());
        }
        for entry in new {
            self.check_target(entry)?;
        }
        check_compactions(new)?;
        let at = self.options.clock.now();
        let compactions = new.iter().map(|entry| self.with_system_message(entry, parent, at));
        let compactions = compactions.collect::<Result<Vec<_>>>()?;
        // From here on the parent is an id, because another process may have changed the tree.
        let parent = self.id_below(parent);
        let chain: Vec<&NewEntry> =
            new.iter().zip(&compactions).map(|(entry, compaction)| compaction.as_ref().unwrap_or(entry)).collect();
        let place = Place { parent, at, standpoint: None };
        match self.appended(&chain, &place) {
            Ok(nodes) => Ok(nodes),
            Err(error) => Err(self.spilled(&chain, &place, (error, while_locked))),
        }
    }

    /// Appends the entries of an operation below `parent` with one write, unless another program has changed what the
    /// operation was planned for. The leaf moves to the last one. If that fails, nothing is kept elsewhere.
    pub(super) fn append_operation(
        &mut self,
        new: &[NewEntry],
        parent: Option<EntryId>,
        standpoint: &Standpoint,
    ) -> Result<Vec<EntryId>> {
        let at = self.options.clock.now();
        let place = Place { parent, at, standpoint: Some(standpoint) };
        let nodes = self.appended(&new.iter().collect::<Vec<_>>(), &place)?;
        self.leaf = nodes.last().copied().or(self.leaf);
        self.own.tail = None;
        Ok(nodes.iter().filter_map(|ix| self.tree().node(*ix).id().cloned()).collect())
    }

    /// Appends after entries that an earlier append could not write.
    fn appended(&mut self, chain: &[&NewEntry], place: &Place<'_>) -> Result<Vec<NodeIx>> {
        self.attempted = None;
        self.refuse_if_broken()?;
        self.upgrade()?;
        self.append_own_spilled()?;
        let nodes = self.written(chain, place)?;
        self.report_others(nodes.first().copied());
        Ok(nodes)
    }

    /// Writes entries to the file, which is created if necessary, and then inserts them into the tree.
    fn written(&mut self, chain: &[&NewEntry], place: &Place<'_>) -> Result<Vec<NodeIx>> {
        let (parent, at) = (place.parent.as_ref(), place.at);
        if let Backing::Unborn(path) = &self.backing {
            let path = path.clone();
            let batch = self.composed(chain, parent.cloned(), at, 0);
            self.backing = create_file(&path, &batch.bytes, &self.options)?;
            return Ok(self.take_in(&batch));
        }
        for _ in 0..ATTEMPTS {
            let standing = self.locked()?;
            let checked = self.check_parent(parent);
            if let Err(error) = checked.and_then(|()| place.standpoint.map_or(Ok(()), |at| self.check(at))) {
                self.unlock()?;
                return Err(error);
            }
            let batch = self.composed(chain, parent.cloned(), at, standing.length);
            let put = self.put_locked(standing.length, &batch.bytes).and_then(|()| self.found(&batch));
            match put {
                Ok(Some(nodes)) => return Ok(nodes),
                Ok(None) => {}
                Err(error) => {
                    self.attempted = Some(batch);
                    return Err(error);
                }
            }
        }
        Err(self.conflict(Conflict::UnlockedWriter))
    }

    /// Writes at the end of the locked file; releases the lock if that fails.
    pub(super) fn put_locked(&mut self, known: u64, bytes: &str) -> Result<()> {
        let durability = self.options.durability;
        let Err(failed) = put(self.medium_mut()?, known, bytes.as_bytes(), durability) else { return Ok(()) };
        let Failed { error, broken } = *failed;
        self.broken = broken;
        drop(self.unlock());
        Err(error)
    }

    /// Inserts a written batch into the tree and ends the append. `None` if a program without lock wrote at the same
    /// time and damaged it.
    fn found(&mut self, batch: &Batch) -> Result<Option<Vec<NodeIx>>> {
        let end = batch.start + batch.bytes.len() as u64;
        let nodes = match self.ends_at(end) {
            Ok(false) => {
                let lines = self.loaded.end.lines;
                if let Err(error) = self.reload() {
                    self.broken = Some(Broken::Unknown(Conflict::WrittenMeanwhile));
                    drop(self.unlock());
                    return Err(error);
                }
                self.note_others(lines);
                let found = |node: &NewNode| self.tree().find(node.id.as_ref()?.as_str());
                batch.nodes.iter().map(found).collect()
            }
            looked => {
                if looked.is_err() {
                    self.broken = Some(Broken::Unknown(Conflict::EndUnknown));
                }
                Some(self.take_in(batch))
            }
        };
        // The entries are in the file whatever happens to the lock, which ends with the session.
        if self.unlock().is_err() {
            self.broken = Some(Broken::ForGood(Conflict::UnlockFailed));
        }
        Ok(nodes)
    }

    /// Another program may have rewritten the file without the parent.
    fn check_parent(&self, parent: Option<&EntryId>) -> Result<()> {
        let missing = parent.filter(|parent| self.tree().find(parent.as_str()).is_none());
        match self.tree().whole(missing)? {
            Some(parent) => Err(self.conflict(Conflict::ParentGone { parent: parent.clone() })),
            None => Ok(()),
        }
    }

    /// In pi's dialect a compaction has all system messages before it, combined.
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

    /// The lines to write at `length`, and their nodes.
    pub(super) fn composed(
        &mut self,
        chain: &[&NewEntry],
        mut parent: Option<EntryId>,
        at: Millis,
        length: u64,
    ) -> Batch {
        let opening = if length == 0 { self.opening_lines() } else { String::new() };
        let heal = if self.loaded.end.terminated { "" } else { "\n" };
        let first = 1 + self.loaded.end.lines + opening.matches('\n').count() as u64;
        let mut batch =
            Batch { start: length, bytes: format!("{heal}{opening}"), nodes: Vec::with_capacity(chain.len()) };
        let mut given = HashSet::new();
        let mut earlier = Vec::with_capacity(chain.len());
        for (line_number, new) in (first..).zip(chain) {
            let id = self.fresh_id(&given);
            given.insert(id.clone());
            let line = new.line_after(&earlier, &id, parent.as_ref(), at);
            earlier.push(id.clone());
            batch.nodes.push(NewNode {
                id: Some(id.clone()),
                parent: parent.replace(id),
                kind: new.kind(),
                role: new.role(),
                time: Some(at),
                is_leaf_marker: new.is_leaf_marker(),
                is_copy: new.is_copy(),
                offset: length + batch.bytes.len() as u64,
                length: line.len() as u64,
                line: line_number,
            });
            batch.bytes.push_str(&line);
            batch.bytes.push('\n');
        }
        batch
    }

    /// Inserts a written batch into the tree: only now do its entries exist.
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
            if new.kind == Kind::SessionInfo {
                self.loaded.last_session_info = Some(ix);
            } else if new.kind == Kind::Label {
                self.loaded.note_label(batch.line(new));
            }
            taken.push(ix);
        }
        taken
    }

    pub(super) fn fresh_id(&mut self, given: &HashSet<EntryId>) -> EntryId {
        loop {
            let id = self.options.ids.entry_id();
            if self.loaded.tree.find(id.as_str()).is_none() && !given.contains(&id) {
                return id;
            }
        }
    }

    /// Checks that the target of a label or an edit exists.
    fn check_target(&self, new: &NewEntry) -> Result<()> {
        if !matches!(new.kind(), Kind::Label | Kind::ContextEdit) {
            return Ok(());
        }
        let target = new.member("targetId").map(Json::trusted).and_then(Json::as_str);
        let target = target.ok_or(Invalid::EntryWithoutTarget)?;
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
            return Err(Invalid::NotEditable { target: EntryId::new(target) }.into());
        }
        if !self.leaf.is_some_and(|leaf| self.tree().ancestors(leaf).any(|at| at == ix)) {
            return Err(Invalid::NotOnActiveBranch { target: EntryId::new(target) }.into());
        }
        Ok(())
    }

    /// Changes what later appends guarantee.
    pub fn set_durability(&mut self, durability: super::Durability) {
        self.options.durability = durability;
    }
}

/// A compaction is about messages in the tree: none may come before it among the entries.
fn check_compactions(new: &[NewEntry]) -> Result<()> {
    let is_before = |entry: &NewEntry| matches!(entry.kind(), Kind::Compaction | Kind::Message);
    let mut rest = new.iter().skip_while(|entry| !is_before(entry)).skip(1);
    match rest.find(|entry| entry.kind() == Kind::Compaction) {
        Some(_) => Err(Invalid::LateCompaction.into()),
        None => Ok(()),
    }
}

/// Creates a session's file with its header and first entries, completely or not at all.
pub(super) fn create_file(path: &Path, text: &str, options: &Options) -> Result<Backing> {
    create_folder_of(path)?;
    let mut pieces = Pieces::default();
    pieces.text(text);
    pieces.create(&MemoryMedium::default(), path)?;
    options.file(path)
}
