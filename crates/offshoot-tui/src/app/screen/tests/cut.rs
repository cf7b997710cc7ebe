//! A size that changes in the middle of a picture, at any of its bytes: no printed row is lost, and of the rows that are redrawn few stay.

use super::sweep::OpenBlock;
use super::*;

const SEEDS: u64 = 8;
const STEPS: usize = 40;
/// Pictures have more bytes than this, or fewer than the other.
const BYTES: [u64; 2] = [120, 1500];

/// Whether all that is redrawn is there once, below the printed rows.
fn has_no_stale_row(text: &str) -> bool {
    let count = |row: &str| text.lines().filter(|own| own.starts_with(row)).count();
    let last = text.rfind("Paragraph");
    let open = text.get(last.unwrap_or_default()..).unwrap_or_default();
    let numbers: Vec<usize> =
        open.lines().filter_map(|row| row.strip_prefix("unfinished ")?.split(' ').next()?.parse().ok()).collect();
    let is_one = numbers.windows(2).all(|pair| pair[1] == pair[0] + 1);
    (count("status"), count("─")) == (1, 2)
        && is_one
        && open.lines().filter(|row| *row == "  …").count() < 2
        && text.find("unfinished").is_none_or(|first| Some(first) > last)
}

#[test]
fn no_size_in_the_middle_of_a_picture_costs_a_row() {
    let (mut cuts, mut stale) = (0, 0);
    for seed in 0..SEEDS {
        let mut numbers = Numbers(seed);
        let mut play = Play::new(true);
        (0..numbers.below(40)).for_each(|_| play.print_row());
        play.draw(true, 0);
        let mut block = OpenBlock::random(&mut numbers);
        for step in 0..STEPS {
            if numbers.below(3) == 0 {
                block = OpenBlock::random(&mut numbers);
            }
            block.is_typing = numbers.below(3) == 0;
            (0..numbers.below(3)).for_each(|_| play.print_row());
            let before = play.terminal.size();
            let size = (WIDTHS[numbers.below(6) as usize].into(), HEIGHTS[numbers.below(5) as usize].into());
            play.cut = Some((numbers.below(BYTES[step % 2]) as usize, size));
            block.draw(&mut play);
            let is_cut = play.cut.take().is_none() && before != size;
            // Pictures for the old size follow.
            (0..numbers.below(3)).for_each(|_| block.draw(&mut play));
            play.hear_after(if is_cut { 0 } else { 1_000 });
            block.draw(&mut play);
            let text = play.text();
            let is_lost = |row: &String| text.matches(row.as_str()).count() != 1;
            let open = paragraph(play.count).into_iter().take(play.begun);
            let lost: Vec<_> = (0..play.count).flat_map(paragraph).chain(open).filter(is_lost).collect();
            assert!(lost.is_empty(), "seed {seed}, step {step}, {before:?} to {size:?}: {lost:?} in {text}");
            cuts += usize::from(is_cut);
            if !has_no_stale_row(&text) {
                stale += 1;
                play = Play::new(true);
                play.draw(true, 0);
            }
        }
    }
    assert!(cuts > 150, "{cuts}");
    assert!(stale * 15 < cuts, "{stale} of {cuts}");
}
