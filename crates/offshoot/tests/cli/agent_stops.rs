//! How a run without a screen is ended from outside: signals, a hangup, a reader that goes away, and a container.

use std::io::{BufReader, Read as _};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use offshoot_agent::testing::script::{Reply, Then};
use serde_json::{Value, json};

use crate::agent::Talk;
use crate::crashes::say;

/// Reads lines of a child's stdout until one fits.
pub(crate) fn until(out: &mut impl std::io::BufRead, fits: impl Fn(&Value) -> bool) -> Value {
    let mut line = String::new();
    loop {
        line.clear();
        assert!(out.read_line(&mut line).unwrap() > 0, "the stream ended");
        let event: Value = serde_json::from_str(&line).unwrap();
        if fits(&event) {
            return event;
        }
    }
}

fn send_signal(child: &Child, signal: &str) {
    let done = Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
    assert!(done.success());
}

#[test]
fn one_interrupt_ends_it_in_good_order() {
    let reply = Reply { then: Then::Hang, cut: Some(900), ..Reply::text(&"half a word ".repeat(50)) };
    let talk = Talk::new([reply]);
    let mut child = talk.command(&["--mode", "json", "go on and on"]).spawn().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    until(&mut out, |event| event["assistantMessageEvent"]["type"] == "text_delta");
    send_signal(&child, "-INT");
    let end = until(&mut out, |event| event["type"] == "message_end");
    assert_eq!(end["message"]["stopReason"], "aborted");
    let settled = until(&mut out, |event| event["type"] == "agent_settled");
    assert_eq!(settled["aborted"], true);
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let last = talk.lines().pop().unwrap();
    assert!(last["message"]["content"][0]["text"].as_str().unwrap().starts_with("half a word"), "{last}");
}

#[test]
fn a_signal_stops_a_tool_and_answers_its_call() {
    for signal in ["-INT", "-TERM", "-HUP", "-QUIT"] {
        let talk = waiting_tool();
        let (child, mut out) = until_the_tool_runs(&talk);
        send_signal(&child, signal);
        until(&mut out, |event| event["type"] == "agent_settled");
        the_call_has_a_result(&talk, child, 130);
    }
}

/// A process without the environment, the session and the parents of its command.
#[test]
fn what_a_stopped_command_hid_is_stopped_too() {
    let command = "(env -i setsid sh -c 'echo $$ > pid; exec sleep 1000' &); \
        until [ -s pid ]; do sleep 0.01; done; echo up; sleep 1000";
    let talk = Talk::new([Reply::call("bash", "c1", json!({"command": command})), Reply::text("fine")]);
    let mut child = talk.command(&["--mode", "json", "-p", "wait"]).spawn().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    until(&mut out, |event| event["type"] == "tool_execution_update");
    send_signal(&child, "-INT");
    assert_eq!(child.wait().unwrap().code(), Some(130));
    until_ended(&talk.world.read("pid"));
}

/// A killed process may outlive the one that killed it by a moment.
pub(crate) fn until_ended(pid: &str) {
    let (stat, since) = (format!("/proc/{}/stat", pid.trim()), Instant::now());
    while let Ok(stat) = std::fs::read_to_string(&stat) {
        if stat.contains(") Z ") {
            break;
        }
        // The scripted servers end by themselves after a minute.
        assert!(since.elapsed() < Duration::from_secs(30), "still there: {stat}");
        std::thread::yield_now();
    }
}

/// How a command is run as a container runs it: in a PID namespace of its own, where the session that it is in has no
/// number. `None`, said aloud, where that is not possible.
pub(crate) fn container(what: &str) -> Option<[&'static str; 6]> {
    let container = ["unshare", "--user", "--map-root-user", "--pid", "--fork", "--mount-proc"];
    let probe = Command::new(container[0]).args(&container[1..]).arg("true").output();
    let works = probe.is_ok_and(|output| output.status.success());
    if !works {
        say(&format!("NOT TESTED: {what} in a container: unshare is not installed, or may not be used here"));
    }
    works.then_some(container)
}

#[test]
fn commands_run_in_a_container() {
    let Some(container) = container("a command") else { return };
    let talk = Talk::new([Reply::call("bash", "c1", json!({"command": "echo hi"})), Reply::text("fine")]);
    let offshoot = talk.command(&["-p", "wait"]);
    let mut command = in_place_of(&offshoot, container[0]);
    let output = command.args(&container[1..]).arg(offshoot.get_program()).args(offshoot.get_args()).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "fine\n", "{output:?}");
}

/// Another program that is run as this one would be.
fn in_place_of(command: &Command, program: &str) -> Command {
    let mut other = Command::new(program);
    other.env_clear().envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    other.current_dir(command.get_current_dir().unwrap()).stdout(Stdio::piped()).stdin(Stdio::null());
    other
}

/// What `nohup` promises.
#[test]
fn an_ignored_hangup_stops_nothing() {
    let talk = waiting_tool();
    let offshoot = talk.command(&["--mode", "json", "-p", "wait"]);
    let mut nohup = in_place_of(&offshoot, "nohup");
    let mut child = nohup.arg(offshoot.get_program()).args(offshoot.get_args()).spawn().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    until(&mut out, |event| event["type"] == "tool_execution_update");
    send_signal(&child, "-HUP");
    std::fs::write(talk.world.work().join("go"), "").unwrap();
    until(&mut out, |event| event["message"]["content"][0]["text"] == "fine");
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

/// When the reader of the output is gone, nothing can be reported, but the session file is complete.
#[test]
fn a_reader_that_leaves_while_a_tool_runs_stops_it_and_answers_its_call() {
    let talk = waiting_tool();
    let (child, out) = until_the_tool_runs(&talk);
    drop(out);
    the_call_has_a_result(&talk, child, 0);
}

fn waiting_tool() -> Talk {
    let command = "echo started; for n in $(seq 1 36000); do [ -e go ] && break; echo $n; sleep 0.1; done";
    Talk::new([Reply::call("bash", "c1", json!({"command": command})), Reply::text("fine")])
}

fn until_the_tool_runs(talk: &Talk) -> (Child, BufReader<ChildStdout>) {
    let mut child = talk.command(&["--mode", "json", "-p", "wait"]).spawn().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    until(&mut out, |event| event["type"] == "tool_execution_update");
    (child, out)
}

fn the_call_has_a_result(talk: &Talk, mut child: Child, code: i32) {
    assert_eq!(child.wait().unwrap().code(), Some(code));
    let last = talk.lines().pop().unwrap();
    assert_eq!((&last["message"]["role"], &last["message"]["isError"]), (&json!("toolResult"), &json!(true)));
    assert_eq!(talk.run(&["-c", "-p", "go on"]), "fine\n");
    talk.no_problems();
}

/// A reader that goes away ends the program, not the session's soundness.
#[test]
fn nobody_reads_any_more() {
    let talk = Talk::new([Reply::text("one")]);
    let mut child = talk.command(&["--mode", "json", "-p", "go"]).spawn().unwrap();
    drop(child.stdout.take());
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert_eq!((child.wait().unwrap().code(), said.as_str()), (Some(0), ""));
}
