//! What a request looked like when it came in. Knows no server.

use serde_json::Value;

use crate::provider::Api;

/// A request that came in.
#[derive(Debug, Clone)]
pub struct Seen {
    /// The wire format that its path tells.
    pub api: Option<Api>,
    /// Its path with query.
    pub path: String,
    /// Its headers; names in lower case.
    pub headers: Vec<(String, String)>,
    /// Its body.
    pub body: String,
}

impl Seen {
    /// Its body as JSON; null if it is none.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_default()
    }

    /// A header's value.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}
