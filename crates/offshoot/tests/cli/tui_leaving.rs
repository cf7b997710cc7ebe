//! What waits to be sent when a program is killed, and commands that leave the session while the agent works.

use std::fs;

use offshoot_agent::testing::script::{Reply, Then};

use crate::agent::Talk;
use crate::terminal::Terminal;

/// An answer that begins and does not end.
fn hanging() -> Reply {
    Reply { then: Then::Hang, cut: Some(1500), ..Reply::text(&"on and on ".repeat(500)) }
}

fn at_work(replies: impl IntoIterator<Item = Reply>) -> (Talk, Terminal) {
    let talk = Talk::new(std::iter::once(hanging()).chain(replies));
    let mut terminal = Terminal::offshoot(&talk, &["chat", "go"], (80, 24));
    terminal.until_text("on and on");
    (talk, terminal)
}

fn leave(mut terminal: Terminal) {
    terminal.send("\x03");
    terminal.send("\x04");
    assert!(terminal.ended());
}

/// A program is killed while messages wait and another one is being written: all of them come back into the editor.
#[test]
fn queued_messages_come_back_after_a_kill() {
    let (talk, mut terminal) = at_work([]);
    terminal.send("first\r");
    terminal.until_text("Steering: first").send("second\x1b\r");
    terminal.until_text("Follow-up: second").send("half a thought");
    let kept = || {
        let files = fs::read_dir(talk.world.home().join(".local/state/offshoot/drafts")).into_iter().flatten();
        files.filter_map(|file| fs::read_to_string(file.ok()?.path()).ok()).collect::<Vec<_>>()
    };
    terminal.while_not("the draft", || kept() == ["first\n\nsecond\n\nhalf a thought"]);
    terminal.kill();

    let mut resumed = Terminal::offshoot(&talk, &["-c"], (80, 24));
    resumed.until("all of it in the editor", |screen| screen.contains("\nfirst\n\nsecond\n\nhalf a thought\n"));
    leave(resumed);
}

/// A command that leaves the session asks first. A no changes nothing; a yes stops the turn, and what waits is reported and comes along.
#[test]
fn a_new_session_during_a_turn_asks() {
    let (talk, mut terminal) = at_work([Reply::text("In the new session.")]);
    terminal.send("first\r");
    terminal.until_text("Steering: first").send("/new\r");
    terminal.until_text("The agent is working. Stop it and start a new session?").send("n");
    terminal.until("the turn that goes on", |screen| {
        screen.contains("Steering: first") && screen.contains(" stops it") && !screen.contains("Stop it and start")
    });
    assert_eq!(talk.files().len(), 1);

    terminal.send("/new\r");
    terminal.until_text("Stop it and start a new session?").send("y");
    terminal.until("what waited, in a new session", |screen| {
        screen.contains("\nfirst\n") && screen.contains("· a new session")
    });
    assert_eq!(talk.lines().last().unwrap()["message"]["stopReason"], "aborted", "the half answer is recorded");
    terminal.send("\r");
    terminal.until_text("In the new session.").until_idle();
    assert_eq!(talk.files().len(), 2);
    leave(terminal);
    talk.no_problems();
}

/// Whoever quits is told what was not sent, and finds it next time.
#[test]
fn messages_that_wait_when_a_program_is_left_are_reported_and_come_back() {
    let (talk, mut terminal) = at_work([]);
    terminal.send("first\r");
    terminal.until_text("Steering: first").send("\x04");
    assert!(terminal.ended());
    let screen = terminal.screen();
    assert!(screen.contains("1 queued message was not sent"), "{screen}");
    let mut resumed = Terminal::offshoot(&talk, &["-c"], (80, 24));
    resumed.until("it, in the editor", |screen| screen.contains("\nfirst\n"));
    leave(resumed);
}
