//! The consoles of the README and the documents, command by command: what they show is what a reader sees.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

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
