//! A block of the conversation: an item, and the results of its calls if it is an answer.

use std::sync::Arc;

use crate::message::{AnswerContext, Folds, MessageTime, RenderedRows, RowRenderer};
use offshoot_session::clock::Millis;
use offshoot_session::transcript::{Item, ItemPart, ToolResult};

/// An item with the results of its calls.
#[derive(Debug, Clone)]
pub struct ConversationBlock {
    pub item: Item,
    pub results: Vec<Arc<ToolResult>>,
    /// Whether it has no rows but those that an extension draws.
    pub is_drawn_only: bool,
    /// `None` for what is neither a prompt nor an answer, or has no time.
    pub(crate) time: Option<MessageTime>,
}

impl ConversationBlock {
    #[must_use]
    pub fn new(item: Item) -> Self {
        Self { item, results: Vec::new(), is_drawn_only: false, time: None }
    }

    /// A block with the time of its entry, if it is a prompt or an answer.
    #[must_use]
    pub fn timed(item: Item, at: Option<Millis>) -> Self {
        let at = at.filter(|_| matches!(item, Item::User(_) | Item::Answer(_)));
        Self { time: at.map(|at| MessageTime { at, before: None }), ..Self::new(item) }
    }

    /// An entry of an extension, named by its id.
    #[must_use]
    pub fn drawn_only(label: String, id: String) -> Self {
        let item = Item::Note { label, parts: vec![ItemPart::Text(id)] };
        Self { is_drawn_only: true, ..Self::new(item) }
    }

    /// The rows, and above them the time of the message if times are shown.
    #[must_use]
    pub fn timed_rows(&self, look: &RowRenderer<'_>, folds: Folds<'_>) -> RenderedRows {
        let mut rows = self.rows(look, folds);
        look.put_time(&mut rows, self.time);
        rows
    }

    /// The rows without the time of the message.
    #[must_use]
    pub fn rows(&self, look: &RowRenderer<'_>, folds: Folds<'_>) -> RenderedRows {
        if self.is_drawn_only && !look.has_drawn(&self.item) {
            return RenderedRows::default();
        }
        look.rows(&self.item, folds, AnswerContext { results: &self.results, is_live: false, texts: None })
    }

    /// The text of an answer; `None` if it has no text, or if the block is not an answer.
    #[must_use]
    pub fn words(&self) -> Option<String> {
        let text = |part: &ItemPart| if let ItemPart::Text(text) = part { Some(text.clone()) } else { None };
        let words = self.parts().iter().filter_map(text).collect::<Vec<_>>().join("\n\n");
        (!words.trim().is_empty()).then_some(words)
    }

    #[must_use]
    pub fn parts(&self) -> &[ItemPart] {
        if let Item::Answer(answer) = &self.item { &answer.parts } else { &[] }
    }

    /// Whether this is the answer with this call.
    #[must_use]
    pub fn has_call(&self, id: &str) -> bool {
        self.parts().iter().any(|part| matches!(part, ItemPart::Call(call) if call.id == id))
    }
}
