//! Whether what a key would open can be shown where it stands, or only in the reader.

use super::look;
use crate::app::model::Model;
use crate::message::Folds;

/// The last block with folded output, if that has left the screen or does not fit there once it is open; by its number.
pub fn out_of_sight(model: &Model) -> Option<u64> {
    let (thinking, is_open) = model.folds;
    if is_open || model.conversation.answer().is_some() {
        return None;
    }
    let room = usize::from(model.size.height.saturating_sub(model.editor.height()).saturating_sub(2));
    let (look, _) = look(&model.wishes, model.size, model.folds);
    let mut below = 0;
    for (back, block) in (1..).zip(model.conversation.blocks().rev()) {
        let rows = |tools| block.rows(&look, Folds { thinking, tools, other: &[] }).lines.len();
        let (closed, opened) = (rows(false), rows(true));
        if opened != closed {
            return (below + opened > room).then(|| model.conversation.next_number().saturating_sub(back));
        }
        below += closed;
    }
    None
}
