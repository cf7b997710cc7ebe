//! What tests of overlays share: screens as text, hostile text, and that nothing is drawn outside an area.

use proptest::prelude::*;
use ratatui::buffer::{Buffer, Cell};
use ratatui::layout::Rect;

/// The symbols on a screen, row by row, without blanks at the ends.
pub(crate) fn text_of(buf: &Buffer) -> String {
    let rows = buf.area.rows().map(|row| {
        let cells = row.columns().filter_map(|cell| buf.cell(cell.as_position()));
        // A cell behind a wide symbol holds nothing of its own.
        let mut covered = 0;
        let mut line = String::new();
        for cell in cells {
            if covered > 0 {
                covered -= 1;
                continue;
            }
            covered = crate::text::width(cell.symbol()).saturating_sub(1);
            line.push_str(cell.symbol());
        }
        line.trim_end().to_owned()
    });
    rows.collect::<Vec<_>>().join("\n")
}

/// Text that tries to leave its place: escape sequences, controls, bidirectional and zero-width characters, wide ones.
pub(crate) fn hostile() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        any::<String>(),
        Just("\u{1b}[2J\u{1b}[1;1H".to_owned()),
        Just("\u{1b}]0;title\u{7}".to_owned()),
        Just("\u{1b}Pq#0\u{1b}\\".to_owned()),
        Just("\u{9b}31m".to_owned()),
        Just("\r\n\t\u{8}\u{b}\u{c}".to_owned()),
        Just("\u{202e}\u{2066}\u{200f}".to_owned()),
        Just("\u{200b}\u{200d}\u{feff}\u{ad}".to_owned()),
        Just("日本語👩‍👩‍👧‍👦🇩🇪".to_owned()),
        Just("e\u{301}\u{302}\u{303}".repeat(20)),
        Just("\"re:([".to_owned()),
        Just("x".repeat(3000)),
    ];
    proptest::collection::vec(piece, 0..6).prop_map(|pieces| pieces.concat())
}

/// Draws in the middle of a bigger screen: nothing around the area may change, nothing in it may steer a terminal.
pub(crate) fn assert_inside(columns: u16, rows: u16, draw: impl Fn(Rect, &mut Buffer)) {
    let area = Rect::new(3, 2, columns, rows);
    let mut buf = Buffer::filled(Rect::new(0, 0, columns + 6, rows + 4), Cell::new("▒"));
    draw(area, &mut buf);
    for position in buf.area.positions() {
        let symbol = buf[position].symbol();
        if area.contains(position) {
            assert!(!symbol.chars().any(char::is_control), "{symbol:?} at {position}");
            let end = usize::from(position.x) + crate::text::width(symbol);
            assert!(end <= usize::from(area.right()), "{symbol:?} at {position} leaves {area}");
        } else {
            assert_eq!(symbol, "▒", "at {position}, outside {area}");
        }
    }
}
