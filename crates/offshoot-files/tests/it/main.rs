//! Tests of the library as its users see it.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::disallowed_methods,
    reason = "tests prepare their own files"
)]

mod bench;
mod basics;
mod faults;
mod git_contents;
mod kills;
mod properties;
