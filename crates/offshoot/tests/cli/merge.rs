//! `offshoot merge`, and the taking back of a compaction.

use insta::assert_snapshot;

use crate::world::World;

const SAID: &str = r#"{"type":"message","message":{"role":"user","content":"one more thing"}}"#;

#[test]
fn a_branch_is_merged_once_and_later_only_what_is_new() {
    let world = World::with_sample();
    let before = world.read("sample.jsonl");
    let context = world.stdout("context sample.jsonl --json");
    assert_snapshot!(world.run("merge sample.jsonl 4e8a --dry-run"), @"
    would merge 7 entries, about 91 tokens to summarise
    after 30f8  Yes. And add a test that would have caught it.
    2.6k tokens (188 messages, [N] system prompt and tools) · next prompt ≈ $0.0098, without the summary
    ");
    assert_eq!(world.read("sample.jsonl"), before, "a dry run writes nothing");
    assert_snapshot!(world.run("merge sample.jsonl 4e8a --summary tried"), @"
    merged 7 entries as a summary in [ID1]
    after 30f8  Yes. And add a test that would have caught it.
    [stderr]
    hint: `offshoot undo sample.jsonl` takes it back
    ");
    let after = world.read("sample.jsonl");
    assert_snapshot!(world.normalised(after.strip_prefix(&before).unwrap()), @r#"{"type":"branch_summary","id":"[ID1]","parentId":"42e6b1f9","timestamp":"2026-02-01T12:00:00.000Z","fromId":"4e8a1f36","summary":"tried","details":{"readFiles":[],"modifiedFiles":[],"merged":{"base":"30f8c62b","tip":"4e8a1f36"}},"fromHook":false}"#);
    assert!(world.stdout("tree sample.jsonl").contains("⇠ summary of 4e8a1f36"));
    assert_snapshot!(world.run("merge sample.jsonl 4e8a --summary tried"), @"nothing to do: nothing new on that branch");
    assert_eq!(world.read("sample.jsonl"), after, "merging twice changes nothing");

    // What was said on the branch since is new.
    world.run_with("append sample.jsonl --parent 4e8a", format!("{SAID}\n"));
    let tip = world.stdout("branches sample.jsonl --json").split("\"leafId\":\"").last().unwrap()[..8].to_owned();
    let summary = world.read("sample.jsonl").lines().find(|line| line.contains("merged")).unwrap().to_owned();
    let summary = summary.split("\"id\":\"").nth(1).unwrap()[..8].to_owned();
    world.run(&format!("switch sample.jsonl {summary}"));
    let planned = world.stdout(&format!("merge sample.jsonl {tip} --dry-run --json"));
    assert!(
        planned.contains(r#""merged":{"base":"4e8a1f36""#) && planned.contains(r#""isRepeated":true"#),
        "{planned}"
    );
    assert!(planned.contains(&format!(r#""entries":["{tip}"]"#)), "{planned}");

    world.run("undo sample.jsonl");
    world.run("switch sample.jsonl 42e6");
    assert_eq!(world.stdout("context sample.jsonl --json"), context);
}

#[test]
fn a_merge_can_be_copies_or_extracted() {
    let world = World::with_sample();
    world.run("pick sample.jsonl f150");
    assert_snapshot!(world.run("merge sample.jsonl 4e8a --entries"), @"
    copied 4 entries, about 98 tokens
    [stderr]
    hint: `offshoot undo sample.jsonl` takes it back
    ");
    assert_snapshot!(world.run("merge sample.jsonl 4e8a --entries"), @"nothing to do: nothing new on that branch");
    assert_snapshot!(world.run("merge sample.jsonl 4e8a"), @"nothing to do: nothing new on that branch");
    world.run("undo sample.jsonl");
    world.run("undo sample.jsonl");
    let world = World::with_sample();
    let context = world.stdout("context sample.jsonl --json");
    world.run("merge sample.jsonl 4e8a");
    let added = world.read("sample.jsonl").lines().last().unwrap().to_owned();
    assert!(added.contains(r#""summariser":"extractive""#) && added.contains(r#""fromId":"4e8a1f36""#), "{added}");
    assert!(world.run("undo sample.jsonl").contains("undid a merge"));
    assert_eq!(world.stdout("context sample.jsonl --json"), context);
}

#[test]
fn a_compaction_is_taken_back_later() {
    let world = World::with_sample();
    let before = world.read("sample.jsonl");
    let compacted = world.stdout("context sample.jsonl --json");
    assert_snapshot!(world.run("compact --undo sample.jsonl --dry-run"), @"
    would continue before the compaction, after af72  Good. Now print the number of lines as well when --lines is…
    3 entries copied, about 621 tokens of messages in all
    6.2k tokens (621 messages, [N] system prompt and tools) · next prompt ≈ $0.02
    ");
    assert_eq!(world.read("sample.jsonl"), before);
    assert_snapshot!(world.run("compact --undo sample.jsonl"), @"
    continued before the compaction, after af72  Good. Now print the number of lines as well when --lines is…
    3 entries copied, about 621 tokens of messages in all
    [stderr]
    hint: `offshoot undo sample.jsonl` goes back to the compacted branch
    ");
    let roles = |json: &str| json.matches(r#""role":""#).count();
    let whole = world.stdout("context sample.jsonl --json");
    assert!(!whole.contains("compactionSummary") && roles(&whole) > roles(&compacted), "{whole}");
    assert_snapshot!(world.run("compact --undo sample.jsonl"), @"nothing to do: the current branch has no compaction");
    world.run("undo sample.jsonl");
    assert_eq!(world.stdout("context sample.jsonl --json"), compacted);
}
