//! Children that went on beside the conversation when an earlier program ended: what their files say, for a branch that has not been told
//! of their ends. Starts none.

use std::collections::BTreeSet;

use offshoot_protocol::{ChildState, ChildStatus};
use offshoot_session::child::{ChildEnd, ChildStart, child_file, children_folder};
use offshoot_session::entry::{Entry, Source as _};
use offshoot_session::error::Result;
use offshoot_session::json::Json;
use offshoot_session::kind::{Kind, Role};
use offshoot_session::session::{Options, Session};

use super::report::{ChildReport, words};
use super::stays::{BACKGROUND, EndedChild};

/// What a child has not said itself.
const INTERRUPTED: &str = "the program ended while it ran";

/// The children of calls on the path that went on in the background, and that no message below has named.
///
/// # Errors
/// The session cannot be read.
pub(crate) fn untold_of_earlier(session: &Session, is_known: impl Fn(&str) -> bool) -> Result<Vec<EndedChild>> {
    let Some(folder) = session.file().map(children_folder).filter(|folder| folder.is_dir()) else {
        return Ok(Vec::new());
    };
    let tree = session.tree();
    let (mut told, mut untold) = (BTreeSet::new(), Vec::new());
    for ix in session.leaf().into_iter().flat_map(|leaf| tree.ancestors(leaf)) {
        let node = tree.node(ix);
        if node.kind() == Kind::CustomMessage {
            let entry = session.entry(ix)?;
            if entry.str("customType").as_deref() == Some(BACKGROUND) {
                let agents = entry.get("details").and_then(|details| details.get("agents"));
                told.extend(
                    agents.into_iter().flat_map(Json::items).filter_map(|agent| Some(agent.str("id")?.into_owned())),
                );
            }
        } else if node.role() == Some(Role::ToolResult) {
            untold.extend(in_background(&session.entry(ix)?).into_iter().filter(|id| !told.contains(id)));
        }
    }
    untold.reverse();
    let files = untold.iter().map(|id| child_file(&folder, id)).filter(|file| !is_known(&file.display().to_string()));
    Ok(files.filter_map(|file| ended(&Session::open(&file, Options::default()).ok()?)).collect())
}

/// The agents that a call left in the background.
fn in_background(result: &Entry) -> Vec<String> {
    if !result.line().contains("\"inBackground\"") {
        return Vec::new();
    }
    let ids = result.of_message("details").and_then(|details| details.get("inBackground"));
    ids.into_iter().flat_map(Json::items).filter_map(|id| Some(id.as_str()?.into_owned())).collect()
}

/// What the file of a child says of its end.
fn ended(session: &Session) -> Option<EndedChild> {
    let start = ChildStart::of(session).ok()??;
    let end = ChildEnd::of(session).ok()?;
    let status = end.as_ref().and_then(|end| ChildStatus::parse(&end.status)).unwrap_or(ChildStatus::Failed);
    let why = match &end {
        Some(end) => end.why.clone(),
        None => Some(INTERRUPTED.to_owned()),
    };
    let end = end.unwrap_or_default();
    let state = ChildState {
        id: start.id,
        agent: start.agent,
        parent_tool_call_id: start.tool_call_id,
        index: start.index,
        task: start.task,
        file: session.file().map(|file| file.display().to_string()),
        model: String::new(),
        status,
        requests: end.requests,
        tokens: end.tokens,
        cost: end.cost,
        current_tool: None,
        last_text: None,
        why,
    };
    let report = ChildReport { output: end.output, ..ChildReport::new(state) };
    Some(EndedChild { words: words(&report), state: report.state })
}
