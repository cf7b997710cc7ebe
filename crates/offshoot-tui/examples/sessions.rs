//! The selector of sessions without a terminal: one world as a JSON object per line in, its rows as a JSON array per line out.
//!
//! `echo '{"sessions":[...],"query":"parser"}' | cargo run -p offshoot-tui --example sessions`
//!
//! `sessions` are pi's `SessionInfo` with times in milliseconds; `sort` says how often Ctrl+S is pressed, `named` whether
//! Ctrl+N is, `now` what time it is.

#![expect(clippy::disallowed_methods, reason = "an example is a whole program")]

use std::io::{BufRead as _, Write as _};
use std::path::PathBuf;

use offshoot_session::list::SessionInfo;
use offshoot_tui::overlay::sessions::search::{Query, TextHits};
use offshoot_tui::overlay::sessions::{Answer, Listed, Request, Scope, Sessions, Setting};
use offshoot_tui::text::width;
use offshoot_tui::theme::Theme;
use offshoot_workspace::SessionProgram;
use ratatui::buffer::{Buffer, Cell};
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::layout::Rect;
use serde::Deserialize;

type Failure = Box<dyn std::error::Error>;

#[derive(Deserialize)]
#[serde(default, rename_all = "camelCase")]
#[derive(Default)]
struct World {
    sessions: Vec<Told>,
    query: String,
    sort: usize,
    named: bool,
    now: i64,
}

#[derive(Deserialize, Default, Clone)]
#[serde(default, rename_all = "camelCase")]
struct Told {
    path: PathBuf,
    id: String,
    cwd: String,
    name: Option<String>,
    parent_session_path: Option<String>,
    modified: i64,
    message_count: u64,
    first_message: String,
    all_messages_text: String,
}

/// How many rows are not sessions.
const CHROME: u16 = 18;
const COLUMNS: u16 = 80;

fn main() -> Result<(), Failure> {
    for line in std::io::stdin().lock().lines() {
        let rows = rows(&serde_json::from_str(&line?)?);
        let mut out = std::io::stdout().lock();
        writeln!(out, "{}", serde_json::to_string(&rows)?)?;
        out.flush()?;
    }
    Ok(())
}

fn rows(world: &World) -> Vec<String> {
    let mut sessions = Sessions::new(Setting { now: world.now, ..Setting::default() });
    let infos: Vec<SessionInfo> = world.sessions.iter().cloned().map(info).collect();
    let listed = |info: &SessionInfo| Listed {
        real: info.path.clone(),
        parent: info.parent_session_path.clone().map(PathBuf::from),
        origin: SessionProgram::Offshoot,
        info: SessionInfo { all_messages_text: None, ..info.clone() },
    };
    // In two portions: what comes late belongs there as well.
    let (late, soon) = infos.split_at(infos.len() / 2);
    for portion in [soon, late] {
        sessions.take(Answer::Listed(Scope::Folder, portion.iter().map(listed).collect()));
    }
    sessions.take(Answer::Done(Scope::Folder, Ok(0)));
    let ctrl = |letter| KeyEvent::new(KeyCode::Char(letter), KeyModifiers::CONTROL);
    for _ in 0..world.sort {
        sessions.key(ctrl('s'));
    }
    if world.named {
        sessions.key(ctrl('n'));
    }
    sessions.paste(&world.query);
    for request in sessions.requests() {
        if let Request::Search { search, query, files } = request {
            let query = Query::parse(&query);
            let search_in = |file: PathBuf| {
                let mut hits = TextHits::default();
                let said = infos.iter().find(|info| info.path == file).and_then(|info| info.all_messages_text.as_ref());
                if let Some(said) = said {
                    query.look_in(None, said, &mut hits);
                }
                (file, hits)
            };
            let judged = files.into_iter().map(search_in).collect();
            sessions.take(Answer::Judged(search, judged));
        }
    }
    let height = u16::try_from(infos.len()).unwrap_or(u16::MAX).saturating_mul(2).saturating_add(CHROME);
    let area = Rect::new(0, 0, COLUMNS, height);
    let mut buf = Buffer::empty(area);
    sessions.view(&Theme::default(), area, &mut buf);
    let rows = (5..height).map(|y| row(&buf, y));
    rows.take_while(|row| !row.is_empty() && !row.starts_with("  (")).collect()
}

/// The symbols of a row; a cell behind a wide one holds nothing of its own.
fn row(buf: &Buffer, y: u16) -> String {
    let mut covered = 0;
    let mut row = String::new();
    for symbol in (0..COLUMNS).filter_map(|x| buf.cell((x, y))).map(Cell::symbol) {
        if covered == 0 {
            row.push_str(symbol);
            covered = width(symbol);
        }
        covered = covered.saturating_sub(1);
    }
    row.trim_end().to_owned()
}

fn info(told: Told) -> SessionInfo {
    SessionInfo {
        path: told.path,
        id: told.id,
        cwd: told.cwd,
        name: told.name,
        parent_session_path: told.parent_session_path,
        created: None,
        modified: Some(told.modified),
        message_count: told.message_count,
        tokens: 0,
        cost: 0.0,
        first_message: told.first_message,
        all_messages_text: Some(told.all_messages_text),
    }
}
