//! Sessions of other agents, read from stores that were made for tests.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests")]
#![allow(clippy::disallowed_methods, reason = "tests prepare their own files")]

mod support;
mod archive;
mod back;
mod claude;
mod codex;
mod hostile;
mod imports;
mod others;
mod subagents;
