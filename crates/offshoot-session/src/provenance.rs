//! Where copies and merges come from, and what a context has already. See *Copies* in `docs/format.md`.
//!
//! An entry is known by its first original: a copy of a copy names that. Ids count within one session and its forks, so
//! the key of an entry from elsewhere has the session's id.

use std::collections::HashMap;
use std::path::PathBuf;

use crate::clock::Millis;
use crate::context::Context;
use crate::entry::{Entry, Source};
use crate::error::Result;
use crate::id::EntryId;
use crate::json::{JsonKind, Object, quote};
use crate::kind::Kind;
use crate::text::one_line;
use crate::tree::NodeIx;

/// Ids of other programs can be longer than a row.
const LONGEST_ID: usize = 40;

/// The entry that a copy was made of.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Origin {
    /// Its session; `None` for the copy's own, and for those that it was forked from.
    pub session: Option<String>,
    /// Its id.
    pub id: EntryId,
}

/// The sessions whose entries a session without name in an origin may mean: this one, those that it was forked from, and
/// their other forks. Ids count within all of them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Family<'a> {
    sessions: Vec<&'a str>,
    /// The session that gives and those that it was forked from, if none of them is a member. Ids count within these, too.
    theirs: Vec<&'a str>,
}

/// A session that another one was forked from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ancestor {
    /// Its id; without a file what the fork names, often a path.
    pub id: String,
    /// Its file; `None` if that is gone or is no session.
    pub file: Option<PathBuf>,
    /// When it was forked. Older entries of the fork are its own, or those of its ancestors.
    pub forked: Option<Millis>,
}

/// A session and those that it was forked from, the nearest first.
#[derive(Debug, Clone, Copy)]
pub struct Lineage<'a> {
    /// The id of the session.
    pub session: &'a str,
    /// The others.
    pub ancestors: &'a [Ancestor],
}

/// A branch that a summary brought back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Merged {
    /// The entry after which the merged part begins; `None` for the root.
    pub base: Option<EntryId>,
    /// The last entry of the merged part.
    pub tip: EntryId,
    /// The session of both; `None` for the summary's own.
    pub session: Option<String>,
}

impl Origin {
    /// What the line names as its origin; `None` unless it is a copy.
    pub fn of(entry: &Entry) -> Option<Self> {
        let named = entry.get("pickedFrom")?;
        match named.kind() {
            JsonKind::String => Some(Self { session: None, id: EntryId::new(named.as_str()?) }),
            JsonKind::Object => Some(Self {
                session: named.str("session").map(std::borrow::Cow::into_owned),
                id: EntryId::new(named.str("id")?),
            }),
            _ => None,
        }
    }

    /// The entry that a copy was made of, or the last entry that a merge summarises; `None` for other entries.
    pub fn of_copy_or_merge(entry: &Entry) -> Option<Self> {
        let merged = || Merged::of(entry).map(|Merged { tip, session, .. }| Self { session, id: tip });
        Self::of(entry).or_else(merged)
    }

    /// The first original of an entry, as the session `here` names it. `elsewhere` is the entry's session, if it is
    /// another one.
    pub(crate) fn first(entry: &Entry, elsewhere: Option<&str>, here: &str) -> Option<Self> {
        let origin = match Self::of(entry) {
            Some(origin) => origin,
            None => Self { session: None, id: entry.id.clone()? },
        };
        let session = origin.session.or_else(|| elsewhere.map(str::to_owned));
        Some(Self { session: session.filter(|session| session != here), id: origin.id })
    }

    /// The member `pickedFrom`.
    pub(crate) fn to_json(&self) -> String {
        match &self.session {
            None => quote(self.id.as_str()),
            Some(session) => Object::new().str("session", session).str("id", self.id.as_str()).finish(),
        }
    }
}

impl<'a> Family<'a> {
    /// The family of the session that receives; that of the other end belongs to it if both have an ancestor in common.
    pub(crate) fn of(here: Lineage<'a>, from: Option<Lineage<'a>>) -> Self {
        let mut sessions = here.sessions();
        let theirs = from.map(Lineage::sessions).unwrap_or_default();
        if theirs.iter().any(|session| sessions.contains(session)) {
            sessions.extend(theirs);
            return Self { sessions, theirs: Vec::new() };
        }
        Self { sessions, theirs }
    }

    /// Whether two origins or merges may be of one session.
    pub(crate) fn is_one(&self, one: Option<&str>, other: Option<&str>) -> bool {
        self.outside(one) == self.outside(other)
    }

    /// A session that is no member; one of those that give for all of them.
    fn outside<'s>(&'s self, session: Option<&'s str>) -> Option<&'s str> {
        let session = session.filter(|session| !self.sessions.contains(session))?;
        let is_theirs = self.theirs.contains(&session);
        Some(self.theirs.first().copied().filter(|_| is_theirs).unwrap_or(session))
    }

    /// The name of an original that all members share.
    fn key(&self, origin: &Origin) -> Origin {
        Origin { session: self.outside(origin.session.as_deref()).map(str::to_owned), id: origin.id.clone() }
    }
}

impl<'a> Lineage<'a> {
    fn sessions(self) -> Vec<&'a str> {
        std::iter::once(self.session).chain(self.ancestors.iter().map(|ancestor| ancestor.id.as_str())).collect()
    }

    /// The session in which an entry of this time was written: the farthest one that was forked later. So an entry has
    /// one name, whichever fork it is taken from.
    pub(crate) fn writer(self, time: Option<Millis>) -> &'a str {
        let Some(time) = time else { return self.session };
        let is_older =
            |ancestor: &&Ancestor| ancestor.file.is_some() && ancestor.forked.is_some_and(|forked| time <= forked);
        self.ancestors.iter().take_while(is_older).last().map_or(self.session, |ancestor| ancestor.id.as_str())
    }
}

impl Merged {
    /// What a branch summary merged; `None` for other entries and summaries.
    pub fn of(entry: &Entry) -> Option<Self> {
        let merged = entry.merged()?;
        Some(Self {
            base: merged.str("base").map(EntryId::new),
            tip: EntryId::new(merged.str("tip")?),
            session: merged.str("session").map(std::borrow::Cow::into_owned),
        })
    }

    /// The member `merged` of the summary's details.
    pub fn to_json(&self) -> String {
        let object = Object::new().str_or_null("base", self.base.as_ref().map(EntryId::as_str));
        object.str("tip", self.tip.as_str()).opt_str("session", self.session.as_deref()).finish()
    }
}

/// The entries that a context shows, and the originals of those that are copies.
#[derive(Debug, Default)]
pub struct Present<'a> {
    /// In file order.
    entries: Vec<NodeIx>,
    copies: HashMap<Origin, NodeIx>,
    family: Family<'a>,
}

impl<'a> Present<'a> {
    /// Reads the copies of a context.
    ///
    /// # Errors
    /// The medium cannot be read.
    pub(crate) fn of(source: &dyn Source, context: &Context, family: Family<'a>) -> Result<Self> {
        let tree = source.tree();
        let mut present = Self { entries: context.shown(), copies: HashMap::new(), family };
        present.entries.sort_unstable();
        present.entries.dedup();
        for ix in present.entries.iter().filter(|ix| tree.node(**ix).is_copy()) {
            if let Some(origin) = Origin::of(&source.entry(*ix)?) {
                present.copies.insert(present.family.key(&origin), *ix);
            }
        }
        Ok(present)
    }

    /// Whether the context shows this entry itself.
    pub fn has(&self, ix: NodeIx) -> bool {
        self.entries.binary_search(&ix).is_ok()
    }

    /// Whether the context shows copies.
    pub(crate) fn has_copies(&self) -> bool {
        !self.copies.is_empty()
    }

    /// The entry that the context shows for an original.
    pub(crate) fn find(&self, source: &dyn Source, origin: &Origin) -> Option<NodeIx> {
        let origin = &self.family.key(origin);
        let itself = Some(origin).filter(|origin| origin.session.is_none());
        let itself = itself.and_then(|origin| source.tree().find(origin.id.as_str())).filter(|ix| self.has(*ix));
        itself.or_else(|| self.copies.get(origin).copied())
    }
}

/// Where a copy or a merge comes from, as rows show it: `⇠ 3f2a91bc`, `⇠ summary of 3f2a91bc`.
///
/// # Errors
/// The medium cannot be read.
pub fn mark(source: &dyn Source, ix: NodeIx) -> Result<Option<String>> {
    let node = source.tree().node(ix);
    if node.is_copy() {
        let origin = Origin::of(&source.entry(ix)?);
        return Ok(origin.map(|origin| format!("⇠ {}", one_line(origin.id.as_str(), LONGEST_ID))));
    }
    if node.kind() != Kind::BranchSummary {
        return Ok(None);
    }
    let merged = Merged::of(&source.entry(ix)?);
    Ok(merged.map(|merged| format!("⇠ summary of {}", one_line(merged.tip.as_str(), LONGEST_ID))))
}

/// Whether two sessions have the same entry, as a fork and its source do.
pub(crate) fn is_shared(here: &dyn Source, there: &dyn Source, ix: NodeIx) -> Option<NodeIx> {
    let node = there.tree().node(ix);
    let found = here.tree().find(node.id()?.as_str())?;
    let own = here.tree().node(found);
    let is_same = own.time() == node.time() && own.kind() == node.kind() && own.role() == node.role();
    is_same.then_some(found)
}
