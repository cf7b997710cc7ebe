//! The crate's tests through its public face: one binary.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "helpers of tests are neither #[test] nor cfg(test)"
)]
#![allow(clippy::disallowed_methods, reason = "tests make files and folders as they need them")]

mod abort;
mod approval;
mod background;
mod bring_back;
mod broken_writes;
mod call_identity;
mod children;
mod children_orders;
mod children_in_trouble;
mod compact;
mod crashes;
mod damaged_histories;
mod drafts;
mod every_tool;
mod examples;
mod files;
mod forecasts;
mod lists_and_questions;
mod operations;
mod picked_requests;
mod pictures;
mod plans;
mod queue;
mod refusals;
mod resources;
mod retry;
mod sessions;
mod test_extensions;
mod tool_sets;
mod tools;
mod turns;
mod window;
mod wires;
mod world;
