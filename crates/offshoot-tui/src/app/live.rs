//! What of the conversation the terminal has: which finished blocks are printed, and how much of the answer that is under
//! way. What is printed belongs to the terminal and changes no more. Knows no screen.

mod answering;
#[cfg(test)]
mod tests;

use ratatui::text::Line;

use crate::conversation::{Conversation, LiveAnswer, UnderWay};
use crate::message::{AnswerContext, Folds, RenderedRows, RowRenderer};
use answering::{AnswerPrinter, AnswerSource};

/// What is printed of the conversation.
#[derive(Debug, Default)]
pub struct Live {
    /// The first finished block that is not printed.
    next: u64,
    /// How much is printed of the answer that came in last.
    answering: Option<AnswerPrinter>,
}

impl Live {
    /// The number of the first finished block that is not printed.
    pub(super) fn next(&self) -> u64 {
        self.next
    }

    /// The rows of what is finished and was not printed yet: whole blocks, and of the answer that is under way the parts
    /// and blocks that will not change any more. They are taken as printed from now on.
    pub fn print(&mut self, conversation: &Conversation, look: &RowRenderer<'_>, folds: Folds<'_>) -> RenderedRows {
        let mut laid = RenderedRows::default();
        for (number, finished) in conversation.finished_from(self.next) {
            self.next = number + 1;
            let source = AnswerSource::finished(finished);
            let answering = self.answering.take_if(|own| source.is_some_and(|source| own.is_of(source)));
            laid.append(match (answering, source) {
                (Some(answering), Some(source)) => answering.finish(source, look, folds),
                _ => finished.block.rows(look, folds),
            });
        }
        if let Some(answer) = conversation.answer() {
            laid.append(self.answering(answer).print(answer, look, folds));
        }
        laid
    }

    /// The rows of what may still change: the last, no more than so many. Pictures are named until they are printed.
    pub fn rows(
        &mut self,
        conversation: &Conversation,
        look: &RowRenderer<'_>,
        folds: Folds<'_>,
        most: usize,
    ) -> Vec<Line<'static>> {
        let mut rows = Vec::new();
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

    /// How much of an answer is printed; nothing of one that was not seen before.
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
