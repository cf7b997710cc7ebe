//! `cargo xtask bench files`: what recording files costs, by the example `recording_costs`, in one run, and the page about it.
//!
//! The example measures; this says which figures are promised. Every figure of the page comes from the run.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

use anyhow::{Context as _, Result, bail};
use xtask::{cargo, env, machine, out};

use crate::figures::significant;
use crate::release;

/// The example, in its package.
const EXAMPLE: [&str; 4] = ["--package", "offshoot-files", "--example", "recording_costs"];

/// What is measured, in the order of the page: the name in the example's output, and its words.
const ROWS: [(&str, &str); 9] = [
    ("first-look", "first look at 100,000 files that git tracks, nothing known"),
    ("next-session", "first look of the next session"),
    ("look", "each further look at 100,000 files"),
    ("git-status", "`git status` there"),
    ("command", "a command in a folder of 10,000 files: two looks, and what it changed"),
    ("shadow-command", "a snapshot of it in a shadow repository: `git add`, `status`, `commit`"),
    ("edit", "an `edit` of a file of 22 kB"),
    ("store", "store, log and entries after 500 turns that edit such a file, beyond the first look"),
    ("shadow-store", "shadow repository after the same turns, beyond the first snapshot"),
];

/// A promise: the name of a figure, the one by which it is divided if there is one, and the limit.
struct Promise {
    words: &'static str,
    figure: &'static str,
    over: Option<&'static str>,
    limit: f64,
}

const PROMISES: [Promise; 4] = [
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
];

struct Figure {
    value: f64,
    unit: String,
}

pub(crate) fn run(args: &[String]) -> Result<ExitCode> {
    let write = match args {
        [] => env::root().join("docs/benchmarks-files.md"),
        [option, path] if option == "--write" => PathBuf::from(path),
        _ => bail!("bench files takes --write FILE and nothing else"),
    };
    release::also(&EXAMPLE)?;
    let program = cargo::target_folder()?.join("release/examples/recording_costs");
    let output = Command::new(&program).output().with_context(|| format!("cannot run {}", program.display()))?;
    if !output.status.success() {
        bail!("{} failed: {}", program.display(), String::from_utf8_lossy(&output.stderr));
    }
    let text = page(&figures(&String::from_utf8_lossy(&output.stdout)))?;
    out::say(&text);
    #[expect(clippy::disallowed_methods, reason = "a document of the work tree, kept by git")]
    fs::write(&write, text).with_context(|| write.display().to_string())?;
    Ok(ExitCode::SUCCESS)
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

fn page(figures: &BTreeMap<String, Figure>) -> Result<String> {
    let figure = |name: &str| figures.get(name).with_context(|| format!("the example does not measure {name}"));
    let mut page = "# What recording files costs

Written by `cargo xtask bench files`; no figure is typed by hand. Times are medians. The shadow repository is kept as `@google/gemini-cli` keeps one for its
checkpoints, by the same git commands but without its process; it has no bound, and sees no file that git ignores. [files.md](files.md) says what is recorded.

"
    .to_owned();
    let facts = machine::facts(&env::root()).into_iter().filter(|(what, _)| *what != "commit");
    page += &facts.map(|(what, fact)| format!("- {what}: {fact}\n")).collect::<String>();
    page += "\n| measured | |\n|---|--:|\n";
    for (name, words) in ROWS {
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
        let page = page(&figures(&said)).unwrap();
        assert_eq!(page.matches(&format!("| {} ms |", significant(2.0))).count(), ROWS.len() + 1, "{page}");
        assert!(page.contains("an `edit` takes at most 1 ms more") && page.matches("**no**").count() == 1, "{page}");
        assert!(super::page(&figures("look\t1\tms\n")).is_err());
    }
}
