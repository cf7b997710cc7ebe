//! `offshoot packages`: the packages of the settings, and what they bring; and what the commands that change them share.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use offshoot_app::app::App;
use offshoot_app::config::settings::SettingsFiles;
use offshoot_app::config::trust_file::TrustFile;
use offshoot_app::error::{CommandError, FailureKind, Result};
use offshoot_app::packages::{ListedPackage, listed, store};
use offshoot_app::trust::Trust;
use offshoot_packages::contents::Contents;
use offshoot_packages::entry::{PackageEntry, ResourceKind};
use offshoot_packages::error::PackageError;
use offshoot_packages::lock::Locked;
use offshoot_packages::source::PackageSource;
use offshoot_packages::store::PackageStore;
use offshoot_session::text::counted;
use offshoot_settings::nearest::nearest;
use offshoot_settings::{Layers, Scope, Settings, Value};
use serde_json::json;

/// List the packages of skills, prompt templates and themes
///
/// Packages are listed in the settings (`packages`), as in pi. `offshoot
/// install` adds one, `offshoot config` turns its files on and off. Nothing is
/// fetched when offshoot starts.
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment, after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Print a JSON array with an object for each package
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  offshoot packages
  offshoot packages --json";

/// Whose packages a command changes.
#[derive(Debug, Clone, Copy, clap::Args)]
pub(crate) struct PackageScope {
    /// The packages of this folder's project, in .offshoot
    #[arg(short = 'l', long, visible_alias = "local")]
    pub(crate) project: bool,
}

impl PackageScope {
    pub(crate) fn scope(self) -> Scope {
        if self.project { Scope::Project } else { Scope::Global }
    }
}

/// The settings and the packages that a command works with.
pub(crate) struct PackageSettings<'a> {
    app: &'a App,
    files: SettingsFiles,
    layers: Layers,
    pub(crate) scope: Scope,
    pub(crate) store: PackageStore,
}

impl<'a> PackageSettings<'a> {
    /// Reads the settings. A project that is not trusted is refused.
    pub(crate) fn of(app: &'a App, scope: Scope) -> Result<Self> {
        let folder = &app.environment.cwd;
        let files = app.settings_files(folder);
        let has_one = SettingsFiles::of(app.environment.data.as_deref(), folder).existing_project().is_some();
        if scope == Scope::Project && has_one && app.trust_of(folder).0 != Trust::Given {
            return Err(CommandError::new(FailureKind::Failed, "the settings of this folder are not trusted")
                .hint("`offshoot --trust …` trusts them this once, and /trust in a conversation for good"));
        }
        let (layers, troubles) = files.load()?;
        troubles.iter().for_each(|trouble| app.ui.warning(trouble));
        let store = store(app, scope, folder, &Settings::from(&layers))?;
        Ok(Self { app, files, layers, scope, store })
    }

    /// The packages of this scope alone, in their order.
    pub(crate) fn entries(&self) -> Result<Vec<PackageEntry>> {
        let lists = self.layers.listed("packages");
        let own = lists.into_iter().find(|(scope, _)| *scope == self.scope).map(|(_, entries)| entries);
        read_entries(&own.unwrap_or_default())
    }

    /// Where a list has the package of an entry, however its source is written.
    pub(crate) fn position(&self, entries: &[PackageEntry], wanted: &PackageEntry) -> Option<usize> {
        let identity = self.store.identity(&wanted.source);
        entries.iter().position(|entry| self.store.identity(&entry.source) == identity)
    }

    /// The entry of a source, however it is written.
    pub(crate) fn find(&self, given: &str) -> Result<PackageEntry> {
        let entries = self.entries()?;
        let identity = |source: &PackageSource| self.store.identity(source);
        let wanted =
            PackageSource::parse(&self.settled_source(given)).map(|source| identity(&source)).unwrap_or_default();
        let at = entries.iter().position(|entry| identity(&entry.source) == wanted || entry.written == given);
        let missing = || {
            let known = entries.iter().map(|entry| entry.written.as_str());
            let error = CommandError::new(FailureKind::NotFound, format!("the settings list no package {given}"));
            match nearest(given, known) {
                Some(near) => error.hint(format!("did you mean {near}?")),
                None => error.hint("`offshoot packages` lists them; --project means those of this folder"),
            }
        };
        at.and_then(|at| entries.get(at).cloned()).ok_or_else(missing)
    }

    /// A source as the settings have it: paths are absolute, in a project relative to its settings.
    pub(crate) fn settled_source(&self, given: &str) -> String {
        match PackageSource::parse(given) {
            Ok(PackageSource::Path(path)) => {
                let home = self.app.environment.home.as_deref();
                let whole = offshoot_packages::source::absolute(&path, &self.app.environment.cwd, home);
                let inside =
                    whole.strip_prefix(&self.app.environment.cwd).ok().filter(|_| self.scope == Scope::Project);
                inside.map_or(whole.clone(), |inside| Path::new("..").join(inside)).display().to_string()
            }
            _ => given.to_owned(),
        }
    }

    /// Changes the list as it is now: another process may have changed it. Who makes the settings of a project trusts it.
    pub(crate) fn change(&self, change: impl FnOnce(&mut Vec<PackageEntry>) -> Result<()>) -> Result<()> {
        let folder = &self.app.environment.cwd;
        let is_new = self.scope == Scope::Project && self.files.existing_project().is_none();
        self.files.change(self.scope, "packages", |known| {
            let mut entries = match known {
                Some(Value::Packages(known)) => read_entries(known)?,
                _ => Vec::new(),
            };
            change(&mut entries)?;
            let value = Value::Packages(entries.iter().map(PackageEntry::json).collect());
            Ok(Some(value).filter(|_| !entries.is_empty()))
        })?;
        match &self.app.environment.data {
            Some(data) if is_new => TrustFile::of(data).save(folder, true),
            _ => Ok(()),
        }
    }
}

fn read_entries(list: &[String]) -> Result<Vec<PackageEntry>> {
    Ok(list.iter().map(|json| PackageEntry::read(json)).collect::<std::result::Result<_, _>>()?)
}

/// What a package brings, in lines for people.
pub(crate) fn described(name: &str, contents: &Contents, runs_scripts: bool) -> Vec<String> {
    let version = contents.version.as_ref().filter(|version| !name.ends_with(version.as_str()));
    let version = version.map(|version| format!(" ({version})")).unwrap_or_default();
    let mut lines = vec![format!("{name}{version} brings:")];
    for kind in ResourceKind::ALL {
        let files = contents.of_kind(kind);
        if !files.is_empty() {
            let note = if kind == ResourceKind::Extension { ", programs with your rights" } else { "" };
            let names: Vec<String> = files.iter().map(|file| called(kind, file)).collect();
            lines.push(format!("  {}{note}: {}", kind.name(), names.join(", ")));
        }
    }
    if lines.len() == 1 {
        lines.push("  nothing that offshoot uses".to_owned());
    }
    lines.extend(contents.troubles().map(|trouble| format!("  {trouble}")));
    if contents.dependencies > 0 {
        lines.push(format!("  it depends on {}", counted(contents.dependencies, "other package", "other packages")));
    }
    let verb = if runs_scripts { "runs" } else { "does not run" };
    lines.extend(contents.scripts.iter().map(|(name, command)| format!("  script {name} {verb}: {command}")));
    lines
}

/// The name by which a file of a kind is called.
pub(crate) fn called(kind: ResourceKind, file: &Path) -> String {
    let stem = |file: &Path| file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    match kind {
        ResourceKind::Skill if file.ends_with("SKILL.md") => {
            let folder = file.parent().and_then(Path::file_name);
            folder.map_or_else(|| "SKILL.md".to_owned(), |name| name.to_string_lossy().into_owned())
        }
        ResourceKind::Prompt => format!("/{}", stem(file)),
        ResourceKind::Skill | ResourceKind::Theme => stem(file),
        ResourceKind::Extension => file.display().to_string(),
    }
}

/// Version or commit, short.
pub(crate) fn version_of(locked: &Locked) -> String {
    let commit = locked.commit.as_deref().map(|commit| commit.get(..12).unwrap_or(commit).to_owned());
    locked.version.clone().or(commit).unwrap_or_default()
}

/// Asks before a package counts. Without a terminal only `--yes` says yes.
pub(crate) fn agreed(app: &App, lines: &[String], is_agreed: bool, question: &str) -> Result<bool> {
    if is_agreed || !offshoot_app::ui::is_interactive() {
        let mut out = app.ui.text();
        lines.iter().try_for_each(|line| writeln!(out, "{line}"))?;
        out.finish()?;
        if is_agreed {
            return Ok(true);
        }
        return Err(
            CommandError::usage("a package counts only after you agreed").hint("--yes agrees without a question")
        );
    }
    let answer = app.ui.ask(lines, &format!("{question} [y/N] ")).map_err(|error| CommandError::io("ask", &error))?;
    Ok(answer.is_some_and(|answer| matches!(answer.trim(), "y" | "Y" | "yes")))
}

pub(crate) fn run(app: &App, args: &Args) -> Result<()> {
    let (layers, troubles) = app.settings_files(&app.environment.cwd).load()?;
    let (packages, more) = listed(app, &layers, &app.environment.cwd);
    troubles.iter().chain(&more).for_each(|trouble| app.ui.warning(trouble));
    if args.json {
        let records: Vec<String> = packages.iter().map(|package| record(package).to_string()).collect();
        return print_json(app, &format!("[{}]", records.join(",\n")));
    }
    shown(app, &packages)
}

/// Lists the packages of both files.
pub(crate) fn list(app: &App, json: bool) -> Result<()> {
    run(app, &Args { json })
}

/// Prints JSON and a line end.
pub(crate) fn print_json(app: &App, json: &str) -> Result<()> {
    let mut out = app.ui.raw();
    writeln!(out, "{json}")?;
    Ok(out.finish()?)
}

fn shown(app: &App, packages: &[ListedPackage]) -> Result<()> {
    if packages.is_empty() {
        return app.ui.nothing_to_do("the settings list no packages");
    }
    let mut out = app.ui.text();
    for package in packages {
        let scope = if package.scope == Scope::Project { "project" } else { "user" };
        match package.store.installed(&package.entry) {
            Ok(installed) => {
                let version = installed.locked.as_ref().map(version_of).filter(|version| !version.is_empty());
                let version = version.map(|version| format!(" {version}")).unwrap_or_default();
                writeln!(out, "{}{version}  {scope}", package.entry.written)?;
                for (kind, on, off) in files_of(package, &installed.root, &installed.contents) {
                    let on = on.iter().map(|file| called(kind, file));
                    let off = off.iter().map(|file| format!("{} (off)", called(kind, file)));
                    let names: Vec<String> = on.chain(off).collect();
                    writeln!(out, "  {}: {}", kind.name(), names.join(", "))?;
                }
            }
            Err(PackageError::NotInstalled(_)) => writeln!(out, "{}  {scope}, not installed", package.entry.written)?,
            Err(error) => writeln!(out, "{}  {scope}: {error}", package.entry.written)?,
        }
    }
    Ok(out.finish()?)
}

/// Per kind the files that count and those that do not; kinds without files are left out.
pub(crate) fn files_of(
    package: &ListedPackage,
    root: &Path,
    contents: &Contents,
) -> Vec<(ResourceKind, Vec<PathBuf>, Vec<PathBuf>)> {
    let mut kinds = Vec::new();
    for kind in ResourceKind::ALL {
        let on = package.counting(root, contents, kind);
        let off = contents.of_kind(kind).iter().filter(|file| !on.contains(file)).cloned().collect::<Vec<_>>();
        if !on.is_empty() || !off.is_empty() {
            kinds.push((kind, on, off));
        }
    }
    kinds
}

/// A package as JSON.
pub(crate) fn record(package: &ListedPackage) -> serde_json::Value {
    let scope = if package.scope == Scope::Project { "project" } else { "user" };
    let mut record = json!({"source": package.entry.written, "scope": scope});
    match package.store.installed(&package.entry) {
        Ok(installed) => {
            record["path"] = json!(installed.root);
            record["version"] = json!(installed.contents.version);
            record["locked"] = json!(installed.locked);
            for (kind, on, off) in files_of(package, &installed.root, &installed.contents) {
                record[kind.name()] = json!(on);
                if !off.is_empty() {
                    record["off"][kind.name()] = json!(off);
                }
            }
        }
        Err(error) => record["error"] = json!(error.to_string()),
    }
    record
}
