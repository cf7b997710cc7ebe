//! Every screen of the selector, in both sizes and both themes.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::*;
use crate::testing::{SIZES, legend, tokens_of};

/// The name of each screen, and the keys that lead to it.
const STATES: [(&str, &str); 24] = [
    ("default", ""),
    ("no tools", "ctrl+t"),
    ("user only", "ctrl+u"),
    ("labeled only", "ctrl+l"),
    ("all", "ctrl+a"),
    ("search", "parser"),
    ("search without results", "zzz"),
    ("a folded branch", "home ctrl+right left"),
    ("an open branch", "home ctrl+right right"),
    ("label times", "T"),
    ("without preview", "P"),
    ("without figures", "S"),
    ("preview of a call", "home down"),
    ("label editor", "end L"),
    ("label jump", "home J are"),
    ("one mark", "M"),
    ("two marks", "M home M"),
    ("marks are missing", "M D"),
    ("two branches compared", "M home ctrl+right M D"),
    ("summary question", "home enter down"),
    ("custom prompt", "home enter up enter tests"),
    ("going there", "home enter enter"),
    ("summarizing", "home enter down enter"),
    ("stopping", "home enter down enter esc"),
];

#[test]
fn every_screen() {
    for (columns, rows) in SIZES {
        let mut all = String::new();
        for (name, keys) in STATES {
            let mut selector = at_work((columns, rows));
            press(&mut selector, keys);
            all.push_str(&format!("## {name}\n{}\n\n", picture(&selector).trim_end()));
        }
        insta::assert_snapshot!(format!("at_{columns}x{rows}"), all);
    }
}

#[test]
fn a_wide_terminal_shows_the_preview_beside_the_tree() {
    insta::assert_snapshot!(picture(&at_work((120, 24))));
}

/// A navigation fails or is stopped.
#[test]
fn what_went_wrong_stands_below_the_tree() {
    let mut selector = at_work((40, 12));
    selector.stopped();
    insta::assert_snapshot!(picture(&selector));
    selector.failed("cannot append to session file /home/u/.local/share/offshoot/sessions/01a.jsonl: disk full");
    insta::assert_snapshot!(picture(&selector));
}

#[test]
fn a_linear_session_at_both_sizes() {
    for (columns, rows) in SIZES {
        insta::assert_snapshot!(format!("linear_at_{columns}x{rows}"), picture(&opened(&OLD, (columns, rows))));
    }
}

/// The styles of the rows, by their tokens. Every theme has its own colours (see [`tokens_of`]).
#[test]
fn styles_of_the_rows() {
    let mut selector = at_work((80, 24));
    press(&mut selector, "M T end");
    let screen = tokens_of(|theme| {
        let mut buf = Buffer::empty(Rect::new(0, 0, 80, 24));
        selector.view(theme, (buf.area, ""), &mut buf);
        buf
    });
    insta::assert_snapshot!(legend(&screen));
}
