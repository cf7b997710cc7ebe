//! Counts the questions that are open, and says when there is a first one and when none is left. Of questions within questions only
//! the outermost counts, as in pi.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

const START: &str = "ui_prompt_start";
const END: &str = "ui_prompt_end";
/// The methods of the user interface that wait for a person.
const KINDS: [&str; 5] = ["select", "confirm", "input", "editor", "custom"];

/// An event with its payload.
pub(crate) type PromptEvent = (&'static str, Value);

#[derive(Clone, Default)]
pub(crate) struct UiPrompts(Arc<Mutex<OpenPrompts>>);

#[derive(Default)]
struct OpenPrompts {
    count: usize,
    /// The members of the outermost.
    members: Value,
    to: Option<UnboundedSender<PromptEvent>>,
}

impl OpenPrompts {
    fn tell(&self, event: &'static str) {
        let mut payload = self.members.clone();
        payload["type"] = json!(event);
        if let Some(to) = &self.to {
            // Nobody may be listening any more.
            drop(to.send((event, payload)));
        }
    }
}

/// A question that is open until this is dropped.
pub(crate) struct UiPrompt(UiPrompts);

impl UiPrompts {
    fn lock(&self) -> MutexGuard<'_, OpenPrompts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// `None` for a method that does not wait for a person. Before the first event `listen` gets where all will come.
    pub(crate) fn open(
        &self,
        method: &str,
        title: &Value,
        listen: impl FnOnce(UnboundedReceiver<PromptEvent>),
    ) -> Option<UiPrompt> {
        let kind = KINDS.into_iter().find(|kind| *kind == method)?;
        let mut prompts = self.lock();
        prompts.count += 1;
        if prompts.count == 1 {
            prompts.members = json!({"reason": "ui_prompt", "kind": kind});
            if title.as_str().is_some_and(|title| !title.is_empty()) {
                prompts.members["title"] = title.clone();
            }
            if prompts.to.is_none() {
                let (to, events) = unbounded_channel();
                listen(events);
                prompts.to = Some(to);
            }
            prompts.tell(START);
        }
        Some(UiPrompt(self.clone()))
    }
}

impl Drop for UiPrompt {
    fn drop(&mut self) {
        let mut prompts = self.0.lock();
        prompts.count -= 1;
        if prompts.count == 0 {
            prompts.tell(END);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_questions_within_questions_the_outermost_counts() {
        let (prompts, mut events) = (UiPrompts::default(), None);
        assert!(prompts.open("notify", &Value::Null, |_| panic!("nobody waits")).is_none());
        let outer = prompts.open("custom", &Value::Null, |come| events = Some(come));
        let inner = prompts.open("select", &json!("Which?"), |_| panic!("they come already"));
        drop(outer);
        let events = events.as_mut().unwrap();
        assert_eq!(
            events.try_recv().unwrap(),
            (START, json!({"type": START, "reason": "ui_prompt", "kind": "custom"}))
        );
        assert!(events.try_recv().is_err(), "one is open");
        drop(inner);
        assert_eq!(events.try_recv().unwrap(), (END, json!({"type": END, "reason": "ui_prompt", "kind": "custom"})));
        drop(prompts.open("confirm", &json!("Sure?"), |_| ()));
        let titled = json!({"type": START, "reason": "ui_prompt", "kind": "confirm", "title": "Sure?"});
        assert_eq!(events.try_recv().unwrap(), (START, titled));
    }
}
