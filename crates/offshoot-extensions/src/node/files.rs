//! The host's files are in the program. They are written once to a private folder that is named by what they say.

use std::fs::{self, Permissions};
use std::io;
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use include_dir::{Dir, include_dir};
use offshoot_session::medium::read_regular;
use sha2::{Digest as _, Sha256};

static HOST: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/host");
/// The client for JavaScript: it runs agents that extensions start through pi's SDK.
static CLIENT: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../clients/javascript/lib");

/// What is in it is run by its name.
const PROGRAMS: &str = "bin";

/// The folder with the host's files, below this one. A file that differs is written again.
pub(super) fn unpacked(cache: &Path) -> io::Result<PathBuf> {
    let mut files = Vec::new();
    collect(&HOST, Path::new(""), &mut files);
    collect(&CLIENT, Path::new("client"), &mut files);
    files.sort();
    let mut hash = Sha256::new();
    for (path, content) in &files {
        hash.update(path.as_os_str().as_encoded_bytes());
        hash.update((content.len() as u64).to_le_bytes());
        hash.update(content);
    }
    let name: String = hash.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    let folder = cache.join(format!("extension-host-{name}"));
    for (path, content) in files {
        write(&folder.join(&path), content, path.starts_with(PROGRAMS))?;
    }
    Ok(folder)
}

/// The files of a folder, as they are named below another one.
fn collect<'a>(dir: &'a Dir<'a>, below: &Path, files: &mut Vec<(PathBuf, &'a [u8])>) {
    files.extend(dir.files().map(|file| (below.join(file.path()), file.contents())));
    dir.dirs().for_each(|dir| collect(dir, below, files));
}

fn write(path: &Path, content: &[u8], is_program: bool) -> io::Result<()> {
    if read_regular(path, content.len() as u64).is_ok_and(|known| known == content) {
        return Ok(());
    }
    let folder = path.parent().unwrap_or(path);
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    // Another program may be reading the old one.
    let mut file = tempfile::Builder::new().prefix(".host-").tempfile_in(folder)?;
    file.write_all(content)?;
    if is_program {
        file.as_file().set_permissions(Permissions::from_mode(0o700))?;
    }
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Extensions and the agent must not differ about which failures a shorter context mends.
    #[test]
    fn the_host_knows_the_same_messages_about_long_contexts_as_the_agent() {
        let module = HOST.get_file("modules/agent/overflow.mjs").unwrap().contents_utf8().unwrap();
        let (_, list) = module.split_once("const TOO_LONG = [").unwrap();
        let (list, _) = list.split_once("];").unwrap();
        let known: Vec<&str> =
            list.lines().filter_map(|line| line.trim().strip_prefix('"')?.strip_suffix("\",")).collect();
        assert_eq!(known, offshoot_agent::provider::TOO_LONG);
    }

    #[test]
    fn a_file_that_somebody_changed_is_written_again() {
        let cache = tempfile::tempdir().unwrap();
        let folder = unpacked(cache.path()).unwrap();
        let host = folder.join("host.mjs");
        let before = fs::read(&host).unwrap();
        fs::write(&host, "process.exit(1)").unwrap();
        assert_eq!(unpacked(cache.path()).unwrap(), folder);
        assert_eq!(fs::read(&host).unwrap(), before);
    }
}
