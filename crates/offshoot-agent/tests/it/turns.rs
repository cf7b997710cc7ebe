//! A prompt, its tools, its answer: events, entries and requests.

use insta::assert_snapshot;
use offshoot_agent::provider::Api;
use offshoot_agent::testing::script::{Gate, Reply, Say};
use offshoot_protocol::{Event, Settled};
use serde_json::json;

use crate::world::{World, prompting, run};

#[test]
fn a_prompt_and_its_answer() {
    run(async {
        let world = World::new([Reply::text("Hello you.")]);
        let (agent, mut events) = world.start();
        assert_eq!(agent.prompt("hi").await, Ok(Settled::Done));
        assert_snapshot!(events.names().join(" "), @"agent_start turn_start message_start message_end message_start message_update message_end turn_end agent_end agent_settled");
        assert_snapshot!(world.entries(), @r#"
        model anthropic/claude-test
        thinking off
        user "hi"
        assistant "Hello you." Stop
        "#);
        agent.close().await;
        world.no_problems();
    });
}

#[test]
fn tools_change_files_with_every_wire() {
    for api in Api::ALL {
        run(async {
            let world = World::speaking(
                api,
                [
                    Reply::say([
                        Say::Text { text: "Writing.".to_owned() },
                        Say::Call {
                            call: "write".to_owned(),
                            id: "c1".to_owned(),
                            arguments: json!({"path": "a.txt", "content": "one\n"}).as_object().unwrap().clone(),
                            signature: None,
                        },
                        Say::Call {
                            call: "edit".to_owned(),
                            id: "c2".to_owned(),
                            arguments: json!({"path": "a.txt", "edits": [{"oldText": "one", "newText": "two"}]})
                                .as_object()
                                .unwrap()
                                .clone(),
                            signature: None,
                        },
                    ]),
                    Reply::call("read", "c3", json!({"path": "a.txt"})),
                    Reply::text("It says two."),
                ],
            );
            let (agent, _events) = world.start();
            assert_eq!(agent.prompt("write it").await, Ok(Settled::Done));
            assert_eq!(std::fs::read_to_string(world.path("a.txt")).unwrap(), "two\n");
            let entries = world.entries();
            assert!(entries.contains("result read \"two\\n\""), "{entries}");
            assert_eq!(world.server.seen().len(), 3);
            agent.close().await;
            world.no_problems();
        });
    }
}

/// Whoever sees an answer's end can open the file and find it there.
#[test]
fn events_announce_what_is_in_the_file() {
    run(async {
        let world = World::new([Reply::call("ls", "c1", json!({})), Reply::text("Nothing here.")]);
        let (agent, mut events) = world.start();
        let waiting = prompting(&agent, "look");
        let mut announced = 0;
        loop {
            let event =
                events.until(|event| matches!(event, Event::MessageEnd { .. } | Event::AgentSettled { .. })).await;
            if !matches!(*event, Event::MessageEnd { .. }) {
                break;
            }
            announced += 1;
            let messages = world.lines().iter().filter(|line| line.contains("\"type\":\"message\"")).count();
            assert!(messages >= announced, "{messages} of {announced}");
        }
        assert_eq!(announced, 4);
        assert_eq!(waiting.await.unwrap(), Ok(Settled::Done));
    });
}

/// The server has the request, and the prompt is in the file already.
#[test]
fn the_prompt_is_durable_before_its_request_leaves() {
    run(async {
        let gate = Gate::new();
        let world = World::new([Reply { gate: Some((0, gate.clone())), ..Reply::text("late") }]);
        let (agent, mut events) = world.start();
        let prompted = agent.clone();
        let waiting = tokio::spawn(async move { prompted.prompt("remember me").await });
        while world.server.seen().is_empty() {
            tokio::task::yield_now().await;
        }
        assert!(world.entries().ends_with("user \"remember me\""));
        gate.open();
        assert_eq!(waiting.await.unwrap(), Ok(Settled::Done));
        events.names();
    });
}

#[test]
fn a_second_prompt_goes_on_and_a_third_after_opening_again() {
    run(async {
        let world = World::new([Reply::text("one"), Reply::text("two"), Reply::text("three")]);
        let (agent, _events) = world.start();
        agent.prompt("first").await.unwrap();
        agent.prompt("second").await.unwrap();
        let file = agent.read(|session| session.file().unwrap().to_path_buf()).await.unwrap();
        agent.close().await;
        let session = offshoot_session::session::Session::open(&file, Default::default()).unwrap();
        let (agent, _events) = world.start_with(session, world.setup());
        agent.prompt("third").await.unwrap();
        assert_snapshot!(world.entries(), @r#"
        model anthropic/claude-test
        thinking off
        user "first"
        assistant "one" Stop
        user "second"
        assistant "two" Stop
        user "third"
        assistant "three" Stop
        "#);
        let last = world.server.seen().pop().unwrap().json();
        assert_eq!(last["messages"].as_array().unwrap().len(), 5);
        let stats = agent.stats().await.unwrap();
        assert_eq!((stats.user_messages, stats.assistant_messages, stats.usage.output), (3, 3, 15));
        assert!(stats.usage.cost > 0.0 && stats.branches.len() == 1);
        world.no_problems();
    });
}

#[test]
fn an_unknown_tool_and_bad_arguments_are_told_to_the_model() {
    run(async {
        let world = World::new([
            Reply::call("teleport", "c1", json!({})),
            Reply::call("read", "c2", json!({"path": 7})),
            Reply::text("Sorry."),
        ]);
        let (agent, _events) = world.start();
        assert_eq!(agent.prompt("go").await, Ok(Settled::Done));
        let entries = world.entries();
        assert!(entries.contains("error teleport") && entries.contains("error read"), "{entries}");
        world.no_problems();
    });
}

/// Each of the two commands waits for the other; the edits of one file take effect one after another.
#[test]
fn the_calls_of_an_answer_run_at_once_and_changes_of_a_file_do_not() {
    run(async {
        let call = |name: &str, id: &str, arguments: serde_json::Value| Say::Call {
            call: name.to_owned(),
            id: id.to_owned(),
            arguments: arguments.as_object().unwrap().clone(),
            signature: None,
        };
        let edit = |id: &str, old: &str, new: &str| {
            call("edit", id, json!({"path": "a", "edits": [{"oldText": old, "newText": new}]}))
        };
        let world = World::new([
            Reply::say([
                call("bash", "c1", json!({"command": "cat pipe"})),
                call("bash", "c2", json!({"command": "echo met > pipe; echo wrote"})),
                edit("c3", "one", "two"),
                edit("c4", "two", "three"),
            ]),
            Reply::text("Done."),
        ]);
        std::fs::write(world.path("a"), "one\n").unwrap();
        assert!(std::process::Command::new("mkfifo").arg(world.path("pipe")).status().unwrap().success());
        let (agent, _events) = world.start();
        assert_eq!(agent.prompt("work").await, Ok(Settled::Done));
        assert_eq!(std::fs::read_to_string(world.path("a")).unwrap(), "three\n");
        let entries = world.entries();
        let results: Vec<&str> = entries.lines().filter(|line| line.starts_with("result")).collect();
        assert_snapshot!(results.join("\n"), @r#"
        result bash "met\n"
        result bash "wrote\n"
        result edit "made 1 replacement in a"
        result edit "made 1 replacement in a"
        "#);
        world.no_problems();
    });
}
