//! Keys of providers that a person signs in to through an extension, over the usual ones.

use std::sync::{Arc, Weak};

use offshoot_agent::model::KeyedModel;
use offshoot_agent::{Accessing, KeySource};
use offshoot_protocol::model::Model;
use offshoot_protocol::{KeyError, Secret};

use crate::shared::Shared;

pub(crate) struct RoutedKeys {
    pub(crate) usual: Arc<dyn KeySource>,
    pub(crate) shared: Weak<Shared>,
}

impl KeySource for RoutedKeys {
    fn access<'a>(&'a self, model: &'a Arc<Model>) -> Accessing<'a> {
        Box::pin(async move {
            let usual = self.usual.access(model).await;
            let provider = &model.provider;
            let Some(shared) = self.shared.upgrade() else { return usual };
            let Some(sign_in) = shared.sign_in(provider) else {
                // Its address and its headers may be those of what is gone.
                return if shared.has_lost(model) { Err(KeyError::Gone { provider: provider.clone() }) } else { usual };
            };
            match shared.signed_in_key(&sign_in).await {
                Ok(Some(key)) => {
                    let model = usual.map_or_else(|_| Arc::clone(model), |access| access.model);
                    Ok(KeyedModel { model, key: Some(key) })
                }
                Ok(None) => match usual {
                    Ok(KeyedModel { key: None, .. }) | Err(_) => {
                        Err(KeyError::SignIn { provider: provider.clone(), why: String::new() })
                    }
                    with_key => with_key,
                },
                Err(why) => Err(KeyError::SignIn { provider: provider.clone(), why: format!(" any more: {why}") }),
            }
        })
    }

    fn refused(&self, provider: &str) {
        self.usual.refused(provider);
    }

    fn known(&self) -> Vec<Secret> {
        let signed_in = self.shared.upgrade().map(|shared| shared.signed_in_secrets()).unwrap_or_default();
        self.usual.known().into_iter().chain(signed_in).collect()
    }
}
