//! What operations know of models: what the next request from an entry would cost, for `--dry-run`, and summaries.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use offshoot_agent::forecast::{RequestForecast, RequestPlace, request_forecast};
use offshoot_agent::model::LocalServer;
use offshoot_agent::operate::{PlanQuestion, SummaryWish};
use offshoot_protocol::model::Model;
use offshoot_session::compact::{self, CompactionPlan};
use offshoot_session::outline::TreeLayout;
use offshoot_session::session::Session;
use offshoot_session::summariser::Drafted;
use offshoot_session::tree::NodeIx;
use offshoot_settings::Settings;

use offshoot_workspace::{KnownModels, LocalSearch, NextRequest, PageOrder, RequestParts};

use crate::agent::{overhead, prompt_weight};
use crate::app::App;
use crate::error::Result;
use crate::local_models;
use crate::models::{ModelArgs, ModelSources, ModelTable, WithoutKey};
use crate::summarise;

/// The next request with the model that the session would continue with, and summaries of the one that was chosen.
pub struct RequestOfApp {
    /// What every command works with.
    pub app: App,
    /// The model that writes summaries, as typed.
    pub typed: ModelArgs,
}

impl NextRequest for RequestOfApp {
    fn forecast(
        &self,
        session: &Session,
        target: Option<NodeIx>,
        more_tokens: u64,
    ) -> offshoot_workspace::Result<RequestForecast> {
        let overhead = overhead(&self.app, session)?;
        Ok(forecast(&self.app, session, RequestPlace { target, more_tokens, overhead })?)
    }

    fn window(&self, session: &Session) -> offshoot_workspace::Result<Option<(u64, u64)>> {
        let Some(window) = ModelTable::window_of(&self.app, session) else { return Ok(None) };
        Ok(Some((window, overhead(&self.app, session)?)))
    }

    fn summary(
        &self,
        session: &Session,
        question: &PlanQuestion,
        wish: &SummaryWish,
    ) -> offshoot_workspace::Result<Drafted> {
        Ok(summarise::branch(&self.app, session, (question, wish), &self.typed)?)
    }

    fn summary_cost(&self, session: &Session, question: &PlanQuestion) -> offshoot_workspace::Result<Option<f64>> {
        Ok(summarise::branch_cost(&self.app, session, question, &self.typed)?)
    }

    fn compaction_settings(&self, session: &Session) -> offshoot_workspace::Result<compact::Settings> {
        Ok(summarise::compaction_settings(&self.app, session, &self.typed)?)
    }

    fn compaction(
        &self,
        session: &Session,
        plan: &CompactionPlan,
        instructions: Option<&str>,
    ) -> offshoot_workspace::Result<Drafted> {
        Ok(summarise::compaction(&self.app, session, plan, instructions, &self.typed)?)
    }

    fn compaction_cost(
        &self,
        session: &Session,
        plan: &CompactionPlan,
        instructions: Option<&str>,
    ) -> offshoot_workspace::Result<Option<f64>> {
        Ok(summarise::compaction_cost(&self.app, session, plan, instructions, &self.typed)?)
    }

    fn after_compaction(&self, session: &Session, kept: u64) -> offshoot_workspace::Result<RequestForecast> {
        Ok(RequestForecast::of_size(kept, overhead(&self.app, session)?, &model(&self.app, session)?))
    }

    fn page(
        &self,
        session: &Session,
        order: &PageOrder,
        out: &mut dyn Write,
    ) -> offshoot_workspace::Result<Option<String>> {
        Ok((self.app.page)(&self.app, session, order, out)?)
    }

    fn refuse_model(&self, why: &str) -> offshoot_workspace::Result<()> {
        Ok(self.typed.refuse(why)?)
    }

    fn overhead(&self, session: &Session) -> offshoot_workspace::Result<u64> {
        Ok(overhead(&self.app, session)?)
    }

    fn request_parts(&self, session: &Session) -> offshoot_workspace::Result<RequestParts> {
        let model = model(&self.app, session).ok().map(Arc::new);
        Ok(RequestParts { prompt: prompt_weight(&self.app, session)?, model })
    }

    fn models(&self) -> offshoot_workspace::Result<KnownModels> {
        Ok(ModelTable::known(&self.app))
    }

    fn local_models(&self, only: Option<LocalServer>) -> offshoot_workspace::Result<LocalSearch> {
        Ok(local_models::search(&self.app, only)?)
    }

    fn tree_layout(&self, folder: &Path) -> Option<TreeLayout> {
        let (layers, _) = self.app.settings_files(folder).load().ok()?;
        Some(Settings::from(&layers).tree_layout)
    }
}

/// The forecast of the next request from a place, for the model that the session would continue with, whether or not
/// it has a key.
pub fn forecast(app: &App, session: &Session, place: RequestPlace) -> Result<RequestForecast> {
    let model = model(app, session)?;
    Ok(request_forecast((session, session.dialect()), place, &model, app.now())?)
}

fn model(app: &App, session: &Session) -> Result<Model> {
    let settings = app.user_settings(session)?;
    let sources = ModelSources {
        typed: &ModelArgs::default(),
        session,
        settings: &settings,
        scope: &[],
        without_key: WithoutKey::Wait,
    };
    Ok(ModelTable::load(app).choose(app, &sources)?.model)
}
