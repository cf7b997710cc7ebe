//! The message that keeps an accepted plan. A compaction may summarise it away: then it is said again. Accepts nothing.

use offshoot_protocol::message::{Content, CustomMessage};
use offshoot_session::context::Context;
use offshoot_session::entry::Source as _;
use offshoot_session::kind::Kind;
use offshoot_session::session::Session;
use serde_json::json;

use crate::last_told::last_told;
use crate::tool::{AcceptedPlan, LONGEST_PLAN};

pub(crate) const KIND: &str = "offshoot.plan";

/// The message about a plan that was just accepted.
pub(crate) fn accepted(plan: &AcceptedPlan) -> CustomMessage {
    let AcceptedPlan { markdown, mode } = plan;
    let text = format!("The user has accepted this plan:\n\n{markdown}");
    message(text, json!({ "mode": mode.as_str(), "markdown": markdown }))
}

/// The message about a plan that a compaction has left out.
pub(crate) fn again(markdown: &str) -> CustomMessage {
    let text = format!("Before the conversation was compacted, the user accepted this plan:\n\n{markdown}");
    message(text, json!({ "markdown": markdown }))
}

fn message(text: String, details: serde_json::Value) -> CustomMessage {
    CustomMessage {
        custom_type: KIND.to_owned(),
        content: Content::Text(text),
        // The call shows it.
        display: false,
        details: Some(details),
        timestamp: 0,
    }
}

/// The newest plan of the branch, if a compaction has taken it out of what the model sees. Reads entries only where there is a
/// compaction.
pub(crate) fn lost(session: &Session, context: &Context) -> Option<String> {
    let tree = session.tree();
    let cut = session.leaf().into_iter().flat_map(|leaf| tree.ancestors(leaf));
    let cut = cut.into_iter().find(|ix| tree.node(*ix).kind() == Kind::Compaction)?;
    if last_told(session, context, &[KIND], |details| details.str("markdown").map(drop)).is_some() {
        return None;
    }
    let messages = tree.ancestors(cut).filter(|ix| tree.node(*ix).kind() == Kind::CustomMessage);
    messages.into_iter().find_map(|ix| {
        let entry = session.entry(ix).ok()?;
        let markdown = (entry.str("customType")? == KIND).then(|| entry.get("details")?.str("markdown"))??;
        // A longer one is not the tool's.
        (markdown.len() <= LONGEST_PLAN).then(|| markdown.into_owned())
    })
}
