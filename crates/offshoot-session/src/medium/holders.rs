//! Finds the processes that hold the lock on a file, for error messages only.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use super::regular::read_regular_text;

/// A longer one names nobody.
const LONGEST_TABLE: u64 = 16 << 20;

/// The processes that hold a lock on this file; empty if the system does not list locks.
pub(super) fn holders(file: &Metadata) -> Vec<u32> {
    let table = read_regular_text(Path::new("/proc/locks"), LONGEST_TABLE).unwrap_or_default();
    table.lines().filter_map(|line| holder(line, file.dev(), file.ino())).collect()
}

/// Parses a line such as `1: FLOCK ADVISORY WRITE 812 fd:01:1312 0 EOF`: the process, if it holds a lock on this file.
fn holder(line: &str, device: u64, inode: u64) -> Option<u32> {
    let words: Vec<&str> = line.split_whitespace().collect();
    // A line with an arrow is a waiting process.
    let [_, "FLOCK", _, _, process, place, ..] = words.as_slice() else { return None };
    let (major, minor) =
        (((device >> 8) & 0xfff) | ((device >> 32) & !0xfff), (device & 0xff) | ((device >> 12) & !0xff));
    (*place == format!("{major:02x}:{minor:02x}:{inode}")).then(|| process.parse().ok()).flatten().filter(|id| *id > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_holder_is_told_from_those_who_wait_and_from_other_files() {
        for (line, expected) in [
            ("1: FLOCK  ADVISORY  WRITE 812 fd:01:1312 0 EOF", Some(812)),
            ("1: -> FLOCK  ADVISORY  WRITE 813 fd:01:1312 0 EOF", None),
            ("2: FLOCK  ADVISORY  WRITE 814 fd:01:1313 0 EOF", None),
            ("3: POSIX  ADVISORY  WRITE 815 fd:01:1312 0 EOF", None),
            ("4: FLOCK  ADVISORY  WRITE -1 fd:01:1312 0 EOF", None),
            ("", None),
        ] {
            assert_eq!(holder(line, 0xfd01, 1312), expected, "{line}");
        }
    }
}
