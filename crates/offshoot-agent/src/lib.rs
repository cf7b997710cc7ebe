//! A coding agent on tree-structured sessions, without a screen.
//!
//! The modules stand in the order of the flow, each using only those above it. Providers and tools know no session and
//! no front end; front ends meet the agent at its requests, each with its own reply, and at its events.

#![warn(missing_docs)]
#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests make files and folders as they need them"))]

pub mod crash;
mod words;
pub mod lenient_json;
pub mod yaml;
mod home_path;
mod process;
pub mod sandbox;
mod stored_message;
mod call_arguments;
mod output_schema;
mod recorded_calls;
mod picture;
pub mod provider;
mod pictures;
pub mod model;
mod key_source;
pub mod tool;
pub mod approval;
mod limits;
pub mod context_files;
pub mod resources;
pub mod system_prompt;
pub mod prompt_weight;
pub mod window;
mod work_folder;
pub mod stored_prompt;
pub mod event;
pub mod operate;
pub mod turn;
pub mod sessions;
mod last_told;
mod told_plan;
mod told_mode;
mod told_sandbox;
mod open_answer;
mod recorded;
mod way_round;
pub mod writer;
pub mod request;
pub mod summarise;
pub mod extensions;
mod guarded_extensions;
mod child_extensions;
mod request_hooks;
mod spending;
mod family;
pub mod file_entries;
mod setup;
pub mod request_queue;
pub mod stats;
pub mod forecast;
pub mod bring_plan;
pub mod branch_files;
mod key_redactor;
mod guarded;
mod driver;
pub mod agent_session;
#[cfg(feature = "testing")]
pub mod testing;

pub use family::{Family, FamilyLimits};
pub use guarded::GuardedProvider;
pub use home_path::expand_home;
pub use key_source::{Accessing, KeySource};
pub use limits::Limits;
pub use picture::is_picture;
pub use process::{MarkedProcesses, guard};
pub use setup::{Approver, ReloadedSetup, RuleStore, Setup, SetupSource};
pub use spending::{RunLimits, Spent};
pub use work_folder::WorkFolders;
