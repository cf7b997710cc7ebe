//! `cargo xtask sandbox`: what confining one command costs, by itself and with many nested repositories in the working folder.
//!
//! The same command runs without a sandbox, in one that was prepared, and in one that is made for it, without and with the repositories;
//! all take turns, and each difference is taken within one round. Says what the helper of the sandbox is told; what it does is its own.

use std::fs;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::Instant;

use anyhow::{Context as _, Result, bail};
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike as _;
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
/// As many as an agent prepares.
const TOGETHER: u8 = 4;
const LONG: usize = 100 << 10;
/// What a helper says when it waits, and when it becomes its command.
const READY: u8 = 5;
const STARTED: u8 = 6;

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

/// Milliseconds.
#[derive(Debug, Clone, Copy)]
struct Cost {
    /// From the moment at which the command is known to the end of its process.
    wall: f64,
    /// Of processors, with all that was prepared.
    processor: f64,
}

#[derive(Debug, Clone, Copy)]
struct Round {
    bare: Cost,
    confined: Cost,
    nested: Cost,
    /// Of a command that no pipe holds.
    long: [Cost; 2],
    /// Of several commands that begin together, to the end of the last one.
    together: [Cost; 2],
    /// Nothing was prepared for it.
    own: Cost,
    own_nested: Cost,
}

/// What is measured: in the sandbox, and the same without it.
type Row = (&'static str, fn(&Round) -> Cost, fn(&Round) -> Cost);

const ROWS: [Row; 9] = [
    ("no sandbox", |round| round.bare, |round| round.bare),
    ("sandbox", |round| round.confined, |round| round.bare),
    ("sandbox, 50 repositories", |round| round.nested, |round| round.bare),
    ("100 KiB, no sandbox", |round| round.long[0], |round| round.long[0]),
    ("100 KiB, sandbox, 50 repositories", |round| round.long[1], |round| round.long[0]),
    ("four at once, no sandbox", |round| round.together[0], |round| round.together[0]),
    ("four at once, sandbox, 50 repositories", |round| round.together[1], |round| round.together[0]),
    ("sandbox, not prepared", |round| round.own, |round| round.bare),
    ("sandbox, not prepared, 50 repositories", |round| round.own_nested, |round| round.bare),
];

pub(crate) fn run(args: &[String]) -> Result<ExitCode> {
    let options = Options::parse(args)?;
    if cfg!(debug_assertions) {
        return release::again("sandbox", &[], args);
    }
    let folder = tempfile::tempdir()?;
    let work = folder.path().canonicalize()?.join("work");
    repositories(&work)?;
    let binary = env::this_program()?.with_file_name("offshoot");
    let (plain, nested) = (helper(&binary, &work, 0), helper(&binary, &work, REPOSITORIES));
    protects(&nested, &work)?;
    let text = "x".repeat(LONG);
    let long = [COMMAND, &text];
    let round = |_| {
        Ok(Round {
            bare: cost(|| made(&[COMMAND.to_owned()]))?,
            confined: cost(|| prepared(&plain, &[COMMAND], 1))?,
            nested: cost(|| prepared(&nested, &[COMMAND], 1))?,
            long: [cost(|| made(&long.map(str::to_owned)))?, cost(|| prepared(&nested, &long, 1))?],
            together: [cost(bare_together)?, cost(|| prepared(&nested, &[COMMAND], TOGETHER))?],
            own: cost(|| made(&plain))?,
            own_nested: cost(|| made(&nested))?,
        })
    };
    let rounds: Vec<Round> = (0..=options.rounds).map(round).collect::<Result<_>>()?;
    // The first one warms up.
    let text = page(&rounds[1..], &facts());
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

/// Without the commit: the page is part of it. The load says how much else the machine did.
fn facts() -> Vec<(&'static str, String)> {
    let mut facts = machine::facts(&env::root());
    facts.retain(|(what, _)| *what != "commit");
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    facts.extend(load.split(' ').next().map(|load| ("load at the end, with this", load.to_owned())));
    facts
}

/// Runs a script, and says whether it succeeded.
type Way<'a> = &'a dyn Fn(&str) -> Result<bool>;

/// Fails where this sandbox does not protect what it is measured with, whether it was prepared or not.
fn protects(nested: &[String], work: &Path) -> Result<()> {
    let made = |script: &str| -> Result<bool> {
        let words = [&nested[1..nested.len() - 1], &["/bin/sh", "-c", script].map(str::to_owned)].concat();
        let status = Command::new(&nested[0]).args(words).current_dir(work).stderr(Stdio::null()).status()?;
        Ok(status.success())
    };
    let prepared = |script: &str| -> Result<bool> {
        let mut helper = wait(nested, Stdio::null())?;
        send(&mut helper, &["/bin/sh", "-c", script])?;
        Ok(helper.wait()?.success())
    };
    for run in [&made as Way<'_>, &prepared] {
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
    }
    Ok(())
}

/// `run` returns the moment at which the command was known.
fn cost(run: impl FnOnce() -> Result<Instant>) -> Result<Cost> {
    let processor = || -> Result<i64> {
        let usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
        Ok((usage.user_time() + usage.system_time()).num_microseconds())
    };
    let before = processor()?;
    let wall = run()?.elapsed().as_secs_f64() * 1000.0;
    #[expect(clippy::cast_precision_loss, reason = "microseconds of one command")]
    let processor = (processor()? - before) as f64 / 1000.0;
    Ok(Cost { wall, processor })
}

#[expect(clippy::disallowed_methods, reason = "measuring is its work")]
fn now() -> Instant {
    Instant::now()
}

/// Nothing was prepared for it.
fn made(words: &[String]) -> Result<Instant> {
    let (program, arguments) = words.split_first().context("no program")?;
    let begun = now();
    let status = Command::new(program).args(arguments).stdin(Stdio::null()).status();
    let status = status.with_context(|| format!("cannot run {program}"))?;
    if status.success() { Ok(begun) } else { bail!("{program} failed: {status}") }
}

/// Several commands that begin together.
fn bare_together() -> Result<Instant> {
    let begun = now();
    let start = |_| Command::new(COMMAND).stdin(Stdio::null()).spawn();
    let commands: Vec<Child> = (0..TOGETHER).map(start).collect::<std::io::Result<_>>()?;
    for mut command in commands {
        command.wait()?;
    }
    Ok(begun)
}

/// By helpers that wait for them.
fn prepared(words: &[String], command: &[&str], count: u8) -> Result<Instant> {
    let mut helpers: Vec<Child> = (0..count).map(|_| wait(words, Stdio::inherit())).collect::<Result<_>>()?;
    let begun = now();
    for helper in &mut helpers {
        send(helper, command)?;
    }
    for helper in &mut helpers {
        let status = helper.wait()?;
        if !status.success() {
            bail!("a helper failed: {status}");
        }
    }
    for helper in helpers {
        let mut said = Vec::new();
        helper.stdout.context("no output")?.read_to_end(&mut said)?;
        if said != [STARTED] {
            bail!("a helper has not started its command");
        }
    }
    Ok(begun)
}

fn wait(words: &[String], errors: Stdio) -> Result<Child> {
    let (program, arguments) = words.split_first().context("no program")?;
    let end = arguments.iter().position(|word| word == "--").context("no command")?;
    let mut command = Command::new(program);
    command.args(&arguments[..end]).args(["--wait", "--"]);
    let mut helper = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(errors).spawn()?;
    let mut said = [0];
    helper.stdout.as_mut().context("no output")?.read_exact(&mut said)?;
    if said == [READY] { Ok(helper) } else { bail!("a helper does not wait") }
}

fn send(helper: &mut Child, words: &[&str]) -> Result<()> {
    let mut message = format!("{} 0 0\0", words.len());
    words.iter().for_each(|word| message.extend([word, "\0"]));
    Ok(helper.stdin.take().context("no input")?.write_all(message.as_bytes())?)
}

fn page(rounds: &[Round], facts: &[(&'static str, String)]) -> String {
    let middle = |figure: &dyn Fn(&Round) -> f64| median(rounds.iter().map(figure)).unwrap_or_default();
    let more = |of: fn(&Round) -> Cost, bare: fn(&Round) -> Cost| middle(&|round| of(round).wall - bare(round).wall);
    // For each of those that begin together.
    let each = more(|round| round.together[1], |round| round.together[0]) / f64::from(TOGETHER);
    let one = more(|round| round.nested, |round| round.bare);
    let long = more(|round| round.long[1], |round| round.long[0]);
    let holds = if [one, long, each].iter().all(|cost| *cost < BAR) { "holds" } else { "does **not** hold" };
    let names = READ_ONLY.map(|name| format!("`{name}`")).join(", ");
    let mut text = format!(
        "# What the sandbox costs\n\nWritten by `cargo xtask sandbox`; no figure is typed by hand. `{COMMAND}` by the release build, {} rounds: without a sandbox, in it,\n\
         and in it with {REPOSITORIES} nested repositories in the working folder, of which each has {names}. They\n\
         take turns; differences are taken within a round.\n\n\
         When the model is asked, and when a command has ended, the sandbox of the next one is prepared; while an answer is written, one for each of\n\
         its first {TOGETHER} commands. So the first command of an agent costs what the others cost. A command makes its own sandbox if none is prepared for it, or\n\
         if something that is protected was moved or replaced since. Wall time is from the moment at which the command is known to the end of its\n\
         process; of four at once, to the end of the last. Processor time is all of it, also what was prepared.\n\n\
         Bar: the sandbox and the repositories together cost a command less than {BAR} ms of wall time, also a long one and each of four at once. It {holds}.\n\n\
         | what | wall time | more than without a sandbox | least wall time | processor time |\n|---|--:|--:|--:|--:|\n",
        rounds.len()
    );
    for (what, of, bare) in ROWS {
        let least = rounds.iter().map(|round| of(round).wall).fold(f64::INFINITY, f64::min);
        let wall = middle(&|round| of(round).wall);
        let cells = [wall, more(of, bare), least, middle(&|round| of(round).processor)];
        let cells = cells.map(|cell| format!("{} ms", significant(cell))).join(" | ");
        text.push_str(&format!("| {what} | {cells} |\n"));
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
        let cost = |wall| Cost { wall, processor: wall * 2.0 };
        let round = |bare, nested| Round {
            bare: cost(bare),
            confined: cost(bare + 1.0),
            nested: cost(nested),
            long: [cost(bare), cost(nested)],
            together: [cost(bare), cost(nested * 2.0)],
            own: cost(nested + 1.0),
            own_nested: cost(nested + 4.0),
        };
        let text = page(&[round(1.0, 5.0), round(2.0, 64.0), round(1.0, 5.5)], &[("kernel", "x".to_owned())]);
        assert!(text.contains("3 rounds") && text.contains("It holds."), "{text}");
        assert!(text.contains("| sandbox, 50 repositories | 5.50 ms | 4.50 ms | 5.00 ms | 11.0 ms |"), "{text}");
        assert!(text.contains("| sandbox, not prepared, 50 repositories | 9.50 ms | 8.50 ms |"), "{text}");
        assert!(text.contains("| no sandbox | 1.00 ms | 0.000 ms |") && text.contains("| kernel | x |"), "{text}");
        assert!(page(&[round(1.0, 6.5)], &[]).contains("It does **not** hold."), "{text}");
    }

    #[test]
    fn the_page_names_the_load_and_no_commit() {
        let whats: Vec<&str> = facts().iter().map(|(what, _)| *what).collect();
        assert_eq!(whats, ["processor", "memory", "kernel", "compiler", "load at the end, with this"]);
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
