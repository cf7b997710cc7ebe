//! A value for each thread, so that threads which work side by side do not wait for each other, and free their own memory; and memory
//! of a thread that it uses again. Knows nothing of what is in it.

use std::cell::RefCell;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Threads that were started after each other have values of their own, as far as so many go.
const VALUES: usize = 16;

/// A value for each thread. Where there are more threads, some share one.
#[derive(Debug, Default)]
pub(crate) struct PerThread<T>([Mutex<T>; VALUES]);

impl<T> PerThread<T> {
    /// The value of this thread.
    pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
        static THREADS: AtomicUsize = AtomicUsize::new(0);
        std::thread_local! {
            static NUMBER: usize = THREADS.fetch_add(1, Ordering::Relaxed);
        }
        let value = &self.0[NUMBER.with(|number| number % VALUES)];
        value.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// More room is taken anew, and given back.
const USUAL_ROOM: usize = 256 << 10;

/// Lends memory of this thread, which is used again and so need not be cleared: what was there before is in it.
pub(crate) fn with_room<T>(length: usize, read: impl FnOnce(&mut [u8]) -> T) -> T {
    std::thread_local! {
        static ROOM: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    }
    let mut room = ROOM.take();
    if room.len() < length {
        room.resize(length, 0);
    }
    let done = read(room.get_mut(..length).unwrap_or_default());
    if room.len() <= USUAL_ROOM {
        ROOM.set(room);
    }
    done
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    #[test]
    fn room_is_lent_again_and_two_at_once_are_apart() {
        let place = |room: &mut [u8]| room.as_ptr() as usize;
        let first = with_room(100, place);
        assert_eq!(with_room(50, place), first);
        with_room(10, |outer| {
            outer.fill(1);
            with_room(10, |inner| inner.fill(2));
            assert_eq!(outer, [1; 10]);
        });
        assert_eq!(with_room(USUAL_ROOM + 1, |room| room.len()), USUAL_ROOM + 1);
        assert_eq!(with_room(0, |room| room.len()), 0);
    }

    #[test]
    fn threads_have_values_of_their_own() {
        let counts = PerThread::<usize>::default();
        for _ in 0..3 {
            *counts.lock() += 1;
        }
        let other = thread::scope(|scope| {
            let held = counts.lock();
            let other = scope.spawn(|| std::mem::replace(&mut *counts.lock(), 7)).join().unwrap();
            (*held, other)
        });
        assert_eq!(other, (3, 0));
        let all: usize = counts.0.iter().map(|count| *count.lock().unwrap()).sum();
        assert_eq!(all, 10);
    }
}
