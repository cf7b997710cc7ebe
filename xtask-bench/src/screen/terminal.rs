//! A program in a pseudo-terminal, watched from outside.
//!
//! A frame is complete when the end of its synchronised update (`CSI ? 2026 l`) has been read. The reading thread takes
//! the time before it does anything with the bytes.

#![expect(clippy::disallowed_methods, reason = "measuring is its work")]

use std::io::{Read, Write};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};

pub(super) const COLUMNS: u16 = 120;
pub(super) const ROWS: u16 = 40;

const END: &[u8] = b"\x1b[?2026l";
const WHERE: &[u8] = b"\x1b[6n";
/// Time-out of a frame.
const PATIENCE: Duration = Duration::from_secs(60);
/// Time-out of a key's frame, after which the key is taken to change nothing.
const IDLE: Duration = Duration::from_millis(500);
/// Time-out of the program's exit.
const LAST: Duration = Duration::from_secs(5);
const MOMENT: Duration = Duration::from_millis(10);

pub(super) struct Terminal {
    parser: vt100::Parser,
    output: Receiver<Piece>,
    input: Box<dyn Write + Send>,
    child: Box<dyn Child + Send + Sync>,
    started: Instant,
    /// When the frame on the screen was complete; `None` if it is not, or if it precedes the last key.
    last: Option<Instant>,
    /// How many bytes the program has written.
    bytes: u64,
    _master: Box<dyn MasterPty + Send>,
}

struct Piece {
    at: Instant,
    bytes: Vec<u8>,
    ends_picture: bool,
}

pub(super) struct KeyTiming {
    pub(super) at: Instant,
    pub(super) took: Duration,
}

impl Terminal {
    pub(super) fn start(command: CommandBuilder) -> Result<Self> {
        Self::start_at(command, PtySize { rows: ROWS, cols: COLUMNS, pixel_width: 0, pixel_height: 0 })
    }

    pub(super) fn start_at(command: CommandBuilder, size: PtySize) -> Result<Self> {
        let pair = native_pty_system().openpty(size)?;
        let reader = pair.master.try_clone_reader()?;
        let (sender, output) = channel();
        std::thread::spawn(move || read(reader, &sender));
        let input = pair.master.take_writer()?;
        let started = Instant::now();
        let child = pair.slave.spawn_command(command)?;
        let parser = vt100::Parser::new(size.rows, size.cols, 0);
        Ok(Self { parser, output, input, child, started, last: None, bytes: 0, _master: pair.master })
    }

    /// The time from the start to the first matching frame, which may already be on the screen.
    pub(super) fn first(&mut self, what: &str, is_so: impl Fn(&str) -> bool) -> Result<Duration> {
        Ok(self.until(what, is_so)?.duration_since(self.started))
    }

    /// Types keys and waits for the first matching frame after them.
    pub(super) fn key(&mut self, keys: &str, what: &str, is_so: impl Fn(&str) -> bool) -> Result<KeyTiming> {
        let at = self.type_now(keys)?;
        Ok(KeyTiming { at, took: self.until(what, is_so)?.duration_since(at) })
    }

    /// Types a key and waits for the first frame whose content, as `content` reads it, differs from the one before. A
    /// frame that earlier work draws late is not the key's. `None` if the key changes nothing.
    pub(super) fn key_that_changes<T: PartialEq>(
        &mut self,
        key: &str,
        content: impl Fn(&str) -> T,
    ) -> Result<Option<KeyTiming>> {
        self.key_that_changes_within(IDLE, key, content)
    }

    fn key_that_changes_within<T: PartialEq>(
        &mut self,
        patience: Duration,
        key: &str,
        content: impl Fn(&str) -> T,
    ) -> Result<Option<KeyTiming>> {
        self.take_waiting()?;
        let before = content(&self.screen());
        let at = self.type_now(key)?;
        let seen = self.until_within(patience, |screen| content(screen) != before)?;
        Ok(seen.map(|seen| KeyTiming { at, took: seen.duration_since(at) }))
    }

    /// Types keys. The frames before them count no more.
    fn type_now(&mut self, keys: &str) -> Result<Instant> {
        self.take_waiting()?;
        let typed = Instant::now();
        self.send(keys)?;
        self.last = None;
        Ok(typed)
    }

    fn take_waiting(&mut self) -> Result<()> {
        while let Ok(piece) = self.output.try_recv() {
            self.take(&piece)?;
        }
        Ok(())
    }

    /// When the first matching frame came: the one on the screen, unless it precedes the last key, or a later one.
    pub(super) fn until(&mut self, what: &str, is_so: impl Fn(&str) -> bool) -> Result<Instant> {
        match self.until_within(PATIENCE, is_so)? {
            Some(at) => Ok(at),
            None => bail!("waited in vain for {what}; the screen shows:\n{}", self.screen()),
        }
    }

    /// As [`Terminal::until`]; `None` if no frame matches before one takes longer than `patience`.
    fn until_within(&mut self, patience: Duration, is_so: impl Fn(&str) -> bool) -> Result<Option<Instant>> {
        loop {
            if let Some(at) = self.last.filter(|_| is_so(&self.screen())) {
                return Ok(Some(at));
            }
            let Ok(piece) = self.output.recv_timeout(patience) else { return Ok(None) };
            self.take(&piece)?;
        }
    }

    pub(super) fn settle(&mut self, quiet: Duration) -> Result<()> {
        while let Ok(piece) = self.output.recv_timeout(quiet) {
            self.take(&piece)?;
        }
        Ok(())
    }

    /// Waits until something is shown and has not changed for `quiet`. A screen that never rests is taken as it is after
    /// the time-out.
    pub(super) fn rest(&mut self, quiet: Duration, time_out: Duration) -> Result<()> {
        let begun = Instant::now();
        let (mut shown, mut changed) = (self.screen(), begun);
        while begun.elapsed() < time_out && (shown.trim().is_empty() || changed.elapsed() < quiet) {
            match self.output.recv_timeout(MOMENT) {
                Ok(piece) => self.take(&piece)?,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            let now = self.screen();
            if now != shown {
                (shown, changed) = (now, Instant::now());
            }
        }
        Ok(())
    }

    pub(super) fn peak_mib(&self) -> Result<f64> {
        let process = self.child.process_id().context("the program has no number")?;
        let file = format!("/proc/{process}/status");
        let text = std::fs::read_to_string(&file).with_context(|| format!("cannot read {file}"))?;
        peak(&text).with_context(|| format!("{file} names no peak (VmHWM)"))
    }

    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The processor time of the program so far, of all its threads.
    pub(super) fn cpu_seconds(&self) -> Result<f64> {
        let process = self.child.process_id().context("the program has no number")?;
        let file = format!("/proc/{process}/stat");
        let text = std::fs::read_to_string(&file).with_context(|| format!("cannot read {file}"))?;
        cpu(&text).with_context(|| format!("{file} names no times"))
    }

    /// Ends the program, by force if necessary. A signal is used because writing to a terminal that nobody has open
    /// never returns.
    pub(super) fn end(mut self) -> Result<()> {
        let process = self.child.process_id().context("the program has no number")?;
        kill(Pid::from_raw(i32::try_from(process)?), Signal::SIGTERM).context("cannot end the program")?;
        let asked = Instant::now();
        while self.child.try_wait()?.is_none() {
            if asked.elapsed() > LAST {
                self.child.kill()?;
            }
            // Output that never ends must not delay the end.
            if let Ok(piece) = self.output.recv_timeout(MOMENT) {
                self.take(&piece)?;
            }
        }
        Ok(())
    }

    pub(super) fn screen(&self) -> String {
        self.parser.screen().contents()
    }

    pub(super) fn cells(&self) -> &vt100::Screen {
        self.parser.screen()
    }

    pub(super) fn send(&mut self, keys: &str) -> Result<()> {
        self.input.write_all(keys.as_bytes()).and_then(|()| self.input.flush()).context("cannot type")
    }

    /// Processes output, and answers cursor queries as terminals do.
    fn take(&mut self, piece: &Piece) -> Result<()> {
        self.parser.process(&piece.bytes);
        self.bytes += piece.bytes.len() as u64;
        self.last = piece.ends_picture.then_some(piece.at);
        if piece.bytes.windows(WHERE.len()).any(|window| window == WHERE) {
            let (row, column) = self.parser.screen().cursor_position();
            self.send(&format!("\x1b[{};{}R", row + 1, column + 1))?;
        }
        Ok(())
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // Nothing is left running. The program may have ended already.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Reads until the terminal is closed; splits the output after the end of each frame.
fn read(mut from: impl Read, to: &Sender<Piece>) {
    let mut bytes = vec![0; 1 << 16];
    let mut known = 0;
    while let Ok(count) = from.read(&mut bytes) {
        let at = Instant::now();
        let Some(read) = bytes.get(..count).filter(|read| !read.is_empty()) else { return };
        for (piece, ends_picture) in pieces(read, &mut known) {
            if to.send(Piece { at, bytes: piece.to_vec(), ends_picture }).is_err() {
                return;
            }
        }
    }
}

/// Splits bytes after each frame's end and marks the pieces that end one. `known` bytes of an end were already read.
fn pieces<'a>(bytes: &'a [u8], known: &mut usize) -> Vec<(&'a [u8], bool)> {
    let (mut pieces, mut start) = (Vec::new(), 0);
    for (at, byte) in bytes.iter().enumerate() {
        // The first byte of the marker occurs nowhere else in it.
        *known = match (END.get(*known) == Some(byte), END.first() == Some(byte)) {
            (true, _) => *known + 1,
            (false, is_first) => usize::from(is_first),
        };
        if *known == END.len() {
            pieces.extend(bytes.get(start..=at).map(|piece| (piece, true)));
            (start, *known) = (at + 1, 0);
        }
    }
    pieces.extend(bytes.get(start..).filter(|rest| !rest.is_empty()).map(|rest| (rest, false)));
    pieces
}

/// The peak memory in the kernel's status of a process, in MiB.
fn peak(status: &str) -> Option<f64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<f64>().ok().map(|kib| kib / 1024.0)
}

/// The processor time in the kernel's record of a process, in seconds. The kernel counts in hundredths.
fn cpu(stat: &str) -> Option<f64> {
    let mut members = stat.rsplit_once(')')?.1.split_whitespace().skip(11);
    let (user, system) = (members.next()?.parse::<f64>().ok()?, members.next()?.parse::<f64>().ok()?);
    Some((user + system) / 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Terminal {
        let mut command = CommandBuilder::new("sh");
        command.args(["-c", script]);
        Terminal::start(command).unwrap()
    }

    #[test]
    fn a_picture_ends_where_its_update_does_also_in_two_pieces() {
        let mut known = 0;
        let parted: Vec<_> = [&b"one\x1b[?2026ltwo\x1b[?20"[..], b"26l\x1b\x1b[?2026", b"lrest"]
            .into_iter()
            .flat_map(|bytes| pieces(bytes, &mut known))
            .map(|(piece, ends)| (String::from_utf8_lossy(piece).replace('\x1b', "^"), ends))
            .collect();
        let parted: Vec<_> = parted.iter().map(|(piece, ends)| (piece.as_str(), *ends)).collect();
        assert_eq!(
            parted,
            [
                ("one^[?2026l", true),
                ("two^[?20", false),
                ("26l", true),
                ("^^[?2026", false),
                ("l", true),
                ("rest", false)
            ]
        );
    }

    #[test]
    fn pictures_are_waited_for_and_questions_answered() {
        let end = r"printf '\033[?2026l'";
        let mut terminal = shell(&format!(
            r"stty -echo -icanon min 1; printf 'a\033[6n'; head -c 6 >/dev/null; printf b; {end}; head -c 1 >/dev/null; printf c; {end}; cat"
        ));
        terminal.first("the answer", |screen| screen == "ab").unwrap();
        terminal.key("x", "the next picture", |_| true).unwrap();
        assert!(terminal.screen() == "abc" && terminal.peak_mib().unwrap() > 0.1);
        terminal.end().unwrap();
    }

    /// Regression: a frame that the work of the key before drew late was taken for the key's own.
    #[test]
    fn a_late_frame_is_not_the_key_s() {
        let end = r"printf '\033[?2026l'";
        let key = "head -c 1 >/dev/null";
        let script = format!(
            "stty -echo -icanon min 1; printf a; {end}; {key}; printf ,; {end}; printf b; {end}; {key}; {end}; cat"
        );
        let mut terminal = shell(&script);
        terminal.first("a picture", |_| true).unwrap();
        let letters = |screen: &str| screen.replace(',', "");
        assert!(terminal.key_that_changes_within(PATIENCE, "x", letters).unwrap().is_some());
        assert_eq!(terminal.screen(), "a,b");
        assert!(terminal.key_that_changes("x", letters).unwrap().is_none());
        terminal.end().unwrap();
    }

    #[test]
    fn a_screen_rests_after_its_first_words_and_one_that_never_rests_is_ended() {
        let mut late = shell("head -c 1 >/dev/null; echo late; cat");
        late.send("x\r").unwrap();
        late.rest(MOMENT, PATIENCE).unwrap();
        assert!(!late.screen().trim().is_empty());
        let mut restless = shell("trap '' TERM; n=0; while :; do n=$((n + 1)); echo $n; done");
        restless.rest(PATIENCE, MOMENT * 5).unwrap();
        restless.end().unwrap();
    }

    #[test]
    fn who_ends_too_soon_is_told_with_what_was_shown() {
        let error = shell("echo no such thing").first("a picture", |_| true).unwrap_err().to_string();
        assert!(error.contains("waited in vain for a picture") && error.contains("no such thing"), "{error}");
    }

    #[test]
    fn the_peak_is_the_kernel_s() {
        assert_eq!(peak("Name:\tx\nVmHWM:\t    2048 kB\nVmRSS:\t 1 kB\n"), Some(2.0));
        assert_eq!(peak("VmRSS:\t 1 kB\n"), None);
        assert_eq!(cpu("7 (a b) c) S 1 7 7 0 -1 4194304 90 0 0 0 150 25 0 0 20 0"), Some(1.75));
        assert_eq!(cpu("7 (sh) S 1"), None);
    }
}
