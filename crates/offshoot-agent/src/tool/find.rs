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

/// Finds files and folders by a glob pattern and shows their paths, relative to the folder searched. Leaves out what .gitignore
/// names, not what is hidden. At most 1000 paths or 50 KB are shown.
#[derive(Debug, Deserialize, JsonSchema)]
struct FindInput {
    /// The pattern: `*.rs` fits names; with a slash, as in `src/**/*.rs`, it fits the end of paths. In small letters it fits
    /// capitals too.
    pattern: String,
    /// The folder to search; without it, the working folder.
    path: Option<String>,
    /// How many paths to show at most, instead of 1000.
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
        Some("find files by name (honours .gitignore)")
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

/// Matches the name, or like fd the whole path if the pattern has a slash.
fn matcher(pattern: &str) -> Result<(GlobMatcher, bool), ToolOutcome> {
    let has_path = pattern.contains('/');
    let is_anchored = pattern.starts_with('/') || pattern.starts_with("**/");
    let whole = if has_path && !is_anchored { format!("**/{pattern}") } else { pattern.to_owned() };
    let is_small = !pattern.chars().any(char::is_uppercase);
    let glob = GlobBuilder::new(&whole).literal_separator(true).case_insensitive(is_small).build();
    let glob = glob.map_err(|error| ToolOutcome::failed(format!("the pattern is no glob: {error}")))?;
    Ok((glob.compile_matcher(), has_path))
}

fn find(root: &Path, input: &FindInput, stop: Stop) -> Result<Listing, ToolOutcome> {
    let (glob, has_path) = matcher(&input.pattern)?;
    let limit = input.limit.unwrap_or(LIMIT).max(1);
    let fits = |path: &Path| match path.file_name() {
        Some(name) if !has_path => glob.is_match(name),
        _ => glob.is_match(path),
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
