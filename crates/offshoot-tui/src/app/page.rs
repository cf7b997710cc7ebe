//! Lines to be read on the whole screen: the help, what is known of a session. Scrolls, and knows nothing of what it says.

use ratatui::buffer::Buffer;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::layout::Rect;
use ratatui::style::Modifier;
use ratatui::text::Line;

use crate::text;
use crate::theme::{Theme, Token};

/// A page.
#[derive(Debug, Clone, Default)]
pub struct Page {
    title: String,
    lines: Vec<String>,
    top: usize,
}

/// How far a page key goes.
const PAGE: usize = 10;

impl Page {
    /// A page with a title. Lines may be foreign text.
    #[must_use]
    pub fn new(title: impl Into<String>, lines: Vec<String>) -> Self {
        Self { title: title.into(), lines, top: 0 }
    }

    /// Takes a key; whether the page stays.
    pub fn key(&mut self, key: KeyEvent) -> bool {
        let last = self.lines.len().saturating_sub(1);
        match key.code {
            KeyCode::Char('c') if key.modifiers.contains(KeyModifiers::CONTROL) => return false,
            KeyCode::Esc | KeyCode::Enter | KeyCode::Char('q' | '?') | KeyCode::F(1) => return false,
            KeyCode::Up | KeyCode::Char('k') => self.top = self.top.saturating_sub(1),
            KeyCode::Down | KeyCode::Char('j') => self.top = (self.top + 1).min(last),
            KeyCode::PageUp => self.top = self.top.saturating_sub(PAGE),
            KeyCode::PageDown | KeyCode::Char(' ') => self.top = (self.top + PAGE).min(last),
            KeyCode::Home => self.top = 0,
            KeyCode::End => self.top = last,
            _ => {}
        }
        true
    }

    /// Draws it.
    pub fn view(&self, theme: &Theme, area: Rect, buf: &mut Buffer) {
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
            text::draw(&Line::styled("↑↓ page home end · esc leave", theme.style(Token::Dim)), foot, buf);
        }
    }
}
