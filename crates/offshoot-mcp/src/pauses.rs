//! How long to wait before a lost stream of a server is asked for again. Waits for nothing itself.

use std::time::Duration;

/// The first tries, in milliseconds.
const FIRST: [u64; 4] = [500, 1000, 2000, 4000];
/// The one after them; each further one doubles it.
const LATER: u64 = 15_000;
/// It is never longer.
pub(crate) const LONGEST_PAUSE: Duration = Duration::from_secs(300);

/// A stream that lasted so long was a good one.
const LASTING: Duration = Duration::from_secs(60);

/// The pauses between tries, from the first one.
#[derive(Debug, Default)]
pub(crate) struct Pauses {
    taken: u32,
}

impl Pauses {
    fn next(&mut self) -> Duration {
        let at = self.taken as usize;
        self.taken += 1;
        let doubled = || LATER.saturating_mul(1 << at.saturating_sub(FIRST.len()).min(32));
        Duration::from_millis(FIRST.get(at).copied().unwrap_or_else(doubled)).min(LONGEST_PAUSE)
    }

    /// The pause after a stream that lasted so long. One that ends soon each time is asked for ever more rarely, whatever came in it.
    pub(crate) fn after(&mut self, lasted: Duration) -> Duration {
        if lasted >= LASTING {
            self.taken = 0;
        }
        self.next()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_to_five_minutes_and_begin_anew() {
        let mut pauses = Pauses::default();
        let seconds: Vec<f64> = (0..11).map(|_| pauses.after(Duration::from_secs(59)).as_secs_f64()).collect();
        assert_eq!(seconds, [0.5, 1.0, 2.0, 4.0, 15.0, 30.0, 60.0, 120.0, 240.0, 300.0, 300.0]);
        assert_eq!(pauses.after(LASTING).as_secs_f64(), 0.5);
        let mut late = Pauses { taken: u32::MAX - 1 };
        assert_eq!(late.after(Duration::ZERO), LONGEST_PAUSE);
    }
}
