//! Keys that extensions want first. They wait for the answer in their order, and not for long.

use offshoot_session::clock::Millis;
use offshoot_session::transcript::Level;

use super::apply;
use crate::app::cmd::{Cmd, ProgramTask};
use crate::app::extension::{ComponentId, ExtensionTask, HeardKey, HeldInput, Input};
use crate::app::model::Model;
use crate::app::msg::Msg;
use crate::keymap::{bytes, keys};

/// How long a key waits for extensions, in milliseconds.
pub(crate) const PATIENCE: Millis = 500;

/// Keeps a key back until extensions have seen it.
pub(super) fn held(model: &mut Model, msg: Msg) -> Result<Msg, Vec<Cmd>> {
    let listening = &model.extensions.listening;
    if !listening.is_on || listening.is_late {
        return Ok(msg);
    }
    let (data, input) = match msg {
        Msg::Key(key) => match bytes(key) {
            Some(data) => (data, Input::Key(key)),
            None => return Ok(Msg::Key(key)),
        },
        Msg::Paste(text) => (format!("\x1b[200~{text}\x1b[201~"), Input::Paste(text)),
        other => return Ok(other),
    };
    let id = model.extensions.number();
    let held = HeldInput { id, input, since: model.now, heard: None };
    model.extensions.listening.held.push_back(held);
    Err(vec![ProgramTask::Extension(ExtensionTask::Listen(id, data)).into()])
}

/// A key came to an editor that had gone.
pub(super) fn typed_anew(model: &mut Model, component: ComponentId, data: &str) -> Vec<Cmd> {
    if model.extensions.last_editor != Some(component) {
        return Vec::new();
    }
    model.extensions.screen.editor.take_if(|editor| *editor == component);
    keys(data).into_iter().flat_map(|key| apply(model, Msg::Key(key))).collect()
}

/// Takes what extensions made of a key, and does what keys before it leave to do.
pub(super) fn heard(model: &mut Model, id: u64, heard: HeardKey) -> Vec<Cmd> {
    let listening = &mut model.extensions.listening;
    match listening.held.iter_mut().find(|held| held.id == id) {
        Some(held) => held.heard = Some(heard),
        // The last that went past.
        None => listening.is_late = false,
    }
    Vec::new()
}

/// Does what is left of the keys whose answers are there, or have not come in time.
pub(super) fn released(model: &mut Model) -> Vec<Cmd> {
    let listening = &mut model.extensions.listening;
    let is_late = listening.held.front().is_some_and(|held| model.now - held.since > PATIENCE && held.heard.is_none());
    if is_late && !std::mem::replace(&mut listening.is_late, true) {
        model.notice(Level::Warning, "an extension that listens to the keys does not answer: they go past it");
    }
    let mut cmds = Vec::new();
    loop {
        let listening = &mut model.extensions.listening;
        let passes = !listening.is_on || listening.is_late;
        let Some(held) = listening.held.pop_front_if(|held| passes || held.heard.is_some()) else { return cmds };
        match (held.heard, held.input) {
            (Some(HeardKey::Consumed), _) => {}
            (Some(HeardKey::Changed(text)), _) => {
                for key in keys(&text) {
                    cmds.extend(apply(model, Msg::Key(key)));
                }
            }
            (_, Input::Key(key)) => cmds.extend(apply(model, Msg::Key(key))),
            (_, Input::Paste(text)) => cmds.extend(apply(model, Msg::Paste(text))),
        }
    }
}
