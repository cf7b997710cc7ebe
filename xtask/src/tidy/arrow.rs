//! Crates depend in one direction, and the library keeps its dependency budget.
//!
//! Owns the allowed edges between our crates and the list of foreign crates that `offshoot-session` may pull into its
//! users' builds. A new row is a decision, not a repair.

use toml::{Table, Value};

use super::finding::Finding;
use crate::repo::Repo;

const EDGES: &[(&str, &[&str])] = &[
    ("offshoot-session", &[]),
    ("offshoot-protocol", &["offshoot-session"]),
    ("offshoot-catalogue", &["offshoot-session"]),
    ("offshoot-foreign", &["offshoot-session"]),
    ("offshoot-search", &["offshoot-session", "offshoot-catalogue"]),
    ("offshoot-html", &["offshoot-session"]),
    ("offshoot-files", &["offshoot-session"]),
    ("offshoot-agent", &["offshoot-protocol", "offshoot-session", "offshoot-files"]),
    ("offshoot-extensions", &["offshoot-protocol", "offshoot-session", "offshoot-agent"]),
    ("offshoot-mcp", &["offshoot-protocol", "offshoot-session", "offshoot-agent"]),
    ("offshoot-settings", &["offshoot-protocol", "offshoot-session"]),
    ("offshoot-packages", &["offshoot-session", "offshoot-agent"]),
    (
        "offshoot-workspace",
        &[
            "offshoot-protocol",
            "offshoot-session",
            "offshoot-catalogue",
            "offshoot-search",
            "offshoot-files",
            "offshoot-foreign",
            "offshoot-agent",
        ],
    ),
    (
        "offshoot-tui",
        &["offshoot-protocol", "offshoot-session", "offshoot-agent", "offshoot-settings", "offshoot-workspace"],
    ),
    (
        "offshoot-app",
        &[
            "offshoot-protocol",
            "offshoot-session",
            "offshoot-catalogue",
            "offshoot-search",
            "offshoot-foreign",
            "offshoot-agent",
            "offshoot-packages",
            "offshoot-extensions",
            "offshoot-mcp",
            "offshoot-files",
            "offshoot-settings",
            "offshoot-workspace",
        ],
    ),
    (
        "offshoot-rpc",
        &[
            "offshoot-app",
            "offshoot-protocol",
            "offshoot-session",
            "offshoot-agent",
            "offshoot-extensions",
            "offshoot-settings",
            "offshoot-workspace",
        ],
    ),
    (
        "offshoot",
        &[
            "offshoot-rpc",
            "offshoot-app",
            "offshoot-protocol",
            "offshoot-session",
            "offshoot-catalogue",
            "offshoot-foreign",
            "offshoot-html",
            "offshoot-agent",
            "offshoot-packages",
            "offshoot-extensions",
            "offshoot-mcp",
            "offshoot-settings",
            "offshoot-tui",
            "offshoot-workspace",
        ],
    ),
    ("xtask", &[]),
    ("xtask-bench", &["xtask"]),
];

/// The library brings no runtime, network, terminal or home directory. `unicode-*` find grapheme clusters and their
/// widths, so that stored text is made harmless without splitting words. `wide` compares many bytes at once without unsafe code of ours,
/// and `simdutf8`, which foreign sessions use, too, finds that a line is UTF-8 in two fifths of the instructions.
const LIBRARY: &str = "offshoot-session";
const BUDGET: &[&str] = &[
    "base64",
    "hashbrown",
    "jiff",
    "memchr",
    "serde",
    "serde_json",
    "simdutf8",
    "smol_str",
    "tempfile",
    "thiserror",
    "unicode-properties",
    "unicode-segmentation",
    "unicode-width",
    "uuid",
    "wide",
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Use {
    Shipped,
    Tests,
}

pub(crate) fn check(repo: &Repo) -> Vec<Finding> {
    let manifests: Vec<_> = repo.texts().filter(|(file, _)| is_manifest(&file.path)).collect();
    let mut findings: Vec<Finding> =
        manifests.iter().flat_map(|(file, text)| check_manifest(&file.path, text)).collect();
    if manifests.is_empty() {
        findings.push(Finding::about("crates/", "holds no crate"));
    }
    findings
}

fn is_manifest(path: &str) -> bool {
    (path.starts_with("crates/") || path.starts_with("xtask")) && path.ends_with("/Cargo.toml")
}

fn check_manifest(path: &str, text: &str) -> Vec<Finding> {
    let manifest: Table = match toml::from_str(text) {
        Ok(table) => table,
        Err(error) => return vec![Finding::about(path, format!("does not read as TOML: {error}"))],
    };
    let name =
        manifest.get("package").and_then(|package| package.get("name")).and_then(Value::as_str).unwrap_or_default();
    let mut findings = folder_is_name(path, name);
    let Some((_, allowed)) = EDGES.iter().find(|(crate_name, _)| *crate_name == name) else {
        findings.push(Finding::about(path, format!("crate `{name}` has no row in EDGES of xtask/src/tidy/arrow.rs")));
        return findings;
    };
    for (dependency, used) in dependencies(&manifest) {
        let ours = dependency.starts_with("offshoot") || dependency.starts_with("xtask");
        let itself_in_tests = used == Use::Tests && dependency == name;
        if ours && !allowed.contains(&dependency.as_str()) && !itself_in_tests {
            findings.push(Finding::about(
                path,
                format!(
                    "`{name}` may not depend on `{dependency}`: the arrow is cli -> rpc -> app -> workspace; cli -> tui -> workspace -> agent -> protocol -> session; settings -> protocol"
                ),
            ));
        }
        if name == LIBRARY && !ours && used == Use::Shipped && !BUDGET.contains(&dependency.as_str()) {
            findings.push(Finding::about(
                path,
                format!("`{dependency}` is not in the library's budget (BUDGET in xtask/src/tidy/arrow.rs)"),
            ));
        }
    }
    findings
}

fn folder_is_name(path: &str, name: &str) -> Vec<Finding> {
    let folder = path.trim_end_matches("/Cargo.toml").rsplit('/').next().unwrap_or_default();
    if folder == name {
        Vec::new()
    } else {
        vec![Finding::about(path, format!("folder `{folder}` holds crate `{name}`: name them alike"))]
    }
}

/// Every dependency by its package name, from every table, including those of a target.
fn dependencies(manifest: &Table) -> Vec<(String, Use)> {
    let mut found = Vec::new();
    let targets = manifest.get("target").and_then(Value::as_table).into_iter().flat_map(Table::values);
    let tables = targets.filter_map(Value::as_table).chain(std::iter::once(manifest));
    for table in tables {
        for (key, used) in
            [("dependencies", Use::Shipped), ("build-dependencies", Use::Shipped), ("dev-dependencies", Use::Tests)]
        {
            let list = table.get(key).and_then(Value::as_table).into_iter().flatten();
            for (name, spec) in list {
                let package = spec.get("package").and_then(Value::as_str).unwrap_or(name);
                found.push((package.to_owned(), used));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::finding::lines;

    fn found(name: &str, body: &str) -> Vec<String> {
        let path = format!("crates/{name}/Cargo.toml");
        lines(&check(&Repo::of(&[(&path, &format!("[package]\nname = \"{name}\"\n{body}"))])))
    }

    #[test]
    fn an_edge_against_the_arrow_is_found() {
        let against = found(
            "offshoot-agent",
            "[dependencies]\noffshoot-session.workspace = true\noffshoot-tui.workspace = true\n",
        );
        assert_eq!(against.len(), 1, "{against:?}");
        assert!(against[0].contains("may not depend on `offshoot-tui`"));
    }

    #[test]
    fn an_edge_cannot_hide_behind_a_target_or_another_name() {
        let hidden = found(
            "offshoot-html",
            "[target.'cfg(unix)'.dependencies]\nx = { package = \"offshoot-agent\", path = \"../a\" }\n",
        );
        assert_eq!(hidden.len(), 1, "{hidden:?}");
    }

    #[test]
    fn the_library_keeps_its_budget_but_tests_may_use_more() {
        assert_eq!(
            found(
                "offshoot-session",
                "[dependencies]\nmemchr = \"2\"\n[dev-dependencies]\nproptest = \"1\"\noffshoot-session = { path = \".\" }\n"
            ),
            [""; 0]
        );
        assert_eq!(found("offshoot-session", "[dependencies]\ntokio = \"1\"\n").len(), 1);
    }

    #[test]
    fn a_crate_without_a_row_or_with_another_folder_is_found() {
        assert_eq!(found("offshoot-common", "").len(), 1);
        let repo = Repo::of(&[("crates/session/Cargo.toml", "[package]\nname = \"offshoot-session\"\n")]);
        assert_eq!(check(&repo).len(), 1);
        assert_eq!(check(&Repo::default()).len(), 1);
    }
}
