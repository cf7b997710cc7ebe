//! The binary `offshoot`. Knows only where the command line begins.

#![allow(
    rustdoc::broken_intra_doc_links,
    reason = "doc comments of arguments are help texts, with brackets of their own"
)]

mod agent;
mod api;
mod app;
mod cli;
mod commands;
mod config;
mod error;
mod plans;
mod records;
mod select;
mod summarise;
mod transcript;
mod trash;
mod tui;
mod ui;

fn main() -> std::process::ExitCode {
    cli::run()
}
