//! `/search`: a line in which typing searches all sessions, and the hits below it. It knows no file and no index.

use std::path::PathBuf;

use offshoot_session::clock::Millis;
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::KeyEvent;
use ratatui::layout::Rect;
use ratatui::style::Modifier;
use ratatui::text::{Line, Span};

use crate::keymap::{Action, Context, Keymap};
use crate::overlay::hint;
use crate::overlay::hits::{HitAnswer, HitList, HitRequest};
use crate::overlay::line::{LineInput, Typed};
use crate::text;
use crate::theme::{Theme, Token};

/// The number of hits that a page key moves.
const PAGE: usize = 10;
/// The rows of the hit under the cursor, with its heading.
const PREVIEW: u16 = 4;

const HINTS: &[hint::Hint<'static>] = &[
    (&[Action::SelectConfirm], "read"),
    (&[Action::ToggleScope], "scope"),
    (&[Action::SelectCancel], "leave"),
    (&[Action::OpenAtEnd], "open"),
    (&[Action::SelectPageUp, Action::SelectPageDown], "page"),
    (&[Action::ToggleSessionPreview], "preview"),
];

/// What may be typed.
const HELP: &[(&str, &str)] = &[
    ("pool exhausted", "both words, in one message"),
    ("\"pool exhausted\"", "these words in this order"),
    ("pool OR queue", "one of the two"),
    ("exhaus*  -word", "begins so; without it"),
    ("~xhaust  /re/", "any part; a pattern"),
    ("role:user", "assistant tool thinking summary"),
    ("tool:bash file:src/", "calls, and files"),
    ("since:7d on:leaf", "when; current branches"),
    ("agent:pi session:ID", "whose; which"),
];

/// The outcome of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HitSearchOutcome {
    Open,
    Closed,
    /// The session of a hit is opened where it ends.
    Chosen(PathBuf),
}

/// A search in all sessions.
#[derive(Debug)]
pub struct HitSearch {
    line: LineInput,
    hits: HitList,
    is_here: bool,
    hides_preview: bool,
    now: Millis,
    keymap: Keymap,
}

impl HitSearch {
    /// A search for these words, which may be none yet.
    #[must_use]
    pub fn new(words: &str, now: Millis, keymap: Keymap) -> Self {
        let line = LineInput::new(words);
        let mut search = Self { line, hits: HitList::default(), is_here: false, hides_preview: false, now, keymap };
        if !search.line.is_empty() {
            search.search();
        }
        search
    }

    /// The requests since the last call.
    pub fn requests(&mut self) -> Vec<HitRequest> {
        self.hits.requests()
    }

    /// Takes the answer to a request.
    pub fn take(&mut self, answer: HitAnswer) {
        self.hits.take(answer);
    }

    /// Whether this answer brings the rows that are awaited.
    pub(crate) fn awaits(&self, answer: &HitAnswer) -> bool {
        self.hits.awaits(answer)
    }

    /// Where the search stands, in words.
    #[must_use]
    pub fn status(&self) -> String {
        self.hits.status()
    }

    /// Sets the current time.
    pub fn set_now(&mut self, now: Millis) {
        self.now = now;
    }

    fn search(&mut self) {
        self.hits.search(&so_far(self.line.text()), self.is_here);
    }

    /// Inserts pasted text into the line.
    pub fn paste(&mut self, pasted: &str) {
        if self.line.insert(pasted) == Typed::Changed {
            self.search();
        }
    }

    pub fn key(&mut self, key: KeyEvent) -> HitSearchOutcome {
        let actions = self.keymap.actions(Context::Sessions, key);
        if let Some(outcome) = actions.into_iter().find_map(|action| self.act(action)) {
            return outcome;
        }
        if self.line.letter(key) == Typed::Changed {
            self.search();
        }
        HitSearchOutcome::Open
    }

    /// Applies an action. `None` means that the action does nothing now, and the next action of the key is tried.
    fn act(&mut self, action: Action) -> Option<HitSearchOutcome> {
        let cursor = self.hits.cursor();
        match action {
            Action::SelectCancel if !self.line.is_empty() => {
                self.line = LineInput::default();
                self.search();
            }
            Action::SelectCancel => return Some(HitSearchOutcome::Closed),
            Action::SelectConfirm => self.hits.read(),
            Action::OpenAtEnd => return self.hits.file().map(HitSearchOutcome::Chosen),
            Action::SelectUp => self.hits.go(cursor.saturating_sub(1)),
            Action::SelectDown => self.hits.go(cursor.saturating_add(1)),
            Action::SelectPageUp => self.hits.go(cursor.saturating_sub(PAGE)),
            Action::SelectPageDown => self.hits.go(cursor.saturating_add(PAGE)),
            Action::ToggleScope => {
                self.is_here = !self.is_here;
                self.search();
            }
            Action::ToggleSessionPreview => self.hides_preview = !self.hides_preview,
            action => {
                if self.line.act(action)? == Typed::Changed {
                    self.search();
                }
            }
        }
        Some(HitSearchOutcome::Open)
    }

    /// Draws the search over the whole area.
    pub fn view(&self, theme: &Theme, area: Rect, buf: &mut Buffer) {
        let columns = usize::from(area.width);
        let mut rows = area.rows();
        if let Some(row) = rows.next() {
            text::draw(&self.head(theme, columns), row, buf);
        }
        if let Some(row) = rows.next() {
            self.line.view(Span::styled("> ", theme.style(Token::Accent)), theme.style(Token::Text), row, buf);
        }
        if let Some(row) = rows.next_back() {
            let hints = hint::fit(&self.keymap, HINTS, columns);
            text::draw(&Line::styled(hints, theme.style(Token::Dim)), row, buf);
        }
        if let Some(row) = rows.next_back() {
            let status = text::fit(&self.hits.status(), columns).into_owned();
            text::draw(&Line::styled(status, theme.style(Token::Muted)), row, buf);
        }
        let left = u16::try_from(rows.count()).unwrap_or_default();
        let body = Rect { y: area.y.saturating_add(2), height: left, ..area }.intersection(area);
        if self.line.is_empty() {
            return help(theme, body, buf);
        }
        let preview = match left {
            _ if self.hides_preview || self.hits.is_empty() => 0,
            12.. => PREVIEW,
            7.. => PREVIEW - 1,
            _ => 0,
        };
        let list = Rect { height: left.saturating_sub(preview), ..body };
        self.hits.view(theme, (list, self.now), true, buf);
        let below = Rect { y: list.bottom(), height: preview, ..body };
        self.hits.preview(theme, (below, self.now), buf);
    }

    fn head(&self, theme: &Theme, columns: usize) -> Line<'static> {
        let (muted, accent) = (theme.style(Token::Muted), theme.style(Token::Accent));
        let part = |is_it: bool, word: &str| {
            Span::styled(format!("{} {word}", if is_it { "◉" } else { "○" }), if is_it { accent } else { muted })
        };
        let right = Line::from(vec![part(!self.is_here, "all"), Span::raw(" "), part(self.is_here, "folder")]);
        let room = columns.saturating_sub(text::line_width(&right) + 1);
        let titles = ["Search what was said in all sessions", "Search"];
        let title = titles.into_iter().find(|title| text::width(title) <= room).unwrap_or_default();
        let gap = columns.saturating_sub(text::line_width(&right) + text::width(title));
        let mut line = Line::from(vec![
            Span::styled(title, theme.style(Token::Text).add_modifier(Modifier::BOLD)),
            Span::raw(" ".repeat(gap)),
        ]);
        line.spans.extend(right.spans);
        line
    }
}

/// A query whose last word may go on: a blank after it ends it. Words in quotes, filters, patterns and signs are as they are typed.
fn so_far(typed: &str) -> String {
    let last = typed.rsplit(char::is_whitespace).next().unwrap_or_default();
    // Scripts without blanks are found inside of words anyhow.
    let is_word = last.chars().all(|c| (c.is_alphanumeric() || c == '_') && c < '\u{2e80}');
    let is_open = typed.matches('"').count() % 2 == 1 || typed.contains("re:") || typed.contains('/');
    let is_short = last.chars().nth(1).is_none();
    if is_word && !is_short && !is_open && last != "OR" { format!("{typed}*") } else { typed.to_owned() }
}

/// What may be typed, while nothing is.
fn help(theme: &Theme, area: Rect, buf: &mut Buffer) {
    let column = HELP.iter().map(|(typed, _)| text::width(typed)).max().unwrap_or_default();
    for ((typed, means), row) in HELP.iter().zip(area.rows()) {
        let gap = " ".repeat(column.saturating_sub(text::width(typed)));
        let line = Line::from(vec![
            Span::styled(format!("  {typed}{gap}  "), theme.style(Token::Text)),
            Span::styled(*means, theme.style(Token::Muted)),
        ]);
        text::draw(&text::truncate_line(&line, usize::from(area.width), text::ELLIPSIS), row, buf);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_word_may_go_on() {
        for (typed, asked) in [
            ("pool exhau", "pool exhau*"),
            ("pool ", "pool "),
            ("p", "p"),
            ("\"pool exhau", "\"pool exhau"),
            ("\"pool\" exhau", "\"pool\" exhau*"),
            ("role:user", "role:user"),
            ("pool -hotel", "pool -hotel"),
            ("pool OR", "pool OR"),
            ("~xhau", "~xhau"),
            ("re:x y", "re:x y"),
            ("/x yz", "/x yz"),
            ("検索", "検索"),
            ("gr\u{f6}\u{df}e", "gr\u{f6}\u{df}e*"),
        ] {
            assert_eq!(so_far(typed), asked);
        }
    }
}
