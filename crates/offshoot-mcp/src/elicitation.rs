//! What a server wants to know of the person: its request becomes a form, and the answers of the form its result. Texts of the server are
//! cut. Shows nothing, and opens no address.

use std::collections::BTreeMap;

use offshoot_agent::tool::FormAsker;
use offshoot_protocol::{FieldAnswer, FieldKind, Form, FormAnswer, FormField, FormOption, FormSource, TextFormat};
use offshoot_session::text::{clean_lines, cut, one_line};
use serde_json::{Map, Value, json};

/// More is not asked at once.
const MOST_FIELDS: usize = 20;
const MOST_OPTIONS: usize = 100;
const LONGEST_MESSAGE: usize = 4096;
const LONGEST_QUESTION: usize = 1000;
const LONGEST_HEADER: usize = 40;
const LONGEST_LABEL: usize = 200;
/// Longer addresses are not shown, and cannot be checked by a person.
const LONGEST_ADDRESS: usize = 2000;
/// The answer to an address.
const OPENED: &str = "I have opened it";
const REFUSED: &str = "No";

/// Who answers the questions of a server.
#[derive(Debug, Clone)]
pub(crate) struct Person {
    server: String,
    asker: FormAsker,
}

impl Person {
    pub(crate) fn new(server: &str, asker: FormAsker) -> Self {
        Self { server: server.to_owned(), asker }
    }

    /// The result of `elicitation/create`. Dropping this takes the question back.
    ///
    /// # Errors
    /// The question cannot be shown, as a clause.
    pub(crate) async fn answer(&self, params: &Value) -> Result<Value, &'static str> {
        if params["mode"] == "url" {
            let form = self.address_form(params)?;
            return Ok(match self.asker.ask(form).await {
                FormAnswer::Send(answers) if is_opened(&answers) => json!({"action": "accept"}),
                FormAnswer::Send(_) | FormAnswer::Decline => json!({"action": "decline"}),
                FormAnswer::Cancel => json!({"action": "cancel"}),
            });
        }
        let fields = AskedField::all(&params["requestedSchema"])?;
        let (source, message) = (FormSource::Mcp(self.server.clone()), message(params, LONGEST_MESSAGE));
        let mut asked: Vec<FormField> = fields.iter().map(|field| field.field.clone()).collect();
        if asked.is_empty() {
            asked.push(choice_field("ok", "Do you agree?", &["Yes", REFUSED]));
        }
        let answers = self.asker.ask(Form { source, message, fields: asked }).await;
        Ok(match answers {
            FormAnswer::Send(answers) if fields.is_empty() && chosen(&answers, "ok") != Some("Yes") => {
                json!({"action": "decline"})
            }
            FormAnswer::Send(answers) => json!({"action": "accept", "content": content(&fields, &answers)}),
            FormAnswer::Decline => json!({"action": "decline"}),
            FormAnswer::Cancel => json!({"action": "cancel"}),
        })
    }

    /// Shows an address, which the person opens, or not.
    fn address_form(&self, params: &Value) -> Result<Form, &'static str> {
        let address = params["url"].as_str().unwrap_or_default();
        let parsed = reqwest::Url::parse(address).ok().filter(|_| address.len() <= LONGEST_ADDRESS);
        let parsed = parsed.filter(|url| matches!(url.scheme(), "https" | "http") && url.username().is_empty());
        let url = parsed.ok_or("the url is not an address of http or https that can be shown")?;
        let question = format!(
            "It wants you to open this address of {} in a browser. offshoot opens nothing:\n{url}",
            url.host_str().unwrap_or_default()
        );
        let fields = vec![choice_field("url", &question, &[OPENED, REFUSED])];
        let message = message(params, LONGEST_BEFORE_ADDRESS);
        Ok(Form { source: FormSource::Mcp(self.server.clone()), message, fields })
    }
}

/// Of an address less is shown before it.
const LONGEST_BEFORE_ADDRESS: usize = 300;

fn message(params: &Value, longest: usize) -> Option<String> {
    let text = params["message"].as_str().map(|text| clean_lines(text.trim())).filter(|text| !text.is_empty())?;
    Some(cut(&text, longest).into_owned())
}

fn chosen<'a>(answers: &'a BTreeMap<String, FieldAnswer>, id: &str) -> Option<&'a str> {
    answers.get(id)?.selected.first().map(String::as_str)
}

fn is_opened(answers: &BTreeMap<String, FieldAnswer>) -> bool {
    chosen(answers, "url") == Some(OPENED)
}

fn choice_field(id: &str, question: &str, labels: &[&str]) -> FormField {
    let kind = FieldKind::one_of(labels.iter().map(|label| (*label).to_owned()));
    FormField { id: id.to_owned(), header: None, question: question.to_owned(), kind, required: true }
}

/// A property of the schema, and the question about it.
struct AskedField {
    field: FormField,
    /// For each label of a choice what the server gets.
    values: Vec<(String, String)>,
}

impl AskedField {
    fn all(schema: &Value) -> Result<Vec<Self>, &'static str> {
        let empty = Map::new();
        let properties = match schema.get("properties") {
            None | Some(Value::Null) => &empty,
            Some(Value::Object(properties)) => properties,
            Some(_) => return Err("the schema's properties are not an object"),
        };
        if properties.len() > MOST_FIELDS {
            return Err("a form has at most 20 questions");
        }
        let required = |name: &str| schema["required"].as_array().is_some_and(|all| all.iter().any(|one| one == name));
        let of = |(name, about): (&String, &Value)| {
            let mut asked = Self::of(name, about)?;
            asked.field.required = required(name);
            Ok(asked)
        };
        properties.iter().map(of).collect()
    }

    fn of(name: &str, about: &Value) -> Result<Self, &'static str> {
        if name.len() > LONGEST_LABEL {
            return Err("a name of a question has at most 200 bytes");
        }
        let text = |key: &str, longest: usize| {
            let text = about[key].as_str().map(str::trim).filter(|text| !text.is_empty());
            text.map(|text| one_line(text, longest))
        };
        let (kind, values) = kind(about)?;
        let title = text("title", LONGEST_HEADER).unwrap_or_else(|| one_line(name, LONGEST_HEADER));
        let question = text("description", LONGEST_QUESTION).or_else(|| text("title", LONGEST_QUESTION));
        let question = question.unwrap_or_else(|| one_line(name, LONGEST_QUESTION));
        let field = FormField { id: name.to_owned(), header: Some(title), question, kind, required: false };
        Ok(Self { field, values })
    }

    fn value(&self, answer: &FieldAnswer) -> Option<Value> {
        let value_of = |label: &String| {
            let known = self.values.iter().find(|(known, _)| known == label);
            known.map_or_else(|| json!(label), |(_, value)| json!(value))
        };
        match &self.field.kind {
            FieldKind::Choice { multi: true, .. } => Some(answer.selected.iter().map(value_of).collect()),
            FieldKind::Choice { .. } => answer.selected.first().map(value_of),
            FieldKind::Text { .. } => answer.text.as_ref().map(|text| json!(text)),
            FieldKind::Flag { .. } => answer.text.as_ref().map(|text| json!(text == "true")),
            FieldKind::Number { .. } => {
                let text = answer.text.as_deref()?.trim();
                match text.parse::<i64>() {
                    Ok(whole) => Some(json!(whole)),
                    Err(_) => text.parse::<f64>().ok().map(|number| json!(number)),
                }
            }
        }
    }
}

/// What the server gets.
fn content(fields: &[AskedField], answers: &BTreeMap<String, FieldAnswer>) -> Value {
    let of_field = |field: &AskedField| Some((field.field.id.clone(), field.value(answers.get(&field.field.id)?)?));
    Value::Object(fields.iter().filter_map(of_field).collect())
}

type KindAndValues = (FieldKind, Vec<(String, String)>);

fn kind(about: &Value) -> Result<KindAndValues, &'static str> {
    let kind = match about["type"].as_str() {
        Some("string") if about.get("enum").is_some() || about.get("oneOf").is_some() => {
            return choice(about);
        }
        Some("array") => return choice(about),
        Some("string") => FieldKind::Text {
            default: about["default"].as_str().map(|text| cut(&clean_lines(text), LONGEST_MESSAGE).into_owned()),
            min_length: size(about, "minLength"),
            max_length: size(about, "maxLength"),
            format: serde_json::from_value::<TextFormat>(about["format"].clone()).ok(),
            placeholder: None,
            is_long: false,
        },
        Some(kind @ ("number" | "integer")) => FieldKind::Number {
            integer: kind == "integer",
            minimum: about["minimum"].as_f64(),
            maximum: about["maximum"].as_f64(),
            default: about["default"].as_f64(),
        },
        Some("boolean") => FieldKind::Flag { default: about["default"].as_bool() },
        _ => return Err("a question is a text, a number, yes or no, or a choice"),
    };
    Ok((kind, Vec::new()))
}

/// The options: as `enum`, which may have names in `enumNames`, or with titles in `oneOf` or `anyOf`.
fn choice(about: &Value) -> Result<KindAndValues, &'static str> {
    let multi = about["type"] == "array";
    let listed = if multi { &about["items"] } else { about };
    let titled = listed.get("oneOf").or_else(|| listed.get("anyOf")).and_then(Value::as_array);
    let pairs: Option<Vec<(&str, &str)>> = match (titled, listed["enum"].as_array()) {
        (Some(titled), _) => titled
            .iter()
            .map(|one| one["const"].as_str().map(|value| (one["title"].as_str().unwrap_or(value), value)))
            .collect(),
        (None, Some(values)) => {
            let name = |at: usize| listed["enumNames"][at].as_str();
            values
                .iter()
                .enumerate()
                .map(|(at, value)| value.as_str().map(|value| (name(at).unwrap_or(value), value)))
                .collect()
        }
        (None, None) => None,
    };
    let pairs = pairs.filter(|pairs| !pairs.is_empty()).ok_or("a choice needs options that are texts")?;
    if pairs.len() > MOST_OPTIONS {
        return Err("a choice has at most 100 options");
    }
    let mut values: Vec<(String, String)> = Vec::new();
    for (title, value) in pairs {
        let label = one_line(title, LONGEST_LABEL);
        let is_taken = |label: &str| values.iter().any(|(known, _)| known == label);
        // The answer names its option.
        let label = if label.is_empty() || is_taken(&label) { one_line(value, LONGEST_LABEL) } else { label };
        if label.is_empty() || is_taken(&label) {
            return Err("two options of a choice look the same");
        }
        values.push((label, value.to_owned()));
    }
    let is_default = |value: &str| match &about["default"] {
        Value::Array(all) => all.iter().any(|one| one == value),
        one => one == value,
    };
    let chosen = values.iter().enumerate().filter(|(_, (_, value))| is_default(value)).map(|(at, _)| at).collect();
    let option = |(label, _): &(String, String)| FormOption { label: label.clone(), description: None, preview: None };
    let kind = FieldKind::Choice {
        options: values.iter().map(option).collect(),
        multi,
        recommended: None,
        other: false,
        chosen,
        minimum: size(about, "minItems"),
        maximum: size(about, "maxItems"),
    };
    Ok((kind, values))
}

fn size(about: &Value, key: &str) -> Option<usize> {
    about[key].as_u64().and_then(|size| usize::try_from(size).ok())
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use offshoot_agent::tool::FormMessage;

    use super::*;

    /// A person who answers each question by its header, and the forms that were shown.
    fn asked(
        params: &Value,
        answer: impl Fn(&Form) -> FormAnswer + Send + Sync + 'static,
    ) -> (Result<Value, &'static str>, Vec<Form>) {
        let forms: Arc<Mutex<Vec<Form>>> = Arc::default();
        let seen = forms.clone();
        let asker = FormAsker::new(move |message| {
            if let FormMessage::Ask(_, form, reply) = message {
                seen.lock().unwrap().push(form.clone());
                reply.send(answer(&form)).unwrap();
            }
        });
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let result = runtime.block_on(Person::new("s", asker).answer(params));
        let forms = forms.lock().unwrap().clone();
        (result, forms)
    }

    fn send(answers: &[(&str, FieldAnswer)]) -> FormAnswer {
        FormAnswer::Send(answers.iter().map(|(id, answer)| ((*id).to_owned(), answer.clone())).collect())
    }

    #[test]
    fn every_kind_of_question_is_asked_and_its_answer_has_its_type() {
        let schema = json!({"type": "object", "required": ["name"], "properties": {
            "name": {"type": "string", "title": "Your name", "description": "Who\u{1b}[2J?", "minLength": 2, "default": "Ann"},
            "age": {"type": "integer", "minimum": 1, "default": 3},
            "share": {"type": "number"},
            "yes": {"type": "boolean", "default": true},
            "old": {"type": "string", "enum": ["r", "g"], "enumNames": ["Red", "Green"], "default": "g"},
            "new": {"type": "string", "oneOf": [{"const": "x", "title": "An X"}, {"const": "y", "title": "A Y"}]},
            "many": {"type": "array", "items": {"anyOf": [{"const": "p", "title": "P"}, {"const": "q", "title": "Q"}]}, "maxItems": 2, "default": ["q"]},
            "left": {"type": "string"},
        }});
        let params = json!({"message": "Tell me.", "requestedSchema": schema});
        let (result, forms) = asked(&params, |form| {
            let both = FieldAnswer { selected: vec!["P".to_owned(), "Q".to_owned()], text: None };
            let answer = send(&[
                ("name", FieldAnswer::text("Bob")),
                ("age", FieldAnswer::text("4")),
                ("share", FieldAnswer::text("0.5")),
                ("yes", FieldAnswer::text("false")),
                ("old", FieldAnswer::chosen("Red")),
                ("new", FieldAnswer::chosen("A Y")),
                ("many", both),
            ]);
            if let FormAnswer::Send(answers) = &answer {
                assert_eq!(form.check(answers), Ok(()));
            }
            answer
        });
        let content =
            json!({"name": "Bob", "age": 4, "share": 0.5, "yes": false, "old": "r", "new": "y", "many": ["p", "q"]});
        assert_eq!(result, Ok(json!({"action": "accept", "content": content})));
        let form = &forms[0];
        assert_eq!((form.message.as_deref(), &form.source), (Some("Tell me."), &FormSource::Mcp("s".to_owned())));
        assert!(form.fields[0].required && !form.fields[1].required);
        assert_eq!(form.fields[0].header.as_deref(), Some("Your name"));
        assert!(!form.fields[0].question.contains('\u{1b}'), "{:?}", form.fields[0]);
        let chosen = |at: usize| match &form.fields[at].kind {
            FieldKind::Choice { chosen, .. } => chosen.clone(),
            other => panic!("{other:?}"),
        };
        assert_eq!((chosen(4), chosen(5), chosen(6)), (vec![1], vec![], vec![1]));
    }

    #[test]
    fn who_does_not_answer_declines_or_cancels() {
        let params =
            json!({"message": "?", "requestedSchema": {"type": "object", "properties": {"a": {"type": "string"}}}});
        assert_eq!(asked(&params, |_| FormAnswer::Decline).0, Ok(json!({"action": "decline"})));
        assert_eq!(asked(&params, |_| FormAnswer::Cancel).0, Ok(json!({"action": "cancel"})));
        let empty = json!({"message": "Really?", "requestedSchema": {"type": "object", "properties": {}}});
        let (agreed, _) = asked(&empty, |_| send(&[("ok", FieldAnswer::chosen("Yes"))]));
        assert_eq!(agreed, Ok(json!({"action": "accept", "content": {}})));
        let (refused, _) = asked(&empty, |_| send(&[("ok", FieldAnswer::chosen("No"))]));
        assert_eq!(refused, Ok(json!({"action": "decline"})));
    }

    #[test]
    fn an_address_is_shown_with_its_host_and_never_opened() {
        let params = |url: &str| json!({"mode": "url", "message": "Pay.", "url": url, "elicitationId": "e"});
        let (result, forms) =
            asked(&params("https://user.example.com/a?b"), |_| send(&[("url", FieldAnswer::chosen(OPENED))]));
        assert_eq!(result, Ok(json!({"action": "accept"})));
        let question = &forms[0].fields[0].question;
        assert!(
            question.contains("of user.example.com in") && question.ends_with("\nhttps://user.example.com/a?b"),
            "{question}"
        );
        assert_eq!(
            asked(&params("https://h/"), |_| send(&[("url", FieldAnswer::chosen(REFUSED))])).0,
            Ok(json!({"action": "decline"}))
        );
        for url in [
            "file:///etc/passwd",
            "javascript:alert(1)",
            "https://bank.example@h/",
            "x",
            &format!("https://h/{}", "x".repeat(3000)),
        ] {
            assert!(asked(&params(url), |_| FormAnswer::Cancel).0.is_err(), "{url}");
        }
    }

    #[test]
    fn what_no_form_can_show_is_refused() {
        let many: Map<String, Value> = (0..21).map(|at| (at.to_string(), json!({"type": "string"}))).collect();
        let options: Vec<String> = (0..101).map(|at| at.to_string()).collect();
        for properties in [
            json!({"a": {"type": "object", "properties": {}}}),
            json!({"a": {"type": "array", "items": {"type": "object"}}}),
            json!({"a": {"type": "string", "enum": [1, 2]}}),
            json!({"a": {"type": "string", "enum": ["x", "x"]}}),
            json!({"a": {"type": "string", "enum": options}}),
            json!({"a": 7}),
            json!([]),
            Value::Object(many),
        ] {
            let params = json!({"message": "?", "requestedSchema": {"type": "object", "properties": properties}});
            assert!(asked(&params, |_| FormAnswer::Cancel).0.is_err(), "{params}");
        }
    }
}
