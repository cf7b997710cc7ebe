//! git: clones a repository and says which commit it has. The user's and the system's settings count; those of a repository, of the
//! fetched one, of an installed clone and of the project around them, do not, nor do their hooks, filters and attributes.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use offshoot_session::text::one_line;

use crate::contents;
use crate::environment::ProgramEnvironment;
use crate::error::{PackageError, Result};
use crate::run::Program;

const SAFE: [&str; 10] = [
    "-c",
    "core.hooksPath=/dev/null",
    "-c",
    "protocol.ext.allow=never",
    "-c",
    "core.fsmonitor=false",
    "-c",
    "submodule.recurse=false",
    "-c",
    "core.untrackedCache=false",
];
/// Trees without files, which git knows without having them: attributes are read there.
const EMPTY_TREES: [(&str, &str); 2] = [
    ("sha1", "4b825dc642cb6eb9a060e54bf8d69288fbee4904"),
    ("sha256", "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321"),
];

/// git for one package, in the user's environment.
pub(crate) struct Git<'a> {
    pub(crate) package: &'a str,
    pub(crate) environment: &'a ProgramEnvironment,
}

impl Git<'_> {
    /// Runs git in a folder, and looks for no repository above it.
    fn run(&self, folder: &Path, arguments: &[&str], variables: &[(&str, &OsStr)]) -> Result<String> {
        let real = folder.canonicalize().map_err(|error| PackageError::io("find", folder, error))?;
        let above = real.parent().unwrap_or(&real).as_os_str().to_owned();
        let mut all = vec![("GIT_TERMINAL_PROMPT", OsStr::new("0")), ("GIT_CEILING_DIRECTORIES", &above)];
        all.extend(variables);
        let arguments = [&SAFE[..], arguments].concat();
        let program = Program { name: "git", arguments: &arguments, environment: self.environment, variables: &all };
        program.run(self.package, &real)
    }

    /// Clones a branch, a tag or a commit into a folder that does not exist, and returns the commit.
    pub(crate) fn clone(&self, url: &str, reference: Option<&str>, into: &Path) -> Result<String> {
        let scratch = into.parent().unwrap_or(into);
        let place = into.to_string_lossy();
        let silent = OsStr::new("ssh -oBatchMode=yes");
        let ssh = [("GIT_SSH_COMMAND", silent)];
        let ssh = if self.has_ssh(scratch) { &[][..] } else { &ssh[..] };
        self.run(scratch, &["clone", "--quiet", "--no-checkout", "--no-recurse-submodules", "--", url, &place], ssh)?;
        let target = match reference {
            Some(reference) => {
                let named = [format!("refs/remotes/origin/{reference}^{{commit}}"), format!("{reference}^{{commit}}")];
                let known = |name: &String| self.commit(into, name).is_ok();
                named.iter().find(|name| known(name)).unwrap_or(&named[1]).clone()
            }
            None => "HEAD".to_owned(),
        };
        let target = self.commit(into, &target)?;
        let format = self.run(into, &["rev-parse", "--show-object-format"], &[])?;
        self.run(into, &["checkout", "--quiet", "--detach", &target], &[without_attributes(&format)])?;
        Ok(target)
    }

    /// Whether the user has said how ssh is run.
    fn has_ssh(&self, folder: &Path) -> bool {
        self.environment.has("GIT_SSH_COMMAND")
            || self.run(folder, &["config", "--get", "core.sshCommand"], &[]).is_ok()
    }

    fn commit(&self, folder: &Path, name: &str) -> Result<String> {
        let asked = ["rev-parse", "--verify", "--quiet", "--end-of-options", name];
        self.run(folder, &asked, &[]).map(|said| said.trim().to_owned())
    }

    /// The files of a clone that are not as they were fetched; empty if all are. Of the clone's own repository only the objects are
    /// read, in one that is made in `scratch` for this: its settings may name programs.
    pub(crate) fn changes(&self, clone: &Path, commit: &str, scratch: &Path) -> Result<String> {
        let objects = self.objects(clone)?;
        let bare = scratch.join("compared.git");
        let format = if commit.len() > 40 { "sha256" } else { "sha1" };
        let place = bare.to_string_lossy();
        let form = format!("--object-format={format}");
        self.run(scratch, &["init", "--quiet", "--bare", "--template=", &form, "--", &place], &[])?;
        let clone = clone.canonicalize().map_err(|error| PackageError::io("find", clone, error))?;
        let variables = [
            without_attributes(format),
            ("GIT_DIR", bare.as_os_str()),
            ("GIT_WORK_TREE", clone.as_os_str()),
            ("GIT_ALTERNATE_OBJECT_DIRECTORIES", objects.as_os_str()),
        ];
        self.run(&clone, &["read-tree", commit], &variables)?;
        let files = ["diff", "--name-only", "--no-ext-diff", "--no-textconv", "--ignore-submodules=all"];
        let changed = self.run(&clone, &files, &variables)?;
        let others = ["ls-files", "--others", "--exclude-standard", "--", ":!node_modules", ":!.git"];
        Ok(changed + &self.run(&clone, &others, &variables)?)
    }

    /// The folder of a clone's objects, if it is the clone's own and within the limits.
    fn objects(&self, clone: &Path) -> Result<PathBuf> {
        let objects = clone.join(".git/objects");
        let is_own = [".git", ".git/objects"]
            .iter()
            .all(|name| clone.join(name).symlink_metadata().is_ok_and(|meta| meta.is_dir()));
        if !is_own || objects.join("info/alternates").symlink_metadata().is_ok() {
            let why = format!(
                "{} is not the clone that was installed, and may have work of yours: keep it elsewhere first",
                one_line(&clone.to_string_lossy(), 400)
            );
            return Err(PackageError::refused(self.package, why));
        }
        contents::check(&objects, self.package)?;
        Ok(objects)
    }
}

/// Lets git read attributes from a tree without files, instead of from the repository's; an older git has its files' attributes, which
/// name filters of the user's alone.
fn without_attributes(format: &str) -> (&'static str, &'static OsStr) {
    let tree = EMPTY_TREES.iter().find(|(name, _)| *name == format.trim()).unwrap_or(&EMPTY_TREES[0]).1;
    ("GIT_ATTR_SOURCE", OsStr::new(tree))
}
