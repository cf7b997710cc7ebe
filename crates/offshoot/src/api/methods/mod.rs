//! One function per method; `dispatch` lists them.

pub(super) mod bring;
pub(super) mod construct;
pub(super) mod plan;
pub(super) mod pure;
pub(super) mod search;
pub(super) mod tree;
pub(super) mod weigh;
