//! How sessions and entries are named on the command line.

use crate::world::{World, talk};

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
