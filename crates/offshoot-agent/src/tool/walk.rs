//! Walks folders like ripgrep and fd: without files in `.gitignore` and `.git`, but with hidden ones. Sorted by name,
//! so that results are reproducible.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ignore::{DirEntry, WalkBuilder};
use offshoot_files::has_sound_rules;

/// Cancels work on another thread.
#[derive(Debug, Clone, Default)]
pub(crate) struct Stop(Arc<AtomicBool>);

impl Stop {
    pub(crate) fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Sets the flag when the guard is dropped.
    pub(crate) fn guard(&self) -> impl Drop + Send + use<> {
        struct Guard(Stop);
        impl Drop for Guard {
            fn drop(&mut self) {
                self.0.0.store(true, Ordering::Relaxed);
            }
        }
        Guard(self.clone())
    }
}

/// Everything below a folder. Unreadable folders are skipped, as in ripgrep, and so are folders whose rules cannot be
/// read to the end. If those above or in `root` cannot, no rules apply.
pub(crate) fn below(
    root: &Path,
    overrides: Option<ignore::overrides::Override>,
    stop: Stop,
) -> impl Iterator<Item = DirEntry> {
    let mut builder = WalkBuilder::new(root);
    // Outside of repositories, `.gitignore` applies too.
    builder.hidden(false).require_git(root.ancestors().any(|folder| folder.join(".git").exists()));
    builder.sort_by_file_name(std::cmp::Ord::cmp);
    if !root.ancestors().all(has_sound_rules) {
        builder.ignore(false).git_ignore(false).git_exclude(false).parents(false);
    }
    builder.filter_entry(|entry| {
        let is_folder = || entry.file_type().is_some_and(|kind| kind.is_dir());
        entry.depth() == 0 || (entry.file_name() != ".git" && (!is_folder() || has_sound_rules(entry.path())))
    });
    if let Some(overrides) = overrides {
        builder.overrides(overrides);
    }
    builder.build().take_while(move |_| !stop.is_set()).filter_map(Result::ok).filter(|entry| entry.depth() > 0)
}

/// A pattern without the `./` before it, which no path has.
pub(crate) fn without_dot(pattern: &str) -> &str {
    let mut rest = pattern;
    while let Some(shorter) = rest.strip_prefix("./") {
        rest = shorter;
    }
    rest
}

/// The path for a row of a list.
pub(crate) fn relative(path: &Path, root: &Path) -> String {
    super::paths::listed(path.strip_prefix(root).unwrap_or(path).display().to_string())
}
