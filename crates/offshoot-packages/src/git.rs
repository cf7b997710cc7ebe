//! git: clones a repository and says which commit it has. Hooks, submodules and helpers of a repository never run.

use std::path::Path;

use crate::error::Result;
use crate::run::run;

const SAFE: [&str; 8] = [
    "-c",
    "core.hooksPath=/dev/null",
    "-c",
    "protocol.ext.allow=never",
    "-c",
    "core.fsmonitor=false",
    "-c",
    "submodule.recurse=false",
];

/// Clones a branch, a tag or a commit into a folder that does not exist, and returns the commit.
pub(crate) fn clone(package: &str, url: &str, reference: Option<&str>, into: &Path) -> Result<String> {
    let scratch = into.parent().unwrap_or(into);
    let place = into.to_string_lossy();
    let filter = ["clone", "--quiet", "--no-checkout", "--", url, &place];
    run(package, "git", &[&SAFE[..], &filter].concat(), scratch)?;
    let target = match reference {
        Some(reference) => {
            let named = [format!("refs/remotes/origin/{reference}^{{commit}}"), format!("{reference}^{{commit}}")];
            let known = |name: &String| commit(package, into, name).is_ok();
            named.iter().find(|name| known(name)).unwrap_or(&named[1]).clone()
        }
        None => "HEAD".to_owned(),
    };
    let target = commit(package, into, &target)?;
    run(package, "git", &[&SAFE[..], &["checkout", "--quiet", "--detach", &target]].concat(), into)?;
    Ok(target)
}

fn commit(package: &str, folder: &Path, name: &str) -> Result<String> {
    let asked = ["rev-parse", "--verify", "--quiet", "--end-of-options", name];
    run(package, "git", &[&SAFE[..], &asked].concat(), folder).map(|said| said.trim().to_owned())
}

/// The files that were changed in a clone; empty if it is as it was fetched.
pub(crate) fn changes(package: &str, folder: &Path) -> Result<String> {
    run(
        package,
        "git",
        &[&SAFE[..], &["status", "--porcelain", "--untracked-files=all", "--", ":!node_modules"]].concat(),
        folder,
    )
}
