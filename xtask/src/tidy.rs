//! `cargo xtask tidy`: the house rules that no compiler checks.
//!
//! Owns the list of checks and their report. Each check is a pure function over a `Repo`, in its own
//! file with a test that plants an offence; here the same checks run over the real repository, one
//! test each. A rule that cannot be checked without false alarms belongs in CONTRIBUTING.md instead.

mod arrow;
mod borders;
mod commands;
mod finding;
mod listed;
mod opening;
mod order;
mod pins;
mod private_paths;
mod promises;
mod root;
mod sizes;
mod words;

use std::process::ExitCode;

use anyhow::Result;

use crate::repo::Repo;
use crate::{env, out};
use finding::Finding;

/// A named check.
struct Check {
    name: &'static str,
    run: fn(&Repo) -> Vec<Finding>,
}

const CHECKS: &[Check] = &[
    Check { name: "opening", run: opening::check },
    Check { name: "words", run: words::check },
    Check { name: "borders", run: borders::check },
    Check { name: "arrow", run: arrow::check },
    Check { name: "order", run: order::check },
    Check { name: "listed", run: listed::check },
    Check { name: "commands", run: commands::check },
    Check { name: "pins", run: pins::check },
    Check { name: "root", run: root::check },
    Check { name: "private-paths", run: private_paths::check },
    Check { name: "promises", run: promises::check },
];

/// Runs every check over the work tree, prints findings and the sizes of files.
pub(crate) fn run() -> Result<ExitCode> {
    let repo = Repo::read(&env::root())?;
    let mut total = 0;
    for check in CHECKS {
        let findings = (check.run)(&repo);
        total += findings.len();
        for finding in findings {
            out::say(&format!("{}: {finding}", check.name));
        }
    }
    out::say(&sizes::report(&repo));
    out::say(&format!("tidy: {} checks, {total} findings", CHECKS.len()));
    Ok(if total == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Rewrites the hashes that pin documents to code.
pub(crate) fn bless() -> Result<ExitCode> {
    let root = env::root();
    for line in pins::bless(&root, &Repo::read(&root)?)? {
        out::say(&line);
    }
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs one check of the list over the real repository.
    fn assert_clean(name: &str) {
        let check = CHECKS.iter().find(|check| check.name == name).unwrap();
        let findings = (check.run)(&Repo::read(&env::root()).unwrap());
        let lines: Vec<String> = findings.iter().map(ToString::to_string).collect();
        assert!(lines.is_empty(), "{name}:\n{}", lines.join("\n"));
    }

    #[test]
    fn every_rust_file_opens_with_its_purpose() {
        assert_clean("opening");
    }

    #[test]
    fn no_banned_words_and_no_stray_white_space() {
        assert_clean("words");
    }

    #[test]
    fn clock_environment_printing_and_chance_stay_in_their_files() {
        assert_clean("borders");
    }

    #[test]
    fn crates_depend_along_the_arrow() {
        assert_clean("arrow");
    }

    #[test]
    fn session_modules_stand_in_reading_order() {
        assert_clean("order");
    }

    #[test]
    fn no_rust_file_is_forgotten() {
        assert_clean("listed");
    }

    #[test]
    fn every_command_has_its_test_file() {
        assert_clean("commands");
    }

    #[test]
    fn documents_are_pinned_to_the_code_they_describe() {
        assert_clean("pins");
    }

    #[test]
    fn the_root_folder_holds_what_is_listed() {
        assert_clean("root");
    }

    #[test]
    fn every_promise_of_durability_has_its_test() {
        assert_clean("promises");
    }

    #[test]
    fn no_text_names_a_private_machine() {
        assert_clean("private-paths");
    }
}
