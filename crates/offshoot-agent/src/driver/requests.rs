//! Requests of a turn: the check for a key, the context with what extensions change of it, and the answer's stream.

use std::sync::Arc;

use offshoot_protocol::model::Model;
use offshoot_protocol::{AgentError, Event, NoticeCode};
use offshoot_session::compose::NewEntry;
use offshoot_session::json::Json;
use tokio::sync::mpsc::Sender;

use super::background::InBackground;
use super::stream_rules::RuleWatch;
use super::{AnswerDelta, Driver, DriverInput, WriteOf};
use crate::crash::caught_task;
use crate::extensions::{Question, RequestContext, RunAdditions};
use crate::family::Family;
use crate::guarded::GuardedProvider;
use crate::key_redactor::KeyRedactor;
use crate::key_source::KeySource;
use crate::model::KeyedModel;
use crate::open_answer::LeftOpen;
use crate::pictures::{CHOICE, FittedPictures, PictureFitter, count_pictures};
use crate::provider::{
    Delta, Deltas, Provider, Request, is_about_pictures, is_cut_short, is_of_request, is_silent_overflow, named_message,
};
use crate::request::{self, Built, Frame};
use crate::request_hooks::{HookedProvider, RequestKind, hooks};
use crate::spending::{Hold, MeteredProvider, Spending};
use crate::tool::{TASK_TOOL, Tool};
use crate::turn::{Ticket, TurnInput};
use crate::way_round::way_round;
use crate::writer::WriterHandle;

/// A request whose pictures fit.
pub(crate) struct FittedRequest {
    built: Built,
    pictures: FittedPictures,
    /// What it may cost; `None` until it is reserved.
    hold: Option<Hold>,
}

impl Driver {
    /// Checks whether there is a key for the model. A key command's output stays cached for the request.
    pub(super) fn admit(&mut self, ticket: Ticket) {
        let (own, keys, model) = (self.own.clone(), self.setup.keys.clone(), self.setup.model.clone());
        let extensions = self.extensions_for(Question::BeforeRun);
        let start = self.run_start.take().filter(|_| extensions.is_some());
        let (handle, left) = (self.writer.handle().clone(), self.left_open());
        let background = InBackground {
            commands: self.background.clone(),
            children: self.children.in_background(),
            known: self.children.known_before_look(),
        };
        self.spawn(ticket, async move {
            let admitted = match accessed(keys.as_ref(), &model).await {
                Ok(_) => {
                    let mut additions = match (extensions, start) {
                        (Some(extensions), Some(start)) => extensions.before_run(start).await,
                        _ => RunAdditions::default(),
                    };
                    additions.messages.extend(background.ended_of_branch(&handle).await);
                    Ok(additions)
                }
                Err(error) => Err(error),
            };
            let open = match (&admitted, left) {
                (Ok(_), Some(left)) => handle.ask(move |owned| left.of(owned.session())).await,
                _ => Ok(Ok(None)),
            };
            // What cannot be read is not gone on with; the request says why.
            let open = open.ok().and_then(Result::ok).flatten().map(Box::new);
            drop(own.send(match admitted {
                Ok(additions) => DriverInput::Admitted { ticket, additions: Box::new(additions), open },
                Err(error) => DriverInput::Machine(TurnInput::NotAdmitted { ticket, error }),
            }));
        });
    }

    /// Which calls without results a run goes on with: a child with all of its own, others with those that started children.
    fn left_open(&self) -> Option<LeftOpen> {
        let starts_children = self.setup.tools.iter().any(|tool| tool.name() == TASK_TOOL);
        match self.setup.family.is_child() {
            true => Some(LeftOpen::Any),
            false => starts_children.then_some(LeftOpen::OfTasks),
        }
    }

    /// Estimates the request as it is before extensions change its messages.
    pub(super) fn measure(&mut self, ticket: Ticket) {
        let (own, handle, frame) = (self.own.clone(), self.writer.handle().clone(), self.frame());
        self.spawn(ticket, async move {
            let built = handle.ask(move |owned| request::build(owned.session(), frame));
            let input = match built.await.and_then(|built| built) {
                Ok(Built { tokens, .. }) => TurnInput::Measured { ticket, tokens },
                Err(error) => TurnInput::BuildFailed { ticket, error },
            };
            drop(own.send(DriverInput::Machine(input)));
        });
    }

    /// What requests have beside the session's messages, without the key.
    pub(super) fn frame(&self) -> Frame {
        let mut model = self.setup.model.clone();
        if model.images && !self.setup.provider.sends_images() {
            model = Arc::new(Model { images: false, ..Model::clone(&model) });
        }
        Frame {
            model,
            thinking: self.setup.thinking(),
            system: self.run_system.clone().unwrap_or_else(|| self.system_text()),
            tools: self.sent_tools().iter().map(|tool| tool.spec()).collect(),
            key: None,
        }
    }

    /// The tools of requests. A session never records which are left out.
    pub(super) fn sent_tools(&self) -> Vec<Arc<dyn Tool>> {
        let tools = self.setup.tools.iter();
        let is_left_out = |tool: &dyn Tool| {
            (self.leaves_out_changes && tool.only_changes()) || (tool.needs_person() && !self.can_ask())
        };
        tools.filter(|tool| !is_left_out(tool.as_ref())).cloned().collect()
    }

    /// The system prompt for these tools.
    pub(super) fn system_text(&self) -> String {
        self.setup.system.text(&self.sent_tools())
    }

    pub(super) fn build(&mut self, ticket: Ticket) {
        match self.extensions_for(Question::Context) {
            Some(_) => self.read_context(ticket),
            None => self.build_with(ticket, None),
        }
    }

    /// Builds the request. Extensions first change the messages, if there are any to change.
    pub(super) fn build_with(&mut self, ticket: Ticket, messages: Option<Vec<String>>) {
        let (own, handle, keys) = (self.own.clone(), self.writer.handle().clone(), self.setup.keys.clone());
        let Frame { model, thinking, system, tools, .. } = self.frame();
        let extensions = self.setup.extensions.clone();
        let pictures = self.pictures.clone();
        let watches = self.has_stream_rules();
        let (spending, family) = (self.spending.clone(), self.setup.family.clone());
        let run = format!("{:x}-{:x}", std::process::id(), self.setup.clock.now());
        self.spawn(ticket, async move {
            let changed = match (messages, extensions) {
                (Some(messages), Some(extensions)) => {
                    let (system, tools) = (system.clone(), tools.clone());
                    extensions.context(RequestContext { messages, system, tools }).await
                }
                _ => None,
            };
            let (messages, system, tools) = match changed {
                Some(RequestContext { messages, system, tools }) => (Some(messages), system, tools),
                None => (None, system, tools),
            };
            let access = accessed(keys.as_ref(), &model).await;
            let ledger_of = handle.clone();
            let built = handle.ask(move |owned| {
                let KeyedModel { model, key } = access?;
                let frame = Frame { model, thinking, system, tools, key };
                let built = match messages {
                    Some(messages) => request::build_from(owned.session(), frame, messages),
                    None => request::build(owned.session(), frame),
                }?;
                let injected_rules = if watches { request::injected_rules(owned.session())? } else { Vec::new() };
                Ok(Built { injected_rules, ..built })
            });
            let built = match built.await.and_then(|built| built) {
                Ok(built) if has_pictures(&built.request) => fitted(pictures, built).await,
                Ok(built) => Ok(FittedRequest { built, pictures: FittedPictures::default(), hold: None }),
                Err(error) => Err(error),
            };
            let built = match built {
                Ok(fitted) => match recorded(&spending, (&family, run), &ledger_of).await {
                    Ok(()) => reserved(&spending, fitted).await,
                    Err(why) => Err(why),
                },
                Err(error) => Err(error),
            };
            drop(own.send(DriverInput::Built { ticket, built: Box::new(built) }));
        });
    }

    pub(super) fn request_built(&mut self, ticket: Ticket, fitted: Result<FittedRequest, AgentError>) {
        let allowed = fitted.and_then(|fitted| {
            self.spending.check_turn()?;
            Ok(fitted)
        });
        match allowed {
            Ok(FittedRequest { built: Built { request, tokens, owners, injected_rules, .. }, pictures, hold }) => {
                self.rule_watch = RuleWatch::over(injected_rules);
                if self.state.is_building(ticket) {
                    self.keep_choice(pictures);
                }
                let blank = Box::new(request.model.blank_answer(self.setup.clock.now()));
                self.redactor = KeyRedactor::of(self.setup.keys.as_ref(), request.key.clone());
                self.built = Some((request, owners, hold));
                self.step(TurnInput::Built { ticket, tokens, blank });
                // Where the context is compacted first, another request is built after that.
                self.built = None;
            }
            Err(error) => self.step(TurnInput::BuildFailed { ticket, error }),
        }
    }

    /// Keeps from which picture on they are sent, and says what is not sent.
    fn keep_choice(&mut self, pictures: FittedPictures) {
        let FittedPictures { choice, told } = pictures;
        if let Some(data) = choice {
            self.write(Vec::new(), WriteOf::Beside("which pictures are sent"), move |owned| {
                let data = Json::parse(&data).map_err(|error| error.to_string())?;
                owned.append(&[NewEntry::custom(CHOICE, Some(data))])?;
                Ok(owned.leaf_entry())
            });
        }
        for message in told {
            self.outbox.tell(Event::Notice { code: NoticeCode::Pictures, message, entry_id: None });
        }
    }

    pub(super) fn send(&mut self, ticket: Ticket) {
        let Some((mut request, owners, hold)) = self.built.take() else { return };
        request.hooks = hooks(self.setup.extensions.as_ref(), RequestKind::Turn);
        let sent = SentRequest {
            // An extension may make another body of the messages.
            owners: if self.extensions_for(Question::BeforeBody).is_some() { Vec::new() } else { owners },
            request: request.clone(),
            handle: self.writer.handle().clone(),
        };
        let expected = Expected {
            window: request.model.context_window,
            limit: request.max_tokens.unwrap_or(request.model.max_tokens),
            has_pictures: has_pictures(&request),
            sent,
        };
        let (provider, answer_to) = (self.provider(), self.answer.clone());
        self.spawn(ticket, async move {
            let listening = caught_task(|| {
                let deltas = provider.stream(request);
                let deltas = match hold {
                    Some(hold) => hold.of_turn().over(deltas),
                    None => deltas,
                };
                listen(deltas, expected, (ticket, answer_to.clone()))
            });
            let broke = match listening.await {
                Ok(Listened::ToTheEnd) => return,
                Ok(Listened::Broken) => "the answer ended without its end".to_owned(),
                Err(crash) => format!("the provider crashed: {crash}"),
            };
            // The driver may have ended.
            drop(answer_to.send((ticket, Err(broke))).await);
        });
        self.make_tools_ready(ticket);
    }

    /// For summaries.
    pub(super) fn summary_provider(&self) -> Arc<dyn Provider> {
        let hooks = hooks(self.setup.extensions.as_ref(), RequestKind::Summary);
        Arc::new(HookedProvider { provider: self.metered_provider(), hooks })
    }

    /// For requests that are not a turn's.
    pub(crate) fn metered_provider(&self) -> Arc<dyn Provider> {
        let (spending, clock) = (self.spending.clone(), Arc::clone(&self.setup.clock));
        Arc::new(MeteredProvider { provider: self.provider(), spending, clock })
    }

    /// For turns, which reserve what a request may cost when it is built.
    fn provider(&self) -> Arc<dyn Provider> {
        let (provider, keys) = (self.setup.provider.clone(), self.setup.keys.clone());
        Arc::new(GuardedProvider { provider, keys })
    }
}

/// The key of a model; a source of keys that panics gives none.
async fn accessed(keys: &dyn KeySource, model: &Arc<Model>) -> Result<KeyedModel, AgentError> {
    match caught_task(|| keys.access(model)).await {
        Ok(access) => access.map_err(AgentError::from),
        Err(crash) => Err(AgentError::Crashed { what: "the source of keys", crash }),
    }
}

/// Begins the ledger of a root whose run has limits.
async fn recorded(
    spending: &Spending,
    (family, run): (&Family, String),
    session: &WriterHandle,
) -> Result<(), AgentError> {
    if family.is_child() || !spending.lacks_ledger() {
        return Ok(());
    }
    let id = session.ask(|owned| owned.session().file().map(|_| owned.session().id().to_owned())).await?;
    let Some(path) = id.and_then(|id| family.ledger_of(&id)) else { return Ok(()) };
    spending.record_in(path, run).await.map_err(AgentError::Failed)
}

/// With what it may cost reserved.
async fn reserved(spending: &Spending, mut fitted: FittedRequest) -> Result<FittedRequest, AgentError> {
    spending.check_turn()?;
    let tokens = fitted.built.tokens;
    fitted.hold = Some(spending.reserve(&mut fitted.built.request, tokens).await?);
    Ok(fitted)
}

/// How a stream ended.
enum Listened {
    /// The answer is complete, or nobody listens.
    ToTheEnd,
    /// There is no answer.
    Broken,
}

/// Whether the model gets pictures.
fn has_pictures(request: &Request) -> bool {
    request.model.images && request.messages.iter().any(|message| count_pictures(message) > 0)
}

/// Decoding pictures takes time: a thread of its own does it.
async fn fitted(pictures: Arc<PictureFitter>, mut built: Built) -> Result<FittedRequest, AgentError> {
    let fitting = tokio::task::spawn_blocking(move || {
        let pictures = pictures.fit(&mut built.request, &built.trail);
        FittedRequest { built, pictures, hold: None }
    });
    fitting.await.map_err(|error| AgentError::Failed(format!("the pictures of the request cannot be read: {error}")))
}

/// What the answer to a request is held against.
struct Expected {
    window: u64,
    /// Of the answer.
    limit: u64,
    has_pictures: bool,
    sent: SentRequest,
}

/// A request on its way, to find out what a refusal is about.
struct SentRequest {
    request: Request,
    /// The entry of each message.
    owners: Vec<String>,
    handle: WriterHandle,
}

impl SentRequest {
    /// What a person can do about a refusal with these words.
    async fn way_round(self, said: String) -> Option<String> {
        let Self { request, owners, handle } = self;
        // Bodies are made again, which takes time in a long conversation.
        let entry = tokio::task::spawn_blocking(move || {
            let message = named_message(&request, &said).filter(|_| owners.len() == request.messages.len())?;
            request::owner_of(&owners, message).map(str::to_owned)
        });
        let entry = entry.await.ok().flatten();
        handle.ask(move |owned| way_round(owned.session(), entry.as_deref())).await.ok()
    }
}

/// Passes deltas on until the answer is complete or nobody listens.
async fn listen(
    mut deltas: Deltas,
    expected: Expected,
    (ticket, answer_to): (Ticket, Sender<AnswerDelta>),
) -> Listened {
    let Expected { window, limit, has_pictures, sent } = expected;
    let mut sent = Some(sent);
    while let Some(mut delta) = std::future::poll_fn(|context| deltas.as_mut().poll_next(context)).await {
        let is_last = matches!(delta, Delta::Done(_));
        if let Delta::Done(answer) = &mut delta
            && answer.failure.is_none()
            && (is_silent_overflow(&answer.message, window) || is_cut_short(&answer.message, limit))
        {
            answer.failure = Some(crate::provider::Failure {
                status: None,
                is_transient: false,
                is_overflow: true,
                is_about_pictures: false,
                retry_after: None,
                way_round: None,
            });
        }
        if let Delta::Done(answer) = &mut delta
            && let Some(failure) = answer.failure.as_mut()
        {
            let words = answer.message.error_message.as_deref().unwrap_or_default();
            failure.is_about_pictures = has_pictures && is_about_pictures(failure, words);
            if let Some(sent) = sent.take().filter(|_| is_of_request(failure, words)) {
                failure.way_round = sent.way_round(words.to_owned()).await;
            }
        }
        if answer_to.send((ticket, Ok(delta))).await.is_err() || is_last {
            return Listened::ToTheEnd;
        }
    }
    Listened::Broken
}
