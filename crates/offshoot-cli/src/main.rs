//! The binary `offshoot`. Knows only where the command line begins.

mod api;
mod app;
mod cli;
mod commands;
mod config;
mod error;
mod records;
mod select;
mod transcript;
mod ui;

fn main() -> std::process::ExitCode {
    cli::run()
}
