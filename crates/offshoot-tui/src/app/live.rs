//! The printed part of the conversation: which finished blocks are printed, and how much of the answer under way.
//! Printed rows belong to the terminal and no longer change. Does not use the screen.

mod answering;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;

use ratatui::text::Line;

use crate::conversation::{Conversation, ConversationBlock, LiveAnswer, UnderWay};
use crate::message::{AnswerContext, Folds, RenderedRows, RowRenderer};
use answering::{AnswerPrinter, AnswerSource};

/// The printed part of the conversation.
#[derive(Debug, Default)]
pub struct Live {
    /// The first finished block that is not printed.
    next: u64,
    /// The printed part of the last streaming answer.
    answering: Option<AnswerPrinter>,
    /// Nothing is printed until extensions have drawn what is under this number.
    held: Option<u64>,
    /// Whether the start rows are printed.
    pub(super) has_start: bool,
}

impl Live {
    /// The number of the first finished block that is not printed.
    pub(super) fn next(&self) -> u64 {
        self.next
    }

    /// Prints nothing until [`Live::release`] with this number; `None` prints at once.
    pub(super) fn hold(&mut self, number: Option<u64>) {
        self.held = number;
    }

    /// Prints again, if this number is waited for.
    pub(super) fn release(&mut self, number: u64) {
        self.held.take_if(|held| *held == number);
    }

    /// The finished rows that were not printed: whole blocks, and the finished parts and blocks of the answer under
    /// way. Marks them as printed.
    pub fn print(&mut self, conversation: &Conversation, look: &RowRenderer<'_>, folds: Folds<'_>) -> RenderedRows {
        let mut laid = RenderedRows::default();
        if self.held.is_some() {
            return laid;
        }
        for (number, finished) in conversation.finished_from(self.next) {
            self.next = number + 1;
            let source = AnswerSource::finished(finished);
            let answering = self.answering.take_if(|own| source.is_some_and(|source| own.is_of(source)));
            laid.append(match (answering, source) {
                (Some(answering), Some(source)) => answering.finish(source, look, folds),
                _ => finished.block.timed_rows(look, folds),
            });
        }
        if let Some(answer) = conversation.answer() {
            laid.append(self.answering(answer).print(answer, look, folds));
        }
        laid
    }

    /// The last rows that may still change, up to a limit. Pictures are named until they are printed.
    pub fn rows(
        &mut self,
        conversation: &Conversation,
        look: &RowRenderer<'_>,
        folds: Folds<'_>,
        most: usize,
    ) -> Vec<Line<'static>> {
        let mut rows = self.held_rows(conversation, look, folds, most);
        for under_way in conversation.under_way() {
            rows.extend(match under_way {
                UnderWay::Answer(answer) => {
                    let mut laid = self.answering(answer).unprinted_rows(answer, look, folds, most);
                    laid.name_pictures(look.theme, |_| true);
                    laid.lines
                }
                UnderWay::Item(item) => look.rows(item, folds, AnswerContext::default()).lines,
            });
        }
        rows.split_off(rows.len().saturating_sub(most))
    }

    /// The last rows of the blocks that are held back.
    fn held_rows(
        &self,
        conversation: &Conversation,
        look: &RowRenderer<'_>,
        folds: Folds<'_>,
        most: usize,
    ) -> Vec<Line<'static>> {
        if self.held.is_none() {
            return Vec::new();
        }
        let blocks: Vec<_> = conversation.finished_from(self.next).map(|(_, finished)| &*finished.block).collect();
        last_rows(blocks.into_iter().rev(), look, folds, most)
    }

    /// The last rows of the whole conversation, printed or not.
    pub(super) fn last_rows(
        conversation: &Conversation,
        look: &RowRenderer<'_>,
        folds: Folds<'_>,
        most: usize,
    ) -> Vec<Line<'static>> {
        let mut live = Vec::new();
        for under_way in conversation.under_way() {
            let (item, results, time) = match under_way {
                UnderWay::Answer(answer) => (&answer.block().item, &*answer.block().results, answer.block().time),
                UnderWay::Item(item) => (item, &[][..], None),
            };
            let mut laid = look.rows(item, folds, AnswerContext { results, is_live: true, texts: None });
            look.put_time(&mut laid, time);
            laid.name_pictures(look.theme, |_| true);
            live.extend(laid.lines);
        }
        let room = most.saturating_sub(live.len());
        let mut rows = last_rows(conversation.blocks().rev(), look, folds, room);
        rows.extend(live);
        rows.split_off(rows.len().saturating_sub(most))
    }

    /// The printing state of an answer. A new answer starts with nothing printed.
    fn answering(&mut self, answer: &LiveAnswer) -> &mut AnswerPrinter {
        let source = AnswerSource::live(answer);
        let own = self.answering.take().filter(|answering| answering.is_of(source));
        self.answering.insert(own.unwrap_or_else(|| AnswerPrinter::new(source)))
    }

    #[cfg(test)]
    fn parsed(&self) -> usize {
        self.answering.as_ref().map_or(0, AnswerPrinter::parsed)
    }
}

/// The last rows of these blocks, of which the last comes first.
fn last_rows<'a>(
    blocks: impl Iterator<Item = &'a ConversationBlock>,
    look: &RowRenderer<'_>,
    folds: Folds<'_>,
    most: usize,
) -> Vec<Line<'static>> {
    let mut rows = VecDeque::new();
    for block in blocks {
        if rows.len() >= most {
            break;
        }
        let mut laid = block.timed_rows(look, folds);
        laid.name_pictures(look.theme, |_| true);
        laid.lines.into_iter().rev().for_each(|line| rows.push_front(line));
    }
    rows.drain(..rows.len().saturating_sub(most));
    rows.into()
}
