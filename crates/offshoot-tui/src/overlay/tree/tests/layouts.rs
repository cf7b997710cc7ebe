//! How trees are laid out: the pictures that every selector must show, and what filters, folds and depth make of them.

use offshoot_session::testing::PICTURES;

use super::*;

/// Each picture by its own text; the mark of where the session is has no counterpart in pi.
#[test]
fn trees_are_laid_out_as_in_the_pictures() {
    for known in PICTURES {
        let selector = opened(known.words, (80, 24));
        let shown = rows(&selector).replace(" ← here", "");
        assert_eq!(format!("\n{shown}"), known.rows, "{}", known.name);
    }
}

#[test]
fn every_filter() {
    let mut selector = at_work((80, 24));
    insta::assert_snapshot!(rows(&selector), @"
      • user: Make the parser faster
      • assistant: Let me look at it.
      • [read: src/parser.rs]
      ├⊟ • user: Try without an arena
    › │     • assistant: Slices of the text, then. ← here
      └⊟ assistant: I keep the tokens in an arena.
            [arena] assistant: Twice as fast. The arena holds al
      (5/7)
    ");
    press(&mut selector, "ctrl+o");
    insta::assert_snapshot!(rows(&selector), @"
      • user: Make the parser faster
      • assistant: Let me look at it.
      ├⊟ • user: Try without an arena
    › │     • assistant: Slices of the text, then. ← here
      └⊟ assistant: I keep the tokens in an arena.
            [arena] assistant: Twice as fast. The arena holds al
      (4/6) [no-tools]
    ");
    press(&mut selector, "ctrl+o");
    insta::assert_snapshot!(rows(&selector), @"
      • user: Make the parser faster
    › • user: Try without an arena ← here
      (2/2) [user]
    ");
    press(&mut selector, "ctrl+o");
    insta::assert_snapshot!(rows(&selector), @"
    › [arena] assistant: Twice as fast. The arena holds all toke
      (1/1) [labeled]
    ");
    press(&mut selector, "ctrl+o");
    insta::assert_snapshot!(rows(&selector), @"
      • user: Make the parser faster
      • assistant: Let me look at it.
      • [read: src/parser.rs]
      ├⊟ • user: Try without an arena
      │     • assistant: Slices of the text, then.
      │     • [label: arena]
      │     • [model: m] ← here
      └⊟ assistant: I keep the tokens in an arena.
    ›       [arena] assistant: Twice as fast. The arena holds al
      (9/9) [all]
    ");
    press(&mut selector, "ctrl+a");
    assert_eq!(selector.list.filter, Filter::Default, "the same filter again is the default one");
    press(&mut selector, "ctrl+shift+o");
    assert_eq!(selector.list.filter, Filter::All);
}

#[test]
fn folds_and_jumps() {
    let mut selector = opened(&[&OLD[..], &NEW[..], &["i:f:user:deep"]].concat(), (80, 24));
    insta::assert_snapshot!(rows(&selector), @"
      • user: q1
      • assistant: r1
      ├⊟ • user: alt
      │     • assistant: altr
    › │     ├─ • user: deep ← here
      │     └⊟ user: alt2
      │           assistant: altr2
      └⊟ user: q2
            assistant: r2
      (5/9)
    ");
    press(&mut selector, "ctrl+left");
    insta::assert_snapshot!(rows(&selector), @"
      • user: q1
      • assistant: r1
    › ├⊟ • user: alt
      │     • assistant: altr
      │     ├─ • user: deep ← here
      │     └⊟ user: alt2
      │           assistant: altr2
      └⊟ user: q2
            assistant: r2
      (3/9)
    ");
    press(&mut selector, "ctrl+left");
    insta::assert_snapshot!(rows(&selector), @"
      • user: q1
      • assistant: r1
    › ├⊞ • user: alt ← here
      └⊟ user: q2
            assistant: r2
      (3/5)
    ");
    press(&mut selector, "ctrl+left ctrl+left");
    insta::assert_snapshot!(rows(&selector), @"
    › ⊞ • user: q1 ← here
      (1/1)
    ");
    press(&mut selector, "ctrl+right ctrl+right");
    insta::assert_snapshot!(rows(&selector), @"
      • user: q1
      • assistant: r1
    › ├⊞ • user: alt ← here
      └⊟ user: q2
            assistant: r2
      (3/5)
    ");
}

#[test]
fn a_deep_tree_is_drawn_where_the_cursor_is() {
    let words: Vec<String> = (0..400)
        .flat_map(|at| match at {
            0 => vec!["m0::user:main".to_owned()],
            _ => vec![format!("m{at}:m{}:user:main", at - 1), format!("s{at}:m{}:user:stub", at - 1)],
        })
        .collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let selector = opened(&words, (40, 12));
    insta::assert_snapshot!(picture(&selector), @"
    ── Session tree ────────────────────────
      enter go · esc leave · ctrl+o filter
      Type to search:
        │  │  │  │  ├⊟ • user: main
        │  │  │  │  │  ├⊟ • user: main
        │  │  │  │  │  │  ├⊟ • user: main
    ›   │  │  │  │  │  │  │  ├─ • use ← here
        │  │  │  │  │  │  │  └─ user: main
        │  │  │  │  │  │  └─ user: stub
      (400/799)
    ────────────────────────────────────────
    ");
}
