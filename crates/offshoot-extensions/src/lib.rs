//! Other people's code: hooks, tools and commands that a host runs, for example a Node.js process.
//!
//! What an event means, in which order handlers get it and what several of them together decide is here, once, for all
//! hosts. Knows no front end and no provider, and never holds the session while foreign code runs.

#![warn(missing_docs)]
#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests make files and folders as they need them"))]

pub mod contract;
pub mod program;
mod steps;
mod registry;
mod guards;
mod payload;
mod tool;
mod nested;
mod ui_prompts;
mod shared;
mod session_calls;
mod complete;
mod providers;
mod sign_in;
mod keys;
mod prompt_options;
mod services;
mod messages;
mod runner;
mod combine;
mod request_context;
mod dispatch;
pub mod drawing;
pub mod node;

pub use dispatch::ExtensionSet;
