//! Questions about the model's calls: on the terminal, and where nobody can answer.

use offshoot_agent::testing::script::{Gate, Reply, Say};
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
    assert!(request.contains("nobody can be asked here: mode `edits` asks before commands"), "{request}");
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
    terminal.until_text("approval: ask").until_text("Run this command? (mode `ask` asks before commands)");
    terminal.until_text("waiting for your answer").until_text("tab answers");
    assert!(!talk.world.work().join("made").exists());
    terminal.send("\t");
    terminal.until_text("s allow bash(touch made) until the end · a always").send("y");
    terminal.until_text("All right.").until_gone("Run this command?");
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
    terminal.until_text("tab answers").send("\tn");
    terminal.until_text("All right.").until_text("The user did not allow this call.").until_idle();
    terminal.send("again\r");
    terminal.until_text("Run this command?").send("\x1b");
    terminal.until_gone("Run this command?").until_idle();
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
    terminal.until_text("tab answers").send("y");
    terminal.until_text("\nyesy").send("\t");
    terminal.until_text("\n  y allow").send("x\t");
    terminal.until_text("tab answers").send("nn");
    terminal.until_text("\nyesynn").send("\tn");
    terminal.until_text("All right.").until_text("\nyesynn").until_idle();
    assert!(!talk.world.work().join("made").exists());
    terminal.send("\x03");
    terminal.until_gone("yesynn").send("\x04");
    assert!(terminal.ended());
}

/// Regression: Enter at the rules did nothing but send the draft, and no page listed a rule that counts until the end.
#[test]
fn enter_at_the_rules_allows_until_the_end_and_a_page_lists_the_rule() {
    let call = |id: &str| Reply::call("bash", id, json!({"command": "touch made"}));
    let talk = Talk::new([call("c1"), call("c2"), Reply::text("All right.")]);
    let mut terminal = Terminal::offshoot(&talk, &["--approval", "ask", "do the work"], (80, 24));
    terminal.until_text("tab answers").send("a draft");
    terminal.until_text("\na draft\n").send("\ta");
    terminal.until_text("enter until the end").send("\r");
    terminal.until_text("All right.").until_text("\na draft\n").until_idle().send("\x03");
    terminal.until_gone("a draft").send("/permissions\r");
    terminal.until_text("allow  bash(touch made)  (until the end)").send("\x1b");
    terminal.until_gone("(until the end)").send("/permissions why touch made\r");
    terminal.until_text("runs: a rule allows it").send("\x1b");
    terminal.until_gone("runs: a rule").send("\x04");
    assert!(terminal.ended());
    assert_eq!(records(&talk), ["allow_session user"]);
    talk.no_problems();
}

/// What was being written before is put aside meanwhile. Regression: it was sent as a part of the reason.
#[test]
fn a_refusal_can_say_why() {
    let talk = asking("touch made");
    let mut terminal = Terminal::offshoot(&talk, &["--approval", "ask", "do the work"], (80, 24));
    terminal.until_text("tab answers").send("half a thought");
    terminal.until_text("\nhalf a thought\n").send("\tt");
    terminal.until_text("Say below what to do instead").until_gone("half a thought").send("make it tomorrow\r");
    terminal.until_text("All right.").until_gone("Run this command?").until_text("\nhalf a thought\n");
    let request = talk.server.seen().pop().unwrap().json()["messages"].to_string();
    assert!(request.contains("The user did not allow this call. make it tomorrow"), "{request}");
    terminal.until_idle().send("\x03");
    terminal.until_gone("half a thought").send("\x04");
    assert!(terminal.ended());
    assert_eq!(records(&talk), ["reject user"]);
}

#[test]
fn a_rule_that_is_always_allowed_is_shown_before_it_is_kept() {
    let command = || Reply::call("bash", "c1", json!({"command": "touch made"}));
    let talk = Talk::new([command(), Reply::text("All right."), command(), Reply::text("Again.")]);
    talk.data("settings.json", &json!({"approval": "ask"}));
    let mut terminal = Terminal::offshoot(&talk, &["do the work"], (80, 24));
    terminal.until_text("tab answers").send("\ta");
    terminal.until_text("allows exactly the command touch made").until_text("p this project").send("\x1b");
    terminal.until_text("a always").send("a");
    terminal.until_text("e everywhere").send("e");
    terminal.until_text("All right.").until_idle();
    terminal.send("\x04");
    assert!(terminal.ended());
    let settings = std::fs::read_to_string(talk.world.home().join(".local/share/offshoot/settings.json")).unwrap();
    let settings: serde_json::Value = serde_json::from_str(&settings).unwrap();
    assert_eq!(settings, json!({"approval": "ask", "permissions": {"allow": ["bash(touch made)"]}}));
    assert!(!talk.world.work().join(".offshoot").exists(), "a project's settings are never written");
    assert_eq!(records(&talk), ["allow_always user"]);
    assert!(talk.run(&["-c", "-p", "once more"]).contains("Again."));
    assert_eq!(records(&talk).len(), 1, "the second call runs unasked");
}

/// Rules of a project are among the user's own files, and count in the whole repository.
#[test]
fn a_group_of_commands_is_allowed_in_this_project_and_can_be_removed() {
    let command = |id: &str, line: &str| Reply::call("bash", id, json!({"command": line}));
    let talk = Talk::new([
        command("c1", "touch made"),
        Reply::text("All right."),
        command("c2", "touch more"),
        Reply::text("Again."),
        command("c3", "touch never"),
        Reply::text("Not now."),
    ]);
    talk.data("settings.json", &json!({"approval": "ask"}));
    std::fs::create_dir(talk.world.work().join(".git")).unwrap();
    let mut terminal = Terminal::offshoot(&talk, &["do the work"], (80, 24));
    terminal.until_text("tab answers").send("\ta");
    terminal.until_text("› 1 bash(touch made)").send("\x1b[B");
    terminal.until_text("› 2 bash(touch:*)").until_text("commands that begin with touch").send("p");
    terminal.until_text("All right.").until_idle().send("\x04");
    assert!(terminal.ended());
    assert_eq!(records(&talk), ["allow_always user"]);
    assert!(talk.lines().iter().any(|line| line["data"]["scope"] == "project"));
    let settings = std::fs::read_to_string(talk.world.home().join(".local/share/offshoot/settings.json")).unwrap();
    assert!(!settings.contains("touch"), "{settings}");
    assert!(talk.run(&["-c", "-p", "once more"]).contains("Again."));
    assert!(talk.world.work().join("more").exists());
    assert!(talk.run(&["permissions"]).contains("allow  bash(touch:*)  (in ~/"));
    assert_eq!(talk.run(&["permissions", "remove", "bash(touch:*)"]).trim(), "removed bash(touch:*)");
    assert!(talk.run(&["-c", "-p", "once more"]).contains("Not now."));
    assert!(!talk.world.work().join("never").exists());
}

/// A write, a command and a critical command, asked for in one answer.
fn three_calls() -> Talk {
    let call = |call: &str, id: &str, arguments: serde_json::Value| Say::Call {
        call: call.to_owned(),
        id: id.to_owned(),
        arguments: arguments.as_object().unwrap().clone(),
        signature: None,
    };
    let calls = [
        call("write", "c1", json!({"path": "written", "content": "x\n"})),
        call("bash", "c2", json!({"command": "touch made"})),
        call("bash", "c3", json!({"command": "touch never && git push --force"})),
    ];
    Talk::new([Reply::say(calls), Reply::text("All right.")])
}

fn made(talk: &Talk) -> [bool; 3] {
    ["written", "made", "never"].map(|name| talk.world.work().join(name).exists())
}

#[test]
fn without_a_screen_each_mode_runs_or_refuses_and_never_waits() {
    let refused = |by: &str, count: usize| vec![format!("refuse {by}"); count];
    for (mode, expected, told) in [
        ("auto", [true, true, false], refused("nobody", 1)),
        ("edits", [true, false, false], refused("nobody", 2)),
        ("ask", [false, false, false], refused("nobody", 3)),
        ("read-only", [false, false, false], refused("mode", 3)),
    ] {
        for form in [&["-p"][..], &["--mode", "json", "-p"]] {
            let talk = three_calls();
            let printed = talk.run(&[form, &["--approval", mode, "do the work"]].concat());
            assert_eq!((made(&talk), records(&talk)), (expected, told.clone()), "{mode} {form:?}");
            if form.len() > 1 {
                let events: Vec<&str> = printed.lines().filter(|line| line.contains(r#""approval_end""#)).collect();
                assert_eq!(events.len(), told.len(), "{printed}");
                assert!(events[0].contains(r#""decision":"refuse""#) && !printed.contains("approval_request"));
            }
        }
    }
}

#[test]
fn on_a_terminal_each_mode_asks_or_refuses() {
    let (write, command, critical) = ("before files", "before commands", "Run this command? (it ");
    for (mode, questions, expected) in [
        ("auto", &[critical][..], [true, true, false]),
        ("edits", &[command, critical], [true, false, false]),
        ("ask", &[write, command, critical], [false, false, false]),
        ("read-only", &[], [false, false, false]),
    ] {
        let talk = three_calls();
        let mut terminal = Terminal::offshoot(&talk, &["--approval", mode, "do the work"], (100, 30));
        match questions {
            [] => {}
            [question] => {
                terminal.until_text(question).until_text("tab answers").send("\tn");
            }
            several => {
                let counted = format!("{} calls are asked about (mode `{mode}` asks before", several.len());
                terminal.until_text(&counted).until_text("(it ").until_text("tab answers").send("\tn");
                terminal.until_text("› refuse").send("\r");
            }
        }
        terminal.until_text("All right.").until_idle();
        terminal.send("\x04");
        assert!(terminal.ended());
        let refused = if mode == "read-only" { vec!["refuse mode"; 3] } else { vec!["reject user"; questions.len()] };
        assert_eq!(
            (made(&talk), records(&talk)),
            (expected, refused.iter().map(ToString::to_string).collect()),
            "{mode}"
        );
    }
}

/// Story: each question of an answer needed its own Tab, and what came next was not known.
#[test]
fn the_calls_of_an_answer_are_allowed_together() {
    for size in [(80, 24), (40, 12)] {
        let call = |at: u32, command: &str| Say::Call {
            call: "bash".to_owned(),
            id: format!("c{at}"),
            arguments: json!({"command": command}).as_object().unwrap().clone(),
            signature: None,
        };
        let calls =
            [call(1, "echo 1 >> made"), call(2, "echo 2 >> made"), call(3, "ls made"), call(4, "echo 4 >> never")];
        let talk = Talk::new([Reply::say(calls), Reply::text("All right.")]);
        let mut terminal = Terminal::offshoot(&talk, &["--approval", "ask", "do the work"], size);
        // `ls` is not asked about.
        terminal.until_text("3 calls are asked about").until_text("tab answers").send("\t");
        terminal.until_text("enter decides").send("y");
        terminal.until("the second call", |screen| screen.contains("› ask") && screen.contains("echo 2")).send("y");
        terminal.until("the last call", |screen| screen.contains("› ask") && screen.contains("echo 4")).send(" ");
        terminal.until_text("› allow").send(" ");
        terminal.until_text("› refuse").send("\r");
        terminal.until_text("All right.").until_idle().send("\x04");
        assert!(terminal.ended());
        assert_eq!(std::fs::read_to_string(talk.world.work().join("made")).unwrap(), "1\n2\n");
        assert!(!talk.world.work().join("never").exists());
        assert_eq!(records(&talk), ["allow_once user", "allow_once user", "reject user"]);
        talk.no_problems();
    }
}

#[test]
fn a_folder_that_is_not_trusted_starts_in_edits() {
    let talk = three_calls();
    talk.world.write(".offshoot/settings.json", r#"{"theme": "dark", "permissions": {"allow": ["bash"]}}"#);
    let said = talk.run(&["-p", "do the work"]);
    assert!(said.contains("this folder is not trusted, so the approval mode is edits: commands are refused"), "{said}");
    assert_eq!((made(&talk), records(&talk).len()), ([true, false, false], 2));
    let talk = three_calls();
    talk.world.write(".offshoot/settings.json", r#"{"theme": "dark"}"#);
    let said = talk.run(&["--approval", "auto", "-p", "do the work"]);
    assert!(!said.contains("approval mode"), "{said}");
    assert_eq!(made(&talk), [true, true, false]);
    let talk = three_calls();
    talk.world
        .write(".offshoot/settings.json", r#"{"theme": "dark", "permissions": {"allow": ["bash"], "deny": ["edit"]}}"#);
    let said = talk.run(&["--trust", "-p", "do the work"]);
    assert!(said.contains("permissions.allow works only in the user's settings"), "{said}");
    assert_eq!(
        (made(&talk), records(&talk)),
        ([false, true, false], vec!["refuse rule".into(), "refuse nobody".into()])
    );
}

#[test]
fn the_mode_is_switched_by_a_command() {
    let talk = asking("touch made");
    let mut terminal = Terminal::offshoot(&talk, &[], (80, 24));
    terminal.until_text("m1").send("/approval aks\r");
    terminal.until_text("\"aks\" is not an approval mode; the modes are auto, edits, ask and read-only");
    terminal.send("\x03/approval ed");
    terminal.until_text("edits").send("\t\r");
    terminal.until_text("approval: edits").send("\x1ba");
    terminal.until_text("What the model may do unasked").send("read-only\r");
    terminal.until_text("approval: read-only").send("work\r");
    terminal.until_text("the approval mode is read-only").until_text("All right.");
    terminal.send("\x04");
    assert!(terminal.ended());
    assert_eq!(records(&talk), ["refuse mode"]);
}

#[test]
fn the_first_start_says_that_calls_run_unasked() {
    const SAID: &str = "note: the model's calls run unasked (approval: auto); /approval changes that";
    let talk = Talk::new([Reply::text("All right.")]);
    let start = |arguments: &[&str]| Terminal::offshoot(&talk, arguments, (120, 30));
    let end = |mut terminal: Terminal, is_said: bool| {
        terminal.until_idle().send("\x04");
        assert!(terminal.ended());
        assert_eq!(terminal.screen().contains(SAID), is_said, "{}", terminal.screen());
    };
    end(start(&["--approval", "auto"]), false);
    end(start(&["--approval", "ask"]), false);
    let mut terminal = start(&[]);
    terminal.until_text(SAID).until_idle().send("work\r");
    terminal.until_text("All right.");
    end(terminal, true);
    end(start(&[]), false);
}

/// Started in the home folder, the agent changed what runs at the next start or log-in.
#[test]
fn what_runs_at_the_next_log_in_or_start_is_not_changed_unasked() {
    let write = |id: &str, path: &str| Reply::call("write", id, json!({"path": path, "content": "x"}));
    let files = [".bashrc", ".ssh/authorized_keys", ".local/share/offshoot/extensions/x.ts", "notes.md"];
    let calls = files.iter().enumerate().map(|(at, file)| write(&format!("c{at}"), file));
    let talk = Talk::new(calls.chain([Reply::text("All right.")]));
    let output = talk.command(&["-p", "work"]).current_dir(talk.world.home()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(files.map(|file| talk.world.home().join(file).exists()), [false, false, false, true]);
    talk.no_problems();
}
