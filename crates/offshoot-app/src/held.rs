//! Operations of the table on the session that an agent holds. Nothing is looked up before the agent has them, so they keep their
//! order.

use std::sync::Arc;

use offshoot_agent::agent_session::AgentSession;
use offshoot_agent::lenient_json;
use offshoot_agent::model::LocalServer;
use offshoot_session::error::Error;
use offshoot_workspace::{
    ArgKind, ArgValue, Failure, FailureKind, Given, Hint, KnownModels, LocalSearch, NextRequest, Note, OperationOrder,
    Outcome, Output, Place, Row, Words, find_operation, nothing_to_do,
};

use crate::app::App;
use crate::local_models;
use crate::models::ModelTable;

/// What came of an operation.
pub struct HeldOutcome {
    /// The operation.
    pub row: &'static Row,
    /// What it gives.
    pub output: Box<dyn Output>,
    /// Why there was nothing to do.
    pub nothing: Option<String>,
    /// What it told beside its result.
    pub notes: Vec<Note>,
}

impl HeldOutcome {
    /// What is wrong although it was done.
    pub fn warning(&self) -> Option<String> {
        self.notes.iter().find_map(|note| match note {
            Note::Warning(why) => Some(why.clone()),
            Note::Told(_) | Note::Helps(_) | Note::Odd(_) | Note::OddOf(..) => None,
        })
    }

    /// What it prints as JSON.
    pub fn data(&self) -> Option<serde_json::Value> {
        let mut data = Vec::new();
        self.output.json(&mut data).ok()?;
        lenient_json::from_str(std::str::from_utf8(&data).ok()?).ok()
    }

    /// What the person said at the new place, to be said otherwise.
    pub fn to_edit(&self) -> Option<String> {
        let mut words = Words::default();
        self.output.words(&mut words);
        words.to_edit
    }

    /// What it says, on one line; a next step is spelled by `step`, from its operation and what it does.
    pub fn said(&self, step: impl Fn(&str, &str) -> String) -> String {
        if let Some(why) = &self.nothing {
            return nothing_to_do(why);
        }
        let mut words = Words::default();
        self.output.words(&mut words);
        let told = words.notes.iter().filter_map(|note| match note {
            Note::Told(text) => Some(text.clone()),
            Note::Warning(_) | Note::Helps(_) | Note::Odd(_) | Note::OddOf(..) => None,
        });
        let next = words.next.iter().map(|next| step(next.operation, &next.says));
        let plain = words.plain();
        plain
            .lines()
            .filter(|line| !line.is_empty())
            .map(str::to_owned)
            .chain(told)
            .chain(next)
            .collect::<Vec<_>>()
            .join(" · ")
    }
}

/// An operation with the texts of its arguments; a flag that is named is set.
pub fn order_of_texts(operation: &'static str, texts: Vec<(&'static str, Vec<String>)>) -> OperationOrder {
    let args = find_operation(operation).map(|row| row.args).unwrap_or_default();
    let mut given = Given::default();
    for (name, mut texts) in texts {
        let Some(arg) = args.iter().find(|arg| arg.name == name) else { continue };
        match (arg.kind, arg.is_many) {
            (ArgKind::Flag, _) => given.put(name, ArgValue::Flag),
            (_, true) => given.put(name, ArgValue::Many(texts)),
            (_, false) => texts.pop().into_iter().for_each(|text| given.put_text(name, text)),
        }
    }
    OperationOrder::new(operation, given)
}

/// What operations without a session know of models.
struct ModelsOfApp(App);

impl NextRequest for ModelsOfApp {
    fn models(&self) -> offshoot_workspace::Result<KnownModels> {
        Ok(ModelTable::known(&self.0))
    }

    fn local_models(&self, only: Option<LocalServer>) -> offshoot_workspace::Result<LocalSearch> {
        Ok(local_models::search(&self.0, only)?)
    }
}

/// Where operations without a session run, with the models and keys of this run.
#[must_use]
pub fn place_with_models(app: &App) -> Place {
    app.place().with_next_request(Arc::new(ModelsOfApp(app.clone())))
}

/// Runs an operation.
pub async fn operate(
    app: &App,
    agent: &AgentSession,
    order: OperationOrder,
) -> offshoot_workspace::Result<HeldOutcome> {
    let OperationOrder { operation, given } = order;
    let missing = || Failure::refused(FailureKind::Usage, format!("unknown operation {operation}"));
    let row = find_operation(operation).ok_or_else(missing)?;
    let place = app.place();
    let outcome = if row.has_session() {
        let (steps, wait) = row.hold(given, &place, false)?;
        agent.ask(steps).await?;
        wait.outcome()?
    } else {
        let place = place.with_next_request(Arc::new(ModelsOfApp(app.clone())));
        let ran = tokio::task::spawn_blocking(move || row.run(given, &place, false)).await;
        ran.map_err(|error| Failure::refused(FailureKind::Failed, format!("a part of the program failed: {error}")))??
    };
    let (output, nothing) = match outcome {
        Outcome::Done(output) => (output, None),
        Outcome::Nothing { why, output } => (output, Some(why.plain())),
    };
    Ok(HeldOutcome { row, output, nothing, notes: place.take_notes() })
}

/// Why an operation on the open session failed, with what helps; a next step is spelled by `step`, from its operation, its
/// arguments and what it does.
pub fn refusal(failure: &Failure, step: impl Fn(&str, &[String], &str) -> String) -> String {
    let why = match failure {
        // The file is the open one.
        Failure::Session(Error::Conflict { why, .. }, _) => why.to_string(),
        failure => failure.to_string(),
    };
    let why = match failure {
        Failure::Session(Error::EntryNotFound { .. }, _) => format!("{why}; {}", step("tree", &[], "shows them")),
        _ => why,
    };
    failure.hints().iter().fold(why, |all, hint| match hint {
        Hint::Step(next) => format!("{all}; {}", step(next.operation, &next.with, &next.says)),
        Hint::Text(text) => format!("{all}; {text}"),
    })
}
