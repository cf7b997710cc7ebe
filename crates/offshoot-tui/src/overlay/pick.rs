//! A list to pick one choice from: models, thinking levels, themes, yes or no. Typed text narrows it, best match first.
//! The list does not know what the choices mean.

use std::collections::HashMap;
use std::ops::Range;

use ratatui::buffer::Buffer;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::layout::Rect;
use ratatui::style::Modifier;
use ratatui::text::{Line, Span};

use crate::fuzzy;
use crate::keymap::{Action, Keymap};
use crate::overlay::line::{LineInput, Typed};
use crate::text;
use crate::theme::{Theme, Token};

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Choice {
    /// The name of the choice. Typed text is searched in it and in the detail.
    pub label: String,
    pub detail: String,
    pub is_current: bool,
}

/// The separator between the parts of a detail. Where there is no room, the last parts are dropped first.
pub const DETAILS: &str = " · ";
/// The blank columns before details.
const GAP: usize = 2;
/// Labels count no further than to this column.
const WIDEST: usize = 500;
/// How often labels that are cut alike are shortened.
const SHORTENINGS: usize = 3;

impl Choice {
    fn mark(&self) -> &'static str {
        if self.is_current { " ✓" } else { "" }
    }

    fn width(&self) -> usize {
        text::width(&text::fit(&self.label, WIDEST)) + text::width(self.mark())
    }

    /// A choice with only a label.
    #[must_use]
    pub fn new(label: impl Into<String>) -> Self {
        Self { label: label.into(), ..Self::default() }
    }
}

/// The outcome of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PickOutcome {
    /// No outcome yet.
    Open,
    /// The user picked nothing.
    Cancelled,
    Picked(usize),
}

#[derive(Debug, Clone)]
pub struct Pick {
    title: String,
    /// The text above the choices.
    text: String,
    choices: Vec<Choice>,
    /// The columns of each label with its mark.
    widths: Vec<usize>,
    /// The search line; `None` if nothing can be typed.
    line: Option<LineInput>,
    shown: Vec<usize>,
    cursor: usize,
}

/// The most choices of a list that is not long.
const FEW: usize = 8;
/// Labels of a list of more choices are told apart only where they are seen.
const MOST_COMPARED: usize = 200;
/// The number of rows that a page key moves.
const PAGE: usize = 10;

impl Pick {
    /// A list that can be searched, with the cursor at the current choice.
    #[must_use]
    pub fn new(title: impl Into<String>, choices: Vec<Choice>) -> Self {
        let cursor = choices.iter().position(|choice| choice.is_current).unwrap_or_default();
        Self {
            title: title.into(),
            text: String::new(),
            shown: (0..choices.len()).collect(),
            widths: choices.iter().map(Choice::width).collect(),
            choices,
            line: Some(LineInput::default()),
            cursor,
        }
    }

    /// A question with a few answers, with the cursor at the first one. Nothing can be typed. The first letter of an
    /// answer picks it if no other answer begins with the same letter.
    #[must_use]
    pub fn ask(title: impl Into<String>, text: impl Into<String>, answers: &[&str]) -> Self {
        let choices = answers.iter().map(|answer| Choice::new(*answer)).collect();
        Self { text: text.into(), line: None, ..Self::new(title, choices) }
    }

    /// The choice under the cursor.
    #[must_use]
    pub fn chosen(&self) -> Option<usize> {
        self.shown.get(self.cursor).copied()
    }

    /// The choices that the search shows, in display order.
    pub(crate) fn shown(&self) -> &[usize] {
        &self.shown
    }

    /// Puts the cursor on a choice, if it is shown.
    pub(crate) fn go_to(&mut self, choice: usize) {
        self.cursor = self.shown.iter().position(|at| *at == choice).unwrap_or(self.cursor);
    }

    /// Shows the same choices in another form.
    pub(crate) fn change(&mut self, choices: Vec<Choice>) {
        self.widths = choices.iter().map(Choice::width).collect();
        self.choices = choices;
    }

    /// Shows other choices under another title, narrowed by what is typed.
    pub(crate) fn replace(&mut self, title: String, choices: Vec<Choice>) {
        let cursor = self.cursor;
        self.title = title;
        self.change(choices);
        self.narrow();
        self.cursor = cursor.min(self.shown.len().saturating_sub(1));
    }

    /// Inserts pasted text into the search line.
    pub fn paste(&mut self, pasted: &str) {
        if self.line.as_mut().is_some_and(|line| line.insert(pasted) == Typed::Changed) {
            self.narrow();
        }
    }

    pub fn key(&mut self, keymap: &Keymap, key: KeyEvent) -> PickOutcome {
        let last = self.shown.len().saturating_sub(1);
        match keymap.in_list(key) {
            Some(Action::SelectCancel) => return PickOutcome::Cancelled,
            Some(Action::SelectConfirm) => return self.chosen().map_or(PickOutcome::Open, PickOutcome::Picked),
            Some(Action::SelectUp) => self.cursor = self.cursor.checked_sub(1).unwrap_or(last),
            Some(Action::SelectDown) => self.cursor = if self.cursor >= last { 0 } else { self.cursor + 1 },
            Some(Action::SelectPageUp) => self.cursor = self.cursor.saturating_sub(PAGE),
            Some(Action::SelectPageDown) => self.cursor = self.cursor.saturating_add(PAGE).min(last),
            _ => return self.typed(keymap, key),
        }
        PickOutcome::Open
    }

    /// Handles a key for the search line. Without a search line, the key may pick an answer.
    fn typed(&mut self, keymap: &Keymap, key: KeyEvent) -> PickOutcome {
        match (&mut self.line, key.code) {
            (Some(line), _) => {
                if line.key(keymap, key) == Typed::Changed {
                    self.narrow();
                }
                PickOutcome::Open
            }
            (None, KeyCode::Char(letter)) if !key.modifiers.contains(KeyModifiers::CONTROL) => self.answer_of(letter),
            (None, _) => PickOutcome::Open,
        }
    }

    fn answer_of(&self, letter: char) -> PickOutcome {
        let begins = |choice: &Choice| choice.label.to_lowercase().starts_with(&letter.to_lowercase().to_string());
        let mut fitting = self.choices.iter().enumerate().filter(|(_, choice)| begins(choice));
        match (fitting.next(), fitting.next()) {
            (Some((at, _)), None) => PickOutcome::Picked(at),
            _ => PickOutcome::Open,
        }
    }

    fn narrow(&mut self) {
        let query = self.line.as_ref().map(LineInput::text).unwrap_or_default();
        let texts: Vec<String> =
            self.choices.iter().map(|choice| format!("{} {}", choice.label, choice.detail)).collect();
        self.shown = fuzzy::filter(&texts, query);
        self.cursor = 0;
    }

    /// The number of rows that show everything at this width.
    #[must_use]
    pub fn height(&self, columns: u16) -> u16 {
        let rows =
            self.title_rows() + self.text_lines(columns).len() + usize::from(self.line.is_some()) + self.choices.len();
        u16::try_from(rows).unwrap_or(u16::MAX)
    }

    /// Whether there are more choices than a small list has, whatever the search shows.
    #[must_use]
    pub fn is_long(&self) -> bool {
        self.choices.len() > FEW
    }

    /// What contains the list may show a title of its own.
    fn title_rows(&self) -> usize {
        usize::from(!self.title.is_empty())
    }

    fn text_lines(&self, columns: u16) -> Vec<Line<'static>> {
        if self.text.is_empty() { Vec::new() } else { text::wrap(text::clean(&self.text), usize::from(columns)) }
    }

    /// Draws the list over the whole area.
    pub fn view(&self, theme: &Theme, area: Rect, buf: &mut Buffer) {
        let columns = usize::from(area.width);
        let mut rows = area.rows();
        if !self.title.is_empty()
            && let Some(row) = rows.next()
        {
            let title = text::fit(&self.title, columns).into_owned();
            text::draw(&Line::styled(title, theme.style(Token::Accent).add_modifier(Modifier::BOLD)), row, buf);
        }
        // The choices take precedence: a long text is cut to leave room for some of them.
        let kept = self.title_rows() + usize::from(self.line.is_some()) + self.choices.len().min(3);
        let spare = usize::from(area.height).saturating_sub(kept);
        for line in self.text_lines(area.width).into_iter().take(spare) {
            if let Some(row) = rows.next() {
                text::draw(&line.style(theme.style(Token::Text)), row, buf);
            }
        }
        if let Some((line, row)) = self.line.as_ref().and_then(|line| Some((line, rows.next()?))) {
            line.view(Span::styled("> ", theme.style(Token::Accent)), theme.style(Token::Text), row, buf);
        }
        let rows: Vec<Rect> = rows.collect();
        if let (Some(row), true) = (rows.first(), self.shown.is_empty()) {
            text::draw(&Line::styled("  nothing fits", theme.style(Token::Muted)), *row, buf);
        }
        let is_cut = self.shown.len() > rows.len();
        let height = if is_cut { rows.len().saturating_sub(1) } else { rows.len() };
        let first = self.cursor.saturating_sub(height / 2).min(self.shown.len().saturating_sub(height));
        // Of a long list only what is seen is compared: a key is drawn before the next one comes.
        let count = self.shown.len();
        let compared = if count > MOST_COMPARED { first..count.min(first + height) } else { 0..count };
        let cells = self.cells(columns, compared.clone());
        for ((place, cells), row) in
            compared.zip(&cells).skip_while(|(place, _)| *place < first).zip(rows.iter().take(height))
        {
            text::draw(&self.row(theme, place, (columns, cells)), *row, buf);
        }
        if let (Some(row), true) = (rows.last(), is_cut) {
            let place = format!("  ({}/{})", self.cursor + 1, self.shown.len());
            text::draw(&Line::styled(text::fit(&place, columns).into_owned(), theme.style(Token::Muted)), *row, buf);
        }
    }

    /// The columns for details: all that the labels leave, and half of the row if the labels are long.
    fn detail_room(&self, columns: usize) -> usize {
        let room = columns.saturating_sub(2 + GAP);
        let labels = self.shown.iter().filter_map(|at| self.widths.get(*at)).max().copied().unwrap_or(0);
        room.saturating_sub(labels).max(room / 2)
    }

    /// The label and the details of these of the shown choices, as they fit.
    fn cells(&self, columns: usize, places: Range<usize>) -> Vec<(String, String)> {
        let detail_room = self.detail_room(columns);
        let shown = self.shown.get(places).unwrap_or_default().iter().filter_map(|at| self.choices.get(*at));
        let details: Vec<String> = shown.clone().map(|choice| whole_details(&choice.detail, detail_room)).collect();
        let room = |(choice, detail): (&Choice, &String)| {
            let taken = if detail.is_empty() { 0 } else { text::width(detail) + GAP };
            columns.saturating_sub(2 + text::width(choice.mark()) + taken)
        };
        let labels: Vec<(String, usize)> = shown
            .zip(&details)
            .map(|pair| (text::fit(&text::clean(&pair.0.label), WIDEST).into_owned(), room(pair)))
            .collect();
        distinct(labels).into_iter().zip(details).collect()
    }

    fn row(&self, theme: &Theme, place: usize, (columns, cells): (usize, &(String, String))) -> Line<'static> {
        let is_chosen = place == self.cursor;
        let (label, detail) = cells;
        let mark = self.shown.get(place).and_then(|at| self.choices.get(*at)).map_or("", Choice::mark);
        let room = columns.saturating_sub(2 + text::width(mark));
        let gap = room.saturating_sub(text::width(label) + text::width(detail));
        let style = theme.style(if is_chosen { Token::Accent } else { Token::Text });
        let line = Line::from(vec![
            Span::styled(if is_chosen { "› " } else { "  " }, theme.style(Token::Accent)),
            Span::styled(label.clone(), if is_chosen { style.add_modifier(Modifier::BOLD) } else { style }),
            Span::styled(mark, theme.style(Token::Success)),
            Span::raw(if detail.is_empty() { String::new() } else { " ".repeat(gap) }),
            Span::styled(detail.clone(), theme.style(Token::Dim)),
        ]);
        if is_chosen { line.style(theme.style(Token::SelectedBg)) } else { line }
    }
}

/// Labels cut to their room. Of labels that would be cut alike, the words are left out that all of them begin with.
fn distinct(mut labels: Vec<(String, usize)>) -> Vec<String> {
    for _ in 0..SHORTENINGS {
        let mut alike: HashMap<String, Vec<usize>> = HashMap::new();
        for (at, (label, room)) in labels.iter().enumerate().filter(|(_, (label, room))| text::width(label) > *room) {
            alike.entry(text::fit(label, *room).into_owned()).or_default().push(at);
        }
        let mut is_done = true;
        for group in alike.into_values().filter(|group| group.len() > 1) {
            let of = |at: &usize| labels.get(*at).map(|(label, _)| label.as_str()).unwrap_or_default();
            let common = group.iter().map(of).reduce(common_start).map_or(0, str::len);
            if common == 0 || group.iter().all(|at| of(at).len() == common) {
                continue;
            }
            is_done = false;
            for at in group {
                if let Some((label, room)) = labels.get_mut(at) {
                    *label = without_start(label, common, *room);
                }
            }
        }
        if is_done {
            break;
        }
    }
    labels.into_iter().map(|(label, room)| text::fit(&label, room).into_owned()).collect()
}

fn common_start<'a>(one: &'a str, other: &str) -> &'a str {
    let same = one.chars().zip(other.chars()).take_while(|(one, other)| one == other);
    let length = same.map(|(letter, _)| letter.len_utf8()).sum();
    one.get(..length).unwrap_or_default()
}

/// The first words of a label, then those from the word that contains this place.
fn without_start(label: &str, at: usize, room: usize) -> String {
    let (start, rest) = label.split_at_checked(at).unwrap_or((label, ""));
    let word = start.rfind(' ').map_or(0, |blank| blank + 1);
    // A word that is longer than half of the room is cut as well.
    let word = if text::width(start.get(word..).unwrap_or_default()) > room / 2 { at } else { word };
    format!(
        "{} {}{rest}",
        text::fit(start.get(..word).unwrap_or_default().trim_end(), room / 3),
        start.get(word..).unwrap_or_default()
    )
}

/// The details that fit, without the last ones; a single one is cut.
fn whole_details(detail: &str, room: usize) -> String {
    let clean = text::clean(detail);
    let mut kept = clean.as_ref();
    while text::width(kept) > room
        && let Some((fewer, _)) = kept.rsplit_once(DETAILS)
    {
        kept = fewer;
    }
    text::fit(kept, room).into_owned()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn press(pick: &mut Pick, code: KeyCode) -> PickOutcome {
        pick.key(&Keymap::default(), KeyEvent::new(code, KeyModifiers::NONE))
    }

    fn models() -> Pick {
        let model = |label: &str, detail: &str, is_current| Choice {
            label: label.to_owned(),
            detail: detail.to_owned(),
            is_current,
        };
        Pick::new(
            "Model",
            vec![
                model("claude-opus-4-5", "anthropic", false),
                model("gpt-5.2", "openai", true),
                model("gemini-3-pro", "google", false),
            ],
        )
    }

    fn screen(pick: &Pick, columns: u16, rows: u16) -> String {
        let area = Rect::new(0, 0, columns, rows);
        let mut buf = Buffer::empty(area);
        pick.view(&Theme::default(), area, &mut buf);
        crate::testing::text_of(&buf)
    }

    /// Of a long list only the rows that are seen are compared.
    #[test]
    fn a_long_list_shows_its_rows_on_low_and_on_high_screens() {
        let choices = (0..MOST_COMPARED + 20).map(|at| Choice::new(format!("model {at}"))).collect();
        let mut pick = Pick::new("Model", choices);
        assert_eq!(screen(&pick, 40, 5).lines().nth(2), Some("› model 0"));
        press(&mut pick, KeyCode::Up);
        let low = screen(&pick, 40, 6);
        let low: Vec<&str> = low.lines().map(str::trim_end).collect();
        assert_eq!(low[2..], ["  model 217", "  model 218", "› model 219", "  (220/220)"]);
        let high = screen(&pick, 40, 400);
        assert_eq!(high.lines().filter(|line| line.contains("model ")).count(), MOST_COMPARED + 20);
    }

    #[test]
    fn what_is_typed_narrows_the_list() {
        let mut pick = models();
        insta::assert_snapshot!(screen(&pick, 40, 6), @"
        Model
        >
          claude-opus-4-5              anthropic
        › gpt-5.2 ✓                       openai
          gemini-3-pro                    google
        ");
        for letter in "open".chars() {
            press(&mut pick, KeyCode::Char(letter));
        }
        insta::assert_snapshot!(screen(&pick, 40, 6), @"
        Model
        > open
        › gpt-5.2 ✓                       openai
        ");
        assert_eq!(press(&mut pick, KeyCode::Enter), PickOutcome::Picked(1));
        press(&mut pick, KeyCode::Char('z'));
        insta::assert_snapshot!(screen(&pick, 40, 6), @"
        Model
        > openz
          nothing fits
        ");
        assert_eq!(press(&mut pick, KeyCode::Enter), PickOutcome::Open);
        assert_eq!(press(&mut pick, KeyCode::Esc), PickOutcome::Cancelled);
    }

    /// Regression: on a narrow screen labels that begin alike were cut to the same words.
    #[test]
    fn labels_that_begin_alike_are_told_apart() {
        let label = |text: &str| Choice {
            label: text.to_owned(),
            detail: "3 min ago · 2 entries".to_owned(),
            is_current: false,
        };
        let start = "Count the words of every file in the folder";
        let labels = [
            format!("{start}, with tests"),
            format!("{start}, in parallel"),
            format!("{start}, in one thread"),
            "why?".to_owned(),
        ];
        let pick = Pick::new("Branches", labels.iter().map(|text| label(text)).collect());
        insta::assert_snapshot!(screen(&pick, 40, 6), @"
        Branches
        >
        › Count th… with tests         3 min ago
          Count th… in parallel        3 min ago
          Count th… in one thread      3 min ago
          why?                         3 min ago
        ");
        let wide = screen(&pick, 90, 6);
        assert!(labels.iter().all(|label| wide.contains(label)), "{wide}");
    }

    #[test]
    fn the_cursor_goes_round_and_the_list_scrolls_with_it() {
        let mut pick = models();
        assert_eq!(pick.chosen(), Some(1));
        press(&mut pick, KeyCode::Down);
        press(&mut pick, KeyCode::Down);
        assert_eq!(pick.chosen(), Some(0));
        press(&mut pick, KeyCode::Up);
        assert_eq!(pick.chosen(), Some(2));
        insta::assert_snapshot!(screen(&pick, 30, 4), @"
        Model
        >
        › gemini-3-pro          google
          (3/3)
        ");
    }

    #[test]
    fn keys_are_those_of_the_user() {
        let (keymap, _) =
            Keymap::read(r#"{"tui.select.down":"ctrl+n","tui.select.confirm":"tab","tui.select.cancel":"f10"}"#);
        let mut pick = models();
        let mut press = |code, modifiers| pick.key(&keymap, KeyEvent::new(code, modifiers));
        for usual in [KeyCode::Down, KeyCode::Enter, KeyCode::Esc] {
            assert_eq!(press(usual, KeyModifiers::NONE), PickOutcome::Open, "{usual}");
        }
        press(KeyCode::Char('n'), KeyModifiers::CONTROL);
        assert_eq!(press(KeyCode::Tab, KeyModifiers::NONE), PickOutcome::Picked(2));
        assert_eq!(press(KeyCode::F(10), KeyModifiers::NONE), PickOutcome::Cancelled);
    }

    #[test]
    fn a_question_is_answered_by_a_letter_or_enter() {
        let mut pick = Pick::ask("Leave the session?", "The turn that is running ends.", &["Yes", "No"]);
        insta::assert_snapshot!(screen(&pick, 40, 4), @"
        Leave the session?
        The turn that is running ends.
        › Yes
          No
        ");
        assert_eq!(press(&mut pick, KeyCode::Char('n')), PickOutcome::Picked(1));
        assert_eq!(press(&mut pick, KeyCode::Char('x')), PickOutcome::Open);
        assert_eq!(press(&mut pick, KeyCode::Enter), PickOutcome::Picked(0));
    }

    proptest! {
        #[test]
        fn hostile_text_stays_inside(hostile in crate::testing::hostile(), columns in 0..60_u16, rows in 0..8_u16) {
            let choice = Choice { label: hostile.clone(), detail: hostile.clone(), is_current: true };
            let mut pick = Pick::new(hostile.as_str(), vec![choice.clone(), choice]);
            pick.paste(&hostile);
            crate::testing::assert_inside(columns, rows, |area, buf| pick.view(&Theme::default(), area, buf));
            let pick = Pick::ask(hostile.as_str(), hostile.as_str(), &[&hostile]);
            crate::testing::assert_inside(columns, rows, |area, buf| pick.view(&Theme::default(), area, buf));
        }
    }
}
