//! A form in the place of the editor. One question of an extension looks as in pi: a choice, a yes or no, a line or a text; the
//! forms of others have a panel of their own. It does not know where answers go.

use std::collections::BTreeMap;

use offshoot_protocol::{FieldAnswer, FieldKind, Form, FormAnswer, FormSource};
use offshoot_session::clock::Millis;
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::KeyEvent;
use ratatui::layout::{Position, Rect, Size};
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};

use crate::editor::{Editor, EditorOutcome, Submission};
use crate::keymap::{Action, Context, Keymap};
use crate::overlay::form::FormPanel;
use crate::overlay::hint;
use crate::overlay::line::LineInput;
use crate::overlay::pick::{Choice, Pick, PickOutcome};
use crate::text;
use crate::theme::{Theme, Token};

/// More choices than these can be searched.
const FEW: usize = 6;
/// Longer titles, messages and options are cut.
const MAX_BYTES: usize = 16 << 10;
const MAX_CHOICES: usize = 5_000;
/// The rows of a list or a text that are kept free below a long title.
const BODY: u16 = 5;

#[derive(Debug, Clone)]
pub struct Dialog {
    /// Names the answer to a question that is alone.
    id: String,
    title: String,
    message: String,
    body: Body,
    /// When the question is withdrawn.
    deadline: Option<Millis>,
    /// The rows of the title and the message that are above the first one that is shown.
    scrolled: u16,
}

#[derive(Debug, Clone)]
enum Body {
    /// The options of the form are longer, if they were cut.
    Choice(Pick, Vec<String>),
    Confirmation(Pick),
    Line {
        line: LineInput,
        placeholder: String,
    },
    Text(Box<Editor>),
    Panel(Box<FormPanel>),
}

impl Body {
    /// For one question without others; `None` if only a panel can ask it.
    fn alone(kind: &FieldKind, size: Size) -> Option<Self> {
        Some(match kind {
            FieldKind::Choice { options, multi: false, other: false, .. } => {
                let labels: Vec<String> = options.iter().take(MAX_CHOICES).map(|option| option.label.clone()).collect();
                let shown = labels.iter().map(|label| bounded(label));
                let pick = match options.len() <= FEW {
                    true => Pick::ask("", "", &shown.collect::<Vec<_>>()),
                    false => Pick::new("", shown.map(Choice::new).collect()),
                };
                Self::Choice(pick, labels)
            }
            FieldKind::Flag { .. } => Self::Confirmation(Pick::ask("", "", &["Yes", "No"])),
            FieldKind::Text { default, is_long: true, .. } => {
                let mut editor = Box::new(Editor::plain());
                editor.resize(size.width, size.height);
                editor.replace(&text::strip_lines(default.as_deref().unwrap_or_default()));
                Self::Text(editor)
            }
            FieldKind::Text { default, placeholder, .. } => Self::Line {
                line: LineInput::new(default.as_deref().unwrap_or_default()),
                placeholder: bounded(placeholder.as_deref().unwrap_or_default()).to_owned(),
            },
            FieldKind::Choice { .. } | FieldKind::Number { .. } => return None,
        })
    }
}

/// The outcome of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DialogOutcome {
    /// No outcome yet.
    Open,
    /// The user's editor opens with this text.
    External(String),
    Answered(FormAnswer),
}

impl Dialog {
    /// A form on a terminal of this size. All texts are foreign.
    #[must_use]
    pub fn new(form: Form, deadline: Option<Millis>, size: Size) -> Self {
        let alone = |body, id: String, title: &str, message: Option<&str>| Self {
            id,
            title: bounded(title).to_owned(),
            message: message.map(bounded).unwrap_or_default().to_owned(),
            body,
            deadline,
            scrolled: 0,
        };
        let lone = match (&form.source, form.fields.as_slice()) {
            (FormSource::Extension, [field]) => Body::alone(&field.kind, size).map(|body| (body, field.clone())),
            _ => None,
        };
        match lone {
            Some((body, field)) => alone(body, field.id, &field.question, form.message.as_deref()),
            None => alone(Body::Panel(Box::new(FormPanel::new(form))), String::new(), "", None),
        }
    }

    /// The answer to the question that is alone.
    fn send(&self, answer: FieldAnswer) -> DialogOutcome {
        DialogOutcome::Answered(FormAnswer::Send(BTreeMap::from([(self.id.clone(), answer)])))
    }

    pub fn resize(&mut self, size: Size) {
        if let Body::Text(editor) = &mut self.body {
            editor.resize(size.width, size.height);
        }
    }

    /// Whether the rows change with the clock.
    #[must_use]
    pub fn counts_down(&self) -> bool {
        self.deadline.is_some()
    }

    pub fn paste(&mut self, pasted: &str) {
        match &mut self.body {
            Body::Choice(pick, _) => pick.paste(pasted),
            Body::Confirmation(_) => {}
            Body::Line { line, .. } => drop(line.insert(pasted)),
            Body::Text(editor) => drop(editor.paste(pasted)),
            Body::Panel(form) => form.paste(pasted),
        }
    }

    /// Takes the text from the user's editor.
    pub fn written(&mut self, text: Option<&str>) {
        if let (Body::Text(editor), Some(text)) = (&mut self.body, text) {
            editor.replace(text.trim_end());
        }
    }

    /// Handles a key; `size` is that of the terminal.
    pub fn key(&mut self, keymap: &Keymap, key: KeyEvent, size: Size) -> DialogOutcome {
        if self.scroll(keymap, key, size) {
            return DialogOutcome::Open;
        }
        let answer = match &mut self.body {
            Body::Panel(form) => {
                return form.key(keymap, key).map_or(DialogOutcome::Open, DialogOutcome::Answered);
            }
            Body::Choice(pick, labels) => match pick.key(keymap, key) {
                PickOutcome::Open => return DialogOutcome::Open,
                PickOutcome::Cancelled => None,
                PickOutcome::Picked(at) => labels.get(at).map(|label| FieldAnswer::chosen(label)),
            },
            Body::Confirmation(pick) => match pick.key(keymap, key) {
                PickOutcome::Open => return DialogOutcome::Open,
                PickOutcome::Cancelled => None,
                PickOutcome::Picked(at) => Some(FieldAnswer::text((at == 0).to_string())),
            },
            Body::Line { line, .. } => match keymap.in_list(key) {
                Some(Action::SelectCancel) => None,
                Some(Action::SelectConfirm) => Some(FieldAnswer::text(line.text())),
                _ => {
                    line.key(keymap, key);
                    return DialogOutcome::Open;
                }
            },
            Body::Text(_) if keymap.actions(Context::Dialog, key).contains(&Action::SelectCancel) => None,
            Body::Text(editor) => match editor.key(keymap, key) {
                EditorOutcome::Submit(Submission { text, .. }) | EditorOutcome::FollowUp(Submission { text, .. }) => {
                    Some(FieldAnswer::text(text))
                }
                EditorOutcome::External(text) => return DialogOutcome::External(text),
                EditorOutcome::Act(Action::Interrupt) => None,
                EditorOutcome::Ignored
                | EditorOutcome::Moved
                | EditorOutcome::Edited
                | EditorOutcome::Mistake(_)
                | EditorOutcome::Taken(_)
                | EditorOutcome::Act(_) => return DialogOutcome::Open,
            },
        };
        answer.map_or(DialogOutcome::Answered(FormAnswer::Cancel), |answer| self.send(answer))
    }

    /// Scrolls a title or a message that does not fit. Returns whether the key has done so.
    fn scroll(&mut self, keymap: &Keymap, key: KeyEvent, size: Size) -> bool {
        if matches!(self.body, Body::Panel(_)) {
            return false;
        }
        let rows = rows_count(&self.head(&Theme::default(), size.width, 0));
        let room = self.head_room(size);
        let most = rows.saturating_sub(room);
        if most == 0 {
            return false;
        }
        let page = room.saturating_sub(1).max(1);
        self.scrolled = match keymap.in_list(key) {
            Some(Action::SelectPageUp) => self.scrolled.saturating_sub(page),
            Some(Action::SelectPageDown) => self.scrolled.saturating_add(page).min(most),
            _ => return false,
        };
        true
    }

    /// The number of rows that show everything at this width.
    #[must_use]
    pub fn height(&self, columns: u16) -> u16 {
        if let Body::Panel(form) = &self.body {
            return form.height(columns);
        }
        let head = rows_count(&self.head(&Theme::default(), columns, 0));
        head.saturating_add(self.body_height(columns)).saturating_add(1)
    }

    /// Whether there are more options than a small list has.
    #[must_use]
    pub fn is_long(&self) -> bool {
        matches!(&self.body, Body::Choice(pick, _) if pick.is_long())
    }

    fn body_height(&self, columns: u16) -> u16 {
        match &self.body {
            Body::Choice(pick, _) | Body::Confirmation(pick) => pick.height(columns),
            Body::Line { .. } => 1,
            Body::Text(editor) => editor.height(),
            Body::Panel(form) => form.height(columns),
        }
    }

    /// The rows for the title and the message on a terminal of this size: the status line takes at least one row.
    fn head_room(&self, size: Size) -> u16 {
        let height = self.height(size.width).min(size.height.saturating_sub(2));
        height.saturating_sub(self.body_height(size.width).min(BODY)).saturating_sub(1).max(1)
    }

    fn head(&self, theme: &Theme, columns: u16, now: Millis) -> Vec<Line<'static>> {
        let left = self.deadline.map(|deadline| (deadline - now).max(0).cast_unsigned().div_ceil(1000));
        let title = left.map_or(self.title.clone(), |left| format!("{} ({left} s)", self.title.trim_end()));
        let rows = |text: &str, style: Style| {
            let lines: Vec<String> = text::clean_lines(text.trim_end()).lines().map(str::to_owned).collect();
            let wrapped = lines.into_iter().flat_map(|line| text::wrap(line, usize::from(columns)));
            wrapped.map(|line| line.style(style)).collect::<Vec<_>>()
        };
        let mut head = rows(&title, theme.style(Token::Accent).add_modifier(Modifier::BOLD));
        head.extend(rows(&self.message, theme.style(Token::Text)));
        head
    }

    /// Draws the question over the whole area.
    pub fn view(&self, keymap: &Keymap, theme: &Theme, (area, now): (Rect, Millis), buf: &mut Buffer) {
        if let Body::Panel(form) = &self.body {
            return form.view(keymap, theme, area, buf);
        }
        let (head, body, foot) = self.parts(theme, area, now);
        for (line, row) in head.iter().zip(area.rows()) {
            text::draw(line, row, buf);
        }
        match &self.body {
            Body::Choice(pick, _) | Body::Confirmation(pick) => pick.view(theme, body, buf),
            Body::Line { line, placeholder } => {
                line.view(Span::styled("> ", theme.style(Token::Accent)), theme.style(Token::Text), body, buf);
                if line.is_empty() && !body.is_empty() {
                    let hint = text::fit(placeholder, usize::from(body.width).saturating_sub(4)).into_owned();
                    let row = Rect { x: body.x + 3.min(body.width), width: body.width.saturating_sub(3), ..body };
                    let hint = Line::from(Span::styled(hint, theme.style(Token::Dim)));
                    buf.set_line(row.x, row.y, &hint, row.width);
                }
            }
            Body::Text(editor) => editor.view(theme, body, buf),
            Body::Panel(_) => {}
        }
        let hints: &[hint::Hint<'static>] = match &self.body {
            Body::Choice(..) | Body::Confirmation(_) => {
                &[(&[Action::SelectConfirm], "choose"), (&[Action::SelectCancel], "cancel")]
            }
            Body::Line { .. } => &[(&[Action::SelectConfirm], "answer"), (&[Action::SelectCancel], "cancel")],
            Body::Panel(_) => &[],
            Body::Text(_) => &[
                (&[Action::Submit], "answer"),
                (&[Action::SelectCancel], "cancel"),
                (&[Action::NewLine], "new line"),
                (&[Action::ExternalEditor], "editor"),
            ],
        };
        let hints = hint::fit(keymap, hints, usize::from(area.width).saturating_sub(2));
        if !foot.is_empty() {
            text::draw(&Line::styled(format!("  {hints}"), theme.style(Token::Dim)), foot, buf);
        }
    }

    /// The text cursor, if it is in an editor.
    #[must_use]
    pub fn cursor(&self, theme: &Theme, area: Rect, now: Millis) -> Option<Position> {
        let (_, body, _) = self.parts(theme, area, now);
        if let Body::Text(editor) = &self.body { editor.cursor(body) } else { None }
    }

    /// The rows of the title and the message that fit, and the areas of the body and of the keys.
    fn parts(&self, theme: &Theme, area: Rect, now: Millis) -> (Vec<Line<'static>>, Rect, Rect) {
        let mut head = self.head(theme, area.width, now);
        let (all, wanted) = (rows_count(&head), self.body_height(area.width));
        let below = area.height.saturating_sub(1);
        let room = below.saturating_sub(wanted.min(BODY)).max(1).min(below);
        if all > room {
            let first = self.scrolled.min(all - room);
            head.drain(..usize::from(first));
            head.truncate(usize::from(room));
            let more = all - first - room;
            if let Some(last) = head.last_mut().filter(|_| more > 0) {
                let words = format!("… {} more rows · pgup, pgdn", more + 1);
                let words = text::fit(&words, usize::from(area.width)).into_owned();
                *last = Line::styled(words, theme.style(Token::Warning));
            }
        }
        let taken = rows_count(&head);
        let body = Rect { y: area.y + taken, height: below.saturating_sub(taken), ..area };
        let foot = Rect { y: area.y + below, height: area.height.min(1), ..area };
        (head, body, foot)
    }
}

fn rows_count(rows: &[Line<'_>]) -> u16 {
    u16::try_from(rows.len()).unwrap_or(u16::MAX)
}

fn bounded(text: &str) -> &str {
    text.get(..text.floor_char_boundary(MAX_BYTES)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use offshoot_protocol::FormField;
    use proptest::prelude::*;

    use super::*;
    use crate::keymap::Key;
    use crate::testing::screen_of;

    const SIZE: Size = Size { width: 40, height: 12 };

    fn asked((title, message): (&str, Option<&str>), kind: FieldKind) -> Form {
        let (id, question) = ("answer".to_owned(), title.to_owned());
        let field = FormField { id, header: None, question, kind, required: true };
        Form { source: FormSource::Extension, message: message.map(str::to_owned), fields: vec![field] }
    }

    fn dialog(title: &str, kind: FieldKind) -> Dialog {
        Dialog::new(asked((title, None), kind), None, SIZE)
    }

    fn options(options: &[&str]) -> FieldKind {
        FieldKind::one_of(options.iter().map(|option| (*option).to_owned()))
    }

    fn written(default: Option<&str>, placeholder: Option<&str>, is_long: bool) -> FieldKind {
        let (default, placeholder) = (default.map(str::to_owned), placeholder.map(str::to_owned));
        FieldKind::Text { default, placeholder, is_long, min_length: None, max_length: None, format: None }
    }

    fn sent(answer: FieldAnswer) -> DialogOutcome {
        DialogOutcome::Answered(FormAnswer::Send(BTreeMap::from([("answer".to_owned(), answer)])))
    }

    const CANCELLED: DialogOutcome = DialogOutcome::Answered(FormAnswer::Cancel);

    fn screen(dialog: &Dialog) -> String {
        let height = dialog.height(SIZE.width).min(SIZE.height - 2);
        screen_of(SIZE.width, height, |theme, area, buf| dialog.view(&Keymap::default(), theme, (area, 1_000), buf))
    }

    fn press(dialog: &mut Dialog, keys: &str) -> DialogOutcome {
        let mut outcome = DialogOutcome::Open;
        for key in keys.split(' ') {
            outcome = dialog.key(&Keymap::default(), Key::parse(key).unwrap().event(), SIZE);
        }
        outcome
    }

    #[test]
    fn a_choice_of_a_few_options() {
        let mut choice =
            dialog("This command deletes files:\n\n  rm -rf build\n", options(&["Run it", "Refuse", "Say why"]));
        insta::assert_snapshot!(screen(&choice), @"
        This command deletes files:

          rm -rf build
        › Run it
          Refuse
          Say why
          enter choose · esc cancel
        ");
        assert_eq!(press(&mut choice, "down enter"), sent(FieldAnswer::chosen("Refuse")));
        assert_eq!(
            press(&mut choice, "s"),
            sent(FieldAnswer::chosen("Say why")),
            "the first letter of one answer alone"
        );
        assert_eq!(press(&mut choice, "escape"), CANCELLED);
    }

    #[test]
    fn many_options_are_searched() {
        let names: Vec<String> = (1..=20).map(|at| format!("option {at}")).collect();
        let mut choice = dialog("Which?", FieldKind::one_of(names));
        assert_eq!(press(&mut choice, "1 7"), DialogOutcome::Open);
        insta::assert_snapshot!(screen(&choice).trim_end(), @"
        Which?
        > 17
        › option 17






          enter choose · esc cancel
        ");
        assert_eq!(press(&mut choice, "enter"), sent(FieldAnswer::chosen("option 17")));
    }

    #[test]
    fn a_question_counts_down() {
        let words = ("Delete it?", Some("All entries of this branch go."));
        let mut confirm = Dialog::new(asked(words, FieldKind::Flag { default: None }), Some(6_500), SIZE);
        insta::assert_snapshot!(screen(&confirm), @"
        Delete it? (6 s)
        All entries of this branch go.
        › Yes
          No
          enter choose · esc cancel
        ");
        assert_eq!(press(&mut confirm, "n"), sent(FieldAnswer::text("false")));
        assert_eq!(press(&mut confirm, "y"), sent(FieldAnswer::text("true")));
        assert_eq!(press(&mut confirm, "ctrl+c"), CANCELLED);
    }

    #[test]
    fn a_line_and_a_text_are_written() {
        let mut line = dialog("Your name?", written(None, Some("first and last"), false));
        insta::assert_snapshot!(screen(&line), @"
        Your name?
        >  first and last
          enter answer · esc cancel
        ");
        assert_eq!(press(&mut line, "a b enter"), sent(FieldAnswer::text("ab")));
        let mut text = dialog("The message", written(Some("one\ntwo"), None, true));
        insta::assert_snapshot!(screen(&text), @"
        The message
        ────────────────────────────────────────
        one
        two
        ────────────────────────────────────────
          enter answer · esc cancel
        ");
        assert_eq!(press(&mut text, "shift+enter / x ctrl+g"), DialogOutcome::External("one\ntwo\n/x".to_owned()));
        text.written(Some("other\n"));
        assert_eq!(press(&mut text, "enter"), sent(FieldAnswer::text("other")));
        assert_eq!(press(&mut text, "escape"), CANCELLED);
    }

    /// Whoever is asked about a long command must be able to read all of it.
    #[test]
    fn a_long_title_is_scrolled() {
        let title = (1..=30).map(|at| format!("line {at}")).collect::<Vec<_>>().join("\n");
        let mut choice = dialog(&title, options(&["Yes", "No"]));
        insta::assert_snapshot!(screen(&choice), @"
        line 1
        line 2
        line 3
        line 4
        line 5
        line 6
        … 24 more rows · pgup, pgdn
        › Yes
          No
          enter choose · esc cancel
        ");
        let mut seen = screen(&choice);
        for _ in 0..6 {
            press(&mut choice, "pageDown");
            seen.push_str(&screen(&choice));
        }
        assert!((1..=30).all(|at| seen.contains(&format!("line {at}\n"))), "{seen}");
        assert_eq!(press(&mut choice, "enter"), sent(FieldAnswer::chosen("Yes")));
    }

    proptest! {
        #[test]
        fn hostile_text_stays_inside(hostile in crate::testing::hostile(), columns in 0..60_u16, rows in 0..14_u16) {
            let size = Size::new(columns, rows);
            for kind in [
                FieldKind::one_of(vec![hostile.clone(); 3]),
                FieldKind::one_of(vec![hostile.clone(); 9]),
                FieldKind::Flag { default: None },
                written(None, Some(&hostile), false),
                written(Some(&hostile), None, true),
            ] {
                let form = asked((&hostile, Some(&hostile)), kind);
                let mut dialog = Dialog::new(form, Some(9_000), size);
                dialog.key(&Keymap::default(), Key::parse("pageDown").unwrap().event(), size);
                crate::testing::assert_inside(columns, rows, |area, buf| {
                    dialog.view(&Keymap::default(), &Theme::default(), (area, 0), buf);
                });
            }
        }
    }
}
