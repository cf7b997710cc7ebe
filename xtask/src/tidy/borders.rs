//! Clock, environment, printing and chance come in only through the files named here.
//!
//! Everything else takes them as arguments; that is what makes it testable and embeddable. Owns the
//! table of exceptions: a new row needs a reason that a reviewer believes.

use super::finding::Finding;
use crate::repo::{Repo, RepoFile};
use crate::tokens::{Kind, Token, find};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Border {
    Clock,
    Environment,
    Printing,
    Chance,
}

use Border::{Chance, Clock, Environment, Printing};

/// Who may cross which border. A path that ends with `/` stands for the whole folder.
const ALLOWED: &[(&str, Border, &str)] = &[
    ("crates/offshoot-session/src/clock.rs", Clock, "SystemClock is the one reader of system time"),
    ("crates/offshoot-session/src/id.rs", Chance, "the default source of ids draws random bits"),
    ("crates/offshoot-session/examples/", Environment, "examples are whole programs"),
    ("crates/offshoot-session/examples/", Printing, "examples are whole programs"),
    ("crates/offshoot-agent/examples/", Environment, "examples are whole programs"),
    ("crates/offshoot-session/benches/", Clock, "measuring is its work"),
    ("crates/offshoot-session/benches/", Environment, "benchmarks are whole programs"),
    ("crates/offshoot-session/benches/", Printing, "benchmarks are whole programs"),
    ("crates/offshoot-agent/examples/", Printing, "examples are whole programs"),
    ("crates/offshoot-tui/examples/", Environment, "examples are whole programs"),
    ("crates/offshoot-tui/examples/", Printing, "examples are whole programs"),
    ("crates/offshoot-cli/src/config.rs", Environment, "settings are read once, here"),
    ("crates/offshoot-cli/src/ui.rs", Printing, "every word to the terminal passes one place"),
    ("xtask/src/env.rs", Environment, "the one place of xtask that reads variables"),
    ("xtask/src/out.rs", Printing, "the one place of xtask that prints"),
    ("xtask/src/run.rs", Printing, "passes on what the programs it runs print"),
    ("xtask/src/run.rs", Clock, "times the steps"),
    ("xtask/src/bench/", Clock, "measuring is its work"),
    ("xtask/src/screen/", Clock, "measuring is its work"),
];

/// What crossing a border looks like.
const CROSSINGS: &[(&[&str], Border)] = &[
    (&["SystemTime", "::", "now"], Clock),
    (&["Instant", "::", "now"], Clock),
    (&["Timestamp", "::", "now"], Clock),
    (&["Zoned", "::", "now"], Clock),
    (&["std", "::", "env"], Environment),
    (&["home_dir"], Environment),
    (&["println", "!"], Printing),
    (&["print", "!"], Printing),
    (&["eprintln", "!"], Printing),
    (&["eprint", "!"], Printing),
    (&["dbg", "!"], Printing),
    (&["stdout", "("], Printing),
    (&["stderr", "("], Printing),
    (&["Uuid", "::", "new_v4"], Chance),
    (&["Uuid", "::", "now_v7"], Chance),
    (&["Uuid", "::", "new_v7"], Chance),
    (&["getrandom"], Chance),
    (&["fastrand"], Chance),
    (&["rand", "::"], Chance),
];

pub(crate) fn check(repo: &Repo) -> Vec<Finding> {
    let mut findings: Vec<Finding> = repo.rust().flat_map(check_file).collect();
    findings.extend(stale_rows(repo, ALLOWED));
    findings
}

fn check_file(file: &RepoFile) -> Vec<Finding> {
    let tokens = file.shipped();
    let mut findings = Vec::new();
    for (pattern, border) in CROSSINGS {
        if allowed(&file.path, *border) {
            continue;
        }
        for at in find(&tokens, pattern).filter(|at| !is_method_or_definition(&tokens, *at)) {
            let what = format!(
                "`{}` crosses the {border:?} border: take it as an argument, or see the table in xtask/src/tidy/borders.rs",
                pattern.concat()
            );
            findings.push(Finding::at(&file.path, tokens[at].line, what));
        }
    }
    if !allowed(&file.path, Environment) {
        findings.extend(grouped_env(file, &tokens));
    }
    findings
}

fn allowed(path: &str, border: Border) -> bool {
    ALLOWED.iter().any(|(place, what, _)| {
        *what == border && (path == *place || (place.ends_with('/') && path.starts_with(place)))
    })
}

/// `child.stdout(...)` and `fn stdout(...)` print nothing.
fn is_method_or_definition(tokens: &[Token], at: usize) -> bool {
    at > 0 && matches!(tokens[at - 1].text.as_str(), "." | "fn")
}

/// `use std::{env, fs}`.
fn grouped_env(file: &RepoFile, tokens: &[Token]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for at in find(tokens, &["std", "::", "{"]) {
        let names = tokens[at + 3..].iter().take_while(|token| token.text != ";");
        for env in names.filter(|token| token.kind == Kind::Word && token.text == "env") {
            findings.push(Finding::at(&file.path, env.line, "`std::env` crosses the Environment border"));
        }
    }
    findings
}

/// A row for a file that is gone would silently allow its successor.
fn stale_rows(repo: &Repo, rows: &[(&str, Border, &str)]) -> Vec<Finding> {
    let there = |place: &str| {
        repo.files.iter().any(|file| file.path == place || (place.ends_with('/') && file.path.starts_with(place)))
    };
    let gone = rows.iter().filter(|(place, _, _)| !there(place));
    gone.map(|(place, border, _)| {
        Finding::about(
            place,
            format!("is not there, but may cross the {border:?} border: take its row out of xtask/src/tidy/borders.rs"),
        )
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn crossings(path: &str, text: &str) -> Vec<String> {
        let repo = Repo::of(&[(path, text)]);
        repo.rust().flat_map(check_file).map(|finding| finding.to_string()).collect()
    }

    #[test]
    fn each_kind_of_crossing_is_found() {
        let text = "//! X.\nuse std::{env, fs};\nfn f() {\n    let a = SystemTime::now();\n    let b = std::env::var(\"A\");\n    println!(\"x\");\n    let c = Uuid::new_v4();\n    let d = std::io::stdout();\n}\n";
        let found = crossings("crates/offshoot-session/src/tree.rs", text);
        for line in [2, 4, 5, 6, 7, 8] {
            assert!(found.iter().any(|f| f.contains(&format!("tree.rs:{line}:"))), "line {line} in {found:?}");
        }
    }

    #[test]
    fn the_table_and_tests_are_exempt() {
        assert_eq!(
            crossings("crates/offshoot-session/src/clock.rs", "//! C.\nfn f() { SystemTime::now(); }\n"),
            [""; 0]
        );
        assert_eq!(
            crossings(
                "crates/offshoot-session/src/a.rs",
                "//! A.\n#[cfg(test)]\nmod tests { fn f() { println!(\"x\"); } }\n"
            ),
            [""; 0]
        );
        assert_eq!(
            crossings("crates/offshoot-cli/tests/cli/list.rs", "//! L.\nfn f() { std::env::var(\"X\"); }\n"),
            [""; 0]
        );
        assert_eq!(
            crossings("crates/a/src/a.rs", "//! A.\nfn f() { child.stdout(Stdio::null()); \"println!\"; }\n"),
            [""; 0]
        );
    }

    #[test]
    fn being_allowed_one_border_is_not_being_allowed_another() {
        assert_eq!(crossings("crates/offshoot-session/src/clock.rs", "//! C.\nfn f() { println!(); }\n").len(), 1);
    }

    #[test]
    fn a_row_for_a_file_that_is_gone_is_found() {
        let repo = Repo::of(&[("crates/a/src/there.rs", "//! T.\n")]);
        let rows =
            [("crates/a/src/there.rs", Clock, "x"), ("crates/a/src/gone.rs", Clock, "x"), ("crates/b/", Clock, "x")];
        assert_eq!(stale_rows(&repo, &rows).len(), 2);
    }
}
