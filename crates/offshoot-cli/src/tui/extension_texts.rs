//! Lets extensions change the text of an answer before the front end gets it: printed rows do not change any more, so a text is shown
//! when it is complete. The session keeps what the model wrote.

use std::sync::Arc;

use offshoot_agent::event::{Event, Update};
use offshoot_agent::message::{AssistantMessage, Block, Message};
use offshoot_extensions::ExtensionSet;
use offshoot_session::clock::{Clock as _, SystemClock};

use super::extension_drawing::{LIMIT, PAUSE, columns};
use super::extension_front::ExtensionDesk;
use super::job_context::JobContext;

/// The events to show instead of one.
pub(super) async fn shown(context: &JobContext, event: Arc<Event>) -> Vec<Arc<Event>> {
    let (Some(desk), Some(extensions)) = (&context.desk, &context.extensions) else { return vec![event] };
    if !extensions.changes_text() {
        return vec![event];
    }
    let texts = Texts { desk, extensions };
    match event.as_ref() {
        Event::MessageUpdate { assistant_message_event: Update::TextDelta { .. }, .. } => Vec::new(),
        Event::MessageUpdate { usage, assistant_message_event: Update::TextEnd { content_index, content } } => {
            let delta = texts.shown(content).await;
            let whole = Update::TextDelta { content_index: *content_index, delta };
            let update = Event::MessageUpdate { usage: *usage, assistant_message_event: whole };
            vec![Arc::new(update), event]
        }
        Event::MessageEnd { message: Message::Assistant(answer) } => {
            let mut answer = AssistantMessage::clone(answer);
            for block in &mut answer.content {
                if let Block::Text { text, .. } = block {
                    *text = texts.shown(text).await;
                }
            }
            vec![Arc::new(Event::MessageEnd { message: answer.into() })]
        }
        _ => vec![event],
    }
}

struct Texts<'a> {
    desk: &'a Arc<ExtensionDesk>,
    extensions: &'a ExtensionSet,
}

impl Texts<'_> {
    /// The text itself if the extensions fail or are too slow.
    async fn shown(&self, text: &str) -> String {
        if let Some(known) = self.desk.shown_text(text) {
            return known;
        }
        if self.desk.pauses_drawing(SystemClock.now()) {
            return text.to_owned();
        }
        match tokio::time::timeout(LIMIT, self.extensions.shown_text(text, columns())).await {
            Ok(Ok(shown)) => {
                self.desk.keep_text(text, &shown);
                shown
            }
            Ok(Err(failure)) => {
                self.desk.failed_on_screen("the text of an answer", &failure);
                text.to_owned()
            }
            Err(_) => {
                self.desk.pause_drawing(SystemClock.now() + PAUSE);
                text.to_owned()
            }
        }
    }
}
