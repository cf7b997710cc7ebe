//! `offshoot migrate-from pi`: what of another program's folder counts where it is, what is copied, and what stays there.
//! Writes nothing in that folder.

mod pi_copies;

use std::io::Write as _;
use std::path::Path;

use clap::ValueEnum;
use offshoot_app::app::App;
use offshoot_app::config::settings::SettingsFiles;
use offshoot_app::error::{CommandError, FailureKind, Result};
use offshoot_protocol::Peer;
use offshoot_session::medium::replace_file;
use offshoot_session::text::{clean_lines, counted};
use offshoot_settings::{PeerUse, Scope, Value};

use super::doctor::{KEY_BINDINGS_COUNT, PeerStanding, peer_standing};
use super::packages::{PackageSettings, agreed, described, version_of};
use pi_copies::{CopiedFile, CopiedPackage, KEY_BINDINGS, PiCopies};

/// Move in from pi: use its folder, and copy what only counts here
///
/// Models, keys, settings, prompts, skills, themes and extensions of pi's own
/// folder count where they are, after offshoot's (the setting piFolder). Copied
/// are pi's packages, each fetched anew in the version that pi has; SYSTEM.md
/// and APPEND_SYSTEM.md; and the key bindings of actions that offshoot has. What
/// offshoot has of its own is never replaced. What cannot be moved is listed with the
/// reason.
///
/// The list is shown first, and each package with what it brings. Scripts of
/// packages never run. Nothing in pi's folder changes.
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment, after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The program whose folder is read: pi
    #[arg(value_enum, hide_possible_values = true)]
    program: Program,

    /// Show the list only
    #[arg(short = 'n', long)]
    dry_run: bool,

    /// Agree without a question
    #[arg(short, long)]
    yes: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Program {
    Pi,
}

const EXAMPLES: &str = "\
Examples:
  offshoot migrate-from pi --dry-run
  offshoot migrate-from pi --yes";

pub(crate) fn run(app: &App, args: &Args) -> Result<()> {
    match args.program {
        Program::Pi => from_pi(app, args),
    }
}

fn from_pi(app: &App, args: &Args) -> Result<()> {
    let Some(standing) = peer_standing(app, Peer::Pi) else {
        return Err(CommandError::new(FailureKind::NotFound, "pi has no folder with anything to use")
            .hint("PI_CODING_AGENT_DIR names its folder; without it, it is ~/.pi/agent"));
    };
    let data = app.environment.data.clone().ok_or_else(|| {
        CommandError::new(FailureKind::Failed, "the data folder is not known").hint("set OFFSHOOT_HOME or HOME")
    })?;
    let settings = PackageSettings::of(app, Scope::Global)?;
    let copies = PiCopies::of(&standing.folder.path, &data, &settings)?;
    let lines = shown(app, &standing, &copies, &data);
    if args.dry_run {
        let mut out = app.ui.text();
        lines.iter().try_for_each(|line| writeln!(out, "{line}"))?;
        return Ok(out.finish()?);
    }
    if standing.state == PeerUse::On && copies.is_empty() {
        return app.ui.nothing_to_do("pi's folder counts, and there is nothing to copy");
    }
    if !agreed(app, &lines, args.yes, "Do it?")? {
        return app.ui.nothing_to_do("nothing was changed");
    }
    if standing.state != PeerUse::On {
        let files = SettingsFiles::of(Some(&data), &app.environment.cwd).without_project(Vec::new());
        files.store(Scope::Global, Peer::Pi.setting(), Some(&Value::Text("on".to_owned())))?;
    }
    copies.files.iter().try_for_each(|file| copy(app, file, &data))?;
    let failed = copies.packages.iter().filter(|package| !is_installed(app, args, &settings, package)).count();
    match failed {
        0 => Ok(()),
        _ => Err(CommandError::new(
            FailureKind::Failed,
            format!("{} not installed", counted(failed, "package was", "packages were")),
        )
        .hint("run the command again: it does only what is not done yet")),
    }
}

fn shown(app: &App, standing: &PeerStanding, copies: &PiCopies, data: &Path) -> Vec<String> {
    let short = |path: &Path| app.environment.short(&path.display().to_string());
    let state = match standing.state {
        PeerUse::On => "the setting piFolder is on",
        PeerUse::Ask | PeerUse::Off => "the setting piFolder becomes on",
    };
    let mut lines = vec![format!("counts where it is, in {} ({state}):", short(&standing.folder.path))];
    let copies_keys = copies.files.iter().any(|file| file.name == KEY_BINDINGS);
    let counts = standing.counts.iter().filter(|what| !copies_keys || *what != KEY_BINDINGS_COUNT);
    lines.extend(counts.map(|what| format!("  {what}")));
    if lines.len() == 1 {
        lines.push("  nothing".to_owned());
    }
    lines.push(format!("is copied to {}:", short(data)));
    lines.extend(copies.packages.iter().map(|package| format!("  {}", package.words())));
    lines.extend(copies.files.iter().map(|file| format!("  {}", file.words())));
    if copies.is_empty() {
        lines.push("  nothing".to_owned());
    }
    lines.push("stays with pi:".to_owned());
    lines.extend(copies.left.iter().chain(&standing.does_not_count).map(|what| format!("  {what}")));
    if copies.left.is_empty() && standing.does_not_count.is_empty() {
        lines.push("  nothing".to_owned());
    }
    lines.iter().map(|line| clean_lines(line).into_owned()).collect()
}

/// A file of the user's that appeared meanwhile is not replaced.
fn copy(app: &App, file: &CopiedFile, data: &Path) -> Result<()> {
    let place = data.join(file.name);
    if place.symlink_metadata().is_ok() {
        return Ok(());
    }
    replace_file(&place, &file.text, 0o600)
        .map_err(|error| CommandError::io(format!("write {}", place.display()), &error))?;
    app.ui.note(&format!("copied {}", file.name));
    Ok(())
}

/// Installs a package, and lists it as pi's settings do. A failure is reported, and does not stop the others.
fn is_installed(app: &App, args: &Args, settings: &PackageSettings<'_>, package: &CopiedPackage) -> bool {
    match install(app, args, settings, package) {
        Ok(()) => true,
        Err(error) => {
            app.ui.error(&error);
            false
        }
    }
}

fn install(app: &App, args: &Args, settings: &PackageSettings<'_>, package: &CopiedPackage) -> Result<()> {
    let entry = &package.entry;
    let fetched = settings.store.fetch(&package.exactly, None)?;
    if !agreed(app, &described(&entry.written, &fetched.contents, false), args.yes, "Install it?")? {
        return Ok(());
    }
    let version = fetched.locked.as_ref().map(version_of).unwrap_or_default();
    settings.store.commit(fetched, false)?;
    settings.change(|entries| {
        if settings.position(entries, entry).is_none() {
            entries.push(entry.clone());
        }
        Ok(())
    })?;
    app.ui.note(format!("installed {} {version}", entry.written).trim_end());
    Ok(())
}
