//! `cargo xtask tidy`: the house rules that no compiler checks.
//!
//! Each check is a pure function over a `Repo`, in its own file with a test that plants an offence. A rule that cannot
//! be checked without false alarms belongs in CONTRIBUTING.md instead.

mod finding;
mod arrow;
mod borders;
mod commands;
mod listed;
mod opening;
mod paths;
mod modules;
mod order;
mod lines;
mod kinds;
mod links;
mod mapped;
mod names;
mod pins;
mod private_paths;
mod promises;
mod reading;
mod root;
mod sizes;
mod words;
mod workflow;

use std::process::ExitCode;

use anyhow::Result;
use xtask::{env, out};

use crate::repo::Repo;
use finding::Finding;

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
    Check { name: "kinds", run: kinds::check },
    Check { name: "mapped", run: mapped::check },
    Check { name: "links", run: links::check },
    Check { name: "names", run: names::check },
    Check { name: "workflow", run: workflow::check },
    Check { name: "reading", run: reading::check },
];

pub(crate) fn run() -> Result<ExitCode> {
    let repo = Repo::read(&env::root())?;
    let findings = findings(&repo);
    findings.iter().for_each(|finding| out::say(finding));
    out::say(&sizes::report(&repo));
    out::say(&format!("tidy: {} checks, {} findings", CHECKS.len(), findings.len()));
    Ok(if findings.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

pub(crate) fn lines() -> Result<ExitCode> {
    out::say(&lines::report(&Repo::read(&env::root())?));
    Ok(ExitCode::SUCCESS)
}

fn findings(repo: &Repo) -> Vec<String> {
    let of = |check: &Check, finding: &Finding| format!("{}: {finding}", check.name);
    CHECKS.iter().flat_map(|check| (check.run)(repo).iter().map(|found| of(check, found)).collect::<Vec<_>>()).collect()
}

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

    #[test]
    fn the_repository_is_tidy() {
        let repo = Repo::read(&env::root()).unwrap();
        let found = findings(&repo);
        assert!(found.is_empty(), "{}", found.join("\n"));
    }
}
