//! What the files of an entry would change, as it is shown before one goes there: how many, and the patches on a screen of their own.

use offshoot_workspace::FilesPreview;
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::{KeyCode, KeyEvent};
use ratatui::layout::Rect;
use ratatui::text::Line;

use super::draw::{draw, row, rule};
use super::patch_lines::{PatchWords, patch_lines};
use crate::keymap::{Action, Keymap};
use crate::overlay::hint;
use crate::text::{self, clean};
use crate::theme::{Theme, Token};

const OF_FILES: PatchWords = PatchWords {
    unknown: "not a text, or too long to compare",
    same: "its permissions would change",
    none: "no file would change",
};

/// The files of the entry to which one goes.
#[derive(Debug, Default)]
pub(super) enum FilesLook {
    #[default]
    NotAsked,
    Asked,
    /// They cannot be read.
    Failed(String),
    Known(FilesDiff),
}

/// The patches of all files.
#[derive(Debug)]
pub(super) struct FilesDiff {
    count: usize,
    lines: Vec<(Token, String)>,
    /// Whether git has another commit checked out than when they were recorded.
    pub(super) is_across_commits: bool,
    /// The first visible line, while it is shown.
    top: Option<usize>,
}

impl FilesDiff {
    pub(super) fn new(preview: &FilesPreview) -> Self {
        let FilesPreview { patches, more, staying, warning } = preview;
        let mut lines: Vec<_> = warning.iter().map(|why| (Token::Warning, format!("  {}", clean(why)))).collect();
        lines.extend(staying.iter().map(|stays| (Token::Warning, format!("  {}", clean(stays)))));
        if !lines.is_empty() {
            lines.push((Token::Text, String::new()));
        }
        lines.extend(patch_lines(patches, OF_FILES));
        if *more > 0 {
            lines.push((Token::Muted, format!("  and {more} more files")));
        }
        Self { count: patches.len() + more, lines, is_across_commits: warning.is_some(), top: None }
    }

    pub(super) fn is_shown(&self) -> bool {
        self.top.is_some()
    }

    pub(super) fn show(&mut self) {
        self.top = Some(0);
    }

    /// A key while it is shown, on a screen with so many rows.
    pub(super) fn key(&mut self, keymap: &Keymap, key: KeyEvent, rows: u16) {
        let Some(top) = self.top else { return };
        let page = usize::from(rows).saturating_sub(4).max(1);
        let last = self.lines.len().saturating_sub(page);
        let to = match keymap.in_list(key) {
            Some(Action::SelectCancel | Action::SelectConfirm) => return self.top = None,
            Some(Action::SelectUp) => top.saturating_sub(1),
            Some(Action::SelectDown) => top + 1,
            Some(Action::SelectPageUp) => top.saturating_sub(page),
            Some(Action::SelectPageDown) => top + page,
            Some(Action::CursorLineStart) => 0,
            Some(Action::CursorLineEnd) => last,
            _ if key.code == KeyCode::Char('d') => return self.top = None,
            _ => top,
        };
        self.top = Some(to.min(last));
    }

    pub(super) fn view(&self, theme: &Theme, keymap: &Keymap, area: Rect, buf: &mut Buffer) {
        let top = self.top.unwrap_or_default();
        rule(theme, "Files that would change", row(area, 0), buf);
        let inner = Rect { y: area.y + 1.min(area.height), height: area.height.saturating_sub(4), ..area };
        let shown = self.lines.iter().skip(top).take(inner.height.into());
        for (at, (token, line)) in shown.enumerate() {
            let line = text::truncate(line, inner.width.into(), "…").into_owned();
            draw(&Line::styled(line, theme.style(*token)), row(inner, at), buf);
        }
        let end = (top + usize::from(inner.height)).min(self.lines.len());
        let hints: [hint::Hint<'_>; 2] =
            [(&[Action::SelectUp, Action::SelectDown], "scroll"), (&[Action::SelectCancel], "back")];
        let place = format!("{end}/{}", self.lines.len());
        let room = usize::from(area.width).saturating_sub(text::width(&place) + 5);
        let foot = format!("  {place} · {}", hint::fit(keymap, &hints, room));
        draw(
            &Line::styled(foot, theme.style(Token::Muted)),
            row(area, usize::from(area.height).saturating_sub(2)),
            buf,
        );
    }
}

impl FilesLook {
    /// What is said of them beside the choice.
    pub(super) fn words(&self) -> String {
        match self {
            Self::NotAsked => String::new(),
            Self::Asked => " · looking…".to_owned(),
            Self::Failed(why) => format!(" · {}", clean(why)),
            Self::Known(FilesDiff { count: 0, lines, .. }) if lines.len() == 1 => " · none would change".to_owned(),
            Self::Known(FilesDiff { count: 1, .. }) => " · d: 1 file".to_owned(),
            Self::Known(FilesDiff { count, .. }) => format!(" · d: {count} files"),
        }
    }

    /// Whether git has another commit checked out than when they were recorded.
    pub(super) fn is_across_commits(&self) -> bool {
        matches!(self, Self::Known(diff) if diff.is_across_commits)
    }

    pub(super) fn shown(&mut self) -> Option<&mut FilesDiff> {
        match self {
            Self::Known(diff) => Some(diff).filter(|diff| diff.is_shown()),
            Self::NotAsked | Self::Asked | Self::Failed(_) => None,
        }
    }
}
