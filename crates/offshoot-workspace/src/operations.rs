//! The table of operations: each has one row, and front ends read nothing else.

pub mod branches;
pub mod compare;
pub mod label;
pub mod name;
pub mod pick;
pub mod undo;

#[cfg(test)]
mod tests;

use crate::run::Row;

/// Every operation.
pub const OPERATIONS: &[Row] = &[
    Row::of::<branches::Branches>(),
    Row::of::<compare::Compare>(),
    Row::of::<pick::Pick>(),
    Row::of::<undo::Undo>(),
    Row::of::<label::Label>(),
    Row::of::<name::Name>(),
];

/// The operation of a name or an alias.
#[must_use]
pub fn find_operation(name: &str) -> Option<&'static Row> {
    OPERATIONS.iter().find(|row| row.about.name == name || row.about.aliases.contains(&name))
}
