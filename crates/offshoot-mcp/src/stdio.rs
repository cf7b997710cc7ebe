//! A server that is a process: lines of JSON to its input and from its output, and the last that it has printed as errors.

use std::collections::VecDeque;
use std::io;
use std::path::Path;
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use offshoot_agent::MarkedProcesses;
use offshoot_agent::guard::{LifeLine, guarded_command};
use offshoot_session::text::one_line;
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{Child, ChildStdin, Command};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::timeout;

use crate::message::{Incoming, LONGEST_MESSAGE};
use crate::peer::{CallError, Carrier, Peer};

/// So many of the last lines of its errors are kept.
const KEPT_LINES: usize = 20;
const LONGEST_LINE: usize = 500;
/// What a server has to end by itself when its input ends.
const GRACE: Duration = Duration::from_millis(500);

/// The last lines that a server has printed as errors.
#[derive(Debug, Clone, Default)]
pub(crate) struct ErrorTail(Arc<Mutex<VecDeque<String>>>);

impl ErrorTail {
    fn push(&self, line: &[u8]) {
        let line = one_line(&String::from_utf8_lossy(line), LONGEST_LINE);
        let mut lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if lines.len() == KEPT_LINES {
            lines.pop_front();
        }
        lines.push_back(line);
    }

    pub(crate) fn lines(&self) -> Vec<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }

    /// The line that says best why the server has ended: the last one about an error, else the last one. After an error Node.js
    /// prints where it was, and its version.
    fn reason(&self) -> Option<String> {
        let lines = self.lines();
        let is_error = |line: &&String| line.to_lowercase().contains("error");
        lines.iter().rfind(is_error).or(lines.last()).cloned()
    }
}

/// A running server. Dropping it ends all its processes.
#[derive(Debug)]
pub(crate) struct ServerProcess {
    child: Option<Child>,
    life: Option<LifeLine>,
    processes: MarkedProcesses,
}

/// The ends of its pipes.
pub(crate) struct ProcessPipes {
    pub(crate) process: ServerProcess,
    input: ChildStdin,
    output: tokio::process::ChildStdout,
    errors: tokio::process::ChildStderr,
}

/// Starts a server under a guard, if there is a launcher. It gets these variables and no others.
pub(crate) fn start(
    launcher: Option<&Path>,
    words: &[std::ffi::OsString],
    cwd: &Path,
    env: &[(String, String)],
) -> io::Result<ProcessPipes> {
    let (mut command, life) = match (launcher, words.split_first()) {
        (_, None) => return Err(io::ErrorKind::InvalidInput.into()),
        (Some(launcher), Some(_)) => {
            let (command, life) = guarded_command(launcher, words)?;
            (Command::from(command), Some(life))
        }
        (None, Some((program, arguments))) => {
            let mut command = Command::new(program);
            command.args(arguments).process_group(0);
            (command, None)
        }
    };
    let processes = MarkedProcesses::default();
    let (mark, value) = processes.variable();
    command.env_clear().envs(env.iter().map(|(name, value)| (name, value))).env(mark, value);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.current_dir(cwd).spawn()?;
    let missing = || io::Error::other("a started server has no pipes");
    let input = child.stdin.take().ok_or_else(missing)?;
    let output = child.stdout.take().ok_or_else(missing)?;
    let errors = child.stderr.take().ok_or_else(missing)?;
    Ok(ProcessPipes { process: ServerProcess { child: Some(child), life, processes }, input, output, errors })
}

impl ServerProcess {
    /// Lets it end by itself for a moment, after its input has ended, and ends what is left.
    pub(crate) async fn end(mut self) {
        if let Some(mut child) = self.child.take() {
            // It may hang.
            drop(timeout(GRACE, child.wait()).await);
        }
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        // The guard ends the group; what it has missed has the mark.
        drop(self.life.take());
        self.processes.kill();
    }
}

/// Takes messages to the process.
pub(crate) struct StdioCarrier(UnboundedSender<Value>);

impl Carrier for StdioCarrier {
    fn send(&self, message: Value, _: Option<u64>) {
        // The reader finds out that the process is gone.
        drop(self.0.send(message));
    }

    fn forget(&self, _: u64) -> bool {
        true
    }
}

/// The two ends of a line to a process: what is sent goes through the carrier, and [`serve`] does the rest.
pub(crate) fn carrier() -> (StdioCarrier, UnboundedReceiver<Value>) {
    let (to, outgoing) = unbounded_channel();
    (StdioCarrier(to), outgoing)
}

/// Moves messages until the process is gone. Returns the process; the caller ends it.
pub(crate) fn serve(
    pipes: ProcessPipes,
    outgoing: UnboundedReceiver<Value>,
    peer: &Arc<Peer>,
    tail: &ErrorTail,
) -> ServerProcess {
    let ProcessPipes { process, input, output, errors } = pipes;
    drop(tokio::spawn(write(input, outgoing)));
    let (weak, why) = (Arc::downgrade(peer), tail.clone());
    drop(tokio::spawn(async move {
        let ended = read_lines(output, LONGEST_MESSAGE, |line| match weak.upgrade() {
            Some(peer) => {
                take(&peer, line);
                true
            }
            None => false,
        });
        let ended = ended.await;
        lose(&weak, ended, &why);
    }));
    drop(tokio::spawn(keep_errors(errors, tail.clone())));
    process
}

/// Reads to the end, whatever comes: a server whose errors nobody reads would wait. Of a long line the beginning is kept.
async fn keep_errors(mut from: impl AsyncRead + Unpin, tail: ErrorTail) {
    let (mut line, mut buffer) = (Vec::new(), vec![0; 16 << 10]);
    while let Ok(count) = from.read(&mut buffer).await {
        if count == 0 {
            break;
        }
        for byte in buffer.get(..count).unwrap_or_default() {
            match byte {
                b'\n' => {
                    tail.push(&line);
                    line.clear();
                }
                byte if line.len() < 4 * LONGEST_LINE => line.push(*byte),
                _ => {}
            }
        }
    }
    if !line.is_empty() {
        tail.push(&line);
    }
}

fn take(peer: &Peer, line: &[u8]) {
    let line = line.trim_ascii();
    if !line.is_empty() {
        peer.take(Incoming::parse(line));
    }
}

fn lose(peer: &Weak<Peer>, ended: Result<(), LineTrouble>, tail: &ErrorTail) {
    let Some(peer) = peer.upgrade() else { return };
    let why = match ended {
        Ok(()) => "the server has ended".to_owned(),
        Err(LineTrouble::TooLong) => format!("the server sent a message of more than {} MiB", LONGEST_MESSAGE >> 20),
        Err(LineTrouble::Io(error)) => format!("the server cannot be read: {error}"),
    };
    let last = tail.reason().map(|line| format!(": {line}")).unwrap_or_default();
    peer.lose(&CallError::Gone(format!("{why}{last}")));
}

async fn write(mut input: ChildStdin, mut outgoing: UnboundedReceiver<Value>) {
    while let Some(message) = outgoing.recv().await {
        let mut line = message.to_string();
        line.push('\n');
        if input.write_all(line.as_bytes()).await.is_err() || input.flush().await.is_err() {
            return;
        }
    }
}

#[derive(Debug)]
enum LineTrouble {
    TooLong,
    Io(io::Error),
}

/// Gives each line to `each` until it wants no more, or until the end.
async fn read_lines(
    mut from: impl AsyncRead + Unpin,
    longest: usize,
    mut each: impl FnMut(&[u8]) -> bool,
) -> Result<(), LineTrouble> {
    let (mut line, mut buffer) = (Vec::new(), vec![0; 64 << 10]);
    loop {
        let count = from.read(&mut buffer).await.map_err(LineTrouble::Io)?;
        if count == 0 {
            if !line.is_empty() {
                each(&line);
            }
            return Ok(());
        }
        let mut rest = buffer.get(..count).unwrap_or_default();
        while let Some(at) = memchr::memchr(b'\n', rest) {
            let (head, behind) = rest.split_at(at);
            line.extend_from_slice(head);
            if !each(&line) {
                return Ok(());
            }
            line.clear();
            rest = behind.get(1..).unwrap_or_default();
        }
        line.extend_from_slice(rest);
        if line.len() > longest {
            return Err(LineTrouble::TooLong);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(bytes: &[u8], longest: usize) -> (Vec<String>, bool) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let mut found = Vec::new();
        let ended = runtime.block_on(read_lines(bytes, longest, |line| {
            found.push(String::from_utf8_lossy(line).into_owned());
            true
        }));
        (found, ended.is_ok())
    }

    #[test]
    fn lines_are_bounded_and_the_last_needs_no_end() {
        assert_eq!(lines(b"a\n\nbc", 9), (vec!["a".to_owned(), String::new(), "bc".to_owned()], true));
        assert_eq!(lines(b"a\n0123456789", 9), (vec!["a".to_owned()], false));
    }

    #[test]
    fn only_the_last_lines_of_errors_are_kept_and_no_escape() {
        let tail = ErrorTail::default();
        (0..30).for_each(|number| tail.push(format!("line {number}\u{1b}[2J").as_bytes()));
        let lines = tail.lines();
        assert_eq!((lines.len(), lines[19].contains('\u{1b}')), (KEPT_LINES, false));
        assert!(lines[0].starts_with("line 10"), "{lines:?}");
    }

    #[test]
    fn the_reason_is_the_last_line_about_an_error() {
        let tail = ErrorTail::default();
        assert_eq!(tail.reason(), None);
        tail.push(b"I start");
        assert_eq!(tail.reason().as_deref(), Some("I start"));
        tail.push(b"Error: Cannot find module 'x'");
        for line in ["    at node:internal/main:28:49", "", "Node.js v20.20.2"] {
            tail.push(line.as_bytes());
        }
        assert_eq!(tail.reason().as_deref(), Some("Error: Cannot find module 'x'"));
    }
}
