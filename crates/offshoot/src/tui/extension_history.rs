//! Lets extensions draw the last entries of a session that is opened: calls, messages and entries of theirs. What is shown
//! waits for that in the live rows, because printed rows do not change any more.

use offshoot_agent::lenient_json;
use std::collections::HashMap;
use std::time::Duration;

use offshoot_session::entry::Source as _;
use offshoot_session::session::Session;
use offshoot_session::transcript::Item;
use offshoot_session::tree::NodeIx;
use offshoot_tui::app::extension::ExtensionMsg;
use offshoot_tui::conversation::ConversationBlock;
use serde_json::Value;

use super::extension_drawing::Drawing;
use super::extension_texts;
use super::job_context::JobContext;

/// How long the rows wait for extensions to load and to draw.
const PATIENCE: Duration = Duration::from_secs(3);
/// Longer entries are not drawn by extensions.
const MAX_LINE: usize = 4 << 20;

/// The last entries on the path to a leaf that an extension may draw, oldest first.
pub(super) fn lines(session: &Session, leaf: Option<NodeIx>, most: usize) -> Vec<String> {
    let path = leaf.into_iter().flat_map(|leaf| session.tree().ancestors(leaf)).take(most);
    let line = |ix| session.entry(ix).ok().map(|entry| entry.line().to_owned());
    let mut lines: Vec<String> =
        path.filter_map(line).filter(|line| line.len() <= MAX_LINE && may_be_drawn(line)).collect();
    lines.reverse();
    lines
}

/// Cheaper than reading the line, and never wrong in the other direction.
fn may_be_drawn(line: &str) -> bool {
    ["\"custom", "\"toolCall\"", "\"toolResult\""].iter().any(|word| line.contains(word))
}

/// The place of an entry that only its extension draws.
pub(super) fn drawn_entry(line: &str) -> Option<ConversationBlock> {
    let entry: Value = lenient_json::from_str(line).ok().filter(|entry: &Value| entry["type"] == "custom")?;
    let text = |name: &str| entry[name].as_str().map(str::to_owned);
    Some(ConversationBlock::drawn_only(text("customType")?, text("id")?))
}

/// Has the entries drawn, and names the wait for that. `None` if there is nothing to wait for.
pub(super) fn hold(context: &JobContext, lines: Vec<String>, items: Vec<Item>) -> Option<u64> {
    let ui_state = context.ui_state.clone().filter(|_| !(lines.is_empty() && items.is_empty()))?;
    let number = ui_state.number();
    let context = context.clone();
    drop(tokio::spawn(async move {
        // What is not drawn in time is shown as usual.
        let drawn = async {
            draw(&context, lines).await;
            extension_texts::show_opened(&context, &items).await;
        };
        drop(tokio::time::timeout(PATIENCE, drawn).await);
        ui_state.send(ExtensionMsg::HistoryDrawn(number));
    }));
    Some(number)
}

async fn draw(context: &JobContext, lines: Vec<String>) {
    let Some(extensions) = &context.extensions else { return };
    extensions.loaded().await;
    let Some(drawing) = Drawing::of(context) else { return };
    let mut calls: HashMap<String, (String, Value)> = HashMap::new();
    for entry in lines.iter().filter_map(|line| lenient_json::from_str::<Value>(line).ok()) {
        let message = &entry["message"];
        match (entry["type"].as_str(), message["role"].as_str()) {
            (Some("custom" | "custom_message"), _) => drawing.recorded(&entry).await,
            (Some("message"), Some("assistant")) => {
                for block in message["content"].as_array().into_iter().flatten() {
                    if let (Some("toolCall"), Some(id), Some(name)) =
                        (block["type"].as_str(), block["id"].as_str(), block["name"].as_str())
                    {
                        calls.insert(id.to_owned(), (name.to_owned(), block["arguments"].clone()));
                    }
                }
            }
            (Some("message"), Some("toolResult")) => {
                let call = message["toolCallId"].as_str().and_then(|id| calls.remove_entry(id));
                if let Some((id, (name, arguments))) = call {
                    drawing.recorded_call((&id, &name), &arguments, Some(message)).await;
                }
            }
            _ => {}
        }
    }
    for (id, (name, arguments)) in calls {
        drawing.recorded_call((&id, &name), &arguments, None).await;
    }
}
