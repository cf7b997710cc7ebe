//! What scrolling through a long session allocates: `scroll SESSION.jsonl`, one JSON object a list.
//!
//! Ten thousand steps from the end of the list towards its top and back again, twice. What was read and laid out is kept
//! within bounds, so the second time must add nothing: `growth` is how many bytes more are in use at its end than at its
//! begin, at the same place. `allocations` (a step) and `most` (bytes in use behind a step) are those of the first and of
//! the last thousand steps of the first way up.

#![expect(clippy::disallowed_methods, reason = "an example is a whole program")]

use std::alloc::System;
use std::error::Error;
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;

use offshoot_session::session::{Options, Session};
use offshoot_tui::app::pager::Pager;
use offshoot_tui::conversation::Conversation;
use offshoot_tui::keymap::Keymap;
use offshoot_tui::message::Habits;
use offshoot_tui::overlay::tree::{Setup, TreeSelector};
use offshoot_tui::theme::Theme;
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::layout::{Rect, Size};
use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};

/// Counts, and otherwise is the system's.
#[global_allocator]
static COUNTED: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

const STEPS: usize = 10_000;
/// So many steps are one part of the way.
const PART: usize = 1_000;
const SIZE: Size = Size { width: 120, height: 40 };

#[derive(serde::Serialize)]
struct Scrolled {
    view: &'static str,
    steps: usize,
    growth: isize,
    allocations: (usize, usize),
    most: (usize, usize),
}

fn main() -> Result<(), Box<dyn Error>> {
    let file = std::env::args().nth(1).ok_or("which session? scroll SESSION.jsonl")?;
    let (theme, keymap) = (Theme::default(), Keymap::default());
    let mut buf = Buffer::empty(Rect::new(0, 0, SIZE.width, SIZE.height));
    let session = Arc::new(Session::open(Path::new(&file), Options::default())?);
    let leaf = session.leaf();

    let conversation = Conversation::default();
    let mut pager = Pager::new(session.clone(), leaf, Habits::default());
    pager.lay_out(&conversation, &theme, SIZE);
    say(&there_and_back("the reading view", |key| {
        pager.key(&keymap, key);
        pager.lay_out(&conversation, &theme, SIZE);
        pager.view(&keymap, &theme, buf.area, &mut buf);
    }))?;
    drop(pager);

    let setup = Setup { size: (SIZE.width, SIZE.height), ..Setup::default() };
    let mut tree = TreeSelector::new(session, leaf, setup)?;
    say(&there_and_back("the tree", |key| {
        tree.key(key);
        tree.view(&theme, (buf.area, ""), &mut buf);
    }))
}

fn there_and_back(view: &'static str, mut step: impl FnMut(KeyEvent)) -> Scrolled {
    let mut way = |code| {
        let mut parts = [(0, 0); 2];
        let mut allocations = COUNTED.stats().allocations;
        let mut most = 0;
        for at in 1..=STEPS {
            step(KeyEvent::new(code, KeyModifiers::NONE));
            most = most.max(in_use());
            if at % PART == 0 {
                let now = COUNTED.stats().allocations;
                let part = ((now - allocations) / PART, most);
                parts = if at == PART { [part, part] } else { [parts[0], part] };
                (allocations, most) = (now, 0);
            }
        }
        parts
    };
    let [first, last] = way(KeyCode::Up);
    way(KeyCode::Down);
    let before = in_use();
    way(KeyCode::Up);
    way(KeyCode::Down);
    let growth = in_use().cast_signed() - before.cast_signed();
    Scrolled { view, steps: STEPS, growth, allocations: (first.0, last.0), most: (first.1, last.1) }
}

/// Bytes in use.
fn in_use() -> usize {
    let stats = COUNTED.stats();
    stats.bytes_allocated - stats.bytes_deallocated
}

fn say(scrolled: &Scrolled) -> Result<(), Box<dyn Error>> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{}", serde_json::to_string(scrolled)?)?;
    Ok(())
}
