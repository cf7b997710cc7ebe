//! A slow line between the program and its terminal: the size changes while bytes for another size are on their way.

use offshoot_agent::testing::script::{Gate, Reply};

use crate::agent::Talk;
use crate::crashes::say;
use crate::terminal::Terminal;
use crate::tui_resize::is_drawn_for;

/// What 20 kB/s hand on in 10 milliseconds.
const PIECE: usize = 200;
const COUNT: usize = 120;
const ROUNDS: usize = 14;
const CUTS: usize = 35;
/// Frames that are on their way when the size changes.
const FRAMES: usize = 3;
/// So many pictures of a spinner take longer than any terminal needs to tell its size.
const STANDSTILL: usize = 10;
const SIZES: [(u16, u16); 7] = [(80, 12), (60, 24), (120, 40), (40, 24), (200, 24), (80, 8), (80, 24)];

fn paragraphs() -> String {
    let paragraph = |at| format!("Paragraph {at} has words enough to be too long for a row of a narrow terminal.\n\n");
    (1..=COUNT).map(paragraph).collect()
}

/// The numbers of the paragraphs, in the order in which they are there.
fn found(text: &str) -> Vec<usize> {
    let numbers = text.lines().filter_map(|row| row.strip_prefix("  Paragraph ")?.split(' ').next());
    numbers.map(|number| number.parse().unwrap()).collect()
}

/// An answer that comes in at the pace of the gate, in a shell that has said something before.
fn in_shell(pace: &Gate) -> (Talk, Terminal) {
    in_shell_with(pace, &[])
}

/// The same with other variables.
fn in_shell_with(pace: &Gate, variables: &[(&str, &str)]) -> (Talk, Terminal) {
    let talk = Talk::new([Reply { piece: 40, chunk: 600, pace: Some(pace.clone()), ..Reply::text(&paragraphs()) }]);
    let mut terminal = Terminal::shell_with(&talk, (80, 24), variables);
    terminal.send("echo before offshoot\r");
    terminal.until("the shell", |screen| screen.ends_with("\nbefore offshoot\nshell>"));
    terminal.send(&format!("{} 'tell me all'\r", env!("CARGO_BIN_EXE_offshoot")));
    terminal.until("the answer", |screen| screen.contains(" stops it"));
    (talk, terminal)
}

/// Lets the answer end. Every paragraph is there once.
fn is_complete(pace: &Gate, terminal: &mut Terminal) {
    pace.open();
    // Blank rows may be below the last paragraph: the program was told of places that had changed since.
    terminal.until_idle();
    terminal.send("\x03\x04");
    terminal.until("the shell", |screen| screen.ends_with("shell>")).send("exit\r");
    assert!(terminal.ended());
    let text = terminal.unwrapped();
    assert!(found(&text).into_iter().eq(1..=COUNT), "{:?}: {text}", found(&text));
    assert_eq!(text.matches("\nbefore offshoot\n").count(), 1, "{text}");
    assert!(!terminal.raw().contains("\x1b[3J"), "the scrollback belongs to the terminal");
}

/// What is on its way reaches the terminal, which has another size since.
fn arrive(terminal: &mut Terminal, (columns, rows): (u16, u16)) {
    terminal.resize(columns, rows);
    while terminal.hand_on(PIECE) > 0 {}
    let is_drawn = |screen: &str| screen.contains(" stops it") && is_drawn_for(screen, (columns, rows));
    terminal.until("the other size", is_drawn);
}

#[test]
fn a_size_that_changes_while_bytes_are_on_their_way_costs_nothing() {
    let pace = Gate::new();
    let (_talk, mut terminal) = in_shell(&pace);
    let mut late = 0;
    for size in SIZES.into_iter().cycle().take(ROUNDS) {
        for _ in 0..FRAMES {
            pace.step();
            terminal.hold_next();
        }
        // A terminal with synchronized updates shows whole frames only.
        let picture = terminal.next_picture();
        late += usize::from(terminal.hand_on(picture) > 0);
        arrive(&mut terminal, size);
    }
    assert!(late > 0, "no size came while bytes were on their way");
    is_complete(&pace, &mut terminal);
    say(&format!("sizes that changed while bytes were on their way: {late}"));
}

/// A terminal without synchronized updates.
#[test]
fn a_size_that_changes_in_the_middle_of_a_picture_costs_no_paragraph() {
    for typed in ["", "typed"] {
        let pace = Gate::new();
        let (_talk, mut terminal) = in_shell(&pace);
        terminal.send(typed);
        terminal.until("what is typed", |screen| screen.contains(typed));
        let mut cuts = 0;
        for (round, size) in SIZES.into_iter().cycle().take(CUTS).enumerate() {
            pace.step();
            terminal.hold_next();
            let picture = terminal.next_picture();
            cuts += usize::from(terminal.hand_on(picture * (round % 5 + 1) / 6) > 0);
            arrive(&mut terminal, size);
        }
        assert_eq!(cuts, CUTS, "a picture had ended before");
        is_complete(&pace, &mut terminal);
        say(&format!("sizes that changed in the middle of a picture: {cuts}"));
    }
}

/// The connection stalls while the user types: the program knows the new size before the terminal has received what was drawn for
/// the old one. With the spinner's updates the stall lasts a second or more.
#[test]
fn a_size_that_changes_while_the_line_stands_still_costs_no_paragraph() {
    let pace = Gate::new();
    // With a clock that goes.
    let (_talk, mut terminal) = in_shell_with(&pace, &[("OFFSHOOT_NOW", "")]);
    terminal.send("typed");
    terminal.until("what is typed", |screen| screen.contains("typed"));
    for size in SIZES.into_iter().cycle().take(ROUNDS) {
        pace.step();
        terminal.hold_pictures(STANDSTILL);
        arrive(&mut terminal, size);
    }
    is_complete(&pace, &mut terminal);
    say(&format!("sizes that changed while the line stood still: {ROUNDS}"));
}
