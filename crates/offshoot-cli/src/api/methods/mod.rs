//! One function per method; `dispatch` lists them.

pub(super) mod append;
pub(super) mod bring;
pub(super) mod construct;
pub(super) mod plan;
pub(super) mod pure;
pub(super) mod read;
pub(super) mod tree;
pub(super) mod weigh;
