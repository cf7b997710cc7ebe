//! Files are opened in one place, `offshoot_session::medium`, which refuses what is no regular file and reads to a limit: a FIFO
//! waits for ever, and a device has no end. This check owns the list of files that may open something else.
//!
//! Clippy's bans hold for tests and tools too, which prepare and read their own files; here only what is shipped counts.

use super::finding::Finding;
use crate::repo::{Repo, RepoFile};
use crate::tokens::find;

const BANNED: &[&[&str]] = &[
    &["fs", "::", "read"],
    &["fs", "::", "read_to_string"],
    &["fs", "::", "copy"],
    &["File", "::", "open"],
    &["File", "::", "options"],
    &["OpenOptions", "::", "new"],
];

/// A path that ends with `/` means the whole folder. Each says what it opens.
const ALLOWED: &[(&str, &str)] = &[
    ("crates/offshoot-agent/src/process/guard.rs", "the pipe that the guard was started with"),
    ("crates/offshoot-session/src/medium/", "it is the one place"),
    ("crates/offshoot-agent/src/process/guard.rs", "the pipe that ends with the program: it is waited for"),
    ("crates/offshoot-session/src/testing/", "files that tests have made"),
    ("crates/offshoot-tui/src/app/run/source.rs", "the terminal"),
    ("crates/offshoot/src/tui/lending.rs", "the terminal"),
    ("crates/offshoot/src/sandbox/namespaces.rs", "files of the kernel, for writing"),
];

pub(crate) fn check(repo: &Repo) -> Vec<Finding> {
    repo.rust().filter(|file| is_shipped(&file.path)).flat_map(check_file).chain(stale_rows(repo)).collect()
}

fn is_shipped(path: &str) -> bool {
    path.starts_with("crates/") && path.contains("/src/")
}

fn is_at(place: &str, path: &str) -> bool {
    path == place || (place.ends_with('/') && path.starts_with(place))
}

fn check_file(file: &RepoFile) -> Vec<Finding> {
    if ALLOWED.iter().any(|(place, _)| is_at(place, &file.path)) {
        return Vec::new();
    }
    let tokens = file.shipped();
    let of = |pattern: &&[&str]| {
        let told =
            format!("`{}`: it waits for a FIFO and has no limit; see offshoot_session::medium", pattern.concat());
        let found = find(&tokens, pattern).map(|at| Finding::at(&file.path, tokens[at].line, told.clone()));
        found.collect::<Vec<_>>()
    };
    BANNED.iter().flat_map(of).collect()
}

/// A row for a removed file would silently allow its successor.
fn stale_rows(repo: &Repo) -> Vec<Finding> {
    let gone = ALLOWED.iter().filter(|(place, _)| !repo.files.iter().any(|file| is_at(place, &file.path)));
    gone.map(|(place, _)| Finding::about(place, "is not there: take its row out of xtask/src/tidy/reading.rs"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::finding::lines;

    #[test]
    fn a_file_that_is_read_without_a_limit_is_found() {
        let offence = "//! X.\nuse std::fs;\nfn f() { fs::read(p); std::fs::read_to_string(p); }\nfn g() { File::open(p); OpenOptions::new(); fs::copy(a, b); }\n#[cfg(test)]\nmod tests { fn t() { fs::read(p); } }\n";
        let harmless = "//! X.\nfn f() { fs::read_dir(p); fs::read_link(p); open_regular(p); File::create_new(p); }\n";
        let repo = Repo::of(&[
            ("crates/a/src/b.rs", offence),
            ("crates/a/src/c.rs", harmless),
            ("crates/a/tests/it/main.rs", offence),
            ("crates/offshoot-session/src/medium/file.rs", offence),
            ("xtask/src/x.rs", offence),
        ]);
        let found = lines(&repo.rust().filter(|file| is_shipped(&file.path)).flat_map(check_file).collect::<Vec<_>>());
        assert_eq!(found.len(), 5, "{found:?}");
        assert!(found[0].starts_with("crates/a/src/b.rs:3: `fs::read`"), "{found:?}");
    }

    #[test]
    fn a_row_for_a_file_that_is_gone_is_found() {
        let repo = Repo::of(&[("crates/offshoot-session/src/medium/file.rs", "//! F.\n")]);
        assert_eq!(stale_rows(&repo).len(), ALLOWED.len() - 1);
    }
}
