//! Turns panics of other people's code into outcomes: whoever waits for a task or a job learns that it crashed.
//!
//! The only place that catches panics.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::Poll;

use offshoot_protocol::Crash;

fn crash_of(panic: &(dyn Any + Send)) -> Crash {
    let words = panic.downcast_ref::<&str>().map(|words| (*words).to_owned());
    let words = words.or_else(|| panic.downcast_ref::<String>().cloned());
    Crash(words.unwrap_or_else(|| "a panic without words".to_owned()))
}

/// Runs work to its end, or to its panic. What it was changing may be half changed.
///
/// # Errors
/// It panicked.
pub fn caught<T>(work: impl FnOnce() -> T) -> Result<T, Crash> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| crash_of(panic.as_ref()))
}

/// The same for work that waits: `begin` makes it, which may panic as well. Dropping this drops the work.
///
/// # Errors
/// It panicked.
pub async fn caught_task<T, Work: Future<Output = T>>(begin: impl FnOnce() -> Work) -> Result<T, Crash> {
    let mut work = pin!(caught(begin)?);
    std::future::poll_fn(|context| match caught(|| work.as_mut().poll(context)) {
        Ok(Poll::Pending) => Poll::Pending,
        Ok(Poll::Ready(done)) => Poll::Ready(Ok(done)),
        Err(crash) => Poll::Ready(Err(crash)),
    })
    .await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_an_outcome_with_its_words() {
        assert_eq!(caught(|| 7), Ok(7));
        let words = |crash: Result<(), Crash>| crash.unwrap_err().to_string();
        assert_eq!(words(caught(|| panic!("plain"))), "plain");
        assert_eq!(words(caught(|| panic!("made of {}", 2))), "made of 2");
        assert_eq!(words(caught(|| std::panic::panic_any(7))), "a panic without words");
    }

    #[test]
    fn a_task_may_panic_before_and_while_it_waits() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            assert_eq!(caught_task(|| async { 7 }).await, Ok(7));
            let before = caught_task(|| -> std::future::Ready<()> { panic!("before") }).await;
            assert_eq!(before.unwrap_err().to_string(), "before");
            let later = caught_task(|| async {
                tokio::task::yield_now().await;
                panic!("later")
            });
            let later: Result<(), Crash> = later.await;
            assert_eq!(later.unwrap_err().to_string(), "later");
        });
    }
}
