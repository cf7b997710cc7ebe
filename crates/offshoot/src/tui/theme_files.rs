//! Where the terminal looks for themes.

use std::path::Path;

use offshoot_app::agent::Args;
use offshoot_app::app::App;
use offshoot_app::packages::brought_by_folders;
use offshoot_settings::Layers;

use crate::themes::{self, ThemeFiles};

/// The files of themes, in the order of precedence: those of the command line, then all others.
pub(super) fn theme_files(app: &App, args: &Args, layers: &Layers, folder: &Path) -> ThemeFiles {
    let typed = args.theme.iter().map(|path| app.environment.whole_path(path));
    let mut files = themes::files_of(typed.chain(brought_by_folders(app, &args.extension).themes));
    if !args.no_themes {
        files.extend(crate::theme_files::theme_files(app, layers, folder));
    }
    files
}
