//! A form of questions: one is shown at a time, and all answers once more before they are sent. Keys and answers; how it looks is in
//! `view`. It does not know who asks.

mod view;

use std::collections::BTreeMap;

use offshoot_protocol::{FieldAnswer, FieldKind, Form, FormAnswer, FormField};
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use crate::keymap::{Action, Keymap};
use crate::overlay::line::LineInput;

/// A form that is being answered.
#[derive(Debug, Clone)]
pub struct FormPanel {
    form: Form,
    drafts: Vec<DraftAnswer>,
    /// The question that is shown; after the last one the answers are.
    at: usize,
    /// Why an answer was not taken.
    problem: Option<String>,
}

/// What is chosen and typed for a question.
#[derive(Debug, Clone)]
struct DraftAnswer {
    chosen: Vec<bool>,
    line: LineInput,
    /// The selected row: an option, or the line after them.
    row: usize,
    is_given: bool,
}

/// The options of a question, as rows.
fn labels(kind: &FieldKind) -> Vec<&str> {
    match kind {
        FieldKind::Choice { options, .. } => options.iter().map(|option| option.label.as_str()).collect(),
        FieldKind::Flag { .. } => vec!["Yes", "No"],
        FieldKind::Text { .. } | FieldKind::Number { .. } => Vec::new(),
    }
}

/// Whether a text can be typed.
fn has_line(kind: &FieldKind) -> bool {
    match kind {
        FieldKind::Choice { other, .. } => *other,
        FieldKind::Text { .. } | FieldKind::Number { .. } => true,
        FieldKind::Flag { .. } => false,
    }
}

fn is_multi(kind: &FieldKind) -> bool {
    matches!(kind, FieldKind::Choice { multi: true, .. })
}

impl DraftAnswer {
    fn new(field: &FormField) -> Self {
        let (row, text) = match &field.kind {
            FieldKind::Choice { recommended, chosen, .. } => {
                (recommended.or(chosen.first().copied()).unwrap_or_default(), String::new())
            }
            FieldKind::Flag { default } => (usize::from(*default == Some(false)), String::new()),
            FieldKind::Text { default, .. } => (0, default.clone().unwrap_or_default()),
            FieldKind::Number { default, .. } => (0, default.map(|number| number.to_string()).unwrap_or_default()),
        };
        // What is chosen unless the person chooses otherwise is an answer.
        let usual: &[usize] = match &field.kind {
            FieldKind::Choice { chosen, .. } => chosen,
            FieldKind::Flag { default: Some(true) } => &[0],
            FieldKind::Flag { default: Some(false) } => &[1],
            FieldKind::Flag { default: None } | FieldKind::Text { .. } | FieldKind::Number { .. } => &[],
        };
        let chosen = (0..labels(&field.kind).len()).map(|at| usual.contains(&at)).collect();
        Self { chosen, line: LineInput::new(&text), row, is_given: !usual.is_empty() }
    }

    /// `None` where nothing was given.
    fn answer(&self, kind: &FieldKind) -> Option<FieldAnswer> {
        let text = Some(self.line.text().trim()).filter(|text| !text.is_empty()).map(str::to_owned);
        match kind {
            FieldKind::Choice { .. } => {
                let labels = labels(kind).into_iter().zip(&self.chosen);
                let selected = labels.filter(|(_, chosen)| **chosen).map(|(label, _)| label.to_owned()).collect();
                self.is_given.then_some(FieldAnswer { selected, text })
            }
            FieldKind::Flag { .. } => {
                let yes = self.chosen.first().copied().unwrap_or_default();
                self.is_given.then(|| FieldAnswer::text(yes.to_string()))
            }
            FieldKind::Text { .. } | FieldKind::Number { .. } => text.map(FieldAnswer::text),
        }
    }
}

impl FormPanel {
    /// The questions of a form, from the first.
    #[must_use]
    pub fn new(form: Form) -> Self {
        let drafts = form.fields.iter().map(DraftAnswer::new).collect();
        Self { form, drafts, at: 0, problem: None }
    }

    fn field(&self) -> Option<(&FormField, &DraftAnswer)> {
        self.form.fields.get(self.at).zip(self.drafts.get(self.at))
    }

    fn is_on_line(&self) -> bool {
        self.field().is_some_and(|(field, draft)| has_line(&field.kind) && draft.row >= draft.chosen.len())
    }

    /// A text goes into the line.
    pub fn paste(&mut self, text: &str) {
        let Some(field) = self.form.fields.get(self.at) else { return };
        let Some(draft) = self.drafts.get_mut(self.at).filter(|_| has_line(&field.kind)) else { return };
        draft.row = draft.chosen.len();
        draft.line.insert(text);
    }

    /// Handles a key. The outcome is there when the form was sent or closed.
    pub fn key(&mut self, keymap: &Keymap, key: KeyEvent) -> Option<FormAnswer> {
        self.problem = None;
        let is_plain = key.modifiers.difference(KeyModifiers::SHIFT).is_empty() && !key.is_release();
        match (key.code, keymap.in_list(key)) {
            (_, Some(Action::SelectCancel)) => return Some(FormAnswer::Cancel),
            (_, Some(Action::SelectConfirm)) => return self.confirm(),
            (_, Some(Action::SelectUp)) => self.select(|row, last| if row == 0 { last } else { row - 1 }),
            (_, Some(Action::SelectDown)) => self.select(|row, last| if row >= last { 0 } else { row + 1 }),
            (KeyCode::BackTab, _) => self.go(self.at.saturating_sub(1)),
            (KeyCode::Tab, _) if key.modifiers.contains(KeyModifiers::SHIFT) => self.go(self.at.saturating_sub(1)),
            (KeyCode::Tab, _) => self.go(self.at + 1),
            (KeyCode::Left, _) if !self.is_on_line() => self.go(self.at.saturating_sub(1)),
            (KeyCode::Right, _) if !self.is_on_line() => self.go(self.at + 1),
            (KeyCode::Char(' '), _) if is_plain && !self.is_on_line() => self.toggle(),
            (KeyCode::Char(digit @ '1'..='9'), _) if is_plain && !self.is_on_line() => {
                return self.choose_number(usize::try_from(u32::from(digit) - u32::from('1')).unwrap_or_default());
            }
            _ => self.type_key(keymap, key),
        }
        None
    }

    fn go(&mut self, at: usize) {
        // One question has nothing to look at again.
        let last = if self.form.fields.len() == 1 { 0 } else { self.form.fields.len() };
        self.at = at.min(last);
    }

    fn select(&mut self, next: impl Fn(usize, usize) -> usize) {
        let Some(field) = self.form.fields.get(self.at) else { return };
        let Some(draft) = self.drafts.get_mut(self.at) else { return };
        let rows = draft.chosen.len() + usize::from(has_line(&field.kind));
        draft.row = next(draft.row, rows.saturating_sub(1));
    }

    fn toggle(&mut self) {
        let is_multi = self.form.fields.get(self.at).is_some_and(|field| is_multi(&field.kind));
        if let Some(draft) = self.drafts.get_mut(self.at).filter(|_| is_multi)
            && let Some(chosen) = draft.chosen.get_mut(draft.row)
        {
            *chosen = !*chosen;
        }
    }

    /// A number chooses an option; of several it marks one.
    fn choose_number(&mut self, row: usize) -> Option<FormAnswer> {
        let is_multi = self.form.fields.get(self.at).is_some_and(|field| is_multi(&field.kind));
        let draft = self.drafts.get_mut(self.at)?;
        if row > draft.chosen.len() {
            return None;
        }
        draft.row = row;
        if is_multi {
            self.toggle();
            return None;
        }
        if self.is_on_line() { None } else { self.confirm() }
    }

    /// A letter goes to the line, also from an option.
    fn type_key(&mut self, keymap: &Keymap, key: KeyEvent) {
        let Some(field) = self.form.fields.get(self.at).filter(|field| has_line(&field.kind)) else { return };
        let is_letter =
            matches!(key.code, KeyCode::Char(_)) && key.modifiers.difference(KeyModifiers::SHIFT).is_empty();
        let rows = labels(&field.kind).len();
        let Some(draft) = self.drafts.get_mut(self.at).filter(|draft| draft.row >= rows || is_letter) else { return };
        draft.row = rows;
        draft.line.key(keymap, key);
    }

    /// Takes the answer and goes on; after the last question the form is sent.
    fn confirm(&mut self) -> Option<FormAnswer> {
        let Some(field) = self.form.fields.get(self.at) else { return self.send() };
        let draft = self.drafts.get_mut(self.at)?;
        if is_multi(&field.kind) {
            let is_on_option = draft.row < draft.chosen.len();
            if is_on_option && !draft.chosen.contains(&true) && draft.line.is_empty() {
                draft.chosen[draft.row] = true;
            }
        } else if draft.row < draft.chosen.len() {
            draft.chosen.iter_mut().enumerate().for_each(|(at, chosen)| *chosen = at == draft.row);
            if matches!(field.kind, FieldKind::Choice { .. }) {
                draft.line = LineInput::default();
            }
        } else {
            draft.chosen.iter_mut().for_each(|chosen| *chosen = false);
        }
        draft.is_given = true;
        let checked = match draft.answer(&field.kind) {
            Some(answer) => field.check(&answer),
            None if field.required => Err("nothing is typed".to_owned()),
            None => Ok(()),
        };
        if let Err(problem) = checked {
            draft.is_given = false;
            self.problem = Some(problem);
            return None;
        }
        if self.form.fields.len() == 1 {
            return self.send();
        }
        self.at += 1;
        None
    }

    /// Goes to the first question that lacks an answer, if one does.
    fn send(&mut self) -> Option<FormAnswer> {
        let answers = self.answers();
        let lacks = |field: &FormField| field.required && !answers.contains_key(&field.id);
        if let Some(at) = self.form.fields.iter().position(lacks) {
            self.at = at;
            self.problem = Some("this has no answer yet".to_owned());
            return None;
        }
        if let Err(problem) = self.form.check(&answers) {
            self.problem = Some(problem);
            return None;
        }
        Some(FormAnswer::Send(answers))
    }

    fn answers(&self) -> BTreeMap<String, FieldAnswer> {
        let fields = self.form.fields.iter().zip(&self.drafts);
        fields.filter_map(|(field, draft)| Some((field.id.clone(), draft.answer(&field.kind)?))).collect()
    }
}

#[cfg(test)]
mod tests {
    use offshoot_protocol::{FormOption, FormSource};

    use super::*;
    use crate::keymap::Key;
    use crate::testing::screen_of;

    fn field(id: &str, kind: FieldKind) -> FormField {
        let question = format!("Which {id}?");
        FormField { id: id.to_owned(), header: Some(id.to_owned()), question, kind, required: true }
    }

    fn choice(id: &str, multi: bool) -> FormField {
        let option = |label: &str, description: Option<&str>| FormOption {
            label: label.to_owned(),
            description: description.map(str::to_owned),
            preview: None,
        };
        let options = vec![option("red", Some("As in the old design")), option("blue", None), option("green", None)];
        let (chosen, minimum, maximum) = (Vec::new(), None, None);
        field(id, FieldKind::Choice { options, multi, recommended: Some(1), other: true, chosen, minimum, maximum })
    }

    fn panel(fields: Vec<FormField>) -> FormPanel {
        FormPanel::new(Form { source: FormSource::Tool("ask".to_owned()), message: None, fields })
    }

    fn press(panel: &mut FormPanel, keys: &str) -> Option<FormAnswer> {
        let events = keys.split(' ').map(|key| Key::parse(key).unwrap().event());
        events.map(|event| panel.key(&Keymap::default(), event)).last().flatten()
    }

    fn screen(panel: &FormPanel) -> String {
        let height = panel.height(44).min(20);
        screen_of(44, height, |theme, area, buf| panel.view(&Keymap::default(), theme, area, buf))
    }

    fn sent(answers: &[(&str, FieldAnswer)]) -> Option<FormAnswer> {
        let answers = answers.iter().map(|(id, answer)| ((*id).to_owned(), answer.clone()));
        Some(FormAnswer::Send(answers.collect()))
    }

    #[test]
    fn a_long_question_is_cut_with_a_mark() {
        let question = (1..=30).map(|row| format!("line {row}\n")).collect::<String>();
        let mut colour = choice("colour", false);
        colour.question = question;
        let panel = panel(vec![colour]);
        let shown = screen_of(44, 8, |theme, area, buf| panel.view(&Keymap::default(), theme, area, buf));
        insta::assert_snapshot!(shown, @"
        line 1
        line 2
        line 3
        … 27 more rows; the call above has all of it
          1. red
             As in the old design
        › 2. blue (recommended)
          enter answer · esc not answered
        ");
    }

    #[test]
    fn one_question_is_answered_by_one_key() {
        let mut colour = panel(vec![choice("colour", false)]);
        insta::assert_snapshot!(screen(&colour), @"
        Which colour?
          1. red
             As in the old design
        › 2. blue (recommended)
          3. green
          4. your own words
          enter answer · esc not answered
        ");
        assert_eq!(press(&mut colour, "3"), sent(&[("colour", FieldAnswer::chosen("green"))]));
        let mut colour = panel(vec![choice("colour", false)]);
        assert_eq!(press(&mut colour, "enter"), sent(&[("colour", FieldAnswer::chosen("blue"))]));
        let mut colour = panel(vec![choice("colour", false)]);
        assert_eq!(press(&mut colour, "p i n k enter"), sent(&[("colour", FieldAnswer::text("pink"))]));
        let mut colour = panel(vec![choice("colour", false)]);
        assert_eq!(press(&mut colour, "up up enter"), None, "nothing is typed");
        assert_eq!(press(&mut colour, "escape"), Some(FormAnswer::Cancel));
    }

    /// As servers ask.
    #[test]
    fn what_is_proposed_is_an_answer_until_the_person_gives_another() {
        let mut colour = choice("colour", true);
        if let FieldKind::Choice { chosen, maximum, .. } = &mut colour.kind {
            (*chosen, *maximum) = (vec![0, 2], Some(2));
        }
        let form = || panel(vec![colour.clone(), field("quick", FieldKind::Flag { default: Some(false) })]);
        let both = FieldAnswer { selected: vec!["red".to_owned(), "green".to_owned()], text: None };
        let expected = sent(&[("colour", both), ("quick", FieldAnswer::text("false"))]);
        assert_eq!(press(&mut form(), "tab tab enter"), expected);
        let mut form = form();
        assert_eq!(press(&mut form, "2 enter"), None);
        assert!(screen(&form).contains("at most 2 can be chosen"), "{}", screen(&form));
        let both = FieldAnswer { selected: vec!["blue".to_owned(), "green".to_owned()], text: None };
        let expected = sent(&[("colour", both), ("quick", FieldAnswer::text("true"))]);
        assert_eq!(press(&mut form, "1 enter 1 enter"), expected);
    }

    #[test]
    fn answers_are_looked_at_and_changed_before_they_are_sent() {
        let number = FieldKind::Number { integer: true, minimum: Some(1.0), maximum: None, default: None };
        let mut form = panel(vec![
            choice("colour", true),
            field("size", number),
            field("quick", FieldKind::Flag { default: Some(false) }),
        ]);
        assert_eq!(press(&mut form, "1 3 enter x enter"), None);
        insta::assert_snapshot!(screen(&form), @r#"
         ✓ colour  size  ✓ quick  Send
        Which size?
        "x" is not a number
        › x
          enter answer · esc not answered
        "#);
        assert_eq!(press(&mut form, "backspace 4 enter enter"), None);
        insta::assert_snapshot!(screen(&form), @"
         ✓ colour  ✓ size  ✓ quick  Send
        Send these answers?
        colour: red, green
        size: 4
        quick: No
          enter send · esc not answered
        ");
        // Back to the first question: the second of its options is no answer any more.
        assert_eq!(press(&mut form, "shift+tab shift+tab shift+tab up up space enter enter enter"), None);
        let colour = FieldAnswer::chosen("green");
        let answers = [("colour", colour), ("size", FieldAnswer::text("4")), ("quick", FieldAnswer::text("false"))];
        assert_eq!(press(&mut form, "enter"), sent(&answers));
    }
}
