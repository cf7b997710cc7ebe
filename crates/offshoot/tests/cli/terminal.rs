//! A terminal for the real program: a pseudo-terminal, and a screen that understands what is written to it. When its width
//! changes it wraps its rows anew, also those that have scrolled away.

use std::io::{Read as _, Write};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};
use rustix::process::{Pid, Signal, kill_process};

use crate::agent::Talk;

/// How long a test waits for a screen, however much comes in meanwhile.
const PATIENCE: Duration = Duration::from_secs(60);

/// A program at work in a terminal.
pub(crate) struct Terminal {
    /// What it knows of modes and colours; of text and sizes `emulator` knows more.
    pub(crate) parser: vt100::Parser,
    emulator: avt::Terminal,
    /// Everything that was written.
    pub(crate) raw: Vec<u8>,
    /// What it answers to the question for its background; a terminal that does not know the question answers nothing.
    pub(crate) background: Option<&'static str>,
    /// Whether it says that it marks pastes, as most terminals do.
    pub(crate) marks_pastes: bool,
    /// The beginning of a question whose end has not come yet.
    begun: Vec<u8>,
    output: Receiver<Vec<u8>>,
    /// What was written and has not reached the screen yet.
    held: Vec<u8>,
    input: Box<dyn Write + Send>,
    master: Box<dyn MasterPty + Send>,
    child: Box<dyn Child + Send + Sync>,
}

/// Starts a program in the world's folder, in a terminal that nobody reads from yet.
fn spawn(
    talk: &Talk,
    mut command: CommandBuilder,
    (columns, rows): (u16, u16),
    variables: &[(&str, &str)],
) -> (Box<dyn MasterPty + Send>, Box<dyn Child + Send + Sync>) {
    let size = PtySize { rows, cols: columns, pixel_width: 0, pixel_height: 0 };
    let pair = native_pty_system().openpty(size).unwrap();
    command.cwd(talk.world.work());
    command.env_clear();
    for (name, value) in talk.command(&[]).get_envs() {
        command.env(name, value.unwrap());
    }
    command.env("TERM", "xterm-256color");
    for (name, value) in variables {
        match value.is_empty() {
            true => command.env_remove(name),
            false => command.env(name, value),
        }
    }
    let child = pair.slave.spawn_command(command).unwrap();
    (pair.master, child)
}

/// Runs offshoot in a terminal that is closed once the program has written `last`; answers whether the program ends.
pub(crate) fn ends_when_hung_up(talk: &Talk, arguments: &[&str], last: &[u8]) -> bool {
    let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_offshoot"));
    command.args(arguments);
    let (master, mut child) = spawn(talk, command, (80, 24), &[]);
    let mut reader = master.try_clone_reader().unwrap();
    let (mut written, mut bytes) = (Vec::new(), [0; 8192]);
    while !written.windows(last.len()).any(|window| window == last) {
        let count = reader.read(&mut bytes).unwrap();
        assert!(count > 0, "it ended before: {}", String::from_utf8_lossy(&written));
        written.extend_from_slice(&bytes[..count]);
    }
    drop((reader, master));
    let id = child.process_id().and_then(|id| rustix::process::Pid::from_raw(id.cast_signed())).unwrap();
    let (sender, ended) = channel();
    std::thread::spawn(move || sender.send(child.wait()));
    let has_ended = ended.recv_timeout(PATIENCE).is_ok();
    if !has_ended {
        rustix::process::kill_process(id, rustix::process::Signal::KILL).unwrap();
    }
    has_ended
}

impl Terminal {
    /// Runs offshoot in a terminal of this many columns and rows.
    pub(crate) fn offshoot(talk: &Talk, arguments: &[&str], (columns, rows): (u16, u16)) -> Self {
        Self::offshoot_in(talk, arguments, (columns, rows), &[])
    }

    /// The same with other variables; an empty one is taken away.
    pub(crate) fn offshoot_in(talk: &Talk, arguments: &[&str], size: (u16, u16), variables: &[(&str, &str)]) -> Self {
        let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_offshoot"));
        command.args(arguments);
        Self::run_with(talk, command, size, variables)
    }

    /// Runs a program in the world's folder.
    pub(crate) fn run(talk: &Talk, command: CommandBuilder, size: (u16, u16)) -> Self {
        Self::run_with(talk, command, size, &[])
    }

    /// A shell that can stop programs, at its prompt.
    pub(crate) fn shell(talk: &Talk, size: (u16, u16)) -> Self {
        Self::shell_with(talk, size, &[])
    }

    /// The same with other variables.
    pub(crate) fn shell_with(talk: &Talk, size: (u16, u16), variables: &[(&str, &str)]) -> Self {
        let mut shell = CommandBuilder::new("bash");
        shell.args(["--norc", "--noprofile", "-i"]);
        let mut terminal = Self::run_with(talk, shell, size, variables);
        terminal.send("PS1='shell> '\r");
        terminal.until("the shell", |screen| screen.ends_with("\nshell>"));
        terminal
    }

    /// A conversation of two questions, which the model answers with "The first answer." and "The second answer.", and its
    /// tree, in which the second question is selected.
    pub(crate) fn at_the_second_question(talk: &Talk, size: (u16, u16)) -> Self {
        let mut terminal = Self::offshoot(talk, &[], size);
        terminal.until_text("m1").send("first question\r");
        terminal.until_text("The first answer.").until("the end", |screen| !screen.contains(" stops it"));
        terminal.send("second question\r");
        terminal.until_text("The second answer.").until("the end", |screen| !screen.contains(" stops it"));
        terminal.send("/tree\r");
        terminal.until_text("Session tree").send("\x1b[A");
        terminal.until("the question", |screen| screen.lines().any(|row| row.contains('›') && row.contains("second")));
        terminal
    }

    /// The same with other variables.
    pub(crate) fn run_with(
        talk: &Talk,
        command: CommandBuilder,
        (columns, rows): (u16, u16),
        variables: &[(&str, &str)],
    ) -> Self {
        let (master, child) = spawn(talk, command, (columns, rows), variables);
        let mut reader = master.try_clone_reader().unwrap();
        let (sender, output) = channel();
        std::thread::spawn(move || {
            let mut bytes = [0; 8192];
            while let Ok(count) = reader.read(&mut bytes) {
                if count == 0 || sender.send(bytes[..count].to_vec()).is_err() {
                    break;
                }
            }
        });
        Self {
            parser: vt100::Parser::new(rows, columns, 0),
            emulator: avt::Terminal::with_scrollback(columns.into(), rows.into(), Some(10_000)).unwrap(),
            raw: Vec::new(),
            background: None,
            marks_pastes: true,
            begun: Vec::new(),
            output,
            held: Vec::new(),
            input: master.take_writer().unwrap(),
            master,
            child,
        }
    }

    /// What is on the screen.
    pub(crate) fn screen(&self) -> String {
        let rows = self.emulator.screen().visible_lines();
        let rows: Vec<String> = rows.map(|row| row.text().trim_end().to_owned()).collect();
        rows.join("\n").trim_end().to_owned()
    }

    /// The rows of the screen with their looks.
    pub(crate) fn rows(&self) -> impl ExactSizeIterator<Item = &avt::Line> {
        self.emulator.screen().visible_lines()
    }

    /// The same with what has left it at its top.
    pub(crate) fn whole(&self) -> String {
        let rows = self.emulator.screen().all_lines();
        let rows: Vec<String> = rows.map(|row| row.text().trim_end().to_owned()).collect();
        rows.join("\n").trim_end().to_owned()
    }

    /// The same with each row that was too long for the terminal in one piece.
    pub(crate) fn unwrapped(&self) -> String {
        let mut text = String::new();
        for line in self.emulator.screen().all_lines() {
            let (row, end) = if line.is_wrapped() { (line.text(), "") } else { (line.text(), "\n") };
            text.push_str(if end.is_empty() { &row } else { row.trim_end() });
            text.push_str(end);
        }
        text.trim_end().to_owned()
    }

    /// Types.
    pub(crate) fn send(&mut self, keys: &str) {
        self.input.write_all(keys.as_bytes()).unwrap();
        self.input.flush().unwrap();
    }

    /// Whether the screen shows a whole picture: what came last is no part of one.
    fn is_whole(&self) -> bool {
        let last = |mark: &[u8]| self.raw.windows(mark.len()).rposition(|window| window == mark);
        last(b"\x1b[?2026h") <= last(b"\x1b[?2026l")
    }

    /// Waits until the screen shows something.
    pub(crate) fn until(&mut self, what: &str, is_so: impl Fn(&str) -> bool) -> &mut Self {
        let since = Instant::now();
        while !(self.is_whole() && is_so(&self.screen())) {
            assert!(self.take_next(since, what), "it ended before {what}:\n{}", self.screen());
        }
        self
    }

    /// Looks at each whole picture until one is as it should be.
    pub(crate) fn each_picture(&mut self, what: &str, mut is_so: impl FnMut(&Self) -> bool) -> &mut Self {
        let since = Instant::now();
        while !(self.is_whole() && is_so(self)) {
            assert!(self.take_next(since, what), "it ended before {what}:\n{}", self.screen());
        }
        self
    }

    /// Waits until the screen holds a text.
    pub(crate) fn until_text(&mut self, text: &str) -> &mut Self {
        self.until(text, |screen| screen.contains(text))
    }

    /// Waits until the screen holds a text no more.
    pub(crate) fn until_gone(&mut self, text: &str) -> &mut Self {
        self.until(&format!("no {text}"), |screen| !screen.contains(text))
    }

    /// Waits until the agent has nothing more to do.
    pub(crate) fn until_idle(&mut self) -> &mut Self {
        self.until("the end of the turn", |screen| {
            !screen.contains(" stops it") && (screen.contains("% of ") || screen.contains("% full"))
        })
    }

    /// Waits until what was written holds a sequence.
    pub(crate) fn until_raw(&mut self, sequence: &str) -> &mut Self {
        let since = Instant::now();
        while !self.raw().contains(sequence) {
            self.take_next(since, &format!("{sequence:?}"));
        }
        self
    }

    /// Waits until the cursor is in this row and column: what is drawn may come in pieces.
    pub(crate) fn until_cursor(&mut self, row: &str, column: u16) -> &mut Self {
        let since = Instant::now();
        while self.cursor() != (row.to_owned(), column) {
            self.take_next(since, &format!("the cursor in {row:?}"));
        }
        self
    }

    /// Everything that came in, with its sequences.
    pub(crate) fn raw(&self) -> String {
        String::from_utf8_lossy(&self.raw).into_owned()
    }

    /// Waits until something is so that is not on the screen, and takes what comes in meanwhile.
    pub(crate) fn while_not(&mut self, what: &str, is_so: impl Fn() -> bool) -> &mut Self {
        let since = Instant::now();
        while !is_so() {
            assert!(since.elapsed() < PATIENCE, "waited in vain for {what}:\n{}", self.screen());
            if let Ok(bytes) = self.output.recv_timeout(Duration::from_millis(50)) {
                self.take(&bytes);
            }
        }
        self
    }

    /// Where the cursor is: the row with what is in it, and the column.
    pub(crate) fn cursor(&self) -> (String, u16) {
        let (row, column) = self.position();
        let text = self.emulator.screen().line(row).map(avt::Line::text).unwrap_or_default();
        (text.trim_end().to_owned(), u16::try_from(column).unwrap())
    }

    /// Whether the terminal is as a shell wants it: lines are edited by the system, nothing that a program sets is left.
    pub(crate) fn is_given_back(&self) -> bool {
        let screen = self.parser.screen();
        let modes = format!("{:?}", self.master.get_termios().unwrap().local_flags);
        let is_plain = modes.contains("ICANON") && modes.contains("ECHO") && modes.contains("ISIG");
        is_plain && !screen.bracketed_paste() && !screen.hide_cursor() && !screen.alternate_screen()
    }

    /// Waits until the program has ended; answers whether it ended well.
    pub(crate) fn ended(&mut self) -> bool {
        let since = Instant::now();
        while self.take_next(since, "the end") {}
        self.child.wait().unwrap().success()
    }

    /// Takes what comes next, for as long as a wait that began then may take; answers whether there is more to come.
    fn take_next(&mut self, since: Instant, what: &str) -> bool {
        if !self.held.is_empty() {
            self.hand_on(usize::MAX);
            return true;
        }
        let left = PATIENCE.saturating_sub(since.elapsed());
        match self.output.recv_timeout(left) {
            Ok(bytes) if !left.is_zero() => self.take(&bytes),
            Err(RecvTimeoutError::Disconnected) => return false,
            Ok(_) | Err(RecvTimeoutError::Timeout) => panic!("waited in vain for {what}:\n{}", self.screen()),
        }
        true
    }

    /// Sends the program a signal.
    pub(crate) fn signal(&self, name: Signal) {
        signal(self.child.process_id().unwrap(), name);
    }

    /// Kills the program as nothing can be prepared for.
    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Takes what has come in by now.
    pub(crate) fn take_waiting(&mut self) {
        self.hand_on(usize::MAX);
        while let Ok(bytes) = self.output.try_recv() {
            self.take(&bytes);
        }
    }

    /// Waits until something is written, which then is on its way to the screen.
    pub(crate) fn hold_next(&mut self) {
        let first = self.output.recv_timeout(PATIENCE).unwrap();
        self.held.extend(first);
        self.held.extend(self.output.try_iter().flatten());
    }

    /// At most so many bytes of what is on its way reach the screen. Returns the number of the others.
    pub(crate) fn hand_on(&mut self, most: usize) -> usize {
        let bytes: Vec<_> = self.held.drain(..most.min(self.held.len())).collect();
        self.take(&bytes);
        self.held.len()
    }

    /// Waits until so many pictures are on their way to the screen.
    pub(crate) fn hold_pictures(&mut self, count: usize) {
        const END: &[u8] = b"\x1b[?2026l";
        while self.held.windows(END.len()).filter(|window| *window == END).count() < count {
            self.hold_next();
        }
    }

    /// How many bytes of what is on its way are the rest of one picture.
    pub(crate) fn next_picture(&self) -> usize {
        const END: &[u8] = b"\x1b[?2026l";
        self.held.windows(END.len()).position(|window| window == END).map_or(self.held.len(), |at| at + END.len())
    }

    /// Another size.
    pub(crate) fn resize(&mut self, columns: u16, rows: u16) {
        self.parser.screen_mut().set_size(rows, columns);
        self.emulator.resize(columns.into(), rows.into());
        self.master.resize(PtySize { rows, cols: columns, pixel_width: 0, pixel_height: 0 }).unwrap();
    }

    /// Takes what was written, and answers questions as terminals do.
    fn take(&mut self, bytes: &[u8]) {
        const WHERE: &[u8] = b"\x1b[6n";
        const COLOUR: &[u8] = b"\x1b]11;?\x1b\\";
        const MARKS: &[u8] = b"\x1b[?2004$p";
        const WORKS: &[u8] = b"\x1b[5n";
        const QUESTIONS: [&[u8]; 4] = [WHERE, COLOUR, MARKS, WORKS];
        self.raw.extend_from_slice(bytes);
        let bytes = [std::mem::take(&mut self.begun), bytes.to_vec()].concat();
        let mut rest = &bytes[..];
        let asked = |at: usize, rest: &[u8]| QUESTIONS.into_iter().find(|question| rest[at..].starts_with(question));
        while let Some((at, question)) = (0..rest.len()).find_map(|at| Some((at, asked(at, rest)?))) {
            let (before, behind) = rest.split_at(at + question.len());
            self.show(&before[..at]);
            match question {
                WHERE => {
                    let (row, column) = self.position();
                    self.send(&format!("\x1b[{};{}R", row + 1, column + 1));
                }
                WORKS => self.send("\x1b[0n"),
                MARKS if self.marks_pastes => self.send("\x1b[?2004;1$y"),
                COLOUR => {
                    if let Some(background) = self.background {
                        self.send(&format!("\x1b]11;{background}\x1b\\"));
                    }
                }
                _ => {}
            }
            rest = behind;
        }
        let begins = |at: &usize| QUESTIONS.iter().any(|question| question.starts_with(&rest[*at..]));
        let end = (0..rest.len()).find(begins).unwrap_or(rest.len());
        // Half a letter waits for its other half.
        let end = rest[..end].utf8_chunks().last().map_or(end, |last| end - last.invalid().len());
        let (rest, begun) = rest.split_at(end);
        self.begun = begun.to_vec();
        self.show(rest);
    }

    fn show(&mut self, bytes: &[u8]) {
        self.parser.process(bytes);
        self.emulator.feed(String::from_utf8_lossy(bytes).as_ref());
    }

    /// The row and the column of the cursor.
    pub(crate) fn position(&self) -> (usize, usize) {
        let cursor = self.emulator.cursor();
        (cursor.row, cursor.col.min(self.emulator.size().0 - 1))
    }
}

/// Sends a signal to a process.
pub(crate) fn signal(id: u32, signal: Signal) {
    let id = i32::try_from(id).ok().and_then(Pid::from_raw).unwrap();
    kill_process(id, signal).unwrap();
}

/// The rows of a conversation, without the rows at the bottom, empty ones, and what the program itself says.
pub(crate) fn conversation(screen: &str) -> Vec<String> {
    let is_start = |row: &str| row.starts_with("offshoot 0.") || row.starts_with("? help");
    let is_own =
        |row: &&str| row.starts_with("hint:") || row.starts_with("· ") || row.contains("alt+t shows") || is_start(row);
    let end = screen.find("\n─ ").into_iter().chain(screen.find("\n────")).min().unwrap_or(screen.len());
    let rows = screen[..end].lines().filter(|row| !row.is_empty() && !is_own(row));
    rows.map(str::to_owned).collect()
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // A test that failed leaves nothing running.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
