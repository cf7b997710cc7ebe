//! The time from the start of the program to its first request, in an empty folder and in one of many files.
//!
//! Owns the folders, a server that answers nothing, and the rounds. Knows no page.

#![expect(clippy::disallowed_methods, reason = "measuring is its work")]

use std::fs;
use std::io::Read as _;
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use tempfile::TempDir;
use xtask::env;

use crate::figures::median;

const FILES: usize = 10_000;
const ROUNDS: usize = 21;
const TIME_OUT: Duration = Duration::from_secs(30);

/// Median times of starts, in milliseconds.
pub(super) struct StartTimes {
    pub(super) empty: f64,
    pub(super) many: f64,
}

/// Starts the program in both folders in turn.
pub(super) fn measure(program: &Path) -> Result<StartTimes> {
    let stage = StartStage::make()?;
    let (mut empty, mut many) = (Vec::new(), Vec::new());
    for round in 0..=ROUNDS {
        let pair = [stage.start(program, "empty")?, stage.start(program, "many")?];
        // The first pair reads the program and the folders from the disk.
        if round > 0 {
            empty.push(pair[0]);
            many.push(pair[1]);
        }
    }
    let median = |times: Vec<f64>| median(times.into_iter()).context("no round was measured");
    Ok(StartTimes { empty: median(empty)?, many: median(many)? })
}

struct StartStage {
    scratch: TempDir,
    /// When a request began.
    requests: Receiver<Instant>,
}

impl StartStage {
    fn make() -> Result<Self> {
        let scratch = tempfile::Builder::new().prefix("offshoot-start-").tempdir()?;
        fs::create_dir(scratch.path().join("empty"))?;
        for at in 0..FILES {
            let folder = scratch.path().join(format!("many/src{}", at / 50));
            if at % 50 == 0 {
                fs::create_dir_all(&folder)?;
            }
            fs::write(folder.join(format!("file{at}.rs")), format!("// file {at}\n"))?;
        }
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let data = scratch.path().join("home/.local/share/offshoot");
        fs::create_dir_all(&data)?;
        fs::write(data.join("models.json"), models(listener.local_addr()?.port()))?;
        let (sender, requests) = channel();
        std::thread::spawn(move || listener.incoming().flatten().for_each(|stream| note_request(stream, &sender)));
        Ok(Self { scratch, requests })
    }

    fn start(&self, program: &Path, folder: &str) -> Result<f64> {
        let mut command = Command::new(program);
        command.args(["-p", "hello", "--model", "none/m1"]).current_dir(self.scratch.path().join(folder)).env_clear();
        command.env("HOME", self.scratch.path().join("home")).env("PATH", env::var("PATH").unwrap_or_default());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let begun = Instant::now();
        let mut child = command.spawn().with_context(|| format!("cannot run {}", program.display()))?;
        let asked = self.requests.recv_timeout(TIME_OUT);
        child.kill()?;
        child.wait()?;
        // A request that is sent again belongs to this round.
        self.requests.try_iter().for_each(drop);
        let asked = asked.with_context(|| format!("{} sent no request", program.display()))?;
        Ok(asked.duration_since(begun).as_secs_f64() * 1000.0)
    }
}

/// Sends when the request began, and answers nothing.
fn note_request(mut stream: TcpStream, sender: &Sender<Instant>) {
    if matches!(stream.read(&mut [0]), Ok(1)) {
        // Nobody waits for the last one.
        sender.send(Instant::now()).unwrap_or_default();
    }
}

fn models(port: u16) -> String {
    format!(
        r#"{{"providers": {{"none": {{"baseUrl": "http://127.0.0.1:{port}", "api": "anthropic-messages", "apiKey": "none",
            "models": [{{"id": "m1", "contextWindow": 200000, "maxTokens": 8000}}]}}}}}}"#
    )
}
