//! A client of `--mode rpc`: it starts the program, sends commands and reads records.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::agent::Talk;

/// A client of one process.
pub(crate) struct RpcClient {
    pub(crate) child: Child,
    pub(crate) to: Option<ChildStdin>,
    pub(crate) from: BufReader<ChildStdout>,
    asked: u32,
    /// Records that came while a response was awaited.
    pub(crate) passed: Vec<Value>,
}

impl RpcClient {
    pub(crate) fn start(talk: &Talk, arguments: &[&str]) -> Self {
        Self::of(talk.command(&["--mode", "rpc"]), arguments)
    }

    pub(crate) fn of(mut command: Command, arguments: &[&str]) -> Self {
        let mut child = command.args(arguments).stdin(Stdio::piped()).spawn().unwrap();
        let (to, from) = (child.stdin.take(), BufReader::new(child.stdout.take().unwrap()));
        Self { child, to, from, asked: 0, passed: Vec::new() }
    }

    pub(crate) fn line(&mut self, line: &str) {
        let to = self.to.as_mut().unwrap();
        to.write_all(format!("{line}\n").as_bytes()).unwrap();
    }

    pub(crate) fn send(&mut self, command: &Value) {
        self.line(&command.to_string());
    }

    pub(crate) fn record(&mut self) -> Option<Value> {
        let mut line = String::new();
        let read = self.from.read_line(&mut line).unwrap();
        (read > 0).then(|| serde_json::from_str(&line).unwrap())
    }

    /// The next record that is wanted; the others are kept.
    pub(crate) fn until(&mut self, is_wanted: impl Fn(&Value) -> bool) -> Value {
        loop {
            let Some(record) = self.record() else { panic!("the program has ended") };
            if is_wanted(&record) {
                return record;
            }
            self.passed.push(record);
        }
    }

    pub(crate) fn event(&mut self, kind: &str) -> Value {
        self.until(|record| record["type"] == kind)
    }

    /// The response to a command; its data, or its error as text.
    pub(crate) fn ask(&mut self, mut command: Value) -> Value {
        self.asked += 1;
        let id = json!(format!("r{}", self.asked));
        command["id"] = id.clone();
        self.send(&command);
        let response = self.until(|record| record["type"] == "response" && record["id"] == id);
        assert_eq!(response["command"], command["type"]);
        match response["success"] == true {
            true => response["data"].clone(),
            false => response["error"].clone(),
        }
    }

    pub(crate) fn prompt(&mut self, message: &str) {
        assert_eq!(self.ask(json!({"type": "prompt", "message": message})), json!({"disposition": "started"}));
    }

    /// Closes the input; everything that still comes, and the exit code.
    pub(crate) fn end(mut self) -> (Vec<Value>, Option<i32>) {
        self.to = None;
        self.rest()
    }

    pub(crate) fn rest(mut self) -> (Vec<Value>, Option<i32>) {
        let mut all = std::mem::take(&mut self.passed);
        while let Some(record) = self.record() {
            all.push(record);
        }
        (all, self.child.wait().unwrap().code())
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }
}
