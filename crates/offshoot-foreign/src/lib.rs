//! SQLite stores of other programs. They are read, and not one byte, name or time of their folders changes.
//!
//! Modules are declared in reading order, and each uses only those above it.

#![warn(missing_docs)]
#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests prepare their own files"))]

mod foreign_store;
mod omp_keys;

pub use foreign_store::{ForeignStore, ForeignStoreError};
pub use omp_keys::{OmpKey, OmpKeys, omp_keys};
