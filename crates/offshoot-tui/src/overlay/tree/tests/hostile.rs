//! Hostile text in every field stays in its cells.

use super::*;
use crate::testing::{SIZES, a_megabyte, assert_inside, hostile, hostile_texts, with_in_every_field};

/// The keys to each screen. The text is pasted into each screen before the keys to the next one.
const SCREENS: [&str; 8] =
    ["ctrl+a", "T", "L", "enter home L", "esc enter up enter", "enter", "esc esc M home M D", "esc P"];

fn all_screens(text: &str, (columns, rows): (u16, u16), mut look: impl FnMut(&TreeSelector)) {
    let mut selector = over(with_in_every_field(text), (columns, rows));
    for keys in SCREENS {
        press(&mut selector, keys);
        look(&selector);
        selector.paste(text);
        while selector.work(1 << 20) {}
        look(&selector);
    }
    selector.failed(text);
    look(&selector);
}

#[test]
fn hostile_text_in_every_field_stays_in_its_cells() {
    for (_, text) in hostile_texts() {
        for (columns, rows) in SIZES {
            all_screens(&text, (columns, rows), |selector| {
                assert_inside(columns, rows, |area, buf| selector.view(&Theme::default(), (area, ""), buf));
            });
        }
    }
}

#[test]
fn a_line_of_a_megabyte_stays_in_its_cells() {
    all_screens(&a_megabyte(), (40, 12), |selector| {
        assert_inside(40, 12, |area, buf| selector.view(&Theme::default(), (area, ""), buf));
    });
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(24))]
    #[test]
    fn any_text_stays_in_its_cells(
        texts in proptest::collection::vec(hostile(), 5),
        keys in proptest::collection::vec(0..14usize, 0..12),
        columns in 1u16..130,
        rows in 1u16..40,
    ) {
        let Some(text) = texts.first() else { return Ok(()) };
        let mut selector = over(with_in_every_field(text), (columns, rows));
        let all = ["up", "down", "ctrl+a", "ctrl+l", "L", "enter", "esc", "x", "M", "D", "T", "ctrl+left", "home", "P"];
        for key in keys {
            press(&mut selector, all[key]);
            selector.paste(&texts[key % 5]);
            assert_inside(columns, rows, |area, buf| selector.view(&Theme::default(), (area, ""), buf));
        }
        assert_inside(columns, rows, |area, buf| selector.view(&Theme::default(), (area, ""), buf));
    }
}
