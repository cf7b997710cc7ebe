//! A model that writes for operations.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use offshoot_agent::forecast::RequestForecast;
use offshoot_agent::operate::{PlanQuestion, SummaryWish};
use offshoot_session::compact::CompactionPlan;
use offshoot_session::session::Session;
use offshoot_session::summariser::Drafted;
use offshoot_session::tree::NodeIx;

use super::Window;
use crate::{NextRequest, Result};

/// A model that writes `text` and what was said on the branch, or how many messages go; counts how often it was asked.
pub(super) struct Writer {
    pub(super) window: Window,
    pub(super) asked: Arc<AtomicUsize>,
    pub(super) text: &'static str,
}

impl NextRequest for Writer {
    fn forecast(&self, session: &Session, target: Option<NodeIx>, more_tokens: u64) -> Result<RequestForecast> {
        self.window.forecast(session, target, more_tokens)
    }

    fn window(&self, session: &Session) -> Result<Option<(u64, u64)>> {
        self.window.window(session)
    }

    fn overhead(&self, session: &Session) -> Result<u64> {
        self.window.overhead(session)
    }

    fn summary(&self, session: &Session, question: &PlanQuestion, wish: &SummaryWish) -> Result<Drafted> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        let plan = (question.branch)(session, 1_000)?;
        let minds = match wish {
            SummaryWish::Usual => "",
            SummaryWish::Focus(text) | SummaryWish::Instead(text) => text,
        };
        let text = format!("{} {} {minds}", self.text, plan.text());
        Ok(Drafted { text, details: "{}".to_owned(), usage: None })
    }

    fn summary_cost(&self, _: &Session, _: &PlanQuestion) -> Result<Option<f64>> {
        Ok(Some(0.5))
    }

    fn compaction(&self, _: &Session, plan: &CompactionPlan, instructions: Option<&str>) -> Result<Drafted> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        let text = format!("Of {} messages. {}", plan.dropped().count(), instructions.unwrap_or_default());
        Ok(Drafted { text, details: "{}".to_owned(), usage: None })
    }

    fn after_compaction(&self, session: &Session, kept: u64) -> Result<RequestForecast> {
        self.window.forecast(session, None, kept)
    }
}
