//! `offshoot man`.

use crate::world::World;

#[test]
fn the_page_names_the_program() {
    let page = World::new().stdout("man");
    assert!(page.contains(".TH offshoot 1") && page.contains("SESSION is the path"), "{page}");
}

#[test]
fn a_page_for_every_command() {
    let world = World::new();
    assert_eq!(world.run("man --out pages"), "");
    let page = world.read("pages/offshoot-branches.1");
    assert!(page.contains(".TH offshoot\\-branches 1") || page.contains(".TH offshoot-branches 1"), "{page}");
    assert!(page.contains("forksFrom"));
    let commands = world.stdout("completions -- offshoot ''");
    let names: Vec<&str> = commands.lines().filter_map(|line| line.split('\t').next()).collect();
    assert!(names.len() > 20, "{names:?}");
    for name in names.into_iter().filter(|name| *name != "help") {
        assert!(!world.read(&format!("pages/offshoot-{name}.1")).is_empty(), "{name}");
    }
}

/// Examples are shown as they are typed, and a page says what a shell and a script need.
#[test]
fn pages_have_the_sections_of_a_manual() {
    let world = World::new();
    let main = world.stdout("man");
    for section in ["EXAMPLES", "\"EXIT STATUS\"", "ENVIRONMENT", "FILES", "\"SEE ALSO\""] {
        assert!(main.contains(&format!(".SH {section}\n")), "{section}: {main}");
    }
    assert!(main.lines().next_back().is_some_and(|last| last.contains("offshoot\\-tree(1)")), "{main}");
    world.run("man --out pages");
    let tree = world.read("pages/offshoot-tree.1");
    assert!(tree.contains(".TH offshoot\\-tree 1 ") || tree.contains(".TH offshoot-tree 1 "), "{tree}");
    assert!(tree.contains(" 2026-02-01 ") || tree.contains("\"2026-02-01\""), "{tree}");
    assert!(tree.contains(".nf\noffshoot tree latest\noffshoot tree latest \\-\\-filter user\\-only\n"), "{tree}");
    assert!(!tree.contains(".SH EXTRA") && !tree.contains(".SH ENVIRONMENT"), "{tree}");
}
