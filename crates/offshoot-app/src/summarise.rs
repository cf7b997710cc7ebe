//! The summaries of `compact`, `merge`, `pop` and `switch`.
//!
//! A model writes them if one has a key. Without one, or if it fails, `Extractive` writes them, with a notice.

use std::sync::Arc;

use offshoot_agent::GuardedProvider;
use offshoot_agent::forecast::{self, plan_cost};
use offshoot_agent::model::KeyedModel;
use offshoot_agent::operate::{PlanQuestion, SummaryWish};
use offshoot_agent::summarise::{AsyncSummariser as _, ModelSummariser};
use offshoot_session::branch_summary::{self, BranchPlan, Instructions};
use offshoot_session::compact::{self, CompactionPlan};
use offshoot_session::error::{Error, Result as Read};
use offshoot_session::session::Session;
use offshoot_session::summariser::{Drafted, Extractive, Summariser, SummariserAnswer, SummariserRequest};
use offshoot_settings::Settings;
use offshoot_workspace::summary_by_rule;

use crate::app::App;
use crate::error::{CommandError, Result};
use crate::http::http;
use crate::models::{ChosenModel, ModelArgs, ModelSources, ModelTable, WithoutKey};

/// A compaction's summary, with the person's `instructions`. A model named on the command line that cannot be asked is
/// an error.
pub fn compaction(
    app: &App,
    session: &Session,
    plan: &CompactionPlan,
    instructions: Option<&str>,
    typed: &ModelArgs,
) -> Result<Drafted> {
    let by_model = |model: &Summaries| plan.run(model, instructions);
    if let Some(drafted) = with_model(app, session, typed, by_model)? {
        return Ok(drafted);
    }
    if instructions.is_some() {
        app.ui.note("without a model the summary is put together by rule: the instructions were not used");
    }
    Ok(plan.run(&Extractive::new(session), instructions)?)
}

/// The summary for which an operation asks.
pub fn branch(
    app: &App,
    session: &Session,
    (question, wish): (&PlanQuestion, &SummaryWish),
    typed: &ModelArgs,
) -> Result<Drafted> {
    let instructions = wish.instructions();
    let by_model = |model: &Summaries| (question.branch)(session, model.branch_budget())?.run(model, instructions);
    if let Some(drafted) = with_model(app, session, typed, by_model)? {
        return Ok(drafted);
    }
    if instructions != Instructions::Plain {
        app.ui.note("without a model the summary is put together by rule: the instructions were not used");
    }
    Ok(summary_by_rule(session, question)?)
}

/// What the request for a branch's summary would cost, in US dollars. `None` if no model would write it, there is nothing
/// to summarise, or the model has no prices. Asks no model.
pub fn branch_cost(app: &App, session: &Session, question: &PlanQuestion, typed: &ModelArgs) -> Result<Option<f64>> {
    let settings = app.user_settings(session)?;
    let sources = ModelSources { typed, session, settings: &settings, scope: &[], without_key: WithoutKey::Refuse };
    let Ok(ChosenModel { model, .. }) = ModelTable::load(app).choose(app, &sources) else { return Ok(None) };
    let plan = (question.branch)(session, branch_summary::budget(model.context_window, settings.branch_reserve))?;
    Ok(Some(plan).filter(BranchPlan::has_messages).and_then(|plan| plan_cost(&plan, &model)))
}

/// What the summary of [`compaction`] would cost; see [`branch_cost`].
pub fn compaction_cost(
    app: &App,
    session: &Session,
    plan: &CompactionPlan,
    instructions: Option<&str>,
    typed: &ModelArgs,
) -> Result<Option<f64>> {
    let settings = app.user_settings(session)?;
    let sources = ModelSources { typed, session, settings: &settings, scope: &[], without_key: WithoutKey::Refuse };
    let chosen = ModelTable::load(app).choose(app, &sources).ok();
    Ok(chosen.and_then(|chosen| forecast::compaction_cost(plan, instructions, &chosen.model)))
}

/// The model's summary; `None` if there is no model, or if its answer is unusable.
fn with_model(
    app: &App,
    session: &Session,
    typed: &ModelArgs,
    write: impl FnOnce(&Summaries) -> Read<Drafted>,
) -> Result<Option<Drafted>> {
    let Some(model) = summaries(app, session, typed)? else { return Ok(None) };
    match write(&model) {
        Ok(drafted) => Ok(Some(drafted)),
        Err(Error::NoSummary(why)) => {
            app.ui.warning(&format!("the model wrote no summary: {why}"));
            app.ui.note("the summary is put together by rule instead");
            Ok(None)
        }
        Err(error) => Err(error.into()),
    }
}

struct Summaries {
    model: ModelSummariser,
    branch_reserve: u64,
    runtime: tokio::runtime::Runtime,
}

impl Summaries {
    /// How many tokens of a branch fit into the request for its summary.
    fn branch_budget(&self) -> u64 {
        branch_summary::budget(self.model.model.context_window, self.branch_reserve)
    }
}

/// The model named on the command line, else the session's, the user's, or the first with a key. `None` if there is
/// none and none was named.
fn summaries(app: &App, session: &Session, typed: &ModelArgs) -> Result<Option<Summaries>> {
    let is_asked_for = typed.provider.is_some() || typed.model.is_some();
    let settings = app.user_settings(session)?;
    match model_for_summaries(app, session, &settings, typed) {
        Ok(model) => Ok(Some(model)),
        Err(error) if is_asked_for => Err(error),
        Err(_) => Ok(None),
    }
}

fn model_for_summaries(app: &App, session: &Session, settings: &Settings, typed: &ModelArgs) -> Result<Summaries> {
    let table = ModelTable::load(app);
    let sources = ModelSources { typed, session, settings, scope: &[], without_key: WithoutKey::Refuse };
    let ChosenModel { model, thinking } = table.choose(app, &sources)?;
    let thinking = model.clamp(thinking);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| CommandError::io("start the summariser", &error))?;
    let access = runtime.block_on(table.keys.access(&table.models, &model));
    let KeyedModel { model, key } = access.map_err(|error| CommandError::from(&error))?;
    let http = http(app, settings);
    let provider = Arc::new(GuardedProvider { provider: Arc::new(http), keys: Arc::new((table.models, table.keys)) });
    let model = ModelSummariser { provider, model, thinking, key, retry: settings.retry, listener: None };
    Ok(Summaries { model, branch_reserve: settings.branch_reserve, runtime })
}

/// The user's compaction settings, for the model that will be asked.
pub fn compaction_settings(app: &App, session: &Session, typed: &ModelArgs) -> Result<compact::Settings> {
    // The summary reads the settings again, and warns then.
    let quiet = App { ui: app.ui.quiet(), ..app.clone() };
    let mut settings = quiet.user_settings(session)?;
    if settings.compaction_for.is_empty() {
        return Ok(settings.compaction);
    }
    let sources = ModelSources { typed, session, settings: &settings, scope: &[], without_key: WithoutKey::Refuse };
    let chosen = ModelTable::load(app).choose(app, &sources).ok();
    let name = chosen.map(|ChosenModel { model, .. }| format!("{}/{}", model.provider, model.id));
    Ok(name.and_then(|name| settings.compaction_for.remove(&name)).unwrap_or(settings.compaction))
}

impl Summariser for Summaries {
    fn summarise(&self, request: &SummariserRequest) -> Read<SummariserAnswer> {
        let written = self.runtime.block_on(self.model.summarise(request.clone()));
        written.map_err(Error::NoSummary)
    }
}
