//! `offshoot api`: the session library for programs in any language, as JSON-RPC 2.0 over two streams. `docs/api.md` is
//! the contract.
//!
//! Owns the loop: one request (or batch) per line in, one answer per line out, in order but for requests that wait for another
//! program's lock. Must not know the terminal or the environment.

mod wire;
mod request;
mod records;
mod handles;
mod waiting;
mod input;
mod methods;
mod dispatch;
mod command;

use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::time::Duration;

use offshoot_app::lines::{InputLine, LONGEST_LINE, next_line};
use offshoot_session::clock::{Clock as _, Millis, SystemClock};
use offshoot_session::json::{Json, JsonKind};
use offshoot_session::store::DirStore;
use offshoot_workspace::Place;

pub(crate) use command::{Args, run};
use handles::{ApiServer, Defaults};
use input::ApiInput;
use request::ApiRequest;
use waiting::{Turn, WaitingRequests, sessions_of};
use wire::{ApiAnswer, ApiFailure};

/// Answers requests until the input ends.
///
/// Relative paths start at `cwd`, which is also the default working directory of sessions. `store` is the default
/// store, `place` tells what is known of models.
///
/// # Errors
/// A stream fails, or an answer cannot be completed after part of it was written.
fn serve(
    (store, place, defaults): (&DirStore, &Place, Defaults),
    cwd: &str,
    mut input: ApiInput<impl Read + AsFd>,
    mut output: impl Write,
) -> io::Result<()> {
    let mut requests = Requests {
        lock_wait: defaults.lock_wait,
        server: ApiServer::new((store, place), cwd, defaults),
        waiting: WaitingRequests::default(),
    };
    loop {
        if !requests.waiting.is_empty() {
            requests.try_waiting(&mut output)?;
            if !input.has_more(waiting::PAUSE)? {
                continue;
            }
        }
        match next_line(input.lines(), LONGEST_LINE)? {
            None => break,
            Some(InputLine::TooLong) => {
                let failure = ApiFailure::invalid_request(&InputLine::too_long());
                ApiAnswer::new(None, "", &mut output).finish(Err(failure))?;
                output.write_all(b"\n")?;
            }
            Some(InputLine::Whole(line)) if line.iter().all(u8::is_ascii_whitespace) => {}
            Some(InputLine::Whole(line)) => requests.take(line, &mut output)?,
        }
        output.flush()?;
    }
    requests.finish_waiting(&mut output)
}

/// The requests of one client.
struct Requests<'a> {
    server: ApiServer<'a>,
    /// The longest wait for another program's lock.
    lock_wait: Duration,
    waiting: WaitingRequests,
}

/// What came of a request.
enum Answered {
    Yes,
    /// It was a notification.
    Silently,
    /// Another program is writing to its session. Nothing was written.
    Locked,
}

impl Requests<'_> {
    /// Answers a line, or lets it wait.
    fn take(&mut self, line: Vec<u8>, output: &mut dyn Write) -> io::Result<()> {
        let message = match std::str::from_utf8(&line) {
            Ok(text) => Json::parse(text).map_err(|error| ApiFailure::parse(&error)),
            Err(error) => Err(ApiFailure::parse(&error)),
        };
        let message = match message {
            Err(failure) => {
                ApiAnswer::new(None, "", output).finish(Err(failure))?;
                return output.write_all(b"\n");
            }
            Ok(message) => message,
        };
        match self.waiting.turn_of(message) {
            Turn::Now if message.kind() != JsonKind::Array && !self.waiting.is_full() => {
                if self.attempt(message, waiting::AT_ONCE.min(self.lock_wait), output)? {
                    return Ok(());
                }
                let left = self.lock_wait.saturating_sub(waiting::AT_ONCE);
                let session = sessions_of(message).first().copied().unwrap_or_default();
                self.waiting.add(line, session, after(left));
                return Ok(());
            }
            Turn::Later if !self.waiting.is_full() => {
                let session = sessions_of(message).first().copied().unwrap_or_default();
                self.waiting.add(line, session, after(self.lock_wait));
                return Ok(());
            }
            Turn::Now | Turn::Later | Turn::Last => self.finish_waiting(output)?,
        }
        self.server.lock_wait = self.lock_wait;
        match message.kind() {
            JsonKind::Array => answer_batch(&mut self.server, message, output),
            _ => self.last_attempt(message, output),
        }
    }

    /// Answers a request that was not locked out; returns whether it was.
    fn attempt(&mut self, message: Json<'_>, wait: Duration, output: &mut dyn Write) -> io::Result<bool> {
        self.server.lock_wait = wait;
        match answer_request(&mut self.server, message, "", IfLocked::Waits, output)? {
            Answered::Yes => output.write_all(b"\n").map(|()| true),
            Answered::Silently => Ok(true),
            Answered::Locked => Ok(false),
        }
    }

    fn last_attempt(&mut self, message: Json<'_>, output: &mut dyn Write) -> io::Result<()> {
        match answer_request(&mut self.server, message, "", IfLocked::Fails(self.lock_wait), output)? {
            Answered::Yes => output.write_all(b"\n"),
            Answered::Silently | Answered::Locked => Ok(()),
        }
    }

    /// Lets those that wait try once more.
    fn try_waiting(&mut self, output: &mut dyn Write) -> io::Result<()> {
        let mut waiting = std::mem::take(&mut self.waiting);
        let tried = waiting.try_each(SystemClock.now(), |request, is_last| {
            // It was JSON when it came.
            let text = std::str::from_utf8(&request.line).map_err(io::Error::other)?;
            let message = Json::parse(text).map_err(io::Error::other)?;
            if is_last {
                self.server.lock_wait = Duration::ZERO;
                return self.last_attempt(message, output).map(|()| true);
            }
            self.attempt(message, Duration::ZERO, output)
        });
        self.waiting = waiting;
        tried?;
        output.flush()
    }

    /// Answers all that wait.
    fn finish_waiting(&mut self, output: &mut dyn Write) -> io::Result<()> {
        while !self.waiting.is_empty() {
            self.try_waiting(output)?;
            if !self.waiting.is_empty() {
                std::thread::sleep(waiting::PAUSE);
            }
        }
        Ok(())
    }
}

/// Answers a batch with an array, in order; with nothing if all requests were notifications.
fn answer_batch(server: &mut ApiServer<'_>, batch: Json<'_>, output: &mut dyn Write) -> io::Result<()> {
    if batch.items().next().is_none() {
        ApiAnswer::new(None, "", output)
            .finish(Err(ApiFailure::invalid_request("a batch has at least one request")))?;
        return output.write_all(b"\n");
    }
    let mut before = "[";
    for request in batch.items() {
        let wait = server.lock_wait;
        if let Answered::Yes = answer_request(server, request, before, IfLocked::Fails(wait), output)? {
            before = ",";
        }
    }
    match before {
        "[" => Ok(()),
        _ => output.write_all(b"]\n"),
    }
}

/// The time after a wait that begins now.
fn after(wait: Duration) -> Millis {
    SystemClock.now().saturating_add(Millis::try_from(wait.as_millis()).unwrap_or(Millis::MAX))
}

/// What a request does whose session another program is writing to.
#[derive(Debug, Clone, Copy)]
enum IfLocked {
    /// It is tried again later.
    Waits,
    /// It was tried for so long.
    Fails(Duration),
}

/// Answers one request, after `before`.
fn answer_request(
    server: &mut ApiServer<'_>,
    json: Json<'_>,
    before: &str,
    if_locked: IfLocked,
    output: &mut dyn Write,
) -> io::Result<Answered> {
    let request = match ApiRequest::read(json) {
        Ok(request) => request,
        Err((id, failure)) => {
            return ApiAnswer::new(id, before, output).finish(Err(failure)).map(|()| Answered::Yes);
        }
    };
    let Some(id) = request.id else {
        // A notification reports neither success nor failure.
        return match dispatch::run(server, &request, &mut io::sink()) {
            Err(ApiFailure::Output(error)) => Err(error),
            Err(failure) if matches!(if_locked, IfLocked::Waits) && failure.is_locked() => Ok(Answered::Locked),
            _ => Ok(Answered::Silently),
        };
    };
    let mut answer = ApiAnswer::new(Some(id), before, output);
    let outcome = match (dispatch::run(server, &request, &mut answer), if_locked) {
        (Err(failure), IfLocked::Waits) if failure.is_locked() => return Ok(Answered::Locked),
        (Err(failure), IfLocked::Fails(waited)) => Err(failure.after(waited)),
        (outcome, IfLocked::Waits) | (outcome @ Ok(()), IfLocked::Fails(_)) => outcome,
    };
    answer.finish(outcome).map(|()| Answered::Yes)
}
