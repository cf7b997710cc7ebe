//! Where templates and skills are looked for, and in which order. Decides nothing about trust: who calls it names a
//! project's folder only if it is trusted.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use ignore::WalkBuilder;

use super::{
    BringingPackage, PromptTemplate, ResourceScope, ResourceTrouble, Resources, Skill, chosen, first_of_each,
    is_pattern,
};
use crate::home_path::expand_home;
use crate::tool::walk::has_sound_rules;

/// A folder with more is no folder of resources.
const MOST: usize = 10_000;
const DEEPEST: usize = 16;

/// Files with rules about what is ignored.
const RULES: [&str; 3] = [".gitignore", ".ignore", ".fdignore"];

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
    /// pi's own folder, if it counts behind the data folder.
    pub pi: Option<PathBuf>,
    /// The lists of pi's own settings.
    pub pi_lists: ResourceLists,
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
}

impl FoundFiles {
    fn new(files: Vec<PathBuf>, scope: ResourceScope) -> Self {
        Self { files, scope, package: None }
    }
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
        // Later folders do not matter.
        let is_behind = |path: &Path| self.pi.as_ref().is_some_and(|pi| path.starts_with(pi));
        troubles.retain(|trouble| match trouble {
            ResourceTrouble::Collision { winner, loser, .. } => is_behind(winner) || !is_behind(loser),
            _ => true,
        });
        (Resources { templates, skills }, troubles)
    }

    fn all_templates(&self, troubles: &mut Vec<ResourceTrouble>) -> Vec<PromptTemplate> {
        let mut loaded = Vec::new();
        for FoundFiles { files, scope, package } in self.template_places(troubles) {
            for file in files {
                match PromptTemplate::load(&file, scope) {
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
        for (bases, words, scope) in self.lists(|lists| &lists.templates) {
            let listed = listed(&bases, words, self.home.as_deref(), troubles, template_files);
            places.push(FoundFiles::new(listed, scope));
            for base in &bases {
                let found = named_prompts(base).map(|folder| direct(&folder, troubles)).unwrap_or_default();
                places.push(FoundFiles::new(left_by(base, found, words), scope));
            }
        }
        places.extend(self.packages.iter().map(|of| FoundFiles {
            files: of.templates.clone(),
            scope: of.scope,
            package: Some(Arc::clone(&of.package)),
        }));
        places
    }

    fn all_skills(&self, troubles: &mut Vec<ResourceTrouble>) -> Vec<Skill> {
        let mut loaded = Vec::new();
        for FoundFiles { files, scope, package } in self.skill_places(troubles) {
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
        for (bases, words, scope) in self.lists(|lists| &lists.skills) {
            let listed = listed(&bases, words, self.home.as_deref(), troubles, skill_files);
            places.push(FoundFiles::new(listed, scope));
            for (base, folder, loose) in self.skill_folders(&bases, scope) {
                if folder.is_dir() {
                    let found = skills_in(&folder, loose, troubles);
                    places.push(FoundFiles::new(left_by(&base, found, words), scope));
                }
            }
        }
        places.extend(self.packages.iter().map(|of| FoundFiles {
            files: of.skills.clone(),
            scope: of.scope,
            package: Some(Arc::clone(&of.package)),
        }));
        places
    }

    /// The project's and the user's: the folders of settings, the words of a list, and whose they are.
    fn lists(
        &self,
        of: impl for<'a> Fn(&'a ResourceLists) -> &'a Vec<String>,
    ) -> Vec<(Vec<PathBuf>, &[String], ResourceScope)> {
        let project = self.project.iter().map(|cwd| {
            let bases = [".offshoot", ".pi"].map(|name| cwd.join(name)).to_vec();
            (bases, of(&self.project_lists).as_slice(), ResourceScope::Project)
        });
        let user =
            self.data.iter().map(|data| (vec![data.clone()], of(&self.user_lists).as_slice(), ResourceScope::User));
        let pi = self.pi.iter().map(|pi| (vec![pi.clone()], of(&self.pi_lists).as_slice(), ResourceScope::User));
        project.chain(user).chain(pi).collect()
    }

    /// The folders of skills: where patterns begin, the folder, and which of its files are skills.
    fn skill_folders(&self, bases: &[PathBuf], scope: ResourceScope) -> Vec<(PathBuf, PathBuf, LooseFiles)> {
        let base = |folder: &Path| folder.parent().unwrap_or(folder).to_path_buf();
        let with_base = |(folder, loose): (PathBuf, LooseFiles)| (base(&folder), folder, loose);
        match (scope, &self.project) {
            (ResourceScope::Project, Some(cwd)) => skill_folders(cwd, self.home.as_deref()).map(with_base).collect(),
            (ResourceScope::User, _) => {
                // Those of the home folder stand behind the last.
                let is_last = self.pi.as_ref().is_none_or(|pi| bases.contains(pi));
                let own = bases.iter().map(|base| (base.join("skills"), LooseFiles::Direct));
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
    bases: &[PathBuf],
    words: &[String],
    home: Option<&Path>,
    troubles: &mut Vec<ResourceTrouble>,
    in_folder: impl Fn(&Path) -> Vec<PathBuf>,
) -> Vec<PathBuf> {
    let Some(base) = bases.first() else { return Vec::new() };
    let mut found = Vec::new();
    for word in words.iter().filter(|word| !is_pattern(word)) {
        let path = named_path(word, base, home);
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

/// The files of skills in a folder of a package: folders with a `SKILL.md`, and `.md` files directly in it.
#[must_use]
pub fn skill_files(folder: &Path) -> Vec<PathBuf> {
    skills_in(folder, LooseFiles::Direct, &mut Vec::new())
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
    let mut files = Vec::new();
    let mut room = MOST;
    match walk_plainly(root, (0, depth), &mut room, &mut files) {
        Some(()) => files,
        None => walk_by_rules(root, depth, troubles),
    }
}

/// The same for folders without rules, in which a folder's list of names says all; `None` for others, and if there are links
/// to folders.
fn walk_plainly(
    folder: &Path,
    (depth, deepest): (usize, usize),
    room: &mut usize,
    files: &mut Vec<PathBuf>,
) -> Option<()> {
    let mut entries = Vec::new();
    for entry in std::fs::read_dir(folder).ok()? {
        let entry = entry.ok()?;
        *room = room.checked_sub(1)?;
        let (name, kind) = (entry.file_name(), entry.file_type().ok()?);
        if RULES.iter().any(|rules| name == *rules) {
            return None;
        }
        let path = entry.path();
        let is_file = kind.is_file() || (kind.is_symlink() && path.is_file());
        if kind.is_symlink() && path.is_dir() {
            return None;
        }
        if !name.as_encoded_bytes().starts_with(b".") && name != "node_modules" && (is_file || kind.is_dir()) {
            entries.push((name, path, is_file));
        }
    }
    entries.sort();
    // A skill is one file.
    let is_skill = depth > 0 && entries.iter().any(|(name, _, is_file)| *is_file && name == "SKILL.md");
    for (name, path, is_file) in entries {
        if is_file {
            files.extend((!is_skill || name == "SKILL.md").then_some(path));
        } else if depth + 1 < deepest && !is_skill {
            walk_plainly(&path, (depth + 1, deepest), room, files)?;
        }
    }
    Some(())
}

fn walk_by_rules(root: &Path, depth: usize, troubles: &mut Vec<ResourceTrouble>) -> Vec<PathBuf> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_without_rules_are_walked_as_those_with_some() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        for name in [
            "b.md",
            "SKILL.md",
            "a/SKILL.md",
            "a/more.md",
            "a/deep/SKILL.md",
            ".hidden/SKILL.md",
            "node_modules/x.md",
            "Z/one/two/x.md",
            "Z/one/SKILL.md",
            "z/a.md",
            "z/b/c.md",
        ] {
            let file = root.join(name);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, "x").unwrap();
        }
        std::os::unix::fs::symlink("b.md", root.join("link.md")).unwrap();
        std::os::unix::fs::symlink("nowhere", root.join("dangling.md")).unwrap();
        for depth in [1, 2, DEEPEST] {
            let mut files = Vec::new();
            assert_eq!(walk_plainly(root, (0, depth), &mut MOST.clone(), &mut files), Some(()));
            assert_eq!(files, walk_by_rules(root, depth, &mut Vec::new()));
        }
        assert_eq!(walk_plainly(root, (0, DEEPEST), &mut 5, &mut Vec::new()), None, "too many");
        std::fs::write(root.join("z/.ignore"), "a.md").unwrap();
        assert_eq!(walk_plainly(root, (0, DEEPEST), &mut MOST.clone(), &mut Vec::new()), None, "rules");
        assert!(!walk(root, DEEPEST, &mut Vec::new()).contains(&root.join("z/a.md")));
    }
}
