//! Questions about the model's calls: on the terminal, and where nobody can answer.

use offshoot_agent::testing::script::{Gate, Reply};
use serde_json::json;

use crate::agent::Talk;
use crate::terminal::Terminal;

fn asking(command: &str) -> Talk {
    Talk::new([Reply::call("bash", "c1", json!({ "command": command })), Reply::text("All right.")])
}

fn records(talk: &Talk) -> Vec<String> {
    let lines = talk.lines();
    let records = lines.iter().filter(|line| line["customType"] == "offshoot.approval");
    records.map(|record| format!("{} {}", record["data"]["decision"], record["data"]["by"]).replace('"', "")).collect()
}

#[test]
fn without_a_terminal_what_would_ask_is_refused_with_words() {
    let talk = asking("touch made");
    assert_eq!(talk.run(&["-p", "--approval", "edits", "work"]).trim(), "All right.");
    assert!(!talk.world.work().join("made").exists());
    let request = talk.server.seen().pop().unwrap().json()["messages"].to_string();
    assert!(request.contains("nobody can be asked here: the mode asks about commands"), "{request}");
    assert_eq!(records(&talk), ["refuse nobody"]);
    talk.no_problems();
}

#[test]
fn a_rule_of_the_user_lets_a_call_run_and_one_of_the_project_refuses_it() {
    let talk = Talk::new([
        Reply::call("bash", "c1", json!({"command": "touch made"})),
        Reply::call("bash", "c2", json!({"command": "touch never"})),
        Reply::text("All right."),
    ]);
    talk.data(
        "settings.json",
        &json!({"approval": "ask", "permissions": {"allow": ["bash(touch:*)"], "deny": ["bash(touch never)"]}}),
    );
    assert_eq!(talk.run(&["-p", "work"]).trim(), "All right.");
    assert!(talk.world.work().join("made").exists() && !talk.world.work().join("never").exists());
    assert_eq!(records(&talk), ["refuse rule"]);
    talk.data("settings.json", &json!({"permissions": {"deny": ["bash(rm $x)"]}}));
    let shown = talk.run(&["-p", "work"]);
    assert!(shown.contains("a rule of the settings cannot be read: permissions.deny"), "{shown}");
}

#[test]
fn a_key_lets_the_call_run() {
    let talk = asking("touch made");
    let mut terminal = Terminal::offshoot(&talk, &["--approval", "ask", "do the work"], (80, 24));
    terminal.until_text("approval: ask").until_text("May bash run? the mode asks about commands");
    terminal.until_text("tab, then: y allow · s allow bash(touch made) until the end · n refuse");
    assert!(!talk.world.work().join("made").exists());
    terminal.send("\t");
    terminal.until_text("\n  y allow · s allow").send("y");
    terminal.until_text("All right.").until_gone("May bash run?");
    assert!(talk.world.work().join("made").exists());
    terminal.send("\x04");
    assert!(terminal.ended());
    assert_eq!(records(&talk), ["allow_once user"]);
    talk.no_problems();
}

#[test]
fn another_key_refuses_it_and_escape_stops_the_turn() {
    let calls = [Reply::call("bash", "c1", json!({"command": "touch made"})), Reply::text("All right.")];
    let talk = Talk::new(calls.into_iter().chain([Reply::call("bash", "c2", json!({"command": "touch made"}))]));
    let mut terminal = Terminal::offshoot(&talk, &["--approval", "edits", "do the work"], (60, 20));
    terminal.until_text("tab, then:").send("\tn");
    terminal.until_text("All right.").until_text("The user did not allow this call.").until_idle();
    terminal.send("again\r");
    terminal.until_text("May bash run?").send("\x1b");
    terminal.until_gone("May bash run?").until_idle();
    assert!(!talk.world.work().join("made").exists());
    terminal.send("\x04");
    assert!(terminal.ended());
    assert_eq!(records(&talk), ["reject user"]);
}

#[test]
fn text_that_is_being_typed_stays_text() {
    let gate = Gate::new();
    let call = Reply::call("bash", "c1", json!({"command": "touch made"}));
    let talk = Talk::new([Reply { gate: Some((0, gate.clone())), ..call }, Reply::text("All right.")]);
    let mut terminal = Terminal::offshoot(&talk, &["--approval", "ask", "do the work"], (80, 24));
    terminal.until_text(" stops it").send("yes");
    terminal.until_text("\nyes");
    gate.open();
    terminal.until_text("tab, then:").send("y");
    terminal.until_text("\nyesy").send("\t");
    terminal.until_text("\n  y allow").send("x\t");
    terminal.until_text("tab, then:").send("nn");
    terminal.until_text("\nyesynn").send("\tn");
    terminal.until_text("All right.").until_text("\nyesynn");
    assert!(!talk.world.work().join("made").exists());
    terminal.send("\x03\x04");
    assert!(terminal.ended());
}

#[test]
fn the_mode_is_switched_by_a_command() {
    let talk = asking("touch made");
    let mut terminal = Terminal::offshoot(&talk, &[], (80, 24));
    terminal.until_text("m1").send("/approval\r");
    terminal.until_text("What the model may do unasked").send("read-only\r");
    terminal.until_text("approval: read-only").send("work\r");
    terminal.until_text("the approval mode is read-only").until_text("All right.");
    terminal.send("\x04");
    assert!(terminal.ended());
    assert_eq!(records(&talk), ["refuse mode"]);
}
