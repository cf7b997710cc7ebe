//! The files that a conversation read and changed, which compactions and branch summaries list. Knows the tools `read`,
//! `write` and `edit` by their `path`, and the `details` of earlier summaries.

use std::collections::BTreeSet;

use crate::entry::is_truthy;
use crate::json::{Json, JsonKind, Object, quote};
use crate::transcript::call_blocks;

/// The files found so far.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Files {
    read: BTreeSet<String>,
    modified: BTreeSet<String>,
}

/// The lists in summaries: each file once, in the order of JavaScript's `sort`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileLists {
    /// Files that were read but not changed.
    pub read: Vec<String>,
    /// Files that were written or edited.
    pub modified: Vec<String>,
}

#[expect(missing_docs, reason = "the names of the others say what they do")]
impl Files {
    /// Adds the tool calls of an assistant message.
    pub fn take_calls(&mut self, message: Json<'_>) {
        for block in call_blocks(message) {
            let path = block.get("arguments").and_then(|arguments| arguments.str("path"));
            let Some(path) = path.filter(|path| !path.is_empty()) else { continue };
            match block.str("name").as_deref() {
                Some("read") => drop(self.read.insert(path.into_owned())),
                Some("write" | "edit") => drop(self.modified.insert(path.into_owned())),
                _ => {}
            }
        }
    }

    /// Adds the lists of an earlier summary, unless an extension made it, whose details are its own.
    pub fn take_summary(&mut self, entry: Json<'_>) {
        let Some(lists) = FileLists::of_summary(entry) else { return };
        self.read.extend(lists.read);
        self.modified.extend(lists.modified);
    }

    pub fn extend(&mut self, other: Self) {
        self.read.extend(other.read);
        self.modified.extend(other.modified);
    }

    pub fn lists(&self) -> FileLists {
        let sorted = |files: Vec<&String>| {
            let mut files: Vec<String> = files.into_iter().cloned().collect();
            files.sort_by(|a, b| a.encode_utf16().cmp(b.encode_utf16()));
            files
        };
        FileLists {
            read: sorted(self.read.difference(&self.modified).collect()),
            modified: sorted(self.modified.iter().collect()),
        }
    }
}

impl FileLists {
    /// The lists of a summary's entry; `None` if it has none or an extension made it.
    pub fn of_summary(entry: Json<'_>) -> Option<Self> {
        let by_extension = ["fromHook", "fromExtension"].iter().any(|name| entry.get(name).is_some_and(is_truthy));
        let details = entry.get("details").filter(|details| !by_extension && details.kind() == JsonKind::Object)?;
        let list = |name: &str| {
            let files = details.get(name).map(Json::items).into_iter().flatten();
            files.filter_map(|file| file.as_str().map(std::borrow::Cow::into_owned)).collect()
        };
        Some(Self { read: list("readFiles"), modified: list("modifiedFiles") })
    }

    /// The lists as they end a summary; empty if both are.
    pub fn blocks(&self) -> String {
        let lists = [("read-files", &self.read), ("modified-files", &self.modified)];
        let blocks = lists.iter().filter(|(_, files)| !files.is_empty());
        blocks.map(|(tag, files)| format!("\n\n<{tag}>\n{}\n</{tag}>", files.join("\n"))).collect()
    }

    /// Adds `readFiles` and `modifiedFiles` to a summary's details.
    pub fn details(&self, object: Object) -> Object {
        let list = |files: &[String]| {
            let files: Vec<String> = files.iter().map(|file| quote(file)).collect();
            format!("[{}]", files.join(","))
        };
        object.raw("readFiles", list(&self.read)).raw("modifiedFiles", list(&self.modified))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_file_is_not_listed_as_read() {
        let mut files = Files::default();
        let call = |name: &str, path: &str| {
            format!(r#"{{"type":"toolCall","name":"{name}","arguments":{{"path":"{path}"}}}}"#)
        };
        let calls = [
            call("read", "b"),
            call("read", "a"),
            call("edit", "a"),
            call("write", "\u{ff5e}"),
            call("write", "😀"),
            call("grep", "c"),
            call("read", ""),
        ];
        files.take_calls(Json::parse(&format!(r#"{{"content":[{}]}}"#, calls.join(","))).unwrap());
        files.take_summary(Json::parse(r#"{"details":{"readFiles":["old",5],"modifiedFiles":["b"]}}"#).unwrap());
        files.take_summary(Json::parse(r#"{"fromHook":true,"details":{"readFiles":["no"]}}"#).unwrap());
        let lists = files.lists();
        assert_eq!(lists.read, ["old"]);
        assert_eq!(lists.modified, ["a", "b", "😀", "\u{ff5e}"], "in UTF-16 order");
        assert_eq!(
            lists.blocks(),
            "\n\n<read-files>\nold\n</read-files>\n\n<modified-files>\na\nb\n😀\n\u{ff5e}\n</modified-files>"
        );
        assert_eq!(FileLists::default().blocks(), "");
    }
}
