//! What holds for every command: colours, pipes, errors, exit codes, how sessions are named.

use std::io::Read as _;
use std::process::Stdio;

use insta::assert_snapshot;
use offshoot_session::text::width;

use crate::world::{SAMPLE, World, message, talk, text};

#[test]
fn no_command_at_all_shows_the_help() {
    let shown = World::new().run("");
    assert!(
        shown.starts_with("[stderr]\n`offshoot` alone starts a conversation")
            && shown.contains("Look:\n  list, ls")
            && shown.ends_with("[exit code 2]\n"),
        "{shown}"
    );
    assert!(World::new().stdout("--version").starts_with("offshoot "));
}

#[test]
fn help_of_a_command_ends_with_examples() {
    assert_snapshot!(World::new().run("switch --help"), @r#"
    Go to another entry; the session continues from there

    Nothing is lost: the entries after it remain as another branch. offshoot
    appends one small entry below the target, which trees and transcripts do
    not show, so pi and oh-my-pi open there too.

    With --summarize that entry is a summary of the branch that is left, and
    the model sees it. A model writes it: --model, else the session's, else the
    one of settings.json. Without a model offshoot extracts the summary from
    the messages.

    With --files the files that this session changed since come back as well, as
    they were at the entry. What somebody else changed in them is merged, or
    stays. Without it all files stay as they are. If git has another commit checked
    out than when the files were recorded, nothing is done without
    --across-commits.

    --dry-run shows how many entries would be left behind, the tokens of the next
    request, what the provider probably still caches of them, and the price
    without the answer. What is not known is not shown.

    --json prints one object: {"id", "to", "left"}, the entry that was written,
    the target's id, and the number of entries left behind; or null if the session
    is there already. With --dry-run `id` is null, and there is "forecast":
    {"contextTokens", "messageTokens", "overheadTokens", "cachedTokens",
    "freshTokens", "cacheExpiresInMs", "costNow",
    "costLater"}, where null is not known. With --files there is "files":
    {"written", "removed", "merged", "conflicts", "left", "foreign"}.

    Usage: offshoot switch [OPTIONS] <SESSION> <ENTRY>

    Arguments:
      <SESSION>
              A path, an id or its unique start or end, a name, or `latest`

      <ENTRY>
              An id or its unique start, a label, `@`, `@-`, or a time such as 2h

    Options:
          --summarize
              Summarise the branch that is left

          --files
              Bring back the files of the entry, too

          --across-commits
              Bring files also if git has another commit checked out than when they were recorded

          --dry-run
              Show what would be left behind and what the next request would cost, and write nothing

          --json
              Print JSON

          --provider <NAME>
              The provider, such as anthropic, openai, google, or one of models.json

          --model <MODEL>
              The model: an id, a part of one, or provider/id; `:LEVEL` after it sets the thinking level

          --thinking <LEVEL>
              The thinking level: off, minimal, low, medium, high, xhigh, max

      -h, --help
              Print help (see a summary with '-h')

    Global options:
          --session-dir <DIR>
              Use only the sessions in this folder and the folders in it

          --color <WHEN>
              When to use colours: auto (on a terminal, unless NO_COLOR is set), always, never

          --no-index
              Do not use the caches (side index and catalogue)

          --no-pager
              Do not send long output through a pager: $OFFSHOOT_PAGER, else $PAGER, else less

          --trust
              Use the settings of projects this once, whatever was answered before

          --no-trust
              Use no settings of projects this once

    Examples:
      offshoot switch latest [ID1] --dry-run
      offshoot switch latest [ID1]
      offshoot switch latest [ID1] --summarize
      offshoot branches latest            # shows the branches
    "#);
}

#[test]
fn wrong_usage_is_exit_code_2() {
    assert_snapshot!(World::new().run("list --nope"), @"
    [stderr]
    error: unexpected argument '--nope' found

      tip: a similar argument exists: '--no-pager'

    Usage: offshoot list --no-pager

    For more information, try '--help'.
    [exit code 2]
    ");
}

#[test]
fn colours_are_for_terminals_unless_asked_for() {
    let world = World::with_sample();
    let run = |arguments: &[&str], no_color: &str| {
        let output = world.command(arguments).env("NO_COLOR", no_color).output().unwrap();
        String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap()
    };
    assert!(!run(&["tree", "sample.jsonl"], "").contains('\u{1b}'));
    assert!(run(&["tree", "sample.jsonl", "--color", "always"], "1").contains('\u{1b}'));
    assert!(!run(&["tree", "sample.jsonl", "--color", "never"], "").contains('\u{1b}'));
    assert!(run(&["tree", "gone.jsonl", "--color", "always"], "").contains("\u{1b}[1m\u{1b}[31merror:"));
    assert!(!run(&["tree", "gone.jsonl"], "").contains('\u{1b}'));
    assert!(!run(&["tree", "sample.jsonl", "--json", "--color", "always"], "").contains('\u{1b}'));
}

/// `offshoot context … | head -1` is no failure.
#[test]
fn a_closed_pipe_is_no_error() {
    let world = World::new();
    let long = message("aaaa1111", None, 10, "user", &"x".repeat(1 << 20));
    world.write("s.jsonl", text("s", "/w", &[&long]));
    for arguments in [
        &["context", "s.jsonl", "--json"][..],
        &["show", "s.jsonl"],
        &["entry", "s.jsonl", "aaaa"],
        &["tree", "s.jsonl", "--json"],
    ] {
        let mut child = world.command(arguments).stdout(Stdio::piped()).spawn().unwrap();
        let mut first = [0; 10];
        child.stdout.take().unwrap().read_exact(&mut first).unwrap();
        let mut said = String::new();
        child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        assert_eq!((child.wait().unwrap().code(), said.as_str()), (Some(0), ""), "{arguments:?}");
    }
}

#[test]
fn what_is_no_session_is_damaged_input() {
    let world = World::new();
    world.write("notes.jsonl", "{\"a\":1}\n");
    assert_snapshot!(world.run("show notes.jsonl"), @r#"
    [stderr]
    error: notes.jsonl is not a session: the first record is not a session header (line 1, byte 0)
    hint: a session file begins with a line like {"type":"session","id":…}
    [exit code 4]
    "#);
}

#[test]
fn a_folder_is_no_session() {
    assert_snapshot!(World::new().run("show ./"), @"
    [stderr]
    error: ./ is a folder, not a session file
    [exit code 2]
    ");
}

#[test]
fn a_session_is_a_path_an_id_a_prefix_a_name_or_latest() {
    let world = World::new();
    let [question, answer] = talk("why?");
    let named = r#"{"type":"session_info","id":"cccc3333","parentId":"bbbb2222","timestamp":"2026-02-01T11:12:00.000Z","name":"the name"}"#;
    world.own("0000aaaa-1", &[&question]);
    let path = world.session(".pi/agent/sessions", "0000bbbb-2", &world.work(), &[&question, &answer, named]);
    let expected = world.stdout(&format!("show {} --json", path.display()));
    for given in ["0000bbbb-2", "0000b", "'the name'", "latest"] {
        assert_eq!(world.stdout(&format!("show {given} --json")), expected, "{given}");
    }
    assert_snapshot!(world.run("show 0000"), @r#"
    [stderr]
    error: session "0000" is ambiguous: 0000aaaa-1, 0000bbbb-2
    hint: give more of the id
    [exit code 2]
    "#);
    assert_snapshot!(world.run("show nothing"), @r#"
    [stderr]
    error: no session matches "nothing"
    hint: `offshoot list --all` shows every session
    [exit code 3]
    "#);
    assert_snapshot!(World::new().run("show latest"), @"
    [stderr]
    error: no sessions in [WORK] yet
    hint: `offshoot list --all` shows the sessions of other folders
    [exit code 3]
    ");
}

/// Sessions of this folder come first: what is short and unique here need not be unique everywhere.
#[test]
fn a_prefix_is_looked_for_in_this_folder_first() {
    let world = World::new();
    let [question, _] = talk("here");
    world.own("0000aaaa-1", &[&question]);
    world.session(".local/share/offshoot/sessions", "0000bbbb-2", std::path::Path::new("/srv/x"), &[]);
    assert!(world.stdout("show 0000 --json").contains("here"));
    assert_eq!(world.stdout("show 0000b --json"), "[]\n");
}

/// An imported session has the id of its source; the copy in offshoot's own store is meant, and the other one is named.
#[test]
fn the_same_id_twice_is_not_ambiguous() {
    let world = World::new();
    let [question, answer] = talk("why?");
    world.session(".pi/agent/sessions", "0000aaaa-1", &world.work(), &[&question]);
    world.own("0000aaaa-1", &[&question, &answer]);
    let shown = world.run("show 0000 --json");
    assert!(
        shown.contains("bbbb2222") && shown.contains(".pi/agent/sessions") && shown.contains("has the same id"),
        "{shown}"
    );
}

#[test]
fn odd_lines_are_said_a_few_times_then_counted() {
    let world = World::new();
    let [question, _] = talk("why?");
    world.write("s.jsonl", text("s", "/w", &[&question, "a", "b", "c", "d", "e"]));
    assert_snapshot!(world.run("show s.jsonl"), @"
    s  /w

    user  aaaa  2026-02-01 11:10
      why?

    no answer follows: interrupted, or still running elsewhere

    1 entry
    [stderr]
    warning: line 3: the line is not one JSON object; it stays in the file but not in the tree
    warning: line 4: the line is not one JSON object; it stays in the file but not in the tree
    warning: line 5: the line is not one JSON object; it stays in the file but not in the tree
    warning: and 2 more [malformed-line]
    hint: `offshoot check s.jsonl` says them all
    ");
}

/// A pager is for people: what goes through a pipe never meets one.
#[test]
fn a_pipe_has_no_pager() {
    let world = World::with_sample();
    let output = world.command(&["show", "sample.jsonl"]).env("OFFSHOOT_PAGER", "false").output().unwrap();
    assert!(output.status.success() && output.stdout.len() > 1000);
}

/// The exit code said that the help was written.
#[test]
fn help_on_a_full_disk_is_a_failure() {
    let world = World::new();
    for words in [&["--help"][..], &["list", "--help"], &["--version"]] {
        let full = std::fs::File::create("/dev/full").unwrap();
        let output = world.command(words).stdout(full).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{words:?}");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(said.contains("error: could not write the output"), "{said}");
    }
}

/// Only the folder that was named is read and written.
#[test]
fn a_folder_for_one_run_takes_new_sessions() {
    let world = World::with_sample();
    let path = world.stdout("fork sample.jsonl --session-dir mine");
    assert!(world.normalised(&path).starts_with("mine/2026-02-01T12-00-00-000Z_[ID1].jsonl"), "{path}");
    world.run_with("append --new --session-dir mine", r#"{"type":"message","message":{"role":"user","content":"q"}}"#);
    assert_eq!(world.stdout("list --all --session-dir mine").lines().count(), 3);
    assert_eq!(world.stdout("list --all"), "");
}

/// Names, folders and words come from files that anybody may have written.
#[test]
fn no_word_of_a_session_steers_the_terminal() {
    let world = World::new();
    let hostile = "\\u001b]0;owned\\u0007";
    let entries = [
        message("aaaa1111", None, 10, "user", hostile),
        format!(
            r#"{{"type":"session_info","id":"bbbb2222","parentId":"aaaa1111","timestamp":"2026-02-01T11:11:00.000Z","name":"x{hostile}"}}"#
        ),
    ];
    let path = world.own("0000aaaa", &[&entries[0], &entries[1]]);
    let text = std::fs::read_to_string(&path).unwrap().replace("/home/work\"", &format!("/home/work/{hostile}\""));
    std::fs::write(&path, text).unwrap();
    for (line, code) in [
        ("list --all", 0),
        ("show 0000", 0),
        ("context 0000", 0),
        ("context 0000 --tokens", 0),
        ("label 0000 aaaa '\u{1b}[2J x'", 0),
        ("name 0000 '\u{1b}[2J x'", 0),
        ("switch 0000 aaaa", 0),
        ("branches 0000", 0),
        ("pop 0000", 2),
        ("show '\u{1b}[2J'", 3),
    ] {
        // With colours, since what takes these away takes other escapes away as well.
        let shown = world.run(&format!("{line} --color always"));
        assert!(!steers(&shown), "{line}: {shown:?}");
        assert_eq!(shown.contains(&format!("[exit code {code}]")), code != 0, "{line}: {shown}");
    }
}

/// Whether there is a control or an escape other than a colour.
pub(crate) fn steers(shown: &str) -> bool {
    let is_color = |rest: &str| {
        let inner = rest.strip_prefix('[').and_then(|rest| rest.split_once('m')).map(|(inner, _)| inner);
        inner.is_some_and(|inner| inner.bytes().all(|b| b.is_ascii_digit() || b == b';'))
    };
    let controls = shown.char_indices().filter(|(_, c)| c.is_control() && *c != '\n');
    controls.into_iter().any(|(at, c)| c != '\u{1b}' || !is_color(&shown[at + 1..]))
}

/// Commands that print tables of a session with labels.
const TABLES: [&str; 8] = [
    "tree s.jsonl",
    "tree s.jsonl --open",
    "branches s.jsonl",
    "context s.jsonl --tokens",
    "pick s.jsonl 84b6 --dry-run",
    "compact s.jsonl --dry-run --keep-recent-tokens 60",
    "list",
    "models sonnet",
];

#[test]
fn rows_with_labels_fit_narrow_screens() {
    let world = World::new();
    let entries: Vec<&str> = SAMPLE.lines().skip(1).collect();
    world.own("019bbbd8-3100-7c42-9d1a-6f20b7e4a581", &entries);
    world.write("s.jsonl", SAMPLE);
    for (entry, label) in [
        ("42e6", "a label of quite some length that nobody would write"),
        ("4e8a", "dead end with more words"),
        ("30f8", "日本語の長いラベル、日本語の長いラベル、日本語の長いラベル"),
    ] {
        assert!(world.command(&["label", "s.jsonl", entry, label]).output().unwrap().status.success());
    }
    let mut wide = Vec::new();
    for columns in [40, 80] {
        for line in TABLES {
            let words: Vec<&str> = line.split(' ').collect();
            let output = world.command(&words).env("COLUMNS", columns.to_string()).output().unwrap();
            assert!(output.status.success(), "{line}");
            let shown = String::from_utf8(output.stdout).unwrap();
            // A row has columns; sentences after them are wrapped by the terminal.
            let table = shown.lines().take_while(|row| !row.is_empty());
            let rows = table.filter(|row| row.trim().contains("  ") || line.starts_with("tree"));
            wide.extend(rows.filter(|row| width(row) > columns).map(|row| format!("{columns}: {line}: {row}")));
        }
    }
    assert_eq!(wide, [""; 0]);
}
