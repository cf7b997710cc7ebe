//! Actions on a text, in the editor and in a list's search line. Knows no key and no list.

use super::{EditBuffer, Reach, Way};
use crate::keymap::Action;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Did {
    Edit,
    Move,
}

impl EditBuffer {
    /// Does an action that concerns only the text and its cursor; `None` for others. Undo belongs to the owner.
    pub(crate) fn act(&mut self, action: Action) -> Option<Did> {
        match action {
            Action::DeleteCharBackward => self.delete(Way::Back),
            Action::DeleteCharForward => self.delete(Way::Forward),
            Action::DeleteWordBackward => self.kill(Way::Back, Reach::Word),
            Action::DeleteWordForward => self.kill(Way::Forward, Reach::Word),
            Action::DeleteToLineStart => self.kill(Way::Back, Reach::Line),
            Action::DeleteToLineEnd => self.kill(Way::Forward, Reach::Line),
            Action::Yank => self.yank(),
            Action::YankPop => self.yank_pop(),
            _ => return self.walk(action),
        }
        Some(Did::Edit)
    }

    fn walk(&mut self, action: Action) -> Option<Did> {
        let (way, reach) = match action {
            Action::CursorLeft => (Way::Back, Reach::Unit),
            Action::CursorRight => (Way::Forward, Reach::Unit),
            Action::CursorWordLeft => (Way::Back, Reach::Word),
            Action::CursorWordRight => (Way::Forward, Reach::Word),
            Action::CursorLineStart => (Way::Back, Reach::Line),
            Action::CursorLineEnd => (Way::Forward, Reach::Line),
            _ => return None,
        };
        self.go(way, reach);
        Some(Did::Move)
    }
}
