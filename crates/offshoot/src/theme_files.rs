//! Where themes are looked for: in the files of the settings, the data folder and packages.

use std::path::Path;

use offshoot_agent::resources::is_pattern;
use offshoot_app::app::App;
use offshoot_app::config::settings::peer_folders;
use offshoot_app::packages::brought;
use offshoot_packages::source::absolute;
use offshoot_protocol::PeerFolder;
use offshoot_settings::{Layers, Scope};

use crate::themes::{self, ThemeFiles};

/// The files of themes, in the order of precedence: the user's, those that settings list, those of
/// packages, and those that extensions add.
pub(crate) fn theme_files(app: &App, layers: &Layers, folder: &Path) -> ThemeFiles {
    let own = app.environment.data.iter().map(|data| data.join("themes"));
    let home = app.environment.home.as_deref();
    let base = |scope| match scope {
        Scope::Project => folder.join(".offshoot"),
        Scope::Global => app.environment.data.clone().unwrap_or_default(),
    };
    let listed = layers.listed("themes").into_iter().flat_map(|(scope, words)| {
        let paths = words.into_iter().filter(|word| !is_pattern(word));
        paths.map(|word| absolute(&word, &base(scope), home)).collect::<Vec<_>>()
    });
    let peers = peer_folders(&app.environment);
    let by_peers = peers.iter().flat_map(|PeerFolder { peer, path }| {
        let words = layers.listed_by(*peer, "themes").into_iter().flat_map(|(_, words)| words);
        let words = words.filter(|word| !is_pattern(word));
        std::iter::once(path.join("themes")).chain(words.map(|word| absolute(&word, path, home)).collect::<Vec<_>>())
    });
    let brought = brought(app, layers, folder).themes.into_iter().chain(app.registered.themes());
    themes::files_of(own.chain(listed).chain(by_peers).chain(brought))
}
