//! Unpacks the archive of an npm package: files only, below its folder, within the limits.

use std::fs::{self, File};
use std::io::{self, Read, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Component, Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::read::GzDecoder;
use sha2::{Digest as _, Sha512};
use tar::{Archive, EntryType};

use crate::contents::{MOST_BYTES, MOST_FILES};
use crate::error::{PackageError, Result};

/// A larger archive is not read.
pub(crate) const MOST_PACKED: u64 = 64 << 20;

/// How much of an unpacked archive is read: the headers of files take room too.
const LONGEST: u64 = MOST_BYTES + (MOST_FILES as u64) * 1024;

/// An archive as the registry has it.
pub(crate) struct Packed {
    pub(crate) version: String,
    /// What the registry or npm says of it.
    pub(crate) integrity: String,
    pub(crate) archive: Vec<u8>,
}

/// Makes a file that does not exist.
pub(crate) fn make(path: &Path, text: &str) -> Result<()> {
    let made = File::create_new(path).and_then(|mut file| {
        file.write_all(text.as_bytes())?;
        file.sync_all()
    });
    made.map_err(|error| PackageError::io("write", path, error))
}

/// The integrity of an archive, as npm writes it.
pub(crate) fn integrity(bytes: &[u8]) -> String {
    format!("sha512-{}", STANDARD.encode(Sha512::digest(bytes)))
}

/// Refuses an archive with more than `most` files. It may still be written: what cannot be read yet is not judged.
pub(crate) fn check_count(package: &str, archive: impl Read, most: usize) -> Result<()> {
    let mut archive = Archive::new(GzDecoder::new(archive).take(LONGEST));
    let Ok(entries) = archive.entries() else { return Ok(()) };
    let readable = entries.take_while(std::result::Result::is_ok).take(most + 1).count();
    if readable > most { Err(PackageError::crowded(package, most)) } else { Ok(()) }
}

/// Unpacks an archive into a folder that exists. The first folder of each name is left out, as npm does.
pub(crate) fn unpack(package: &str, bytes: &[u8], into: &Path) -> Result<()> {
    let refused = |why: String| PackageError::refused(package, why);
    let broken = |error: io::Error| PackageError::refused(package, format!("its archive cannot be read: {error}"));
    let mut archive = Archive::new(GzDecoder::new(bytes).take(LONGEST));
    let (mut files, mut left) = (0, MOST_BYTES);
    for entry in archive.entries().map_err(broken)? {
        let mut entry = entry.map_err(broken)?;
        let path = entry.path().map_err(broken)?.into_owned();
        files += 1;
        if files > MOST_FILES {
            return Err(PackageError::crowded(package, MOST_FILES));
        }
        match entry.header().entry_type() {
            EntryType::Regular | EntryType::Continuous => {}
            EntryType::Directory | EntryType::XGlobalHeader => continue,
            _ => return Err(refused(format!("{} is neither a file nor a folder", path.display()))),
        }
        let name = below(&path).ok_or_else(|| refused(format!("{} leads out of the package", path.display())))?;
        let place = into.join(name);
        let folder = place.parent().unwrap_or(into);
        fs::create_dir_all(folder).map_err(|error| PackageError::io("create", folder, error))?;
        let is_program = entry.header().mode().is_ok_and(|mode| mode & 0o100 != 0);
        let mut file = File::create_new(&place).map_err(|error| PackageError::io("create", &place, error))?;
        let written = io::copy(&mut entry.by_ref().take(left + 1), &mut file).map_err(broken)?;
        left = left.checked_sub(written).ok_or_else(|| PackageError::large(package, MOST_BYTES))?;
        let mode = if is_program { 0o755 } else { 0o644 };
        file.set_permissions(fs::Permissions::from_mode(mode))
            .map_err(|error| PackageError::io("write", &place, error))?;
    }
    Ok(())
}

/// The path without its first folder; `None` if it leads anywhere else than down.
fn below(path: &Path) -> Option<PathBuf> {
    let mut parts = path.components().filter(|part| *part != Component::CurDir);
    let is_down = |part: Component<'_>| matches!(part, Component::Normal(_)).then(|| part.as_os_str().to_owned());
    is_down(parts.next()?)?;
    let rest: Option<PathBuf> = parts.map(is_down).collect();
    rest.filter(|rest| !rest.as_os_str().is_empty())
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "tests prepare their own files")]
mod tests {
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use tar::{Builder, Header};

    use super::*;

    fn packed(fill: impl FnOnce(&mut Builder<GzEncoder<Vec<u8>>>)) -> Vec<u8> {
        let mut builder = Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
        fill(&mut builder);
        builder.into_inner().unwrap().finish().unwrap()
    }

    fn header(kind: EntryType, name: &str, size: u64) -> Header {
        let mut header = Header::new_gnu();
        let bytes = header.as_mut_bytes();
        bytes[..name.len()].copy_from_slice(name.as_bytes());
        header.set_entry_type(kind);
        header.set_size(size);
        header.set_mode(0o644);
        header.set_cksum();
        header
    }

    fn refusal(bytes: &[u8]) -> String {
        let folder = tempfile::tempdir().unwrap();
        let inside = folder.path().join("in");
        std::fs::create_dir(&inside).unwrap();
        let told = unpack("npm:x", bytes, &inside).unwrap_err().to_string();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "nothing beside it");
        told
    }

    #[test]
    fn files_are_put_below_the_folder() {
        let folder = tempfile::tempdir().unwrap();
        let bytes = packed(|archive| {
            archive.append(&header(EntryType::Regular, "package/skills/a/SKILL.md", 2), &b"hi"[..]).unwrap();
            archive.append(&header(EntryType::Directory, "package/empty", 0), &b""[..]).unwrap();
        });
        unpack("npm:x", &bytes, folder.path()).unwrap();
        assert_eq!(std::fs::read_to_string(folder.path().join("skills/a/SKILL.md")).unwrap(), "hi");
        assert!(integrity(&bytes).starts_with("sha512-"));
    }

    #[test]
    fn an_archive_is_counted_while_it_is_written() {
        let bytes = packed(|archive| {
            for number in 0..30 {
                let text = vec![number; 512];
                archive.append(&header(EntryType::Regular, &format!("package/{number}"), 512), &text[..]).unwrap();
            }
        });
        check_count("npm:x", &bytes[..], 30).unwrap();
        let told = check_count("npm:x", &bytes[..], 29).unwrap_err().to_string();
        assert!(
            told.starts_with("npm:x is refused: it has more than 29 files, the most that a package may have"),
            "{told}"
        );
        let half = &bytes[..bytes.len() / 2];
        check_count("npm:x", half, 29).unwrap();
        assert!(check_count("npm:x", half, 2).is_err(), "the rest is not needed");
        check_count("npm:x", &b"not gzip"[..], 0).unwrap();
    }

    #[test]
    fn what_is_hostile_is_refused() {
        for name in ["package/../../x", "/etc/x", "package", "../x"] {
            let bytes = packed(|archive| archive.append(&header(EntryType::Regular, name, 1), &b"x"[..]).unwrap());
            assert!(refusal(&bytes).contains("leads out of the package"), "{name}");
        }
        for kind in [EntryType::Symlink, EntryType::Link, EntryType::Fifo, EntryType::Block] {
            let bytes = packed(|archive| archive.append(&header(kind, "package/x", 0), &b""[..]).unwrap());
            assert!(refusal(&bytes).contains("neither a file nor a folder"), "{kind:?}");
        }
        let many = packed(|archive| {
            for number in 0..=MOST_FILES {
                archive.append(&header(EntryType::Regular, &format!("package/{number}"), 0), &b""[..]).unwrap();
            }
        });
        assert!(refusal(&many).contains("more than 20000 files"));
        let bomb = packed(|archive| {
            archive
                .append(&header(EntryType::Regular, "package/x", MOST_BYTES + 1), io::repeat(0).take(MOST_BYTES + 1))
                .unwrap();
        });
        assert!(bomb.len() < 4 << 20 && refusal(&bomb).contains("larger than 256 MiB"));
        assert!(refusal(b"not gzip").contains("cannot be read"));
    }
}
