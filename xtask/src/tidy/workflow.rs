//! What GitHub checks is what `.ci/run` checks: the Linux job runs it whole, and its failure counts.

use super::finding::Finding;
use crate::repo::Repo;

const CHECKS: &str = ".github/workflows/checks.yml";
const SCRIPT: &str = ".ci/run";
/// How the job runs the script, and how the script runs the checks.
const RUNS: &str = "- run: bash .ci/run";
const CALLS: &str = "cargo xtask ci \"$@\"";
/// What would let a failure or a test pass unseen.
const EXCUSES: &[&str] = &["continue-on-error", "if:", "|| ", "--no-peers", "paths:", "paths-ignore:"];

pub(crate) fn check(repo: &Repo) -> Vec<Finding> {
    let (Some(workflow), Some(script)) = (repo.text(CHECKS), repo.text(SCRIPT)) else {
        return vec![Finding::about(CHECKS, format!("it or {SCRIPT} is missing"))];
    };
    let mut findings = Vec::new();
    for event in ["push:", "pull_request:"] {
        if !workflow.lines().any(|line| line.trim() == event) {
            findings.push(Finding::about(CHECKS, format!("does not run on `{event}`")));
        }
    }
    let linux: Vec<(usize, &str)> = required(workflow).collect();
    if !linux.iter().any(|(_, line)| line.trim() == RUNS) {
        findings.push(Finding::about(CHECKS, format!("the job `linux` lacks the step `{RUNS}`")));
    }
    for (line, text) in linux {
        findings.extend(EXCUSES.iter().filter(|excuse| text.contains(**excuse)).map(|excuse| {
            Finding::at(CHECKS, line, format!("`{excuse}` would let a failure pass: every check is required"))
        }));
    }
    if !script.contains(CALLS) {
        findings.push(Finding::about(SCRIPT, format!("does not run `{CALLS}`")));
    }
    findings
}

/// The lines that say when and how the required job runs, without comments.
fn required(workflow: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut is_in_another_job = false;
    workflow.lines().enumerate().filter_map(move |(at, line)| {
        let is_job = line.starts_with("  ") && !line.starts_with("   ") && line.trim_end().ends_with(':');
        if !line.starts_with(' ') && !line.is_empty() {
            is_in_another_job = false;
        } else if is_job {
            is_in_another_job = line.trim() == "macos:";
        }
        (!is_in_another_job && !line.trim_start().starts_with('#')).then_some((at + 1, line))
    })
}

#[cfg(test)]
mod tests {
    use super::super::finding::lines;
    use super::*;

    const GOOD: &str = "on:\n  push:\n  pull_request:\njobs:\n  linux:\n    steps:\n      - run: bash .ci/run\n  macos:\n    continue-on-error: true\n";

    fn found(workflow: &str) -> Vec<String> {
        lines(&check(&Repo::of(&[(CHECKS, workflow), (SCRIPT, CALLS)])))
    }

    #[test]
    fn a_job_that_forgives_or_leaves_out_is_found() {
        assert_eq!(found(GOOD), [""; 0]);
        let forgiving = GOOD.replace("    steps:", "    continue-on-error: true\n    steps:");
        assert!(
            found(&forgiving)[0].starts_with(&format!("{CHECKS}:6: `continue-on-error`")),
            "{:?}",
            found(&forgiving)
        );
        for worse in [".ci/run --no-peers", ".ci/run || true", "other"] {
            assert!(!found(&GOOD.replace(".ci/run", worse)).is_empty(), "{worse}");
        }
        assert!(!found(&GOOD.replace("  push:\n", "")).is_empty());
        assert!(!lines(&check(&Repo::of(&[(CHECKS, GOOD), (SCRIPT, "cargo test")]))).is_empty());
    }
}
