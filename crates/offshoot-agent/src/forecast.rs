//! What the next request from an entry would cost a model's user, now and once nothing is cached any more.

use offshoot_protocol::model::Model;
use offshoot_session::branch_summary::{self, BranchPlan};
use offshoot_session::clock::Millis;
use offshoot_session::compact::CompactionPlan;
use offshoot_session::entry::Source;
use offshoot_session::error::Result;
use offshoot_session::forecast::{AskedModel, CacheReach, CacheRule, Forecast, ForecastRequest, forecast};
use offshoot_session::header::Dialect;
use offshoot_session::json::Object;
use offshoot_session::text::{dollars, in_short, noun};
use offshoot_session::tokens::estimate_summary;
use offshoot_session::tree::NodeIx;

use crate::provider::Api;

/// The providers keep a request for at least so long after its last use, if no longer time is paid for.
const LIFETIME_MS: Millis = 5 * 60 * 1000;

/// The tokens of a request and their cost in US dollars, without the answer. `None` if the model has no prices.
#[derive(Debug, Clone, Copy, PartialEq)]
#[expect(missing_docs, reason = "the name says it")]
pub struct RequestForecast {
    pub tokens: Forecast,
    /// With what is cached now.
    pub cost_now: Option<f64>,
    /// When nothing is cached.
    pub cost_later: Option<f64>,
}

impl RequestForecast {
    /// A request of which nothing is known but its size, as after a compaction: of its messages, and of its system prompt
    /// and its tools.
    pub fn of_size(message_tokens: u64, overhead_tokens: u64, model: &Model) -> Self {
        let context_tokens = message_tokens.saturating_add(overhead_tokens);
        Self::of(Forecast { context_tokens, message_tokens, overhead_tokens, ..Forecast::default() }, model)
    }

    fn of(tokens: Forecast, model: &Model) -> Self {
        Self {
            tokens,
            cost_now: model.request_cost(tokens.fresh_tokens(), tokens.cached_tokens.unwrap_or(0)),
            cost_later: model.request_cost(tokens.context_tokens, 0),
        }
    }

    /// As programs get it.
    pub fn to_json(&self) -> String {
        let number = |number: Option<f64>| number.map_or("null".to_owned(), |number| number.to_string());
        let count = |count: Option<i64>| count.map_or("null".to_owned(), |count| count.to_string());
        let tokens = &self.tokens;
        Object::new()
            .raw("contextTokens", tokens.context_tokens)
            .raw("messageTokens", tokens.message_tokens)
            .raw("overheadTokens", tokens.overhead_tokens)
            .raw("cachedTokens", count(tokens.cached_tokens.map(u64::cast_signed)))
            .raw("freshTokens", tokens.fresh_tokens())
            .raw("cacheExpiresInMs", count(tokens.cache_expires_in_ms))
            .raw("costNow", number(self.cost_now))
            .raw("costLater", number(self.cost_later))
            .finish()
    }

    /// Such as `41k tokens, 34k still cached (3 min) · next prompt ≈ $0.03, later ≈ $0.13`.
    pub fn words(&self) -> String {
        self.worded(Length::Full)
    }

    /// The same with the parts of the request: `41k tokens (38k messages, 3.1k system prompt and tools), …`.
    pub fn detailed_words(&self) -> String {
        self.worded(Length::Detailed)
    }

    /// The same for narrow screens: `41k tokens, 34k cached 3 min · ≈ $0.03, later $0.13`.
    pub fn brief_words(&self) -> String {
        self.worded(Length::Brief)
    }

    fn worded(&self, length: Length) -> String {
        let context = self.tokens.context_tokens;
        let mut words = format!("{} {}", in_short(context), noun(context, "token", "tokens"));
        if matches!(length, Length::Detailed) {
            words.push_str(&format!(" ({})", parts_words(self.tokens.message_tokens, self.tokens.overhead_tokens)));
        }
        match (self.tokens.cached_tokens, self.tokens.cache_expires_in_ms) {
            (Some(cached), Some(left)) => {
                let (cached, left) = (in_short(cached), (left + 59_999) / 60_000);
                words.push_str(&match length {
                    Length::Detailed | Length::Full => format!(", {cached} still cached ({left} min)"),
                    Length::Brief => format!(", {cached} cached {left} min"),
                });
            }
            (Some(_), None) => words.push_str(", nothing cached"),
            (None, _) => {}
        }
        let Some(now) = self.cost_now else { return words };
        words.push_str(match length {
            Length::Detailed | Length::Full => " · next prompt ≈ ",
            Length::Brief => " · ≈ ",
        });
        words.push_str(&dollars(now));
        if let Some(later) = self.cost_later.filter(|later| now < *later) {
            words.push_str(match length {
                Length::Detailed | Length::Full => ", later ≈ ",
                Length::Brief => ", later ",
            });
            words.push_str(&dollars(later));
        }
        words
    }
}

#[derive(Clone, Copy)]
enum Length {
    Detailed,
    Full,
    Brief,
}

/// What a request consists of: `38k messages, 3.1k system prompt and tools`.
pub fn parts_words(messages: u64, overhead: u64) -> String {
    format!("{} messages, {} system prompt and tools", in_short(messages), in_short(overhead))
}

/// Where a request would begin, how many tokens would be added there first, and how many its system prompt and its tools
/// have.
#[derive(Debug, Clone, Copy)]
#[expect(missing_docs, reason = "the names say it")]
pub struct RequestPlace {
    /// `None` for an empty context.
    pub target: Option<NodeIx>,
    pub more_tokens: u64,
    pub overhead: u64,
}

/// Forecasts the next request to a model at the time `now`.
///
/// # Errors
/// The session cannot be read.
pub fn request_forecast(
    (source, form): (&dyn Source, Dialect),
    place: RequestPlace,
    model: &Model,
    now: Millis,
) -> Result<RequestForecast> {
    let asked = AskedModel { provider: &model.provider, id: &model.id };
    let next = ForecastRequest { model: asked, rule: cache_rule(model), now, form, overhead: place.overhead };
    let mut tokens = forecast(source, place.target, &next)?;
    tokens.context_tokens += place.more_tokens;
    tokens.message_tokens += place.more_tokens;
    Ok(RequestForecast::of(tokens, model))
}

/// Such as `$0.02`: what a summary of the branch that is left for `target` would cost, without its answer.
/// `None` if nothing is left, or the model has no prices. `reserve` is the part of the model's window that a summary leaves
/// free.
///
/// # Errors
/// The session cannot be read.
pub fn summary_cost_words(
    source: &dyn Source,
    (from, target): (Option<NodeIx>, NodeIx),
    (model, reserve): (&Model, u64),
) -> Result<Option<String>> {
    let budget = branch_summary::budget(model.context_window, reserve);
    let plan = branch_summary::plan(source, from, Some(target), budget)?;
    Ok(Some(plan).filter(BranchPlan::has_messages).and_then(|plan| plan_cost(&plan, model)).map(dollars))
}

/// What the conversation of a planned summary costs as a request, in US dollars. `None` if the model has no prices.
pub fn plan_cost(plan: &BranchPlan, model: &Model) -> Option<f64> {
    model.request_cost(plan.tokens, 0)
}

/// What the requests for a compaction's summary cost, in US dollars. `None` if the model has no prices.
pub fn compaction_cost(plan: &CompactionPlan, instructions: Option<&str>, model: &Model) -> Option<f64> {
    let requests = plan.requests(instructions);
    let tokens = requests.iter().map(|request| estimate_summary(request.system) + estimate_summary(&request.prompt));
    model.request_cost(tokens.sum(), 0)
}

/// With Anthropic's marks, of which the last one is on the last message, a request is found again as a whole. The other
/// providers compare beginnings.
fn cache_rule(model: &Model) -> CacheRule {
    let has_marks = model.api == Api::Anthropic.as_str() || model.compat.cache_control_format.is_some();
    let reach = if has_marks { CacheReach::WholeRequests } else { CacheReach::CommonStart };
    CacheRule { lifetime_ms: LIFETIME_MS, reach }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_known_is_left_out() {
        let tokens = Forecast { context_tokens: 41_000, ..Forecast::default() };
        let cached = Forecast { cached_tokens: Some(34_000), cache_expires_in_ms: Some(150_000), ..tokens };
        let all = RequestForecast { tokens: cached, cost_now: Some(0.031), cost_later: Some(0.128) };
        assert_eq!(all.words(), "41k tokens, 34k still cached (3 min) · next prompt ≈ $0.03, later ≈ $0.13");
        assert_eq!(all.brief_words(), "41k tokens, 34k cached 3 min · ≈ $0.03, later $0.13");
        let expired = Forecast { cached_tokens: Some(0), ..tokens };
        let expired = RequestForecast { tokens: expired, cost_now: Some(0.004), cost_later: Some(0.004) };
        assert_eq!(expired.words(), "41k tokens, nothing cached · next prompt ≈ $0.0040");
        assert_eq!(RequestForecast { tokens, cost_now: None, cost_later: None }.words(), "41k tokens");
        let one =
            RequestForecast { tokens: Forecast { context_tokens: 1, ..tokens }, cost_now: None, cost_later: None };
        assert_eq!(one.words(), "1 token");
    }

    #[test]
    fn whole_requests_are_found_where_they_are_marked() {
        let reach = |api: &str| cache_rule(&Model { api: api.to_owned(), ..Model::default() }).reach;
        assert_eq!(reach("anthropic-messages"), CacheReach::WholeRequests);
        assert_eq!(reach("openai-responses"), CacheReach::CommonStart);
    }
}
