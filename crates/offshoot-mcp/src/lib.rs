//! A client for servers of the Model Context Protocol. Their tools are one more source of the agent's tools.
//!
//! Modules are in reading order, and each uses only modules above it. The crate knows no front end, reads no configuration file itself,
//! and gets variables and folders as arguments. Servers are foreign: every message is bounded in bytes and every wait in time.

#![warn(missing_docs)]
#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests prepare their own files"))]

pub mod tool_name;
pub mod exposure;
pub mod server_config;
pub mod config_file;
pub mod start_plan;
pub mod era;
pub mod message;
mod elicitation;
mod param_headers;
mod pauses;
mod peer;
mod stdio;
pub mod oauth;
mod http;
pub mod definition;
pub mod cache;
pub mod client;
mod outcome;
mod prompt;
pub mod server;
mod tool;
pub mod search_tool;
mod resource_tools;
mod prompt_call;
pub mod servers;
