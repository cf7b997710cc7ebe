//! A value for each thread, so that threads which work side by side do not wait for each other, and free their own memory. Knows nothing
//! of what is in it.

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

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

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
