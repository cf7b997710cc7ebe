//! Every example of the help, the README and the documents, run as it is printed, with all that it prints.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use offshoot_agent::testing::script::Reply;
use serde_json::{Value, json};

use crate::agent::Talk;
use crate::terminal::Terminal;
use crate::world::{SAMPLE, VERSION_1, World, message};

/// Examples that run until somebody ends them, that build, or that need a network.
const NOT_RUN: &[(&str, &str)] = &[
    ("offshoot auth login anthropic", "it asks on a terminal: see the tests of `auth`"),
    ("offshoot tail", "it runs until it is stopped; `tail` has tests of its own"),
    ("offshoot bisect", "it needs files that turns changed; `bisect` has tests of its own"),
    ("cargo ", "it builds"),
    ("offshoot install npm:", "it needs a registry; `install` has tests with one"),
    ("offshoot install git:", "it needs a server; `install` has tests with one"),
    ("offshoot install ../", "it asks; the help's example says --yes"),
    ("offshoot config npm:", "nothing was installed"),
    ("offshoot remove npm:", "nothing was installed"),
    ("offshoot -e examples/", "the tests of extensions run it"),
];

/// Examples whose output another program formats, that show modes of files (they follow the umask), or that print every
/// event with its time.
const NOT_COMPARED: &[&str] = &["offshoot man | man -l -", "offshoot doctor", "offshoot --mode json 'list the files'"];

/// Longer output is cut.
const LINES: usize = 40;
const COLUMNS: usize = 140;

/// The conversation that `latest` names.
const LATEST: &str = "019bbbd8-3100-7c42-9d1a-6f20b7e4a581";
const OLDER: &str = "0198c2aa-0000-7000-8000-000000000002";

/// A home in which the examples mean something.
struct ExampleHome {
    talk: Talk,
    bin: PathBuf,
}

impl ExampleHome {
    fn new() -> Self {
        let talk = Talk::new([Reply::text("Done."), Reply::text("Done."), Reply::text("Done.")]);
        let world = &talk.world;
        let bin = world.home().join("bin");
        fs::create_dir_all(&bin).unwrap();
        symlink(env!("CARGO_BIN_EXE_offshoot"), bin.join("offshoot")).unwrap();
        let entry = r#"{"type":"custom","customType":"mine","data":1}"#;
        for (name, output) in [("my-agent", entry), ("git", "-old line")] {
            let program = bin.join(name);
            fs::write(&program, format!("#!/bin/sh\necho '{output}'\n")).unwrap();
            fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        }
        let models = world.home().join(".local/share/offshoot/models.json");
        let mut known: Value = serde_json::from_str(&fs::read_to_string(&models).unwrap()).unwrap();
        known["providers"]["local"] = known["providers"]["test"].clone();
        known["providers"]["local"]["models"][0]["id"] = "qwen3-coder".into();
        talk.data("models.json", &known);
        world.write("entries.jsonl", format!("{entry}\n"));
        world.write("old/one.jsonl", VERSION_1);
        world.write("session.jsonl", SAMPLE);
        world.write("mine.jsonl", SAMPLE);
        world.write("examples/sample-session.jsonl", SAMPLE);
        world.write("key.txt", "sk-example\n");
        world.write("STYLE.md", "Short sentences.\n");
        fs::create_dir_all(world.home().join("other-project")).unwrap();
        fs::create_dir_all(world.home().join("project")).unwrap();
        for folder in [".local/share/bash-completion/completions", ".zfunc", ".config/fish/completions", "Downloads"] {
            fs::create_dir_all(world.home().join(folder)).unwrap();
        }
        fs::write(world.home().join("Downloads/session.jsonl"), SAMPLE).unwrap();
        let package = world.home().join("my-skills");
        for (name, text) in [
            ("prompts/review.md", "Review $1."),
            ("skills/old/SKILL.md", "---\nname: old\ndescription: Does it as before.\n---\n"),
        ] {
            fs::create_dir_all(package.join(name).parent().unwrap()).unwrap();
            fs::write(package.join(name), text).unwrap();
        }
        talk.data("settings.json", &json!({"packages": [package], "retry": {"baseDelayMs": 0, "maxAgentDelayMs": 0}}));
        sessions(world);
        fs::write(world.home().join(".pi/agent/SYSTEM.md"), "You are terse.\n").unwrap();
        Self { talk, bin }
    }

    /// Runs a command line in a shell.
    fn run(&self, line: &str) -> Output {
        let mut shell = Command::new("bash");
        shell.args(["-c", line]).current_dir(self.talk.world.work()).env_clear();
        for (name, value) in self.talk.command(&[]).get_envs() {
            shell.env(name, value.unwrap());
        }
        let path = std::env::var_os("PATH").unwrap_or_default();
        let folders = std::iter::once(self.bin.clone()).chain(std::env::split_paths(&path));
        shell.env("PATH", std::env::join_paths(folders).unwrap());
        shell.output().unwrap()
    }

    /// What an example prints.
    fn shown(&self, line: &str) -> String {
        let output = self.run(line);
        let shown = self.without_fresh_ids(&self.talk.world.shown(&output));
        let count = shown.lines().count();
        let mut lines: Vec<String> =
            shown.lines().take(LINES).map(|line| line.chars().take(COLUMNS).collect()).collect();
        if count > LINES {
            lines.push(format!("[… {} more lines]", count - LINES));
        }
        lines.join("\n")
    }

    /// Starts of ids that are new in every run.
    fn without_fresh_ids(&self, shown: &str) -> String {
        let files = self.talk.files();
        let text: String = files.iter().map(|file| fs::read_to_string(file).unwrap_or_default()).collect();
        let ids = text.split("\"id\":\"").skip(1).filter_map(|rest| rest.get(..8));
        let is_known = |id: &str| SAMPLE.contains(id) || KNOWN.contains(&id) || !is_hex(id);
        let fresh: Vec<&str> = ids.filter(|id| !is_known(id)).collect();
        let words = shown.split_inclusive(|c: char| !c.is_ascii_alphanumeric());
        let clean = |word: &str| {
            let bare = word.trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
            let is_fresh = (4..=8).contains(&bare.len()) && fresh.iter().any(|id| id.starts_with(bare));
            if is_fresh { format!("[ID]{}", &word[bare.len()..]) } else { word.to_owned() }
        };
        words.map(clean).collect()
    }
}

fn is_hex(word: &str) -> bool {
    word.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Starts of the ids of its entries and sessions.
const KNOWN: [&str; 8] =
    ["aaaa1111", "1a2b3c4d", "bbbb2222", "cccc3333", "dddd4444", "0198c2aa", "0197dddd", "0197eeee"];

/// The sessions of the home: two of this folder, and those that other programs have elsewhere.
fn sessions(world: &World) {
    let usage =
        r#""usage":{"totalTokens":12000,"cost":{"total":0.02}},"role":"assistant","provider":"test","model":"m1""#;
    let long = "The build fails since the linker finds no libssl. ".repeat(500);
    let entries = [
        message("aaaa1111", None, 10, "user", "why does the build fail?"),
        message("1a2b3c4d", Some("aaaa1111"), 11, "assistant", "The linker finds no libssl.")
            .replace(r#""role":"assistant""#, usage),
        message("bbbb2222", Some("1a2b3c4d"), 12, "user", "try it without the library"),
        message("cccc3333", Some("1a2b3c4d"), 13, "user", &long),
        message("dddd4444", Some("cccc3333"), 14, "assistant", "Mended: the tests pass.")
            .replace(r#""role":"assistant""#, usage),
    ];
    let entries: Vec<&str> = entries.iter().map(String::as_str).collect();
    world.own(LATEST, &entries);
    let named = |name: &str| {
        format!(
            r#"{{"type":"session_info","id":"bbbb2222","parentId":"aaaa1111","timestamp":"2026-01-02T00:00:00.000Z","name":"{name}"}}"#
        )
    };
    let first = message("aaaa1111", None, 1, "user", "an older question");
    world.own(OLDER, &[&first, &named("an old try")]);
    let elsewhere = Path::new("/srv/other");
    world.session(".pi/agent/sessions", "0197dddd-1", elsewhere, &[&first, &named("my refactoring")]);
    world.session(".pi/agent/sessions", "0197eeee-2", elsewhere, &[&first, &named("the one I miss")]);
}

/// A line of an example without its comment.
fn command_of(line: &str) -> &str {
    line.split("   #").next().unwrap_or(line).trim()
}

/// The names of all commands, from the help.
pub(crate) fn commands(world: &World) -> Vec<String> {
    let help = world.stdout("--help");
    let listed = help.lines().take_while(|line| !line.starts_with("Options:") && !line.starts_with("Arguments:"));
    let names = listed.filter_map(|line| line.strip_prefix("  ")?.split([',', ' ']).next());
    names.filter(|name| !name.is_empty() && *name != "help" && *name != "offshoot").map(str::to_owned).collect()
}

/// The examples at the end of a help text.
fn examples_of(help: &str) -> Vec<String> {
    let lines = help.split("Examples:\n").nth(1).unwrap_or_default().lines();
    lines.map_while(|line| line.strip_prefix("  ")).map(|line| command_of(line).to_owned()).collect()
}

/// The commands of a document's shell blocks: a block of functions is one command, each line of another block is one.
fn shell_commands(document: &str) -> Vec<String> {
    let blocks = document.split("```sh\n").skip(1).filter_map(|rest| rest.split("```").next());
    let commands = blocks.flat_map(|block| match block.contains("() {\n") {
        true => vec![block.trim()],
        false => block.lines().map(command_of).filter(|line| !line.is_empty()).collect(),
    });
    commands.map(str::to_owned).collect()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Homes {
    /// A home for each example.
    Each,
    /// One home, in which an example follows the one before.
    One,
}

/// Runs examples. Conversations start in a terminal.
fn transcript(examples: &[String], homes: Homes) -> String {
    let mut home = ExampleHome::new();
    let mut transcript = String::new();
    for line in examples {
        if homes == Homes::Each {
            home = ExampleHome::new();
        }
        if NOT_RUN.iter().any(|(start, _)| line.starts_with(start)) {
            continue;
        }
        let talks = ["offshoot", "offshoot -c"].contains(&line.as_str()) || line.starts_with("offshoot chat");
        let shown = if talks {
            let arguments: Vec<&str> = line.split(' ').skip(1).collect();
            let mut terminal = Terminal::offshoot(&home.talk, &arguments, (80, 24));
            if arguments.len() > 1 {
                terminal.until_text("Done.").until_idle();
            }
            terminal.until_text("context ").send("\x04");
            assert!(terminal.ended(), "$ {line}");
            "[a conversation]".to_owned()
        } else if NOT_COMPARED.contains(&line.as_str()) {
            let output = home.run(line);
            if output.status.success() { "[not compared]".to_owned() } else { home.talk.world.shown(&output) }
        } else {
            home.shown(line)
        };
        transcript += &format!("$ {line}\n{shown}\n\n");
    }
    transcript
}

/// Examples that do not end well.
fn failures(transcript: &str) -> Vec<String> {
    let is_failure = |shown: &&str| shown.contains("[exit code ");
    transcript.split("\n\n$ ").filter(is_failure).map(str::to_owned).collect()
}

#[test]
fn every_example_of_the_help_works_as_printed() {
    let world = World::new();
    let mut failed = Vec::new();
    let root = transcript(&examples_of(&world.stdout("--help")), Homes::Each);
    failed.extend(failures(&root));
    insta::assert_snapshot!("offshoot", root);
    let commands = commands(&world);
    assert!(commands.len() > 20, "{commands:?}");
    for command in commands {
        let examples = examples_of(&world.stdout(&format!("{command} --help")));
        assert!(!examples.is_empty(), "{command} has no example");
        let shown = transcript(&examples, Homes::One);
        failed.extend(failures(&shown));
        insta::assert_snapshot!(command.clone(), shown);
    }
    assert_eq!(failed, [""; 0]);
}

/// The README and every page of `docs`, in the order of their names.
fn pages(root: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(root.join("docs")).unwrap().map(|entry| entry.unwrap().path());
    let mut pages: Vec<PathBuf> = entries.filter(|path| path.extension().is_some_and(|end| end == "md")).collect();
    pages.push(root.join("README.md"));
    pages.sort();
    pages
}

#[test]
fn every_shell_block_of_the_documents_works_as_printed() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut failed = Vec::new();
    for path in pages(&root) {
        let lines = shell_commands(&fs::read_to_string(&path).unwrap());
        if !lines.is_empty() {
            let stem = path.file_stem().unwrap().to_str().unwrap().to_lowercase();
            let shown = transcript(&lines, Homes::Each);
            failed.extend(failures(&shown));
            insta::assert_snapshot!(format!("document_{stem}"), shown);
        }
    }
    assert_eq!(failed, [""; 0]);
}
