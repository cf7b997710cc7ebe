//! The table of models, finding a model by name, and keys.
//!
//! Built-in models are data (`catalogue`), of which only the part of the provider that is asked for is parsed. Reads the user's
//! `models.json` and `auth.json`; the environment is an argument. Uses no network.

mod value;
mod file;
mod privacy;
mod definition;
mod catalogue;
mod azure;
mod provider_models;
mod table;
mod find;
mod scope;
mod environment;
mod key_command;
mod aws;
mod keys;

pub use crate::provider::{LocalModel, LocalModels, LocalServer, LocalThinking};
pub use find::{FoundModel, UnknownModel};
pub use key_command::printed_key;
pub use keys::{Env, KeyOrigin, KeyedModel, Keys, is_key_variable};
pub use privacy::too_open;
pub use scope::{ScopedModel, scope};
pub use table::{Models, Trouble};
pub use value::literal_key;
