//! stub
#![warn(missing_docs)]
pub mod id;
pub mod clock;
pub mod error;
pub mod json;
pub mod kind;
pub mod envelope;
pub mod header;
pub mod medium;
pub mod lines;
pub mod tree;
mod migrate;
pub mod load;
pub mod entry;
pub mod path;
pub mod context;
pub mod compose;
pub mod pieces;
pub mod extract;
pub mod session;
pub mod list;
pub mod store;
pub mod text;
pub mod tokens;
pub mod stats;
pub mod outline;
