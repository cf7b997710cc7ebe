//! `offshoot context`.

use insta::assert_snapshot;

use crate::world::{World, message, text};

#[test]
fn the_compaction_stands_for_what_was_before_it() {
    let world = World::with_sample();
    assert_snapshot!(world.run("context sample.jsonl"), @r#"
    compaction  3d80  3,121 tokens summarised
      ## Goal
      wordcount should count words as people do.

      ## Done
      - `count` uses `split_whitespace` (src/main.rs); tests cover runs of blanks.
      - The regex crate was tried and dropped: no network, and too much for this.

      ## Next
      - `--lines` prints the number of lines as well.

    user  af72
      Good. Now print the number of lines as well when --lines is given.

    assistant  e95b  claude-sonnet-4-5
      edit: src/main.rs

    edit  7704
      Successfully replaced text in src/main.rs.

    assistant  42e6
      With `--lines` the number of lines follows on a line of its own:

      ```
      $ printf 'one  two\nthree\n' | wordcount --lines
      3
      2
      ```

    5 messages, anthropic/claude-sonnet-4-5, thinking medium
    "#);
}

#[test]
fn json_is_pis_session_context() {
    let world = World::with_sample();
    let json = world.stdout("context sample.jsonl --json");
    assert!(json.starts_with(r###"{"messages":[{"role":"compactionSummary","summary":"## Goal"###), "{json}");
    let end = r#","thinkingLevel":"medium","model":{"provider":"anthropic","modelId":"claude-sonnet-4-5"}}"#;
    assert!(json.trim_end().ends_with(end), "{json}");
    assert_eq!(json.lines().count(), 1);
}

#[test]
fn a_model_gets_user_messages_and_answered_calls() {
    let world = World::new();
    let call = r#"{"type":"message","id":"bbbb2222","parentId":"aaaa1111","timestamp":"2026-02-01T11:11:00.000Z","message":{"role":"assistant","content":[{"type":"toolCall","id":"c1","name":"ls","arguments":{}}],"provider":"p","model":"m","timestamp":2}}"#;
    world.write("s.jsonl", text("s", "/w", &[&message("aaaa1111", None, 10, "user", "q"), call]));
    assert_snapshot!(world.run("context s.jsonl --llm"), @r#"{"messages":[{"role":"user","content":[{"type":"text","text":"q"}],"timestamp":1769944200000},{"role":"assistant","content":[{"type":"toolCall","id":"c1","name":"ls","arguments":{}}],"provider":"p","model":"m","timestamp":2},{"role":"toolResult","toolCallId":"c1","toolName":"ls","content":[{"type":"text","text":"No result: the tool call was not completed."}],"isError":true,"timestamp":0}],"thinkingLevel":"off","model":{"provider":"p","modelId":"m"}}"#);
}

#[test]
fn tokens_are_counted_by_message_and_in_all() {
    let world = World::with_sample();
    assert_snapshot!(world.run("context sample.jsonl --tokens --at d715a9e4"), @r#"
    TOKENS  ENTRY  ROLE        WORDS
        23  1b9d   user        wordcount says 4 for the text "one two three" (two blanks after one). Can you find out why?
        28  5f06   assistant   Let me look at how it counts.
        91  c4d2   toolResult  use std::io::Read; fn count(text: &str) -> usize { text.split(' ').count() } fn main() { let mut te…
        54  9e3b   assistant   `count` splits at every single blank. Two blanks in a row give an empty piece between them, and tha…
        12  30f8   user        Yes. And add a test that would have caught it.
    4,150 tokens: 4,138 reported with message 4, 12 estimated after it
    estimates: 208 messages, [N] system prompt and tools
    "#);
    assert_snapshot!(world.run("context sample.jsonl --tokens --json --at 1b9d40c6"), @r#"{"tokens":[N],"messageTokens":23,"overheadTokens":[N],"usageTokens":0,"trailingTokens":23,"lastUsageIndex":null,"messages":[{"entryId":"1b9d40c6","role":"user","tokens":23}]}"#);
}
