//! What is said while the agent works, and commands of the user beside it.

use insta::assert_snapshot;
use offshoot_agent::testing::script::{Gate, Reply};
use offshoot_protocol::request::{AbortBash, ClearedQueue, SetSteeringMode};
use offshoot_protocol::{AgentError, Event, QueueMode, Settled};
use serde_json::json;

use crate::world::{World, prompting, run};

#[test]
fn steering_is_heard_after_the_tools_and_follow_ups_at_the_end() {
    run(async {
        let gate = Gate::new();
        let first = Reply { gate: Some((0, gate.clone())), ..Reply::call("ls", "c1", json!({})) };
        let world = World::new([first, Reply::text("Left it is."), Reply::text("And thanks.")]);
        let (agent, mut events) = world.start();
        let talking = prompting(&agent, "go");
        events.until(|event| matches!(event, Event::TurnStart)).await;
        agent.steer("turn left").await.unwrap();
        agent.follow_up("thank you").await.unwrap();
        let refused = agent.prompt("too early").await;
        assert!(matches!(refused, Err(AgentError::Busy(_))), "{refused:?}");
        gate.open();
        assert_eq!(talking.await.unwrap(), Ok(Settled::Done));
        assert_snapshot!(world.entries(), @r#"
        model anthropic/claude-test
        thinking off
        user "go"
        assistant "" +ls ToolUse
        result ls "sessions/"
        user "turn left"
        assistant "Left it is." Stop
        user "thank you"
        assistant "And thanks." Stop
        "#);
        world.no_problems();
    });
}

#[test]
fn what_waits_can_be_taken_back() {
    run(async {
        let gate = Gate::new();
        let world = World::new([Reply { gate: Some((0, gate.clone())), ..Reply::text("ok") }]);
        let (agent, mut events) = world.start();
        agent.ask(SetSteeringMode(QueueMode::All)).await.unwrap();
        let talking = prompting(&agent, "go");
        events.until(|event| matches!(event, Event::TurnStart)).await;
        agent.steer("a").await.unwrap();
        agent.follow_up("b").await.unwrap();
        let waiting = ClearedQueue { steering: vec!["a".to_owned()], follow_up: vec!["b".to_owned()] };
        assert_eq!(agent.clear_queue().await, Ok(waiting));
        gate.open();
        talking.await.unwrap().unwrap();
        assert_eq!(world.server.seen().len(), 1);
    });
}

/// A command of the user between a call and its result would make the next request invalid.
#[test]
fn commands_of_the_user_stand_between_turns() {
    run(async {
        let gate = Gate::new();
        let second = Reply { gate: Some((0, gate.clone())), ..Reply::text("Done.") };
        let world =
            World::new([Reply::call("bash", "c1", json!({"command": "sleep 0.2"})), second, Reply::text("I see.")]);
        let (agent, mut events) = world.start();
        let talking = prompting(&agent, "go");
        events.until(|event| matches!(event, Event::ToolExecutionStart { .. })).await;
        let ran = agent.bash("echo seen", false).await.unwrap();
        assert!(ran.run.output.starts_with("seen") && ran.run.exit_code == Some(0), "{ran:?}");
        let hidden = agent.bash("echo hidden", true).await.unwrap();
        assert!(hidden.exclude_from_context);
        gate.open();
        talking.await.unwrap().unwrap();
        agent.prompt("what did I run?").await.unwrap();
        let entries = world.entries();
        let call = entries.lines().position(|line| line.contains("+bash")).unwrap();
        assert!(entries.lines().nth(call + 1).unwrap().starts_with("result bash"), "{entries}");
        let asked = world.server.seen().pop().unwrap().json()["messages"].to_string();
        assert!(asked.contains("echo seen") && !asked.contains("hidden"), "{asked}");
        world.no_problems();
    });
}

#[test]
fn what_a_command_of_the_user_prints_is_told_while_it_runs() {
    run(async {
        let world = World::new([]);
        let (agent, mut events) = world.start();
        let running = tokio::spawn({
            let agent = agent.clone();
            async move { agent.bash("mkfifo gate; echo the beginning; cat gate", false).await }
        });
        let mut told = String::new();
        while !told.ends_with('\n') {
            let Event::BashExecutionUpdate { delta, omitted: 0 } = &*events.0.recv().await.unwrap().event else {
                continue;
            };
            told.push_str(delta);
        }
        assert_eq!(told, "the beginning\n");
        let gate = world.path("gate");
        tokio::task::spawn_blocking(move || std::fs::write(gate, "the end").unwrap()).await.unwrap();
        let ran = running.await.unwrap().unwrap();
        // The other events come before the answer, and the file has exactly what they announced.
        while let Ok(event) = events.0.try_recv() {
            if let Event::BashExecutionUpdate { delta, omitted: 0 } = &*event.event {
                told.push_str(delta);
            }
        }
        assert_eq!(told, "the beginning\nthe end");
        assert!(ran.run.output.starts_with("the beginning\nthe end"), "{ran:?}");
        // The entry is in the file before the answer comes.
        assert!(world.entries().contains("bash mkfifo gate"));
    });
}

#[test]
fn a_command_that_is_stopped_is_recorded_so() {
    run(async {
        let world = World::new([]);
        let (agent, _events) = world.start();
        let running = tokio::spawn({
            let agent = agent.clone();
            async move { agent.bash("echo $$ > up; sleep 1000", false).await }
        });
        while std::fs::read_to_string(world.path("up")).unwrap_or_default().is_empty() {
            tokio::task::yield_now().await;
        }
        assert!(matches!(agent.bash("echo two", false).await, Err(AgentError::Busy(_))));
        agent.ask(AbortBash).await.unwrap();
        let ran = running.await.unwrap().unwrap();
        assert!(ran.run.cancelled && ran.run.exit_code.is_none(), "{ran:?}");
        agent.wait_for_idle().await.unwrap();
        assert!(world.entries().ends_with("bash echo $$ > up; sleep 1000"));
    });
}
