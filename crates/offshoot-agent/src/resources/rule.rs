//! Rules: Markdown files whose text the model has always, opens when it fits, or gets when its answer runs into one (`stream_rule`).
//! Their fields are oh-my-pi's.

use std::path::{Path, PathBuf};

use super::front_matter::{FrontMatter, parse_lines};
use super::stream_rule::{Interruption, RuleTrigger, split_tokens};
use super::{Resource, ResourceScope, ResourceTrouble, read};

/// The file of a folder that always counts.
const ALWAYS: &str = "RULES.md";
/// Patterns of ast-grep: they need a parser for each language.
const TREE_CONDITION: &str = "astCondition";
/// The name of the agent that talks to a person, for the field `agents`.
const MAIN: &str = "main";

/// A rule, and when the model has it.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct Rule {
    pub about: Resource,
    /// The files that it is about.
    pub globs: Vec<String>,
    pub text: String,
    pub applies: RuleUse,
}

/// What the settings say of rules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleSettings {
    /// Whether answers are held against the conditions of rules.
    pub watches: bool,
    /// What a rule interrupts that does not say it.
    pub interruption: Interruption,
    /// The names of rules that do not count.
    pub disabled: Vec<String>,
    /// Whether the rules that oh-my-pi brings count where its folder does.
    pub has_built_in: bool,
}

impl Default for RuleSettings {
    fn default() -> Self {
        Self { watches: true, interruption: Interruption::default(), disabled: Vec::new(), has_built_in: true }
    }
}

/// When the model has a rule.
#[derive(Debug, Clone)]
pub enum RuleUse {
    /// With every request.
    Always,
    /// It knows of it, and opens its file.
    OnDemand,
    /// When what it writes fits: then it is stopped.
    Stream(Box<RuleTrigger>),
}

/// Two are equal if they are the same file, read to the same end.
impl PartialEq for Rule {
    fn eq(&self, other: &Self) -> bool {
        (&self.about, &self.globs, &self.text) == (&other.about, &other.globs, &other.text)
    }
}

impl Eq for Rule {}

impl Rule {
    /// Reads a file; `None` if it says that it does not count, or nothing says when.
    pub(super) fn load(
        file: &Path,
        scope: ResourceScope,
        settings: &RuleSettings,
        troubles: &mut Vec<ResourceTrouble>,
    ) -> Result<Option<Self>, ResourceTrouble> {
        let parsed = parse_lines(&read(file)?);
        let agents: Vec<String> = parsed.texts("agents").iter().flat_map(|text| split_tokens(text)).collect();
        let is_for_another = !agents.is_empty() && !agents.iter().any(|name| is_main(name));
        if parsed.is_false("enabled") || is_for_another || parsed.body.trim().is_empty() {
            return Ok(None);
        }
        let is_sticky = file.file_name().is_some_and(|name| name == ALWAYS);
        let mut odd = |why: String| troubles.push(ResourceTrouble::Odd { file: file.to_path_buf(), why });
        let watches = settings.watches && !is_sticky;
        let trigger = watches.then(|| RuleTrigger::of(&parsed, settings.interruption, &mut odd)).flatten();
        let description = parsed.text("description").unwrap_or_default().to_owned();
        let applies = match trigger {
            Some(trigger) => Some(RuleUse::Stream(Box::new(trigger))),
            None if is_sticky || parsed.is_true("alwaysApply") => Some(RuleUse::Always),
            None if description.is_empty() => None,
            None => Some(RuleUse::OnDemand),
        };
        if watches && has_tree_condition(&parsed) {
            odd(format!(
                "`{TREE_CONDITION}` is not evaluated, as offshoot parses no code: {}",
                instead(applies.as_ref())
            ));
        }
        let Some(applies) = applies else { return Ok(None) };
        let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let name = if is_sticky && scope == ResourceScope::Project { format!("{name}@project") } else { name };
        if settings.disabled.contains(&name) {
            return Ok(None);
        }
        let about = Resource { name, description, file: file.to_path_buf(), scope, package: None };
        Ok(Some(Self { about, globs: parsed.texts("globs"), text: parsed.body.trim().to_owned(), applies }))
    }

    /// Its words in the list for the model.
    pub(crate) fn told(&self) -> String {
        let Resource { name, description, file, .. } = &self.about;
        let globs = if self.globs.is_empty() { String::new() } else { format!(" ({})", self.globs.join(", ")) };
        format!("- {name}{globs}: {description} [{}]", file.display())
    }
}

fn has_tree_condition(fields: &FrontMatter) -> bool {
    !fields.texts(TREE_CONDITION).is_empty()
}

/// What becomes of a rule whose patterns over syntax trees are not evaluated.
fn instead(applies: Option<&RuleUse>) -> &'static str {
    match applies {
        Some(RuleUse::Stream(_)) => "only the rule's `condition` counts",
        Some(RuleUse::Always) => "the rule is in the system prompt",
        Some(RuleUse::OnDemand) => "the system prompt lists the rule, and the model may open it",
        None => "the rule has no effect; a `condition` or a `description` would give it one",
    }
}

/// The names of those rules whose patterns over syntax trees are not evaluated.
#[must_use]
pub fn tree_rules(files: Vec<PathBuf>) -> Vec<String> {
    let files = files.into_iter();
    let over_trees = files.filter(|file| read(file).is_ok_and(|text| has_tree_condition(&parse_lines(&text))));
    over_trees.filter_map(|file| Some(file.file_stem()?.to_string_lossy().into_owned())).collect()
}

fn is_main(pattern: &str) -> bool {
    let pattern = pattern.to_lowercase();
    pattern == MAIN || globset::Glob::new(&pattern).is_ok_and(|glob| glob.compile_matcher().is_match(MAIN))
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "tests prepare their own files")]
mod tests {
    use super::*;

    /// Such a rule is not dropped silently: what becomes of it depends on its other fields.
    #[test]
    fn patterns_over_syntax_trees_are_reported_with_what_happens_instead() {
        let folder = tempfile::tempdir().unwrap();
        for (name, fields, wanted) in [
            ("both", "condition: foo", Some("only the rule's `condition` counts")),
            ("always", "alwaysApply: true", Some("the rule is in the system prompt")),
            ("told", "description: x", Some("the system prompt lists the rule, and the model may open it")),
            (
                "mute",
                "globs: \"*.go\"",
                Some("the rule has no effect; a `condition` or a `description` would give it one"),
            ),
            ("plain", "condition: foo\n#", None),
        ] {
            let file = folder.path().join(format!("{name}.md"));
            let tree = if wanted.is_some() { "astCondition: foo($A)\n" } else { "" };
            std::fs::write(&file, format!("---\n{fields}\n{tree}---\nText.")).unwrap();
            let mut troubles = Vec::new();
            let loaded = Rule::load(&file, ResourceScope::User, &RuleSettings::default(), &mut troubles).unwrap();
            assert_eq!(loaded.is_some(), name != "mute", "{name}");
            let told: Vec<String> = troubles.iter().map(ToString::to_string).collect();
            let prefix = "`astCondition` is not evaluated, as offshoot parses no code";
            let wanted: Vec<String> =
                wanted.iter().map(|instead| format!("{}: {prefix}: {instead}", file.display())).collect();
            assert_eq!(told, wanted);
            assert_eq!(tree_rules(vec![file]).len(), wanted.len());
        }
    }
}
