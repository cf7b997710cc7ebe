//! A scripted model for tests: a local server that speaks each provider's wire format.

pub mod script;
pub mod seen;
pub mod check;
mod render;
pub mod server;
