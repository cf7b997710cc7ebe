//! The editor's state while another editor has its place: the text and the cursor are those of the other. And what extensions
//! read and change of it.

use unicode_segmentation::UnicodeSegmentation as _;

use super::{Editor, EditorOutcome, Suggestions};
use crate::keymap::Action;

impl Editor {
    /// Takes the text of another editor, and its cursor if that is known.
    pub fn follow(&mut self, text: &str, cursor: Option<usize>) {
        self.history.leave();
        self.buffer.reset_to(text, cursor);
        self.changed();
    }

    /// Does what a key of the action would do.
    pub fn perform(&mut self, action: Action) -> EditorOutcome {
        self.act(action).unwrap_or(EditorOutcome::Ignored)
    }

    /// The text as it is shown, and the cursor as a place in its bytes.
    #[must_use]
    pub fn text_and_cursor(&self) -> (&str, usize) {
        (self.buffer.text(), self.buffer.cursor())
    }

    /// How many characters are between the cursor and the end.
    #[must_use]
    pub fn after_cursor(&self) -> usize {
        let (text, cursor) = self.text_and_cursor();
        text.get(cursor..).unwrap_or_default().graphemes(true).count()
    }

    /// Sets the text and the cursor; can be undone.
    pub fn replace_at(&mut self, text: &str, cursor: usize) {
        self.replace(text);
        self.buffer.go_to(cursor);
        self.moved();
    }

    /// The prompts that were sent, the oldest first.
    #[must_use]
    pub fn sent(&self) -> &[String] {
        self.history.prompts()
    }

    /// What the open list of completions offers of offshoot itself.
    #[must_use]
    pub fn own_suggestions(&self) -> Option<Suggestions> {
        self.completion.own(self.buffer.text())
    }

    /// Shows what an extension offers for this text; without choices what offshoot has.
    pub fn suggest(&mut self, suggested: Option<Suggestions>) {
        self.completion.suggest(self.buffer.text(), self.buffer.cursor(), suggested);
    }
}
