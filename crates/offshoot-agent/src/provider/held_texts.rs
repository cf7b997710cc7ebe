//! Texts of an answer's blocks on their way through a filter that holds back what may continue, such as the beginning of a key
//! or half a character. Knows no filter.

use super::Delta;

/// A filter of the texts of blocks.
pub(crate) trait TextFilter {
    /// What can be shown of a block after more of its text.
    fn more(&mut self, index: usize, text: &str) -> String;

    /// What was held back of a block that ends.
    fn end(&mut self, index: usize) -> String;

    /// The deltas in place of one that is neither text nor the end of a block.
    fn other(&mut self, delta: Delta) -> Vec<Delta>;

    /// The deltas that can be shown after this one.
    fn filter(&mut self, delta: Delta) -> Vec<Delta> {
        let Some((index, text, make)) = block_text(&delta) else { return self.other(delta) };
        let is_end = text.is_none();
        let shown = match text {
            Some(text) => self.more(index, text),
            None => self.end(index),
        };
        let shown = Some(shown).filter(|text| !text.is_empty()).map(|text| make(index, text));
        shown.into_iter().chain(is_end.then_some(delta)).collect()
    }
}

/// Makes more text of a block.
type MakeText = fn(usize, String) -> Delta;

/// The block and its new text, which is `None` at its end, and what makes such a delta; `None` for other deltas.
fn block_text(delta: &Delta) -> Option<(usize, Option<&str>, MakeText)> {
    let text: MakeText = |index, delta| Delta::Text { index, delta };
    let thinking: MakeText = |index, delta| Delta::Thinking { index, delta };
    let arguments: MakeText = |index, delta| Delta::ToolCall { index, delta };
    match delta {
        Delta::Text { index, delta } => Some((*index, Some(delta), text)),
        Delta::Thinking { index, delta } => Some((*index, Some(delta), thinking)),
        Delta::ToolCall { index, delta } => Some((*index, Some(delta), arguments)),
        Delta::TextEnd { index } => Some((*index, None, text)),
        Delta::ThinkingEnd { index } => Some((*index, None, thinking)),
        Delta::ToolCallEnd { index } => Some((*index, None, arguments)),
        Delta::Start
        | Delta::TextStart { .. }
        | Delta::ThinkingStart { .. }
        | Delta::ToolCallStart { .. }
        | Delta::LostEvent { .. }
        | Delta::Usage(_)
        | Delta::Done(_) => None,
    }
}
