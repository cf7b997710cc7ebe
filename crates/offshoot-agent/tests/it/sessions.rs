//! Other sessions: new, opened, forked, cloned; and the settings that go with them.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use offshoot_agent::model::KeyedModel;
use offshoot_agent::testing::script::{Gate, Reply};
use offshoot_agent::testing::server::KEY;
use offshoot_agent::{Accessing, ReloadedSetup, Setup, SetupSource};
use offshoot_protocol::model::Model;
use offshoot_protocol::request::{PrepareSession, PreparedSession};
use offshoot_protocol::{
    AgentError, ApprovalMode, Event, FolderRefusal, KeyError, NoticeCode, Secret, Settled, ThinkingLevel,
};
use offshoot_session::compose::NewEntry;
use offshoot_session::entry::Source as _;
use offshoot_session::error::Error;
use offshoot_session::json::Json;
use offshoot_session::session::{NewSession, Options, Session};

use crate::operations::{Asked, go, operate};
use crate::world::{World, prompting, run};

fn files(world: &World) -> usize {
    std::fs::read_dir(world.path("sessions")).unwrap().count()
}

#[test]
fn new_open_fork_and_clone() {
    run(async {
        let world = World::new(["one", "two", "three", "four", "five"].map(Reply::text));
        let (agent, mut events) = world.start();
        agent.prompt("first").await.unwrap();
        agent.prompt("second").await.unwrap();
        let old = agent.read(|session| session.file().unwrap().to_path_buf()).await.unwrap();
        let before = std::fs::read(&old).unwrap();

        agent.new_session(None).await.unwrap();
        assert_eq!(files(&world), 1, "a new session has no file before its first entry");
        agent.prompt("elsewhere").await.unwrap();
        assert_eq!(files(&world), 2);

        agent.switch_session(&old).await.unwrap();
        let entry = agent.read(|session| {
            let tree = session.tree();
            let last = tree.ancestors(session.leaf().unwrap()).nth(1).unwrap();
            tree.node(last).id().unwrap().as_str().to_owned()
        });
        let forked = agent.fork(entry.await.unwrap()).await.unwrap();
        assert_eq!(forked.text.as_deref(), Some("second"));
        agent.prompt("instead").await.unwrap();
        let asked = world.server.seen().pop().unwrap().json()["messages"].to_string();
        assert!(asked.contains("first") && asked.contains("instead") && !asked.contains("second"), "{asked}");

        let cloned = agent.clone_session().await.unwrap();
        assert_ne!(cloned.session_id, forked.session_id);
        agent.prompt("more").await.unwrap();
        assert_eq!(files(&world), 4);
        assert_eq!(std::fs::read(&old).unwrap(), before, "the session that others were made from stays as it is");
        assert!(agent.switch_session(world.path("none.jsonl")).await.is_err());
        let mut leaves = Vec::new();
        while let Ok(event) = events.0.try_recv() {
            if let Event::SessionChanged { leaf_id, .. } = event.event.as_ref() {
                leaves.push(leaf_id.clone());
            }
        }
        assert_eq!(leaves.iter().map(Option::is_some).collect::<Vec<_>>(), [false, true, true, true]);
        let cloned = leaves.pop().flatten().unwrap();
        let below = agent.read(move |session| {
            let at = session.tree().find(&cloned).unwrap();
            session.tree().ancestors(session.leaf().unwrap()).position(|ix| ix == at)
        });
        assert_eq!(
            below.await.unwrap(),
            Some(2),
            "the event names the entry above the prompt and the answer that followed"
        );
        world.no_problems();
    });
}

/// The setup of another folder.
struct OtherFolder(Setup);

impl SetupSource for OtherFolder {
    fn read(&self, session: &Session) -> Result<(ReloadedSetup, Vec<String>), String> {
        let system = format!("You are in {}.", session.cwd().unwrap());
        let setup = Setup { system: system.into(), ..self.0.clone() };
        Ok((ReloadedSetup(Arc::new(setup)), vec!["its settings are odd".to_owned()]))
    }
}

/// The prompt named the folder, the rules and the skills of the previous session until `/reload`.
#[test]
fn a_session_of_another_folder_has_the_prompt_and_the_rules_of_its_folder() {
    run(async {
        let world = World::new(["one", "two", "three"].map(Reply::text));
        let other = world.path("other");
        std::fs::create_dir(&other).unwrap();
        let new = NewSession { cwd: other.to_str().unwrap(), ..NewSession::default() };
        let mut there = Session::create(&new, Options::default(), |_, _| world.path("sessions/there.jsonl")).unwrap();
        let earlier = Json::parse(r#"{"role":"user","content":"earlier","timestamp":1}"#).unwrap();
        there.append(&NewEntry::message(earlier).unwrap()).unwrap();
        drop(there);
        let mut strict = world.setup();
        strict.permissions.mode = ApprovalMode::Edits;
        let setup = Setup { source: Some(Arc::new(OtherFolder(strict))), ..world.setup() };
        let (agent, mut events) = world.start_with(world.session(), setup);
        let system = || world.server.seen().pop().unwrap().json()["system"].to_string();
        agent.prompt("first").await.unwrap();
        assert!(system().contains("You are a test."), "{}", system());
        agent.new_session(None).await.unwrap();
        agent.prompt("new").await.unwrap();
        assert!(system().contains("You are a test."), "the folder is the same: {}", system());
        agent.switch_session(world.path("sessions/there.jsonl")).await.unwrap();
        let told = events.until(|event| matches!(event, Event::Notice { code: NoticeCode::Folder, .. })).await;
        assert!(matches!(told.as_ref(), Event::Notice { message, .. } if message == "its settings are odd"));
        assert_eq!(agent.state().await.unwrap().approval, ApprovalMode::Edits);
        agent.prompt("there").await.unwrap();
        assert!(system().contains(&format!("You are in {}.", other.display())), "{}", system());
        let ran = agent.bash("pwd -P", false).await.unwrap();
        assert_eq!(ran.run.output.trim(), other.canonicalize().unwrap().to_str().unwrap());
        world.no_problems();
    });
}

/// Also after another session was begun.
#[test]
fn commands_are_told_the_session_that_they_belong_to() {
    run(async {
        let world = World::new([]);
        let (agent, _events) = world.start();
        let begun = agent.new_session(None).await.unwrap();
        let ran = agent.bash("echo $OFFSHOOT_SESSION_ID $OFFSHOOT_SESSION", false).await.unwrap();
        let file = begun.file.unwrap().display().to_string();
        assert_eq!(ran.run.output, format!("{} {file}\n", begun.session_id));
    });
}

/// Leaving a session while it works: the turn is stopped and written down where it belongs.
#[test]
fn the_turn_under_way_stays_in_its_session() {
    run(async {
        let gate = Gate::new();
        let world = World::new([
            Reply { gate: Some((600, gate.clone())), ..Reply::text(&"half ".repeat(100)) },
            Reply::text("new"),
        ]);
        let (agent, mut events) = world.start();
        let talking = prompting(&agent, "first");
        events.until(|event| matches!(event, Event::MessageUpdate { .. })).await;
        agent.new_session(None).await.unwrap();
        assert_eq!(talking.await.unwrap(), Ok(Settled::Aborted));
        assert!(world.entries().contains("Aborted"));
        agent.prompt("fresh").await.unwrap();
        assert_eq!(files(&world), 2);
        gate.open();
    });
}

/// The same for a command of the user: what it had printed is in the session that is left.
#[test]
fn the_users_command_under_way_stays_in_its_session() {
    run(async {
        let world = World::new([Reply::text("one")]);
        let (agent, mut events) = world.start();
        agent.prompt("first").await.unwrap();
        let running = tokio::spawn({
            let agent = agent.clone();
            async move { agent.bash("echo so far; sleep 1000", false).await }
        });
        events.until(|event| matches!(event, Event::BashExecutionUpdate { .. })).await;
        agent.new_session(None).await.unwrap();
        assert_eq!(running.await.unwrap().unwrap().run.output, "so far\n");
        assert!(world.lines().last().unwrap().contains(r#""output":"so far\n","cancelled":true"#));
    });
}

#[test]
fn sessions_in_memory_stay_there() {
    run(async {
        let world = World::new(["one", "two", "three"].map(Reply::text));
        let session =
            Session::in_memory(&NewSession { cwd: "/", ..NewSession::default() }, Options::default()).unwrap();
        let (agent, _events) = world.start_with(session, world.setup());
        agent.prompt("first").await.unwrap();
        assert_eq!(agent.clone_session().await.unwrap().file, None);
        agent.prompt("second").await.unwrap();
        assert_eq!(agent.new_session(None).await.unwrap().file, None);
        agent.prompt("third").await.unwrap();
        assert!(!world.path("sessions").exists());
        let last = world.server.seen().pop().unwrap().json();
        assert_eq!(last["messages"].as_array().unwrap().len(), 1);
    });
}

/// Another program deleted the file: what is said next brings it back, with all that was in it.
#[test]
fn a_file_that_was_deleted_is_written_anew() {
    run(async {
        let world = World::new(["one", "two"].map(Reply::text));
        let (agent, _events) = world.start();
        agent.prompt("first").await.unwrap();
        let file = agent.read(|session| session.file().unwrap().to_path_buf()).await.unwrap();
        let before = std::fs::read(&file).unwrap();
        std::fs::remove_file(&file).unwrap();
        assert_eq!(agent.prompt("second").await, Ok(Settled::Done));
        assert!(std::fs::read(&file).unwrap().starts_with(&before));
        let last = world.server.seen().pop().unwrap().json();
        assert_eq!(last["messages"].as_array().unwrap().len(), 3);
        world.no_problems();
    });
}

/// A write that fails ends the turn; what is said later is written again.
#[test]
fn what_could_not_be_written_is_no_end() {
    run(async {
        let world = World::new(["one", "two"].map(Reply::text));
        let options = Options { lock_wait: std::time::Duration::ZERO, ..Options::default() };
        let file = world.path("s.jsonl");
        let new = NewSession { cwd: "/", ..NewSession::default() };
        let session = Session::create(&new, options, |_, _| file.clone()).unwrap();
        let (agent, _events) = world.start_with(session, world.setup());
        agent.prompt("first").await.unwrap();
        let holder = std::fs::File::open(&file).unwrap();
        holder.lock().unwrap();
        let refused = agent.prompt("second").await;
        let is_locked = |why: &AgentError| matches!(why.session(), Some(Error::Locked { .. }));
        assert!(matches!(&refused, Err(why) if is_locked(why)), "{refused:?}");
        holder.unlock().unwrap();
        assert_eq!(agent.prompt("third").await, Ok(Settled::Done));
        let written = std::fs::read_to_string(&file).unwrap();
        assert!(written.contains("third") && written.contains("two") && !written.contains("second"), "{written}");
        world.no_problems();
    });
}

/// Entries of another program are read, and reported once they are on another branch than ours.
#[test]
fn what_others_append_is_read_on() {
    run(async {
        let world = World::new(["one", "two"].map(Reply::text));
        let (agent, mut events) = world.start();
        agent.prompt("first").await.unwrap();
        assert!(!agent.refresh().await.unwrap());
        let file = agent.read(|session| session.file().unwrap().to_path_buf()).await.unwrap();
        let leaf = agent.read(|session| session.leaf_id().cloned()).await.unwrap();
        let mut other = Session::open(&file, Options::default()).unwrap();
        let message = Json::parse(r#"{"role":"user","content":"elsewhere","timestamp":1}"#).unwrap();
        let before = other.tree().parent(other.leaf().unwrap());
        other.append_below(&NewEntry::message(message).unwrap(), before).unwrap();
        assert!(agent.refresh().await.unwrap());
        assert_eq!(agent.read(|session| session.leaf_id().cloned()).await.unwrap(), leaf, "the leaf stays");
        agent.prompt("second").await.unwrap();
        events.until(|event| matches!(event, Event::Notice { code: NoticeCode::File("diverged"), .. })).await;
        world.no_problems();
    });
}

/// Opening a session writes nothing: model and thinking are recorded when they change, once.
#[test]
fn settings_are_recorded_when_they_change() {
    run(async {
        let world = World::new(["one", "two"].map(Reply::text));
        let (agent, _events) = world.start();
        assert_eq!(agent.set_thinking_level(ThinkingLevel::High).await, Ok(ThinkingLevel::High));
        agent.prompt("first").await.unwrap();
        let plain = Model { id: "plain".to_owned(), reasoning: false, ..(*world.model).clone() };
        agent.set_model(Arc::new(plain)).await.unwrap();
        assert_eq!(agent.set_thinking_level(ThinkingLevel::High).await, Ok(ThinkingLevel::Off), "it cannot think");
        operate(&agent, Asked::Name("a\nname")).await.unwrap();
        agent.prompt("second").await.unwrap();
        let kinds: Vec<String> =
            world.entries().lines().map(|line| line.split(' ').take(2).collect::<Vec<_>>().join(" ")).collect();
        assert_eq!(
            kinds,
            [
                "model anthropic/claude-test",
                "thinking high",
                "user \"first\"",
                "assistant \"one\"",
                "model anthropic/plain",
                "thinking off",
                "session_info",
                "user \"second\"",
                "assistant \"two\"",
            ]
        );
        let file = agent.read(|session| session.file().unwrap().to_path_buf()).await.unwrap();
        let before = std::fs::read(&file).unwrap();
        agent.switch_session(&file).await.unwrap();
        assert_eq!(std::fs::read(&file).unwrap(), before);
    });
}

/// A model that cannot think as much does not make the user's wish forgotten; recorded is what is in effect.
#[test]
fn a_level_comes_back_behind_a_model_that_does_not_think() {
    run(async {
        let world = World::new([Reply::text("one")]);
        let (agent, mut events) = world.start();
        agent.set_thinking_level(ThinkingLevel::High).await.unwrap();
        agent.prompt("first").await.unwrap();
        let file = agent.read(|session| session.file().unwrap().to_path_buf()).await.unwrap();
        events.names();
        let plain = Arc::new(Model { id: "plain".to_owned(), reasoning: false, ..(*world.model).clone() });
        agent.set_model(plain.clone()).await.unwrap();
        assert_eq!(agent.state().await.unwrap().thinking, ThinkingLevel::Off);
        agent.set_model(world.model.clone()).await.unwrap();
        assert_eq!(agent.state().await.unwrap().thinking, ThinkingLevel::High);
        // Also when the session was opened anew meanwhile: of "off" the user said nothing.
        agent.set_model(plain).await.unwrap();
        agent.switch_session(&file).await.unwrap();
        agent.set_model(world.model.clone()).await.unwrap();
        assert_eq!(agent.state().await.unwrap().thinking, ThinkingLevel::High);
        agent.wait_for_idle().await.unwrap();
        let told: Vec<_> = std::iter::from_fn(|| events.0.try_recv().ok())
            .filter_map(|told| match &*told.event {
                Event::ThinkingLevelChanged { level } => Some(*level),
                _ => None,
            })
            .collect();
        assert_eq!(told, [ThinkingLevel::Off, ThinkingLevel::High, ThinkingLevel::Off, ThinkingLevel::High]);
        let entries = world.entries();
        let levels: Vec<&str> = entries.lines().filter(|line| line.starts_with("thinking")).collect();
        assert_eq!(levels, ["thinking high", "thinking off", "thinking high", "thinking off", "thinking high"]);
    });
}

/// Nobody could answer: nothing is written.
#[test]
fn without_a_key_nothing_is_recorded() {
    struct None;
    impl offshoot_agent::KeySource for None {
        fn access<'a>(&'a self, model: &'a Arc<Model>) -> Accessing<'a> {
            let none = KeyError::None { provider: model.provider.clone(), variables: "KEY".to_owned() };
            Box::pin(std::future::ready(Err(none)))
        }
    }
    run(async {
        let world = World::new([]);
        let mut setup = world.setup();
        setup.keys = Arc::new(None);
        let (agent, mut events) = world.start_with(world.session(), setup);
        assert!(matches!(agent.prompt("hi").await, Err(AgentError::NoAccess(KeyError::None { .. }))));
        assert_eq!(events.names(), [""; 0]);
        assert!(!world.path("sessions").exists());
    });
}

/// A provider that refuses a key (401): whoever gave it hears of that once, and may find another.
#[test]
fn a_key_that_is_refused_is_told_to_who_gave_it() {
    #[derive(Default)]
    struct Refusals(AtomicUsize);
    impl offshoot_agent::KeySource for Refusals {
        fn access<'a>(&'a self, model: &'a Arc<Model>) -> Accessing<'a> {
            let access = KeyedModel { model: Arc::clone(model), key: Some(Secret::new(KEY)) };
            Box::pin(std::future::ready(Ok(access)))
        }

        fn refused(&self, provider: &str) {
            assert_eq!(provider, "anthropic");
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }
    run(async {
        let world = World::new([Reply::error(401, "bad key"), Reply::text("fine")]);
        let keys = Arc::new(Refusals::default());
        let setup = Setup { keys: keys.clone(), ..world.setup() };
        let (agent, _events) = world.start_with(world.session(), setup);
        assert!(matches!(agent.prompt("hi").await, Ok(Settled::Failed(_))));
        assert_eq!(keys.0.load(Ordering::Relaxed), 1);
        assert_eq!(agent.prompt("again").await, Ok(Settled::Done));
        assert_eq!(keys.0.load(Ordering::Relaxed), 1);
    });
}

/// A command that takes long to say its key: the agent answers meanwhile, and a prompt that is stopped is not recorded.
#[test]
fn a_key_that_does_not_come_holds_up_nothing() {
    struct Never;
    impl offshoot_agent::KeySource for Never {
        fn access<'a>(&'a self, _: &'a Arc<Model>) -> Accessing<'a> {
            Box::pin(std::future::pending())
        }
    }
    run(async {
        let world = World::new([]);
        let setup = Setup { keys: Arc::new(Never), ..world.setup() };
        let (agent, mut events) = world.start_with(world.session(), setup);
        let talking = prompting(&agent, "hi");
        while !agent.state().await.unwrap().is_streaming {
            tokio::task::yield_now().await;
        }
        assert_eq!(agent.abort().await, Ok(Settled::Done));
        assert!(matches!(talking.await.unwrap(), Err(AgentError::Failed(_))));
        assert_eq!(events.names(), [""; 0]);
        assert!(!world.path("sessions").exists());
    });
}

/// A branch on which another level was set gets this one with its next prompt.
#[test]
fn going_elsewhere_takes_the_settings_along() {
    run(async {
        let world = World::new(["one", "two", "three"].map(Reply::text));
        let (agent, _events) = world.start();
        agent.prompt("first").await.unwrap();
        let id = agent.read(|session| session.leaf_id().unwrap().as_str().to_owned()).await.unwrap();
        agent.set_thinking_level(ThinkingLevel::High).await.unwrap();
        agent.prompt("second").await.unwrap();
        go(&agent, id).await;
        agent.prompt("third").await.unwrap();
        let entries = world.entries();
        let tail: Vec<&str> = entries.lines().rev().take(3).collect();
        assert_eq!(tail, ["assistant \"three\" Stop", "user \"third\"", "thinking high"]);
    });
}

/// A foreign file with `"cwd":"/"` made the whole disk the working folder.
#[test]
fn a_session_from_elsewhere_is_continued_where_somebody_says() {
    run(async {
        let world = World::new(["one", "two"].map(Reply::text));
        let there = tempfile::tempdir().unwrap();
        let there = there.path().canonicalize().unwrap();
        let here = world.folder.path().canonicalize().unwrap();
        let new = NewSession { cwd: there.to_str().unwrap(), ..NewSession::default() };
        let file = world.path("sessions/there.jsonl");
        let mut foreign = Session::create(&new, Options::default(), |_, _| file.clone()).unwrap();
        let earlier = Json::parse(r#"{"role":"user","content":"earlier","timestamp":1}"#).unwrap();
        foreign.append(&NewEntry::message(earlier).unwrap()).unwrap();
        drop(foreign);
        let (agent, _events) = world.start();
        let own = agent.read(|session| session.id().to_owned()).await.unwrap();
        let folder = async || agent.bash("pwd -P", false).await.unwrap().run.output.trim().to_owned();

        let elsewhere = FolderRefusal::Elsewhere { own: there.clone(), here: here.clone() };
        assert_eq!(agent.switch_session(&file).await.unwrap_err(), AgentError::Folder(elsewhere.clone()));
        let prepared = PrepareSession(PreparedSession::File(file.clone()));
        assert_eq!(agent.ask(prepared).await.unwrap_err(), AgentError::Folder(elsewhere));
        let third = agent.switch_session_in(&file, "/").await.unwrap_err();
        assert!(matches!(third, AgentError::Folder(FolderRefusal::Neither { .. })), "{third}");
        assert_eq!(agent.read(|session| session.id().to_owned()).await.unwrap(), own);
        assert_eq!(folder().await, here.to_str().unwrap());

        // In this folder, as are sessions that are made of it.
        agent.switch_session_in(&file, &here).await.unwrap();
        assert_eq!(folder().await, here.to_str().unwrap());
        agent.clone_session().await.unwrap();
        let header = |session: &Session| session.header().cwd().map(str::to_owned);
        let header = async || agent.read(header).await.unwrap();
        assert_eq!(header().await.as_deref(), here.to_str());
        agent.switch_session_in(&file, &here).await.unwrap();
        assert_eq!(header().await.as_deref(), there.to_str());
        agent.new_session(None).await.unwrap();
        assert_eq!(header().await.as_deref(), here.to_str());

        // In its own, which then counts until the end.
        agent.switch_session_in(&file, &there).await.unwrap();
        assert_eq!(folder().await, there.to_str().unwrap());
        agent.new_session(None).await.unwrap();
        agent.switch_session(&file).await.unwrap();
        assert_eq!(folder().await, there.to_str().unwrap());
    });
}
