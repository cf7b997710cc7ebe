//! Long answers on the terminal: they scroll as they come, once, and a session that is opened shows the same rows.

use offshoot_agent::testing::script::{Gate, Reply, Say, Then};
use serde_json::json;

use crate::agent::Talk;
use crate::terminal::Terminal;

/// The rows of the conversation, as far up as the terminal has kept them.
fn rows(terminal: &mut Terminal) -> Vec<String> {
    let whole = terminal.whole();
    let end = whole.rfind("\n────").map_or(whole.len(), |end| whole[..end].rfind("\n────").unwrap_or(end));
    let rows: Vec<_> = whole[..end].lines().map(str::to_owned).collect();
    let from = rows.iter().rposition(|row| row.starts_with("› ")).unwrap();
    let to = rows.iter().rposition(|row| !row.is_empty()).unwrap();
    rows[from..=to].to_vec()
}

fn long() -> String {
    let part = |at: usize| {
        format!(
            "Paragraph {at} has **words** enough to go on in a second row of the terminal, at least where it is narrow.\n\n- item {at}\n- another\n\n```rust\nlet a_{at} = {at};\nlet b = 2;\n```\n\n| a | b |\n|---|---|\n| {at} | x |\n\n"
        )
    };
    (0..40).map(part).collect()
}

/// What came before Escape has scrolled away already, and is what the session shows.
#[test]
fn a_long_answer_scrolls_while_it_comes_and_is_resumed_as_it_was() {
    for (columns, lines) in [(80, 24), (40, 12)] {
        let reply = Reply::text(&long());
        let talk = Talk::new([Reply { then: Then::Hang, cut: Some(80_000), ..reply }]);
        let mut terminal = Terminal::offshoot(&talk, &["tell me all"], (columns, lines));
        terminal.until("much of it", |screen| screen.contains("Paragraph 2") && screen.contains(" stops it"));
        let whole = terminal.whole();
        assert_eq!(whole.matches("› tell me all").count(), 1, "{whole}");
        assert_eq!(whole.matches("Paragraph 1 has").count(), 1, "{whole}");
        assert!(!terminal.screen().contains("Paragraph 1 has"), "it has scrolled away");
        terminal.send("\x1b");
        terminal.until("the end", |screen| screen.contains("✗ stopped") && screen.contains("1% "));
        let before = rows(&mut terminal);
        terminal.send("\x04");
        assert!(terminal.ended());
        let mut terminal = Terminal::offshoot(&talk, &["-c"], (columns, lines));
        terminal.until("the end", |screen| screen.contains("✗ stopped") && screen.contains("1% "));
        assert_eq!(rows(&mut terminal), before, "at {columns}");
        terminal.send("\x04");
        assert!(terminal.ended());
    }
}

/// The paragraph that was not finished was wiped with the editor.
#[test]
fn what_came_of_an_answer_stays_on_the_screen_when_the_user_leaves() {
    let text = format!("A paragraph that is finished.\n\nThe second one has begun and {}", "goes on ".repeat(200));
    let talk = Talk::new([Reply { then: Then::Hang, cut: Some(3000), ..Reply::text(&text) }]);
    let mut terminal = Terminal::offshoot(&talk, &["tell me"], (80, 24));
    terminal.until_text("The second one has begun").until_text(" stops it").send("\x04");
    assert!(terminal.ended());
    let whole = terminal.whole();
    for row in ["\n  A paragraph that is finished.\n\n", "\n  The second one has begun and"] {
        assert_eq!(whole.matches(row).count(), 1, "{row:?}: {whole}");
    }
    assert!(!whole.contains("───"), "the editor is gone: {whole}");
}

/// What was folded until now and is longer than the screen is all there when it is opened, below what stood above it.
#[test]
fn thoughts_that_are_opened_while_they_come_are_all_there() {
    let gate = Gate::new();
    let words = |what: &str, count: usize| -> String {
        (0..count).map(|at| format!("{what} {at} goes on for a while.\n\n")).collect()
    };
    let thought = Say::Thinking { thinking: words("Thought", 40), signature: Some("c2ln".to_owned()) };
    let reply = Reply::say([thought, Say::Text { text: words("Text", 30) }]);
    let talk = Talk::new([Reply { chunk: 512, gate: Some((15_000, gate.clone())), ..reply }]);
    talk.data("settings.json", &json!({"hideThinkingBlock": true}));
    let mut terminal = Terminal::offshoot(&talk, &["tell me"], (80, 24));
    terminal.until_text("∴ Thought 0 goes on for a while. Thought 1").send("\x14");
    terminal.until("thoughts below each other", |screen| screen.contains("\n  Thought 26 goes on for a while.\n"));
    let check = |terminal: &mut Terminal, parts: &[(&str, usize)]| {
        let whole = terminal.whole();
        let once = |row: &str| assert_eq!(whole.matches(row).count(), 1, "{row}: {whole}");
        once("› tell me\n");
        for (what, count) in parts {
            (0..*count).for_each(|at| once(&format!("{what} {at} goes on for a while.\n")));
        }
    };
    check(&mut terminal, &[("Thought", 27)]);
    gate.open();
    terminal.until("the end", |screen| screen.contains("Text 29 goes") && !screen.contains(" stops it"));
    check(&mut terminal, &[("Thought", 40), ("Text", 30)]);
    terminal.send("\x04");
    assert!(terminal.ended());
}

#[test]
fn tools_between_texts_are_printed_as_they_end() {
    let talk = Talk::new([
        Reply::call("bash", "c1", json!({"command": "seq 1 40"})),
        Reply::call("read", "c2", json!({"path": "notes.txt"})),
        Reply::text(&long()),
    ]);
    talk.world.write("notes.txt", "buy milk\n");
    let mut terminal = Terminal::offshoot(&talk, &["do it"], (80, 24));
    terminal.until("the end", |screen| {
        screen.contains("39 │ x") && !screen.contains(" stops it") && screen.contains("% of ")
    });
    let before = rows(&mut terminal);
    assert!(before.iter().any(|row| row.contains("… 35 earlier lines")), "{before:?}");
    terminal.send("\x04");
    assert!(terminal.ended());
    let mut terminal = Terminal::offshoot(&talk, &["-c"], (80, 24));
    terminal.until("the end", |screen| screen.contains("39 │ x") && screen.contains("% of "));
    assert_eq!(rows(&mut terminal), before);
    terminal.send("\x04");
    assert!(terminal.ended());
    talk.no_problems();
}

/// Regression: the row of the work under way left blank rows above the editor when it went.
#[test]
fn after_a_turn_on_a_full_screen_one_blank_row_is_above_the_editor() {
    let gate = Gate::new();
    let slow = |reply: Reply| Reply { gate: Some((0, gate.clone())), ..reply };
    let talk = Talk::new([
        slow(Reply::text(&long())),
        slow(Reply::text("Short.")),
        slow(Reply::call("bash", "c1", json!({"command": "seq 3"}))),
        slow(Reply::text("Counted.")),
    ]);
    let mut terminal = Terminal::offshoot(&talk, &[], (80, 24));
    for (turn, (requests, last)) in [(1, "39 │ x"), (1, "Short."), (2, "Counted.")].iter().enumerate() {
        terminal.until_text("m1").send(&format!("question {turn}\r"));
        for _ in 0..*requests {
            terminal.until_text("waiting for m1 … escape stops it");
            gate.step();
        }
        terminal.until_text(last).until_idle();
        let screen = terminal.screen();
        let rows: Vec<_> = screen.lines().rev().collect();
        assert!(rows[3].starts_with("────") && rows[4].is_empty() && !rows[5].is_empty(), "turn {turn}: {screen}");
    }
    terminal.send("\x04");
    assert!(terminal.ended());
    talk.no_problems();
}

/// Story: a usage limit ended the night's work, and nobody knew when it could go on. A terminal waits for it.
#[test]
fn a_providers_limit_is_waited_for_until_escape() {
    for (columns, border) in [(80, "retry at 14:15, in 2 h 15 min … escape stops it"), (40, "retry at 14:15 … escape")]
    {
        let limit = Reply::error(429, "usage limit").header("retry-after", "8100");
        let talk = Talk::new([limit, Reply::text("Done.")]);
        let mut terminal = Terminal::offshoot(&talk, &[], (columns, 24));
        terminal.until_text("m1").send("go\r");
        terminal.until_text(border).send("\x1b");
        terminal.until_idle().send("again\r");
        terminal.until_text("Done.").until_idle().send("\x04");
        assert!(terminal.ended());
    }
}
