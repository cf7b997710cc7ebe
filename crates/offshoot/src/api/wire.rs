//! The form of the messages, and how answers and errors are written. Framing, one message per line, belongs to the
//! loop.
//!
//! # Request
//! ```text
//! {"jsonrpc":"2.0","id":7,"method":"appendMessage","params":{"session":1,"message":{…}}}
//! ```
//! `id` is a string, a number or null, and is returned as written. A request without `id` is a notification: it is run
//! and not answered. `params` is an object; it may be omitted if no argument is required.
//!
//! # Answer
//! ```text
//! {"jsonrpc":"2.0","id":7,"result":{"id":"5d3f09ac"}}
//! ```
//!
//! # Error
//! ```text
//! {"jsonrpc":"2.0","id":7,"error":{"code":-32000,"message":"entry zzz not found","data":{"kind":"notFound"}}}
//! ```
//! | code | when | `data` |
//! |---|---|---|
//! | -32700 | the line is no JSON | |
//! | -32600 | it is JSON and no request; `id` is null unless the request has one | |
//! | -32601 | there is no such method | |
//! | -32602 | an argument is missing, unknown or of the wrong kind; the session is not open | |
//! | -32000 | the library refused: its error and that error's causes, joined by `: ` | `kind`, and where known `path`, `line`, `offset`, `candidates` |
//!
//! `kind` is `notFound`, `ambiguous`, `conflict`, `damaged`, `invalid`, `io` or `other`.

use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;

use offshoot_app::lines::HeldBack;
use offshoot_session::error::Error;
use offshoot_session::json::{Json, Object, quote};
use offshoot_session::manager::MethodError;
use offshoot_workspace::Failure;

#[derive(Debug)]
pub(super) enum ApiFailure {
    Refused { code: i32, message: String },
    Library(Error),
    Output(io::Error),
}

pub(super) type MethodResult = Result<(), ApiFailure>;

impl ApiFailure {
    pub(super) fn parse(why: &dyn std::error::Error) -> Self {
        Self::Refused { code: -32700, message: format!("the line is not JSON: {why}") }
    }

    pub(super) fn invalid_request(why: &str) -> Self {
        Self::Refused { code: -32600, message: why.to_owned() }
    }

    pub(super) fn no_method(name: &str) -> Self {
        Self::Refused { code: -32601, message: format!("there is no method {name:?}") }
    }

    pub(super) fn params(why: impl Into<String>) -> Self {
        Self::Refused { code: -32602, message: why.into() }
    }

    /// Whether another program is writing to the session.
    pub(super) fn is_locked(&self) -> bool {
        matches!(self, Self::Library(Error::Locked { .. }))
    }

    /// The same after so long a wait for another program, in all tries.
    pub(super) fn after(self, waited: Duration) -> Self {
        match self {
            Self::Library(Error::Locked { path, by, .. }) => Self::Library(Error::Locked { path, by, waited }),
            other => other,
        }
    }

    fn to_json(&self) -> String {
        let object = Object::new();
        match self {
            Self::Refused { code, message } => object.raw("code", code).str("message", message),
            Self::Library(error) => object.raw("code", -32000).str("message", &chain(error)).raw("data", data(error)),
            Self::Output(error) => object.raw("code", -32000).str("message", &chain(error)),
        }
        .finish()
    }
}

impl From<Error> for ApiFailure {
    fn from(error: Error) -> Self {
        Self::Library(error)
    }
}

impl From<Failure> for ApiFailure {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Session(error, _) => Self::Library(error),
            failure => Self::params(failure.on_one_line()),
        }
    }
}

impl From<MethodError> for ApiFailure {
    fn from(error: MethodError) -> Self {
        match error {
            MethodError::Argument(why) => Self::params(why),
            MethodError::Session(error) => Self::Library(error),
            MethodError::Output(error) => Self::Output(error),
        }
    }
}

impl From<io::Error> for ApiFailure {
    fn from(error: io::Error) -> Self {
        MethodError::from(error).into()
    }
}

fn chain(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}

fn data(error: &Error) -> String {
    let object = |kind: &str| Object::new().str("kind", kind);
    let at = |object: Object, path: &Path| object.str("path", &path.to_string_lossy());
    match error {
        Error::Io { path, source, .. } => at(object(io_kind(source)), path),
        Error::NotASession { path, line, offset, .. } => {
            at(object("damaged"), path).raw("line", line).raw("offset", offset)
        }
        Error::EntryNotFound { .. } | Error::SessionNotFound { .. } => object("notFound"),
        Error::Ambiguous { candidates, .. } => {
            let candidates: Vec<String> = candidates.iter().map(|candidate| quote(candidate)).collect();
            object("ambiguous").raw("candidates", format!("[{}]", candidates.join(",")))
        }
        Error::Invalid(_) => object("invalid"),
        Error::Conflict { path, .. } => at(object("conflict"), path),
        Error::Locked { path, by, .. } => {
            let by: Vec<String> = by.iter().map(ToString::to_string).collect();
            at(object("locked"), path).raw("processes", format!("[{}]", by.join(",")))
        }
        Error::Spilled { path, spill, ids, .. } => {
            let ids: Vec<String> = ids.iter().map(|id| quote(id.as_str())).collect();
            let object = at(object("spilled"), path).str("spill", &spill.to_string_lossy());
            object.raw("ids", format!("[{}]", ids.join(",")))
        }
        _ => object("other"),
    }
    .finish()
}

fn io_kind(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::NotFound => "notFound",
        io::ErrorKind::AlreadyExists => "conflict",
        _ => "io",
    }
}

/// An answer being written: the method writes its result into it.
pub(super) struct ApiAnswer<'a> {
    result: HeldBack<'a>,
    id: &'a str,
    before: &'a str,
}

impl<'a> ApiAnswer<'a> {
    /// `before` is written before the answer.
    pub(super) fn new(id: Option<Json<'a>>, before: &'a str, output: &'a mut dyn Write) -> Self {
        let id = id.map_or("null", Json::text);
        let head = format!("{before}{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":");
        Self { result: HeldBack::new(head, output), id, before }
    }

    /// Completes the answer, without line feed.
    ///
    /// # Errors
    /// The output fails, or the method failed after the start of its result was written.
    pub(super) fn finish(self, outcome: MethodResult) -> io::Result<()> {
        let failure = match outcome {
            Ok(()) => return self.result.release()?.write_all(b"}"),
            Err(ApiFailure::Output(error)) => return Err(error),
            Err(failure) => failure.to_json(),
        };
        let output = self.result.discard(&failure)?;
        write!(output, "{}{{\"jsonrpc\":\"2.0\",\"id\":{},\"error\":{failure}}}", self.before, self.id)
    }
}

impl Write for ApiAnswer<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.result.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use offshoot_app::lines::HELD_BACK;

    fn answered(result: usize, outcome: MethodResult) -> (String, io::Result<()>) {
        let mut output = Vec::new();
        let mut answer = ApiAnswer::new(None, "", &mut output);
        answer.write_all(&vec![b' '; result]).unwrap();
        let finished = answer.finish(outcome);
        (String::from_utf8(output).unwrap(), finished)
    }

    #[test]
    fn a_failure_takes_the_place_of_what_was_held_back() {
        let (text, finished) = answered(HELD_BACK, Err(ApiFailure::params("no")));
        assert_eq!(text, r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32602,"message":"no"}}"#);
        assert!(finished.is_ok());
    }

    #[test]
    fn a_long_answer_is_written_as_it_comes_and_cannot_become_an_error() {
        let (text, finished) = answered(HELD_BACK + 1, Err(ApiFailure::params("no")));
        assert!(text.starts_with(r#"{"jsonrpc":"2.0","id":null,"result": "#) && !text.contains("error"));
        assert!(finished.is_err());
    }

    #[test]
    fn errors_carry_their_causes_and_a_kind() {
        let source = io::Error::new(io::ErrorKind::PermissionDenied, "not yours");
        let error = Error::Io { action: "open", path: "/x".into(), source };
        assert_eq!(
            ApiFailure::from(io::Error::other(error)).to_json(),
            r#"{"code":-32000,"message":"could not open /x: not yours","data":{"kind":"io","path":"/x"}}"#
        );
        let locked = Error::Locked { path: "/x".into(), by: vec![7], waited: std::time::Duration::from_secs(10) };
        assert_eq!(data(&locked), r#"{"kind":"locked","path":"/x","processes":[7]}"#);
        let spilled =
            Error::Spilled { path: "/x".into(), spill: "/y".into(), ids: vec!["a".into()], source: Box::new(locked) };
        assert_eq!(
            ApiFailure::from(spilled).to_json(),
            r#"{"code":-32000,"message":"could not write to /x: kept in /y: /x is locked: process 7 did not release it within 10 s","data":{"kind":"spilled","path":"/x","spill":"/y","ids":["a"]}}"#
        );
        let error = Error::Ambiguous { what: "session", given: "a".into(), candidates: vec!["a1".into(), "a2".into()] };
        assert!(data(&error).ends_with(r#""candidates":["a1","a2"]}"#));
    }
}
