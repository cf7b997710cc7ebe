//! `offshoot --mode rpc`: other programs drive the agent by lines of JSON. `docs/rpc.md` is the contract.
//!
//! Commands come on standard input; responses and events go to standard output, and nothing else does. Modules are in
//! reading order, and each uses only modules above it.

#![warn(missing_docs)]

mod version;
mod overflow;
mod record_queue;
mod responder;
mod records;
mod shapes;
mod ui_request;
mod row_members;
mod request;
mod schema;
mod questions;
mod form_questions;
mod extension_front;
mod server;
mod approvals;
mod talk;
mod rows;
mod answers;
mod actions;
mod commands;
mod serve;

pub use serve::run;
