//! Every command of the binary has a test file, and all test files are in one test binary.

use super::finding::Finding;
use crate::repo::Repo;

const COMMANDS: &str = "crates/offshoot/src/commands/";
const TESTS: &str = "crates/offshoot/tests/";
const MAINS: [&str; 2] = ["crates/offshoot/tests/cli/main.rs", "crates/offshoot/tests/main.rs"];

pub(crate) fn check(repo: &Repo) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut commands = repo.under(COMMANDS).filter_map(|file| command_name(&file.path)).peekable();
    if commands.peek().is_none() {
        findings.push(Finding::about(COMMANDS, "holds no command"));
    }
    for command in commands {
        let test = format!("{TESTS}cli/{command}.rs");
        if repo.file(&test).is_none() {
            findings.push(Finding::about(&test, format!("is missing: it tests `offshoot {command}`")));
        }
    }
    findings.extend(one_binary(repo));
    findings
}

/// `.../commands/list.rs` -> `list`; also the `mod.rs` of a command with a folder.
fn command_name(path: &str) -> Option<&str> {
    let rest = path.strip_prefix(COMMANDS)?;
    let name = rest.strip_suffix("/mod.rs").or_else(|| rest.strip_suffix(".rs"))?;
    (name != "mod" && !name.contains('/')).then_some(name)
}

/// Each test binary links everything again, so only one is allowed; `listed` checks that it names every file.
fn one_binary(repo: &Repo) -> Vec<Finding> {
    let is_binary = |path: &str| {
        let rest = path.strip_prefix(TESTS).unwrap_or_default();
        rest.ends_with(".rs") && (!rest.contains('/') || rest.ends_with("/main.rs"))
    };
    let binaries: Vec<&str> = repo.under(TESTS).map(|file| file.path.as_str()).filter(|path| is_binary(path)).collect();
    match binaries.as_slice() {
        [] => vec![Finding::about(MAINS[0], "is missing: the one test binary, which lists every test file")],
        [one] if MAINS.contains(one) => Vec::new(),
        several => several
            .iter()
            .filter(|path| !MAINS.contains(path))
            .map(|path| Finding::about(path, "is a second test binary: make it a module of the first"))
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::finding::lines;

    #[test]
    fn a_command_without_its_test_is_found() {
        let repo = Repo::of(&[
            ("crates/offshoot/src/commands/mod.rs", ""),
            ("crates/offshoot/src/commands/list.rs", ""),
            ("crates/offshoot/src/commands/tree.rs", ""),
            ("crates/offshoot/src/commands/tree/flat.rs", ""),
            ("crates/offshoot/tests/cli/main.rs", ""),
            ("crates/offshoot/tests/cli/list.rs", ""),
        ]);
        let found = lines(&check(&repo));
        assert_eq!(found, ["crates/offshoot/tests/cli/tree.rs: is missing: it tests `offshoot tree`"]);
    }

    #[test]
    fn a_second_test_binary_is_found() {
        let repo = Repo::of(&[
            ("crates/offshoot/src/commands/list.rs", ""),
            ("crates/offshoot/tests/cli/list.rs", ""),
            ("crates/offshoot/tests/cli/main.rs", ""),
            ("crates/offshoot/tests/crash.rs", ""),
        ]);
        assert_eq!(check(&repo).len(), 1);
    }

    #[test]
    fn nothing_at_all_is_found() {
        assert_eq!(check(&Repo::default()).len(), 2);
    }
}
