//! The binary `offshoot`. Its modules are in reading order, and each uses only those above it.

#![allow(
    rustdoc::broken_intra_doc_links,
    reason = "doc comments of arguments are help texts, with brackets of their own"
)]

mod sandbox;
mod guard;
mod themes;
mod theme_files;
mod key_bindings;
mod page;
mod print;
mod file_limit;
mod copies;
mod commands;
mod api;
mod tui;
mod cli;

fn main() -> std::process::ExitCode {
    cli::run(&offshoot_app::config::arguments())
}
