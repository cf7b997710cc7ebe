//! The pager: the transcript of the open session on the whole screen, and its keys.

use std::sync::Arc;

use offshoot_session::transcript::StoredPicture;
use offshoot_session::tree::NodeIx;
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::KeyEvent;
use ratatui::layout::{Rect, Size};
use ratatui::text::Line;

use crate::conversation::Conversation;
use crate::keymap::{Action, Context, Keymap};
use crate::message::Habits;
use crate::overlay::hint;
use crate::overlay::tree::Snapshot;
use crate::text;
use crate::theme::{Theme, Token};
use crate::transcript::{Move, Parts, Path, Transcript};

/// The number of rows in half a page.
const HALF: usize = 10;

const HINTS: &[hint::Hint<'static>] = &[
    (&[Action::CloseTranscript], "leave"),
    (&[Action::TranscriptLineUp, Action::TranscriptLineDown], "scroll"),
    (&[Action::NextPart, Action::TogglePart], "fold"),
    (&[Action::TranscriptTop, Action::TranscriptBottom], "ends"),
];

/// The transcript and its source.
pub struct Pager {
    source: Snapshot,
    transcript: Transcript,
    trouble: Option<String>,
}

impl std::fmt::Debug for Pager {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.transcript.fmt(f)
    }
}

impl Pager {
    /// A pager on the path to an entry. It starts at the end of the path.
    #[must_use]
    pub fn new(source: Snapshot, leaf: Option<NodeIx>, habits: Habits) -> Self {
        let mut transcript = Transcript::new(habits);
        transcript.open(Path::of(source.tree(), leaf));
        Self { source, transcript, trouble: None }
    }

    /// A pager on the whole conversation, which it follows. Of the path it shows only the entries that are not in the
    /// conversation. The session may have entries that the conversation has not received yet, and the reverse.
    #[must_use]
    pub fn of(conversation: &Conversation, source: Snapshot, leaf: Option<NodeIx>, habits: Habits) -> Self {
        let (entries, first) = conversation.joint();
        let mut transcript = Transcript::new(habits);
        transcript.open(Path::beginning(source.tree(), leaf, entries));
        transcript.join(conversation, first);
        Self { source, transcript, trouble: None }
    }

    /// Unfolds tools, and moves to a block of the conversation.
    pub fn unfold_at(&mut self, conversation: &Conversation, block: u64) {
        let (_, first) = conversation.joint();
        self.transcript.fold_all(Parts::Tools);
        self.transcript.go_to_block(first, block);
    }

    /// Sets the rendering habits, such as the size of pictures.
    pub fn set_habits(&mut self, habits: Habits) {
        self.transcript.set_habits(habits);
    }

    /// The pictures that are completely visible on a screen of this size, and their places.
    #[must_use]
    pub fn pictures(&self, size: Size) -> Vec<(Rect, Arc<StoredPicture>)> {
        self.transcript.pictures(Rect::new(0, 0, size.width, size.height.saturating_sub(1)))
    }

    /// Handles a key. Returns whether the pager stays open.
    pub fn key(&mut self, keymap: &Keymap, key: KeyEvent) -> bool {
        let to = match keymap.action(Context::Transcript, key) {
            Some(Action::TranscriptPageUp) => Move::PageUp,
            Some(Action::TranscriptPageDown) => Move::PageDown,
            Some(Action::TranscriptHalfPageUp) => Move::Up(HALF),
            Some(Action::TranscriptHalfPageDown) => Move::Down(HALF),
            Some(Action::TranscriptLineUp | Action::SelectUp) => Move::Up(1),
            Some(Action::TranscriptLineDown | Action::SelectDown) => Move::Down(1),
            Some(Action::TranscriptTop) => Move::Top,
            Some(Action::TranscriptBottom) => Move::Bottom,
            Some(Action::PreviousPrompt) => Move::PreviousUser,
            Some(Action::NextPrompt) => Move::NextUser,
            Some(Action::ExpandTools) => return self.fold(Parts::Tools),
            Some(Action::ToggleThinking) => return self.fold(Parts::Thinking),
            Some(Action::NextPart) => {
                self.transcript.focus(true);
                return true;
            }
            Some(Action::PreviousPart) => {
                self.transcript.focus(false);
                return true;
            }
            Some(Action::TogglePart | Action::SelectConfirm) => {
                self.transcript.toggle();
                return true;
            }
            Some(Action::CloseTranscript | Action::SelectCancel) => return false,
            Some(Action::Interrupt | Action::Clear | Action::Exit) => return false,
            _ => return true,
        };
        self.transcript.go(to);
        true
    }

    fn fold(&mut self, parts: Parts) -> bool {
        self.transcript.fold_all(parts);
        true
    }

    /// Reads and lays out the content of a screen of this size.
    pub fn lay_out(&mut self, conversation: &Conversation, theme: &Theme, size: Size) {
        let size = Size { height: size.height.saturating_sub(1), ..size };
        let filled = self.transcript.fill(self.source.as_ref(), conversation, theme, size);
        self.trouble = filled.err().map(|error| error.to_string());
    }

    /// Draws the pager. The line at the bottom shows the position.
    pub fn view(&self, keymap: &Keymap, theme: &Theme, area: Rect, buf: &mut Buffer) {
        let height = area.height.saturating_sub(1);
        self.transcript.view(theme, Rect { height, ..area }, buf);
        let standing = self.transcript.scroll_position();
        let place = match &self.trouble {
            Some(trouble) => text::clean(trouble).into_owned(),
            None if standing.count == 0 => "nothing was said yet".to_owned(),
            None => format!("{}–{} of {}", standing.first + 1, standing.last + 1, standing.count),
        };
        let columns = usize::from(area.width);
        let place = text::fit(&place, columns).into_owned();
        let keys = hint::fit(keymap, HINTS, columns.saturating_sub(text::width(&place) + 2));
        let line = Line::styled(format!("{place}  {keys}"), theme.style(Token::Dim));
        text::draw(&line, Rect { y: area.y + height, height: 1, ..area }, buf);
    }
}
