//! The program of the tour is an example, and runs.

use std::process::Command;

#[test]
fn the_program_of_the_tour_runs() {
    let tour = include_str!("../../../../docs/tour.md");
    let shown = tour.split("```rust\n").nth(1).unwrap().split("```").next().unwrap();
    assert!(include_str!("../../examples/tour.rs").contains(shown), "{shown}");
    let folder = tempfile::tempdir().unwrap();
    let header = r#"{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}"#;
    std::fs::write(folder.path().join("session.jsonl"), format!("{header}\n")).unwrap();
    // Examples lie beside the folder of the test's own binary; cargo builds them with the tests.
    let test = std::env::current_exe().unwrap();
    let program = test.parent().unwrap().parent().unwrap().join("examples/tour");
    let output = Command::new(program).current_dir(folder.path()).output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.starts_with(r#"{"messages":[{"role":"user","content":"why?""#), "{said}");
    assert!(output.status.success());
}
