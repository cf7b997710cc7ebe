//! The consoles of the README and the documents, command by command: what they show is what a reader sees.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use crate::agent::Talk;
use crate::svg::svg;
use crate::terminal::Terminal;
use crate::world::{SAMPLE, World};

/// The consoles of a document: each command with the lines below it.
fn commands(text: &str) -> Vec<(String, String)> {
    let consoles = text.split("```console\n").skip(1).filter_map(|rest| rest.split("\n```\n").next());
    let mut commands: Vec<(String, String)> = Vec::new();
    for line in consoles.flat_map(str::lines) {
        match (line.strip_prefix("$ "), commands.last_mut()) {
            (Some(command), _) => commands.push((command.to_owned(), String::new())),
            (None, Some((_, output))) => *output += &format!("{line}\n"),
            (None, None) => panic!("output before any command: {line}"),
        }
    }
    commands
}

/// Ids that are drawn anew in every run.
fn without_ids(text: &str) -> String {
    let is_id = |word: &str| word.len() == 8 && word.bytes().all(|b| b.is_ascii_hexdigit()) && !SAMPLE.contains(word);
    let words = text.split_inclusive(|c: char| !c.is_ascii_alphanumeric());
    let clean = |word: &str| match word.get(..8) {
        Some(start) if is_id(start) => word.replacen(start, "########", 1),
        _ => word.to_owned(),
    };
    words.map(clean).collect()
}

#[test]
fn the_consoles_show_what_a_reader_sees() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let documents = fs::read_dir(root.join("docs")).unwrap().map(|entry| entry.unwrap().path());
    let documents = documents.filter(|path| path.extension().is_some_and(|extension| extension == "md"));
    let mut count = 0;
    for document in documents.chain([root.join("README.md")]) {
        let commands = commands(&fs::read_to_string(&document).unwrap());
        count += commands.len();
        let world = World::new();
        let bin = world.work().join("bin");
        fs::create_dir_all(&bin).unwrap();
        symlink(env!("CARGO_BIN_EXE_offshoot"), bin.join("offshoot")).unwrap();
        world.write("examples/sample-session.jsonl", SAMPLE);
        for (command, shown) in commands {
            let output = Command::new("bash")
                .args(["-c", &format!("{command} 2>&1")])
                .current_dir(world.work())
                .env_clear()
                .env("PATH", format!("{}:/usr/local/bin:/usr/bin:/bin", bin.display()))
                .env("HOME", world.home())
                .env("COLUMNS", "100")
                .env("OFFSHOOT_NOW", "2026-11-01T12:00:00.000Z")
                .output()
                .unwrap();
            let seen = String::from_utf8(output.stdout).unwrap();
            let seen: String = seen.lines().map(|line| line.trim_end().to_owned() + "\n").collect();
            assert_eq!(without_ids(&seen), without_ids(&shown), "{}: $ {command}", document.display());
        }
    }
    assert!(count >= 10, "the documents show {count} commands");
}

/// What the picture at the top of the README shows, typed at a shell.
const TYPED: [&str; 4] = [
    "offshoot tree mine.jsonl",
    "offshoot switch mine.jsonl 4e8a",
    "offshoot pick mine.jsonl 08c5",
    "offshoot undo mine.jsonl",
];

#[test]
fn the_picture_of_the_readme_is_what_a_terminal_shows() {
    let talk = Talk::new([]);
    talk.world.write("mine.jsonl", SAMPLE);
    talk.world.write("src/main.rs", "fn main() {}\n");
    let path = format!("{}:/usr/bin:/bin", Path::new(env!("CARGO_BIN_EXE_offshoot")).parent().unwrap().display());
    let variables = [("PATH", path.as_str()), ("OFFSHOOT_NOW", "2026-01-20T12:00:00.000Z"), ("HISTFILE", "")];
    let size = (94, 44);
    let mut terminal = Terminal::shell_with(&talk, size, &variables);
    terminal.send("PS1='\\[\\e[1;32m\\]$\\[\\e[0m\\] '; clear\r");
    for (index, line) in TYPED.iter().enumerate() {
        terminal.until("the prompt", |screen| {
            screen.lines().filter(|row| row.starts_with('$')).count() == index + 1 && screen.ends_with('$')
        });
        terminal.send(&format!("{line}\r"));
    }
    terminal.until("the end", |screen| screen.ends_with('$') && screen.contains("undid a pick"));
    let rows = terminal.screen().lines().count() - 1;
    let title = format!("A terminal: {}", TYPED.join("; "));
    let drawn = svg(terminal.rows().take(rows), size.0.into(), &title);
    let picture = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/pictures/branches.svg");
    if fs::read_to_string(&picture).ok().as_ref() != Some(&drawn) {
        let new = Path::new(env!("CARGO_TARGET_TMPDIR")).join("branches.svg");
        fs::write(&new, drawn).unwrap();
        panic!("the picture shows something else: look at it, then `cp {} docs/pictures/`", new.display());
    }
    terminal.send("exit\r");
    assert!(terminal.ended());
}
