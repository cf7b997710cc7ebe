//! Ctrl+R: earlier prompts of this folder, then of all others, also those of other processes.

use std::os::unix::fs::PermissionsExt as _;

use offshoot_agent::testing::script::Reply;
use offshoot_agent::testing::server::KEY;
use serde_json::json;

use crate::agent::Talk;
use crate::terminal::Terminal;

fn prompts(talk: &Talk) -> std::path::PathBuf {
    talk.world.home().join(".local/state/offshoot/prompts")
}

fn start(talk: &Talk) -> Terminal {
    let mut terminal = Terminal::offshoot(talk, &[], (80, 24));
    terminal.until_text("m1");
    terminal
}

fn leave(mut terminal: Terminal) {
    terminal.send("\x03\x04");
    assert!(terminal.ended());
}

#[test]
fn an_earlier_prompt_of_this_folder_comes_back_into_the_editor() {
    let talk = Talk::new([Reply::text("The answer."), Reply::text("The other answer.")]);
    talk.was_started_before();
    std::fs::write(prompts(&talk), "\"fix the parser of elsewhere\"\n{torn\n").unwrap();
    let mut terminal = start(&talk);
    terminal.send("fix the parser\r");
    terminal.until_text("The answer.").until_idle();
    terminal.send("write the tests\r");
    terminal.until_text("The other answer.").until_idle();
    // Another process, which has the same folder.
    let mut other = start(&talk);
    other.send("half a draft\x12");
    other.until_text("Earlier prompts").until_text("(1/3)");
    let screen = other.screen();
    let rows: Vec<&str> = screen.lines().filter(|row| row.contains("the ")).collect();
    assert_eq!(rows, ["› write the tests", "  fix the parser", "  fix the parser of elsewhere"], "{screen}");
    other.send("PARSER");
    other.until_text("(1/2)").send("\x12");
    other.until_text("(2/2)").send("\x1b");
    other.until("the draft", |screen| screen.contains("half a draft") && !screen.contains("Earlier prompts"));
    let said = other.screen().split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("1 damaged line, which the search leaves out"), "{said}");
    other.send("\x12");
    other.until_text("(1/3)").send("parser\r");
    other.until("the prompt", |screen| screen.contains("fix the parser") && !screen.contains("Earlier prompts"));
    assert!(!other.screen().contains("half a draft"), "{}", other.screen());
    assert_eq!(talk.server.seen().len(), 2, "nothing is sent");
    leave(other);
    leave(terminal);
    assert_eq!(
        std::fs::metadata(prompts(&talk)).unwrap().permissions().mode() & 0o777,
        0o644,
        "that of the file before"
    );
    let kept = std::fs::read_to_string(prompts(&talk)).unwrap();
    assert!(kept.contains("{torn\n{\"prompt\":\"fix the parser\",\"folder\":\"/"), "{kept}");
}

#[test]
fn a_key_is_not_kept_and_the_file_is_the_persons_alone() {
    let talk = Talk::new([Reply::text("The answer.")]);
    let mut terminal = start(&talk);
    terminal.send(&format!("is {KEY} valid?\r"));
    terminal.until_text("The answer.").until_idle();
    terminal.send("\x12");
    terminal.until_text("Earlier prompts").until_text("› is [key hidden by offshoot] valid?").send("\x1b");
    terminal.until("the conversation", |screen| !screen.contains("Earlier prompts"));
    leave(terminal);
    assert!(!std::fs::read_to_string(prompts(&talk)).unwrap().contains(KEY));
    assert_eq!(std::fs::metadata(prompts(&talk)).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn prompts_are_not_kept_where_the_setting_says_so() {
    let talk = Talk::new([Reply::text("The answer.")]);
    talk.data("settings.json", &json!({"promptHistory": false}));
    let mut terminal = start(&talk);
    terminal.send("between us\r");
    terminal.until_text("The answer.").until_idle().send("\x12");
    terminal.until_text("the setting promptHistory is false").send("\x1b[A");
    terminal.until("the prompt of this run", |screen| screen.matches("between us").count() == 2);
    leave(terminal);
    assert!(!prompts(&talk).exists());
}
