//! Extensions beside a real agent, whose model answers from a script.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]
#![allow(clippy::disallowed_methods, reason = "tests prepare files as they need them")]

#[path = "../../examples/figures/nobody.rs"]
mod nobody;
#[path = "../../examples/prune.rs"]
mod prune;
mod native;
mod events;
