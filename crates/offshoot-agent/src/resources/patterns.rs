//! Patterns that choose among files of a package or of a folder, as in lists of the settings: words and globs add, `!` takes away,
//! `+` and `-` do so for one exact path. `-` comes before `+`, and `+` before `!`.

use std::path::{Path, PathBuf};

use globset::GlobBuilder;

/// Whether a word of a list is a pattern, not the path of a file or a folder.
#[must_use]
pub fn is_pattern(word: &str) -> bool {
    word.starts_with(['!', '+', '-']) || word.contains(['*', '?'])
}

/// The files that the patterns leave, in their order. `starts_with_all`: without a word that adds, all files are there
/// from the start.
#[must_use]
pub fn chosen(root: &Path, files: &[PathBuf], patterns: &[String], starts_with_all: bool) -> Vec<PathBuf> {
    let of =
        |sign: char| -> Vec<&str> { patterns.iter().filter_map(|text| text.strip_prefix(sign)).map(plain).collect() };
    let (without, exactly, never) = (of('!'), of('+'), of('-'));
    let adding: Vec<&str> =
        patterns.iter().filter(|text| !text.starts_with(['!', '+', '-'])).map(|text| plain(text)).collect();
    let is_chosen = |file: &&PathBuf| {
        let names = Names::of(root, file);
        let is_added = if adding.is_empty() { starts_with_all } else { names.fit_any(&adding) };
        !names.are_any(&never) && (names.are_any(&exactly) || (is_added && !names.fit_any(&without)))
    };
    files.iter().filter(is_chosen).cloned().collect()
}

/// `./x` is `x`.
fn plain(pattern: &str) -> &str {
    pattern.strip_prefix("./").unwrap_or(pattern)
}

/// What a pattern is compared with.
struct Names {
    /// Relative, alone, absolute; of a skill's file also its folder, relative and alone.
    all: Vec<String>,
    /// Relative and absolute, and the folder of a skill.
    exact: Vec<String>,
}

impl Names {
    fn of(root: &Path, file: &Path) -> Self {
        let text = |path: &Path| path.to_string_lossy().into_owned();
        let alone = |path: &Path| path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let whole = root.join(file);
        let mut exact = vec![text(file), text(&whole)];
        let mut all = vec![text(file), alone(file), text(&whole)];
        if file.ends_with("SKILL.md")
            && let Some(folder) = file.parent()
        {
            exact.extend([text(folder), text(&root.join(folder))]);
            all.extend([text(folder), alone(folder)]);
        }
        Self { all, exact }
    }

    fn are_any(&self, paths: &[&str]) -> bool {
        paths.iter().any(|path| self.exact.iter().any(|name| name == path.trim_end_matches('/')))
    }

    fn fit_any(&self, patterns: &[&str]) -> bool {
        patterns.iter().any(|pattern| {
            let glob = GlobBuilder::new(pattern).literal_separator(true).build();
            let matcher = glob.map(|glob| glob.compile_matcher());
            self.all.iter().any(|name| name == pattern || matcher.as_ref().is_ok_and(|matcher| matcher.is_match(name)))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The vectors of pi 0.87.1.
    #[test]
    fn patterns_choose_as_in_pi() {
        let prompts = ["prompts/one.md", "prompts/two.md", "prompts/sub/deep.md"].map(PathBuf::from);
        let skill = [PathBuf::from("skills/ps/SKILL.md")];
        let alpha = ["skills/alpha/SKILL.md", "skills/beta/SKILL.md"].map(PathBuf::from);
        let left = |files: &[PathBuf], patterns: &[&str], all: bool| {
            let patterns: Vec<String> = patterns.iter().map(|text| (*text).to_owned()).collect();
            let left = chosen(Path::new("/p"), files, &patterns, all);
            left.iter().map(|file| file.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(left(&prompts, &["prompts/one.md"], true), "prompts/one.md");
        assert_eq!(left(&prompts, &["one.md"], true), "prompts/one.md");
        assert_eq!(left(&prompts, &["!**/one.md"], true), "prompts/two.md prompts/sub/deep.md");
        assert_eq!(left(&prompts, &["!./prompts/one.md"], true), "prompts/two.md prompts/sub/deep.md", "pi: all three");
        assert_eq!(left(&prompts, &["+prompts/two.md"], false), "prompts/two.md");
        assert_eq!(left(&prompts, &["prompts/*.md", "-prompts/one.md", "+prompts/one.md"], true), "prompts/two.md");
        assert_eq!(left(&skill, &["ps"], true), "skills/ps/SKILL.md");
        assert_eq!(left(&alpha, &["!alpha"], true), "skills/beta/SKILL.md");
        assert_eq!(left(&alpha, &["!skills/alpha"], true), "skills/beta/SKILL.md");
        assert_eq!(left(&alpha, &["-skills/alpha"], true), "skills/beta/SKILL.md");
        assert_eq!(left(&alpha, &["-alpha"], true), "skills/alpha/SKILL.md skills/beta/SKILL.md");
        assert_eq!(left(&alpha, &["!**", "+skills/alpha"], true), "skills/alpha/SKILL.md");
    }
}
