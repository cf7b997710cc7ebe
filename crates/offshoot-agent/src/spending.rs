//! What a run may spend and what it has spent: answers, and US dollars. A limit is checked before a request, so that the
//! request that would pass it is not sent. Knows no front end.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::StreamExt as _;
use offshoot_protocol::AgentError;
use offshoot_protocol::model::Model;

use crate::provider::{Delta, Deltas, Provider, Request};

/// Limits for all runs of an agent together. `None` means no limit.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct RunLimits {
    /// Complete answers of the model. Requests that failed, and summaries, are not counted.
    pub turns: Option<u32>,
    /// US dollars by the models' prices, with summaries. The price of an answer is not known before: one answer may pass
    /// the limit.
    pub cost: Option<f64>,
    /// How long a prompt may wait for a provider's limit beyond what retries wait. `None` for not at all.
    pub wait: Option<Duration>,
}

#[derive(Debug, Default)]
pub(crate) struct Spending {
    limits: RunLimits,
    spent: Mutex<Spent>,
}

#[derive(Debug, Default)]
struct Spent {
    turns: u32,
    cost: f64,
    /// Why a turn's request was not sent, once one was not.
    refused: Option<String>,
}

impl Spending {
    pub(crate) fn new(limits: RunLimits) -> Self {
        Self { limits, spent: Mutex::default() }
    }

    fn spent(&self) -> MutexGuard<'_, Spent> {
        self.spent.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a turn's request of so many tokens may be sent.
    pub(crate) fn check_turn(&self, model: &Model, tokens: u64) -> Result<(), AgentError> {
        let checked = self.may_send(model, tokens);
        if let Err(AgentError::LimitReached(why)) = &checked {
            self.spent().refused = Some(why.clone());
        }
        checked
    }

    /// The limit that ended a run, if one did. What an extension says to an idle agent then begins no other, which would end alike.
    pub(crate) fn check_begun_by_extension(&self) -> Result<(), AgentError> {
        self.spent().refused.clone().map_or(Ok(()), |why| Err(AgentError::LimitReached(why)))
    }

    fn may_send(&self, model: &Model, tokens: u64) -> Result<(), AgentError> {
        let turns = self.spent().turns;
        match self.limits.turns {
            Some(limit) if turns >= limit => {
                let answers = if turns == 1 { "1 answer".to_owned() } else { format!("{turns} answers") };
                Err(AgentError::LimitReached(format!("stopped after {answers}, the limit of this run")))
            }
            _ => self.check_cost(model, tokens),
        }
    }

    /// Whether a request of so many tokens may be paid. The provider may have cached them, so the cheaper price counts.
    pub(crate) fn check_cost(&self, model: &Model, tokens: u64) -> Result<(), AgentError> {
        let spent = self.spent().cost;
        let prices = [model.price.input, model.price.cache_read];
        let price = prices.into_iter().filter(|price| *price > 0.0).reduce(f64::min).unwrap_or_default();
        let next = price / 1_000_000.0 * tokens as f64;
        match self.limits.cost {
            Some(limit) if spent >= limit || spent + next > limit => {
                let why = format!("stopped at ${spent:.4}: the next request would pass the limit of ${limit}");
                Err(AgentError::LimitReached(why))
            }
            _ => Ok(()),
        }
    }

    /// Counts an answer.
    pub(crate) fn answered(&self, delta: &Delta) {
        if matches!(delta, Delta::Done(answer) if answer.failure.is_none()) {
            self.spent().turns += 1;
        }
    }
}

/// Counts what answers cost, also those of summaries and those that failed.
pub(crate) struct MeteredProvider {
    pub(crate) provider: Arc<dyn Provider>,
    pub(crate) spending: Arc<Spending>,
}

impl Provider for MeteredProvider {
    fn sends_images(&self) -> bool {
        self.provider.sends_images()
    }

    fn stream(&self, request: Request) -> Deltas {
        let spending = Arc::clone(&self.spending);
        let count = move |delta: &Delta| {
            if let Delta::Done(answer) = delta {
                spending.spent().cost += answer.message.usage.cost.total;
            }
        };
        Box::pin(self.provider.stream(request).inspect(count))
    }
}
