//! Children of a session: sessions of agents that a call of the tool `task` has started, in files of their own beside the parent's
//! file. Owns where they are and what their first and last entries say. Starts nothing.
//!
//! The files of `…/2026-…_id.jsonl` are in the folder `…/2026-…_id`, as in omp; those of a child's children are in the same folder, and
//! their names begin with that of the child: `Alpha.jsonl`, `Alpha.Beta.jsonl`.

use std::path::{Path, PathBuf};

use crate::compose::NewEntry;
use crate::entry::Source as _;
use crate::error::Result;
use crate::json::{Json, Object};
use crate::kind::Kind;
use crate::session::Session;
use crate::tree::NodeIx;

/// The custom type of the entry that a child begins with.
pub const CHILD_START: &str = "offshoot.child";
/// The custom type of the entry with which its work is done.
pub const CHILD_END: &str = "offshoot.child_end";

/// The tool whose calls start children.
pub const TASK_TOOL: &str = "task";

/// Where a child comes from.
#[derive(Debug, Clone, PartialEq, Default)]
#[expect(missing_docs, reason = "the names of the others say what they are")]
pub struct ChildStart {
    /// The session of the parent.
    pub parent_id: String,
    /// The entry with the call.
    pub parent_entry: Option<String>,
    pub tool_call_id: String,
    /// Its place in the call.
    pub index: usize,
    /// The stem of its file.
    pub id: String,
    /// The definition that it follows.
    pub agent: String,
    /// 1 for a child of a root.
    pub depth: u64,
    pub task: String,
    pub context: Option<String>,
    /// A JSON object.
    pub limits: String,
    /// What its last answer must fit, as a JSON schema.
    pub schema: Option<String>,
    /// Whether it begins with copies of its parent's context.
    pub fork: bool,
}

/// How a child's work has ended.
#[derive(Debug, Clone, PartialEq, Default)]
#[expect(missing_docs, reason = "the names of the others say what they are")]
pub struct ChildEnd {
    /// `completed`, `failed`, `aborted` or `limit`.
    pub status: String,
    /// The limit, or why it failed.
    pub why: Option<String>,
    /// What it said last.
    pub output: String,
    /// With its own children, as are the tokens and the cost.
    pub requests: u64,
    pub tokens: u64,
    pub cost: f64,
}

impl ChildStart {
    /// The entry that says it.
    #[must_use]
    pub fn entry(&self) -> NewEntry {
        let limits = Json::parse(&self.limits).map_or("{}", |_| self.limits.as_str());
        let data = Object::new()
            .str("parentId", &self.parent_id)
            .opt_str("parentEntry", self.parent_entry.as_deref())
            .str("toolCallId", &self.tool_call_id)
            .raw("index", self.index)
            .str("name", &self.id)
            .str("agent", &self.agent)
            .raw("depth", self.depth)
            .raw("limits", limits)
            .str("task", &self.task)
            .opt_str("context", self.context.as_deref());
        let data = match self.schema.as_deref().filter(|schema| Json::parse(schema).is_ok()) {
            Some(schema) => data.raw("outputSchema", schema),
            None => data,
        };
        let data = if self.fork { data.raw("fork", true) } else { data };
        let data = data.finish();
        NewEntry::custom(CHILD_START, Some(Json::trusted(&data)))
    }

    /// What the session's first entry says; `None` if it is no child.
    ///
    /// # Errors
    /// The medium cannot be read.
    pub fn of(session: &Session) -> Result<Option<Self>> {
        let tree = session.tree();
        let Some(first) = session.leaf().and_then(|leaf| tree.ancestors(leaf).last()) else { return Ok(None) };
        if tree.node(first).kind() != Kind::Custom {
            return Ok(None);
        }
        Ok(Self::of_line(session.entry(first)?.line()))
    }

    /// What a line says; `None` if it is another entry.
    #[must_use]
    pub fn of_line(line: &str) -> Option<Self> {
        let data = data_of(line, CHILD_START)?;
        let text = |name: &str| data.str(name).map(std::borrow::Cow::into_owned);
        let number = |name: &str| data.get(name).and_then(Json::as_f64).filter(|n| (0.0..9e15).contains(n));
        Some(Self {
            parent_id: text("parentId")?,
            parent_entry: text("parentEntry"),
            tool_call_id: text("toolCallId")?,
            index: number("index").unwrap_or_default() as usize,
            id: text("name")?,
            agent: text("agent").unwrap_or_default(),
            depth: number("depth").unwrap_or(1.0) as u64,
            task: text("task").unwrap_or_default(),
            context: text("context"),
            limits: data.get("limits").map_or_else(|| "{}".to_owned(), |limits| limits.text().to_owned()),
            schema: data.get("outputSchema").map(|schema| schema.text().to_owned()),
            fork: data.get("fork").and_then(Json::as_bool).unwrap_or_default(),
        })
    }
}

impl ChildEnd {
    /// The entry that says it.
    #[must_use]
    pub fn entry(&self) -> NewEntry {
        let cost = if self.cost.is_finite() { self.cost } else { 0.0 };
        let data = Object::new()
            .str("status", &self.status)
            .opt_str("why", self.why.as_deref())
            .str("output", &self.output)
            .raw("requests", self.requests)
            .raw("tokens", self.tokens)
            .raw("cost", cost)
            .finish();
        NewEntry::custom(CHILD_END, Some(Json::trusted(&data)))
    }

    /// How the work at the session's leaf has ended: nothing was said after it. `None`: it has not.
    ///
    /// # Errors
    /// The medium cannot be read.
    pub fn of(session: &Session) -> Result<Option<Self>> {
        let tree = session.tree();
        let is_said = |ix: &NodeIx| matches!(tree.node(*ix).kind(), Kind::Message | Kind::CustomMessage);
        for ix in session.leaf().into_iter().flat_map(|leaf| tree.ancestors(leaf)).take_while(|ix| !is_said(ix)) {
            if tree.node(ix).kind() == Kind::Custom
                && let Some(end) = Self::of_line(session.entry(ix)?.line())
            {
                return Ok(Some(end));
            }
        }
        Ok(None)
    }

    /// What a line says; `None` if it is another entry.
    #[must_use]
    pub fn of_line(line: &str) -> Option<Self> {
        let data = data_of(line, CHILD_END)?;
        let text = |name: &str| data.str(name).map(std::borrow::Cow::into_owned);
        let number = |name: &str| data.get(name).and_then(Json::as_f64).filter(|n| n.is_finite() && *n >= 0.0);
        Some(Self {
            status: text("status")?,
            why: text("why"),
            output: text("output").unwrap_or_default(),
            requests: number("requests").unwrap_or_default() as u64,
            tokens: number("tokens").unwrap_or_default() as u64,
            cost: number("cost").unwrap_or_default(),
        })
    }
}

/// The data of a custom entry of this type.
fn data_of<'a>(line: &'a str, custom_type: &str) -> Option<Json<'a>> {
    let json = Json::parse(line).ok()?;
    (json.str("customType")? == custom_type).then(|| json.get("data"))?
}

/// The folder of the children of a root session, whether it exists or not.
#[must_use]
pub fn children_folder(file: &Path) -> PathBuf {
    file.with_extension("")
}

/// The file of a child in that folder.
#[must_use]
pub fn child_file(folder: &Path, id: &str) -> PathBuf {
    folder.join(format!("{id}.jsonl"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::{NewSession, Options};

    #[test]
    fn first_and_last_entries_say_what_they_were_made_of() {
        let start = ChildStart {
            parent_id: "p".to_owned(),
            parent_entry: Some("e".to_owned()),
            tool_call_id: "c\"1".to_owned(),
            index: 2,
            id: "Alpha.Beta".to_owned(),
            agent: "scout".to_owned(),
            depth: 2,
            task: "look\nhere".to_owned(),
            context: None,
            limits: r#"{"usd":0.5}"#.to_owned(),
            schema: Some(r#"{"type":"object"}"#.to_owned()),
            fork: true,
        };
        let end = ChildEnd {
            status: "limit".to_owned(),
            why: Some("usd 0.50".to_owned()),
            output: "a \u{2028} b".to_owned(),
            requests: 3,
            tokens: 70,
            cost: 0.125,
        };
        let new = NewSession { cwd: "/w", ..NewSession::default() };
        let mut session = Session::in_memory(&new, Options::default()).unwrap();
        assert_eq!(ChildStart::of(&session).unwrap(), None);
        session.append(&start.entry()).unwrap();
        session.append(&NewEntry::message(Json::parse(r#"{"role":"user","content":"x"}"#).unwrap()).unwrap()).unwrap();
        assert_eq!(ChildEnd::of(&session).unwrap(), None);
        session.append(&end.entry()).unwrap();
        session.append(&NewEntry::session_info("a name")).unwrap();
        assert_eq!(ChildStart::of(&session).unwrap(), Some(start));
        assert_eq!(ChildEnd::of(&session).unwrap(), Some(end));
        session.append(&NewEntry::message(Json::parse(r#"{"role":"user","content":"y"}"#).unwrap()).unwrap()).unwrap();
        assert_eq!(ChildEnd::of(&session).unwrap(), None, "it goes on");
        assert_eq!(child_file(&children_folder(Path::new("/s/2026_a.b.jsonl")), "A"), Path::new("/s/2026_a.b/A.jsonl"));
    }
}
