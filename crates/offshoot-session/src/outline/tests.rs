//! The specification's pictures, and what rows show otherwise.

mod trunk;

use super::*;
use crate::session::{Options, Session};
use crate::testing::{NEW, OLD, PICTURES, told};
use crate::tree::reader::NodeReader;

fn picture(words: &[&str], filter: Filter) -> String {
    let session = told(words);
    let outline = Outline::new(
        &session,
        session.leaf(),
        OutlineSetup { filter, layout: TreeLayout::Pi, ..OutlineSetup::default() },
    )
    .unwrap();
    let mut lines: Vec<String> = outline.rows(&session).map(|row| row.unwrap().line()).collect();
    lines.push(format!("  {}", outline.footer()));
    lines.join("\n")
}

#[test]
fn trees_are_laid_out_as_in_the_pictures() {
    for known in PICTURES {
        assert_eq!(format!("\n{}", picture(known.words, Filter::Default)), known.rows, "{}", known.name);
    }
}

#[test]
fn filters_lay_out_what_they_show() {
    let words = [&OLD[..], &NEW[..], &["l:h:label:c"]].concat();
    assert_eq!(
        picture(&words, Filter::UserOnly),
        "  • user: q1\n  ├⊟ • user: alt\n› │     • user: alt2\n  └─ [mark] user: q2\n  (3/4) [user-only]"
    );
    assert_eq!(picture(&words, Filter::LabeledOnly), "› [mark] user: q2\n  (1/1) [labeled-only]");
    assert!(picture(&words, Filter::All).contains("[label: mark]"));
    let tools = ["a::user:q", "t:a:toolResult:out"];
    assert_eq!(picture(&tools, Filter::NoTools), "› • user: q\n  (1/1) [no-tools]");
}

#[test]
fn results_show_their_calls() {
    let lines = [
        r#"{"type":"session","version":3,"id":"s","timestamp":"t","cwd":"/w"}"#,
        r#"{"type":"message","id":"a","parentId":null,"timestamp":"t","message":{"role":"assistant","stopReason":"toolUse","content":[{"type":"toolCall","id":"c1","name":"read","arguments":{"path":"/home/u/a.rs","offset":5,"limit":10}},{"type":"toolCall","id":"c2","name":"bash","arguments":{"command":"echo a\nb"}}]}}"#,
        r#"{"type":"message","id":"b","parentId":"a","timestamp":"t","message":{"role":"toolResult","toolCallId":"c1","toolName":"read","content":[]}}"#,
        r#"{"type":"message","id":"c","parentId":"b","timestamp":"t","message":{"role":"toolResult","toolCallId":"c2","toolName":"bash","content":[]}}"#,
        r#"{"type":"message","id":"d","parentId":"c","timestamp":"t","message":{"role":"assistant","stopReason":"error","errorMessage":"529 {\"error\":{\"message\":\"overloaded\"}}","content":[]}}"#,
    ];
    let session = Session::from_text(&(lines.join("\n") + "\n"), Options::default()).unwrap();
    let outline = Outline::new(
        &session,
        session.leaf(),
        OutlineSetup { layout: TreeLayout::Pi, home: Some("/home/u"), ..OutlineSetup::default() },
    )
    .unwrap();
    let texts: Vec<String> = outline.rows(&session).map(|row| row.unwrap().text).collect();
    assert_eq!(texts, ["[read: ~/a.rs:5-14]", "[bash: echo a b]", "assistant: 529 overloaded"]);
}

/// A tree of nested branches in which every entry reports another cost.
fn priced() -> Session {
    let mut text = r#"{"type":"session","version":3,"id":"s","timestamp":"t","cwd":"/w"}"#.to_owned() + "\n";
    for at in 0..300usize {
        // Every seventh entry continues from far above; two are roots.
        let parent = if at % 7 == 3 { at / 3 } else { at.wrapping_sub(1) };
        let parent = if at == 0 || at == 40 { "null".to_owned() } else { format!("\"e{parent}\"") };
        text += &format!(
            r#"{{"type":"message","id":"e{at}","parentId":{parent},"timestamp":"2026-01-01T00:{:02}:{:02}.000Z","message":{{"role":"assistant","content":[{{"type":"text","text":"a"}}],"usage":{{"totalTokens":{},"cost":{{"total":{}}}}}}}}}"#,
            at / 60,
            at % 60,
            1 << (at % 30),
            at * at,
        );
        text.push('\n');
    }
    Session::from_text(&text, Options::default()).unwrap()
}

#[test]
fn sums_are_those_of_the_path_and_of_the_branch() {
    let session = priced();
    let (tree, facts) = (session.tree(), crate::gather::of(&session).unwrap());
    let outline = Outline::new(&session, session.leaf(), OutlineSetup::default()).unwrap();
    let sums = Sums::new(&session, &outline).unwrap();
    let over = |entries: &mut dyn Iterator<Item = NodeIx>| {
        entries.fold(crate::facts::Totals::default(), |mut total, ix| {
            total.add(&facts.of(ix, tree.node(ix)));
            total
        })
    };
    for ix in tree.entries() {
        let found = sums.branch(&session, &outline, ix).unwrap();
        assert_eq!(found.path, over(&mut tree.ancestors(ix)), "{ix:?}");
        let is_start = |at: &NodeIx| tree.parent(*at).is_none_or(|parent| tree.children(parent).nth(1).is_some());
        let start = tree.ancestors(ix).find(is_start).unwrap();
        let branch: Vec<_> = tree.walk_from(start).map(|(_, at)| at).collect();
        assert_eq!((found.start, found.own), (start, over(&mut branch.iter().copied())), "{ix:?}");
        assert_eq!(found.newest, branch.iter().filter_map(|at| tree.node(*at).time()).max());
        let below: Vec<_> = tree.walk_from(ix).map(|(_, at)| at).collect();
        let figures = sums.from(&NodeReader::new(tree), ix).unwrap();
        assert_eq!(figures.totals, over(&mut below.iter().copied()), "{ix:?}");
        assert_eq!(figures.latest.time, below.iter().filter_map(|at| tree.node(*at).time()).max());
        assert_eq!(figures.tips as usize, below.iter().filter(|at| tree.is_leaf(**at)).count());
        assert_eq!(found.tips as usize, branch.iter().filter(|at| tree.is_leaf(**at)).count());
    }
}
