//! The table of operations: each has one row, and front ends read nothing else.

pub mod branches;
pub mod check;
pub mod compact;
pub mod compare;
pub mod context;
pub mod entry;
pub mod files;
pub mod fork;
pub mod export;
pub mod label;
pub mod list;
pub mod import;
pub mod keep;
pub mod sources;
pub mod merge;
pub mod migrate;
pub mod models;
pub mod name;
pub mod todo;
pub mod navigate;
pub mod pick;
pub mod pop;
pub mod repair;
pub mod search;
pub mod show;
pub mod switch;
pub mod trash;
pub mod tree;
pub mod uncompact;
pub mod undo;

#[cfg(test)]
mod tests;

use crate::run::Row;

/// Every operation.
pub const OPERATIONS: &[Row] = &[
    Row::of::<list::List>(),
    Row::of::<search::Search>(),
    Row::of::<show::Show>(),
    Row::of::<tree::ShowTree>(),
    Row::of::<branches::Branches>(),
    Row::of::<context::ShowContext>(),
    Row::of::<entry::ShowEntry>(),
    Row::of::<compare::Compare>(),
    Row::of::<switch::Switch>(),
    Row::of::<files::Files>(),
    Row::of::<pop::Pop>(),
    Row::of::<navigate::Navigate>(),
    Row::of::<pick::Pick>(),
    Row::of::<merge::Merge>(),
    Row::of::<compact::Compact>(),
    Row::of::<uncompact::Uncompact>(),
    Row::of::<undo::Undo>(),
    Row::of::<label::Label>(),
    Row::of::<name::Name>(),
    Row::of::<todo::ShowTodo>(),
    Row::of::<export::Export>(),
    Row::of::<import::Import>(),
    Row::of::<keep::Keep>(),
    Row::of::<sources::Sources>(),
    Row::of::<trash::MoveToTrash>(),
    Row::of::<fork::Fork>(),
    Row::of::<models::ListModels>(),
    Row::of::<check::Check>(),
    Row::of::<repair::Repair>(),
    Row::of::<migrate::Migrate>(),
];

/// The operation of a name or an alias.
#[must_use]
pub fn find_operation(name: &str) -> Option<&'static Row> {
    OPERATIONS.iter().find(|row| row.about.name == name || row.about.aliases.contains(&name))
}
