//! Picks, merges and undos of what cannot be brought: names of several entries, sources that are damaged, locked or of the
//! other program, and sessions that change between plan and write.

use std::process::Stdio;

use offshoot_agent::testing::script::{Gate, Reply};

use crate::agent::Talk;
use crate::world::{World, message, text};
use crate::writers::holder;

/// The text of what a run prints, and its exit code.
fn refused(world: &World, line: &str, code: u8, why: &str) {
    let before = world.snapshot();
    let shown = world.run(line);
    assert!(shown.contains(why) && shown.trim_end().ends_with(&format!("[exit code {code}]")), "{line}: {shown}");
    assert_eq!(world.snapshot(), before, "{line}");
}

/// A trunk and a branch whose entries begin with the same four characters.
fn twins(id: &str) -> String {
    let entries = [
        message("aaaa1111", None, 1, "user", "hello"),
        message("bbbb1111", Some("aaaa1111"), 2, "user", "one way"),
        message("bbbb2222", Some("aaaa1111"), 3, "user", "other way"),
    ];
    text(id, "/work", &entries.each_ref().map(String::as_str))
}

#[test]
fn an_entry_that_may_be_several_is_refused() {
    let world = World::with_sample();
    world.write("s.jsonl", twins("s"));
    let several = "entry \"bbbb\" is ambiguous: bbbb1111, bbbb2222";
    for line in [
        "pick s.jsonl bbbb",
        "pick s.jsonl aaaa1111..bbbb",
        "pick s.jsonl --turn bbbb",
        "pick s.jsonl bbbb1111 --onto bbbb",
        "pick sample.jsonl bbbb --from s.jsonl",
        "merge s.jsonl bbbb --summary tried",
        "merge s.jsonl bbbb1111 --onto bbbb --summary tried",
        "merge sample.jsonl bbbb --from s.jsonl --entries",
        "compare s.jsonl bbbb bbbb1111",
    ] {
        refused(&world, line, 2, several);
    }
    world.own("0000aaaa-1", &[]);
    world.own("0000bbbb-2", &[]);
    refused(&world, "undo 0000", 2, "session \"0000\" is ambiguous");
    refused(&world, "compact --undo 0000", 2, "session \"0000\" is ambiguous");
}

#[test]
fn a_source_that_is_no_session_is_refused_and_damage_left_out() {
    let world = World::with_sample();
    world.write("notes.jsonl", "just words\n");
    world.write("empty.jsonl", "");
    refused(&world, "pick sample.jsonl .. --from notes.jsonl", 4, "notes.jsonl is not a session");
    let merge = |from: &str| format!("merge sample.jsonl aaaa1111 --from {from} --summary tried");
    refused(&world, &merge("notes.jsonl"), 4, "notes.jsonl is not a session");
    refused(&world, &merge("nosuch.jsonl"), 3, "could not open nosuch.jsonl");
    refused(&world, "pick sample.jsonl .. --from empty.jsonl", 2, "the session is empty");
    let whole = twins("torn");
    let lines: Vec<&str> = whole.lines().collect();
    let after = message("cccc1111", Some("bbbb2222"), 4, "user", "and on");
    world.write("torn.jsonl", [lines[0], lines[1], lines[3], &lines[2][..60], &after, ""].join("\n"));
    let picked = world.run("pick sample.jsonl .. --from torn.jsonl");
    assert!(picked.contains("picked 3 entries"), "{picked}");
    assert_eq!(world.stdout("check sample.jsonl"), "sample.jsonl: ok\n", "the damage stays where it is");
}

#[test]
fn a_locked_source_is_read_all_the_same() {
    let world = World::with_sample();
    world.write("s.jsonl", twins("s"));
    let Some(mut holding) = holder(&world) else {
        return crate::crashes::say("NOT TESTED: a locked source: there is no flock program here");
    };
    let picked = world.run("pick sample.jsonl bbbb1111 --from s.jsonl");
    assert!(picked.contains("picked 1 entry"), "{picked}");
    let merged = world.run("merge sample.jsonl bbbb2222 --from s.jsonl --summary tried");
    assert!(merged.contains("as a summary in"), "{merged}");
    drop(holding.stdin.take());
    holding.wait().unwrap();
}

#[test]
fn a_source_of_the_other_program_leaves_its_settings_there() {
    let world = World::new();
    let change = |id: &str, more: &str| {
        format!(
            r#"{{"type":"model_change","id":"{id}","parentId":"aaaa1111","timestamp":"2026-02-01T10:00:01.000Z",{more}}}"#
        )
    };
    let said = message("aaaa1111", None, 1, "user", "hello");
    let also = message("cccc1111", Some("bbbb1111"), 2, "user", "and more");
    let of = |id: &str, more: &str| text(id, "/work", &[&said, &change("bbbb1111", more), &also]);
    let omp = of("omp", r#""model":"p/m","role":"default""#);
    world.write("omp.jsonl", omp.replacen(r#""cwd""#, r#""title":"T","cwd""#, 1));
    world.write("pi.jsonl", of("pi", r#""provider":"p","modelId":"m""#));
    for (here, there) in [("pi", "omp"), ("omp", "pi")] {
        let other = message("dddd1111", None, 1, "user", "begun");
        let header = if here == "omp" { r#""title":"T","cwd""# } else { r#""cwd""# };
        world.write("here.jsonl", text("here", "/work", &[&other]).replacen(r#""cwd""#, header, 1));
        let picked = world.run(&format!("pick here.jsonl .. --from {there}.jsonl --settings"));
        assert!(picked.contains("picked 2 entries"), "{there} to {here}: {picked}");
        assert!(picked.contains("an entry that the other program does not know"), "{there} to {here}: {picked}");
        assert_eq!(world.stdout("check here.jsonl"), "here.jsonl: ok\n", "{there} to {here}");
    }
}

#[test]
fn nothing_is_brought_into_an_open_tool_turn() {
    let world = World::with_sample();
    world.run("switch sample.jsonl f150");
    let waiting = "tool calls of entry f1508d3c wait for their results";
    for line in [
        "pick sample.jsonl 42e6",
        "pick sample.jsonl 42e6 --dry-run",
        "merge sample.jsonl 42e6 --summary tried",
        "merge sample.jsonl 42e6 --entries",
        "merge sample.jsonl 42e6 --dry-run",
    ] {
        refused(&world, line, 5, waiting);
    }
}

#[test]
fn a_compaction_is_not_taken_back_beyond_the_window() {
    let world = World::with_sample();
    let models = r#"{"providers":{"anthropic":{"baseUrl":"http://127.0.0.1:9","api":"anthropic-messages","apiKey":"k","models":[{"id":"claude-sonnet-4-5","contextWindow":6000,"maxTokens":100}]}}}"#;
    let folder = world.home().join(".local/share/offshoot");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("models.json"), models).unwrap();
    refused(&world, "compact --undo sample.jsonl", 5, "do not fit into the model's window of 6,000");
    let forced = world.run("compact --undo sample.jsonl --force");
    assert!(forced.contains("3 entries copied, about 621 tokens of messages in all"), "{forced}");
}

/// A model writes the summary of a merge, and the session changes before it has ended.
#[test]
fn a_session_that_changes_while_its_merge_is_summarised_keeps_its_own_end() {
    let gates = [Gate::new(), Gate::new(), Gate::new()];
    let reply = |gate: &Gate| Reply { gate: Some((0, gate.clone())), ..Reply::text("## Goal\nTried.") };
    let talk = Talk::new(gates.iter().map(reply));
    let file = talk.world.write("s.jsonl", twins("s"));
    let merge = |at: usize, change: &dyn Fn()| {
        let mut command = talk.command(&["merge", "s.jsonl", "bbbb1111", "--provider", "test"]);
        let merging = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        talk.server.wait_for(at + 1);
        change();
        gates[at].open();
        talk.world.shown(&merging.wait_with_output().unwrap())
    };
    let moved = merge(0, &|| drop(talk.run(&["switch", "s.jsonl", "aaaa1111"])));
    assert!(moved.contains("[exit code 5]") && !talk.world.read("s.jsonl").contains("Tried."), "{moved}");
    let replaced = merge(1, &|| {
        std::fs::remove_file(&file).unwrap();
        talk.world.write("s.jsonl", twins("s"));
    });
    assert!(replaced.contains("[exit code 5]"), "{replaced}");
    assert_eq!(talk.world.read("s.jsonl"), twins("s"));
    let gone = merge(2, &|| std::fs::remove_file(&file).unwrap());
    assert!(gone.contains("[exit code 5]") && !file.exists(), "{gone}");
    talk.no_problems();
}
