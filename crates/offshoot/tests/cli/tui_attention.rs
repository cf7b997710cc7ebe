//! What the terminal is told beside the screen: the title of its window, and notifications for a person who is elsewhere.

use offshoot_agent::testing::script::Reply;
use serde_json::json;

use crate::agent::Talk;
use crate::terminal::Terminal;

const GHOSTTY: &[(&str, &str)] = &[("TERM_PROGRAM", "ghostty")];

#[test]
fn the_end_of_a_turn_is_told_to_who_has_gone_elsewhere() {
    let talk = Talk::new([Reply::text("One."), Reply::text("Two.")]);
    let mut terminal = Terminal::offshoot_in(&talk, &[], (80, 24), GHOSTTY);
    terminal.until_raw("\x1b[?1004h").until_text("thinking medium").until_idle();
    terminal.until_raw("\x1b[22;2t\x1b]2;work - offshoot\x1b\\");
    terminal.send("\x1b[Igo on\r");
    terminal.until_text("One.").until_idle();
    assert!(!terminal.raw().contains("the turn has ended"), "the person is there");
    terminal.send("\x1b[Ogo on\r");
    terminal.until_raw("\x1b]9;offshoot: work: the turn has ended\x1b\\");
    terminal.send("/name cats\r");
    terminal.until_raw("\x1b]2;cats - offshoot\x1b\\").until_idle();
    terminal.send("\x04");
    assert!(terminal.ended());
    assert!(terminal.raw().contains("\x1b[23;2t") && terminal.raw().contains("\x1b[?1004l"));
}

/// tmux passes on what is wrapped for the terminal around it only if it is told to; it always takes the bell.
#[test]
fn settings_choose_how_and_whether() {
    let quiet = json!({"terminal": {"notifications": "off", "setTitle": false}});
    let other = json!({"terminal": {"notifications": "osc777"}});
    for (settings, told) in [
        (quiet, None),
        (other, Some("\x1bPtmux;\x1b\x1b]777;notify;offshoot;offshoot: work: the turn has ended\x1b\x1b\\\x1b\\\x07")),
    ] {
        let talk = Talk::new([Reply::text("One.")]);
        talk.data("settings.json", &settings);
        let mut terminal = Terminal::offshoot_in(&talk, &[], (80, 24), &[("TMUX", "x")]);
        terminal.until_text("thinking medium").until_idle();
        terminal.send("\x1b[Ogo on\r");
        terminal.until_text("One.").until_idle();
        match told {
            Some(sequence) => drop(terminal.until_raw(sequence)),
            None => assert!(!terminal.raw().contains("the turn has ended") && !terminal.raw().contains("\x1b]2;")),
        }
        terminal.send("\x04");
        assert!(terminal.ended());
    }
}
