//! Clients of `--mode rpc` that do not read: records wait for them, and none is lost.

use offshoot_agent::testing::script::Reply;
use serde_json::json;

use crate::agent::Talk;
use crate::rpc_client::RpcClient;

/// A client that does not read makes the program neither wait nor forget.
#[test]
fn a_slow_client_gets_every_record_that_is_not_a_partial_one() {
    let words = "word ".repeat(200_000);
    let talk = Talk::new([Reply { piece: 16, ..Reply::text(&words) }, Reply::text("Two.")]);
    let mut client = RpcClient::start(&talk, &[]);
    client.send(&json!({"type": "prompt", "message": "much"}));
    client.send(&json!({"type": "follow_up", "message": "more"}));
    // Nothing is read until the session has both answers.
    talk.server.wait_for(2);
    let mut settled = 0;
    let (mut told, mut deltas) = (String::new(), 0);
    while settled == 0 {
        let record = client.record().unwrap();
        settled += usize::from(record["type"] == "agent_settled");
        if let Some(delta) = record["assistantMessageEvent"]["delta"].as_str() {
            deltas += 1;
            told.push_str(delta);
        }
        if record["type"] == "message_end" {
            client.passed.push(record);
        }
    }
    assert_eq!(client.passed.len(), 4);
    assert!(told == format!("{words}Two."), "{} of {} bytes", told.len(), words.len() + 4);
    assert!(deltas < 40_000, "{deltas} deltas of 62,500");
}

/// A client that reads nothing for many turns costs a file, not memory, and gets every record later.
#[cfg(target_os = "linux")]
#[test]
fn records_for_a_client_that_does_not_read_wait_in_a_file() {
    const CALLS: usize = 100;
    let call = |n: usize| Reply::call("bash", &format!("c{n}"), json!({"command": format!("printf %04000d {n}")}));
    let talk = Talk::new((0..CALLS).map(call).chain([Reply::text("Done.")]));
    let mut client = RpcClient::start(&talk, &["--rpc-version", "0.31"]);
    client.send(&json!({"type": "prompt", "message": "go"}));
    // The pipe is full long before the last answer is asked for.
    talk.server.wait_for(CALLS + 1);
    let files = std::fs::read_dir(format!("/proc/{}/fd", client.child.id())).unwrap();
    let open = files.filter_map(|file| std::fs::read_link(file.ok()?.path()).ok());
    let waiting = open
        .filter(|file| file.to_string_lossy().contains("/output/") && file.to_string_lossy().ends_with("(deleted)"));
    assert_eq!(waiting.count(), 1);
    client.event("agent_end");
    let ends: Vec<String> = client
        .passed
        .iter()
        .filter(|record| record["type"] == "tool_execution_end")
        .map(|record| record["result"]["content"][0]["text"].as_str().unwrap().trim().to_owned())
        .collect();
    assert_eq!(ends, (0..CALLS).map(|n| format!("{n:04000}")).collect::<Vec<_>>());
    client.end();
}
