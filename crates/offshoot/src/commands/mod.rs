//! One file per command, in the order of the help.

pub(crate) mod tail;
pub(crate) mod append;
pub(crate) mod bisect;
pub(crate) mod doctor;
pub(crate) mod permissions;
pub(crate) mod auth;
pub(crate) mod mcp;
pub(crate) mod packages;
pub(crate) mod install;
pub(crate) mod remove;
pub(crate) mod update;
pub(crate) mod config;
pub(crate) mod migrate_from;
pub(crate) mod completions;
pub(crate) mod man;
