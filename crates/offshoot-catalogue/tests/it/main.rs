//! The catalogue from outside, over real folders: it must list what the disk has.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::disallowed_methods, reason = "tests")]

mod changes;
mod children;
mod damage;
mod reading;
mod world;
