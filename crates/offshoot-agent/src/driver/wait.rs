//! Waits of a run. Knows no turn.

use std::time::Duration;

use offshoot_session::clock::{Clock, Millis};

/// How often the clock is looked at, in milliseconds.
const STEP: u64 = 10_000;

/// A wait passes by the clock or by the timer, whichever is first: the timer does not count the time in which the machine sleeps.
pub(super) async fn pass(clock: &(dyn Clock + Sync), milliseconds: u64) {
    let until = clock.now().saturating_add(Millis::try_from(milliseconds).unwrap_or(Millis::MAX));
    let mut left = milliseconds;
    while left > 0 && clock.now() < until {
        let step = left.min(STEP);
        tokio::time::sleep(Duration::from_millis(step)).await;
        left -= step;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicI64, Ordering};

    use super::*;

    /// A clock that goes on by an hour each time somebody looks.
    #[derive(Default)]
    struct Hurried(AtomicI64);

    impl Clock for Hurried {
        fn now(&self) -> Millis {
            self.0.fetch_add(3_600_000, Ordering::SeqCst)
        }
    }

    /// Story: a laptop slept for an hour of a wait of an hour, and then the wait began anew.
    #[tokio::test]
    async fn a_wait_is_over_when_the_clock_says_so() {
        let clock = Hurried::default();
        pass(&clock, 3_600_000).await;
        assert_eq!(clock.0.load(Ordering::SeqCst), 7_200_000, "nothing was waited for");
    }
}
