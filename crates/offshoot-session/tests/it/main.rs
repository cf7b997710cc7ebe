//! Tests of the library from outside, one file for each subject.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::disallowed_methods, reason = "tests")]

mod common;
mod context;
mod damage;
mod faults;
mod figures;
mod fuzzed;
mod growth;
mod half_answers;
mod interruption;
mod lists;
mod operations;
mod pick_properties;
mod picks;
mod properties;
mod refused;
mod repair;
mod spill;
mod stores;
mod sums;
mod tour;
mod vectors;
mod weight;
mod writers;
mod writing;
