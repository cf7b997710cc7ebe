//! Files that were cut, shuffled and flipped are read without a panic, and every entry of what was read has a line. `imports.rs` imports the
//! same, and compares what they keep. `HOSTILE=all` cuts and flips at every byte, and shuffles often.

use std::path::{Path, PathBuf};

use crate::support::{files, fixtures, spelled};
use offshoot_foreign::open_foreign;
use offshoot_session::session::Options;

fn sessions() -> Vec<PathBuf> {
    let mut all = files(&fixtures("claude-code").join("projects"), ".jsonl");
    for agent in ["codex", "gemini-cli", "copilot-cli", "cursor", "goose"] {
        all.extend(files(&fixtures(agent), ".jsonl"));
    }
    all
}

/// How often lines are shuffled.
pub(crate) fn shuffles() -> u64 {
    if step() == 1 { 2_000 } else { 6 }
}

pub(crate) fn step() -> usize {
    if std::env::var_os("HOSTILE").is_some_and(|word| word == "all") { 1 } else { 1_511 }
}

fn read(like: &Path, bytes: &[u8]) -> Option<String> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join(like.file_name().unwrap());
    std::fs::write(&file, bytes).unwrap();
    open_foreign(&file, Options::default).unwrap().map(|foreign| spelled(&foreign.session))
}

#[test]
fn files_that_are_cut_or_flipped_anywhere_are_read() {
    for file in sessions() {
        let bytes = std::fs::read(&file).unwrap();
        for at in (0..bytes.len()).step_by(step()) {
            drop(read(&file, &bytes[..at]));
            let mut flipped = bytes.clone();
            flipped[at] ^= 1 << (at % 8);
            drop(read(&file, &flipped));
        }
    }
}

/// A simple generator: the same order each time.
pub(crate) fn shuffle<T>(items: &mut [T], mut seed: u64) {
    for at in (1..items.len()).rev() {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        items.swap(at, (seed >> 33) as usize % (at + 1));
    }
}

#[test]
fn records_in_any_order_are_read() {
    for file in sessions() {
        let text = String::from_utf8_lossy(&std::fs::read(&file).unwrap()).into_owned();
        for seed in 0..shuffles() {
            let mut lines: Vec<&str> = text.lines().collect();
            shuffle(&mut lines, seed);
            drop(read(&file, (lines.join("\n") + "\n").as_bytes()));
        }
    }
}
