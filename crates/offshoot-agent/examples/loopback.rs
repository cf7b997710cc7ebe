//! A model for trying things out: a server on this machine that answers from a script, in any of the wire formats.
//!
//! ```text
//! cargo run -p offshoot-agent --features testing --example loopback -- script.jsonl
//! ```
//!
//! One line of the script is one reply, as `testing::script` shows. The server prints where it listens, then, at the end
//! of its standard input, what was wrong with the requests that it got.

#![allow(clippy::disallowed_methods, clippy::print_stdout, reason = "an example is a whole program")]

use std::io::Read as _;

use offshoot_agent::provider::Api;
use offshoot_agent::testing::script::Reply;
use offshoot_agent::testing::server::{KEY, Server};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("give the file of a script")?;
    let replies = Reply::parse_lines(&std::fs::read_to_string(path)?)?;
    let server = Server::start(replies)?;
    for api in Api::ALL {
        println!("{}: {}", api.as_str(), server.base_url(api));
    }
    println!("key: {KEY}");
    std::io::stdin().read_to_end(&mut Vec::new())?;
    println!("{} requests", server.seen().len());
    for problem in server.problems() {
        println!("{problem}");
    }
    Ok(())
}
