//! Whole conversations on the terminal: tools, the tree, a kill and what comes after, text that means harm.

use offshoot_agent::testing::script::{Gate, Reply, Then};
use serde_json::json;

use crate::agent::Talk;
use crate::terminal::{Terminal, conversation, ends_when_hung_up};

fn tool_talk() -> Talk {
    let talk = Talk::new([
        Reply::call("bash", "c1", json!({"command": "cat notes.txt"})),
        Reply::text("It says: **buy milk**.\n\n- one\n- two"),
        Reply::text("Two litres."),
    ]);
    talk.world.write("notes.txt", "buy milk\n");
    talk
}

#[test]
fn a_killed_conversation_is_resumed_as_it_was() {
    let talk = tool_talk();
    talk.was_started_before();
    let mut terminal = Terminal::offshoot(&talk, &[], (80, 24));
    terminal.until_text("m1").send("what do my notes say?\r");
    terminal.until_text("• two").until_idle();
    terminal.send("half a thou");
    terminal.until_text("half a thou");
    let draft = talk.world.home().join(".local/state/offshoot/drafts");
    // The draft is kept soon after the last key; it is there before the kill.
    let is_kept = || {
        let mut files = draft.read_dir().into_iter().flatten();
        files.any(|file| std::fs::read_to_string(file.unwrap().path()).is_ok_and(|kept| kept == "half a thou"))
    };
    terminal.while_not("the draft", is_kept);
    let before = conversation(&terminal.screen());
    assert!(before.iter().any(|row| row.contains("cat notes.txt")), "{before:?}");
    terminal.kill();

    let mut terminal = Terminal::offshoot(&talk, &["-c"], (80, 24));
    terminal.until_text("• two").until("the status", |screen| screen.contains("$0.000"));
    assert_eq!(conversation(&terminal.screen()), before);
    // The two rows of a start are above what was said.
    let start =
        ["offshoot 0.1.0 · m1 • thinking medium · ~/work\n? help · / commands", "\n\n› what do my notes say?\n"];
    let said = terminal.unwrapped();
    let places = start.map(|part| said.rfind(part));
    assert!(places[0].is_some() && places[0] < places[1], "{said}");
    assert!(terminal.screen().contains("\nhalf a thou\n"), "{}", terminal.screen());
    terminal.send("\x03and how much?\r");
    terminal.until_text("Two litres.").until("the end", |screen| !screen.contains(" stops it")).send("\x04");
    assert!(terminal.ended());
    talk.no_problems();
}

#[test]
fn the_tree_is_walked_with_a_summary() {
    let talk = Talk::new([
        Reply::text("The first answer."),
        Reply::text("The second answer."),
        Reply::text("## Goal\nTo learn something."),
        Reply::text("The third answer."),
    ]);
    let mut terminal = Terminal::at_the_second_question(&talk, (100, 30));
    terminal.send("\r");
    terminal.until_text("No summary").send("\x1b[B\r");
    terminal.until("the summary, and the text in the editor", |screen| {
        !screen.contains("Session tree") && screen.contains("\nsecond question") && screen.contains("branch summary")
    });
    terminal.send(", put otherwise\r");
    terminal.until_text("The third answer.").until_text("2 branches").send("\x04");
    assert!(terminal.ended());
    let roles: Vec<_> = talk.lines().iter().map(|line| line["type"].as_str().unwrap().to_owned()).collect();
    assert!(roles.contains(&"branch_summary".to_owned()), "{roles:?}");
    talk.no_problems();
}

#[test]
fn what_waits_is_shown_and_comes_back() {
    let talk = Talk::new([Reply { then: Then::Hang, cut: Some(400), ..Reply::text(&"so many words ".repeat(40)) }]);
    let mut terminal = Terminal::offshoot(&talk, &[], (80, 24));
    terminal.until_text("m1").send("go\r");
    terminal.until_text(" stops it").send("also this\r");
    terminal.until("what waits", |screen| screen.contains("teering") && screen.contains("also this"));
    terminal.send("\x1b");
    terminal.until("it in the editor", |screen| screen.contains("\nalso this\n") && !screen.contains(" stops it"));
    terminal.send("\x03\x04");
    assert!(terminal.ended());
}

/// A finished tool is drawn once above the next answer, while the answer streams and afterwards, also in the reader.
#[test]
fn a_tool_that_is_done_is_not_drawn_again() {
    let gate = Gate::new();
    let answer = Reply::text(&format!("So much: {} and that was all.", "many words ".repeat(40)));
    let call = Reply::call("bash", "c1", json!({"command": "echo what it printed"}));
    let talk = Talk::new([call, Reply { gate: Some((900, gate.clone())), ..answer }]);
    let mut terminal = Terminal::offshoot(&talk, &["look at it"], (80, 24));
    let count = |text: &str, words: &str| text.matches(words).count();
    let is_once = |text: &str| (count(text, "$ echo what"), count(text, "\n  what it printed")) == (1, 1);
    terminal.until("the next answer", |screen| screen.contains("So much:") && screen.contains("is answering"));
    assert!(is_once(&terminal.whole()), "{}", terminal.whole());
    terminal.send("\x1bt");
    terminal.until("the reader", |screen| screen.contains("q leave") && screen.contains("So much:"));
    assert!(is_once(&terminal.screen()), "{}", terminal.screen());
    terminal.send("q");
    terminal.until_gone("q leave");
    gate.open();
    terminal.until_text("was all.").until_idle();
    assert!(is_once(&terminal.whole()), "{}", terminal.whole());
    terminal.send("\x04");
    assert!(terminal.ended());
}

/// Escape sequences of the model neither move the cursor nor reach the terminal.
#[test]
fn hostile_answers_stay_in_their_place() {
    let hostile = "clear \u{1b}[2J\u{1b}[H home \u{1b}]0;title\u{7} \u{9b}31m \u{202e}gnorw\u{202c} end\u{8}\u{8}\r";
    let talk = Talk::new([Reply::text(hostile)]);
    let mut terminal = Terminal::offshoot(&talk, &["say it"], (80, 24));
    terminal.until_text("end").until("the end", |screen| !screen.contains(" stops it"));
    let screen = terminal.screen();
    assert!(screen.contains("› say it") && screen.contains("clear") && screen.contains("home"), "{screen}");
    let raw = String::from_utf8_lossy(&terminal.raw).into_owned();
    for sequence in ["\u{1b}[2J", "\u{1b}]0;", "\u{9b}", "\u{202e}", "\u{8}"] {
        assert!(!raw.contains(sequence), "{sequence:?}");
    }
    terminal.send("\x04");
    assert!(terminal.ended());
}

/// A command that prints four lines and never ends.
const COUNTS: &str = "for n in 1 2 3 4; do echo line $n; done; sleep 1000";

fn shows_four_lines(screen: &str) -> bool {
    (1..=4).all(|n| screen.lines().any(|row| row.trim() == format!("line {n}")))
}

/// Escape after four printed lines: they stay on the screen, in the file and in the result for the model.
#[test]
fn a_stopped_tool_keeps_its_output() {
    let talk = Talk::new([Reply::call("bash", "c1", json!({"command": COUNTS})), Reply::text("Four lines, then.")]);
    let mut terminal = Terminal::offshoot(&talk, &["count the lines"], (80, 24));
    terminal.until("the lines", shows_four_lines).send("\x1b");
    terminal.until_idle().until_text("The user stopped this tool call");
    assert!(terminal.screen().contains("\n  line 3\n  line 4\n"), "{}", terminal.screen());
    let result = talk.lines().pop().unwrap()["message"]["content"][0]["text"].as_str().unwrap().to_owned();
    assert_eq!(result, "line 1\nline 2\nline 3\nline 4\n\nThe user stopped this tool call before it was done.");
    terminal.send("what did it print?\r");
    terminal.until_text("Four lines, then.").until_idle();
    let asked = talk.server.seen().pop().unwrap().json()["messages"].to_string();
    assert!(asked.contains("line 4"), "{asked}");
    terminal.send("\x04");
    assert!(terminal.ended());
    talk.no_problems();
}

/// A command can neither write to our terminal nor read its keys.
#[test]
fn a_command_has_no_terminal() {
    let command = "echo escape > /dev/tty; head -c 1 /dev/tty";
    let talk = Talk::new([Reply::call("bash", "c1", json!({"command": command})), Reply::text("I see.")]);
    let mut terminal = Terminal::offshoot(&talk, &["look at the terminal"], (80, 24));
    terminal.until_text("I see.").until_idle().send("\x04");
    assert!(terminal.ended());
    let lines = talk.lines();
    let result = lines.iter().find(|line| line["message"]["role"] == "toolResult").unwrap().to_string();
    assert_eq!(result.matches("/dev/tty").count(), 2, "{result}");
    assert_eq!(result.matches("No such device or address").count(), 2, "{result}");
}

/// The terminal goes away while a tool runs: what it had printed is in the file, and the session can be resumed.
#[test]
fn a_lost_terminal_keeps_what_a_tool_had_printed() {
    let talk = Talk::new([Reply::call("bash", "c1", json!({"command": COUNTS})), Reply::text("Four lines, then.")]);
    assert!(ends_when_hung_up(&talk, &["count the lines"], b"line 4"));
    let result = talk.lines().pop().unwrap();
    assert_eq!(result["message"]["role"], "toolResult");
    assert!(result["message"]["content"][0]["text"].as_str().unwrap().starts_with("line 1\nline 2\n"), "{result}");
    assert_eq!(talk.run(&["-c", "-p", "what did it print?"]), "Four lines, then.\n");
    talk.no_problems();
}

#[test]
fn commands_of_the_user_and_unknown_ones() {
    let talk = Talk::new([Reply::text("Yes.")]);
    let mut terminal = Terminal::offshoot(&talk, &[], (80, 24));
    terminal.until_text("m1").send("!echo one two\r");
    terminal.until("its output", |screen| screen.lines().any(|row| row.trim() == "one two"));
    terminal.send("/treee\r");
    terminal.until_text("did you mean /tree?").send("\x15/session\r");
    terminal.until_text("Messages").until_text("Folder").send("q");
    terminal.until_gone("Folder").send("/help\r");
    terminal.until_text("/branch-here").send("\x1b");
    terminal.until_gone("/branch-here").send("/name a name of its own\r");
    terminal.until_text("named a name of its own").send("/quit\r");
    assert!(terminal.ended());
    talk.no_problems();
}

/// The session list renamed the open session as a second writer, and the conversation did not hear of it.
#[test]
fn the_open_session_is_renamed_on_its_own_branch() {
    let talk = Talk::new([Reply::text("Yes."), Reply::text("Again yes.")]);
    let mut terminal = Terminal::offshoot(&talk, &["is it?"], (100, 30));
    terminal.until_text("Yes.").until("the end", |screen| !screen.contains(" stops it") && screen.contains("$0.000"));
    terminal.send("/resume\r");
    terminal.until_text("(1/1)").send("\x12mine\r");
    terminal.until_text("named mine").send("\x1b");
    terminal.until("the editor", |screen| !screen.contains("Resume session"));
    terminal.until_text("named mine").send("and again?\r");
    terminal.until_text("Again yes.").until("the end", |screen| !screen.contains(" stops it"));
    terminal.send("/quit\r");
    assert!(terminal.ended());
    let tree = talk.world.stdout("branches latest --json");
    let branches: serde_json::Value = serde_json::from_str(&tree).unwrap();
    assert_eq!(branches.as_array().map(Vec::len), Some(1), "{tree}");
    assert!(talk.world.stdout("list").contains("mine"));
    talk.no_problems();
}

#[test]
fn commands_that_change_files_do_so() {
    let talk = Talk::new([Reply::text("Yes."), Reply::text("Again yes.")]);
    let mut terminal = Terminal::offshoot(&talk, &["is it?"], (100, 30));
    terminal.until_text("Yes.").until("the end", |screen| !screen.contains(" stops it") && screen.contains("$0.000"));
    terminal.send("/label the answer\r");
    terminal.until_text(" [the answer]");
    terminal.send("/branches\r");
    terminal.until_text("Branches of this session").send("\x1b");
    terminal.until("the editor", |screen| !screen.contains("Branches of")).send("/export page.html\r");
    terminal.until_text("written to");
    assert!(talk.world.read("page.html").starts_with("<!"));
    terminal.send("/clone\r");
    terminal.until_text("a new session, begun from the other").until_text("Yes.");
    terminal.send("/switch nowhere\r");
    terminal.until_text("nowhere").send("/switch the answer\r");
    terminal.until_text("at another place of the tree").send("/quit\r");
    assert!(terminal.ended());
    let sessions = talk.files();
    assert_eq!(sessions.len(), 2, "{sessions:?}");
    talk.no_problems();
}
