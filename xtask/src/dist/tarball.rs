//! The tarball: a folder `offshoot-VERSION-TARGET` with the binary and everything of the stage.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::Result;

use super::{Build, empty, must};

/// Packs the stage and the binary; returns the tarball's path.
pub(super) fn make(build: &Build) -> Result<PathBuf> {
    let name = format!("offshoot-{}-{}", build.version, build.platform.target);
    let folder = build.built.join(&name);
    empty(&folder)?;
    must(Command::new("cp").arg("-r").arg(build.stage.join(".")).arg(&folder))?;
    fs::copy(build.binary(), folder.join("offshoot"))?;
    let file = build.packages.join(format!("{name}.tar.gz"));
    must(Command::new("tar").args(["--owner=0", "--group=0", "-czf"]).arg(&file).arg(&name).current_dir(&build.built))?;
    fs::remove_dir_all(&folder)?;
    Ok(file)
}
