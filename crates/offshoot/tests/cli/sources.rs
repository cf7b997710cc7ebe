//! `offshoot sources`.

use std::time::{Duration, UNIX_EPOCH};

use insta::assert_snapshot;

use crate::world::World;

#[test]
fn sessions_that_will_be_deleted_are_named_until_they_are_copied() {
    let world = World::new();
    assert_eq!(world.run("sources"), "[stderr]\nnote: there is no folder of another agent here\n");
    let file = world.home().join(".claude/projects/-w/11111111-2222-4222-8222-222222222222.jsonl");
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(&file, "{}\n").unwrap();
    let modified = UNIX_EPOCH + Duration::from_secs(1_767_312_000);
    std::fs::File::options().append(true).open(&file).unwrap().set_modified(modified).unwrap();
    assert_snapshot!(
        world.run("sources"),
        @"Claude Code  [HOME]/.claude  1 session, the oldest may be deleted at any time"
    );
    let soon = world.run("sources --expiring 400d");
    assert!(
        soon.contains("[exit code 1]") && soon.contains("1 session will be deleted, and no copy is kept"),
        "{soon}"
    );
    std::fs::write(world.home().join(".claude/settings.json"), r#"{"cleanupPeriodDays":10000}"#).unwrap();
    assert!(!world.run("sources --expiring 7d").contains("exit code"));
    std::fs::remove_file(world.home().join(".claude/settings.json")).unwrap();
    world.stdout("keep on");
    let kept = world.run("sources --expiring 400d");
    assert!(!kept.contains("exit code") && kept.contains(", copied"), "{kept}");
    assert!(world.run("sources --expiring soon").contains("[exit code 2]"));
    assert!(world.stdout("sources --json").contains(r#""expiresNext":"2026"#));
}
