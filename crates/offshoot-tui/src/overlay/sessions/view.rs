//! Draws the session selector. It changes nothing, and lays out only the visible rows.

use std::path::Path;

use offshoot_session::text::counted;
use offshoot_workspace::SessionProgram;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};

use super::found;
use super::list::{Filling, SessionListRow};
use super::{Mode, Names, Notice, Preview, Scope, Sessions, Sort, Speaker, Utterance};
use crate::keymap::Action;
use crate::markdown;
use crate::overlay::age::age;
use crate::overlay::hint;
use crate::text;
use crate::theme::{Theme, Token};

/// From this width on, words are not abbreviated.
const WIDE: u16 = 76;
/// The columns that are kept for a session's title.
const WORDS: usize = 12;

/// Key hints for a narrow screen.
const NARROW: &[(Action, &str)] = &[
    (Action::ToggleScope, "all"),
    (Action::ToggleSort, "sort"),
    (Action::ToggleNamedFilter, "named"),
    (Action::RenameSession, "name"),
    (Action::DeleteSession, "del"),
];

const YES: hint::Hint<'static> = (&[Action::SelectConfirm], "yes");
const NO: hint::Hint<'static> = (&[Action::SelectCancel], "no");
const SAVES: hint::Hint<'static> = (&[Action::SelectConfirm], "saves the name");
const LEAVES: hint::Hint<'static> = (&[Action::SelectCancel], "leaves it");
const SHOWS_ALL: hint::Hint<'static> = (&[Action::ToggleNamedFilter], "shows all");
const EVERYWHERE: hint::Hint<'static> = (&[Action::ToggleScope], "shows every folder's");

/// The areas of the selector, from the top.
struct Parts {
    head: Rect,
    hints: Rect,
    input: Rect,
    rows: Rect,
    count: Rect,
    preview: Rect,
}

impl Parts {
    fn of(area: Rect, has_preview: bool) -> Self {
        let is_high = area.height >= 20;
        let hints = if is_high { 2 } else { u16::from(area.height >= 8) };
        let room = area.height.saturating_sub(2 + hints + u16::from(is_high));
        let preview = match room {
            _ if !has_preview => 0,
            15.. => (room - 11).min(12),
            8.. => 3,
            _ => 0,
        };
        let mut top = area.y;
        let mut take = |height: u16| {
            let part = Rect { y: top, height, ..area }.intersection(area);
            top = top.saturating_add(height);
            part
        };
        let (head, hints, input) = (take(1), take(hints), take(1));
        take(u16::from(is_high));
        let rows = take(room.saturating_sub(preview + 1));
        Self { head, hints, input, rows, count: take(1), preview: take(preview) }
    }
}

impl Sessions {
    /// Draws the selector over the whole area.
    pub fn view(&self, theme: &Theme, area: Rect, buf: &mut Buffer) {
        let parts = Parts::of(area, !self.hides_preview);
        if area.is_empty() {
            return;
        }
        self.head(theme, parts.head, buf);
        self.hints(theme, parts.hints, buf);
        self.input(theme, parts.input, buf);
        self.rows(theme, parts.rows, buf);
        for row in parts.count.rows() {
            text::draw(&self.count(theme), row, buf);
        }
        self.preview_pane(theme, parts.preview, buf);
    }

    fn head(&self, theme: &Theme, area: Rect, buf: &mut Buffer) {
        let (muted, accent) = (theme.style(Token::Muted), theme.style(Token::Accent));
        let is_wide = area.width >= WIDE;
        let names = match self.names {
            Names::All => "all",
            Names::Named => "named",
        };
        let sort = match self.sort {
            Sort::Threaded => "threaded",
            Sort::Recent => "recent",
            Sort::Relevance => "relevance",
        };
        let mut spans = self.scope_words(theme, is_wide);
        let said = if is_wide { ["  Names: ", "  Sort: "] } else { [" · ", " · "] };
        for (word, value) in said.into_iter().zip([names, sort]) {
            spans.extend([Span::styled(word, muted), Span::styled(value, accent)]);
        }
        let right = Line::from(spans);
        let width = usize::from(area.width);
        let room = width.saturating_sub(text::line_width(&right) + 1);
        let title =
            ["Resume session", "Resume"].into_iter().find(|title| text::width(title) <= room).unwrap_or_default();
        let gap = width.saturating_sub(text::line_width(&right) + text::width(title));
        let mut line = Line::from(vec![
            Span::styled(title, theme.style(Token::Text).add_modifier(Modifier::BOLD)),
            Span::raw(" ".repeat(gap)),
        ]);
        line.spans.extend(right.spans);
        text::draw(&line, area, buf);
    }

    fn scope_words(&self, theme: &Theme, is_wide: bool) -> Vec<Span<'static>> {
        let (muted, accent) = (theme.style(Token::Muted), theme.style(Token::Accent));
        if let Filling::Reading(done, of) = &self.list().filling {
            let of = of.map_or_else(String::new, |of| format!("/{of}"));
            return vec![Span::styled(format!("reading {done}{of}"), accent)];
        }
        let folder = if is_wide { "current folder" } else { "folder" };
        let part = |scope, word: &str| {
            let is_it = self.scope == scope;
            Span::styled(format!("{} {word}", if is_it { "◉" } else { "○" }), if is_it { accent } else { muted })
        };
        vec![
            part(Scope::Folder, folder),
            Span::styled(if is_wide { " | " } else { " " }, muted),
            part(Scope::All, "all"),
        ]
    }

    fn hints(&self, theme: &Theme, area: Rect, buf: &mut Buffer) {
        let columns = usize::from(area.width);
        let say = |token, words: &str| vec![Line::styled(text::fit(words, columns).into_owned(), theme.style(token))];
        let lines = match (&self.mode, &self.notice) {
            (Mode::Confirm(_), _) => say(Token::Error, &format!("Into the trash? {}", self.says(&[YES, NO]))),
            (Mode::Rename(..), _) => say(Token::Muted, &self.says(&[SAVES, LEAVES])),
            (Mode::Browse, Some(Notice::Done(words))) => say(Token::Accent, words),
            (Mode::Browse, Some(Notice::Trouble(words))) => say(Token::Error, words),
            (Mode::Browse, Some(Notice::Trashed(name))) => {
                let back = if area.width >= WIDE { "brings it back" } else { "undoes" };
                let back = self.says(&[(&[Action::RestoreSession], back)]);
                let back = if back.is_empty() { back } else { format!(" ({back})") };
                say(Token::Accent, &format!("in the trash{back}: {name}"))
            }
            (Mode::Browse, None) => self.keys(theme, area),
        };
        for (line, row) in lines.iter().zip(area.rows()) {
            text::draw(line, row, buf);
        }
    }

    /// The hints in words.
    fn says(&self, hints: &[hint::Hint<'_>]) -> String {
        hint::line(&self.setting.keymap, hints)
    }

    /// The lines of hints, as pairs of a key and its effect.
    fn hinted(&self, is_wide: bool) -> Vec<Vec<(String, &'static str)>> {
        let bound = |(action, what): &(Action, &'static str)| {
            let key = hint::keys(&self.setting.keymap, &[*action])?;
            Some((if is_wide { key } else { key.replace("ctrl+", "^") }, *what))
        };
        let line = |hints: &[(Action, &'static str)]| hints.iter().filter_map(bound).collect::<Vec<_>>();
        if !is_wide {
            return vec![line(NARROW)];
        }
        let mut first = if self.reads() {
            line(&[(Action::SelectConfirm, "read"), (Action::OpenAtEnd, "open"), (Action::ToggleScope, "scope")])
        } else {
            let mut first = line(&[(Action::SelectConfirm, "open"), (Action::ToggleScope, "scope")]);
            first.extend([("re:".to_owned(), "pattern"), ("\"…\"".to_owned(), "phrase")]);
            first
        };
        first.extend(line(&[(Action::ToggleSessionPreview, "preview"), (Action::SelectCancel, "leave")]));
        let path = if self.shows_paths { "no path" } else { "path" };
        let second = line(&[
            (Action::ToggleSort, "sort"),
            (Action::ToggleNamedFilter, "named"),
            (Action::TogglePath, path),
            (Action::RenameSession, "rename"),
            (Action::DeleteSession, "trash"),
        ]);
        vec![first, second]
    }

    fn keys(&self, theme: &Theme, area: Rect) -> Vec<Line<'static>> {
        let lines = self.hinted(area.height > 1);
        let length = |pairs: &[(String, &str)], between: usize| {
            pairs.iter().map(|(key, what)| text::width(key) + 1 + text::width(what) + between).sum::<usize>() - between
        };
        // Where dots do not fit, blanks separate the hints.
        let dots = lines.iter().all(|pairs| length(pairs, 3) <= usize::from(area.width));
        let between = if dots { " · " } else { " " };
        let hint = |pairs: Vec<(String, &'static str)>| {
            let mut line = Line::default();
            for (key, what) in pairs {
                if !line.spans.is_empty() {
                    line.push_span(Span::styled(between, theme.style(Token::Muted)));
                }
                line.push_span(Span::styled(key, theme.style(Token::Dim)));
                line.push_span(Span::styled(format!(" {what}"), theme.style(Token::Muted)));
            }
            text::truncate_line(&line, usize::from(area.width), text::ELLIPSIS)
        };
        lines.into_iter().map(hint).collect()
    }

    fn input(&self, theme: &Theme, area: Rect, buf: &mut Buffer) {
        let style = theme.style(Token::Text);
        match &self.mode {
            Mode::Rename(_, line) => {
                line.view(Span::styled("Name: ", theme.style(Token::Warning)), style, area, buf);
            }
            Mode::Browse | Mode::Confirm(_) => {
                self.line.view(Span::styled("> ", theme.style(Token::Accent)), style, area, buf);
            }
        }
    }

    fn rows(&self, theme: &Theme, area: Rect, buf: &mut Buffer) {
        let list = self.list();
        let count = list.shown().len();
        if area.is_empty() {
            return;
        }
        if count == 0 {
            let why = self.why_empty();
            let words = text::wrap(text::clean(&why), usize::from(area.width).saturating_sub(2).max(1));
            let inner = Rect { x: area.x + 2.min(area.width), width: area.width.saturating_sub(2), ..area };
            for (line, row) in words.into_iter().zip(inner.rows()) {
                text::draw(&line.style(theme.style(Token::Muted)), row, buf);
            }
            return;
        }
        let height = usize::from(area.height);
        let first = self.cursor.saturating_sub(height / 2).min(count.saturating_sub(height));
        for (place, line) in (first..count).zip(area.rows()) {
            if let Some(row) = list.at(place) {
                text::draw(&self.row(theme, place, row, usize::from(area.width)), line, buf);
            }
        }
    }

    fn row(&self, theme: &Theme, place: usize, row: &SessionListRow, columns: usize) -> Line<'static> {
        let is_chosen = place == self.cursor;
        let is_going = matches!(&self.mode, Mode::Confirm(file) if *file == row.path);
        let is_open = self.setting.current.as_ref() == Some(&row.real);
        let token = match (is_going, is_open, row.name.is_some()) {
            (true, ..) => Token::Error,
            (_, true, _) => Token::Accent,
            (.., true) => Token::Warning,
            _ => Token::Text,
        };
        let style = theme.style(token);
        let style = if is_chosen { style.add_modifier(Modifier::BOLD) } else { style };
        let dim = theme.style(if is_going { Token::Error } else { Token::Dim });
        let prefix = self.prefix(place, columns / 3);
        let room = columns.saturating_sub(2 + text::width(&prefix));
        let right = self.right(theme, row, room.saturating_sub(WORDS), dim);
        let for_words = room.saturating_sub(text::line_width(&right) + 2);
        let words = Line::from(found::words(theme, row, self.query.as_ref(), for_words, style));
        let gap = room.saturating_sub(text::line_width(&words) + text::line_width(&right));
        let mut line = Line::from(vec![
            Span::styled(if is_chosen { "› " } else { "  " }, theme.style(Token::Accent)),
            Span::styled(prefix, theme.style(Token::Dim)),
        ]);
        line.spans.extend(words.spans);
        line.push_span(Span::raw(" ".repeat(gap)));
        line.spans.extend(right.spans);
        if is_chosen { line.style(theme.style(Token::SelectedBg)) } else { line }
    }

    /// The branches of the family before a row. Deep rows show only the nearest branches.
    fn prefix(&self, place: usize, columns: usize) -> String {
        let shown = self.list().shown();
        let Some(own) = shown.get(place).filter(|own| own.depth > 0) else { return String::new() };
        let mut parts = vec![if own.is_last { "└─ " } else { "├─ " }];
        let mut above = own.parent;
        while let Some(parent) = above.and_then(|place| shown.get(place)) {
            if (parts.len() + 1) * 3 > columns {
                parts.push("… ");
                break;
            }
            parts.push(if parent.depth > 0 && !parent.is_last { "│  " } else { "   " });
            above = parent.parent;
        }
        parts.iter().rev().copied().collect()
    }

    /// The right end of a row: path and folder as far as there is room, then origin, count and age.
    fn right(&self, theme: &Theme, row: &SessionListRow, room: usize, style: Style) -> Line<'static> {
        let age = row.modified.map_or_else(|| "?".to_owned(), |time| age(time, self.setting.now));
        let mut spans = Vec::new();
        if let Some(mark) = mark(row.origin) {
            spans.push(Span::styled(format!("{mark} "), theme.style(Token::CustomMessageLabel)));
        }
        spans.push(Span::styled(format!("{} {age}", row.messages), style));
        let mut left = room.saturating_sub(text::line_width(&Line::from(spans.clone())));
        let folder = (self.scope == Scope::All && !row.cwd.is_empty()).then(|| self.short(Path::new(&row.cwd)));
        let path = self.shows_paths.then(|| self.short(&row.path));
        for part in [folder, path].into_iter().flatten() {
            let part = end_of(&part, left.saturating_sub(1).min(if self.shows_paths { left } else { 30 }));
            left = left.saturating_sub(text::width(&part) + 1);
            if !part.is_empty() {
                spans.insert(0, Span::styled(format!("{part} "), style));
            }
        }
        Line::from(spans)
    }

    /// A path with the home directory as `~`.
    fn short(&self, path: &Path) -> String {
        let inside = self.setting.home.as_ref().and_then(|home| path.strip_prefix(home).ok());
        let short = inside.map(|rest| Path::new("~").join(rest));
        let text = short.as_deref().unwrap_or(path).to_string_lossy();
        text::clean(text.strip_suffix('/').filter(|text| !text.is_empty()).unwrap_or(&text)).into_owned()
    }

    fn why_empty(&self) -> String {
        let list = self.list();
        if let Some(why) = self.query.as_ref().and_then(|query| query.error()) {
            return why.to_owned();
        }
        let (words, ways): (&str, &[hint::Hint<'_>]) = match (&list.filling, &self.query, self.names, self.scope) {
            (Filling::Failed(why), ..) => return format!("the list cannot be read: {why}"),
            (Filling::Reading(..), None, ..) => ("reading the sessions…", &[]),
            (_, Some(_), ..) if list.count_unsearched() > 0 => ("searching…", &[]),
            (_, Some(_), Names::All, _) => ("nothing fits", &[]),
            (_, Some(_), Names::Named, _) => ("no named session fits", &[SHOWS_ALL]),
            (_, None, Names::Named, Scope::Folder) => ("no session here has a name", &[SHOWS_ALL, EVERYWHERE]),
            (_, None, Names::Named, Scope::All) => ("no session has a name", &[SHOWS_ALL]),
            (_, None, Names::All, Scope::Folder) => ("no sessions of this folder yet", &[EVERYWHERE]),
            (_, None, Names::All, Scope::All) => ("no sessions yet", &[]),
        };
        let ways = self.says(ways);
        if ways.is_empty() { words.to_owned() } else { format!("{words} · {ways}") }
    }

    fn count(&self, theme: &Theme) -> Line<'static> {
        let list = self.list();
        let (shown, all) = (list.shown().len(), list.len());
        let mut words = if shown == 0 { " ".to_owned() } else { format!("  ({}/{shown})", self.cursor + 1) };
        if shown < all && shown > 0 {
            words.push_str(&format!(" of {all}"));
        }
        if let Filling::Done(unread @ 1..) = list.filling {
            let files = counted(unread, "file", "files");
            words.push_str(&format!(" {files} cannot be read: `offshoot doctor` says why"));
        }
        if self.query.is_some() && shown > 0 {
            let left = list.count_unsearched();
            if left > 0 {
                words.push_str(&format!(" · {left} still to be searched"));
            }
        }
        Line::styled(words, theme.style(Token::Muted))
    }

    fn preview_pane(&self, theme: &Theme, area: Rect, buf: &mut Buffer) {
        let Some(row) = self.chosen().filter(|_| !area.is_empty()) else { return };
        let columns = usize::from(area.width);
        let mut about = vec![row.modified.map_or_else(|| "no time".to_owned(), |time| age(time, self.setting.now))];
        about.push(counted(row.messages, "message", "messages"));
        about.extend(mark(row.origin).map(|mark| format!("of {mark}")));
        about.extend(Some(self.short(Path::new(&row.cwd))).filter(|cwd| !cwd.is_empty()));
        about.push(row.id.clone());
        let title = text::fit(&about.join(" · "), columns.saturating_sub(4)).into_owned();
        let rule = "─".repeat(columns.saturating_sub(text::width(&title) + 4));
        let muted = theme.style(Token::BorderMuted);
        let line = Line::from(vec![
            Span::styled("── ", muted),
            Span::styled(title, theme.style(Token::Muted)),
            Span::styled(format!(" {rule}"), muted),
        ]);
        text::draw(&line, area, buf);
        let below = Rect { y: area.y.saturating_add(1), height: area.height.saturating_sub(1), ..area };
        let lines = match &self.preview {
            Some((file, preview)) if *file == row.path => words(theme, preview, below),
            _ => Vec::new(),
        };
        for (line, row) in lines.iter().zip(below.rows()) {
            text::draw(line, row, buf);
        }
    }
}

/// The first and last messages that fit, about half of the room for each.
fn words(theme: &Theme, preview: &Preview, area: Rect) -> Vec<Line<'static>> {
    let (columns, height) = (usize::from(area.width), usize::from(area.height));
    let trouble = preview
        .trouble
        .as_ref()
        .map(|why| Line::styled(text::fit(why, columns).into_owned(), theme.style(Token::Error)));
    let room = height.saturating_sub(usize::from(trouble.is_some()));
    let has_gap = room >= 5 && !preview.first.is_empty() && !preview.last.is_empty();
    let for_first = if preview.last.is_empty() { room } else { room / 2 };
    let mut lines = utterance_lines(theme, &preview.first, columns, for_first);
    let for_last = room.saturating_sub(lines.len() + usize::from(has_gap));
    let newest = preview.last.len().saturating_sub(for_last.max(1));
    let last = utterance_lines(theme, preview.last.get(newest..).unwrap_or_default(), columns, for_last);
    if has_gap {
        lines.push(Line::styled("  ⋯", theme.style(Token::Dim)));
    }
    lines.extend(last);
    lines.extend(trouble);
    lines
}

fn utterance_lines(theme: &Theme, all: &[Utterance], columns: usize, rows: usize) -> Vec<Line<'static>> {
    let mut lines = Vec::new();
    for (number, said) in all.iter().enumerate() {
        let share = rows.saturating_sub(lines.len()) / (all.len() - number).max(1);
        let width = columns.saturating_sub(2).max(1);
        let (mark, token) = match said.by {
            Speaker::Person => ("› ", Token::Text),
            Speaker::Model => ("  ", Token::Muted),
        };
        let text = markdown::plain(&said.text, width * share);
        for (at, line) in text::wrap(text.trim(), width).into_iter().take(share).enumerate() {
            let head = Span::styled(if at == 0 { mark } else { "  " }, theme.style(Token::Accent));
            let mut line = line.style(theme.style(token));
            line.spans.insert(0, head);
            lines.push(line);
        }
    }
    lines
}

fn mark(origin: SessionProgram) -> Option<&'static str> {
    match origin {
        SessionProgram::Offshoot => None,
        other => Some(other.word()),
    }
}

/// The end of a path that fits, with a mark for the omitted part.
fn end_of(path: &str, columns: usize) -> String {
    if text::width(path) <= columns {
        return path.to_owned();
    }
    if columns < 4 {
        return String::new();
    }
    let mut start = path.len();
    for (at, _) in path.char_indices().rev() {
        if text::width(path.get(at..).unwrap_or_default()) + 1 > columns {
            break;
        }
        start = at;
    }
    format!("…{}", path.get(start..).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_keep_their_end() {
        assert_eq!(end_of("/a/bcdef", 5), "…cdef");
        assert_eq!(end_of("/a/b", 4), "/a/b");
        assert_eq!(end_of("/a/bcdef", 3), "");
        assert_eq!(end_of("/日本", 4), "…本");
    }
}
