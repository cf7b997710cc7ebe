//! The final contents of files as two branches show them, and what differs between them. Known is what calls of `read`,
//! `write` and `edit` say; what commands do to files is not. Reads no file.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use offshoot_session::call_view::{CallChange, CallRole, CallVerb, CallView};
use offshoot_session::compare::Comparison;
use offshoot_session::entry::{Entry, Source};
use offshoot_session::error::Result;
use offshoot_session::json::Json;
use offshoot_session::kind::Role;
use offshoot_session::transcript::call_blocks;
use offshoot_session::tree::NodeIx;

use crate::tool::{Replacement, change, edit_in_memory};

/// The unified diff of two texts of a file.
#[must_use]
pub fn file_patch(path: &str, before: &str, after: &str) -> String {
    change(path, before, after).patch
}

/// A file that a branch changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilePatch {
    /// As the calls name it.
    pub path: String,
    /// The unified diff from the first branch's content to the second's, empty if they are the same; `None` if one of
    /// them is not known.
    pub patch: Option<String>,
}

/// What differs between the files of two branches: those that one of them changed below the fork, by path.
///
/// # Errors
/// The medium cannot be read.
pub fn patches(source: &dyn Source, compared: &Comparison) -> Result<Vec<FilePatch>> {
    let mut shared = Contents::default();
    if let Some(ancestor) = compared.ancestor {
        source.tree().path(ancestor).into_iter().try_for_each(|ix| shared.take(source, ix))?;
    }
    let [first, second] = [&compared.sides[0], &compared.sides[1]].map(|side| {
        let mut contents = Contents { changed: BTreeSet::new(), ..shared.clone() };
        side.entries.iter().try_for_each(|ix| contents.take(source, *ix)).map(|()| contents)
    });
    let (first, second) = (first?, second?);
    let changed: BTreeSet<&String> = first.changed.union(&second.changed).collect();
    let patch = |path: &String| {
        let (before, after) = (first.known.get(path)?, second.known.get(path)?);
        Some(if before == after { String::new() } else { change(path, before, after).patch })
    };
    Ok(changed.into_iter().map(|path| FilePatch { path: path.clone(), patch: patch(path) }).collect())
}

#[derive(Debug, Clone, Default)]
struct Contents {
    known: BTreeMap<String, String>,
    changed: BTreeSet<String>,
    /// Calls without a result so far.
    calls: HashMap<String, FileDeed>,
}

#[derive(Debug, Clone)]
struct FileDeed {
    path: String,
    kind: FileDeedKind,
}

#[derive(Debug, Clone)]
enum FileDeedKind {
    ReadWhole,
    ReadPart,
    Write(Option<String>),
    /// `None` if it is not known what the tool makes of its arguments.
    Edit(Option<Vec<Replacement>>),
}

impl Contents {
    fn take(&mut self, source: &dyn Source, ix: NodeIx) -> Result<()> {
        match source.tree().node(ix).role() {
            Some(Role::Assistant) => {
                let entry = source.entry(ix)?;
                let calls = entry.message().into_iter().flat_map(call_blocks).filter_map(deed);
                self.calls.extend(calls);
            }
            Some(Role::ToolResult) => self.take_result(&source.entry(ix)?),
            _ => {}
        }
        Ok(())
    }

    fn take_result(&mut self, result: &Entry) {
        let Some(message) = result.message() else { return };
        let Some(call) = message.str("toolCallId").and_then(|id| self.calls.remove(&*id)) else { return };
        if message.get("isError").and_then(Json::as_bool) == Some(true) {
            return;
        }
        let FileDeed { path, kind } = call;
        match kind {
            FileDeedKind::ReadPart => {}
            FileDeedKind::ReadWhole => {
                let whole = result.message_text("").filter(|_| !is_cut(message) && !has_image(message));
                self.known.extend(whole.map(|text| (path, text)));
            }
            FileDeedKind::Write(content) => self.set(path, content),
            FileDeedKind::Edit(edits) => {
                let before = self.known.get(&path);
                let content = before.zip(edits).and_then(|(before, edits)| edit_in_memory(before, &edits));
                self.set(path, content);
            }
        }
    }

    fn set(&mut self, path: String, content: Option<String>) {
        self.changed.insert(path.clone());
        match content {
            Some(content) => drop(self.known.insert(path, content)),
            None => drop(self.known.remove(&path)),
        }
    }
}

/// What a call does to a file, if its tool is known, with the call's id.
fn deed(block: Json<'_>) -> Option<(String, FileDeed)> {
    let view = CallView::of(block)?;
    let kind = match view.verb() {
        CallVerb::Read if view.range().is_empty() => FileDeedKind::ReadWhole,
        CallVerb::Read => FileDeedKind::ReadPart,
        CallVerb::Write => FileDeedKind::Write(view.text(CallRole::Content)),
        CallVerb::Edit => FileDeedKind::Edit(view.changes().into_iter().map(replacement).collect()),
        CallVerb::Run | CallVerb::Grep | CallVerb::Find | CallVerb::List | CallVerb::Other => return None,
    };
    Some((block.str("id")?.into_owned(), FileDeed { path: view.path()?, kind }))
}

fn replacement(change: CallChange<'_>) -> Option<Replacement> {
    match change {
        CallChange::Replace { old, new } => Some(Replacement { old: old.into_owned(), new: new.into_owned() }),
        CallChange::Patch(_) => None,
    }
}

/// Whether the result shows a part of the file, or a file of another name.
fn is_cut(message: Json<'_>) -> bool {
    let details = message.get("details").filter(|details| !details.is_null());
    let has = |name| details.and_then(|details| details.get(name)).is_some_and(|detail| !detail.is_null());
    has("truncation") || has("path")
}

fn has_image(message: Json<'_>) -> bool {
    let blocks = message.get("content").into_iter().flat_map(Json::items);
    blocks.into_iter().any(|block| block.str("type").is_some_and(|kind| kind == "image"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use offshoot_session::session::{Options, Session};
    use serde_json::Value;

    /// A session of calls with results: id, parent, tool, arguments, the result's text and whether it failed.
    fn session(calls: &[(&str, &str, &str, Value, &str, bool)]) -> Session {
        let mut text = String::from("{\"type\":\"session\",\"version\":3,\"id\":\"s\"}\n");
        let mut last = "null".to_owned();
        for (id, parent, tool, arguments, result, is_error) in calls {
            let above = if parent.is_empty() { last.clone() } else { format!("\"{parent}r\"") };
            text.push_str(&format!(
                "{{\"type\":\"message\",\"id\":\"{id}\",\"parentId\":{above},\"message\":{{\"role\":\"assistant\",\"content\":[{{\"type\":\"toolCall\",\"id\":\"{id}\",\"name\":\"{tool}\",\"arguments\":{arguments}}}]}}}}\n"
            ));
            let result = serde_json::json!([{"type": "text", "text": result}]);
            text.push_str(&format!(
                "{{\"type\":\"message\",\"id\":\"{id}r\",\"parentId\":\"{id}\",\"message\":{{\"role\":\"toolResult\",\"toolCallId\":\"{id}\",\"content\":{result},\"isError\":{is_error}}}}}\n"
            ));
            last = format!("\"{id}r\"");
        }
        Session::from_text(&text, Options::default()).unwrap()
    }

    #[test]
    fn files_are_compared_as_far_as_the_calls_show_them() {
        use serde_json::json;
        let edit = |path: &str, old: &str, new: &str| json!({"path": path, "oldText": old, "newText": new});
        let session = session(&[
            ("a", "", "read", json!({"path": "x"}), "1\n2\n", false),
            ("b", "", "read", json!({"path": "part", "limit": 1}), "1", false),
            // The first branch.
            ("c", "b", "edit", edit("x", "2", "two"), "ok", false),
            ("d", "", "edit", edit("part", "1", "one"), "ok", false),
            ("e", "", "write", json!({"path": "both", "content": "same"}), "ok", false),
            ("f", "", "write", json!({"path": "x", "content": "never"}), "no", true),
            // The second branch.
            ("g", "b", "edit", edit("x", "1", "one"), "ok", false),
            ("h", "", "write", json!({"path": "both", "content": "same"}), "ok", false),
        ]);
        let ix = |id: &str| session.tree().find(id).unwrap();
        let compared = Comparison::new(&session, ix("fr"), ix("hr")).unwrap();
        let found = patches(&session, &compared).unwrap();
        let patch = |path: &str| found.iter().find(|file| file.path == path).unwrap().patch.as_deref();
        assert_eq!(patch("x"), Some("--- x\n+++ x\n@@ -1,2 +1,2 @@\n-1\n-two\n+one\n+2\n"));
        assert_eq!((patch("part"), patch("both")), (None, Some("")));
        assert_eq!(found.len(), 3);
    }
}
