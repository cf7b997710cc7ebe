//! Lets extensions change texts before the front end gets them: printed rows do not change any more, so a text is shown when it is
//! complete. The session keeps what was said.

use std::sync::Arc;

use offshoot_extensions::ExtensionSet;
use offshoot_extensions::drawing::TextType;
use offshoot_protocol::message::{AssistantMessage, Block, Content, Message, UserMessage};
use offshoot_protocol::{Event, Update};
use offshoot_session::clock::{Clock as _, SystemClock};
use offshoot_session::transcript::{Item, ItemPart};
use offshoot_tui::app::extension::ExtensionMsg;

use super::extension_drawing::{LIMIT, PAUSE, columns};
use super::extension_front::ExtensionUiState;
use super::job_context::JobContext;

/// The events to show instead of one.
pub(super) async fn shown(context: &JobContext, event: Arc<Event>) -> Vec<Arc<Event>> {
    let Some(texts) = Texts::of(context) else { return vec![event] };
    match event.as_ref() {
        Event::MessageUpdate { assistant_message_event: Update::TextDelta { .. }, .. }
            if texts.changes(TextType::Answer) =>
        {
            Vec::new()
        }
        Event::MessageUpdate { assistant_message_event: Update::ThinkingDelta { .. }, .. }
            if texts.changes(TextType::Thinking) =>
        {
            Vec::new()
        }
        Event::MessageUpdate { usage, assistant_message_event: Update::TextEnd { content_index, content } }
            if texts.changes(TextType::Answer) =>
        {
            let delta = texts.shown(TextType::Answer, content).await;
            let whole = Update::TextDelta { content_index: *content_index, delta };
            let update = Event::MessageUpdate { usage: *usage, assistant_message_event: whole };
            vec![Arc::new(update), event]
        }
        Event::MessageUpdate { usage, assistant_message_event: Update::ThinkingEnd { content_index, content } }
            if texts.changes(TextType::Thinking) =>
        {
            let delta = texts.shown(TextType::Thinking, content).await;
            let whole = Update::ThinkingDelta { content_index: *content_index, delta };
            let update = Event::MessageUpdate { usage: *usage, assistant_message_event: whole };
            vec![Arc::new(update), event]
        }
        Event::MessageEnd { message: Message::Assistant(answer) } => {
            let mut answer = AssistantMessage::clone(answer);
            for block in &mut answer.content {
                texts.change(TextType::Answer, block).await;
            }
            vec![Arc::new(Event::MessageEnd { message: answer.into() })]
        }
        Event::MessageEnd { message: Message::User(said) } if texts.changes(TextType::User) => {
            let mut said = UserMessage::clone(said);
            match &mut said.content {
                Content::Text(text) => *text = texts.shown(TextType::User, text).await,
                Content::Blocks(blocks) => {
                    for block in blocks {
                        texts.change(TextType::User, block).await;
                    }
                }
            }
            vec![Arc::new(Event::MessageEnd { message: said.into() })]
        }
        _ => vec![event],
    }
}

/// Tells the front end how texts of an opened session are shown. The last ones come first: the wait for them ends.
pub(super) async fn show_opened(context: &JobContext, items: &[Item]) {
    let Some(texts) = Texts::of(context) else { return };
    for item in items.iter().rev() {
        let (parts, of) = match item {
            Item::User(parts) => (parts, TextType::User),
            Item::Answer(answer) => (&answer.parts, TextType::Answer),
            _ => continue,
        };
        for part in parts {
            let (text, of) = match part {
                ItemPart::Text(text) => (text, of),
                ItemPart::Thinking(thought) => (thought, TextType::Thinking),
                _ => continue,
            };
            let shown = texts.shown(of, text).await;
            if shown != *text {
                texts.ui_state.send(ExtensionMsg::ShownText { text: text.clone(), shown });
            }
        }
    }
}

struct Texts<'a> {
    ui_state: &'a Arc<ExtensionUiState>,
    extensions: &'a ExtensionSet,
}

impl<'a> Texts<'a> {
    /// `None` if nobody changes texts.
    fn of(context: &'a JobContext) -> Option<Self> {
        let (ui_state, extensions) = (context.ui_state.as_ref()?, context.extensions.as_ref()?);
        let texts = Self { ui_state, extensions };
        TextType::ALL.iter().any(|of| texts.changes(*of)).then_some(texts)
    }

    fn changes(&self, of: TextType) -> bool {
        self.extensions.changes_text(of)
    }

    async fn change(&self, of: TextType, block: &mut Block) {
        match block {
            Block::Text { text, .. } => *text = self.shown(of, text).await,
            Block::Thinking { thinking, .. } => *thinking = self.shown(TextType::Thinking, thinking).await,
            Block::Image { .. } | Block::ToolCall { .. } => {}
        }
    }

    /// The text itself if the extensions fail or are too slow.
    async fn shown(&self, of: TextType, text: &str) -> String {
        if text.trim().is_empty() || !self.changes(of) {
            return text.to_owned();
        }
        let key = format!("{}\0{text}", of.as_str());
        if let Some(known) = self.ui_state.shown_text(&key) {
            return known;
        }
        if self.ui_state.pauses_drawing(SystemClock.now()) {
            return text.to_owned();
        }
        match tokio::time::timeout(LIMIT, self.extensions.shown_text(of, text, columns())).await {
            Ok(Ok(shown)) => {
                self.ui_state.keep_text(&key, &shown);
                shown
            }
            Ok(Err(failure)) => {
                self.ui_state.failed_on_screen("a text", &failure);
                text.to_owned()
            }
            Err(_) => {
                self.ui_state.pause_drawing(SystemClock.now() + PAUSE);
                text.to_owned()
            }
        }
    }
}
