//! What each kind of package calls the machine that a binary runs on.

use std::path::Path;

use anyhow::{Context as _, Result, bail};
use xtask::{env, run};

/// Rust's target, Node.js's platform and processor, and the processor in the tag of a wheel.
const NAMES: &[(&str, &str, &str)] = &[
    ("x86_64-unknown-linux-gnu", "linux-x64", "x86_64"),
    ("aarch64-unknown-linux-gnu", "linux-arm64", "aarch64"),
    ("x86_64-apple-darwin", "darwin-x64", "x86_64"),
    ("aarch64-apple-darwin", "darwin-arm64", "arm64"),
];

/// The oldest macOS that Rust builds for, by processor.
const MACOS: &[(&str, &str)] = &[("x86_64", "10_12"), ("arm64", "11_0")];

pub(super) struct Platform {
    /// As Rust calls it: `x86_64-unknown-linux-gnu`.
    pub(super) target: String,
    /// As Node.js calls it: `linux-x64`.
    pub(super) node: &'static str,
    /// As a wheel calls it: `manylinux_2_34_x86_64`.
    pub(super) wheel: String,
}

impl Platform {
    /// The machine that compiled a binary, which is that on which it runs.
    pub(super) fn of(binary: &Path) -> Result<Self> {
        let shown = run::output_of("rustc", &["-vV"], &env::root())?;
        let target = shown.lines().find_map(|line| line.strip_prefix("host: ")).context("rustc names no host")?;
        let Some((_, node, processor)) = NAMES.iter().find(|(name, ..)| *name == target) else {
            bail!("{target} has no row in NAMES of xtask/src/dist/platform.rs");
        };
        let wheel = match MACOS.iter().find(|(name, _)| target.ends_with("apple-darwin") && name == processor) {
            Some((_, oldest)) => format!("macosx_{oldest}_{processor}"),
            None => {
                let bytes = std::fs::read(binary).with_context(|| format!("cannot read {}", binary.display()))?;
                let minor = newest_glibc(&bytes).context("the binary names no version of glibc")?;
                format!("manylinux_2_{minor}_{processor}")
            }
        };
        Ok(Self { target: target.to_owned(), node, wheel })
    }
}

/// The newest version 2.N of glibc that a binary asks for: the names of its symbols' versions are among its bytes.
fn newest_glibc(bytes: &[u8]) -> Option<u32> {
    const NAME: &[u8] = b"GLIBC_2.";
    let after = bytes.windows(NAME.len()).enumerate().filter(|(_, window)| *window == NAME);
    let versions = after.filter_map(|(at, _)| {
        let digits: String = bytes[at + NAME.len()..]
            .iter()
            .take(3)
            .map(|byte| char::from(*byte))
            .take_while(char::is_ascii_digit)
            .collect();
        digits.parse().ok()
    });
    versions.max()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_version_of_glibc_is_that_of_the_highest_number() {
        assert_eq!(newest_glibc(b"\0GLIBC_2.9\0GLIBC_2.34\0GLIBC_2.2.5\0GLIBC_PRIVATE"), Some(34));
        assert_eq!(newest_glibc(b"GLIBC_2."), None);
    }
}
