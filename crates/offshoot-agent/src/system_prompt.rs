//! The system prompt: the agent's role, its tools and rules, the project's instructions, date and folder. The text is
//! in `system_prompt.md`.
//!
//! Pure: the same input gives the same text, so that providers' caches stay valid.

use std::path::PathBuf;
use std::sync::Arc;

use crate::context_files::ContextFile;
use crate::resources::SharedResources;
use crate::tool::{TASK_TOOL, Tool};

const TEMPLATE: &str = include_str!("system_prompt.md");

/// The system prompt, for any set of tools.
#[derive(Debug, Clone)]
pub enum SystemPrompt {
    /// The same words for all.
    Fixed(String),
    #[expect(missing_docs, reason = "the name says it")]
    Parts(Arc<PromptParts>),
}

#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct PromptParts {
    /// The outermost first.
    pub context: Vec<ContextFile>,
    /// Replaces offshoot's text about the agent, its tools and rules.
    pub custom: Option<String>,
    /// Added after that text.
    pub append: Option<String>,
    /// As `2026-01-31`.
    pub date: String,
    pub cwd: PathBuf,
    pub resources: SharedResources,
    /// What commands may do.
    pub sandbox: Option<String>,
}

/// A part of the system prompt, under the name that pi stores such a part with.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct PromptSection {
    pub name: &'static str,
    pub text: String,
}

impl From<&str> for SystemPrompt {
    fn from(words: &str) -> Self {
        Self::Fixed(words.to_owned())
    }
}

impl From<String> for SystemPrompt {
    fn from(words: String) -> Self {
        Self::Fixed(words)
    }
}

impl SystemPrompt {
    /// What is sent.
    pub fn text(&self, tools: &[Arc<dyn Tool>]) -> String {
        match self {
            Self::Fixed(words) => words.clone(),
            Self::Parts(_) => {
                let sections = self.sections(tools);
                sections.into_iter().map(|section| section.text).collect::<Vec<_>>().join("\n\n")
            }
        }
    }

    /// Its parts in their order, none of them empty.
    pub fn sections(&self, tools: &[Arc<dyn Tool>]) -> Vec<PromptSection> {
        let parts = match self {
            Self::Fixed(words) => vec![("preamble", Some(words.clone()))],
            Self::Parts(parts) => parts.named(tools),
        };
        let section = |(name, text): (&'static str, Option<String>)| {
            let text = text?.trim().to_owned();
            (!text.is_empty()).then_some(PromptSection { name, text })
        };
        parts.into_iter().filter_map(section).collect()
    }
}

impl PromptParts {
    fn named(&self, tools: &[Arc<dyn Tool>]) -> Vec<(&'static str, Option<String>)> {
        let mut parts = match &self.custom {
            Some(custom) => vec![("preamble", Some(custom.clone()))],
            None => {
                let tools_at = TEMPLATE.find("# Tools").unwrap_or(TEMPLATE.len());
                let rules_at = TEMPLATE.find("# Rules").unwrap_or(TEMPLATE.len());
                vec![
                    ("preamble", Some(TEMPLATE[..tools_at].to_owned())),
                    ("tools", Some(TEMPLATE[tools_at..rules_at].replace("{{tools}}", &list(tools)))),
                    ("rules", Some(TEMPLATE[rules_at..].replace("{{rules}}", &rules(tools)))),
                ]
            }
        };
        let place = format!("Today is {}. The working directory is {}", self.date, self.cwd.display());
        parts.extend([
            ("addendum", self.append.clone()),
            ("project_context", self.instructions()),
            ("skills", self.skills(tools)),
            ("user_rules", self.user_rules(tools)),
            ("agents", self.agents(tools)),
            ("cwd", Some(place)),
            ("sandbox", self.sandbox.clone()),
        ]);
        parts
    }

    fn skills(&self, tools: &[Arc<dyn Tool>]) -> Option<String> {
        let reader = reader(tools)?;
        Some(format!("# Skills\n\n{}", self.resources.for_model(reader)?))
    }

    fn agents(&self, tools: &[Arc<dyn Tool>]) -> Option<String> {
        tools.iter().find(|tool| tool.name() == TASK_TOOL)?;
        Some(format!("# Agents\n\n{}", self.resources.agents_for_model()?))
    }

    fn user_rules(&self, tools: &[Arc<dyn Tool>]) -> Option<String> {
        Some(format!("# Rules of the user\n\n{}", self.resources.rules_for_model(reader(tools))?))
    }

    fn instructions(&self) -> Option<String> {
        let files: Vec<String> = self.context.iter().map(instructions_of).collect();
        (!files.is_empty()).then(|| format!("# Project instructions\n\n{}", files.join("\n\n")))
    }
}

/// The tool that opens files.
fn reader(tools: &[Arc<dyn Tool>]) -> Option<&'static str> {
    ["read", "bash"].into_iter().find(|name| tools.iter().any(|tool| tool.name() == *name))
}

/// A context file as the prompt has it.
pub(crate) fn instructions_of(file: &ContextFile) -> String {
    format!(
        "<project_instructions path=\"{}\">\n{}\n</project_instructions>",
        file.path.display(),
        file.content.trim_end()
    )
}

fn list(tools: &[Arc<dyn Tool>]) -> String {
    let lines = tools.iter().filter_map(|tool| Some(format!("- {}: {}", tool.name(), tool.summary()?)));
    Some(lines.collect::<Vec<_>>().join("\n")).filter(|list| !list.is_empty()).unwrap_or_else(|| "(none)".to_owned())
}

fn rules(tools: &[Arc<dyn Tool>]) -> String {
    let is_on = |name: &str| tools.iter().any(|tool| tool.name() == name);
    let mut rules = Vec::new();
    if is_on("bash") && !["grep", "find", "ls"].into_iter().any(is_on) {
        rules.push("Use bash to list, find and search files: ls, rg, find.");
    }
    rules.extend(tools.iter().flat_map(|tool| tool.guidelines()));
    rules.push("Answer briefly.");
    rules.push("Refer to files by their paths.");
    let mut unique = Vec::new();
    for rule in rules {
        if !unique.contains(&rule) {
            unique.push(rule);
        }
    }
    unique.iter().map(|rule| format!("- {rule}")).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::{self, Shell};

    fn parts() -> PromptParts {
        PromptParts {
            resources: SharedResources::default(),
            context: Vec::new(),
            custom: None,
            append: None,
            date: "2026-01-31".to_owned(),
            cwd: "/project".into(),
            sandbox: None,
        }
    }

    fn prompt(parts: PromptParts) -> SystemPrompt {
        SystemPrompt::Parts(Arc::new(parts))
    }

    fn tools(names: &str) -> Vec<Arc<dyn Tool>> {
        tool::select(names, &Shell::default()).unwrap()
    }

    #[test]
    fn tools_rules_instructions_date_and_folder_are_told_in_this_order() {
        let tools = tools("read,bash,write");
        let file = ContextFile { path: "/project/AGENTS.md".into(), content: "Use tabs.\n".into() };
        let parts = PromptParts { append: Some("Be kind.\n".to_owned()), context: vec![file], ..parts() };
        let prompt = prompt(parts);
        let text = prompt.text(&tools);
        let names: Vec<&str> = prompt.sections(&tools).iter().map(|section| section.name).collect();
        assert_eq!(names, ["preamble", "tools", "rules", "addendum", "project_context", "cwd"]);
        insta::assert_snapshot!(text, @r#"
        You are a coding agent running in offshoot, in the user's terminal. You read and change the files of the user's project and
        run commands on their machine with the tools below.

        # Tools

        - read: read a file, or part of it
        - bash: run shell commands (build, test, git, ...)
        - write: create or overwrite a file

        More tools may be available; each is described where it is defined.

        # Rules

        - Use bash to list, find and search files: ls, rg, find.
        - Use read to look at files, not cat or sed.
        - Use write only for new files and complete rewrites.
        - Answer briefly.
        - Refer to files by their paths.

        Be kind.

        # Project instructions

        <project_instructions path="/project/AGENTS.md">
        Use tabs.
        </project_instructions>

        Today is 2026-01-31. The working directory is /project
        "#);
    }

    #[test]
    fn rules_follow_the_tools_that_are_on() {
        let with = |names: &str| prompt(parts()).text(&tools(names));
        assert!(with("bash").contains("Use bash to list"));
        assert!(!with("bash,grep").contains("Use bash to list"));
        assert!(!with("read,ls").contains("oldText") && with("edit").contains("oldText"));
        assert!(with("").contains("(none)"));
        assert!(!with("read").contains("{{"));
    }

    #[test]
    fn the_users_own_words_replace_those_about_the_agent_alone() {
        let tools = tools("read");
        let parts = PromptParts { custom: Some("You are a parrot.".to_owned()), ..parts() };
        let text = prompt(parts).text(&tools);
        assert_eq!(text, "You are a parrot.\n\nToday is 2026-01-31. The working directory is /project");
    }
}
