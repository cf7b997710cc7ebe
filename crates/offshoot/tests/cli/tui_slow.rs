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
/// Frames that are on their way when the size changes.
const FRAMES: usize = 3;
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

#[test]
fn a_size_that_changes_while_bytes_are_on_their_way_costs_nothing() {
    let pace = Gate::new();
    let talk = Talk::new([Reply { piece: 40, chunk: 600, pace: Some(pace.clone()), ..Reply::text(&paragraphs()) }]);
    let mut terminal = Terminal::shell(&talk, (80, 24));
    terminal.send("echo before offshoot\r");
    terminal.until("the shell", |screen| screen.ends_with("\nbefore offshoot\nshell>"));
    terminal.send(&format!("{} 'tell me all'\r", env!("CARGO_BIN_EXE_offshoot")));
    terminal.until("the answer", |screen| screen.contains(" stops it"));
    let mut late = 0;
    for (columns, rows) in SIZES.into_iter().cycle().take(ROUNDS) {
        for _ in 0..FRAMES {
            pace.step();
            terminal.hold_next();
        }
        // A terminal with synchronized updates shows whole frames only.
        let mut picture = terminal.next_picture();
        while picture > 0 {
            let piece = PIECE.min(picture);
            terminal.hand_on(piece);
            picture -= piece;
        }
        let mut left = terminal.hand_on(0);
        late += usize::from(left > 0);
        terminal.resize(columns, rows);
        while left > 0 {
            left = terminal.hand_on(PIECE);
        }
        let is_drawn = |screen: &str| screen.contains(" stops it") && is_drawn_for(screen, (columns, rows));
        terminal.until("the other size", is_drawn);
    }
    assert!(late > 0, "no size came while bytes were on their way");
    pace.open();
    // Blank rows may be below the last paragraph: the program was told of places that had changed since.
    terminal.until_idle();
    terminal.send("\x04");
    terminal.until("the shell", |screen| screen.ends_with("shell>")).send("exit\r");
    assert!(terminal.ended());
    let text = terminal.unwrapped();
    assert!(found(&text).into_iter().eq(1..=COUNT), "{:?}: {text}", found(&text));
    assert_eq!(text.matches("\nbefore offshoot\n").count(), 1, "{text}");
    assert!(!terminal.raw().contains("\x1b[3J"), "the scrollback belongs to the terminal");
    say(&format!("sizes that changed while bytes were on their way: {late}"));
}
