//! Growing: one line at the end of the file, durable before it is visible.
//!
//! The lock is held for one append. Under it the file is looked at again: what another process appended is read first,
//! a file that was replaced or shortened stops the append. A failed write closes the session to further appends until
//! it is opened again, so that the tree never runs ahead of the file.

use std::path::PathBuf;

use super::{Backing, Durability, Options, Session};
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
use crate::medium::{FileMedium, Medium, Standing};
use crate::pieces::{Pieces, create_folder_of, sync_folder};
use crate::tree::{NewNode, NodeIx};

impl Session {
    /// Appends an entry below the leaf and moves the leaf to it.
    ///
    /// When this returns, the entry is in the file as the session's [`Durability`] says; nothing else in the file has
    /// changed, but for a version 1 or 2 file, which is upgraded first (its old bytes stay as `<file>.v1.bak`).
    ///
    /// # Errors
    /// [`Error::EntryNotFound`] and [`Error::Invalid`] for entries that point at nothing; [`Error::Conflict`] if the
    /// file was replaced, shortened or deleted meanwhile; [`Error::Io`]. The entry is then not in the tree.
    pub fn append(&mut self, new: &NewEntry) -> Result<EntryId> {
        let parent = self.leaf;
        let ix = self.append_below(new, parent)?;
        self.leaf = Some(ix);
        self.tree().node(ix).id().cloned().ok_or_else(|| Error::no_entry("just appended"))
    }

    /// Appends an entry below any entry, or as a root. The leaf stays.
    ///
    /// # Errors
    /// As [`Session::append`].
    pub fn append_below(&mut self, new: &NewEntry, parent: Option<NodeIx>) -> Result<NodeIx> {
        if let Some(why) = &self.broken {
            let path = self.file().map(PathBuf::from).unwrap_or_default();
            return Err(Error::Conflict { path, why: format!("{why}; open the session again") });
        }
        self.check_target(new)?;
        self.be_born_or_upgraded()?;
        // From here on the parent is named by id: another process may have changed the order of things.
        let at = self.options.clock.now();
        let with_system = self.with_system_message(new, parent, at)?;
        let new = with_system.as_ref().unwrap_or(new);
        let parent = parent.and_then(|ix| self.tree().node(ix).id().cloned());
        let standing = self.locked()?;
        let written = self.write_line(new, parent.as_ref(), standing, at);
        self.unlock()?;
        written
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

    fn write_line(
        &mut self,
        new: &NewEntry,
        parent: Option<&EntryId>,
        standing: Standing,
        at: Millis,
    ) -> Result<NodeIx> {
        let id = self.fresh_id();
        let line = new.line(&id, parent, at);
        let opening = if standing.length == 0 { self.opening_lines() } else { String::new() };
        let heal = if self.loaded.end.terminated { "" } else { "\n" };
        let bytes = format!("{heal}{opening}{line}\n");
        let durability = self.options.durability;
        let (Backing::File(medium) | Backing::Memory(medium)) = &mut self.backing else {
            return Err(Error::Invalid("the session has no file yet".to_owned()));
        };
        if let Err(error) = put(medium.as_mut(), bytes.as_bytes(), durability) {
            self.broken = Some("an earlier append failed".to_owned());
            return Err(error);
        }
        let before = heal.len() + opening.len();
        let lines_before = opening.matches('\n').count() as u64;
        let new_node = NewNode {
            id: Some(id),
            parent: parent.cloned(),
            kind: new.kind(),
            role: new.role(),
            time: Some(at),
            is_leaf_marker: new.is_leaf_marker(),
            offset: standing.length + before as u64,
            length: line.len() as u64,
            line: self.loaded.end.lines + lines_before + 1,
        };
        self.loaded.end.length = standing.length + bytes.len() as u64;
        self.loaded.end.lines = new_node.line;
        self.loaded.end.terminated = true;
        if self.loaded.header.is_none() {
            self.loaded.header = Some(self.header.clone());
        }
        Ok(self.take_in(&new_node, &line))
    }

    /// The tree after the file: only now does the entry exist.
    fn take_in(&mut self, new: &NewNode, line: &str) -> NodeIx {
        let ix = self.loaded.tree.insert(new);
        match new.kind {
            Kind::SessionInfo => self.loaded.last_session_info = Some(ix),
            Kind::Label => self.loaded.note_label(line),
            _ => {}
        }
        ix
    }

    fn fresh_id(&mut self) -> EntryId {
        loop {
            let id = self.options.ids.entry_id();
            if self.loaded.tree.find(id.as_str()).is_none() {
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

    /// Creates the file of a new session; upgrades an old one.
    fn be_born_or_upgraded(&mut self) -> Result<()> {
        if let Backing::Unborn(path) = &self.backing {
            create_folder_of(path)?;
            let medium = FileMedium::create(path).map_err(Error::io("create", path))?;
            if self.options.durability != Durability::Os {
                sync_folder(path)?;
            }
            self.backing = Backing::File(Box::new(medium));
        }
        if self.loaded.is_old() {
            self.upgrade()?;
        }
        Ok(())
    }

    /// Upgrades an old file now; answers the backup's path, or `None` if there was nothing to do.
    ///
    /// The new file is written beside the old one and takes its place in one step. In memory it simply happens.
    ///
    /// # Errors
    /// [`Error::Io`]; the file is then as it was.
    pub fn upgrade(&mut self) -> Result<Option<PathBuf>> {
        if !self.loaded.is_old() {
            return Ok(None);
        }
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

    pub(super) fn in_memory_copy(&self, pieces: &Pieces) -> Result<crate::medium::MemoryMedium> {
        let mut bytes = Vec::new();
        let source = self.medium()?;
        pieces.write(source, &mut bytes).map_err(Error::io("read", source.path()))?;
        Ok(crate::medium::MemoryMedium::new(bytes))
    }

    /// Replaces where time, ids and promises come from.
    pub fn set_options(&mut self, options: Options) {
        self.options = options;
    }
}

fn put(medium: &mut dyn Medium, bytes: &[u8], durability: Durability) -> Result<()> {
    let path = medium.path().to_path_buf();
    medium.append(bytes).map_err(Error::io("append to", &path))?;
    match durability {
        Durability::Os => Ok(()),
        Durability::Data => medium.sync().map_err(Error::io("sync", &path)),
    }
}
