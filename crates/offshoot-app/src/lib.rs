//! offshoot without its faces: what it reads of the user's files, what it prints beside a result, and an agent put together
//! of models, keys, trust, settings, packages and extensions. The command line, RPC and the terminal use it.
//!
//! Modules are in reading order, and each uses only modules above it. No module knows a command, a protocol or a screen.

#![warn(missing_docs)]
#![allow(
    rustdoc::broken_intra_doc_links,
    reason = "doc comments of arguments are help texts, with brackets of their own"
)]

pub mod error;
pub mod config;
pub mod session_words;
pub mod ui;
pub mod trust;
pub mod known_flags;
pub mod registered;
pub mod app;
pub mod http;
pub mod packages;
pub mod lookup;
mod near_model;
pub mod models;
pub mod local_models;
pub mod held;
pub mod extensions;
pub mod mcp;
pub mod agent;
pub mod summarise;
pub mod next_request;
pub mod export;
pub mod lines;
