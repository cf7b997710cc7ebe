//! Properties of any text in any width.

use proptest::prelude::*;
use ratatui::buffer::{Buffer, Cell};
use ratatui::layout::Rect;
use ratatui::style::{Color, Style};
use ratatui::text::{Line, Span};
use unicode_segmentation::UnicodeSegmentation as _;

use super::*;

/// Difficult pieces: sequences, marks, joiners, wide and right-to-left characters, and arbitrary ones.
fn hostile() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        any::<char>().prop_map(String::from),
        "[ -~]{0,12}",
        "[a-z]{1,4} ",
        "[\u{0}-\u{1f}\u{7f}-\u{9f}]",
        "\u{1b}[\\[\\]PX_^(][ -~]{0,6}",
        prop::sample::select(
            [
                "\u{1b}\\",
                "\u{7}",
                "\u{9c}",
                "\u{301}",
                "\u{200d}",
                "\u{fe0f}",
                "\u{200b}",
                "\u{202e}",
                "👩",
                "👧",
                "🏽",
                "🇩",
                "🇪",
                "日本",
                "한",
                "ᅡ",
                "ᆨ",
                "क्",
                "षि",
                "ل",
                "ا",
                "ﾞ",
                "\u{e0041}",
                "\u{600}",
                "\t",
                "\n",
                "\r\n",
                "⌨",
                "𑘿",
                "\u{d4e}",
                "\u{17d8}",
                "\u{115f}",
            ]
            .as_slice(),
        )
        .prop_map(str::to_owned),
    ];
    prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

fn line_of(texts: &[String]) -> Line<'static> {
    let colours = [Color::Red, Color::Green, Color::Blue];
    Line::from_iter(
        texts.iter().zip(colours.into_iter().cycle()).map(|(text, colour)| Span::styled(text.clone(), colour)),
    )
}

fn ink(text: &str) -> String {
    text.chars().filter(|at| !at.is_whitespace()).collect()
}

/// The graphemes that take columns.
fn drawn(text: &str) -> String {
    text.graphemes(true).filter(|grapheme| measure::of_grapheme(grapheme) > 0).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn clean_text_has_nothing_but_graphemes_with_columns(text in hostile()) {
        let clean = clean(&text);
        prop_assert!(!clean.contains(char::is_control));
        for grapheme in clean.graphemes(true) {
            prop_assert!(measure::of_grapheme(grapheme) > 0, "{grapheme:?}");
        }
        prop_assert_eq!(clean_lines(&text).replace('\n', " ").contains(char::is_control), false);
    }

    #[test]
    fn a_text_is_as_wide_as_it_is_drawn(text in hostile()) {
        for text in [text.as_str(), &clean(&text)] {
            let mut buf = Buffer::empty(Rect::new(0, 0, 2000, 1));
            let end = buf.set_line(0, 0, &Line::raw(text), 2000).0;
            prop_assert_eq!(width(text), usize::from(end));
        }
    }

    #[test]
    fn what_is_cut_fits(text in hostile(), columns in 0_usize..30, mark in prop::sample::select(vec!["…", "...", "", "語"])) {
        let clean = clean(&text);
        let cut = truncate(&clean, columns, mark);
        prop_assert!(width(&cut) <= columns, "{cut:?}");
        prop_assert_eq!(*cut == *clean, width(&clean) <= columns || (cut.is_empty() && clean.is_empty()));
        prop_assert!(width(&truncate_middle(&clean, columns)) <= columns);
        prop_assert!(line_width(&truncate_line(&Line::raw(&*clean), columns, mark)) <= columns);
        prop_assert_eq!(fit(&text, columns), truncate(&clean, columns, ELLIPSIS));
    }

    #[test]
    fn rows_are_no_wider_than_asked_and_lose_only_spaces(texts in prop::collection::vec(hostile(), 0..4), columns in 1_usize..30) {
        let line = line_of(&texts);
        let wrapped = wrap(line.clone(), columns);
        let mut all = String::new();
        for row in &wrapped {
            prop_assert!(line_width(row) <= columns, "{row:?}");
            prop_assert!(!row.to_string().contains(char::is_control));
            all.push_str(&ink(&row.to_string()));
        }
        prop_assert_eq!(wrapped.len(), rows(&line, columns).count());
        let whole: String = texts.iter().map(|text| ink(&drawn(text))).collect();
        if texts.iter().flat_map(|text| text.graphemes(true)).all(|grapheme| measure::of_grapheme(grapheme) <= columns) {
            prop_assert_eq!(all, whole);
        }
    }

    #[test]
    fn only_the_row_is_drawn_on(texts in prop::collection::vec(hostile(), 0..4), x in 0_u16..14, y in 0_u16..5, columns in 0_u16..14) {
        let area = Rect::new(0, 0, 12, 4);
        let untouched = Buffer::filled(area, Cell::new("#"));
        let mut buf = untouched.clone();
        draw(&line_of(&texts).style(Style::new().bg(Color::Gray)), Rect::new(x, y, columns, 3), &mut buf);
        for at in area.positions() {
            let inside = at.y == y && at.x >= x && at.x < x.saturating_add(columns);
            prop_assert!(!buf[at].symbol().contains(char::is_control));
            prop_assert!(inside || buf[at] == untouched[at], "{at:?}");
        }
    }
}

#[test]
fn a_megabyte_without_a_space_is_a_field_like_any_other() {
    for text in
        ["x".repeat(1 << 20), "\u{1b}]0;".repeat(1 << 18), "\u{301}".repeat(1 << 19), "\u{200d}👩".repeat(1 << 17)]
    {
        assert!(width(&fit(&text, 40)) <= 40);
        // What cannot be seen is spelled out, in up to ten columns.
        assert!(width(&clean(&text)) <= 10 * text.len());
    }
}
