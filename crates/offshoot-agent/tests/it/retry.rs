//! Requests that fail and are sent again.

use insta::assert_snapshot;
use offshoot_agent::testing::script::{Reply, Then};
use offshoot_protocol::request::SetRunSettings;
use offshoot_protocol::{Event, Retry, RunSettings, Settled};

use crate::world::{World, prompting, run};

#[test]
fn overloaded_servers_are_asked_again() {
    run(async {
        let cut = Reply { then: Then::Drop, cut: Some(700), ..Reply::text(&"words ".repeat(100)) };
        let world = World::new([Reply::error(529, "overloaded"), cut, Reply::text("Here I am.")]);
        let (agent, mut events) = world.start();
        assert_eq!(agent.prompt("hi").await, Ok(Settled::Done));
        let names = events.names().join(" ");
        assert_eq!(names.matches("auto_retry_start").count(), 2, "{names}");
        assert!(names.ends_with("auto_retry_end turn_end agent_end agent_settled"), "{names}");
        let entries = world.entries();
        assert_eq!(entries.matches("Error").count(), 2, "failed attempts stay in the file: {entries}");
        let last = world.server.seen().pop().unwrap().json();
        assert_eq!(last["messages"].as_array().unwrap().len(), 1, "and do not go to the model");
        world.no_problems();
    });
}

#[test]
fn the_server_says_how_long_to_wait() {
    run(async {
        let world = World::new([Reply::error(429, "slow down").header("retry-after", "7"), Reply::text("ok")]);
        let mut setup = world.setup();
        setup.retry = Retry { base_delay_ms: 10, max_delay_ms: 60_000, ..Retry::default() };
        let (agent, mut events) = world.start_with(world.session(), setup);
        let talking = prompting(&agent, "hi");
        let event = events.until(|event| matches!(event, Event::AutoRetryStart { .. })).await;
        assert!(matches!(*event, Event::AutoRetryStart { delay_ms: 7000, attempt: 1, .. }), "{event:?}");
        // Who does not want to wait so long stops it.
        agent.abort().await.unwrap();
        assert_eq!(talking.await.unwrap(), Ok(Settled::Aborted));
        assert_eq!(world.server.seen().len(), 1);
    });
}

#[test]
fn in_the_end_it_is_given_up() {
    run(async {
        let world = World::new((0..4).map(|_| Reply::error(503, "gone fishing")));
        let (agent, mut events) = world.start();
        let settled = agent.prompt("hi").await.unwrap();
        assert!(matches!(&settled, Settled::Failed(why) if why.to_string().contains("503")), "{settled:?}");
        assert_eq!(world.server.seen().len(), 4);
        let names = events.names();
        assert_snapshot!(names[names.len() - 5..].join(" "), @"message_end turn_end agent_end auto_retry_end agent_settled");
    });
}

#[test]
fn what_will_not_help_is_not_tried() {
    run(async {
        let world = World::new([Reply::error(401, "who are you?")]);
        let (agent, _events) = world.start();
        assert!(matches!(agent.prompt("hi").await, Ok(Settled::Failed(_))));
        assert_eq!(world.server.seen().len(), 1);
    });
}

#[test]
fn other_rules_count_from_now_on() {
    run(async {
        let world = World::new([Reply::error(503, "gone fishing"), Reply::error(503, "gone fishing")]);
        let (agent, _events) = world.start();
        let setup = world.setup();
        let settings = RunSettings {
            retry: Retry { max_retries: 1, ..setup.retry },
            compaction: setup.compaction,
            compaction_for: setup.compaction_for,
            branch_reserve: setup.branch_reserve,
            parallel_tools: setup.parallel_tools,
            prompt_storage: setup.prompt_storage,
        };
        agent.ask(SetRunSettings(Box::new(settings))).await.unwrap();
        assert!(matches!(agent.prompt("hi").await, Ok(Settled::Failed(_))));
        assert_eq!(world.server.seen().len(), 2);
    });
}
