//! A received request. Knows no server.

#![expect(missing_docs, reason = "the names say what they are")]

use serde_json::Value;

use crate::provider::Api;

#[derive(Debug, Clone)]
pub struct Seen {
    /// From the path.
    pub api: Option<Api>,
    /// With query.
    pub path: String,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    pub body: String,
}

impl Seen {
    /// Null if the body is not JSON.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_default()
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}
