//! Commands that are asked about in every mode, because they seldom can be undone. A seat belt, not a wall: whoever wants
//! to get past it can.

use std::path::{Path, PathBuf};

use super::critical_paths::CriticalPlaces;
use super::rule::readings;
use super::shell_line::{SHELLS, ShellLine, SimpleCommand, base};
use crate::home_path::expand_home;

const FETCHERS: &[&str] = &["curl", "wget", "fetch", "aria2c", "http", "https"];

/// Commands that change the files of all their words.
const CHANGERS: &[&str] = &[
    "tee", "mv", "truncate", "rm", "rmdir", "unlink", "shred", "chmod", "chown", "touch", "mkdir", "mkfifo", "patch",
    "ed", "ex",
];

/// Commands that change the last of their words, or a file in it.
const COPIERS: &[&str] = &["cp", "install", "rsync", "scp", "mv", "ln"];

/// Why the line is on the list.
pub(super) fn reason(line: &ShellLine, cwd: &Path, places: &CriticalPlaces<'_>) -> Option<&'static str> {
    let fetched = runs_what_it_fetches(&line.commands).then_some("it runs what it fetches from the network");
    let place = LinePlace::of(line, cwd, places);
    fetched.or_else(|| line.commands.iter().find_map(|command| of_command(command, &place)))
}

fn of_command(command: &SimpleCommand, place: &LinePlace<'_>) -> Option<&'static str> {
    let writes = command.writes.iter().find_map(|file| place.reason(file));
    let said = |words: &[String]| of_words(words).or_else(|| changed(words).iter().find_map(|path| place.reason(path)));
    writes.or_else(|| readings(&command.words).find_map(said)).or_else(|| {
        let names = |name: &str| command.words.iter().any(|word| base(word) == name);
        ((names("sudo") || names("doas")) && names("rm")).then_some("it deletes files as another user")
    })
}

/// Where the words of a line lead: from the working folder, and from each folder that the line goes to.
struct LinePlace<'a> {
    folders: Vec<PathBuf>,
    places: &'a CriticalPlaces<'a>,
}

impl<'a> LinePlace<'a> {
    fn of(line: &ShellLine, cwd: &Path, places: &'a CriticalPlaces<'a>) -> Self {
        let mut place = Self { folders: vec![cwd.to_owned()], places };
        for command in &line.commands {
            let target = match command.words.as_slice() {
                [name] if name == "cd" => places.home.map(Path::to_owned),
                [name, .., target] if matches!(name.as_str(), "cd" | "pushd") => {
                    place.folders.last().map(|folder| folder.join(place.at_home(target)))
                }
                _ => None,
            };
            place.folders.extend(target);
        }
        place
    }

    fn reason(&self, word: &str) -> Option<&'static str> {
        let word = self.at_home(word);
        self.folders.iter().find_map(|folder| self.places.reason(&folder.join(&word)))
    }

    /// The path with the home directory, however the line names it.
    fn at_home(&self, word: &str) -> PathBuf {
        let rest = ["$HOME", "${HOME}"].iter().find_map(|name| word.strip_prefix(name));
        match rest.filter(|rest| rest.is_empty() || rest.starts_with('/')) {
            Some(rest) => expand_home(format!("~{rest}"), self.places.home),
            None => expand_home(word, self.places.home),
        }
    }
}

/// The files that a command visibly changes.
fn changed(words: &[String]) -> Vec<String> {
    let Some((name, rest)) = words.split_first() else { return Vec::new() };
    let name = base(name);
    let plain = || rest.iter().filter(|word| !word.starts_with('-'));
    let in_place = || rest.iter().any(|word| word.starts_with("--in-place") || is_short(word, "i"));
    let mut files: Vec<String> = Vec::new();
    if CHANGERS.contains(&name) || (matches!(name, "sed" | "perl") && in_place()) {
        files.extend(plain().cloned());
    }
    if COPIERS.contains(&name) {
        let named = rest.iter().filter_map(|word| word.strip_prefix("--target-directory="));
        let after = rest.iter().zip(rest.iter().skip(1)).filter(|(word, _)| *word == "-t");
        let after = after.map(|(_, folder)| folder.as_str());
        for folder in named.chain(after).chain(plain().next_back().map(String::as_str)) {
            files.push(folder.to_owned());
            files.extend(plain().map(|file| format!("{}/{}", folder.trim_end_matches('/'), base(file))));
        }
    }
    match name {
        "dd" => files.extend(rest.iter().filter_map(|word| word.strip_prefix("of=")).map(str::to_owned)),
        "git" if sets_globally(rest) => files.push("~/.gitconfig".to_owned()),
        "crontab" if !rest.iter().any(|word| word == "-l") => files.push("~/.crontab".to_owned()),
        _ => {}
    }
    files
}

/// Whether git's words change a setting of the user. One name alone reads it, as do the options that list.
fn sets_globally(rest: &[String]) -> bool {
    const READING: [&str; 7] = ["--get", "--get-all", "--get-regexp", "--list", "-l", "get", "list"];
    let is_config = rest.first().is_some_and(|word| word == "config") && rest.iter().any(|word| word == "--global");
    let names = rest.iter().skip(1).filter(|word| !word.starts_with('-')).count();
    let changes =
        ["--unset", "--unset-all", "--edit", "-e", "edit"].iter().any(|change| rest.iter().any(|word| word == change));
    let reads = rest.iter().any(|word| READING.contains(&word.as_str())) || names == 1;
    is_config && (changes || !reads)
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
