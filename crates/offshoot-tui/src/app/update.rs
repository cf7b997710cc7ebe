//! The one function that changes the model; one file a group of messages.

mod agent;
mod keys;

use super::cmd::Cmd;
use super::model::{Item, Model};
use super::msg::Msg;

/// Takes what happened, and answers what is to be done.
pub fn update(model: &mut Model, msg: Msg) -> Vec<Cmd> {
    match msg {
        Msg::Now(now) => {
            model.now = now;
            Vec::new()
        }
        Msg::Key(key) => keys::key(model, key),
        Msg::Paste(text) => keys::paste(model, &text),
        Msg::Resized(size) => {
            model.size = size;
            vec![Cmd::Repaint]
        }
        Msg::Focus(_) => Vec::new(),
        Msg::Agent(event) => agent::event(model, &event),
        Msg::Answered(command, result) => agent::answered(model, &command, result),
        Msg::Looked(looked) => {
            model.looked = *looked;
            Vec::new()
        }
        Msg::Notice(level, text) => {
            model.finished.push(Item::Notice(level, text));
            Vec::new()
        }
        Msg::Suspend => vec![Cmd::Suspend],
        Msg::Continued => vec![Cmd::Repaint],
        Msg::End => end(model),
    }
}

/// Ends; what is being written is kept.
fn end(model: &mut Model) -> Vec<Cmd> {
    model.is_ending = true;
    vec![Cmd::SaveDraft(model.editor.clone()), Cmd::Quit]
}
