//! The settings: their table, what the user's and the project's file set, and the values in effect for every front end.
//!
//! Reads text, not files: the program hands in the files' contents and stores what is changed. Knows no terminal and no
//! front end.
//!
//! The modules stand in reading order, each using only those above it.

pub mod nearest;
pub mod diagnostic;
mod comments;
mod value;
mod table;
mod layer;
mod edit;
mod effective;

pub use edit::{EditError, edit};
pub use effective::{DoubleEscape, ImageProtocol, Settings};
pub use layer::{Layer, Layers, SettingOrigin, UnreadableSettings};
pub use table::{SETTINGS, Scope, Section, Setting, find};
pub use value::{ModelTokens, SettingKind, Value};
