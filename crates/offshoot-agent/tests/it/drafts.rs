//! Entries that an extension drafts at the end of a turn: one write, checked before anything is written.

use std::sync::Arc;

use offshoot_agent::event::Event;
use offshoot_agent::testing::script::Reply;
use offshoot_agent::turn::Settled;
use offshoot_session::entry::Source as _;
use serde_json::{Value, json};

use crate::test_extensions::TestExtensions;
use crate::world::{World, run};

fn custom(name: &str) -> Value {
    json!({"type": "custom", "customType": name, "data": {"a": 1}})
}

/// What an extension drafts, and a part of the error that it gets.
fn wrong(elsewhere: &str) -> Vec<(Value, &'static str)> {
    vec![
        (json!({"type": "context_edit", "targetId": elsewhere, "replacement": null}), "not on the active branch"),
        (json!({"type": "context_edit", "targetId": "ffffffff", "replacement": null}), "not found"),
        (json!({"type": "context_edit", "replacement": null}), "not found"),
        (json!({"type": "context_edit", "targetId": elsewhere, "replacement": 7}), "a replacement is"),
        (json!({"type": "compaction", "summary": "s", "firstKeptEntryId": "ffffffff"}), "not found"),
        (json!({"type": "compaction", "summary": "s", "firstKeptEntryId": elsewhere}), "not on this branch"),
        (json!({"type": "custom_message", "customType": "m"}), "has a content"),
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
        let navigation = offshoot_agent::turn::Navigation { target: user, is_behind: true, ..Default::default() };
        agent.navigate_tree(navigation).await.unwrap();
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

/// What is right is written at once, with an event for each entry, also a compaction after others and half a surrogate pair.
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
