//! `offshoot` on a terminal: the real program in a pseudo-terminal, against a model on this machine.

use insta::assert_snapshot;
use offshoot_agent::testing::script::Reply;

use crate::agent::Talk;
use crate::terminal::{Terminal, ends_when_hung_up};

#[test]
fn a_question_is_answered() {
    let talk = Talk::new([Reply::text("Forty-two.")]);
    talk.was_started_before();
    let mut terminal = Terminal::offshoot(&talk, &[], (80, 24));
    terminal.until_text("1% of 200k");
    assert_snapshot!(terminal.screen(), @"
    offshoot 0.1.0 · m1 • thinking medium · ~/work
    ? help · / commands · @ files · ! shell · escape stops · ctrl+d leaves


    ────────────────────────────────────────────────────────────────────────────────

    ────────────────────────────────────────────────────────────────────────────────
    ~/work  context ░░░░░░░░ 1% of 200k                         m1 • thinking medium
    ");
    terminal.send("what is it?\r");
    terminal.until_text("Forty-two.").until_text("$0.000").until_idle();
    assert_snapshot!(terminal.screen(), @"
    offshoot 0.1.0 · m1 • thinking medium · ~/work
    ? help · / commands · @ files · ! shell · escape stops · ctrl+d leaves

    › what is it?

      Forty-two.

    ────────────────────────────────────────────────────────────────────────────────

    ────────────────────────────────────────────────────────────────────────────────
    ~/work  context ░░░░░░░░ 0% of 200k  $0.0001                m1 • thinking medium
    ");
    terminal.send("\x04");
    assert!(terminal.ended());
    assert_snapshot!(talk.world.normalised(&terminal.screen()), @"
    offshoot 0.1.0 · m1 • thinking medium · ~/work
    ? help · / commands · @ files · ! shell · escape stops · ctrl+d leaves

    › what is it?

      Forty-two.
    hint: `offshoot --session [ID1]` continues it
    ");
    talk.no_problems();
}

/// git's branch is read from its files, also after a tool or a command has changed it; a session without a file says so.
#[test]
fn the_status_line_names_the_branch_of_git_and_what_is_unusual() {
    let talk = Talk::new([
        Reply::call("bash", "c1", serde_json::json!({"command": "echo 'ref: refs/heads/pages' > .git/HEAD"})),
        Reply::text("Switched."),
    ]);
    talk.world.write(".git/HEAD", "ref: refs/heads/main\n");
    let mut terminal = Terminal::offshoot(&talk, &["--no-session"], (100, 24));
    terminal.until_text("thinking medium · ~/work (main)").until_text("only in memory  ~/work (main)  context");
    terminal.send("go to pages\r");
    terminal.until_text("Switched.").until_text("~/work (pages)").until_idle();
    terminal.send("!!echo 0123456789abcdef0123456789abcdef01234567 > .git/HEAD\r");
    terminal.until_text("~/work (at 0123456)").send("\x04");
    assert!(terminal.ended());
    talk.no_problems();
}

#[test]
fn in_another_size_the_terminal_wraps_what_was_said() {
    let talk = Talk::new([Reply::text("All of these words stand in one line only as long as there is room for them.")]);
    let mut terminal = Terminal::offshoot(&talk, &["say something long"], (80, 24));
    terminal.until_text("$0.000");
    terminal.resize(40, 24);
    terminal.until("the same", |screen| {
        let rule = "─".repeat(40);
        screen.contains("them.")
            && screen.contains(&format!("{rule}\n\n{rule}\n"))
            && !screen.contains(&format!("{rule}\n{rule}"))
    });
    let whole = terminal.unwrapped();
    let said = "  All of these words stand in one line only as long as there is room for them.\n";
    assert!(whole.contains("› say something long") && whole.contains(said), "{whole}");
    terminal.send("\x04");
    assert!(terminal.ended());
}

/// The shell has the terminal while the program is stopped, and gets it as it was.
#[test]
fn it_stops_for_the_shell_and_comes_back() {
    let talk = Talk::new([Reply::text("Forty-two.")]);
    let mut terminal = Terminal::shell(&talk, (80, 24));
    terminal.send(&format!("{}\r", env!("CARGO_BIN_EXE_offshoot")));
    terminal.until_text("m1").send("what is it?\r");
    terminal.until_text("$0.000").send("half a thought\x1a");
    terminal.until_text("Stopped").until("the shell", |screen| screen.ends_with("shell>"));
    terminal.send("stty -a | grep -c -e -icanon\r");
    terminal.until("a plain terminal", |screen| screen.ends_with("\n0\nshell>")).send("fg\r");
    terminal.until("the editor", |screen| screen.contains("\nhalf a thought\n"));
    assert!(terminal.parser.screen().bracketed_paste());
    terminal.send("\x03\x03");
    terminal.until("the shell", |screen| screen.ends_with("shell>")).send("exit\r");
    assert!(terminal.ended());
}

#[test]
fn what_was_said_stays_in_the_terminal() {
    let said: Vec<String> = (1..=60).map(|at| format!("- line {at} of sixty")).collect();
    let talk = Talk::new([Reply::text(&said.join("\n"))]);
    let mut terminal = Terminal::offshoot(&talk, &["chat", "count"], (80, 24));
    terminal.until_text("line 60 of sixty").until_text("$0.00").send("\x04");
    assert!(terminal.ended());
    let whole = terminal.whole();
    let times = |at| whole.matches(&format!("line {at} of sixty")).count();
    assert_eq!((1..=60).map(times).collect::<Vec<_>>(), [1; 60], "{whole}");
}

#[test]
fn settings_are_changed_in_their_file() {
    let talk = Talk::new([]);
    talk.data("settings.json", &serde_json::json!({"unknown": 1, "defaultThinkingLevel": "low"}));
    let mut terminal = Terminal::offshoot(&talk, &[], (80, 24));
    terminal.until_text("m1").send("/settings\r");
    terminal.until_text("Settings  everywhere").send("steeringMode");
    terminal.until("the one that is searched for", |screen| screen.contains("› steeringMode")).send("\r");
    terminal.until_text("from the user's file");
    assert_snapshot!(terminal.screen(), @"
    Settings  everywhere  ~/.local/share/offshoot/settings.json
    > steeringMode
    › steeringMode                    all                                  user


















    whether waiting steering messages are sent one at a time or all at once
    from the user's file · one of one-at-a-time, all
    enter change · esc done · tab other file · del remove
    ");
    let file = talk.world.home().join(".local/share/offshoot/settings.json");
    let text = std::fs::read_to_string(file).unwrap();
    assert_eq!(text, r#"{"unknown":1,"defaultThinkingLevel":"low", "steeringMode": "all"}"#);
    terminal.send("\x1b");
    terminal.until("nothing searched for", |screen| screen.contains("defaultProvider")).send("\x1b");
    terminal.until_gone("defaultProvider").send("\x04");
    assert!(terminal.ended());
}

#[test]
fn keys_are_those_of_the_users_file() {
    let talk = Talk::new([]);
    talk.data("keybindings.json", &serde_json::json!({"app.help": "alt+h", "app.clera": "alt+c"}));
    let mut terminal = Terminal::offshoot(&talk, &[], (80, 24));
    terminal.until_text("did you mean app.clear?").until_text("m1").send("\x1bh");
    terminal.until_text("type to search").send("\x1b");
    terminal.until_gone("type to search").send("\x04");
    assert!(terminal.ended());
}

/// Also one that has not answered yet where its cursor is, so that the program waits for that.
#[test]
fn a_terminal_that_goes_away_ends_the_program() {
    let talk = Talk::new([]);
    for arguments in [&[][..], &["-r"]] {
        assert!(ends_when_hung_up(&talk, arguments, b"\x1b[6n"), "{arguments:?}");
    }
}
