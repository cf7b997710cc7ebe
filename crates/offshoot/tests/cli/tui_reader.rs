//! The reader: the whole conversation on the whole screen.

use offshoot_agent::testing::script::Reply;
use serde_json::json;

use crate::agent::Talk;
use crate::terminal::Terminal;

/// The search finds what is folded, starts on the screen, and stays where it led.
#[test]
fn a_search_leads_to_folded_output_and_stays_there() {
    let talk = Talk::new([
        Reply::call("bash", "c1", json!({"command": "seq -f 'row %.0f of sixty' 60"})),
        Reply::text("Counted each row."),
    ]);
    let mut terminal = Terminal::offshoot(&talk, &["count the rows"], (80, 24));
    terminal.until_text("Counted each").until_idle().send("\x1bt");
    terminal.until_text("/ search").send("/");
    terminal.until_text("Search: ").send("row");
    terminal.until_text("1 of 63").send(" 7 of");
    terminal.until_text("1 of 1 ");
    terminal.until("the match in the middle of the output", |screen| screen.contains("\n  row 7 of sixty\n"));
    terminal.send("\r");
    terminal.until_text("1 of 1 · from the beginning").send("\x15nothing of it");
    terminal.until("the end again, folded", |screen| {
        screen.contains("no match") && !screen.contains("row 7 of") && screen.contains("Counted each")
    });
    terminal.send("\x15ROW");
    terminal.until_text("no match").send("\x15row 8 of");
    terminal.until_text("1 of 1 ").send("\x1b");
    terminal.until("the reader at the match", |screen| screen.contains("q leave") && screen.contains("row 8 of sixty"));
    terminal.send("q");
    terminal.until_gone("q leave").send("\x04");
    assert!(terminal.ended());
}

/// Regression: the words after the count were cut at 40 columns.
#[test]
fn a_search_that_goes_on_from_the_other_end_says_so_in_a_narrow_window() {
    let talk = Talk::new([Reply::text("One word.")]);
    let mut terminal = Terminal::offshoot(&talk, &["count it"], (40, 12));
    terminal.until_text("One word.").until_idle().send("\x1bt");
    terminal.until_text("q leave").send("/");
    terminal.until_text("/ ").send("word");
    terminal.until_text("1 of 1").send("\r");
    terminal.until_text("1 of 1 · from top").send("\x07");
    terminal.until_text("1 of 1 · from top").send("\x1b");
    terminal.until_text("q leave").send("q");
    terminal.until_gone("q leave").send("\x04");
    assert!(terminal.ended());
}
