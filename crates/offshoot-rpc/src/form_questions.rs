//! The questions of a form in pi's UI sub-protocol, one after another: choices, lines and yes or no. Sends nothing.

use std::collections::BTreeMap;

use offshoot_protocol::{FieldAnswer, FieldKind, Form, FormAnswer, FormField};
use offshoot_session::text::spell_name;

use crate::request::UiResponse;
use crate::ui_request::UiMethod;

const PREFIX: &str = "question-";
/// An answer in one's own words, as in omp.
const OTHER: &str = "Other (type your own)";
const DONE: &str = "Done";

/// The forms that wait for answers, by their number.
#[derive(Default)]
pub(crate) struct OpenForms {
    open: BTreeMap<u64, OpenForm>,
}

struct OpenForm {
    form: Form,
    answers: BTreeMap<String, FieldAnswer>,
    /// The question that is asked.
    at: usize,
    /// Whether its answer is being written.
    is_writing: bool,
    /// How many questions were asked: an answer to an earlier one has another id.
    asked: usize,
}

/// What an answer leads to.
pub(crate) enum FormStep {
    Ask(String, UiMethod),
    Answer(FormAnswer),
}

impl OpenForms {
    /// The first question of a form.
    pub(crate) fn begin(&mut self, id: u64, form: Form, timeout: Option<u64>) -> Option<(String, UiMethod)> {
        let open = OpenForm { form, answers: BTreeMap::new(), at: 0, is_writing: false, asked: 0 };
        let question = open.question(id, timeout)?;
        self.open.insert(id, open);
        Some(question)
    }

    /// Nobody waits for its answer any more.
    pub(crate) fn end(&mut self, id: u64) {
        self.open.remove(&id);
    }

    /// `None` for an answer to nothing that is asked.
    pub(crate) fn answer(&mut self, response: &UiResponse, timeout: Option<u64>) -> Option<(u64, FormStep)> {
        let given = response.id.strip_prefix(PREFIX)?;
        let (id, asked) = given.split_once('-')?;
        let id = id.parse().ok()?;
        let open = self.open.get_mut(&id).filter(|open| open.asked.to_string() == asked)?;
        if response.cancelled == Some(true) || !open.take(response) {
            self.open.remove(&id);
            return Some((id, FormStep::Answer(FormAnswer::Cancel)));
        }
        open.asked += 1;
        match open.question(id, timeout) {
            Some((question, method)) => Some((id, FormStep::Ask(question, method))),
            None => {
                let open = self.open.remove(&id)?;
                Some((id, FormStep::Answer(FormAnswer::Send(open.answers))))
            }
        }
    }
}

impl OpenForm {
    /// The next question; `None` after the last one.
    fn question(&self, id: u64, timeout: Option<u64>) -> Option<(String, UiMethod)> {
        let field = self.form.fields.get(self.at)?;
        let title = match &self.form.message {
            Some(message) if self.at == 0 => format!("{message}\n{}", field.question),
            _ => field.question.clone(),
        };
        let title = title.lines().map(spell_name).collect::<Vec<_>>().join("\n");
        let method = match &field.kind {
            FieldKind::Choice { .. } if !self.is_writing => {
                UiMethod::Select { title, options: self.options(field), timeout }
            }
            FieldKind::Flag { .. } => UiMethod::Confirm { title, message: String::new(), timeout },
            FieldKind::Text { default: Some(text) } => UiMethod::Editor { title, prefill: text.clone() },
            FieldKind::Choice { .. } | FieldKind::Text { .. } | FieldKind::Number { .. } => {
                UiMethod::Input { title, placeholder: String::new(), timeout }
            }
        };
        Some((format!("{PREFIX}{id}-{}", self.asked), method))
    }

    fn chosen(&self, field: &FormField) -> &[String] {
        self.answers.get(&field.id).map_or(&[], |answer| &answer.selected)
    }

    /// The words of the options. Of several that may be chosen, those that are have a mark.
    fn options(&self, field: &FormField) -> Vec<String> {
        let FieldKind::Choice { options, multi, recommended, other } = &field.kind else { return Vec::new() };
        let words = |(at, option): (usize, &offshoot_protocol::FormOption)| {
            let mark = match multi {
                true if self.chosen(field).contains(&option.label) => "[x] ",
                true => "[ ] ",
                false => "",
            };
            let end = if *recommended == Some(at) { " (Recommended)" } else { "" };
            format!("{mark}{}{end}", spell_name(&option.label))
        };
        let done = multi.then(|| DONE.to_owned());
        let other = other.then(|| OTHER.to_owned());
        options.iter().enumerate().map(words).chain(done).chain(other).collect()
    }

    /// Takes an answer. `false` if it is none.
    fn take(&mut self, response: &UiResponse) -> bool {
        let Some(field) = self.form.fields.get(self.at).cloned() else { return false };
        let answer = match (&field.kind, response.value.as_deref()) {
            (FieldKind::Flag { .. }, _) => FieldAnswer::text((response.confirmed == Some(true)).to_string()),
            (_, None) => return false,
            (FieldKind::Choice { options, multi, .. }, Some(value)) if !self.is_writing => {
                let words = self.options(&field);
                let Some(place) = words.iter().position(|known| known == value) else { return false };
                match options.get(place) {
                    Some(option) if *multi => {
                        let answer = self.answers.entry(field.id.clone()).or_default();
                        match answer.selected.iter().position(|label| *label == option.label) {
                            Some(at) => drop(answer.selected.remove(at)),
                            None => answer.selected.push(option.label.clone()),
                        }
                        return true;
                    }
                    Some(option) => FieldAnswer::chosen(&option.label),
                    None if value == DONE => self.answers.get(&field.id).cloned().unwrap_or_default(),
                    None => {
                        self.is_writing = true;
                        return true;
                    }
                }
            }
            (FieldKind::Choice { multi, .. }, Some(value)) => {
                let selected = if *multi { self.chosen(&field).to_vec() } else { Vec::new() };
                FieldAnswer { selected, text: Some(value.to_owned()) }
            }
            (FieldKind::Text { .. } | FieldKind::Number { .. }, Some(value)) => FieldAnswer::text(value),
        };
        if field.check(&answer).is_err() {
            return false;
        }
        self.answers.insert(field.id, answer);
        (self.at, self.is_writing) = (self.at + 1, false);
        true
    }
}

#[cfg(test)]
mod tests {
    use offshoot_protocol::{FormOption, FormSource};
    use serde_json::json;

    use super::*;

    fn form() -> Form {
        let option = |label: &str| FormOption { label: label.to_owned(), description: None, preview: None };
        let choice = |id: &str, multi| FormField {
            id: id.to_owned(),
            header: None,
            question: format!("Which {id}?"),
            kind: FieldKind::Choice {
                options: vec![option("x"), option("y")],
                multi,
                recommended: Some(1),
                other: true,
            },
            required: true,
        };
        Form {
            source: FormSource::Tool("ask".to_owned()),
            message: None,
            fields: vec![choice("a", false), choice("b", true)],
        }
    }

    /// Answers each question in turn; gives what was asked, and the outcome.
    fn play(answers: &[serde_json::Value]) -> (Vec<String>, Option<FormAnswer>) {
        let mut forms = OpenForms::default();
        let mut next = forms.begin(7, form(), None);
        let mut asked = Vec::new();
        for answer in answers {
            let (id, method) = next.take().unwrap();
            asked.push(serde_json::to_value(&method).unwrap().to_string());
            let mut answer = answer.clone();
            answer["id"] = json!(id);
            match forms.answer(&serde_json::from_value(answer).unwrap(), None).unwrap() {
                (7, FormStep::Ask(id, method)) => next = Some((id, method)),
                (7, FormStep::Answer(answer)) => return (asked, Some(answer)),
                (other, _) => panic!("{other}"),
            }
        }
        (asked, None)
    }

    #[test]
    fn questions_come_one_after_another_and_several_options_are_marked() {
        let answers =
            [json!({"value": OTHER}), json!({"value": "z"}), json!({"value": "[ ] x"}), json!({"value": DONE})];
        let (asked, outcome) = play(&answers);
        assert_eq!(
            asked[0],
            r#"{"method":"select","title":"Which a?","options":["x","y (Recommended)","Other (type your own)"]}"#
        );
        assert!(asked[1].starts_with(r#"{"method":"input""#), "{}", asked[1]);
        assert!(asked[3].contains(r#"["[x] x","[ ] y (Recommended)","Done","Other (type your own)"]"#), "{}", asked[3]);
        let expected =
            BTreeMap::from([("a".to_owned(), FieldAnswer::text("z")), ("b".to_owned(), FieldAnswer::chosen("x"))]);
        assert_eq!(outcome, Some(FormAnswer::Send(expected)));
    }

    #[test]
    fn whatever_is_no_answer_closes_the_form() {
        for no in [json!({"cancelled": true}), json!({"value": "w"}), json!({})] {
            assert_eq!(play(&[no]).1, Some(FormAnswer::Cancel));
        }
    }
}
