//! The tool `find`: files and folders by name or path.

use std::path::Path;
use std::sync::Arc;

use globset::{GlobBuilder, GlobMatcher};
use offshoot_session::text::counted;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::mpsc::UnboundedSender;

use super::listing::{self, Listing};
use super::walk::{self, Stop};
use super::{Running, Tier, Tool, ToolContext, ToolOutcome, args};
use crate::provider::ToolSpec;

/// Finds files and directories by glob pattern and returns their paths, relative to the searched directory. Respects .gitignore;
/// does not skip hidden files. Output is cut after 1000 paths or 50 KB.
#[derive(Debug, Deserialize, JsonSchema)]
struct FindInput {
    /// Glob pattern: `*.rs` matches names at any depth; with a slash, as in `src/**/*.rs` or `**/src/*.rs`, it matches paths from
    /// the searched directory. A lowercase pattern ignores case.
    pattern: String,
    /// Directory to search; by default the working directory.
    path: Option<String>,
    /// Maximum number of paths, by default 1000.
    #[serde(default, deserialize_with = "args::whole")]
    limit: Option<u64>,
}

const NAME: &str = "find";
const LIMIT: u64 = 1000;

impl listing::Query for FindInput {
    fn path(&self) -> Option<&str> {
        self.path.as_deref()
    }
}

/// The tool `find`.
#[derive(Debug, Clone, Copy, Default)]
pub struct Find;

impl Tool for Find {
    fn name(&self) -> &str {
        NAME
    }

    fn spec(&self) -> ToolSpec {
        args::spec::<FindInput>(NAME)
    }

    fn summary(&self) -> Option<&str> {
        Some("find files by glob pattern (respects .gitignore)")
    }

    fn tier(&self, arguments: &Value, place: &ToolContext) -> Tier {
        Tier::read(arguments, place)
    }

    fn run(&self, arguments: Value, place: Arc<ToolContext>, _: UnboundedSender<ToolOutcome>) -> Running {
        listing::search(NAME, arguments, place, |root, input: &FindInput, stop| {
            if !root.is_dir() {
                return Err(ToolOutcome::failed(format!("cannot search {}: no such folder", root.display())));
            }
            Ok(find(root, input, stop)?.outcome("nothing fits the pattern"))
        })
    }
}

/// What a pattern is compared with.
#[derive(Debug, Clone, Copy)]
enum Subject {
    Name,
    /// Relative to the folder searched.
    Path,
    AbsolutePath,
}

fn matcher(pattern: &str) -> Result<(GlobMatcher, Subject), ToolOutcome> {
    let pattern = walk::without_dot(pattern);
    let subject = match pattern.find('/') {
        None => Subject::Name,
        Some(0) => Subject::AbsolutePath,
        Some(_) => Subject::Path,
    };
    let is_small = !pattern.chars().any(char::is_uppercase);
    let glob = GlobBuilder::new(pattern).literal_separator(true).case_insensitive(is_small).build();
    let glob = glob.map_err(|error| ToolOutcome::failed(format!("the pattern is no glob: {error}")))?;
    Ok((glob.compile_matcher(), subject))
}

fn find(root: &Path, input: &FindInput, stop: Stop) -> Result<Listing, ToolOutcome> {
    let (glob, subject) = matcher(&input.pattern)?;
    let limit = input.limit.unwrap_or(LIMIT).max(1);
    let fits = |path: &Path| match subject {
        Subject::Name => path.file_name().is_some_and(|name| glob.is_match(name)),
        Subject::Path => path.strip_prefix(root).is_ok_and(|path| glob.is_match(path)),
        Subject::AbsolutePath => glob.is_match(path),
    };
    let found = walk::below(root, None, stop).filter(|entry| fits(entry.path()));
    let rows: Vec<String> = found
        .take(usize::try_from(limit).unwrap_or(usize::MAX))
        .map(|entry| {
            let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
            walk::relative(entry.path(), root) + if is_folder { "/" } else { "" }
        })
        .collect();
    let mut notes = Vec::new();
    if rows.len() as u64 >= limit {
        let paths = counted(limit, "path", "paths");
        let text = format!("{paths}; see more with limit={}, or narrow the pattern", limit.saturating_mul(2));
        notes.push((text, "resultLimitReached", json!(limit)));
    }
    Ok(Listing { rows, notes })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::testing::{call, place, text_of};

    fn folder(files: &[&str]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for file in files {
            let path = dir.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, if file.ends_with(".gitignore") { "target\n*.log\n" } else { "" }).unwrap();
        }
        dir
    }

    fn found(dir: &Path, arguments: Value) -> String {
        text_of(&call(&Find, arguments, place(dir)))
    }

    #[test]
    fn names_and_paths_fit_in_order_and_what_is_ignored_does_not() {
        let dir = folder(&[
            "z.rs",
            "a/b/c.rs",
            "a/B.RS",
            "a/x.log",
            ".hidden/d.rs",
            "target/e.rs",
            ".gitignore",
            ".git/f.rs",
            "a.rs/g.txt",
        ]);
        assert_eq!(found(dir.path(), json!({"pattern": "*.rs"})), ".hidden/d.rs\na/B.RS\na/b/c.rs\na.rs/\nz.rs");
        assert_eq!(found(dir.path(), json!({"pattern": "*.RS"})), "a/B.RS");
        assert_eq!(found(dir.path(), json!({"pattern": "a/*.rs"})), "a/B.RS");
        assert_eq!(found(dir.path(), json!({"pattern": "a/**/*.rs"})), "a/B.RS\na/b/c.rs");
        assert_eq!(found(dir.path(), json!({"pattern": "c.*", "path": "a"})), "b/c.rs");
        for (pattern, paths) in [
            ("./a/*.rs", "a/B.RS"),
            ("././a/*.rs", "a/B.RS"),
            ("b/*.rs", "nothing fits the pattern"),
            ("**/b/*.rs", "a/b/c.rs"),
            ("*/*/*.rs", "a/b/c.rs"),
            ("./z.rs", "z.rs"),
            ("A/*.rs", "nothing fits the pattern"),
        ] {
            assert_eq!(found(dir.path(), json!({"pattern": pattern})), paths, "{pattern}");
        }
        assert_eq!(found(dir.path(), json!({"pattern": "b/*.rs", "path": "a"})), "b/c.rs");
        let absolute = format!("{}/a/b/*", dir.path().display());
        assert_eq!(found(dir.path(), json!({"pattern": absolute})), "a/b/c.rs");
        assert_eq!(found(dir.path(), json!({"pattern": "*.log"})), "nothing fits the pattern");
    }

    #[test]
    fn limits_and_bad_arguments_are_told() {
        let dir = folder(&["a", "b", "c"]);
        let outcome = call(&Find, json!({"pattern": "*", "limit": 2}), place(dir.path()));
        assert_eq!(text_of(&outcome), "a\nb\n\n[2 paths; see more with limit=4, or narrow the pattern]");
        assert_eq!(outcome.details, Some(json!({"resultLimitReached": 2})));
        let one = call(&Find, json!({"pattern": "*", "limit": 1}), place(dir.path()));
        assert_eq!(text_of(&one), "a\n\n[1 path; see more with limit=2, or narrow the pattern]");
        assert!(found(dir.path(), json!({"pattern": "{a"})).contains("is no glob"));
        assert!(found(dir.path(), json!({"pattern": "a", "path": "a"})).contains("no such folder"));
    }

    #[test]
    fn the_walk_ends_when_nobody_waits() {
        let dir = folder(&["a", "b"]);
        let stop = Stop::default();
        let mut walk = walk::below(dir.path(), None, stop.clone());
        assert!(walk.next().is_some());
        drop(stop.guard());
        assert!(walk.next().is_none());
    }
}
