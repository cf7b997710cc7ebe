//! The connection to models' servers, from the user's settings and the environment. Knows no model and no key.

use std::sync::Arc;

use offshoot_agent::provider::{ExtraRoots, Http};
use offshoot_session::clock::SystemClock;
use offshoot_session::medium::read_regular;
use offshoot_settings::Settings;

use crate::app::App;

/// All authorities of a system are less than a megabyte.
const LARGEST: u64 = 16 << 20;

/// The connection that these settings describe. What is wrong with further certificates is a warning.
pub fn http(app: &App, settings: &Settings) -> Http {
    let http = Http::new(Arc::new(SystemClock)).with_limits(settings.answer_limits);
    let mut options = settings.http.clone();
    options.cache_retention = options.cache_retention.or(app.environment.cache_retention);
    http.with_options(options).with_roots(extra_roots(app))
}

/// The certificates of `NODE_EXTRA_CA_CERTS`. As in Node.js, a file that cannot be read is reported and ends nothing.
fn extra_roots(app: &App) -> ExtraRoots {
    let Some(file) = &app.environment.extra_roots else { return ExtraRoots::default() };
    let (roots, trouble) = match read_regular(&app.environment.cwd.join(file), LARGEST) {
        Ok(pem) => ExtraRoots::from_pem(&pem),
        Err(error) => (ExtraRoots::default(), Some(error.to_string())),
    };
    if let Some(why) = trouble {
        app.ui.warning(&format!("NODE_EXTRA_CA_CERTS names {}: {why}", file.display()));
    }
    roots
}
