//! `offshoot pop`.

use insta::assert_snapshot;

use crate::world::{World, message, text};

#[test]
fn back_to_the_last_user_message_with_a_summary_of_the_rest() {
    let world = World::with_sample();
    let before = world.read("sample.jsonl");
    assert_snapshot!(world.run("pop sample.jsonl"), @"
    back at af72  Good. Now print the number of lines as well when --lines is…
    4 entries left behind, summarised in [ID1]
    [stderr]
    hint: `offshoot switch sample.jsonl 42e6b1f9` goes back to what was left
    ");
    let after = world.read("sample.jsonl");
    assert_snapshot!(world.normalised(after.strip_prefix(&before).unwrap()), @r#"{"type":"branch_summary","id":"[ID1]","parentId":"af72e50c","timestamp":"2026-02-01T12:00:00.000Z","fromId":"42e6b1f9","summary":"Another branch of this conversation was tried before the return to this point. What happened there:\n\n## Goal\n(none stated)\n\n## Constraints & Preferences\n(none)\n\n## Progress\n### Done\n- [x] edited src/main.rs\n\n### Blocked\n(none)\n\n## Critical Context\n- ## Goal wordcount should count words as people do. ## Done - `count` uses `split_whitespace` (src/main.rs); tests cover runs of blanks. - The regex crate was tried and dropped: no network, and too much for this. ## Next - `--lines` prints…\n- Last answer: With `--lines` the number of lines follows on a line of its own: ``` $ printf 'one two\\nthree\\n' | wordcount --lines 3 2 ```\n\n<modified-files>\nsrc/main.rs\n</modified-files>","details":{"readFiles":[],"modifiedFiles":["src/main.rs"],"summariser":"extractive"},"fromHook":false}"#);
}

#[test]
fn back_to_an_entry_with_ones_own_words() {
    let world = World::with_sample();
    assert_snapshot!(world.run("pop sample.jsonl 9e3b --summary 'it was the blanks'"), @"
    back at 9e3b  `count` splits at every single blank. Two blanks in a row g…
    14 entries left behind, summarised in [ID1]
    [stderr]
    hint: `offshoot switch sample.jsonl 42e6b1f9` goes back to what was left
    ");
    let tree = world.run("tree sample.jsonl --filter user-only");
    assert!(!tree.contains("• user: Yes"), "{tree}");
    assert!(world.stdout("context sample.jsonl --json").contains("it was the blanks"));
}

#[test]
fn a_dry_run_shows_the_way_and_the_bill_and_writes_nothing() {
    let world = World::with_sample();
    let before = world.snapshot();
    assert_snapshot!(world.run("pop sample.jsonl --dry-run"), @"
    would go back to af72  Good. Now print the number of lines as well when --lines is…
    4 entries left behind, to be summarised
    6.0k tokens (518 messages, [N] system prompt and tools) · next prompt ≈ $0.02, without the summary
    ");
    assert_snapshot!(world.run("pop sample.jsonl --dry-run --json --summary done"), @r#"{"id":null,"to":"af72e50c","left":4,"summary":"done","summaryCost":null,"forecast":{"contextTokens":6049,"messageTokens":519,"overheadTokens":[N],"cachedTokens":null,"freshTokens":6049,"cacheExpiresInMs":null,"costNow":0.[ID1],"costLater":0.[ID1]}}"#);
    assert_eq!(world.snapshot(), before);
    let json = world.stdout("pop sample.jsonl --summary done --json");
    assert!(json.contains(r#""to":"af72e50c","left":4,"summary":"done""#), "{json}");
    assert_eq!(world.stdout("pop sample.jsonl af72 --json"), "null\n");
}

/// The second `pop` went to the message of the first again, and summarised the summary.
#[test]
fn three_pops_go_three_steps_back() {
    let world = World::with_sample();
    assert!(world.run("pop sample.jsonl").starts_with("back at af72 "));
    let before = world.snapshot();
    assert_snapshot!(world.run("pop sample.jsonl af72"), @"nothing to do: no message would be left");
    assert_eq!(world.snapshot(), before, "a summary of nothing but a summary says nothing new");
    for step in ["back at 30f8 ", "back at 1b9d "] {
        let shown = world.run("pop sample.jsonl");
        assert!(shown.starts_with(step), "{shown}");
    }
    let context = world.stdout("context sample.jsonl --json");
    assert!(context.contains("Now print the number of lines as well"), "earlier summaries go along: {context}");
}

/// Without a model the summary is the same as without the option.
#[test]
fn a_summary_on_request() {
    let (world, other) = (World::with_sample(), World::with_sample());
    world.run("pop sample.jsonl --summarize");
    other.run("pop sample.jsonl");
    assert_eq!(world.normalised(&world.read("sample.jsonl")), other.normalised(&other.read("sample.jsonl")));
}

#[test]
fn nowhere_to_go_back_to() {
    let world = World::new();
    world.write("s.jsonl", text("s", "/w", &[&message("aaaa1111", None, 10, "user", "q")]));
    assert_snapshot!(world.run("pop s.jsonl"), @"
    [stderr]
    error: there is no user message before the current entry
    [exit code 2]
    ");
    assert_snapshot!(world.run("pop s.jsonl aaaa"), @"nothing to do: no message would be left");
}
