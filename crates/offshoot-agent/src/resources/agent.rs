//! Definitions of agents that the tool `task` can start: a Markdown file whose block says what the agent may have and whose body is
//! its system prompt. Four are built in. Understands the fields of oh-my-pi, pi and Claude Code beside offshoot's own.

use std::path::{Path, PathBuf};

use offshoot_protocol::{ApprovalMode, ThinkingLevel};

use super::front_matter::{FrontMatter, parse};
use super::{Resource, ResourceScope, ResourceTrouble, read};

const BUNDLED: [&str; 4] = [
    include_str!("agents/scout.md"),
    include_str!("agents/task.md"),
    include_str!("agents/reviewer.md"),
    include_str!("agents/plan.md"),
];

/// The definition of a task that names none.
pub const USUAL_AGENT: &str = "task";
/// In the place of a file.
const BUILT_IN: &str = "built in";
/// A longer description is cut for the model.
const LONGEST_DESCRIPTION: usize = 200;

/// Which agents an agent may start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Spawns {
    #[expect(missing_docs, reason = "the name says it")]
    All,
    /// Those with these names.
    Only(Vec<String>),
}

impl Spawns {
    /// Whether the agent may start one of this definition.
    #[must_use]
    pub fn allows(&self, name: &str) -> bool {
        match self {
            Self::All => true,
            Self::Only(names) => names.iter().any(|allowed| allowed == name),
        }
    }

    /// Whether it may start any.
    #[must_use]
    pub fn is_none(&self) -> bool {
        matches!(self, Self::Only(names) if names.is_empty())
    }
}

/// What an agent is made of, beside its task.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct AgentDefinition {
    pub about: Resource,
    /// Offshoot's names; `None`: all that the agent has which starts it.
    pub tools: Option<Vec<String>>,
    /// Taken away last.
    pub denied_tools: Vec<String>,
    pub spawns: Spawns,
    /// The first that there is counts; none: that of the agent which starts it.
    pub models: Vec<String>,
    pub thinking: Option<ThinkingLevel>,
    /// The stricter of this and that of the agent which starts it counts.
    pub approval: Option<ApprovalMode>,
    /// Complete answers.
    pub turns: Option<u64>,
    /// The system prompt.
    pub prompt: String,
}

/// Those that are built in.
#[must_use]
pub fn bundled_agents() -> Vec<AgentDefinition> {
    let made = |text: &&str| {
        AgentDefinition::of(&parse(text).ok()?, (Path::new(BUILT_IN), ResourceScope::User), &mut Vec::new())
    };
    BUNDLED.iter().filter_map(made).collect()
}

impl AgentDefinition {
    /// Reads a definition. A file without a name or a description is none: what is wrong is among the troubles.
    pub(super) fn load(path: &Path, scope: ResourceScope, troubles: &mut Vec<ResourceTrouble>) -> Option<Self> {
        let odd = |why: String| ResourceTrouble::Odd { file: path.to_path_buf(), why };
        let text = read(path).map_err(|trouble| troubles.push(trouble)).ok()?;
        let matter = match parse(&text) {
            Ok(matter) => matter,
            Err(fault) => {
                troubles.push(ResourceTrouble::Invalid { file: path.to_path_buf(), line: fault.line, why: fault.why });
                return None;
            }
        };
        let mut words = Vec::new();
        let found = Self::of(&matter, (path, scope), &mut words);
        troubles.extend(words.into_iter().map(odd));
        found
    }

    fn of(matter: &FrontMatter, (path, scope): (&Path, ResourceScope), troubles: &mut Vec<String>) -> Option<Self> {
        let (Some(name), Some(description)) = (matter.text("name"), matter.text("description")) else {
            troubles.push("an agent needs `name` and `description`; the file is not used".to_owned());
            return None;
        };
        if !is_agent_name(name) {
            troubles.push(format!(
                "{name:?} is no name of an agent: letters, digits, - and _, at most 32; the file is not used"
            ));
            return None;
        }
        let tools = matter.texts("tools").iter().flat_map(|text| names(text)).collect::<Vec<_>>();
        let tools =
            (!tools.is_empty() && tools != ["*"]).then(|| tools.iter().map(|name| own_tool(name)).collect::<Vec<_>>());
        let denied = matter.texts("disallowedTools");
        let may_start = tools.as_ref().is_none_or(|tools| tools.iter().any(|tool| tool == "task"));
        let spawns = match matter.texts("spawns") {
            list if list.is_empty() && may_start => Spawns::All,
            list if list.iter().any(|text| text == "*") => Spawns::All,
            list => Spawns::Only(list.iter().flat_map(|text| names(text)).collect()),
        };
        let thinking = ["thinking", "thinking-level", "effort"].into_iter().find_map(|field| matter.text(field));
        let level = thinking.and_then(ThinkingLevel::parse);
        if let (Some(word), None) = (thinking, level) {
            troubles.push(format!("there is no thinking level {word:?}; that of the agent which starts it counts"));
        }
        let mode = matter.text("permissionMode").or_else(|| matter.text("approval"));
        let approval = mode.map(|word| mode_of(word, troubles));
        for field in ["mcpServers", "isolation", "output", "hooks"] {
            if matter.has(field) {
                troubles.push(format!("`{field}` is not supported and has no effect"));
            }
        }
        Some(Self {
            about: Resource {
                name: name.to_owned(),
                description: description.split_whitespace().collect::<Vec<_>>().join(" "),
                file: PathBuf::from(path),
                scope,
                package: None,
            },
            tools,
            denied_tools: denied.iter().flat_map(|text| names(text)).map(|name| own_tool(&name)).collect(),
            spawns,
            models: matter
                .texts("model")
                .iter()
                .flat_map(|text| names(text))
                .filter(|name| name != "inherit")
                .collect(),
            thinking: level,
            approval: approval.flatten(),
            turns: matter.number("maxTurns"),
            prompt: matter.body.trim().to_owned(),
        })
    }

    /// A line of the list for the model.
    #[must_use]
    pub fn told(&self) -> String {
        let cut: String = self.about.description.chars().take(LONGEST_DESCRIPTION).collect();
        format!("{}: {cut}", self.about.name)
    }
}

/// Whether it can name an agent and a file.
#[must_use]
pub fn is_agent_name(name: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    (1..=32).contains(&name.len()) && name.chars().all(is_plain)
}

fn names(text: &str) -> Vec<String> {
    // A comma within parentheses belongs to a rule of Claude Code: `Bash(git log:*, …)`.
    let mut depth = 0_usize;
    let parted = text.split(|c: char| {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ',' && depth == 0
    });
    parted.map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()).collect()
}

/// Offshoot's name of a tool of Claude Code or oh-my-pi.
fn own_tool(name: &str) -> String {
    let (name, _) = name.split_once('(').unwrap_or((name, ""));
    let own = match name {
        "Read" | "NotebookRead" => "read",
        "Bash" => "bash",
        "Edit" | "MultiEdit" | "NotebookEdit" => "edit",
        "Write" => "write",
        "Grep" => "grep",
        "Glob" => "find",
        "LS" => "ls",
        "WebFetch" => "web_fetch",
        "WebSearch" => "web_search",
        "Task" | "Agent" => "task",
        "TodoWrite" => "todo",
        "AskUserQuestion" => "ask",
        other => other,
    };
    own.to_owned()
}

/// A mode that is not known is read as the strictest.
fn mode_of(word: &str, troubles: &mut Vec<String>) -> Option<ApprovalMode> {
    match word {
        "default" | "manual" | "acceptEdits" | "inherit" => None,
        // It asks for more than the agent that starts it may have.
        "auto" | "bypassPermissions" => None,
        "plan" | "dontAsk" => Some(ApprovalMode::ReadOnly),
        word => match ApprovalMode::parse(word) {
            Some(mode) => Some(mode),
            None => {
                troubles.push(format!("there is no permission mode {word:?}; read-only counts"));
                Some(ApprovalMode::ReadOnly)
            }
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_as(block: &str) -> (Option<AgentDefinition>, Vec<String>) {
        let mut troubles = Vec::new();
        let matter = parse(&format!("---\n{block}\n---\nBody.\n")).unwrap();
        (AgentDefinition::of(&matter, (Path::new("x.md"), ResourceScope::User), &mut troubles), troubles)
    }

    #[test]
    fn four_agents_are_built_in_and_only_one_of_them_changes_files() {
        let all = bundled_agents();
        assert_eq!(
            all.iter().map(|agent| agent.about.name.as_str()).collect::<Vec<_>>(),
            ["scout", "task", "reviewer", "plan"]
        );
        for agent in &all {
            assert_eq!(
                agent.approval == Some(ApprovalMode::ReadOnly),
                agent.about.name != "task",
                "{}",
                agent.about.name
            );
            assert!(!agent.prompt.is_empty() && agent.told().len() < 120, "{agent:?}");
        }
        assert!(all[0].spawns.is_none() && all[1].spawns.allows("scout") && !all[2].spawns.allows("task"));
    }

    #[test]
    fn fields_of_other_programs_mean_what_they_mean_there() {
        let claude = "name: fixer\ndescription: Fixes.\ntools: Read, Bash(git log:*, x), Glob, mcp__fs__list\ndisallowedTools: Write\n\
             permissionMode: plan\nmodel: inherit\nmaxTurns: 12\nmcpServers: [x]";
        let (agent, troubles) = read_as(claude);
        let agent = agent.unwrap();
        assert_eq!(agent.tools.as_deref().unwrap().join(" "), "read bash find mcp__fs__list");
        assert_eq!((agent.denied_tools.as_slice(), agent.turns), (["write".to_owned()].as_slice(), Some(12)));
        assert_eq!((agent.approval, agent.models.len()), (Some(ApprovalMode::ReadOnly), 0));
        assert!(agent.spawns.is_none() && agent.prompt == "Body.");
        assert_eq!(troubles, ["`mcpServers` is not supported and has no effect"]);
        let omp = "name: x\ndescription: d\ntools: [read, task]\nmodel: [p/a, p/b]\nthinking-level: high\nspawns: a, b";
        let (agent, troubles) = read_as(omp);
        let agent = agent.unwrap();
        assert_eq!((agent.models.join(" "), agent.thinking), ("p/a p/b".to_owned(), Some(ThinkingLevel::High)));
        assert!(agent.spawns.allows("b") && !agent.spawns.allows("c") && troubles.is_empty());
    }

    /// Names become files.
    #[test]
    fn a_definition_that_asks_for_too_much_or_says_too_little_gets_less() {
        for block in ["description: d", "name: x", "name: ../x\ndescription: d", "name: a.b\ndescription: d"] {
            let (agent, troubles) = read_as(block);
            assert!(agent.is_none() && troubles.len() == 1, "{block}");
        }
        let mode =
            |word: &str| read_as(&format!("name: x\ndescription: d\npermissionMode: {word}")).0.unwrap().approval;
        assert_eq!((mode("bypassPermissions"), mode("nonsense")), (None, Some(ApprovalMode::ReadOnly)));
    }
}
