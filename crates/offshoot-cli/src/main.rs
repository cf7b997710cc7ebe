//! The binary `offshoot`. Knows only where the command line begins.
//!
//! The modules stand in reading order, each using only those above it: what the surroundings say, what every command
//! works with, the commands, the library for other programs, the agent, the terminal.

#![allow(
    rustdoc::broken_intra_doc_links,
    reason = "doc comments of arguments are help texts, with brackets of their own"
)]

mod error;
mod config;
mod ui;
mod app;
mod select;
mod models;
mod summarise;
mod trash;
mod plans;
mod records;
mod transcript;
mod commands;
mod api;
mod agent;
mod tui;
mod cli;

fn main() -> std::process::ExitCode {
    cli::run()
}
