//! What the model of a test answers, in no wire format: the same script serves all four.
//!
//! As JSON, one reply a line:
//!
//! ```text
//! {"say": [{"thinking": "hm", "signature": "c2ln"}, {"text": "hello"}, {"call": "read", "id": "c1", "arguments": {"path": "a"}}],
//!  "usage": {"input": 10, "output": 5}, "stop": "toolUse"}
//! {"status": 429, "headers": {"retry-after": "1"}, "body": "slow down"}
//! ```

use std::sync::{Arc, Condvar, Mutex, PoisonError};

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::message::{StopReason, Usage};

/// One thing that the model says.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum Say {
    /// Thinking that is shown.
    Thinking {
        /// Its words.
        thinking: String,
        /// Its signature.
        #[serde(default)]
        signature: Option<String>,
    },
    /// Thinking that the provider hides.
    Redacted {
        /// What stands for it.
        redacted: String,
    },
    /// A call of a tool.
    Call {
        /// The tool.
        call: String,
        /// Its id.
        id: String,
        /// Its arguments.
        #[serde(default)]
        arguments: Map<String, Value>,
        /// The signature of the thought behind it; only Google has it.
        #[serde(default)]
        signature: Option<String>,
    },
    /// Text.
    Text {
        /// Its words.
        text: String,
    },
}

/// One reply: an answer in the wire format of whoever asks, or anything else that a server may send.
#[derive(Debug, Clone, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Reply {
    /// What the model says.
    pub say: Vec<Say>,
    /// Tokens; only their numbers count.
    pub usage: Usage,
    /// Why it ends; without one, because of its calls or because it is done.
    pub stop: Option<StopReason>,
    /// How many characters a delta has.
    pub piece: usize,
    /// The status.
    pub status: u16,
    /// Headers of the response.
    pub headers: Map<String, Value>,
    /// Sent instead of the answer.
    pub body: Option<String>,
    /// Only so many bytes of the body are sent.
    pub cut: Option<usize>,
    /// How it ends.
    pub then: Then,
    /// How many bytes are written at once; 0 for all.
    pub chunk: usize,
    /// Before this many bytes were written it waits until the gate opens.
    #[serde(skip)]
    pub gate: Option<(usize, Gate)>,
}

/// How a response ends.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Then {
    /// As a response should.
    #[default]
    End,
    /// The connection is closed in the middle.
    Drop,
    /// Nothing more comes, and the connection stays.
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
            chunk: 0,
            gate: None,
        }
    }
}

impl Reply {
    /// An answer.
    pub fn say(say: impl IntoIterator<Item = Say>) -> Self {
        Self { say: say.into_iter().collect(), ..Self::default() }
    }

    /// An answer that is one text.
    pub fn text(text: &str) -> Self {
        Self::say([Say::Text { text: text.to_owned() }])
    }

    /// An answer that calls one tool.
    pub fn call(name: &str, id: &str, arguments: Value) -> Self {
        let arguments = if let Value::Object(arguments) = arguments { arguments } else { Map::new() };
        Self::say([Say::Call { call: name.to_owned(), id: id.to_owned(), arguments, signature: None }])
    }

    /// An error.
    pub fn error(status: u16, body: &str) -> Self {
        Self { status, body: Some(body.to_owned()), ..Self::default() }
    }

    /// A body of its own, with status 200.
    pub fn raw(body: &str) -> Self {
        Self { body: Some(body.to_owned()), ..Self::default() }
    }

    /// Adds a header.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.insert(name.to_owned(), Value::from(value));
        self
    }

    /// Replies from JSON lines, as the module shows them. The error names the line.
    pub fn parse_lines(text: &str) -> Result<Vec<Self>, String> {
        let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        let parse = |(at, line): (usize, &str)| {
            serde_json::from_str(line).map_err(|error| format!("could not read line {} of the script: {error}", at + 1))
        };
        lines.map(parse).collect()
    }

    /// Why it ends.
    pub(super) fn stop(&self) -> StopReason {
        let calls = self.say.iter().any(|say| matches!(say, Say::Call { .. }));
        self.stop.unwrap_or(if calls { StopReason::ToolUse } else { StopReason::Stop })
    }
}

/// Holds a reply back until a test lets it go.
#[derive(Debug, Clone, Default)]
pub struct Gate(Arc<(Mutex<bool>, Condvar)>);

impl Gate {
    /// A gate that is closed.
    pub fn new() -> Self {
        Self::default()
    }

    /// Lets everybody through, now and later.
    pub fn open(&self) {
        let (open, changed) = &*self.0;
        *open.lock().unwrap_or_else(PoisonError::into_inner) = true;
        changed.notify_all();
    }

    /// Waits until it is open.
    pub(super) fn pass(&self) {
        let (open, changed) = &*self.0;
        let mut is_open = open.lock().unwrap_or_else(PoisonError::into_inner);
        while !*is_open {
            is_open = changed.wait(is_open).unwrap_or_else(PoisonError::into_inner);
        }
    }
}
