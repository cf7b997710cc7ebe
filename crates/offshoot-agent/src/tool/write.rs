//! The tool `write`: a file with exactly this content, new or existing.

use std::path::Path;
use std::sync::Arc;

use offshoot_session::text::counted;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use tokio::sync::mpsc::UnboundedSender;

use super::files::{self, reason};
use super::{Running, Tool, ToolContext, ToolOutcome, args};
use crate::provider::ToolSpec;

/// Writes a file: a new one, or all of an old one anew. Folders on the way are made.
#[derive(Debug, Deserialize, JsonSchema)]
struct WriteInput {
    /// The file: absolute, or relative to the working folder.
    path: String,
    /// All that the file shall hold.
    content: String,
}

const NAME: &str = "write";

impl files::Change for WriteInput {
    fn path(&self) -> &str {
        &self.path
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

    fn guidelines(&self) -> &[&str] {
        &["Take write for new files and complete rewrites only."]
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
}
