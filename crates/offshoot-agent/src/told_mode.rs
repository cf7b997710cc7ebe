//! What the model is told of the approval mode: that calls which do more than read are refused, or no longer are. A message of the conversation says it, so that what
//! came before stays as it was sent. Knows no rule.

use offshoot_protocol::ApprovalMode;
use offshoot_protocol::message::{Content, CustomMessage};
use offshoot_session::context::Context;
use offshoot_session::entry::Source as _;
use offshoot_session::json::Json;
use offshoot_session::kind::Kind;
use offshoot_session::session::Session;
use serde_json::json;

const KIND: &str = "offshoot.approval-mode";

const READS: &str = "The user has set the approval mode to read-only: calls that change files or run commands that do more than read are refused from now on.";
const MORE: &str = "The approval mode is no longer read-only: calls that change files or run commands are not refused for that reason any more.";

/// The message about a mode that has begun or ended.
pub(crate) fn message(mode: ApprovalMode) -> CustomMessage {
    let text = if mode == ApprovalMode::ReadOnly { READS } else { MORE };
    CustomMessage {
        custom_type: KIND.to_owned(),
        content: Content::Text(text.to_owned()),
        display: false,
        details: Some(json!({ "mode": mode.as_str() })),
        timestamp: 0,
    }
}

/// Whether the last message about the mode says that the model may only read; `None` if there is no such message.
pub(crate) fn told(session: &Session, context: &Context) -> Option<bool> {
    last_told(session, context, KIND, |details| Some(details.str("mode")? == ApprovalMode::ReadOnly.as_str()))
}

/// What `read` makes of the details of the last message of this kind that the model sees.
pub(crate) fn last_told<T>(
    session: &Session,
    context: &Context,
    kind: &str,
    read: impl Fn(&Json<'_>) -> Option<T>,
) -> Option<T> {
    let messages: Vec<_> =
        context.entries().filter(|ix| session.tree().node(*ix).kind() == Kind::CustomMessage).collect();
    messages.into_iter().rev().find_map(|ix| {
        let line = session.raw_line(ix).ok()?;
        let entry = Json::parse(std::str::from_utf8(&line).ok()?.trim_end()).ok()?;
        (entry.str("customType")? == kind).then(|| read(&entry.get("details")?))?
    })
}
