//! `offshoot pick`.

use insta::assert_snapshot;

use crate::world::{World, message, text};

#[test]
fn a_branch_is_brought_back_and_taken_back_again() {
    let world = World::with_sample();
    let before = world.read("sample.jsonl");
    let context = world.stdout("context sample.jsonl --json");
    assert_snapshot!(world.run("pick sample.jsonl ..4e8a --dry-run"), @r"
              ENTRY  ROLE        TOKENS  WORDS
    pick      84b6   assistant       21  I will count matches of `\w+` with the regex crate.
    pick      2ac9   toolResult      39  [bash: cargo add regex]
    pick      f150   assistant       32  There is no network. Perhaps the crate has been downloaded before.
    pick      67e4   toolResult       3  [bash: ls ~/.cargo/registry/cache/*/ | grep regex]
    pick      b05d   assistant       22  It has not. I could write a small matcher by hand instead, about 40 lines with tests.
    pick      4e8a   user            16  A dependency or 40 lines, for counting words? Let us go back.
    left out  d715                       a label: --labels puts it on the copy

    would pick 6 entries below 42e6  With `--lines` the number of lines follows on a line of its…
    messages: about 188 tokens before, 321 after
    2.7k tokens (321 messages, [N] system prompt and tools) · next prompt ≈ $0.01
    ");
    assert_eq!(world.read("sample.jsonl"), before, "a dry run writes nothing");
    assert_snapshot!(world.run("pick sample.jsonl f150 --labels"), @"
             ENTRY  ROLE        TOKENS  WORDS
    pick     f150   assistant       32  There is no network. Perhaps the crate has been downloaded before.
    with it  67e4   toolResult       3  [bash: ls ~/.cargo/registry/cache/*/ | grep regex]

    picked 2 entries below 42e6  With `--lines` the number of lines follows on a line of its…
    messages: about 188 tokens before, 223 after
    [stderr]
    hint: `offshoot undo sample.jsonl` takes it back
    ");
    let after = world.read("sample.jsonl");
    let added = world.normalised(after.strip_prefix(&before).unwrap());
    let first: Vec<&str> = added.lines().take(2).collect();
    assert_snapshot!(first.join("\n"), @r#"
    {"type":"custom","customType":"offshoot.op","data":{"op":"pick","before":"42e6b1f9","lines":2},"id":"[ID1]","parentId":"42e6b1f9","timestamp":"2026-02-01T12:00:00.000Z"}
    {"type":"message","pickedFrom":"f1508d3c","id":"[ID2]","parentId":"[ID1]","timestamp":"2026-02-01T12:00:00.000Z","message":{"role":"assistant","content":[{"type":"text","text":"There is no network. Perhaps the crate has been downloaded before."},{"type":"toolCall","id":"toolu_03","name":"bash","arguments":{"command":"ls ~/.cargo/registry/cache/*/ | grep regex"}}],"api":"anthropic-messages","provider":"anthropic","model":"claude-sonnet-4-5","usage":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"totalTokens":0,"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0}},"stopReason":"toolUse","timestamp":1768380141030}}
    "#);
    assert_snapshot!(world.run("pick sample.jsonl f150"), @"nothing to do: all of it is here already");
    assert_eq!(world.read("sample.jsonl"), after, "picking twice changes nothing");
    world.run("undo sample.jsonl");
    assert_eq!(world.stdout("context sample.jsonl --json"), context);
    assert_eq!(world.stdout("check sample.jsonl"), "sample.jsonl: ok\n");
}

#[test]
fn a_pick_from_another_session_names_it() {
    let world = World::with_sample();
    world.write(
        "new.jsonl",
        text("new", &world.work().display().to_string(), &[&message("aaaa1111", None, 1, "user", "hello")]),
    );
    assert_snapshot!(world.run("pick new.jsonl --turn 4e8a --from sample.jsonl --json"), @r#"{"ontoId":"aaaa1111","copies":[{"entryId":"4e8a1f36","type":"message","role":"user","tokens":16,"added":false,"gone":null}],"leftOut":[],"alreadyHere":[],"restatedModel":null,"tokens":16,"tokensBefore":2,"bytes":327,"imagesWrittenOut":0,"readFiles":[],"modifiedFiles":[],"operationId":"[ID1]","entryIds":["[ID2]"]}"#);
    let line = world.read("new.jsonl").lines().last().unwrap().to_owned();
    assert!(line.contains(r#""pickedFrom":{"session":"#), "{line}");
    assert_snapshot!(world.run("pick new.jsonl 4e8a --from sample.jsonl"), @"nothing to do: all of it is here already");
}

#[test]
fn wrong_selections_change_nothing() {
    let world = World::with_sample();
    let before = world.snapshot();
    assert_snapshot!(world.run("pick sample.jsonl"), @"
    [stderr]
    error: the following required arguments were not provided:
      <SELECTION>...

      tip: `offshoot branches sample.jsonl --unmerged` lists branches with something new

    Usage: offshoot pick <SESSION> <SELECTION>...

    For more information, try '--help'.
    [exit code 2]
    ");
    assert_snapshot!(world.run("pick sample.jsonl nosuch"), @"
    [stderr]
    error: entry nosuch not found
    hint: `offshoot tree SESSION --flat` lists every entry with its id
    [exit code 3]
    ");
    assert_snapshot!(world.run("pick sample.jsonl 42e6..4e8a"), @"
    [stderr]
    error: entry 42e6b1f9 is not above entry 4e8a1f36
    [exit code 2]
    ");
    assert_snapshot!(world.run("pick sample.jsonl 42e6"), @"nothing to do: all of it is here already");
    assert_snapshot!(world.run("pick sample.jsonl 4e8a --onto f150"), @"
    [stderr]
    error: sample.jsonl: tool calls of entry f1508d3c wait for their results
    [exit code 5]
    ");
    assert_snapshot!(world.run("pick sample.jsonl 4e8a --from nosuch.jsonl"), @"
    [stderr]
    error: could not open nosuch.jsonl
    caused by: No such file or directory (os error 2)
    [exit code 3]
    ");
    assert_eq!(world.snapshot(), before);
}

#[test]
fn what_does_not_fit_the_window_needs_force() {
    let world = World::with_sample();
    let models = r#"{"providers":{"anthropic":{"baseUrl":"http://127.0.0.1:9","api":"anthropic-messages","apiKey":"k","models":[{"id":"claude-sonnet-4-5","contextWindow":2650,"maxTokens":100}]}}}"#;
    let folder = world.home().join(".local/share/offshoot");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("models.json"), models).unwrap();
    let before = world.read("sample.jsonl");
    assert_snapshot!(world.run("pick sample.jsonl ..4e8a"), @"
    [stderr]
    error: sample.jsonl: 2,612 tokens here and 133 more do not fit into the model's window of 2,650
    hint: --force does it anyway; `compact` makes room first
    [exit code 5]
    ");
    let refused = "do not fit into the model's window of 2,650";
    assert!(world.run("merge sample.jsonl 4e8a --entries").contains(refused));
    assert!(world.run(&format!("merge sample.jsonl 4e8a --summary {}", "x".repeat(200))).contains(refused));
    assert!(world.run("merge sample.jsonl 4e8a --summary tried --dry-run").contains("would merge 7 entries"));
    assert_eq!(world.read("sample.jsonl"), before);
    assert!(world.run("merge sample.jsonl 4e8a --summary tried").contains("merged 7 entries"), "it fits");
    world.run("undo sample.jsonl");
    let long = format!("merge sample.jsonl 4e8a --force --summary {}", "x".repeat(200));
    assert!(world.run(&long).contains("merged 7 entries"));
    world.run("undo sample.jsonl");
    assert!(world.run("pick sample.jsonl ..4e8a --force").contains("picked 6 entries"));
}
