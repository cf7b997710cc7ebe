//! What the parts of a request beside its messages weigh, in tokens: the system prompt, each context file, each skill and each
//! tool. All are estimates, by the estimator of the messages. Knows no session and no window.

use serde_json::json;

use crate::provider::ToolSpec;
use crate::system_prompt::{SystemPrompt, instructions_of};

/// A named part, in tokens.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct WeighedPart {
    pub name: String,
    pub tokens: u64,
}

/// What a request has beside its messages, in tokens.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PromptWeight {
    /// The system prompt without the parts that are listed here.
    pub system: u64,
    /// By path, the outermost first.
    pub context_files: Vec<WeighedPart>,
    /// Their names and descriptions, as the system prompt lists them.
    pub skills: Vec<WeighedPart>,
    /// Their definitions.
    pub tools: Vec<WeighedPart>,
}

impl PromptWeight {
    /// Weighs a system prompt that is sent, which extensions or the session may have changed: a part that is not in it weighs
    /// nothing, and is not listed.
    #[must_use]
    pub fn of(prompt: &SystemPrompt, sent: &str, tools: &[ToolSpec]) -> Self {
        let (mut files, mut skills) = (Vec::new(), Vec::new());
        if let SystemPrompt::Parts(parts) = prompt {
            let file = |file| (display_path(file), instructions_of(file));
            files.extend(parts.context.iter().map(file));
            skills.extend(parts.resources.skills.iter().map(|skill| (skill.about.name.clone(), skill.told())));
        }
        let within = |(name, text): (String, String)| sent.contains(&text).then(|| (name, units(&text)));
        let files: Vec<_> = files.into_iter().filter_map(within).collect();
        let skills: Vec<_> = skills.into_iter().filter_map(within).collect();
        let listed: u64 = files.iter().chain(&skills).map(|(_, units)| units).sum();
        // Rounded one after another, so that the parts add up to the whole.
        let mut scale = RoundingScale::default();
        let system = scale.add(units(sent).saturating_sub(listed));
        let mut part = |(name, units)| WeighedPart { name, tokens: scale.add(units) };
        Self {
            system,
            context_files: files.into_iter().map(&mut part).collect(),
            skills: skills.into_iter().map(&mut part).collect(),
            tools: tools.iter().map(|tool| part((tool.name.clone(), tool_units(tool)))).collect(),
        }
    }

    /// All parts together.
    #[must_use]
    pub fn total(&self) -> u64 {
        let parts = self.context_files.iter().chain(&self.skills).chain(&self.tools);
        parts.map(|part| part.tokens).fold(self.system, u64::saturating_add)
    }
}

fn display_path(file: &crate::context_files::ContextFile) -> String {
    file.path.display().to_string()
}

/// Turns characters into tokens; the sum is that of all characters.
#[derive(Default)]
struct RoundingScale(u64);

impl RoundingScale {
    fn add(&mut self, units: u64) -> u64 {
        let before = self.0.div_ceil(4);
        self.0 += units;
        self.0.div_ceil(4) - before
    }
}

/// The characters of a text, as the peers count them.
pub(crate) fn units(text: &str) -> u64 {
    text.encode_utf16().count() as u64
}

/// The characters of a tool's definition.
pub(crate) fn tool_units(tool: &ToolSpec) -> u64 {
    let ToolSpec { name, description, parameters } = tool;
    units(&json!({ "name": name, "description": description, "parameters": parameters }).to_string())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::context_files::ContextFile;
    use crate::request::overhead_tokens;
    use crate::system_prompt::PromptParts;
    use crate::tool::{self, Shell};

    fn prompt() -> SystemPrompt {
        let context = vec![ContextFile { path: "/p/AGENTS.md".into(), content: "Use tabs.\n".repeat(50) }];
        SystemPrompt::Parts(Arc::new(PromptParts {
            context,
            custom: None,
            append: None,
            date: "2026-01-31".to_owned(),
            cwd: "/p".into(),
            resources: Default::default(),
            sandbox: None,
        }))
    }

    #[test]
    fn the_parts_add_up_to_the_overhead() {
        let tools = tool::select("read,bash,edit,write", &Shell::default()).unwrap();
        let specs: Vec<ToolSpec> = tools.iter().map(|tool| tool.spec()).collect();
        let sent = prompt().text(&tools);
        let weight = PromptWeight::of(&prompt(), &sent, &specs);
        assert_eq!(weight.total(), overhead_tokens(&sent, &specs));
        let [file] = weight.context_files.as_slice() else { panic!("{weight:?}") };
        assert!(file.name == "/p/AGENTS.md" && (125..160).contains(&file.tokens), "{file:?}");
        let names: Vec<&str> = weight.tools.iter().map(|tool| tool.name.as_str()).collect();
        assert_eq!(names, ["read", "bash", "edit", "write"]);
    }

    #[test]
    fn what_is_not_sent_weighs_nothing() {
        let weight = PromptWeight::of(&prompt(), "You are a parrot.", &[]);
        assert_eq!(weight, PromptWeight { system: 5, ..PromptWeight::default() });
    }
}
