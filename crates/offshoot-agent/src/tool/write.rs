//! The tool `write`: a file with exactly this content, new or existing.

use std::path::Path;
use std::sync::Arc;

use offshoot_session::text::counted;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use tokio::sync::mpsc::UnboundedSender;

use super::files::{self, reason};
use super::{Running, Tier, Tool, ToolContext, ToolOutcome, args};
use crate::provider::ToolSpec;

/// Writes a file: a new one, or all of an old one anew. Folders on the way are made.
#[derive(Debug, Deserialize, JsonSchema)]
struct WriteInput {
    /// The file: absolute, or relative to the working folder.
    path: String,
    /// The whole new content of the file.
    content: String,
}

const NAME: &str = "write";

impl files::Change for WriteInput {
    fn path(&self) -> &str {
        &self.path
    }

    fn texts(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.content.as_str())
    }
}

/// The tool `write`.
#[derive(Debug, Clone, Copy, Default)]
pub struct Write;

impl Tool for Write {
    fn name(&self) -> &str {
        NAME
    }

    fn spec(&self) -> ToolSpec {
        args::spec::<WriteInput>(NAME)
    }

    fn summary(&self) -> Option<&str> {
        Some("make a file, or write an old one anew")
    }

    fn guidelines(&self) -> Vec<&str> {
        vec!["Take write for new files and complete rewrites only."]
    }

    fn tier(&self, arguments: &Value, place: &ToolContext) -> Tier {
        Tier::write(arguments, place)
    }

    fn preview(&self, arguments: Value, context: &ToolContext) -> Option<String> {
        files::preview(arguments, context, |before, input: WriteInput| Some((before, input.content)))
    }

    fn run(&self, arguments: Value, place: Arc<ToolContext>, _: UnboundedSender<ToolOutcome>) -> Running {
        files::change(NAME, arguments, place, |path, input: WriteInput| write(path, &input))
    }
}

fn write(path: &Path, input: &WriteInput) -> Result<ToolOutcome, ToolOutcome> {
    let made = path.parent().map_or(Ok(()), std::fs::create_dir_all);
    made.and_then(|()| files::replace(path, input.content.as_bytes()))
        .map_err(|error| ToolOutcome::failed(format!("cannot write {}: {}", path.display(), reason(&error))))?;
    let bytes = counted(input.content.len(), "byte", "bytes");
    Ok(ToolOutcome::text(format!("wrote {bytes} to {}", input.path)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::testing::{call, place, text_of};
    use serde_json::json;

    #[test]
    fn files_and_their_folders_are_made_and_old_content_goes() {
        let dir = tempfile::tempdir().unwrap();
        for content in ["first, longer", "é\r\n", ""] {
            let outcome = call(&Write, json!({"path": "a/b/c.txt", "content": content}), place(dir.path()));
            assert_eq!(outcome, ToolOutcome::text(format!("wrote {} bytes to a/b/c.txt", content.len())));
            assert_eq!(std::fs::read_to_string(dir.path().join("a/b/c.txt")).unwrap(), content);
        }
    }

    #[test]
    fn failures_name_the_file_and_the_reason() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("file"), "x").unwrap();
        let run = |path: &str| call(&Write, json!({"path": path, "content": ""}), place(dir.path()));
        for (path, words) in [(".", "it is a folder"), ("file/below", "file/below")] {
            let outcome = run(path);
            assert!(outcome.is_error && text_of(&outcome).contains(words), "{outcome:?}");
        }
        assert_eq!(std::fs::read(dir.path().join("file")).unwrap(), b"x");
        let outcome = call(&Write, json!({"path": "x"}), place(dir.path()));
        assert!(text_of(&outcome).contains("missing field `content`"), "{outcome:?}");
    }

    /// A key that a tool had masked was written over itself.
    #[test]
    fn no_file_gets_a_mask_and_no_tool_opens_a_file_of_keys() {
        use crate::provider::MASK;
        use crate::tool::{Edit, Grep, KeyGuard, Read};
        let dir = tempfile::tempdir().unwrap();
        let (file, keys) = (dir.path().join("env"), dir.path().join("auth.json"));
        std::fs::write(&file, "KEY=sk-1").unwrap();
        std::fs::write(&keys, "secret").unwrap();
        std::fs::hard_link(&keys, dir.path().join("other")).unwrap();
        let place = || ToolContext {
            call_id: String::new(),
            keys: KeyGuard { files: [keys.clone()].into(), ..KeyGuard::default() },
            ..place(dir.path())
        };
        let masked = format!("KEY={MASK}");
        let write = call(&Write, json!({"path": "env", "content": &masked}), place());
        let edits = json!([{"oldText": "KEY=sk-1", "newText": &masked}]);
        let edit = call(&Edit, json!({"path": "env", "edits": edits}), place());
        for refused in [write, edit] {
            assert!(refused.is_error && text_of(&refused).contains("which stands for a key"), "{refused:?}");
        }
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "KEY=sk-1");
        for name in ["auth.json", "other", "./auth.json"] {
            let read = call(&Read, json!({"path": name}), place());
            let write = call(&Write, json!({"path": name, "content": "x"}), place());
            for refused in [read, write] {
                assert!(refused.is_error && text_of(&refused).contains("contains keys"), "{refused:?}");
            }
            let found = call(&Grep, json!({"path": name, "pattern": "."}), place());
            assert!(found.is_error && text_of(&found).contains("contains keys"), "{found:?}");
        }
        let found = text_of(&call(&Grep, json!({"pattern": "KEY|secret"}), place()));
        assert!(found.starts_with("env:1: KEY=sk-1\n\n[2 files could not be searched"), "{found}");
    }
}
