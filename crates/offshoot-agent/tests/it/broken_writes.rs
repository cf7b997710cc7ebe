//! Writes that fail: who asked for one is told, the next one tries the disk anew, and no word is lost.

use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use offshoot_agent::agent_session::AgentSession;
use offshoot_agent::operate::SummaryWish;
use offshoot_agent::summarise::{AsyncSummariser, Summary};
use offshoot_agent::testing::script::{Reply, Say};
use offshoot_protocol::message::{Content, CustomMessage};
use offshoot_protocol::model::Model;
use offshoot_protocol::request::{AppendEntry, Delivery, Inject, InjectUser};
use offshoot_protocol::{AgentError, Event, NoticeCode, Settled, ThinkingLevel};
use offshoot_session::clock::SystemClock;
use offshoot_session::id::RandomIds;
use offshoot_session::session::{NewSession, Options, Session};
use offshoot_session::summariser::SummariserAnswer;
use offshoot_session::testing::FaultMedium;
use serde_json::json;

use crate::operations::{Asked, go, operate};
use crate::world::{Events, World, prompting, run};

/// Who is in the way of the writes.
enum Fault {
    /// Another program holds the lock of the session's file.
    Locked(File),
    /// The disk is full.
    Full(FaultMedium),
    /// The folder of the sessions is gone, and a file has its name.
    NoFolder(PathBuf),
}

/// Each of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FaultKind {
    Locked,
    Full,
    NoFolder,
}

const FAULTS: [FaultKind; 3] = [FaultKind::Locked, FaultKind::Full, FaultKind::NoFolder];

impl Fault {
    fn begin(&self) {
        match self {
            Self::Locked(file) => file.lock().unwrap(),
            Self::Full(medium) => medium.set_full(true),
            Self::NoFolder(folder) => {
                std::fs::remove_dir_all(folder).unwrap();
                std::fs::write(folder, "").unwrap();
            }
        }
    }

    fn end(&self) {
        match self {
            Self::Locked(file) => file.unlock().unwrap(),
            Self::Full(medium) => medium.set_full(false),
            Self::NoFolder(folder) => {
                std::fs::remove_file(folder).unwrap();
                std::fs::create_dir(folder).unwrap();
            }
        }
    }
}

/// Writes every summary at once.
struct FixedSummariser;

impl AsyncSummariser for FixedSummariser {
    fn summarise(&self, _: offshoot_session::summariser::SummariserRequest) -> Summary {
        Box::pin(std::future::ready(Ok(SummariserAnswer { text: "in short".to_owned(), usage: None })))
    }
}

/// An agent after two answers. The second is a copy of an answer on another branch.
struct Faulty {
    world: World,
    agent: AgentSession,
    events: Events,
    fault: Fault,
    /// The first prompt, and prompt and answer on the other branch.
    first: String,
    aside: [String; 2],
    /// The entries before the fault.
    before: String,
}

/// No lock is waited for.
fn options() -> Options {
    Options { lock_wait: Duration::ZERO, clock: Box::new(SystemClock), ids: Box::new(RandomIds), ..Options::default() }
}

impl Faulty {
    async fn of(kind: FaultKind) -> Self {
        let new = NewSession { cwd: "/", ..NewSession::default() };
        match kind {
            FaultKind::Locked => Self::locked_with(options()).await,
            FaultKind::Full => {
                let (world, medium) = (World::new([]), FaultMedium::new(Vec::new()));
                let session = Session::over_medium(Box::new(medium.clone()), &new, options()).unwrap();
                Self::begun(world, session, |_| Fault::Full(medium)).await
            }
            FaultKind::NoFolder => {
                let world = World::new([]);
                let folder = world.path("sessions");
                let session = Session::create(&new, options(), |_, _| folder.join("s.jsonl")).unwrap();
                Self::begun(world, session, |_| Fault::NoFolder(folder)).await
            }
        }
    }

    async fn locked_with(options: Options) -> Self {
        let world = World::new([]);
        let file = world.path("s.jsonl");
        let new = NewSession { cwd: "/", ..NewSession::default() };
        let session = Session::create(&new, options, |_, _| file.clone()).unwrap();
        Self::begun(world, session, |_| Fault::Locked(File::open(&file).unwrap())).await
    }

    async fn begun(world: World, session: Session, fault: impl FnOnce(&World) -> Fault) -> Self {
        world.server.add(["one", "beside"].map(Reply::text));
        let mut setup = world.setup();
        setup.summariser = Some(Arc::new(FixedSummariser));
        setup.compaction.keep_recent_tokens = 1;
        let (agent, events) = world.start_with(session, setup);
        let leaf = async || agent.read(|session| session.leaf_id().unwrap().as_str().to_owned()).await.unwrap();
        assert_eq!(agent.prompt("first").await, Ok(Settled::Done));
        let answer = leaf().await;
        assert_eq!(agent.prompt("aside").await, Ok(Settled::Done));
        let beside = leaf().await;
        go(&agent, answer.clone()).await;
        operate(&agent, Asked::Pick(beside.clone())).await.unwrap();
        let prompt_of = async |answer: &str| {
            let answer = answer.to_owned();
            let prompt = agent.read(move |session| {
                let tree = offshoot_session::entry::Source::tree(session);
                tree.parent_id(session.find(&answer).unwrap()).unwrap().as_str().to_owned()
            });
            prompt.await.unwrap()
        };
        let (first, aside) = (prompt_of(&answer).await, [prompt_of(&beside).await, beside]);
        let fault = fault(&world);
        let mut faulty = Self { world, agent, events, fault, first, aside, before: String::new() };
        faulty.before = faulty.entries().await;
        faulty
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
        let state = self.agent.state().await.unwrap();
        let model = format!("model {}/{}", state.model.provider, state.model.id);
        let last = |kind: &str| entries.lines().rfind(|line| line.starts_with(kind)).unwrap_or_default().to_owned();
        assert_eq!(last("model "), model, "after {what}");
        assert_eq!(last("thinking "), format!("thinking {}", state.thinking.as_str()), "after {what}");
        self.world.no_problems();
    }
}

/// Every command that writes beside prompts.
const WRITES: [&str; 15] = [
    "name",
    "label",
    "model",
    "thinking",
    "custom entry",
    "custom message",
    "bash",
    "move",
    "move with a label",
    "move with a summary",
    "pick",
    "merge",
    "undo",
    "compaction",
    "fork",
];

async fn write(faulty: &Faulty, what: &str) -> Result<(), AgentError> {
    let Faulty { agent, first, aside, world, .. } = faulty;
    let there = |summary, label| Asked::Move { target: first.clone(), summary, label };
    match what {
        "name" => operate(agent, Asked::Name("a name")).await.map(drop),
        "label" => operate(agent, Asked::Label(first.clone())).await.map(drop),
        "model" => {
            let other = Model { id: "other".to_owned(), ..Model::clone(&world.model) };
            agent.set_model(Arc::new(other)).await
        }
        "thinking" => agent.set_thinking_level(ThinkingLevel::High).await.map(drop),
        "custom entry" => agent.ask(AppendEntry { custom_type: "mine".to_owned(), data: None }).await.map(drop),
        "custom message" => {
            let message = CustomMessage {
                custom_type: "mine".to_owned(),
                content: Content::Text("of mine".to_owned()),
                display: true,
                details: None,
                timestamp: 0,
            };
            agent.ask(Inject { message, delivery: Delivery::Add }).await
        }
        "bash" => agent.bash("echo of the user", false).await.map(drop),
        "move" => operate(agent, there(None, None)).await.map(drop),
        "move with a label" => operate(agent, there(None, Some("x".to_owned()))).await.map(drop),
        "move with a summary" => operate(agent, there(Some(SummaryWish::Usual), None)).await.map(drop),
        "pick" => operate(agent, Asked::Pick(aside[0].clone())).await.map(drop),
        "merge" => operate(agent, Asked::Merge { tip: aside[1].clone(), instructions: None }).await.map(drop),
        "undo" => operate(agent, Asked::Undo).await.map(drop),
        "compaction" => agent.compact(None).await.map(drop),
        "fork" => agent.clone_session().await.map(drop),
        other => panic!("{other}"),
    }
}

/// Each of them succeeds where nothing is in the way: what fails below fails because of the fault.
#[test]
fn without_a_fault_everything_is_written() {
    for what in WRITES {
        run(async {
            let faulty = Faulty::of(FaultKind::NoFolder).await;
            assert_eq!(write(&faulty, what).await, Ok(()), "{what}");
        });
    }
}

/// Every command that writes, while something is in the way. Then that is over.
#[test]
fn whatever_could_not_be_written_the_next_prompt_is() {
    for what in WRITES {
        for fault in FAULTS {
            run(async {
                let named = format!("{what}, {fault:?}");
                let mut faulty = Faulty::of(fault).await;
                faulty.fault.begin();
                let written = write(&faulty, what).await;
                faulty.agent.wait_for_idle().await.unwrap();
                match what {
                    // They are in effect, or kept: a notice says what is missing.
                    "model" | "thinking" | "custom message" | "bash" => {
                        assert_eq!(written, Ok(()), "{named}");
                        let is_notice =
                            |event: &Event| matches!(event, Event::Notice { code: NoticeCode::NotRecorded, .. });
                        faulty.events.until(is_notice).await;
                    }
                    // A copy has a file of its own.
                    "fork" if fault != FaultKind::NoFolder => assert_eq!(written, Ok(()), "{named}"),
                    _ => assert!(matches!(written, Err(AgentError::NotWritten(_))), "{named}: {written:?}"),
                }
                faulty.fault.end();
                faulty.goes_on(&named).await;
                let entries = faulty.entries().await;
                assert!(what == "fork" || entries.starts_with(&faulty.before), "{named}: {entries}");
                match what {
                    "bash" => {
                        assert!(
                            entries.contains(&format!("{}\nbash echo of the user\n", faulty.before)),
                            "{named}: {entries}"
                        );
                    }
                    "custom message" => {
                        assert!(entries.contains(&format!("{}\ncustom_message", faulty.before)), "{named}: {entries}");
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
        for fault in FAULTS {
            let mut faulty = Faulty::of(fault).await;
            faulty.events.all();
            faulty.fault.begin();
            let refused = faulty.agent.prompt("lost?").await;
            assert!(matches!(refused, Err(AgentError::NotWritten(_))), "{refused:?}");
            let names = faulty.events.names();
            assert_eq!(names, ["agent_start", "turn_start", "failed", "agent_end", "agent_settled"], "{fault:?}");
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
        let mut faulty = Faulty::of(FaultKind::Locked).await;
        faulty.events.all();
        faulty.fault.begin();
        faulty.agent.steer("and this").await.unwrap();
        faulty.events.until(|event| matches!(event, Event::AgentSettled { .. })).await;
        assert_eq!(faulty.agent.state().await.unwrap().steering, ["and this"]);
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
        let mut faulty = Faulty::of(FaultKind::Locked).await;
        faulty.events.all();
        faulty.fault.begin();
        let content = Content::Text("of an extension".to_owned());
        faulty.agent.ask(InjectUser { content, delivery: Delivery::Steer }).await.unwrap();
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
