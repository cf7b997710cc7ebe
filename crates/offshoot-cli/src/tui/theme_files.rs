//! Where themes are looked for.

use std::path::Path;

use offshoot_agent::resources::is_pattern;
use offshoot_packages::source::absolute;
use offshoot_settings::{Layers, Scope};

use crate::agent::Args;
use crate::app::App;
use crate::config::settings::pi_folder;
use crate::config::themes::{self, ThemeFiles};
use crate::packages::brought;

/// The files of themes, in the order of precedence: the command line's, the user's, those that settings list, and those of
/// packages.
pub(super) fn theme_files(app: &App, args: &Args, layers: &Layers, folder: &Path) -> ThemeFiles {
    let typed = args.theme.iter().map(|path| app.environment.cwd.join(path));
    if args.no_themes {
        return themes::files_of(typed);
    }
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
    let pi = pi_folder(&app.environment);
    let by_pi = pi.into_iter().flat_map(|pi| {
        let words = layers.listed_by_pi("themes").into_iter().filter(|word| !is_pattern(word));
        std::iter::once(pi.join("themes")).chain(words.map(|word| absolute(&word, pi, home)).collect::<Vec<_>>())
    });
    themes::files_of(typed.chain(own).chain(listed).chain(by_pi).chain(brought(app, layers, folder).themes))
}
