//! One file per command, in the order of the help.

pub(crate) mod list;
pub(crate) mod show;
pub(crate) mod tree;
pub(crate) mod branches;
pub(crate) mod context;
pub(crate) mod entry;
pub(crate) mod tail;
pub(crate) mod switch;
pub(crate) mod pop;
pub(crate) mod pick;
pub(crate) mod undo;
pub(crate) mod compact;
pub(crate) mod label;
pub(crate) mod name;
pub(crate) mod trash;
pub(crate) mod fork;
pub(crate) mod export;
pub(crate) mod import;
pub(crate) mod append;
pub(crate) mod check;
pub(crate) mod repair;
pub(crate) mod doctor;
pub(crate) mod migrate;
pub(crate) mod models;
pub(crate) mod completions;
pub(crate) mod man;
