//! Lines that people type from the habits of git, shells, pi, Claude Code and Codex: what is wrong is said, and in most cases a line
//! that works. The snapshot is the table.

use crate::world::{SAMPLE, World};

const LINES: &str = include_str!("wrong_lines.txt");

/// A home whose folder has one session, the sample.
fn home() -> World {
    let world = World::new();
    let entries: Vec<&str> = SAMPLE.lines().skip(1).collect();
    world.own("019bbbd8-3100-7c42-9d1a-6f20b7e4a581", &entries);
    world
}

#[test]
fn a_wrong_line_is_answered_and_changes_nothing() {
    let world = home();
    let before = world.snapshot();
    let mut table = String::new();
    for line in LINES.lines() {
        let shown = world.run(line);
        let told = shown.lines().map(str::trim_end).filter(|row| !row.is_empty() && *row != "[stderr]");
        let told: String = told.map(|row| format!("    {row}\n")).collect();
        assert!(told.contains("[exit code "), "{line} is not wrong:\n{told}");
        table += &format!("{line}\n{told}");
    }
    assert!(LINES.lines().count() >= 150, "{}", LINES.lines().count());
    insta::assert_snapshot!(table);
    assert_eq!(world.snapshot(), before);
}
