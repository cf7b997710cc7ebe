//! Where templates and skills are looked for, and in which order. Decides nothing about trust: who calls it names a
//! project's folder only if it is trusted.

use std::path::{Path, PathBuf};

use ignore::WalkBuilder;

use super::{PromptTemplate, ResourceScope, ResourceTrouble, Resources, Skill, first_of_each};
use crate::tool::walk::has_sound_rules;

/// A folder with more is no folder of resources.
const MOST: usize = 10_000;
const DEEPEST: usize = 16;

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
    /// The user's home folder.
    pub home: Option<PathBuf>,
    /// Templates are looked for outside the command line.
    pub finds_templates: bool,
    /// Skills are looked for outside the command line.
    pub finds_skills: bool,
}

/// Which `.md` files of a folder of skills are skills, beside `SKILL.md`: those directly in it, or those below it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LooseFiles {
    Direct,
    Below,
}

impl ResourcePlaces {
    /// Finds and reads everything.
    pub fn find(&self) -> (Resources, Vec<ResourceTrouble>) {
        let mut troubles = Vec::new();
        let templates = self.all_templates(&mut troubles);
        let skills = self.all_skills(&mut troubles);
        let templates = first_of_each(templates, |template| &template.about, &mut troubles);
        let skills = first_of_each(skills, |skill| &skill.about, &mut troubles);
        (Resources { templates, skills }, troubles)
    }

    fn all_templates(&self, troubles: &mut Vec<ResourceTrouble>) -> Vec<PromptTemplate> {
        let mut found = Vec::new();
        let mut take = |files: Vec<PathBuf>, scope, troubles: &mut Vec<ResourceTrouble>| {
            for file in files {
                match PromptTemplate::load(&file, scope) {
                    Ok(template) => found.push(template),
                    Err(trouble) => troubles.push(trouble),
                }
            }
        };
        for path in &self.templates {
            let files = if path.is_dir() { direct(path, troubles) } else { vec![path.clone()] };
            take(files, ResourceScope::CommandLine, troubles);
        }
        if !self.finds_templates {
            return found;
        }
        let project = self.project.iter().flat_map(|cwd| [cwd.join(".offshoot"), cwd.join(".pi")]);
        let folders = project.map(|folder| (folder, ResourceScope::Project));
        for (folder, scope) in folders.chain(self.data.iter().map(|data| (data.clone(), ResourceScope::User))) {
            // pi's former name of the folder.
            let named =
                ["prompts", "commands"].map(|name| folder.join(name)).into_iter().find(|folder| folder.is_dir());
            if let Some(folder) = named {
                take(direct(&folder, troubles), scope, troubles);
            }
        }
        found
    }

    fn all_skills(&self, troubles: &mut Vec<ResourceTrouble>) -> Vec<Skill> {
        let mut found = Vec::new();
        let mut take = |files: Vec<PathBuf>, scope, troubles: &mut Vec<ResourceTrouble>| {
            for file in files {
                match Skill::load(&file, scope, troubles) {
                    Ok(skill) => found.extend(skill),
                    Err(trouble) => troubles.push(trouble),
                }
            }
        };
        for path in &self.skills {
            let files =
                if path.is_dir() { skill_files(path, LooseFiles::Direct, troubles) } else { vec![path.clone()] };
            take(files, ResourceScope::CommandLine, troubles);
        }
        if !self.finds_skills {
            return found;
        }
        for (folder, loose, scope) in self.skill_folders() {
            if folder.is_dir() {
                take(skill_files(&folder, loose, troubles), scope, troubles);
            }
        }
        found
    }

    fn skill_folders(&self) -> Vec<(PathBuf, LooseFiles, ResourceScope)> {
        let mut folders = Vec::new();
        if let Some(cwd) = &self.project {
            folders.extend(
                skill_folders(cwd, self.home.as_deref()).map(|(folder, loose)| (folder, loose, ResourceScope::Project)),
            );
        }
        folders.extend(self.data.iter().map(|data| (data.join("skills"), LooseFiles::Direct, ResourceScope::User)));
        folders.extend(self.home.iter().map(|home| (home.join(SHARED), LooseFiles::Below, ResourceScope::User)));
        folders
    }
}

/// The folders of a project that would count if it were trusted.
pub(super) fn of_project(cwd: &Path, home: Option<&Path>) -> Vec<PathBuf> {
    let skills = skill_folders(cwd, home).map(|(folder, _)| folder).filter(|folder| folder.is_dir());
    template_folders(cwd).chain(skills).collect()
}

fn template_folders(cwd: &Path) -> impl Iterator<Item = PathBuf> {
    [".offshoot", ".pi"].map(|name| cwd.join(name)).into_iter().filter_map(|folder| named_prompts(&folder))
}

/// The folder of templates; `commands` is pi's former name of it.
fn named_prompts(folder: &Path) -> Option<PathBuf> {
    ["prompts", "commands"].map(|name| folder.join(name)).into_iter().find(|folder| folder.is_dir())
}

/// A project's folders of skills; the shared ones of other agents up to the repository's root.
fn skill_folders(cwd: &Path, home: Option<&Path>) -> impl Iterator<Item = (PathBuf, LooseFiles)> {
    let own = home.map(|home| home.join(SHARED));
    let root = cwd.ancestors().find(|folder| folder.join(".git").exists()).unwrap_or(Path::new("/"));
    let shared: Vec<PathBuf> =
        cwd.ancestors().take_while(|folder| folder.starts_with(root)).map(|folder| folder.join(SHARED)).collect();
    let here = [".offshoot/skills", ".pi/skills"].map(|name| (cwd.join(name), LooseFiles::Direct));
    here.into_iter().chain(
        shared.into_iter().filter(move |folder| Some(folder) != own.as_ref()).map(|folder| (folder, LooseFiles::Below)),
    )
}

/// The Markdown files directly in a folder.
fn direct(folder: &Path, troubles: &mut Vec<ResourceTrouble>) -> Vec<PathBuf> {
    walk(folder, 1, troubles).into_iter().filter(|path| is_markdown(path)).collect()
}

/// The files of skills in a folder. A folder with a `SKILL.md` is one skill, and nothing below it is looked at.
fn skill_files(folder: &Path, loose: LooseFiles, troubles: &mut Vec<ResourceTrouble>) -> Vec<PathBuf> {
    if folder.join("SKILL.md").is_file() {
        return vec![folder.join("SKILL.md")];
    }
    let is_wanted = |path: &PathBuf| {
        let is_direct = path.parent() == Some(folder);
        path.ends_with("SKILL.md") || (is_markdown(path) && is_direct == (loose == LooseFiles::Direct))
    };
    walk(folder, DEEPEST, troubles).into_iter().filter(is_wanted).collect()
}

fn is_markdown(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "md")
}

/// The files below a folder that its rules do not ignore, in the order of their bytes. Hidden ones and `node_modules` are
/// left out, links are followed.
fn walk(root: &Path, depth: usize, troubles: &mut Vec<ResourceTrouble>) -> Vec<PathBuf> {
    let mut builder = WalkBuilder::new(root);
    builder.max_depth(Some(depth)).follow_links(true).parents(false).require_git(false);
    builder.git_global(false).git_exclude(false).add_custom_ignore_filename(".fdignore");
    builder.sort_by_file_name(std::cmp::Ord::cmp);
    if !has_sound_rules(root) {
        builder.ignore(false).git_ignore(false);
    }
    builder.filter_entry(|entry| {
        let is_in_skill = entry.depth() > 1
            && entry.file_name() != "SKILL.md"
            && entry.path().parent().is_some_and(|folder| folder.join("SKILL.md").is_file());
        let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
        entry.depth() == 0
            || (entry.file_name() != "node_modules" && !is_in_skill && (!is_folder || has_sound_rules(entry.path())))
    });
    let mut files = Vec::new();
    for (seen, entry) in builder.build().enumerate() {
        if seen == MOST {
            troubles.push(ResourceTrouble::TooMany { folder: root.to_path_buf(), limit: MOST });
            break;
        }
        // What cannot be entered, and links that lead nowhere or in a circle, are left out.
        let Ok(entry) = entry else { continue };
        if entry.path().is_file() {
            files.push(entry.into_path());
        }
    }
    files
}
