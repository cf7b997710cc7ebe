//! `cargo xtask sandbox`: what confining one command costs, by itself and with many nested repositories in the working folder.
//!
//! The same command runs without a sandbox, in it, and in it with the repositories; the three take turns, and each difference is
//! taken within one round. Says what the helper of the sandbox is told; what it does is its own.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

use anyhow::{Context as _, Result, bail};
use xtask::{env, machine, out};

use crate::figures::{median, significant};
use crate::release;

/// The bar: milliseconds for each command, with so many repositories.
const BAR: f64 = 5.0;
const REPOSITORIES: usize = 50;
/// What a repository has that programs obey, and the folders that must then stay in their places.
const READ_ONLY: [&str; 4] = [".git/config", ".git/hooks", ".envrc", ".vscode/tasks.json"];
const PINNED: [&str; 3] = ["", ".git", ".vscode"];
const COMMAND: &str = "/bin/true";

#[derive(Debug)]
struct Options {
    rounds: usize,
    /// Where the page is written besides stdout.
    write: PathBuf,
}

impl Options {
    fn parse(args: &[String]) -> Result<Self> {
        let mut options = Self { rounds: 300, write: env::root().join("docs/sandbox.md") };
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            let mut value = || args.next().with_context(|| format!("{arg} wants a value"));
            match arg.as_str() {
                "--rounds" => {
                    let rounds = value()?.parse().ok().filter(|rounds| *rounds > 0);
                    options.rounds = rounds.context("--rounds wants a number above 0")?;
                }
                "--write" => options.write = value()?.into(),
                other => bail!("unexpected argument `{other}`"),
            }
        }
        Ok(options)
    }
}

/// Milliseconds of one round.
#[derive(Debug, Clone, Copy)]
struct Round {
    bare: f64,
    confined: f64,
    nested: f64,
}

/// What is measured, and of a round.
type Row = (&'static str, fn(&Round) -> f64);

pub(crate) fn run(args: &[String]) -> Result<ExitCode> {
    let options = Options::parse(args)?;
    if cfg!(debug_assertions) {
        return release::again("sandbox", &[], args);
    }
    let folder = tempfile::tempdir()?;
    let work = folder.path().canonicalize()?.join("work");
    repositories(&work)?;
    let binary = env::this_program()?.with_file_name("offshoot");
    let confined = helper(&binary, &work, 0);
    let nested = helper(&binary, &work, REPOSITORIES);
    protects(&nested, &work)?;
    let measure = |words: &[String]| time(words).map(|seconds| seconds * 1000.0);
    let bare = [COMMAND.to_owned()];
    let round = |_| Ok(Round { bare: measure(&bare)?, confined: measure(&confined)?, nested: measure(&nested)? });
    let rounds: Vec<Round> = (0..=options.rounds).map(round).collect::<Result<_>>()?;
    // The first one warms up.
    let text = page(&rounds[1..], &machine::facts(&env::root()));
    out::say(&text);
    #[expect(clippy::disallowed_methods, reason = "a document of the work tree, kept by git")]
    fs::write(&options.write, text).with_context(|| options.write.display().to_string())?;
    Ok(ExitCode::SUCCESS)
}

fn repositories(work: &Path) -> Result<()> {
    for at in 0..REPOSITORIES {
        let repository = work.join(at.to_string());
        for folder in [".git/hooks", ".vscode"] {
            fs::create_dir_all(repository.join(folder))?;
        }
        for file in READ_ONLY.iter().filter(|name| !name.ends_with("hooks")) {
            #[expect(clippy::disallowed_methods, reason = "a scratch file")]
            fs::write(repository.join(file), "")?;
        }
    }
    Ok(())
}

/// The command in a sandbox that protects so many of the repositories.
fn helper(binary: &Path, work: &Path, repositories: usize) -> Vec<String> {
    let text = |path: PathBuf| path.to_string_lossy().into_owned();
    let mut words = vec![text(binary.to_owned()), "sandbox".to_owned()];
    words.extend(["--namespaces", "--landlock", "--calls", "--no-network"].map(str::to_owned));
    let mut say = |name: &str, path: PathBuf| words.extend([name.to_owned(), text(path)]);
    say("--cwd", work.to_owned());
    say("--writable", work.to_owned());
    for at in 0..repositories {
        let repository = work.join(at.to_string());
        READ_ONLY.iter().for_each(|name| say("--read-only", repository.join(name)));
        PINNED.iter().for_each(|name| say("--pinned", repository.join(name)));
    }
    words.extend(["--".to_owned(), COMMAND.to_owned()]);
    words
}

/// Fails where this sandbox does not protect what it is measured with.
fn protects(nested: &[String], work: &Path) -> Result<()> {
    let run = |script: &str| -> Result<bool> {
        let words = [&nested[1..nested.len() - 1], &["/bin/sh", "-c", script].map(str::to_owned)].concat();
        let status = Command::new(&nested[0]).args(words).current_dir(work).stderr(Stdio::null()).status()?;
        Ok(status.success())
    };
    if !run("echo x > 0/src && echo x > 49/.git/index")? {
        bail!("commands cannot be confined here");
    }
    let last = REPOSITORIES - 1;
    for name in READ_ONLY {
        let file = if name.ends_with("hooks") { format!("{last}/{name}/x") } else { format!("{last}/{name}") };
        if run(&format!("echo x >> {file}"))? {
            bail!("{name} is not protected");
        }
    }
    if run(&format!("mv {last} other"))? || run(&format!("mv {last}/.git {last}/other"))? {
        bail!("a repository can be moved away");
    }
    Ok(())
}

/// The seconds of one run to its end.
fn time(words: &[String]) -> Result<f64> {
    let (program, arguments) = words.split_first().context("no program")?;
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null());
    #[expect(clippy::disallowed_methods, reason = "measuring is its work")]
    let start = Instant::now();
    let status = command.status().with_context(|| format!("cannot run {program}"))?;
    let seconds = start.elapsed().as_secs_f64();
    if !status.success() {
        bail!("{program} failed: {status}");
    }
    Ok(seconds)
}

fn page(rounds: &[Round], facts: &[(&'static str, String)]) -> String {
    let of = |figure: fn(&Round) -> f64| median(rounds.iter().map(figure)).unwrap_or_default();
    let overhead = of(|round| round.nested - round.confined);
    let holds = if overhead < BAR { "holds" } else { "does **not** hold" };
    let names = READ_ONLY.map(|name| format!("`{name}`")).join(", ");
    let mut text = format!(
        "# What the sandbox costs\n\nWritten by `cargo xtask sandbox`; no figure is typed by hand. `{COMMAND}` by the release build, {} rounds: without a sandbox, in it,\n\
         and in it with {REPOSITORIES} nested repositories in the working folder, of which each has {names}. The three\n\
         take turns; differences are taken within a round. Wall time until the command's process has ended.\n\n\
         Bar: the repositories cost less than {BAR} ms for each command. It {holds}.\n\n\
         | what | median |\n|---|--:|\n",
        rounds.len()
    );
    let rows: [Row; 6] = [
        ("no sandbox", |round| round.bare),
        ("sandbox", |round| round.confined),
        ("sandbox, 50 repositories", |round| round.nested),
        ("more for the sandbox", |round| round.confined - round.bare),
        ("more for the repositories (the bar)", |round| round.nested - round.confined),
        ("more for both", |round| round.nested - round.bare),
    ];
    for (what, figure) in rows {
        text.push_str(&format!("| {what} | {} ms |\n", significant(of(figure))));
    }
    text.push_str("\n## Machine\n\n| what | value |\n|---|---|\n");
    facts.iter().for_each(|(what, value)| text.push_str(&format!("| {what} | {value} |\n")));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_taken_within_a_round() {
        let round = |bare, confined, nested| Round { bare, confined, nested };
        let text =
            page(&[round(1.0, 5.0, 8.0), round(2.0, 60.0, 64.0), round(1.0, 6.0, 16.0)], &[("kernel", "x".to_owned())]);
        assert!(text.contains("3 rounds") && text.contains("It holds."), "{text}");
        assert!(text.contains("| more for the repositories (the bar) | 4.00 ms |"), "{text}");
        assert!(text.contains("| no sandbox | 1.00 ms |") && text.contains("| kernel | x |"), "{text}");
        assert!(page(&[round(1.0, 2.0, 7.0)], &[]).contains("It does **not** hold."), "{text}");
    }

    #[test]
    fn the_repositories_are_protected_one_by_one() {
        let words = helper(Path::new("/bin/offshoot"), Path::new("/w"), 2);
        assert_eq!(words.iter().filter(|word| *word == "--read-only").count(), 2 * READ_ONLY.len());
        assert!(
            words.contains(&"/w/1/.vscode/tasks.json".to_owned())
                && words.ends_with(&["--".to_owned(), COMMAND.to_owned()])
        );
        assert!(Options::parse(&["--rounds".to_owned(), "0".to_owned()]).is_err());
        assert!(Options::parse(&["fast".to_owned()]).is_err());
    }
}
