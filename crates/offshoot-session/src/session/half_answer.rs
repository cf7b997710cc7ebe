//! Half answers: what has arrived of an answer, in a file of its own beside the mark of its turn.
//!
//! The process that receives the answer replaces the file as a whole and holds its lock, which dies with the process. The
//! file has the final line of an entry, with its id and parent. The next process that appends puts the line into the
//! session; opening only reports it.

use std::collections::HashSet;
use std::fs::{File, TryLockError};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use super::Session;
use super::spill::SpilledLine;
use super::turns::create_turns_folder;
use crate::compose::NewEntry;
use crate::entry::Source as _;
use crate::error::{Code, Diagnostic, Error, Result};
use crate::id::EntryId;
use crate::json::{Json, Object};
use crate::kind::Role;
use crate::medium::open_regular;
use crate::text::one_line;
use crate::tree::NodeIx;

/// Longer halves are not written: the file then keeps the beginning. Larger files are not taken.
const LARGEST: u64 = 16 << 20;
/// The most characters of an answer that name it.
const NAMED: usize = 40;
const TYPE: &str = "offshoot.half-answer";

/// The half answer of this process.
#[derive(Debug)]
pub(super) struct KeptHalf {
    path: PathBuf,
    id: EntryId,
    _locked: File,
}

/// The half answer of a process that has ended.
struct LeftHalf {
    path: PathBuf,
    /// Why it cannot be recorded, if it cannot.
    content: std::result::Result<HalfContent, String>,
    _locked: File,
}

struct HalfContent {
    session_id: String,
    parent: EntryId,
    line: SpilledLine,
}

impl Session {
    /// Keeps what has arrived of the answer to the prompt at the leaf, in place of what was kept before. The session does
    /// not change. If this process is killed, the next one that appends records the entry, below the same parent.
    /// Without [`Options::turns`](super::Options::turns) nothing is kept.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn keep_half_answer(&mut self, answer: &NewEntry) -> Result<()> {
        let Some(stem) = self.turn_stem() else { return Ok(()) };
        let kept = self.half.as_ref().map(|half| (half.path.clone(), half.id.clone()));
        let (path, id) = match kept {
            Some((path, id)) => (Some(path), id),
            None => (None, self.fresh_id(&HashSet::new())),
        };
        let parent = self.id_below(self.leaf);
        let line = answer.line_after(&[], &id, parent.as_ref(), self.options.clock.now());
        let head = Object::new().str("type", TYPE).raw("version", 1).str("sessionId", self.id()).finish();
        let text = format!("{head}\n{line}\n");
        if text.len() as u64 > LARGEST {
            return Ok(());
        }
        let kept = write_locked(&stem, path, text.as_bytes()).map_err(Error::io("write", &stem))?;
        self.half = Some(KeptHalf { path: kept.0, id, _locked: kept.1 });
        Ok(())
    }

    /// The answer is recorded, or nobody waits for it.
    pub(super) fn forget_half_answer(&mut self) {
        if let Some(half) = self.half.take() {
            // Somebody may have removed it.
            drop(std::fs::remove_file(half.path));
        }
    }

    pub(super) fn note_half_answers(&mut self) {
        for half in self.left_halves() {
            let message = match self.recordable(&half) {
                Ok(content) => format!(
                    "half of an answer is kept outside the session, because the program was killed: {}; the next prompt records it",
                    named(&content.line.text)
                ),
                Err(why) => refusal(&half.path, &why),
            };
            let entry = half.content.ok().map(|content| content.parent);
            self.loaded.diagnostics.push(half_answer(message, entry));
        }
    }

    /// Records the half answers that killed processes left, each below its parent. The leaf moves to one that is below it.
    /// What cannot be recorded stays where it is, and is reported.
    pub(super) fn take_half_answers(&mut self) {
        self.has_looked_for_halves = true;
        for half in self.left_halves() {
            let done = self.recordable(&half).and_then(|content| self.record_half(content));
            match done {
                Ok(told) => {
                    // The lock is held: nobody else is at it.
                    drop(std::fs::remove_file(&half.path));
                    self.loaded.diagnostics.retain(|told| told.code != Code::HalfAnswer);
                    told.into_iter().for_each(|told| self.report(told));
                }
                Err(why) => {
                    let message = refusal(&half.path, &why);
                    if self.loaded.diagnostics.iter().all(|told| told.message != message) {
                        self.report(half_answer(message, None));
                    }
                }
            }
        }
    }

    /// `None` if the session has the answer.
    fn record_half(&mut self, content: &HalfContent) -> std::result::Result<Option<Diagnostic>, String> {
        let id = &content.line.id;
        let parent = self.find(content.parent.as_str()).map_err(|error| error.to_string())?;
        if self.has_whole(parent, &content.line.text) {
            return Ok(None);
        }
        let tree = self.tree();
        let is_at_leaf = self.leaf.and_then(|leaf| tree.skip_leaf_markers(leaf)) == tree.skip_leaf_markers(parent);
        self.put_back(std::slice::from_ref(&content.line)).map_err(|error| error.to_string())?;
        let words = named(&content.line.text);
        let place = if is_at_leaf { "" } else { " as a branch of its own" };
        if is_at_leaf {
            self.leaf = self.tree().find(id.as_str());
            self.own.tail = None;
        }
        let message = format!("half of an answer is recorded{place}, because its program was killed: {words}");
        Ok(Some(half_answer(message, Some(id.clone()))))
    }

    /// Whether an answer below this entry begins with the half, or is it: its process was killed before it removed the file.
    fn has_whole(&self, parent: NodeIx, half: &str) -> bool {
        let half = Json::trusted(half);
        let (id, words) = (half.str("id"), half.get("message").map(words).unwrap_or_default());
        let tree = self.tree();
        tree.children(parent).filter(|ix| tree.node(*ix).role() == Some(Role::Assistant)).any(|ix| {
            let is_it = tree.node(ix).id().is_some_and(|own| Some(own.as_str()) == id.as_deref());
            is_it
                || self.entry(ix).is_ok_and(|entry| {
                    entry.message().is_some_and(|said| !words.is_empty() && self::words(said).starts_with(&words))
                })
        })
    }

    fn recordable<'a>(&self, half: &'a LeftHalf) -> std::result::Result<&'a HalfContent, String> {
        let content = half.content.as_ref().map_err(Clone::clone)?;
        if content.session_id != self.id() {
            return Err(format!("it is of the session {}", one_line(&content.session_id, NAMED)));
        }
        let HalfContent { parent, line, .. } = content;
        let Some(below) = self.tree().find(parent.as_str()) else {
            return Err(format!("the session has no entry {}", one_line(parent.as_str(), NAMED)));
        };
        match self.tree().find(line.id.as_str()) {
            Some(_) if !self.has_whole(below, &line.text) => {
                Err(format!("the session has another entry {}", one_line(line.id.as_str(), NAMED)))
            }
            _ => Ok(content),
        }
    }

    /// The half answers that no living process holds.
    fn left_halves(&self) -> Vec<LeftHalf> {
        let Some(stem) = self.turn_stem() else { return Vec::new() };
        let prefix = half_name(&stem).file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let files = stem.parent().and_then(|folder| std::fs::read_dir(folder).ok()).into_iter().flatten().flatten();
        let files = files.filter(|file| file.file_name().to_string_lossy().starts_with(&prefix));
        let mut paths: Vec<PathBuf> = files.map(|file| file.path()).collect();
        paths.sort();
        paths.into_iter().filter_map(left_half).collect()
    }
}

/// How the names of a session's half answers begin: not as those of its turns, whose files readers remove.
fn half_name(stem: &Path) -> PathBuf {
    let mut name = stem.as_os_str().to_owned();
    name.push(".half~");
    PathBuf::from(name)
}

/// Replaces the file, locked before anybody can see it.
fn write_locked(stem: &Path, path: Option<PathBuf>, text: &[u8]) -> io::Result<(PathBuf, File)> {
    let folder = create_turns_folder(stem)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(text)?;
    file.as_file().try_lock()?;
    let path = path.unwrap_or_else(|| {
        let mut name = half_name(stem).into_os_string();
        name.push(file.path().file_name().unwrap_or_default());
        PathBuf::from(name)
    });
    let locked = file.persist(&path)?;
    Ok((path, locked))
}

/// `None` while its process lives, or if it has been taken.
fn left_half(path: PathBuf) -> Option<LeftHalf> {
    let file = open_regular(&path).ok()?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock | TryLockError::Error(_)) => return None,
    }
    // Its process may have replaced the file before the lock was taken.
    let (locked, there) = (file.metadata().ok()?, std::fs::symlink_metadata(&path).ok()?);
    if (locked.dev(), locked.ino()) != (there.dev(), there.ino()) {
        return None;
    }
    let mut bytes = Vec::new();
    let content = match (&file).take(LARGEST + 1).read_to_end(&mut bytes) {
        Ok(_) if bytes.len() as u64 > LARGEST => Err("it is too large".to_owned()),
        Ok(_) => content(&bytes).ok_or_else(|| "it is not half of an answer".to_owned()),
        Err(error) => Err(error.to_string()),
    };
    Some(LeftHalf { path, content, _locked: file })
}

/// `None` if it is anything but one whole, stopped answer of a model without calls.
fn content(bytes: &[u8]) -> Option<HalfContent> {
    let text = std::str::from_utf8(bytes).ok()?;
    let (head, line) = text.strip_suffix('\n')?.split_once('\n')?;
    let head = Json::parse(head).ok().filter(|head| head.str("type").is_some_and(|kind| kind == TYPE))?;
    let entry = Json::parse(line).ok().filter(|_| !line.contains('\n'))?;
    let message = entry.get("message")?;
    let is_answer = entry.str("type")? == "message" && message.str("role")? == "assistant";
    let is_call = |block: Json<'_>| block.str("type").is_some_and(|kind| kind == "toolCall");
    let calls = message.get("content")?.items().any(is_call);
    let is_half = is_answer && !calls && message.str("stopReason")? == "aborted";
    let line = SpilledLine { id: EntryId::new(entry.str("id")?), text: line.to_owned() };
    let (session_id, parent) = (head.str("sessionId")?.into_owned(), EntryId::new(entry.str("parentId")?));
    is_half.then_some(HalfContent { session_id, parent, line })
}

/// The texts and thoughts of an answer.
fn words(message: Json<'_>) -> String {
    let blocks = message.get("content").into_iter().flat_map(Json::items);
    blocks.filter_map(|block| block.str("text").or_else(|| block.str("thinking"))).collect()
}

/// How a half answer is named: by what it says, or by its thoughts if it says nothing yet.
fn named(line: &str) -> String {
    let message = Json::trusted(line).get("message");
    let blocks = message.and_then(|message| message.get("content")).into_iter().flat_map(Json::items);
    let said: String = blocks.filter_map(|block| block.str("text")).collect();
    let named = if said.is_empty() { message.map(words).unwrap_or_default() } else { said };
    format!("“{}”", one_line(&named, NAMED))
}

fn refusal(path: &Path, why: &str) -> String {
    format!("half of an answer stays in {}: {why}", path.display())
}

fn half_answer(message: String, entry: Option<EntryId>) -> Diagnostic {
    Diagnostic { code: Code::HalfAnswer, line: None, offset: 0, entry, message }
}
