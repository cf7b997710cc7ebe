//! Random sizes below blocks that are higher than the screen: no row that is redrawn stays above the region.

use ratatui::style::{Color, Style};

use super::*;
use crate::app::screen::narrow::FEWEST;

const SEEDS: u64 = 20;
const STEPS: u64 = 15;

/// The rows of a block that is not finished.
pub(super) struct OpenBlock {
    /// The length of each row.
    lengths: Vec<usize>,
    /// Whether it has a background, as a running tool has.
    has_background: bool,
    /// Whether something is typed, so that the terminal's cursor is in the editor.
    pub(super) is_typing: bool,
    next_width: NextWidth,
}

impl OpenBlock {
    pub(super) fn random(numbers: &mut Numbers) -> Self {
        let count = numbers.below(50);
        let longest = 1 + numbers.below(200);
        let length = |_| 16 + usize::try_from(numbers.below(longest)).unwrap();
        let lengths = (0..count).map(length).collect();
        Self { lengths, has_background: numbers.below(2) == 0, is_typing: false, next_width: NextWidth::Any }
    }

    fn is_empty(&self) -> bool {
        self.lengths.is_empty()
    }

    /// Draws the last rows that fit, and the editor below them.
    pub(super) fn draw(&self, play: &mut Play) {
        let Size { width, height } = play.screen.size();
        let columns = usize::from(width);
        let most = usize::from(height) - 5 - usize::from(!self.is_empty());
        let first = self.lengths.len().saturating_sub(most);
        let row =
            |(at, length): (usize, &usize)| format!("unfinished {at:<width$}", width = (*length).min(columns) - 11);
        let mut rows: Vec<_> = self.lengths.iter().enumerate().skip(first).map(row).collect();
        let head = rows.len();
        if head > 0 {
            rows.extend([String::new(), "spinner".to_owned()]);
        }
        let cursor = Position::new(3, u16::try_from(rows.len() + 1).unwrap());
        rows.extend(["─".repeat(columns), "typed".to_owned(), "─".repeat(columns), "status".to_owned()]);
        let mut buffer = Buffer::empty(Rect::new(0, 0, width, u16::try_from(rows.len()).unwrap()));
        for (row, y) in rows.iter().zip(0..) {
            let underlined = Style::new().underlined();
            let style = if usize::from(y) < head { underlined } else { Style::new() };
            buffer.set_line(0, y, &Line::styled(row.clone(), style), width);
            if self.has_background && usize::from(y) < head {
                buffer.set_style(Rect::new(0, y, width, 1), Style::new().bg(Color::Indexed(8)));
            }
        }
        let reach = match (head, self.is_typing) {
            (0, _) => CursorReach::Near,
            (_, true) => CursorReach::Anywhere,
            (_, false) => CursorReach::FirstRow,
        };
        let cursor = RegionCursor::new(Some(TextCursor::Plain(cursor)), reach);
        play.screen.draw(&RegionRows { rows: buffer, cursor, head, passing: 0, next_width: self.next_width }).unwrap();
        play.flush();
    }

    /// The rows that are redrawn are there at most once, and the printed ones are complete.
    fn check(&self, play: &Play, what: &str) {
        play.check(what);
        let text = play.text();
        let count = |row: &str| text.lines().filter(|own| own.starts_with(row)).count();
        let found = (count("status"), count("typed"), count("─"), count("spinner"));
        assert_eq!(found, (1, 1, 2, usize::from(!self.is_empty())), "{what}: {text}");
        let number = |row: &str| row.strip_prefix("unfinished ")?.split(' ').next()?.parse::<usize>().ok();
        let found: Vec<_> = text.lines().filter_map(number).collect();
        assert!(
            found.iter().copied().eq((0..self.lengths.len()).skip(self.lengths.len() - found.len())),
            "{what}: {text}"
        );
        let (first, last) = (text.find("\nunfinished"), text.rfind("\nParagraph"));
        assert!(first.is_none() || first > last, "{what}: {text}");
        // Some of them are on the screen, as far as it has room for them.
        let least = FEWEST.min(play.rows().len() - 6).min(self.lengths.len());
        assert!(found.len() >= least, "{what}: {text}");
    }
}

#[test]
fn no_row_of_a_block_higher_than_the_screen_stays_above_it() {
    let mut sizes = 0;
    for seed in 0..SEEDS {
        let mut numbers = Numbers(seed);
        let mut play = Play::new(true);
        (0..numbers.below(40)).for_each(|_| play.print_row());
        for step in 0..STEPS {
            let mut block = OpenBlock::random(&mut numbers);
            block.is_typing = step > 0 && numbers.below(3) == 0;
            block.draw(&mut play);
            let mut way = vec![play.terminal.size()];
            // Several sizes may come before the program hears of one. While something is typed, only one is promised.
            let count = if block.is_typing { 1 } else { 1 + numbers.below(3) };
            for _ in 0..count {
                let (columns, rows) = play.terminal.size();
                let which = numbers.below(if block.is_typing { 2 } else { 3 });
                let columns = if which != 1 { 40 + numbers.below(161) as usize } else { columns };
                let rows = if which != 0 { 8 + numbers.below(33) as usize } else { rows };
                play.terminal.resize(columns, rows);
                way.push((columns, rows));
                sizes += 1;
            }
            play.hear();
            block.draw(&mut play);
            block.check(&play, &format!("seed {seed}, step {step}, {way:?}, typing: {}", block.is_typing));
            (0..numbers.below(4)).for_each(|_| play.print_row());
        }
    }
    assert!(sizes > 400, "{sizes}");
}

/// Only rows that would wrap are left out, and a background makes none of them longer.
#[test]
fn rows_that_are_short_cost_nothing() {
    for (width, height) in [(200, 24), (80, 24), (120, 38), (40, 12)] {
        let mut play = Play::new(true);
        play.terminal.resize(width, height);
        play.hear();
        let rules = if width > 40 { 2 * (width.div_ceil(40) - 1) } else { 0 };
        let count = height - 6 - rules;
        let block =
            OpenBlock { lengths: vec![20; count], has_background: true, is_typing: false, next_width: NextWidth::Any };
        for _ in 0..3 {
            block.draw(&mut play);
            let shown = play.rows();
            let found = shown.iter().filter(|row| row.starts_with("unfinished")).count();
            assert_eq!(found, count, "{width}×{height}: {shown:#?}");
            let rule = "─".repeat(width);
            assert_eq!(shown.iter().filter(|row| **row == rule).count(), 2, "{width}×{height}: {shown:#?}");
        }
    }
}

/// While no other size is expected, more rows are shown, and half of the width is safe.
#[test]
fn half_of_the_width_leaves_no_row_of_a_block_above_it() {
    for ((width, height), expected) in
        [((80, 24), (7, 7)), ((120, 38), (14, 8)), ((200, 50), (20, 6)), ((200, 12), (3, 3))]
    {
        let shown = [NextWidth::Half, NextWidth::Any].map(|next_width| {
            let mut play = Play::new(true);
            (0..30).for_each(|_| play.print_row());
            play.terminal.resize(width, height);
            play.hear();
            let block = OpenBlock { lengths: vec![width; 60], has_background: false, is_typing: false, next_width };
            block.draw(&mut play);
            let count = play.rows().iter().filter(|row| row.starts_with("unfinished")).count();
            play.terminal.resize(width / 2, height);
            play.hear();
            block.draw(&mut play);
            block.check(&play, &format!("{width}×{height}, {next_width:?}"));
            count
        });
        assert_eq!(shown, <[usize; 2]>::from(expected), "{width}×{height}");
    }
}
