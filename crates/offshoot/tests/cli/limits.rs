//! `--max-turns`, `--max-cost` and `--max-time`: where a run without a screen stops by itself.

use insta::assert_snapshot;
use offshoot_agent::testing::script::{Reply, Then};
use serde_json::{Value, json};

use crate::agent::Talk;

fn working() -> Talk {
    let call = |id: &str| Reply::call("bash", id, json!({"command": "echo worked"}));
    Talk::new([call("c1"), call("c2"), Reply::text("Done.")])
}

/// The error of the event `failed`; the limit ends the program in good order, with an exit code of its own.
fn told(talk: &Talk, limit: [&str; 2]) -> String {
    let output = talk.command(&["--mode", "json", "-p", "go"]).args(limit).output().unwrap();
    let lines = String::from_utf8(output.stdout).unwrap();
    let events: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((output.status.code(), &events.last().unwrap()["type"]), (Some(7), &json!("session_shutdown")));
    let failed = events.iter().find(|event| event["type"] == "failed").unwrap();
    failed["error"].as_str().unwrap().to_owned()
}

#[test]
fn no_request_is_sent_after_the_last_turn() {
    let talk = working();
    assert_snapshot!(talk.run(&["-p", "go", "--max-turns", "2"]), @"
    [stderr]
    error: stopped after 2 answers, the limit of this run
    hint: what was said and done is in the session: `offshoot -c -p PROMPT` goes on
    [exit code 7]
    ");
    assert_eq!(talk.server.seen().len(), 2);
    // The last call has its result: the session can go on.
    assert_eq!(talk.lines().last().unwrap()["message"]["role"], "toolResult");
    assert_snapshot!(talk.run(&["-c", "-p", "go on", "--max-turns", "1"]), @"Done.");
}

#[test]
fn a_limit_is_told_in_every_form() {
    let talk = working();
    assert_eq!(told(&talk, ["--max-turns", "1"]), "stopped after 1 answer, the limit of this run");
    let talk = working();
    let printed = talk.run(&["--output-format", "json", "-p", "go", "--max-turns", "1"]);
    let result: Value = serde_json::from_str(printed.lines().next().unwrap()).unwrap();
    assert_eq!(result["isError"], true);
    assert_eq!(result["error"], "stopped after 1 answer, the limit of this run");
}

/// The loopback model reports its tokens, and `models.json` says what they cost.
#[test]
fn no_request_is_sent_that_would_cost_too_much() {
    let talk = working();
    let cents = talk.run(&["-p", "go", "--max-cost", "0.0001"]);
    assert!(cents.contains("the next request would pass the limit of $0.0001"), "{cents}");
    assert!(talk.server.seen().len() < 3, "{}", talk.server.seen().len());
    let talk = working();
    assert_snapshot!(talk.run(&["-p", "go", "--max-cost", "5"]), @"Done.");
}

#[test]
fn what_runs_is_stopped_when_the_time_is_up() {
    let talk = Talk::new([Reply::call("bash", "c1", json!({"command": "sleep 1000"}))]);
    assert_snapshot!(talk.run(&["-p", "go", "--max-time", "1s"]), @"
    [stderr]
    error: stopped after 1 s, the limit of this run
    hint: what was said and done is in the session: `offshoot -c -p PROMPT` goes on
    [exit code 7]
    ");
    assert_eq!(talk.lines().last().unwrap()["message"]["role"], "toolResult");
    let talk = Talk::new([Reply { then: Then::Hang, cut: Some(900), ..Reply::text(&"on and on ".repeat(50)) }]);
    assert_eq!(told(&talk, ["--max-time", "1"]), "stopped after 1 s, the limit of this run");
}

#[test]
fn limits_are_positive_and_for_runs_without_a_screen() {
    let talk = Talk::new([]);
    for (option, value) in [("--max-turns", "0"), ("--max-cost", "-1"), ("--max-cost", "much"), ("--max-time", "soon")]
    {
        let output = talk.command(&["-p", "go", &format!("{option}={value}")]).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{option} {value}");
    }
    assert_eq!(talk.server.seen().len(), 0);
}

/// The hint named `-c`, and the error said that the words were in the session, though nothing was kept.
#[test]
fn a_run_of_which_nothing_is_kept_is_not_said_to_go_on() {
    let talk = working();
    let ended = talk.run(&["-p", "go", "--no-session", "--max-turns", "1"]);
    assert!(!ended.contains("offshoot -c") && ended.contains("nothing was kept, because of --no-session"), "{ended}");
    let ended = talk.run(&["-p", "go", "--max-turns", "1"]);
    assert!(ended.contains("`offshoot -c -p PROMPT` goes on"), "{ended}");
}

/// A provider's limit that is over after so many milliseconds, then an answer.
fn limited(milliseconds: &str) -> Talk {
    let talk =
        Talk::new([Reply::error(429, "usage limit").header("retry-after-ms", milliseconds), Reply::text("Done.")]);
    talk.data(
        "settings.json",
        &json!({"retry": {"baseDelayMs": 0, "maxAgentDelayMs": 0, "provider": {"maxRetryDelayMs": 5}}}),
    );
    talk
}

/// Story: a usage limit ended the run, and nobody knew when it could go on.
#[test]
fn a_providers_limit_is_named_and_waited_for_if_that_is_wanted() {
    let told = |talk: &Talk, more: &[&str]| {
        let told = talk.run(&[&["-p", "go"], more].concat());
        assert_eq!(talk.server.seen().len(), 1, "{told}");
        assert!(told.trim_end().ends_with("[exit code 6]") && told.contains("`--wait-for-limit TIME` waits"), "{told}");
        told
    };
    let why = "caused by: 429 usage limit; the provider can be asked again in";
    let named = told(&limited("8100000"), &[]);
    assert!(named.contains(&format!("{why} 2 h 15 min, at ")), "{named}");
    let named = told(&limited("90000000"), &["--wait-for-limit", "2h"]);
    assert!(named.contains(&format!("{why} 25 h 0 min, at ")), "the limit is over too late: {named}");
    let talk = limited("50");
    assert_snapshot!(talk.run(&["-p", "go", "--wait-for-limit", "2h"]), @"
    Done.
    [stderr]
    note: 429 usage limit; next try in 1 s (1 of 3)
    ");
    assert_eq!(talk.server.seen().len(), 2);
}

/// Programs read when the next try is.
#[test]
fn events_carry_the_wait_for_a_limit() {
    let talk = limited("50");
    let output = talk.command(&["--mode", "json", "-p", "go", "--wait-for-limit", "2h"]).output().unwrap();
    let lines = String::from_utf8(output.stdout).unwrap();
    let events: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let waits: Vec<_> = events.iter().filter(|event| event["type"] == "auto_retry_start").collect();
    assert_eq!(waits.len(), 1, "{lines}");
    assert_eq!((&waits[0]["delayMs"], &waits[0]["attempt"]), (&json!(50), &json!(1)));
    assert_eq!(output.status.code(), Some(0));
}

/// A run that starts an agent: what it may spend counts for both, the tree shows the agent, and the trash takes it along.
#[test]
fn agents_of_a_run_count_for_its_limits_and_stay_with_its_session() {
    let orders = json!({"tasks": [{"task": "look around", "name": "Alpha", "agent": "scout"}]});
    let script = || {
        Talk::new([
            Reply::call("task", "c1", orders.clone()),
            Reply::call("ls", "k1", json!({})).on("look around"),
            Reply::text("Nothing here.").on("look around"),
            Reply::text("Done."),
        ])
    };
    let talk = script();
    assert_eq!(
        told(&talk, ["--max-requests", "2"]),
        "stopped: limit requests 2 of this run reached: 2 requests were sent"
    );
    assert_eq!(talk.server.seen().len(), 2);
    let talk = script();
    assert_snapshot!(talk.run(&["-p", "go", "--max-requests", "4"]), @"Done.");
    talk.no_problems();
    let tree = talk.run(&["tree", "latest", "--no-ids"]);
    assert!(tree.contains("\n  ◆ Alpha · scout · completed · $0.0002\n"), "{tree}");
    // The ledger is not a session, and stays.
    let files =
        || talk.files().into_iter().filter(|file| !file.to_string_lossy().contains("/ledgers/")).collect::<Vec<_>>();
    assert_eq!(files().len(), 2, "{:?}", files());
    talk.run(&["trash", "latest"]);
    assert!(files().iter().all(|file| file.starts_with(talk.world.home().join(".local/share/offshoot/trash"))));
    talk.run(&["trash", "--restore"]);
    assert!(files().iter().any(|file| file.ends_with("Alpha.jsonl") && !file.to_string_lossy().contains("trash")));
}

/// An agent's session is no session of its own in a list, but it is found, counted and exported with the one that has started it.
#[test]
fn agents_are_listed_counted_found_and_exported_with_their_session() {
    let orders = json!({"tasks": [{"task": "look for xylophones", "name": "Alpha", "agent": "scout"}]});
    let talk = Talk::new([
        Reply::call("task", "c1", orders),
        Reply::text("There is a xylophone in the cellar.").on("look for xylophones"),
        Reply::text("Done."),
    ]);
    assert_snapshot!(talk.run(&["-p", "go"]), @"Done.");
    assert_eq!(talk.run(&["list"]).lines().count(), 2, "a head and one session");
    let listed = talk.run(&["list", "--children"]);
    assert!(listed.lines().nth(2).is_some_and(|row| row.contains("  ◆ Alpha · scout · completed")), "{listed}");
    let json: serde_json::Value = serde_json::from_str(&talk.run(&["list", "--children", "--json"])).unwrap();
    assert_eq!(
        (&json[0]["children"][0]["id"], &json[0]["children"][0]["status"]),
        (&json!("Alpha"), &json!("completed"))
    );
    let branches = talk.run(&["branches", "latest"]);
    assert!(branches.contains("\nits agents: 1 agent, 15 tokens, $"), "{branches}");
    let summary = talk.run(&["show", "latest", "--summary"]);
    assert!(summary.contains("its agents  1 agent, 15 tokens, $"), "{summary}");
    // The hit names the agent's session, which every command takes.
    let found: serde_json::Value = serde_json::from_str(&talk.run(&["search", "xylophone cellar", "--json"])).unwrap();
    let of_agent =
        found["hits"].as_array().unwrap().iter().find(|hit| hit["path"].as_str().unwrap().ends_with("/Alpha.jsonl"));
    let hit = of_agent.unwrap_or_else(|| panic!("{found}"));
    assert_eq!(hit["kind"], "assistant");
    let file = talk.files().into_iter().find(|file| file.ends_with("Alpha.jsonl")).unwrap();
    let text = std::fs::read_to_string(file).unwrap();
    let header: serde_json::Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    let shown = talk.run(&["show", header["id"].as_str().unwrap()]);
    assert!(shown.contains("There is a xylophone in the cellar."), "{shown}");
    // A copy of the session takes the agent along.
    talk.run(&["fork", "latest"]);
    let copies = talk.files().into_iter().filter(|file| file.ends_with("Alpha.jsonl")).count();
    assert_eq!(copies, 2);
    assert!(talk.run(&["search", "xylophone cellar", "--scan", "--json"]).contains("/Alpha.jsonl"));
    let page = talk.run(&["export", "latest", "--format", "html"]);
    assert!(page.contains("<template class=\"agent\" data-agent=\"Alpha\">"), "{}", page.len());
    assert_eq!(page.matches("id=\"meta\"").count(), 2);
}
