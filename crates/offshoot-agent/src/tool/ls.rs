//! The tool `ls`: the contents of a folder.

use std::path::Path;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::mpsc::UnboundedSender;
use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

use super::files::reason;
use super::listing::{self, Listing};
use super::{Running, Tier, Tool, ToolContext, ToolOutcome, args, paths};
use crate::provider::ToolSpec;

/// Lists a directory by name, with hidden files; directories end with a slash. Output is cut after 500 names or 50 KB.
#[derive(Debug, Deserialize, JsonSchema)]
struct LsInput {
    /// Directory to list; by default the working directory.
    path: Option<String>,
    /// Maximum number of names, by default 500.
    #[serde(default, deserialize_with = "args::whole")]
    limit: Option<u64>,
}

const NAME: &str = "ls";
const LIMIT: u64 = 500;

impl listing::Query for LsInput {
    fn path(&self) -> Option<&str> {
        self.path.as_deref()
    }
}

/// The tool `ls`.
#[derive(Debug, Clone, Copy, Default)]
pub struct Ls;

impl Tool for Ls {
    fn name(&self) -> &str {
        NAME
    }

    fn spec(&self) -> ToolSpec {
        args::spec::<LsInput>(NAME)
    }

    fn summary(&self) -> Option<&str> {
        Some("list a directory")
    }

    fn tier(&self, arguments: &Value, place: &ToolContext) -> Tier {
        Tier::read(arguments, place)
    }

    fn run(&self, arguments: Value, place: Arc<ToolContext>, _: UnboundedSender<ToolOutcome>) -> Running {
        listing::search(NAME, arguments, place, |path, input: &LsInput, _| {
            let names = names(path)
                .map_err(|error| ToolOutcome::failed(format!("cannot list {}: {}", path.display(), reason(&error))))?;
            Ok(list(names, input.limit.unwrap_or(LIMIT)).outcome("(the folder is empty)"))
        })
    }
}

fn names(path: &Path) -> std::io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(path)? {
        let entry = entry?;
        // A broken link is listed too.
        let is_folder = std::fs::metadata(entry.path()).is_ok_and(|about| about.is_dir());
        let name = format!("{}{}", entry.file_name().display(), if is_folder { "/" } else { "" });
        names.push(paths::listed(name));
    }
    names.sort_by_cached_key(|name| sort_key(name));
    Ok(names)
}

fn list(mut names: Vec<String>, limit: u64) -> Listing {
    let shown = usize::try_from(limit).unwrap_or(usize::MAX);
    let mut notes = Vec::new();
    if names.len() > shown {
        let text = format!("{limit} of {} names; see more with limit={}", names.len(), limit.saturating_mul(2).max(1));
        notes.push((text, "entryLimitReached", json!(limit)));
        names.truncate(shown);
    }
    Listing { rows: names, notes }
}

/// Sorts marks before digits before letters, then by case and accents.
fn sort_key(name: &str) -> (Vec<u32>, String, String) {
    const MARKS: &str = " _-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$0123456789";
    let small = name.strip_suffix('/').unwrap_or(name).to_lowercase();
    let rank = |c: char| match MARKS.chars().position(|mark| mark == c) {
        Some(at) => u32::try_from(at).unwrap_or_default(),
        None => 100 + u32::from(c),
    };
    let letters = small.nfd().filter(|c| !is_combining_mark(*c)).map(rank).collect();
    (letters, small, name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::testing::{call, place, text_of};

    #[test]
    fn names_come_in_the_order_of_people_with_hidden_ones_and_slashes() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["b.txt", "A.txt", "émile", "eve", "10", "_x", "-y", ".hidden", "zoo"] {
            std::fs::write(dir.path().join(name), "").unwrap();
        }
        std::fs::create_dir(dir.path().join(".git")).unwrap();
        std::fs::create_dir(dir.path().join("src")).unwrap();
        std::os::unix::fs::symlink("nowhere", dir.path().join("broken")).unwrap();
        let outcome = call(&Ls, json!({}), place(dir.path()));
        assert_eq!(text_of(&outcome), "_x\n-y\n.git/\n.hidden\n10\nA.txt\nb.txt\nbroken\némile\neve\nsrc/\nzoo");
        assert_eq!(outcome.details, None);
    }

    #[test]
    fn a_limit_is_told() {
        let dir = tempfile::tempdir().unwrap();
        for n in 0..600 {
            std::fs::write(dir.path().join(format!("{n:03}")), "").unwrap();
        }
        let outcome = call(&Ls, json!({"path": "."}), place(dir.path()));
        assert!(text_of(&outcome).ends_with("499\n\n[500 of 600 names; see more with limit=1000]"), "{outcome:?}");
        assert_eq!(outcome.details, Some(json!({"entryLimitReached": 500})));
    }

    #[test]
    fn what_is_no_folder_is_a_failure_and_an_empty_one_is_not() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("file"), "").unwrap();
        std::fs::create_dir(dir.path().join("empty")).unwrap();
        for (path, words) in [("file", "not a folder"), ("none", "no such file or folder")] {
            let outcome = call(&Ls, json!({"path": path}), place(dir.path()));
            assert!(outcome.is_error && text_of(&outcome).contains(words), "{outcome:?}");
        }
        assert_eq!(call(&Ls, json!({"path": "empty"}), place(dir.path())), ToolOutcome::text("(the folder is empty)"));
    }
}
