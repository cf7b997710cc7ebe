//! `--mode rpc`: another program drives the agent by lines of JSON.

use std::collections::BTreeMap;
use std::io::{BufRead as _, Write as _};
use std::process::Stdio;

use insta::assert_snapshot;
use offshoot_agent::testing::script::{Gate, Reply};
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::agent::Talk;
use crate::rpc_client::RpcClient;

#[test]
fn a_prompt_is_accepted_then_told_and_the_end_of_the_input_ends_the_program() {
    let talk = Talk::new([Reply::text("Forty-two.")]);
    let mut client = RpcClient::start(&talk, &[]);
    client.prompt("what is it?");
    client.event("agent_settled");
    let kinds: Vec<String> = client.passed.iter().map(|record| record["type"].as_str().unwrap().to_owned()).collect();
    assert!(kinds.starts_with(&["agent_start".to_owned(), "turn_start".to_owned()]), "{kinds:?}");
    assert_eq!(client.ask(json!({"type": "get_last_assistant_text"})), json!({"text": "Forty-two."}));
    let state = client.ask(json!({"type": "get_state"}));
    assert_eq!((&state["messageCount"], &state["isStreaming"]), (&json!(2), &json!(false)));
    assert_eq!(state["sessionFile"], json!(talk.files()[0]));
    let (_, code) = client.end();
    assert_eq!(code, Some(0));
    talk.no_problems();
}

#[test]
fn every_line_has_one_response() {
    let talk = Talk::new([]);
    let mut client = RpcClient::start(&talk, &[]);
    for line in ["garbage", "5", "[]", r#"{"type":7}"#, "{}", "\u{feff}{}", r#"{"id":1,"type":"nonsense"}"#, "", "  "] {
        client.line(line);
    }
    client.line(r#"{"id":{"a":[1]},"type":"prompt"}"#);
    client.line(r#"{"id":"u","type":"set_steering_mode","mode":"some"}"#);
    client.line(r#"{"id":"v","type":"get_commands","more":"than is known"}"#);
    client.line(r#"{"type":"set_session_name","name":"a\u2028b"}"#);
    client.line("{\"id\":\"w\",\"type\":\"get_last_assistant_text\"}\r");
    let (records, code) = client.end();
    let responses: Vec<String> =
        records.iter().filter(|record| record["type"] == "response").map(ToString::to_string).collect();
    assert_eq!(code, Some(0));
    assert_snapshot!(responses.join("\n"), @r#"
    {"type":"response","command":"parse","success":false,"error":"the line is not JSON: expected value at line 1 column 1"}
    {"type":"response","command":"parse","success":false,"error":"a command is an object whose member \"type\" is a string"}
    {"type":"response","command":"parse","success":false,"error":"a command is an object whose member \"type\" is a string"}
    {"type":"response","command":"parse","success":false,"error":"a command is an object whose member \"type\" is a string"}
    {"type":"response","command":"parse","success":false,"error":"a command is an object whose member \"type\" is a string"}
    {"type":"response","command":"parse","success":false,"error":"the line is not JSON: expected value at line 1 column 1"}
    {"id":1,"type":"response","command":"nonsense","success":false,"error":"unknown command: nonsense"}
    {"id":{"a":[1]},"type":"response","command":"prompt","success":false,"error":"prompt: missing field `message`"}
    {"id":"u","type":"response","command":"set_steering_mode","success":false,"error":"set_steering_mode: there is no mode \"some\": all or one-at-a-time"}
    {"id":"v","type":"response","command":"get_commands","success":true,"data":{"commands":[]}}
    {"type":"response","command":"set_session_name","success":true}
    {"id":"w","type":"response","command":"get_last_assistant_text","success":true,"data":{"text":null}}
    "#);
}

/// Twice as many bytes as a line may have are refused without being kept.
#[test]
fn a_line_that_is_too_long_is_refused_and_the_next_one_counts() {
    let talk = Talk::new([]);
    let mut client = RpcClient::start(&talk, &[]);
    let piece = vec![b'x'; 1 << 20];
    let to = client.to.as_mut().unwrap();
    (0..128).for_each(|_| to.write_all(&piece).unwrap());
    client.line("");
    assert_eq!(client.event("response")["error"], "a line holds at most 64 MiB");
    assert_eq!(client.ask(json!({"type": "get_last_assistant_text"})), json!({"text": null}));
}

#[test]
fn many_commands_at_once_are_answered_in_order() {
    const MANY: usize = 10_000;
    let talk = Talk::new([]);
    let mut client = RpcClient::start(&talk, &[]);
    let mut to = client.to.take().unwrap();
    let writer = std::thread::spawn(move || {
        for n in 0..MANY {
            writeln!(to, r#"{{"id":{n},"type":"get_state"}}"#).unwrap();
        }
    });
    let (records, code) = client.rest();
    writer.join().unwrap();
    let responses = records.iter().filter(|record| record["type"] == "response");
    let ids: Vec<u64> = responses.map(|record| record["id"].as_u64().unwrap()).collect();
    assert_eq!((ids, code), ((0..MANY as u64).collect(), Some(0)));
}

#[test]
fn a_message_during_a_turn_is_queued_or_refused() {
    let gate = Gate::new();
    let talk = Talk::new([
        Reply { gate: Some((1, gate.clone())), ..Reply::text("First.") },
        Reply::text("Second."),
        Reply::text("Third."),
    ]);
    let mut client = RpcClient::start(&talk, &[]);
    client.prompt("one");
    let why = client.ask(json!({"type": "prompt", "message": "two"}));
    assert!(why.as_str().unwrap().contains("streamingBehavior"), "{why}");
    let queued = json!({"disposition": "queued"});
    let steer = json!({"type": "prompt", "message": "two", "streamingBehavior": "steer"});
    assert_eq!(client.ask(steer), queued);
    assert_eq!(client.ask(json!({"type": "follow_up", "message": "three"})), queued);
    assert_eq!(client.ask(json!({"type": "get_state"}))["pendingMessageCount"], 2);
    gate.open();
    client.event("agent_settled");
    assert_eq!(client.ask(json!({"type": "get_last_assistant_text"})), json!({"text": "Third."}));
    assert_eq!(client.ask(json!({"type": "get_fork_messages"}))["messages"].as_array().unwrap().len(), 3);
    talk.no_problems();
}

#[test]
fn a_prompt_without_a_key_is_refused_once_and_nothing_is_written() {
    let talk = Talk::new([]);
    let mut command = talk.command(&["--mode", "rpc"]);
    let mut child = command.env_remove("TEST_KEY").stdin(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"{\"id\":\"a\",\"type\":\"prompt\",\"message\":\"hello\"}\n").unwrap();
    let output = child.wait_with_output().unwrap();
    let lines = String::from_utf8(output.stdout).unwrap();
    let responses: Vec<&str> = lines.lines().filter(|line| line.contains("\"response\"")).collect();
    assert_eq!((responses.len(), lines.lines().count()), (1, 2), "{lines}");
    assert!(lines.ends_with("{\"type\":\"session_shutdown\",\"reason\":\"quit\"}\n"), "{lines}");
    assert!(responses[0].contains("there is no key for"), "{lines}");
    assert!(talk.files().is_empty());
}

/// The user's own command: its output is sent with the command's id.
#[test]
fn a_shell_command_prints_under_its_id() {
    let talk = Talk::new([]);
    let mut client = RpcClient::start(&talk, &[]);
    let ran = client.ask(json!({"type": "bash", "command": "echo one; exit 3"}));
    assert_eq!(ran, json!({"output": "one\n", "exitCode": 3, "cancelled": false, "truncated": false}));
    let printed = client.passed.iter().find(|record| record["type"] == "bash_execution_update").unwrap();
    assert_eq!((&printed["id"], &printed["delta"]), (&json!("r1"), &json!("one\n")));
}

#[test]
fn the_model_the_level_and_the_name_are_changed() {
    let talk = Talk::new([]);
    let mut client = RpcClient::start(&talk, &[]);
    let refused = client.ask(json!({"type": "set_model", "provider": "test", "modelId": "none"}));
    assert!(refused.as_str().unwrap().contains("test/none"), "{refused}");
    assert_eq!(client.ask(json!({"type": "set_model", "provider": "test", "modelId": "m1"}))["id"], "m1");
    let levels = client.ask(json!({"type": "get_available_thinking_levels"}));
    assert_eq!(levels["levels"][0], "off");
    client.ask(json!({"type": "set_thinking_level", "level": "high"}));
    assert_eq!(client.ask(json!({"type": "get_state"}))["thinkingLevel"], "high");
    let refused = client.ask(json!({"type": "set_thinking_level", "level": "much"}));
    assert!(refused.as_str().unwrap().contains("off, minimal"), "{refused}");
    assert_eq!(client.ask(json!({"type": "set_session_name", "name": "  "})), "a session's name is not empty");
    client.ask(json!({"type": "set_session_name", "name": " mine "}));
    assert_eq!(client.ask(json!({"type": "get_state"}))["sessionName"], "mine");
}

fn talk_twice(client: &mut RpcClient) {
    for said in ["first", "second"] {
        client.prompt(said);
        client.event("agent_settled");
    }
}

/// An experiment on a branch is brought back, taken away, and compared, by one client.
#[test]
fn a_client_moves_in_the_tree_and_brings_work_back() {
    let talk = Talk::new(["One.", "Two.", "Else."].map(Reply::text));
    let mut client = RpcClient::start(&talk, &[]);
    talk_twice(&mut client);
    let entries = client.ask(json!({"type": "get_entries"}));
    let tried = entries["leafId"].clone();
    let messages = client.ask(json!({"type": "get_fork_messages"}))["messages"].clone();
    let moved = client.ask(json!({"type": "navigate_tree", "targetId": messages[1]["entryId"]}));
    assert_eq!((&moved["editorText"], &moved["cancelled"]), (&json!("second"), &json!(false)));
    client.prompt("something else");
    client.event("agent_settled");
    let here = client.ask(json!({"type": "get_entries"}))["leafId"].clone();
    let compared = client.ask(json!({"type": "compare", "a": here, "b": tried}));
    assert_eq!(compared["sides"][1]["entries"], 2, "{compared}");
    let picked = client.ask(json!({"type": "pick", "selections": [format!("..{}", tried.as_str().unwrap())]}));
    assert!(picked["message"].as_str().unwrap().starts_with("picked 2 entries"), "{picked}");
    let undone = client.ask(json!({"type": "undo"}));
    assert!(undone["message"].as_str().unwrap().starts_with("undid a pick"), "{undone}");
    let branches = client.ask(json!({"type": "get_branches"}))["branches"].clone();
    assert!(branches.as_array().unwrap().len() >= 2, "{branches}");
    let forecast = client.ask(json!({"type": "forecast"}));
    assert!(forecast["contextTokens"].as_u64().is_some_and(|tokens| tokens > 0), "{forecast}");
    let tail = client.ask(json!({"type": "get_entries", "since": tried}));
    assert!(tail["entries"].as_array().unwrap().len() < 12, "{tail}");
    let unknown = client.ask(json!({"type": "get_entries", "since": "nothing"}));
    assert_eq!(unknown, "there is no entry nothing");
}

/// A client that does not wait for responses: each of its operations begins where the one before it ended. An undo that met another
/// one was refused with a summary that nobody wrote.
#[test]
fn operations_keep_their_order() {
    let talk = Talk::new(["One.", "Two."].map(Reply::text));
    let mut client = RpcClient::start(&talk, &[]);
    talk_twice(&mut client);
    let messages = client.ask(json!({"type": "get_fork_messages"}))["messages"].clone();
    client.ask(json!({"type": "navigate_tree", "targetId": messages[0]["entryId"]}));
    client.line(concat!(
        r#"{"type":"undo","id":1}"#,
        "\n",
        r#"{"type":"undo","id":2}"#,
        "\n",
        r#"{"type":"undo","id":3}"#
    ));
    let (records, code) = client.end();
    let responses: Vec<&Value> = records.iter().filter(|record| record["command"] == "undo").collect();
    let said: Vec<&str> =
        responses.iter().map(|record| record["data"]["message"].as_str().unwrap_or_default()).collect();
    assert_eq!(responses.iter().map(|record| record["id"].as_u64()).collect::<Vec<_>>(), [Some(1), Some(2), Some(3)]);
    assert!(said[0].starts_with("undid a switch"), "{records:?}");
    assert!(said[1..].iter().all(|said| said.starts_with("undid an undo")), "{said:?}");
    assert_eq!(code, Some(0));
}

/// A move and its undo come as two lines at once: `undo` was refused, with a summary that nobody wrote.
#[test]
fn an_undo_behind_a_move_takes_the_move_back() {
    let talk = Talk::new(["One.", "Two."].map(Reply::text));
    let mut client = RpcClient::start(&talk, &[]);
    talk_twice(&mut client);
    let messages = client.ask(json!({"type": "get_fork_messages"}))["messages"].clone();
    let there = json!({"type": "navigate_tree", "id": 1, "targetId": messages[1]["entryId"]});
    client.line(&format!("{there}\n{}", json!({"type": "undo", "id": 2})));
    let (records, _) = client.end();
    let answer = |id: u64| records.iter().find(|record| record["id"] == id).unwrap();
    assert_eq!(answer(1)["data"]["cancelled"], false, "{records:?}");
    let said = answer(2)["data"]["message"].as_str().unwrap_or_default();
    assert!(said.starts_with("undid a switch"), "{}", answer(2));
}

/// An experiment is picked and taken back by two lines that are written at once: `undo` ran first, and the pick was refused.
#[test]
fn an_undo_behind_a_pick_takes_the_pick_back() {
    let talk = Talk::new(["One.", "Two.", "Else."].map(Reply::text));
    let mut client = RpcClient::start(&talk, &[]);
    talk_twice(&mut client);
    let tried = client.ask(json!({"type": "get_entries"}))["leafId"].as_str().unwrap().to_owned();
    let messages = client.ask(json!({"type": "get_fork_messages"}))["messages"].clone();
    client.ask(json!({"type": "navigate_tree", "targetId": messages[1]["entryId"]}));
    client.prompt("something else");
    client.event("agent_settled");
    let pick = json!({"type": "pick", "id": 1, "selections": [format!("..{tried}")]});
    client.line(&format!("{pick}\n{}", json!({"type": "undo", "id": 2})));
    let (records, _) = client.end();
    let said = |id: u64| {
        let response = records.iter().find(|record| record["id"] == id).unwrap();
        response["data"]["message"].as_str().unwrap_or_default().to_owned()
    };
    assert!(said(1).starts_with("picked 2 entries"), "{records:?}");
    assert!(said(2).starts_with("undid a pick"), "{}", said(2));
}

/// An operation that reads wrote a session again that somebody had deleted.
#[test]
fn an_operation_that_reads_writes_nothing() {
    let talk = Talk::new([Reply::text("One.")]);
    let mut client = RpcClient::start(&talk, &[]);
    client.prompt("first");
    client.event("agent_settled");
    let leaf = client.ask(json!({"type": "get_entries"}))["leafId"].as_str().unwrap().to_owned();
    let file = talk.files()[0].clone();
    std::fs::remove_file(&file).unwrap();
    assert_eq!(client.ask(json!({"type": "label", "entry": leaf}))["label"], Value::Null);
    assert_eq!(client.ask(json!({"type": "label", "entry": leaf, "clear": true}))["id"], Value::Null);
    assert!(!std::path::Path::new(&file).exists());
    client.ask(json!({"type": "label", "entry": leaf, "text": "kept"}));
    assert!(std::fs::read_to_string(&file).unwrap().contains("kept"));
}

/// Operations without a session, with what the shell's commands print.
#[test]
fn a_client_imports_a_file_and_lists_models() {
    let talk = Talk::new([Reply::text("One.")]);
    let mut client = RpcClient::start(&talk, &[]);
    let models = client.ask(json!({"type": "models", "search": ["anthropic opus-4-5"]}));
    assert_eq!(models[0]["id"], "claude-opus-4-5");
    client.prompt("first");
    client.event("agent_settled");
    let copy = talk.files()[0].with_extension("copy.jsonl");
    std::fs::copy(&talk.files()[0], &copy).unwrap();
    let imported = client.ask(json!({"type": "import", "file": copy}));
    assert_eq!(imported["note"], "the file is in the store already");
}

/// What `label` refuses, a client is refused, too: a blank label and a start of an id that is too short were written.
#[test]
fn a_client_labels_by_the_rules_of_the_command() {
    let talk = Talk::new([Reply::text("One.")]);
    let mut client = RpcClient::start(&talk, &[]);
    client.prompt("first");
    client.event("agent_settled");
    let leaf = client.ask(json!({"type": "get_entries"}))["leafId"].as_str().unwrap().to_owned();
    assert_eq!(client.ask(json!({"type": "set_label", "entryId": leaf, "label": " "})), "the label is empty");
    // Two characters may be a time: `7d` is a week ago.
    let short = client.ask(json!({"type": "set_label", "entryId": leaf[..1], "label": "x"}));
    assert!(short.as_str().is_some_and(|why| why.contains("is too short")), "{short}");
    assert_eq!(client.ask(json!({"type": "set_label", "entryId": leaf, "label": " mine "})), Value::Null);
    let is_label = |record: &&Value| record["entry"]["type"] == "label";
    let label = client.passed.iter().find(is_label).map(|record| record["entry"].clone()).unwrap();
    assert_eq!((&label["targetId"], &label["label"]), (&json!(leaf), &json!("mine")));
    // A row of the table is a command by its own name, too.
    let known = client.ask(json!({"type": "label", "entry": leaf}));
    assert_eq!(known, json!({"entryId": leaf, "label": "mine", "id": null}));
    client.ask(json!({"type": "set_label", "entryId": leaf}));
    assert_eq!(client.ask(json!({"type": "label", "entry": leaf}))["label"], Value::Null);
}

#[test]
fn sessions_follow_one_another() {
    let talk = Talk::new(["One.", "Two."].map(Reply::text));
    let mut client = RpcClient::start(&talk, &[]);
    client.prompt("first");
    client.event("agent_settled");
    let first = client.ask(json!({"type": "get_state"}));
    let parent = first["sessionFile"].clone();
    assert_eq!(client.ask(json!({"type": "new_session", "parentSession": parent})), json!({"cancelled": false}));
    client.prompt("second");
    client.event("agent_settled");
    let second = client.ask(json!({"type": "get_state"}));
    assert_ne!(first["sessionId"], second["sessionId"]);
    let header = std::fs::read_to_string(second["sessionFile"].as_str().unwrap()).unwrap();
    assert!(header.lines().next().unwrap().contains("\"parentSession\""), "{header}");
    let listed = client.ask(json!({"type": "list_sessions"}))["sessions"].clone();
    assert_eq!(listed.as_array().unwrap().len(), 2);
    // By id as well as by path.
    assert_eq!(
        client.ask(json!({"type": "switch_session", "sessionPath": first["sessionId"]})),
        json!({"cancelled": false})
    );
    assert_eq!(client.ask(json!({"type": "get_state"}))["sessionId"], first["sessionId"]);
    let gone = client.ask(json!({"type": "switch_session", "sessionPath": "/nowhere/x.jsonl"}));
    assert!(gone.as_str().unwrap().contains("/nowhere/x.jsonl"), "{gone}");
    let page = client.ask(json!({"type": "export_html", "outputPath": "page.html"}));
    assert!(std::fs::metadata(page["path"].as_str().unwrap()).unwrap().len() > 1000);
}

/// The prompt named the folder of the session before, and had its rules.
#[test]
fn a_session_of_another_folder_has_that_folders_prompt() {
    let talk = Talk::new(["There.", "Here.", "There again."].map(Reply::text));
    talk.world.write("AGENTS.md", "The rule of this folder.");
    let other = talk.world.home().join("other");
    std::fs::create_dir_all(&other).unwrap();
    std::fs::write(other.join("AGENTS.md"), "The rule of the other.").unwrap();
    std::fs::create_dir_all(other.join(".pi/prompts")).unwrap();
    std::fs::write(other.join(".pi/prompts/wonder.md"), "What of $1?").unwrap();
    let ran = talk.command(&["-p", "there"]).current_dir(&other).output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let mut client = RpcClient::start(&talk, &["--trust"]);
    let names = |client: &mut RpcClient| client.ask(json!({"type": "get_commands"}))["commands"].to_string();
    assert!(!names(&mut client).contains("wonder"));
    client.prompt("here");
    client.event("agent_settled");
    let of_other = |part: &str| talk.server.seen().pop().unwrap().json().to_string().contains(part);
    assert!(of_other("The rule of this folder.") && !of_other("The rule of the other."));
    let sessions = client.ask(json!({"type": "list_sessions", "all": true}))["sessions"].clone();
    let file = sessions.as_array().unwrap().iter().find(|one| one["cwd"] == other.to_str().unwrap());
    let file = file.unwrap_or_else(|| panic!("{sessions}"))["path"].clone();
    client.ask(json!({"type": "switch_session", "sessionPath": file, "sessionFolder": other}));
    assert!(names(&mut client).contains("wonder"));
    client.prompt("there again");
    client.event("agent_settled");
    assert!(!of_other("The rule of this folder.") && of_other("The rule of the other."));
    assert!(of_other(other.to_str().unwrap()));
}

fn critical() -> Talk {
    Talk::new([
        Reply::call("bash", "c1", json!({"command": "git push --force"})),
        Reply::text("Done."),
        Reply::call("bash", "c2", json!({"command": "git push --force"})),
        Reply::text("Done."),
    ])
}

fn result_of(talk: &Talk, call: &str) -> String {
    let is_result = |line: &&Value| line["message"]["toolCallId"] == call;
    talk.lines().iter().find(is_result).unwrap()["message"]["content"].to_string()
}

/// pi's clients know no approval questions.
#[test]
fn a_client_that_cannot_be_asked_gets_a_refusal() {
    let talk = critical();
    let mut client = RpcClient::start(&talk, &[]);
    client.prompt("push");
    client.event("agent_settled");
    assert!(result_of(&talk, "c1").contains("nobody can be asked"), "{}", result_of(&talk, "c1"));
    assert!(client.passed.iter().all(|record| record["type"] != "approval_request"));
    drop(client.end());
    talk.no_problems();
}

#[test]
fn a_client_answers_approval_questions() {
    let talk = critical();
    let mut client = RpcClient::start(&talk, &[]);
    client.ask(json!({"type": "subscribe", "approvals": true}));
    client.prompt("push");
    let question = client.event("approval_request");
    assert_eq!(question["args"]["command"], "git push --force");
    let no = json!({"type": "approve", "requestId": question["id"], "decision": "reject", "message": "never"});
    client.ask(no.clone());
    client.event("agent_settled");
    assert!(result_of(&talk, "c1").contains("never"), "{}", result_of(&talk, "c1"));
    assert_eq!(client.ask(no), "the question was answered already");
    talk.no_problems();
}

/// Questions in pi's UI sub-protocol: a choice, then why not; a late answer is ignored.
#[test]
fn a_client_with_an_interface_is_asked_in_words() {
    let talk = critical();
    let mut client = RpcClient::start(&talk, &[]);
    client.ask(json!({"type": "subscribe", "ui": true}));
    client.prompt("push");
    let question = client.event("extension_ui_request");
    assert_eq!(question["method"], "select");
    let why = question["options"].as_array().unwrap().last().unwrap().clone();
    let answer = |id: &Value, value: &Value| json!({"type": "extension_ui_response", "id": id, "value": value});
    client.send(&answer(&question["id"], &why));
    let reason = client.event("extension_ui_request");
    assert_eq!((&reason["method"], &reason["timeout"]), (&json!("input"), &Value::Null));
    client.send(&answer(&reason["id"], &json!("Open a pull request.")));
    client.event("agent_settled");
    assert!(result_of(&talk, "c1").contains("Open a pull request."), "{}", result_of(&talk, "c1"));
    client.send(&answer(&question["id"], &json!("yes, once")));
    // Nobody answers in time: a no.
    client.ask(json!({"type": "subscribe", "ui": true, "uiTimeout": 1}));
    client.prompt("push");
    let asked = client.until(|record| record["method"] == "select");
    assert_eq!(asked["timeout"], 1);
    client.event("agent_settled");
    assert!(result_of(&talk, "c2").contains("not"), "{}", result_of(&talk, "c2"));
    talk.no_problems();
}

/// What is shown without an answer: notices, the title, the change of a file, the text of a message that is gone back to.
#[test]
fn a_client_with_an_interface_is_shown_what_happens() {
    let write = json!({"path": "a.txt", "content": "new\n"});
    let talk = Talk::new([Reply::call("write", "c1", write), Reply::text("Done.")]);
    talk.world.write("a.txt", "old\n");
    let mut client = RpcClient::start(&talk, &["--approval", "ask"]);
    client.ask(json!({"type": "subscribe", "ui": true, "events": []}));
    client.ask(json!({"type": "set_session_name", "name": "mine"}));
    client.prompt("change it");
    let diff = client.until(|record| record["method"] == "setWidget");
    assert!(diff["widgetLines"].to_string().contains("new"), "{diff}");
    let question = client.until(|record| record["method"] == "select");
    let no = question["options"].as_array().unwrap().last().unwrap();
    client.send(&json!({"type": "extension_ui_response", "id": question["id"], "value": no}));
    let why = client.until(|record| record["method"] == "editor");
    client.send(&json!({"type": "extension_ui_response", "id": why["id"], "cancelled": true}));
    assert_eq!(client.until(|record| record["method"] == "setWidget").get("widgetLines"), None);
    client.ask(json!({"type": "abort"}));
    let first = client.ask(json!({"type": "get_fork_messages"}))["messages"][0]["entryId"].clone();
    client.ask(json!({"type": "navigate_tree", "targetId": first}));
    let (rest, _) = client.end();
    let shown: Vec<&Value> = rest.iter().filter(|record| record["type"] == "extension_ui_request").collect();
    let title = shown.iter().find(|record| record["method"] == "setTitle").unwrap();
    let text = shown.iter().find(|record| record["method"] == "set_editor_text").unwrap();
    assert_eq!((&title["title"], &text["text"]), (&json!("mine"), &json!("change it")));
    talk.no_problems();
}

#[test]
fn a_client_is_told_what_it_subscribed_to() {
    let talk = Talk::new([Reply::text("One.")]);
    let mut client = RpcClient::start(&talk, &[]);
    client.ask(json!({"type": "subscribe", "events": ["message_end", "agent_settled"]}));
    client.prompt("hello");
    client.event("agent_settled");
    let kinds: Vec<&Value> = client.passed.iter().map(|record| &record["type"]).collect();
    assert_eq!(kinds, ["message_end", "message_end"]);
}

/// However the program ends, a running tool is stopped and its call has a result.
#[test]
fn every_end_keeps_the_results_of_running_tools() {
    let mut ends = BTreeMap::new();
    for how in ["end of input", "SIGTERM", "SIGINT", "SIGQUIT", "SIGHUP", "nobody reads"] {
        let talk = Talk::new([Reply::call("bash", "c1", json!({"command": "echo begun; exec sleep 600"}))]);
        let mut client = RpcClient::start(&talk, &[]);
        client.prompt("wait");
        client.until(|record| record["type"] == "tool_execution_update");
        match how {
            "SIGTERM" => client.signal(Signal::TERM),
            "SIGINT" => client.signal(Signal::INT),
            "SIGQUIT" => client.signal(Signal::QUIT),
            "SIGHUP" => client.signal(Signal::HUP),
            _ => {}
        }
        let (told, code) = match how {
            "nobody reads" => {
                let RpcClient { mut child, mut to, from, .. } = client;
                drop(from);
                // The next record finds nobody.
                to.as_mut().unwrap().write_all(b"{\"type\":\"get_state\"}\n").unwrap();
                (Vec::new(), child.wait().unwrap().code())
            }
            "end of input" => client.end(),
            _ => client.rest(),
        };
        if how != "nobody reads" {
            let ends = told.iter().filter(|record| record["type"] == "session_shutdown").count();
            assert_eq!((ends, told.last().unwrap()["type"].as_str()), (1, Some("session_shutdown")), "{how}");
        }
        assert!(result_of(&talk, "c1").contains("begun"), "{how}: {}", result_of(&talk, "c1"));
        ends.insert(how, code);
    }
    let expected = [
        ("SIGHUP", Some(130)),
        ("SIGQUIT", Some(130)),
        ("SIGINT", Some(130)),
        ("SIGTERM", Some(130)),
        ("end of input", Some(0)),
        ("nobody reads", Some(0)),
    ];
    assert_eq!(ends, BTreeMap::from(expected));
}

/// Between tries the client's status line says when the next one is.
#[test]
fn a_client_with_an_interface_is_told_of_retries_and_failures() {
    let talk = Talk::new([Reply::error(529, "overloaded"), Reply::text("Yes.")]);
    let mut client = RpcClient::start(&talk, &[]);
    client.ask(json!({"type": "subscribe", "ui": true}));
    client.prompt("go");
    let waiting = client.until(|record| record["method"] == "setStatus");
    assert_eq!(waiting["statusKey"], "retry");
    assert!(waiting["statusText"].as_str().unwrap().ends_with("(1 of 3)"), "{waiting}");
    assert_eq!(client.until(|record| record["method"] == "setStatus").get("statusText"), None);
    client.event("agent_settled");
}

#[test]
fn what_cannot_be_is_refused_at_the_start() {
    let talk = Talk::new([]);
    assert_snapshot!(talk.run(&["-p", "hi", "--rpc-version", "0.31"]), @"
    [stderr]
    error: --rpc-version needs --mode rpc
    [exit code 2]
    ");
    assert_snapshot!(talk.run(&["--mode", "rpc", "hello there"]), @r#"
    [stderr]
    error: --mode rpc takes no prompt: commands come on standard input
    hint: for example {"type":"prompt","message":"Hello"}; docs/rpc.md lists the commands
    [exit code 2]
    "#);
    assert_snapshot!(talk.run(&["--mode", "rpc", "-p"]), @"
    [stderr]
    error: --mode rpc goes with neither -p nor --resume
    [exit code 2]
    ");
}

/// The demos of `examples/`, with the clients of `clients/`.
#[test]
fn the_example_clients_print_an_answer_while_it_comes() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");
    for (interpreter, file) in [("python3", "python/talk.py"), ("node", "javascript/talk.mjs")] {
        let talk = Talk::new([
            Reply::call("bash", "c1", json!({"command": "echo hi"})),
            Reply::text("It says hi, and a separator\u{2028}as well."),
        ]);
        let program = talk.command(&[]).get_program().to_owned();
        let mut command = std::process::Command::new(interpreter);
        command
            .env_clear()
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .envs(talk.command(&[]).get_envs().filter_map(|(name, value)| Some((name, value?))));
        command.args([&format!("{root}/{file}"), "what?"]).arg(program);
        let output = match command.current_dir(talk.world.work()).output() {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                println!("NOTE: {interpreter} is not installed: {file} was not run");
                continue;
            }
            output => output.unwrap(),
        };
        let printed = String::from_utf8(output.stdout).unwrap();
        let ending = "It says hi, and a separator\u{2028}as well.\n30 tokens, $0.0002\n";
        assert!(printed.contains("[bash ") && printed.ends_with(ending), "{file}: {printed}");
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    }
}

/// `kill -9` at any moment: whatever an event announced is in the file, and the next client continues from it.
#[test]
fn killed_at_any_moment_nothing_announced_is_lost() {
    const ROUNDS: usize = 24;
    let talk = Talk::new([]);
    let file = talk.world.work().join("s.jsonl");
    let name = file.to_str().unwrap();
    let (mut announced, mut lost) = (0, 0);
    for round in 0..ROUNDS {
        talk.server.add([
            Reply::call("write", &format!("w{round}"), json!({"path": "n.txt", "content": round.to_string()})),
            Reply { piece: 3, ..Reply::text(&format!("This was round {round}. {}", "And so on. ".repeat(8))) },
        ]);
        let mut client = RpcClient::start(&talk, &["--session", name]);
        client.send(&json!({"type": "prompt", "message": format!("round {round}")}));
        let mut seen = Vec::new();
        while seen.len() < round * 4 {
            let record = client.record().unwrap();
            let is_last = record["type"] == "agent_settled";
            seen.push(record);
            if is_last {
                break;
            }
        }
        client.child.kill().unwrap();
        // Whatever it had written when it was killed was announced as well; a record may be cut.
        let mut line = String::new();
        while client.from.read_line(&mut line).unwrap() > 0 {
            seen.extend(serde_json::from_str(&std::mem::take(&mut line)));
        }
        client.child.wait().unwrap();
        let text = std::fs::read_to_string(&file).unwrap_or_default();
        let entries = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let kept: Vec<Value> = entries.map(|entry| entry["message"].clone()).collect();
        for record in seen.iter().filter(|record| record["type"] == "message_end") {
            announced += 1;
            lost += usize::from(!kept.contains(&record["message"]));
        }
    }
    println!("{ROUNDS} rounds killed, {announced} messages announced, {lost} lost");
    assert_eq!(lost, 0);
    assert!(announced > ROUNDS, "{announced}");
    talk.no_problems();
}
