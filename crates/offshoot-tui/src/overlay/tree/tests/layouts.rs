//! The layout of trees: the reference pictures, and the effects of filters, folds and depth.

use offshoot_session::testing::PICTURES;

use super::*;

/// Each picture as text. The mark of the current entry has no counterpart in pi.
#[test]
fn trees_are_laid_out_as_in_the_pictures() {
    for known in PICTURES {
        let selector = opened_as_pi(known.words, (80, 24));
        let shown: Vec<String> =
            rows(&selector).lines().map(|row| row.split(" ← here").next().unwrap_or_default().to_owned()).collect();
        let shown = shown.join("\n");
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
      ├⊟ assistant: I keep the tokens in an arena.
      │  [arena] assistant: Twice as fast. The arena holds all …
      • user: Try without an arena
    › • assistant: Slices of the text, then. ← here, 2 below
      (7/7)
    ");
    press(&mut selector, "ctrl+o");
    insta::assert_snapshot!(rows(&selector), @"
      • user: Make the parser faster
      • assistant: Let me look at it.
      ├⊟ assistant: I keep the tokens in an arena.
      │  [arena] assistant: Twice as fast. The arena holds all …
      • user: Try without an arena
    › • assistant: Slices of the text, then. ← here, 2 below
      (6/6) [no-tools]
    ");
    press(&mut selector, "ctrl+o");
    insta::assert_snapshot!(rows(&selector), @"
      • user: Make the parser faster
    › • user: Try without an arena ← here, 3 below
      (2/2) [user]
    ");
    press(&mut selector, "ctrl+o");
    insta::assert_snapshot!(rows(&selector), @"
    › [arena] assistant: Twice as fast. The arena holds all tok…
      (1/1) [labeled]
    ");
    press(&mut selector, "ctrl+o");
    insta::assert_snapshot!(rows(&selector), @"
      • user: Make the parser faster
      • assistant: Let me look at it.
      • [read: src/parser.rs]
      ├⊟ assistant: I keep the tokens in an arena.
    › │  [arena] assistant: Twice as fast. The arena holds all …
      • user: Try without an arena
      • assistant: Slices of the text, then.
      • [label: arena]
      • [model: m] ← here
      (5/9) [all]
    ");
    press(&mut selector, "ctrl+a");
    assert_eq!(selector.list.filter, Filter::Default, "the same filter again is the default one");
    press(&mut selector, "ctrl+shift+o");
    assert_eq!(selector.list.filter, Filter::All);
}

#[test]
fn folds_and_jumps_in_the_peers_layout() {
    let mut selector = opened_as_pi(&[&OLD[..], &NEW[..], &["i:f:user:deep"]].concat(), (80, 24));
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
    › ├⊞ • user: alt ← here, 2 below
      └⊟ user: q2
            assistant: r2
      (3/5)
    ");
    press(&mut selector, "ctrl+left ctrl+left");
    insta::assert_snapshot!(rows(&selector), @"
    › ⊞ • user: q1 ← here, 4 below
      (1/1)
    ");
    press(&mut selector, "ctrl+right ctrl+right");
    insta::assert_snapshot!(rows(&selector), @"
      • user: q1
      • assistant: r1
    › ├⊞ • user: alt ← here, 2 below
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
    let selector = opened_as_pi(&words, (40, 12));
    insta::assert_snapshot!(picture(&selector), @"
    ── Session tree ────────────────────────
      enter go · esc leave · ctrl+o filter
      Type to search:
        │  │  │  │  ├⊟ • user: main
        │  │  │  │  │  ├⊟ • user: main
        │  │  │  │  │  │  ├⊟ • user: main
    ›   │  │  │  │  │  │  │  ├─ • us… ← here
        │  │  │  │  │  │  │  └─ user: main
        │  │  │  │  │  │  └─ user: stub
        │  │  │  │  │  └─ user: stub
      (400/799)
    ────────────────────────────────────────
    ");
}

/// Forty branches of three entries. A question and an answer are between two branches.
fn forty_branches() -> Vec<String> {
    let mut words = vec!["q0::user:question 0".to_owned()];
    for at in 1..=40 {
        let before = at - 1;
        words.push(format!("s{at}:q{before}:user:attempt {at}"));
        words.push(format!("t{at}:s{at}:assistant:it did not work"));
        words.push(format!("u{at}:s{at}:assistant:another answer"));
        words.push(format!("r{at}:q{before}:assistant:answer {at}"));
        words.push(format!("q{at}:r{at}:user:question {at}"));
    }
    words
}

#[test]
fn branches_fold_open_and_keep_their_place() {
    let words = forty_branches();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let mut selector = opened(&words, (80, 24));
    insta::assert_snapshot!(picture(&selector), @"
    ── Session tree ────────────────────────────────────────────────────────────────
      enter go · esc leave · ctrl+o filter · shift+l label · ctrl+←/→ branch
      ←/→ fold, page · shift+m/r/d mark, compare · shift+c/g/u pick, merge, undo
      Type to search:

      ├⊞ user: attempt 37  3 entries · 1 branch · “another answer”
      • assistant: answer 37
      • user: question 37
      ├⊞ user: attempt 38  3 entries · 1 branch · “another answer”
      • assistant: answer 38
      • user: question 38
      ├⊞ user: attempt 39  3 entries · 1 branch · “another answer”
      • assistant: answer 39
      • user: question 39
      ├⊞ user: attempt 40  3 entries · 1 branch · “another answer”
      • assistant: answer 40
    › • user: question 40 ← here
      (121/121)
      branch: 2 entries · path: 81 entries
    ── Preview ─────────────────────────────────────────────────────────────────────
     question 40


    ────────────────────────────────────────────────────────────────────────────────
    ");
    press(&mut selector, "up up up up up up up up");
    let before = (selector.list.entry(), selector.list.window(12));
    press(&mut selector, "right");
    assert_eq!((selector.list.entry(), selector.list.window(12)), before, "nothing moves");
    insta::assert_snapshot!(picture(&selector), @"
    ── Session tree ────────────────────────────────────────────────────────────────
      enter go · esc leave · ctrl+o filter · shift+l label · ctrl+←/→ branch
      ←/→ fold, page · shift+m/r/d mark, compare · shift+c/g/u pick, merge, undo
      Type to search:

      ├⊞ user: attempt 37  3 entries · 1 branch · “another answer”
      • assistant: answer 37
      • user: question 37
    › ├⊟ user: attempt 38
      │  ├─ assistant: it did not work  1 entry
      │  assistant: another answer
      • assistant: answer 38
      • user: question 38
      ├⊞ user: attempt 39  3 entries · 1 branch · “another answer”
      • assistant: answer 39
      • user: question 39
      ├⊞ user: attempt 40  3 entries · 1 branch · “another answer”
      (113/123)
      branch: 3 entries on 2 branches · path: 76 entries
    ── Preview ─────────────────────────────────────────────────────────────────────
     attempt 38


    ────────────────────────────────────────────────────────────────────────────────
    ");
    press(&mut selector, "down down ctrl+left");
    assert_eq!(selector.list.entry(), before.0, "where the branch begins");
    press(&mut selector, "left");
    assert_eq!((selector.list.entry(), selector.list.window(12)), before);
    selector.resize(40, 16);
    assert_eq!(selector.list.entry(), before.0);
    selector.resize(80, 24);
    assert_eq!(selector.list.entry(), before.0);
}

#[test]
fn a_folded_entry_is_opened_to_and_what_hides_the_leaf_says_how_far_it_is() {
    let words = forty_branches();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let session = told(&words);
    let (leaf, selected) = (session.leaf(), session.tree().find("t9"));
    let setup = Setup { selected, size: (80, 24), now: NOW, ..Setup::default() };
    let selector = TreeSelector::new(Arc::new(session), leaf, setup).unwrap();
    assert_eq!(selector.list.entry(), selected);
    let mut selector = opened(&[&OLD[..], &["e:d:assistant:r3"]].concat(), (80, 24));
    press(&mut selector, "ctrl+u");
    insta::assert_snapshot!(rows(&selector), @"
      • user: q1
    › • user: q2 ← here, 2 below
      (2/2) [user]
    ");
}
