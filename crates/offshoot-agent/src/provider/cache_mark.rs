//! Anthropic's mark of what a cache keeps, for the wire formats that have it. Knows no request.

use offshoot_protocol::CacheRetention;
use offshoot_protocol::model::Model;
use serde_json::{Value, json};

/// The mark; `None` if nothing is marked. `can_be_long`: the server keeps for an hour what is marked so.
pub(super) fn cache_mark(model: &Model, can_be_long: bool) -> Option<Value> {
    match model.cache_retention {
        CacheRetention::None => None,
        CacheRetention::Long if can_be_long => Some(json!({"type": "ephemeral", "ttl": "1h"})),
        CacheRetention::Short | CacheRetention::Long => Some(json!({"type": "ephemeral"})),
    }
}
