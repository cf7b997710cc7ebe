//! Reads a request. `wire` describes the messages.

use std::borrow::Cow;

use offshoot_session::json::{Json, JsonKind};
use offshoot_session::manager::Params;

use super::wire::ApiFailure;

#[derive(Debug)]
pub(super) struct ApiRequest<'a> {
    /// Returned with the answer; `None` for notifications.
    pub(super) id: Option<Json<'a>>,
    pub(super) method: Cow<'a, str>,
    pub(super) params: Params<'a>,
}

impl<'a> ApiRequest<'a> {
    /// Reads a request. The error comes with the request's id, where `None` means null.
    pub(super) fn read(json: Json<'a>) -> Result<Self, (Option<Json<'a>>, ApiFailure)> {
        if json.kind() != JsonKind::Object {
            return Err((None, ApiFailure::invalid_request("a request is an object")));
        }
        let id = json.get("id");
        if id.is_some_and(|id| !matches!(id.kind(), JsonKind::String | JsonKind::Number | JsonKind::Null)) {
            return Err((None, ApiFailure::invalid_request("an id is a string, a number or null")));
        }
        if json.get("jsonrpc").is_none_or(|version| version.text() != "\"2.0\"") {
            return Err((id, ApiFailure::invalid_request("a request has the member \"jsonrpc\":\"2.0\"")));
        }
        let Some(method) = json.str("method") else {
            return Err((id, ApiFailure::invalid_request("a request names its method by a string")));
        };
        match json.get("params").filter(|params| !params.is_null()) {
            Some(params) if params.kind() == JsonKind::Array => {
                Err((id, ApiFailure::params("arguments are given by name, in an object")))
            }
            Some(params) if params.kind() != JsonKind::Object => {
                Err((id, ApiFailure::invalid_request("params is an object")))
            }
            params => Ok(Self { id, method, params: Params::new(params) }),
        }
    }
}
