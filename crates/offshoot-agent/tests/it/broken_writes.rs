//! Writes that fail: who asked for one is told, the next one tries the disk anew, and no word is lost.

use std::fs::File;
use std::sync::Arc;
use std::time::Duration;

use offshoot_agent::agent_session::AgentSession;
use offshoot_agent::command::{Command, Delivery};
use offshoot_agent::error::AgentError;
use offshoot_agent::event::Event;
use offshoot_agent::message::{Content, CustomMessage};
use offshoot_agent::provider::{Model, ThinkingLevel};
use offshoot_agent::testing::script::{Reply, Say};
use offshoot_agent::turn::{BringBack, Navigation, Settled};
use offshoot_session::clock::SystemClock;
use offshoot_session::id::RandomIds;
use offshoot_session::session::{NewSession, Options, Session};
use offshoot_session::testing::FaultMedium;
use serde_json::json;

use crate::world::{Events, World, prompting, run};

/// Who is in the way of the writes.
enum Fault {
    /// Another program holds the lock of the session's file.
    Locked(File),
    /// The disk is full.
    Full(FaultMedium),
}

impl Fault {
    fn begin(&self) {
        match self {
            Self::Locked(file) => file.lock().unwrap(),
            Self::Full(medium) => medium.set_full(true),
        }
    }

    fn end(&self) {
        match self {
            Self::Locked(file) => file.unlock().unwrap(),
            Self::Full(medium) => medium.set_full(false),
        }
    }
}

/// An agent with two answers behind it.
struct Faulty {
    world: World,
    agent: AgentSession,
    events: Events,
    fault: Fault,
}

/// No lock is waited for.
fn options() -> Options {
    Options { lock_wait: Duration::ZERO, clock: Box::new(SystemClock), ids: Box::new(RandomIds), ..Options::default() }
}

impl Faulty {
    async fn locked() -> Self {
        Self::locked_with(options()).await
    }

    async fn locked_with(options: Options) -> Self {
        let world = World::new([]);
        let file = world.path("s.jsonl");
        let new = NewSession { cwd: "/", ..NewSession::default() };
        let session = Session::create(&new, options, |_, _| file.clone()).unwrap();
        Self::begun(world, session, |_| Fault::Locked(File::open(&file).unwrap())).await
    }

    async fn full() -> Self {
        let (world, medium) = (World::new([]), FaultMedium::new(Vec::new()));
        let new = NewSession { cwd: "/", ..NewSession::default() };
        let session = Session::over_medium(Box::new(medium.clone()), &new, options()).unwrap();
        Self::begun(world, session, |_| Fault::Full(medium)).await
    }

    async fn begun(world: World, session: Session, fault: impl FnOnce(&World) -> Fault) -> Self {
        world.server.add(["one", "two"].map(Reply::text));
        let (agent, events) = world.start_with(session, world.setup());
        for words in ["first", "second"] {
            assert_eq!(agent.prompt(words).await, Ok(Settled::Done));
        }
        let fault = fault(&world);
        Self { world, agent, events, fault }
    }

    /// The session's entries, in a few words each.
    async fn entries(&self) -> String {
        let lines = self.agent.read(|session| {
            let tree = offshoot_session::entry::Source::tree(session);
            let nodes = session.leaf().map(|leaf| tree.path(leaf)).unwrap_or_default();
            let line = |ix| String::from_utf8(session.raw_line(ix).unwrap()).unwrap();
            nodes.into_iter().map(line).collect::<Vec<_>>()
        });
        lines.await.unwrap().iter().map(|line| crate::world::entry(line)).collect::<Vec<_>>().join("\n")
    }

    /// After the fault a prompt is answered, and model and thinking level are those in effect.
    async fn goes_on(&self, what: &str) {
        self.world.server.add([Reply::text("answered")]);
        assert_eq!(self.agent.prompt("and now?").await, Ok(Settled::Done), "after {what}");
        let entries = self.entries().await;
        assert!(entries.contains("user \"and now?\"\nassistant \"answered\" Stop"), "after {what}: {entries}");
        let standing = self.agent.standing().await.unwrap();
        let model = format!("model {}/{}", standing.model.provider, standing.model.id);
        let last = |kind: &str| entries.lines().rfind(|line| line.starts_with(kind)).unwrap_or_default().to_owned();
        assert_eq!(last("model "), model, "after {what}");
        assert_eq!(last("thinking "), format!("thinking {}", standing.thinking.as_str()), "after {what}");
        self.world.no_problems();
    }
}

/// What is written beside a prompt.
async fn write(agent: &AgentSession, what: &str, model: &Arc<Model>) -> Result<(), AgentError> {
    let first = || async {
        let found = agent.read(|session| {
            let tree = offshoot_session::entry::Source::tree(session);
            let is_user = |ix: &_| tree.node(*ix).role() == Some(offshoot_session::kind::Role::User);
            session
                .leaf()
                .and_then(|leaf| tree.path(leaf).into_iter().find(is_user))
                .and_then(|ix| tree.node(ix).id().cloned())
        });
        found.await.unwrap().unwrap().as_str().to_owned()
    };
    match what {
        "name" => agent.ask(Command::SetName("a name".to_owned())).await.map(drop),
        "label" => agent.ask(Command::SetLabel { entry: first().await, label: Some("x".to_owned()) }).await.map(drop),
        "model" => {
            let other = Model { id: "other".to_owned(), ..(**model).clone() };
            agent.set_model(Arc::new(other)).await
        }
        "thinking" => agent.set_thinking_level(ThinkingLevel::High).await.map(drop),
        "custom entry" => {
            agent.ask(Command::AppendEntry { custom_type: "mine".to_owned(), data: None }).await.map(drop)
        }
        "custom message" => {
            let message = CustomMessage {
                custom_type: "mine".to_owned(),
                content: Content::Text("of mine".to_owned()),
                display: true,
                details: None,
                timestamp: 0,
            };
            agent.ask(Command::Inject { message, delivery: Delivery::Add }).await.map(drop)
        }
        "move" => {
            let navigation = Navigation { target: first().await, is_behind: true, ..Navigation::default() };
            agent.navigate_tree(navigation).await.map(drop)
        }
        "undo" => agent.bring_back(BringBack::Undo).await.map(drop),
        "compaction" => agent.compact(None).await.map(drop),
        "bash" => agent.bash("echo of the user", false).await.map(drop),
        "fork" => agent.clone_session().await.map(drop),
        other => panic!("{other}"),
    }
}

/// Every command that writes, while something is in the way. Then that is over.
#[test]
fn whatever_could_not_be_written_the_next_prompt_is() {
    let all =
        ["name", "label", "model", "thinking", "custom entry", "custom message", "move", "undo", "compaction", "bash"];
    for what in all {
        for is_full in [false, true] {
            run(async {
                let named = format!("{what}, full: {is_full}");
                let mut faulty = if is_full { Faulty::full().await } else { Faulty::locked().await };
                faulty.fault.begin();
                let written = write(&faulty.agent, what, &faulty.world.model).await;
                faulty.agent.wait_for_idle().await.unwrap();
                match what {
                    // They are in effect, or kept: a notice says what is missing.
                    "model" | "thinking" | "custom message" | "bash" => {
                        assert_eq!(written, Ok(()), "{named}");
                        let is_notice = |event: &Event| matches!(event, Event::Notice { code: "not-recorded", .. });
                        faulty.events.until(is_notice).await;
                    }
                    "undo" | "compaction" => assert!(!matches!(written, Err(AgentError::Ended)), "{named}"),
                    _ => assert!(matches!(written, Err(AgentError::NotWritten(_))), "{named}: {written:?}"),
                }
                faulty.fault.end();
                faulty.goes_on(&named).await;
                let entries = faulty.entries().await;
                let before = "assistant \"two\" Stop\n";
                match what {
                    "bash" => {
                        assert!(entries.contains(&format!("{before}bash echo of the user\n")), "{named}: {entries}");
                    }
                    "custom message" => {
                        assert!(entries.contains(&format!("{before}custom_message")), "{named}: {entries}");
                    }
                    _ => {}
                }
            });
        }
    }
}

/// A prompt that cannot be recorded is refused, with its words in the hands of its caller.
#[test]
fn a_prompt_that_cannot_be_recorded_is_refused() {
    run(async {
        for is_full in [false, true] {
            let mut faulty = if is_full { Faulty::full().await } else { Faulty::locked().await };
            faulty.events.all();
            faulty.fault.begin();
            let refused = faulty.agent.prompt("lost?").await;
            assert!(matches!(refused, Err(AgentError::NotWritten(_))), "{refused:?}");
            let names = faulty.events.names();
            assert_eq!(names, ["agent_start", "turn_start", "failed", "agent_end", "agent_settled"], "full: {is_full}");
            faulty.fault.end();
            faulty.goes_on("a refused prompt").await;
            assert!(!faulty.entries().await.contains("lost?"));
            assert_eq!(faulty.world.server.seen().len(), 3, "no request leaves whose prompt is not durable");
        }
    });
}

/// A message that begins a run and has no caller who waits for it: it is queued, and comes with the next run.
#[test]
fn a_queued_message_that_cannot_be_recorded_stays_queued() {
    run(async {
        let mut faulty = Faulty::locked().await;
        faulty.events.all();
        faulty.fault.begin();
        faulty.agent.steer("and this").await.unwrap();
        faulty.events.until(|event| matches!(event, Event::AgentSettled { .. })).await;
        assert_eq!(faulty.agent.standing().await.unwrap().steering, ["and this"]);
        faulty.fault.end();
        faulty.world.server.add(["answered", "to the queue"].map(Reply::text));
        assert_eq!(faulty.agent.prompt("and now?").await, Ok(Settled::Done));
        let entries = faulty.entries().await;
        assert!(entries.ends_with("user \"and this\"\nassistant \"to the queue\" Stop"), "{entries}");
    });
}

/// The words of an extension that began a run go with the next prompt.
#[test]
fn a_prompt_of_an_extension_that_cannot_be_recorded_goes_with_the_next() {
    run(async {
        let mut faulty = Faulty::locked().await;
        faulty.events.all();
        faulty.fault.begin();
        let content = Content::Text("of an extension".to_owned());
        faulty.agent.ask(Command::InjectUser { content, delivery: Delivery::Steer }).await.unwrap();
        faulty.events.until(|event| matches!(event, Event::AgentSettled { .. })).await;
        faulty.fault.end();
        faulty.world.server.add([Reply::text("answered")]);
        assert_eq!(faulty.agent.prompt("and now?").await, Ok(Settled::Done));
        let entries = faulty.entries().await;
        assert!(entries.contains("user \"of an extension\""), "{entries}");
    });
}

/// An answer or a result that cannot be written is in the spill folder, also while another program holds the lock, and gets
/// into the session with what is written next.
#[test]
fn an_answer_that_cannot_be_written_is_kept() {
    run(async {
        let spill = tempfile::tempdir().unwrap();
        let options = Options { spill: Some(spill.path().to_path_buf()), ..options() };
        let mut faulty = Faulty::locked_with(options).await;
        let command = "until [ -e go ]; do sleep 0.01; done; echo dear result";
        let call = Say::Call {
            call: "bash".to_owned(),
            id: "c1".to_owned(),
            arguments: json!({"command": command}).as_object().unwrap().clone(),
            signature: None,
        };
        faulty.world.server.add([Reply::say([call])]);
        let talking = prompting(&faulty.agent, "third");
        faulty.events.until(|event| matches!(event, Event::ToolExecutionStart { .. })).await;
        faulty.fault.begin();
        std::fs::write(faulty.world.path("go"), "").unwrap();
        let settled = talking.await.unwrap();
        assert!(matches!(&settled, Ok(Settled::Broken(why)) if why.is_kept()), "{settled:?}");
        faulty.fault.end();
        faulty.goes_on("a kept result").await;
        assert!(faulty.entries().await.contains("result bash \"dear result"), "{}", faulty.entries().await);
        assert_eq!(std::fs::read_dir(spill.path()).unwrap().count(), 0);
    });
}
