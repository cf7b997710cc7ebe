//! Stopping: what was said is kept, every call has its result, and the next request is valid.

use std::sync::Arc;

use futures_util::{StreamExt as _, stream};
use insta::assert_snapshot;
use offshoot_agent::Setup;
use offshoot_agent::provider::{Delta, Deltas, Provider, Request};
use offshoot_agent::testing::script::{Reply, Say, Then};
use offshoot_protocol::{Event, Settled};
use serde_json::json;

use crate::world::{World, prompting, run};

fn call(name: &str, id: &str, arguments: &serde_json::Value) -> Say {
    let arguments = arguments.as_object().unwrap().clone();
    Say::Call { call: name.to_owned(), id: id.to_owned(), arguments, signature: None }
}

#[test]
fn half_an_answer_is_kept_and_not_sent_again() {
    run(async {
        let hanging = Reply { then: Then::Hang, cut: Some(900), ..Reply::text(&"on and on ".repeat(50)) };
        let world = World::new([hanging, Reply::text("Yes?")]);
        let (agent, mut events) = world.start();
        let talking = prompting(&agent, "talk");
        events.until(|event| matches!(event, Event::MessageUpdate { .. })).await;
        assert_eq!(agent.abort().await, Ok(Settled::Aborted));
        assert_eq!(talking.await.unwrap(), Ok(Settled::Aborted));
        assert!(world.entries().lines().last().unwrap().starts_with("assistant \"on and on"), "{}", world.entries());
        assert_eq!(agent.prompt("stop").await, Ok(Settled::Done));
        let second = world.server.seen().pop().unwrap().json();
        assert!(!second["messages"].to_string().contains("on and on"), "half an answer is no answer");
        world.no_problems();
    });
}

#[test]
fn tools_that_are_stopped_leave_no_call_open_and_no_process() {
    run(async {
        let reply = Reply::say([
            call("ls", "c1", &json!({})),
            call("bash", "c2", &json!({"command": "echo $$ > pid; echo up; sleep 1000"})),
            call("write", "c3", &json!({"path": "never", "content": "x"})),
        ]);
        let world = World::new([reply, Reply::text("All right.")]);
        // The last one has not begun.
        let (agent, mut events) = world.start_with(world.session(), Setup { parallel_tools: false, ..world.setup() });
        let talking = prompting(&agent, "work");
        events.until(|event| matches!(event, Event::ToolExecutionUpdate { .. })).await;
        agent.abort().await.unwrap();
        assert_eq!(talking.await.unwrap(), Ok(Settled::Aborted));
        let entries = world.entries();
        let results: Vec<&str> = entries.lines().skip(4).collect();
        assert_snapshot!(results.join("\n"), @r#"
        result ls "sessions/"
        error bash "up\n\nThe user stopped this tool call before it was done."
        error write "The user stopped this tool call before it was done."
        "#);
        assert!(!world.path("never").exists());
        let pid = std::fs::read_to_string(world.path("pid")).unwrap();
        has_ended(&pid).await;
        assert_eq!(agent.prompt("and now?").await, Ok(Settled::Done));
        world.no_problems();
    });
}

/// Long output of a stopped command: its end, and where all of it is.
#[test]
fn a_stopped_tool_says_where_the_rest_of_its_output_is() {
    run(async {
        let reply = Reply::say([call("bash", "c1", &json!({"command": "seq 1 3000; sleep 1000"}))]);
        let world = World::new([reply]);
        let (agent, mut events) = world.start();
        let talking = prompting(&agent, "work");
        let is_printed = |event: &Event| event.to_json().contains("3000");
        events.until(|event| matches!(event, Event::ToolExecutionUpdate { .. }) && is_printed(event)).await;
        agent.abort().await.unwrap();
        assert_eq!(talking.await.unwrap(), Ok(Settled::Aborted));
        let entries = world.entries();
        let result = entries.lines().last().unwrap();
        let end = ".log]\n\nThe user stopped this tool call before it was done.\"";
        assert!(result.contains(r"\n3000\n\n[lines 1001-3000 of 3000; all of it is in /"), "{result}");
        assert!(result.ends_with(&end.replace('\n', r"\n")), "{result}");
    });
}

/// The terminal goes away: what the tool and the command of the user had printed is in the file.
#[test]
fn an_agent_that_ends_writes_what_was_under_way() {
    run(async {
        let reply = Reply::say([call("bash", "c1", &json!({"command": "echo of the tool; sleep 1000"}))]);
        let world = World::new([reply]);
        let (agent, mut events) = world.start();
        let talking = prompting(&agent, "work");
        events.until(|event| matches!(event, Event::ToolExecutionUpdate { .. })).await;
        let ordered = tokio::spawn({
            let agent = agent.clone();
            async move { agent.bash("echo of the user; sleep 1000", false).await }
        });
        events.until(|event| matches!(event, Event::BashExecutionUpdate { .. })).await;
        agent.close().await;
        assert_eq!(talking.await.unwrap(), Ok(Settled::Aborted));
        assert!(ordered.await.unwrap().is_ok_and(|result| result.run.cancelled));
        let entries = world.entries();
        assert_snapshot!(entries.lines().skip(4).collect::<Vec<_>>().join("\n"), @r#"
        error bash "of the tool\n\nThe user stopped this tool call before it was done."
        bash echo of the user; sleep 1000
        "#);
        assert!(world.lines().last().unwrap().contains(r#""output":"of the user\n","cancelled":true"#));
    });
}

#[test]
fn there_may_be_nothing_to_stop() {
    run(async {
        let world = World::new([Reply::text("Hello.")]);
        let (agent, _events) = world.start();
        assert_eq!(agent.abort().await, Ok(Settled::Done));
        assert_eq!(agent.prompt("hi").await, Ok(Settled::Done));
    });
}

/// The disk fills up in the middle: every announced entry is in the file, and the failure is reported.
#[test]
fn a_session_that_cannot_be_written_stops_the_agent() {
    run(async {
        let world = World::new([Reply::text("never asked")]);
        let session = world.session();
        std::fs::write(world.path("sessions"), "in the way").unwrap();
        let (agent, mut events) = world.start_with(session, world.setup());
        let refused = agent.prompt("hi").await;
        assert!(matches!(&refused, Err(why) if why.to_string().contains("cannot be written")), "{refused:?}");
        let names = events.names();
        assert!(names.contains(&"failed".to_owned()) && !names.contains(&"message_end".to_owned()), "{names:?}");
        assert_eq!(world.server.seen().len(), 0, "no request leaves whose prompt is not durable");
    });
}

/// Sends text as fast as it is taken, for ever.
struct Torrent;

impl Provider for Torrent {
    fn stream(&self, _: Request) -> Deltas {
        let text = stream::repeat_with(|| Delta::Text { index: 0, delta: "word ".to_owned() });
        Box::pin(stream::iter([Delta::Start, Delta::TextStart { index: 0 }]).chain(text))
    }
}

#[test]
fn a_stop_comes_before_an_answer_that_never_ends() {
    run(async {
        let world = World::new([]);
        let (agent, mut events) =
            world.start_with(world.session(), Setup { provider: Arc::new(Torrent), ..world.setup() });
        let talking = prompting(&agent, "talk");
        events.until(|event| matches!(event, Event::MessageUpdate { .. })).await;
        assert_eq!(agent.abort().await, Ok(Settled::Aborted));
        assert_eq!(talking.await.unwrap(), Ok(Settled::Aborted));
        assert!(world.entries().contains("assistant \"word word"), "what came is kept");
    });
}

/// Processes that left their group, their session and their parents.
#[test]
fn what_a_stopped_command_left_in_other_sessions_is_stopped_too() {
    run(async {
        let command = "setsid sh -c 'echo $$ > away; exec sleep 1000' & \
            (setsid sh -c 'echo $$ > orphan; exec sleep 1000' &); \
            until [ -s away ] && [ -s orphan ]; do sleep 0.01; done; echo up; sleep 1000";
        let world = World::new([Reply::say([call("bash", "c1", &json!({"command": command}))])]);
        let (agent, mut events) = world.start();
        let talking = prompting(&agent, "work");
        events.until(|event| matches!(event, Event::ToolExecutionUpdate { .. })).await;
        agent.abort().await.unwrap();
        assert_eq!(talking.await.unwrap(), Ok(Settled::Aborted));
        for name in ["away", "orphan"] {
            has_ended(&std::fs::read_to_string(world.path(name)).unwrap()).await;
        }
    });
}

async fn has_ended(pid: &str) {
    let stat = format!("/proc/{}/stat", pid.trim());
    while std::fs::read_to_string(&stat).is_ok_and(|stat| !stat.contains(") Z ")) {
        tokio::task::yield_now().await;
    }
}
