//! The fuzzers' seeds and findings: every input of `fuzz/` keeps the promises of its target.

use std::fs;
use std::path::{Path, PathBuf};

use offshoot_session::testing::fuzz::TARGETS;

/// The inputs of a target: seeds, and inputs that used to break a promise.
fn inputs(target: &str) -> Vec<PathBuf> {
    let fuzz = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz");
    let folders = [fuzz.join("corpus").join(target), fuzz.join("regressions").join(target)];
    let files = folders.iter().filter_map(|folder| fs::read_dir(folder).ok()).flatten();
    files.map(|file| file.unwrap().path()).collect()
}

#[test]
fn every_input_of_the_fuzzers_holds_what_its_target_promises() {
    for (target, body) in TARGETS {
        let inputs = inputs(target);
        assert!(!inputs.is_empty(), "{target} has no seeds");
        for input in inputs {
            let bytes = fs::read(&input).unwrap();
            let held = std::panic::catch_unwind(|| body(&bytes));
            assert!(held.is_ok(), "{}", input.display());
        }
    }
}
