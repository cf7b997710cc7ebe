//! The trunk layout: its picture, and properties of any tree.

use proptest::prelude::*;

use super::*;
use crate::testing::told;

/// The pictures' conversation, with a branch that has its own branch.
const TALK: [&str; 17] = [
    "a::user:q1",
    "b:a:assistant:r1",
    "c:b:user:q2",
    "d:c:assistant:r2",
    "e:b:user:alt",
    "f:e:assistant:altr",
    "g:f:user:deep",
    "h:g:assistant:it goes on",
    "i:h:user:no, not so",
    "j:i:assistant:done",
    "k:h:assistant:and ends here",
    "k1:k:user:really",
    "k2:k1:assistant:yes",
    "l:f:user:alt2",
    "m:l:assistant:altr2",
    "n:m:user:one more",
    "p:m:user:alt3",
];

fn drawn(session: &Session, leaf: &str, folds: &Folds) -> String {
    let leaf = session.tree().find(leaf);
    let mut outline = Outline::new(session, leaf, OutlineSetup::default()).unwrap();
    outline.arrange(session.tree(), OutlineScope { folds: Some(folds), ..OutlineScope::default() });
    lines(session, &outline).join("\n")
}

/// The rows with notes of folded branches, without ages.
fn lines(session: &Session, outline: &Outline) -> Vec<String> {
    let sums = Sums::new(session, outline).unwrap();
    let mut lines = Vec::new();
    for (at, row) in outline.rows(session).enumerate() {
        let line = row.unwrap().line();
        let note = sums.note(session, outline, at).unwrap();
        let note = note.map(|note| BranchNote { newest: None, ..note }.fit(0, None, 0).note);
        lines.push(line + &note.unwrap_or_default());
    }
    lines
}

#[test]
fn side_branches_hang_from_the_trunk_folded() {
    let session = told(&TALK);
    insta::assert_snapshot!(drawn(&session, "m", &Folds::default()), @"
      • user: q1
      • assistant: r1
      ├⊞ user: q2  2 entries · “r2”
      • user: alt
      • assistant: altr
      ├⊞ user: deep  7 entries · 1 branch · “yes”
      • user: alt2
    › • assistant: altr2
      ├─ user: one more  1 entry
      └─ user: alt3  1 entry
    ");
}

#[test]
fn an_open_branch_is_a_trunk_of_its_own() {
    let session = told(&TALK);
    let mut folds = Folds::default();
    folds.toggle(session.tree().find("g").unwrap());
    insta::assert_snapshot!(drawn(&session, "m", &folds), @"
      • user: q1
      • assistant: r1
      ├⊞ user: q2  2 entries · “r2”
      • user: alt
      • assistant: altr
      ├⊟ user: deep
      │  assistant: it goes on
      │  ├⊞ user: no, not so  2 entries · “done”
      │  assistant: and ends here
      │  user: really
      │  assistant: yes
      • user: alt2
    › • assistant: altr2
      ├─ user: one more  1 entry
      └─ user: alt3  1 entry
    ");
    insta::assert_snapshot!(drawn(&session, "m", &Folds::all_open()), @"
      • user: q1
      • assistant: r1
      ├⊟ user: q2
      │  assistant: r2
      • user: alt
      • assistant: altr
      ├⊟ user: deep
      │  assistant: it goes on
      │  ├⊟ user: no, not so
      │  │  assistant: done
      │  assistant: and ends here
      │  user: really
      │  assistant: yes
      • user: alt2
    › • assistant: altr2
      ├─ user: one more  1 entry
      └─ user: alt3  1 entry
    ");
}

#[test]
fn other_roots_hang_from_the_top_and_what_is_below_the_leaf_from_the_leaf() {
    let session = told(&[&TALK[..], &["q::user:new root", "r:q:assistant:nr"]].concat());
    insta::assert_snapshot!(drawn(&session, "b", &Folds::default()), @"
      ├⊞ user: new root  2 entries · “nr”
      • user: q1
    › • assistant: r1
      ├⊞ user: q2  2 entries · “r2”
      └⊞ user: alt  13 entries · 3 branches · “alt3”
    ");
    insta::assert_snapshot!(drawn(&session, "r", &Folds::default()), @"
      ├⊞ user: q1  17 entries · 4 branches · “alt3”
      • user: new root
    › • assistant: nr
    ");
}

#[test]
fn deep_levels_are_a_number() {
    // Each branch of a pair of equal halves is one level deeper.
    let mut words = vec!["e1::user:top".to_owned()];
    words.extend((2..1 << 11).map(|at| format!("e{at}:e{}:user:word {at}", at / 2)));
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let session = told(&words);
    let all = drawn(&session, "e2047", &Folds::all_open());
    let deep: Vec<&str> = all.lines().filter(|line| line.contains('⋮')).take(3).collect();
    insta::assert_snapshot!(deep.join("\n"), @"
    │  │  │  │  │  │  ⋮9 ├⊟ user: word 512
    │  │  │  │  │  │  ⋮10├─ user: word 1024  1 entry
    │  │  │  │  │  │  ⋮9 │  user: word 1025
    ");
}

/// A turn of the model that calls tools, and their results.
fn calls() -> Session {
    let mut lines = vec![
        r#"{"type":"session","version":3,"id":"s","timestamp":"t","cwd":"/w"}"#.to_owned(),
        r#"{"type":"message","id":"q","parentId":null,"timestamp":"t","message":{"role":"user","content":"fix it"}}"#
            .to_owned(),
    ];
    let calls = [
        ("read", r#"{"path":"a.rs"}"#, false),
        ("read", r#"{"path":"b.rs"}"#, false),
        ("bash", r#"{"command":"cargo test"}"#, true),
        ("edit", r#"{"path":"a.rs"}"#, false),
        ("edit", r#"{"path":"b.rs"}"#, false),
        ("bash", r#"{"command":"cargo test"}"#, false),
    ];
    let mut parent = "q".to_owned();
    for (at, (name, arguments, is_error)) in calls.iter().enumerate() {
        lines.push(format!(r#"{{"type":"message","id":"c{at}","parentId":"{parent}","timestamp":"t","message":{{"role":"assistant","stopReason":"toolUse","content":[{{"type":"toolCall","id":"t{at}","name":"{name}","arguments":{arguments}}}]}}}}"#));
        lines.push(format!(r#"{{"type":"message","id":"r{at}","parentId":"c{at}","timestamp":"t","message":{{"role":"toolResult","toolCallId":"t{at}","toolName":"{name}","isError":{is_error},"content":[]}}}}"#));
        parent = format!("r{at}");
    }
    lines.push(format!(r#"{{"type":"message","id":"z","parentId":"{parent}","timestamp":"t","message":{{"role":"assistant","content":[{{"type":"text","text":"Fixed."}}]}}}}"#));
    Session::from_text(&(lines.join("\n") + "\n"), Options::default()).unwrap()
}

#[test]
fn a_run_of_tool_calls_is_one_row_and_a_failed_call_its_own() {
    let session = calls();
    insta::assert_snapshot!(drawn(&session, "z", &Folds::default()), @"
      • user: fix it
      • [read ×2]
      • [bash: cargo test]
      • [edit ×2, bash: cargo test]
    › • assistant: Fixed.
    ");
    let mut folds = Folds::default();
    folds.toggle_run(session.tree().find("r3").unwrap());
    insta::assert_snapshot!(drawn(&session, "z", &folds), @"
      • user: fix it
      • [read ×2]
      • [bash: cargo test]
      • [edit: a.rs]
      • [edit: b.rs]
      • [bash: cargo test]
    › • assistant: Fixed.
    ");
}

/// Whoever went to a row of several calls came to the first one, and the model was told that the others of its turn had
/// not been completed.
#[test]
fn a_row_of_several_calls_is_the_place_after_all_of_them() {
    let session = calls();
    let at = |session: &Session, id: &str| session.tree().find(id).unwrap();
    let outline = Outline::new(&session, session.leaf(), OutlineSetup::default()).unwrap();
    let row = outline.row(&session, 3).unwrap().unwrap();
    assert_eq!((row.ix, outline.entry(3)), (at(&session, "r5"), Some(at(&session, "r5"))));
    assert_eq!((outline.run_start(3), outline.run_start(2)), (Some(at(&session, "r3")), None));
    let members: Vec<NodeIx> = outline.members(3).collect();
    assert_eq!(members, ["r3", "r4", "r5"].map(|id| at(&session, id)));
    assert_eq!(outline.members(0).collect::<Vec<_>>(), [at(&session, "q")]);
    // It is one row, too, where the session continues at it, and with a label on that place.
    insta::assert_snapshot!(drawn(&session, "r5", &Folds::default()), @"
      • user: fix it
      • [read ×2]
      • [bash: cargo test]
    › • [edit ×2, bash: cargo test]
      └─ assistant: Fixed.  1 entry
    ");
    let labelled = std::collections::HashSet::from([at(&session, "r5")]);
    let mut outline = Outline::new(&session, session.leaf(), OutlineSetup::default()).unwrap();
    outline.arrange(session.tree(), OutlineScope { labelled: Some(&labelled), ..OutlineScope::default() });
    assert_eq!(outline.row_text(&session, 3).unwrap(), "[edit ×2, bash: cargo test]");
    // A label in the middle is a place of its own, after the calls above it.
    let labelled = std::collections::HashSet::from([at(&session, "r4")]);
    outline.arrange(session.tree(), OutlineScope { labelled: Some(&labelled), ..OutlineScope::default() });
    let texts: Vec<String> = (3..5).map(|row| outline.row_text(&session, row).unwrap()).collect();
    assert_eq!(texts, ["[edit ×2]", "[bash: cargo test]"]);
}

/// Two calls of one turn, and the next turn, which calls once more.
const TOGETHER: [&str; 7] = [
    r#"{"type":"session","version":3,"id":"s","timestamp":"t","cwd":"/w"}"#,
    r#"{"type":"message","id":"q","parentId":null,"timestamp":"t","message":{"role":"user","content":"fix it"}}"#,
    r#"{"type":"message","id":"c","parentId":"q","timestamp":"t","message":{"role":"assistant","stopReason":"toolUse","content":[{"type":"text","text":"Look."},{"type":"toolCall","id":"1","name":"read","arguments":{"path":"a"}},{"type":"toolCall","id":"2","name":"read","arguments":{"path":"b"}}]}}"#,
    r#"{"type":"message","id":"r1","parentId":"c","timestamp":"t","message":{"role":"toolResult","toolCallId":"1","toolName":"read","isError":true,"content":[]}}"#,
    r#"{"type":"message","id":"r2","parentId":"r1","timestamp":"t","message":{"role":"toolResult","toolCallId":"2","toolName":"read","content":[]}}"#,
    r#"{"type":"message","id":"d","parentId":"r2","timestamp":"t","message":{"role":"assistant","stopReason":"toolUse","content":[{"type":"toolCall","id":"3","name":"bash","arguments":{"command":"ls"}}]}}"#,
    r#"{"type":"message","id":"r3","parentId":"d","timestamp":"t","message":{"role":"toolResult","toolCallId":"3","toolName":"bash","content":[]}}"#,
];

#[test]
fn a_place_in_the_middle_of_calls_says_which_it_leaves_out() {
    let left_out = |session: &Session, id: &str| {
        let ix = session.tree().find(id).unwrap();
        super::super::left_out(session, ix).unwrap().map(|left| (left.text, left.end))
    };
    let at = |session: &Session, id: &str| session.tree().find(id).unwrap();
    let session = calls();
    let expected = Some(("[edit: b.rs, bash: cargo test]".to_owned(), at(&session, "r5")));
    assert_eq!(left_out(&session, "r3"), expected);
    assert_eq!(left_out(&session, "r4"), Some(("[bash: cargo test]".to_owned(), at(&session, "r5"))));
    // The last call of a row, a failed call and a question leave nothing out.
    for id in ["r5", "r1", "r2", "q", "z"] {
        assert_eq!(left_out(&session, id), None, "{id}");
    }
    // All results of one turn count, however they share rows; those of a turn that speaks, too.
    let session = Session::from_text(&(TOGETHER.join("\n") + "\n"), Options::default()).unwrap();
    assert_eq!(left_out(&session, "c"), Some(("[read ×2]".to_owned(), at(&session, "r2"))));
    assert_eq!(left_out(&session, "r1"), Some(("[read: b]".to_owned(), at(&session, "r2"))));
    assert_eq!(left_out(&session, "r2"), Some(("[bash: ls]".to_owned(), at(&session, "r3"))));
    // Another branch at the place does not make them disappear.
    let side =
        r#"{"type":"message","id":"u","parentId":"r1","timestamp":"t","message":{"role":"user","content":"no"}}"#;
    let session = Session::from_text(&(TOGETHER.join("\n") + "\n" + side + "\n"), Options::default()).unwrap();
    assert_eq!(left_out(&session, "r1"), Some(("[read: b]".to_owned(), at(&session, "r2"))));
}

#[test]
fn a_folded_branch_says_that_it_was_merged() {
    let merge = |tip: &str, id: &str, parent: &str| {
        format!(
            r#"{{"type":"branch_summary","id":"{id}","parentId":"{parent}","timestamp":"t","fromId":"{parent}","summary":"tried","details":{{"merged":{{"base":"b","tip":"{tip}"}}}}}}"#
        )
    };
    let talk = |id: &str, parent: &str| {
        format!(
            r#"{{"type":"message","id":"{id}","parentId":{parent},"timestamp":"t","message":{{"role":"user","content":"{id}"}}}}"#
        )
    };
    let mut lines = vec![r#"{"type":"session","version":3,"id":"s","timestamp":"t","cwd":"/w"}"#.to_owned()];
    lines.extend([talk("a", "null"), talk("b", "\"a\""), talk("c", "\"b\""), talk("d", "\"c\"")]);
    lines.extend([talk("e", "\"b\""), merge("c", "f", "e"), merge("d", "g", "f")]);
    let session = Session::from_text(&(lines.join("\n") + "\n"), Options::default()).unwrap();
    insta::assert_snapshot!(drawn(&session, "g", &Folds::default()), @"
      • user: a
      • user: b
      ├⊞ user: c  merged · 2 entries · “d”
      • user: e
      • ⇠ summary of c [branch summary]: tried
    › • ⇠ summary of d [branch summary]: tried
    ");
    insta::assert_snapshot!(drawn(&session, "f", &Folds::default()), @"
      • user: a
      • user: b
      ├⊞ user: c  partly merged · 2 entries · “d”
      • user: e
    › • ⇠ summary of c [branch summary]: tried
      └─ ⇠ summary of d [branch summary]: tried  1 entry
    ");
    insta::assert_snapshot!(drawn(&session, "e", &Folds::default()), @"
      • user: a
      • user: b
      ├⊞ user: c  2 entries · “d”
    › • user: e
      └⊞ ⇠ summary of c [branch summary]: tried  2 entries · “tried”
    ");
}

/// A tree from the parents of its entries: `parents[at]` modulo `at + 1` is the parent of the next one.
fn tree_of(parents: &[usize], is_talk: impl Fn(usize) -> bool) -> Session {
    let mut text = r#"{"type":"session","version":3,"id":"s","timestamp":"t","cwd":"/w"}"#.to_owned() + "\n";
    for at in 0..=parents.len() {
        let parent = at.checked_sub(1).and_then(|before| parents.get(before)).map(|parent| parent % at);
        let parent = parent.map_or("null".to_owned(), |parent| format!("\"e{parent}\""));
        let time = format!("2026-01-01T00:{:02}:{:02}.000Z", at / 60 % 60, at % 60);
        let envelope = format!(r#""id":"e{at}","parentId":{parent},"timestamp":"{time}""#);
        text += &match is_talk(at) {
            true => format!(
                r#"{{"type":"message",{envelope},"message":{{"role":"user","content":"{} {at} of a rather long story"}}}}"#,
                "word ".repeat(12)
            ),
            false if at % 2 == 0 => {
                format!(r#"{{"type":"label",{envelope},"targetId":"e{}","label":"mark {at}"}}"#, at * 7 % (at + 1))
            }
            false => format!(r#"{{"type":"model_change",{envelope},"provider":"p","modelId":"m"}}"#),
        };
        text.push('\n');
    }
    Session::from_text(&text, Options::default()).unwrap()
}

/// What must hold for an outline in a scope, whatever is open.
fn holds(session: &Session, outline: &Outline, sums: &Sums) {
    let mut passed = 0;
    for at in 0..outline.len() {
        let place = outline.place(outline.entry(at).unwrap()).unwrap();
        let stands_for = outline.branch(at).or_else(|| outline.run(at)).unwrap_or(place..place + 1);
        assert!(stands_for.start >= passed, "rows stand for places one after the other");
        let between = passed..stands_for.start;
        assert!(between.clone().all(|place| !outline.shown[place]), "nothing that is shown is between rows");
        for place in stands_for.clone() {
            assert_eq!(outline.nearest(outline.entry_at(place).unwrap()), Some(at));
        }
        passed = stands_for.end;
        let prefix: usize = outline.prefix(at, 0..80).chars().count();
        assert!(prefix == outline.columns(at) && prefix <= 24, "{prefix} columns before the text");
        if at < 400
            && let Some(note) = sums.note(session, outline, at).unwrap()
        {
            let words = outline.row_text(session, at).unwrap().chars().count();
            // What the command adds: an id, a cursor, the lines.
            let room = 80 - 9 - 2 - prefix;
            let fitted = note.fit(words, Some(room), 1_800_000_000_000);
            assert!(fitted.words >= words.min(40), "{fitted:?}");
            assert!(fitted.words + unicode_width::UnicodeWidthStr::width(fitted.note.as_str()) <= room, "{fitted:?}");
        }
    }
    assert!((passed..outline.places()).all(|place| !outline.shown[place]));
}

/// Whether the rows near the open entry can be laid out alone. But for the first they are the last ones of the whole
/// tree.
fn is_near_like_the_whole(session: &Session, leaf: Option<NodeIx>, setup: OutlineSetup<'_>, rows: usize) -> bool {
    let Some(near) = Outline::near(session, leaf, setup, rows).unwrap() else { return false };
    let whole = Outline::new(session, leaf, setup).unwrap();
    let sums = Sums::new(session, &whole).unwrap();
    assert!(near.selected().unwrap() > rows && !near.is_whole());
    for (at, of_whole) in (0..near.len()).rev().zip((0..whole.len()).rev()).take(near.len() - 1) {
        assert_eq!(near.row(session, at).unwrap(), whole.row(session, of_whole).unwrap());
        let note = |outline: &Outline, at| sums.note(session, outline, at).unwrap();
        assert_eq!(note(&near, at), note(&whole, of_whole));
        let ix = near.entry(at).unwrap();
        if let Some(branch) = sums.branch(session, &near, ix).filter(|_| near.is_on_path(at)) {
            assert_eq!(Some(branch), sums.branch(session, &whole, ix));
        }
        let folds = |outline: &Outline, at| (outline.is_foldable(at), outline.is_folded(at), outline.is_on_path(at));
        assert_eq!(folds(&near, at), folds(&whole, of_whole));
        assert_eq!(near.steps_to_open(at), whole.steps_to_open(of_whole));
    }
    true
}

/// Opens folded rows until none are left, checking the properties each time.
fn opens_to_the_last_entry(session: &Session, leaf: Option<NodeIx>, filter: Filter) {
    let tree = session.tree();
    let mut outline = Outline::new(session, leaf, OutlineSetup { filter, ..OutlineSetup::default() }).unwrap();
    let sums = Sums::new(session, &outline).unwrap();
    let mut folds = if filter == Filter::LabeledOnly { Folds::all_open() } else { Folds::default() };
    loop {
        outline.arrange(tree, OutlineScope { filter, folds: Some(&folds), ..OutlineScope::default() });
        holds(session, &outline, &sums);
        let folded: Vec<usize> = (0..outline.len()).filter(|at| outline.is_folded(*at)).collect();
        let runs: Vec<usize> = (0..outline.len()).filter(|at| outline.run(*at).is_some()).collect();
        folded.iter().for_each(|at| folds.toggle(outline.entry(*at).unwrap()));
        runs.iter().for_each(|at| folds.toggle_run(outline.entry(*at).unwrap()));
        if folded.is_empty() && runs.is_empty() {
            break;
        }
    }
    let shown = outline.shown.iter().filter(|is_shown| **is_shown).count();
    assert_eq!(outline.len(), shown, "every entry has a row at last");
    for ix in tree.entries().filter(|ix| outline.place(*ix).is_some_and(|place| outline.shown[place])) {
        assert_eq!(outline.nearest(ix).and_then(|row| outline.entry(row)), Some(ix));
    }
}

#[test]
fn what_holds_holds_for_trees_of_every_shape() {
    const MANY: usize = 1_000;
    let caterpillar: Vec<usize> = (0..MANY).map(|at| at / 2 * 2).collect();
    let broom: Vec<usize> = (0..MANY).map(|at| at.min(MANY / 2)).collect();
    let halves: Vec<usize> = (0..MANY).map(|at| at / 2).collect();
    let line: Vec<usize> = (0..MANY).collect();
    for parents in [caterpillar, broom, halves, line] {
        let session = tree_of(&parents, |at| at % 5 != 2);
        let middle = session.tree().find("e450");
        for leaf in [session.leaf(), middle, None] {
            for (_, filter) in Filter::NAMES {
                opens_to_the_last_entry(&session, leaf, filter);
            }
        }
    }
}

/// A conversation of turns with tool calls that goes back some entries, now and then to near its beginning.
fn talk_with_branches(entries: usize, branches: usize) -> Session {
    let every = entries / (branches + 1);
    let back = |at: usize| if at.is_multiple_of(7) { at / 2 } else { at.saturating_sub(1 + at % 59) };
    let parents: Vec<usize> = (0..entries).map(|at| if at % every == every - 1 { back(at) } else { at }).collect();
    tree_of(&parents, |at| at % 4 != 3)
}

/// What real sessions are like: the branches of the second made every row of the peers' layout begin 300 columns in.
#[test]
fn what_holds_holds_for_sessions_of_usual_shapes() {
    for (entries, branches) in [(1_000, 12), (20_000, 200)] {
        let session = talk_with_branches(entries, branches);
        opens_to_the_last_entry(&session, session.leaf(), Filter::Default);
    }
    let session = talk_with_branches(100_000, 1_000);
    let mut outline = Outline::new(&session, session.leaf(), OutlineSetup::default()).unwrap();
    let sums = Sums::new(&session, &outline).unwrap();
    for folds in [Folds::default(), Folds::everything_open()] {
        outline.arrange(session.tree(), OutlineScope { folds: Some(&folds), ..OutlineScope::default() });
        holds(&session, &outline, &sums);
    }
}

#[test]
fn a_star_of_200_000_is_one_row_a_branch() {
    let session = tree_of(&[0; 200_000], |_| true);
    let outline = Outline::new(&session, session.leaf(), OutlineSetup::default()).unwrap();
    let sums = Sums::new(&session, &outline).unwrap();
    holds(&session, &outline, &sums);
    assert_eq!((outline.len(), outline.columns(1), outline.columns(200_000)), (200_001, 3, 0));
}

proptest! {
    #[test]
    fn what_holds_holds_for_any_tree(parents in proptest::collection::vec(any::<usize>(), 0..80), leaf in any::<usize>(), hides in 2usize..9) {
        let session = tree_of(&parents, |at| at % hides != 1);
        let leaf = session.tree().find(&format!("e{}", leaf % (parents.len() + 1)));
        for (_, filter) in Filter::NAMES {
            opens_to_the_last_entry(&session, leaf, filter);
            for rows in 0..6 {
                is_near_like_the_whole(&session, leaf, OutlineSetup { filter, ..OutlineSetup::default() }, rows);
            }
        }
    }
}

#[test]
fn the_rows_of_a_screen_need_no_layout_of_the_whole_tree() {
    let session = talk_with_branches(100_000, 1_000);
    let setup = OutlineSetup::default();
    assert!(is_near_like_the_whole(&session, session.leaf(), setup, 50));
    let near = Outline::near(&session, session.leaf(), setup, 50).unwrap().unwrap();
    assert!(near.places() < 5_000, "{}", near.places());
    let pi = OutlineSetup { layout: TreeLayout::Pi, ..setup };
    assert!(!is_near_like_the_whole(&session, session.leaf(), pi, 50));
    let wide = tree_of(&[0; 50_000], |_| true);
    assert!(!is_near_like_the_whole(&wide, wide.leaf(), setup, 50), "too many branches at one entry");
    let calls = calls();
    assert!(is_near_like_the_whole(&calls, calls.leaf(), setup, 1), "runs of tool calls");
}
