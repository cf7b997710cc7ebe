//! The rules that oh-my-pi 18.2.3 brings, for those who come from it: names, conditions and files are its own, the words are not. Those
//! over syntax trees are missing. Reads no file.

use std::path::PathBuf;

use super::front_matter::parse_lines;
use super::rule::{Rule, RuleUse};
use super::stream_rule::{Interruption, RuleTrigger};
use super::{Resource, ResourceScope};

/// A rule: its name, its conditions, and its words.
struct BuiltIn(&'static str, &'static [&'static str], &'static str);

const GO: &[&str] = &["*.go"];
const RUST: &[&str] = &["*.rs"];
const TYPESCRIPT: &[&str] = &["*.ts", "*.tsx"];
const MODULES: &[&str] = &["*.{ts,tsx,mts,cts}"];
const TESTS: &[&str] = &["*.test.ts"];
const DEEP: &[&str] = &["**/*.{ts,tsx}"];

/// Each with the files that it is about.
const BUILT_IN: [(&[&str], BuiltIn); 22] = [
    (
        GO,
        BuiltIn(
            "go-add-cleanup",
            &[r"runtime\.SetFinalizer"],
            "Attach clean-up with `runtime.AddCleanup` (Go 1.24) and not with `runtime.SetFinalizer`: an object may have several, and cycles are still freed.",
        ),
    ),
    (
        GO,
        BuiltIn(
            "go-exp-promoted",
            &[r#""golang.org/x/exp/slices""#, r#""golang.org/x/exp/maps""#],
            "Import `slices` and `maps` of the standard library (Go 1.21), not their predecessors in `golang.org/x/exp`.",
        ),
    ),
    (
        GO,
        BuiltIn(
            "go-ioutil",
            &[r#""io/ioutil""#],
            "`io/ioutil` is deprecated. Use the functions of `io` and `os`: `io.ReadAll`, `os.ReadFile`, `os.WriteFile`, `os.ReadDir`, `os.MkdirTemp`, `os.CreateTemp`.",
        ),
    ),
    (
        GO,
        BuiltIn(
            "go-join-hostport",
            &[r#"fmt\.Sprintf\("%s:%d""#],
            "Build addresses with `net.JoinHostPort`. A format such as `%s:%d` breaks IPv6 hosts, which need brackets.",
        ),
    ),
    (
        GO,
        BuiltIn(
            "go-rand-v2",
            &[r#""math/rand""#],
            "Import `math/rand/v2` in new code: it has no global seed, and `rand.IntN` and `rand.N` replace `rand.Intn`.",
        ),
    ),
    (
        RUST,
        BuiltIn(
            "rs-box-leak",
            &["Box::leak"],
            "Do not call `Box::leak` to please a lifetime: the memory is never freed. Pass ownership, an `Arc`, or a `LazyLock`.",
        ),
    ),
    (
        RUST,
        BuiltIn(
            "rs-future-prelude",
            &["std::future::Future"],
            "Write `Future` in types. It is in the prelude of Rust 2024; before that, import it once.",
        ),
    ),
    (
        RUST,
        BuiltIn(
            "rs-lazylock",
            &["once_cell::", "OnceLock::new"],
            "If the initialiser is known where the value is declared, use `std::sync::LazyLock`, not `OnceLock` or `once_cell`.",
        ),
    ),
    (
        RUST,
        BuiltIn(
            "rs-match-ergonomics",
            &[r"\(ref mut ", r"\(ref [a-z_]"],
            "Borrow what is matched (`match &value`, `if let Some(x) = &mut value`) and leave `ref` and `ref mut` out of patterns.",
        ),
    ),
    (
        RUST,
        BuiltIn(
            "rs-parking-lot",
            &[r"\.lock\(\)\.unwrap\(\)", r"\.read\(\)\.unwrap\(\)", r"\.write\(\)\.unwrap\(\)"],
            "Code that unwraps each lock wants `parking_lot::Mutex` or `RwLock`: their guards come without a poison error.",
        ),
    ),
    (
        RUST,
        BuiltIn(
            "rs-result-type",
            &[r"type\s+Result<[A-Za-z_]\w*>\s*="],
            "Give an alias of `Result` a second parameter with a default, as in `type Result<T, E = Error> = std::result::Result<T, E>`.",
        ),
    ),
    (TYPESCRIPT, BuiltIn("ts-bare-catch", &[r"catch \(_"], "Write `catch {` if the caught value is not used.")),
    (
        TYPESCRIPT,
        BuiltIn(
            "ts-import-type",
            &[r"import\("],
            "Import types at the top of the file with `import type`, not with `import(\"…\").Type` in an annotation.",
        ),
    ),
    (
        TYPESCRIPT,
        BuiltIn(
            "ts-no-any",
            &[": any|as any"],
            "Do not write `any`. Take `unknown` and check it, a type parameter, or the real type.",
        ),
    ),
    (
        TYPESCRIPT,
        BuiltIn(
            "ts-no-deprecated-leftovers",
            &["@deprecated"],
            "After a change of names, bring all callers up to date and delete the old name. Leave no `@deprecated` copy.",
        ),
    ),
    (
        TYPESCRIPT,
        BuiltIn(
            "ts-no-dynamic-import",
            &[r"await import\("],
            "Import modules that are known when the code is written at the top. `await import()` is for names that are known only at run time.",
        ),
    ),
    (
        MODULES,
        BuiltIn(
            "ts-no-local-is-record",
            &[
                r"\bfunction\s+isRecord(?:\s*<[^>]*>)?\s*\(",
                r"\b(?:const|let|var)\s+isRecord\b\s*(?::[\s\S]{0,300}?)?=\s*(?:async\s+)?(?:function\b|(?:<[^>\n]*>\s*)?(?:\([^)]*\)|[A-Za-z_$][\w$]*)\s*(?::[\s\S]{0,300}?)?=>)",
            ],
            "Do not write an `isRecord` guard: it proves nothing of the members. Parse foreign data once with a schema, or check the members that are used.",
        ),
    ),
    (
        TYPESCRIPT,
        BuiltIn(
            "ts-no-return-type",
            &["ReturnType<"],
            "Name a type where its value is made and import it. Do not derive it with `ReturnType<typeof …>`.",
        ),
    ),
    (
        TESTS,
        BuiltIn(
            "ts-no-test-timers",
            &[r"Bun\.sleep\(", r"\bsetInterval\(", r"\bsetTimeout\("],
            "Do not wait for real time in a test. Use fake timers, or wait for what the test is about.",
        ),
    ),
    (
        TYPESCRIPT,
        BuiltIn(
            "ts-no-tiny-functions",
            &[
                r"(?m)\{\s*return [^;{}\n]+;?\s*\}|\b(?:const|let|var)\s+[\w$]+\s*=\s*(\([^)]*\)|[a-zA-Z_$][\w$]*)\s*=>\s*[^{\n]+$",
            ],
            "Do not put a single expression into a function of its own unless the name is a contract. Write it where it is used.",
        ),
    ),
    (
        TYPESCRIPT,
        BuiltIn(
            "ts-promise-with-resolvers",
            &[r"new Promise\("],
            "Use `Promise.withResolvers()` in place of `new Promise((resolve, reject) => …)`.",
        ),
    ),
    (
        DEEP,
        BuiltIn(
            "ts-set-map",
            &[r"\bnew\s+(Set|Map)\b"],
            "For a small fixed table of texts write a `Record`. `Set` and `Map` are for what changes, for other keys, or for their order.",
        ),
    ),
];

/// All of them. None stops an answer.
pub(super) fn omp_rules() -> Vec<Rule> {
    BUILT_IN
        .iter()
        .filter_map(|(files, BuiltIn(name, conditions, words))| {
            let quoted = |texts: Vec<String>| serde_json::Value::from(texts).to_string();
            let scope =
                files.iter().flat_map(|glob| ["edit", "write"].map(|tool| format!("tool:{tool}({glob})"))).collect();
            let conditions = conditions.iter().map(|text| (*text).to_owned()).collect();
            let fields = format!("---\ncondition: {}\nscope: {}\n---\n", quoted(conditions), quoted(scope));
            let trigger = RuleTrigger::of(&parse_lines(&fields), Interruption::Never, &mut |_| {})?;
            let about = Resource {
                name: (*name).to_owned(),
                description: String::new(),
                file: PathBuf::from(format!("oh-my-pi/{name}")),
                scope: ResourceScope::User,
                package: None,
            };
            Some(Rule {
                about,
                globs: Vec::new(),
                text: (*words).to_owned(),
                applies: RuleUse::Stream(Box::new(trigger)),
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::StreamPart;
    use super::*;

    #[test]
    fn each_fits_what_it_is_about_in_its_files_alone() {
        let rules = omp_rules();
        assert_eq!(rules.len(), BUILT_IN.len());
        let fitting = |path: &str, written: &str| {
            let paths = [path.to_owned()];
            let part = StreamPart::Call { tool: "write", paths: &paths };
            let fits = |rule: &&Rule| matches!(&rule.applies, RuleUse::Stream(trigger) if trigger.fits(part, written));
            rules.iter().filter(fits).map(|rule| rule.about.name.as_str()).collect::<Vec<_>>().join(" ")
        };
        for (path, written, names) in [
            ("src/a.go", "runtime.SetFinalizer(x, f)", "go-add-cleanup"),
            ("src/a.rs", "runtime.SetFinalizer(x, f)", ""),
            ("a.go", "import \"io/ioutil\"\nimport \"math/rand\"", "go-ioutil go-rand-v2"),
            ("a.go", "import \"math/rand/v2\"", ""),
            ("a.rs", "let x = m.lock().unwrap(); if let Some(ref y) = z {}", "rs-match-ergonomics rs-parking-lot"),
            ("a.rs", "type Result<T> = std::result::Result<T, E>;", "rs-result-type"),
            ("a.ts", "const x: any = 1;", "ts-no-any"),
            ("a.ts", "try {} catch (_e) {}", "ts-bare-catch"),
            ("a.ts", "const isRecord = (x: unknown): x is R => true;", "ts-no-local-is-record"),
            ("deep/a.tsx", "new Map()", "ts-set-map"),
            ("a.ts", "setTimeout(f, 1)", ""),
            ("a.test.ts", "setTimeout(f, 1)", "ts-no-test-timers"),
        ] {
            assert_eq!(fitting(path, written), names, "{path}: {written}");
        }
    }
}
