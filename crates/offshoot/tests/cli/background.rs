//! Commands in the background, in the real program.

use offshoot_agent::testing::script::Reply;
use serde_json::json;

use crate::agent::Talk;
use crate::agent_stops::until_ended;

/// What a command has written, once it is a whole line.
fn line(talk: &Talk, name: &str) -> String {
    let path = talk.world.work().join(name);
    loop {
        match std::fs::read_to_string(&path) {
            Ok(text) if text.ends_with('\n') => return text,
            _ => std::thread::yield_now(),
        }
    }
}

const RUNS_ON: &str = "echo $$ > PID; while :; do sleep 0.05; done";

#[test]
fn a_run_without_a_screen_stops_its_commands_and_says_so() {
    let command = RUNS_ON.replace("PID", "pid");
    let call = Reply::call("bash", "c1", json!({"command": command, "background": true}));
    let wait = Reply::call("bash", "c2", json!({"command": "until [ -s pid ]; do sleep 0.02; done"}));
    let talk = Talk::new([call, wait, Reply::text("It runs.")]);
    let printed = talk.run(&["-p", "start it"]);
    assert!(printed.starts_with("It runs.\n"), "{printed}");
    assert!(printed.contains(&format!("stopped in the background: b1 {command}")), "{printed}");
    until_ended(&line(&talk, "pid"));
}

/// `kill -9` cannot be caught: the guard of the commands notices it. What a command that has ended left behind is none of its business.
#[test]
fn a_killed_program_leaves_no_command_that_runs() {
    let left = Reply::call("bash", "c1", json!({"command": "(exec >&- 2>&-; echo $BASHPID > left; exec sleep 300) &"}));
    let aside = json!({"command": RUNS_ON.replace("PID", "aside"), "background": true});
    let here = json!({"command": RUNS_ON.replace("PID", "here")});
    let talk = Talk::new([left, Reply::call("bash", "c2", aside), Reply::call("bash", "c3", here)]);
    let mut child = talk.command(&["--mode", "json", "-p", "go"]).stdout(std::process::Stdio::null()).spawn().unwrap();
    let pids = ["aside", "here"].map(|name| line(&talk, name));
    child.kill().unwrap();
    child.wait().unwrap();
    pids.iter().for_each(|pid| until_ended(pid));
    let left = line(&talk, "left");
    let kill = std::process::Command::new("kill").args(["-9", left.trim()]).status().unwrap();
    assert!(kill.success(), "the person's own background process lives on");
}
