//! The tool `edit`: replacements in a file, all or none.

use std::path::Path;
use std::sync::Arc;

use offshoot_session::medium::read_regular;
use offshoot_session::text::counted;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::mpsc::UnboundedSender;

use super::files::{self, reason};
use super::replace::{self, Replacement};
use super::{Running, Tier, Tool, ToolContext, ToolOutcome, args, diff};
use crate::lenient_json;
use crate::provider::ToolSpec;

/// Replaces exact text in a file. Each oldText must occur exactly once. All edits are matched against the file as it was before
/// the call, so they must not overlap or build on one another. If one fails, the file is not changed.
#[derive(Debug, Deserialize, JsonSchema)]
struct EditInput {
    /// Path of the file, relative or absolute.
    path: String,
    /// The replacements. Put changes of the same or neighbouring lines into one.
    edits: Vec<EditPair>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct EditPair {
    /// The text to replace, exactly as in the file, with just enough context to be unique.
    old_text: String,
    /// The replacement.
    new_text: String,
}

const NAME: &str = "edit";

impl EditInput {
    fn replacements(&self) -> Vec<Replacement> {
        let pairs = self.edits.iter();
        pairs.map(|edit| Replacement { old: edit.old_text.clone(), new: edit.new_text.clone() }).collect()
    }
}

impl files::Change for EditInput {
    fn path(&self) -> &str {
        &self.path
    }

    fn texts(&self) -> impl Iterator<Item = &str> {
        self.edits.iter().flat_map(|edit| [edit.old_text.as_str(), edit.new_text.as_str()])
    }

    fn refuse_doubtful(&self, _: &ToolContext) -> Result<(), ToolOutcome> {
        Ok(())
    }
}

/// The tool `edit`.
#[derive(Debug, Clone, Copy, Default)]
pub struct Edit;

impl Tool for Edit {
    fn name(&self) -> &str {
        NAME
    }

    fn spec(&self) -> ToolSpec {
        args::spec::<EditInput>(NAME)
    }

    fn summary(&self) -> Option<&str> {
        Some("replace exact text in a file, several places in one call")
    }

    fn guidelines(&self) -> Vec<&str> {
        vec![
            "Use edit to change part of a file; oldText must match the file exactly.",
            "Change several places of one file in one edit call, with one entry of edits each.",
            "Keep oldText short: just enough to be unique in the file.",
        ]
    }

    fn only_changes(&self) -> bool {
        true
    }

    fn tier(&self, arguments: &Value, place: &ToolContext) -> Tier {
        Tier::write(arguments, place)
    }

    fn preview(&self, arguments: Value, context: &ToolContext) -> Option<String> {
        files::preview(normalise_arguments(arguments), context, |before, input: EditInput| {
            replace::replace(&before, &input.replacements()).ok().map(|replaced| (replaced.before, replaced.after))
        })
    }

    fn foresee_failure(&self, arguments: Value, context: &ToolContext) -> Option<ToolOutcome> {
        files::foresee(normalise_arguments(arguments), context, |path, input: EditInput| {
            replaced(path, context, &input).map(drop)
        })
    }

    fn run(&self, arguments: Value, place: Arc<ToolContext>, _: UnboundedSender<ToolOutcome>) -> Running {
        files::change(NAME, normalise_arguments(arguments), place, |path, place, input: EditInput| {
            edit(path, place, &input)
        })
    }
}

/// Some models give one edit without a list, the list as a string, or the texts beside the path.
fn normalise_arguments(mut arguments: Value) -> Value {
    let Some(fields) = arguments.as_object_mut() else { return arguments };
    let mut edits = match fields.remove("edits") {
        Some(Value::String(text)) => lenient_json::from_str(&text).unwrap_or(Value::String(text)),
        Some(other) => other,
        None => json!([]),
    };
    if edits.is_object() {
        edits = json!([edits]);
    }
    let is_pair = ["oldText", "newText"].iter().all(|name| fields.get(*name).is_some_and(Value::is_string));
    if let (true, Some(list)) = (is_pair, edits.as_array_mut()) {
        list.push(json!({ "oldText": fields.remove("oldText"), "newText": fields.remove("newText") }));
    }
    fields.insert("edits".to_owned(), edits);
    arguments
}

/// What replacements make of a text; `None` if they would be refused.
pub(crate) fn edit_in_memory(before: &str, edits: &[Replacement]) -> Option<String> {
    let is_asked = !edits.is_empty();
    is_asked.then(|| replace::replace(before, edits).ok()).flatten().map(|replaced| replaced.bytes)
}

fn cannot(path: &Path, why: &str) -> ToolOutcome {
    ToolOutcome::failed(format!("cannot edit {}: {why}", path.display()))
}

fn replaced(path: &Path, place: &ToolContext, input: &EditInput) -> Result<replace::Replaced, ToolOutcome> {
    let cannot = |why: &str| cannot(path, why);
    if input.edits.is_empty() {
        return Err(cannot("edits holds no replacement"));
    }
    let bytes = read_regular(path, files::LIMIT)
        .map_err(|error| cannot(&format!("{}{}", reason(&error), place.paths().offer(&input.path))))?;
    let Ok(text) = String::from_utf8(bytes) else {
        return Err(cannot("it is not UTF-8, and editing would damage it; use bash, for instance perl or sed"));
    };
    replace::replace(&text, &input.replacements()).map_err(|refused| cannot(&refused.to_string()))
}

fn edit(path: &Path, place: &ToolContext, input: &EditInput) -> Result<ToolOutcome, ToolOutcome> {
    let replaced = replaced(path, place, input)?;
    files::replace(path, replaced.bytes.as_bytes()).map_err(|error| cannot(path, &reason(&error)))?;
    let name = place.paths().shown(&input.path);
    let change = diff::change(&name, &replaced.before, &replaced.after);
    let details = json!({ "diff": change.diff, "patch": change.patch, "firstChangedLine": change.first });
    let count = input.edits.len();
    let text = format!("made {} in {}", counted(count, "replacement", "replacements"), name);
    Ok(ToolOutcome { details: Some(details), ..ToolOutcome::text(text) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::testing::{call, place, text_of};

    fn run(content: &[u8], arguments: Value) -> (ToolOutcome, Vec<u8>) {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("f");
        std::fs::write(&file, content).unwrap();
        let outcome = call(&Edit, arguments, place(dir.path()));
        (outcome, std::fs::read(&file).unwrap())
    }

    #[test]
    fn a_file_is_changed_and_the_change_is_told() {
        let edits = json!([{"oldText": "b", "newText": "B"}, {"oldText": "c\n", "newText": ""}]);
        let (outcome, content) = run(b"\xef\xbb\xbfa\r\nb\r\nc\r\n", json!({"path": "f", "edits": edits}));
        assert_eq!((text_of(&outcome).as_str(), outcome.is_error), ("made 2 replacements in f", false));
        assert_eq!(content, b"\xef\xbb\xbfa\r\nB\r\n");
        let details = outcome.details.unwrap();
        assert_eq!(details["diff"], " 1 a\n-2 b\n-3 c\n+2 B");
        assert_eq!(details["patch"], "--- f\n+++ f\n@@ -1,3 +1,2 @@\n a\n-b\n-c\n+B\n");
        assert_eq!(details["firstChangedLine"], 2);
    }

    #[test]
    fn arguments_are_understood_as_models_write_them() {
        let pair = json!({"oldText": "a", "newText": "b"});
        for arguments in [
            json!({"path": "f", "edits": [pair]}),
            json!({"path": "f", "edits": pair}),
            json!({"path": "f", "edits": json!([pair]).to_string()}),
            json!({"path": "f", "edits": pair.to_string()}),
            json!({"path": "f", "oldText": "a", "newText": "b"}),
        ] {
            let (outcome, content) = run(b"a", arguments.clone());
            assert_eq!((outcome.is_error, content), (false, b"b".to_vec()), "{arguments} {outcome:?}");
        }
    }

    #[test]
    fn a_refused_edit_changes_nothing_and_says_why() {
        let edit = |old: &str| json!({"path": "f", "edits": [{"oldText": "a", "newText": "b"}, {"oldText": old, "newText": "x"}]});
        for (content, arguments, words) in [
            (&b"a"[..], edit("z"), "edits[1] is not in the file"),
            (b"a zz", edit("z"), "2 times"),
            (b"a\xff", edit("z"), "is not UTF-8"),
            (b"a", json!({"path": "f", "edits": []}), "no replacement"),
            (b"a", json!({"path": "g", "edits": [{"oldText": "a", "newText": "b"}]}), "no such file"),
            (b"a", json!({"path": ".", "edits": [{"oldText": "a", "newText": "b"}]}), "it is a folder"),
            (b"a", json!({"path": "f", "edits": "x"}), "do not fit"),
        ] {
            let (outcome, after) = run(content, arguments);
            assert!(outcome.is_error && text_of(&outcome).contains(words), "{outcome:?}");
            assert_eq!(after, content);
        }
    }
}
