//! Marks of entries and ranges, and what is brought here from them: picks, merges, undos. The caller performs them.

use offshoot_agent::bring_plan::newest_end;
use offshoot_session::provenance::Origin;
use offshoot_session::selection::range;
use offshoot_session::tree::NodeIx;
use offshoot_workspace::{ArgValue, Given, OperationOrder, find_operation};

use super::{Mode, TreeOutcome, TreeSelector};

impl TreeSelector {
    pub(super) fn mark(&mut self) {
        let Some(ix) = self.list.entry() else { return };
        match self.marks.iter().position(|marked| *marked == ix) {
            Some(at) => _ = self.marks.remove(at),
            None => self.marks.push(ix),
        }
    }

    /// Marks everything between the last mark and the cursor, if one of them is above the other.
    pub(super) fn mark_range(&mut self) {
        let (Some(cursor), Some(mark)) = (self.list.entry(), self.marks.last().copied()) else {
            self.notice = Some("mark where the range begins, then go to its end".to_owned());
            return;
        };
        let tree = self.source.tree();
        let (first, last) = if tree.ancestors(cursor).any(|ix| ix == mark) { (mark, cursor) } else { (cursor, mark) };
        let first = self.list.members(first).first().copied().unwrap_or(first);
        match range(tree, tree.parent(first), last) {
            Ok(entries) => {
                self.marks.extend(entries.into_iter().filter(|ix| *ix != mark));
                self.marks.sort_unstable();
                self.marks.dedup();
            }
            Err(_) => self.notice = Some("a range lies on one branch: the mark is on another one".to_owned()),
        }
    }

    /// The marked entries, with every call of a marked row of several.
    pub(super) fn marked(&self) -> Vec<NodeIx> {
        let mut marked: Vec<NodeIx> = self.marks.iter().flat_map(|ix| self.list.members(*ix)).collect();
        marked.sort_unstable();
        marked.dedup();
        marked
    }

    /// Copies the marked entries, or those of the row under the cursor.
    pub(super) fn pick(&mut self) -> TreeOutcome {
        let here = || self.list.entry().map(|ix| self.list.members(ix)).unwrap_or_default();
        let picked = if self.marks.is_empty() { here() } else { self.marked() };
        let selections: Vec<String> = picked.into_iter().filter_map(|ix| self.id(ix)).collect();
        if selections.is_empty() {
            self.notice = Some("this entry has no id, so it cannot be copied".to_owned());
            return TreeOutcome::Stay;
        }
        let mut given = Given::default();
        given.put("selection", ArgValue::Many(selections));
        self.operate(OperationOrder::new("pick", given))
    }

    /// Summarises the branch under the cursor, down to its newest end.
    pub(super) fn merge(&mut self) -> TreeOutcome {
        let Some(ix) = self.list.entry() else { return TreeOutcome::Stay };
        let tree = self.source.tree();
        if self.leaf.is_some_and(|leaf| tree.ancestors(leaf).any(|above| above == ix)) {
            self.notice = Some("this entry is on the current branch: go to one of another branch".to_owned());
            return TreeOutcome::Stay;
        }
        match newest_end(tree, ix, tree.len()).and_then(|end| self.id(end)) {
            Some(tip) => {
                let mut given = Given::default();
                given.put_text("source", tip);
                self.operate(OperationOrder::new("merge", given))
            }
            None => TreeOutcome::Stay,
        }
    }

    pub(super) fn undo(&mut self) -> TreeOutcome {
        self.operate(OperationOrder::new("undo", Given::default()))
    }

    /// Waits for an operation, perhaps for its summary.
    fn operate(&mut self, order: OperationOrder) -> TreeOutcome {
        let summarize = find_operation(order.operation).is_some_and(|row| row.may_ask);
        self.mode = Mode::Leaving { summarize, is_stopping: false };
        TreeOutcome::Operate(order)
    }

    /// Goes from a copy or a merge to where it comes from.
    pub(super) fn go_to_source(&mut self) -> TreeOutcome {
        let Some(ix) = self.list.entry() else { return TreeOutcome::Stay };
        let origin = match self.source.entry(ix) {
            Ok(entry) => Origin::of_copy_or_merge(&entry),
            Err(error) => return self.noticed(error.to_string()),
        };
        let Some(origin) = origin else {
            return self.noticed("this entry was written here: it is no copy and no merge");
        };
        let found = self.source.tree().find(origin.id.as_str()).filter(|_| origin.session.is_none());
        match found {
            Some(source) => self.show(source),
            None => return TreeOutcome::FindSource(origin),
        }
        TreeOutcome::Stay
    }

    pub(super) fn noticed(&mut self, notice: impl Into<String>) -> TreeOutcome {
        self.notice = Some(notice.into());
        TreeOutcome::Stay
    }

    /// Selects an entry, and opens the folds that hide it.
    fn show(&mut self, ix: NodeIx) {
        self.list.remember(ix);
        self.arrange_after(true);
        if self.list.entry() != Some(ix) {
            self.notice = Some("the filter hides the source; the nearest entry above it is selected".to_owned());
        }
    }
}
