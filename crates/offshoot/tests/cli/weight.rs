//! What a context weighs: every face gives the same two numbers and the same size of the next request.

use std::io::Write as _;
use std::process::Stdio;

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::agent::Talk;
use crate::rpc_client::RpcClient;
use crate::terminal::Terminal;

/// The lines of a session: a large question and an answer whose report counts it, then what `rest` adds.
fn session(cwd: &str, rest: &[Value]) -> String {
    let usage = |total: u64| json!({"input": total - 9, "output": 9, "cacheRead": 0, "cacheWrite": 0, "totalTokens": total, "cost": {"total": 0.1}});
    let says = |role: &str, tokens: usize, total: u64| {
        let mut message =
            json!({"role": role, "content": [{"type": "text", "text": "x".repeat(tokens * 4)}], "timestamp": 1});
        if role == "assistant" {
            let more = json!({"api": "anthropic-messages", "provider": "test", "model": "m1", "stopReason": "stop", "usage": usage(total)});
            message.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        }
        json!({"type": "message", "message": message})
    };
    let first = [
        says("user", 30_000, 0),
        says("assistant", 20, 170_000),
        says("user", 5, 0),
        says("assistant", 6, 170_020),
        says("user", 7, 0),
        says("assistant", 8, 170_040),
    ];
    let header =
        json!({"type": "session", "version": 3, "id": "weighed", "timestamp": "2026-02-01T10:00:00.000Z", "cwd": cwd});
    let mut text = format!("{header}\n");
    for (at, entry) in first.iter().chain(rest).enumerate() {
        let mut line = entry.clone();
        line["id"] = json!(format!("e{at:07}"));
        line["parentId"] = at.checked_sub(1).map_or(Value::Null, |at| json!(format!("e{at:07}")));
        line["timestamp"] = json!("2026-02-01T10:00:00.000Z");
        text += &format!("{line}\n");
    }
    text
}

fn compaction() -> Value {
    json!({"type": "compaction", "summary": "x".repeat(40), "firstKeptEntryId": "e0000002", "tokensBefore": 170_040})
}

fn edit() -> Value {
    json!({"type": "context_edit", "targetId": "e0000000", "replacement": null})
}

/// A world with this session, and a model with a window of 180,000 tokens and a price.
fn weighed(rest: &[Value]) -> (Talk, String) {
    let talk = Talk::new([]);
    let models = std::fs::read_to_string(talk.world.home().join(".local/share/offshoot/models.json")).unwrap();
    talk.data("models.json", &serde_json::from_str(&models.replace("200000", "180000")).unwrap());
    let cwd = talk.world.work().display().to_string();
    let file = talk.world.write("weighed.jsonl", session(&cwd, rest));
    (talk, file.display().to_string())
}

fn parsed(talk: &Talk, line: &[&str]) -> Value {
    let output = talk.command(line).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    serde_json::from_str(&said).unwrap_or_else(|_| panic!("{line:?}: {}", talk.world.shown(&output)))
}

/// Total, messages, overhead.
fn of_forecast(json: &Value) -> [u64; 3] {
    ["contextTokens", "messageTokens", "overheadTokens"].map(|name| json[name].as_u64().unwrap())
}

/// What all faces say of this session.
fn every_face(talk: &Talk, file: &str, leaf: &str) -> [u64; 3] {
    let counted = parsed(talk, &["context", file, "--tokens", "--json"]);
    let numbers = ["tokens", "messageTokens", "overheadTokens"].map(|name| counted[name].as_u64().unwrap());
    let as_sent = parsed(talk, &["context", file, "--tokens", "--llm"]);
    assert_eq!(as_sent["tokens"], counted["tokens"]);
    let switch = parsed(talk, &["switch", file, leaf, "--dry-run", "--json"]);
    assert_eq!(of_forecast(&switch["forecast"]), numbers, "switch --dry-run");
    let [total, messages, overhead] = numbers;
    let pick = parsed(talk, &["pick", file, "e0000002..e0000003", "--again", "--dry-run", "--json"]);
    let more = pick["tokens"].as_u64().unwrap();
    assert_eq!(of_forecast(&pick["forecast"]), [total + more, messages + more, overhead], "pick --dry-run");
    let mut client = RpcClient::start(talk, &["--session", file]);
    // Whoever can answer questions has a tool more.
    client.ask(json!({"type": "subscribe", "approvals": true}));
    let usage = &client.ask(json!({"type": "get_session_stats"}))["contextUsage"];
    let seen = ["tokens", "messageTokens", "overheadTokens"].map(|name| usage[name].as_u64().unwrap());
    assert_eq!(seen, numbers, "get_session_stats");
    assert_eq!(of_forecast(&client.ask(json!({"type": "forecast"}))), numbers, "forecast");
    client.end();
    let share = format!("{:.0}% of 180k", total as f64 / 1800.0);
    let mut terminal = Terminal::offshoot(talk, &["--session", file], (80, 24));
    terminal.until_text(&share).send("\x04");
    assert!(terminal.ended());
    let asked = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"open\",\"params\":{{\"path\":{}}}}}\n{{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"forecast\",\"params\":{{\"session\":1}}}}\n",
        json!(file)
    );
    let mut child = talk.command(&["api"]).stdin(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(asked.as_bytes()).unwrap();
    let api = String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap();
    let answer: Value = serde_json::from_str(api.lines().nth(1).unwrap()).unwrap();
    let [of_api, alone, none] = of_forecast(&answer["result"]);
    assert_eq!((alone, none), (messages, 0), "api: whoever asks has a prompt of its own");
    assert!(of_api == total || of_api == messages, "{of_api}");
    numbers
}

/// The reports of kept answers count what the compaction took away; pi-mono's session of 177,657 tokens was called that large
/// after it was compacted to 21,605.
#[test]
fn after_a_compaction_every_face_counts_what_is_left() {
    let (talk, file) = weighed(&[compaction()]);
    let [total, messages, overhead] = every_face(&talk, &file, "e0000006");
    assert_eq!(messages, 10 + 5 + 6 + 7 + 8);
    assert_eq!(total, messages + overhead);
    assert!((500..20_000).contains(&overhead), "{overhead}");
    let picked = talk.run(&["pick", &file, "e0000000", "--dry-run"]);
    assert!(picked.contains("would pick 1 entry"), "it fits: {picked}");
}

#[test]
fn after_an_edit_of_the_context_every_face_counts_what_is_left() {
    let (talk, file) = weighed(&[edit()]);
    let [total, messages, overhead] = every_face(&talk, &file, "e0000006");
    assert_eq!((messages, total), (46, 46 + overhead));
}

#[test]
fn a_report_has_counted_the_overhead() {
    let (talk, file) = weighed(&[]);
    let [total, messages, overhead] = every_face(&talk, &file, "e0000005");
    assert_eq!((total, messages), (170_040, 30_046));
    assert!(overhead > 500, "{overhead}");
    let refused = talk.run(&["pick", &file, "e0000000", "--again"]);
    assert!(refused.contains("170,040 tokens here and 30,000 more do not fit"), "{refused}");
}

/// The next prompt has a system prompt and tools, too; an estimate is compared with an estimate.
#[test]
fn a_compaction_is_previewed_like_with_like() {
    let (talk, file) = weighed(&[]);
    let planned = parsed(&talk, &["compact", &file, "--keep-recent-tokens", "10", "--dry-run", "--json"]);
    let overhead = parsed(&talk, &["context", &file, "--tokens", "--json"])["overheadTokens"].as_u64().unwrap();
    assert_eq!((&planned["tokensBefore"], &planned["messageTokensBefore"]), (&json!(170_040), &json!(30_046)));
    assert_eq!(of_forecast(&planned["forecast"]), [15 + overhead, 15, overhead]);
    let said = talk.run(&["compact", &file, "--keep-recent-tokens", "10", "--dry-run"]);
    assert!(said.contains("messages: about 30,046 tokens before, 15 after, and the summary"), "{said}");
}

/// The project's instructions are part of the overhead.
#[test]
fn instructions_of_the_folder_are_overhead() {
    let (talk, file) = weighed(&[compaction()]);
    let overhead = || parsed(&talk, &["context", &file, "--tokens", "--json"])["overheadTokens"].as_u64().unwrap();
    let before = overhead();
    talk.world.write("AGENTS.md", "y".repeat(4000));
    assert!((before + 1000..before + 1100).contains(&overhead()));
}

#[test]
fn the_parts_are_said_in_words() {
    let (talk, file) = weighed(&[compaction()]);
    let said = talk.run(&["context", &file, "--tokens"]);
    assert_snapshot!(said.lines().last().unwrap(), @"[N] tokens, estimated: 36 messages, [N] system prompt and tools");
    let (talk, file) = weighed(&[]);
    let said = talk.run(&["context", &file, "--tokens"]);
    let said: Vec<&str> = said.lines().rev().take(2).collect();
    assert_snapshot!(said[1], @"170,040 tokens: 170,040 reported with message 6, 0 estimated after it");
    assert_snapshot!(said[0], @"estimates: 30,046 messages, [N] system prompt and tools");
}

/// The members of `context --window --json`, checked against each other.
fn window(json: &Value) -> [u64; 3] {
    let sum =
        |parts: &Value| parts.as_array().unwrap().iter().map(|part| part["tokens"].as_u64().unwrap()).sum::<u64>();
    let estimates = &json["estimates"];
    let overhead = estimates["systemPrompt"].as_u64().unwrap()
        + ["contextFiles", "skills", "tools"].map(|kind| sum(&estimates[kind])).iter().sum::<u64>();
    let messages: u64 =
        estimates["messages"].as_object().unwrap().values().map(|tokens| tokens.as_u64().unwrap()).sum();
    assert_eq!(estimates["tokens"], json!(messages + overhead), "the parts are the whole: {json}");
    let total = json["tokens"].as_u64().unwrap();
    assert_eq!((&json["model"], &json["window"]), (&json!("test/m1"), &json!(180_000)));
    assert_eq!(json["free"], json!(180_000_u64.saturating_sub(total)));
    [total, messages, overhead]
}

/// The command, a client and the terminal say the same of what fills the window, part by part.
#[test]
fn what_fills_the_window_adds_up_on_every_face() {
    let (talk, file) = weighed(&[]);
    talk.data("settings.json", &json!({"compaction": {"keepRecentTokens": 10}}));
    talk.world.write("AGENTS.md", "y".repeat(4000));
    let counted = parsed(&talk, &["context", &file, "--tokens", "--json"]);
    let numbers = ["tokens", "messageTokens", "overheadTokens"].map(|name| counted[name].as_u64().unwrap());
    let shown = parsed(&talk, &["context", &file, "--window", "--json"]);
    assert_eq!(window(&shown), numbers);
    let files = shown["estimates"]["contextFiles"].as_array().unwrap();
    assert!(files.len() == 1 && files[0]["name"] == "AGENTS.md", "{files:?}");
    assert!((1000..1100).contains(&files[0]["tokens"].as_u64().unwrap()), "{files:?}");
    let mut client = RpcClient::start(&talk, &["--session", &file]);
    client.ask(json!({"type": "subscribe", "approvals": true}));
    let told = client.ask(json!({"type": "context", "window": true}));
    assert_eq!(window(&told), numbers);
    assert_eq!(told["compaction"], shown["compaction"]);
    client.end();
    let planned = parsed(&talk, &["compact", &file, "--dry-run", "--json"]);
    let (kept, before) = (planned["tokensKept"].as_u64().unwrap(), planned["messageTokensBefore"].as_u64().unwrap());
    assert_eq!(shown["compaction"]["frees"], json!(before - kept), "the cut of `compact`");
    let mut terminal = Terminal::offshoot(&talk, &["--session", &file], (80, 40));
    terminal.until_text("% of 180k").send("/context\r");
    terminal.until_text("Compacting would free").until_text("AGENTS.md");
    assert!(terminal.screen().contains("test/m1, window of 180,000 tokens"), "{}", terminal.screen());
    terminal.send("\x1b");
    terminal.until("the conversation", |screen| screen.contains("% of 180k") && !screen.contains("Compacting"));
    terminal.send("\x04");
    assert!(terminal.ended());
}

#[test]
fn what_fills_the_window_is_said_in_words() {
    let (talk, file) = weighed(&[compaction()]);
    let said = talk.run(&["context", &file, "--window"]);
    // The figures of the prompt change with its words.
    let names: Vec<&str> = said
        .lines()
        .map(|line| line.trim_start_matches([' ', ',', '%', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9']))
        .collect();
    assert_snapshot!(names.join("\n"), @"
    test/m1, window of 180,000 tokens

    in use
    left
    largest answer
    compacted above this

    Estimates: four characters a token
    system prompt
    tools
    read
    bash
    edit
    write
    ask
    todo
    plan
    task
    your prompts
    answers
    summaries

    Compacting would free nothing: nothing was said since the last compaction.
    ");
    assert!(
        said.contains("\n       12   0%  your prompts\n       14   0%  answers\n       10   0%  summaries\n"),
        "{said}"
    );
    assert!(said.contains("\n  163,616  91%  compacted above"), "{said}");
}
