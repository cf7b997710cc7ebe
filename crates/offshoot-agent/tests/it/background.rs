//! Commands in the background, in a conversation.

use offshoot_agent::Setup;
use offshoot_agent::testing::script::{Reply, Say};
use offshoot_agent::testing::seen::Seen;
use offshoot_agent::tool::{Bash, Shell};
use offshoot_protocol::request::StopBackground;
use offshoot_protocol::{BackgroundState, Event, NoticeCode, Settled};
use serde_json::{Value, json};

use crate::world::{Events, World, prompting, run};

fn call(id: &str, command: &str) -> Reply {
    let arguments = json!({"command": command, "background": true}).as_object().unwrap().clone();
    Reply::say([Say::Call { call: "bash".to_owned(), id: id.to_owned(), arguments, signature: None }])
}

fn setup(world: &World) -> Setup {
    Setup { tools: vec![std::sync::Arc::new(Bash { shell: Shell::default() })], ..world.setup() }
}

fn tools(request: &Value) -> Vec<&str> {
    request["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

/// The last state of the only command.
async fn state(events: &mut Events, is_running: bool) -> BackgroundState {
    let fits = |event: &Event| match event {
        Event::BackgroundCommands { commands } => commands.last().is_some_and(|last| last.is_running() == is_running),
        _ => false,
    };
    match events.until(fits).await.as_ref() {
        Event::BackgroundCommands { commands } => commands.last().unwrap().state,
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_model_hears_of_an_end_with_the_next_prompt_once() {
    run(async {
        let command = "until [ -e go ]; do sleep 0.02; done; echo ready; exit 4";
        let replies = [call("c1", command), Reply::text("Begun."), Reply::text("Seen."), Reply::text("On.")];
        let world = World::new(replies);
        let (agent, mut events) = world.start_with(world.session(), setup(&world));
        assert_eq!(prompting(&agent, "start it").await.unwrap(), Ok(Settled::Done));
        assert_eq!(state(&mut events, true).await, BackgroundState::Running);
        std::fs::write(world.path("go"), "").unwrap();
        assert_eq!(state(&mut events, false).await, BackgroundState::Exited { exit_code: 4 });
        let notice = events.until(|event| matches!(event, Event::Notice { .. })).await;
        let Event::Notice { code: NoticeCode::Background, message, .. } = notice.as_ref() else { panic!("{notice:?}") };
        assert_eq!(*message, format!("ended in the background (exit code 4): b1 {command}"));
        assert_eq!(prompting(&agent, "and now?").await.unwrap(), Ok(Settled::Done));
        assert_eq!(prompting(&agent, "go on").await.unwrap(), Ok(Settled::Done));
        let seen: Vec<Value> = world.server.seen().iter().map(Seen::json).collect();
        assert_eq!(tools(&seen[0]), ["bash"]);
        // With the first such command, in the same turn.
        assert_eq!(tools(&seen[1]), ["bash", "bash_output", "bash_stop", "bash_list"]);
        let told = format!("The background command b1 (`{command}`) has ended: exit code 4 after ");
        let counted = |request: &Value| request["messages"].to_string().matches(told.as_str()).count();
        assert_eq!(seen.iter().map(counted).collect::<Vec<_>>(), [0, 0, 1, 1]);
        assert!(seen[2]["messages"].to_string().contains("\\nready"), "{}", seen[2]);
        world.no_problems();
    });
}

/// A branch that has not started a command is not told of it; the one that has, is, when the person comes back.
#[test]
fn an_end_is_told_on_the_branch_that_started_the_command() {
    run(async {
        let replies = [Reply::text("One."), call("c1", "until [ -e go ]; do sleep 0.02; done"), Reply::text("Begun.")];
        let world = World::new(replies.into_iter().chain(["Elsewhere.", "Back."].map(Reply::text)));
        let (agent, mut events) = world.start_with(world.session(), setup(&world));
        let leaf = async |agent: &offshoot_agent::agent_session::AgentSession| {
            let leaf = agent.read(|session| session.leaf_id().map(|id| id.as_str().to_owned()));
            leaf.await.unwrap().unwrap()
        };
        assert_eq!(prompting(&agent, "one").await.unwrap(), Ok(Settled::Done));
        let before = leaf(&agent).await;
        assert_eq!(prompting(&agent, "start it").await.unwrap(), Ok(Settled::Done));
        let after = leaf(&agent).await;
        std::fs::write(world.path("go"), "").unwrap();
        assert_eq!(state(&mut events, false).await, BackgroundState::Exited { exit_code: 0 });
        crate::operations::go(&agent, before).await;
        assert_eq!(prompting(&agent, "elsewhere").await.unwrap(), Ok(Settled::Done));
        crate::operations::go(&agent, after).await;
        assert_eq!(prompting(&agent, "back").await.unwrap(), Ok(Settled::Done));
        let told = |seen: &Seen| seen.body.contains("The background command b1");
        let seen = world.server.seen();
        assert_eq!(seen.iter().map(told).collect::<Vec<_>>(), [false, false, false, false, true]);
    });
}

#[test]
fn a_person_stops_a_command_and_the_end_of_the_agent_stops_the_rest() {
    run(async {
        let run_on = "echo $BASHPID > pid; while :; do sleep 0.02; done";
        let world = World::new([call("c1", run_on), call("c2", "sleep 1000"), Reply::text("Begun.")]);
        let (agent, mut events) = world.start_with(world.session(), setup(&world));
        assert_eq!(prompting(&agent, "start them").await.unwrap(), Ok(Settled::Done));
        assert_eq!(agent.ask(StopBackground(Some("b2".to_owned()))).await, Ok(true));
        assert_eq!(agent.ask(StopBackground(Some("b2".to_owned()))).await, Ok(false));
        assert!(agent.ask(StopBackground(Some("b3".to_owned()))).await.is_err());
        let pid = loop {
            match std::fs::read_to_string(world.path("pid")) {
                Ok(pid) if pid.ends_with('\n') => break pid.trim().to_owned(),
                _ => tokio::task::yield_now().await,
            }
        };
        events.all();
        agent.close().await;
        while std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| !stat.contains(") Z ")) {
            tokio::task::yield_now().await;
        }
        let told = events.all().into_iter().filter_map(|event| match event.as_ref() {
            Event::Notice { message, .. } => Some(message.clone()),
            _ => None,
        });
        assert_eq!(told.collect::<Vec<_>>(), [format!("stopped in the background: b1 {run_on}")]);
    });
}
