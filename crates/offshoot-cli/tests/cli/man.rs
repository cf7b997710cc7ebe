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
