//! Packages of skills, prompt templates and themes: what a settings file lists, fetching it from npm, git or a folder, what
//! it brings, and the record of what was installed.
//!
//! Everything in a package is foreign: it is bounded in size, nothing of it is run, and no file outside its folder counts.
//! Nothing is fetched unless the caller asks for it. Knows no settings file and no front end.

pub mod error;
pub mod source;
mod manifest;
pub mod entry;
pub mod contents;
pub mod lock;
pub mod environment;
mod run;
mod archive;
mod registry;
mod npm;
mod git;
pub mod store;
