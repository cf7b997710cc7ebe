//! Allocations while scrolling, as counted by the example `scroll` of offshoot-tui.

use std::path::Path;

use anyhow::{Context as _, Result};
use serde::Deserialize;
use xtask::run;

#[derive(Debug, Deserialize)]
pub(super) struct Scrolled {
    pub(super) view: String,
    pub(super) steps: usize,
    /// Bytes in use at the end of a way there and back, minus those at its start.
    pub(super) growth: i64,
    /// Allocations per step, in the first and last thousand steps of the first way.
    pub(super) allocations: (usize, usize),
    /// The most bytes in use at the end of a step, in the same steps.
    pub(super) most: (usize, usize),
}

pub(super) fn run(binary: &Path, session: &Path) -> Result<Vec<Scrolled>> {
    let example = binary.with_file_name("examples").join("scroll");
    let session = session.to_string_lossy();
    let said = run::output_of(&example.to_string_lossy(), &[&session], Path::new("."))?;
    said.lines().map(|line| serde_json::from_str(line).with_context(|| format!("`scroll` said {line}"))).collect()
}
