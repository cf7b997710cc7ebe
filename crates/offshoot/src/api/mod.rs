//! `offshoot api`: the session library for programs in any language, as JSON-RPC 2.0 over two streams. `docs/api.md` is
//! the contract.
//!
//! Owns the loop: one request (or batch) per line in, one answer per line out, in order. Must not know the terminal or
//! the environment.

mod wire;
mod request;
mod records;
mod handles;
mod methods;
mod dispatch;
mod command;

use std::io::{self, BufRead, Write};

use offshoot_app::lines::{InputLine, LONGEST_LINE, next_line};
use offshoot_session::json::{Json, JsonKind};
use offshoot_session::store::DirStore;
use offshoot_workspace::Place;

pub(crate) use command::{Args, run};
use handles::{ApiServer, Defaults};
use request::ApiRequest;
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
    mut input: impl BufRead,
    mut output: impl Write,
) -> io::Result<()> {
    let mut server = ApiServer::new((store, place), cwd, defaults);
    while let Some(line) = next_line(&mut input, LONGEST_LINE)? {
        match line {
            InputLine::TooLong => {
                let failure = ApiFailure::invalid_request(&InputLine::too_long());
                ApiAnswer::new(None, "", &mut output).finish(Err(failure))?;
                output.write_all(b"\n")?;
                output.flush()?;
            }
            InputLine::Whole(line) if line.iter().all(u8::is_ascii_whitespace) => {}
            InputLine::Whole(line) => {
                answer_line(&mut server, &line, &mut output)?;
                output.flush()?;
            }
        }
    }
    Ok(())
}

fn answer_line(server: &mut ApiServer<'_>, line: &[u8], output: &mut dyn Write) -> io::Result<()> {
    let message = match std::str::from_utf8(line) {
        Ok(text) => Json::parse(text).map_err(|error| ApiFailure::parse(&error)),
        Err(error) => Err(ApiFailure::parse(&error)),
    };
    match message {
        Err(failure) => ApiAnswer::new(None, "", output).finish(Err(failure))?,
        Ok(batch) if batch.kind() == JsonKind::Array => return answer_batch(server, batch, output),
        Ok(request) if !answer_request(server, request, "", output)? => return Ok(()),
        Ok(_) => {}
    }
    output.write_all(b"\n")
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
        if answer_request(server, request, before, output)? {
            before = ",";
        }
    }
    match before {
        "[" => Ok(()),
        _ => output.write_all(b"]\n"),
    }
}

/// Answers one request, after `before`; returns false for a notification, which has no answer.
fn answer_request(
    server: &mut ApiServer<'_>,
    json: Json<'_>,
    before: &str,
    output: &mut dyn Write,
) -> io::Result<bool> {
    let request = match ApiRequest::read(json) {
        Ok(request) => request,
        Err((id, failure)) => return ApiAnswer::new(id, before, output).finish(Err(failure)).map(|()| true),
    };
    let Some(id) = request.id else {
        // A notification reports neither success nor failure.
        return match dispatch::run(server, &request, &mut io::sink()) {
            Err(ApiFailure::Output(error)) => Err(error),
            _ => Ok(false),
        };
    };
    let mut answer = ApiAnswer::new(Some(id), before, output);
    let outcome = dispatch::run(server, &request, &mut answer);
    answer.finish(outcome).map(|()| true)
}
