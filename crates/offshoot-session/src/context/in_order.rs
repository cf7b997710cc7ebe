//! Renders many steps on several threads and passes the messages on in order.

use std::io;
use std::ops::Range;

use super::{RenderStep, render};
use crate::entry::Source;
use crate::error::Result;
use crate::in_order::made_in_order;

/// The most that a thread renders before it passes it on: steps, and bytes of lines.
const STEPS: usize = 512;
const BYTES: u64 = 256 << 10;

/// Calls `each` with groups of messages, as JSON texts joined by commas. Fails if the medium or `each` does.
pub(super) fn for_each(
    source: &dyn Source,
    steps: &[RenderStep],
    mut each: impl FnMut(&str) -> io::Result<()>,
) -> io::Result<()> {
    let groups = groups(source, steps);
    let parts: Vec<Range<usize>> = (0..groups.len()).map(|at| at..at + 1).collect();
    let steps = |at: usize| groups.get(at).and_then(|group| steps.get(group.clone())).unwrap_or_default();
    made_in_order(&parts, |at| render(source, steps(at)).map_err(io::Error::other), |_, text: &mut String| each(text))
}

/// Groups of at most [`STEPS`] steps and about [`BYTES`] bytes.
fn groups(source: &dyn Source, steps: &[RenderStep]) -> Vec<Range<usize>> {
    let mut groups = Vec::new();
    let (mut start, mut bytes) = (0, 0);
    for (at, step) in steps.iter().enumerate() {
        bytes += step.entry().map_or(0, |ix| source.tree().node(ix).length());
        if at + 1 - start == STEPS || bytes >= BYTES || at + 1 == steps.len() {
            groups.push(start..at + 1);
            (start, bytes) = (at + 1, 0);
        }
    }
    groups
}

fn render(source: &dyn Source, steps: &[RenderStep]) -> Result<String> {
    let mut text = String::new();
    for step in steps {
        for message in render::step(source, step)? {
            if !text.is_empty() {
                text.push(',');
            }
            text.push_str(&message.json);
        }
    }
    Ok(text)
}
