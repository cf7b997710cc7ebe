//! Draws the list of settings. It changes nothing.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Modifier;
use ratatui::text::{Line, Span};

use super::Settings;
use crate::keymap::{Action, Keymap};
use crate::overlay::hint;
use crate::text::{clean, draw, fit, width, wrap};
use crate::theme::{Theme, Token};
use offshoot_protocol::Peer;
use offshoot_settings::{SETTINGS, Scope, Section, Setting, SettingOrigin};

/// The rows below the list: the description, the allowed values and the keys.
const FOOT: usize = 3;

/// Key hints, while a value is typed and otherwise.
const TYPING: &[hint::Hint<'static>] = &[(&[Action::SelectConfirm], "store"), (&[Action::SelectCancel], "leave it")];
const ONE_FILE: &[hint::Hint<'static>] = &[
    (&[Action::SelectConfirm], "change"),
    (&[Action::SelectCancel], "done"),
    (&[Action::DeleteCharForward], "remove"),
];
const TWO_FILES: &[hint::Hint<'static>] = &[
    (&[Action::SelectConfirm], "change"),
    (&[Action::SelectCancel], "done"),
    (&[Action::Tab], "other file"),
    (&[Action::DeleteCharForward], "remove"),
];

#[derive(Debug, Clone, Copy)]
enum SettingsListRow {
    Title(Section),
    Setting(usize),
}

impl Settings {
    /// Draws the list over the whole area.
    pub fn view(&self, keymap: &Keymap, theme: &Theme, area: Rect, buf: &mut Buffer) {
        let area = area.intersection(buf.area);
        let mut rows: Vec<Rect> = area.rows().collect();
        let foot = rows.split_off(rows.len().saturating_sub(if rows.len() > FOOT + 3 { FOOT } else { 0 }));
        let mut rows = rows.into_iter();
        if let Some(row) = rows.next() {
            draw(&self.title(theme, usize::from(row.width)), row, buf);
        }
        if let Some(row) = rows.next() {
            self.search.view(Span::styled("> ", theme.style(Token::Accent)), theme.style(Token::Text), row, buf);
        }
        self.view_list(theme, &rows.collect::<Vec<_>>(), buf);
        for (line, row) in self.foot(keymap, theme, usize::from(area.width)).iter().zip(foot) {
            draw(line, row, buf);
        }
    }

    fn title(&self, theme: &Theme, columns: usize) -> Line<'static> {
        let (whose, file) = match (self.scope, &self.files.project) {
            (Scope::Project, Some(file)) => ("this project", file),
            _ => ("everywhere", &self.files.global),
        };
        let file = fit(file, columns.saturating_sub(width(whose) + 14)).into_owned();
        Line::from(vec![
            Span::styled("Settings", theme.style(Token::Accent).add_modifier(Modifier::BOLD)),
            Span::styled(format!("  {whose}"), theme.style(Token::Text)),
            Span::styled(format!("  {file}"), theme.style(Token::Dim)),
        ])
    }

    /// The rows of the list. There are headings between settings while there is no search.
    fn rows(&self) -> Vec<SettingsListRow> {
        let mut rows = Vec::new();
        let mut before = None;
        for (place, setting) in
            self.shown.iter().enumerate().filter_map(|(place, at)| Some((place, SETTINGS.get(*at)?)))
        {
            if self.search.is_empty() && before != Some(setting.section) {
                rows.push(SettingsListRow::Title(setting.section));
                before = Some(setting.section);
            }
            rows.push(SettingsListRow::Setting(place));
        }
        rows
    }

    fn view_list(&self, theme: &Theme, area: &[Rect], buf: &mut Buffer) {
        let rows = self.rows();
        if let (Some(row), true) = (area.first(), rows.is_empty()) {
            draw(&Line::styled("  nothing fits", theme.style(Token::Muted)), *row, buf);
        }
        let cursor = rows
            .iter()
            .position(|row| matches!(row, SettingsListRow::Setting(place) if *place == self.cursor))
            .unwrap_or(0);
        let first = cursor.saturating_sub(area.len() / 2).min(rows.len().saturating_sub(area.len()));
        for (row, area) in rows.iter().skip(first).zip(area) {
            match row {
                SettingsListRow::Title(section) => {
                    let style = theme.style(Token::Muted).add_modifier(Modifier::BOLD);
                    draw(&Line::styled(fit(section.title(), usize::from(area.width)).into_owned(), style), *area, buf);
                }
                SettingsListRow::Setting(place) => self.view_setting(theme, *place, *area, buf),
            }
        }
    }

    fn view_setting(&self, theme: &Theme, place: usize, area: Rect, buf: &mut Buffer) {
        let Some(setting) = self.shown.get(place).and_then(|at| SETTINGS.get(*at)) else { return };
        let is_chosen = place == self.cursor;
        let columns = usize::from(area.width);
        let widest = SETTINGS.iter().map(|setting| setting.key.len()).max().unwrap_or_default();
        let key = fit(setting.key, widest.min(columns.saturating_sub(12))).into_owned();
        let name = theme.style(if is_chosen { Token::Accent } else { Token::Text });
        let gap = " ".repeat((widest + 2).min(columns.saturating_sub(10)).saturating_sub(width(&key)));
        let head = vec![
            Span::styled(if is_chosen { "› " } else { "  " }, theme.style(Token::Accent)),
            Span::styled(key, if is_chosen { name.add_modifier(Modifier::BOLD) } else { name }),
            Span::raw(gap),
        ];
        let mut line = Line::from(head);
        let taken = u16::try_from(crate::text::line_width(&line)).unwrap_or(u16::MAX).min(area.width);
        if let (Some(typed), true) = (&self.editing, is_chosen) {
            draw(&line, area, buf);
            let rest = Rect { x: area.x + taken, width: area.width - taken, ..area };
            return typed.view(Span::raw(""), theme.style(Token::Text), rest, buf);
        }
        let (value, origin) = self.layers.value(setting);
        let room = columns.saturating_sub(usize::from(taken));
        let shown = value.map_or_else(|| "automatic".to_owned(), |value| value.to_string());
        let origin_room = if room >= 24 { 9 } else { 0 };
        let shown = fit(&shown, room.saturating_sub(origin_room + 1)).into_owned();
        let gap = room.saturating_sub(width(&shown) + origin_room);
        let token = if origin == SettingOrigin::Default { Token::Muted } else { Token::Success };
        line.push_span(Span::styled(shown, theme.style(token)));
        line.push_span(Span::raw(" ".repeat(gap)));
        line.push_span(Span::styled(fit(short(origin), origin_room).into_owned(), theme.style(Token::Dim)));
        draw(&if is_chosen { line.style(theme.style(Token::SelectedBg)) } else { line }, area, buf);
    }

    fn foot(&self, keymap: &Keymap, theme: &Theme, columns: usize) -> [Line<'static>; FOOT] {
        let line = |text: &str, token| Line::styled(fit(text, columns).into_owned(), theme.style(token));
        let setting = self.shown.get(self.cursor).and_then(|at| SETTINGS.get(*at));
        let says = setting.map_or("", |setting| setting.says);
        let keys = match (&self.editing, &self.files.project) {
            (Some(_), _) => TYPING,
            (None, Some(_)) => TWO_FILES,
            (None, None) => ONE_FILE,
        };
        let keys = line(&hint::fit(keymap, keys, columns), Token::Dim);
        let told = setting.map_or_else(String::new, |setting| self.told(setting));
        let Some(notice) = &self.notice else { return [line(says, Token::Text), line(&told, Token::Muted), keys] };
        // A long notice takes both rows.
        let mut rows = wrap(clean(notice), columns.max(1)).into_iter();
        let first = rows.next().unwrap_or_default().style(theme.style(Token::Warning));
        let rest = rows.map(|row| row.to_string()).collect::<Vec<_>>().join(" ");
        match rest.is_empty() {
            true => [line(says, Token::Text), first, keys],
            false => [first, line(&rest, Token::Warning), keys],
        }
    }

    /// The source of the value, and the allowed values.
    fn told(&self, setting: &Setting) -> String {
        let origin = match self.layers.value(setting).1 {
            SettingOrigin::Default => "not set",
            SettingOrigin::Peer(Peer::Pi) => "from pi's settings",
            SettingOrigin::Peer(Peer::Omp) => "from oh-my-pi's settings",
            SettingOrigin::File(Scope::Global) => "from the user's file",
            SettingOrigin::File(Scope::Project) => "from the project's file",
        };
        format!("{origin} · {}", setting.kind.wanted())
    }
}

fn short(origin: SettingOrigin) -> &'static str {
    match origin {
        SettingOrigin::Default => "default",
        SettingOrigin::Peer(peer) => peer.as_str(),
        SettingOrigin::File(Scope::Global) => "user",
        SettingOrigin::File(Scope::Project) => "project",
    }
}
