//! What lists and trees show of the children of a session, read from their files without building a tree: offshoot's own, and those of
//! omp, which has no entries for their beginning and end.

mod carry;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::child::children_folder;
use crate::error::{Error, Result};
use crate::json::Object;
use crate::list::{Reading, header};
use crate::medium::{FileMedium, Medium as _};
use crate::store::Folder;
use crate::text::{counted, dollars, in_short, noun};

pub use carry::carry_children;

/// More files of a folder are not looked at; [`ChildList::left_out`] counts them.
pub const MOST_CHILDREN: usize = 10_000;

/// A child as a list shows it.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the names of the others say what they are")]
pub struct ChildInfo {
    pub file: PathBuf,
    /// The stem of its file. A child of `Alpha` is `Alpha.Beta`.
    pub id: String,
    pub session_id: String,
    /// Empty if nothing says it.
    pub agent: String,
    /// Empty if nothing says it.
    pub task: String,
    /// The entry of the parent with the call; omp does not say.
    pub parent_entry: Option<String>,
    pub tool_call_id: Option<String>,
    /// `completed`, `failed`, `aborted`, `limit`; `None` where nothing says how it ended: it runs, was killed, or is omp's.
    pub status: Option<String>,
    /// Of its own file: those of its children are in theirs.
    pub messages: u64,
    pub tokens: u64,
    pub cost: f64,
}

/// The children of a session.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ChildList {
    /// By their ids, so that each comes before its own children.
    pub children: Vec<ChildInfo>,
    /// Files that are no sessions or cannot be read, and files beyond [`MOST_CHILDREN`].
    pub left_out: usize,
}

impl ChildInfo {
    /// What was read of a child's file.
    ///
    /// # Errors
    /// [`Error::NotASession`].
    pub fn of_reading(path: &Path, mut reading: Reading) -> Result<Self> {
        let marks = reading.child.take().map(|marks| *marks).unwrap_or_default();
        let info = reading.into_info(path, None)?;
        Ok(Self {
            file: path.to_path_buf(),
            id: path.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
            session_id: info.id,
            agent: marks.agent,
            task: marks.task,
            parent_entry: marks.parent_entry,
            tool_call_id: marks.tool_call_id,
            status: marks.status,
            messages: info.message_count,
            tokens: info.tokens,
            cost: info.cost,
        })
    }

    /// How deep below the root it is, from 1.
    #[must_use]
    pub fn depth(&self) -> usize {
        self.id.matches('.').count() + 1
    }

    /// A row for people: `Alpha · scout · completed · $0.0123`.
    #[must_use]
    pub fn words(&self) -> String {
        let money = if self.cost > 0.0 { format!(" · ${:.4}", self.cost) } else { String::new() };
        format!("{}{money}", self.standing())
    }

    /// The same without what it has cost.
    #[must_use]
    pub fn standing(&self) -> String {
        let name = self.id.rsplit('.').next().unwrap_or_default();
        let agent = Some(self.agent.as_str()).filter(|agent| !agent.is_empty() && *agent != name);
        let parts = [Some(name), agent, Some(self.status.as_deref().unwrap_or("open"))];
        parts.into_iter().flatten().collect::<Vec<_>>().join(" · ")
    }

    /// For programs.
    #[must_use]
    pub fn to_json(&self) -> String {
        Object::new()
            .str("id", &self.id)
            .str("path", &self.file.to_string_lossy())
            .str("sessionId", &self.session_id)
            .str("agent", &self.agent)
            .str("task", &self.task)
            .opt_str("parentEntry", self.parent_entry.as_deref())
            .opt_str("toolCallId", self.tool_call_id.as_deref())
            .opt_str("status", self.status.as_deref())
            .raw("messages", self.messages)
            .raw("tokens", self.tokens)
            .raw("cost", if self.cost.is_finite() { self.cost } else { 0.0 })
            .finish()
    }
}

impl ChildList {
    /// Those of the session in this file. A session without a folder has none.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn of(file: &Path) -> Result<Self> {
        let (folder, left_out) = folder_of_children(file)?;
        let mut buffer = Vec::new();
        let read = folder.files.iter().map(|found| child_info(&found.path, &mut buffer));
        Ok(Self::of_read(read, left_out))
    }

    /// A list of children that were read, and of so many that were left out.
    pub fn of_read(read: impl IntoIterator<Item = Result<ChildInfo>>, left_out: usize) -> Self {
        let (mut found, mut left_out) = (BTreeMap::new(), left_out);
        for child in read {
            match child {
                Ok(child) => drop(found.insert(child.id.clone(), child)),
                Err(_) => left_out += 1,
            }
        }
        Self { children: found.into_values().collect(), left_out }
    }

    /// Those that an entry's calls have started, without their own children.
    pub fn of_entry<'a>(&'a self, entry: &'a str) -> impl Iterator<Item = &'a ChildInfo> {
        self.children.iter().filter(move |child| child.depth() == 1 && child.parent_entry.as_deref() == Some(entry))
    }

    /// All below a child.
    pub fn below<'a>(&'a self, child: &'a str) -> impl Iterator<Item = &'a ChildInfo> {
        let is_below = move |other: &&ChildInfo| other.id.strip_prefix(child).is_some_and(|rest| rest.starts_with('.'));
        self.children.iter().filter(is_below)
    }

    /// A line for people: `3 agents, 12k tokens, $1.20`; `None` if there are none.
    #[must_use]
    pub fn words(&self) -> Option<String> {
        if self.children.is_empty() {
            return None;
        }
        let tokens: u64 = self.children.iter().map(|child| child.tokens).sum();
        let mut words = counted(self.children.len(), "agent", "agents");
        if tokens > 0 {
            words += &format!(", {} {}", in_short(tokens), noun(tokens, "token", "tokens"));
        }
        if self.cost() > 0.0 {
            words += &format!(", {}", dollars(self.cost()));
        }
        Some(words)
    }

    /// What all of them have cost. Each entry counts once: it is in one file.
    #[must_use]
    pub fn cost(&self) -> f64 {
        self.children.iter().map(|child| child.cost).sum::<f64>() + 0.0
    }
}

/// The files of the children of the session in this file, and how many more there are than are looked at.
///
/// # Errors
/// The folder cannot be read.
pub fn folder_of_children(file: &Path) -> Result<(Folder, usize)> {
    let mut folder = Folder::of_files_in(&children_folder(file))?;
    let left_out = folder.files.len().saturating_sub(MOST_CHILDREN);
    folder.files.truncate(MOST_CHILDREN);
    Ok((folder, left_out))
}

/// Reads what a list shows of a child.
fn child_info(path: &Path, buffer: &mut Vec<u8>) -> Result<ChildInfo> {
    let medium = FileMedium::open(path).map_err(Error::io("open", path))?;
    let length = medium.len().map_err(Error::io("read", path))?;
    let mut reading = Reading::default();
    // A last line without a line feed counts.
    let whole = reading.read_further(&medium, length, buffer)?;
    ChildInfo::of_reading(path, whole.unwrap_or(reading))
}

/// Whether the folder beside a session's file is that of its children: a session in it names the file as its parent. Another folder may
/// have the same name by accident.
#[must_use]
pub fn has_children(file: &Path) -> bool {
    let Ok(files) = fs::read_dir(children_folder(file)) else { return false };
    let paths = files.filter_map(|found| found.ok().map(|found| found.path())).take(MOST_CHILDREN);
    paths.filter(|path| path.extension().is_some_and(|ending| ending == "jsonl")).any(|path| {
        let parent = FileMedium::open(&path).ok().and_then(|medium| header(&medium).ok());
        let parent = parent.and_then(|header| header.parent_session().map(PathBuf::from));
        parent.is_some_and(|parent| parent.file_name() == file.file_name())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::{Options, Session, SessionPart};

    #[test]
    fn children_of_offshoot_and_of_omp_are_listed_with_what_they_cost_in_their_own_files() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("2026_a.jsonl");
        let write = |name: &str, lines: &[&str]| {
            let file = children_folder(&root).join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, lines.join("\n") + "\n").unwrap();
        };
        let header = r#"{"type":"session","version":3,"id":"x","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w","parentSession":"/s/2026_a.jsonl"}"#;
        let start = r#"{"type":"custom","customType":"offshoot.child","data":{"parentId":"p","parentEntry":"e1","toolCallId":"c","index":0,"name":"Alpha","agent":"scout","depth":1,"limits":{},"task":"look"},"id":"1","parentId":null,"timestamp":"2026-01-01T00:00:00.000Z"}"#;
        let said = r#"{"type":"message","id":"2","parentId":"1","timestamp":"2026-01-01T00:00:00.000Z","message":{"role":"assistant","content":[],"usage":{"input":1,"output":2,"cacheRead":0,"cacheWrite":0,"totalTokens":3,"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0.5}}}}"#;
        let end = r#"{"type":"custom","customType":"offshoot.child_end","data":{"status":"completed","output":"x","requests":1,"tokens":3,"cost":0.75},"id":"3","parentId":"2","timestamp":"2026-01-01T00:00:00.000Z"}"#;
        let init = r#"{"type":"session_init","systemPrompt":"s","task":"dig","tools":[],"agent":"task","id":"1","parentId":null,"timestamp":"2026-01-01T00:00:00.000Z"}"#;
        write("Alpha.jsonl", &[header, start, said, end]);
        write("Alpha.Beta.jsonl", &[header, said]);
        write("Omp.jsonl", &[header, init, said]);
        write("Omp.md", &["words"]);
        write("bad.jsonl", &["no session"]);
        let list = ChildList::of(&root).unwrap();
        let rows: Vec<String> = list.children.iter().map(ChildInfo::words).collect();
        assert_eq!(
            rows,
            ["Alpha · scout · completed · $0.5000", "Beta · open · $0.5000", "Omp · task · open · $0.5000"]
        );
        assert_eq!((list.left_out, list.cost()), (1, 1.5));
        assert_eq!(list.words().as_deref(), Some("3 agents, 9 tokens, $1.50"));
        assert_eq!(list.of_entry("e1").count(), 1);
        assert_eq!(list.below("Alpha").map(|child| child.id.as_str()).collect::<Vec<_>>(), ["Alpha.Beta"]);
        assert_eq!(ChildList::of(Path::new("/nowhere/x.jsonl")).unwrap(), ChildList::default());
        assert!(has_children(&root) && !has_children(&folder.path().join("2026_b.jsonl")));
        // A copy of the parent takes along what its part has started.
        let entry =
            r#"{"type":"custom","customType":"x","id":"e1","parentId":null,"timestamp":"2026-01-01T00:00:00.000Z"}"#;
        fs::write(&root, format!("{header}\n{entry}\n")).unwrap();
        let session = Session::open(&root, Options::default()).unwrap();
        let copies = |part, name: &str| {
            let copy = folder.path().join(name);
            carry_children(&session, part, &copy).unwrap();
            ChildList::of(&copy).unwrap().children.into_iter().map(|child| child.id).collect::<Vec<_>>()
        };
        let leaf = session.leaf().unwrap();
        assert_eq!(copies(SessionPart::Everything, "all.jsonl"), ["Alpha", "Alpha.Beta", "Omp"]);
        assert_eq!(copies(SessionPart::Path(leaf), "path.jsonl"), ["Alpha", "Alpha.Beta"]);
        assert!(has_children(&folder.path().join("path.jsonl")), "its header names the copy");
        let text = fs::read_to_string(folder.path().join("path/Alpha.jsonl")).unwrap();
        assert!(text.ends_with(&[start, said, end, ""].join("\n")), "{text}");
        fs::rename(children_folder(&root), folder.path().join("notes")).unwrap();
        assert!(!has_children(&folder.path().join("notes.jsonl")), "a folder of this name by accident");
    }
}
