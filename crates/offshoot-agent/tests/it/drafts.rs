//! Entries of extensions. Those that one drafts at the end of a turn are one write, checked before anything is written.

use std::sync::Arc;

use offshoot_agent::testing::script::{Reply, Then};
use offshoot_protocol::message::{Content, CustomMessage};
use offshoot_protocol::model::Model;
use offshoot_protocol::request::AppendEntry;
use offshoot_protocol::{AgentError, Event, Settled};
use offshoot_session::entry::Source as _;
use offshoot_session::session::{Options, Session};
use serde_json::{Value, json};

use crate::operations::go;
use crate::test_extensions::TestExtensions;
use crate::world::{World, prompting, run};

fn custom(name: &str) -> Value {
    json!({"type": "custom", "customType": name, "data": {"a": 1}})
}

/// What an extension drafts, and a part of the error that it gets.
fn wrong(elsewhere: &str) -> Vec<(Value, &'static str)> {
    vec![
        (json!({"type": "context_edit", "targetId": elsewhere, "replacement": null}), "not on the active branch"),
        (json!({"type": "context_edit", "targetId": "ffffffff", "replacement": null}), "not found"),
        (json!({"type": "context_edit", "replacement": null}), "\"targetId\" is missing"),
        (json!({"type": "context_edit", "targetId": elsewhere, "replacement": 7}), "a replacement is"),
        (json!({"type": "compaction", "summary": "s", "firstKeptEntryId": "ffffffff"}), "not found"),
        (json!({"type": "compaction", "summary": "s", "firstKeptEntryId": elsewhere}), "not on this branch"),
        (json!({"type": "custom_message", "customType": "m"}), "\"content\" is missing"),
        (json!({"type": "custom_message", "content": "m"}), "\"customType\" is missing"),
        (json!({"type": "compaction", "firstKeptEntryId": null}), "\"summary\" is missing"),
        (json!({"type": "custom_message", "customType": "m", "content": 7}), "content is a string"),
        (json!({"type": "message"}), "is none of custom"),
        (json!("nothing"), "is none of custom"),
    ]
}

/// The first of two valid drafts and one wrong one was written without an event; the rest ended the run, and the prompt after
/// it was lost.
#[test]
fn a_wrong_draft_is_the_extensions_error_and_nothing_else() {
    run(async {
        let world = World::new(["one", "two"].map(Reply::text));
        let extensions = Arc::new(TestExtensions::default());
        let mut setup = world.setup();
        setup.extensions = Some(extensions.clone());
        let (agent, mut events) = world.start_with(world.session(), setup);
        agent.prompt("first").await.unwrap();
        let user = agent.read(|session| {
            let leaf = session.leaf().unwrap();
            session.tree().parent_id(leaf).unwrap().as_str().to_owned()
        });
        let user = user.await.unwrap();
        // The answer is on another branch afterwards.
        let elsewhere = agent.read(|session| session.leaf_id().unwrap().as_str().to_owned()).await.unwrap();
        go(&agent, user).await;
        agent.prompt("second").await.unwrap();
        for (draft, why) in wrong(&elsewhere) {
            events.all();
            let before = world.lines().len();
            world.server.add([Reply::text("three")]);
            *extensions.drafts.lock().unwrap() = vec![custom("fine"), draft.clone(), custom("fine too")];
            assert_eq!(agent.prompt("go on").await, Ok(Settled::Done), "{draft}");
            let refused = std::mem::take(&mut *extensions.refused.lock().unwrap());
            assert!(
                refused.len() == 1 && refused[0].starts_with("turn_end: ") && refused[0].contains(why),
                "{draft}: {refused:?}"
            );
            assert_eq!(world.lines().len(), before + 2, "{draft}: {}", world.entries());
            let all = events.all();
            let is_trouble = |event: &&Arc<Event>| {
                matches!(***event, Event::Failed { .. } | Event::EntryAppended { .. } | Event::Notice { .. })
            };
            assert_eq!(all.iter().filter(is_trouble).count(), 0, "{draft}: {all:?}");
        }
        world.no_problems();
    });
}

/// What is right is written at once, with an event for each entry, also a compaction after others.
#[test]
fn drafts_are_written_together_with_an_event_for_each() {
    run(async {
        let world = World::new(["one", "two", "three"].map(Reply::text));
        let extensions = Arc::new(TestExtensions::default());
        let mut setup = world.setup();
        setup.extensions = Some(extensions.clone());
        let (agent, mut events) = world.start_with(world.session(), setup);
        agent.prompt("first").await.unwrap();
        let first = agent.read(|session| {
            let leaf = session.leaf().unwrap();
            session.tree().parent_id(leaf).unwrap().as_str().to_owned()
        });
        let first = first.await.unwrap();
        *extensions.drafts.lock().unwrap() = vec![
            custom("a"),
            json!({"type": "context_edit", "targetId": first, "replacement": null}),
            json!({"type": "compaction", "summary": "all of it", "firstKeptEntryId": first}),
            json!({"type": "custom_message", "customType": "m", "content": "x".repeat(300_000)}),
        ];
        events.all();
        assert_eq!(agent.prompt("second").await, Ok(Settled::Done));
        assert_eq!(*extensions.refused.lock().unwrap(), [""; 0]);
        let kinds: Vec<String> = world
            .lines()
            .iter()
            .map(|line| serde_json::from_str::<Value>(line).unwrap()["type"].as_str().unwrap().to_owned())
            .collect();
        assert_eq!(kinds[kinds.len() - 4..], ["custom", "context_edit", "compaction", "custom_message"]);
        let told = events.all().iter().filter(|event| matches!(***event, Event::EntryAppended { .. })).count();
        assert_eq!(told, 4);
        assert_eq!(agent.prompt("third").await, Ok(Settled::Done));
        world.no_problems();
    });
}

/// Story: three megabytes were written at the end of a turn. They were in every request from then on, which no window took.
#[test]
fn what_fits_no_window_is_the_extensions_error() {
    run(async {
        let world = World::new([Reply::text("one")]);
        let extensions = Arc::new(TestExtensions::default());
        let mut setup = world.setup();
        setup.model = Arc::new(Model { context_window: 20_000, ..Model::clone(&world.model) });
        setup.extensions = Some(extensions.clone());
        let (agent, mut events) = world.start_with(world.session(), setup);
        agent.prompt("first").await.unwrap();
        let first =
            agent.read(|session| session.tree().parent_id(session.leaf().unwrap()).unwrap().as_str().to_owned());
        let first = first.await.unwrap();
        let long = "x".repeat(110_000);
        for draft in [
            json!({"type": "custom_message", "customType": "m", "content": long}),
            json!({"type": "custom_message", "customType": "m", "content": [{"type": "text", "text": long}]}),
            json!({"type": "context_edit", "targetId": first, "replacement": {"content": long}}),
            json!({"type": "compaction", "summary": long, "firstKeptEntryId": first}),
        ] {
            let before = world.lines().len();
            world.server.add([Reply::text("two")]);
            *extensions.drafts.lock().unwrap() = vec![custom("fine"), draft.clone()];
            assert_eq!(agent.prompt("go on").await, Ok(Settled::Done));
            let refused = std::mem::take(&mut *extensions.refused.lock().unwrap());
            let kind = draft["type"].as_str().unwrap();
            let why =
                format!("a {kind} alone has about 27,500 tokens, and the window of anthropic/claude-test has 20,000");
            assert_eq!(refused, [format!("turn_end: its entries are not written: {why}")]);
            assert_eq!(world.lines().len(), before + 2, "{}", world.entries());
        }
        // What comes with a prompt is left out, and the prompt is answered without it.
        let message = |content: &str| CustomMessage {
            custom_type: "m".to_owned(),
            content: Content::Text(content.to_owned()),
            display: true,
            details: None,
            timestamp: 0,
        };
        *extensions.messages.lock().unwrap() = vec![message(&long), message("short")];
        events.all();
        world.server.add([Reply::text("three")]);
        assert_eq!(agent.prompt("with it").await, Ok(Settled::Done));
        let refused = std::mem::take(&mut *extensions.refused.lock().unwrap());
        assert!(refused.len() == 1 && refused[0].starts_with("before_agent_start: its message m alone"), "{refused:?}");
        let entries = world.entries();
        assert!(entries.ends_with("user \"with it\"\ncustom_message\nassistant \"three\" Stop"), "{entries}");
        world.no_problems();
    });
}

/// A file whose beginning is lost is no hindrance.
#[test]
fn drafts_are_written_below_an_entry_whose_parent_is_missing() {
    run(async {
        let world = World::new(["two", "three"].map(Reply::text));
        std::fs::create_dir(world.path("sessions")).unwrap();
        let file = world.path("sessions/s.jsonl");
        let line = |id: &str, parent: &str, message: Value| json!({"type": "message", "id": id, "parentId": parent, "timestamp": "2026-01-01T00:00:00.000Z", "message": message});
        let lines = [
            json!({"type": "session", "version": 3, "id": "s", "timestamp": "2026-01-01T00:00:00.000Z", "cwd": "/"}),
            line("aaaa0001", "00000000", json!({"role": "user", "content": "first", "timestamp": 0})),
        ];
        std::fs::write(&file, lines.map(|line| format!("{line}\n")).concat()).unwrap();
        let extensions = Arc::new(TestExtensions::default());
        let mut setup = world.setup();
        setup.extensions = Some(extensions.clone());
        let (agent, _events) = world.start_with(Session::open(&file, Options::default()).unwrap(), setup);
        let edit = |target: &str| json!({"type": "context_edit", "targetId": target, "replacement": null});
        *extensions.drafts.lock().unwrap() = vec![custom("a"), edit("00000000")];
        assert_eq!(agent.prompt("second").await, Ok(Settled::Done));
        let refused = std::mem::take(&mut *extensions.refused.lock().unwrap());
        assert!(refused.len() == 1 && refused[0].contains("not found"), "{refused:?}");
        *extensions.drafts.lock().unwrap() = vec![custom("a"), edit("aaaa0001")];
        assert_eq!(agent.prompt("third").await, Ok(Settled::Done));
        assert_eq!(*extensions.refused.lock().unwrap(), [""; 0]);
        assert!(world.entries().ends_with("assistant \"three\" Stop\ncustom a\ncontext_edit"), "{}", world.entries());
        world.no_problems();
    });
}

/// An extension's last entry is in the file, whatever was going on; after the end it is refused, and nobody waits.
#[test]
fn an_entry_appended_while_the_session_is_left_is_written() {
    for is_busy in [false, true] {
        run(async {
            let hanging = Reply { then: Then::Hang, cut: Some(900), ..Reply::text(&"words ".repeat(100)) };
            let world = World::new([Reply::text("one"), hanging]);
            let extensions = Arc::new(TestExtensions::default());
            let mut setup = world.setup();
            setup.extensions = Some(extensions.clone());
            let (agent, mut events) = world.start_with(world.session(), setup);
            agent.prompt("first").await.unwrap();
            let talking = is_busy.then(|| prompting(&agent, "second"));
            if is_busy {
                // The first turn has such events, too.
                events.until(|event| matches!(event, Event::TurnEnd { .. })).await;
                events.until(|event| matches!(event, Event::MessageUpdate { .. })).await;
            }
            let append = || AppendEntry { custom_type: "late".to_owned(), data: None };
            let other = agent.clone();
            *extensions.farewell.lock().unwrap() = Some(agent.clone());
            agent.close().await;
            assert!(matches!(other.ask(append()).await, Err(AgentError::Ended)));
            if let Some(talking) = talking {
                let settled = talking.await.unwrap();
                assert!(matches!(settled, Ok(Settled::Aborted) | Err(AgentError::Ended)), "{settled:?}");
            }
            let entries = world.entries();
            assert_eq!(
                (entries.matches("custom farewell").count(), entries.matches("custom late").count()),
                (1, 0),
                "{entries}"
            );
        });
    }
}
