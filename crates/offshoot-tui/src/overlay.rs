//! Overlays over the conversation: selectors and questions. Each is a state with keys in, an outcome out, and a view
//! that only reads it. An overlay does not perform its own outcome.

pub(crate) mod age;
pub(crate) mod hint;
pub mod line;
pub mod help;
pub mod pick;
pub mod form;
pub mod dialog;
pub mod model_scope;
pub mod prompts;
pub mod tree;
pub mod fork;
pub mod hits;
pub mod sessions;
pub mod search;
pub mod settings;
