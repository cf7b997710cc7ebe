//! The members that `models.json` gives every request of a model, as pi's `samplingParams`. Knows no wire format.

use offshoot_protocol::ThinkingLevel;
use offshoot_protocol::model::Model;
use serde_json::{Map, Value};

/// They override what the wire format says by itself, as in pi.
pub(super) fn add_sampling(body: &mut Map<String, Value>, model: &Model, thinking: ThinkingLevel) {
    let level = model.clamp(thinking).as_str();
    for members in [Some(&model.sampling), model.sampling_by_level.get(level)].into_iter().flatten() {
        body.extend(members.as_object().cloned().unwrap_or_default());
    }
}
