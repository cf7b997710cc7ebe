//! Labels: the labels of the snapshot with the changes since, the line to write one, and the search by name. Stores
//! nothing: the caller does.

use std::collections::{HashMap, HashSet};

use offshoot_session::clock::to_iso;
use offshoot_session::tree::{Label, NodeIx, Tree};
use ratatui::crossterm::event::KeyEvent;

use super::{Mode, TreeOutcome, TreeSelector};
use crate::keymap::Action;
use crate::overlay::line::LineInput;

/// The changes since the snapshot.
#[derive(Debug, Default)]
pub(super) struct Labels {
    since: HashMap<NodeIx, Option<Label>>,
}

impl Labels {
    /// The label of an entry.
    pub(super) fn of<'a>(&'a self, tree: &'a Tree, ix: NodeIx) -> Option<&'a Label> {
        match self.since.get(&ix) {
            Some(label) => label.as_ref(),
            None => tree.label_of(ix),
        }
    }

    fn set(&mut self, ix: NodeIx, label: Option<Label>) {
        self.since.insert(ix, label);
    }

    /// The entries with a label, each at least once.
    fn all<'a>(&'a self, tree: &'a Tree) -> impl Iterator<Item = NodeIx> + 'a {
        let known = tree.labels().into_iter().filter_map(|(target, _)| tree.find(target.as_str()));
        known.chain(self.since.keys().copied()).filter(|ix| self.of(tree, *ix).is_some())
    }

    /// The entries with a label, if they differ from the snapshot.
    pub(super) fn all_if_changed(&self, tree: &Tree) -> Option<HashSet<NodeIx>> {
        (!self.since.is_empty()).then(|| self.all(tree).collect())
    }
}

impl TreeSelector {
    pub(super) fn edit_label(&mut self) {
        let Some(ix) = self.list.entry() else { return };
        if self.id(ix).is_none() {
            self.notice = Some("this entry has no id, so it can have no label".to_owned());
            return;
        }
        let known = self.label(ix).map(|label| label.text.clone()).unwrap_or_default();
        self.mode = Mode::Label(ix, LineInput::new(&known));
    }

    pub(super) fn label_key(&mut self, key: KeyEvent) -> TreeOutcome {
        let Mode::Label(ix, input) = &mut self.mode else { return TreeOutcome::Stay };
        let ix = *ix;
        match self.setup.keymap.in_list(key) {
            Some(Action::SelectCancel) => self.mode = Mode::Browse,
            Some(Action::SelectConfirm) => {
                let text = Some(input.text().trim().to_owned()).filter(|text| !text.is_empty());
                self.mode = Mode::Browse;
                let label = text.clone().map(|text| Label { text, timestamp: Some(to_iso(self.setup.now)) });
                self.labels.set(ix, label);
                return self.id(ix).map_or(TreeOutcome::Stay, |entry| TreeOutcome::Label { entry, text });
            }
            _ => _ = input.key(&self.setup.keymap, key),
        }
        TreeOutcome::Stay
    }

    /// Selects the label in the query: the one with that name, or else one that begins with it, or else one that
    /// contains it.
    pub(super) fn select_label(&mut self) {
        let Some(wanted) = self.search.label().map(str::to_owned) else { return };
        let rank = |label: &str| match label {
            label if label == wanted => 0,
            label if label.starts_with(&wanted) => 1,
            label if label.contains(&wanted) => 2,
            _ => 3,
        };
        let ranked = self.labels.all(self.source.tree()).filter_map(|ix| {
            let row = self.list.outline.nearest(ix).filter(|row| self.list.outline.entry(*row) == Some(ix))?;
            let rank = rank(&self.label(ix)?.text.to_lowercase());
            (rank < 3).then_some((rank, row))
        });
        if let Some((_, row)) = ranked.min() {
            self.list.select(row);
        }
    }
}
