//! `offshoot show`.

use insta::assert_snapshot;

use crate::world::{VERSION_1, World, message, text};

#[test]
fn a_branch_reads_like_a_conversation() {
    let world = World::with_sample();
    assert_snapshot!(world.run("show sample.jsonl --at 4e8a"), @r#"
    word count off by the blanks
    019bbbd8-3100-7c42-9d1a-6f20b7e4a581  /home/ada/wordcount

    model: anthropic/claude-sonnet-4-5  6c1f  2026-01-14 08:40
    thinking: medium  a83e  08:40

    user  1b9d  08:40
      wordcount says 4 for the text "one  two three" (two blanks after one). Can you find out why?

    assistant  5f06  08:40  claude-sonnet-4-5
      (thinking, 1 line)
      Let me look at how it counts.
      read: src/main.rs

    read  c4d2  08:40
      use std::io::Read;

      fn count(text: &str) -> usize {
          text.split(' ').count()
      }
      … 16 more lines

    assistant  9e3b  08:40
      `count` splits at every single blank. Two blanks in a row give an empty piece between them, and that piece is counted as a word; the line feed at the end does the same when a blank stands before it.

      Shall I fix it?

    user  30f8  08:41  [before the fix]
      Yes. And add a test that would have caught it.

    assistant  84b6  08:42
      I will count matches of `\w+` with the regex crate.
      bash: cargo add regex

    bash  2ac9  08:42  failed
          Updating crates.io index
      error: failed to download from `https://index.crates.io/re/ge/regex`

      Caused by:
        [6] Could not resolve host: index.crates.io

    assistant  f150  08:42
      There is no network. Perhaps the crate has been downloaded before.
      bash: ls ~/.cargo/registry/cache/*/ | grep regex

    bash  67e4  08:42
      (no output)

    assistant  b05d  08:42
      It has not. I could write a small matcher by hand instead, about 40 lines with tests.

    user  4e8a  08:43
      A dependency or 40 lines, for counting words? Let us go back.

    15 entries, 13 more on other branches
    "#);
}

#[test]
fn compactions_summaries_and_labels_are_marked() {
    let world = World::with_sample();
    let shown = world.run("show sample.jsonl");
    let marks: Vec<&str> = shown.lines().filter(|line| !line.starts_with(' ') && !line.is_empty()).collect();
    assert_snapshot!(marks.join("\n"), @"
    word count off by the blanks
    019bbbd8-3100-7c42-9d1a-6f20b7e4a581  /home/ada/wordcount
    model: anthropic/claude-sonnet-4-5  6c1f  2026-01-14 08:40
    thinking: medium  a83e  08:40
    user  1b9d  08:40
    assistant  5f06  08:40  claude-sonnet-4-5
    read  c4d2  08:40
    assistant  9e3b  08:40
    user  30f8  08:41  [before the fix]
    branch summary  dd37  08:43  of the branch that ended at 4e8a1f36
    assistant  08c5  08:43
    edit  93a7  08:43
    edit  71fb  08:43
    assistant  ea2c  08:43
    bash  5b9e  08:43
    assistant  c86f  08:43  [tests pass]
    user  af72  08:45
    compaction  3d80  08:45  3,121 tokens summarised
    assistant  e95b  08:45
    edit  7704  08:45
    assistant  42e6  08:45
    21 entries, 7 more on other branches
    ");
}

#[test]
fn json_is_the_path_with_lines_as_they_stand() {
    let world = World::new();
    let lines =
        [message("aaaa1111", None, 10, "user", "q"), message("bbbb2222", Some("aaaa1111"), 11, "assistant", "a")];
    world.write("s.jsonl", text("s", "/w", &[&lines[0], &lines[1]]));
    assert_eq!(world.stdout("show s.jsonl --json"), format!("[{},{}]\n", lines[0], lines[1]));
    assert_eq!(world.stdout("show s.jsonl --json --at aaaa"), format!("[{}]\n", lines[0]));
}

#[test]
fn an_old_file_reads_as_well() {
    let world = World::new();
    world.write("old.jsonl", VERSION_1);
    assert_snapshot!(world.run("show old.jsonl"), @"
    old-one  /old

    user  1525  2025-11-01 10:00
      first

    assistant  f0a6  10:00
      answer

    2 entries
    ");
}

/// Another program went on elsewhere: its work is not hidden in silence.
#[test]
fn newer_work_on_another_branch_is_pointed_out() {
    let world = World::new();
    let entries = [
        message("aaaa1111", None, 10, "user", "q"),
        message("bbbb2222", Some("aaaa1111"), 30, "assistant", "newer"),
        message("cccc3333", Some("aaaa1111"), 20, "assistant", "open"),
    ];
    world.write("my session.jsonl", text("s", "/w", &[&entries[0], &entries[1], &entries[2]]));
    assert_snapshot!(world.run("show 'my session.jsonl'"), @"
    s  /w

    user  aaaa  2026-02-01 11:10
      q

    assistant  cccc  11:20
      open

    2 entries, 1 more on other branches
    [stderr]
    note: the branch “q” (30 min ago) has newer work than the current one
    hint: `offshoot switch 'my session.jsonl' bbbb` goes there
    ");
}

#[test]
fn a_summary_counts_every_branch_once() {
    let world = World::with_sample();
    assert_snapshot!(world.run("show sample.jsonl --summary"), @r#"
    word count off by the blanks
    019bbbd8-3100-7c42-9d1a-6f20b7e4a581  /home/ada/wordcount

    file        sample.jsonl
    created     2026-01-14 08:40
    changed     2026-01-14 08:45
    branches    2
    in all      28 entries, 41k tokens, $0.09
    last words  With --lines the number of lines follows on a line of its own: $ printf 'one two\nthree\n' | wordcount --lines 3 2
    "#);
    assert_snapshot!(world.run("show sample.jsonl --summary --json"), @r#"{"id":"019bbbd8-3100-7c42-9d1a-6f20b7e4a581","name":"word count off by the blanks","cwd":"/home/ada/wordcount","file":"sample.jsonl","created":"2026-01-14T08:40:00.000Z","modified":"2026-01-14T08:45:22.030Z","leafId":"42e6b1f9","branches":2,"entries":28,"messages":21,"tokens":41369,"cost":0.085617,"lastWords":"With `--lines` the number of lines follows on a line of its own: ``` $ printf 'one two\\nthree\\n' | wordcount --lines 3 2 ```"}"#);
}

#[test]
fn an_empty_session_is_no_error() {
    let world = World::new();
    world.write("empty.jsonl", text("s", "/w", &[]));
    assert_snapshot!(world.run("show empty.jsonl"), @"
    s  /w

    0 entries
    ");
}

#[test]
fn entries_that_are_not_there_are_not_found() {
    let world = World::with_sample();
    assert_snapshot!(world.run("show sample.jsonl --at zz"), @"
    [stderr]
    error: entry zz not found
    hint: `offshoot tree SESSION --flat` lists every entry with its id
    [exit code 3]
    ");
    assert_snapshot!(world.run("show sample.jsonl --at 3"), @r#"
    [stderr]
    error: entry "3" is ambiguous: 30f8c62b, 3d80c9b6
    hint: give more of the id
    [exit code 2]
    "#);
}

/// The program was killed before an answer came.
#[test]
fn a_turn_that_was_interrupted_says_so() {
    let world = World::with_sample();
    let text = world.read("sample.jsonl");
    let end = text.find("A dependency or 40 lines").unwrap();
    let end = end + text[end..].find('\n').unwrap() + 1;
    world.write("killed.jsonl", &text[..end]);
    let shown = world.stdout("show killed.jsonl");
    assert!(
        shown.ends_with("\n\nno answer follows: interrupted, or still running elsewhere\n\n15 entries\n"),
        "{shown}"
    );
}

/// One line of 600 MB took 1.2 GB in `show` and 2.9 GB in a page. Programs get every byte.
#[test]
fn a_line_of_more_than_64_mib_is_left_out_for_people_only() {
    let world = World::new();
    let long = "word ".repeat((64 << 20) / 5);
    let [question, answer] =
        [("aaaaaaa1", None, "user", "short"), ("aaaaaaa2", Some("aaaaaaa1"), "assistant", long.as_str())]
            .map(|(id, parent, role, said)| message(id, parent, 1, role, said));
    let file = world.session("work", "s1", &world.work(), &[&question, &answer]);
    let file = file.display();
    let said = "[67 MB are not shown here: offshoot entry ";
    for line in ["show", "context", "tree"] {
        let shown = world.stdout(&format!("{line} {file}"));
        assert!(shown.contains(said) && shown.contains("aaaaaaa2 prints them]"), "{line}");
        assert!(shown.contains("short") && shown.len() < 1000, "{line}");
    }
    for page in ["page.html", "page.md"] {
        world.stdout(&format!("export {file} -o {page}"));
        assert!(world.read(page).len() < 200_000, "{page}");
    }
    assert!(world.read("page.md").contains("not shown here"));
    for line in [format!("entry {file} aaaaaaa2"), format!("show {file} --json"), format!("context {file} --llm")] {
        assert!(world.stdout(&line).len() > long.len(), "{line}");
    }
}
