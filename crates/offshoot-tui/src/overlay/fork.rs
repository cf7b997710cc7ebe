//! The fork selector: a flat list of the user's messages, with the newest one selected. The chosen message is the place
//! of the fork.

use std::sync::Arc;

use offshoot_protocol::{ComesBack, FilesAlong};
use offshoot_session::entry::Source;
use offshoot_session::kind::Role;
use offshoot_session::outline::Outline;
use offshoot_session::tree::NodeIx;
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::{KeyCode, KeyEvent};
use ratatui::layout::Rect;
use ratatui::style::Modifier;
use ratatui::text::{Line, Span};

use crate::keymap::{Action, Keymap};
use crate::overlay::hint;
use crate::overlay::tree::files_words;
use crate::text;
use crate::theme::{Theme, Token};

/// The use of the chosen message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ForkUse {
    /// Begin a session before it.
    Fork,
    /// Continue this session before it.
    BranchHere,
}

/// A list of the user's messages in a session.
pub struct ForkSelector {
    source: Arc<dyn Source + Send + Sync>,
    used: ForkUse,
    messages: Vec<NodeIx>,
    selected: usize,
    /// Whether the files of the place come along.
    files: FilesAlong,
}

impl std::fmt::Debug for ForkSelector {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ForkSelector {{ {}/{} }}", self.selected, self.messages.len())
    }
}

/// The outcome of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ForkOutcome {
    /// Only a redraw is needed.
    Stay,
    /// Leave without a choice.
    Close,
    /// Begin a session before this message's entry, or go there.
    Fork(String, FilesAlong),
}

impl ForkSelector {
    /// Lists the messages of the whole file, in file order.
    pub fn new(source: Arc<dyn Source + Send + Sync>, used: ForkUse, files: FilesAlong) -> Self {
        let tree = source.tree();
        let is_users = |ix: &NodeIx| tree.node(*ix).role() == Some(Role::User) && tree.node(*ix).id().is_some();
        let messages: Vec<NodeIx> = tree.entries().filter(is_users).collect();
        let selected = messages.len().saturating_sub(1);
        Self { source, used, messages, selected, files }
    }

    /// Whether there is nothing to choose.
    pub fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    pub fn key(&mut self, keymap: &Keymap, key: KeyEvent) -> ForkOutcome {
        let last = self.messages.len().saturating_sub(1);
        match keymap.in_list(key) {
            Some(Action::SelectCancel) => return ForkOutcome::Close,
            Some(Action::SelectUp) => self.selected = self.selected.checked_sub(1).unwrap_or(last),
            Some(Action::SelectDown) if self.selected >= last => self.selected = 0,
            Some(Action::SelectDown) => self.selected += 1,
            Some(Action::SelectPageUp) => self.selected = self.selected.saturating_sub(10),
            Some(Action::SelectPageDown) => self.selected = (self.selected + 10).min(last),
            Some(Action::CursorLineStart) => self.selected = 0,
            Some(Action::CursorLineEnd) => self.selected = last,
            Some(Action::SelectConfirm) => {
                let id = self.messages.get(self.selected).and_then(|ix| self.source.tree().node(*ix).id());
                return id.map_or(ForkOutcome::Stay, |id| ForkOutcome::Fork(id.to_string(), self.files));
            }
            _ if key.code == KeyCode::Char('f') && key.modifiers.is_empty() => {
                self.files = if self.files == FilesAlong::Stay { FilesAlong::Come } else { FilesAlong::Stay };
            }
            _ => {}
        }
        ForkOutcome::Stay
    }

    /// Draws the list. Only the visible messages of a long list are read.
    pub fn view(&self, keymap: &Keymap, theme: &Theme, area: Rect, buf: &mut Buffer) {
        let muted = theme.style(Token::Muted);
        let (title, says, deed) = match self.used {
            ForkUse::Fork => ("Fork from message", "A new session gets everything before the message", "fork"),
            ForkUse::BranchHere => ("Branch from message", "This session continues before the message", "go"),
        };
        let columns = usize::from(area.width);
        let mut lines = vec![Line::styled(title, theme.style(Token::Text).add_modifier(Modifier::BOLD))];
        let says = text::wrap(format!("{says}; its text comes into the editor"), columns.max(1));
        lines.extend(says.into_iter().map(|line| line.style(muted)));
        lines.push(Line::default());
        let room = usize::from(area.height).saturating_sub(lines.len() + 3).max(1);
        let start = self.selected.saturating_sub(room / 2).min(self.messages.len().saturating_sub(room));
        if self.is_empty() {
            lines.push(Line::styled("  No messages of yours", muted));
        }
        for (at, ix) in self.messages.iter().enumerate().skip(start).take(room) {
            lines.push(self.row(theme, at, *ix, usize::from(area.width)));
        }
        lines.push(Line::default());
        let files = if self.files == FilesAlong::Stay {
            files_words(ComesBack::Messages)
        } else {
            files_words(ComesBack::Both)
        };
        lines.push(Line::styled(format!("  {files}"), muted));
        let position = if self.is_empty() { 0 } else { self.selected + 1 };
        let place = format!("({position}/{})", self.messages.len());
        let hints: [hint::Hint<'_>; 3] = [
            (&[Action::SelectConfirm], deed),
            (&[Action::SelectCancel], "cancel"),
            (&[Action::SelectUp, Action::SelectDown], "move"),
        ];
        let hints = hint::fit(keymap, &hints, columns.saturating_sub(text::width(&place) + 5));
        let foot = format!("{place} · {hints}");
        lines.push(Line::styled(format!("  {foot}"), muted));
        for (at, line) in lines.iter().take(usize::from(area.height)).enumerate() {
            text::draw(line, Rect { y: area.y + at as u16, height: 1, ..area }, buf);
        }
    }

    fn row(&self, theme: &Theme, at: usize, ix: NodeIx, columns: usize) -> Line<'static> {
        let said = match Outline::default().text(self.source.as_ref(), ix) {
            Ok(said) => said.strip_prefix("user: ").map(str::to_owned).unwrap_or(said),
            Err(error) => error.to_string(),
        };
        let said = text::fit(&said, columns.saturating_sub(2)).into_owned();
        if at == self.selected {
            let cursor = Span::styled("› ", theme.style(Token::Accent));
            let said = Span::styled(said, theme.style(Token::Text).add_modifier(Modifier::BOLD));
            return Line::from(vec![cursor, said]).style(theme.style(Token::SelectedBg));
        }
        Line::from(vec![Span::raw("  "), Span::styled(said, theme.style(Token::Text))])
    }
}

#[cfg(test)]
mod tests {
    use ratatui::crossterm::event::KeyModifiers;

    use super::*;
    use crate::testing::{text_of, working};

    #[test]
    fn the_fork_selector_lists_the_persons_messages() {
        let mut selector = ForkSelector::new(Arc::new(working()), ForkUse::Fork, FilesAlong::Stay);
        let mut buf = Buffer::empty(Rect::new(0, 0, 60, 9));
        selector.view(&Keymap::default(), &Theme::default(), buf.area, &mut buf);
        insta::assert_snapshot!(text_of(&buf), @"
        Fork from message
        A new session gets everything before the message; its text
        comes into the editor

          Make the parser faster
        › Try without an arena

          f  Files stay as they are
          (2/2) · enter fork · esc cancel · ↑/↓ move
        ");
        let press = |code| KeyEvent::new(code, KeyModifiers::NONE);
        assert_eq!(
            selector.key(&Keymap::default(), press(KeyCode::Enter)),
            ForkOutcome::Fork("f".to_owned(), FilesAlong::Stay)
        );
        assert_eq!(selector.key(&Keymap::default(), press(KeyCode::Down)), ForkOutcome::Stay);
        assert_eq!(selector.key(&Keymap::default(), press(KeyCode::Char('f'))), ForkOutcome::Stay);
        let chosen = ForkOutcome::Fork("a".to_owned(), FilesAlong::Come);
        assert_eq!(selector.key(&Keymap::default(), press(KeyCode::Enter)), chosen);
        assert_eq!(selector.key(&Keymap::default(), press(KeyCode::Esc)), ForkOutcome::Close);
    }
}
