//! The selector at work: keys in, pictures and outcomes out.

use ratatui::buffer::Buffer;
use ratatui::crossterm::event::{KeyCode, KeyModifiers};
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier};

use offshoot_session::session::{Options, Session};

use super::*;
use crate::overlay::testing::{assert_inside, hostile, text_of};
use crate::theme::Theme;

/// A session from words `id:parent:role:text`; `label` sets a bookmark on the entry named by its text.
pub(super) fn session(words: &[&str]) -> Session {
    let mut text = String::from(
        "{\"type\":\"session\",\"version\":3,\"id\":\"s\",\"timestamp\":\"2026-01-01T00:00:00.000Z\",\"cwd\":\"/w\"}\n",
    );
    for (at, word) in words.iter().enumerate() {
        let parts: Vec<&str> = word.splitn(4, ':').collect();
        let parent = if parts[1].is_empty() { "null".to_owned() } else { format!("\"{}\"", parts[1]) };
        let envelope =
            format!(r#""id":"{}","parentId":{parent},"timestamp":"2026-01-01T00:00:{:02}.000Z""#, parts[0], at + 1);
        let line = match parts[2] {
            "label" => format!(r#"{{"type":"label",{envelope},"targetId":"{}","label":"mark"}}"#, parts[3]),
            role => format!(
                r#"{{"type":"message",{envelope},"message":{{"role":"{role}","content":[{{"type":"text","text":"{}"}}]}}}}"#,
                parts[3]
            ),
        };
        text.push_str(&line);
        text.push('\n');
    }
    Session::from_text(&text, Options::default()).unwrap()
}

pub(super) const OLD: [&str; 4] = ["a::user:q1", "b:a:assistant:r1", "c:b:user:q2", "d:c:assistant:r2"];
pub(super) const NEW: [&str; 4] = ["e:b:user:alt", "f:e:assistant:altr", "g:f:user:alt2", "h:g:assistant:altr2"];

pub(super) fn opened(words: &[&str], size: (u16, u16)) -> TreeSelector {
    let session = session(words);
    let leaf = session.leaf();
    let now = 1_767_225_900_000; // five minutes into 2026
    TreeSelector::new(Arc::new(session), leaf, Setup { size, now, ..Setup::default() }).unwrap()
}

/// The whole screen as text.
fn picture(selector: &TreeSelector) -> String {
    let (columns, rows) = selector.setup.size;
    let mut buf = Buffer::empty(Rect::new(0, 0, columns, rows));
    selector.view(&Theme::default(), buf.area, &mut buf);
    text_of(&buf)
}

fn press(selector: &mut TreeSelector, keys: &str) -> Outcome {
    let mut outcome = Outcome::Stay;
    for word in keys.split(' ') {
        let (modifiers, name) = match word.rsplit_once('+') {
            Some(("ctrl", name)) => (KeyModifiers::CONTROL, name),
            Some(("shift", name)) => (KeyModifiers::SHIFT, name),
            Some((_, name)) => (KeyModifiers::CONTROL | KeyModifiers::SHIFT, name),
            None => (KeyModifiers::NONE, word),
        };
        let code = match name {
            "up" => KeyCode::Up,
            "down" => KeyCode::Down,
            "left" => KeyCode::Left,
            "right" => KeyCode::Right,
            "enter" => KeyCode::Enter,
            "esc" => KeyCode::Esc,
            "back" => KeyCode::Backspace,
            "end" => KeyCode::End,
            "home" => KeyCode::Home,
            _ => {
                for c in name.chars() {
                    outcome = selector.key(KeyEvent::new(KeyCode::Char(c), modifiers));
                }
                continue;
            }
        };
        outcome = selector.key(KeyEvent::new(code, modifiers));
    }
    outcome
}

/// The rows alone, with the line below them.
fn rows(selector: &TreeSelector) -> String {
    let lines = selector.lines(&Theme::default(), 60, 40);
    let mut rows: Vec<String> = lines.iter().map(|line| line.to_string().trim_end().to_owned()).collect();
    rows.push(format!("  {}", selector.status()));
    rows.join("\n")
}

#[test]
fn opens_on_a_screen() {
    let selector = opened(&[&OLD[..], &NEW[..]].concat(), (80, 24));
    insta::assert_snapshot!(picture(&selector), @"
    ── Session tree ────────────────────────────────────────────────────────────────
      ↑/↓ move · ←/→ page · ctrl+←/→ branch · enter go there · shift+l label
      ctrl+o filter · shift+p preview · shift+j #label · shift+m/d mark, compare
      Type to search:

      • user: q1
      • assistant: r1
      ├⊟ • user: alt
      │     • assistant: altr
      │     • user: alt2
    › │     • assistant: altr2 ← here
      └⊟ user: q2
            assistant: r2




      (6/8)
      branch: 4 entries, 4 min ago · path: 6 entries
    ── Preview ─────────────────────────────────────────────────────────────────────
    altr2


    ────────────────────────────────────────────────────────────────────────────────
    ");
    let selector = opened(&[&OLD[..], &NEW[..]].concat(), (40, 12));
    insta::assert_snapshot!(picture(&selector), @"
    ── Session tree ────────────────────────
      ↑/↓ move · ←/→ page · ctrl+←/→ branch
      Type to search:
      ├⊟ • user: alt
      │     • assistant: altr
      │     • user: alt2
    › │     • assistant: altr2 ← here
      └⊟ user: q2
            assistant: r2
      (6/8)
    ────────────────────────────────────────
    ");
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
fn a_search_narrows_and_escape_clears_it() {
    let mut selector = opened(&[&OLD[..], &NEW[..]].concat(), (80, 24));
    press(&mut selector, "alt");
    insta::assert_snapshot!(rows(&selector), @"
      • user: alt
      • assistant: altr
      • user: alt2
    › • assistant: altr2 ← here
      (4/4)
    ");
    press(&mut selector, "x");
    insta::assert_snapshot!(rows(&selector), @"  (0/0)");
    press(&mut selector, "back back");
    insta::assert_snapshot!(rows(&selector), @"
      • user: alt
      • assistant: altr
      • user: alt2
    › • assistant: altr2 ← here
      (4/4)
    ");
    assert_eq!(press(&mut selector, "esc"), Outcome::Stay);
    insta::assert_snapshot!(rows(&selector), @"
      • user: q1
      • assistant: r1
      ├⊟ • user: alt
      │     • assistant: altr
      │     • user: alt2
    › │     • assistant: altr2 ← here
      └⊟ user: q2
            assistant: r2
      (6/8)
    ");
    assert_eq!(press(&mut selector, "esc"), Outcome::Close);
}

#[test]
fn enter_asks_and_leaves() {
    let mut selector = opened(&[&OLD[..], &NEW[..]].concat(), (80, 24));
    assert_eq!(press(&mut selector, "enter"), Outcome::AlreadyHere);
    assert_eq!(press(&mut selector, "end enter"), Outcome::Stay);
    assert_eq!(press(&mut selector, "esc"), Outcome::Stay);
    assert_eq!(selector.list.entry(), selector.source.tree().find("d"));
    let target = "d".to_owned();
    let plain = Outcome::Navigate { target: target.clone(), summarize: false, instructions: None };
    assert_eq!(press(&mut selector, "enter enter"), plain);
    selector.stopped();
    let summary = Outcome::Navigate { target: target.clone(), summarize: true, instructions: None };
    assert_eq!(press(&mut selector, "enter down enter"), summary);
    assert_eq!(press(&mut selector, "esc"), Outcome::Abort);
    assert_eq!(press(&mut selector, "esc"), Outcome::Stay);
    selector.stopped();
    assert_eq!(press(&mut selector, "enter up enter tests esc up down enter only"), Outcome::Stay);
    let minding = Outcome::Navigate { target, summarize: true, instructions: Some("only".to_owned()) };
    assert_eq!(press(&mut selector, "enter"), minding);
}

/// What a coding agent leaves behind: tools, prices, two branches, and a bookmark.
fn working() -> Session {
    let message = |id: &str, parent: &str, at: u32, message: &str| {
        format!(
            r#"{{"type":"message","id":"{id}","parentId":{parent},"timestamp":"2026-01-01T00:00:{at:02}.000Z","message":{message}}}"#
        )
    };
    let call = |name: &str, path: &str, said: &str| {
        format!(
            r#"{{"role":"assistant","stopReason":"toolUse","content":[{{"type":"text","text":"{said}"}},{{"type":"toolCall","id":"{path}","name":"{name}","arguments":{{"path":"{path}"}}}}],"usage":{{"totalTokens":1200,"cost":{{"total":0.25}}}}}}"#
        )
    };
    let result = |path: &str| {
        format!(
            r#"{{"role":"toolResult","toolCallId":"{path}","toolName":"read","content":[{{"type":"text","text":"fn main() {{}}"}}]}}"#
        )
    };
    let lines = [
        r#"{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}"#.to_owned(),
        message("a", "null", 1, r#"{"role":"user","content":"Make the parser faster"}"#),
        message("b", r#""a""#, 2, &call("read", "src/parser.rs", "Let me look at it.")),
        message("c", r#""b""#, 3, &result("src/parser.rs")),
        message("d", r#""c""#, 4, &call("edit", "src/parser.rs", "I keep the tokens in an arena.")),
        message("e", r#""d""#, 5, r#"{"role":"assistant","stopReason":"stop","content":[{"type":"text","text":"Twice as fast.\nThe arena holds all tokens."}]}"#),
        message("f", r#""c""#, 6, r#"{"role":"user","content":"Try without an arena"}"#),
        message("g", r#""f""#, 7, &call("write", "src/slices.rs", "Slices of the text, then.")),
        r#"{"type":"label","id":"h","parentId":"g","timestamp":"2026-01-01T00:00:08.000Z","targetId":"e","label":"arena"}"#.to_owned(),
        r#"{"type":"model_change","id":"i","parentId":"h","timestamp":"2026-01-01T00:00:09.000Z","provider":"p","modelId":"m"}"#.to_owned(),
    ];
    Session::from_text(&(lines.join("\n") + "\n"), Options::default()).unwrap()
}

fn at_work(size: (u16, u16)) -> TreeSelector {
    let session = working();
    let leaf = session.leaf();
    TreeSelector::new(Arc::new(session), leaf, Setup { size, now: 1_767_225_900_000, ..Setup::default() }).unwrap()
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
fn every_screen_in_two_sizes() {
    let states = [
        ("default", ""),
        ("search", "parser"),
        ("label times", "T"),
        ("label", "end L"),
        ("question", "home enter down"),
        ("prompt", "home enter up enter tests"),
        ("leaving", "home enter down enter"),
        ("marked", "M home M"),
        ("compared", "M end M D"),
        ("wide", ""),
    ];
    let mut all = String::new();
    for size in [(80, 24), (40, 12), (120, 24)] {
        for (name, keys) in states.iter().filter(|(name, _)| (*name == "wide") == (size.0 == 120)) {
            let mut selector = at_work(size);
            if !keys.is_empty() {
                press(&mut selector, keys);
            }
            all.push_str(&format!("{name}, {}x{}\n{}\n\n", size.0, size.1, picture(&selector)));
        }
    }
    insta::assert_snapshot!("every_screen", all);
}

/// Every run of one style in the rows: colours, then text.
#[test]
fn both_themes_colour_the_rows() {
    let mut selector = at_work((80, 24));
    press(&mut selector, "M T end");
    let mut all = String::new();
    for theme in [Theme::dark(), Theme::light()] {
        all.push_str(&format!("{}\n", theme.name()));
        for line in selector.lines(&theme, 60, 12) {
            let hex = |colour: Option<Color>| colour.map_or("-".to_owned(), |colour| colour.to_string());
            let runs = line.spans.iter().map(|span| {
                let style = line.style.patch(span.style);
                let bold = if style.add_modifier.contains(Modifier::BOLD) { " bold" } else { "" };
                format!("  {} on {}{bold} {:?}", hex(style.fg), hex(style.bg), span.content)
            });
            all.push_str(&(runs.collect::<Vec<_>>().join("\n") + "\n\n"));
        }
    }
    insta::assert_snapshot!("both_themes", all);
}

#[test]
fn a_label_is_set_at_once_and_found_by_its_name() {
    let mut selector = opened(&OLD, (80, 24));
    let named = Outcome::Label { entry: "a".to_owned(), text: Some("the start".to_owned()) };
    assert_eq!(press(&mut selector, "home L"), Outcome::Stay);
    selector.paste("  the start ");
    assert_eq!(press(&mut selector, "enter"), named);
    press(&mut selector, "T ctrl+l");
    insta::assert_snapshot!(rows(&selector), @"
    › • [the start] 00:05 user: q1 ← here
      (1/1) [labeled] [+label time]
    ");
    press(&mut selector, "ctrl+d end J sta");
    assert_eq!(selector.list.entry(), selector.source.tree().find("a"));
    press(&mut selector, "esc L back back back back back back back back back");
    assert_eq!(press(&mut selector, "enter"), Outcome::Label { entry: "a".to_owned(), text: None });
    assert_eq!(press(&mut selector, "L x esc enter esc"), Outcome::Stay);
    assert!(selector.label(selector.source.tree().find("a").unwrap()).is_none());
}

#[test]
fn the_best_label_is_selected() {
    let words = [&OLD[..], &["k:d:label:a", "l:k:label:c"]].concat();
    let mut selector = opened(&words, (80, 24));
    press(&mut selector, "home down L");
    selector.paste("mark two");
    press(&mut selector, "enter J mark");
    assert_eq!(selector.list.entry(), selector.source.tree().find("a"), "a name before the beginning of one");
    selector.paste(" two");
    assert_eq!(selector.list.entry(), selector.source.tree().find("b"));
}

/// The selection was lost when nothing was left to show, and came back at the end of the list.
#[test]
fn the_selection_survives_empty_results() {
    let mut selector = opened(&[&OLD[..], &NEW[..]].concat(), (80, 24));
    press(&mut selector, "up up");
    let chosen = selector.list.entry();
    press(&mut selector, "ctrl+l down up zzz esc ctrl+d");
    assert_eq!(selector.list.entry(), chosen);
    press(&mut selector, "ctrl+u");
    assert_eq!(selector.list.entry(), selector.source.tree().find("e"), "the nearest one above");
}

#[test]
fn ends_and_pages() {
    let words: Vec<String> = (0..40)
        .map(|at| match at {
            0 => "e0::user:word".to_owned(),
            _ => format!("e{at}:e{}:user:word", at - 1),
        })
        .collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let mut selector = opened(&words, (80, 24));
    for (keys, row) in
        [("down", 0), ("up", 39), ("left", 27), ("left left left", 0), ("right", 12), ("end", 39), ("home", 0)]
    {
        press(&mut selector, keys);
        assert_eq!(selector.list.selected, row, "{keys}");
    }
}

#[test]
fn what_an_entry_says_is_copied_whole() {
    let mut selector = at_work((80, 24));
    let copied = Outcome::Copy("Twice as fast.\nThe arena holds all tokens.".to_owned());
    assert_eq!(press(&mut selector, "end ctrl+x"), copied);
    assert_eq!(press(&mut selector, "ctrl+a ctrl+x esc"), Outcome::Close);
    press(&mut selector, "shift+up end up up up up");
}

#[test]
fn what_grew_meanwhile_is_taken_in() {
    let mut selector = opened(&OLD, (80, 24));
    press(&mut selector, "up ctrl+left r");
    let session = session(&[&OLD[..], &NEW[..]].concat());
    let leaf = session.leaf();
    selector.renew(Arc::new(session), leaf).unwrap();
    insta::assert_snapshot!(rows(&selector), @"
    › • user: q1
      • assistant: r1
      ├⊟ • user: alt
      │     • assistant: altr
      │     • user: alt2
      │     • assistant: altr2 ← here
      └⊟ user: q2
            assistant: r2
      (1/8)
    ");
}

/// With everything read before a key is answered, typing in a big session would stand still.
#[test]
fn a_long_search_is_done_in_slices() {
    let said = "x".repeat(2_000);
    let words: Vec<String> = (0..2_000)
        .map(|at| match at {
            0 => "e0::user:word".to_owned(),
            _ => format!("e{at}:e{}:user:{said}", at - 1),
        })
        .collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let mut selector = opened(&words, (80, 24));
    press(&mut selector, "word");
    assert!(selector.search.is_running(), "not all was read before the key was answered");
    let mut slices = 1;
    while selector.work(1 << 16) {
        slices += 1;
    }
    assert!(slices > 10, "{slices}");
    assert_eq!(rows(&selector).trim_end(), "› • user: word ← here\n  (1/1)");
    press(&mut selector, "s");
    assert!(!selector.search.is_running(), "what was read is kept, and little of it can be meant");
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
      ↑/↓ move · ←/→ page · ctrl+←/→ branch
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

#[test]
fn the_fork_selector_lists_the_persons_messages() {
    use crate::overlay::fork::{ForkOutcome, ForkSelector};
    let mut selector = ForkSelector::new(Arc::new(working()));
    let mut buf = Buffer::empty(Rect::new(0, 0, 60, 8));
    selector.view(&Keymap::default(), &Theme::default(), buf.area, &mut buf);
    insta::assert_snapshot!(text_of(&buf), @"
    Fork from message
    A new session gets the branch up to the message, which comes

      Make the parser faster
    › Try without an arena

      (2/2)  ↑/↓ move · enter fork · esc cancel
    ");
    let press = |code| KeyEvent::new(code, KeyModifiers::NONE);
    assert_eq!(selector.key(&Keymap::default(), press(KeyCode::Enter)), ForkOutcome::Fork("f".to_owned()));
    assert_eq!(selector.key(&Keymap::default(), press(KeyCode::Down)), ForkOutcome::Stay);
    assert_eq!(selector.key(&Keymap::default(), press(KeyCode::Enter)), ForkOutcome::Fork("a".to_owned()));
    assert_eq!(selector.key(&Keymap::default(), press(KeyCode::Esc)), ForkOutcome::Close);
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(24))]
    #[test]
    fn hostile_text_stays_in_its_cells(
        texts in proptest::collection::vec(hostile(), 5),
        keys in proptest::collection::vec(0..14usize, 0..12),
        columns in 1u16..130,
        rows in 1u16..40,
    ) {
        let quoted: Vec<String> = texts.iter().map(|text| serde_json::to_string(text).unwrap()).collect();
        let [user, answer, kind, label, path] = quoted.as_slice() else { return Ok(()) };
        let lines = [
            r#"{"type":"session","version":3,"id":"s"}"#.to_owned(),
            format!(r#"{{"type":"message","id":"a","parentId":null,"timestamp":"t","message":{{"role":"user","content":{user}}}}}"#),
            format!(r#"{{"type":"message","id":"b","parentId":"a","timestamp":"t","message":{{"role":"assistant","content":[{{"type":"text","text":{answer}}},{{"type":"toolCall","id":"c","name":{kind},"arguments":{{"path":{path}}}}}]}}}}"#),
            r#"{"type":"message","id":"c","parentId":"b","timestamp":"t","message":{"role":"toolResult","toolCallId":"c","content":[]}}"#.to_owned(),
            format!(r#"{{"type":"custom_message","id":"d","parentId":"a","timestamp":"t","customType":{kind},"content":{answer},"display":true}}"#),
            format!(r#"{{"type":"label","id":"e","parentId":"d","timestamp":{label},"targetId":"b","label":{label}}}"#),
        ];
        let session = Session::from_text(&(lines.join("\n") + "\n"), Options::default()).unwrap();
        let leaf = session.leaf();
        let setup = Setup { size: (columns, rows), ..Setup::default() };
        let mut selector = TreeSelector::new(Arc::new(session), leaf, setup).unwrap();
        let all = ["up", "down", "ctrl+a", "ctrl+l", "L", "enter", "esc", "x", "M", "D", "T", "ctrl+left", "home", "P"];
        for key in keys {
            press(&mut selector, all[key]);
            selector.paste(&texts[key % 5]);
            assert_inside(columns, rows, |area, buf| selector.view(&Theme::default(), area, buf));
        }
        assert_inside(columns, rows, |area, buf| selector.view(&Theme::default(), area, buf));
    }
}
