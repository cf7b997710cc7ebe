//! Messages of JSON-RPC, as servers send them. Knows no method.

use offshoot_agent::lenient_json;
use offshoot_session::text::one_line;
use serde_json::{Map, Value, json};

/// Longer messages end the connection: nobody can tell what they answer.
pub(crate) const LONGEST_MESSAGE: usize = 96 << 20;
/// More of an error's words is not shown.
const LONGEST_ERROR: usize = 2000;

/// What a server sends.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Incoming {
    Answer {
        id: u64,
        result: Result<Value, RpcError>,
    },
    /// Asks this program for something.
    Request {
        id: Value,
        method: String,
        params: Value,
    },
    Notification {
        method: String,
        params: Value,
    },
    /// Not a message.
    Garbage,
}

/// A refusal by a server.
#[derive(Debug, Clone, PartialEq)]
pub struct RpcError {
    /// The number of JSON-RPC.
    pub code: i64,
    /// The server's words, without what a terminal would obey.
    pub message: String,
    /// What the server says besides.
    pub data: Value,
}

pub(crate) const INVALID_PARAMS: i64 = -32602;
pub(crate) const METHOD_NOT_FOUND: i64 = -32601;
pub(crate) const UNSUPPORTED_VERSION: i64 = -32022;

impl Incoming {
    pub(crate) fn parse(bytes: &[u8]) -> Self {
        match lenient_json::from_slice::<Value>(bytes) {
            Ok(Value::Object(message)) => Self::of(message),
            Ok(_) | Err(_) => Self::Garbage,
        }
    }

    /// Also of a list of messages, which one version of the protocol had.
    pub(crate) fn parse_all(bytes: &[u8]) -> Vec<Self> {
        match lenient_json::from_slice::<Value>(bytes) {
            Ok(Value::Object(message)) => vec![Self::of(message)],
            Ok(Value::Array(messages)) => messages
                .into_iter()
                .filter_map(|message| match message {
                    Value::Object(message) => Some(Self::of(message)),
                    _ => None,
                })
                .collect(),
            Ok(_) | Err(_) => Vec::new(),
        }
    }

    fn of(mut message: Map<String, Value>) -> Self {
        let method = message.get("method").and_then(Value::as_str).map(str::to_owned);
        let id = message.remove("id").filter(|id| !id.is_null());
        let params = message.remove("params").unwrap_or(Value::Null);
        match (method, id) {
            (Some(method), Some(id)) => Self::Request { id, method, params },
            (Some(method), None) => Self::Notification { method, params },
            (None, Some(id)) => match (id_of(&id), message.remove("error"), message.remove("result")) {
                (Some(id), Some(error), _) if !error.is_null() => {
                    Self::Answer { id, result: Err(RpcError::of(&error)) }
                }
                (Some(id), _, Some(result)) => Self::Answer { id, result: Ok(result) },
                _ => Self::Garbage,
            },
            (None, None) => Self::Garbage,
        }
    }
}

/// Our ids are numbers; some servers send them back as texts.
fn id_of(id: &Value) -> Option<u64> {
    id.as_u64().or_else(|| id.as_str()?.parse().ok())
}

impl RpcError {
    pub(crate) fn of(error: &Value) -> Self {
        let message = error["message"].as_str().unwrap_or("the server gave no reason");
        Self {
            code: error["code"].as_i64().unwrap_or_default(),
            message: one_line(message, LONGEST_ERROR),
            data: error.get("data").cloned().unwrap_or(Value::Null),
        }
    }
}

pub(crate) fn request(id: u64, method: &str, params: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

pub(crate) fn notification(method: &str, params: Option<Value>) -> Value {
    match params {
        Some(params) => json!({"jsonrpc": "2.0", "method": method, "params": params}),
        None => json!({"jsonrpc": "2.0", "method": method}),
    }
}

pub(crate) fn answer(id: &Value, result: Result<Value, (i64, &str)>) -> Value {
    match result {
        Ok(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
        Err((code, message)) => json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}}),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_told_apart() {
        let parse = |text: &str| Incoming::parse(text.as_bytes());
        assert_eq!(parse(r#"{"id":7,"result":{}}"#), Incoming::Answer { id: 7, result: Ok(json!({})) });
        assert_eq!(parse(r#"{"id":"7","result":{}}"#), Incoming::Answer { id: 7, result: Ok(json!({})) });
        let error = RpcError { code: -32601, message: "no such [31mmethod".to_owned(), data: Value::Null };
        let Incoming::Answer { result: Err(found), .. } =
            parse("{\"id\":1,\"error\":{\"code\":-32601,\"message\":\"no such \\u001b[31mmethod\"}}")
        else {
            panic!("no error")
        };
        assert_eq!(found.code, error.code);
        assert!(!found.message.contains('\u{1b}'), "{found:?}");
        let request = Incoming::Request { id: json!("a"), method: "ping".to_owned(), params: Value::Null };
        assert_eq!(parse(r#"{"id":"a","method":"ping"}"#), request);
        let told = Incoming::Notification { method: "m".to_owned(), params: json!({"a": "\u{fffd}"}) };
        assert_eq!(parse(r#"{"method":"m","params":{"a":"\ud83d"}}"#), told);
        for garbage in ["", "Listening on port 80", "[]", "7", r#"{"id":1}"#, r#"{"id":-1,"result":{}}"#, "{}"] {
            assert_eq!(parse(garbage), Incoming::Garbage, "{garbage}");
        }
    }
}
