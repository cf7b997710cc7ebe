//! The binary `offshoot`. Its modules are in reading order, and each uses only those above it.

#![allow(
    rustdoc::broken_intra_doc_links,
    reason = "doc comments of arguments are help texts, with brackets of their own"
)]

mod error;
mod config;
mod ui;
mod sandbox;
mod trust;
mod known_flags;
mod registered;
mod app;
mod http;
mod packages;
mod theme_files;
mod new_file;
mod select;
mod originals;
mod failures;
mod models;
mod extensions;
mod agent;
mod held;
mod file_limit;
mod bring_back;
mod next_request;
mod summarise;
mod trash;
mod spills;
mod plans;
mod lines;
mod transcript;
mod commands;
mod api;
mod rpc;
mod tui;
mod cli;

fn main() -> std::process::ExitCode {
    cli::run(&config::arguments())
}
