//! Packages that the command line names as extensions (`-e npm:NAME`): they are fetched for one run, into a folder that goes with
//! it. Scripts of a package do not run. Knows no front end.

use std::path::PathBuf;

use offshoot_packages::source::PackageSource;
use offshoot_packages::store::PackageStore;
use offshoot_settings::{Scope, Settings};
use tempfile::TempDir;

use super::Args;
use crate::app::App;
use crate::error::{CommandError, FailureKind, Result};
use crate::packages::store;

/// The folders of packages that were fetched for this run. They are removed when it is dropped.
#[derive(Debug, Default)]
#[must_use = "the packages are removed when this is dropped"]
pub struct TriedPackages {
    _folders: Vec<TempDir>,
}

/// Fetches the packages that the arguments name as extensions, and returns the arguments with their folders instead.
///
/// # Errors
/// A source is wrong or cannot be fetched, or `--offline` forbids it: who asks for a gate does not work without it.
pub fn with_tried_packages(app: &App, args: &Args) -> Result<(Args, TriedPackages)> {
    let mut args = args.clone();
    let mut tried = TriedPackages::default();
    for named in &mut args.extension {
        let Some(source) = named.to_str().map(PackageSource::parse).transpose()? else { continue };
        if matches!(source, PackageSource::Path(_)) {
            continue;
        }
        if args.offline {
            let why = format!("the extension {source} is not fetched: --offline");
            return Err(CommandError::new(FailureKind::Failed, why)
                .hint("without --offline it is; `offshoot install` keeps a package for later runs"));
        }
        let (folder, root) = fetched(app, &source)?;
        tried._folders.push(folder);
        *named = root;
    }
    Ok((args, tried))
}

/// The temporary folder of a package, and the package's own in it.
fn fetched(app: &App, source: &PackageSource) -> Result<(TempDir, PathBuf)> {
    let failed = |error| CommandError::io("make a temporary folder for a package", &error);
    let folder = tempfile::Builder::new().prefix("offshoot-tried-").tempdir().map_err(failed)?;
    let base = folder.path().canonicalize().map_err(failed)?;
    let cwd = &app.environment.cwd;
    // What is odd about the settings is reported where they are read first.
    let layers = app.settings_files(cwd).load().map(|(layers, _)| layers)?;
    let store = PackageStore { base, ..store(app, Scope::Global, cwd, &Settings::from(&layers))? };
    app.ui.note(&format!("fetching {source} for this run"));
    store.commit(store.fetch(source, None)?, false)?;
    Ok((folder, store.package_path(source)))
}
