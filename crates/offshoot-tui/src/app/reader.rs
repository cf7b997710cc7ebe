//! A hit of a search in its session: the conversation of its branch, standing at the entry that was found. It is read from the
//! file: the session is not opened, and nothing is written. Does not know the list of hits.

use std::path::PathBuf;

use offshoot_session::id::EntryId;
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::KeyEvent;
use ratatui::layout::{Rect, Size};
use ratatui::style::Modifier;
use ratatui::text::Line;

use super::pager::Pager;
use crate::conversation::Conversation;
use crate::keymap::{Action, Context, Keymap};
use crate::message::Habits;
use crate::overlay::hint;
use crate::overlay::hits::ReadHit;
use crate::text;
use crate::theme::{Theme, Token};

const HINTS: &[hint::Hint<'static>] = &[
    (&[Action::SelectConfirm], "continue here"),
    (&[Action::SelectCancel], "back"),
    (&[Action::OpenAtEnd], "open"),
    (&[Action::TranscriptLineUp, Action::TranscriptLineDown], "scroll"),
    (&[Action::SearchTranscript], "search"),
    (&[Action::NextPart, Action::TogglePart], "fold"),
];

/// The outcome of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ReaderOutcome {
    Open,
    Back,
    /// The session is opened, and the leaf goes to the hit.
    GoOn,
    /// The session is opened where it ends.
    OpenAtEnd,
}

/// A conversation that is read at a hit.
#[derive(Debug)]
pub struct HitReader {
    pager: Pager,
    title: String,
    /// The session's file, without links.
    pub(super) real: PathBuf,
    pub(super) file: PathBuf,
    /// `None` for a session's name, or if the entry has gone.
    pub(super) entry: Option<EntryId>,
}

impl HitReader {
    pub(super) fn new(hit: ReadHit, habits: &Habits) -> Self {
        let ReadHit { place, real, source, leaf, entry } = hit;
        // Pictures would be drawn over rows of another session.
        let habits = Habits { picture_size: None, ..habits.clone() };
        let pager = match entry {
            Some(entry) => Pager::at(source, (leaf, entry), &place.found, habits),
            None => Pager::new(source, leaf, habits),
        };
        let entry_id = place.entry.filter(|_| entry.is_some());
        Self { pager, title: place.title, real, file: place.file, entry: entry_id }
    }

    pub(super) fn key(&mut self, keymap: &Keymap, key: KeyEvent) -> ReaderOutcome {
        let confirms = keymap.actions(Context::Transcript, key).contains(&Action::SelectConfirm);
        if confirms && !self.pager.has_search_line() && !self.pager.has_focus() {
            return ReaderOutcome::GoOn;
        }
        if keymap.actions(Context::Sessions, key).contains(&Action::OpenAtEnd) {
            return ReaderOutcome::OpenAtEnd;
        }
        if self.pager.key(keymap, key) { ReaderOutcome::Open } else { ReaderOutcome::Back }
    }

    /// The session, without the place in it.
    pub(super) fn at_end(self) -> Self {
        Self { entry: None, ..self }
    }

    pub(super) fn paste(&mut self, text: &str) {
        self.pager.paste(text);
    }

    pub(super) fn has_search_line(&self) -> bool {
        self.pager.has_search_line()
    }

    pub(super) fn is_at_work(&self) -> bool {
        self.pager.is_at_work()
    }

    pub(super) fn work(&mut self, budget: usize) {
        self.pager.work(budget);
    }

    pub(super) fn set_habits(&mut self, habits: &Habits) {
        self.pager.set_habits(Habits { picture_size: None, ..habits.clone() });
    }

    pub(super) fn lay_out(&mut self, conversation: &Conversation, theme: &Theme, size: Size) {
        self.pager.lay_out(conversation, theme, Size { height: size.height.saturating_sub(1), ..size });
    }

    pub(super) fn view(&self, keymap: &Keymap, theme: &Theme, area: Rect, buf: &mut Buffer) {
        let mut rows = area.rows();
        let Some(head) = rows.next() else { return };
        let title = text::fit(&self.title, usize::from(area.width)).into_owned();
        text::draw(&Line::styled(title, theme.style(Token::Accent).add_modifier(Modifier::BOLD)), head, buf);
        let below = Rect { y: area.y.saturating_add(1), height: area.height.saturating_sub(1), ..area };
        self.pager.view_with(keymap, theme, (below, HINTS), buf);
    }
}
