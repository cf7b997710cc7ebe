//! The system prompt: the agent's role, its tools and rules, the project's instructions, date and folder. The text is
//! in `system_prompt.md`.
//!
//! Pure: the same input gives the same text, so that providers' caches stay valid.

use std::path::Path;
use std::sync::Arc;

use crate::context_files::ContextFile;
use crate::resources::Resources;
use crate::tool::Tool;

const TEMPLATE: &str = include_str!("system_prompt.md");

#[derive(Clone)]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct SystemPrompt<'a> {
    pub tools: &'a [Arc<dyn Tool>],
    /// The outermost first.
    pub context: &'a [ContextFile],
    /// Replaces offshoot's text about the agent, its tools and rules.
    pub custom: Option<&'a str>,
    /// Added after that text.
    pub append: Option<&'a str>,
    /// As `2026-01-31`.
    pub date: &'a str,
    pub cwd: &'a Path,
    pub resources: &'a Resources,
    /// What commands may do.
    pub sandbox: Option<String>,
}

impl SystemPrompt<'_> {
    /// Renders the prompt.
    pub fn text(&self) -> String {
        let own = || TEMPLATE.replace("{{tools}}", &self.tools()).replace("{{rules}}", &self.rules());
        let first = self.custom.map_or_else(own, str::to_owned);
        let place = format!("Today is {}. The working folder is {}", self.date, self.cwd.display());
        let parts = [
            Some(first),
            self.append.map(str::to_owned),
            self.instructions(),
            self.skills(),
            Some(place),
            self.sandbox.clone(),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().map(|part| part.trim().to_owned()).collect();
        parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n\n")
    }

    fn tools(&self) -> String {
        let lines = self.tools.iter().filter_map(|tool| Some(format!("- {}: {}", tool.name(), tool.summary()?)));
        Some(lines.collect::<Vec<_>>().join("\n"))
            .filter(|list| !list.is_empty())
            .unwrap_or_else(|| "(none)".to_owned())
    }

    fn rules(&self) -> String {
        let is_on = |name: &str| self.tools.iter().any(|tool| tool.name() == name);
        let mut rules = Vec::new();
        if is_on("bash") && !["grep", "find", "ls"].into_iter().any(is_on) {
            rules.push("List, find and search files with bash: ls, rg, find.");
        }
        rules.extend(self.tools.iter().flat_map(|tool| tool.guidelines()).copied());
        rules.push("Answer briefly.");
        rules.push("Name the files that you talk about by their paths.");
        let mut unique = Vec::new();
        for rule in rules {
            if !unique.contains(&rule) {
                unique.push(rule);
            }
        }
        unique.iter().map(|rule| format!("- {rule}")).collect::<Vec<_>>().join("\n")
    }

    fn skills(&self) -> Option<String> {
        let reader = ["read", "bash"].into_iter().find(|name| self.tools.iter().any(|tool| tool.name() == *name))?;
        Some(format!("# Skills\n\n{}", self.resources.for_model(reader)?))
    }

    fn instructions(&self) -> Option<String> {
        let files = self.context.iter().map(|file| {
            format!("<instructions path=\"{}\">\n{}\n</instructions>", file.path.display(), file.content.trim_end())
        });
        let files: Vec<String> = files.collect();
        (!files.is_empty()).then(|| format!("# The project's instructions\n\n{}", files.join("\n\n")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::{self, Shell};

    static NONE: Resources = Resources { templates: Vec::new(), skills: Vec::new() };

    fn prompt<'a>(tools: &'a [Arc<dyn Tool>], context: &'a [ContextFile]) -> SystemPrompt<'a> {
        SystemPrompt {
            resources: &NONE,
            tools,
            context,
            custom: None,
            append: None,
            date: "2026-01-31",
            cwd: Path::new("/project"),
            sandbox: None,
        }
    }

    fn tools(names: &str) -> Vec<Arc<dyn Tool>> {
        tool::select(names, &Shell::default()).unwrap()
    }

    #[test]
    fn tools_rules_instructions_date_and_folder_are_told_in_this_order() {
        let tools = tools("read,bash,write");
        let file = ContextFile { path: "/project/AGENTS.md".into(), content: "Use tabs.\n".into() };
        let text = SystemPrompt { append: Some("Be kind.\n"), ..prompt(&tools, &[file]) }.text();
        insta::assert_snapshot!(text, @r#"
        You are a coding agent that runs in offshoot, in the terminal of the person who talks to you. You read, write and change
        the files of their project and run commands on their machine, with the tools below.

        # Tools

        - read: show a file, or part of it
        - bash: run shell commands (build, test, git, ...)
        - write: make a file, or write an old one anew

        There may be others beside these; what they do is said where they are defined.

        # How to work

        - List, find and search files with bash: ls, rg, find.
        - Look into files with read rather than with cat or sed.
        - Take write for new files and complete rewrites only.
        - Answer briefly.
        - Name the files that you talk about by their paths.

        Be kind.

        # The project's instructions

        <instructions path="/project/AGENTS.md">
        Use tabs.
        </instructions>

        Today is 2026-01-31. The working folder is /project
        "#);
    }

    #[test]
    fn rules_follow_the_tools_that_are_on() {
        let with = |names: &str| prompt(&tools(names), &[]).text();
        assert!(with("bash").contains("with bash: ls, rg, find"));
        assert!(!with("bash,grep").contains("with bash: ls, rg, find"));
        assert!(!with("read,ls").contains("oldText") && with("edit").contains("oldText"));
        assert!(with("").contains("(none)"));
        assert!(!with("read").contains("{{"));
    }

    #[test]
    fn the_users_own_words_replace_those_about_the_agent_alone() {
        let tools = tools("read");
        let text = SystemPrompt { custom: Some("You are a parrot."), ..prompt(&tools, &[]) }.text();
        assert_eq!(text, "You are a parrot.\n\nToday is 2026-01-31. The working folder is /project");
    }
}
