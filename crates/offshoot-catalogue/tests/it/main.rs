//! The catalogue from outside, over real folders: it must say what the disk says.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::disallowed_methods, reason = "tests")]

mod changes;
mod damage;
mod reading;
mod world;
