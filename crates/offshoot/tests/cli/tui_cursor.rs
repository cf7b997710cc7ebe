//! The terminal's own cursor while the agent works: input methods and magnifiers follow it.

use offshoot_agent::testing::script::{Gate, Reply};

use crate::agent::Talk;
use crate::terminal::Terminal;

/// A clock that goes: the cursor is not in the editor while a new size is expected, as soon after the start.
const CLOCK: &[(&str, &str)] = &[("OFFSHOOT_NOW", "")];

/// Whether the cursor is in this column of the row between the borders of the editor.
fn is_in_editor(terminal: &Terminal, column: usize) -> bool {
    let (row, at) = terminal.position();
    let screen = terminal.screen();
    let is_border =
        |row: Option<usize>| row.and_then(|row| screen.lines().nth(row)).is_some_and(|row| row.starts_with('─'));
    at == column && is_border(row.checked_sub(1)) && is_border(Some(row + 1))
}

/// Story: the cursor was at the first row of the live region for the whole turn, and what an input method composes appeared there.
#[test]
fn the_cursor_is_in_the_editor_while_the_agent_works() {
    for size in [(80, 24), (40, 12)] {
        let (gate, pace) = (Gate::new(), Gate::new());
        let words: String = (1..60).map(|at| format!("word{at} ")).collect();
        let waits = Reply { gate: Some((0, gate.clone())), ..Reply::text("The first answer.") };
        let streams = Reply { piece: 20, chunk: 300, pace: Some(pace.clone()), ..Reply::text(&words) };
        let talk = Talk::new([waits, streams]);
        let mut terminal = Terminal::offshoot_in(&talk, &[], size, CLOCK);
        terminal.until_text("m1").send("go\r");
        // Nothing has come yet. The border turns its spinner.
        terminal.until_text(" stops it").each_picture("the cursor in the editor", |terminal| is_in_editor(terminal, 0));
        let mut borders = std::collections::BTreeSet::new();
        terminal.each_picture("a spinner that turns", |terminal| {
            assert!(is_in_editor(terminal, 0), "{:?}\n{}", terminal.position(), terminal.screen());
            borders.extend(terminal.screen().lines().filter(|row| row.contains("stops it")).map(str::to_owned));
            borders.len() > 3
        });
        gate.open();
        terminal.until_text("The first answer.").until_idle().send("on\r");
        terminal.until_text(" stops it").send("draft");
        terminal.until_text("\ndraft").each_picture("the draft", |terminal| is_in_editor(terminal, 5));
        for _ in 0..10 {
            pace.step();
            let before = terminal.screen();
            terminal.each_picture("the next words", |terminal| {
                assert!(is_in_editor(terminal, 5), "{:?}\n{}", terminal.position(), terminal.screen());
                terminal.screen() != before
            });
        }
        // A list with a line of its own, then a page with one.
        terminal.send("\x0c");
        terminal.each_picture("the list", |terminal| terminal.cursor() == (">".to_owned(), 2)).send("m1");
        terminal.each_picture("its line", |terminal| terminal.cursor() == ("> m1".to_owned(), 4)).send("\x1b");
        terminal.each_picture("the draft again", |terminal| is_in_editor(terminal, 5)).send("\x1bOP");
        terminal.until_text("Help").each_picture("the help", |terminal| terminal.cursor() == (">".to_owned(), 2));
        assert!(terminal.parser.screen().hide_cursor());
        terminal.send("\x1b");
        terminal.each_picture("the draft again", |terminal| is_in_editor(terminal, 5));
        pace.open();
        terminal.until_text("word59").until_idle();
        terminal.send("\x03\x04");
        assert!(terminal.ended());
        talk.no_problems();
    }
}
