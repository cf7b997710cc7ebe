//! What is being written when a program is killed: it comes back where it belongs, and nowhere else.

use std::fs;
use std::path::PathBuf;

use offshoot_agent::testing::script::Reply;
use serde_json::json;

use crate::agent::Talk;
use crate::terminal::Terminal;

fn folder(talk: &Talk) -> PathBuf {
    talk.world.home().join(".local/state/offshoot/drafts")
}

fn drafts(talk: &Talk) -> Vec<String> {
    let files = fs::read_dir(folder(talk)).into_iter().flatten();
    files.filter_map(|file| fs::read_to_string(file.ok()?.path()).ok()).collect()
}

/// The names of the files of drafts, without the part that names the program.
fn drafted(talk: &Talk) -> Vec<String> {
    let files = fs::read_dir(folder(talk)).into_iter().flatten();
    let names = files.filter_map(|file| file.ok()?.file_name().into_string().ok());
    names.map(|name| name.split('~').next().unwrap().to_owned()).collect()
}

fn start(talk: &Talk, arguments: &[&str]) -> Terminal {
    let mut terminal = Terminal::offshoot(talk, arguments, (80, 24));
    terminal.until_text("m1");
    terminal
}

/// Types, and waits until that is kept.
fn write(terminal: &mut Terminal, talk: &Talk, text: &str) {
    terminal.send(text);
    terminal.while_not("the draft", || drafts(talk).iter().any(|kept| kept == text));
}

fn leave(mut terminal: Terminal) {
    terminal.send("\x03\x04");
    assert!(terminal.ended());
}

/// Whether nothing is being written: the editor says what can be done.
fn is_blank(screen: &str) -> bool {
    screen.contains("/ commands")
}

/// The conversation began in this process: its draft is the session's, and no new conversation gets it.
#[test]
fn the_draft_of_a_conversation_that_began_here_is_the_sessions() {
    let talk = Talk::new([Reply::text("The first answer.")]);
    let mut terminal = start(&talk, &[]);
    terminal.send("first question\r");
    terminal.until_text("The first answer.").until_idle();
    write(&mut terminal, &talk, "half a thought");
    terminal.kill();

    let mut other = start(&talk, &[]);
    other.until("nothing in the editor", is_blank);
    leave(other);
    let mut resumed = start(&talk, &["-c"]);
    resumed.until("the draft", |screen| screen.contains("\nhalf a thought\n"));
    leave(resumed);
    assert_eq!(drafts(&talk), [""; 0]);
}

/// Another session is opened while something is being written: it comes along, and is that session's from then on.
#[test]
fn a_draft_goes_along_to_the_session_that_is_opened() {
    let talk = Talk::new(["The first answer.", "The second answer."].map(Reply::text));
    talk.data("keybindings.json", &json!({"app.session.resume": "alt+r"}));
    talk.run(&["-p", "first question"]);
    let first = talk.lines()[0]["id"].as_str().unwrap().to_owned();
    let mut terminal = start(&talk, &["second question"]);
    terminal.until_text("The second answer.").until_idle();
    write(&mut terminal, &talk, "half a thought");
    let of_second = drafted(&talk);
    terminal.send("\x1br");
    terminal.until_text("Resume session").until_text("first question").send("\x1b[B\r");
    terminal.until_text("The first answer.").until("the draft", |screen| screen.contains("\nhalf a thought\n"));
    terminal.while_not("the draft of the other session", || drafted(&talk) != of_second);
    assert_eq!(drafts(&talk), ["half a thought"], "once");
    terminal.kill();

    let mut second = start(&talk, &["-c"]);
    second.until_text("The second answer.").until_idle();
    assert!(!second.screen().contains("half a thought"), "{}", second.screen());
    leave(second);
    let mut resumed = start(&talk, &["--session", &first]);
    resumed.until_text("The first answer.").until("the draft", |screen| screen.contains("\nhalf a thought\n"));
    leave(resumed);
}

/// Two programs in one folder: what one is writing is not in the other's editor until it has ended, and then in one only.
#[test]
fn living_programs_share_no_draft() {
    let talk = Talk::new([]);
    let mut one = start(&talk, &[]);
    write(&mut one, &talk, "of the first");
    let mut two = start(&talk, &[]);
    two.until("nothing in the editor", is_blank);
    write(&mut two, &talk, "of the second");
    one.kill();
    let mut three = start(&talk, &[]);
    three.until("the draft", |screen| screen.contains("\nof the first\n"));
    let mut four = start(&talk, &[]);
    four.until("nothing in the editor", is_blank);
    assert!(two.screen().contains("\nof the second\n"));
    for terminal in [two, three, four] {
        leave(terminal);
    }
    assert_eq!(drafts(&talk), [""; 0]);
}

/// The same with one session that two programs have open.
#[test]
fn living_programs_share_no_draft_of_a_session() {
    let talk = Talk::new([Reply::text("The first answer.")]);
    talk.run(&["-p", "first question"]);
    let mut one = start(&talk, &["-c"]);
    one.until_text("The first answer.");
    write(&mut one, &talk, "of the first");
    let mut two = start(&talk, &["-c"]);
    two.until_text("The first answer.").until_idle();
    assert!(!two.screen().contains("of the first"), "{}", two.screen());
    write(&mut two, &talk, "of the second");
    one.kill();
    two.kill();
    let mut kept = drafts(&talk);
    kept.sort();
    assert_eq!(kept, ["of the first", "of the second"]);
    let mut three = start(&talk, &["-c"]);
    three.until("the newest", |screen| screen.contains("\nof the second\n"));
    leave(three);
}

/// Earlier versions kept one draft for all new conversations of a folder. It is offered once.
#[test]
fn a_draft_of_an_earlier_version_is_offered_once_then_removed() {
    let talk = Talk::new([]);
    let mut terminal = start(&talk, &[]);
    write(&mut terminal, &talk, "x");
    let names = fs::read_dir(folder(&talk)).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let name = names.into_iter().find(|name| name.starts_with("new--")).unwrap();
    leave(terminal);
    let old = folder(&talk).join(name.split('~').next().unwrap());
    fs::write(&old, "old words").unwrap();
    let mut terminal = start(&talk, &[]);
    terminal.until("the old words", |screen| screen.contains("\nold words\n"));
    assert!(!old.exists());
    leave(terminal);
    let mut terminal = start(&talk, &[]);
    terminal.until("nothing in the editor", is_blank);
    leave(terminal);
}
