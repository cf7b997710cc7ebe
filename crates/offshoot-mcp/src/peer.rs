//! Requests to a server that wait for their answers, and what a server says unasked. Knows no transport: messages leave through a
//! `Carrier`, and those that arrive are given to `Peer::take`.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use offshoot_session::text::one_line;
use serde_json::{Value, json};
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::oneshot;
use tokio::task::AbortHandle;
use tokio::time::{Instant, sleep_until, timeout_at};

use crate::elicitation::Person;
use crate::era::{Asks, Era};
use crate::message::{INVALID_PARAMS, Incoming, METHOD_NOT_FOUND, RpcError, answer, notification, request};
use crate::param_headers::ParamHeader;

/// Takes messages to the server.
pub(crate) trait Carrier: Send + Sync {
    /// Sends a message. The id is that of a request whose answer is waited for.
    fn send(&self, message: Value, id: Option<u64>);

    /// Nobody waits for the answer of this request any more. Whether the server has to be told by a message.
    fn forget(&self, id: u64) -> bool;

    /// The start is done: which version is spoken.
    fn settled(&self, _era: Era, _version: &str) {}

    /// Which arguments of which tools are sent a second time, where the carrier has a place for them.
    fn designate(&self, _headers: HashMap<String, Vec<ParamHeader>>) {}

    /// Says good-bye.
    fn close(&self) -> Closing<'_> {
        Box::pin(std::future::ready(()))
    }
}

pub(crate) type Closing<'a> = Pin<Box<dyn Future<Output = ()> + Send + 'a>>;

/// What a server says unasked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ServerNews {
    ToolsChanged,
    PromptsChanged,
    Log(String),
    Gone,
}

/// Why a request has no result.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum CallError {
    /// The server refuses it.
    #[error("{} (error {})", .0.message, .0.code)]
    Refused(RpcError),
    /// The connection has ended. Whether the server has done something is not known.
    #[error("{0}")]
    Gone(String),
    /// The server has forgotten the session before it has done anything.
    #[error("the server no longer knows the session")]
    SessionLost,
    /// The server wants a person to sign in.
    #[error("it needs a sign-in: {0}")]
    SignIn(String),
    /// There was no answer in time.
    #[error("it did not answer within {} ms", .0.as_millis())]
    Late(Duration),
}

/// How far a call is, in the server's words.
pub(crate) type Progress = UnboundedSender<String>;

pub(crate) struct Peer {
    next: AtomicU64,
    state: Mutex<PeerState>,
    carrier: Box<dyn Carrier>,
    news: UnboundedSender<ServerNews>,
    /// For servers that ask for roots: the session's folder.
    roots: Value,
    /// For servers that ask a person.
    person: Option<Person>,
    this: Weak<Self>,
}

/// What a peer is made of beside its carrier.
pub(crate) struct PeerParts {
    pub(crate) news: UnboundedSender<ServerNews>,
    /// The address of the session's folder.
    pub(crate) root: String,
    pub(crate) person: Option<Person>,
}

#[derive(Default)]
struct PeerState {
    waiting: HashMap<u64, Waiting>,
    /// Questions to the person, by the ids of the server's requests.
    questions: HashMap<String, OpenQuestion>,
    /// When the last question was answered.
    answered: Option<Instant>,
    gone: Option<CallError>,
    /// Whether the server has agreed to say what changes.
    has_agreed: bool,
}

struct OpenQuestion {
    id: Value,
    task: AbortHandle,
}

struct Waiting {
    /// Whether the server may ask the person meanwhile.
    may_ask: bool,
    answer: oneshot::Sender<Result<Value, CallError>>,
    progress: Option<UnboundedSender<String>>,
}

/// A request beside what is sent.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Patience {
    /// Without an answer or a sign of progress; `None`: any time.
    pub(crate) silence: Option<Duration>,
}

/// However much progress a server reports, it has no more than so many times the usual time.
const LONGEST_WAIT: u32 = 10;
const FAR: Duration = Duration::from_secs(365 * 24 * 3600);
const LONGEST_PROGRESS: usize = 500;

const ELICIT: &str = "elicitation/create";
/// What a person or the model has begun. While a server starts or lists, it asks nobody.
const MAY_ASK: [&str; 3] = ["tools/call", "resources/read", "prompts/get"];
/// At once.
const MOST_QUESTIONS: usize = 8;

/// What a person has to do with a wait.
enum PersonTime {
    None,
    Asking,
    Answered(Instant),
}

impl Peer {
    pub(crate) fn new(carrier: Box<dyn Carrier>, PeerParts { news, root, person }: PeerParts) -> Arc<Self> {
        let roots = json!({"roots": [{"uri": root, "name": "session"}]});
        let (next, state) = (AtomicU64::new(1), Mutex::default());
        Arc::new_cyclic(|this| Self { next, state, carrier, news, roots, person, this: this.clone() })
    }

    /// Whether somebody answers questions.
    pub(crate) fn asks(&self) -> Asks {
        if self.person.is_some() { Asks::Person } else { Asks::Nobody }
    }

    fn state(&self) -> MutexGuard<'_, PeerState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn is_gone(&self) -> bool {
        self.state().gone.is_some()
    }

    pub(crate) fn notify(&self, method: &str, params: Option<Value>) {
        self.carrier.send(notification(method, params), None);
    }

    pub(crate) fn settled(&self, era: Era, version: &str) {
        self.carrier.settled(era, version);
    }

    /// Says good-bye, and waits for nothing any more.
    pub(crate) async fn close(&self) {
        self.carrier.close().await;
        self.lose(&CallError::Gone("the program ends".to_owned()));
    }

    pub(crate) fn designate(&self, headers: HashMap<String, Vec<ParamHeader>>) {
        self.carrier.designate(headers);
    }

    /// Asks the server. Dropping the future tells the server that nobody waits any more.
    pub(crate) async fn ask(
        &self,
        method: &str,
        mut params: Value,
        patience: Patience,
        progress: Option<Progress>,
    ) -> Result<Value, CallError> {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let (answer, mut answered) = oneshot::channel();
        let (passed, mut signs) = tokio::sync::mpsc::unbounded_channel();
        {
            let mut state = self.state();
            if let Some(gone) = &state.gone {
                return Err(gone.clone());
            }
            let may_ask = MAY_ASK.contains(&method);
            state.waiting.insert(id, Waiting { may_ask, answer, progress: progress.is_some().then_some(passed) });
        }
        if progress.is_some() {
            params["_meta"]["progressToken"] = json!(id);
        }
        let mut asking = Asking { peer: self, id, is_answered: false };
        self.carrier.send(request(id, method, &params), Some(id));
        let begun = Instant::now();
        let silence = patience.silence.unwrap_or(FAR);
        let mut end = begun + silence.saturating_mul(LONGEST_WAIT).min(FAR);
        let mut until = begun + silence;
        loop {
            tokio::select! {
                biased;
                // Before the answer: both may be there.
                Some(sign) = signs.recv() => {
                    // A server that never stops reporting would keep the other arms from their turn.
                    if Instant::now() >= end {
                        return Err(CallError::Late(end - begun));
                    }
                    until = (Instant::now() + silence).min(end);
                    // Nobody may look at it.
                    progress.iter().for_each(|progress| drop(progress.send(sign.clone())));
                }
                answered = &mut answered => {
                    asking.is_answered = true;
                    return answered.unwrap_or_else(|_| Err(self.why_gone()));
                }
                () = sleep_until(until) => {
                    // A person takes any time.
                    until = match self.person_took() {
                        PersonTime::Asking => Instant::now() + silence,
                        PersonTime::Answered(at) if at + silence > until => at + silence,
                        PersonTime::Answered(_) | PersonTime::None => return Err(CallError::Late(silence)),
                    };
                    end += silence;
                }
            }
        }
    }

    fn why_gone(&self) -> CallError {
        self.state().gone.clone().unwrap_or_else(|| CallError::Gone("the connection has ended".to_owned()))
    }

    /// Takes what the server has sent.
    pub(crate) fn take(&self, incoming: Incoming) {
        match incoming {
            Incoming::Answer { id, result } => self.settle(id, result.map_err(CallError::Refused)),
            Incoming::Request { id, method, params } if method == ELICIT => self.question(id, params),
            Incoming::Request { id, method, params: _ } => {
                self.carrier.send(answer(&id, self.own_answer(&method)), None);
            }
            Incoming::Notification { method, params } => self.heed(&method, &params),
            Incoming::Garbage => {}
        }
    }

    pub(crate) fn settle(&self, id: u64, result: Result<Value, CallError>) {
        let waiting = self.state().waiting.remove(&id);
        self.withdraw_unneeded();
        if let Some(waiting) = waiting {
            // Nobody may wait for it any more.
            drop(waiting.answer.send(result));
        }
    }

    /// Models are not asked for servers: a server that asks learns so at once.
    fn own_answer(&self, method: &str) -> Result<Value, (i64, &'static str)> {
        match method {
            "ping" => Ok(json!({})),
            "roots/list" => Ok(self.roots.clone()),
            _ => Err((METHOD_NOT_FOUND, "offshoot does not do this")),
        }
    }

    /// The same for a server that asks within a result: for one of its `inputRequests`.
    pub(crate) async fn input(&self, asked: &Value) -> Value {
        let declined = json!({"action": "decline"});
        match (asked["method"].as_str().unwrap_or_default(), &self.person) {
            (ELICIT, Some(person)) => person.answer(&asked["params"]).await.unwrap_or(declined),
            (ELICIT, None) => declined,
            (method, _) => self.own_answer(method).unwrap_or(declined),
        }
    }

    /// A question to the person, beside the call that has led to it.
    fn question(&self, id: Value, params: Value) {
        let mut state = self.state();
        let is_called = state.waiting.values().any(|waiting| waiting.may_ask);
        let Some(person) = self.person.clone().filter(|_| is_called && state.questions.len() < MOST_QUESTIONS) else {
            drop(state);
            return self.carrier.send(answer(&id, Ok(json!({"action": "decline"}))), None);
        };
        let (this, key) = (self.this.clone(), id.to_string());
        let own = key.clone();
        // It ends after the lock is free, so it finds itself.
        let task = tokio::spawn(async move {
            let answered = person.answer(&params).await;
            if let Some(peer) = this.upgrade() {
                peer.answered(&own, answered.map_err(|why| (INVALID_PARAMS, why)));
            }
        });
        let question = OpenQuestion { id, task: task.abort_handle() };
        if let Some(same) = state.questions.insert(key, question) {
            same.task.abort();
        }
    }

    fn answered(&self, key: &str, result: Result<Value, (i64, &'static str)>) {
        let question = {
            let mut state = self.state();
            state.answered = Some(Instant::now());
            state.questions.remove(key)
        };
        if let Some(question) = question {
            self.carrier.send(answer(&question.id, result), None);
        }
    }

    /// Takes questions back: all of them if nothing is waited for that may lead to one.
    fn withdraw_unneeded(&self) {
        let questions: Vec<OpenQuestion> = {
            let mut state = self.state();
            if state.questions.is_empty() || state.waiting.values().any(|waiting| waiting.may_ask) {
                return;
            }
            state.questions.drain().map(|(_, question)| question).collect()
        };
        for OpenQuestion { id, task } in questions {
            task.abort();
            self.carrier.send(answer(&id, Ok(json!({"action": "cancel"}))), None);
        }
    }

    fn person_took(&self) -> PersonTime {
        let state = self.state();
        match state.answered {
            _ if !state.questions.is_empty() => PersonTime::Asking,
            Some(at) => PersonTime::Answered(at),
            None => PersonTime::None,
        }
    }

    fn heed(&self, method: &str, params: &Value) {
        let news = match method {
            "notifications/tools/list_changed" => ServerNews::ToolsChanged,
            "notifications/prompts/list_changed" => ServerNews::PromptsChanged,
            "notifications/subscriptions/acknowledged" => return self.agreed(),
            "notifications/message" => ServerNews::Log(logged(params)),
            "notifications/progress" => return self.progressed(params),
            "notifications/cancelled" => return self.take_back(&params["requestId"]),
            _ => return,
        };
        drop(self.news.send(news));
    }

    /// The server has agreed to say what changes. What it has said before, while nobody listened, is not known.
    fn agreed(&self) {
        let is_again = std::mem::replace(&mut self.state().has_agreed, true);
        if is_again {
            for news in [ServerNews::ToolsChanged, ServerNews::PromptsChanged] {
                drop(self.news.send(news));
            }
        }
    }

    /// The server no longer wants to know.
    fn take_back(&self, id: &Value) {
        let question = self.state().questions.remove(&id.to_string());
        question.into_iter().for_each(|question| question.task.abort());
    }

    fn progressed(&self, params: &Value) {
        let token = &params["progressToken"];
        let Some(id) = token.as_u64().or_else(|| token.as_str()?.parse().ok()) else { return };
        let total = params.get("total").filter(|total| total.is_number()).map(|total| format!("/{total}"));
        let words = params["message"].as_str().map(|words| one_line(words, LONGEST_PROGRESS));
        let words = words.unwrap_or_else(|| format!("Progress {}{}", params["progress"], total.unwrap_or_default()));
        let progress = self.state().waiting.get(&id).and_then(|waiting| waiting.progress.clone());
        progress.into_iter().for_each(|progress| drop(progress.send(words.clone())));
    }

    /// The connection has ended: nothing is waited for any more.
    pub(crate) fn lose(&self, why: &CallError) {
        let waiting = {
            let mut state = self.state();
            if state.gone.is_some() {
                return;
            }
            state.gone = Some(why.clone());
            state.questions.drain().for_each(|(_, question)| question.task.abort());
            std::mem::take(&mut state.waiting)
        };
        waiting.into_values().for_each(|waiting| drop(waiting.answer.send(Err(why.clone()))));
        drop(self.news.send(ServerNews::Gone));
    }
}

/// A request whose caller may give up.
struct Asking<'a> {
    peer: &'a Peer,
    id: u64,
    is_answered: bool,
}

impl Drop for Asking<'_> {
    fn drop(&mut self) {
        if self.is_answered {
            return;
        }
        let was_waiting = self.peer.state().waiting.remove(&self.id).is_some();
        self.peer.withdraw_unneeded();
        if was_waiting && self.peer.carrier.forget(self.id) {
            let params = json!({"requestId": self.id, "reason": "nobody waits for the answer any more"});
            self.peer.notify("notifications/cancelled", Some(params));
        }
    }
}

fn logged(params: &Value) -> String {
    let data = match &params["data"] {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let logger = params["logger"].as_str().unwrap_or_default();
    one_line(&format!("{} {logger}: {data}", params["level"].as_str().unwrap_or("info")), 1000)
}

/// Waits for an answer of a start, at most so long.
pub(crate) async fn within<T>(
    limit: Duration,
    work: impl Future<Output = Result<T, CallError>>,
) -> Result<T, CallError> {
    timeout_at(Instant::now() + limit, work).await.unwrap_or(Err(CallError::Late(limit)))
}

#[cfg(test)]
mod tests {
    use offshoot_agent::tool::{FormAsker, FormMessage};
    use offshoot_protocol::FormAnswer;

    use super::*;

    struct Nowhere;

    impl Carrier for Nowhere {
        fn send(&self, _: Value, _: Option<u64>) {}

        fn forget(&self, _: u64) -> bool {
            false
        }
    }

    fn peer(person: Option<Person>) -> Arc<Peer> {
        let parts = PeerParts { news: tokio::sync::mpsc::unbounded_channel().0, root: "file:///".to_owned(), person };
        Peer::new(Box::new(Nowhere), parts)
    }

    /// The call that has led to a question waits as long as the person does, and then as long as always.
    #[test]
    fn a_person_takes_any_time_to_answer() {
        let open = Arc::new(Mutex::new(Vec::new()));
        let kept = open.clone();
        let asker = FormAsker::new(move |message| {
            if let FormMessage::Ask(.., reply) = message {
                kept.lock().unwrap().push(reply);
            }
        });
        let peer = peer(Some(Person::new("s", asker)));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let silence = Duration::from_millis(20);
        let asked = runtime.block_on(async {
            let asking = peer.ask("tools/call", json!({}), Patience { silence: Some(silence) }, None);
            let person = async {
                let (id, method, params) = (json!("q"), ELICIT.to_owned(), json!({"message": "?"}));
                peer.take(Incoming::Request { id, method, params });
                let begun = Instant::now();
                while begun.elapsed() < silence * (LONGEST_WAIT + 2) {
                    tokio::task::yield_now().await;
                }
                assert_eq!(peer.state().questions.len(), 1);
                open.lock().unwrap().remove(0).send(FormAnswer::Decline).unwrap();
                std::future::pending::<()>().await;
            };
            tokio::select! { asked = asking => asked, () = person => unreachable!() }
        });
        assert_eq!(asked, Err(CallError::Late(silence)));
        assert!(peer.state().questions.is_empty());
    }

    #[test]
    fn a_server_that_reports_progress_without_a_pause_has_no_more_time_than_others() {
        let peer = peer(None);
        let flood = Arc::clone(&peer);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let silence = Duration::from_millis(2);
        let asked = runtime.block_on(async {
            let (progress, _shown) = tokio::sync::mpsc::unbounded_channel();
            let patience = Patience { silence: Some(silence) };
            let asking = peer.ask("tools/call", json!({}), patience, Some(progress));
            let flooding = async {
                let params = json!({"progressToken": 1, "progress": 1});
                let method = "notifications/progress".to_owned();
                loop {
                    flood.take(Incoming::Notification { method: method.clone(), params: params.clone() });
                    // More than `ask` takes in one turn.
                    flood.take(Incoming::Notification { method: method.clone(), params: params.clone() });
                    tokio::task::yield_now().await;
                }
            };
            tokio::select! { asked = asking => asked, () = flooding => unreachable!() }
        });
        assert_eq!(asked, Err(CallError::Late(silence * LONGEST_WAIT)));
    }
}
