//! Detects branches that other programs grow at the same time, and reports them to whoever appends or opens.
//!
//! An append knows which entries are foreign, because it reads them while it catches up. Opening sees only the file: it
//! reports newer work elsewhere, and branches whose entries alternate with the open one's as one person's would not.

use std::collections::{HashMap, HashSet};

use super::Session;
use crate::clock::ago;
use crate::entry::Source as _;
use crate::error::{Code, Diagnostic};
use crate::id::EntryId;
use crate::kind::{Kind, Role};
use crate::stats;
use crate::text::{counted, one_line};
use crate::tree::{NodeIx, Tree};

/// How many entries before the open one are searched for concurrent branches.
const RECENT: usize = 1000;
/// The most characters of a request that name a branch.
const NAMED: usize = 40;

/// Branches that other programs began since this session was opened.
#[derive(Debug, Default)]
pub(super) struct OtherBranches {
    branches: Vec<Branch>,
    members: HashMap<EntryId, usize>,
}

#[derive(Debug)]
struct Branch {
    fork: Option<EntryId>,
    /// The last entry that is work.
    tip: EntryId,
    entries: usize,
    has_work: bool,
    is_judged: bool,
    is_reported: bool,
}

impl Session {
    /// Records the entries after a line, which other programs wrote.
    pub(super) fn note_others(&mut self, after_line: u64) {
        let tree = &self.loaded.tree;
        let mut fresh: Vec<NodeIx> = tree.entries().rev().take_while(|ix| tree.node(*ix).line() > after_line).collect();
        fresh.reverse();
        for ix in fresh {
            let Some(id) = tree.node(ix).id().cloned() else { continue };
            let parent = tree.parent_id(ix).cloned();
            let known = parent.as_ref().and_then(|parent| self.others.members.get(parent)).copied();
            let at = known.unwrap_or(self.others.branches.len());
            if known.is_none() {
                let branch = Branch {
                    fork: parent,
                    tip: id.clone(),
                    entries: 0,
                    has_work: false,
                    is_judged: false,
                    is_reported: false,
                };
                self.others.branches.push(branch);
            }
            if let Some(branch) = self.others.branches.get_mut(at) {
                branch.entries += 1;
                if is_work(tree, ix) {
                    branch.has_work = true;
                    branch.tip = id.clone();
                    // One that this process continued may have become a branch beside it.
                    branch.is_judged = branch.is_reported;
                }
            }
            self.others.members.insert(id, at);
        }
    }

    /// After an append: reports foreign branches that began on the path of the appended entry.
    pub(super) fn report_others(&mut self, appended: Option<NodeIx>) {
        let Some(appended) = appended else { return };
        let is_new = |branch: &Branch| branch.has_work && !branch.is_judged;
        if !self.others.branches.iter().any(is_new) {
            return;
        }
        let tree = &self.loaded.tree;
        let path: HashSet<NodeIx> = tree.ancestors(appended).collect();
        let mut told = Vec::new();
        for branch in self.others.branches.iter_mut().filter(|branch| is_new(branch)) {
            branch.is_judged = true;
            let is_on_path = |id: &EntryId| tree.find(id.as_str()).is_some_and(|ix| path.contains(&ix));
            if branch.fork.as_ref().is_none_or(is_on_path) && !is_on_path(&branch.tip) {
                branch.is_reported = true;
                told.extend(tree.find(branch.tip.as_str()).map(|tip| (tip, branch.entries)));
            }
        }
        let told: Vec<Diagnostic> =
            told.into_iter().filter_map(|(tip, entries)| self.another_branch(tip, entries)).collect();
        told.into_iter().for_each(|diagnostic| self.report(diagnostic));
    }

    /// Reports a branch that has newer work than the leaf, or that grew at the same time.
    pub(super) fn note_divergence(&mut self) {
        let newer = self.newer_work();
        let mut told = Vec::new();
        for (tip, entries) in self.leaf.map(|leaf| interleaved(self.tree(), leaf)).unwrap_or_default() {
            let when = self.when(tip).map(|when| format!(", the last {when}")).unwrap_or_default();
            let newer = if newer == Some(tip) { ", and has newer work" } else { "" };
            let what = format!(
                "({}{when}) grew at the same time as the current one{newer}",
                counted(entries, "entry", "entries")
            );
            told.push((tip, what));
        }
        if let Some(newer) = newer.filter(|newer| told.iter().all(|(tip, _)| tip != newer)) {
            let when = self.when(newer).map(|when| format!("({when}) ")).unwrap_or_default();
            told.push((newer, format!("{when}has newer work than the current one")));
        }
        let diagnostics = told.into_iter().filter_map(|(tip, what)| {
            let name = self.words(tip).map_or("another branch".to_owned(), |said| format!("the branch {said}"));
            about(self.tree(), tip, |_| format!("{name} {what}"))
        });
        let diagnostics: Vec<_> = diagnostics.collect();
        self.loaded.diagnostics.extend(diagnostics);
    }

    /// The last request of a branch, in quotation marks.
    fn words(&self, tip: NodeIx) -> Option<String> {
        stats::last_request(self, tip).ok().flatten().map(|said| format!("“{}”", one_line(&said, NAMED)))
    }

    /// A branch that another program began, by its last request and its age. The command that goes there has the id.
    fn another_branch(&self, tip: NodeIx, entries: usize) -> Option<Diagnostic> {
        let said = self.words(tip).map(|said| format!(": {said}"));
        let when = self.when(tip).map(|when| format!(", {when}")).unwrap_or_default();
        let (said, count) = (said.unwrap_or_default(), counted(entries, "entry", "entries"));
        about(self.tree(), tip, |_| format!("another program appended {count} on a branch beside this one{said}{when}"))
    }

    /// The age of an entry in words.
    fn when(&self, ix: NodeIx) -> Option<String> {
        Some(ago(self.tree().node(ix).time()?, self.options.clock.now()))
    }

    /// The newest work at the end of another branch, if it is newer than the open entry. Labels, settings and markers
    /// are not work. After a move of the leaf only later entries count: the person knows what is left.
    pub fn newer_work(&self) -> Option<NodeIx> {
        let tree = self.tree();
        let leaf = self.leaf?;
        let moved = Some(leaf).filter(|leaf| tree.node(*leaf).is_leaf_marker());
        let open = tree.skip_leaf_markers(leaf)?;
        let since = tree.node(open).time()?;
        let mut newer: Vec<_> = tree.ends().filter(|end| end.time > since && end.work() != Some(open)).collect();
        newer.sort_by_key(|end| std::cmp::Reverse(end.time));
        newer.into_iter().find_map(|end| {
            let work = tree.ancestors(end.work()?).find(|ix| is_work(tree, *ix))?;
            let is_later = moved.is_none_or(|moved| work > moved);
            let is_newer = is_later && tree.node(work).time().is_some_and(|time| time > since);
            // An entry with only settings below it may be on the open path. This is rare, so the walk does not cost
            // much.
            let is_ours = is_newer && !tree.is_leaf(work) && tree.ancestors(open).any(|ix| ix == work);
            (is_newer && !is_ours).then_some(work)
        })
    }
}

/// Whether losing the entry would be noticed: labels, settings and markers are not work.
fn is_work(tree: &Tree, ix: NodeIx) -> bool {
    matches!(tree.node(ix).kind(), Kind::Message | Kind::CustomMessage | Kind::Compaction | Kind::BranchSummary)
}

fn about(tree: &Tree, tip: NodeIx, message: impl FnOnce(&EntryId) -> String) -> Option<Diagnostic> {
    let node = tree.node(tip);
    let id = node.id()?;
    let (line, offset, entry) = (Some(node.line()), node.offset(), Some(id.clone()));
    Some(Diagnostic { code: Code::Diverged, line, offset, entry, message: message(id) })
}

/// Branches whose entries alternate with the open path's in the file, as concurrent programs write them: last entry,
/// and number of entries beside the open path.
///
/// A person who goes back and forth leaves long runs. Four alternating runs are reported; three only if the last begins
/// within a turn, with an answer or result that is not a retry. Alternation before the last [`RECENT`] entries is
/// ignored, so that opening does not cost the length of the path.
fn interleaved(tree: &Tree, leaf: NodeIx) -> Vec<(NodeIx, usize)> {
    let mut seen: HashSet<NodeIx> = HashSet::new();
    let mut found = Vec::new();
    let mut child = leaf;
    let floor = leaf.index().saturating_sub(RECENT);
    while let Some(parent) = tree.parent(child).filter(|_| child.index() > floor) {
        // The last work written before an entry of the path but not on it.
        let between = tree.between(parent, child).rev().find(|other| is_work(tree, *other));
        if let Some(other) = between.filter(|other| seen.insert(*other)) {
            let runs = Runs::count(tree, (other, child), floor, &mut seen);
            if runs.is_of_several_writers() {
                found.push((other, runs.others));
            }
        }
        child = parent;
    }
    found
}

/// How the entries of two branches alternate below their common ancestor.
#[derive(Debug, Default)]
struct Runs {
    runs: usize,
    is_within_a_turn: bool,
    others: usize,
}

impl Runs {
    /// Walks both branches up to their common ancestor, the later entry first.
    fn count(tree: &Tree, (other, open): (NodeIx, NodeIx), floor: usize, seen: &mut HashSet<NodeIx>) -> Self {
        let mut runs = Self::default();
        let (mut theirs, mut ours) = (Some(other), Some(open));
        let mut was_ours = None;
        let mut later: Option<NodeIx> = None;
        while theirs != ours {
            let is_ours = ours > theirs;
            let Some(at) = (if is_ours { ours } else { theirs }).filter(|at| at.index() >= floor) else { break };
            if was_ours.replace(is_ours) != Some(is_ours) {
                runs.close(tree, later, was_ours == Some(false));
                runs.runs += 1;
            }
            later = Some(at);
            if is_ours {
                ours = tree.parent(at);
            } else {
                runs.others += 1;
                seen.insert(at);
                theirs = tree.parent(at);
            }
        }
        runs
    }

    /// Ends a run upwards at its first entry.
    fn close(&mut self, tree: &Tree, first: Option<NodeIx>, is_ours: bool) {
        let Some(first) = first else { return };
        let node = tree.node(first);
        if node.is_leaf_marker() {
            // A move of the leaf explains the run.
            self.runs = self.runs.saturating_sub(1);
            return;
        }
        let siblings = tree.parent(first).and_then(|parent| tree.children(parent).next());
        let is_answer = matches!(node.role(), Some(Role::Assistant | Role::ToolResult));
        self.is_within_a_turn |= is_ours && is_answer && siblings == Some(first);
    }

    fn is_of_several_writers(&self) -> bool {
        self.runs >= 4 || (self.runs == 3 && self.is_within_a_turn)
    }
}
