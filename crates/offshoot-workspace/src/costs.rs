//! Sizes of contexts before and after, the next request, and what a summary costs: as members of JSON, and in words.

use offshoot_agent::forecast::RequestForecast;
use offshoot_session::json::Object;
use offshoot_session::text::{counted, dollars, grouped};

use crate::words::{Line, Role};

/// The messages of a context before and after an operation: estimates, both.
#[must_use]
pub fn sizes(before: u64, after: u64) -> String {
    format!("messages: about {} before, {} after", counted(before, "token", "tokens"), grouped(after))
}

/// Adds the member `forecast`, of dry runs.
#[must_use]
pub fn with_forecast(object: Object, forecast: Option<&RequestForecast>) -> Object {
    forecast.into_iter().fold(object, |object, forecast| object.raw("forecast", forecast.to_json()))
}

/// Adds the member `summaryCost`, of dry runs of what writes a summary.
#[must_use]
pub fn with_summary_cost(object: Object, cost: Option<f64>) -> Object {
    object.raw("summaryCost", cost.map_or("null".to_owned(), |cost| cost.to_string()))
}

/// The words for a forecast at a place to which a summary will be added, and for what that costs.
#[must_use]
pub fn words_without_summary(forecast: &RequestForecast, cost: Option<f64>) -> String {
    let cost = cost.map(|cost| format!(", which costs about {}", dollars(cost)));
    format!("{}, without the summary{}", forecast.detailed_words(), cost.unwrap_or_default())
}

/// The words for a forecast.
pub(crate) fn forecast_line(forecast: &RequestForecast) -> Line {
    Line::of(Role::Dim, forecast.detailed_words())
}
