//! Code of an embedder that panics or breaks off: who waits is told, and the session goes on.

use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, OnceLock};

use futures_util::{StreamExt as _, stream};
use offshoot_agent::agent_session::AgentSession;
use offshoot_agent::model::KeyedModel;
use offshoot_agent::provider::{Delta, Deltas, Http, Provider, Request, ToolSpec};
use offshoot_agent::request_queue::RunNested;
use offshoot_agent::summarise::{AsyncSummariser, Summary};
use offshoot_agent::testing::script::{Reply, Say};
use offshoot_agent::testing::server::KEY;
use offshoot_agent::tool::{Running, Tier, Tool, ToolContext, ToolOutcome};
use offshoot_agent::turn::Call;
use offshoot_agent::writer::Writer;
use offshoot_agent::{Accessing, KeySource, Setup};
use offshoot_protocol::model::Model;
use offshoot_protocol::{AgentError, Event, NoticeCode, Secret, Settled};
use offshoot_session::clock::{Clock, Millis, SystemClock};
use offshoot_session::session::{NewSession, Options, Session};
use serde_json::{Value, json};
use tokio::sync::mpsc::UnboundedSender;

use crate::operations::{Asked, operate};
use crate::test_extensions::TestExtensions;
use crate::world::{Events, World, prompting, run};

/// How a stream breaks off.
#[derive(Clone, Copy, Debug)]
enum Break {
    AtOnce,
    WhileItStreams,
    WithoutEnd,
    WithoutAnything,
}

/// Breaks off once, and then answers.
struct Breaking {
    how: Break,
    has_broken: AtomicBool,
    then: Http,
}

impl Provider for Breaking {
    fn stream(&self, request: Request) -> Deltas {
        if self.has_broken.swap(true, Ordering::SeqCst) {
            return self.then.stream(request);
        }
        let words = || {
            let text = Delta::Text { index: 0, delta: "so far".to_owned() };
            stream::iter([Delta::Start, Delta::TextStart { index: 0 }, text])
        };
        match self.how {
            Break::AtOnce => panic!("no stream at all"),
            Break::WhileItStreams => Box::pin(words().chain(stream::poll_fn(|_| panic!("in the stream")))),
            Break::WithoutEnd => Box::pin(words()),
            Break::WithoutAnything => Box::pin(stream::empty()),
        }
    }
}

fn breaking(world: &World, how: Break, retries: bool) -> Setup {
    let then = Http::new(Arc::new(SystemClock));
    let provider = Arc::new(Breaking { how, has_broken: AtomicBool::new(false), then });
    let mut setup = Setup { provider, ..world.setup() };
    setup.retry.enabled = retries;
    setup
}

const ALL: [Break; 4] = [Break::AtOnce, Break::WhileItStreams, Break::WithoutEnd, Break::WithoutAnything];

#[test]
fn a_stream_that_breaks_off_is_a_failed_answer() {
    for how in ALL {
        run(async {
            let world = World::new([Reply::text("Yes?")]);
            let (agent, _events) = world.start_with(world.session(), breaking(&world, how, false));
            let settled = agent.prompt("talk").await;
            assert!(matches!(&settled, Ok(Settled::Failed(_))), "{how:?}: {settled:?}");
            assert_eq!(agent.abort().await, Ok(Settled::Done));
            assert_eq!(agent.prompt("again").await, Ok(Settled::Done), "{how:?}");
            let entries = world.entries();
            let so_far = if matches!(how, Break::WhileItStreams | Break::WithoutEnd) { "so far" } else { "" };
            assert!(entries.contains(&format!("assistant \"{so_far}\" Error")), "{how:?}: {entries}");
            world.no_problems();
        });
    }
}

#[test]
fn a_stream_that_breaks_off_is_asked_again() {
    for how in ALL {
        run(async {
            let world = World::new([Reply::text("Yes?")]);
            let (agent, _events) = world.start_with(world.session(), breaking(&world, how, true));
            assert_eq!(agent.prompt("talk").await, Ok(Settled::Done), "{how:?}");
            assert!(world.entries().ends_with("assistant \"Yes?\" Stop"), "{how:?}: {}", world.entries());
        });
    }
}

/// Never yields anything.
struct Silent;

impl Provider for Silent {
    fn stream(&self, _: Request) -> Deltas {
        Box::pin(stream::pending())
    }
}

#[test]
fn a_stream_that_never_yields_is_stopped() {
    run(async {
        let world = World::new([]);
        let (agent, mut events) =
            world.start_with(world.session(), Setup { provider: Arc::new(Silent), ..world.setup() });
        let talking = prompting(&agent, "talk");
        events.until(|event| matches!(event, Event::MessageEnd { .. })).await;
        assert_eq!(agent.abort().await, Ok(Settled::Aborted));
        assert_eq!(talking.await.unwrap(), Ok(Settled::Aborted));
    });
}

/// Where a tool panics.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PanicAt {
    Judging,
    Beginning,
    Running,
}

struct Panicking {
    name: &'static str,
    at: PanicAt,
}

impl Tool for Panicking {
    fn spec(&self) -> ToolSpec {
        ToolSpec { name: self.name.to_owned(), description: "panics".to_owned(), parameters: json!({"type": "object"}) }
    }

    fn name(&self) -> &str {
        self.name
    }

    fn tier(&self, _: &Value, _: &ToolContext) -> Tier {
        assert!(self.at != PanicAt::Judging, "while it is judged");
        Tier::Read(Vec::new())
    }

    fn run(&self, _: Value, _: Arc<ToolContext>, _: UnboundedSender<ToolOutcome>) -> Running {
        assert!(self.at != PanicAt::Beginning, "before it runs");
        Box::pin(async {
            tokio::task::yield_now().await;
            panic!("while it runs")
        })
    }
}

#[test]
fn a_tool_that_panics_is_a_result_that_says_so() {
    run(async {
        let calls = Reply::say(["judged", "at_once", "later", "ls"].map(|name| Say::Call {
            call: name.to_owned(),
            id: format!("c-{name}"),
            arguments: serde_json::Map::new(),
            signature: None,
        }));
        let world = World::new([calls, Reply::text("I see.")]);
        let mut setup = world.setup();
        setup.tools.push(Arc::new(Panicking { name: "judged", at: PanicAt::Judging }));
        setup.tools.push(Arc::new(Panicking { name: "at_once", at: PanicAt::Beginning }));
        setup.tools.push(Arc::new(Panicking { name: "later", at: PanicAt::Running }));
        let (agent, _events) = world.start_with(world.session(), setup);
        assert_eq!(agent.prompt("work").await, Ok(Settled::Done));
        let entries = world.entries();
        assert!(entries.contains("error judged \"The tool judged crashed: while it is judged"), "{entries}");
        assert!(entries.contains("error at_once \"The tool at_once crashed: before it runs"), "{entries}");
        assert!(entries.contains("error later \"The tool later crashed: while it runs"), "{entries}");
        assert!(entries.contains("result ls"), "{entries}");
        world.no_problems();
    });
}

/// Calls another tool and returns its outcome.
struct Nesting(Arc<OnceLock<AgentSession>>);

impl Tool for Nesting {
    fn spec(&self) -> ToolSpec {
        ToolSpec { name: "nesting".to_owned(), description: "nests".to_owned(), parameters: json!({"type": "object"}) }
    }

    fn name(&self) -> &'static str {
        "nesting"
    }

    fn tier(&self, _: &Value, _: &ToolContext) -> Tier {
        Tier::Read(Vec::new())
    }

    fn run(&self, _: Value, context: Arc<ToolContext>, _: UnboundedSender<ToolOutcome>) -> Running {
        let agent = self.0.get().unwrap().clone();
        Box::pin(async move {
            let call = Call { id: "inner".to_owned(), name: "later".to_owned(), arguments: json!({}) };
            let (steps, _partials) = tokio::sync::mpsc::unbounded_channel();
            let nested = RunNested { parent: context.call_id.clone(), call, steps };
            agent.ask(nested).await.unwrap()
        })
    }
}

#[test]
fn a_tool_that_panics_in_another_call_is_a_result_that_says_so() {
    run(async {
        let world = World::new([Reply::call("nesting", "c1", json!({})), Reply::text("I see.")]);
        let mut setup = world.setup();
        let handle = Arc::new(OnceLock::new());
        setup.tools.push(Arc::new(Nesting(handle.clone())));
        setup.tools.push(Arc::new(Panicking { name: "later", at: PanicAt::Running }));
        let (agent, _events) = world.start_with(world.session(), setup);
        handle.set(agent.clone()).unwrap();
        assert_eq!(agent.prompt("work").await, Ok(Settled::Done));
        let entries = world.entries();
        assert!(entries.contains("error nesting \"The tool later crashed: while it runs"), "{entries}");
    });
}

/// A source of keys that panics while it is turned on.
struct PanickingKeys(Arc<AtomicBool>);

impl KeySource for PanickingKeys {
    fn access<'a>(&'a self, model: &'a Arc<Model>) -> Accessing<'a> {
        assert!(!self.0.load(Ordering::SeqCst), "no key");
        let access = KeyedModel { model: model.clone(), key: Some(Secret::new(KEY)) };
        Box::pin(std::future::ready(Ok(access)))
    }
}

/// A prompt, a user's command and a summary all report the missing key.
#[test]
fn a_source_of_keys_that_panics_is_told() {
    run(async {
        let long = "word ".repeat(2000);
        let world = World::new([Reply::text(&long), Reply::text(&long), Reply::text("Yes.")]);
        let is_on = Arc::new(AtomicBool::new(false));
        let mut setup = world.setup();
        setup.keys = Arc::new(PanickingKeys(is_on.clone()));
        setup.compaction.keep_recent_tokens = 100;
        let (agent, mut events) = world.start_with(world.session(), setup);
        for words in ["first", "second"] {
            assert_eq!(agent.prompt(words).await, Ok(Settled::Done));
        }
        is_on.store(true, Ordering::SeqCst);
        let refused = agent.prompt("third").await;
        assert!(matches!(&refused, Err(AgentError::Crashed { what: "the source of keys", .. })), "{refused:?}");
        let ran = agent.bash("echo no", false).await;
        assert!(matches!(&ran, Err(AgentError::Failed(why)) if why == "the command crashed: no key"), "{ran:?}");
        assert!(agent.compact(None).await.is_ok());
        let is_told = |event: &Event| matches!(event, Event::CompactionEnd { error_message: Some(why), .. } if why.contains("the summariser crashed: no key"));
        events.until(is_told).await;
        is_on.store(false, Ordering::SeqCst);
        assert_eq!(agent.prompt("fourth").await, Ok(Settled::Done));
        assert!(world.entries().ends_with("user \"fourth\"\nassistant \"Yes.\" Stop"), "{}", world.entries());
        world.no_problems();
    });
}

/// Panics when a summary is asked for.
struct PanickingSummariser;

impl AsyncSummariser for PanickingSummariser {
    fn summarise(&self, _: offshoot_session::summariser::SummariserRequest) -> Summary {
        panic!("no summary")
    }
}

#[test]
fn a_summariser_that_panics_leaves_the_summary_to_the_rules() {
    run(async {
        let long = "word ".repeat(2000);
        let world = World::new([Reply::text(&long), Reply::text(&long), Reply::text("Yes.")]);
        let mut setup = world.setup();
        setup.summariser = Some(Arc::new(PanickingSummariser));
        setup.compaction.keep_recent_tokens = 100;
        let (agent, mut events) = world.start_with(world.session(), setup);
        agent.prompt("first").await.unwrap();
        agent.prompt("second").await.unwrap();
        assert!(agent.compact(None).await.is_ok());
        let is_told = |event: &Event| matches!(event, Event::CompactionEnd { error_message: Some(why), .. } if why.contains("the summariser crashed: no summary"));
        events.until(is_told).await;
        assert_eq!(agent.prompt("third").await, Ok(Settled::Done));
    });
}

/// Panics while it is turned on.
struct PanickingClock(Arc<AtomicBool>);

impl Clock for PanickingClock {
    fn now(&self) -> Millis {
        assert!(!self.0.load(Ordering::SeqCst), "no time");
        SystemClock.now()
    }
}

async fn with_clock() -> (World, AgentSession, Events, Arc<AtomicBool>) {
    let world = World::new(["one", "two"].map(Reply::text));
    let is_on = Arc::new(AtomicBool::new(false));
    let options = Options { clock: Box::new(PanickingClock(is_on.clone())), ..Options::default() };
    let file = world.path("sessions/s.jsonl");
    std::fs::create_dir(world.path("sessions")).unwrap();
    let session = Session::create(&NewSession { cwd: "/", ..NewSession::default() }, options, |_, _| file).unwrap();
    let (agent, events) = world.start_with(session, world.setup());
    assert_eq!(agent.prompt("first").await, Ok(Settled::Done));
    (world, agent, events, is_on)
}

/// Everything that is asked of the session's thread has an answer, and the thread lives on.
#[test]
fn a_job_on_the_session_that_panics_is_told() {
    run(async {
        let (world, agent, _events, is_on) = with_clock().await;
        is_on.store(true, Ordering::SeqCst);
        let read = agent.read(|_| panic!("in a reader")).await;
        assert!(matches!(&read, Err(AgentError::Crashed { .. })), "{read:?}");
        let named = operate(&agent, Asked::Name("x")).await;
        assert!(matches!(&named, Err(AgentError::Crashed { .. })), "{named:?}");
        let refused = agent.prompt("second").await;
        assert!(matches!(&refused, Err(AgentError::Crashed { .. })), "{refused:?}");
        assert_eq!(agent.abort().await, Ok(Settled::Done));
        is_on.store(false, Ordering::SeqCst);
        assert_eq!(agent.prompt("third").await, Ok(Settled::Done));
        assert!(world.entries().ends_with("user \"third\"\nassistant \"two\" Stop"), "{}", world.entries());
        world.no_problems();
    });
}

/// Whoever is told of a job's end may panic as well.
#[test]
fn a_listener_that_panics_does_not_end_the_sessions_thread() {
    run(async {
        let world = World::new([]);
        let writer = Writer::start(world.session()).unwrap();
        writer.handle().send(|_| (), |_| panic!("in a listener"));
        assert_eq!(writer.handle().ask(|_| 7).await, Ok(7));
    });
}

/// The driver itself calls what an embedder wrote.
#[test]
fn the_agent_survives_a_tool_whose_name_panics() {
    struct Nameless(Arc<AtomicBool>);
    impl Tool for Nameless {
        fn spec(&self) -> ToolSpec {
            ToolSpec { name: "nameless".to_owned(), description: "x".to_owned(), parameters: json!({"type": "object"}) }
        }
        fn name(&self) -> &str {
            assert!(!self.0.load(Ordering::SeqCst), "no name");
            "nameless"
        }
        fn tier(&self, _: &Value, _: &ToolContext) -> Tier {
            Tier::Read(Vec::new())
        }
        fn run(&self, _: Value, _: Arc<ToolContext>, _: UnboundedSender<ToolOutcome>) -> Running {
            Box::pin(async { ToolOutcome::text("x") })
        }
    }
    run(async {
        let world = World::new([Reply::text("Yes.")]);
        let is_on = Arc::new(AtomicBool::new(false));
        let mut setup = world.setup();
        setup.tools.push(Arc::new(Nameless(is_on.clone())));
        let (agent, _events) = world.start_with(world.session(), setup);
        is_on.store(true, Ordering::SeqCst);
        let failed = agent.prompt("talk").await;
        assert!(!matches!(&failed, Ok(Settled::Done)), "{failed:?}");
        is_on.store(false, Ordering::SeqCst);
        assert_eq!(agent.prompt("again").await, Ok(Settled::Done));
    });
}

/// Panics once, after it has been looked at so many times.
struct PanickingOnce(AtomicI64);

impl PanickingOnce {
    fn has_panicked(&self) -> bool {
        self.0.load(Ordering::SeqCst) < 0
    }
}

impl Clock for PanickingOnce {
    fn now(&self) -> Millis {
        assert!(self.0.fetch_sub(1, Ordering::SeqCst) != 0, "no time");
        SystemClock.now()
    }
}

/// Story: the time of a tool's result and the end of a wait were looked up in tasks that lost the panic. Wherever the clock
/// panics, the prompt has an end, and the next one is answered.
#[test]
fn a_clock_that_panics_anywhere_hangs_nobody() {
    for looks in 0.. {
        let clock = Arc::new(PanickingOnce(AtomicI64::new(looks)));
        run(async {
            let again = Reply::error(529, "overloaded");
            let world = World::new([again, Reply::call("ls", "c1", json!({})), Reply::text("Yes.")]);
            world.server.add(["Yes.", "Yes."].map(Reply::text));
            let (agent, _events) = world.start_with(world.session(), Setup { clock: clock.clone(), ..world.setup() });
            let first = agent.prompt("work").await;
            let ran = agent.bash("echo x", false).await;
            let stopped = agent.abort().await;
            assert!(stopped.is_ok(), "{looks}: {first:?} {ran:?} {stopped:?}");
            let is_over = matches!(first, Err(AgentError::Ended)) || matches!(ran, Err(AgentError::Ended));
            assert!(!is_over, "the agent lives on: {looks}: {first:?} {ran:?}");
            if clock.has_panicked() {
                assert_eq!(agent.prompt("again").await, Ok(Settled::Done), "{looks}: {first:?} {ran:?} {stopped:?}");
                assert!(world.entries().ends_with("assistant \"Yes.\" Stop"), "{looks}: {}", world.entries());
            }
        });
        if !clock.has_panicked() {
            assert!(looks > 10, "the clock was looked at {looks} times");
            return;
        }
    }
}

/// An extension interface that panics everywhere: runs end, calls are blocked, and it is told.
#[test]
fn extensions_that_panic_end_no_run() {
    run(async {
        let calls = Reply::call("ls", "c1", json!({}));
        let world = World::new([calls, Reply::text("I see."), Reply::text("Yes.")]);
        let mut setup = world.setup();
        let extensions = Arc::new(TestExtensions { panics: true, ..TestExtensions::default() });
        setup.extensions = Some(extensions.clone());
        let (agent, mut events) = world.start_with(world.session(), setup);
        assert_eq!(agent.prompt("work").await, Ok(Settled::Done));
        assert_eq!(agent.abort().await, Ok(Settled::Done));
        assert_eq!(agent.prompt("again").await, Ok(Settled::Done));
        let ran = agent.bash("echo no", false).await.unwrap();
        assert!(ran.run.output.contains("the extension that judges this command crashed"), "{ran:?}");
        let entries = world.entries();
        assert!(entries.contains("error ls \"not run: the extension that judges this call crashed"), "{entries}");
        events.until(|event| matches!(event, Event::Notice { code: NoticeCode::Crashed, .. })).await;
        world.no_problems();
        agent.close().await;
    });
}
