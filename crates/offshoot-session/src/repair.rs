//! Repairs a damaged file without losing a byte: bytes that are not records move to a quarantine file beside it.
//! Planning is a pure function over a medium. Records that were glued together get lines of their own, unreadable bytes
//! stay in the quarantine with their positions, and a damaged entry with children is replaced by an empty one, so that
//! they stay in place. See *Repair* in `docs/format.md`.

mod split;

use std::ops::Range;
use std::path::{Path, PathBuf};

use crate::compose::NewEntry;
use crate::error::{Code, Conflict, Error, Invalid, Result};
use crate::json::{Json, Object};
use crate::kind::DAMAGED;
use crate::lines::{LineSpan, for_each_whole_line};
use crate::load::{Loaded, load};
use crate::medium::{FileMedium, Medium};
use crate::pieces::Pieces;
use crate::tree::NodeIx;

use split::{LinePart, is_whole, parts};

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// What happens to a part of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Move the bytes to the quarantine.
    Quarantine,
    /// Move them, and put an empty entry with the same id in their place.
    HoldPlace,
    /// Give the record a line of its own.
    OwnLine,
}

impl Action {
    /// The stable name in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Quarantine => "quarantine",
            Self::HoldPlace => "hold-place",
            Self::OwnLine => "own-line",
        }
    }
}

/// One step of a repair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names of the others say what they are")]
pub struct RepairStep {
    pub code: Code,
    /// From 1.
    pub line: u64,
    /// The first byte of the part.
    pub offset: u64,
    /// In bytes.
    pub length: u64,
    pub action: Action,
}

/// A planned repair.
#[derive(Debug, Clone, Default)]
pub struct RepairPlan {
    /// In file order; empty if the file needs no repair.
    pub steps: Vec<RepairStep>,
    repaired: Pieces,
    quarantined: Pieces,
    length: u64,
}

/// The files that a repair wrote besides the session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repaired {
    /// The old file.
    pub backup: PathBuf,
    /// The removed bytes; `None` if there are none.
    pub quarantine: Option<PathBuf>,
}

/// Plans the repair of a session.
///
/// # Errors
/// [`Error::NotASession`]; [`Error::Io`]; [`Error::Invalid`] for versions 1 and 2, which must be upgraded first.
pub fn plan(medium: &dyn Medium) -> Result<RepairPlan> {
    let loaded = load(medium)?;
    if loaded.is_old() {
        return Err(Invalid::NotUpgraded { version: loaded.version() }.into());
    }
    let mut planner = Planner::new(medium, &loaded);
    for_each_whole_line(medium, (0, loaded.end.length), 1, |span, bytes| planner.line(span, bytes))
        .map_err(Error::io("read", medium.path()))?;
    Ok(planner.plan)
}

impl RepairPlan {
    /// Repairs the file in one step. Keeps the old one as `<file>.bak` and removed bytes in `<file>.quarantine`.
    ///
    /// # Errors
    /// [`Error::Invalid`] if there is nothing to repair; [`Error::Conflict`] if the file has changed since it was
    /// planned; [`Error::Io`]. The file has not changed then.
    pub fn apply(&self, medium: &mut FileMedium) -> Result<Repaired> {
        let path = medium.path().to_path_buf();
        if self.steps.is_empty() {
            return Err(Invalid::NothingToRepair { path }.into());
        }
        let standing = medium.lock().map_err(Error::io("lock", &path))?;
        let repaired = if standing.is_current && standing.length == self.length {
            self.apply_locked(medium, &path)
        } else {
            Err(Error::conflict(&path, Conflict::Changed))
        };
        medium.unlock().map_err(Error::io("unlock", &path))?;
        repaired
    }

    fn apply_locked(&self, medium: &FileMedium, path: &Path) -> Result<Repaired> {
        let mut quarantine = None;
        if self.steps.iter().any(|step| step.action != Action::OwnLine) {
            let mut name = path.as_os_str().to_owned();
            name.push(".quarantine");
            self.quarantined.append_to(medium, Path::new(&name))?;
            quarantine = Some(PathBuf::from(name));
        }
        let backup = self.repaired.replace(medium, path, ".bak")?;
        Ok(Repaired { backup, quarantine })
    }
}

struct Planner<'a> {
    loaded: &'a Loaded,
    entries: std::iter::Peekable<Box<dyn Iterator<Item = NodeIx> + 'a>>,
    name: String,
    plan: RepairPlan,
}

impl<'a> Planner<'a> {
    fn new(medium: &dyn Medium, loaded: &'a Loaded) -> Self {
        let entries: Box<dyn Iterator<Item = NodeIx> + 'a> = Box::new(loaded.tree.entries());
        let name = medium.path().file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let plan = RepairPlan { length: loaded.end.length, ..RepairPlan::default() };
        Self { loaded, entries: entries.peekable(), name, plan }
    }

    fn line(&mut self, mut span: LineSpan, mut bytes: &[u8]) {
        let entry = self.entries.next_if(|ix| self.loaded.tree.node(*ix).line() == span.number);
        if span.number == 1
            && let Some(rest) = bytes.strip_prefix(BYTE_ORDER_MARK)
        {
            self.plan.repaired.range(span.offset, BYTE_ORDER_MARK.len() as u64);
            span.offset += BYTE_ORDER_MARK.len() as u64;
            bytes = rest;
        }
        if bytes.iter().all(u8::is_ascii_whitespace) || is_whole(bytes) {
            self.plan.repaired.range(span.offset, bytes.len() as u64 + u64::from(span.terminated));
            if !span.terminated {
                self.plan.repaired.text("\n");
            }
            return;
        }
        self.parts(span, bytes, entry);
    }

    fn parts(&mut self, span: LineSpan, bytes: &[u8], entry: Option<NodeIx>) {
        let parts = parts(bytes);
        let mut lost = entry.filter(|ix| !parts.iter().any(|part| self.is_entry(*ix, part, bytes)));
        let mut records = 0;
        for part in parts {
            match part {
                LinePart::Record(range) => {
                    if records > 0 {
                        self.step(span, &range, Code::MalformedLine, Action::OwnLine);
                    }
                    records += 1;
                    self.plan.repaired.range(span.offset + range.start as u64, range.len() as u64);
                    self.plan.repaired.text("\n");
                }
                LinePart::Nuls(range) => self.isolate(span, &range, (Code::NulBytes, Action::Quarantine)),
                LinePart::Junk(range) => {
                    let held = lost.take().filter(|ix| self.hold_place(*ix));
                    let what = match held {
                        Some(_) => (Code::DamagedEntry, Action::HoldPlace),
                        None if span.terminated => (Code::MalformedLine, Action::Quarantine),
                        None => (Code::TornTail, Action::Quarantine),
                    };
                    self.isolate(span, &range, what);
                }
            }
        }
    }

    fn is_entry(&self, ix: NodeIx, part: &LinePart, bytes: &[u8]) -> bool {
        let LinePart::Record(range) = part else { return false };
        let text = String::from_utf8_lossy(&bytes[range.clone()]);
        let id = Json::trusted(&text).str("id").map(std::borrow::Cow::into_owned);
        id.as_deref() == self.loaded.tree.node(ix).id().map(crate::id::EntryId::as_str)
    }

    /// Writes an empty entry in place of a damaged one, unless that has no id and so no children.
    fn hold_place(&mut self, ix: NodeIx) -> bool {
        let node = self.loaded.tree.node(ix);
        let Some(id) = node.id() else { return false };
        let parent = self.loaded.tree.parent_id(ix);
        let line = NewEntry::custom(DAMAGED, None).line(id, parent, node.time().unwrap_or_default());
        self.plan.repaired.line(&line);
        true
    }

    fn isolate(&mut self, span: LineSpan, range: &Range<usize>, (code, action): (Code, Action)) {
        self.step(span, range, code, action);
        let (offset, length) = (span.offset + range.start as u64, range.len() as u64);
        let place = Object::new().str("type", "quarantined").str("file", &self.name).str("code", code.as_str());
        let place = place.raw("line", span.number).raw("offset", offset).raw("length", length);
        self.plan.quarantined.line(&place.finish());
        self.plan.quarantined.range(offset, length);
        self.plan.quarantined.text("\n");
    }

    fn step(&mut self, span: LineSpan, range: &Range<usize>, code: Code, action: Action) {
        let (offset, length) = (span.offset + range.start as u64, range.len() as u64);
        self.plan.steps.push(RepairStep { code, line: span.number, offset, length, action });
    }
}
