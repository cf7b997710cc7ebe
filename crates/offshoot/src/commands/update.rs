//! `offshoot update`: fetches newer versions of packages.

use offshoot_app::app::App;
use offshoot_app::error::Result;
use offshoot_packages::entry::PackageEntry;

use super::packages::{PackageScope, PackageSettings, agreed, described, version_of};

/// Update packages
///
/// Packages with an exact version, a git reference or a path stay as they are;
/// `offshoot install` with another version moves them. What a new version
/// brings is shown before it counts.
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment, after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The package; without it, all
    source: Option<String>,

    #[command(flatten)]
    scope: PackageScope,

    /// Run the scripts of new versions, after they were shown
    #[arg(long)]
    scripts: bool,

    /// Agree without a question
    #[arg(short, long)]
    yes: bool,
}

const EXAMPLES: &str = "\
Examples:
  offshoot update
  offshoot update ~/my-skills --yes";

pub(crate) fn run(app: &App, args: &Args) -> Result<()> {
    let settings = PackageSettings::of(app, args.scope.scope())?;
    let entries = match &args.source {
        Some(source) => vec![settings.find(source)?],
        None => settings.entries()?,
    };
    if entries.is_empty() {
        return app.ui.nothing_to_do("the settings list no packages");
    }
    entries.iter().try_for_each(|entry| update(app, args, &settings, entry))
}

fn update(app: &App, args: &Args, settings: &PackageSettings<'_>, entry: &PackageEntry) -> Result<()> {
    let name = &entry.written;
    if entry.source.is_pinned() {
        app.ui.note(&format!("{name} stays as it is: its source names one version"));
        return Ok(());
    }
    let former = settings.store.installed(entry).ok().and_then(|installed| installed.locked);
    let fetched = settings.store.fetch(&entry.source, None)?;
    if former.is_some() && former == fetched.locked {
        app.ui.note(&format!("{name} is the newest, {}", former.as_ref().map(version_of).unwrap_or_default()));
        return Ok(());
    }
    let version = fetched.locked.as_ref().map(version_of).unwrap_or_default();
    let from = former.as_ref().map_or_else(|| "not installed".to_owned(), version_of);
    let lines = described(&format!("{name} {from} → {version}"), &fetched.contents, args.scripts);
    if agreed(app, &lines, args.yes, "Update it?")? {
        settings.store.commit(fetched, args.scripts)?;
        app.ui.note(&format!("updated {name} to {version}"));
    }
    Ok(())
}
