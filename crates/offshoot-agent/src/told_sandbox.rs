//! The message that informs the model after the person has switched the sandbox. It is a message of the conversation, so that the
//! cached prefix stays.
//! Sets nothing up.

use std::path::Path;

use offshoot_protocol::message::{Content, CustomMessage};
use offshoot_session::context::Context;
use offshoot_session::session::Session;
use serde_json::json;

use crate::last_told::last_told;
use crate::sandbox::Sandbox;

const KIND: &str = "offshoot.sandbox";

const NONE: &str = "Commands run without a sandbox: they can do what the user could do.";

/// How commands run, for the model.
pub(crate) fn words(sandbox: Option<&Sandbox>, cwd: &Path) -> String {
    sandbox.map_or_else(|| NONE.to_owned(), |sandbox| sandbox.for_model(cwd))
}

/// The message about another sandbox.
pub(crate) fn message(words: &str) -> CustomMessage {
    CustomMessage {
        custom_type: KIND.to_owned(),
        content: Content::Text(format!("The user has switched the sandbox. From now on this is true: {words}")),
        display: false,
        details: Some(json!({ "words": words })),
        timestamp: 0,
    }
}

/// The words of the last message about the sandbox; `None` if there is no such message.
pub(crate) fn told(session: &Session, context: &Context) -> Option<String> {
    last_told(session, context, &[KIND], |details| Some(details.str("words")?.into_owned()))
}
