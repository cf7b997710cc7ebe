//! A page of lines on the whole screen, such as the description of a session. It scrolls.

use ratatui::buffer::Buffer;
use ratatui::crossterm::event::KeyEvent;
use ratatui::layout::Rect;
use ratatui::style::Modifier;
use ratatui::text::Line;

use crate::keymap::{Action, Context, Keymap};
use crate::overlay::hint;
use crate::text;
use crate::theme::{Theme, Token};

#[derive(Debug, Clone, Default)]
pub struct Page {
    title: String,
    lines: Vec<String>,
    top: usize,
}

/// The number of rows that a page key moves.
const PAGE: usize = 10;

const HINTS: &[hint::Hint<'static>] = &[
    (&[Action::SelectCancel], "leave"),
    (&[Action::TranscriptLineUp, Action::TranscriptLineDown], "scroll"),
    (&[Action::TranscriptPageUp, Action::TranscriptPageDown], "page"),
];

impl Page {
    /// A page with a title. The lines may be untrusted text.
    #[must_use]
    pub fn new(title: impl Into<String>, lines: Vec<String>) -> Self {
        Self { title: title.into(), lines, top: 0 }
    }

    /// Handles a key. Returns whether the page stays open.
    pub fn key(&mut self, keymap: &Keymap, key: KeyEvent) -> bool {
        let last = self.lines.len().saturating_sub(1);
        match keymap.action(Context::Transcript, key) {
            Some(Action::TranscriptLineUp | Action::SelectUp) => self.top = self.top.saturating_sub(1),
            Some(Action::TranscriptLineDown | Action::SelectDown) => self.top = (self.top + 1).min(last),
            Some(Action::TranscriptHalfPageUp) => self.top = self.top.saturating_sub(PAGE / 2),
            Some(Action::TranscriptHalfPageDown) => self.top = (self.top + PAGE / 2).min(last),
            Some(Action::TranscriptPageUp) => self.top = self.top.saturating_sub(PAGE),
            Some(Action::TranscriptPageDown) => self.top = (self.top + PAGE).min(last),
            Some(Action::TranscriptTop) => self.top = 0,
            Some(Action::TranscriptBottom) => self.top = last,
            Some(Action::CloseTranscript | Action::SelectCancel | Action::SelectConfirm) => return false,
            Some(Action::TogglePart | Action::Interrupt | Action::Clear | Action::Exit | Action::Help) => return false,
            _ => {}
        }
        true
    }

    pub fn view(&self, keymap: &Keymap, theme: &Theme, area: Rect, buf: &mut Buffer) {
        let columns = usize::from(area.width);
        let mut lines = vec![Line::styled(
            text::fit(&self.title, columns).into_owned(),
            theme.style(Token::Accent).add_modifier(Modifier::BOLD),
        )];
        let room = usize::from(area.height).saturating_sub(2);
        let wrapped = |line: &String| text::wrap(text::clean(line).into_owned(), columns);
        let shown = self.lines.iter().skip(self.top).flat_map(wrapped).take(room);
        lines.extend(shown.map(|line| line.style(theme.style(Token::Text))));
        for (line, row) in lines.iter().zip(area.rows()) {
            text::draw(line, row, buf);
        }
        if let Some(foot) = area.rows().next_back() {
            text::draw(&Line::styled(hint::fit(keymap, HINTS, columns), theme.style(Token::Dim)), foot, buf);
        }
    }
}
