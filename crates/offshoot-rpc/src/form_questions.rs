//! The questions of a form in pi's UI sub-protocol, one after another: choices, lines and yes or no. Sends nothing.

use std::collections::BTreeMap;

use offshoot_protocol::{FieldAnswer, FieldKind, Form, FormAnswer, FormField, FormSource};
use offshoot_session::text::spell_name;

use crate::request::UiResponse;
use crate::ui_request::UiMethod;

const PREFIX: &str = "question-";
/// An answer in one's own words, as in omp.
const OTHER: &str = "Other (type your own)";
const DONE: &str = "Done";
/// For a choice that need not be made.
const NONE: &str = "(no answer)";
/// Who gives more answers that do not fit gives none.
const MOST_PROBLEMS: usize = 5;

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
    /// What is wrong with the last answer; the question is asked again.
    problem: Option<String>,
    problems: usize,
}

/// What an answer leads to.
pub(crate) enum FormStep {
    Ask(String, UiMethod),
    Answer(FormAnswer),
}

impl OpenForms {
    /// The first question of a form.
    pub(crate) fn begin(&mut self, id: u64, form: Form, timeout: Option<u64>) -> Option<(String, UiMethod)> {
        let answers = form.fields.iter().filter_map(usual_answer).collect();
        let open = OpenForm { form, answers, at: 0, is_writing: false, asked: 0, problem: None, problems: 0 };
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
        let question = match &self.problem {
            Some(problem) => format!("{} ({problem})", field.question),
            None => field.question.clone(),
        };
        let title = match &self.form.message {
            Some(message) if self.at == 0 => format!("{message}\n{question}"),
            _ => question,
        };
        let title = match &self.form.source {
            FormSource::Mcp(server) if self.at == 0 => format!("The MCP server {server} asks\n{title}"),
            FormSource::Mcp(_) | FormSource::Tool(_) | FormSource::Extension => title,
        };
        let title = title.lines().map(spell_name).collect::<Vec<_>>().join("\n");
        let method = match &field.kind {
            FieldKind::Choice { .. } if !self.is_writing => {
                UiMethod::Select { title, options: self.options(field), timeout }
            }
            FieldKind::Flag { .. } => UiMethod::Confirm { title, message: String::new(), timeout },
            FieldKind::Text { default, is_long, .. } if *is_long || default.is_some() => {
                UiMethod::Editor { title, prefill: default.clone().unwrap_or_default() }
            }
            FieldKind::Text { placeholder: Some(placeholder), .. } => {
                UiMethod::Input { title, placeholder: placeholder.clone(), timeout }
            }
            FieldKind::Number { default: Some(number), .. } => UiMethod::Editor { title, prefill: number.to_string() },
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
        let FieldKind::Choice { options, multi, recommended, other, chosen, .. } = &field.kind else {
            return Vec::new();
        };
        let words = |(at, option): (usize, &offshoot_protocol::FormOption)| {
            let mark = match multi {
                true if self.chosen(field).contains(&option.label) => "[x] ",
                true => "[ ] ",
                false => "",
            };
            let end = match (*recommended == Some(at), !multi && chosen.contains(&at)) {
                (true, _) => " (Recommended)",
                (false, true) => " (Default)",
                (false, false) => "",
            };
            format!("{mark}{}{end}", spell_name(&option.label))
        };
        let done = multi.then(|| DONE.to_owned());
        let other = other.then(|| OTHER.to_owned());
        let none = (!multi && !field.required).then(|| NONE.to_owned());
        options.iter().enumerate().map(words).chain(done).chain(other).chain(none).collect()
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
                    None if value == NONE => return self.next(&field.id),
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
            (FieldKind::Text { .. } | FieldKind::Number { .. }, Some("")) if !field.required => {
                return self.next(&field.id);
            }
            (FieldKind::Text { .. } | FieldKind::Number { .. }, Some(value)) => FieldAnswer::text(value),
        };
        if let Err(problem) = field.check(&answer) {
            self.problems += 1;
            self.problem = Some(problem);
            return self.problems <= MOST_PROBLEMS;
        }
        self.answers.insert(field.id, answer);
        (self.at, self.is_writing, self.problem) = (self.at + 1, false, None);
        true
    }

    /// Leaves a question without an answer.
    fn next(&mut self, id: &str) -> bool {
        self.answers.remove(id);
        (self.at, self.is_writing, self.problem) = (self.at + 1, false, None);
        true
    }
}

/// What is chosen of several unless the person chooses otherwise.
fn usual_answer(field: &FormField) -> Option<(String, FieldAnswer)> {
    let is_multi = matches!(field.kind, FieldKind::Choice { multi: true, .. });
    field.usual_answer().filter(|_| is_multi).map(|answer| (field.id.clone(), answer))
}

#[cfg(test)]
mod tests {
    use offshoot_protocol::FormOption;
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
                chosen: Vec::new(),
                minimum: None,
                maximum: None,
            },
            required: true,
        };
        Form {
            source: FormSource::Tool("ask".to_owned()),
            message: None,
            fields: vec![choice("a", false), choice("b", true)],
        }
    }

    fn play(answers: &[serde_json::Value]) -> (Vec<String>, Option<FormAnswer>) {
        play_form(form(), answers)
    }

    /// Answers each question in turn; gives what was asked, and the outcome.
    fn play_form(form: Form, answers: &[serde_json::Value]) -> (Vec<String>, Option<FormAnswer>) {
        let mut forms = OpenForms::default();
        let mut next = forms.begin(7, form, None);
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

    /// As servers ask: with defaults, and with questions that need no answer.
    #[test]
    fn what_does_not_fit_is_asked_again_and_what_is_not_required_may_be_left() {
        let mut form = form();
        form.source = FormSource::Mcp("s".to_owned());
        for field in &mut form.fields {
            field.required = false;
            if let FieldKind::Choice { chosen, .. } = &mut field.kind {
                chosen.push(0);
            }
        }
        let number = FieldKind::Number { integer: true, minimum: None, maximum: None, default: Some(3.0) };
        let question = "How many?".to_owned();
        form.fields.push(FormField { id: "c".to_owned(), header: None, question, kind: number, required: true });
        let answers = [json!({"value": NONE}), json!({"value": DONE}), json!({"value": "few"}), json!({"value": "4"})];
        let (asked, outcome) = play_form(form.clone(), &answers);
        assert!(asked[0].contains(r#""title":"The MCP server s asks\nWhich a?""#), "{}", asked[0]);
        assert!(asked[0].contains(r#""x (Default)""#) && asked[1].contains(r#""[x] x""#), "{asked:?}");
        assert!(asked[2].contains(r#""title":"How many?","prefill":"3""#), "{}", asked[2]);
        assert!(asked[3].contains(r#"How many? (\"few\" is not a number)"#), "{}", asked[3]);
        let expected =
            BTreeMap::from([("b".to_owned(), FieldAnswer::chosen("x")), ("c".to_owned(), FieldAnswer::text("4"))]);
        assert_eq!(outcome, Some(FormAnswer::Send(expected)));
        let stubborn: Vec<_> =
            (0..8).map(|at| json!({"value": if at < 2 { [NONE, DONE][at] } else { "few" }})).collect();
        assert_eq!(play_form(form, &stubborn).1, Some(FormAnswer::Cancel));
    }

    #[test]
    fn whatever_is_no_answer_closes_the_form() {
        for no in [json!({"cancelled": true}), json!({"value": "w"}), json!({})] {
            assert_eq!(play(&[no]).1, Some(FormAnswer::Cancel));
        }
    }
}
