//! `offshoot tree`.

use insta::assert_snapshot;

use crate::world::{VERSION_1, World, message, text};

#[test]
fn side_branches_hang_from_the_trunk() {
    let world = World::with_sample();
    let output = world.command(&["tree", "sample.jsonl"]).env("COLUMNS", "72").output().unwrap();
    assert_snapshot!(world.shown(&output), @r#"
    1b9d   • user: wordcount says 4 for the text "one two three" (two blank…
    5f06   • assistant: Let me look at how it counts.
    c4d2   • [read: src/main.rs]
    9e3b   • assistant: count splits at every single blank. Two blanks in a…
    30f8   • [before the fix] user: Yes. And add a test that would have cau…
    84b6   ├⊞ assistant: I will count matches of \w+ wit…  7 entries · $0.03
    dd37   • [branch summary]: Tried to count matches of \w+ with the regex…
    08c5   • assistant: The standard library has it: split_whitespace takes…
    5b9e   • [edit ×2, bash: cargo test]
    c86f   • [tests pass] assistant: Fixed: runs of blanks no longer count,…
    af72   • user: Good. Now print the number of lines as well when --lines…
    3d80   • [compaction: 3k tokens]
    7704   • [edit: src/main.rs]
    42e6 › • assistant: With --lines the number of lines follows on a line…
      (14/14)
    "#);
}

#[test]
fn everything_opens_and_the_peers_layout_is_there() {
    let world = World::with_sample();
    let shown = |arguments: &[&str]| {
        let output =
            world.command(&[&["tree", "sample.jsonl"], arguments].concat()).env("COLUMNS", "72").output().unwrap();
        world.shown(&output)
    };
    assert_snapshot!(shown(&["--open"]), @r#"
    1b9d   • user: wordcount says 4 for the text "one two three" (two blank…
    5f06   • assistant: Let me look at how it counts.
    c4d2   • [read: src/main.rs]
    9e3b   • assistant: count splits at every single blank. Two blanks in a…
    30f8   • [before the fix] user: Yes. And add a test that would have cau…
    84b6   ├⊟ assistant: I will count matches of \w+ with the regex crate.
    2ac9   │  [bash: cargo add regex]
    f150   │  assistant: There is no network. Perhaps the crate has been do…
    67e4   │  [bash: ls ~/.cargo/registry/cache/*/ | grep regex]
    b05d   │  assistant: It has not. I could write a small matcher by hand…
    4e8a   │  user: A dependency or 40 lines, for counting words? Let us go…
    dd37   • [branch summary]: Tried to count matches of \w+ with the regex…
    08c5   • assistant: The standard library has it: split_whitespace takes…
    93a7   • [edit: src/main.rs]
    71fb   • [edit: src/main.rs]
    5b9e   • [bash: cargo test]
    c86f   • [tests pass] assistant: Fixed: runs of blanks no longer count,…
    af72   • user: Good. Now print the number of lines as well when --lines…
    3d80   • [compaction: 3k tokens]
    7704   • [edit: src/main.rs]
    42e6 › • assistant: With --lines the number of lines follows on a line…
      (21/21)
    "#);
    assert_snapshot!(shown(&["--layout", "pi"]), @r#"
    1b9d   • user: wordcount says 4 for the text "one two three" (two blank…
    5f06   • assistant: Let me look at how it counts.
    c4d2   • [read: src/main.rs]
    9e3b   • assistant: `count` splits at every single blank. Two blanks in…
    30f8   • [before the fix] user: Yes. And add a test that would have cau…
    dd37   ├⊟ • [branch summary]: Tried to count matches of `\w+` with the…
    08c5   │     • assistant: The standard library has it: `split_whitespac…
    93a7   │     • [edit: src/main.rs]
    71fb   │     • [edit: src/main.rs]
    5b9e   │     • [bash: cargo test]
    c86f   │     • [tests pass] assistant: Fixed: runs of blanks no longer…
    af72   │     • user: Good. Now print the number of lines as well when -…
    3d80   │     • [compaction: 3k tokens]
    7704   │     • [edit: src/main.rs]
    42e6 › │     • assistant: With `--lines` the number of lines follows on…
    84b6   └⊟ assistant: I will count matches of `\w+` with the regex crate.
    2ac9         [bash: cargo add regex]
    f150         assistant: There is no network. Perhaps the crate has been…
    67e4         [bash: ls ~/.cargo/registry/cache/*/ | grep regex]
    b05d         assistant: It has not. I could write a small matcher by ha…
    4e8a         user: A dependency or 40 lines, for counting words? Let us…
      (15/21)
    "#);
    let folder = world.home().join(".local/share/offshoot");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("settings.json"), r#"{"treeLayout":"pi"}"#).unwrap();
    assert_eq!(shown(&[]), shown(&["--layout", "pi"]));
    assert_ne!(shown(&["--layout", "trunk"]), shown(&[]));
}

#[test]
fn another_entry_can_be_the_current_one() {
    let world = World::with_sample();
    let before = world.snapshot();
    let output = world.command(&["tree", "sample.jsonl", "--at", "4e8a"]).env("COLUMNS", "72").output().unwrap();
    assert_snapshot!(world.shown(&output), @r#"
    1b9d   • user: wordcount says 4 for the text "one two three" (two blank…
    5f06   • assistant: Let me look at how it counts.
    c4d2   • [read: src/main.rs]
    9e3b   • assistant: count splits at every single blank. Two blanks in a…
    30f8   • [before the fix] user: Yes. And add a test that would have cau…
    dd37   ├⊞ [branch summary]: Tried to count matche…  [tests pass] · $0.04
    84b6   • assistant: I will count matches of \w+ with the regex crate.
    2ac9   • [bash: cargo add regex]
    f150   • assistant: There is no network. Perhaps the crate has been dow…
    67e4   • [bash: ls ~/.cargo/registry/cache/*/ | grep regex]
    b05d   • assistant: It has not. I could write a small matcher by hand i…
    4e8a › • user: A dependency or 40 lines, for counting words? Let us go…
      (12/12)
    "#);
    assert_eq!(world.snapshot(), before);
}

#[test]
fn a_filter_leaves_the_tree_whole() {
    let world = World::with_sample();
    assert_snapshot!(world.run("tree sample.jsonl --filter user-only"), @r#"
    1b9d   • user: wordcount says 4 for the text "one two three" (two blanks after one). Can you find out why?
    30f8   • [before the fix] user: Yes. And add a test that would have caught it.
    4e8a   ├─ user: A dependency or 40 lines, for counting words? Let us go back.  7 entries · $0.03 · 18 d ago
    af72 › • user: Good. Now print the number of lines as well when --lines is given.
      (4/4) [user-only]
    "#);
    assert_snapshot!(world.run("tree sample.jsonl --filter labeled-only"), @"
    30f8   • [before the fix] user: Yes. And add a test that would have caught it.
    c86f › • [tests pass] assistant: Fixed: runs of blanks no longer count, and two new assertions hold that down. The test passes.
      (2/2) [labeled-only]
    ");
    assert_snapshot!(world.run("tree sample.jsonl --filter none"), @"
    [stderr]
    error: invalid value 'none' for '--filter <FILTER>'
      [possible values: default, no-tools, user-only, labeled-only, all]

    For more information, try '--help'.
    [exit code 2]
    ");
}

#[test]
fn flat_is_one_entry_a_line() {
    let world = World::with_sample();
    let shown = world.run("tree sample.jsonl --flat");
    assert_eq!(shown.lines().count(), 28);
    let first: Vec<&str> = shown.lines().skip(6).take(4).collect();
    assert_snapshot!(first.join("\n"), @"
    6 9e3b57f0 message assistant
    7 30f8c62b message user [before the fix]
    8 d715a9e4 label
    9 84b6f03d message assistant
    ");
    assert_eq!(world.stdout("tree sample.jsonl --flat --filter user-only").lines().count(), 4);
}

#[test]
fn json_is_pis_tree_with_lines_as_they_stand() {
    let world = World::new();
    let odd =
        r#"{"type":"novel" , "id":"cccc3333","parentId":"aaaa1111","timestamp":"2026-02-01T11:12:00.000Z","n":1e400}"#;
    let label = r#"{"type":"label","id":"dddd4444","parentId":"cccc3333","timestamp":"2026-02-01T11:13:00.000Z","targetId":"aaaa1111","label":"here"}"#;
    let lines =
        [message("aaaa1111", None, 10, "user", "q"), message("bbbb2222", Some("aaaa1111"), 11, "assistant", "a")];
    world.write("s.jsonl", text("s", "/w", &[&lines[0], &lines[1], odd, label]));
    let node = |entry: &str, rest: &str| format!(r#"{{"entry":{entry},{rest}}}"#);
    let leaf = |entry: &str| node(entry, r#""children":[]"#);
    let third = node(odd, &format!(r#""children":[{}]"#, leaf(label)));
    let children = format!(
        r#""children":[{},{third}],"label":"here","labelTimestamp":"2026-02-01T11:13:00.000Z""#,
        leaf(&lines[1])
    );
    assert_eq!(world.stdout("tree s.jsonl --json"), format!("[{}]\n", node(&lines[0], &children)));
}

/// A chain of 200,000 entries: nesting of that depth breaks whatever recurses.
#[test]
fn depth_costs_no_stack() {
    let world = World::new();
    let mut entries = Vec::new();
    let mut parent = "null".to_owned();
    for at in 0..200_000 {
        entries.push(format!(r#"{{"type":"custom","customType":"x","id":"n{at}","parentId":{parent},"timestamp":"2026-02-01T11:00:00.000Z"}}"#));
        parent = format!("\"n{at}\"");
    }
    let entries: Vec<&str> = entries.iter().map(String::as_str).collect();
    world.write("deep.jsonl", text("deep", "/w", &entries));
    let json = world.stdout("tree deep.jsonl --json");
    assert_eq!(json.matches(r#""children":[]"#).count(), 1);
    assert!(json.ends_with(&format!("{}\n", "]}".repeat(200_000) + "]")));
    let flat = world.stdout("tree deep.jsonl --flat");
    assert_eq!(flat.lines().last(), Some("199999 n199999 custom"));
}

#[test]
fn old_and_damaged_files_have_trees() {
    let world = World::new();
    world.write("old.jsonl", VERSION_1);
    assert_snapshot!(world.run("tree old.jsonl --flat"), @"
    0 [ID1] message user
    1 [ID2] message assistant
    ");
    let good = message("aaaa1111", None, 10, "user", "q");
    let damaged = r#"{"type":"message","id":"bbbb2222","parentId":"aaaa1111","timestamp":"2026-02-01T11:11:00.000Z","message":{"role":"assistant","content":[}}"#;
    world.write("bad.jsonl", text("bad", "/w", &[&good, damaged, "no json"]));
    assert_snapshot!(world.run("tree bad.jsonl"), @"
    aaaa › • user: q
      (1/1)
    [stderr]
    warning: line 3: the line is not valid JSON; it stays in the file but not in the tree
    warning: line 4: the line is not one JSON object; it stays in the file but not in the tree
    ");
    assert_snapshot!(world.run("tree bad.jsonl --json"), @r#"[{"entry":{"type":"message","id":"aaaa1111","parentId":null,"timestamp":"2026-02-01T11:10:00.000Z","message":{"role":"user","content":[{"type":"text","text":"q"}],"timestamp":1769944200000}},"children":[]}]"#);
}

/// Labels and types come from files that anybody may have written.
#[test]
fn no_word_of_a_file_steers_the_terminal() {
    let world = World::new();
    let entries = [
        r#"{"type":"a\u001b[2Jb","id":"i\u001b[2J1","parentId":null,"timestamp":"2026-02-01T11:00:00.000Z"}"#,
        r#"{"type":"label","id":"l","parentId":"i\u001b[2J1","timestamp":"2026-02-01T11:00:00.000Z","targetId":"i\u001b[2J1","label":"\u001b[2J"}"#,
    ];
    world.write("s.jsonl", text("s", "/w", &entries));
    for line in ["tree s.jsonl", "tree s.jsonl --flat", "tree s.jsonl --filter all", "show s.jsonl", "branches s.jsonl"]
    {
        let shown = world.run(&format!("{line} --color always"));
        assert!(!crate::output::steers(&shown), "{line}: {shown:?}");
    }
}
