//! The tool `ask`: questions to the person, with options. Arguments and `details` have omp's form. Who shows the questions is not
//! known here.

use std::collections::BTreeMap;
use std::sync::Arc;

use offshoot_protocol::{FieldAnswer, FieldKind, Form, FormAnswer, FormField, FormOption, FormSource};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokio::sync::mpsc::UnboundedSender;

use super::{Running, Tier, Tool, ToolContext, ToolOutcome, args};
use crate::provider::ToolSpec;

/// Ask the user, where answers lead to different work and nothing tells which. They can always answer in their own words.
#[derive(Debug, Deserialize, JsonSchema)]
struct AskInput {
    /// All that belong together.
    questions: Vec<AskedQuestion>,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct AskedQuestion {
    id: String,
    question: String,
    /// A word for a tab.
    header: Option<String>,
    /// 2 to 5.
    options: Vec<AskedOption>,
    multi: Option<bool>,
    /// Place of an option, from 0.
    #[serde(default, deserialize_with = "args::whole")]
    recommended: Option<u64>,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct AskedOption {
    label: String,
    description: Option<String>,
    preview: Option<String>,
}

/// The name of [`Ask`].
pub const ASK_TOOL: &str = "ask";
/// More are not asked at once.
const MOST_QUESTIONS: usize = 20;
const MOST_OPTIONS: usize = 50;

/// The tool `ask`.
#[derive(Debug, Clone, Copy, Default)]
pub struct Ask;

impl Tool for Ask {
    fn name(&self) -> &str {
        ASK_TOOL
    }

    fn spec(&self) -> ToolSpec {
        args::spec::<AskInput>(ASK_TOOL)
    }

    fn summary(&self) -> Option<&str> {
        Some("ask the user")
    }

    fn needs_person(&self) -> bool {
        true
    }

    /// It changes nothing.
    fn tier(&self, _arguments: &Value, _place: &ToolContext) -> Tier {
        Tier::Read(Vec::new())
    }

    fn run(&self, arguments: Value, place: Arc<ToolContext>, _: UnboundedSender<ToolOutcome>) -> Running {
        Box::pin(async move {
            let input: AskInput = match args::parse(ASK_TOOL, arguments) {
                Ok(input) => input,
                Err(failed) => return failed,
            };
            if let Err(why) = check(&input.questions) {
                return ToolOutcome::failed(format!("Nothing is asked: {why}."));
            }
            let Some(asker) = place.conversation.asker() else {
                return ToolOutcome::failed("Nobody can be asked here. Decide yourself, and say what you decided.");
            };
            let fields = input.questions.iter().map(field).collect();
            let form = Form { source: FormSource::Tool(ASK_TOOL.to_owned()), message: None, fields };
            match asker.ask(form).await {
                FormAnswer::Send(answers) => answered(&input.questions, &answers),
                FormAnswer::Decline | FormAnswer::Cancel => {
                    let outcome = ToolOutcome::failed("The user did not answer.");
                    ToolOutcome { details: Some(details(&input.questions, &BTreeMap::new())), ..outcome }
                }
            }
        })
    }
}

fn check(questions: &[AskedQuestion]) -> Result<(), String> {
    if questions.is_empty() {
        return Err("there is no question".to_owned());
    }
    if questions.len() > MOST_QUESTIONS {
        return Err(format!("{} questions are more than {MOST_QUESTIONS}", questions.len()));
    }
    for (at, AskedQuestion { id, options, .. }) in questions.iter().enumerate() {
        if questions[..at].iter().any(|other| other.id == *id) {
            return Err(format!("two questions have the id {id:?}"));
        }
        if options.len() > MOST_OPTIONS {
            return Err(format!("the question {id:?} has more than {MOST_OPTIONS} options"));
        }
        let twice = |at: usize, label: &str| options[..at].iter().any(|other| other.label == label);
        if let Some((_, option)) = options.iter().enumerate().find(|(at, option)| twice(*at, &option.label)) {
            return Err(format!("the question {id:?} has the option {:?} twice", option.label));
        }
    }
    Ok(())
}

fn field(asked: &AskedQuestion) -> FormField {
    let AskedQuestion { id, question, header, options, multi, recommended } = asked;
    let option = |AskedOption { label, description, preview }: &AskedOption| FormOption {
        label: label.clone(),
        description: description.clone(),
        preview: preview.clone(),
    };
    let recommended = recommended.and_then(|at| usize::try_from(at).ok()).filter(|at| *at < options.len());
    let kind = match options.is_empty() {
        true => FieldKind::any_text(),
        false => FieldKind::Choice {
            options: options.iter().map(option).collect(),
            multi: multi.unwrap_or_default(),
            recommended,
            other: true,
            chosen: Vec::new(),
            minimum: None,
            maximum: None,
        },
    };
    FormField { id: id.clone(), header: header.clone(), question: question.clone(), kind, required: true }
}

fn answered(questions: &[AskedQuestion], answers: &BTreeMap<String, FieldAnswer>) -> ToolOutcome {
    let answer = |question: &AskedQuestion| answers.get(&question.id).cloned().unwrap_or_default();
    let text = match questions {
        [question] => one_answer(&answer(question)),
        several => {
            let lines = several.iter().map(|question| format!("{}: {}", question.id, in_line(&answer(question))));
            format!("User answers:\n{}", lines.collect::<Vec<_>>().join("\n"))
        }
    };
    ToolOutcome { details: Some(details(questions, answers)), ..ToolOutcome::text(text) }
}

fn one_answer(FieldAnswer { selected, text }: &FieldAnswer) -> String {
    let chosen = (!selected.is_empty()).then(|| format!("User selected: {}", selected.join(", ")));
    let written = text.as_ref().map(|text| format!("User answered: {text}"));
    let parts: Vec<String> = chosen.into_iter().chain(written).collect();
    if parts.is_empty() { "User selected none of the options".to_owned() } else { parts.join("\n") }
}

fn in_line(FieldAnswer { selected, text }: &FieldAnswer) -> String {
    let quoted = text.as_ref().map(|text| format!("{text:?}"));
    let parts: Vec<String> = selected.iter().cloned().chain(quoted).collect();
    if parts.is_empty() { "(none)".to_owned() } else { parts.join(", ") }
}

/// omp's `details`.
fn details(questions: &[AskedQuestion], answers: &BTreeMap<String, FieldAnswer>) -> Value {
    let of = |question: &AskedQuestion| {
        let answer = answers.get(&question.id).cloned().unwrap_or_default();
        let labels: Vec<&str> = question.options.iter().map(|option| option.label.as_str()).collect();
        let mut details = Map::new();
        details.insert("question".to_owned(), json!(question.question));
        details.insert("options".to_owned(), json!(labels));
        details.insert("multi".to_owned(), json!(question.multi.unwrap_or_default()));
        details.insert("selectedOptions".to_owned(), json!(answer.selected));
        if let Some(text) = answer.text {
            details.insert("customInput".to_owned(), json!(text));
        }
        details
    };
    match questions {
        [question] => Value::Object(of(question)),
        several => {
            let results = several.iter().map(|question| {
                let mut result = Map::from_iter([("id".to_owned(), json!(question.id))]);
                result.extend(of(question));
                Value::Object(result)
            });
            json!({ "results": results.collect::<Vec<_>>() })
        }
    }
}
