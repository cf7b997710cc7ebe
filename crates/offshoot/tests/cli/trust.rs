//! Whether a project's files have an effect: without a terminal nobody is asked, on one the user is asked once.

use std::fs;
use std::os::unix::fs::symlink;

use insta::assert_snapshot;
use offshoot_agent::testing::script::Reply;
use serde_json::json;

use crate::agent::Talk;
use crate::terminal::Terminal;

/// A folder whose settings leave the model without tools.
pub(crate) fn project(replies: usize) -> Talk {
    let talk = Talk::new((0..replies).map(|_| Reply::text("Yes.")));
    talk.world.write(".offshoot/settings.json", r#"{"defaultTools": []}"#);
    talk
}

/// Whether the last request was made by the project's settings.
pub(crate) fn had_effect(talk: &Talk) -> bool {
    talk.server.seen().last().unwrap().json().get("tools").is_none()
}

pub(crate) fn answer(talk: &Talk, is_trusted: bool) {
    let work = talk.world.work().canonicalize().unwrap();
    talk.data("trust.json", &json!({work.to_str().unwrap(): is_trusted}));
}

#[test]
fn where_nobody_can_be_asked_a_project_has_no_effect() {
    let talk = project(2);
    assert_snapshot!(talk.run(&["-p", "well?"]), @"
    Yes.
    [stderr]
    warning: [WORK]/.offshoot/settings.json is not used: this folder is not trusted yet; --trust uses it this once, and `offshoot` on a terminal asks
    warning: this folder is not trusted, so the approval mode is edits: commands are refused; --approval auto lets them run
    ");
    assert!(!had_effect(&talk));
    let printed = talk.command(&["--mode", "json", "-p", "well?"]).output().unwrap();
    assert!(String::from_utf8_lossy(&printed.stderr).contains("settings.json is not used"), "{printed:?}");
    assert!(!had_effect(&talk) && !talk.world.home().join(".local/share/offshoot/trust.json").exists());
}

#[test]
fn the_command_line_decides_for_this_once() {
    let talk = project(3);
    assert_snapshot!(talk.run(&["--trust", "-p", "well?"]), @"Yes.");
    assert!(had_effect(&talk));
    assert_snapshot!(talk.run(&["--no-trust", "-p", "well?"]), @"
    Yes.
    [stderr]
    warning: this folder is not trusted, so the approval mode is edits: commands are refused; --approval auto lets them run
    ");
    assert!(!had_effect(&talk));
    answer(&talk, false);
    assert_snapshot!(talk.run(&["--trust", "-p", "well?"]), @"Yes.");
    assert!(had_effect(&talk));
}

#[test]
fn an_answer_counts_until_it_is_changed() {
    let talk = project(2);
    answer(&talk, true);
    assert_snapshot!(talk.run(&["-p", "well?"]), @"Yes.");
    assert!(had_effect(&talk));
    answer(&talk, false);
    assert_snapshot!(talk.run(&["-p", "well?"]), @"
    Yes.
    [stderr]
    warning: [WORK]/.offshoot/settings.json is not used: you do not trust this folder; --trust uses it this once
    warning: this folder is not trusted, so the approval mode is edits: commands are refused; --approval auto lets them run
    ");
    assert!(!had_effect(&talk));
}

#[test]
fn the_user_may_decide_for_all_projects_but_a_project_may_not() {
    let talk = project(2);
    talk.data("settings.json", &json!({"defaultProjectTrust": "always"}));
    assert_snapshot!(talk.run(&["-p", "well?"]), @"Yes.");
    assert!(had_effect(&talk));
    talk.data("settings.json", &json!({}));
    talk.world.write(".offshoot/settings.json", r#"{"defaultTools": [], "defaultProjectTrust": "always"}"#);
    talk.run(&["-p", "well?"]);
    assert!(!had_effect(&talk));
}

#[test]
fn a_file_of_answers_that_cannot_be_read_answers_nothing() {
    let talk = project(1);
    let file = talk.world.home().join(".local/share/offshoot/trust.json");
    fs::write(&file, "{").unwrap();
    assert_snapshot!(talk.run(&["-p", "well?"]), @"
    Yes.
    [stderr]
    warning: [WORK]/.offshoot/settings.json is not used: could not read [HOME]/.local/share/offshoot/trust.json: EOF while parsing an object at line 1 column 1; correct the file, or move it away and answer again
    warning: this folder is not trusted, so the approval mode is edits: commands are refused; --approval auto lets them run
    ");
    assert!(!had_effect(&talk));
    assert_eq!(fs::read_to_string(file).unwrap(), "{");
}

/// A link that leads out of the project is refused, as before, until the folder is trusted.
#[test]
fn trust_lets_instructions_be_links() {
    let talk = Talk::new([Reply::text("Yes."), Reply::text("Yes.")]);
    let outside = talk.world.home().join("own.md");
    fs::write(&outside, "Answer in rhymes.").unwrap();
    symlink(&outside, talk.world.work().join("AGENTS.md")).unwrap();
    let knows = || talk.server.seen().last().unwrap().json().to_string().contains("in rhymes");
    talk.run(&["-p", "well?"]);
    assert!(!knows());
    talk.run(&["--trust", "-p", "well?"]);
    assert!(knows());
}

#[test]
fn on_a_terminal_the_user_is_asked_once() {
    let talk = project(2);
    let mut terminal = Terminal::offshoot(&talk, &["chat", "go"], (100, 30));
    terminal.until_text("Do you trust");
    let screen = terminal.until_text("n or Enter:").screen();
    assert!(screen.contains("~/work/.offshoot/settings.json sets defaultTools"), "{screen}");
    terminal.send("what?\r");
    terminal.until("the question again", |screen| screen.matches("n or Enter:").count() == 2);
    terminal.send("y\r");
    terminal.until_text("Yes.").until_idle().send("\x04");
    assert!(terminal.ended() && had_effect(&talk));
    let mut terminal = Terminal::offshoot(&talk, &["chat", "again"], (100, 30));
    terminal.until_text("Yes.").until_idle().send("\x04");
    assert!(terminal.ended() && had_effect(&talk));
}

/// Also for the run itself, and the next one asks again.
#[test]
fn an_empty_answer_trusts_nothing_and_is_not_kept() {
    let talk = project(2);
    for _ in 0..2 {
        let mut terminal = Terminal::offshoot(&talk, &["chat", "go"], (100, 30));
        terminal.until_text("n or Enter:").send("\r");
        terminal.until_text("Yes.").until_idle().send("\x04");
        assert!(terminal.ended() && !had_effect(&talk));
    }
    assert!(!talk.world.home().join(".local/share/offshoot/trust.json").exists());
}

/// A folder for extensions is nothing to ask about until there is one in it. Hooks of 0.31 count as extensions do.
#[test]
fn a_folder_without_extensions_asks_nothing() {
    let talk = Talk::new([Reply::text("Yes."), Reply::text("Yes.")]);
    let work = talk.world.work();
    std::fs::create_dir_all(work.join(".offshoot/extensions")).unwrap();
    std::fs::create_dir_all(work.join(".pi/hooks")).unwrap();
    let mut terminal = Terminal::offshoot(&talk, &["chat", "go"], (100, 30));
    let screen =
        terminal.until("an answer or a question", |screen| screen.contains("Yes.") || screen.contains("trust"));
    assert!(screen.screen().contains("Yes."), "{}", screen.screen());
    terminal.until_idle().send("\x04");
    assert!(terminal.ended());
    std::fs::write(work.join(".pi/hooks/judge.ts"), "export default () => {};").unwrap();
    let mut terminal = Terminal::offshoot(&talk, &["chat", "go"], (100, 30));
    let screen = terminal.until_text("n or Enter:").screen();
    assert!(screen.contains("~/work/.pi/hooks has extensions") && !screen.contains(".offshoot"), "{screen}");
    terminal.send("\r");
    terminal.until_text("Yes.").until_idle().send("\x04");
    assert!(terminal.ended());
}
