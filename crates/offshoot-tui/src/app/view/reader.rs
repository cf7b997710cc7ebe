//! The block that a key opens in the pager. Printed rows belong to the terminal and cannot be unfolded in place.

use super::look;
use crate::app::model::Model;
use crate::message::Folds;

/// The number of the last block with folded output.
pub fn folded_block(model: &Model) -> Option<u64> {
    let (thinking, is_open) = model.folds;
    if is_open || model.conversation.answer().is_some() {
        return None;
    }
    let (look, _) = look(&model.preferences, model.size, model.folds);
    let is_folded = |block: &crate::conversation::ConversationBlock| {
        let rows = |tools| block.rows(&look, Folds { thinking, tools, other: &[] }).lines.len();
        rows(false) != rows(true)
    };
    let back = model.conversation.blocks().rev().position(is_folded)?;
    model.conversation.next_number().checked_sub(back as u64 + 1)
}
