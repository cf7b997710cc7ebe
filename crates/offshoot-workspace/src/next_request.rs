//! The seam to settings and models: what the next request of a session would be, and what a model writes for an operation.
//! Knows no store and no front end.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use offshoot_agent::forecast::{RequestForecast, RequestPlace, plan_cost, request_forecast};
use offshoot_agent::model::{Keys, LocalModels, LocalServer, Models};
use offshoot_agent::operate::{PlanQuestion, PresentModel, SummaryWish};
use offshoot_agent::prompt_weight::PromptWeight;
use offshoot_protocol::model::Model;
use offshoot_session::branch_summary::{BranchPlan, Instructions};
use offshoot_session::clock::Millis;
use offshoot_session::compact::{self, CompactionPlan};
use offshoot_session::error::Error;
use offshoot_session::outline::TreeLayout;
use offshoot_session::session::{Session, SessionPart};
use offshoot_session::summariser::{Drafted, Extractive};
use offshoot_session::text::{counted, one_line};
use offshoot_session::tree::NodeIx;

use crate::failure::{Failure, FailureKind, Result};

/// What the settings and models say of a session: the next request to its model, what a model writes for an operation, and
/// how it is shown.
pub trait NextRequest: Send + Sync {
    /// What the request from an entry would cost, after so many more tokens.
    ///
    /// # Errors
    /// The session, the settings or the models cannot be read, or are not known here.
    fn forecast(&self, _: &Session, _: Option<NodeIx>, _: u64) -> Result<RequestForecast> {
        Err(unknown())
    }

    /// The tokens that the session's model takes, and those of the system prompt and the tools; `None` if the model is not
    /// known.
    ///
    /// # Errors
    /// The settings cannot be read.
    fn window(&self, _: &Session) -> Result<Option<(u64, u64)>> {
        Ok(None)
    }

    /// The tokens of the system prompt and the tools.
    ///
    /// # Errors
    /// The settings cannot be read.
    fn overhead(&self, _: &Session) -> Result<u64> {
        Err(unknown())
    }

    /// What a request has beside the session's messages, and the model that is asked.
    ///
    /// # Errors
    /// The settings cannot be read, or are not known here.
    fn request_parts(&self, _: &Session) -> Result<RequestParts> {
        Err(unknown())
    }

    /// How trees are drawn, as the settings of a folder say; `None` if they cannot be read.
    fn tree_layout(&self, _: &Path) -> Option<TreeLayout> {
        None
    }

    /// Has a model write a summary; without one it is put together by rule.
    ///
    /// # Errors
    /// The model that was chosen cannot be asked, or the session not be read.
    fn summary(&self, session: &Session, question: &PlanQuestion, _: &SummaryWish) -> Result<Drafted> {
        Ok(summary_by_rule(session, question)?)
    }

    /// What the request for a summary would cost, in US dollars; `None` if no model would write it, or its prices are not known.
    ///
    /// # Errors
    /// The session or the settings cannot be read.
    fn summary_cost(&self, _: &Session, _: &PlanQuestion) -> Result<Option<f64>> {
        Ok(None)
    }

    /// The models that there are.
    ///
    /// # Errors
    /// They are not known here.
    fn models(&self) -> Result<KnownModels> {
        Err(unknown())
    }

    /// Looks for model servers on this machine, or for those of one kind.
    ///
    /// # Errors
    /// Nobody can be asked from here.
    fn local_models(&self, _: Option<LocalServer>) -> Result<LocalSearch> {
        Err(unknown())
    }

    /// How sessions are compacted, as the settings say for the model that writes the summary.
    ///
    /// # Errors
    /// The settings cannot be read.
    fn compaction_settings(&self, _: &Session) -> Result<compact::Settings> {
        Ok(compact::Settings::default())
    }

    /// Has a model write the summary of a compaction, with a person's instructions; without one it is put together by rule.
    ///
    /// # Errors
    /// The model that was chosen cannot be asked, or the session not be read.
    fn compaction(&self, session: &Session, plan: &CompactionPlan, instructions: Option<&str>) -> Result<Drafted> {
        Ok(plan.run(&Extractive::new(session), instructions)?)
    }

    /// What the request for that would cost; see [`NextRequest::summary_cost`].
    ///
    /// # Errors
    /// The settings cannot be read.
    fn compaction_cost(&self, _: &Session, _: &CompactionPlan, _: Option<&str>) -> Result<Option<f64>> {
        Ok(None)
    }

    /// What the request after a compaction would cost that keeps so many tokens, without its summary.
    ///
    /// # Errors
    /// The session, the settings or the models cannot be read.
    fn after_compaction(&self, _: &Session, _: u64) -> Result<RequestForecast> {
        Err(unknown())
    }

    /// Writes a session as a page, and says what the page lacks.
    ///
    /// # Errors
    /// Pages are not made here, the session or the theme cannot be read, or `out` takes no more.
    fn page(&self, _: &Session, _: &PageOrder, _: &mut dyn Write) -> Result<Option<String>> {
        Err(Failure::refused(FailureKind::Failed, "pages are not made here"))
    }

    /// Refuses a model that was chosen where none is asked.
    ///
    /// # Errors
    /// One was chosen.
    fn refuse_model(&self, _: &str) -> Result<()> {
        Ok(())
    }
}

/// What a request has beside the session's messages.
#[derive(Debug, Clone, Default)]
pub struct RequestParts {
    /// The system prompt and the tools.
    pub prompt: PromptWeight,
    /// The model that is asked; `None` if it is not known.
    pub model: Option<Arc<Model>>,
}

/// What a page shows.
#[derive(Debug, Clone, Default)]
pub struct PageOrder {
    /// Which entries.
    pub part: SessionPart,
    /// The file that is written, for errors.
    pub file: Option<PathBuf>,
    /// The theme file with its colours; without it the settings say them.
    pub theme: Option<PathBuf>,
    /// Pictures of more bytes are left out.
    pub largest_picture: Option<u64>,
    /// The rest of a text of more bytes is left out.
    pub longest_text: Option<u64>,
    /// Whether what differs in files is left out.
    pub no_files: bool,
}

/// The models that there are, and their keys.
#[expect(missing_debug_implementations, reason = "it holds keys")]
pub struct KnownModels {
    /// The models.
    pub models: Arc<Models>,
    /// Where their keys come from.
    pub keys: Keys,
    /// What is wrong in the user's files.
    pub troubles: Vec<String>,
    /// The provider that a mistyped name probably means.
    pub near_provider: fn(&Models, &str) -> Option<String>,
}

/// What a search for model servers on this machine found.
#[derive(Debug, Clone, Default)]
pub struct LocalSearch {
    /// Where it looked, and what was there.
    pub servers: Vec<SearchedServer>,
    /// Why what was found is not remembered.
    pub trouble: Option<String>,
}

/// A place where a model server was looked for.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct SearchedServer {
    pub server: LocalServer,
    /// Without `/v1`.
    pub address: String,
    pub outcome: LocalOutcome,
}

/// What was there.
#[derive(Debug, Clone)]
pub enum LocalOutcome {
    /// A server.
    Found {
        /// Its models.
        found: LocalModels,
        /// What of them is left out or not known, in words.
        left_out: Vec<String>,
    },
    /// Nobody listens.
    Nobody,
    /// Something that is no such server, or does not answer: why.
    Trouble(String),
}

impl SearchedServer {
    /// Its models, if it answered.
    #[must_use]
    pub fn found(&self) -> Option<&LocalModels> {
        match &self.outcome {
            LocalOutcome::Found { found, .. } => Some(found),
            LocalOutcome::Nobody | LocalOutcome::Trouble(_) => None,
        }
    }

    /// The kind and the host, for people.
    fn named(&self) -> String {
        let host = self.address.split_once("://").map_or(self.address.as_str(), |(_, host)| host);
        // A name and a password may be in front of the host.
        let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
        format!("{} ({})", one_line(host, 80), self.server.title())
    }
}

impl LocalSearch {
    /// What was found and what not, a line each.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for searched in &self.servers {
            let named = searched.named();
            match &searched.outcome {
                LocalOutcome::Found { found, left_out } => {
                    lines.push(format!("{named}: {}", counted(found.models.len() as u64, "model", "models")));
                    lines.extend(left_out.iter().map(|what| format!("{named}: {what}")));
                }
                LocalOutcome::Trouble(why) => lines.push(format!("{named}: {}", one_line(why, 200))),
                LocalOutcome::Nobody => {}
            }
        }
        let missing = self.servers.iter().filter(|searched| matches!(searched.outcome, LocalOutcome::Nobody));
        let missing: Vec<String> = missing.map(SearchedServer::named).collect();
        if !missing.is_empty() {
            lines.push(format!("no server at {}", missing.join(", ")));
        }
        lines
    }
}

/// Where no models are known.
#[derive(Debug, Clone, Copy)]
pub struct NoModels;

impl NextRequest for NoModels {}

fn unknown() -> Failure {
    Failure::refused(FailureKind::Failed, "the models are not known here")
}

/// The summary that no model writes.
///
/// # Errors
/// The session cannot be read.
pub fn summary_by_rule(session: &Session, question: &PlanQuestion) -> std::result::Result<Drafted, Error> {
    let source = question.from.as_deref().unwrap_or(session);
    // The extractive summariser has no context window to respect.
    let plan = (question.branch)(session, 0)?;
    plan.run(&Extractive::new(source), Instructions::Plain)
}

/// The next request with the model that an agent asks.
#[derive(Debug, Clone)]
pub(crate) struct RequestOfAgent {
    pub(crate) with: PresentModel,
    pub(crate) now: Millis,
}

impl NextRequest for RequestOfAgent {
    fn forecast(&self, session: &Session, target: Option<NodeIx>, more_tokens: u64) -> Result<RequestForecast> {
        let PresentModel { model, overhead, .. } = &self.with;
        let at = RequestPlace { target, more_tokens, overhead: *overhead };
        Ok(request_forecast((session, session.dialect()), at, model, self.now)?)
    }

    fn window(&self, _: &Session) -> Result<Option<(u64, u64)>> {
        let window = self.with.model.context_window;
        Ok((window > 0).then_some((window, self.with.overhead)))
    }

    fn overhead(&self, _: &Session) -> Result<u64> {
        Ok(self.with.overhead)
    }

    fn request_parts(&self, _: &Session) -> Result<RequestParts> {
        Ok(RequestParts { prompt: self.with.prompt.clone(), model: Some(Arc::clone(&self.with.model)) })
    }

    fn compaction_settings(&self, _: &Session) -> Result<compact::Settings> {
        Ok(self.with.compaction)
    }

    fn summary_cost(&self, session: &Session, question: &PlanQuestion) -> Result<Option<f64>> {
        let PresentModel { model, branch_budget, .. } = &self.with;
        let plan = (question.branch)(session, *branch_budget)?;
        Ok(Some(plan).filter(BranchPlan::has_messages).and_then(|plan| plan_cost(&plan, model)))
    }
}
