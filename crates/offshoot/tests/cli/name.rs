//! `offshoot name`.

use insta::assert_snapshot;

use crate::world::{World, talk};

#[test]
fn a_name_stands_for_the_session() {
    let world = World::new();
    let [question, answer] = talk("why?");
    let path = world.own("0000aaaa-1", &[&question, &answer]);
    assert_snapshot!(world.run("name 0000 'the why of it'"), @"the session is named the why of it");
    let before = world.snapshot();
    assert_snapshot!(world.run("name 0000 'the why of it'"), @"nothing to do: the session is named the why of it");
    assert_eq!(world.snapshot(), before, "the same name writes nothing");
    assert_snapshot!(world.run("list"), @"
      WHEN  ID    MESSAGES  SESSION
    49 min  0000         2  the why of it
    ");
    let last = std::fs::read_to_string(path).unwrap().lines().last().unwrap().to_owned();
    assert_eq!(world.stdout("show 'the why of it' --json").matches(&last).count(), 1);
    assert_snapshot!(world.run("name 'the why of it' ''"), @"the session has no name");
    assert_snapshot!(world.run("show 'the why of it'"), @r#"
    [stderr]
    error: no session matches "the why of it"
    hint: `offshoot list --all` shows every session
    [exit code 3]
    "#);
}

#[test]
fn two_of_a_name_are_told_apart_by_id() {
    let world = World::new();
    for id in ["aaaa-1", "bbbb-2"] {
        let info = r#"{"type":"session_info","id":"cccc3333","parentId":null,"timestamp":"2026-01-02T00:00:00.000Z","name":"same"}"#;
        world.own(id, &[info]);
    }
    assert_snapshot!(world.run("show same"), @r#"
    [stderr]
    error: session "same" is ambiguous: bbbb-2, aaaa-1
    hint: name one by its id
    [exit code 2]
    "#);
}
