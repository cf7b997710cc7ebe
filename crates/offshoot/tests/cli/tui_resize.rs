//! Other sizes of the terminal: what is printed is there once and in its order, and what the shell had said stays above it.

use offshoot_agent::testing::script::{Gate, Reply};

use crate::agent::Talk;
use crate::crashes::say;
use crate::extensions::{extension, has_node, node};
use crate::terminal::Terminal;

const WIDTHS: [u16; 6] = [40, 60, 100, 200, 120, 80];
const HEIGHTS: [u16; 5] = [12, 40, 24, 8, 24];
/// A screen of so many rows is low.
const LOW: u16 = 12;

fn paragraph(at: usize) -> String {
    format!("Paragraph {at} has words enough to be too long for a row of a narrow terminal.\n\n")
}

fn paragraphs(count: usize) -> String {
    (1..=count).map(paragraph).collect()
}

/// Each size of the heights, then of the widths, so many times.
fn repeated(times: usize) -> impl Iterator<Item = (u16, u16)> + Clone {
    let heights = HEIGHTS.repeat(times).into_iter().map(|rows| (80, rows));
    heights.chain(WIDTHS.repeat(times).into_iter().map(|columns| (columns, 24)))
}

fn sizes() -> impl Iterator<Item = (u16, u16)> + Clone {
    repeated(3)
}

/// The numbers of the paragraphs, in the order in which they are there, below what the shell had said.
fn found(terminal: &Terminal) -> Vec<usize> {
    let text = terminal.unwrapped();
    assert_eq!(text.lines().filter(|row| row.ends_with("before offshoot")).count(), 2, "{text}");
    let numbers = text.lines().filter_map(|row| row.strip_prefix("  Paragraph ")?.split(' ').next());
    numbers.map(|number| number.parse().unwrap()).collect()
}

pub(crate) fn is_drawn_for(screen: &str, size: (u16, u16)) -> bool {
    let mut rows = screen.lines().rev().skip(1);
    let mut is_border = |at| rows.nth(at).is_some_and(|row| is_border(row, size));
    is_border(0) && is_border(1)
}

/// Whether a row is a border of the editor: a rule, in which the work under way may be named. On a low screen it is shortened, so that
/// it takes no more rows than there are on a narrower one.
pub(crate) fn is_border(row: &str, (columns, rows): (u16, u16)) -> bool {
    let length = row.chars().count();
    let is_whole = length == usize::from(columns);
    row.starts_with('─') && row.ends_with('─') && (is_whole || rows <= LOW && length.is_multiple_of(40))
}

/// A shell that has said something before it runs offshoot.
fn in_shell(talk: &Talk) -> Terminal {
    in_shell_with(talk, &[])
}

/// The same with other variables.
fn in_shell_with(talk: &Talk, variables: &[(&str, &str)]) -> Terminal {
    let mut terminal = Terminal::shell_with(talk, (80, 24), variables);
    terminal.send("echo before offshoot\r");
    terminal.until("the shell", |screen| screen.ends_with("\nbefore offshoot\nshell>"));
    terminal.send(&format!("{} 'tell me all'\r", env!("CARGO_BIN_EXE_offshoot")));
    terminal
}

#[test]
fn no_size_costs_a_paragraph_or_doubles_one() {
    let talk = Talk::new([Reply::text(&paragraphs(60))]);
    let mut terminal = in_shell(&talk);
    terminal.until_text("Paragraph 60 has").until_idle();
    let all: Vec<_> = (1..=60).collect();
    assert_eq!(found(&terminal), all);
    for (columns, rows) in sizes() {
        terminal.resize(columns, rows);
        terminal.until("the other size", |screen| is_drawn_for(screen, (columns, rows))).until_idle();
        assert_eq!(found(&terminal), all, "at {columns}×{rows}: {}", terminal.unwrapped());
    }
    terminal.send("\x04");
    terminal.until("the shell", |screen| screen.ends_with("shell>")).send("exit\r");
    assert!(terminal.ended());
    assert_eq!(found(&terminal), all);
}

/// Regression: a terminal that is lower for a moment cuts off the rows below the cursor. When it had its height again before the
/// program looked at the size, they were not drawn again.
#[test]
fn a_size_that_is_there_for_a_moment_leaves_the_editor_drawn() {
    let gate = Gate::new();
    let talk = Talk::new([Reply { gate: Some((1_000, gate.clone())), ..Reply::text(&paragraphs(60)) }]);
    let mut terminal = in_shell(&talk);
    terminal.until("the answer", |screen| screen.contains(" stops it"));
    for _ in 0..20 {
        terminal.take_waiting();
        terminal.resize(80, 3);
        terminal.resize(80, 24);
        terminal.until("the editor", |screen| screen.contains(" stops it") && is_drawn_for(screen, (80, 24)));
    }
    gate.open();
    terminal.until_text("Paragraph 60 has").until_idle().send("\x04");
    terminal.until("the shell", |screen| screen.ends_with("shell>")).send("exit\r");
    assert!(terminal.ended());
    is_in_order(&terminal, 60);
    assert!(!terminal.raw().contains("\x1b[3J"), "the scrollback belongs to the terminal");
}

const QUESTION: &str = r#"
export default function (pi) {
  pi.registerCommand("sure", { description: "asks", handler: (_, ctx) => ctx.ui.confirm("Is it so?", "It stays.") });
}
"#;

/// What can be open while the size changes: the keys that open it, and words that it shows.
const OPEN: [(&str, &str); 5] = [
    ("/", "→ new"),
    ("/tree\r", "Session tree"),
    ("/thinking\r", "How much the model"),
    ("/model\r", "Which model answers"),
    ("/sure\r", "Is it so?"),
];

/// Regression: a terminal that restores the row number of the cursor, and not its place in the text, lost up to 14 paragraphs.
#[test]
fn no_size_costs_a_paragraph_below_what_is_open() {
    if !has_node() {
        return;
    }
    let talk = Talk::new([Reply::text(&paragraphs(60))]);
    extension(&talk, "sure.ts", QUESTION);
    talk.was_started_before();
    let node = node().unwrap();
    let mut terminal = in_shell_with(&talk, &[("PI_NODE", node.to_str().unwrap())]);
    terminal.until_text("Paragraph 60 has").until_idle();
    let all: Vec<_> = (1..=60).collect();
    let mut looks = 0;
    for (keys, words) in OPEN {
        for (columns, rows) in repeated(1) {
            terminal.send(keys);
            terminal
                .until(words, |screen| screen.contains(words) && (keys == "/" || !screen.contains(keys.trim_end())));
            let before = terminal.raw.len();
            terminal.resize(columns, rows);
            // A narrower terminal cuts the borders of another size: they look like those of its own.
            let is_anew = |terminal: &Terminal| {
                let raw = String::from_utf8_lossy(&terminal.raw[before..]);
                raw.contains("\x1b[2J") || raw.contains("\x1b[6n")
            };
            terminal.each_picture("the other size", |terminal| is_anew(terminal) && terminal.screen().contains(words));
            terminal.send("\x1b");
            terminal.until("the editor", |screen| is_drawn_for(screen, (columns, rows))).send("\x15");
            terminal.until("an empty editor", |screen| is_drawn_for(screen, (columns, rows))).until_idle();
            assert_eq!(found(&terminal), all, "{keys:?} at {columns}×{rows}: {}", terminal.unwrapped());
            looks += 1;
        }
    }
    say(&format!("other sizes below what is open: {looks}, each with {} paragraphs", all.len()));
    terminal.send("\x04");
    terminal.until("the shell", |screen| screen.ends_with("shell>")).send("exit\r");
    assert!(terminal.ended());
    assert_eq!(found(&terminal), all);
}

/// While an answer comes in, whatever the size: as many paragraphs as are printed are there once, in their order.
#[test]
fn no_size_costs_a_paragraph_of_an_answer_that_comes_in() {
    let gates: Vec<_> = (0..12).map(|_| Gate::new()).collect();
    let answers = gates.iter().enumerate().map(|(turn, gate)| {
        let text: String = (turn * 5 + 1..=turn * 5 + 5).map(paragraph).collect();
        Reply { gate: Some((1_000, gate.clone())), ..Reply::text(&text) }
    });
    let talk = Talk::new(answers);
    let mut terminal = in_shell(&talk);
    let mut sizes = sizes().cycle();
    for (turn, gate) in gates.iter().enumerate() {
        terminal.until("the answer", |screen| screen.contains(" stops it")).take_waiting();
        for _ in 0..3 {
            let (columns, rows) = sizes.next().unwrap();
            terminal.resize(columns, rows);
            terminal.until("the other size", |screen| {
                screen.contains(" stops it") && is_drawn_for(screen, (columns, rows))
            });
            is_in_order(&terminal, turn * 5);
        }
        let (columns, rows) = sizes.next().unwrap();
        terminal.resize(columns, rows);
        gate.open();
        // A row that a narrower terminal has cut does not say any more that work is under way.
        let is_whole = |terminal: &Terminal| found(terminal).len() >= turn * 5 + 5;
        terminal.each_picture("the end of it", |terminal| {
            is_whole(terminal) && is_drawn_for(&terminal.screen(), (columns, rows))
        });
        terminal.until_idle();
        is_in_order(&terminal, turn * 5 + 5);
        terminal.send(if turn + 1 < gates.len() { "more\r" } else { "\x04" });
    }
    terminal.until("the shell", |screen| screen.ends_with("shell>")).send("exit\r");
    assert!(terminal.ended());
    is_in_order(&terminal, 60);
}

/// A stream with a new size before each of its steps. Every picture of the way is looked at, not only the last one.
#[test]
fn no_picture_of_a_paced_answer_lacks_a_paragraph_or_doubles_one() {
    let pace = Gate::new();
    let reply = Reply { piece: 40, chunk: 600, pace: Some(pace.clone()), ..Reply::text(&paragraphs(60)) };
    let talk = Talk::new([reply]);
    let mut terminal = in_shell(&talk);
    let mut looks = 0;
    let mut shown = 0;
    for (columns, rows) in sizes().cycle() {
        terminal.until("the answer", |screen| screen.contains(" stops it"));
        terminal.resize(columns, rows);
        terminal
            .until("the other size", |screen| screen.contains(" stops it") && is_drawn_for(screen, (columns, rows)));
        is_in_order(&terminal, shown);
        pace.step();
        let before = terminal.unwrapped();
        terminal.each_picture("the next words", |terminal| {
            is_in_order(terminal, shown);
            looks += 1;
            terminal.unwrapped() != before && terminal.unwrapped().contains(" stops it")
        });
        shown = found(&terminal).len();
        if shown >= 50 {
            break;
        }
    }
    assert!(looks > 50, "{looks}");
    pace.open();
    terminal.until_text("Paragraph 60 has").until_idle().send("\x04");
    terminal.until("the shell", |screen| screen.ends_with("shell>")).send("exit\r");
    assert!(terminal.ended());
    is_in_order(&terminal, 60);
}

/// At least so many paragraphs are there, each once; of the last one only a part may be there.
fn is_in_order(terminal: &Terminal, count: usize) {
    let found = found(terminal);
    let all: Vec<_> = (1..=found.len()).collect();
    assert!(found == all && found.len() >= count, "{found:?}, {count} are finished: {}", terminal.unwrapped());
}

/// Sizes that come faster than they are drawn, as from an edge that is dragged: the last one is drawn, nothing is left of the
/// others, and the blank rows do not become more with each.
#[test]
fn sizes_that_come_fast_leave_nothing_behind() {
    let talk = Talk::new([Reply::text(&paragraphs(60))]);
    let mut terminal = in_shell(&talk);
    terminal.until_text("Paragraph 60 has").until_idle();
    let all: Vec<_> = (1..=60).collect();
    let widths = WIDTHS.iter().cycle().zip([1, 3, 2, 4, 1, 2, 3, 1].iter().cycle());
    let mut sizes = widths.zip(HEIGHTS.iter().cycle().step_by(2));
    for burst in 0..60 {
        let ((mut columns, count), mut rows) = sizes.next().unwrap();
        for at in 0..*count {
            terminal.resize(*columns, *rows);
            if (burst + at) % 3 > 0 {
                terminal.take_waiting();
            }
            ((columns, _), rows) = sizes.next().unwrap();
        }
        terminal.resize(*columns, *rows);
        terminal.until("the last size", |screen| is_drawn_for(screen, (*columns, *rows))).until_idle();
        let text = terminal.unwrapped();
        assert_eq!(found(&terminal), all, "burst {burst}: {text}");
        let is_rule = |row: &&str| !row.is_empty() && row.chars().all(|letter| letter == '─');
        assert_eq!(text.lines().filter(is_rule).count(), 2, "burst {burst}: {text}");
        let below = text.lines().rev().take_while(|row| !row.starts_with("  Paragraph")).count();
        assert!(below <= 40, "burst {burst}: {below} rows below the last paragraph: {text}");
    }
}
