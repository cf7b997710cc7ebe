//! The system prompt and the tools as a session stores them: pi's messages of the role `system`, of which each changes what
//! those before it on the branch came to. Reads what a branch comes to, and makes the message that changes it.
//!
//! Requests are not made of it: each has the prompt and the tools in effect.

use std::collections::BTreeMap;
use std::sync::Arc;

use offshoot_protocol::AgentError;
use offshoot_session::compose::NewEntry;
use offshoot_session::context::Context;
use offshoot_session::entry::Source;
use offshoot_session::json::Json;
use serde_json::{Map, Value, json};

use crate::lenient_json;
use crate::provider::ToolSpec;
use crate::system_prompt::PromptSection;
use crate::tool::{Tool, ToolFilter};

/// Which tools belong to a branch that stores none, and which may be stored.
#[derive(Clone)]
pub struct ToolSets {
    /// Every tool that a branch can name.
    pub available: Vec<Arc<dyn Tool>>,
    /// Of a branch that stores none.
    pub first: Vec<Arc<dyn Tool>>,
    /// The same, without options of the command line. A branch stores its tools only if they are others.
    pub usual: Vec<Arc<dyn Tool>>,
    /// Which of all tools the run may have, also of those that a branch stores or an extension brings.
    pub filter: ToolFilter,
}

/// What the system messages of a branch come to.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct StoredPrompt {
    sections: BTreeMap<String, Value>,
    /// Name and declaration; `None` if the branch stores no tools.
    tools: Option<Vec<(String, Value)>>,
}

impl StoredPrompt {
    /// Reads what a context comes to. A session that cannot be read says so when it is used.
    pub fn of(source: &dyn Source, context: &Context) -> Self {
        let message = context.system_message(source, 0).ok().flatten();
        let message = message.and_then(|text| lenient_json::from_str::<Value>(&text).ok()).unwrap_or_default();
        let sections: BTreeMap<String, Value> =
            message.get("sections").and_then(Value::as_object).cloned().unwrap_or_default().into_iter().collect();
        let added = message.get("toolsAdded").and_then(Value::as_array);
        let named = |tool: &Value| Some((tool.get("name")?.as_str()?.to_owned(), tool.clone()));
        let tools = added.map(|tools| tools.iter().filter_map(named).collect());
        // Where there are no tools, there is no list either. Words alone, of another program, say nothing about tools.
        let has_words_alone = sections.is_empty() && message.get("content").is_none_or(|words| *words != "");
        let tools = tools.or_else(|| (!has_words_alone).then(Vec::new));
        Self { sections, tools }
    }

    /// The names of the branch's tools; `None` if it stores none.
    pub fn tools(&self) -> Option<Vec<&str>> {
        let tools = self.tools.as_ref()?;
        Some(tools.iter().map(|(name, _)| name.as_str()).collect())
    }

    /// Takes over the prompt and tools in effect, and answers the entry that says so; `None` if the branch has them.
    pub(crate) fn follow(
        &mut self,
        sections: Option<&[PromptSection]>,
        tools: &ToolsInEffect<'_>,
        at: i64,
    ) -> Result<Option<NewEntry>, AgentError> {
        let mut message = Map::new();
        message.insert("role".to_owned(), json!("system"));
        message.insert("content".to_owned(), json!(""));
        let changed = sections.map(|sections| self.take_sections(sections)).filter(|changed| !changed.is_empty());
        if let Some(changed) = &changed {
            message.insert("sections".to_owned(), Value::Object(changed.clone()));
        }
        message.insert("timestamp".to_owned(), json!(at));
        let is_first = self.tools.is_none();
        let (added, removed) = self.take_tools(tools, sections.is_some());
        // An empty list says that there are none.
        if !added.is_empty() || (is_first && sections.is_none()) {
            message.insert("toolsAdded".to_owned(), Value::Array(added.clone()));
        }
        if !removed.is_empty() {
            message.insert("toolsRemoved".to_owned(), Value::Array(removed.clone()));
        }
        if changed.is_none() && added.is_empty() && removed.is_empty() && !is_first {
            return Ok(None);
        }
        let text = Value::Object(message).to_string();
        let message = Json::parse(&text).map_err(|error| format!("could not write the system prompt: {error}"))?;
        Ok(Some(NewEntry::message(message)?))
    }

    fn take_sections(&mut self, sections: &[PromptSection]) -> Map<String, Value> {
        let now: BTreeMap<String, Value> =
            sections.iter().map(|section| (section.name.to_owned(), json!(section.text))).collect();
        let gone = self.sections.keys().filter(|name| !now.contains_key(*name)).map(|name| (name.clone(), Value::Null));
        let mut changed: Map<String, Value> = gone.collect();
        for section in sections {
            let text = json!(section.text);
            if self.sections.get(section.name) != Some(&text) {
                changed.insert(section.name.to_owned(), text);
            }
        }
        self.sections = now;
        changed
    }

    /// Tools to add and to remove. The declaration of a tool that stays counts only if `exactly`. Absent tools stay.
    fn take_tools(&mut self, tools: &ToolsInEffect<'_>, exactly: bool) -> (Vec<Value>, Vec<Value>) {
        let declared = |tool: &ToolSpec| {
            let ToolSpec { name, description, parameters } = tool;
            (name.clone(), json!({ "name": name, "description": description, "parameters": parameters }))
        };
        let now: Vec<(String, Value)> = tools.sent.iter().map(declared).collect();
        let before = self.tools.take().unwrap_or_default();
        let find = |list: &[(String, Value)], name: &str| list.iter().find(|(known, _)| known == name).cloned();
        let is_new = |(name, declared): &&(String, Value)| match find(&before, name) {
            Some((_, known)) => exactly && known != *declared,
            None => true,
        };
        let added = now.iter().filter(is_new).map(|(_, declared)| declared.clone()).collect();
        let others = before.iter().filter(|(name, _)| find(&now, name).is_none());
        let (gone, absent): (Vec<_>, Vec<_>) = others.partition(|(name, _)| tools.is_available(name));
        let removed = gone.iter().map(|(name, _)| json!({ "name": name })).collect();
        self.tools = Some(absent.into_iter().cloned().chain(now).collect());
        (added, removed)
    }
}

/// What requests have, and what they could have.
pub(crate) struct ToolsInEffect<'a> {
    pub(crate) sent: &'a [ToolSpec],
    /// A tool of the branch that is not among these is absent: another program's, or of an extension that is not
    /// loaded. Nobody removed it, so the branch keeps it.
    pub(crate) available: &'a [Arc<dyn Tool>],
}

impl ToolsInEffect<'_> {
    fn is_available(&self, name: &str) -> bool {
        self.available.iter().any(|tool| tool.name() == name)
    }
}

impl ToolSets {
    /// The tools of a branch, and the names of those that are not available.
    pub fn of(&self, stored: &StoredPrompt) -> (Vec<Arc<dyn Tool>>, Vec<String>) {
        let Some(names) = stored.tools() else { return (self.first.clone(), Vec::new()) };
        let mut missing = Vec::new();
        let mut tools = Vec::new();
        for name in names.into_iter().filter(|name| self.filter.allows(name)) {
            match self.available.iter().find(|tool| tool.name() == name) {
                Some(tool) => tools.push(tool.clone()),
                None => missing.push(name.to_owned()),
            }
        }
        (tools, missing)
    }

    pub(crate) fn are_usual(&self, tools: &[Arc<dyn Tool>]) -> bool {
        same_names(&self.usual, tools)
    }
}

fn same_names(some: &[Arc<dyn Tool>], others: &[Arc<dyn Tool>]) -> bool {
    some.len() == others.len() && some.iter().all(|tool| others.iter().any(|other| other.name() == tool.name()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use offshoot_session::session::{NewSession, Options, Session};

    fn tool(name: &str) -> ToolSpec {
        ToolSpec { name: name.to_owned(), description: format!("{name} it"), parameters: json!({}) }
    }

    fn section(name: &'static str, text: &str) -> PromptSection {
        PromptSection { name, text: text.to_owned() }
    }

    fn stored(session: &Session) -> StoredPrompt {
        StoredPrompt::of(session, &session.context().unwrap())
    }

    /// Appends the change, and holds what is kept against what a reader finds.
    fn put(session: &mut Session, sections: Option<&[PromptSection]>, tools: &[ToolSpec]) -> Option<String> {
        let mut kept = stored(session);
        let available = crate::tool::all(&crate::tool::Shell::default());
        let entry = kept.follow(sections, &ToolsInEffect { sent: tools, available: &available }, 7).unwrap()?;
        session.append(&entry).unwrap();
        assert_eq!(stored(session), kept);
        let leaf = session.entry(session.leaf().unwrap()).unwrap();
        Some(leaf.message().unwrap().text().to_owned())
    }

    fn session() -> Session {
        Session::in_memory(&NewSession::default(), Options::default()).unwrap()
    }

    #[test]
    fn a_branch_stores_what_differs_from_what_it_has() {
        let mut session = session();
        let parts = [section("preamble", "You work."), section("skills", "a")];
        insta::assert_snapshot!(put(&mut session, Some(&parts), &[tool("read")]).unwrap(), @r#"{"role":"system","content":"","sections":{"preamble":"You work.","skills":"a"},"timestamp":7,"toolsAdded":[{"name":"read","description":"read it","parameters":{}}]}"#);
        assert_eq!(put(&mut session, Some(&parts), &[tool("read")]), None);
        let parts = [section("preamble", "You work."), section("cwd", "/a")];
        insta::assert_snapshot!(put(&mut session, Some(&parts), &[tool("ls")]).unwrap(), @r#"{"role":"system","content":"","sections":{"skills":null,"cwd":"/a"},"timestamp":7,"toolsAdded":[{"name":"ls","description":"ls it","parameters":{}}],"toolsRemoved":[{"name":"read"}]}"#);
        let other = ToolSpec { description: "list".to_owned(), ..tool("ls") };
        assert!(put(&mut session, Some(&parts), &[other]).unwrap().contains(r#""toolsAdded":[{"name":"ls""#));
    }

    #[test]
    fn tools_alone_are_stored_by_name() {
        let mut session = session();
        assert_eq!(stored(&session).tools(), None);
        insta::assert_snapshot!(put(&mut session, None, &[]).unwrap(), @r#"{"role":"system","content":"","timestamp":7,"toolsAdded":[]}"#);
        assert_eq!(stored(&session).tools(), Some(vec![]));
        assert_eq!(put(&mut session, None, &[]), None);
        assert!(put(&mut session, None, &[tool("ls")]).is_some());
        let other = ToolSpec { description: "list".to_owned(), ..tool("ls") };
        assert_eq!(put(&mut session, None, &[other]), None);
        assert!(put(&mut session, None, &[]).unwrap().contains(r#""toolsRemoved":[{"name":"ls"}]"#));
        assert_eq!(stored(&session).tools(), Some(vec![]));
    }

    #[test]
    fn words_of_other_programs_say_nothing_about_tools() {
        let mut session = session();
        let words = r#"{"role":"system","content":"Be kind."}"#;
        session.append(&NewEntry::message(Json::parse(words).unwrap()).unwrap()).unwrap();
        assert_eq!(stored(&session).tools(), None);
    }
}
