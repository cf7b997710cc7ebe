//! `cargo xtask bench files`: what recording files costs, by the example `recording_costs`, in one run, and the page about it.
//!
//! The example measures all but the start; this says which figures are promised. Every figure of the page comes from the run.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context as _, Result, bail};
use xtask::{cargo, env, machine, out};

use crate::figures::significant;
use crate::release;

mod start;

/// The example, in its package.
const EXAMPLE: [&str; 4] = ["--package", "offshoot-files", "--example", "recording_costs"];

/// What is measured, in the order of the page: the name in the example's output, and its words.
const ROWS: [(&str, &str); 13] = [
    ("first-look", "first look at 100,000 files that git tracks, nothing known"),
    ("next-session", "first look of the next session"),
    ("look", "each further look at 100,000 files"),
    ("git-status", "`git status` there"),
    ("command", "a command in a folder of 10,000 files: two looks, and what it changed"),
    ("shadow-command", "a snapshot of it in a shadow repository: `git add`, `status`, `commit`"),
    ("tool-command", "the same by `@google/gemini-cli-core` itself"),
    ("edit", "an `edit` of a file of 22 kB"),
    ("store", "store, log and entries after 500 turns that edit such a file, beyond the first look"),
    ("shadow-store", "shadow repository after the same turns, beyond the first snapshot"),
    ("tool-store", "the same by `@google/gemini-cli-core` itself"),
    ("start-empty", "start of `offshoot -p` until its first request, in an empty folder"),
    ("start-many", "the same in a folder of 10,000 files"),
];

/// Figures of the published tool, which is not installed everywhere.
const OF_TOOL: [&str; 2] = ["tool-command", "tool-store"];
/// The published tool, in a folder of modules.
const TOOL: &str = "@google/gemini-cli-core";

/// A promise: the name of a figure, the one by which it is divided if there is one, and the limit.
struct Promise {
    words: &'static str,
    figure: &'static str,
    over: Option<&'static str>,
    limit: f64,
}

const PROMISES: [Promise; 5] = [
    Promise {
        words: "a look at all files, at most 1.2 times `git status`",
        figure: "look",
        over: Some("git-status"),
        limit: 1.2,
    },
    Promise { words: "an `edit` takes at most 1 ms more", figure: "edit", over: None, limit: 1.0 },
    Promise {
        words: "a command takes no longer than a snapshot of a shadow repository",
        figure: "command",
        over: Some("shadow-command"),
        limit: 1.0,
    },
    Promise {
        words: "500 turns take no more room than in a shadow repository",
        figure: "store",
        over: Some("shadow-store"),
        limit: 1.0,
    },
    Promise { words: "many files do not slow the start", figure: "start-many", over: Some("start-empty"), limit: 1.05 },
];

struct Figure {
    value: f64,
    unit: String,
}

/// What the command line says.
struct FilesOptions {
    write: PathBuf,
    /// Programs that are built already.
    programs: Option<PathBuf>,
    /// Modules with the published tool.
    modules: PathBuf,
}

impl FilesOptions {
    fn read(args: &[String]) -> Result<Self> {
        let (root, mut programs) = (env::root(), None);
        let (mut write, mut modules) = (root.join("docs/benchmarks-files.md"), root.join("conformance/node_modules"));
        for pair in args.chunks(2) {
            match pair {
                [option, path] if option == "--write" => write = PathBuf::from(path),
                [option, path] if option == "--programs" => programs = Some(std::path::absolute(path)?),
                [option, path] if option == "--modules" => modules = PathBuf::from(path),
                _ => bail!("bench files takes --write FILE, --programs DIR and --modules DIR, and nothing else"),
            }
        }
        Ok(Self { write, programs, modules })
    }
}

pub(crate) fn run(args: &[String]) -> Result<ExitCode> {
    let options = FilesOptions::read(args)?;
    let programs = match options.programs {
        Some(programs) => programs,
        None => {
            release::also(&["--package", "offshoot"])?;
            release::also(&EXAMPLE)?;
            cargo::target_folder()?.join("release")
        }
    };
    let program = programs.join("examples/recording_costs");
    let version = tool_version(&options.modules)?;
    let mut command = Command::new(&program);
    if version.is_some() {
        let script = env::root().join("conformance/shadow-tool.mjs");
        command.arg("100000").args([&script, &options.modules]);
    }
    let output = command.output().with_context(|| format!("cannot run {}", program.display()))?;
    if !output.status.success() {
        bail!("{} failed: {}", program.display(), String::from_utf8_lossy(&output.stderr));
    }
    let mut figures = figures(&String::from_utf8_lossy(&output.stdout));
    let start = start::measure(&programs.join("offshoot"))?;
    for (name, value) in [("start-empty", start.empty), ("start-many", start.many)] {
        figures.insert(name.to_owned(), Figure { value, unit: "ms".to_owned() });
    }
    let text = page(&figures, version.as_deref())?;
    out::say(&text);
    #[expect(clippy::disallowed_methods, reason = "a document of the work tree, kept by git")]
    fs::write(&options.write, text).with_context(|| options.write.display().to_string())?;
    Ok(ExitCode::SUCCESS)
}

/// The version of the published tool; `None` if it is not among these modules.
fn tool_version(modules: &Path) -> Result<Option<String>> {
    let package = modules.join(TOOL).join("package.json");
    if !package.is_file() {
        return Ok(None);
    }
    let text = fs::read_to_string(&package).with_context(|| package.display().to_string())?;
    let package: serde_json::Value = serde_json::from_str(&text).with_context(|| package.display().to_string())?;
    Ok(package.get("version").and_then(serde_json::Value::as_str).map(str::to_owned))
}

/// The lines of the example: a name, a figure, a unit.
fn figures(said: &str) -> BTreeMap<String, Figure> {
    let line = |line: &str| {
        let mut parts = line.split('\t');
        let (name, value) = (parts.next()?, parts.next()?.parse().ok()?);
        Some((name.to_owned(), Figure { value, unit: parts.next().unwrap_or_default().to_owned() }))
    };
    said.lines().filter_map(line).collect()
}

fn page(figures: &BTreeMap<String, Figure>, tool: Option<&str>) -> Result<String> {
    let figure = |name: &str| figures.get(name).with_context(|| format!("the example does not measure {name}"));
    let mut page = "# What recording files costs

Written by `cargo xtask bench files`; no figure is typed by hand. Times are medians, of rounds in turn where two are
compared. The shadow repository is kept as `@google/gemini-cli` keeps one for its checkpoints, by the same git commands but without its process; it has no bound, and sees no file
that git ignores. [files.md](files.md) says what is recorded.

"
    .to_owned();
    if let Some(version) = tool {
        page += &format!(
            "`{TOOL}` {version} itself is driven by its class `GitService`, in a process of Node.js that stays. Its start is not counted.\n\n"
        );
    }
    let facts = machine::facts(&env::root()).into_iter().filter(|(what, _)| *what != "commit");
    page += &facts.map(|(what, fact)| format!("- {what}: {fact}\n")).collect::<String>();
    page += "\n| measured | |\n|---|--:|\n";
    for (name, words) in ROWS {
        if tool.is_none() && OF_TOOL.contains(&name) {
            continue;
        }
        let Figure { value, unit } = figure(name)?;
        page += &format!("| {words} | {} {unit} |\n", significant(*value));
    }
    page += "\n| promise | measured | kept |\n|---|--:|---|\n";
    for Promise { words, figure: name, over, limit } in &PROMISES {
        let Figure { value, unit } = figure(name)?;
        let (measured, unit) = match over {
            Some(over) => (value / figure(over)?.value, "×"),
            None => (*value, unit.as_str()),
        };
        let kept = if measured <= *limit { "yes" } else { "**no**" };
        page += &format!("| {words} | {} {unit} | {kept} |\n", significant(measured));
    }
    Ok(page)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_has_every_figure_and_says_which_promise_was_not_kept() {
        let said: String = ROWS.iter().map(|(name, _)| format!("{name}\t2.0\tms\n")).collect();
        let page = page(&figures(&said), Some("1.2.3")).unwrap();
        assert_eq!(page.matches(&format!("| {} ms |", significant(2.0))).count(), ROWS.len() + 1, "{page}");
        assert!(page.contains("an `edit` takes at most 1 ms more") && page.matches("**no**").count() == 1, "{page}");
        assert!(page.contains("`@google/gemini-cli-core` 1.2.3 itself"), "{page}");
        assert!(super::page(&figures("look\t1\tms\n"), None).is_err());
    }

    #[test]
    fn a_page_without_the_published_tool_does_without_its_figures() {
        let is_here = |name: &&str| !OF_TOOL.contains(name);
        let said: String =
            ROWS.iter().map(|(name, _)| *name).filter(is_here).map(|name| format!("{name}\t2.0\tms\n")).collect();
        let page = page(&figures(&said), None).unwrap();
        assert!(!page.contains("gemini-cli-core"), "{page}");
        assert!(super::page(&figures(&said), Some("1.2.3")).is_err());
    }

    #[test]
    fn modules_without_the_published_tool_have_no_version_of_it() {
        let modules = tempfile::tempdir().unwrap();
        assert_eq!(tool_version(modules.path()).unwrap(), None);
        let package = modules.path().join(TOOL);
        fs::create_dir_all(&package).unwrap();
        #[expect(clippy::disallowed_methods, reason = "a scratch file")]
        fs::write(package.join("package.json"), r#"{"version": "1.2.3"}"#).unwrap();
        assert_eq!(tool_version(modules.path()).unwrap().as_deref(), Some("1.2.3"));
    }

    #[test]
    fn options_are_read_in_pairs() {
        let read = |args: &[&str]| FilesOptions::read(&args.iter().map(|arg| (*arg).to_owned()).collect::<Vec<_>>());
        let options = read(&["--write", "a.md", "--modules", "m"]).unwrap();
        assert_eq!((options.write, options.modules, options.programs), ("a.md".into(), "m".into(), None));
        for wrong in [&["--write"][..], &["--wrote", "x"]] {
            assert!(read(wrong).is_err());
        }
    }
}
