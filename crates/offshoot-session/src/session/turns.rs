//! Turns under way: a process that answers a prompt says so in a file of its own, in a folder that the caller names.
//!
//! The file is locked until the turn ends. The lock dies with its process, so a file that is not locked says nothing. It holds
//! the id of the last answered entry, from which other processes continue.

use std::fs::{DirBuilder, File, TryLockError};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use super::spill::spill_file;
use super::{Backing, Session};
use crate::entry::Source as _;
use crate::error::{Code, Diagnostic, Result};
use crate::id::EntryId;
use crate::json::Json;
use crate::kind::{Kind, Role};
use crate::medium::open_regular;
use crate::stats;
use crate::text::one_line;
use crate::transcript::{End, Item, ItemShape, Level};
use crate::tree::NodeIx;

const INTERRUPTED: &str = "no answer follows: interrupted, or still running elsewhere";

/// The most characters of a prompt that is named.
const NAMED: usize = 40;
/// No entry id is longer.
const LONGEST_ID: u64 = 4096;

/// The turn of this session. Dropping it ends the turn for other processes.
#[derive(Debug)]
pub(super) struct TurnMark {
    path: PathBuf,
    _locked: File,
}

impl Drop for TurnMark {
    fn drop(&mut self) {
        // Somebody may have removed it.
        drop(std::fs::remove_file(&self.path));
    }
}

/// A prompt above the leaf that another process is answering.
struct ForeignTurn {
    prompt: NodeIx,
    answered: Option<NodeIx>,
}

impl Session {
    /// Tells other processes that a prompt below the leaf is about to be answered, until [`Session::end_turn`] or the end of
    /// this process. Without a folder for that ([`Options::turns`](super::Options::turns)), a file or locks nobody is warned.
    /// Records the half answers of processes that were killed first: the prompt continues from there.
    pub fn begin_turn(&mut self) {
        self.take_half_answers();
        let Some(stem) = self.turn_stem() else { return };
        let Ok((answered, _)) = self.answered() else { return };
        let answered = answered.and_then(|ix| self.tree().node(ix).id()).map_or("", EntryId::as_str);
        self.turn = mark(&stem, answered).ok();
    }

    /// The turn has ended.
    pub fn end_turn(&mut self) {
        self.forget_half_answer();
        self.turn = None;
    }

    /// Continues from the last answered entry if another process is answering a prompt above the leaf. Returns a diagnostic
    /// that names the prompt. Nothing is written.
    ///
    /// # Errors
    /// The session cannot be read.
    pub fn leave_foreign_turn(&mut self) -> Result<Option<Diagnostic>> {
        let Some(turn) = self.foreign_turn()? else { return Ok(None) };
        self.leaf = turn.answered;
        self.own.tail = None;
        Ok(self.unanswered(turn.prompt))
    }

    /// Names the prompt above the leaf that another process is answering now.
    ///
    /// # Errors
    /// The session cannot be read.
    pub fn foreign_prompt(&self) -> Result<Option<Diagnostic>> {
        Ok(self.foreign_turn()?.and_then(|turn| self.unanswered(turn.prompt)))
    }

    /// Reports a prompt above the leaf that another process is answering.
    pub(super) fn note_foreign_turn(&mut self) {
        if let Ok(told) = self.foreign_prompt() {
            self.loaded.diagnostics.extend(told);
        }
    }

    fn unanswered(&self, prompt: NodeIx) -> Option<Diagnostic> {
        let node = self.tree().node(prompt);
        let id = node.id()?.clone();
        let said = self.entry(prompt).ok().and_then(|entry| stats::words(&entry));
        let named = said.map_or("a prompt".to_owned(), |said| format!("“{}”", one_line(&said, NAMED)));
        let message = format!("another program is answering {named}: a prompt from here becomes a branch beside it");
        let (code, line, offset) = (Code::UnansweredPrompt, Some(node.line()), node.offset());
        Some(Diagnostic { code, line, offset, entry: Some(id), message })
    }

    fn foreign_turn(&self) -> Result<Option<ForeignTurn>> {
        let Some(stem) = self.turn_stem() else { return Ok(None) };
        let own = self.turn.as_ref().map(|turn| turn.path.as_path());
        let live = live_turns(&stem, own);
        if live.is_empty() {
            return Ok(None);
        }
        let (answered, prompt) = self.answered()?;
        let id = answered.and_then(|ix| self.tree().node(ix).id()).map_or("", EntryId::as_str);
        let prompt = prompt.filter(|_| live.iter().any(|answered| answered == id));
        Ok(prompt.map(|prompt| ForeignTurn { prompt, answered }))
    }

    /// A notice that nothing follows the last prompt, call or result at the leaf, and that no process of offshoot is at it.
    /// Other programs do not say whether they are.
    ///
    /// # Errors
    /// The session cannot be read.
    pub fn interruption(&self) -> Result<Option<Item>> {
        let tree = self.tree();
        let mut below = None;
        for ix in self.leaf.into_iter().flat_map(|leaf| tree.ancestors(leaf)) {
            let is_last = tree.children(ix).all(|child| Some(child) == below);
            let node = tree.node(ix);
            // Copies are not answered by themselves.
            if node.is_copy() {
                return Ok(None);
            }
            let is_open = match ItemShape::of(node.kind(), node.role()) {
                Some(ItemShape::User | ItemShape::Result) => true,
                Some(ItemShape::Answer) => match Item::of_entry(&self.entry(ix)?) {
                    Some(Item::Answer(answer)) => answer.end == End::Done && answer.calls().next().is_some(),
                    _ => false,
                },
                Some(ItemShape::Summary) => false,
                Some(ItemShape::Other | ItemShape::System) | None => {
                    below = Some(ix);
                    continue;
                }
            };
            let is_awaited = self.turn.is_some() || !is_open || !is_last || self.foreign_turn()?.is_some();
            return Ok((!is_awaited).then(|| Item::Notice(Level::Warning, INTERRUPTED.to_owned())));
        }
        Ok(None)
    }

    /// The last answered entry at or above the leaf, and the first prompt below it on the path.
    fn answered(&self) -> Result<(Option<NodeIx>, Option<NodeIx>)> {
        let tree = self.tree();
        let mut prompt = None;
        for ix in self.leaf.into_iter().flat_map(|leaf| tree.ancestors(leaf)) {
            let node = tree.node(ix);
            match node.role() {
                Some(Role::User) => prompt = Some(ix),
                Some(Role::Assistant) if self.is_answer(ix)? => return Ok((Some(ix), prompt)),
                _ if node.kind() == Kind::BranchSummary => return Ok((Some(ix), prompt)),
                _ => {}
            }
        }
        Ok((tree.whole(None)?, prompt))
    }

    /// Whether the turn ends with this answer: it calls nothing, and is not asked for again.
    fn is_answer(&self, ix: NodeIx) -> Result<bool> {
        let entry = self.entry(ix)?;
        let Some(message) = entry.message() else { return Ok(false) };
        let is_call = |block: Json<'_>| block.str("type").is_some_and(|kind| kind == "toolCall");
        let calls = message.get("content").is_some_and(|content| content.items().any(is_call));
        Ok(!calls && message.str("stopReason").is_none_or(|reason| reason != "error"))
    }

    /// How the names of this session's files begin, with their folder.
    pub(super) fn turn_stem(&self) -> Option<PathBuf> {
        match &self.backing {
            Backing::Memory(_) => None,
            Backing::Unborn(_) | Backing::File(_) => {
                Some(spill_file(self.options.turns.as_ref()?, self.backing.path()).with_extension(""))
            }
        }
    }
}

/// Writes the file and locks it before anybody can see it.
fn mark(stem: &Path, answered: &str) -> io::Result<TurnMark> {
    let folder = create_turns_folder(stem)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(answered.as_bytes())?;
    file.as_file().try_lock()?;
    let mut name = stem.as_os_str().to_owned();
    name.push("~");
    name.push(file.path().file_name().unwrap_or_default());
    let path = PathBuf::from(name);
    let locked = file.persist(&path)?;
    Ok(TurnMark { path, _locked: locked })
}

/// The folder of the files, for their owner only.
pub(super) fn create_turns_folder(stem: &Path) -> io::Result<&Path> {
    let folder = stem.parent().unwrap_or(Path::new("."));
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    Ok(folder)
}

/// What living processes say of their turns. Files of dead ones are removed.
fn live_turns(stem: &Path, own: Option<&Path>) -> Vec<String> {
    let prefix = stem.file_name().map(|name| format!("{}~", name.to_string_lossy())).unwrap_or_default();
    let files = stem.parent().and_then(|folder| std::fs::read_dir(folder).ok()).into_iter().flatten().flatten();
    let files = files.filter(|file| file.file_name().to_string_lossy().starts_with(&prefix));
    let paths = files.map(|file| file.path()).filter(|path| own != Some(path.as_path()));
    paths.filter_map(|path| live_turn(&path)).collect()
}

fn live_turn(path: &Path) -> Option<String> {
    let file = open_regular(path).ok()?;
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => {
            let mut answered = String::new();
            file.take(LONGEST_ID).read_to_string(&mut answered).ok()?;
            Some(answered)
        }
        Ok(()) => {
            drop(std::fs::remove_file(path));
            None
        }
        Err(TryLockError::Error(_)) => None,
    }
}
