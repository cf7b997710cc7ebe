//! The tree selector in the peers' layout as a line server, to be compared with theirs: which rows it shows after which keys.
//!
//! One JSON object per line in: `{"file", "leaf"?, "selected"?, "columns", "rows", "filter"?, "now"?, "keys": ["down", "text:abc"]}`.
//! `leaf` and `selected` are places among the entries of the file; without `leaf` the file's own counts. `now` is the time
//! in milliseconds. One array per line out: the rows at the beginning and after each key, each with the line below them as the last one.
//! The terminal is as high as this selector needs for as many rows as pi shows on one of `rows` rows.

#![expect(clippy::disallowed_methods, reason = "an example is a whole program")]

use std::error::Error;
use std::io::{BufRead as _, Write as _};
use std::path::Path;
use std::sync::Arc;

use offshoot_session::entry::Source as _;
use offshoot_session::outline::{Filter, TreeLayout};
use offshoot_session::session::{Options, Session};
use offshoot_tui::keymap::Key;
use offshoot_tui::overlay::tree::{Setup, TreeSelector};
use offshoot_tui::theme::Theme;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

#[derive(serde::Deserialize)]
struct Request {
    file: String,
    leaf: Option<usize>,
    selected: Option<usize>,
    columns: u16,
    rows: u16,
    filter: Option<String>,
    now: Option<i64>,
    keys: Vec<String>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let answer = answer(&serde_json::from_str(&line?)?)?;
        writeln!(out, "{}", serde_json::to_string(&answer)?)?;
        out.flush()?;
    }
    Ok(())
}

fn answer(request: &Request) -> Result<Vec<Vec<String>>, Box<dyn Error>> {
    let session = Session::open(Path::new(&request.file), Options::default())?;
    let at = |place: usize| session.tree().entries().nth(place);
    let leaf = request.leaf.and_then(at).or(session.leaf());
    let setup = Setup {
        selected: request.selected.and_then(at),
        layout: TreeLayout::Pi,
        filter: request.filter.as_deref().and_then(Filter::parse).unwrap_or_default(),
        now: request.now.unwrap_or_default(),
        size: (request.columns, request.rows),
        ..Setup::default()
    };
    let mut selector = TreeSelector::new(Arc::new(session), leaf, setup)?;
    let page = page_of_peers(request.rows);
    (1..=u16::MAX).find(|rows| {
        selector.resize(request.columns, *rows);
        selector.page() >= page
    });
    let mut answer = vec![seen(&selector, request)];
    for key in &request.keys {
        match key.strip_prefix("text:") {
            Some(text) => {
                for c in text.chars() {
                    selector.key(KeyEvent::new(KeyCode::Char(c), KeyModifiers::NONE));
                }
            }
            None => drop(selector.key(Key::parse(key)?.event())),
        }
        while selector.work(1 << 20) {}
        answer.push(seen(&selector, request));
    }
    Ok(answer)
}

/// The rows of the tree in pi, which keeps half of the terminal free.
fn page_of_peers(rows: u16) -> usize {
    usize::from((rows / 2).max(5))
}

fn seen(selector: &TreeSelector, request: &Request) -> Vec<String> {
    let lines = selector.lines(&Theme::default(), request.columns.into(), page_of_peers(request.rows));
    let mut seen: Vec<String> = lines.iter().map(ToString::to_string).collect();
    if seen.is_empty() {
        seen.push("  No entries found".to_owned());
    }
    seen.push(format!("  {}", selector.status()));
    seen
}
