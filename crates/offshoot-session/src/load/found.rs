//! Finds lines and envelopes. In a big file several threads scan one chunk each and pass results on in file order.
//!
//! Lines that cannot be settled by themselves (headers, labels, lines that are not entries) are passed on as lines.
//! Keeps no state across lines.

use std::ops::ControlFlow;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use crate::envelope::{LineBytes, scan};
use crate::error::{Error, Result};
use crate::id::EntryId;
use crate::kind::Kind;
use crate::lines::{LineSpan, for_each_line, for_each_line_in};
use crate::medium::{Medium, read_exact_at};
use crate::tree::NewNode;

/// Below this size one thread is as fast.
const SMALL: u64 = 8 << 20;
/// How much a thread scans before it passes results on.
const CHUNK: u64 = 4 << 20;
/// More threads only wait for the disk or for the linking thread.
const THREADS: usize = 4;
/// A longer line is passed on as its two ends.
const LONG: u64 = 1 << 20;
const END: u64 = 64 << 10;
/// How much to read at once to find the end of a line.
const PIECE: u64 = 64 << 10;

pub(super) enum FoundLine<'a> {
    Line(LineSpan, LineBytes<'a>),
    Entry(NewNode),
}

/// Calls `each` for every line of `[from, to)` in order until it breaks. `from` is the start of line `first_number`.
///
/// The medium cannot be read; errors of `each`.
pub(super) fn for_each_found(
    medium: &dyn Medium,
    (from, to): (u64, u64),
    first_number: u64,
    mut each: impl FnMut(FoundLine<'_>) -> Result<ControlFlow<()>>,
) -> Result<()> {
    let threads = thread::available_parallelism().map_or(1, usize::from).min(THREADS);
    if to.saturating_sub(from) < SMALL || threads < 2 {
        let mut trouble = Ok(());
        for_each_line(medium, from, to, first_number, |span, line| {
            each(FoundLine::Line(span, line)).unwrap_or_else(|error| {
                trouble = Err(error);
                ControlFlow::Break(())
            })
        })
        .map_err(Error::io("read", medium.path()))?;
        return trouble;
    }
    thread::scope(|scope| {
        let chunks: Vec<Receiver<_>> = (0..threads as u64)
            .map(|worker| {
                let (sender, receiver) = sync_channel(2);
                scope.spawn(move || look(medium, (from, to), worker, threads as u64, &sender));
                receiver
            })
            .collect();
        in_order(medium, &chunks, first_number, each)
    })
}

fn in_order(
    medium: &dyn Medium,
    chunks: &[Receiver<Result<Chunk>>],
    first_number: u64,
    mut each: impl FnMut(FoundLine<'_>) -> Result<ControlFlow<()>>,
) -> Result<()> {
    let mut number = first_number;
    for receiver in chunks.iter().cycle() {
        let Ok(chunk) = receiver.recv() else { return Ok(()) };
        let chunk = chunk?;
        for seen in chunk.seen {
            let flow = match seen {
                Seen::Entry(mut new) => {
                    new.line += number;
                    each(FoundLine::Entry(new))?
                }
                Seen::Line(mut span) => {
                    span.number += number;
                    with_line(medium, span, |line| each(FoundLine::Line(span, line)))?
                }
            };
            if flow.is_break() {
                return Ok(());
            }
        }
        number += chunk.lines;
    }
    Ok(())
}

/// Reads a line as [`for_each_line`] passes it on.
fn with_line<T>(medium: &dyn Medium, span: LineSpan, take: impl FnOnce(LineBytes<'_>) -> Result<T>) -> Result<T> {
    let read = |offset, length: u64| {
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        read_exact_at(medium, offset, length).map_err(Error::io("read", medium.path()))
    };
    if span.length < LONG {
        return take(LineBytes { head: &read(span.offset, span.length)?, tail: None });
    }
    let (head, tail) = (read(span.offset, END)?, read(span.offset + span.length - END, END)?);
    take(LineBytes { head: &head, tail: Some(&tail) })
}

/// The result for one line. Line numbers count from 0 at the chunk's first line.
enum Seen {
    Entry(NewNode),
    Line(LineSpan),
}

struct Chunk {
    seen: Vec<Seen>,
    lines: u64,
}

fn look(medium: &dyn Medium, (from, to): (u64, u64), worker: u64, workers: u64, out: &SyncSender<Result<Chunk>>) {
    let starts = (from + worker * CHUNK..to).step_by((workers * CHUNK) as usize);
    let (mut buffer, mut usual) = (Vec::new(), 0);
    for start in starts {
        let mut chunk = Chunk { seen: Vec::with_capacity(usual), lines: 0 };
        let read = chunk.read(medium, (from, start, to), &mut buffer);
        usual = usual.max(chunk.seen.len() + chunk.seen.len() / 8);
        let chunk = read.map(|()| chunk).map_err(Error::io("read", medium.path()));
        let failed = chunk.is_err();
        if out.send(chunk).is_err() || failed {
            return;
        }
    }
}

/// The first line feed in `[at, to)`.
fn newline(medium: &dyn Medium, mut at: u64, to: u64) -> std::io::Result<Option<u64>> {
    while at < to {
        let length = PIECE.min(to - at);
        let bytes = read_exact_at(medium, at, length as usize)?;
        if let Some(found) = memchr::memchr(b'\n', &bytes) {
            return Ok(Some(at + found as u64));
        }
        at += length;
    }
    Ok(None)
}

impl Chunk {
    /// Scans the lines that start between `start` and the end of the chunk; `[from, to)` is the part of the file to
    /// read.
    fn read(
        &mut self,
        medium: &dyn Medium,
        (from, start, to): (u64, u64, u64),
        buffer: &mut Vec<u8>,
    ) -> std::io::Result<()> {
        let end = (start + CHUNK).min(to);
        // The line feed before the first line may be the byte before the chunk.
        let first = if start == from { Some(from) } else { newline(medium, start - 1, end)?.map(|at| at + 1) };
        let Some(first) = first.filter(|first| *first < end) else { return Ok(()) };
        let mut cut = None;
        for_each_line_in(buffer, medium, (first, end), 0, |span, line| {
            if span.terminated {
                self.take(span, line);
            } else {
                cut = Some(span);
            }
            ControlFlow::Continue(())
        })?;
        if let Some(mut span) = cut {
            // The chunk's last line continues after the chunk.
            let line_end = newline(medium, end, to)?;
            span.length = line_end.unwrap_or(to) - span.offset;
            span.terminated = line_end.is_some();
            if span.length < LONG {
                let bytes = read_exact_at(medium, span.offset, span.length as usize)?;
                self.take(span, LineBytes { head: &bytes, tail: None });
            } else {
                self.lines += 1;
                self.seen.push(Seen::Line(span));
            }
        }
        Ok(())
    }

    fn take(&mut self, span: LineSpan, line: LineBytes<'_>) {
        self.lines += 1;
        self.seen.push(match clear_entry(span, line) {
            Some(new) => Seen::Entry(new),
            None => Seen::Line(span),
        });
    }
}

/// The entry of a complete line of a common type.
fn clear_entry(span: LineSpan, line: LineBytes<'_>) -> Option<NewNode> {
    let is_plain = span.terminated && line.tail.is_none() && line.head.first() == Some(&b'{');
    let is_whole = is_plain && line.head.last() == Some(&b'}');
    let envelope = if is_whole { scan(line).ok()? } else { return None };
    let is_common = matches!(
        envelope.kind,
        Kind::Message
            | Kind::Custom
            | Kind::CustomMessage
            | Kind::Compaction
            | Kind::BranchSummary
            | Kind::ThinkingLevelChange
    );
    let ids = (envelope.id.as_deref().map(EntryId::new), envelope.parent.as_deref().map(EntryId::new));
    is_common.then(|| super::new_node(span, &envelope, ids))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::medium::MemoryMedium;

    /// Every line with its place, and whether it was passed on as an entry.
    fn lines(bytes: &[u8]) -> Vec<(u64, u64, u64)> {
        let medium = MemoryMedium::new(bytes.to_vec());
        let mut out = Vec::new();
        for_each_found(&medium, (0, bytes.len() as u64), 1, |found| {
            out.push(match found {
                FoundLine::Line(span, _) => (span.number, span.offset, span.length),
                FoundLine::Entry(new) => (new.line, new.offset, new.length),
            });
            Ok(ControlFlow::Continue(()))
        })
        .unwrap();
        out
    }

    #[test]
    fn threads_find_the_lines_that_one_pass_finds() {
        let line = |length: usize| {
            let head = r#"{"type":"message","id":"a","parentId":null,"timestamp":"t","message":{"role":"user","x":""#;
            format!("{head}{}\"}}}}\n", "y".repeat(length))
        };
        // Lines around chunk borders, longer than chunks, blank, broken, and a last one that is cut off.
        let mut text = String::new();
        for at in 0..9000usize {
            text.push_str(&line(at * 7919 % 3000));
            if at % 1000 == 0 {
                text.push_str("\n broken \n\n");
            }
            if at == 4000 {
                text.push_str(&line(3 * CHUNK as usize));
                text.push_str(&line(CHUNK as usize - 1));
            }
        }
        text.push_str("{\"cut\":");
        assert!(text.len() as u64 > 2 * SMALL);
        let mut expected = Vec::new();
        let medium = MemoryMedium::new(text.clone().into_bytes());
        for_each_line(&medium, 0, text.len() as u64, 1, |span, _| {
            expected.push((span.number, span.offset, span.length));
            ControlFlow::Continue(())
        })
        .unwrap();
        assert_eq!(lines(text.as_bytes()), expected);
    }
}
