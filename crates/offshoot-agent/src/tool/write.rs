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

/// Creates a file, or overwrites an existing one. Missing parent directories are created.
#[derive(Debug, Deserialize, JsonSchema)]
struct WriteInput {
    /// Path of the file, relative or absolute.
    path: String,
    /// The complete content of the file.
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

    fn refuse_doubtful(&self, place: &ToolContext) -> Result<(), ToolOutcome> {
        place.paths().refuse_doubtful(&self.path)
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
        Some("create or overwrite a file")
    }

    fn guidelines(&self) -> Vec<&str> {
        vec!["Use write only for new files and complete rewrites."]
    }

    fn only_changes(&self) -> bool {
        true
    }

    fn tier(&self, arguments: &Value, place: &ToolContext) -> Tier {
        Tier::write(arguments, place)
    }

    fn preview(&self, arguments: Value, context: &ToolContext) -> Option<String> {
        files::preview(arguments, context, |before, input: WriteInput| Some((before, input.content)))
    }

    fn run(&self, arguments: Value, place: Arc<ToolContext>, _: UnboundedSender<ToolOutcome>) -> Running {
        files::change(NAME, arguments, place, |path, place, input: WriteInput| write(path, place, &input))
    }
}

fn write(path: &Path, place: &ToolContext, input: &WriteInput) -> Result<ToolOutcome, ToolOutcome> {
    let made = path.parent().map_or(Ok(()), std::fs::create_dir_all);
    made.and_then(|()| files::replace(path, input.content.as_bytes()))
        .map_err(|error| ToolOutcome::failed(format!("cannot write {}: {}", path.display(), reason(&error))))?;
    let bytes = counted(input.content.len(), "byte", "bytes");
    Ok(ToolOutcome::text(format!("wrote {bytes} to {}", place.paths().shown(&input.path))))
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

    /// `write` replaced the link and reported success, so that the file that the link names never came to be.
    #[test]
    fn a_link_to_a_file_that_does_not_exist_stays_and_the_file_is_made() {
        use crate::tool::Edit;
        use std::os::unix::fs::symlink;
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        std::fs::create_dir_all(at("real")).unwrap();
        std::fs::create_dir_all(at("links/deep")).unwrap();
        for (link, target) in [
            ("links/one", "../real/one"),
            ("links/deep/two", "../second"),
            ("links/second", "../real/two"),
            ("links/nowhere", "../missing/three"),
            ("links/circle", "circle"),
            ("links/folder", "../missing"),
        ] {
            symlink(target, at(link)).unwrap();
        }
        symlink(at("real/four"), at("links/four")).unwrap();
        let write = |path: &str| call(&Write, json!({"path": path, "content": "a\nb\n"}), place(dir.path()));
        for (link, file) in [("links/one", "real/one"), ("links/deep/two", "real/two"), ("links/four", "real/four")] {
            assert_eq!(text_of(&write(link)), format!("wrote 4 bytes to {link}"));
            let edits = json!([{"oldText": "b", "newText": "c"}]);
            let edited = call(&Edit, json!({"path": link, "edits": edits}), place(dir.path()));
            assert_eq!(text_of(&edited), format!("made 1 replacement in {link}"));
            assert!(at(link).symlink_metadata().unwrap().is_symlink(), "{link}");
            let made = at(file).symlink_metadata().unwrap();
            assert!(made.is_file() && std::fs::read_to_string(at(file)).unwrap() == "a\nc\n", "{file}");
        }
        for (link, path, why) in [
            ("links/nowhere", "links/nowhere", "no such file or folder"),
            ("links/circle", "links/circle", "os error"),
            ("links/folder", "links/folder/x", "links/folder/x: "),
        ] {
            let outcome = write(path);
            assert!(outcome.is_error && text_of(&outcome).contains(why), "{outcome:?}");
            assert!(at(link).symlink_metadata().unwrap().is_symlink(), "{link}");
        }
        assert!(at("missing").symlink_metadata().is_err(), "as the system: a link makes no folders");
    }

    /// `write` of a name with a no-break space changed the file beside it whose name has a blank, and reported the other name;
    /// `@types/i` changed `types/i`.
    #[test]
    fn the_file_that_was_named_is_the_file_that_is_touched() {
        use crate::tool::{Edit, Find, Grep, Ls, Read};
        for (named, beside, escaped) in [
            ("a\u{a0}b", "a b", "a b"),
            ("a b", "a\u{3000}b", "a\\u3000b"),
            ("caf\u{e9}", "cafe\u{301}", "cafe\\u0301"),
            ("it\u{2019}s", "it's", "it's"),
            ("@types/i", "types/i", "types/i"),
            ("f\u{202f}r/i", "f r/i", "f r/i"),
        ] {
            let dir = tempfile::tempdir().unwrap();
            let of = |name: &str| std::fs::read_to_string(dir.path().join(name)).unwrap();
            let folder_of = |name: &str| Path::new(name).parent().unwrap().to_owned();
            for (name, text) in [(named, ""), (beside, "neighbour")] {
                std::fs::create_dir_all(dir.path().join(folder_of(name))).unwrap();
                std::fs::write(dir.path().join(name), text).unwrap();
            }
            std::fs::remove_file(dir.path().join(named)).unwrap();
            let written = call(&Write, json!({"path": named, "content": "one"}), place(dir.path()));
            assert_eq!(text_of(&written), format!("wrote 3 bytes to {named}"));
            let edits = json!([{"oldText": "one", "newText": "two"}]);
            let edited = call(&Edit, json!({"path": named, "edits": edits}), place(dir.path()));
            assert_eq!(text_of(&edited), format!("made 1 replacement in {named}"));
            assert_eq!((of(named).as_str(), of(beside).as_str()), ("two", "neighbour"));
            assert_eq!(call(&Read, json!({"path": named}), place(dir.path())), ToolOutcome::text("two"));
            let found = text_of(&call(&Grep, json!({"path": named, "pattern": "."}), place(dir.path())));
            assert!(found.ends_with(":1: two"), "{found}");

            std::fs::remove_file(dir.path().join(named)).unwrap();
            let edits = json!([{"oldText": "neighbour", "newText": "x"}]);
            let refused = text_of(&call(&Edit, json!({"path": named, "edits": edits}), place(dir.path())));
            assert!(refused.contains(&format!("{escaped}\" exists: use exactly this name")), "{refused}");
            let read = call(&Read, json!({"path": named}), place(dir.path()));
            let text = text_of(&read);
            assert!(text.starts_with("neighbour\n\n[the path as given does not exist; this is \""), "{text}");
            assert!(text.ends_with(&format!("{escaped}\"]")), "{text}");
            let found = call(&Grep, json!({"path": named, "pattern": "neigh"}), place(dir.path()));
            let real = dir.path().join(beside);
            assert_eq!(found.details.as_ref().unwrap()["path"], real.to_str().unwrap(), "{found:?}");
            if folder_of(named) != Path::new("") {
                std::fs::remove_dir(dir.path().join(folder_of(named))).unwrap();
                let folder = folder_of(named);
                for outcome in [
                    call(&Ls, json!({"path": folder}), place(dir.path())),
                    call(&Find, json!({"path": folder, "pattern": "*"}), place(dir.path())),
                ] {
                    assert!(text_of(&outcome).starts_with("i\n\n[the path as given does not exist"), "{outcome:?}");
                }
            }
            assert_eq!(of(beside), "neighbour");
        }
    }

    #[test]
    fn a_new_file_that_probably_means_another_one_is_refused_with_both_names() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("src")).unwrap();
        let write = |path: &str| call(&Write, json!({"path": path, "content": "x"}), place(dir.path()));
        for path in ["@src/x", "@src", "@./y", "@/components/x", "@~/x", "src/", "new/", "", "file://src/x"] {
            let refused = write(path);
            assert!(refused.is_error, "{path}: {refused:?}");
        }
        let refused = text_of(&write("@src/x"));
        assert!(
            refused.contains("the path src/x is that one") && refused.contains("./@src/x is a new file"),
            "{refused}"
        );
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
        for path in
            ["./@src/x", "@src/y", "@scope/x", "@new", "~x", "./~/x", "a ", "a.", "a\nb", "\"q\"", "b\\c", "%20"]
        {
            assert_eq!(text_of(&write(path)), format!("wrote 1 byte to {path}"));
            assert_eq!(std::fs::read_to_string(dir.path().join(path)).unwrap(), "x");
        }
        std::fs::create_dir(dir.path().join("~")).unwrap_or_default();
        let at_home = dir.path().join("home/x");
        assert_eq!(text_of(&write("~/x")), format!("wrote 1 byte to {}", at_home.display()));
        assert!(at_home.exists() && dir.path().join("~/x").exists());
    }

    #[test]
    fn a_name_that_is_not_one_line_is_one_row_of_a_list() {
        use crate::tool::{Find, Ls};
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("a\nb"), "").unwrap();
        for outcome in
            [call(&Ls, json!({}), place(dir.path())), call(&Find, json!({"pattern": "*"}), place(dir.path()))]
        {
            assert_eq!(text_of(&outcome), "\"a\\nb\"");
        }
    }

    /// A key that a tool had masked was written over itself.
    #[test]
    fn no_file_gets_a_mask_and_no_tool_opens_a_file_of_keys() {
        use crate::tool::{Edit, Grep, KeyGuard, Read};
        use offshoot_protocol::MASK;
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
