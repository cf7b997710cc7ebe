//! Light or dark: what the terminal says of itself, and what the user has set.

use offshoot_agent::testing::script::{Gate, Reply};
use portable_pty::CommandBuilder;
use serde_json::json;

use crate::agent::Talk;
use crate::terminal::Terminal;

/// The accent of the two themes.
const DARK: &str = "38;2;143;214;160";
const LIGHT: &str = "38;2;26;107;60";

/// A terminal of true colour that answers so, with this variable.
fn terminal(talk: &Talk, background: Option<&'static str>, variable: Option<&str>) -> Terminal {
    let mut command = CommandBuilder::new("env");
    command.args(variable.map(|value| format!("COLORFGBG={value}")));
    command.args(["COLORTERM=truecolor", env!("CARGO_BIN_EXE_offshoot")]);
    let mut terminal = Terminal::run(talk, command, (200, 24));
    terminal.background = background;
    terminal
}

/// Everything that the program writes until it shows its settings, whose title is marked.
fn seen(terminal: &mut Terminal) -> String {
    terminal.until_text("m1").send("/settings\r");
    terminal.until_text("Settings  everywhere");
    let seen = String::from_utf8_lossy(&terminal.raw).into_owned();
    terminal.send("\x1b");
    terminal.until_gone("Settings  everywhere").send("\x04");
    assert!(terminal.ended());
    seen
}

#[test]
fn a_terminal_that_answers_has_its_theme_from_the_first_drawing_on() {
    for (background, theme, other) in [("rgb:ffff/ffff/ffff", LIGHT, DARK), ("rgb:1e1e/1e1e/1e1e", DARK, LIGHT)] {
        let talk = Talk::new([]);
        // The variable says the contrary: the answer is the better witness.
        let variable = if theme == LIGHT { "15;0" } else { "0;15" };
        let seen = seen(&mut terminal(&talk, Some(background), Some(variable)));
        assert!(seen.contains(theme) && !seen.contains(other), "{background}: {seen:?}");
    }
}

#[test]
fn one_that_does_not_answer_is_what_its_variable_says_or_dark() {
    for (variable, theme, other) in [(Some("0;15"), LIGHT, DARK), (None, DARK, LIGHT)] {
        let talk = Talk::new([]);
        let seen = seen(&mut terminal(&talk, None, variable));
        assert!(seen.contains(theme) && !seen.contains(other), "{variable:?}: {seen:?}");
    }
}

/// As it may come through a slow line: behind the place of the cursor, and among keys.
#[test]
fn an_answer_that_comes_late_is_no_text_and_changes_the_theme() {
    let talk = Talk::new([]);
    let mut terminal = terminal(&talk, None, None);
    terminal.until_text("m1").send("ab\x1b]11;rgb:ffff/ffff/ffff\x1b\\cd");
    terminal.until("what was typed", |screen| screen.contains("\nabcd\n"));
    terminal.send("\x03");
    terminal.until("nothing", |screen| !screen.contains("abcd"));
    assert!(seen(&mut terminal).contains(LIGHT));
}

#[test]
fn who_has_set_a_theme_is_not_asked() {
    let talk = Talk::new([]);
    talk.data("settings.json", &json!({"theme": "light"}));
    let seen = seen(&mut terminal(&talk, Some("rgb:0000/0000/0000"), None));
    assert!(seen.contains(LIGHT) && !seen.contains(DARK) && !seen.contains("]11;?"), "{seen:?}");
}

#[test]
fn a_theme_that_is_not_there_is_told_with_its_line() {
    let talk = Talk::new([]);
    talk.data("settings.json", &json!({"theme": "mine"}));
    let mut terminal = terminal(&talk, None, None);
    terminal.until_text("settings.json:1:10: the theme").until_text("m1").send("\x04");
    assert!(terminal.ended());
}

/// A terminal that is not known for it may have 24 bits of colour all the same.
#[test]
fn the_user_knows_best_how_many_colours_there_are() {
    let gate = Gate::new();
    let talk = Talk::new([Reply { gate: Some((0, gate.clone())), ..Reply::text("Yes.") }]);
    talk.data(
        "settings.json",
        &json!({"theme": "dark", "terminal": {"trueColor": true, "showTerminalProgress": true}}),
    );
    let mut terminal = Terminal::offshoot(&talk, &[], (80, 24));
    assert!(seen(&mut terminal).contains(DARK));
    assert!(!String::from_utf8_lossy(&terminal.raw).contains("]9;4"));
    let mut terminal = Terminal::offshoot(&talk, &["chat", "well?"], (80, 24));
    // An answer that is there at once shows no work.
    terminal.until_text(" stops it");
    gate.open();
    terminal.until_text("$0.000").send("\x04");
    assert!(terminal.ended());
    let raw = String::from_utf8_lossy(&terminal.raw);
    assert!(raw.find("\x1b]9;4;3").unwrap() < raw.find("\x1b]9;4;0").unwrap(), "work is shown, and its end");
}

#[test]
fn another_theme_counts_at_once() {
    let talk = Talk::new([]);
    talk.data("settings.json", &json!({"theme": "dark"}));
    let mut terminal = terminal(&talk, Some("rgb:ffff/ffff/ffff"), None);
    terminal.until_text("m1").send("/settings\r");
    terminal.until_text("Settings  everywhere").send("theme");
    terminal.until_text("› theme").send("\r");
    terminal.until("the next one", |screen| screen.contains("› theme") && screen.contains("light  "));
    terminal.until_raw(LIGHT).send("\x1b[3~");
    terminal.until_text("automatic");
    // Now it matters what the terminal is. Its answer directly behind a key would be taken for a part of the key.
    terminal.until_raw("]11;?").send("\x1b");
    terminal.until("nothing searched for", |screen| screen.contains("defaultProvider")).send("\x1b");
    terminal.until_gone("Settings  everywhere").send("\x04");
    assert!(terminal.ended());
}

#[test]
fn a_theme_is_seen_while_one_chooses_and_stays_when_it_is_taken() {
    let talk = Talk::new([]);
    talk.data("themes/broken.json", &json!({"name": "broken"}));
    let mut terminal = terminal(&talk, None, None);
    let mut drawn = 0;
    // What was written since the last time.
    let mut since = |terminal: &mut Terminal| {
        let new = String::from_utf8_lossy(&terminal.raw[drawn..]).into_owned();
        drawn = terminal.raw.len();
        new
    };
    terminal.until_text("m1").send("/theme\r");
    terminal.until_text("as the terminal's background").until_text("broken.json");
    assert!(!since(&mut terminal).contains(LIGHT));
    terminal.send("\x1b[B\x1b[B");
    terminal.until("the light one", |screen| screen.lines().any(|row| row.trim() == "› light"));
    assert!(since(&mut terminal).contains(LIGHT));
    terminal.send("\x1b");
    terminal.until_gone("  light/dark");
    assert!(since(&mut terminal).contains("38;2;"));
    let settings = talk.world.home().join(".local/share/offshoot/settings.json");
    assert!(!std::fs::read_to_string(&settings).unwrap().contains("theme"));
    terminal.send("/theme\r");
    terminal.until_text("› light/dark");
    assert!(!since(&mut terminal).contains(LIGHT), "the one before is back");
    terminal.send("\x1b[B\x1b[B");
    terminal.until("the light one", |screen| screen.lines().any(|row| row.trim() == "› light"));
    assert!(since(&mut terminal).contains(LIGHT));
    terminal.send("\r");
    terminal.until_text("kept in the settings");
    assert!(std::fs::read_to_string(&settings).unwrap().contains(r#""theme": "light""#));
    terminal.send("\x04");
    assert!(terminal.ended());
}
