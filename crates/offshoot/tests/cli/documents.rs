//! What help and documents show besides command lines, held against the program: the JSON that commands print, files of
//! settings, names of entries, commands in the middle of a sentence, and the screen of the tour.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use offshoot_agent::testing::script::Reply;
use serde_json::{Value, json};

use crate::agent::Talk;
use crate::crashes::{fed, in_bash};
use crate::examples::commands;
use crate::terminal::Terminal;
use crate::world::{SAMPLE, World, message, talk, text};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The blocks of a document in this language.
pub(crate) fn blocks(document: &str, language: &str) -> Vec<String> {
    let text = fs::read_to_string(root().join(document)).unwrap();
    let opening = format!("\n```{language}\n");
    text.split(&opening).skip(1).map(|rest| rest.split("\n```").next().unwrap().to_owned()).collect()
}

/// The names of members in the JSON that a help text shows.
fn members_in_help(help: &str) -> BTreeSet<String> {
    let (about, _) = help.split_once("\nUsage:").unwrap();
    let shapes = about.lines().filter(|line| line.starts_with("  "));
    let words = shapes.flat_map(|line| line.split('"').skip(1).step_by(2));
    words.map(str::to_owned).filter(|word| word.bytes().all(|b| b.is_ascii_alphabetic())).collect()
}

/// The names of members in a value, without those inside the members that `opaque` names.
fn members(value: &Value, opaque: &[&str], found: &mut BTreeSet<String>) {
    match value {
        Value::Object(object) => {
            for (name, value) in object {
                found.insert(name.clone());
                if !opaque.contains(&name.as_str()) {
                    members(value, opaque, found);
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| members(item, opaque, found)),
        _ => {}
    }
}

/// A session with a path in the middle that no summary has.
fn long_session() -> String {
    let said = |at: usize| match at {
        3 => "I have read src/dropped/file.rs.".to_owned(),
        _ => format!("the words of message {at}"),
    };
    let lines: Vec<String> = (0..12)
        .map(|at: usize| {
            let parent = at.checked_sub(1).map(|at| format!("aaaa00{at:02}"));
            let role = ["user", "assistant"][at % 2];
            message(&format!("aaaa00{at:02}"), parent.as_deref(), at as u32, role, &said(at))
        })
        .collect();
    text("long", "/w", &lines.iter().map(String::as_str).collect::<Vec<_>>())
}

/// A home with sessions in which every member of the shown JSON occurs.
fn home() -> World {
    let world = World::with_sample();
    let [question, answer] = talk("why?");
    let name = r#"{"type":"session_info","id":"cccc3333","parentId":"bbbb2222","timestamp":"2026-01-02T00:00:00.000Z","name":"lost"}"#;
    world.session(".pi/agent/sessions", "0000aaaa-1", Path::new("/srv/other"), &[&question, &answer, name]);
    world.session(".pi/agent/sessions", "0000bbbb-2", Path::new("/srv/other"), &[]);
    let prompts = world.home().join(".pi/agent/prompts");
    fs::create_dir_all(&prompts).unwrap();
    fs::write(prompts.join("rev.md"), "Review.").unwrap();
    world.own("0000cccc-3", &[&question]);
    world
        .write("bad.jsonl", format!("{}no json\n", fs::read_to_string(world.own("0000dddd-4", &[&question])).unwrap()));
    world.write("long.jsonl", long_session());
    world.write("again.jsonl", long_session());
    world.write("parent.jsonl", long_session());
    let start = r#"{"type":"custom","customType":"offshoot.child","data":{"parentId":"long","parentEntry":"aaaa0001","toolCallId":"c","index":0,"name":"Alpha","agent":"scout","depth":1,"limits":{},"task":"look"},"id":"1","parentId":null,"timestamp":"2026-01-01T00:00:00.000Z"}"#;
    world.write("parent/Alpha.jsonl", text("alpha", "/w", &[start]));
    let data = world.home().join(".local/share/offshoot");
    fs::create_dir_all(&data).unwrap();
    fs::write(data.join("settings.json"), r#"{"compaction": {"keepRecentTokens": 10}}"#).unwrap();
    let torn = message("aaaa1111", None, 10, "user", "why?").replace("\"text\":", "\"text\":?");
    let plain = r#"{"type":"mine","id":"bbbb2222","parentId":"aaaa1111","timestamp":"2026-01-02T00:00:00.000Z"}"#;
    world.write("torn.jsonl", text("torn", "/w", &[&torn, plain]));
    let file = world.write("full.jsonl", SAMPLE);
    let full = world.command(&["append", file.to_str().unwrap()]);
    let entry = json!({"type": "custom", "customType": "x", "data": "x".repeat(1500)}).to_string() + "\n";
    fed(in_bash(&full, "trap '' XFSZ; ulimit -f 16; exec \"$@\""), &entry.repeat(10));
    world.run("name 0000cccc-3 'in the way'");
    world.run("trash 0000cccc-3");
    world.run("fork sample.jsonl");
    world.run("list --all");
    world
}

/// A command line, and the members of its JSON that hold foreign values.
struct Shown {
    line: &'static str,
    opaque: &'static [&'static str],
}

const fn shown(line: &'static str, opaque: &'static [&'static str]) -> Shown {
    Shown { line, opaque }
}

/// Commands with the lines that together print all members of their help.
const SHAPES: &[(&str, &[Shown])] = &[
    ("branches", &[shown("branches sample.jsonl --json", &[])]),
    ("check", &[shown("check bad.jsonl nowhere.jsonl --json", &[])]),
    (
        "compact",
        &[
            shown("compact long.jsonl --dry-run --json --keep-recent-tokens 10", &[]),
            shown("compact long.jsonl --json --keep-recent-tokens 10", &["details"]),
        ],
    ),
    (
        "context",
        &[
            shown("context sample.jsonl --json", &["messages"]),
            shown("context sample.jsonl --tokens --json", &[]),
            shown("context again.jsonl --window --json", &[]),
        ],
    ),
    ("doctor", &[shown("doctor 0000 --json", &[]), shown("doctor --json", &[])]),
    ("list", &[shown("list --all --json --text", &[])]),
    ("models", &[shown("models --json", &[]), shown("models --provider google-vertex --json", &[])]),
    ("repair", &[shown("repair bad.jsonl --json", &[]), shown("repair --spilled --json", &["entries"])]),
    (
        "show",
        &[
            shown("show sample.jsonl --summary --json", &[]),
            shown("show lost --summary --json", &[]),
            shown("show parent.jsonl --summary --json", &[]),
        ],
    ),
    ("trash", &[shown("trash --list --json", &[])]),
    ("tree", &[shown("tree sample.jsonl --json", &["entry"]), shown("tree torn.jsonl --json", &[])]),
];

#[test]
fn commands_print_the_members_that_their_help_names() {
    let world = home();
    let mut wrong = Vec::new();
    for (command, lines) in SHAPES {
        let documented = members_in_help(&world.stdout(&format!("{command} --help")));
        let mut printed = BTreeSet::new();
        for Shown { line, opaque } in *lines {
            let words: Vec<&str> = line.split(' ').collect();
            let key = if ["models", "doctor"].contains(command) { "k" } else { "" };
            let output = world.command(&words).env("ANTHROPIC_API_KEY", key).output().unwrap();
            let value = serde_json::from_slice(&output.stdout)
                .unwrap_or_else(|error| panic!("{line}: {error}: {}", String::from_utf8_lossy(&output.stderr)));
            members(&value, opaque, &mut printed);
        }
        let differing: Vec<&String> = documented.symmetric_difference(&printed).collect();
        if !differing.is_empty() {
            wrong.push(format!("{command}: {differing:?}"));
        }
    }
    assert_eq!(wrong, [""; 0]);
}

/// The first line of Markdown blocks of JSON, and the file of the data folder that each is.
const FILES: &[(&str, &str)] = &[
    ("docs/tour.md", "models.json"),
    ("docs/models.md", "models.json"),
    ("docs/settings.md", "settings.json"),
    ("docs/keybindings.md", "keybindings.json"),
];

#[test]
fn the_files_that_the_documents_show_are_accepted() {
    for (document, name) in FILES {
        for block in blocks(document, "json") {
            let talk = Talk::new([]);
            let path = talk.world.home().join(".local/share/offshoot").join(name);
            fs::write(&path, &block).unwrap();
            let models = talk.run(&["models"]);
            assert!(!models.contains("warning:") && !models.contains("[exit code"), "{document}: {models}");
            if *name == "models.json" {
                let value: Value = serde_json::from_str(&block).unwrap();
                let providers = value["providers"].as_object().unwrap();
                let own = providers.values().filter_map(|provider| provider["models"][0]["id"].as_str());
                own.for_each(|id| assert!(models.contains(id), "{document}: {models}"));
            }
            let mut terminal = Terminal::offshoot(&talk, &[], (100, 30));
            terminal.until_text("\n~/work");
            assert!(!terminal.whole().contains(name), "{document}: {}", terminal.whole());
            terminal.send("\x04");
            assert!(terminal.ended());
        }
    }
}

#[test]
fn entries_have_the_names_of_the_table() {
    let document = fs::read_to_string(root().join("docs/tree.md")).unwrap();
    let (_, table) = document.split_once("\n## Naming an entry\n").unwrap();
    let rows = table.lines().take_while(|line| !line.starts_with("## ")).filter_map(|line| line.strip_prefix("| `"));
    let names = rows.flat_map(|row| row.split(" | ").next().unwrap().split('`').step_by(2).map(str::to_owned));
    let names: Vec<String> = names.filter(|name| !name.is_empty()).collect();
    assert!(names.len() >= 12, "{names:?}");
    let world = World::with_sample();
    world.write("labelled.jsonl", SAMPLE);
    world.run("label labelled.jsonl 4e8a 'dead end'");
    world.run("label labelled.jsonl 42e6 1b9d");
    for name in names {
        let file = if matches!(name.as_str(), "dead end" | "label:1b9d") { "labelled.jsonl" } else { "sample.jsonl" };
        let output = world.command(&["entry", file, &name]).env("OFFSHOOT_NOW", "2026-01-30T12:00:00.000Z").output();
        let shown = world.shown(&output.unwrap());
        let expected = match name.as_str() {
            "1b9d40c6" | "1b9d" => "1b9d40c6",
            "dead end" => "4e8a1f36",
            "@-" => "7704",
            "@--" => "e95b",
            "label:1b9d" | "@" => "42e6",
            _ => "\"id\":\"42e6",
        };
        assert!(shown.contains(expected) && !shown.contains("[exit code"), "{name}: {shown}");
    }
}

/// The tour's example of a word that is not a command.
const MISTYPED: &str = "lst";

/// Commands in a sentence, such as `offshoot doctor --json`.
fn spoken_commands(text: &str) -> BTreeSet<String> {
    let parts = text.split("```").step_by(2).flat_map(|prose| prose.split('`').skip(1).step_by(2));
    parts
        .map(|part| part.split_whitespace().collect::<Vec<_>>().join(" "))
        .filter(|part| part.starts_with("offshoot "))
        .collect()
}

#[test]
fn commands_in_sentences_exist_with_their_options() {
    let world = World::new();
    let mut texts: Vec<String> = vec![fs::read_to_string(root().join("README.md")).unwrap()];
    for entry in fs::read_dir(root().join("docs")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "md") {
            texts.push(fs::read_to_string(path).unwrap());
        }
    }
    let help = world.stdout("--help");
    texts.extend(commands(&world).iter().map(|command| world.stdout(&format!("{command} --help"))));
    let spoken: BTreeSet<String> = texts.iter().flat_map(|text| spoken_commands(text)).collect();
    assert!(spoken.len() > 10, "{spoken:?}");
    for line in spoken {
        let words: Vec<&str> = line.split(' ').skip(1).collect();
        let is_command = words[0].starts_with(|c: char| c.is_ascii_lowercase()) && words[0] != MISTYPED;
        let help = if is_command { world.stdout(&format!("{} --help", words[0])) } else { help.clone() };
        let options = words.iter().filter(|word| word.starts_with('-') && word.len() > 2);
        options.for_each(|option| assert!(help.contains(option), "{line}: {option}"));
    }
}

#[test]
fn the_tour_shows_the_screen_of_a_conversation() {
    let talk =
        Talk::new([Reply::call("bash", "c1", json!({"command": "cat notes.txt"})), Reply::text("It says: buy milk.")]);
    talk.world.write("notes.txt", "buy milk\n");
    talk.was_started_before();
    let git = Command::new("git").args(["init", "-q", "-b", "main"]).current_dir(talk.world.work()).output().unwrap();
    assert!(git.status.success());
    let mut terminal = Terminal::offshoot(&talk, &[], (80, 24));
    terminal.until_text("m1").send("what do my notes say?\r");
    terminal.until_text("It says: buy milk.").until_idle().until_text("(main)");
    let shown = terminal.screen();
    let tour = fs::read_to_string(root().join("docs/tour.md")).unwrap();
    let (_, rest) = tour.split_once("```\n$ offshoot\n").unwrap();
    let picture = rest.split("\n```").next().unwrap();
    let rows = |text: &str| {
        text.lines().map(str::trim_end).filter(|row| !row.is_empty()).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(rows(picture), rows(&shown), "{shown}");
    terminal.send("\x04");
    assert!(terminal.ended());
}
