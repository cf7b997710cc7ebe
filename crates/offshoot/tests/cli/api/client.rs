//! A client of `offshoot api` for tests: lines out, lines in, nothing printed anew. Knows no methods.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};

use offshoot_session::json::Json;

/// The program in a folder that is its working directory and its home.
pub(super) fn command(program: &str, folder: &Path) -> Command {
    let mut command = Command::new(program);
    command.current_dir(folder).env("HOME", folder).env("OFFSHOOT_HOME", folder.join("home"));
    for name in
        ["XDG_DATA_HOME", "XDG_CACHE_HOME", "PI_CODING_AGENT_DIR", "PI_CODING_AGENT_SESSION_DIR", "PI_CONFIG_DIR"]
    {
        command.env_remove(name);
    }
    command
}

/// A running server.
pub(super) struct Api {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    requests: u64,
    /// The methods that were called.
    pub(super) used: BTreeSet<String>,
}

impl Api {
    pub(super) fn start(folder: &Path) -> Self {
        let mut command = command(env!("CARGO_BIN_EXE_offshoot"), folder);
        command.arg("api");
        Self::run(command)
    }

    /// A server that begins with a limit of open files.
    pub(super) fn start_with_files(folder: &Path, limit: u32) -> Self {
        let mut command = command("sh", folder);
        command.args(["-c", &format!("ulimit -Sn {limit} && exec \"$0\" api"), env!("CARGO_BIN_EXE_offshoot")]);
        Self::run(command)
    }

    /// How many files it has open.
    #[cfg(target_os = "linux")]
    pub(super) fn open_files(&self) -> usize {
        std::fs::read_dir(format!("/proc/{}/fd", self.child.id())).unwrap().count()
    }

    pub(super) fn run(mut command: Command) -> Self {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (stdin, stdout) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        Self { child, stdin, stdout, requests: 0, used: BTreeSet::new() }
    }

    /// Sends bytes as they are.
    pub(super) fn send(&mut self, bytes: impl AsRef<[u8]>) {
        self.stdin.write_all(bytes.as_ref()).unwrap();
        self.stdin.flush().unwrap();
    }

    /// Sends a line and takes one in.
    pub(super) fn ask(&mut self, line: &str) -> String {
        self.send(format!("{line}\n"));
        self.receive()
    }

    /// Takes a line in.
    pub(super) fn receive(&mut self) -> String {
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        assert_eq!(line.pop(), Some('\n'), "the program ended, or an answer without line feed: {line}");
        line
    }

    fn call(&mut self, method: &str, params: &str) -> String {
        self.requests += 1;
        self.used.insert(method.to_owned());
        let id = self.requests;
        let answer = self.ask(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#));
        assert!(answer.starts_with(&format!(r#"{{"jsonrpc":"2.0","id":{id},"#)), "{answer}");
        answer
    }

    /// The result of a method, as text.
    pub(super) fn result(&mut self, method: &str, params: &str) -> String {
        let answer = self.call(method, params);
        member(&answer, "result").unwrap_or_else(|| panic!("{method}{params} answered {answer}"))
    }

    /// The error of a method, as text.
    pub(super) fn error(&mut self, method: &str, params: &str) -> String {
        let answer = self.call(method, params);
        member(&answer, "error").unwrap_or_else(|| panic!("{method}{params} answered {answer}"))
    }

    /// The number that a constructor answers.
    pub(super) fn opened(&mut self, method: &str, params: &str) -> String {
        member(&self.result(method, params), "session").unwrap()
    }

    /// The id that an append answers.
    pub(super) fn appended(&mut self, method: &str, params: &str) -> String {
        string(&self.result(method, params), "id")
    }

    /// Ends the input; the program, and what it still says.
    pub(super) fn end_input(self) -> (Child, BufReader<ChildStdout>) {
        (self.child, self.stdout)
    }

    /// Ends the input; what the program still says, and how it ends.
    pub(super) fn finish(self) -> (String, ExitStatus) {
        let (mut child, mut stdout) = self.end_input();
        let mut rest = String::new();
        stdout.read_to_string(&mut rest).unwrap();
        (rest, child.wait().unwrap())
    }

    /// Ends the program at once, as a crash would.
    pub(super) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

/// A member of an object, as text.
pub(super) fn member(object: &str, name: &str) -> Option<String> {
    Json::parse(object).unwrap().get(name).map(|value| value.text().to_owned())
}

/// A string member of an object.
pub(super) fn string(object: &str, name: &str) -> String {
    Json::parse(object).unwrap().str(name).unwrap_or_else(|| panic!("no string {name} in {object}")).into_owned()
}

/// The items of an array, as text.
pub(super) fn items(array: &str) -> Vec<String> {
    Json::parse(array).unwrap().items().map(|item| item.text().to_owned()).collect()
}

/// A string member of each item.
pub(super) fn each(array: &str, name: &str) -> Vec<String> {
    items(array).iter().map(|item| string(item, name)).collect()
}
