//! The terminal front end: a model, one function that changes it, and views that only read it.
//!
//! It knows what may be said to an agent (`Command`), what is heard of it (`Event`), and the read-only types of
//! `offshoot-session`. It holds no store and no provider, reads no environment and no files of its own: the program
//! around it gives what it needs.
//!
//! The modules stand in the order of the flow, each using only those above it.

pub mod text;
pub mod terminal;
pub mod secret_line;
pub mod theme;
pub mod highlight;
pub mod markdown;
pub mod diff;
pub mod image;
pub mod message;
pub mod conversation;
mod stepped_search;
pub mod transcript;
pub mod fuzzy;
pub mod keymap;
pub mod slash;
pub mod editor;
pub mod overlay;
pub mod app;

#[cfg(test)]
mod testing;
