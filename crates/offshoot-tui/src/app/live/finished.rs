//! Things that are finished; the newest wait to be printed, one of them perhaps in part.

use std::collections::VecDeque;
use std::sync::Arc;

use offshoot_session::transcript::ToolResult;

use super::Block;
use super::answering::{Answering, Rest};
use crate::message::{Folds, Laid, Look};

/// How many finished things are kept to draw the screen anew.
const KEPT: usize = 200;

/// Things that are finished; the newest wait to be printed.
#[derive(Debug, Default)]
pub struct Finished {
    blocks: VecDeque<Done>,
    unprinted: usize,
}

#[derive(Debug)]
struct Done {
    block: Block,
    /// What of an answer is not printed, if something of it is.
    rest: Option<Rest>,
}

impl Finished {
    /// Adds one.
    pub fn push(&mut self, block: Block) {
        self.add(Done { block, rest: None });
    }

    /// Adds an answer that may be printed in part.
    pub(super) fn push_rest(&mut self, answer: Answering, results: Vec<Arc<ToolResult>>) {
        let (item, rest) = answer.into_rest();
        self.add(Done { block: Block { item, results }, rest: Some(rest) });
    }

    fn add(&mut self, done: Done) {
        self.blocks.push_back(done);
        self.unprinted += 1;
        while self.blocks.len() > KEPT.max(self.unprinted) {
            self.blocks.pop_front();
        }
    }

    /// The rows of those that wait to be printed; they are taken as printed from now on.
    pub(super) fn print(&mut self, look: &Look<'_>, folds: Folds<'_>) -> Laid {
        let from = self.blocks.len().saturating_sub(std::mem::take(&mut self.unprinted));
        let mut laid = Laid::default();
        for done in self.blocks.iter_mut().skip(from) {
            laid.append(match done.rest.take() {
                Some(rest) => rest.rows(&done.block, look, folds),
                None => done.block.rows(look, folds),
            });
        }
        laid
    }

    /// The rows of the last ones that have been printed, no more than so many, and of the one that was in part.
    pub(super) fn print_again(&mut self, look: &Look<'_>, folds: Folds<'_>, most: usize) -> Laid {
        let count = self.blocks.len().saturating_sub(self.unprinted);
        let mut laid = Laid::default();
        for done in self.blocks.iter().take(count).skip(count.saturating_sub(most)) {
            laid.append(done.block.rows(look, folds));
        }
        for done in self.blocks.iter_mut().skip(count) {
            if let Some(rest) = &mut done.rest {
                laid.append(rest.print_again(&done.block, look, folds));
            }
        }
        laid
    }

    /// All, oldest first.
    pub fn all(&self) -> impl DoubleEndedIterator<Item = &Block> {
        self.blocks.iter().map(|done| &done.block)
    }
}
