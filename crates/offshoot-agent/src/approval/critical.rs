//! Commands that are asked about in every mode, because they seldom can be undone. A seat belt, not a wall: whoever wants
//! to get past it can.

use std::path::{Path, PathBuf};

use super::rule::readings;
use super::shell_line::{SHELLS, ShellLine, SimpleCommand, base};

const FETCHERS: &[&str] = &["curl", "wget", "fetch", "aria2c", "http", "https"];

const ACCOUNTS: &[&str] = &["/etc/passwd", "/etc/shadow", "/etc/sudoers"];

/// Why the line is on the list.
pub(super) fn reason(line: &ShellLine) -> Option<&'static str> {
    let fetched = runs_what_it_fetches(&line.commands).then_some("it runs what it fetches from the network");
    fetched.or_else(|| line.commands.iter().find_map(of_command))
}

/// Why writing this file is on the list.
pub(super) fn of_file(path: &Path) -> Option<&'static str> {
    ACCOUNTS
        .iter()
        .any(|file| path.starts_with(file))
        .then_some("it changes who may use this computer")
        .or_else(|| path.starts_with("/etc/sudoers.d").then_some("it changes who may use this computer"))
}

fn of_command(command: &SimpleCommand) -> Option<&'static str> {
    let writes = command.writes.iter().find_map(|file| of_file(&PathBuf::from(file)));
    writes.or_else(|| readings(&command.words).find_map(of_words)).or_else(|| {
        let names = |name: &str| command.words.iter().any(|word| base(word) == name);
        ((names("sudo") || names("doas")) && names("rm")).then_some("it deletes files as another user")
    })
}

fn of_words(words: &[String]) -> Option<&'static str> {
    let (name, rest) = words.split_first()?;
    let has = |test: &dyn Fn(&str) -> bool| rest.iter().any(|word| test(word));
    match base(name) {
        "rm" => {
            let is_recursive = |word: &str| word == "--recursive" || is_short(word, "rR");
            let is_far = |word: &str| word.starts_with(['/', '~', '$']);
            (has(&is_recursive) && has(&is_far)).then_some("it deletes a folder that is named by its whole path")
        }
        "dd" => has(&|word| word.starts_with("of=/dev/") && word != "of=/dev/null").then_some("it overwrites a device"),
        "tee" | "cp" | "mv" | "install" | "ln" => rest.iter().find_map(|word| of_file(Path::new(word))),
        "git" => {
            let pushes = has(&|word| word == "push");
            let forces = has(&|word| word == "--force" || is_short(word, "f") || word.starts_with('+'));
            (pushes && forces).then_some("it overwrites a branch of a remote repository")
        }
        "shutdown" | "reboot" | "halt" | "poweroff" => Some("it stops this computer"),
        "init" | "telinit" => has(&|word| matches!(word, "0" | "6")).then_some("it stops this computer"),
        "systemctl" => {
            has(&|word| matches!(word, "poweroff" | "reboot" | "halt" | "kexec")).then_some("it stops this computer")
        }
        name if name == "mkfs" || name.starts_with("mkfs.") => Some("it makes a new file system"),
        _ => None,
    }
}

/// Whether the word holds one of these short options.
fn is_short(word: &str, options: &str) -> bool {
    word.strip_prefix('-').is_some_and(|letters| !letters.starts_with('-') && letters.contains(|c| options.contains(c)))
}

fn runs_what_it_fetches(commands: &[SimpleCommand]) -> bool {
    let is_one_of = |command: &SimpleCommand, names: &[&str]| {
        readings(&command.words).any(|words| words.first().is_some_and(|name| names.contains(&base(name))))
    };
    let is_shell = |command: &SimpleCommand| is_one_of(command, SHELLS) || is_one_of(command, &["eval", "source", "."]);
    let mut is_fetched = false;
    for command in commands {
        if is_fetched && is_shell(command) {
            return true;
        }
        is_fetched = command.is_piped && (is_fetched || is_one_of(command, FETCHERS));
    }
    let fetches_inside = commands.iter().any(|command| command.is_nested && is_one_of(command, FETCHERS));
    fetches_inside && commands.iter().any(is_shell)
}
