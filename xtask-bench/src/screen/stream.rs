//! `cargo xtask screen --stream`: pi and offshoot with the same slow model, one after the other: the first frame, the time
//! from a key to its frame, and what 10,000 paced deltas cost.

#![expect(clippy::disallowed_methods, reason = "measuring is its work")]

use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use portable_pty::{CommandBuilder, PtySize};
use xtask::{env, out};

use super::terminal::Terminal;

const SIZE: PtySize = PtySize { rows: 24, cols: 80, pixel_width: 0, pixel_height: 0 };
const DELTAS: usize = 10_000;
const PACE: Duration = Duration::from_millis(3);
/// So many deltas are a paragraph.
const PARAGRAPH: usize = 40;
const KEYS: usize = 200;
/// So many letters fit a row.
const ROW: usize = 40;
const LAST: &str = "the very end";
const QUIET: Duration = Duration::from_secs(2);
const TIME_OUT: Duration = Duration::from_secs(20);

/// Programs, and a folder for their homes.
#[derive(Debug)]
pub(super) struct StreamComparison {
    pub(super) binary: PathBuf,
    /// The folder in which npm installed the peers.
    pub(super) peers: PathBuf,
    pub(super) folder: PathBuf,
}

struct StreamFigures {
    first: Duration,
    keys: Vec<Duration>,
    bytes: u64,
    cpu: f64,
    took: Duration,
    peak_mib: f64,
}

impl StreamComparison {
    pub(super) fn run(&self) -> Result<()> {
        let scratch = tempfile::Builder::new().prefix("offshoot-stream-").tempdir_in(&self.folder)?;
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let port = listener.local_addr()?.port();
        std::thread::spawn(move || listener.incoming().flatten().for_each(answer));
        let mut pi = CommandBuilder::new("node");
        pi.arg(self.peers.join(".bin/pi"));
        pi.args(["--offline", "--no-extensions"]);
        let programs =
            [("pi", ".pi/agent", pi), ("offshoot", ".local/share/offshoot", CommandBuilder::new(&self.binary))];
        let mut table = String::from(
            "| program | first frame | key to frame p50 | p95 | bytes | CPU | until the end | memory |\n|---|--:|--:|--:|--:|--:|--:|--:|\n",
        );
        for (name, data, command) in programs {
            out::warn(&format!("{name} ..."));
            let figures = measure(command, &scratch.path().join(name), data, port).with_context(|| name.to_owned())?;
            writeln!(table, "{}", row(name, figures))?;
        }
        out::say(&table);
        Ok(())
    }
}

fn row(name: &str, mut figures: StreamFigures) -> String {
    figures.keys.sort();
    let milliseconds = |time: Duration| format!("{:.1} ms", time.as_secs_f64() * 1000.0);
    let at = |percent: usize| figures.keys.get(figures.keys.len() * percent / 100).copied().unwrap_or_default();
    let cells = [
        name.to_owned(),
        milliseconds(figures.first),
        milliseconds(at(50)),
        milliseconds(at(95)),
        figures.bytes.to_string(),
        format!("{:.2} s", figures.cpu),
        format!("{:.1} s", figures.took.as_secs_f64()),
        format!("{:.0} MiB", figures.peak_mib),
    ];
    format!("| {} |", cells.join(" | "))
}

fn measure(mut command: CommandBuilder, home: &Path, data: &str, port: u16) -> Result<StreamFigures> {
    let project = home.join("project");
    fs::create_dir_all(&project)?;
    fs::create_dir_all(home.join(data))?;
    fs::write(home.join(data).join("models.json"), models(port))?;
    command.cwd(&project);
    command.env_clear();
    command.env("HOME", home);
    command.env("PATH", env::var("PATH").unwrap_or_default());
    command.env("TERM", "xterm-256color");
    command.env("COLORTERM", "truecolor");
    command.env("LANG", "C.UTF-8");
    let mut terminal = Terminal::start_at(command, SIZE)?;
    let first = terminal.first("the model in the status line", |screen| screen.contains("m1"))?;
    terminal.rest(QUIET, TIME_OUT)?;
    let keys = type_letters(&mut terminal)?;
    terminal.rest(QUIET, TIME_OUT)?;
    let before = (terminal.bytes(), terminal.cpu_seconds()?);
    let asked = terminal.key("tell me all\r", "the request", |_| true)?.at;
    let end = terminal.until("the end", |screen| screen.contains(LAST))?;
    terminal.rest(QUIET, TIME_OUT)?;
    let figures = StreamFigures {
        first,
        keys,
        bytes: terminal.bytes() - before.0,
        cpu: terminal.cpu_seconds()? - before.1,
        took: end.duration_since(asked),
        peak_mib: terminal.peak_mib()?,
    };
    terminal.end()?;
    Ok(figures)
}

/// The times until each letter is on the screen. Each waits for the one before.
fn type_letters(terminal: &mut Terminal) -> Result<Vec<Duration>> {
    let mut times = Vec::new();
    for _ in 0..KEYS / ROW {
        let mut typed = String::new();
        for letter in ('a'..='z').cycle().take(ROW) {
            typed.push(letter);
            times.push(terminal.key(&letter.to_string(), "the letter", |screen| screen.contains(&typed))?.took);
        }
        terminal.key("\x15", "an empty editor", |screen| !screen.contains(&typed))?;
    }
    Ok(times)
}

fn models(port: u16) -> String {
    format!(
        r#"{{"providers": {{"slow": {{"baseUrl": "http://127.0.0.1:{port}", "api": "anthropic-messages", "apiKey": "none",
            "models": [{{"id": "m1", "contextWindow": 200000, "maxTokens": 64000, "reasoning": false,
            "cost": {{"input": 3, "output": 15, "cacheRead": 0, "cacheWrite": 0}}, "input": ["text"]}}]}}}}}}"#
    )
}

/// Answers a request with paced deltas. A program that goes away ends it.
fn answer(stream: TcpStream) {
    drop(std::thread::spawn(move || drop(stream_deltas(stream))));
}

fn stream_deltas(mut stream: TcpStream) -> Result<()> {
    read_request(&stream)?;
    stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n")?;
    let mut event = |kind: &str, members: &str| {
        write!(stream, "event: {kind}\ndata: {{\"type\":\"{kind}\"{members}}}\n\n").and_then(|()| stream.flush())
    };
    event(
        "message_start",
        r#","message":{"id":"x","type":"message","role":"assistant","model":"m1","content":[],"stop_reason":null,"usage":{"input_tokens":10,"output_tokens":1}}"#,
    )?;
    event("content_block_start", r#","index":0,"content_block":{"type":"text","text":""}"#)?;
    let begun = Instant::now();
    for number in 1..=DELTAS {
        let text = match number {
            DELTAS => LAST,
            _ if number % PARAGRAPH == 0 => "end.\\n\\n",
            _ => "words ",
        };
        event("content_block_delta", &format!(r#","index":0,"delta":{{"type":"text_delta","text":"{text}"}}"#))?;
        let due = PACE * u32::try_from(number)?;
        std::thread::sleep(due.saturating_sub(begun.elapsed()));
    }
    event("content_block_stop", r#","index":0"#)?;
    event("message_delta", r#","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":10000}"#)?;
    event("message_stop", "")?;
    Ok(())
}

fn read_request(stream: &TcpStream) -> Result<()> {
    let mut reader = BufReader::new(stream);
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let line = line.trim().to_ascii_lowercase();
        if line.is_empty() {
            break;
        }
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse()?;
        }
    }
    reader.take(length).read_to_end(&mut Vec::new())?;
    Ok(())
}
