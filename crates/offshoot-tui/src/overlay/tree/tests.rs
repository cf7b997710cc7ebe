//! The selector at work: keys in, pictures and outcomes out.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use offshoot_session::session::{Options, Session};

use super::*;
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

pub(super) fn picture(selector: &TreeSelector) -> String {
    let (columns, rows) = selector.setup.size;
    let mut buf = Buffer::empty(Rect::new(0, 0, columns, rows));
    selector.view(&Theme::default(), buf.area, &mut buf);
    let mut lines = Vec::new();
    for y in 0..rows {
        let line: String = (0..columns).map(|x| buf[(x, y)].symbol()).collect();
        lines.push(line.trim_end().to_owned());
    }
    lines.join("\n")
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
      ↑/↓ move · ←/→ page · ctrl+←/→ branch · enter go there
      filters ctrl+d/t/u/l/a · cycle ctrl+o · L label · T label time
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
      branch: 4 entries, 4 min ago · from the root: 6 entries
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
