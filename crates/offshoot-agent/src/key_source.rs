//! The interface to keys: whoever sends a request asks for the key of its model. Knows no file.

use std::pin::Pin;
use std::sync::Arc;

use offshoot_protocol::model::Model;
use offshoot_protocol::{KeyError, Secret};

use crate::model::{KeyedModel, Keys, Models};

/// Dropping this stops a command that prints the key.
pub type Accessing<'a> = Pin<Box<dyn Future<Output = Result<KeyedModel, KeyError>> + Send + 'a>>;

/// The source of keys, asked before every request, so that an expired key can be replaced.
pub trait KeySource: Send + Sync {
    /// The key and headers for a model. Fails if a required key is missing.
    fn access<'a>(&'a self, model: &'a Arc<Model>) -> Accessing<'a>;

    /// The provider refused its key: a cached one is outdated.
    fn refused(&self, _provider: &str) {}

    /// Every key that is known without running a command: none of them may be in a tool's output.
    fn known(&self) -> Vec<Secret> {
        Vec::new()
    }
}

/// The same key, or none, for every model.
impl KeySource for Option<Secret> {
    fn access<'a>(&'a self, model: &'a Arc<Model>) -> Accessing<'a> {
        let access = KeyedModel { model: model.clone(), key: self.clone() };
        Box::pin(std::future::ready(Ok(access)))
    }
}

impl KeySource for (Arc<Models>, Keys) {
    fn access<'a>(&'a self, model: &'a Arc<Model>) -> Accessing<'a> {
        Box::pin(self.1.access(&self.0, model))
    }

    fn refused(&self, provider: &str) {
        self.1.forget(provider);
    }

    fn known(&self) -> Vec<Secret> {
        self.1.known(&self.0)
    }
}
