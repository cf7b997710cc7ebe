//! The printed part of the conversation: which finished blocks are printed, and how much of the answer under way.
//! Printed rows belong to the terminal and no longer change. Does not use the screen.

mod answering;
#[cfg(test)]
mod tests;

use ratatui::text::Line;

use crate::conversation::{Conversation, LiveAnswer, UnderWay};
use crate::message::{AnswerContext, Folds, RenderedRows, RowRenderer};
use answering::{AnswerPrinter, AnswerSource};

/// The printed part of the conversation.
#[derive(Debug, Default)]
pub struct Live {
    /// The first finished block that is not printed.
    next: u64,
    /// The printed part of the last streaming answer.
    answering: Option<AnswerPrinter>,
    /// Whether the start rows are printed.
    pub(super) has_start: bool,
}

impl Live {
    /// The number of the first finished block that is not printed.
    pub(super) fn next(&self) -> u64 {
        self.next
    }

    /// The finished rows that were not printed: whole blocks, and the finished parts and blocks of the answer under
    /// way. Marks them as printed.
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

    /// The last rows that may still change, up to a limit. Pictures are named until they are printed.
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
