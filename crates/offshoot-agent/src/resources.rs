//! What people write for the agent beside their prompts: templates (`/name arguments`) and skills, which the model is told
//! of and opens when a task fits. Found in folders by `places`. Knows no front end.

mod front_matter;
mod template;
mod skill;
mod stream_rule;
mod rule;
mod agent;
mod omp_rules;
mod patterns;
mod folder_walk;
mod places;
mod system_texts;
mod search;

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use offshoot_session::medium::{read_regular_text, real_path_or_same};

pub use agent::{AgentDefinition, Spawns, USUAL_AGENT, bundled_agents, is_agent_name};
pub use patterns::{chosen, is_pattern};
pub use places::{
    PackageFiles, ResourceLists, ResourcePlaces, rule_files, skill_files, skill_files_of, template_files,
};
pub use rule::{Rule, RuleSettings, RuleUse, tree_rules};
pub use search::{AddedPaths, SharedResources};
pub use skill::Skill;
pub use stream_rule::{Interruption, RuleTrigger, StreamPart, WRITING_TOOLS};
pub use system_texts::{SystemTexts, TypedTexts};
pub use template::PromptTemplate;
use template::TemplateDialect;

/// A longer file is refused.
const LONGEST_FILE: u64 = 1 << 20;
/// An error names no more skills.
const NAMED: usize = 12;
const SKILL: &str = "/skill:";

/// Where a resource was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum ResourceScope {
    CommandLine,
    Project,
    User,
}

#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct Resource {
    pub name: String,
    pub description: String,
    pub file: PathBuf,
    pub scope: ResourceScope,
    /// The package that brings it.
    pub package: Option<Arc<BringingPackage>>,
}

/// A package that brings resources.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BringingPackage {
    /// The source as the settings have it.
    pub source: String,
    /// Its folder.
    pub root: PathBuf,
}

/// Templates, skills and rules, each kind in the order of precedence, no name twice.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct Resources {
    pub templates: Vec<PromptTemplate>,
    pub skills: Vec<Skill>,
    pub rules: Vec<Rule>,
    /// Without those that are built in.
    pub agents: Vec<AgentDefinition>,
}

/// The files and folders of a project that would count if it were trusted.
pub fn of_project(cwd: &Path, home: Option<&Path>) -> Vec<PathBuf> {
    places::of_project(cwd, home).into_iter().chain(system_texts::of_folder(cwd)).collect()
}

/// A file that is not used, or not as it was meant.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the fields say what they are")]
pub enum ResourceTrouble {
    #[error("cannot read {}: {source}", file.display())]
    Unreadable { file: PathBuf, source: io::Error },
    #[error("{}:{line}: {why}; the file is not used", file.display())]
    Invalid { file: PathBuf, line: usize, why: String },
    #[error("{}: {why}", file.display())]
    Odd { file: PathBuf, why: String },
    #[error("{} is not used: {} has the same name, `{name}`", loser.display(), winner.display())]
    Collision { name: String, winner: PathBuf, loser: PathBuf },
    #[error("{} contains more than {limit} files and folders; the rest is not used", folder.display())]
    TooMany { folder: PathBuf, limit: usize },
}

/// Why a typed text is not sent.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the fields say what they are")]
pub enum ExpandError {
    #[error("there is no skill `{name}`; {known}")]
    NoSkill { name: String, known: String },
    #[error(transparent)]
    Trouble(#[from] ResourceTrouble),
    #[error("the template {} is empty", .0.display())]
    Empty(PathBuf),
}

impl Resources {
    /// What is sent for a typed text that calls a skill (`/skill:name arguments`) or a template (`/name arguments`); `None`
    /// for any other, which is sent as it is. The name ends at white space. A skill's file is read anew.
    pub fn expand(&self, typed: &str) -> Result<Option<String>, ExpandError> {
        let Some(called) = typed.strip_prefix('/') else { return Ok(None) };
        let end = |text: &str| text.find(char::is_whitespace).unwrap_or(text.len());
        if let Some(called) = typed.strip_prefix(SKILL) {
            let (name, arguments) = called.split_at(end(called));
            let Some(skill) = self.skills.iter().find(|skill| skill.about.name == name) else {
                return Err(ExpandError::NoSkill { name: name.to_owned(), known: self.known_skills() });
            };
            return Ok(Some(skill.call(arguments.trim())?));
        }
        let (name, arguments) = called.split_at(end(called));
        let Some(template) = self.templates.iter().find(|template| template.about.name == name) else {
            return Ok(None);
        };
        let text = template.fill(arguments);
        if text.trim().is_empty() { Err(ExpandError::Empty(template.about.file.clone())) } else { Ok(Some(text)) }
    }

    /// The definition of this name, which may be built in.
    pub fn agent(&self, name: &str) -> Option<AgentDefinition> {
        let named = |agent: &AgentDefinition| agent.about.name == name;
        let own = self.agents.iter().find(|agent| named(agent)).cloned();
        own.or_else(|| bundled_agents().into_iter().find(named))
    }

    /// All definitions: those of files, then those that are built in and have other names.
    pub fn all_agents(&self) -> Vec<AgentDefinition> {
        let is_hidden = |agent: &AgentDefinition| self.agents.iter().any(|own| own.about.name == agent.about.name);
        let built_in = bundled_agents().into_iter().filter(|agent| !is_hidden(agent));
        self.agents.iter().cloned().chain(built_in).collect()
    }

    /// The part of the system prompt that lists the agents of files; `None` without any. Those that are built in are in the
    /// description of the tool that starts them.
    pub fn agents_for_model(&self) -> Option<String> {
        let told: Vec<String> = self.agents.iter().map(|agent| format!("- {}", agent.told())).collect();
        (!told.is_empty()).then(|| format!("The tool task can start these agents, too:\n\n{}", told.join("\n")))
    }

    fn known_skills(&self) -> String {
        let names: Vec<&str> = self.skills.iter().map(|skill| skill.about.name.as_str()).collect();
        match names.as_slice() {
            [] => "there are none".to_owned(),
            [one] => format!("there is {one}"),
            all if all.len() <= NAMED => format!("there are {}", all.join(", ")),
            all => format!("there are {} and {} more", all[..NAMED].join(", "), all.len() - NAMED),
        }
    }

    /// The part of the system prompt that lists the skills, which the model opens with the tool of this name; `None` without skills.
    pub fn for_model(&self, reader: &str) -> Option<String> {
        let told: Vec<String> = self.skills.iter().filter(|skill| !skill.is_for_person_only).map(Skill::told).collect();
        (!told.is_empty()).then(|| {
            format!(
                "Skills are instructions for certain tasks. When a task fits a skill's description, open its file with \
                 {reader} first and follow it. Paths in it are relative to the skill's folder.\n\n\
                 <available_skills>\n{}\n</available_skills>",
                told.join("\n")
            )
        })
    }
}

impl Resources {
    /// The part of the system prompt about rules: the texts of those that always count, and a list of those that the model opens
    /// with the tool of this name; `None` without any.
    pub fn rules_for_model(&self, reader: Option<&str>) -> Option<String> {
        let always = self.rules.iter().filter(|rule| matches!(rule.applies, RuleUse::Always));
        let mut parts: Vec<String> = always.map(|rule| rule.text.clone()).collect();
        let on_demand = self.rules.iter().filter(|rule| matches!(rule.applies, RuleUse::OnDemand));
        let listed: Vec<String> = on_demand.map(Rule::told).collect();
        if let Some(reader) = reader.filter(|_| !listed.is_empty()) {
            let listed = listed.join("\n");
            parts.push(format!(
                "Before work that fits one of these rules, open its file with {reader} and obey it:\n\n{listed}"
            ));
        }
        (!parts.is_empty()).then(|| parts.join("\n\n"))
    }
}

/// Keeps the first of each name; the others are reported, unless they are the same file.
fn first_of_each<T>(all: Vec<T>, about: impl Fn(&T) -> &Resource, troubles: &mut Vec<ResourceTrouble>) -> Vec<T> {
    let mut winners: BTreeMap<String, PathBuf> = BTreeMap::new();
    let mut kept = Vec::new();
    for one in all {
        let Resource { name, file, .. } = about(&one);
        match winners.get(name) {
            None => {
                winners.insert(name.clone(), file.clone());
                kept.push(one);
            }
            Some(winner) if real_path_or_same(winner) == real_path_or_same(file) => {}
            Some(winner) => troubles.push(ResourceTrouble::Collision {
                name: name.clone(),
                winner: winner.clone(),
                loser: file.clone(),
            }),
        }
    }
    kept
}

fn read(file: &Path) -> Result<String, ResourceTrouble> {
    read_regular_text(file, LONGEST_FILE)
        .map_err(|source| ResourceTrouble::Unreadable { file: file.to_path_buf(), source })
}
