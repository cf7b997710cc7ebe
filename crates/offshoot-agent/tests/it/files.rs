//! Changes of files are recorded after the results of the calls that made them, also of stopped calls and of the user's commands.

use std::path::PathBuf;

use offshoot_agent::Setup;
use offshoot_agent::agent_session::AgentSession;
use offshoot_agent::file_entries::FileRecording;
use offshoot_agent::testing::script::{Gate, Reply, Say};
use offshoot_files::FileLimits;
use offshoot_protocol::{Event, Settled};
use serde_json::{Value, json};

use crate::children_orders::{called, child_ends, staying};
use crate::world::{Events, World, prompting, run};

/// An agent that records files.
fn start(world: &World) -> (AgentSession, Events) {
    start_with(world, world.setup(), &[])
}

/// The same with other settings, where these folders are not recorded.
fn start_with(world: &World, setup: Setup, never: &[PathBuf]) -> (AgentSession, Events) {
    let (data, session) = (world.path("data"), world.session());
    let never = [std::slice::from_ref(&data), never].concat();
    let files = Some(FileRecording { data, limits: FileLimits::default(), never });
    let mut setup = Setup { files, ..setup };
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

/// An agent that a call starts works in the same folder: its files are those of the call, in the parent's session alone.
#[test]
fn what_an_agent_that_was_started_changes_is_recorded_with_the_call_that_started_it() {
    run(async {
        let arguments = json!({"tasks": [{"task": "count them", "name": "Alpha", "agent": "task"}]});
        let world = World::new([
            Reply::say([call("task", "c1", &arguments)]),
            Reply::call("write", "k1", json!({"path": "of-child", "content": "1\n"})).on("count them"),
            Reply::text("There is one.").on("count them"),
            Reply::text("One, says Alpha."),
        ]);
        let (agent, _events) = start(&world);
        assert_eq!(agent.prompt("how many?").await, Ok(Settled::Done));
        world.no_problems();
        let (root, children) = crate::children::files(&world);
        let recorded = |file| {
            crate::children::lines(file)
                .iter()
                .filter(|line| line["customType"] == "offshoot.files")
                .cloned()
                .collect::<Vec<_>>()
        };
        let found = recorded(&root);
        assert_eq!(found.len(), 1, "{found:?}");
        let data = &found[0]["data"];
        assert_eq!(
            (&data["changes"][0]["path"], &data["calls"]),
            (&json!("of-child"), &json!([{"id": "c1", "name": "task"}]))
        );
        assert!(recorded(&children[0]).is_empty(), "once is enough");
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

/// A command goes on in the background and changes files when no call runs: the entry names it, and the files are the conversation's.
#[test]
fn what_a_command_changes_in_the_background_is_recorded_at_the_end_of_the_next_turn() {
    run(async {
        let command = "until [ -e go ]; do sleep 0.02; done; echo 1 > late; rm go; touch gone; sleep 1000";
        let world = World::new([
            Reply::call("bash", "c1", json!({"command": command, "background": true})),
            Reply::text("Begun."),
            Reply::text("Later."),
        ]);
        let (agent, _events) = start(&world);
        assert_eq!(agent.prompt("start it").await, Ok(Settled::Done));
        std::fs::write(world.path("go"), "").unwrap();
        while !world.path("gone").exists() {
            tokio::task::yield_now().await;
        }
        assert_eq!(agent.prompt("and now?").await, Ok(Settled::Done));
        let recorded: Vec<Value> = world.lines().iter().map(|line| serde_json::from_str(line).unwrap()).collect();
        let recorded: Vec<&Value> = recorded.iter().filter(|entry| entry["customType"] == "offshoot.files").collect();
        assert_eq!(recorded.len(), 1, "{recorded:?}");
        assert_eq!(recorded[0]["data"]["calls"], json!([{"id": "b1", "name": "background"}]));
        let paths: Vec<&str> = recorded[0]["data"]["changes"]
            .as_array()
            .unwrap()
            .iter()
            .filter_map(|change| change["path"].as_str())
            .collect();
        assert_eq!(paths, ["gone", "late"]);
        agent.close().await;
    });
}

/// An agent that goes on beside the conversation changes a file when no call waits for it: the entry names it.
#[test]
fn what_an_agent_in_the_background_changes_is_recorded_at_the_end_of_the_next_turn() {
    run(async {
        let gate = Gate::new();
        let order = json!({"background": true, "tasks": [{"task": "write it down", "name": "Alpha"}]});
        let write = Reply::call("write", "k1", json!({"path": "late", "content": "1\n"})).on("write it down");
        let world = World::new([
            called("c1", &order),
            Reply::text("Begun.").on("zulu"),
            Reply { gate: Some((0, gate.clone())), ..write },
            Reply::text("Done.").on("write it down"),
            Reply::text("Later.").on("zulu"),
        ]);
        let (agent, mut events) = start_with(&world, staying(&world), &[world.path("sessions")]);
        assert_eq!(prompting(&agent, "zulu: start it").await.unwrap(), Ok(Settled::Done));
        gate.open();
        child_ends(&mut events, "Alpha").await;
        assert_eq!(prompting(&agent, "zulu: and now?").await.unwrap(), Ok(Settled::Done));
        let (root, _) = crate::children::files(&world);
        let lines = crate::children::lines(&root);
        let recorded: Vec<&Value> = lines.iter().filter(|line| line["customType"] == "offshoot.files").collect();
        assert_eq!(recorded.len(), 1, "{recorded:?}");
        let data = &recorded[0]["data"];
        assert_eq!(
            (&data["changes"][0]["path"], &data["calls"]),
            (&json!("late"), &json!([{"id": "Alpha", "name": "task"}]))
        );
        agent.close().await;
    });
}
