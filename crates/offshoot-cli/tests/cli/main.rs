//! The one test binary of the command line: the real program in an empty home.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]
#![allow(clippy::disallowed_methods, reason = "tests prepare files as they need them")]

mod world;

mod agent;
mod agent_kill;
mod agent_story;
mod api;
mod append;
mod branches;
mod check;
mod compact;
mod completions;
mod context;
mod doctor;
mod crashes;
mod entry;
mod export;
mod fork;
mod import;
mod kernel;
mod label;
mod list;
mod man;
mod migrate;
mod models;
mod name;
mod naming;
mod output;
mod pop;
mod readme;
mod repair;
mod resume;
mod settings;
mod show;
mod switch;
mod tail;
mod terminal;
mod trash;
mod tree;
mod tui;
mod tui_beside;
mod tui_colours;
mod tui_commands;
mod tui_drafts;
mod tui_keys;
mod tui_paste;
mod tui_pictures;
mod tui_story;
mod tui_resize;
mod tui_stream;
mod tui_terminal;
mod tui_whole;
mod tui_writing;
mod untouched;
mod writers;
