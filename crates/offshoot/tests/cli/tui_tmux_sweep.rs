//! Random sizes in the real tmux while a block that is higher than the screen is unfinished: once it is finished, its
//! rows are there once, and so is everything else.

use std::fmt::Write as _;

use offshoot_agent::testing::script::{Gate, Reply};
use serde_json::json;

use crate::agent::Talk;
use crate::crashes::say;
use crate::tui_resize::is_border;
use crate::tui_tmux::{Tmux, is_idle};

/// Each test takes every other one of these seeds.
const SEEDS: u64 = 20;
const SIZES: usize = 6;
const FINISHED: usize = 12;
const WORDS: usize = 400;
/// The rows of its output that a running tool shows.
const TAIL: usize = 5;

/// Pseudo-random numbers, the same in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }

    fn size(&mut self) -> (u16, u16) {
        let [columns, rows] = [40 + self.below(161), 8 + self.below(33)];
        (columns.try_into().unwrap(), rows.try_into().unwrap())
    }
}

fn finished() -> String {
    (0..FINISHED).fold(String::new(), |mut text, at| {
        write!(text, "f{at:03} is a finished paragraph with words enough to be too long for a narrow terminal.\n\n")
            .unwrap();
        text
    })
}

/// The markers that begin with this letter, in the order in which they are there.
fn markers(text: &str, letter: char) -> Vec<usize> {
    let is_marker = |word: &&str| word.len() == 4 && word.starts_with(letter) && word[1..].parse::<usize>().is_ok();
    text.split_whitespace().filter(is_marker).map(|word| word[1..].parse().unwrap()).collect()
}

/// Whether one editor is drawn for this width. Below a block of long rows, borders are shortened at many heights.
fn is_drawn(text: &str, columns: u16) -> bool {
    let rules: Vec<_> = text.lines().filter(|row| row.starts_with('─')).collect();
    rules.len() == 2 && rules.into_iter().all(|row| is_border(row, (columns, 0)))
}

/// Everything but the open block is there once.
fn is_whole(text: &str) -> bool {
    markers(text, 'f').into_iter().eq(0..FINISHED) && text.matches("\nbefore offshoot\n").count() == 1
}

/// Each marker of the open block is there at most once, in order. A running tool shows its last five rows.
fn has_no_stale_row(text: &str, most: usize) -> bool {
    let found = markers(text, 'w');
    found.is_sorted_by(|one, next| one < next) && found.len() <= most
}

/// Random sizes, some of them before the last one was drawn.
fn sweep(tmux: &Tmux<'_>, seed: u64, most: usize) {
    let mut numbers = Numbers(seed);
    for at in 0..SIZES {
        let size = numbers.size();
        tmux.resize_window(size);
        if numbers.below(3) > 0 || at + 1 == SIZES {
            let what = format!("size {at} of seed {seed}, {size:?}");
            tmux.until(&what, |text| is_drawn(text, size.0) && is_whole(text) && has_no_stale_row(text, most));
        }
    }
}

#[test]
fn random_sizes_of_tmux_leave_no_stale_row_of_a_paragraph() {
    let words: Vec<_> = (0..WORDS).map(|at| format!("w{at:03}")).collect();
    let text = format!("{}{}", finished(), words.join(" "));
    for seed in (0..SEEDS).step_by(2) {
        let pace = Gate::new();
        let reply = Reply { chunk: 1_000, pace: Some(pace.clone()), ..Reply::text(&text) };
        let talk = Talk::new([reply]);
        let Some(tmux) = Tmux::start(&talk) else { return };
        tmux.ask();
        while !tmux.text().contains("w100") {
            pace.step();
        }
        sweep(&tmux, seed, WORDS);
        pace.open();
        let all = |text: &str| is_idle(text) && is_whole(text) && markers(text, 'w').into_iter().eq(0..WORDS);
        tmux.until("each word once", all);
    }
    say(&format!("sizes of tmux below an unfinished paragraph: {}", SEEDS as usize / 2 * SIZES));
}

#[test]
fn random_sizes_of_tmux_leave_no_stale_row_of_a_running_tool() {
    // Long rows and short ones follow each other in the same place.
    let rows = "mkfifo gate; for i in $(seq 100 159); do echo w$i; echo aaaa bbbb cccc dddd eeee ffff gggg hhhh iiii jjjj \
                kkkk llll mmmm nnnn oooo pppp qqqq rrrr; done; echo w160; cat gate";
    for seed in (1..SEEDS).step_by(2) {
        let mut call = Reply::call("bash", "c1", json!({"command": rows}));
        call.say.splice(..0, Reply::text(&finished()).say);
        let talk = Talk::new([call, Reply::text("z000 is the end.")]);
        let Some(tmux) = Tmux::start(&talk) else { return };
        tmux.ask();
        tmux.until("the tool's rows", |text| text.contains("w160"));
        sweep(&tmux, seed, TAIL);
        std::fs::write(talk.world.work().join("gate"), "").unwrap();
        let is_over = |text: &str| is_idle(text) && is_whole(text) && markers(text, 'z') == [0];
        let text = tmux.until("the end", is_over);
        assert!(has_no_stale_row(&text, TAIL) && markers(&text, 'w').last() == Some(&160), "seed {seed}:\n{text}");
        assert_eq!(text.matches("$ mkfifo gate").count(), 1, "seed {seed}:\n{text}");
    }
    say(&format!("sizes of tmux below a running tool: {}", SEEDS as usize / 2 * SIZES));
}
