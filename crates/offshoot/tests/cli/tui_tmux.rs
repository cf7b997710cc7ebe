//! The real tmux as the terminal: it wraps rows anew, keeps what scrolls away, and tells its size late.

use std::process::{Command, Output};
use std::time::{Duration, Instant};

use offshoot_agent::testing::script::{Gate, Reply};

use crate::agent::Talk;
use crate::crashes::say;
use crate::tui_resize::is_border;

const PATIENCE: Duration = Duration::from_secs(60);
const SIZES: [(u16, u16); 11] =
    [(80, 12), (80, 40), (80, 24), (80, 8), (80, 24), (40, 24), (60, 24), (100, 24), (200, 24), (120, 24), (80, 24)];

/// A server of its own, with one window in which a shell runs.
pub(crate) struct Tmux<'a>(&'a Talk);

impl Tmux<'_> {
    pub(crate) fn start(talk: &Talk) -> Option<Tmux<'_>> {
        if Command::new("tmux").arg("-V").output().is_err() {
            say("NOT TESTED: resizing in tmux: it is not installed");
            return None;
        }
        let tmux = Tmux(talk);
        let size = ["-x", "80", "-y", "24"];
        let server = ["-f", "/dev/null", "new-session", "-d"];
        let shell = ["bash", "--norc", "--noprofile", "-i"];
        let started = tmux.run(&[&server[..], &size, &shell].concat());
        assert!(started.status.success(), "{}", String::from_utf8_lossy(&started.stderr));
        tmux.run(&["set-option", "-g", "history-limit", "10000"]);
        Some(tmux)
    }

    fn run(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new("tmux");
        command.arg("-S").arg(self.0.world.home().join("tmux")).args(arguments).current_dir(self.0.world.work());
        command.env_clear().env("TERM", "xterm-256color").env("PS1", "shell> ");
        for (name, value) in self.0.command(&[]).get_envs() {
            command.env(name, value.unwrap());
        }
        command.output().unwrap()
    }

    /// Everything that it has, each row that it wrapped in one piece.
    pub(crate) fn text(&self) -> String {
        let text = self.run(&["capture-pane", "-p", "-J", "-S", "-"]).stdout;
        String::from_utf8(text).unwrap().lines().map(|row| row.trim_end().to_owned() + "\n").collect()
    }

    pub(crate) fn until(&self, what: &str, is_so: impl Fn(&str) -> bool) -> String {
        let since = Instant::now();
        loop {
            let text = self.text();
            if is_so(&text) {
                return text;
            }
            assert!(since.elapsed() < PATIENCE, "waited in vain for {what}:\n{text}");
        }
    }
}

impl Drop for Tmux<'_> {
    fn drop(&mut self) {
        self.run(&["kill-server"]);
    }
}

/// The numbers of the paragraphs, in the order in which they are there.
fn numbers(text: &str) -> Vec<usize> {
    let rows = text.lines().filter_map(|row| row.strip_prefix("  Paragraph ")?.split(' ').next());
    rows.map(|number| number.parse().unwrap()).collect()
}

fn paragraphs(numbers: impl Iterator<Item = usize>) -> String {
    let paragraph = |at| format!("Paragraph {at} has words enough to be too long for a row of a narrow terminal.\n\n");
    numbers.map(paragraph).collect()
}

pub(crate) fn is_idle(text: &str) -> bool {
    (text.contains("% of ") || text.contains("% full")) && !text.contains(" stops it")
}

impl Tmux<'_> {
    /// A prompt in a shell that has said something before.
    pub(crate) fn ask(&self) {
        self.run(&["send-keys", "echo before offshoot", "Enter"]);
        self.until("the shell", |text| text.contains("\nbefore offshoot\n"));
        self.run(&["send-keys", &format!("{} 'tell me all'", env!("CARGO_BIN_EXE_offshoot")), "Enter"]);
    }

    pub(crate) fn resize_window(&self, (columns, rows): (u16, u16)) {
        self.run(&["resize-window", "-x", &columns.to_string(), "-y", &rows.to_string()]);
    }

    /// Waits until this size is drawn: what the shell said is there, and one editor without the rules of another.
    fn resize(&self, size: (u16, u16), is_so: impl Fn(&str) -> bool) {
        self.resize_window(size);
        let text = self.until_drawn(is_so);
        assert!(text.contains("\nbefore offshoot\n"), "{text}");
    }

    /// Waits until the window's size is drawn. tmux shows a frame while it is written: what is left of another size must go,
    /// and may be there for a moment.
    fn until_drawn(&self, is_so: impl Fn(&str) -> bool) -> String {
        let size = self.run(&["display-message", "-p", "#{window_width} #{window_height}"]).stdout;
        let size = String::from_utf8(size).unwrap();
        let mut size = size.split_whitespace().map(|number| number.parse().unwrap());
        let size = (size.next().unwrap(), size.next().unwrap());
        let is_drawn = |text: &str| {
            let rows: Vec<_> = text.lines().filter(|row| row.starts_with('─')).collect();
            rows.len() == 2 && rows.into_iter().all(|row| is_border(row, size))
        };
        self.until("the other size", |text| is_drawn(text) && is_so(text))
    }
}

#[test]
fn sizes_of_tmux_cost_no_paragraph_and_double_none() {
    let talk = Talk::new([Reply::text(&paragraphs(1..=60))]);
    let Some(tmux) = Tmux::start(&talk) else { return };
    tmux.ask();
    tmux.until("the answer", |text| text.contains("Paragraph 60 has") && is_idle(text));
    let all: Vec<_> = (1..=60).collect();
    for size in SIZES.repeat(3) {
        tmux.resize(size, |text| numbers(text) == all);
    }
}

/// Regression: tmux put rows of the alternate screen into its scrollback when it got wider, and paragraphs were there twice.
#[test]
fn no_size_of_tmux_costs_a_paragraph_below_what_is_open() {
    let talk = Talk::new([Reply::text(&paragraphs(1..=60))]);
    let Some(tmux) = Tmux::start(&talk) else { return };
    tmux.ask();
    tmux.until("the answer", |text| text.contains("Paragraph 60 has") && is_idle(text));
    let all: Vec<_> = (1..=60).collect();
    let mut looks = 0;
    for (keys, words) in [
        ("/", "→ new"),
        ("/tree", "Session tree"),
        ("/thinking", "How much the model"),
        ("/model", "Which model answers"),
    ] {
        for size in SIZES {
            tmux.run(&["send-keys", keys]);
            if keys.len() > 1 {
                tmux.until("the command", |text| text.contains(keys));
                tmux.run(&["send-keys", "Enter"]);
            }
            let is_open = |text: &str| text.contains(words) && (keys.len() == 1 || !text.contains(keys));
            tmux.until("what is open", is_open);
            tmux.resize_window(size);
            // A rule, or words at the right edge.
            let is_wide = |row: &str| row.chars().count() == usize::from(size.0) && !row.starts_with("  Paragraph");
            tmux.until("the other size", |text| is_open(text) && text.lines().any(is_wide));
            tmux.run(&["send-keys", "Escape"]);
            tmux.until_drawn(|text| is_idle(text) && !text.contains(words));
            tmux.run(&["send-keys", "C-u"]);
            let text = tmux.until("each paragraph once", |text| is_idle(text) && numbers(text) == all);
            assert!(text.contains("\nbefore offshoot\n"), "{text}");
            looks += 1;
        }
    }
    say(&format!("other sizes of tmux below what is open: {looks}, each with {} paragraphs", all.len()));
}

/// Regression: tmux pushed the start rows into its scrollback when it got narrower, and they were drawn again below.
#[test]
fn narrower_sizes_of_tmux_leave_the_start_rows_once() {
    let talk = Talk::new([]);
    let Some(tmux) = Tmux::start(&talk) else { return };
    tmux.run(&["send-keys", "echo before offshoot", "Enter"]);
    tmux.run(&["send-keys", env!("CARGO_BIN_EXE_offshoot"), "Enter"]);
    tmux.until("the start", |text| text.contains("leaves\n\n───") && text.contains("m1 • thinking medium\n"));
    for columns in [60, 80] {
        tmux.resize((columns, 24), |_| true);
        let text = tmux.text();
        for row in ["offshoot 0.1.0 · m1 • thinking medium", "? help · / commands"] {
            assert_eq!(text.lines().filter(|line| line.starts_with(row)).count(), 1, "{columns}: {text}");
        }
    }
}

/// Regression: with each narrower size tmux pushed the rows of the editor into its scrollback, once what was above them had
/// gone there.
#[test]
fn an_edge_of_tmux_that_is_dragged_leaves_no_rows_of_the_editor() {
    let talk = Talk::new([Reply::text(&paragraphs(1..=12))]);
    let Some(tmux) = Tmux::start(&talk) else { return };
    tmux.resize_window((100, 24));
    tmux.ask();
    tmux.until("the answer", |text| text.contains("Paragraph 12 has") && is_idle(text));
    for columns in (50..100).rev().step_by(3) {
        tmux.resize((columns, 24), |text| numbers(text) == (1..=12).collect::<Vec<_>>());
    }
}

/// Regression: the background of a prompt was written as blanks, which wrapped onto a row of their own.
#[test]
fn a_narrower_tmux_has_no_blank_row_below_a_coloured_one() {
    let talk = Talk::new([Reply::text("An answer.")]);
    let Some(tmux) = Tmux::start(&talk) else { return };
    tmux.ask();
    tmux.until("the answer", |text| text.contains("An answer.") && is_idle(text));
    tmux.resize((40, 24), |text| text.contains("An answer."));
    let rows = String::from_utf8(tmux.run(&["capture-pane", "-p", "-S", "-"]).stdout).unwrap();
    assert!(rows.contains("\n› tell me all\n\n  An answer.\n"), "{rows}");
}

/// The words of the answer, each row of it: what is indented between the prompt and the editor.
fn answer_words(text: &str) -> String {
    let answer = text.split_once("\n› tell me all").map_or("", |(_, answer)| answer);
    let rows = answer.lines().take_while(|row| !row.starts_with('─'));
    rows.filter(|row| row.starts_with("  ")).flat_map(str::split_whitespace).collect::<Vec<_>>().join(" ")
}

/// How many paragraphs the text has from the first on, whole and in order, and what it has after them.
fn whole_paragraphs<'a>(mut text: &'a str, all: &[String]) -> (usize, &'a str) {
    let mut count = 0;
    while let Some(rest) = all.get(count).and_then(|paragraph| text.strip_prefix(paragraph.trim_end())) {
        (count, text) = (count + 1, rest.trim_start());
    }
    (count, text)
}

/// Looks after each piece of a paced answer, hundreds in all, while the window changes its size. What is above the last two
/// paragraphs is whole in every look. The last two may be between two frames: they must become whole before the next piece.
#[test]
fn every_look_at_a_paced_answer_has_each_paragraph_once() {
    let pace = Gate::new();
    let talk = Talk::new([Reply { chunk: 60, pace: Some(pace.clone()), ..Reply::text(&paragraphs(1..=40)) }]);
    let Some(tmux) = Tmux::start(&talk) else { return };
    tmux.ask();
    let all: Vec<_> = (1..=40).map(|at| paragraphs(at..=at)).collect();
    let mut sizes = [(40, 24), (80, 12), (60, 40), (200, 24), (40, 8), (80, 24)].into_iter().cycle();
    let (mut looks, mut most) = (0, 0);
    while most < all.len() {
        pace.step();
        let text = tmux.text();
        let words = answer_words(&text);
        let (found, rest) = whole_paragraphs(&words, &all);
        assert!(found + 2 >= most, "look {looks} has {found} of {most}, then {rest:?}:\n{text}");
        assert!(rest.matches("Paragraph").count() <= 2, "look {looks} has {rest:?} after {found}:\n{text}");
        assert!(text.contains("\nbefore offshoot\n"), "look {looks}:\n{text}");
        let is_right = |text: &str| {
            let words = answer_words(text);
            let (found, rest) = whole_paragraphs(&words, &all);
            // A low window has no room for the first rows of a paragraph that is not finished.
            found >= most && all.get(found).map_or("", String::as_str).contains(rest)
        };
        // The program hears of each other size late. From then on pieces come in at that size.
        let text = match looks % 80 {
            0 => {
                tmux.resize_window(sizes.next().unwrap());
                tmux.until("whole paragraphs", is_right)
            }
            8 => tmux.until_drawn(is_right),
            _ => tmux.until("whole paragraphs", is_right),
        };
        most = whole_paragraphs(&answer_words(&text), &all).0;
        looks += 1;
        assert!(looks < 5_000, "the answer does not end:\n{text}");
    }
    say(&format!("looks at a paced answer in tmux: {looks}"));
}

/// The same while answers come in: as many paragraphs as are printed are there once, in their order.
#[test]
fn sizes_of_tmux_cost_no_paragraph_of_an_answer_that_comes_in() {
    let gates: Vec<_> = SIZES.iter().map(|_| Gate::new()).collect();
    let answers = gates.iter().enumerate().map(|(turn, gate)| {
        let text = paragraphs(turn * 5 + 1..=turn * 5 + 5);
        Reply { gate: Some((1_000, gate.clone())), ..Reply::text(&text) }
    });
    let talk = Talk::new(answers);
    let Some(tmux) = Tmux::start(&talk) else { return };
    tmux.ask();
    let are_in_order = |text: &str, count: usize| {
        let found = numbers(text);
        found.len() >= count && found.iter().copied().eq(1..=found.len())
    };
    let mut sizes = SIZES.iter().cycle();
    for (turn, gate) in gates.iter().enumerate() {
        tmux.until("the answer", |text| text.contains(" stops it"));
        for size in sizes.by_ref().take(3) {
            tmux.resize(*size, |text| text.contains(" stops it") && are_in_order(text, turn * 5));
        }
        gate.open();
        tmux.until("the end of it", |text| is_idle(text) && are_in_order(text, turn * 5 + 5));
        tmux.run(&["send-keys", "more", "Enter"]);
    }
}
