//! Session files, line by line, and searches in them.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use offshoot_search::{Found, SearchIndex, SearchQuery, SearchedPlace, scan};
use offshoot_session::clock::{Millis, to_iso};
use offshoot_session::session::{Options, Session};
use offshoot_session::store::{DirStore, Flavour, Root};
use serde_json::{Value, json};
use tempfile::TempDir;

pub(crate) const NOW: Millis = 1_767_225_600_000;
pub(crate) const DAY: Millis = 86_400_000;
/// A key that nobody may find.
pub(crate) const KEY: &str = "sk-secret-0123456789";

pub(crate) struct Corpus {
    pub(crate) folder: CorpusFolder,
    pub(crate) store: DirStore,
    pub(crate) index: SearchIndex,
    pub(crate) key: &'static str,
}

/// Where a corpus is: its own is removed at the end.
pub(crate) enum CorpusFolder {
    Own(TempDir),
    Other(PathBuf),
}

impl CorpusFolder {
    pub(crate) fn path(&self) -> &Path {
        match self {
            Self::Own(folder) => folder.path(),
            Self::Other(folder) => folder,
        }
    }
}

impl Corpus {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("sessions")).unwrap();
        Self::of(CorpusFolder::Own(folder))
    }

    /// One that exists.
    pub(crate) fn at(folder: &Path) -> Self {
        Self::of(CorpusFolder::Other(folder.to_path_buf()))
    }

    fn of(folder: CorpusFolder) -> Self {
        let store = DirStore::new(Root::new(folder.path().join("sessions"), Flavour::Offshoot), Vec::new());
        let index = SearchIndex::new(&folder.path().join("cache"));
        Self { folder, store, index, key: KEY }
    }

    pub(crate) fn file(&self, id: &str) -> PathBuf {
        self.folder.path().join("sessions/--work--").join(format!("{id}.jsonl"))
    }

    /// Makes a session of these entries; each is a child of the one before unless it names another parent.
    pub(crate) fn session(&self, id: &str, entries: &[Value]) -> PathBuf {
        let file = self.file(id);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        let header = json!({"type": "session", "version": 3, "id": id, "timestamp": to_iso(NOW), "cwd": "/work"});
        fs::write(&file, format!("{header}\n")).unwrap();
        self.append(id, None, entries);
        file
    }

    pub(crate) fn append(&self, id: &str, mut parent: Option<String>, entries: &[Value]) {
        let mut file = fs::OpenOptions::new().append(true).open(self.file(id)).unwrap();
        for entry in entries {
            let mut entry = entry.clone();
            if entry.get("parentId").is_none() {
                entry["parentId"] = json!(parent);
            }
            parent = Some(entry["id"].as_str().unwrap().to_owned());
            writeln!(file, "{entry}").unwrap();
        }
    }

    pub(crate) fn place<T>(&self, then: impl FnOnce(SearchedPlace<'_>) -> T) -> T {
        let open = |file: &Path| Session::open(file, Options::default());
        let mask = |text: &str| text.contains(self.key).then(|| text.replace(self.key, "…"));
        then(SearchedPlace { store: &self.store, open: &open, mask: &mask, progress: &|_, _| {}, is_over: &|| false })
    }

    pub(crate) fn indexed(&self, typed: &str) -> Found {
        self.place(|place| self.index.search(place, &query(typed), 0, NOW).unwrap())
    }

    /// So late that no file is just being written.
    pub(crate) fn indexed_later(&self, typed: &str) -> Found {
        self.place(|place| self.index.search(place, &query(typed), 0, NOW + 10_000 * DAY).unwrap())
    }

    pub(crate) fn scanned(&self, typed: &str) -> Found {
        self.place(|place| scan(place, &query(typed), 0).unwrap())
    }
}

pub(crate) fn query(typed: &str) -> SearchQuery {
    let when =
        |given: &str| given.strip_suffix('d').and_then(|days| days.parse::<i64>().ok()).map(|days| NOW - days * DAY);
    SearchQuery::parse(typed, &when).unwrap()
}

pub(crate) fn message(id: &str, age: Millis, message: &Value) -> Value {
    json!({"type": "message", "id": id, "timestamp": to_iso(NOW - age * DAY), "message": message})
}

pub(crate) fn user(id: &str, age: Millis, text: &str) -> Value {
    message(id, age, &json!({"role": "user", "content": [{"type": "text", "text": text}]}))
}

pub(crate) fn assistant(id: &str, age: Millis, text: &str) -> Value {
    let content = json!([{"type": "text", "text": text}]);
    message(id, age, &json!({"role": "assistant", "model": "claude-opus-5", "content": content, "stopReason": "stop"}))
}

pub(crate) fn thinking(id: &str, age: Millis, text: &str) -> Value {
    let content = json!([{"type": "thinking", "thinking": text}]);
    message(id, age, &json!({"role": "assistant", "model": "m", "content": content, "stopReason": "stop"}))
}

pub(crate) fn call(id: &str, age: Millis, tool: &str, arguments: &Value) -> Value {
    let content = json!([{"type": "toolCall", "id": format!("c{id}"), "name": tool, "arguments": arguments}]);
    message(id, age, &json!({"role": "assistant", "model": "m", "content": content, "stopReason": "toolUse"}))
}

pub(crate) fn result(id: &str, age: Millis, tool: &str, text: &str, is_error: bool) -> Value {
    let content = json!([{"type": "text", "text": text}]);
    let message_json =
        json!({"role": "toolResult", "toolCallId": "c", "toolName": tool, "content": content, "isError": is_error});
    message(id, age, &message_json)
}

pub(crate) fn name(id: &str, age: Millis, text: &str) -> Value {
    json!({"type": "session_info", "id": id, "timestamp": to_iso(NOW - age * DAY), "name": text})
}

/// The hits as `session:entry kind`.
pub(crate) fn said(found: &Found) -> Vec<String> {
    let one = |hit: &offshoot_search::SearchHit| {
        format!("{}:{} {}", hit.session, hit.entry.as_ref().map_or("-", |id| id.as_str()), hit.kind.word())
    };
    found.hits.iter().map(one).collect()
}
