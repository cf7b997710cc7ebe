//! Searches of real files, by the index and by the scan.

#![allow(clippy::unwrap_used, clippy::panic, clippy::disallowed_methods, reason = "tests")]

mod corpus;
mod equality;
mod faults;
mod folders;
mod hits;
mod processes;
mod ranking;
