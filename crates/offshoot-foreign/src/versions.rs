//! Versions of records that an imported session keeps, where the agent changes its records in place. Knows no agent.

use std::collections::{HashMap, HashSet};

use offshoot_session::child::CHILD_END;
use offshoot_session::entry::Source as _;
use offshoot_session::error::Result;
use offshoot_session::id::EntryId;
use offshoot_session::kind::{Kind, LEAF_MARKER, SOURCE_RECORD};
use offshoot_session::session::Session;
use offshoot_session::tree::NodeIx;
use sha2::{Digest as _, Sha256};

use crate::key::hex_hash;
use crate::source_record::{PayloadTexts, rebuild};

/// The records of an imported session. Of a session that is not there yet it is empty.
#[derive(Debug, Default)]
pub struct KeptVersions {
    /// Of each record its versions: a hash, and whether it is the first.
    of: HashMap<String, Vec<(String, bool)>>,
    /// Hashes of the bytes of all.
    whole: HashSet<[u8; 32]>,
    /// Entries at the ends of branches that the agent does not have: kept records and files, and the end of a subagent. The next entry of
    /// the branch follows them.
    pub(crate) tails: HashMap<EntryId, EntryId>,
    /// The end of the branch on which the imported session is open.
    pub(crate) leaf: Option<EntryId>,
    /// The entry there that the agent knows: no name and no label.
    pub(crate) open_at: Option<EntryId>,
}

impl KeptVersions {
    /// Of an imported session whose agent only appends: what hangs at its ends. Few entries are read.
    ///
    /// # Errors
    /// The session cannot be read.
    pub fn of_ends(session: &Session) -> Result<Self> {
        Ok(Self { tails: Self::tails_of(session)?, ..Self::default() })
    }

    fn tails_of(session: &Session) -> Result<HashMap<EntryId, EntryId>> {
        let tree = session.tree();
        let mut tails = HashMap::new();
        for leaf in tree.leaves() {
            for ix in tree.ancestors(leaf) {
                let (node, parent) = (tree.node(ix), tree.parent_id(ix));
                let (Kind::Custom, Some(id), Some(parent)) = (node.kind(), node.id(), parent) else { break };
                let entry = session.entry(ix)?;
                let custom = entry.str("customType").unwrap_or_default();
                if custom == SOURCE_RECORD || custom == CHILD_END {
                    tails.insert(parent.clone(), id.clone());
                } else if custom != LEAF_MARKER {
                    break;
                }
            }
        }
        Ok(tails)
    }

    /// The last of what hangs on an entry at the end of a branch, or the entry itself.
    pub(crate) fn tail<'a>(&'a self, mut at: &'a EntryId) -> &'a EntryId {
        for _ in 0..self.tails.len() {
            match self.tails.get(at) {
                Some(next) => at = next,
                None => break,
            }
        }
        at
    }

    /// Those of an imported session. Every record is read.
    ///
    /// # Errors
    /// The session cannot be read.
    pub fn of(session: &Session) -> Result<Self> {
        let tree = session.tree();
        let mut payloads = PayloadTexts::new(session);
        let leaf = session.leaf().and_then(|leaf| tree.skip_leaf_markers(leaf));
        let is_beside = |ix: &NodeIx| {
            let node = tree.node(*ix);
            node.is_leaf_marker() || matches!(node.kind(), Kind::Label | Kind::SessionInfo)
        };
        let open_at = leaf.and_then(|leaf| tree.ancestors(leaf).find(|ix| !is_beside(ix)));
        let id_of = |ix: Option<NodeIx>| ix.and_then(|ix| tree.node(ix).id()).cloned();
        let tails = Self::tails_of(session)?;
        let mut kept = Self { leaf: id_of(leaf), open_at: id_of(open_at), tails, ..Self::default() };
        for ix in tree.entries().filter(|ix| tree.node(*ix).kind() == Kind::Custom && tree.node(*ix).is_leaf_marker()) {
            let entry = session.entry(ix)?;
            let id = tree.node(ix).id().and_then(|id| id.as_str().strip_suffix(".s"));
            let is_record = entry.str("customType").is_some_and(|custom| custom == SOURCE_RECORD);
            let Some(id) = id.filter(|_| is_record) else { continue };
            let record = entry.get("data").and_then(|data| rebuild(data, &mut |id| payloads.get(id)));
            let Some(record) = record else { continue };
            kept.whole.insert(Sha256::digest(&record.bytes).into());
            let (record_id, is_first) = id.split_once('~').map_or((id, true), |(id, _)| (id, false));
            kept.of.entry(record_id.to_owned()).or_default().push((version_of(&record.bytes), is_first));
        }
        Ok(kept)
    }

    /// What tells this version of a record from the first one; `None` if it is the first.
    pub(crate) fn version(&self, id: &str, bytes: &[u8]) -> Option<String> {
        let versions = self.of.get(id)?;
        let version = version_of(bytes);
        let is_first = versions.iter().any(|(known, is_first)| *is_first && *known == version);
        (!is_first).then_some(version)
    }

    /// Whether there is a record with these bytes.
    pub(crate) fn has(&self, bytes: &[u8]) -> bool {
        self.whole.contains::<[u8; 32]>(&Sha256::digest(bytes).into())
    }

    /// How many records are not among these.
    pub(crate) fn gone<'a>(&self, ids: impl Iterator<Item = &'a str>) -> u64 {
        let there: HashSet<&str> = ids.collect();
        // What has no id of its own is another record whenever it changes.
        let has_id = |id: &&String| id.len() != 16 || id.bytes().any(|byte| !byte.is_ascii_hexdigit());
        self.of.keys().filter(has_id).filter(|id| !there.contains(id.as_str())).count() as u64
    }
}

/// The line end does not count.
fn version_of(bytes: &[u8]) -> String {
    hex_hash(&[bytes.strip_suffix(b"\n").unwrap_or(bytes)], 8)
}
