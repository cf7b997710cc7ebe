//! How long the tree selector takes from a key to its picture, with many entries:
//! `tree_keys [ENTRIES] [KEYS]`, 100,000 and 2,000 without arguments. Prints a line for each sort of key.

use std::error::Error;
use std::io::Write as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use offshoot_session::session::{Options, Session};
use offshoot_tui::keymap::Key;
use offshoot_tui::overlay::tree::{Setup, TreeSelector};
use offshoot_tui::theme::Theme;
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::layout::Rect;

/// How much is looked at between two looks for keys.
const SLICE: usize = 1 << 18;

fn main() -> Result<(), Box<dyn Error>> {
    let mut given = std::env::args().skip(1);
    let entries: u32 = given.next().map_or(Ok(100_000), |count| count.parse())?;
    let keys: usize = given.next().map_or(Ok(2_000), |count| count.parse())?;
    let folder = std::env::temp_dir().join(format!("offshoot-tree-keys-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let result = measure(&folder.join("session.jsonl"), entries, keys);
    std::fs::remove_dir_all(&folder)?;
    result
}

fn measure(file: &std::path::Path, entries: u32, keys: usize) -> Result<(), Box<dyn Error>> {
    let mut out = std::io::stdout().lock();
    write_session(file, entries)?;
    let start = Instant::now();
    let session = Session::open(file, Options::default())?;
    let leaf = session.leaf();
    let opened = start.elapsed();
    let mut selector = TreeSelector::new(Arc::new(session), leaf, Setup { size: (120, 40), ..Setup::default() })?;
    let laid_out = start.elapsed();
    let (theme, mut buf) = (Theme::default(), Buffer::empty(Rect::new(0, 0, 120, 40)));
    selector.view(&theme, buf.area, &mut buf);
    writeln!(out, "{entries} entries: open {opened:?}, tree {:?}", laid_out - opened)?;
    for (name, sequence) in [
        ("move", &["up", "up", "down", "up"][..]),
        ("page", &["pageUp", "pageUp", "pageDown", "pageUp"]),
        ("ends", &["end", "home"]),
        ("fold, jump", &["ctrl+left", "ctrl+left", "ctrl+right", "ctrl+right"]),
        ("filter", &["ctrl+o"]),
        ("search", &["w", "o", "r", "d", "space", "1", "7", "escape"]),
    ] {
        let mut times: Vec<Duration> = Vec::with_capacity(keys);
        let mut slices: Vec<Duration> = Vec::new();
        for key in sequence.iter().cycle().take(keys) {
            let event = match key.chars().next().filter(|_| key.len() == 1) {
                Some(c) => KeyEvent::new(KeyCode::Char(c), KeyModifiers::NONE),
                None if *key == "space" => KeyEvent::new(KeyCode::Char(' '), KeyModifiers::NONE),
                None => Key::parse(key)?.event(),
            };
            let start = Instant::now();
            selector.key(event);
            selector.view(&theme, buf.area, &mut buf);
            times.push(start.elapsed());
            loop {
                let start = Instant::now();
                let is_more = selector.work(SLICE);
                slices.push(start.elapsed());
                if !is_more {
                    break;
                }
            }
        }
        let (key, slice) = (percentiles(&mut times), percentiles(&mut slices));
        writeln!(out, "{name:12} key to picture {key}; a slice of work {slice}")?;
    }
    Ok(())
}

fn percentiles(times: &mut [Duration]) -> String {
    times.sort_unstable();
    let at = |percent: usize| times.get((times.len() * percent / 100).min(times.len().saturating_sub(1))).copied();
    let said = |percent| at(percent).map_or(0.0, |time| time.as_secs_f64() * 1e3);
    format!("p50 {:.2} ms, p95 {:.2} ms, max {:.2} ms", said(50), said(95), said(100))
}

/// A conversation that branches now and then, with answers of some length and results of tools.
fn write_session(file: &std::path::Path, entries: u32) -> std::io::Result<()> {
    let mut out = std::io::BufWriter::new(std::fs::File::create(file)?);
    writeln!(out, r#"{{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}}"#)?;
    let said = "some words that an answer is made of, and then some more of them; ".repeat(4);
    for at in 0..entries {
        // Every fiftieth entry goes on from further up.
        let parent = if at % 50 == 49 { at - at.min(30) } else { at.saturating_sub(1) };
        let parent = if at == 0 { "null".to_owned() } else { format!("\"{parent:08x}\"") };
        let message = match at % 4 {
            0 => format!(r#"{{"role":"user","content":"word {} please, and word {}"}}"#, at % 1000, at % 177),
            1 => format!(
                r#"{{"role":"assistant","stopReason":"toolUse","content":[{{"type":"text","text":"{said}{at}"}},{{"type":"toolCall","id":"c{at}","name":"read","arguments":{{"path":"/w/{at}.rs"}}}}],"usage":{{"totalTokens":500,"cost":{{"total":0.001}}}}}}"#
            ),
            2 => format!(
                r#"{{"role":"toolResult","toolCallId":"c{}","toolName":"read","content":[{{"type":"text","text":"{said}{said}"}}]}}"#,
                at - 1
            ),
            _ => format!(r#"{{"role":"assistant","stopReason":"stop","content":[{{"type":"text","text":"{said}"}}]}}"#),
        };
        let time = format!(
            "2026-01-{:02}T{:02}:{:02}:{:02}.000Z",
            at / 86_400 % 28 + 1,
            at / 3600 % 24,
            at / 60 % 60,
            at % 60
        );
        writeln!(
            out,
            r#"{{"type":"message","id":"{at:08x}","parentId":{parent},"timestamp":"{time}","message":{message}}}"#
        )?;
    }
    out.flush()
}
