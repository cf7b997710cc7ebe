//! The script of a test's model: the same for all wire formats. As JSON, one reply per line:
//!
//! ```text
//! {"say": [{"thinking": "hm", "signature": "c2ln"}, {"text": "hello"}, {"call": "read", "id": "c1", "arguments": {"path": "a"}}],
//!  "usage": {"input": 10, "output": 5}, "stop": "toolUse"}
//! {"status": 429, "headers": {"retry-after": "1"}, "body": "slow down"}
//! ```

#![expect(missing_docs, reason = "the names say what they are")]

use std::sync::{Arc, Condvar, Mutex, PoisonError};

use serde::Deserialize;
use serde_json::{Map, Value};

use offshoot_protocol::message::{StopReason, Usage};

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum Say {
    Thinking {
        thinking: String,
        #[serde(default)]
        signature: Option<String>,
    },
    /// Thinking that the provider hides.
    Redacted {
        redacted: String,
    },
    Call {
        call: String,
        id: String,
        #[serde(default)]
        arguments: Map<String, Value>,
        /// Only Google has it.
        #[serde(default)]
        signature: Option<String>,
    },
    Text {
        text: String,
    },
}

/// An answer in the wire format of the request, or anything else that a server may send.
#[derive(Debug, Clone, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Reply {
    pub say: Vec<Say>,
    /// The cost is ignored.
    pub usage: Usage,
    /// `None`: follows from the calls.
    pub stop: Option<StopReason>,
    /// Characters per delta.
    pub piece: usize,
    pub status: u16,
    pub headers: Map<String, Value>,
    /// Sent instead of the answer.
    pub body: Option<String>,
    /// Only this many bytes of the body are sent.
    pub cut: Option<usize>,
    pub then: Then,
    /// Only for a request with these words in its body; others get the next reply.
    pub on: Option<String>,
    /// Bytes per write; 0 for all.
    pub chunk: usize,
    /// Waits for the gate before this many bytes are written.
    #[serde(skip)]
    pub gate: Option<(usize, Gate)>,
    /// Each write waits for a step of this gate.
    #[serde(skip)]
    pub pace: Option<Gate>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Then {
    #[default]
    End,
    /// The connection is closed in the middle.
    Drop,
    /// The connection stays open without more data.
    Hang,
}

impl Default for Reply {
    fn default() -> Self {
        Self {
            say: Vec::new(),
            usage: Usage { input: 10, output: 5, ..Usage::default() },
            stop: None,
            piece: 8,
            status: 200,
            headers: Map::new(),
            body: None,
            cut: None,
            then: Then::End,
            on: None,
            chunk: 0,
            gate: None,
            pace: None,
        }
    }
}

impl Reply {
    pub fn say(say: impl IntoIterator<Item = Say>) -> Self {
        Self { say: say.into_iter().collect(), ..Self::default() }
    }

    pub fn text(text: &str) -> Self {
        Self::say([Say::Text { text: text.to_owned() }])
    }

    pub fn call(name: &str, id: &str, arguments: Value) -> Self {
        let arguments = if let Value::Object(arguments) = arguments { arguments } else { Map::new() };
        Self::say([Say::Call { call: name.to_owned(), id: id.to_owned(), arguments, signature: None }])
    }

    pub fn error(status: u16, body: &str) -> Self {
        Self { status, body: Some(body.to_owned()), ..Self::default() }
    }

    /// The reply to a request that contains these words: several agents may ask at once.
    #[must_use]
    pub fn on(mut self, words: &str) -> Self {
        self.on = Some(words.to_owned());
        self
    }

    /// A body with status 200.
    pub fn raw(body: &str) -> Self {
        Self { body: Some(body.to_owned()), ..Self::default() }
    }

    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.insert(name.to_owned(), Value::from(value));
        self
    }

    /// Parses JSON lines, as in the module's example. The error names the line.
    pub fn parse_lines(text: &str) -> Result<Vec<Self>, String> {
        let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        let parse = |(at, line): (usize, &str)| {
            serde_json::from_str(line).map_err(|error| format!("could not read line {} of the script: {error}", at + 1))
        };
        lines.map(parse).collect()
    }

    pub(super) fn stop(&self) -> StopReason {
        let calls = self.say.iter().any(|say| matches!(say, Say::Call { .. }));
        self.stop.unwrap_or(if calls { StopReason::ToolUse } else { StopReason::Stop })
    }
}

#[derive(Debug, Clone, Default)]
pub struct Gate(Arc<(Mutex<Passes>, Condvar)>);

#[derive(Debug, Default)]
struct Passes {
    is_open: bool,
    steps: usize,
}

impl Gate {
    pub fn new() -> Self {
        Self::default()
    }

    /// Lets everybody through, now and later.
    pub fn open(&self) {
        self.change(|passes| passes.is_open = true);
    }

    /// Lets one through.
    pub fn step(&self) {
        self.change(|passes| passes.steps += 1);
    }

    fn change(&self, change: impl FnOnce(&mut Passes)) {
        let (passes, changed) = &*self.0;
        change(&mut passes.lock().unwrap_or_else(PoisonError::into_inner));
        changed.notify_all();
    }

    pub(super) fn pass(&self) {
        let (passes, changed) = &*self.0;
        let mut passes = passes.lock().unwrap_or_else(PoisonError::into_inner);
        while !passes.is_open && passes.steps == 0 {
            passes = changed.wait(passes).unwrap_or_else(PoisonError::into_inner);
        }
        passes.steps = passes.steps.saturating_sub(1);
    }
}
