//! `/reload` and `/trust`: what the start has read is read again, and the draft, the queue and the model stay.

use std::fs;

use offshoot_agent::testing::script::{Gate, Reply};
use serde_json::json;

use crate::agent::Talk;
use crate::terminal::Terminal;

fn asked(talk: &Talk) -> String {
    talk.server.seen().pop().unwrap().json().to_string()
}

fn data(talk: &Talk, name: &str, text: &str) {
    let path = talk.world.home().join(".local/share/offshoot").join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn leave(mut terminal: Terminal, talk: &Talk) {
    terminal.send("\x15\x04");
    assert!(terminal.ended());
    talk.no_problems();
}

#[test]
fn what_was_written_since_the_start_counts_after_a_reload() {
    let gate = Gate::new();
    let talk = Talk::new([
        Reply::text("Hello."),
        Reply::text("Reviewed."),
        Reply { gate: Some((0, gate.clone())), ..Reply::text("Slow.") },
        Reply::text("Queued."),
    ]);
    let mut terminal = Terminal::offshoot(&talk, &["say hello"], (80, 24));
    terminal.until_text("Hello.").until_idle().send("/revv main.rs\r");
    terminal.until_text("there is no command /revv; /help shows them all");
    data(&talk, "prompts/rev.md", "Review $1 with care.");
    data(&talk, "skills/alpha/SKILL.md", "---\nname: alpha\ndescription: Counts letters.\n---\nCount them.\n");
    data(&talk, "skills/odd/SKILL.md", "---\nname: odd\n---\n");
    talk.world.write("AGENTS.md", "Say it in few words.");
    talk.data("settings.json", &json!({"defaultTools": ["read"], "theme": "nowhere"}));
    terminal.send("\x15/reload\r");
    terminal.until_text("1 skill, 1 template").until_text("description").until_text("nowhere");
    terminal.send("/revv main.rs\r");
    terminal.until_text("did you mean /rev?").send("\x15/skill:alhpa\r");
    terminal.until_text("did you mean /skill:alpha?").send("\x15/rev main.rs\r");
    terminal.until_text("Reviewed.").until_idle();
    let request = asked(&talk);
    for part in ["Review main.rs with care.", "Say it in few words.", "Counts letters."] {
        assert!(request.contains(part), "{part}: {request}");
    }
    assert!(!request.contains("\"bash\""), "the tools are those of the settings: {request}");

    // What is typed and what waits is not lost, and a running turn is not disturbed.
    terminal.send("wait\r");
    terminal.until_text(" stops it").send("then this\r");
    terminal.until_text("teering: then this").send("/reload\r");
    terminal.until_text("the agent is at work: reload when it has finished");
    gate.open();
    terminal.until_text("Queued.").until_idle().send("\x15a draft");
    terminal.until_text("a draft");
    leave(terminal, &talk);
}

/// A broken file is reported, and nothing changes.
#[test]
fn a_reload_that_cannot_read_the_settings_changes_nothing() {
    let talk = Talk::new([Reply::text("Hello."), Reply::text("Again.")]);
    let mut terminal = Terminal::offshoot(&talk, &["say hello"], (80, 24));
    terminal.until_text("Hello.").until_idle();
    data(&talk, "settings.json", "{\"defaultTools\": [");
    terminal.send("/reload\r");
    terminal.until_text("settings.json").send("go on\r");
    terminal.until_text("Again.").until_idle();
    assert!(asked(&talk).contains("\"bash\""), "the tools of the start");
    leave(terminal, &talk);
}

#[test]
fn a_folder_is_trusted_later_and_no_more() {
    let talk = Talk::new([Reply::text("With tools."), Reply::text("Without."), Reply::text("With tools again.")]);
    talk.world.write(".offshoot/settings.json", r#"{"defaultTools": []}"#);
    let mut terminal = Terminal::offshoot(&talk, &[], (80, 24));
    terminal.until_text("Do you trust").send("\r");
    terminal.until_text("thinking medium").send("one\r");
    terminal.until_text("With tools.").until_idle();
    assert!(asked(&talk).contains("\"tools\""));
    terminal.send("/trust\r");
    terminal.until_text("is not trusted").until_text("trust the folder above").send("\r");
    terminal.until_text("read again: settings").send("two\r");
    terminal.until_text("Without.").until_idle();
    assert!(!asked(&talk).contains("\"tools\""));
    terminal.send("/trust\r");
    terminal.until_text("is trusted").send("\x1b[B\x1b[B\r");
    terminal
        .until("the second reload", |screen| screen.matches("read again").count() == 2 || screen.contains("not used"));
    terminal.send("three\r");
    terminal.until_text("With tools again.").until_idle();
    assert!(asked(&talk).contains("\"tools\""));
    leave(terminal, &talk);
}

#[test]
fn what_pi_has_and_offshoot_has_not_names_what_stands_for_it() {
    let talk = Talk::new([Reply::text("Hello.")]);
    let mut terminal = Terminal::offshoot(&talk, &["say hello"], (100, 30));
    terminal.until_text("Hello.").until_idle().send("/hotkeys\r");
    terminal.until_text("/branches").send("\x1b");
    terminal.until_gone("/branches").send("/share\r");
    terminal.until_text("/share is pi's; here /export writes a page");
    leave(terminal, &talk);
}
