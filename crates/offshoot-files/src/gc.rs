//! Makes a store smaller: contents that no entry reaches go first, then the oldest, until it is within its bound.

use std::collections::BTreeSet;

use offshoot_session::medium::REPLACING_PREFIX;

use crate::changes::{ChangeSet, FileChange};
use crate::content::ContentHash;
use crate::error::{FilesResult, io_error};
use crate::scan::Snapshot;
use crate::seen_file::seen_contents;
use crate::store::{StoreSize, unfinished_in};
use crate::workspace::Workspace;

/// What a collection removed, or would.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CollectedFiles {
    /// Contents that no entry reaches.
    pub unreached: StoreSize,
    /// Contents that entries reach, and that went because the store was too large.
    pub oldest: StoreSize,
    /// What stays.
    pub kept: StoreSize,
}

/// The contents that changes need.
#[derive(Debug, Clone, Default)]
pub struct ReachedContents(BTreeSet<ContentHash>);

impl ReachedContents {
    /// Adds those of an entry, whoever wrote it: that keeps more, never less.
    pub fn add(&mut self, workspace: &Workspace, data: &str) {
        let Ok(set) = ChangeSet::read(data) else { return };
        self.0.extend(set.manifest);
        for FileChange { before, after, .. } in set.all(&workspace.store).unwrap_or_default() {
            self.0.extend(before.hash().copied());
            self.0.extend(after.hash().copied());
        }
    }
}

impl Workspace {
    /// Removes what is not reached, and then the oldest contents beyond the bound. Only looks if `removes` is false. Nothing younger than
    /// `now` less a day is unreached: its entry may be under way.
    ///
    /// # Errors
    /// A content cannot be removed.
    pub fn collect(&self, reached: &ReachedContents, now: i64, how: Collection) -> FilesResult<CollectedFiles> {
        let seen: BTreeSet<ContentHash> = seen_contents(&self.seen_path()).into_iter().collect();
        let mut all = self.store.list();
        all.sort_by_key(|(_, _, at)| *at);
        let mut collected =
            CollectedFiles { unreached: self.remove_unfinished(now, how)?, ..CollectedFiles::default() };
        let mut kept = Vec::new();
        let remove = |hash: &ContentHash| match how {
            Collection::Look => Ok(()),
            Collection::Remove => self.store.remove(hash),
        };
        for (hash, bytes, at) in all {
            if reached.0.contains(&hash) || seen.contains(&hash) || now.saturating_sub(at) < YOUNG {
                kept.push((hash, bytes));
            } else {
                remove(&hash)?;
                add(&mut collected.unreached, bytes);
            }
        }
        let mut size: u64 = kept.iter().map(|(_, bytes)| bytes).sum();
        for (hash, bytes) in kept {
            if size > self.limits.store {
                size -= bytes;
                remove(&hash)?;
                add(&mut collected.oldest, bytes);
            } else {
                add(&mut collected.kept, bytes);
            }
        }
        Ok(collected)
    }
}

impl Workspace {
    /// Removes what killed programs have left half written, unless it is so young that one may still write it.
    fn remove_unfinished(&self, now: i64, how: Collection) -> FilesResult<StoreSize> {
        let mut removed = StoreSize::default();
        let unfinished = self.store.unfinished().into_iter().chain(unfinished_in(self.data(), REPLACING_PREFIX));
        for file in unfinished.filter(|file| now.saturating_sub(file.at) >= YOUNG) {
            if how == Collection::Remove {
                std::fs::remove_file(&file.path).map_err(io_error("remove", &file.path))?;
            }
            add(&mut removed, file.bytes);
        }
        Ok(removed)
    }

    /// Removes the oldest contents as long as the store is larger than its bound. Those of the files as they are now stay.
    pub(crate) fn shrink(&self, seen: &Snapshot, now: i64) -> FilesResult<StoreSize> {
        self.remove_unfinished(now, Collection::Remove)?;
        let mut all = self.store.list();
        let mut size: u64 = all.iter().map(|(_, bytes, _)| bytes).sum();
        let mut removed = StoreSize::default();
        if size <= self.limits.store {
            return Ok(removed);
        }
        let needed: BTreeSet<ContentHash> = seen.files.iter().filter_map(|file| file.state.hash().copied()).collect();
        all.sort_by_key(|(_, _, at)| *at);
        for (hash, bytes, _) in all.into_iter().filter(|(hash, _, _)| !needed.contains(hash)) {
            if size <= self.limits.store {
                break;
            }
            self.store.remove(&hash)?;
            size -= bytes;
            add(&mut removed, bytes);
        }
        Ok(removed)
    }
}

/// Contents may be stored this long before their entry, in milliseconds.
const YOUNG: i64 = 24 * 60 * 60 * 1000;

/// Whether a collection removes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Collection {
    /// It only says what it would remove.
    Look,
    /// It removes.
    Remove,
}

fn add(size: &mut StoreSize, bytes: u64) {
    size.contents += 1;
    size.bytes += bytes;
}
