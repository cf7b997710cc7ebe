//! Ends of operations of the table.

use offshoot_session::transcript::Level;
use offshoot_workspace::name::Name;
use offshoot_workspace::{Operation as _, OperationEffect, OperationOrder, Row, find_operation};

use super::overlay;
use crate::app::cmd::{Cmd, ProgramTask};
use crate::app::model::Model;
use crate::app::msg::{OperationRefusal, OperationSaid, RefusalCause};
use crate::conversation::without_model;

pub(super) fn operated(
    model: &mut Model,
    order: &OperationOrder,
    result: Result<OperationSaid, OperationRefusal>,
) -> Vec<Cmd> {
    let row = find_operation(order.operation);
    match result {
        Ok(said) => done(model, row, said),
        Err(refusal) => refused(model, row, &refusal),
    }
}

fn done(model: &mut Model, row: Option<&Row>, said: OperationSaid) -> Vec<Cmd> {
    let moves = moves(row);
    if moves {
        model.conversation.set_job(None);
    }
    let mut notices: Vec<_> = said.warning.into_iter().map(|why| (Level::Warning, without_model(&why))).collect();
    // A new name is said when the agent tells of it, and a move shows itself.
    let is_told = !said.text.is_empty() && row.is_none_or(|row| row.about.name != Name::ABOUT.name);
    if !said.is_done || is_told {
        notices.push((Level::Info, said.text.clone()));
    }
    if said.is_done && moves {
        overlay::arrived(model);
        // The draft takes precedence, as in pi.
        if let Some(text) = said.to_edit.filter(|_| model.editor.is_empty()) {
            model.editor.replace(&text);
        }
        model.conversation.move_ended(notices);
    } else {
        if moves {
            // The selector that waits for it says why nothing happens.
            overlay::told(model, &said.text);
        }
        notices.into_iter().for_each(|(level, text)| model.notice(level, text));
    }
    vec![ProgramTask::ReadSessionFacts.into(), ProgramTask::SaveDraft(model.kept_draft()).into()]
}

fn refused(model: &mut Model, row: Option<&Row>, refusal: &OperationRefusal) -> Vec<Cmd> {
    // Other work continues, and its row stays.
    if moves(row) && refusal.cause != RefusalCause::Busy {
        model.conversation.set_job(None);
    }
    if refusal.cause == RefusalCause::Stopped {
        overlay::stopped(model);
        model.conversation.stopped();
        return Vec::new();
    }
    let what = row.map(|row| format!("not {}: ", row.about.past)).unwrap_or_default();
    let why = format!("{what}{}", refusal.why);
    overlay::told(model, &why);
    model.notice(Level::Error, why);
    vec![ProgramTask::SaveDraft(model.kept_draft()).into()]
}

fn moves(row: Option<&Row>) -> bool {
    matches!(row.map(|row| row.about.effect), Some(OperationEffect::Writes { moves: true, .. }))
}
