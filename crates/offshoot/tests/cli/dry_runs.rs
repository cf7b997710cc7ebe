//! `--dry-run` of every command that moves or writes: it says what would happen, and nothing does.

use std::fs;

use crate::world::{VERSION_1, World};

#[test]
fn a_dry_run_of_any_command_changes_nothing() {
    let world = World::with_sample();
    world.write("old.jsonl", VERSION_1);
    fs::copy(world.work().join("sample.jsonl"), world.work().join("other.jsonl")).unwrap();
    let stored = world.stdout("import other.jsonl").trim().to_owned();
    world.run("switch sample.jsonl 4e8a");
    world.run(&format!("trash {stored}"));
    for (line, said) in [
        ("switch sample.jsonl 30f8", "would go to 30f8"),
        ("pop sample.jsonl", "would go back to"),
        ("fork sample.jsonl", "would copy"),
        ("pick sample.jsonl 08c5", "would pick 3 entries"),
        ("merge sample.jsonl 42e6", ", without the summary"),
        ("undo sample.jsonl", "would undo a switch"),
        ("compact sample.jsonl --keep-recent-tokens 60", "7 messages summarised"),
        ("compact --undo other.jsonl", "would continue before"),
        ("label sample.jsonl 42e6 found", "would be 42e6b1f9 [found]"),
        ("label sample.jsonl c86f --clear", "has no label"),
        ("name sample.jsonl counting", "the session would be named counting"),
        ("name sample.jsonl 'counting' --json", r#"{"name":"counting","id":null}"#),
        ("label sample.jsonl 42e6 found --json", r#""label":"found","id":null}"#),
        ("migrate old.jsonl", "would be upgraded from version 1"),
        ("migrate old.jsonl sample.jsonl", "2 sessions: 1 would be upgraded"),
        ("migrate old.jsonl --json", r#""version":1,"backup":null}"#),
        ("import sample.jsonl", "sample.jsonl"),
        ("import sample.jsonl --json", r#""note":null}"#),
        ("trash other.jsonl", "would go to the trash:"),
        ("trash other.jsonl --json", r#""trashed":null,"file":null}]"#),
        ("trash --restore", "would be brought back:"),
        ("export sample.jsonl -o page.html", "would write 26 entries with their labels to page.html"),
        ("export sample.jsonl -o part.jsonl --at 30f8", "would write 8 entries with their labels to part.jsonl"),
        ("export sample.jsonl -o part.jsonl --subtree 84b6", "would write 6 entries with their labels to part.jsonl"),
        ("repair sample.jsonl", "nothing to do"),
    ] {
        let before = world.snapshot();
        let shown = world.run(&format!("{line} --dry-run"));
        assert!(shown.contains(said) && !shown.contains("[exit code"), "{line}: {shown}");
        assert_eq!(world.snapshot(), before, "{line}");
    }
    // The text is known, and counted.
    let merge = world.run("merge sample.jsonl 42e6 --summary tried --dry-run");
    assert!(merge.contains("next prompt") && !merge.contains("without the summary"), "{merge}");
}

#[test]
fn the_entries_of_a_dry_append_are_checked() {
    let world = World::with_sample();
    let before = world.snapshot();
    let run = |line: &str, input: &str| world.run_with(line, input);
    let good = r#"{"type":"custom","customType":"x"}"#;
    assert_eq!(run("append sample.jsonl --dry-run", &format!("{good}\n{good}\n")), "{\"id\":null}\n{\"id\":null}\n");
    assert_eq!(run("append new.jsonl --dry-run", good), "{\"id\":null}\n");
    let bad = run("append sample.jsonl --dry-run", &format!("{good}\nno\n"));
    assert!(bad.contains(r#""line":2}"#) && bad.contains("[exit code 2]"), "{bad}");
    assert!(run("append nosuch --dry-run", good).contains("[exit code 3]"));
    assert!(run("append sample.jsonl --parent zzzz --dry-run", good).contains("[exit code 3]"));
    assert_eq!(world.snapshot(), before);
}

#[test]
fn labels_names_and_trashed_sessions_are_answered_in_json() {
    let world = World::with_sample();
    let keys = |line: &str| -> Vec<String> {
        let json: serde_json::Value = serde_json::from_str(&world.stdout(line)).unwrap();
        let object = json.as_array().map_or(&json, |rows| &rows[0]).as_object().unwrap();
        object.iter().map(|(key, value)| if value.is_null() { format!("{key}?") } else { key.clone() }).collect()
    };
    assert_eq!(keys("label sample.jsonl 42e6 found --json"), ["entryId", "label", "id"]);
    assert_eq!(keys("label sample.jsonl 42e6 found --json"), ["entryId", "label", "id?"], "it is there");
    assert_eq!(keys("label sample.jsonl 42e6 --json"), ["entryId", "label", "id?"]);
    assert_eq!(keys("label sample.jsonl 42e6 --clear --json"), ["entryId", "label?", "id"]);
    assert_eq!(keys("name sample.jsonl counting --json"), ["name", "id"]);
    assert_eq!(keys("name sample.jsonl '' --json"), ["name?", "id"]);
    world.write("old.jsonl", VERSION_1);
    assert_eq!(keys("migrate old.jsonl --json"), ["path", "version", "backup"]);
    assert_eq!(keys("import sample.jsonl --json"), ["path", "note?"]);
    assert_eq!(keys("trash old.jsonl --json"), ["id", "firstMessage", "path", "trashed", "file"]);
    assert_eq!(keys("trash --restore --json"), ["id", "firstMessage", "path", "trashed", "file?"]);
}
