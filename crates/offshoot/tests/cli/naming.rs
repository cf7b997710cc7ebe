//! How sessions and entries are named on the command line.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;

use crate::world::{SAMPLE, World, talk};

#[test]
fn entries_are_named_by_id_label_place_and_time() {
    let world = World::with_sample();
    world.run("label sample.jsonl 4e8a1f36 'dead end'");
    let at = |name: &str| world.stdout(&format!("entry sample.jsonl '{name}'"));
    assert_eq!(at("dead end"), at("4e8a1f36"));
    assert_eq!(at("label:dead end"), at("4e8a"));
    assert!(at("@").contains("\"parentId\"") && at("@") != at("@-"));
    assert_eq!(
        world.run("entry sample.jsonl @---------------------------------------------------------------------"),
        "\
[stderr]
error: entry @--------------------------------------------------------------------- not found
hint: `@` is the current entry, `@-` its parent, `@-3` three entries up; nothing is above the first entry
[exit code 3]
"
    );
    assert_eq!(at("HEAD~1"), at("@-"));
    let moved = world.run("switch sample.jsonl 'dead end'");
    assert!(moved.starts_with("now at 4e8a "), "{moved}");
    assert_eq!(at("@"), at("4e8a1f36"), "the marker of the move is not what a person means");
    assert_eq!(at("1s"), at("@"));
}

#[test]
fn a_command_that_writes_takes_no_short_id() {
    let world = World::new();
    let lines = talk("May I?");
    let file = world.own("cccc-dddd-eeee", &[&lines[0], &lines[1]]);
    let before = std::fs::read(&file).unwrap();
    for line in [
        "name ccc x",
        "label ccc aaaa1111 x",
        "trash ccc",
        "switch cccc aaa",
        "label cccc aaa x",
        "pop ccc",
        "append ccc",
    ] {
        let shown = world.run_with(line, "");
        assert!(
            shown.contains("is too short for a command that writes") && shown.ends_with("[exit code 2]\n"),
            "{line}: {shown}"
        );
    }
    assert_eq!(std::fs::read(&file).unwrap(), before);
    assert!(world.run("show ccc").contains("May I?"), "reading takes a short id");
    assert!(world.run("show eeee").contains("May I?"), "the end of an id names it too");
    assert!(world.run("name cccc x").contains('x'));
}

#[test]
fn several_files_with_one_id_are_ambiguous_unless_one_is_here() {
    let world = World::new();
    let lines = talk("Which?");
    let entries = [lines[0].as_str(), lines[1].as_str()];
    let other = world.home().join("other");
    world.session(".local/share/offshoot/sessions", "twin-0001", &other, &entries);
    world.session(".pi/agent/sessions", "twin-0001", &other, &entries);
    let shown = world.run("show twin-0001");
    assert!(shown.contains("name one by its path") && shown.ends_with("[exit code 2]\n"), "{shown}");
    world.own("twin-0001", &entries);
    assert!(world.run("show twin-0001").contains("Which?"), "the one of this folder counts");
    world.session(".pi/agent/sessions", "pair-0001", &world.work(), &entries);
    world.session(".omp/agent/sessions", "pair-0001", &world.work(), &entries);
    let shown = world.run("show pair-0001");
    assert!(shown.ends_with("[exit code 2]\n"), "{shown}");
}

/// What is printed stays clean for programs.
#[test]
fn commands_that_look_show_the_latest_session_and_say_which() {
    let world = World::new();
    let lines = talk("Which one?");
    world.own("cccc-dddd-eeee", &[&lines[0], &lines[1]]);
    let shown = world.run("show");
    assert!(shown.contains("Which one?") && !shown.contains("[exit code"), "{shown}");
    let told = "note: no SESSION was given; this is the latest one of this folder: ";
    assert!(shown.contains(told) && shown.contains("cccc-dddd-eeee"), "{shown}");
    assert!(world.run("tree --all").contains("latest one of all folders"));
    assert_eq!(world.stdout("show --json"), world.stdout("show latest --json"));
    assert_eq!(world.stdout("tree --flat"), world.stdout("tree cccc-dddd-eeee --flat"));
    assert_eq!(world.stdout("show latest aaaa1111"), world.stdout("show latest --at aaaa1111"));
}

#[test]
fn words_in_the_wrong_places_are_put_right_in_a_hint() {
    let world = World::with_sample();
    let swapped = world.run("switch 4e8a sample.jsonl");
    assert!(swapped.contains("hint: did you mean `offshoot switch sample.jsonl 4e8a`?"), "{swapped}");
    let lines = talk("Where?");
    world.own("cccc-dddd-eeee", &[&lines[0], &lines[1]]);
    let entry = world.run("tree aaaa1111");
    assert!(entry.contains("hint: did you mean `offshoot tree latest --at aaaa1111`?"), "{entry}");
    let nothing = world.run("tree zzzz");
    assert!(!nothing.contains("did you mean"), "{nothing}");
}

/// What is typed around the session's path, which stands for `S`.
const WITH_A_PATH: [&str; 22] = [
    "tree S",
    "show S",
    "branches S",
    "context S",
    "check S",
    "doctor S",
    "repair S",
    "migrate S",
    "entry S 42e6",
    "label S 42e6 x",
    "compare S 4e8a 42e6",
    "switch S 4e8a",
    "pick S 08c5",
    "undo S",
    "compact S --dry-run",
    "merge S 42e6 --summary y",
    "pop S 30f8 --summary x",
    "fork S",
    "export S -o S.html",
    "append S",
    "import S",
    "trash S",
];

#[test]
fn a_session_is_named_by_a_path_that_is_not_utf8() {
    let world = World::new();
    let name = OsStr::from_bytes(b"it's \xff.jsonl");
    std::fs::write(world.work().join(name), SAMPLE).unwrap();
    let page = OsStr::from_bytes(b"\xfe.html");
    for line in WITH_A_PATH {
        let mut command = world.command(&[]);
        for word in line.split(' ') {
            match word {
                "S" => command.arg(name),
                "S.html" => command.arg(page),
                word => command.arg(word),
            };
        }
        let output = command.output().unwrap();
        let shown = world.shown(&output);
        assert!(output.status.success(), "{line}: {shown}");
        let hint = shown.lines().find(|row| row.starts_with("hint: `offshoot undo"));
        assert!(hint.is_none_or(|hint| hint.contains(r"$'it\'s \xff.jsonl'")), "{line}: {shown}");
    }
    assert!(world.work().join(page).exists() && !world.work().join(name).exists());
    let mut named = world.command(&["tree"]);
    std::fs::write(world.work().join(name), SAMPLE).unwrap();
    assert!(named.env("OFFSHOOT_SESSION", name).output().unwrap().status.success());
}
