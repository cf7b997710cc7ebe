//! Searches earlier prompts: those of this folder first, then all others, the newest first. What is chosen is for the editor.
//! The list does not know where prompts are kept.

use std::collections::HashSet;

use ratatui::buffer::Buffer;
use ratatui::crossterm::event::KeyEvent;
use ratatui::layout::Rect;
use ratatui::style::Modifier;
use ratatui::text::{Line, Span};

use crate::editor::PastPrompt;
use crate::keymap::{Action, Context, Keymap};
use crate::overlay::hint;
use crate::overlay::line::{LineInput, Typed};
use crate::text;
use crate::theme::{Theme, Token};

/// The number of rows that a page key moves.
const PAGE: usize = 10;
/// The columns of a folder.
const FOLDER: usize = 24;

const HINTS: &[hint::Hint<'static>] = &[
    (&[Action::SelectConfirm, Action::Tab], "edit"),
    (&[Action::SelectCancel], "back"),
    (&[Action::SearchPrompts], "older"),
];

/// The prompts that were sent, as they are kept.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PastPrompts {
    /// The oldest first.
    pub prompts: Vec<PastPrompt>,
    /// The folder of the open session.
    pub here: String,
    /// The file, if lines of it are damaged, and how many.
    pub damaged: Option<(String, usize)>,
}

/// The outcome of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PromptSearchOutcome {
    /// No outcome yet.
    Open,
    /// The text in the editor stays.
    Closed,
    /// This prompt is edited.
    Taken(String),
}

/// A list of prompts with a search line.
#[derive(Debug, Clone)]
pub struct PromptSearch {
    /// In display order.
    prompts: Vec<FoundPrompt>,
    line: LineInput,
    shown: Vec<usize>,
    cursor: usize,
}

#[derive(Debug, Clone)]
struct FoundPrompt {
    text: String,
    lower: String,
    /// The folder, if it is another one.
    elsewhere: Option<String>,
}

impl PromptSearch {
    /// A search whose line is empty. A prompt that was sent several times is listed once.
    #[must_use]
    pub fn new(past: PastPrompts) -> Self {
        let here = past.here;
        let is_here = |prompt: &PastPrompt| prompt.folder.as_deref() == Some(here.as_str());
        let newest_first = || past.prompts.iter().rev();
        let mut seen = HashSet::new();
        let sorted = newest_first().filter(|prompt| is_here(prompt)).chain(newest_first().filter(|p| !is_here(p)));
        let found = |prompt: &PastPrompt| FoundPrompt {
            text: prompt.text.clone(),
            lower: prompt.text.to_lowercase(),
            elsewhere: prompt.folder.clone().filter(|_| !is_here(prompt)),
        };
        let prompts: Vec<FoundPrompt> = sorted.filter(|prompt| seen.insert(prompt.text.as_str())).map(found).collect();
        Self { shown: (0..prompts.len()).collect(), prompts, line: LineInput::default(), cursor: 0 }
    }

    /// Whether the list is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.prompts.is_empty()
    }

    /// Inserts pasted text into the search line.
    pub fn paste(&mut self, pasted: &str) {
        if self.line.insert(pasted) == Typed::Changed {
            self.narrow();
        }
    }

    /// Handles a key.
    pub fn key(&mut self, keymap: &Keymap, key: KeyEvent) -> PromptSearchOutcome {
        let last = self.shown.len().saturating_sub(1);
        match keymap.action(Context::Completion, key) {
            Some(Action::SelectCancel | Action::Interrupt) => return PromptSearchOutcome::Closed,
            Some(Action::SelectConfirm | Action::Tab | Action::AnswerQuestion) => {
                let chosen = self.shown.get(self.cursor).and_then(|at| self.prompts.get(*at));
                return chosen
                    .map_or(PromptSearchOutcome::Open, |prompt| PromptSearchOutcome::Taken(prompt.text.clone()));
            }
            Some(Action::SearchPrompts | Action::SelectDown) => self.cursor = (self.cursor + 1).min(last),
            Some(Action::SelectUp) => self.cursor = self.cursor.saturating_sub(1),
            Some(Action::SelectPageUp) => self.cursor = self.cursor.saturating_sub(PAGE),
            Some(Action::SelectPageDown) => self.cursor = self.cursor.saturating_add(PAGE).min(last),
            _ => {
                if self.line.key(keymap, key) == Typed::Changed {
                    self.narrow();
                }
            }
        }
        PromptSearchOutcome::Open
    }

    fn narrow(&mut self) {
        let wanted = self.line.text().to_lowercase();
        let fits = |at: &usize| self.prompts.get(*at).is_some_and(|prompt| prompt.lower.contains(&wanted));
        self.shown = (0..self.prompts.len()).filter(fits).collect();
        self.cursor = 0;
    }

    /// Draws the search over the whole area.
    pub fn view(&self, keymap: &Keymap, theme: &Theme, area: Rect, buf: &mut Buffer) {
        let columns = usize::from(area.width);
        let muted = theme.style(Token::Muted);
        let title = theme.style(Token::Accent).add_modifier(Modifier::BOLD);
        let mut rows = area.rows();
        if let Some(row) = rows.next() {
            text::draw(&Line::styled(text::fit("Earlier prompts", columns).into_owned(), title), row, buf);
        }
        if let Some(row) = rows.next() {
            self.line.view(Span::styled("> ", theme.style(Token::Accent)), theme.style(Token::Text), row, buf);
        }
        let foot = rows.next_back();
        let rows: Vec<Rect> = rows.collect();
        if let (Some(row), true) = (rows.first(), self.shown.is_empty()) {
            text::draw(&Line::styled("  no prompt contains this", muted), *row, buf);
        }
        let first = self.cursor.saturating_sub(rows.len() / 2).min(self.shown.len().saturating_sub(rows.len()));
        for ((place, at), row) in self.shown.iter().enumerate().skip(first).zip(&rows) {
            if let Some(prompt) = self.prompts.get(*at) {
                text::draw(&self.row(theme, (prompt, place == self.cursor), columns), *row, buf);
            }
        }
        if let Some(row) = foot {
            let place = if self.shown.is_empty() { 0 } else { self.cursor + 1 };
            let place = format!("({place}/{})", self.shown.len());
            let hints = hint::fit(keymap, HINTS, columns.saturating_sub(text::width(&place) + 5));
            text::draw(&Line::styled(format!("  {place} · {hints}"), muted), row, buf);
        }
    }

    fn row(&self, theme: &Theme, (prompt, is_chosen): (&FoundPrompt, bool), columns: usize) -> Line<'static> {
        let room = columns.saturating_sub(2);
        let folder = prompt.elsewhere.as_deref().map(text::clean).unwrap_or_default();
        let folder = text::truncate_middle(&folder, FOLDER.min(room / 3)).into_owned();
        let taken = if folder.is_empty() { 0 } else { text::width(&folder) + 2 };
        let said = text::fit(&text::clean(&prompt.text), room.saturating_sub(taken)).into_owned();
        let gap = room.saturating_sub(text::width(&said) + text::width(&folder));
        let style = theme.style(if is_chosen { Token::Accent } else { Token::Text });
        let line = Line::from(vec![
            Span::styled(if is_chosen { "› " } else { "  " }, theme.style(Token::Accent)),
            Span::styled(said, if is_chosen { style.add_modifier(Modifier::BOLD) } else { style }),
            Span::raw(if folder.is_empty() { String::new() } else { " ".repeat(gap) }),
            Span::styled(folder, theme.style(Token::Dim)),
        ]);
        if is_chosen { line.style(theme.style(Token::SelectedBg)) } else { line }
    }
}
