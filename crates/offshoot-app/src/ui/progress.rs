//! A progress bar for long work.

use indicatif::{ProgressBar, ProgressStyle};
use offshoot_session::clock::{Clock as _, Millis, SystemClock};

const PATIENCE: Millis = 1000;

/// Draws itself on stderr after a second, and disappears when dropped.
pub struct WorkProgress {
    what: &'static str,
    is_seen: bool,
    since: Millis,
    bar: Option<ProgressBar>,
}

impl WorkProgress {
    pub(super) fn new(what: &'static str, is_seen: bool) -> Self {
        Self { what, is_seen, since: SystemClock.now(), bar: None }
    }

    /// So much is done of so much.
    pub fn at(&mut self, done: usize, total: usize) {
        if !self.is_seen || (self.bar.is_none() && done >= total) {
            return;
        }
        if self.bar.is_none() && SystemClock.now() - self.since > PATIENCE {
            let bar = ProgressBar::new(total as u64).with_message(self.what);
            if let Ok(style) = ProgressStyle::with_template("{msg} {wide_bar} {pos}/{len}") {
                bar.set_style(style);
            }
            self.bar = Some(bar);
        }
        if done >= total {
            self.finish();
        } else if let Some(bar) = &self.bar {
            bar.set_position(done as u64);
        }
    }

    fn finish(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }
}

impl Drop for WorkProgress {
    fn drop(&mut self) {
        self.finish();
    }
}
