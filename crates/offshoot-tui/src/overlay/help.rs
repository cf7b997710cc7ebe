//! `?` and `/help`: every command and every bound key of the user's keymap. Typed text narrows the list. The help runs
//! no command.

use ratatui::buffer::Buffer;
use ratatui::crossterm::event::KeyEvent;
use ratatui::layout::{Rect, Size};
use ratatui::style::Modifier;
use ratatui::text::{Line, Span};

use super::hint;
use super::line::{LineInput, Typed};
use crate::keymap::{Action, Context, Group, Keymap};
use crate::slash;
use crate::text::{clean, draw, fit, joined, width, wrap};
use crate::theme::{Theme, Token};

/// The outcome of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HelpOutcome {
    Open,
    Closed,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum HelpRow {
    Title(&'static str),
    Told(String, String),
}

#[derive(Debug, Clone)]
pub struct Help {
    rows: Vec<HelpRow>,
    search: LineInput,
    /// The first visible line.
    top: usize,
    size: Size,
    hints: Vec<String>,
}

/// The number of rows above the list.
const HEAD: u16 = 2;

/// Other input, besides keys and commands.
const WRITTEN: &[(&str, &str)] = &[
    ("!command", "run a command in the shell"),
    ("!!command", "the same, without the model seeing it"),
    ("@file", "name a file; what is typed finds it"),
    ("\\ then enter", "begin a new line"),
];

impl Help {
    /// The help for this keymap, on a screen of this size.
    #[must_use]
    pub fn new(keymap: &Keymap, size: Size) -> Self {
        let mut rows = vec![HelpRow::Title("Commands")];
        for spec in slash::commands() {
            rows.push(HelpRow::Told(spec.typed(), spec.says.to_owned()));
            let same = |name: &&str| HelpRow::Told(format!("/{name}"), format!("the same as /{}", spec.name));
            rows.extend(spec.aliases.iter().map(same));
        }
        rows.push(HelpRow::Title("In a message"));
        rows.extend(WRITTEN.iter().map(|(how, says)| HelpRow::Told((*how).to_owned(), (*says).to_owned())));
        for group in Group::ALL {
            rows.push(HelpRow::Title(group.title()));
            let actions = Action::ALL.iter().filter(|action| action.group() == group);
            let bound = actions.filter(|action| !keymap.keys(**action).is_empty());
            rows.extend(bound.map(|action| HelpRow::Told(keymap.all(*action), action.says().to_owned())));
        }
        let same = |(alias, name): &(&str, &str)| HelpRow::Told(format!("/{alias}"), format!("the same as /{name}"));
        rows.push(HelpRow::Title("Other programs' words"));
        rows.extend(slash::ALIASES.iter().map(same));
        let hints = hint::parts(
            keymap,
            &[(&[Action::SelectCancel], "leave"), (&[Action::SelectUp, Action::SelectDown], "scroll")],
        );
        Self { rows, search: LineInput::default(), top: 0, size, hints }
    }

    pub fn resize(&mut self, size: Size) {
        self.size = size;
        self.top = self.top.min(self.last());
    }

    /// Inserts pasted text into the search.
    pub fn paste(&mut self, text: &str) {
        if self.search.insert(text) == Typed::Changed {
            self.top = 0;
        }
    }

    pub fn key(&mut self, keymap: &Keymap, event: KeyEvent) -> HelpOutcome {
        let opens = keymap.actions(Context::Editor, event).contains(&Action::Help);
        if opens && self.search.is_empty() {
            return HelpOutcome::Closed;
        }
        let (last, page) = (self.last(), usize::from(self.room()).max(1));
        match keymap.in_list(event) {
            Some(Action::SelectUp) => self.top = self.top.saturating_sub(1),
            Some(Action::SelectDown) => self.top = (self.top + 1).min(last),
            Some(Action::SelectPageUp) => self.top = self.top.saturating_sub(page),
            Some(Action::SelectPageDown) => self.top = (self.top + page).min(last),
            Some(Action::SelectCancel) if self.search.is_empty() => return HelpOutcome::Closed,
            Some(Action::SelectCancel) => (self.search, self.top) = (LineInput::default(), 0),
            _ if self.search.key(keymap, event) == Typed::Changed => self.top = 0,
            _ => {}
        }
        HelpOutcome::Open
    }

    /// The rows that match the search, without headings.
    fn shown(&self) -> Vec<&HelpRow> {
        let wanted = self.search.text().to_lowercase();
        let fits = |row: &&HelpRow| match row {
            HelpRow::Title(_) => wanted.trim().is_empty(),
            HelpRow::Told(how, says) => {
                let text = format!("{how} {says}").to_lowercase();
                wanted.split_whitespace().all(|word| text.contains(word))
            }
        };
        self.rows.iter().filter(fits).collect()
    }

    /// The number of lines of the list on the screen.
    fn room(&self) -> u16 {
        self.size.height.saturating_sub(HEAD)
    }

    /// The first line of the last page. The last page is full.
    fn last(&self) -> usize {
        let columns = usize::from(self.size.width);
        let lines: usize = self.shown().iter().map(|row| row.height(columns)).sum();
        lines.saturating_sub(usize::from(self.room()))
    }

    /// Draws the help over the whole area.
    pub fn view(&self, theme: &Theme, area: Rect, buf: &mut Buffer) {
        let area = area.intersection(buf.area);
        let columns = usize::from(area.width);
        let mut rows = area.rows();
        if let Some(row) = rows.next() {
            let title = Span::styled("Help", theme.style(Token::Accent).add_modifier(Modifier::BOLD));
            let hints: Vec<&str> =
                ["type to search"].into_iter().chain(self.hints.iter().map(String::as_str)).collect();
            let hint = joined(&hints, columns.saturating_sub(6));
            let hint = Span::styled(format!("  {hint}"), theme.style(Token::Dim));
            draw(&Line::from(vec![title, hint]), row, buf);
        }
        if let Some(row) = rows.next() {
            self.search.view(Span::styled("> ", theme.style(Token::Accent)), theme.style(Token::Text), row, buf);
        }
        let rows: Vec<Rect> = rows.collect();
        let shown = self.shown();
        if let (Some(row), true) = (rows.first(), shown.is_empty()) {
            draw(&Line::styled("  nothing fits", theme.style(Token::Muted)), *row, buf);
        }
        let lines = shown.iter().flat_map(|told| told.lines(theme, columns));
        for (line, row) in lines.skip(self.top).zip(rows) {
            draw(&line, row, buf);
        }
    }
}

impl HelpRow {
    /// The key or command and its description, wrapped side by side.
    fn wrapped(&self, columns: usize) -> (Vec<Line<'static>>, Vec<Line<'static>>) {
        match self {
            Self::Title(title) => (vec![Line::raw(fit(title, columns).into_owned())], Vec::new()),
            Self::Told(how, says) => {
                let wrapped = |text: &str, columns| wrap(clean(text).into_owned(), columns);
                let left = left(columns);
                (wrapped(how, left.saturating_sub(3)), wrapped(says, columns.saturating_sub(left)))
            }
        }
    }

    /// The number of lines of the row.
    fn height(&self, columns: usize) -> usize {
        let (how, says) = self.wrapped(columns);
        how.len().max(says.len())
    }

    fn lines(&self, theme: &Theme, columns: usize) -> Vec<Line<'static>> {
        let (how, says) = self.wrapped(columns);
        if let Self::Title(_) = self {
            let style = theme.style(Token::MdHeading).add_modifier(Modifier::BOLD);
            return how.into_iter().map(|line| line.style(style)).collect();
        }
        let line = |at: usize| {
            let part = |lines: &[Line<'_>]| lines.get(at).map(ToString::to_string).unwrap_or_default();
            let (how, says) = (part(&how), part(&says));
            let gap = " ".repeat(left(columns).saturating_sub(2 + width(&how)));
            Line::from(vec![
                Span::raw("  "),
                Span::styled(how, theme.style(Token::Accent)),
                Span::raw(gap),
                Span::styled(says, theme.style(Token::Text)),
            ])
        };
        (0..how.len().max(says.len())).map(line).collect()
    }
}

/// The column of the descriptions.
fn left(columns: usize) -> usize {
    (columns / 2).clamp(12, 33).min(columns)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keymap::Key;
    use crate::testing::{assert_inside, hostile, text_of};

    const SIZE: Size = Size::new(80, 24);

    fn press(help: &mut Help, keys: &str) -> HelpOutcome {
        let mut outcome = HelpOutcome::Open;
        for key in keys.split(' ') {
            outcome = help.key(&Keymap::default(), Key::parse(key).unwrap().event());
        }
        outcome
    }

    fn screen(help: &mut Help, columns: u16, rows: u16) -> String {
        help.resize(Size::new(columns, rows));
        let area = Rect::new(0, 0, columns, rows);
        let mut buf = Buffer::empty(area);
        help.view(&Theme::default(), area, &mut buf);
        text_of(&buf)
    }

    #[test]
    fn screens_of_the_help() {
        let mut help = Help::new(&Keymap::default(), SIZE);
        insta::assert_snapshot!(screen(&mut help, 80, 24), @"
        Help  type to search · esc leave · ↑/↓ scroll
        >
        Commands
          /new                           begin a session
          /resume [session]              open another session
          /search [words]                find what was said in any session
          /tree                          walk the tree of this session
          /branches                      list the branches of this session
          /switch <entry> [--files]      continue after an entry
          /branch-here [entry]           continue this session from an earlier message
          /fork [entry] [--files]        begin a session before an earlier message
          /branch                        the same as /fork
          /clone                         begin a session with everything up to here
          /pop [entry] [--files]         back to the last message, with a summary
          /pick <entries>                copy entries of another branch here: 1a2b,
                                         1a2b..3c4d
          /cherry-pick                   the same as /pick
          /merge <entry> [instructions]  summarise here what another branch has
          /compare <entry> [entry]       show where two branches part, and what each has
          /undo [--files]                undo the last switch, pick, merge or
                                         compaction; again: redo
          /export-branch <entry> [path]  write the branch up to an entry into a file
          /label [text | --clear]        show, set or remove a label here
          /name [name]                   name the session, or show its name
        ");
        insta::assert_snapshot!(screen(&mut help, 40, 24), @"
        Help  type to search · esc leave
        >
        Commands
          /new              begin a session
          /resume [session] open another session
          /search [words]   find what was said
                            in any session
          /tree             walk the tree of
                            this session
          /branches         list the branches of
                            this session
          /switch <entry>   continue after an
          [--files]         entry
          /branch-here      continue this
          [entry]           session from an
                            earlier message
          /fork [entry]     begin a session
          [--files]         before an earlier
                            message
          /branch           the same as /fork
          /clone            begin a session with
                            everything up to
                            here
          /pop [entry]      back to the last
        ");
        press(&mut help, "pageDown pageDown pageDown");
        insta::assert_snapshot!(screen(&mut help, 40, 12), @"
        Help  type to search · esc leave
        >
          /agents           list the agents of
                            this session, and
                            read one
          /mcp [reconnect   list MCP servers,
          NAME]             and connect one
                            again
          /login [provider] save the key of a
                            provider
          /logout           remove the key of a
          [provider]        provider
        ");
        help.paste("undo");
        insta::assert_snapshot!(screen(&mut help, 80, 5), @"
        Help  type to search · esc leave · ↑/↓ scroll
        > undo
          /undo [--files]                undo the last switch, pick, merge or
                                         compaction; again: redo
          ctrl+-                         undo the last change
        ");
    }

    #[test]
    fn the_keys_are_those_of_the_user() {
        let (keymap, _) = Keymap::read(r#"{"tui.editor.undo":"alt+z","tui.editor.yankPop":[]}"#);
        let mut help = Help::new(&keymap, SIZE);
        help.paste("undo");
        assert!(screen(&mut help, 80, 5).contains("alt+z"));
        help = Help::new(&keymap, SIZE);
        help.paste("after that: put back");
        assert!(screen(&mut help, 80, 5).contains("nothing fits"));
    }

    #[test]
    fn a_question_mark_closes_only_while_nothing_is_searched_for() {
        let mut help = Help::new(&Keymap::default(), SIZE);
        assert_eq!(press(&mut help, "f ?"), HelpOutcome::Open);
        assert_eq!(press(&mut help, "escape"), HelpOutcome::Open);
        assert_eq!(press(&mut help, "?"), HelpOutcome::Closed);
        assert_eq!(press(&mut help, "escape"), HelpOutcome::Closed);
    }

    /// A row of several lines is not skipped, and does not hide the end.
    #[test]
    fn pages_follow_each_other_to_the_end() {
        for (columns, rows) in [(80, 10), (40, 12), (24, 9)] {
            let mut help = Help::new(&Keymap::default(), Size::new(columns, rows));
            let mut seen: Vec<String> = Vec::new();
            loop {
                let page: Vec<_> = screen(&mut help, columns, rows).lines().skip(2).map(str::to_owned).collect();
                let top = help.top;
                press(&mut help, "pageDown");
                if help.top == top {
                    seen.extend(page);
                    break;
                }
                seen.extend(page.into_iter().take(help.top - top));
            }
            let height = HEAD + u16::try_from(seen.len()).unwrap();
            let whole = screen(&mut Help::new(&Keymap::default(), SIZE), columns, height);
            assert_eq!(seen, whole.lines().skip(2).collect::<Vec<_>>());
            press(&mut help, "up");
            assert_eq!(help.top + 1, help.last(), "one line back, however often the end was passed");
        }
    }

    proptest::proptest! {
        #[test]
        fn hostile_text_stays_inside(hostile in hostile(), columns in 0..60_u16, rows in 0..14_u16) {
            let mut help = Help::new(&Keymap::default(), SIZE);
            help.resize(Size::new(columns, rows));
            assert_inside(columns, rows, |area, buf| help.view(&Theme::default(), area, buf));
            help.paste(&hostile);
            assert_inside(columns, rows, |area, buf| help.view(&Theme::default(), area, buf));
        }
    }
}
