//! A form: questions that a tool, a server or an extension puts to the person, and the answers. One form has all that is asked at once, so that
//! answers can be looked at and changed before they are sent. Asks nobody.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Questions to the person. All texts are foreign.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[expect(missing_docs, reason = "the names of the others say what they are")]
#[serde(rename_all = "camelCase")]
pub struct Form {
    pub source: FormSource,
    /// About all fields.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// At least one.
    pub fields: Vec<FormField>,
}

/// Who asks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "kind", content = "name", rename_all = "camelCase")]
pub enum FormSource {
    /// A tool, by its name.
    Tool(String),
    /// An MCP server, by its name.
    Mcp(String),
    /// An extension, which does not say its name.
    Extension,
}

/// One question.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[expect(missing_docs, reason = "the names of the others say what they are")]
#[serde(rename_all = "camelCase")]
pub struct FormField {
    /// Names the answer; once in a form.
    pub id: String,
    /// A word or two.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub header: Option<String>,
    pub question: String,
    pub kind: FieldKind,
    /// Whether the form cannot be sent without an answer.
    pub required: bool,
}

/// What answers a question.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[expect(missing_docs, reason = "the names of the others say what they are")]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum FieldKind {
    /// One of the options, or several of them.
    Choice {
        options: Vec<FormOption>,
        multi: bool,
        /// The place of the one that is recommended.
        #[serde(skip_serializing_if = "Option::is_none")]
        recommended: Option<usize>,
        /// Whether words of one's own are an answer, too.
        other: bool,
        /// The places of those that are chosen unless the person chooses others.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        chosen: Vec<usize>,
        /// Of several, so many have to be chosen.
        #[serde(skip_serializing_if = "Option::is_none")]
        minimum: Option<usize>,
        #[serde(skip_serializing_if = "Option::is_none")]
        maximum: Option<usize>,
    },
    /// A text of one or more lines.
    Text {
        #[serde(skip_serializing_if = "Option::is_none")]
        default: Option<String>,
        /// In characters.
        #[serde(skip_serializing_if = "Option::is_none")]
        min_length: Option<usize>,
        #[serde(skip_serializing_if = "Option::is_none")]
        max_length: Option<usize>,
        #[serde(skip_serializing_if = "Option::is_none")]
        format: Option<TextFormat>,
        /// Shown while nothing is typed.
        #[serde(skip_serializing_if = "Option::is_none")]
        placeholder: Option<String>,
        /// Whether it is written in an editor of several lines.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        is_long: bool,
    },
    Number {
        /// Whether it is a whole number.
        integer: bool,
        #[serde(skip_serializing_if = "Option::is_none")]
        minimum: Option<f64>,
        #[serde(skip_serializing_if = "Option::is_none")]
        maximum: Option<f64>,
        #[serde(skip_serializing_if = "Option::is_none")]
        default: Option<f64>,
    },
    /// Yes or no.
    Flag {
        #[serde(skip_serializing_if = "Option::is_none")]
        default: Option<bool>,
    },
}

/// What a text has to look like.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names say what they are")]
#[serde(rename_all = "kebab-case")]
pub enum TextFormat {
    Email,
    Uri,
    Date,
    DateTime,
}

impl TextFormat {
    /// Whether a text looks like one. It is not looked up whether it is one.
    #[must_use]
    pub fn fits(self, text: &str) -> bool {
        let is_date = |text: &str| {
            let parts: Vec<&str> = text.split('-').collect();
            let digits =
                |(part, count): (&&str, usize)| part.len() == count && part.bytes().all(|at| at.is_ascii_digit());
            parts.len() == 3 && parts.iter().zip([4, 2, 2]).all(digits)
        };
        let is_plain = !text.contains(char::is_whitespace);
        match self {
            Self::Email => {
                is_plain && text.split_once('@').is_some_and(|(who, host)| !who.is_empty() && !host.is_empty())
            }
            Self::Uri => {
                is_plain && text.split_once(':').is_some_and(|(scheme, rest)| !scheme.is_empty() && !rest.is_empty())
            }
            Self::Date => is_date(text),
            Self::DateTime => text.split_once(['T', 't']).is_some_and(|(date, time)| is_date(date) && time.len() >= 5),
        }
    }

    fn words(self) -> &'static str {
        match self {
            Self::Email => "an address of e-mail",
            Self::Uri => "an address with a scheme, such as https://",
            Self::Date => "a date such as 2026-07-28",
            Self::DateTime => "a date and time such as 2026-07-28T12:00:00Z",
        }
    }
}

/// One of the answers that can be chosen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[expect(missing_docs, reason = "the names of the others say what they are")]
#[serde(rename_all = "camelCase")]
pub struct FormOption {
    /// Once in a question; the answer names it.
    pub label: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// A longer text about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preview: Option<String>,
}

/// What came of a form.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "action", content = "answers", rename_all = "camelCase")]
pub enum FormAnswer {
    /// By the ids of the questions. Those without an answer are missing.
    Send(BTreeMap<String, FieldAnswer>),
    /// The person does not want to answer.
    Decline,
    /// The person closed it, or nobody can be asked.
    Cancel,
}

/// The answer to a question.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct FieldAnswer {
    /// The labels of chosen options, in the order of the options.
    pub selected: Vec<String>,
    /// A text, a number, `true` or `false`; beside options the person's own words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

impl FieldAnswer {
    /// A chosen option.
    #[must_use]
    pub fn chosen(label: &str) -> Self {
        Self { selected: vec![label.to_owned()], text: None }
    }

    /// A text.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self { selected: Vec::new(), text: Some(text.into()) }
    }
}

impl Form {
    /// Whether answers fit the questions.
    ///
    /// # Errors
    /// The first thing that does not, as a sentence.
    pub fn check(&self, answers: &BTreeMap<String, FieldAnswer>) -> Result<(), String> {
        if let Some(id) = answers.keys().find(|id| self.fields.iter().all(|field| field.id != **id)) {
            return Err(format!("no question has the id {id:?}"));
        }
        self.fields.iter().try_for_each(|field| match answers.get(&field.id) {
            Some(answer) => field.check(answer),
            None if field.required => Err(format!("{:?} has no answer", field.question)),
            None => Ok(()),
        })
    }
}

impl FormField {
    /// What is answered unless the person answers otherwise; `None` if nothing is.
    #[must_use]
    pub fn usual_answer(&self) -> Option<FieldAnswer> {
        match &self.kind {
            FieldKind::Choice { options, chosen, .. } => {
                let chosen = chosen.iter().filter_map(|at| options.get(*at));
                let selected: Vec<String> = chosen.map(|option| option.label.clone()).collect();
                (!selected.is_empty()).then_some(FieldAnswer { selected, text: None })
            }
            FieldKind::Text { default, .. } => default.as_ref().map(FieldAnswer::text),
            FieldKind::Number { default, .. } => default.map(|number| FieldAnswer::text(number.to_string())),
            FieldKind::Flag { default } => default.map(|flag| FieldAnswer::text(flag.to_string())),
        }
    }

    /// Whether this answers the question.
    ///
    /// # Errors
    /// What is wrong with it, as a sentence.
    pub fn check(&self, answer: &FieldAnswer) -> Result<(), String> {
        let FieldAnswer { selected, text } = answer;
        let FieldKind::Choice { options, multi, other, minimum, maximum, .. } = &self.kind else {
            let text = text.as_deref().filter(|_| selected.is_empty()).ok_or("the answer is a text")?;
            return self.kind.check_text(text);
        };
        if let Some(strange) = selected.iter().find(|label| options.iter().all(|option| option.label != **label)) {
            return Err(format!("{strange:?} is not one of the options"));
        }
        let count = selected.len() + usize::from(text.is_some());
        if *multi && minimum.is_some_and(|least| count < least) {
            return Err(format!("at least {} are to be chosen", minimum.unwrap_or_default()));
        }
        if *multi && maximum.is_some_and(|most| count > most) {
            return Err(format!("at most {} can be chosen", maximum.unwrap_or_default()));
        }
        match (count, text) {
            (_, Some(_)) if !other => Err("only an option is an answer".to_owned()),
            (0, _) if self.required && !multi => Err("nothing is chosen".to_owned()),
            (2.., _) if !multi => Err("only one answer can be given".to_owned()),
            _ => Ok(()),
        }
    }
}

impl FieldKind {
    /// Any text.
    #[must_use]
    pub const fn any_text() -> Self {
        Self::Text {
            default: None,
            min_length: None,
            max_length: None,
            format: None,
            placeholder: None,
            is_long: false,
        }
    }

    /// One of these options, and nothing else.
    #[must_use]
    pub fn one_of(labels: impl IntoIterator<Item = String>) -> Self {
        let option = |label| FormOption { label, description: None, preview: None };
        Self::Choice {
            options: labels.into_iter().map(option).collect(),
            multi: false,
            recommended: None,
            other: false,
            chosen: Vec::new(),
            minimum: None,
            maximum: None,
        }
    }

    fn check_text(&self, text: &str) -> Result<(), String> {
        match self {
            Self::Number { integer, minimum, maximum, .. } => {
                let number: f64 = text.trim().parse().map_err(|_| format!("{text:?} is not a number"))?;
                if !number.is_finite() || (*integer && number.fract() != 0.0) {
                    return Err(format!("{text:?} is not a whole number"));
                }
                if minimum.is_some_and(|least| number < least) || maximum.is_some_and(|most| number > most) {
                    return Err(format!("{text} is outside of the allowed numbers"));
                }
                Ok(())
            }
            Self::Flag { .. } if text != "true" && text != "false" => {
                Err(format!("{text:?} is neither true nor false"))
            }
            Self::Text { min_length, max_length, format, .. } => {
                let length = text.chars().count();
                match (min_length, max_length, format) {
                    (Some(least), ..) if length < *least => Err(format!("it needs {least} characters")),
                    (_, Some(most), _) if length > *most => Err(format!("it has more than {most} characters")),
                    (.., Some(format)) if !format.fits(text) => Err(format!("it is not {}", format.words())),
                    _ => Ok(()),
                }
            }
            Self::Flag { .. } | Self::Choice { .. } => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(kind: FieldKind) -> FormField {
        FormField { id: "a".to_owned(), header: None, question: "Which?".to_owned(), kind, required: true }
    }

    fn options((multi, other): (bool, bool)) -> FormField {
        let option = |label: &str| FormOption { label: label.to_owned(), description: None, preview: None };
        field(FieldKind::Choice {
            options: vec![option("x"), option("y")],
            multi,
            recommended: None,
            other,
            chosen: Vec::new(),
            minimum: None,
            maximum: None,
        })
    }

    fn both_of() -> FieldAnswer {
        FieldAnswer { selected: vec!["x".to_owned(), "y".to_owned()], text: None }
    }

    fn at_least_two() -> FormField {
        let mut field = options((true, false));
        if let FieldKind::Choice { minimum, .. } = &mut field.kind {
            *minimum = Some(2);
        }
        field
    }

    #[test]
    fn texts_look_as_they_have_to() {
        for (format, good, bad) in [
            (TextFormat::Uri, "https://h/", "//h"),
            (TextFormat::Date, "2026-07-28", "28.7.2026"),
            (TextFormat::DateTime, "2026-07-28T12:00:00Z", "2026-07-28"),
            (TextFormat::Email, "a@b", "a b@c"),
        ] {
            assert!(format.fits(good) && !format.fits(bad), "{format:?}");
        }
    }

    #[test]
    fn answers_are_held_against_their_questions() {
        let both = both_of();
        let text = |format| {
            let (min_length, max_length) = (Some(2), Some(4));
            let (default, placeholder) = (None, None);
            field(FieldKind::Text { default, min_length, max_length, format, placeholder, is_long: false })
        };
        let number = |integer| field(FieldKind::Number { integer, minimum: Some(1.0), maximum: None, default: None });
        for (field, answer, fits) in [
            (options((false, true)), FieldAnswer::chosen("x"), true),
            (options((false, true)), FieldAnswer::chosen("z"), false),
            (options((false, true)), FieldAnswer::text("mine"), true),
            (options((false, false)), FieldAnswer::text("mine"), false),
            (options((false, true)), both.clone(), false),
            (options((true, true)), both, true),
            (options((false, true)), FieldAnswer::default(), false),
            (options((true, true)), FieldAnswer::default(), true),
            (number(true), FieldAnswer::text("2"), true),
            (number(true), FieldAnswer::text("2.5"), false),
            (number(false), FieldAnswer::text("2.5"), true),
            (number(false), FieldAnswer::text("0.5"), false),
            (number(false), FieldAnswer::text("inf"), false),
            (field(FieldKind::Flag { default: None }), FieldAnswer::text("yes"), false),
            (field(FieldKind::Flag { default: None }), FieldAnswer::text("true"), true),
            (text(None), FieldAnswer::chosen("x"), false),
            (text(None), FieldAnswer::text("é"), false),
            (text(None), FieldAnswer::text("éé"), true),
            (text(None), FieldAnswer::text("a@b.c"), false),
            (text(Some(TextFormat::Email)), FieldAnswer::text("a@b"), true),
            (text(Some(TextFormat::Email)), FieldAnswer::text("@b"), false),
            (at_least_two(), FieldAnswer::chosen("x"), false),
            (at_least_two(), both_of(), true),
        ] {
            assert_eq!(field.check(&answer).is_ok(), fits, "{field:?} {answer:?}");
        }
    }

    #[test]
    fn a_form_needs_what_is_required_and_nothing_that_is_not_asked() {
        let form =
            Form { source: FormSource::Tool("ask".to_owned()), message: None, fields: vec![options((false, true))] };
        let answers = |id: &str| BTreeMap::from([(id.to_owned(), FieldAnswer::chosen("x"))]);
        assert_eq!(form.check(&answers("a")), Ok(()));
        assert!(form.check(&BTreeMap::new()).is_err());
        assert!(form.check(&answers("b")).is_err());
    }
}
