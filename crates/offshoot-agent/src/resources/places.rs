//! Where templates and skills are looked for, and in which order. Decides nothing about trust: who calls it names a
//! project's folder only if it is trusted.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use offshoot_protocol::{Peer, PeerFolder, project_folders};

use super::folder_walk::walk;
use super::omp_rules::omp_rules;
use super::rule::{Rule, RuleSettings};
use super::{
    AgentDefinition, BringingPackage, PromptTemplate, ResourceScope, ResourceTrouble, Resources, Skill,
    TemplateDialect, chosen, first_of_each, is_pattern,
};
use crate::home_path::expand_home;

const DEEPEST: usize = 16;

/// Definitions of agents in a folder of settings.
const AGENTS: &str = "agents";
/// Claude Code's in a project.
const CLAUDE: &str = ".claude/agents";
/// Where agents share skills.
const SHARED: &str = ".agents/skills";

/// The folders that count for a run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ResourcePlaces {
    /// Files and folders of `--prompt-template`.
    pub templates: Vec<PathBuf>,
    /// Files and folders of `--skill`.
    pub skills: Vec<PathBuf>,
    /// A working folder that is trusted.
    pub project: Option<PathBuf>,
    /// offshoot's data folder.
    pub data: Option<PathBuf>,
    /// The peers' own folders that count after the data folder.
    pub peers: Vec<PeerFolder>,
    /// The lists of the peers' own settings.
    pub peer_lists: Vec<(Peer, ResourceLists)>,
    /// What the settings say of rules.
    pub rules: RuleSettings,
    /// The user's home folder.
    pub home: Option<PathBuf>,
    /// Templates are looked for outside the command line.
    pub finds_templates: bool,
    /// Skills are looked for outside the command line.
    pub finds_skills: bool,
    /// The lists of a trusted project's settings.
    pub project_lists: ResourceLists,
    /// The lists of the user's settings.
    pub user_lists: ResourceLists,
    /// What packages bring, in the order of precedence.
    pub packages: Vec<PackageFiles>,
}

/// Lists of the settings: paths of files and folders, and patterns over what is found in the settings' own folder.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct ResourceLists {
    pub templates: Vec<String>,
    pub skills: Vec<String>,
}

/// The files of a package that count.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct PackageFiles {
    pub package: Arc<BringingPackage>,
    pub scope: ResourceScope,
    pub templates: Vec<PathBuf>,
    pub skills: Vec<PathBuf>,
    pub extensions: Vec<PathBuf>,
}

/// Files that were found, and who brings them.
struct FoundFiles {
    files: Vec<PathBuf>,
    scope: ResourceScope,
    package: Option<Arc<BringingPackage>>,
    dialect: TemplateDialect,
}

impl FoundFiles {
    fn new(files: Vec<PathBuf>, scope: ResourceScope) -> Self {
        Self { files, scope, package: None, dialect: TemplateDialect::Pi }
    }
}

/// A folder of settings, and the peer whose it is.
#[derive(Debug, Clone)]
struct ResourceBase {
    path: PathBuf,
    peer: Option<Peer>,
}

impl ResourceBase {
    /// Its folders of templates. `commands` is pi's former name of `prompts`; oh-my-pi has both.
    fn template_folders(&self) -> Vec<PathBuf> {
        let folders = ["prompts", "commands"].map(|name| self.path.join(name)).into_iter();
        let most = if self.peer == Some(Peer::Omp) { 2 } else { 1 };
        folders.filter(|folder| folder.is_dir()).take(most).collect()
    }

    fn dialect(&self) -> TemplateDialect {
        if self.peer == Some(Peer::Omp) { TemplateDialect::Omp } else { TemplateDialect::Pi }
    }

    /// Its folders of skills. oh-my-pi also has those that it wrote itself.
    fn skill_folders(&self) -> Vec<PathBuf> {
        let names: &[&str] = if self.peer == Some(Peer::Omp) { &["skills", "managed-skills"] } else { &["skills"] };
        names.iter().map(|name| self.path.join(name)).collect()
    }

    fn loose_skills(&self) -> LooseFiles {
        if self.peer == Some(Peer::Omp) { LooseFiles::Never } else { LooseFiles::Direct }
    }
}

/// Which `.md` files of a folder of skills are skills, beside `SKILL.md`: those directly in it, those below it, or none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LooseFiles {
    Direct,
    Below,
    Never,
}

/// One of the lists of settings, and the folders that it is about.
struct ListedPlaces<'a> {
    bases: Vec<ResourceBase>,
    words: &'a [String],
    scope: ResourceScope,
}

impl ResourcePlaces {
    /// Finds and reads everything.
    pub fn find(&self) -> (Resources, Vec<ResourceTrouble>) {
        let mut troubles = Vec::new();
        let templates = self.all_templates(&mut troubles);
        let skills = self.all_skills(&mut troubles);
        let rules = first_of_each(self.all_rules(&mut troubles), |rule| &rule.about, &mut troubles);
        let agents = first_of_each(self.all_agents(&mut troubles), |agent| &agent.about, &mut troubles);
        let templates = first_of_each(templates, |template| &template.about, &mut troubles);
        let skills = first_of_each(skills, |skill| &skill.about, &mut troubles);
        // Later folders do not matter.
        let place =
            |path: &Path| self.peers.iter().position(|peer| path.starts_with(&peer.path)).map_or(0, |at| at + 1);
        troubles.retain(|trouble| match trouble {
            ResourceTrouble::Collision { winner, loser, .. } => place(winner) >= place(loser),
            _ => true,
        });
        (Resources { templates, skills, rules, agents }, troubles)
    }

    fn all_templates(&self, troubles: &mut Vec<ResourceTrouble>) -> Vec<PromptTemplate> {
        let mut loaded = Vec::new();
        for FoundFiles { files, scope, package, dialect } in self.template_places(troubles) {
            for file in files {
                match PromptTemplate::load(&file, scope, dialect) {
                    Ok(mut template) => {
                        template.about.package.clone_from(&package);
                        loaded.push(template);
                    }
                    Err(trouble) => troubles.push(trouble),
                }
            }
        }
        loaded
    }

    fn template_places(&self, troubles: &mut Vec<ResourceTrouble>) -> Vec<FoundFiles> {
        let mut places = Vec::new();
        for path in &self.templates {
            let files = if path.is_dir() { direct(path, troubles) } else { vec![path.clone()] };
            places.push(FoundFiles::new(files, ResourceScope::CommandLine));
        }
        if !self.finds_templates {
            return places;
        }
        for ListedPlaces { bases, words, scope } in self.lists(|lists| &lists.templates) {
            let listed = listed(&bases, words, self.home.as_deref(), troubles, template_files);
            places.push(FoundFiles::new(listed, scope));
            for base in &bases {
                for folder in base.template_folders() {
                    let files = left_by(&base.path, direct(&folder, troubles), words);
                    places.push(FoundFiles { dialect: base.dialect(), ..FoundFiles::new(files, scope) });
                }
            }
        }
        places.extend(self.packages.iter().map(|of| FoundFiles {
            package: Some(Arc::clone(&of.package)),
            ..FoundFiles::new(of.templates.clone(), of.scope)
        }));
        places
    }

    fn all_skills(&self, troubles: &mut Vec<ResourceTrouble>) -> Vec<Skill> {
        let mut loaded = Vec::new();
        for FoundFiles { files, scope, package, .. } in self.skill_places(troubles) {
            for file in files {
                match Skill::load(&file, scope, troubles) {
                    Ok(Some(mut skill)) => {
                        skill.about.package.clone_from(&package);
                        loaded.push(skill);
                    }
                    Ok(None) => {}
                    Err(trouble) => troubles.push(trouble),
                }
            }
        }
        loaded
    }

    fn skill_places(&self, troubles: &mut Vec<ResourceTrouble>) -> Vec<FoundFiles> {
        let mut places = Vec::new();
        for path in &self.skills {
            let files = if path.is_dir() { skills_in(path, LooseFiles::Direct, troubles) } else { vec![path.clone()] };
            places.push(FoundFiles::new(files, ResourceScope::CommandLine));
        }
        if !self.finds_skills {
            return places;
        }
        for ListedPlaces { bases, words, scope } in self.lists(|lists| &lists.skills) {
            let loose = bases.first().map_or(LooseFiles::Direct, ResourceBase::loose_skills);
            let in_folder = |folder: &Path| skills_in(folder, loose, &mut Vec::new());
            let listed = listed(&bases, words, self.home.as_deref(), troubles, in_folder);
            places.push(FoundFiles::new(listed, scope));
            for (base, folder, loose) in self.skill_folders(&bases, scope) {
                if folder.is_dir() {
                    let found = skills_in(&folder, loose, troubles);
                    places.push(FoundFiles::new(left_by(&base, found, words), scope));
                }
            }
        }
        places.extend(self.packages.iter().map(|of| FoundFiles {
            package: Some(Arc::clone(&of.package)),
            ..FoundFiles::new(of.skills.clone(), of.scope)
        }));
        places
    }

    /// Those of every folder of settings but pi's, which has none, and last those that oh-my-pi brings.
    fn all_rules(&self, troubles: &mut Vec<ResourceTrouble>) -> Vec<Rule> {
        let mut rules = Vec::new();
        for ListedPlaces { bases, scope, .. } in self.lists(|lists| &lists.templates) {
            for base in bases.iter().filter(|base| base.peer != Some(Peer::Pi)) {
                for file in rule_files(&base.path) {
                    match Rule::load(&file, scope, &self.rules, troubles) {
                        Ok(rule) => rules.extend(rule),
                        Err(trouble) => troubles.push(trouble),
                    }
                }
            }
        }
        let is_of_omp = self.peers.iter().any(|of| of.peer == Peer::Omp);
        if is_of_omp && self.rules.has_built_in && self.rules.watches {
            let counts = |rule: &Rule| {
                let name = &rule.about.name;
                !self.rules.disabled.contains(name) && rules.iter().all(|known: &Rule| known.about.name != *name)
            };
            let built_in: Vec<Rule> = omp_rules().into_iter().filter(counts).collect();
            rules.extend(built_in);
        }
        rules
    }

    /// Those in `agents` of every folder of settings, and of Claude Code's in the project.
    fn all_agents(&self, troubles: &mut Vec<ResourceTrouble>) -> Vec<AgentDefinition> {
        let mut agents = Vec::new();
        for ListedPlaces { bases, scope, .. } in self.lists(|lists| &lists.templates) {
            let own = bases.iter().map(|base| base.path.join(AGENTS));
            let claude = self.project.iter().filter(|_| scope == ResourceScope::Project).map(|cwd| cwd.join(CLAUDE));
            for folder in own.chain(claude).filter(|folder| folder.is_dir()) {
                let files = direct(&folder, troubles);
                agents.extend(files.iter().filter_map(|file| AgentDefinition::load(file, scope, troubles)));
            }
        }
        agents
    }

    /// The project's, the user's and the peers'.
    fn lists(&self, of: impl for<'a> Fn(&'a ResourceLists) -> &'a Vec<String>) -> Vec<ListedPlaces<'_>> {
        let project = self.project.iter().map(|cwd| {
            let bases = project_folders(cwd).map(|(peer, path)| ResourceBase { path, peer }).to_vec();
            ListedPlaces { bases, words: of(&self.project_lists), scope: ResourceScope::Project }
        });
        let of_user = |path: &PathBuf, peer| vec![ResourceBase { path: path.clone(), peer }];
        let user = self.data.iter().map(|data| ListedPlaces {
            bases: of_user(data, None),
            words: of(&self.user_lists),
            scope: ResourceScope::User,
        });
        let peers = self.peers.iter().map(|PeerFolder { peer, path }| {
            let words = self.peer_lists.iter().find(|(of_peer, _)| of_peer == peer);
            let words: &[String] = words.map_or(&[], |(_, lists)| of(lists));
            ListedPlaces { bases: of_user(path, Some(*peer)), words, scope: ResourceScope::User }
        });
        project.chain(user).chain(peers).collect()
    }

    /// The folders of skills: where patterns begin, the folder, and which of its files are skills.
    fn skill_folders(&self, bases: &[ResourceBase], scope: ResourceScope) -> Vec<(PathBuf, PathBuf, LooseFiles)> {
        let base = |folder: &Path| folder.parent().unwrap_or(folder).to_path_buf();
        let with_base = |(folder, loose): (PathBuf, LooseFiles)| (base(&folder), folder, loose);
        match (scope, &self.project) {
            (ResourceScope::Project, Some(cwd)) => skill_folders(cwd, self.home.as_deref()).map(with_base).collect(),
            (ResourceScope::User, _) => {
                // Those of the home folder stand behind the last.
                let last = self.peers.last().map(|last| &last.path);
                let is_last = last.is_none_or(|last| bases.iter().any(|base| base.path == *last));
                let own = bases
                    .iter()
                    .flat_map(|base| base.skill_folders().into_iter().map(|folder| (folder, base.loose_skills())));
                let shared = self.home.iter().filter(|_| is_last);
                own.chain(shared.map(|home| (home.join(SHARED), LooseFiles::Below))).map(with_base).collect()
            }
            _ => Vec::new(),
        }
    }
}

/// The path that a person wrote.
pub(super) fn named_path(word: &str, base: &Path, home: Option<&Path>) -> PathBuf {
    base.join(expand_home(word, home))
}

/// The files of the words that are paths, which begin in the first of the folders.
fn listed(
    bases: &[ResourceBase],
    words: &[String],
    home: Option<&Path>,
    troubles: &mut Vec<ResourceTrouble>,
    in_folder: impl Fn(&Path) -> Vec<PathBuf>,
) -> Vec<PathBuf> {
    let Some(base) = bases.first() else { return Vec::new() };
    let mut found = Vec::new();
    for word in words.iter().filter(|word| !is_pattern(word)) {
        let path = named_path(word, &base.path, home);
        if path.is_dir() {
            found.extend(in_folder(&path));
        } else if path.is_file() {
            found.push(path);
        } else {
            troubles.push(ResourceTrouble::Odd {
                file: path,
                why: "the settings list it, and it does not exist".to_owned(),
            });
        }
    }
    found
}

/// What the patterns among the words leave of the files that were found. A pattern that adds files adds none here.
fn left_by(base: &Path, found: Vec<PathBuf>, words: &[String]) -> Vec<PathBuf> {
    let patterns: Vec<String> = words.iter().filter(|word| word.starts_with(['!', '+', '-'])).cloned().collect();
    if patterns.is_empty() {
        return found;
    }
    let relative: Vec<PathBuf> =
        found.iter().map(|file| file.strip_prefix(base).unwrap_or(file).to_path_buf()).collect();
    chosen(base, &relative, &patterns, true).into_iter().map(|file| base.join(file)).collect()
}

/// The folders of a project that would count if it were trusted.
pub(super) fn of_project(cwd: &Path, home: Option<&Path>) -> Vec<PathBuf> {
    let skills = skill_folders(cwd, home).map(|(folder, _)| folder).filter(|folder| folder.is_dir());
    let rules = project_folders(cwd).into_iter().filter(|(peer, _)| *peer != Some(Peer::Pi));
    let rules = rules.flat_map(|(_, base)| rule_files(&base));
    let agents = project_folders(cwd).map(|(_, base)| base.join(AGENTS)).into_iter().chain([cwd.join(CLAUDE)]);
    let agents = agents.filter(|folder| folder.is_dir());
    template_folders(cwd).chain(skills).chain(rules).chain(agents).collect()
}

/// The files of rules in a folder of settings: `RULES.md`, and those in `rules`.
#[must_use]
pub fn rule_files(base: &Path) -> Vec<PathBuf> {
    let all = Some(base.join("RULES.md")).filter(|file| file.is_file());
    let is_rule = |path: &PathBuf| is_markdown(path) || path.extension().is_some_and(|ending| ending == "mdc");
    all.into_iter().chain(walk(&base.join("rules"), 1, &mut Vec::new()).into_iter().filter(is_rule)).collect()
}

fn template_folders(cwd: &Path) -> impl Iterator<Item = PathBuf> {
    let bases = project_folders(cwd).map(|(peer, path)| ResourceBase { path, peer });
    bases.into_iter().flat_map(|base| base.template_folders())
}

/// A project's folders of skills; the shared ones of other agents up to the repository's root.
fn skill_folders(cwd: &Path, home: Option<&Path>) -> impl Iterator<Item = (PathBuf, LooseFiles)> {
    let own = home.map(|home| home.join(SHARED));
    let root = cwd.ancestors().find(|folder| folder.join(".git").exists()).unwrap_or(Path::new("/"));
    let shared: Vec<PathBuf> =
        cwd.ancestors().take_while(|folder| folder.starts_with(root)).map(|folder| folder.join(SHARED)).collect();
    let here = project_folders(cwd).map(|(peer, path)| ResourceBase { path, peer });
    let here = here.map(|base| (base.path.join("skills"), base.loose_skills()));
    here.into_iter().chain(
        shared.into_iter().filter(move |folder| Some(folder) != own.as_ref()).map(|folder| (folder, LooseFiles::Below)),
    )
}

/// The files of skills in a folder of a package: folders with a `SKILL.md`, and `.md` files directly in it.
#[must_use]
pub fn skill_files(folder: &Path) -> Vec<PathBuf> {
    skills_in(folder, LooseFiles::Direct, &mut Vec::new())
}

/// The same in a peer's own folder of skills.
#[must_use]
pub fn skill_files_of(folder: &PeerFolder) -> Vec<PathBuf> {
    let base = ResourceBase { path: folder.path.clone(), peer: Some(folder.peer) };
    let folders = base.skill_folders().into_iter();
    folders.flat_map(|folder| skills_in(&folder, base.loose_skills(), &mut Vec::new())).collect()
}

/// The Markdown files below a folder of templates of a package.
#[must_use]
pub fn template_files(folder: &Path) -> Vec<PathBuf> {
    walk(folder, DEEPEST, &mut Vec::new()).into_iter().filter(|path| is_markdown(path)).collect()
}

/// The Markdown files directly in a folder.
fn direct(folder: &Path, troubles: &mut Vec<ResourceTrouble>) -> Vec<PathBuf> {
    walk(folder, 1, troubles).into_iter().filter(|path| is_markdown(path)).collect()
}

/// The files of skills in a folder. A folder with a `SKILL.md` is one skill, and nothing below it is looked at.
fn skills_in(folder: &Path, loose: LooseFiles, troubles: &mut Vec<ResourceTrouble>) -> Vec<PathBuf> {
    if folder.join("SKILL.md").is_file() {
        return vec![folder.join("SKILL.md")];
    }
    let is_wanted = |path: &PathBuf| {
        let is_direct = path.parent() == Some(folder);
        let is_loose = match loose {
            LooseFiles::Direct => is_direct,
            LooseFiles::Below => !is_direct,
            LooseFiles::Never => false,
        };
        path.ends_with("SKILL.md") || (is_markdown(path) && is_loose)
    };
    let depth = if loose == LooseFiles::Never { 2 } else { DEEPEST };
    walk(folder, depth, troubles).into_iter().filter(is_wanted).collect()
}

fn is_markdown(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "md")
}
