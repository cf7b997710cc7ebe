//! Summaries for jobs: asked of the model in a task, and extracted on the session's thread if it writes none.

use offshoot_protocol::{AgentError, in_words};
use offshoot_session::branch_summary::{BranchPlan, Instructions};
use offshoot_session::error::Error;
use offshoot_session::session::Session;
use offshoot_session::summariser::{Drafted, Extractive, SummariserAnswer, SummariserRequest};
use std::sync::Arc;

use crate::crash::caught_task;
use crate::extensions::{Extensions, Question};
use crate::model::KeyedModel;
use crate::provider::Provider;
use crate::setup::Setup;
use crate::summarise::{AsyncSummariser, Listener, ModelSummariser};
use crate::turn::JobDraft;
use crate::writer::{OwnedSession, WriterHandle};

pub(super) struct JobResources {
    pub(super) handle: WriterHandle,
    pub(super) setup: Setup,
    pub(super) provider: Arc<dyn Provider>,
    pub(super) listener: Listener,
}

impl JobResources {
    pub(super) fn extensions(&self, question: Question) -> Option<Arc<dyn Extensions>> {
        self.setup.extensions.clone().filter(|extensions| extensions.answers(question))
    }

    /// The summariser; a model's retries are reported to the listener.
    async fn summariser(&self) -> Result<Arc<dyn AsyncSummariser>, String> {
        let setup = &self.setup;
        if let Some(summariser) = &setup.summariser {
            return Ok(summariser.clone());
        }
        let KeyedModel { model, key } = setup.keys.access(&setup.model).await.map_err(|error| error.to_string())?;
        let (provider, listener) = (self.provider.clone(), Some(self.listener.clone()));
        let (thinking, retry) = (setup.thinking(), setup.retry);
        Ok(Arc::new(ModelSummariser { provider, model, thinking, key, retry, listener }))
    }
}

pub(super) async fn summarise(
    resources: &JobResources,
    requests: Vec<SummariserRequest>,
) -> Result<(Vec<SummariserAnswer>, Option<&'static str>), String> {
    let summarised = caught_task(|| async {
        let summariser = resources.summariser().await?;
        let mut answers = Vec::with_capacity(requests.len());
        for request in requests {
            answers.push(summariser.summarise(request).await?);
        }
        Ok((answers, summariser.name()))
    });
    summarised.await.unwrap_or_else(|crash| Err(format!("the summariser crashed: {crash}")))
}

pub(super) fn without_model(by_rule: Result<Drafted, Error>, why: &str) -> Result<Drafted, JobDraft> {
    by_rule.map_err(|error| {
        JobDraft::Failed(AgentError::Failed(format!("{why}; and without a model: {}", in_words(&error))))
    })
}

/// Asks the session's thread.
pub(super) async fn asked<T: Send + 'static>(
    resources: &JobResources,
    job: impl FnOnce(&mut OwnedSession) -> T + Send + 'static,
) -> Result<T, JobDraft> {
    resources.handle.ask(job).await.map_err(JobDraft::Failed)
}

/// The summary of a branch, perhaps of another session; without a model, the extractive one, and why.
pub(super) async fn drafted_branch(
    resources: &JobResources,
    (plan, from): (&BranchPlan, Option<Arc<Session>>),
    instructions: Instructions<'_>,
) -> Result<(Drafted, Option<String>), JobDraft> {
    let by_model = match plan.request(instructions) {
        None => plan.summary(None, None).map_err(|error| in_words(&error)),
        Some(request) => summarise(resources, vec![request])
            .await
            .and_then(|(answers, name)| plan.summary(answers.first(), name).map_err(|error| in_words(&error))),
    };
    match by_model {
        Ok(drafted) => Ok((drafted, None)),
        Err(why) => {
            let again = plan.clone();
            let by_rule = move |owned: &mut OwnedSession| {
                let source = from.as_deref().unwrap_or(owned.session());
                again.run(&Extractive::new(source), Instructions::Plain)
            };
            Ok((without_model(asked(resources, by_rule).await?, &why)?, Some(why)))
        }
    }
}
