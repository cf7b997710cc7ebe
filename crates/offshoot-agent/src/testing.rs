//! A model for tests: a server on this machine that answers from a script, in each provider's wire format.

pub mod script;
pub mod seen;
pub mod check;
mod render;
pub mod server;
