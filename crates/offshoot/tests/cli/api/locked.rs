//! Another program holds a session's lock: requests of other sessions do not wait for it, and those of one session keep their order.

use std::fs::File;
use std::io::Read as _;

use super::client::{Api, command, member, string};

const HI: &str = r#"{"role":"user","content":"hi","timestamp":1}"#;

/// A server that waits for a lock for so many seconds, and two sessions with an entry each: their numbers and files.
fn with_two_sessions(folder: &std::path::Path, wait: &str) -> (Api, [(String, File); 2]) {
    let mut command = command(env!("CARGO_BIN_EXE_offshoot"), folder);
    command.arg("api").env("OFFSHOOT_LOCK_WAIT", wait);
    let mut api = Api::run(command);
    let sessions = ["a", "b"].map(|cwd| {
        let made = api.result("create", &format!(r#"{{"cwd":"/{cwd}"}}"#));
        let session = member(&made, "session").unwrap();
        api.appended("appendMessage", &format!(r#"{{"session":{session},"message":{HI}}}"#));
        let file = File::open(string(&made, "sessionFile")).unwrap();
        (session, file)
    });
    (api, sessions)
}

fn send(api: &mut Api, id: &str, method: &str, params: &str) {
    api.send(format!("{{\"jsonrpc\":\"2.0\",\"id\":\"{id}\",\"method\":\"{method}\",\"params\":{params}}}\n"));
}

fn append(api: &mut Api, id: &str, session: &str) {
    send(api, id, "appendMessage", &format!(r#"{{"session":{session},"message":{HI}}}"#));
}

fn read(api: &mut Api, id: &str, session: &str) {
    send(api, id, "getLeafId", &format!(r#"{{"session":{session}}}"#));
}

fn ids(api: &mut Api, count: usize) -> Vec<String> {
    (0..count)
        .map(|_| {
            let answer = api.receive();
            assert!(member(&answer, "result").is_some(), "{answer}");
            string(&answer, "id")
        })
        .collect()
}

#[test]
fn a_session_that_another_program_holds_keeps_no_other_one_waiting() {
    let folder = tempfile::tempdir().unwrap();
    let (mut api, [(a, held), (b, _)]) = with_two_sessions(folder.path(), "600");
    held.lock().unwrap();
    append(&mut api, "append a", &a);
    read(&mut api, "read a", &a);
    read(&mut api, "read b", &b);
    append(&mut api, "append b", &b);
    send(&mut api, "no session", "listAll", "{}");
    assert_eq!(ids(&mut api, 3), ["read b", "append b", "no session"]);
    held.unlock().unwrap();
    assert_eq!(ids(&mut api, 2), ["append a", "read a"]);
}

#[test]
fn a_plan_whose_session_is_held_is_written_afterwards() {
    let folder = tempfile::tempdir().unwrap();
    let (mut api, [(a, held), (b, _)]) = with_two_sessions(folder.path(), "600");
    let selections = format!(r#"{{"session":{a},"selections":["@"],"again":true}}"#);
    let plan = member(&api.result("planPick", &selections), "plan").unwrap();
    held.lock().unwrap();
    send(&mut api, "pick a", "pick", &format!(r#"{{"session":{a},"plan":{plan},"force":true}}"#));
    read(&mut api, "read b", &b);
    assert_eq!(ids(&mut api, 1), ["read b"]);
    held.unlock().unwrap();
    assert_eq!(ids(&mut api, 1), ["pick a"]);
}

#[test]
fn who_waited_for_a_lock_in_vain_is_told_how_long() {
    let folder = tempfile::tempdir().unwrap();
    let (mut api, [(a, held), (b, _)]) = with_two_sessions(folder.path(), "1");
    held.lock().unwrap();
    append(&mut api, "append a", &a);
    read(&mut api, "read b", &b);
    assert_eq!(ids(&mut api, 1), ["read b"]);
    let refused = api.receive();
    assert!(refused.contains(r#""id":"append a","error""#) && refused.contains("within 1 s"), "{refused}");
    // A batch is answered at once and in order, so it waits.
    api.send(format!(
        "[{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"appendMessage\",\"params\":{{\"session\":{a},\"message\":{HI}}}}}]\n"
    ));
    let refused = api.receive();
    assert!(refused.starts_with("[{") && refused.contains(r#""kind":"locked""#), "{refused}");
}

#[test]
fn what_waits_is_answered_when_the_input_has_ended() {
    let folder = tempfile::tempdir().unwrap();
    let (mut api, [(a, held), (b, _)]) = with_two_sessions(folder.path(), "600");
    held.lock().unwrap();
    append(&mut api, "append a", &a);
    read(&mut api, "read b", &b);
    assert_eq!(ids(&mut api, 1), ["read b"]);
    let (mut program, mut rest) = api.end_input();
    held.unlock().unwrap();
    let mut answer = String::new();
    rest.read_to_string(&mut answer).unwrap();
    assert!(program.wait().unwrap().success());
    assert!(answer.contains(r#""id":"append a","result""#), "{answer}");
}
