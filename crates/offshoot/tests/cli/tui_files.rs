//! Files that come back in the terminal: what is shown before, and what the folder holds afterwards.

use serde_json::json;

use crate::files::{files, session, session_of_another_commit, talk};
use crate::terminal::Terminal;

fn leave(mut terminal: Terminal) {
    terminal.send("\x15\x04");
    assert!(terminal.ended());
}

/// What the terminal's rows say, as one line.
fn words(screen: &str) -> String {
    screen.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn the_tree_shows_what_would_change_and_brings_it_with_the_conversation() {
    for size in [(80, 24), (40, 12)] {
        let talk = talk();
        session(&talk);
        talk.world.write("sub/new.txt", "somebody else's\n");
        talk.was_started_before();
        let mut terminal = Terminal::offshoot(&talk, &["-c"], size);
        terminal.until_text("done").until_idle().send("/tree\r");
        terminal.until_text("Session tree").send("\x1b[H\r");
        terminal.until_text("Summarize branch?").send("\r");
        terminal.until_text("What comes back?").send("\x1b[B");
        terminal.until_text("› Messages and files").until_text("2 files").send("d");
        terminal.until_text("Files that would change").until_text("new.txt: changed by");
        terminal.until_text("  -two").until_text("  +one").send("\x1b[F");
        terminal.until_text("+still here").send("d");
        terminal.until_text("What comes back?");
        assert_eq!(files(&talk), ["two\n", "-", "somebody else's\n"], "nothing has changed yet");
        terminal.send("\r");
        terminal.until("the report", |screen| {
            let words = words(screen);
            words.contains("2 files written") && words.contains("was changed by somebody else and stays")
        });
        assert_eq!(files(&talk), ["one\n", "still here\n", "somebody else's\n"]);
        leave(terminal);
        // A task of its own stores it.
        let settings = std::fs::read_to_string(talk.world.home().join(".local/share/offshoot/settings.json")).unwrap();
        assert!(
            settings.contains(r#""treeFiles": "both""#) || settings.contains(r#""treeFiles":"both""#),
            "{settings}"
        );
    }
}

/// The question says it, and going on is the answer. A typed command refuses and names the option.
#[test]
fn files_of_another_commit_come_where_the_question_said_so() {
    let talk = talk();
    let prompt = session_of_another_commit(&talk);
    let after = files(&talk);
    talk.data("settings.json", &json!({"treeFiles": "both"}));
    talk.was_started_before();
    let mut terminal = Terminal::offshoot(&talk, &["-c"], (80, 24));
    terminal.until_text("done").until_idle().send(&format!("/switch {prompt} --files\r"));
    terminal.until("the refusal", |screen| {
        let words = words(screen);
        words.contains("no file was changed") && words.contains("--across-commits")
    });
    assert_eq!(files(&talk), after);
    terminal.send("\x15/tree\r");
    terminal.until_text("Session tree").send("\x1b[H\r");
    terminal.until_text("Files come back, too · of another commit").send("d");
    terminal.until("the warning", |screen| words(screen).contains("checked out in git")).send("d");
    terminal.until_text("Summarize branch?").send("\r");
    terminal.until("the report", |screen| words(screen).contains("2 files written, 1 removed"));
    assert_eq!(files(&talk), ["one\n", "still here\n", "-"]);
    leave(terminal);
}
