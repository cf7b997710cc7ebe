//! Documents are pinned to the code they describe, by a hash written in the document.
//!
//! When the code changes, the check fails until somebody has read the document, corrected it and run `cargo xtask
//! bless`. The hash covers tokens without tests: layout, plain comments and tests may change, a field name may not.

use std::path::Path;

use anyhow::{Context as _, Result, bail};

use super::finding::Finding;
use crate::repo::{Repo, RepoFile};

struct Pin {
    document: &'static str,
    /// Stems: `a/codec` means `a/codec.rs` and everything under `a/codec/`.
    stems: &'static [&'static str],
}

const PINS: &[Pin] = &[
    Pin {
        document: "docs/format.md",
        stems: &[
            "crates/offshoot-session/src/kind",
            "crates/offshoot-session/src/header",
            "crates/offshoot-session/src/envelope",
            "crates/offshoot-session/src/compose",
            "crates/offshoot-session/src/migrate",
        ],
    },
    Pin { document: "docs/api.md", stems: &["crates/offshoot/src/api", "crates/offshoot-session/src/manager"] },
    Pin {
        document: "docs/rpc.md",
        stems: &[
            "crates/offshoot-rpc/src/request",
            "crates/offshoot-rpc/src/ui_request",
            "crates/offshoot-rpc/src/version",
            "crates/offshoot-rpc/src/records",
            "crates/offshoot-rpc/src/answers",
        ],
    },
];

const OPEN: &str = "<!-- pinned:";
const CLOSE: &str = "-->";

pub(crate) fn check(repo: &Repo) -> Vec<Finding> {
    PINS.iter().flat_map(|pin| check_pin(repo, pin)).collect()
}

/// Rewrites the pinned line of every document, or appends one.
pub(crate) fn bless(root: &Path, repo: &Repo) -> Result<Vec<String>> {
    let mut said = Vec::new();
    for pin in PINS {
        let Some(text) = repo.text(pin.document) else { bail!("{} is missing: write it first", pin.document) };
        if let Some(stem) = missing_stem(repo, pin) {
            bail!(
                "{}: no file {stem}.rs and no folder {stem}/: mend the table in xtask/src/tidy/pins.rs",
                pin.document
            );
        }
        let line = pinned_line(repo, pin);
        let (blessed, verdict) = match pinned_at(text) {
            Some((_, old)) if old == line => continue,
            Some((_, old)) => (text.replacen(old, &line, 1), "blessed"),
            None => (format!("{}\n\n{line}\n", text.trim_end()), "pinned for the first time"),
        };
        let place = root.join(pin.document);
        #[expect(clippy::disallowed_methods, reason = "a document of the work tree, kept by git")]
        std::fs::write(&place, blessed).with_context(|| format!("cannot write {}", place.display()))?;
        said.push(format!("{}: {verdict}", pin.document));
    }
    said.push("bless: done".to_owned());
    Ok(said)
}

fn check_pin(repo: &Repo, pin: &Pin) -> Vec<Finding> {
    let mut findings = Vec::new();
    if let Some(stem) = missing_stem(repo, pin) {
        findings.push(Finding::about(pin.document, format!("is pinned to {stem}.rs or {stem}/, which is not there")));
    }
    match repo.text(pin.document).map(pinned_at) {
        None => findings.push(Finding::about(pin.document, "is missing")),
        Some(None) => findings.push(Finding::about(
            pin.document,
            format!("has no line `{OPEN} <paths> <hash> {CLOSE}`: run `cargo xtask bless`"),
        )),
        Some(Some((line, found))) if found != pinned_line(repo, pin) => {
            let what = "the code it describes has changed: bring the document up to date, then run `cargo xtask bless`";
            findings.push(Finding::at(pin.document, line, what));
        }
        Some(Some(_)) => {}
    }
    findings
}

fn missing_stem(repo: &Repo, pin: &Pin) -> Option<&'static str> {
    pin.stems.iter().copied().find(|stem| sources_of(repo, stem).next().is_none())
}

fn sources_of<'a>(repo: &'a Repo, stem: &'a str) -> impl Iterator<Item = &'a RepoFile> {
    let belongs = move |path: &str| path.strip_prefix(stem).is_some_and(|rest| rest == ".rs" || rest.starts_with('/'));
    repo.rust().filter(move |file| belongs(&file.path) && !file.is_test())
}

fn pinned_at(document: &str) -> Option<(usize, &str)> {
    let is_pin = |line: &&str| line.starts_with(OPEN) && line.ends_with(CLOSE);
    document.lines().enumerate().find(|(_, line)| is_pin(line)).map(|(at, line)| (at + 1, line))
}

fn pinned_line(repo: &Repo, pin: &Pin) -> String {
    let mut hash = Fnv::default();
    for file in pin.stems.iter().flat_map(|stem| sources_of(repo, stem)) {
        hash.write(&file.path);
        for token in file.shipped() {
            hash.write(&token.text);
        }
    }
    format!("{OPEN} {} {:016x} {CLOSE}", pin.stems.join(" "), hash.0)
}

/// FNV-1a, 64 bits: it guards against forgetting, not against malice.
struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Fnv {
    /// Adds a piece and a separator that no piece contains.
    fn write(&mut self, piece: &str) {
        for byte in piece.bytes().chain(std::iter::once(0)) {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::finding::lines;

    const PIN: Pin = Pin { document: "docs/format.md", stems: &["src/codec", "src/header"] };
    const HEADER: (&str, &str) = ("src/header.rs", "struct Header;");

    fn line(codec: &str) -> String {
        pinned_line(&Repo::of(&[("src/codec.rs", codec), HEADER]), &PIN)
    }

    fn found(document: &str, codec: &str) -> Vec<String> {
        lines(&check_pin(&Repo::of(&[("docs/format.md", document), ("src/codec.rs", codec), HEADER]), &PIN))
    }

    #[test]
    fn code_that_moved_on_is_found_at_the_line() {
        let document = format!("# Format\n\n{}\n", line("const A: &str = \"id\";"));
        assert_eq!(found(&document, "const A: &str = \"id\";"), [""; 0]);
        let stale = found(&document, "const A: &str = \"uuid\";");
        assert_eq!(stale.len(), 1);
        assert!(stale[0].starts_with("docs/format.md:3: the code it describes has changed"), "{stale:?}");
    }

    #[test]
    fn layout_comments_and_tests_do_not_count() {
        let plain = line("fn f() { g(1) }");
        assert_eq!(plain, line("// why\nfn f() {\n    g(1)\n}\n#[cfg(test)]\nmod tests { fn t() {} }"));
        assert_ne!(plain, line("fn f() { g(2) }"));
    }

    #[test]
    fn a_subfolder_counts() {
        let with = |text: &str| {
            pinned_line(
                &Repo::of(&[("src/codec.rs", ""), ("src/codec/key.rs", text), ("src/codec_other.rs", text), HEADER]),
                &PIN,
            )
        };
        assert_ne!(with("const A: u8 = 1;"), with("const A: u8 = 2;"));
    }

    #[test]
    fn a_missing_document_source_or_line_is_found() {
        assert_eq!(found("# Format\n", "").len(), 1);
        assert_eq!(lines(&check_pin(&Repo::default(), &PIN)).len(), 2);
        assert!(missing_stem(&Repo::of(&[HEADER]), &PIN) == Some("src/codec"));
    }
}
