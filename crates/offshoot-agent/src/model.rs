//! The table of models, finding a model by name, and keys.
//!
//! Built-in models are data (`catalogue`), of which only the part of the provider that is asked for is parsed. Reads the user's
//! `models.json` and `auth.json`; the environment is an argument. Uses no network.

mod file;
mod value;
mod privacy;
mod definition;
mod catalogue;
mod azure;
mod local;
mod local_answers;
mod provider_models;
mod table;
mod find;
mod scope;
mod environment;
mod key_command;
mod keys;

pub use find::{FoundModel, UnknownModel};
pub use keys::{Env, KeyOrigin, KeyedModel, Keys};
pub use local::{LocalModel, LocalModels, LocalServer, LocalThinking};
pub(crate) use local_answers::{ListedLocally, llama_props, lm_studio_models, ollama_show, ollama_tags, openai_models};
pub use privacy::too_open;
pub use scope::{ScopedModel, scope};
pub use table::{Models, Trouble};
pub use value::literal_key;
