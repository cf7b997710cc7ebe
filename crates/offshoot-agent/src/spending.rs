//! What an agent and those that it has started may spend: dollars, tokens, requests, answers. What a request may cost at most is reserved
//! before it is sent, on the account of its agent and on all above it, and settled after it. Knows no front end.

mod book;
mod ledger_file;
#[cfg(test)]
mod tests;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use futures_util::{FutureExt as _, StreamExt as _};
use offshoot_protocol::AgentError;
use offshoot_protocol::message::{StopReason, Usage};
use offshoot_protocol::model::Model;
use offshoot_session::clock::Clock;
use tokio::sync::Notify;

use crate::provider::{Answer, Delta, Deltas, Failure, Provider, Request};
use crate::request::overhead_tokens;
use crate::tool::TaskLimits;
use crate::window::tokens_of;
pub use book::Spent;
use book::{Book, Fit, Need, Reached};
use ledger_file::{EarlierRuns, LedgerFile};

/// Limits for all runs of an agent together. `None` means no limit.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct RunLimits {
    /// Complete answers of the model. Requests that failed, and summaries, are not counted.
    pub turns: Option<u32>,
    /// US dollars by the models' prices, with summaries and with all agents that it starts.
    pub cost: Option<f64>,
    /// Tokens of all kinds, likewise.
    pub tokens: Option<u64>,
    /// Requests, likewise.
    pub requests: Option<u64>,
    /// How long a prompt may wait for a provider's limit beyond what retries wait. `None` for not at all.
    pub wait: Option<Duration>,
}

/// The account of an agent. Clones are the same account.
#[derive(Debug, Clone)]
pub(crate) struct Spending {
    shared: Arc<SharedBook>,
    account: usize,
    /// The id of a child; empty for the root.
    name: Arc<str>,
    own: Arc<OwnAnswers>,
}

#[derive(Debug)]
struct SharedBook {
    book: Mutex<Book>,
    freed: Notify,
    ledger: OnceLock<Ledger>,
}

/// The ledger on disk, and what it said of earlier runs; `None`: it was not there.
#[derive(Debug)]
struct Ledger {
    path: PathBuf,
    file: Arc<LedgerFile>,
    before: Option<EarlierRuns>,
}

/// Complete answers, which count for one agent alone.
#[derive(Debug, Default)]
struct OwnAnswers {
    limit: Option<u32>,
    answered: Mutex<Answered>,
}

#[derive(Debug, Default)]
struct Answered {
    turns: u32,
    /// Why a turn's request was not sent, once one was not.
    refused: Option<String>,
}

impl Spending {
    /// The account of an agent that nobody has started.
    pub(crate) fn new(limits: RunLimits) -> Self {
        let RunLimits { turns, cost, tokens, requests, wait: _ } = limits;
        let book = Book::new(TaskLimits { usd: cost, tokens, requests, seconds: None });
        let shared = Arc::new(SharedBook { book: Mutex::new(book), freed: Notify::new(), ledger: OnceLock::new() });
        Self {
            shared,
            account: 0,
            name: "".into(),
            own: Arc::new(OwnAnswers { limit: turns, ..OwnAnswers::default() }),
        }
    }

    /// An account below this one.
    pub(crate) fn below(&self, name: &str, limits: TaskLimits, turns: Option<u32>) -> Self {
        let account = self.book().open(self.account, limits);
        let own = Arc::new(OwnAnswers { limit: turns, ..OwnAnswers::default() });
        Self { shared: Arc::clone(&self.shared), account, name: name.into(), own }
    }

    /// Whether reservations are to be on disk and are not yet: something is limited.
    pub(crate) fn lacks_ledger(&self) -> bool {
        self.shared.ledger.get().is_none() && self.book().has_limits(self.account)
    }

    /// From now on reservations of the root and of all that it has started are recorded in this file.
    ///
    /// # Errors
    /// It cannot be written, in words.
    pub(crate) async fn record_in(&self, path: PathBuf, run: String) -> Result<(), String> {
        if self.shared.ledger.get().is_some() {
            return Ok(());
        }
        let shown = path.display().to_string();
        let failed = |why: String| format!("what is spent cannot be recorded in {shown}: {why}");
        let opened = tokio::task::spawn_blocking(move || LedgerFile::open(&path, run).map(|opened| (path, opened)));
        let (path, (file, before)) =
            opened.await.map_err(|error| failed(error.to_string()))?.map_err(|error| failed(error.to_string()))?;
        // Another call may have been faster.
        drop(self.shared.ledger.set(Ledger { path, file: Arc::new(file), before }));
        Ok(())
    }

    /// What a child and all below it have spent in earlier runs, by the ledger; `None` if there was none.
    pub(crate) fn spent_before(&self, child: &str) -> Option<Spent> {
        let before = self.shared.ledger.get()?.before.as_ref()?;
        let below = format!("{child}.");
        let mut sum = Spent::default();
        let own = before.iter().filter(|(id, _)| id.as_str() == child || id.starts_with(&below));
        own.for_each(|(_, spent)| sum.add(spent));
        Some(sum)
    }

    /// Adds what the agent has spent in an earlier run of the program, which those above it do not count.
    pub(crate) fn credit(&self, spent: &Spent) {
        self.book().credit(self.account, spent);
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        self.shared.book.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn answers(&self) -> MutexGuard<'_, Answered> {
        self.own.answered.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the agent and all that it has started have spent.
    pub(crate) fn spent(&self) -> Spent {
        self.book().spent(self.account)
    }

    /// The largest part of a limit of its own that is spent.
    pub(crate) fn part_spent(&self) -> f64 {
        self.book().part_spent(self.account)
    }

    /// Whether a turn's request may be sent as far as answers go.
    pub(crate) fn check_turn(&self) -> Result<(), AgentError> {
        let turns = self.answers().turns;
        match self.own.limit {
            Some(limit) if turns >= limit => {
                let answers = if turns == 1 { "1 answer".to_owned() } else { format!("{turns} answers") };
                let whose = if self.account == 0 { "of this run" } else { "of this agent" };
                Err(self.refused(format!("stopped after {answers}, the limit {whose}")))
            }
            _ => Ok(()),
        }
    }

    fn refused(&self, why: String) -> AgentError {
        self.answers().refused = Some(why.clone());
        AgentError::LimitReached(why)
    }

    /// The limit that ended a run, if one did. What an extension says to an idle agent then begins no other, which would end alike.
    pub(crate) fn check_begun_by_extension(&self) -> Result<(), AgentError> {
        self.answers().refused.clone().map_or(Ok(()), |why| Err(AgentError::LimitReached(why)))
    }

    /// Whether anything is left at all.
    pub(crate) fn check_any(&self, model: &Model) -> Result<(), AgentError> {
        let need = Need::of(model, 0, 1);
        let fit = self.book().fit(self.account, &need);
        match fit {
            Fit::Never(reached) => Err(AgentError::LimitReached(self.words(&reached))),
            Fit::Now(..) | Fit::Later => Ok(()),
        }
    }

    /// Reserves what a request of so many tokens may cost at most; waits while others hold what it needs.
    ///
    /// # Errors
    /// It does not fit, or the prices of the model are not known and a limit is in dollars.
    pub(crate) async fn reserve(&self, request: &mut Request, tokens: u64) -> Result<Hold, AgentError> {
        let model = &request.model;
        let wanted = request.max_tokens.unwrap_or(model.max_tokens);
        let need = Need::of(model, tokens, wanted);
        if !need.has_prices() && self.book().counts_dollars(self.account) {
            let (provider, id) = (&model.provider, &model.id);
            let why = format!("stopped: the prices of {provider}/{id} are not known, and a limit is in dollars");
            return Err(self.refused(why));
        }
        loop {
            let freed = self.shared.freed.notified();
            tokio::pin!(freed);
            freed.as_mut().enable();
            let fit = {
                let mut book = self.book();
                let fit = book.fit(self.account, &need);
                if let Fit::Now(_, held) = &fit {
                    book.hold(self.account, held);
                }
                fit
            };
            match fit {
                Fit::Now(output, held) => {
                    if output < wanted {
                        lower(request, output);
                    }
                    let mut hold =
                        Hold { of: self.clone(), held, number: None, is_open: true, is_sent: false, is_turn: false };
                    hold.record().await?;
                    return Ok(hold);
                }
                Fit::Later => freed.await,
                Fit::Never(reached) => return Err(self.refused(self.words(&reached))),
            }
        }
    }

    fn words(&self, reached: &Reached) -> String {
        let Reached { limit, why, account } = reached;
        match (*account, limit.strip_prefix("usd ")) {
            (0, Some(dollars)) => {
                let spent = self.book().spent(0).usd;
                format!("stopped at ${spent:.4}: the next request would pass the limit of ${dollars}")
            }
            (0, None) => format!("stopped: limit {limit} of this run reached: {why}"),
            _ => format!("stopped: limit {limit} reached: {why}"),
        }
    }

    fn end(&self, number: Option<&str>, held: &Spent, spent: &Spent) {
        if let (Some(number), Some(ledger)) = (number, self.shared.ledger.get()) {
            // If it is lost, the reservation counts.
            drop(ledger.file.end(number, spent));
        }
        {
            let mut book = self.book();
            book.release(self.account, held);
            if *spent != Spent::default() {
                book.spend(self.account, spent);
            }
        }
        self.shared.freed.notify_waiters();
    }
}

/// Also where thinking is added to the limit of the answer, the sum stays below.
fn lower(request: &mut Request, output: u64) {
    request.model = Arc::new(Model { max_tokens: output, ..Model::clone(&request.model) });
    request.max_tokens = request.max_tokens.map(|limit| limit.min(output));
}

/// What is reserved for a request. Dropped before it is sent, it is free again; after that it counts as spent unless the provider has
/// said what was used.
#[derive(Debug)]
pub(crate) struct Hold {
    of: Spending,
    held: Spent,
    /// In the ledger.
    number: Option<String>,
    is_open: bool,
    is_sent: bool,
    is_turn: bool,
}

impl Hold {
    /// Writes it down, before the request is sent. Dropping this may leave a reservation that counts.
    async fn record(&mut self) -> Result<(), AgentError> {
        let Some(ledger) = self.of.shared.ledger.get() else { return Ok(()) };
        let (file, number) = (Arc::clone(&ledger.file), ledger.file.number());
        self.number = Some(number.clone());
        let (held, name) = (self.held, Arc::clone(&self.of.name));
        let written = tokio::task::spawn_blocking(move || file.hold(&number, &name, &held)).await;
        let why = match written {
            Ok(Ok(())) => return Ok(()),
            Ok(Err(error)) => error.to_string(),
            Err(error) => error.to_string(),
        };
        let path = ledger.path.display();
        Err(AgentError::Failed(format!("not sent: what the request may cost cannot be recorded in {path}: {why}")))
    }

    /// Its answer counts as one of the agent's.
    pub(crate) fn of_turn(mut self) -> Self {
        self.is_turn = true;
        self
    }

    /// Passes the answer on, and settles at its end.
    pub(crate) fn over(mut self, deltas: Deltas) -> Deltas {
        self.is_sent = true;
        Box::pin(deltas.inspect(move |delta| {
            if let Delta::Done(answer) = delta {
                self.settle(answer);
            }
        }))
    }

    fn settle(&mut self, answer: &Answer) {
        if !std::mem::take(&mut self.is_open) {
            return;
        }
        let usage = &answer.message.usage;
        let is_refused = answer.failure.as_ref().is_some_and(|failure| failure.status.is_some());
        let spent = match *usage == Usage::default() {
            // The provider has not begun.
            true if is_refused => Spent { requests: 1, ..Spent::default() },
            true => self.held,
            false => Spent::of(usage),
        };
        self.of.end(self.number.as_deref(), &self.held, &spent);
        if self.is_turn && answer.failure.is_none() {
            self.of.answers().turns += 1;
        }
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        if std::mem::take(&mut self.is_open) {
            let spent = if self.is_sent { self.held } else { Spent::default() };
            self.of.end(self.number.as_deref(), &self.held, &spent);
        }
    }
}

/// Reserves for and settles requests that are not a turn's: summaries, and those of extensions.
pub(crate) struct MeteredProvider {
    pub(crate) provider: Arc<dyn Provider>,
    pub(crate) spending: Spending,
    pub(crate) clock: Arc<dyn Clock + Sync>,
}

impl Provider for MeteredProvider {
    fn sends_images(&self) -> bool {
        self.provider.sends_images()
    }

    fn stream(&self, mut request: Request) -> Deltas {
        let (spending, provider) = (self.spending.clone(), Arc::clone(&self.provider));
        let mut blank = request.model.blank_answer(self.clock.now());
        let begun = async move {
            let tokens = request.messages.iter().map(tokens_of).sum::<u64>();
            let tokens = tokens + overhead_tokens(&request.system, &request.tools);
            match spending.reserve(&mut request, tokens).await {
                Ok(hold) => hold.over(provider.stream(request)),
                Err(why) => {
                    blank.stop_reason = StopReason::Error;
                    blank.error_message = Some(why.to_string());
                    let failure = Failure {
                        status: None,
                        is_transient: false,
                        is_overflow: false,
                        is_about_pictures: false,
                        retry_after: None,
                        way_round: None,
                    };
                    let answer = Answer { message: blank, failure: Some(failure) };
                    let refused: Deltas = Box::pin(futures_util::stream::iter([Delta::Done(Box::new(answer))]));
                    refused
                }
            }
        };
        Box::pin(begun.flatten_stream())
    }
}
