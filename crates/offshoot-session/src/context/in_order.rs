//! Renders many steps on several threads and passes the messages on in order.

use std::io;
use std::ops::Range;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;

use super::{RenderStep, render};
use crate::entry::Source;
use crate::error::Result;

/// Below this number of steps one thread is as fast.
const MANY: usize = 4096;
/// The most that a thread renders before it passes it on: steps, and bytes of lines.
const STEPS: usize = 512;
const BYTES: u64 = 256 << 10;
/// More threads only wait for the writing thread.
const THREADS: usize = 4;

/// Calls `each` with groups of messages, as JSON texts joined by commas. Fails if the medium or `each` does.
pub(super) fn for_each(
    source: &dyn Source,
    steps: &[RenderStep],
    mut each: impl FnMut(&str) -> io::Result<()>,
) -> io::Result<()> {
    let threads = thread::available_parallelism().map_or(1, usize::from).min(THREADS);
    let groups = groups(source, steps);
    if steps.len() < MANY || threads < 2 {
        return groups
            .into_iter()
            .try_for_each(|group| each(&render(source, &steps[group]).map_err(io::Error::other)?));
    }
    thread::scope(|scope| {
        let groups = &groups;
        let rendered: Vec<Receiver<_>> = (0..threads)
            .map(|worker| {
                let (sender, receiver) = sync_channel(2);
                scope.spawn(move || {
                    for group in groups.iter().skip(worker).step_by(threads) {
                        let text = render(source, &steps[group.clone()]);
                        let failed = text.is_err();
                        // The receiver is gone once `each` has failed.
                        if sender.send(text).is_err() || failed {
                            return;
                        }
                    }
                });
                receiver
            })
            .collect();
        for (receiver, _) in rendered.iter().cycle().zip(groups) {
            let text = receiver.recv().map_err(io::Error::other)?;
            each(&text.map_err(io::Error::other)?)?;
        }
        Ok(())
    })
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
