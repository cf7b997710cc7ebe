//! `offshoot --mode rpc`: other programs drive the agent by lines of JSON. `docs/rpc.md` is the contract.
//!
//! Commands come on standard input; responses and events go to standard output, which holds nothing else.

mod record_queue;
mod responder;
mod request;
mod records;
mod server;
mod talk;
mod answers;
mod actions;
mod questions;
mod commands;
mod serve;

pub(crate) use serve::run;
