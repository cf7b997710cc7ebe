//! Commands that only look leave every byte and every time of every file alone, whatever the file.

use crate::world::{SAMPLE, VERSION_1, World, message, text};

#[test]
fn looking_changes_nothing() {
    let world = World::with_sample();
    let version_2 =
        text("two", "/w", &[&message("aaaa1111", None, 10, "user", "q")]).replace("\"version\":3", "\"version\":2");
    let torn = &SAMPLE[..SAMPLE.len() - 100];
    let files = [
        world.write("v1.jsonl", VERSION_1),
        world.write("v2.jsonl", version_2),
        world.write("torn.jsonl", torn),
        world.write("odd.jsonl", format!("\u{feff}{SAMPLE}\n\0\0no json\r\n")),
        world.write("empty.jsonl", ""),
        world.write("notes.jsonl", "{\"a\":1}\n"),
        world.own("0000aaaa-1", &[&message("aaaa1111", None, 10, "user", "q")]),
        world.work().join("sample.jsonl"),
    ];
    let before = world.snapshot();
    for file in &files {
        for arguments in [
            &["show", "FILE"][..],
            &["show", "FILE", "--json"],
            &["tree", "FILE"],
            &["tree", "FILE", "--flat"],
            &["tree", "FILE", "--json"],
            &["branches", "FILE"],
            &["branches", "FILE", "--json"],
            &["context", "FILE"],
            &["context", "FILE", "--json"],
            &["context", "FILE", "--llm"],
            &["context", "FILE", "--tokens"],
            &["entry", "FILE", "aaaa1111"],
            &["check", "FILE"],
            &["check", "FILE", "--json"],
            &["repair", "FILE", "--dry-run"],
        ] {
            let file = file.to_str().unwrap();
            let arguments: Vec<&str> =
                arguments.iter().map(|word| if *word == "FILE" { file } else { *word }).collect();
            let code = world.command(&arguments).output().unwrap().status.code();
            assert!(matches!(code, Some(0 | 2 | 3 | 4)), "{arguments:?}: {code:?}");
        }
    }
    for line in ["list", "list --all", "list --all --json --text", "show latest", "show 0000", "check ."] {
        world.run(line);
    }
    assert_eq!(world.snapshot(), before);
}
