//! `offshoot config`: turns single files of packages on and off.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use offshoot_app::app::App;
use offshoot_app::error::{CommandError, FailureKind, Result};
use offshoot_app::packages::ListedPackage;
use offshoot_packages::entry::{PackageEntry, ResourceKind};

use super::packages::{self, PackageScope, PackageSettings, called, files_of, print_json, record};

/// Turn files of a package on and off
///
/// Without --on and --off the command lists the files of the package. FILE is
/// a path in the package, or the name of a skill, a template (/name) or a
/// theme.
///
/// --json prints the package as an element of `offshoot packages --json`, and
/// without SOURCE the array of all.
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment, after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The package, with or without its version; without it, the files of all packages are listed
    source: Option<String>,

    /// Use this file (repeatable)
    #[arg(long, value_name = "FILE", requires = "source")]
    on: Vec<String>,

    /// Do not use this file (repeatable)
    #[arg(long, value_name = "FILE", requires = "source")]
    off: Vec<String>,

    #[command(flatten)]
    scope: PackageScope,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  offshoot config ~/my-skills
  offshoot config ~/my-skills --off /review --off skills/old";

pub(crate) fn run(app: &App, args: &Args) -> Result<()> {
    let settings = PackageSettings::of(app, args.scope.scope())?;
    let Some(source) = &args.source else { return packages::list(app, args.json) };
    let mut entry = settings.find(source)?;
    let installed = settings.store.installed(&entry)?;
    let all: Vec<(ResourceKind, &PathBuf)> = ResourceKind::ALL
        .into_iter()
        .flat_map(|kind| installed.contents.of_kind(kind).iter().map(move |file| (kind, file)))
        .collect();
    let changes = args.on.iter().map(|file| (file, true)).chain(args.off.iter().map(|file| (file, false)));
    let change = |(given, is_on): (&String, bool)| {
        let (kind, file) = find(&all, given, &entry)?;
        Ok((kind, named(kind, file), is_on))
    };
    let changes = changes.map(change).collect::<Result<Vec<_>>>()?;
    let changed = |entry: PackageEntry| {
        changes.iter().fold(entry, |entry, (kind, file, is_on)| entry.with_file(*kind, file, *is_on))
    };
    if !changes.is_empty() {
        settings.change(|entries| {
            if let Some(place) = settings.position(entries, &entry).and_then(|at| entries.get_mut(at)) {
                *place = changed(place.clone());
            }
            Ok(())
        })?;
    }
    entry = changed(entry);
    let (scope, store) = (settings.scope, settings.store.clone());
    let package = ListedPackage { scope, entry, exceptions: Vec::new(), store };
    if args.json {
        return print_json(app, &record(&package).to_string());
    }
    let mut out = app.ui.text();
    for (kind, on, off) in files_of(&package, &installed.root, &installed.contents) {
        writeln!(out, "{}", kind.name())?;
        on.iter().try_for_each(|file| writeln!(out, "  on   {}", file.display()))?;
        off.iter().try_for_each(|file| writeln!(out, "  off  {}", file.display()))?;
    }
    Ok(out.finish()?)
}

/// The name of a file in the settings: of a skill its folder.
fn named(kind: ResourceKind, file: &Path) -> String {
    let is_folder = kind == ResourceKind::Skill && file.ends_with("SKILL.md");
    let folder = file.parent().filter(|folder| is_folder && !folder.as_os_str().is_empty());
    folder.unwrap_or(file).display().to_string()
}

fn find<'a>(
    all: &[(ResourceKind, &'a PathBuf)],
    given: &str,
    entry: &PackageEntry,
) -> Result<(ResourceKind, &'a Path)> {
    let plain = given.trim_start_matches("./").trim_end_matches('/');
    let is_path = |kind: ResourceKind, file: &Path| file == Path::new(plain) || named(kind, file) == plain;
    let by_path = all.iter().find(|(kind, file)| is_path(*kind, file));
    let by_name: Vec<_> = all.iter().filter(|(kind, file)| called(*kind, file) == given).collect();
    let found = by_path.or_else(|| by_name.first().filter(|_| by_name.len() == 1).copied());
    found.map(|(kind, file)| (*kind, file.as_path())).ok_or_else(|| {
        let what = if by_name.len() > 1 { "several files with the name" } else { "no file" };
        CommandError::new(FailureKind::NotFound, format!("{} has {what} {given}", entry.written))
            .hint(format!("`offshoot config {}` lists its files", entry.written))
    })
}
