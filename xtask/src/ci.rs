//! `cargo xtask ci` and `cargo xtask test`: the order of the steps, their times and the summary; `steps` does the work.
//!
//! The last line printed is always the sum of all tests, so that a script can read it.

use std::process::ExitCode;

use anyhow::{Result, bail};
use xtask::{out, run};

use crate::steps::{self, Scene, StepOutcome};

pub(crate) enum Plan {
    Everything,
    Tests,
}

struct CiStep {
    name: &'static str,
    run: fn(&mut Scene) -> Result<StepOutcome>,
}

const EVERYTHING: &[CiStep] = &[
    CiStep { name: "fmt", run: steps::fmt },
    CiStep { name: "clippy", run: steps::clippy },
    CiStep { name: "tests", run: steps::tests },
    CiStep { name: "doctests", run: steps::doctests },
    CiStep { name: "packages", run: steps::packages },
    CiStep { name: "doc", run: steps::doc },
    CiStep { name: "tidy", run: steps::tidy },
    CiStep { name: "deny", run: steps::deny },
    CiStep { name: "no default features", run: steps::no_default_features },
    CiStep { name: "conformance", run: steps::conformance },
    CiStep { name: "fuzz", run: steps::fuzz },
];

const TESTS: &[CiStep] = &[
    CiStep { name: "tests", run: steps::tests },
    CiStep { name: "doctests", run: steps::doctests },
    CiStep { name: "conformance", run: steps::conformance },
];

pub(crate) fn run(plan: &Plan, args: &[String]) -> Result<ExitCode> {
    let mut no_peers = false;
    for arg in args {
        match arg.as_str() {
            "--no-peers" => no_peers = true,
            other => bail!("unexpected argument `{other}`"),
        }
    }
    let steps = match plan {
        Plan::Everything => EVERYTHING,
        Plan::Tests => TESTS,
    };
    let mut scene = Scene::new(no_peers);
    let passed = walk(steps, &mut scene);
    out::say(&scene.tally.to_string());
    Ok(if passed { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn walk(steps: &[CiStep], scene: &mut Scene) -> bool {
    let mut rows = Vec::new();
    let mut passed = true;
    for step in steps {
        out::say(&format!("\n==== {} ====", step.name));
        let failed_before = scene.tally.failed;
        let (outcome, seconds) = run::timed(|| (step.run)(scene));
        let verdict = match outcome {
            Ok(StepOutcome::Done) => "ok".to_owned(),
            Ok(StepOutcome::Skipped(why)) => format!("SKIPPED: {why}"),
            Err(error) => {
                passed = false;
                if scene.tally.failed == failed_before {
                    scene.tally.failed += 1;
                }
                format!("FAILED: {error:#}")
            }
        };
        rows.push(format!("{:<20} {seconds:>8.1} s  {verdict}", step.name));
        if !passed {
            break;
        }
    }
    let left = steps.len() - rows.len();
    if left > 0 {
        rows.push(format!("not run: {left} more"));
    }
    out::say(&format!("\n==== summary ====\n{}", rows.join("\n")));
    for note in &scene.notes {
        out::say(&format!("NOTE: {note}"));
    }
    passed
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::anyhow;

    fn good(scene: &mut Scene) -> Result<StepOutcome> {
        scene.tally.passed += 2;
        Ok(StepOutcome::Done)
    }

    #[test]
    fn the_first_failure_stops_the_walk_and_is_counted() {
        let steps = [
            CiStep { name: "a", run: good },
            CiStep { name: "b", run: |_| Err(anyhow!("no")) },
            CiStep { name: "c", run: good },
        ];
        let mut scene = Scene::new(false);
        assert!(!walk(&steps, &mut scene));
        assert_eq!(scene.tally.to_string(), "2 passed, 1 failed");
    }

    #[test]
    fn a_skip_is_no_failure() {
        let steps =
            [CiStep { name: "a", run: |_| Ok(StepOutcome::Skipped("x".to_owned())) }, CiStep { name: "b", run: good }];
        let mut scene = Scene::new(false);
        assert!(walk(&steps, &mut scene));
        assert_eq!(scene.tally.to_string(), "2 passed, 0 failed");
    }
}
