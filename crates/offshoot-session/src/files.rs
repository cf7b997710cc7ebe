//! The files that a conversation read and changed, which compactions and branch summaries list. Knows the `details` of
//! earlier summaries; which files a call names says [`crate::call_view`].

use std::collections::BTreeMap;

use crate::call_view::{CallFile, CallView};
use crate::entry::{Entry, is_truthy};
use crate::json::{Json, JsonKind, Object, quote};
use crate::transcript::{call_blocks, calls};

/// The files found so far, with the number of calls. Those of earlier summaries have none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Files {
    read: BTreeMap<String, usize>,
    modified: BTreeMap<String, usize>,
}

/// How often a conversation read and changed a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub struct FileUse {
    pub path: String,
    pub reads: usize,
    pub changes: usize,
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
        self.take(call_blocks(message).filter_map(CallView::of));
    }

    /// Adds the tool calls of an entry's message.
    pub fn take_calls_of(&mut self, entry: &Entry) {
        self.take(calls(entry).filter_map(CallView::of));
    }

    fn take<'a>(&mut self, calls: impl Iterator<Item = CallView<'a>>) {
        for CallFile { path, is_change } in calls.flat_map(|call| call.files()) {
            let files = if is_change { &mut self.modified } else { &mut self.read };
            *files.entry(path).or_default() += 1;
        }
    }

    /// Adds the lists of an earlier summary, unless an extension made it, whose details are its own.
    pub fn take_summary(&mut self, entry: Json<'_>) {
        let Some(lists) = FileLists::of_summary(entry) else { return };
        for (known, files) in [(&mut self.read, lists.read), (&mut self.modified, lists.modified)] {
            for file in files {
                known.entry(file).or_default();
            }
        }
    }

    pub fn extend(&mut self, other: Self) {
        for (known, files) in [(&mut self.read, other.read), (&mut self.modified, other.modified)] {
            files.into_iter().for_each(|(file, count)| *known.entry(file).or_default() += count);
        }
    }

    /// Every file with its counts, by path.
    pub fn uses(&self) -> Vec<FileUse> {
        let mut paths: Vec<&String> = self.read.keys().chain(self.modified.keys()).collect();
        paths.sort();
        paths.dedup();
        let count = |files: &BTreeMap<String, usize>, path: &String| files.get(path).copied().unwrap_or_default();
        let of = |path: &String| (count(&self.read, path), count(&self.modified, path));
        let counted = paths.into_iter().map(|path| (path, of(path)));
        counted.map(|(path, (reads, changes))| FileUse { path: path.clone(), reads, changes }).collect()
    }

    pub fn lists(&self) -> FileLists {
        let sorted = |files: Vec<&String>| {
            let mut files: Vec<String> = files.into_iter().cloned().collect();
            files.sort_by(|a, b| a.encode_utf16().cmp(b.encode_utf16()));
            files
        };
        FileLists {
            read: sorted(self.read.keys().filter(|file| !self.modified.contains_key(*file)).collect()),
            modified: sorted(self.modified.keys().collect()),
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
        let uses: Vec<_> = files.uses().into_iter().map(|file| (file.path, file.reads, file.changes)).collect();
        let used =
            |path: &str| uses.iter().find(|(known, ..)| known == path).map(|(_, reads, changes)| (*reads, *changes));
        assert_eq!([used("a"), used("b"), used("old"), used("c")], [Some((1, 1)), Some((1, 0)), Some((0, 0)), None]);
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
