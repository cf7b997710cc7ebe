//! `offshoot install`: fetches a package, shows what it brings, and adds it to the settings.

use offshoot_app::app::App;
use offshoot_app::error::Result;
use offshoot_packages::entry::PackageEntry;
use offshoot_packages::error::PackageError;

use super::packages::{PackageScope, PackageSettings, agreed, described, version_of};

/// Install a package of skills, prompt templates and themes
///
/// SOURCE is npm:@team/skills, npm:NAME@VERSION, git:github.com/team/skills,
/// git:HOST/PATH@REF, an https address of a repository, or the path of a
/// folder, which is used where it is. What the package brings is shown before it counts. Its scripts never
/// run, except with --scripts. The version and the integrity, or the commit,
/// are written into packages-lock.json.
///
/// Without SOURCE, the packages that the settings list and that are missing
/// are installed, exactly as packages-lock.json has them.
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment, after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Where the package comes from
    source: Option<String>,

    #[command(flatten)]
    scope: PackageScope,

    /// Run the scripts of the package and of those that it depends on, after they were shown
    #[arg(long)]
    scripts: bool,

    /// Agree without a question
    #[arg(short, long)]
    yes: bool,
}

const EXAMPLES: &str = "\
Examples:
  offshoot install ~/my-skills --yes
  offshoot install                     # what the settings list and is missing
  offshoot install --project           # what this folder's settings list";

pub(crate) fn run(app: &App, args: &Args) -> Result<()> {
    let settings = PackageSettings::of(app, args.scope.scope())?;
    match &args.source {
        Some(source) => install(app, args, &settings, source),
        None => install_missing(app, args, &settings),
    }
}

fn install(app: &App, args: &Args, settings: &PackageSettings<'_>, source: &str) -> Result<()> {
    let new = PackageEntry::new(&settings.settled_source(source))?;
    // A list that cannot be read is said before anything is fetched.
    settings.entries()?;
    let fetched = settings.store.fetch(&new.source, None)?;
    if !agreed(app, &described(&new.written, &fetched.contents, args.scripts), args.yes, "Install it?")? {
        return app.ui.nothing_to_do("nothing was installed");
    }
    let version = fetched.locked.as_ref().map(version_of).unwrap_or_default();
    settings.store.commit(fetched, args.scripts)?;
    settings.change(|entries| {
        match settings.position(entries, &new).and_then(|at| entries.get_mut(at)) {
            Some(entry) => *entry = entry.with_source(&new.written)?,
            None => entries.push(new.clone()),
        }
        Ok(())
    })?;
    app.ui.note(format!("installed {} {version}", new.written).trim_end());
    Ok(())
}

fn install_missing(app: &App, args: &Args, settings: &PackageSettings<'_>) -> Result<()> {
    let lock = settings.store.lock()?;
    let mut installed = 0;
    for entry in settings.entries()? {
        if !matches!(settings.store.installed(&entry), Err(PackageError::NotInstalled(_))) {
            continue;
        }
        let exactly = lock.packages.get(&settings.store.identity(&entry.source));
        let fetched = settings.store.fetch(&entry.source, exactly)?;
        if agreed(app, &described(&entry.written, &fetched.contents, args.scripts), args.yes, "Install it?")? {
            let version = fetched.locked.as_ref().map(version_of).unwrap_or_default();
            settings.store.commit(fetched, args.scripts)?;
            app.ui.note(format!("installed {} {version}", entry.written).trim_end());
            installed += 1;
        }
    }
    if installed == 0 { app.ui.nothing_to_do("nothing was installed") } else { Ok(()) }
}
