//! Makes many things on all cores and passes them on in their order. Knows nothing of what is made.

use std::ops::Range;
use std::sync::mpsc::{channel, sync_channel};
use std::thread;

/// How many batches of a thread wait.
const WAITING: usize = 2;
/// A batch has at most so many parts, ...
const MOST_PARTS: usize = 256;
/// ... and this weight, unless one part has more.
const MOST_WEIGHT: u64 = 1 << 20;

/// Cuts parts into batches by their weights, in bytes that a made part may take.
pub fn batches(weights: impl IntoIterator<Item = u64>) -> Vec<Range<usize>> {
    let mut batches: Vec<Range<usize>> = Vec::new();
    let mut weight = 0;
    for (at, part) in weights.into_iter().enumerate() {
        weight += part;
        match batches.last_mut() {
            Some(last) if last.len() < MOST_PARTS && weight <= MOST_WEIGHT => last.end = at + 1,
            _ => {
                batches.push(at..at + 1);
                weight = part;
            }
        }
    }
    batches
}

/// Makes the parts of batches and passes each to `each`, until it fails. The first ones do not wait for the last. Memory holds a few
/// batches for each core. What `each` leaves of a part is dropped by the thread that made it: memory that another thread frees is
/// locked against both.
///
/// # Errors
/// Those of `make`, at the place of the part, and those of `each`.
pub fn made_in_order<T: Send, E: Send>(
    batches: &[Range<usize>],
    make: impl Fn(usize) -> Result<T, E> + Sync,
    mut each: impl FnMut(usize, &mut T) -> Result<(), E>,
) -> Result<(), E> {
    let threads = thread::available_parallelism().map_or(1, std::num::NonZero::get).min(batches.len());
    if threads < 2 {
        return batches.iter().cloned().flatten().try_for_each(|at| each(at, &mut make(at)?));
    }
    let make = &make;
    thread::scope(|scope| {
        // Dropped before the scope ends: threads whose batches nobody takes stop.
        let makers: Vec<_> = (0..threads)
            .map(|first| {
                let (send, receive) = sync_channel(WAITING);
                let (give_back, given_back) = channel();
                scope.spawn(move || {
                    for batch in batches.iter().skip(first).step_by(threads) {
                        given_back.try_iter().for_each(drop);
                        if send.send(MadeBatch::new(batch, make)).is_err() {
                            return;
                        }
                    }
                });
                (receive, give_back)
            })
            .collect();
        for (batch, (receive, give_back)) in batches.iter().zip(makers.iter().cycle()) {
            // A thread that has ended early has failed: the scope passes its panic on.
            let Ok(MadeBatch { mut parts, failure }) = receive.recv() else { return Ok(()) };
            batch.clone().zip(&mut parts).try_for_each(|(at, part)| each(at, part))?;
            if let Some(failure) = failure {
                return Err(failure);
            }
            // A thread that has made its last batch takes nothing back.
            drop(give_back.send(parts));
        }
        Ok(())
    })
}

/// Parts that follow each other, up to the first failure.
struct MadeBatch<T, E> {
    parts: Vec<T>,
    failure: Option<E>,
}

impl<T, E> MadeBatch<T, E> {
    fn new(batch: &Range<usize>, make: impl Fn(usize) -> Result<T, E>) -> Self {
        let mut made = Self { parts: Vec::with_capacity(batch.len()), failure: None };
        for at in batch.clone() {
            match make(at) {
                Ok(part) => made.parts.push(part),
                Err(failure) => {
                    made.failure = Some(failure);
                    break;
                }
            }
        }
        made
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::thread::ThreadId;

    use super::*;

    fn light(count: usize) -> Vec<Range<usize>> {
        batches(std::iter::repeat_n(1, count))
    }

    #[test]
    fn batches_have_a_bounded_weight() {
        assert!(light(0).is_empty());
        assert_eq!(light(MOST_PARTS + 1), [0..MOST_PARTS, MOST_PARTS..MOST_PARTS + 1]);
        let half = MOST_WEIGHT / 2;
        assert_eq!(batches([half, half, 1, 9 * MOST_WEIGHT, 1, 1]), [0..2, 2..3, 3..4, 4..6]);
    }

    #[test]
    fn parts_come_in_their_order() {
        for count in [0, 1, MOST_PARTS, MOST_PARTS + 1, 7 * MOST_PARTS + 3] {
            let mut all = Vec::new();
            made_in_order(
                &light(count),
                |at| Ok::<_, String>(at * 2),
                |at, made| {
                    assert_eq!(*made, at * 2);
                    all.push(at);
                    Ok(())
                },
            )
            .unwrap();
            assert_eq!(all, (0..count).collect::<Vec<_>>());
        }
    }

    /// A part that knows its maker.
    struct Part<'a> {
        maker: ThreadId,
        dropped_elsewhere: &'a AtomicUsize,
    }

    impl Drop for Part<'_> {
        fn drop(&mut self) {
            let is_elsewhere = thread::current().id() != self.maker;
            self.dropped_elsewhere.fetch_add(usize::from(is_elsewhere), Ordering::Relaxed);
        }
    }

    #[test]
    fn parts_are_dropped_by_their_makers() {
        let elsewhere = AtomicUsize::new(0);
        let cores = thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let all = light(cores * 50 * MOST_PARTS);
        let make = |_| Ok::<_, String>(Part { maker: thread::current().id(), dropped_elsewhere: &elsewhere });
        made_in_order(&all, make, |_, _| Ok(())).unwrap();
        // When a thread ends, those that wait are still to be passed on: they, and the one that is.
        let last = cores * (WAITING + 2) * MOST_PARTS;
        assert!(elsewhere.into_inner() <= last, "of {}", cores * 50 * MOST_PARTS);
    }

    #[test]
    fn a_failure_comes_at_its_place_and_ends_the_work() {
        let failure = || "no more";
        let all = light(9 * MOST_PARTS);
        for bad in [0, 3, MOST_PARTS, 5 * MOST_PARTS + 1] {
            let mut seen = 0;
            let make = |at| if at == bad { Err(failure()) } else { Ok(at) };
            let made = made_in_order(&all, make, |_, _| {
                seen += 1;
                Ok(())
            });
            assert!(made.is_err() && seen == bad, "{bad}: {seen}");
            let mut taken = 0;
            let told = made_in_order(&all, Ok, |at, _| {
                taken += 1;
                if at == bad { Err(failure()) } else { Ok(()) }
            });
            assert!(told.is_err() && taken == bad + 1, "{bad}: {taken}");
        }
    }
}
