//! What is written and what waits: commands of the user, completion, the queue, long pastes, and requests that fail.

use std::fs;

use offshoot_agent::testing::script::{Gate, Reply, Then};
use offshoot_protocol::message::StopReason;
use serde_json::json;

use crate::agent::Talk;
use crate::terminal::Terminal;

fn asked(talk: &Talk) -> String {
    talk.server.seen().pop().unwrap().json()["messages"].to_string()
}

fn leave(mut terminal: Terminal) {
    terminal.send("\x15\x04");
    assert!(terminal.ended());
}

/// An answer that says a little and then waits for the gate.
fn slow(gate: &Gate) -> Reply {
    Reply { gate: Some((700, gate.clone())), ..Reply::text(&"so many words ".repeat(60)) }
}

#[test]
fn commands_of_the_user_are_seen_by_the_model_or_not() {
    let talk = Talk::new([Reply::text("I saw it.")]);
    let mut terminal = Terminal::offshoot(&talk, &[], (80, 24));
    terminal.until_text("m1").send("!echo seen by all\r");
    let has_ended = |screen: &str, row: &str| screen.contains(row) && !screen.contains("running");
    terminal.until("its output", |screen| has_ended(screen, "$ echo seen by all\n  seen by all\n"));
    terminal.send("!!echo mine alone\r");
    let mine = "$ echo mine alone  not sent to the model\n  mine alone\n";
    terminal.until("its output", |screen| has_ended(screen, mine)).send("!exit 3\r");
    terminal.until_text("exit code 3").send("what did you see?\r");
    terminal.until_text("I saw it.").until_idle();
    assert!(asked(&talk).contains("seen by all") && !asked(&talk).contains("mine alone"), "{}", asked(&talk));
    leave(terminal);
    talk.no_problems();
}

/// What a command prints is seen while it runs, and once it has ended as it is recorded.
#[test]
fn what_a_command_prints_is_seen_while_it_runs() {
    let talk = Talk::new([]);
    let gate = talk.world.work().join("gate");
    let mut terminal = Terminal::offshoot(&talk, &[], (80, 40));
    terminal.until_text("m1").send("!!mkfifo gate; seq 30; cat gate\r");
    terminal.until("its output so far", |screen| {
        screen.contains("! $ mkfifo gate; seq 30; cat gate  not sent to the model\n")
            && screen.contains("10 earlier lines")
            && screen.contains("\n  11\n")
            && screen.contains("\n  30\n\n─ ")
            && screen.contains(" running the command … escape stops it ─")
    });
    // Who reads the gate is the command: it ends when this is read.
    fs::write(&gate, "the end of it\n").unwrap();
    terminal.until("its end", |screen| screen.contains("\n  the end of it\n") && !screen.contains("running"));
    assert_eq!(terminal.screen().matches("$ mkfifo").count(), 1, "{}", terminal.screen());
    leave(terminal);
}

#[test]
fn a_command_of_the_user_is_stopped_and_what_it_printed_stays() {
    let talk = Talk::new([]);
    let mut terminal = Terminal::offshoot(&talk, &[], (80, 24));
    for sign in ["!", "!!"] {
        let file = talk.world.work().join("begun");
        terminal.until_text("m1").send(&format!("{sign}echo some of it; touch begun; sleep 1000\r"));
        terminal.until_text("escape stops it").while_not("the command", || file.exists());
        terminal.send("\x1b");
        terminal.until("its end", |screen| screen.contains("  some of it\n") && !screen.contains("stops it"));
        assert!(terminal.screen().contains("stopped"), "{}", terminal.screen());
        fs::remove_file(file).unwrap();
        terminal.send("/new\r");
        terminal.until_text("a new session");
    }
    leave(terminal);
}

#[test]
fn names_of_files_are_completed_also_with_blanks() {
    let talk = Talk::new([Reply::text("I see.")]);
    for name in ["a file with blanks.txt", "src/main.rs", ".hidden", "target/ignored.txt"] {
        talk.world.write(name, "x");
    }
    talk.world.write(".gitignore", "target\n");
    let mut terminal = Terminal::offshoot(&talk, &[], (80, 24));
    terminal.until_text("m1").send("see @blan");
    terminal.until_text("→ a file with blanks.txt").send("\t");
    terminal.until("it", |screen| screen.contains("\nsee @\"a file with blanks.txt\"\n")).send("and @ignored");
    terminal.until_text("and @ignored").send("\x15and @ma");
    terminal.until_text("→ src/main.rs").send("\r");
    terminal.until("it", |screen| screen.contains("and @src/main.rs")).send("now\r");
    terminal.until_text("I see.").until_idle();
    assert!(!String::from_utf8_lossy(&terminal.raw).contains("target/ignored.txt"), "ignored files are not offered");
    // Without an `@`, when asked for.
    terminal.send("!cat mai\t");
    terminal.until("the name", |screen| screen.contains("→ src/main.rs") || screen.contains("!cat src/main.rs"));
    leave(terminal);
    talk.no_problems();
}

/// Steering is heard after the turn, what follows when the agent is done; both can be taken back.
#[test]
fn what_is_said_meanwhile_waits_its_turn() {
    let gate = Gate::new();
    let call = Reply::call("bash", "c1", json!({"command": "cat gate"}));
    let talk = Talk::new([
        Reply { gate: Some((300, gate.clone())), ..call },
        Reply::text("I heard the steering."),
        Reply::text("And what follows."),
    ]);
    talk.world.write("gate", "open\n");
    let mut terminal = Terminal::offshoot(&talk, &["chat", "go"], (80, 24));
    terminal.until_text(" stops it").send("steer there\r");
    terminal.until_text("Steering: steer there").send("and then this\x1b\r");
    terminal.until_text("Follow-up: and then this");
    // Taken back with what is being written, and said again.
    terminal.send("half");
    terminal.until_text("\nhalf\n").send("\x1b[1;3A");
    terminal.until("all of it in the editor", |screen| {
        !screen.contains("Steering:")
            && screen.contains("steer there\n")
            && screen.contains("and then this\n")
            && screen.contains("half\n")
    });
    terminal.send(&"\x7f".repeat(40));
    terminal.until("an empty editor", |screen| !screen.contains("steer there")).send("steer there\r");
    terminal.until_text("Steering: steer there").send("and then this\x1b\r");
    terminal.until_text("Follow-up: and then this");
    gate.open();
    terminal.until_text("And what follows.").until_idle();
    let screen = terminal.screen();
    let order: Vec<_> = ["› steer there", "I heard the steering.", "› and then this", "And what follows."]
        .map(|part| screen.find(part).unwrap_or_else(|| panic!("{part}: {screen}")))
        .into();
    assert!(order.is_sorted(), "{screen}");
    leave(terminal);
    talk.no_problems();
}

#[test]
fn a_stop_gives_back_what_waits() {
    let gate = Gate::new();
    let talk = Talk::new([slow(&gate), Reply::text("Fine.")]);
    let mut terminal = Terminal::offshoot(&talk, &["chat", "go"], (80, 24));
    terminal.until_text("so many words").send("first\r");
    terminal.until_text("Steering: first").send("second\x1b\r");
    terminal.until_text("Follow-up: second").send("\x1b");
    terminal.until("both in the editor", |screen| {
        screen.contains("\nfirst\n")
            && screen.contains("\nsecond\n")
            && !screen.contains(" stops it")
            && screen.contains("stopped")
    });
    gate.open();
    terminal.send("\r");
    terminal.until_text("Fine.").until_idle();
    assert!(asked(&talk).contains("first\\n\\nsecond"), "{}", asked(&talk));
    leave(terminal);
    talk.no_problems();
}

/// 100 kB stand behind a marker, are sent whole, and survive a kill.
#[test]
fn a_long_paste_is_a_marker_and_is_sent_whole() {
    let talk = Talk::new([Reply::text("All of it.")]);
    let lines: Vec<String> =
        (1..=2000).map(|at| format!("line {at} of a paste that is rather long, is it not?")).collect();
    let paste = lines.join("\n");
    assert!(paste.len() > 100_000);
    let mut terminal = Terminal::offshoot(&talk, &[], (80, 24));
    terminal.until_text("m1").send(&format!("look: \x1b[200~{paste}\x1b[201~ done"));
    terminal.until_text("look: [paste #1 +2000 lines] done");
    assert!(!terminal.screen().contains("line 1 of"), "{}", terminal.screen());
    let drafts = talk.world.home().join(".local/state/offshoot/drafts");
    let whole = format!("look: {paste} done");
    let is_kept = || {
        drafts.read_dir().is_ok_and(|mut files| {
            files.any(|file| fs::read_to_string(file.unwrap().path()).is_ok_and(|kept| kept == whole))
        })
    };
    terminal.while_not("the draft", is_kept);
    terminal.kill();

    let mut terminal = Terminal::offshoot(&talk, &[], (80, 24));
    terminal.until_text("2000 of a paste").until_text("done").send("\r");
    terminal.until_text("All of it.").until_idle();
    let said = talk.server.seen().pop().unwrap().json()["messages"][0]["content"].to_string();
    assert!(said.contains("line 1 of") && said.contains("line 2000 of") && said.len() > 100_000);
    leave(terminal);
    talk.no_problems();
}

/// A provider that is overloaded is asked again.
#[test]
fn an_overloaded_model_is_asked_again() {
    let overloaded = r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#;
    let talk = Talk::new([Reply::error(529, overloaded), Reply::text("Here I am.")]);
    talk.data("settings.json", &json!({"retry": {"baseDelayMs": 1000}}));
    let mut terminal = Terminal::offshoot(&talk, &["chat", "hello"], (80, 24));
    let is_awaited =
        |screen: &str| screen.contains("✗ error: 529 Overloaded\n") && screen.contains("retry in 1 s (1 of 3)");
    terminal.until("the next try", is_awaited).until_text("Here I am.").until_idle();
    let whole = terminal.whole();
    assert!(!whole.contains("Overloaded"), "the error of a try that is over does not stay: {whole}");
    leave(terminal);
    talk.no_problems();
}

/// Regression: a provider that asked for 1 second was asked again after 2.
#[test]
fn retry_after_1_waits_one_second() {
    let talk = Talk::new([Reply::error(429, "slow down").header("retry-after", "1"), Reply::text("Here I am.")]);
    talk.data("settings.json", &json!({}));
    let mut terminal = Terminal::offshoot(&talk, &["chat", "hello"], (80, 24));
    terminal.until_text("retry in 1 s (1 of 3) … escape stops it").until_text("Here I am.").until_idle();
    leave(terminal);
    talk.no_problems();
}

/// Regression: below an answer that was cut short in a small session, a notice said that the session is too small to be compacted.
#[test]
fn an_answer_that_was_cut_short_in_a_small_session_is_not_called_too_small() {
    let talk = Talk::new([Reply { stop: Some(StopReason::Length), ..Reply::text("only ha") }]);
    let mut terminal = Terminal::offshoot(&talk, &["chat", "hello"], (80, 24));
    terminal.until_text("only ha").until_idle().send("x");
    terminal.until("the draft", |screen| screen.lines().any(|row| row == "x"));
    let whole = terminal.whole();
    assert!(!whole.contains("too small") && whole.contains("limit"), "{whole}");
    terminal.send("\x15");
    leave(terminal);
    talk.no_problems();
}

/// The seconds till a model is asked again are counted down. Each may be missed on a busy machine, but not all of them.
#[test]
fn the_seconds_till_a_model_is_asked_again_are_counted() {
    let talk = Talk::new([Reply::error(529, "overloaded")]);
    talk.data("settings.json", &json!({"retry": {"baseDelayMs": 600_000, "maxAgentDelayMs": 600_000}}));
    // With a clock that goes.
    let mut terminal = Terminal::offshoot_in(&talk, &["chat", "hello"], (80, 24), &[("OFFSHOOT_NOW", "")]);
    let left = |screen: &str| {
        let rest = screen.split_once("retry at ")?.1.split_once(", in ")?.1;
        let (minutes, rest) = rest.split_once(" min ")?;
        let seconds = rest.split_once(" s … escape stops it")?.0.parse::<u32>().ok()?;
        Some(minutes.parse::<u32>().ok()? * 60 + seconds)
    };
    terminal.until("the seconds", |screen| left(screen).is_some());
    let first = left(&terminal.screen()).unwrap();
    assert!((300..=600).contains(&first), "{first}");
    terminal.until("fewer seconds", |screen| left(screen).is_some_and(|left| left < first)).send("\x1b");
    terminal.until_text("stopped by you: the request is not sent again");
    leave(terminal);
}

/// With reduced motion nothing in the row of the work under way changes with each token, for a screen reader.
#[test]
fn with_reduced_motion_the_work_under_way_stands_still() {
    let gate = Gate::new();
    let talk = Talk::new([Reply::error(529, "overloaded"), slow(&gate)]);
    talk.data("settings.json", &json!({"terminal": {"reducedMotion": true}, "retry": {"baseDelayMs": 3000}}));
    let mut terminal = Terminal::offshoot(&talk, &["chat", "hello"], (80, 24));
    terminal.until_text("retry in less than 10 s").until_text("many words").until_text("is answering … escape");
    gate.open();
    terminal.until_idle();
    let raw = String::from_utf8_lossy(&terminal.raw).into_owned();
    assert!(!raw.contains("token") && !raw.contains(|c| ('\u{2800}'..='\u{28ff}').contains(&c)), "{raw}");
    leave(terminal);
}

#[test]
fn waiting_for_a_model_is_stopped_and_the_conversation_goes_on() {
    let talk = Talk::new([
        Reply::error(529, "overloaded"),
        Reply::error(400, r#"{"error":{"message":"too odd"}}"#),
        Reply::text("Here I am."),
    ]);
    talk.data("settings.json", &json!({"retry": {"baseDelayMs": 60_000}}));
    let mut terminal = Terminal::offshoot(&talk, &["chat", "hello"], (80, 24));
    terminal.until_text("retry in 60 s").send("\x1b");
    terminal.until("the end", |screen| screen.contains("stopped by you: the request is not sent again"));
    terminal.until_gone("retry in");
    assert!(!terminal.screen().contains("given up"), "no try was made: {}", terminal.screen());
    // The notice names what the model does not support.
    terminal.send("odd words\r");
    terminal.until_text("✗ error: 400 too odd").until_idle().send("even words\r");
    terminal.until_text("Here I am.").until_idle();
    leave(terminal);
}

/// A connection that breaks is shown, what came stays, and the next words are answered.
#[test]
fn half_an_answer_is_told() {
    let cut = |cut| Reply { then: Then::Drop, cut: Some(cut), ..Reply::text(&"half a word ".repeat(50)) };
    let talk = Talk::new([cut(1200), cut(1200), cut(1200), cut(1200), Reply::text("Whole.")]);
    let mut terminal = Terminal::offshoot(&talk, &["chat", "hello"], (80, 24));
    terminal.until_text("given up after attempt 3").until_idle();
    assert!(terminal.screen().contains("half a word"), "{}", terminal.screen());
    terminal.send("again\r");
    terminal.until_text("Whole.").until_idle();
    leave(terminal);
}
