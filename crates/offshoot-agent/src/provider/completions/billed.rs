//! What OpenRouter says that an answer has cost: its price depends on the server that answered, and prices of the list are only usual
//! ones.

use serde_json::Value;

/// The members of a usage that tell its cost. They count only where they are whole, and are never a reason to fail.
#[derive(Debug)]
pub(super) struct Billed {
    pub(super) cost: Value,
    /// Whether the server behind OpenRouter was paid with the user's own key.
    pub(super) is_byok: Value,
    pub(super) cost_details: Value,
}

impl Billed {
    /// In US dollars: what OpenRouter takes, and what its server takes from the user's own key there.
    pub(super) fn dollars(&self) -> Option<f64> {
        let own = dollars(&self.cost)?;
        if !self.is_byok.as_bool()? {
            return Some(own);
        }
        let of = |name: &str| dollars(&self.cost_details[name]);
        let upstream = match &self.cost_details["upstream_inference_cost"] {
            Value::Null => of("upstream_inference_prompt_cost")? + of("upstream_inference_completions_cost")?,
            all => dollars(all)?,
        };
        Some(own + upstream)
    }
}

fn dollars(value: &Value) -> Option<f64> {
    value.as_f64().filter(|dollars| dollars.is_finite() && *dollars >= 0.0)
}
