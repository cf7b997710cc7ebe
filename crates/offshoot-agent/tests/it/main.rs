//! What the agent promises to those who embed it, tested from outside.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on has failed")]
#![allow(clippy::disallowed_methods, reason = "tests make files and folders as they need them")]

mod tools;
