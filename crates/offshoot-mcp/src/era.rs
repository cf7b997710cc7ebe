//! The two eras of the protocol, and their versions.

use serde_json::{Value, json};

/// What this program is called in the protocol.
pub(crate) const CLIENT: &str = "offshoot";
/// The newest version of the older era.
pub(crate) const LEGACY: &str = "2025-11-25";
/// Those that are spoken.
pub(crate) const LEGACY_VERSIONS: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];
/// The version of the newer era, in which each request says what the older one said at the start.
pub(crate) const MODERN: &str = "2026-07-28";

const VERSION: &str = "io.modelcontextprotocol/protocolVersion";

/// How requests are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Era {
    /// Versions up to 2025-11-25.
    Legacy,
    /// From 2026-07-28 on.
    Modern,
}

impl Era {
    pub(crate) fn parse(word: &str) -> Option<Self> {
        [Self::Legacy, Self::Modern].into_iter().find(|era| era.as_str() == word)
    }

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Legacy => "legacy",
            Self::Modern => "modern",
        }
    }
}

/// Who this program is.
pub(crate) fn client_info() -> Value {
    json!({"name": CLIENT, "version": env!("CARGO_PKG_VERSION")})
}

/// What a server may ask this program for.
pub(crate) fn capabilities(asks: Asks) -> Value {
    match asks {
        Asks::Person => json!({"roots": {}, "elicitation": {"form": {}, "url": {}}}),
        Asks::Nobody => json!({"roots": {}}),
    }
}

/// Whether questions of a server reach somebody.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Asks {
    Person,
    Nobody,
}

/// What every request of the newer era has.
pub(crate) fn with_envelope(mut params: Value, asks: Asks) -> Value {
    params["_meta"][VERSION] = json!(MODERN);
    params["_meta"]["io.modelcontextprotocol/clientInfo"] = client_info();
    params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = capabilities(asks);
    params
}

/// The version that a message names in its envelope.
pub(crate) fn version_of(message: &Value) -> Option<&str> {
    message["params"]["_meta"][VERSION].as_str()
}
