//! Notices of extensions: as many as a person could read are passed on, and the rest is counted.

use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use offshoot_session::clock::{Clock as _, Millis, SystemClock};
use offshoot_session::text::counted;
use offshoot_session::transcript::Level;
use offshoot_tui::app::msg::Msg;
use tokio::runtime::Handle;

/// Notices in a second; the rest is counted.
const NOTICES: u32 = 10;
const SECOND: Millis = 1000;
/// A longer text is cut.
const MAX_BYTES: usize = 4 << 10;

pub(super) struct ExtensionNotices {
    news: Sender<Msg>,
    runtime: Handle,
    budget: Mutex<NoticeBudget>,
}

/// How many notices of this second were passed on, and how many were not.
#[derive(Default)]
struct NoticeBudget {
    since: Option<Millis>,
    told: u32,
    dropped: u64,
}

/// What becomes of a notice.
enum Passage {
    Shown,
    Counted,
    /// It is the first that is counted: the others are waited for.
    FirstCounted,
}

impl NoticeBudget {
    fn spend(&mut self, now: Millis) -> Passage {
        if self.since.is_none_or(|since| !(since..since + SECOND).contains(&now)) {
            (self.since, self.told) = (Some(now), 0);
        }
        self.told += 1;
        if self.told <= NOTICES {
            return Passage::Shown;
        }
        self.dropped += 1;
        if self.dropped == 1 { Passage::FirstCounted } else { Passage::Counted }
    }
}

impl ExtensionNotices {
    pub(super) fn new(news: Sender<Msg>, runtime: Handle) -> Arc<Self> {
        Arc::new(Self { news, runtime, budget: Mutex::default() })
    }

    pub(super) fn pass(self: &Arc<Self>, level: Level, text: &str) {
        let passage = self.budget.lock().unwrap_or_else(PoisonError::into_inner).spend(SystemClock.now());
        match passage {
            Passage::Shown => {
                let text = text.get(..text.floor_char_boundary(MAX_BYTES)).unwrap_or_default().to_owned();
                // The front end may have ended.
                drop(self.news.send(Msg::Notice(level, text)));
            }
            Passage::Counted => {}
            Passage::FirstCounted => {
                let this = Arc::clone(self);
                drop(self.runtime.spawn(async move { this.report().await }));
            }
        }
    }

    /// Says after a while how many were not shown.
    async fn report(&self) {
        tokio::time::sleep(Duration::from_secs(1)).await;
        let dropped = std::mem::take(&mut self.budget.lock().unwrap_or_else(PoisonError::into_inner).dropped);
        let dropped = counted(dropped, "more notice", "more notices");
        let text = format!("extensions said too much at once: {dropped} not shown");
        drop(self.news.send(Msg::Notice(Level::Warning, text)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_of_a_second_are_shown() {
        let mut budget = NoticeBudget::default();
        let shown =
            |budget: &mut NoticeBudget, now| (0..30).filter(|_| matches!(budget.spend(now), Passage::Shown)).count();
        assert_eq!(shown(&mut budget, 1_000), 10);
        assert_eq!(shown(&mut budget, 1_999), 0);
        assert_eq!(shown(&mut budget, 2_000), 10);
        assert_eq!(budget.dropped, 70);
        assert_eq!(shown(&mut budget, 0), 10, "the clock was set back");
    }
}
