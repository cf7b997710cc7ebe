//! The client against a scripted server: both eras, and servers that misbehave.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::disallowed_methods,
    clippy::exit,
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::needless_pass_by_value,
    reason = "tests; one of them is started as a server"
)]

mod scripted;
mod run;
mod http_server;
mod odd_servers;
mod asking;
mod prompts;
mod over_http;
mod signing_in;

/// Not a test: the scripted server is this program, started so.
#[test]
fn serve() {
    scripted::serve();
}
