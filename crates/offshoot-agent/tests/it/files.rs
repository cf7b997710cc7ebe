//! Changes of files are recorded after the results of the calls that made them, also of stopped calls and of the user's commands.

use offshoot_agent::Setup;
use offshoot_agent::agent_session::AgentSession;
use offshoot_agent::file_entries::FileRecording;
use offshoot_agent::testing::script::{Reply, Say};
use offshoot_files::FileLimits;
use offshoot_protocol::{Event, Settled};
use serde_json::{Value, json};

use crate::world::{Events, World, prompting, run};

/// An agent that records files.
fn start(world: &World) -> (AgentSession, Events) {
    let (data, session) = (world.path("data"), world.session());
    let never = vec![data.clone()];
    let files = Some(FileRecording { data, limits: FileLimits::default(), never });
    let mut setup = Setup { files, ..world.setup() };
    setup.tool_context.set_session(session.id(), session.file());
    world.start_with(session, setup)
}

fn call(name: &str, id: &str, arguments: &Value) -> Say {
    let arguments = arguments.as_object().unwrap().clone();
    Say::Call { call: name.to_owned(), id: id.to_owned(), arguments, signature: None }
}

/// What each entry is, and the paths of those that record files.
fn entries(world: &World) -> Vec<String> {
    let name = |line: &String| {
        let entry: Value = serde_json::from_str(line).unwrap();
        let Some(changes) = entry["data"]["changes"].as_array() else {
            return entry["message"]["role"].as_str().map(str::to_owned);
        };
        let paths: Vec<&str> = changes.iter().map(|change| change["path"].as_str().unwrap()).collect();
        Some(format!("files {}", paths.join(" ")))
    };
    world.lines().iter().filter_map(name).filter(|role| role != "system").collect()
}

#[test]
fn calls_that_run_at_once_have_one_entry_after_their_results() {
    run(async {
        let calls = [
            call("write", "c1", &json!({"path": "one", "content": "1\n"})),
            call("bash", "c2", &json!({"command": "echo 2 > two"})),
            call("ls", "c3", &json!({})),
        ];
        let world = World::new([Reply::say(calls), Reply::call("ls", "c4", json!({})), Reply::text("done")]);
        let (agent, _events) = start(&world);
        assert_eq!(agent.prompt("work").await, Ok(Settled::Done));
        let expected = ["user", "assistant", "toolResult", "toolResult", "toolResult", "files one two", "assistant"];
        assert_eq!(entries(&world)[..7], expected);
        assert_eq!(entries(&world)[7..], ["toolResult", "assistant"], "what only reads records nothing");
        world.no_problems();
    });
}

#[test]
fn a_call_that_is_stopped_has_changed_what_it_has_changed() {
    run(async {
        let world = World::new([Reply::call("bash", "c1", json!({"command": "echo 1 > half; echo up; sleep 1000"}))]);
        let (agent, mut events) = start(&world);
        let talking = prompting(&agent, "work");
        events.until(|event| matches!(event, Event::ToolExecutionUpdate { .. })).await;
        agent.abort().await.unwrap();
        assert_eq!(talking.await.unwrap(), Ok(Settled::Aborted));
        assert_eq!(entries(&world), ["user", "assistant", "toolResult", "files half"]);
    });
}

#[test]
fn a_command_of_the_user_is_recorded_and_no_session_is() {
    run(async {
        let world = World::new([Reply::text("hello")]);
        let (agent, _events) = start(&world);
        assert_eq!(agent.prompt("hello").await, Ok(Settled::Done));
        agent.bash("echo 1 > mine; echo '{}' > sessions/other.jsonl", false).await.unwrap();
        std::fs::remove_file(world.path("sessions/other.jsonl")).unwrap();
        // The entry is written on the session's thread, after the command's.
        agent.read(|_| ()).await.unwrap();
        assert_eq!(entries(&world).last().unwrap(), "files mine");
    });
}
