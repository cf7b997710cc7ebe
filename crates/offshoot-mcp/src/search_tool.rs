//! `tool_search`: finds tools of servers that are not declared, and has them declared from the next request on.

use std::sync::{Arc, Weak};

use offshoot_agent::provider::ToolSpec;
use offshoot_agent::tool::{Running, Tier, Tool, ToolContext, ToolOutcome, Waiting};
use offshoot_session::text::one_line;
use serde_json::{Value, json};
use tokio::sync::mpsc::UnboundedSender;

/// Its name.
pub const TOOL_SEARCH: &str = "tool_search";
const MOST: usize = 50;
const USUAL: usize = 5;
const LONGEST_LINE: usize = 300;
const LONGEST_ABOUT: usize = 250;

/// A tool that can be found.
#[derive(Debug, Clone)]
pub(crate) struct Findable {
    pub(crate) server: String,
    /// The words about the server.
    pub(crate) about: String,
    pub(crate) name: String,
    pub(crate) description: String,
}

/// Who has the tools that are searched.
pub(crate) trait Searchable: Send + Sync {
    /// Every tool that is not declared, and those that were found before.
    fn findable(&self) -> Vec<Findable>;

    /// Declares these from the next request on.
    fn load(&self, names: &[String]);

    /// Waits until the tools of all servers are known, a limited time.
    fn all_known(&self) -> Waiting<'_>;
}

pub(crate) struct ToolSearch {
    searched: Weak<dyn Searchable>,
    description: String,
}

impl ToolSearch {
    /// `servers` are their names and what their configurations say of them: the description stays the same throughout a run.
    pub(crate) fn new<'a>(
        searched: Weak<dyn Searchable>,
        servers: impl Iterator<Item = (&'a str, Option<&'a str>)>,
    ) -> Self {
        let lines = servers.take(MOST).map(|(name, about)| {
            let about = about.map(|about| format!(": {}", one_line(about, LONGEST_ABOUT))).unwrap_or_default();
            format!("\n- {name}{about}")
        });
        let lines: String = lines.collect();
        let description = format!(
            "Searches tools of MCP servers that are not declared yet, by words of their names and descriptions. Those that are found \
             can be called from the next request on. The servers:{lines}"
        );
        Self { searched, description }
    }
}

impl Tool for ToolSearch {
    fn name(&self) -> &str {
        TOOL_SEARCH
    }

    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: TOOL_SEARCH.to_owned(),
            description: self.description.clone(),
            parameters: json!({
                "type": "object",
                "properties": {
                    "query": {"type": "string", "description": "Words that say what the tool does"},
                    "server": {"type": "string", "description": "Only tools of this server"},
                    "limit": {"type": "integer", "description": "At most so many tools; by default 5"},
                },
                "required": ["query"],
            }),
        }
    }

    fn summary(&self) -> Option<&str> {
        Some("find tools of MCP servers that are not declared")
    }

    fn tier(&self, _: &Value, _: &ToolContext) -> Tier {
        Tier::Read(Vec::new())
    }

    fn run(&self, arguments: Value, _: Arc<ToolContext>, _: UnboundedSender<ToolOutcome>) -> Running {
        let searched = self.searched.clone();
        Box::pin(async move {
            let Some(searched) = searched.upgrade() else { return ToolOutcome::failed("the servers have ended") };
            let Some(query) = arguments["query"].as_str() else {
                return ToolOutcome::failed("tool_search needs a query, which is a text");
            };
            searched.all_known().await;
            let limit = arguments["limit"].as_u64().and_then(|limit| usize::try_from(limit).ok()).unwrap_or(USUAL);
            let found = search(searched.findable(), query, arguments["server"].as_str());
            let (names, text) = listed(&found, limit.clamp(1, MOST));
            searched.load(&names);
            ToolOutcome { details: Some(json!({"loaded": names})), ..ToolOutcome::text(text) }
        })
    }
}

/// The names of the first of the tools, and what the model is told.
fn listed(found: &[Findable], limit: usize) -> (Vec<String>, String) {
    let Some((first, more)) = found.split_at_checked(limit.min(found.len())).filter(|(first, _)| !first.is_empty())
    else {
        return (Vec::new(), "no tool matches; try other words, or fewer".to_owned());
    };
    let mut text = "These tools can be called now:".to_owned();
    for tool in first {
        let words = one_line(&tool.description, LONGEST_LINE);
        text.push_str(&format!("\n{} ({}): {words}", tool.name, tool.server));
    }
    if !more.is_empty() {
        text.push_str(&format!("\n({} more match; a more exact query finds others)", more.len()));
    }
    (first.iter().map(|tool| tool.name.clone()).collect(), text)
}

/// The tools with most of the words, in their names first. A whole word counts more than a part of one.
fn search(tools: Vec<Findable>, query: &str, server: Option<&str>) -> Vec<Findable> {
    let wanted: Vec<String> = words(query);
    let of_server = tools.into_iter().filter(|tool| server.is_none_or(|server| tool.server == server));
    let mut ranked: Vec<(usize, Findable)> = of_server
        .filter_map(|tool| {
            let (name, text) = (tool.name.to_lowercase(), tool.description.to_lowercase());
            let about = tool.about.to_lowercase();
            let whole: Vec<String> = [&name, &text].into_iter().flat_map(|text| words(text)).collect();
            let score = |word: &String| {
                4 * usize::from(name.contains(word.as_str()))
                    + 2 * usize::from(text.contains(word.as_str()))
                    + usize::from(about.contains(word.as_str()))
                    + usize::from(whole.contains(word))
            };
            let score: usize = wanted.iter().map(score).sum();
            (score > 0).then_some((score, tool))
        })
        .collect();
    ranked.sort_by(|(one, a), (other, b)| other.cmp(one).then_with(|| a.name.cmp(&b.name)));
    ranked.into_iter().map(|(_, tool)| tool).collect()
}

fn words(text: &str) -> Vec<String> {
    let words = text.split(|at: char| !at.is_alphanumeric()).filter(|word| word.len() > 1);
    words.map(str::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tools() -> Vec<Findable> {
        [
            ("fs", "read_file", "reads a file"),
            ("fs", "write_file", "writes a file"),
            ("git", "log", "lists commits, and who wrote them"),
            ("fs", "watch", "keeps a log of changes"),
        ]
        .into_iter()
        .map(|(server, name, description)| Findable {
            server: server.to_owned(),
            about: String::new(),
            name: format!("mcp__{server}__{name}"),
            description: description.to_owned(),
        })
        .collect()
    }

    fn found(query: &str, server: Option<&str>) -> Vec<String> {
        search(tools(), query, server).into_iter().map(|tool| tool.name).collect()
    }

    #[test]
    fn names_come_before_descriptions() {
        assert_eq!(found("read file", None), ["mcp__fs__read_file", "mcp__fs__write_file"]);
        assert_eq!(found("FILE!", None), ["mcp__fs__read_file", "mcp__fs__write_file"]);
        assert_eq!(found("wrote", None), ["mcp__git__log"]);
        assert_eq!(found("log", None), ["mcp__git__log", "mcp__fs__watch"]);
        assert_eq!(found("file", Some("git")), [""; 0]);
        assert_eq!(found("", None), [""; 0]);
    }

    #[test]
    fn a_whole_word_comes_before_parts_of_others() {
        let tool = |number: u32| Findable {
            server: "s".to_owned(),
            about: String::new(),
            name: format!("mcp__s__tool_{number}"),
            description: format!("Does the thing number {number}"),
        };
        let found = search((1..2_000).map(tool).collect(), "number 77", None);
        let first: Vec<&str> = found.iter().map(|tool| tool.name.as_str()).take(2).collect();
        assert_eq!(first, ["mcp__s__tool_77", "mcp__s__tool_1077"]);
    }

    #[test]
    fn what_the_limit_leaves_out_is_counted() {
        let (names, text) = listed(&search(tools(), "file", None), 1);
        assert_eq!(names, ["mcp__fs__read_file"]);
        assert!(text.ends_with("reads a file\n(1 more match; a more exact query finds others)"), "{text}");
        let (names, text) = listed(&search(tools(), "file", None), 5);
        assert!(names.len() == 2 && !text.contains("more match"), "{text}");
        assert_eq!(listed(&[], 5).0, [""; 0]);
    }
}
