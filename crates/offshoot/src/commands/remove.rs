//! `offshoot remove`: takes a package out of the settings and off the disk.

use offshoot_app::app::App;
use offshoot_app::error::Result;

use super::packages::{PackageScope, PackageSettings};

/// Remove a package
///
/// The folder of a package that was installed from a path stays. A clone in
/// which files were changed is not removed.
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment, after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The package, with or without its version
    source: String,

    #[command(flatten)]
    scope: PackageScope,
}

const EXAMPLES: &str = "\
Examples:
  offshoot remove ~/my-skills";

pub(crate) fn run(app: &App, args: &Args) -> Result<()> {
    let settings = PackageSettings::of(app, args.scope.scope())?;
    let entry = settings.find(&args.source)?;
    // First the settings: a package that is not listed has no effect.
    settings.change(|entries| {
        settings.position(entries, &entry).map(|at| entries.remove(at));
        Ok(())
    })?;
    settings.store.remove(&entry.source)?;
    app.ui.note(&format!("removed {}", entry.written));
    Ok(())
}
