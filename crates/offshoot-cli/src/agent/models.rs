//! Which models can be asked, and the one that a name means. Reads the user's files anew each time, silently.

use std::sync::Arc;

use offshoot_agent::provider::{Model, ThinkingLevel};

use super::setup::known;
use crate::app::App;
use crate::error::{CommandError, Kind, Result};

/// The models for whose provider there is a key.
pub(crate) fn askable(app: &App) -> Vec<Arc<Model>> {
    let (models, keys, _) = known(app);
    models.all().iter().filter(|model| keys.can_ask(&models, model)).cloned().map(Arc::new).collect()
}

/// The model of this name, and the level behind it.
pub(crate) fn named(app: &App, name: &str) -> Result<(Arc<Model>, Option<ThinkingLevel>)> {
    let (models, keys, _) = known(app);
    let usable = |provider: &str| models.default_of(provider).is_some_and(|model| keys.can_ask(&models, model));
    let found = models.find(None, name, &usable);
    let found =
        found.map_err(|error| CommandError::new(Kind::NotFound, error.to_string()).hint("/model lists them"))?;
    Ok((Arc::new(found.model), found.level))
}
