//! Which models there are, how one is named, and what opens the door to it.
//!
//! The built-in table, the user's `models.json` over it, and keys. Reads two files of the user's; the environment comes
//! in as an argument. Talks to no network.

mod file;
mod table;
mod find;
mod value;
mod key_command;
mod keys;

pub use find::{FoundModel, UnknownModel};
pub use keys::{Access, Env, KeyError, KeyOrigin, Keys};
pub use table::{Models, Trouble};
