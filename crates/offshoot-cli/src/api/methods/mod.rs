//! What each method does, one function a method, in files by what they are for. `dispatch` lists them.

pub(super) mod append;
pub(super) mod construct;
pub(super) mod plan;
pub(super) mod pure;
pub(super) mod read;
pub(super) mod tree;
