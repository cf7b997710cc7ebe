//! A connection that stalls for seconds: updates reach a terminal that was resized after they were written. The program already knows
//! the new size.

use super::sweep::OpenBlock;
use super::*;

const SEEDS: u64 = 8;
const STEPS: usize = 40;

/// Somebody types meanwhile, so the terminal's cursor is below rows that may have been wrapped.
#[test]
fn a_line_that_stands_still_costs_no_row() {
    let mut late = 0;
    for seed in 0..SEEDS {
        let mut numbers = Numbers(seed);
        let mut play = Play::new(true);
        (0..numbers.below(40)).for_each(|_| play.print_row());
        for step in 0..STEPS {
            let mut block = OpenBlock::random(&mut numbers);
            block.is_typing = true;
            block.draw(&mut play);
            play.now += 10_000;
            play.held = Some(String::new());
            for _ in 0..=numbers.below(2) {
                block = OpenBlock::random(&mut numbers);
                block.is_typing = true;
                (0..numbers.below(3)).for_each(|_| play.print_row());
                block.draw(&mut play);
                play.now += 1_000;
            }
            let shown_for = play.screen.shown_for(play.now).unwrap();
            let before = play.terminal.size();
            let size = (WIDTHS[numbers.below(6) as usize].into(), HEIGHTS[numbers.below(5) as usize].into());
            late += usize::from(play.arrive(size) && before != size);
            play.hear_after(shown_for);
            block.draw(&mut play);
            let what = format!("seed {seed}, step {step}, {before:?} to {size:?}");
            let text = play.text();
            let is_lost = |row: &String| text.matches(row.as_str()).count() != 1;
            let open = paragraph(play.count).into_iter().take(play.begun);
            let lost: Vec<_> = (0..play.count).flat_map(paragraph).chain(open).filter(is_lost).collect();
            assert!(lost.is_empty(), "{what}: {lost:?} in {text}");
        }
    }
    assert!(late > 200, "{late}");
}
