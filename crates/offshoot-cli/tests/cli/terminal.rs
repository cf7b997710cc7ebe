//! A terminal for the real program: a pseudo-terminal, and a screen that understands what is written to it.

use std::io::{Read as _, Write};
use std::process::Command;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};

use crate::agent::Talk;

/// How long a screen may take to become what a test waits for.
const PATIENCE: Duration = Duration::from_secs(20);

/// A program at work in a terminal.
pub(crate) struct Terminal {
    pub(crate) parser: vt100::Parser,
    /// Everything that was written.
    pub(crate) raw: Vec<u8>,
    output: Receiver<Vec<u8>>,
    input: Box<dyn Write + Send>,
    master: Box<dyn MasterPty + Send>,
    child: Box<dyn Child + Send + Sync>,
}

impl Terminal {
    /// Runs offshoot in a terminal of this many columns and rows.
    pub(crate) fn offshoot(talk: &Talk, arguments: &[&str], (columns, rows): (u16, u16)) -> Self {
        let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_offshoot"));
        command.args(arguments);
        Self::run(talk, command, (columns, rows))
    }

    /// The same with variables of its own; an empty one is taken away.
    pub(crate) fn with(talk: &Talk, arguments: &[&str], size: (u16, u16), variables: &[(&str, &str)]) -> Self {
        let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_offshoot"));
        command.args(arguments);
        Self::started(talk, command, size, variables)
    }

    /// Runs a program in the world's folder.
    pub(crate) fn run(talk: &Talk, command: CommandBuilder, size: (u16, u16)) -> Self {
        Self::started(talk, command, size, &[])
    }

    /// A shell that can stop programs, at its prompt.
    pub(crate) fn shell(talk: &Talk, size: (u16, u16)) -> Self {
        let mut shell = CommandBuilder::new("bash");
        shell.args(["--norc", "--noprofile", "-i"]);
        let mut terminal = Self::run(talk, shell, size);
        terminal.send("PS1='shell> '\r");
        terminal.until("the shell", |screen| screen.ends_with("\nshell>"));
        terminal
    }

    fn started(
        talk: &Talk,
        mut command: CommandBuilder,
        (columns, rows): (u16, u16),
        variables: &[(&str, &str)],
    ) -> Self {
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
        drop(pair.slave);
        let mut reader = pair.master.try_clone_reader().unwrap();
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
            parser: vt100::Parser::new(rows, columns, 10_000),
            raw: Vec::new(),
            output,
            input: pair.master.take_writer().unwrap(),
            master: pair.master,
            child,
        }
    }

    /// What is on the screen.
    pub(crate) fn screen(&self) -> String {
        let rows = self.parser.screen().rows(0, self.parser.screen().size().1);
        let rows: Vec<String> = rows.map(|row| row.trim_end().to_owned()).collect();
        rows.join("\n").trim_end().to_owned()
    }

    /// The same with what has left it at its top.
    pub(crate) fn whole(&mut self) -> String {
        let width = self.parser.screen().size().1;
        self.parser.screen_mut().set_scrollback(usize::MAX);
        let above = self.parser.screen().scrollback();
        let mut rows = Vec::new();
        for at in (1..=above).rev() {
            self.parser.screen_mut().set_scrollback(at);
            rows.extend(self.parser.screen().rows(0, width).next().map(|row| row.trim_end().to_owned()));
        }
        self.parser.screen_mut().set_scrollback(0);
        rows.push(self.screen());
        rows.join("\n")
    }

    /// Types.
    pub(crate) fn send(&mut self, keys: &str) {
        self.input.write_all(keys.as_bytes()).unwrap();
        self.input.flush().unwrap();
    }

    /// Waits until the screen shows something.
    pub(crate) fn until(&mut self, what: &str, is_so: impl Fn(&str) -> bool) -> &mut Self {
        while !is_so(&self.screen()) {
            let Ok(bytes) = self.output.recv_timeout(PATIENCE) else {
                panic!("waited in vain for {what}:\n{}", self.screen());
            };
            self.take(&bytes);
        }
        self
    }

    /// Waits until the screen holds a text.
    pub(crate) fn until_text(&mut self, text: &str) -> &mut Self {
        self.until(text, |screen| screen.contains(text))
    }

    /// Waits until the agent has nothing more to do.
    pub(crate) fn until_idle(&mut self) -> &mut Self {
        self.until("the end of the turn", |screen| !screen.contains("at work") && screen.contains("durable"))
    }

    /// Waits until what was written holds a sequence.
    pub(crate) fn until_raw(&mut self, sequence: &str) -> &mut Self {
        while !String::from_utf8_lossy(&self.raw).contains(sequence) {
            let Ok(bytes) = self.output.recv_timeout(PATIENCE) else {
                panic!("waited in vain for {sequence:?}:\n{}", self.screen());
            };
            self.take(&bytes);
        }
        self
    }

    /// Waits until something is so that is not on the screen, and takes what comes in meanwhile.
    pub(crate) fn while_not(&mut self, what: &str, is_so: impl Fn() -> bool) -> &mut Self {
        let since = std::time::Instant::now();
        while !is_so() {
            assert!(since.elapsed() < PATIENCE, "waited in vain for {what}:\n{}", self.screen());
            self.breathe();
        }
        self
    }

    /// Sends a signal to the program.
    pub(crate) fn signal(&self, name: &str) {
        signal(self.child.process_id().unwrap(), name);
    }

    /// Where the cursor stands: the row with what is in it, and the column.
    pub(crate) fn cursor(&self) -> (String, u16) {
        let screen = self.parser.screen();
        let (row, column) = screen.cursor_position();
        let text = screen.rows(0, screen.size().1).nth(usize::from(row)).unwrap_or_default();
        (text.trim_end().to_owned(), column)
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
        while let Ok(bytes) = self.output.recv_timeout(PATIENCE) {
            self.take(&bytes);
        }
        self.child.wait().unwrap().success()
    }

    /// Takes what comes in within a moment, if anything does.
    pub(crate) fn breathe(&mut self) {
        if let Ok(bytes) = self.output.recv_timeout(Duration::from_millis(50)) {
            self.take(&bytes);
        }
    }

    /// Kills the program as nothing can be prepared for.
    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Another size.
    pub(crate) fn resize(&mut self, columns: u16, rows: u16) {
        self.parser.screen_mut().set_size(rows, columns);
        self.master.resize(PtySize { rows, cols: columns, pixel_width: 0, pixel_height: 0 }).unwrap();
    }

    /// Takes what was written, and answers questions as terminals do.
    fn take(&mut self, bytes: &[u8]) {
        const WHERE: &[u8] = b"\x1b[6n";
        self.raw.extend_from_slice(bytes);
        let mut rest = bytes;
        while let Some(at) = rest.windows(WHERE.len()).position(|window| window == WHERE) {
            let (before, behind) = rest.split_at(at + WHERE.len());
            self.parser.process(before);
            let (row, column) = self.parser.screen().cursor_position();
            self.send(&format!("\x1b[{};{}R", row + 1, column + 1));
            rest = behind;
        }
        self.parser.process(rest);
    }
}

/// Sends a signal to a process.
pub(crate) fn signal(process: u32, name: &str) {
    let sent = Command::new("kill").args([&format!("-{name}"), &process.to_string()]).status().unwrap();
    assert!(sent.success());
}

/// The rows of a conversation, without the rows at the bottom, empty ones, and what the program itself says.
pub(crate) fn conversation(screen: &str) -> Vec<String> {
    let is_own = |row: &&str| row.starts_with("hint:") || row.starts_with("· ") || row.contains("alt+t shows");
    let end = screen.find("\n────").unwrap_or(screen.len());
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
