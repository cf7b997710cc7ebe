//! The files of a folder of resources, in the order of their bytes. Knows no kind of file.

use std::path::{Path, PathBuf};

use ignore::WalkBuilder;

use super::ResourceTrouble;
use offshoot_files::has_sound_rules;

/// Folders with more entries are not searched for resources.
const MOST: usize = 10_000;

/// Files with rules about what is ignored.
const RULES: [&str; 3] = [".gitignore", ".ignore", ".fdignore"];

/// The files below a folder that its rules do not ignore, in the order of their bytes. Hidden ones and `node_modules` are
/// left out, links are followed.
pub(super) fn walk(root: &Path, depth: usize, troubles: &mut Vec<ResourceTrouble>) -> Vec<PathBuf> {
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

    const DEEPEST: usize = 16;

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
