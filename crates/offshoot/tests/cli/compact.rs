//! `offshoot compact`.

use insta::assert_snapshot;
use offshoot_agent::testing::script::Reply;
use serde_json::json;

use crate::agent::Talk;
use crate::world::{VERSION_1, World, message, text};

/// Three turns; each message is about 30 tokens.
fn talk() -> String {
    let said = |words: &str| format!("{words} {}", "and so on ".repeat(10));
    let entries = [
        message("aaaa1111", None, 10, "user", &said("Fix src/parser.rs, port 8080. Never touch main.rs!")),
        message("bbbb2222", Some("aaaa1111"), 11, "assistant", &said("See reads_twice in src/lexer.rs:47.")),
        message("cccc3333", Some("bbbb2222"), 12, "user", &said("Go on.")),
        message("dddd4444", Some("cccc3333"), 13, "assistant", &said("Half of it is done.")),
        message("eeee5555", Some("dddd4444"), 14, "user", &said("And the rest?")),
        message("ffff6666", Some("eeee5555"), 15, "assistant", &said("All done.")),
    ];
    text("s", "/w", &entries.iter().map(String::as_str).collect::<Vec<_>>())
}

fn world() -> World {
    let world = World::new();
    world.write("s.jsonl", talk());
    world
}

#[test]
fn a_dry_run_says_what_would_go_and_what_would_stay() {
    let world = world();
    world.run("label s.jsonl aaaa pin");
    let before = world.snapshot();
    assert_snapshot!(world.run("compact s.jsonl --dry-run --keep-recent-tokens 90"), @"
                ENTRY  ROLE       TOKENS  WORDS
    pinned      aaaa   user           38  Fix src/parser.rs, port 8080. Never touch main.rs! and so on and so on and so on and so on and so on and so on and so on and so on and so on and so on
    summarised  bbbb   assistant      34  See reads_twice in src/lexer.rs:47. and so on and so on and so on and so on and so on and so on and so on and so on and so on and so on
    kept        cccc   user           27  Go on. and so on and so on and so on and so on and so on and so on and so on and so on and so on and so on
    kept        dddd   assistant      30  Half of it is done. and so on and so on and so on and so on and so on and so on and so on and so on and so on and so on
    kept        eeee   user           29  And the rest? and so on and so on and so on and so on and so on and so on and so on and so on and so on and so on
    kept        ffff   assistant      28  All done. and so on and so on and so on and so on and so on and so on and so on and so on and so on and so on

    2 messages summarised; 4 kept from cccc; 1 entry is pinned
    messages: about 186 tokens before, 114 after, and the summary
    [N] tokens (114 messages, [N] system prompt and tools) · next prompt ≈ [COST], without the summary
    ");
    assert_snapshot!(world.run("compact s.jsonl --dry-run --keep-recent-tokens 90 --json"), @r#"{"firstKeptEntryId":"cccc3333","isSplitTurn":false,"turnStartEntryId":null,"tokensBefore":186,"messageTokensBefore":186,"tokensKept":114,"previousCompactionId":null,"previousSummary":null,"messagesToSummarize":[{"entryId":"aaaa1111","role":"user","tokens":38},{"entryId":"bbbb2222","role":"assistant","tokens":34}],"turnPrefixMessages":[],"keptMessages":[{"entryId":"cccc3333","role":"user","tokens":27},{"entryId":"dddd4444","role":"assistant","tokens":30},{"entryId":"eeee5555","role":"user","tokens":29},{"entryId":"ffff6666","role":"assistant","tokens":28}],"pinned":["aaaa1111"],"readFiles":[],"modifiedFiles":[],"conversation":"[User]: Fix src/parser.rs, port 8080. Never touch main.rs! and so on and so on and so on and so on and so on and so on and so on and so on and so on and so on \n\n[Assistant]: See reads_twice in src/lexer.rs:47. and so on and so on and so on and so on and so on and so on and so on and so on and so on and so on ","turnPrefixConversation":"","settings":{"enabled":true,"reserveTokens":16384,"keepRecentTokens":90},"forecast":{"contextTokens":[N],"messageTokens":114,"overheadTokens":[N],"cachedTokens":null,"freshTokens":[N],"cacheExpiresInMs":null,"costNow":[N],"costLater":[N]},"summaryCost":null}"#);
    assert_eq!(world.snapshot(), before);
}

#[test]
fn a_dry_run_of_a_long_session_fits_a_screen() {
    let world = World::new();
    let mut parent = None;
    let mut entries = Vec::new();
    for at in 0..40 {
        let id = format!("{at:04}0000");
        let role = if at % 2 == 0 { "user" } else { "assistant" };
        entries.push(message(&id, parent.as_deref(), at, role, &"words and more words ".repeat(5)));
        parent = Some(id);
    }
    world.write("s.jsonl", text("s", "/w", &entries.iter().map(String::as_str).collect::<Vec<_>>()));
    let output = |more: &[&str]| {
        let line = [&["compact", "s.jsonl", "--dry-run", "--keep-recent-tokens", "300"], more].concat();
        world.shown(&world.command(&line).env("COLUMNS", "60").output().unwrap())
    };
    assert_snapshot!(output(&[]), @"
                ENTRY  ROLE       TOKENS  WORDS
    summarised  0000   user           27  words and more words…
    summarised  0001   assistant      27  words and more words…
    summarised  …                    648  … 24 more messages
    summarised  0026   user           27  words and more words…
    summarised  0027   assistant      27  words and more words…
    kept        0028   user           27  words and more words…
    kept        0029   assistant      27  words and more words…
    kept        …                    216  … 8 more messages
    kept        0038   user           27  words and more words…
    kept        0039   assistant      27  words and more words…

    28 messages summarised; 12 kept from 0028
    messages: about 1,080 tokens before, 324 after, and the summary
    [N] tokens (324 messages, [N] system prompt and tools) · next prompt ≈ [COST], without the summary
    [stderr]
    hint: -v shows every message
    ");
    let all = output(&["-v"]);
    assert!(all.lines().count() > 40 && !all.contains("more messages"), "{all}");
}

#[test]
fn the_summary_takes_the_place_of_what_goes_and_the_report_says_what_it_lacks() {
    let world = world();
    let before = world.read("s.jsonl");
    assert_snapshot!(world.run("compact s.jsonl 'the parser' --keep-recent-tokens 50"), @"
    compacted in [ID1]: messages: about 186 tokens before, 192 after
    4 messages summarised; 2 kept from eeee

    not mentioned in the summary:
      1 of 3 paths
        src/lexer.rs
      1 of 1 identifier
        reads_twice
    [stderr]
    note: without a model the summary is put together by rule: the instructions were not used
    hint: `offshoot entry s.jsonl [ID1]` shows the summary
    ");
    let after = world.read("s.jsonl");
    assert_snapshot!(world.normalised(after.strip_prefix(&before).unwrap()), @r###"{"type":"compaction","id":"[ID1]","parentId":"ffff6666","timestamp":"2026-02-01T12:00:00.000Z","summary":"## Goal\nFix src/parser.rs, port 8080. Never touch main.rs! and so on and so on and so on and so on and so on and so on and so on and so on and so on and so on\n\n## Constraints & Preferences\n- Never touch main.rs!\n\n## Progress\n### Done\n(none)\n\n### Blocked\n(none)\n\n## Critical Context\n- Last request: Go on. and so on and so on and so on and so on and so on and so on and so on and so on and so on and so on\n- Last answer: Half of it is done. and so on and so on and so on and so on and so on and so on and so on and so on and so on and so on","firstKeptEntryId":"eeee5555","tokensBefore":186,"details":{"readFiles":[],"modifiedFiles":[],"summariser":"extractive"},"fromHook":false}"###);
    assert_snapshot!(world.run("compact s.jsonl"), @"nothing to do: nothing was said since the last compaction");
    let id = after.rsplit("\"id\":\"").next().and_then(|rest| rest.get(..4)).unwrap();
    assert_snapshot!(world.run("context s.jsonl --tokens").replace(id, "[ID]"), @"
    TOKENS  ENTRY  ROLE               WORDS
       135  [ID]   compactionSummary  ## Goal Fix src/parser.rs, port 8080. Never touch main.rs! and so on and so on and so on and so on…
        29  eeee   user               And the rest? and so on and so on and so on and so on and so on and so on and so on and so on and s…
        28  ffff   assistant          All done. and so on and so on and so on and so on and so on and so on and so on and so on and so on…
    [N] tokens, estimated: 192 messages, [N] system prompt and tools
    ");
}

#[test]
fn what_is_pinned_stays_word_for_word() {
    let world = world();
    world.run("label s.jsonl aaaa pin");
    let answer = world.stdout("compact s.jsonl --keep-recent-tokens 60 --json");
    assert!(answer.contains(r#""pinned":["aaaa1111"]"#), "{answer}");
    assert!(answer.contains(r#"<pinned-entries>\n<pinned entry=\"aaaa1111\">\n[User]: Fix src/parser.rs, port 8080."#));
    assert!(answer.contains(r#""report":{"rules":{"said":1,"missing":0,"#), "{answer}");
}

#[test]
fn nothing_to_compact() {
    let world = world();
    let before = world.snapshot();
    assert_snapshot!(world.run("compact s.jsonl"), @"
    nothing to do: everything is recent enough to be kept
    [stderr]
    hint: --keep-recent-tokens N keeps less than 20000 tokens
    ");
    insta::allow_duplicates! {
        for line in ["compact s.jsonl --json", "compact s.jsonl --dry-run --json"] {
            assert_snapshot!(world.run(line), @"
            null
            [stderr]
            hint: --keep-recent-tokens N keeps less than 20000 tokens
            ");
        }
    }
    assert_eq!(world.snapshot(), before);
}

#[test]
fn an_old_file_is_upgraded_first_and_only_if_there_is_something_to_do() {
    let world = World::new();
    world.write("old.jsonl", VERSION_1);
    let before = world.snapshot();
    world.run("compact old.jsonl");
    assert_eq!(world.snapshot(), before);
    assert_snapshot!(world.run("compact old.jsonl --keep-recent-tokens 2"), @"
    compacted in [ID1]: messages: about 4 tokens before, 54 after
    1 message summarised, among them the beginning of a turn whose end is kept; 1 kept from f0a6
    the summary mentions every rule, path, address, identifier and number of the summarised messages
    [stderr]
    note: upgraded from version 1; the old file is kept as old.jsonl.v1.bak
    hint: `offshoot entry old.jsonl [ID1]` shows the summary
    ");
    assert_eq!(world.read("old.jsonl.v1.bak"), VERSION_1);
}

/// Two models behind one key; without a word the first is asked.
fn two_models(replies: impl IntoIterator<Item = Reply>) -> Talk {
    let talk = Talk::new(replies);
    let base_url = talk.server.base_url(offshoot_agent::provider::Api::Anthropic);
    let model = |id: &str| json!({"id": id, "contextWindow": 200_000, "maxTokens": 8000, "reasoning": true});
    let provider = json!({"baseUrl": base_url, "api": "anthropic-messages", "apiKey": "$TEST_KEY", "models": [model("m1"), model("m2")]});
    talk.data("models.json", &json!({"providers": {"test": provider}}));
    let of_one = json!({"test/m2": {"keepRecentTokens": 50}});
    talk.data("settings.json", &json!({"compaction": {"keepRecentTokens": 90, "modelOverrides": of_one}}));
    talk.world.write("s.jsonl", self::talk());
    talk
}

#[test]
fn the_model_that_is_asked_for_writes_the_summary() {
    let summary = || Reply::text("## Goal\nA parser.");
    let talk = two_models([summary(), summary()]);
    let dry = talk.run(&["compact", "s.jsonl", "--dry-run"]);
    assert!(dry.contains("2 messages summarised; 4 kept"), "for the first model: {dry}");
    let compacted = talk.run(&["compact", "s.jsonl", "--model", "m2:high"]);
    assert!(compacted.contains("4 messages summarised; 2 kept"), "as the settings say: {compacted}");
    let switched = talk.run(&["switch", "s.jsonl", "bbbb", "--summarize", "--provider", "test", "--model", "m2"]);
    assert!(switched.contains("entries left behind"), "{switched}");
    let seen = talk.server.seen();
    assert_eq!(seen.iter().map(|request| request.json()["model"].clone()).collect::<Vec<_>>(), ["m2", "m2"]);
    assert!(seen[0].body.contains("thinking"), "{}", seen[0].body);
    assert!(talk.world.read("s.jsonl").contains("A parser.") && !talk.world.read("s.jsonl").contains("extractive"));
    talk.no_problems();
}

#[test]
fn a_model_that_is_asked_for_and_cannot_be_is_an_error() {
    let talk = two_models([]);
    let before = talk.world.read("s.jsonl");
    for (arguments, why) in [(["--model", "nonesuch"], "nonesuch"), (["--provider", "anthropic"], "ANTHROPIC_API_KEY")]
    {
        let failed = talk.run(&[&["compact", "s.jsonl"], &arguments[..]].concat());
        assert!(failed.contains("error: ") && failed.contains(why), "{failed}");
    }
    assert_eq!(talk.world.read("s.jsonl"), before);
}
