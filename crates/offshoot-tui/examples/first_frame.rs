//! How long the selector of sessions takes to its first frame, and for a key when all sessions are there.
//!
//! `cargo run --release -p offshoot-tui --example first_frame -- 10000`

#![allow(clippy::print_stdout, reason = "an example is a whole program")]

use std::path::PathBuf;
use std::time::{Duration, Instant};

use offshoot_session::list::SessionInfo;
use offshoot_tui::overlay::sessions::{Answer, Listed, Origin, Request, Scope, Sessions, Setting};
use offshoot_tui::theme::Theme;
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::layout::Rect;

const AREA: Rect = Rect { x: 0, y: 0, width: 80, height: 24 };

fn timed(work: impl FnOnce()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

fn main() {
    let count = std::env::args().nth(1).and_then(|count| count.parse().ok()).unwrap_or(10_000);
    let mut rest: Vec<Listed> = (0..count).map(listed).rev().collect();
    let mut sessions = Sessions::new(Setting { now: 0, ..Setting::default() });
    let mut buf = Buffer::empty(AREA);
    let (mut first, mut longest, mut all, mut done) = (None, Duration::ZERO, Duration::ZERO, 0);
    while !rest.is_empty() {
        // As the catalogue tells of them.
        let portion = rest.split_off(rest.len().saturating_sub((done / 8).max(32)));
        done += portion.len();
        let took = timed(|| {
            sessions.take(Answer::Listed(Scope::Folder, portion));
            sessions.view(&Theme::default(), AREA, &mut buf);
        });
        first.get_or_insert(took);
        longest = longest.max(took);
        all += took;
    }
    println!("{count} sessions: first frame {:?}, longest portion {longest:?}, all {all:?}", first.unwrap_or_default());
    let keys = [
        ("down", KeyEvent::new(KeyCode::Down, KeyModifiers::NONE)),
        ("end", KeyEvent::new(KeyCode::End, KeyModifiers::NONE)),
        ("sort", KeyEvent::new(KeyCode::Char('s'), KeyModifiers::CONTROL)),
        ("named", KeyEvent::new(KeyCode::Char('n'), KeyModifiers::CONTROL)),
        ("all", KeyEvent::new(KeyCode::Char('n'), KeyModifiers::CONTROL)),
        ("search", KeyEvent::new(KeyCode::Char('w'), KeyModifiers::NONE)),
        ("search on", KeyEvent::new(KeyCode::Char('o'), KeyModifiers::NONE)),
    ];
    for (name, key) in keys {
        let took = timed(|| {
            sessions.key(key);
            sessions.view(&Theme::default(), AREA, &mut buf);
        });
        let asked = sessions.requests().iter().any(|request| matches!(request, Request::Search { .. }));
        println!("{name}: {took:?}{}", if asked { " (and asks for the texts)" } else { "" });
    }
}

/// Every third session came of the one before the last.
fn listed(number: usize) -> Listed {
    let file = |number: usize| PathBuf::from(format!("/home/u/.local/share/offshoot/sessions/--w--/{number:05}.jsonl"));
    let info = SessionInfo {
        path: file(number),
        id: format!("0198c2d4-0000-7000-8000-{number:012}"),
        cwd: format!("/home/u/work/project-{}", number % 40),
        name: number.is_multiple_of(5).then(|| format!("the work on part {number}")),
        parent_session_path: None,
        created: None,
        modified: i64::try_from(number).ok().map(|number| -60_000 * number),
        message_count: 40,
        first_message: format!("please look at part {number} and tell me why the tests of it are slow today"),
        all_messages_text: None,
    };
    let parent = number.is_multiple_of(3).then(|| file(number + 2));
    Listed { real: info.path.clone(), info, parent, origin: Origin::Own }
}
