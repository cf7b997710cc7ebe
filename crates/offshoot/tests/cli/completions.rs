//! `offshoot completions`: its scripts in real shells, and what they offer.

use std::process::Command;

use insta::assert_snapshot;
use portable_pty::CommandBuilder;

use crate::agent::Talk;
use crate::crashes::say;
use crate::documents::blocks;
use crate::terminal::Terminal;
use crate::world::{SAMPLE, World, message, talk, text};

#[test]
fn elvish_and_powershell_learn_the_commands() {
    for shell in ["elvish", "powershell"] {
        let script = World::new().stdout(&format!("completions {shell}"));
        assert!(script.contains("branches") && script.contains("session-dir"), "{shell}");
    }
}

#[test]
fn an_unknown_shell_is_wrong_usage() {
    assert_snapshot!(World::new().run("completions tcsh"), @"
    [stderr]
    error: invalid value 'tcsh' for '[SHELL]'
      [possible values: bash, elvish, fish, powershell, zsh]

      tip: a similar value exists: 'zsh'

    For more information, try '--help'.
    [exit code 2]
    ");
}

/// What fits the last word of a line.
fn offered(world: &World, line: &str) -> String {
    world.stdout(&format!("completions -- offshoot {line}"))
}

/// The same without descriptions.
fn values(world: &World, line: &str) -> Vec<String> {
    offered(world, line).lines().filter_map(|line| line.split('\t').next()).map(str::to_owned).collect()
}

#[test]
fn an_empty_word_offers_every_command_and_no_option() {
    let world = World::new();
    let offered = offered(&world, "''");
    assert!(offered.contains("switch\tGo to another entry") && !offered.contains("checkout"), "{offered}");
    assert!(!offered.lines().any(|line| line.starts_with('-')), "{offered}");
    assert_eq!(values(&world, "com"), ["compare", "compact", "completions"]);
    assert_eq!(values(&world, "--no-i"), ["--no-index"]);
    assert_eq!(values(&world, "show x --thinking"), [""; 0]);
    assert_eq!(values(&world, "-p --thinking m"), ["minimal", "medium", "max"]);
    assert_eq!(values(&world, "tree x --filter user"), ["user-only"]);
    assert_eq!(values(&world, "--approval ''"), ["auto", "edits", "ask", "read-only", "plan"]);
    assert_eq!(values(&world, "--sandbox ''"), ["off", "workspace", "read-only"]);
    assert_eq!(values(&world, "--sandbox-network ''"), ["on", "off"]);
}

#[test]
fn sessions_are_offered_by_name_or_id_and_by_path() {
    let world = World::new();
    let [question, answer] = talk("why does the build fail?");
    let name = r#"{"type":"session_info","id":"cccc3333","parentId":"bbbb2222","timestamp":"2026-02-01T11:20:00.000Z","name":"the parser"}"#;
    world.own("0000aaaa-1", &[&question, &answer]);
    world.own("0000bbbb-2", &[&question, &answer, name]);
    world.session(".pi/agent/sessions", "1111cccc-3", &world.home().join("elsewhere"), &[&question]);
    world.write("kept.jsonl", "");
    world.write("notes.txt", "");
    assert_snapshot!(offered(&world, "show ''").replace('\t', " | "), @"
    latest | the newest session of this folder
    the parser | 49 min · why does the build fail?
    0000aaaa-1 | 49 min · why does the build fail?
    kept.jsonl
    ");
    assert_eq!(values(&world, "show the"), ["the parser"]);
    assert_eq!(values(&world, "show 0000b"), ["0000bbbb-2"]);
    // Ids of other folders count where none of this folder fits.
    assert_eq!(values(&world, "show 1111"), ["1111cccc-3"]);
    assert_eq!(values(&world, "check ./k"), ["./kept.jsonl"]);
    assert_eq!(values(&world, "--session-dir . show ''"), ["latest", "kept.jsonl"]);
}

#[test]
fn entries_are_offered_by_label_and_id() {
    let world = World::with_sample();
    assert_snapshot!(offered(&world, "switch sample.jsonl ''").replace('\t', " | "), @r#"
    @ | assistant: With `--lines` the number of lines follows on a line of its own: ``` $ printf 'one two\n…
    @- | toolResult
    tests pass | assistant: Fixed: runs of blanks no longer count, and two new assertions hold that down. The test p…
    before the fix | user: Yes. And add a test that would have caught it.
    42e6b1f9 | assistant: With `--lines` the number of lines follows on a line of its own: ``` $ printf 'one two\n…
    af72e50c | user: Good. Now print the number of lines as well when --lines is given.
    c86f31ad | assistant: Fixed: runs of blanks no longer count, and two new assertions hold that down. The test p…
    08c5e94f | assistant: The standard library has it: `split_whitespace` takes any run of blanks as one.
    30f8c62b | user: Yes. And add a test that would have caught it.
    9e3b57f0 | assistant: `count` splits at every single blank. Two blanks in a row give an empty piece between th…
    5f06b8d1 | assistant: Let me look at how it counts.
    1b9d40c6 | user: wordcount says 4 for the text "one two three" (two blanks after one). Can you find out why?
    4e8a1f36 | user: A dependency or 40 lines, for counting words? Let us go back.
    "#);
    assert_eq!(values(&world, "show sample.jsonl --at 84b"), ["84b6f03d"]);
    assert_eq!(values(&world, "show sample.jsonl --at=tests"), ["--at=tests pass"]);
    assert_eq!(values(&world, "show no-such.jsonl --at x"), [""; 0]);
    let mut command = world.command(&["completions", "--", "offshoot", "entry", "@"]);
    let output = command.env("OFFSHOOT_SESSION", "sample.jsonl").output().unwrap();
    assert!(String::from_utf8(output.stdout).unwrap().starts_with("@\tassistant: "));
}

/// A chain of a million entries was read as a whole: the shell gave up waiting, and nothing was offered.
#[test]
fn of_a_large_file_the_newest_entries_are_offered() {
    let world = World::new();
    let long = "x".repeat(100_000);
    let ids: Vec<String> = (0..200).map(|at| format!("{:08x}", at + 0xabc0_0000_u32)).collect();
    let parents = std::iter::once(None).chain(ids.iter().map(|id| Some(id.as_str())));
    let entries: Vec<String> =
        ids.iter().zip(parents).map(|(id, parent)| message(id, parent, 1, "user", &long)).collect();
    world.write("long.jsonl", text("s", "/w", &entries.iter().map(String::as_str).collect::<Vec<_>>()));
    assert_eq!(values(&world, "switch long.jsonl abc0")[..2], ["abc000c7", "abc000c6"]);
    assert_eq!(values(&world, "switch long.jsonl ''")[..3], ["@", "@-", "abc000c7"]);
    assert_eq!(values(&world, "switch long.jsonl abc00000"), [""; 0], "it is far above what is read");
    world.stdout("branches long.jsonl");
    assert_eq!(values(&world, "switch long.jsonl abc00000"), ["abc00000"], "the index knows it");
}

#[test]
fn models_are_offered_with_their_provider() {
    let world = World::new();
    let models = values(&world, "-p --model anthropic/");
    assert!(models.iter().all(|model| model.starts_with("anthropic/")) && !models.is_empty(), "{models:?}");
}

#[test]
fn nothing_foreign_that_steers_a_terminal_is_offered() {
    let world = World::new();
    let bad = r"\u001b]0;owned\u0007 x";
    let label = format!(
        r#"{{"type":"label","id":"cccc3333","parentId":"aaaa1111","timestamp":"2026-02-01T11:20:00.000Z","targetId":"aaaa1111","label":"{bad}"}}"#
    );
    let name = format!(
        r#"{{"type":"session_info","id":"dddd4444","parentId":"cccc3333","timestamp":"2026-02-01T11:20:00.000Z","name":"{bad}"}}"#
    );
    let file = world.own("0000aaaa-1", &[&message("aaaa1111", None, 10, "user", bad), &label, &name]);
    world.write("a\u{1b}[31m.jsonl", "");
    let before = world.files(|_| true);
    for line in ["show ''", &format!("switch {} ''", file.display()), "show ./", "-p @"] {
        let offered = offered(&world, line);
        assert!(!offered.contains(|c: char| c.is_control() && c != '\n' && c != '\t'), "{line}: {offered:?}");
    }
    assert_eq!(values(&world, "show 0000"), ["0000aaaa-1"]);
    assert_eq!(world.files(|_| true), before, "completing wrote a file");
}

#[test]
fn a_pipe_is_no_session_and_nothing_waits_for_it() {
    let world = World::new();
    assert!(Command::new("mkfifo").arg(world.work().join("pipe.jsonl")).status().unwrap().success());
    assert_eq!(values(&world, "switch pipe.jsonl x"), [""; 0]);
}

/// What bash offers for a line: the values that its function leaves.
fn bash(world: &World, line: &str) -> String {
    let binary = std::path::Path::new(env!("CARGO_BIN_EXE_offshoot")).parent().unwrap();
    let path = format!("{}:{}", binary.display(), std::env::var("PATH").unwrap());
    let script = r#"
        eval "$(offshoot completions bash)"
        COMP_LINE=$1 COMP_POINT=${#1} COMP_TYPE=9
        shift
        COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
        _offshoot
        printf '%s\n' "${COMPREPLY[@]}"
    "#;
    let words = line.split('|').map(str::to_owned);
    let whole = line.replace('|', "");
    // bash gives blanks between words to no word.
    let words: Vec<String> = words.map(|word| word.trim().to_owned()).collect();
    let mut command = Command::new("bash");
    command.args(["--norc", "-c", script, "bash", &whole]).args(words).current_dir(world.work()).env_clear();
    let output = command.env("HOME", world.home()).env("PATH", path).env("TZ", "UTC").output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{line}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn bash_joins_the_words_that_it_cuts_and_quotes_what_it_inserts() {
    let world = World::with_sample();
    // `|` is where bash cuts words.
    assert_eq!(bash(&world, "offshoot| com"), "compare\ncompact\ncompletions\n");
    assert_eq!(bash(&world, "offshoot| show| sample.jsonl| --at| tests"), "tests\\ pass\n");
    assert_eq!(bash(&world, "offshoot| show| sample.jsonl| --at| 'tests"), "tests pass\n");
    assert_eq!(bash(&world, "offshoot| show| sample.jsonl| --at|=|84b"), "84b6f03d\n");
    assert_eq!(bash(&world, "offshoot| --color|=|never| show| sam"), "sample.jsonl\n");
    assert_eq!(bash(&world, "offshoot| show| my\\ name| --at| "), "\n");
}

/// A session's name ran as a command where it was completed in an open quote: `"fix<TAB>` became `"fix$(touch P)`.
#[test]
fn a_name_that_bash_completes_is_never_run() {
    let world = World::new();
    let odd = [
        "$(touch${IFS}P)",
        "`touch P`",
        "'$(touch P)'",
        "\"$(touch P)\"",
        "\\$(touch P)",
        "${x:-$(touch P)}",
        "!!",
        "a'b",
        "a\"b",
    ];
    for (at, name) in odd.iter().enumerate() {
        let [question, answer] = talk("why?");
        let name = format!("fix{name}").replace('\\', "\\\\").replace('"', "\\\"");
        let name = format!(
            r#"{{"type":"session_info","id":"cccc3333","parentId":"bbbb2222","timestamp":"2026-02-01T11:20:00.000Z","name":"{name}"}}"#
        );
        world.own(&format!("0000aaaa-{at}"), &[&question, &answer, &name]);
    }
    let mut inserted = 0;
    for (typed, quote) in [
        ("fix", ""),
        ("\"fix", "\""),
        ("'fix", "'"),
        ("f\"ix", "\""),
        ("f'ix", "'"),
        ("$'fix", "'"),
        ("`fix", "`"),
        ("\\fix", ""),
    ] {
        let offers = bash(&world, &format!("offshoot| show| {typed}"));
        for offer in offers.lines().filter(|offer| !offer.is_empty()) {
            inserted += 1;
            // The shell inserts the value after an opening quote, and closes the quote.
            let word = if quote.is_empty() { offer.to_owned() } else { format!("{quote}{offer}{quote}") };
            let run = Command::new("bash")
                .args(["-c", &format!("printf %s {word}")])
                .current_dir(world.work())
                .output()
                .unwrap();
            let said = String::from_utf8(run.stdout).unwrap();
            assert!(!world.work().join("P").exists(), "{typed}: {offer}");
            assert!(odd.iter().any(|name| format!("fix{name}") == said), "{typed}: {offer} is {said}");
        }
    }
    // A name with a backslash is not offered; of the others one can stand between double quotes, six between single ones.
    assert_eq!(inserted, 2 * 8 + 1 + 6);
}

/// An interactive shell in a terminal, whose startup file has the line of `docs/shell.md`; `None` where it is not installed.
fn interactive(talk: &Talk, shell: &str, prompt: &str) -> Option<Terminal> {
    if Command::new(shell).arg("--version").output().is_err() {
        say(&format!("NOT TESTED: completions in {shell}: it is not installed"));
        return None;
    }
    let binary = std::path::Path::new(env!("CARGO_BIN_EXE_offshoot")).parent().unwrap();
    let path = format!("{}:{}", binary.display(), std::env::var("PATH").unwrap());
    let block = blocks("docs/shell.md", "sh").remove(0);
    let line = block.lines().find(|line| line.contains(&format!("completions {shell}"))).unwrap();
    let installed = Command::new("bash").args(["-c", line]).env("HOME", talk.world.home()).status().unwrap();
    assert!(installed.success(), "{line}");
    let mut command = CommandBuilder::new(shell);
    command.arg("-i");
    let mut terminal = Terminal::run_with(talk, command, (100, 30), &[("PATH", &path)]);
    terminal.send(prompt);
    terminal.until("the shell", |screen| screen.ends_with("shell>"));
    Some(terminal)
}

/// What both shells show of a line that is completed with a tab.
fn completes_in_a_shell(terminal: &mut Terminal) {
    terminal.send("offshoot comp\t");
    terminal.until_text("completions").until_text("Summarise the older part");
    // Not Ctrl+C: a signal while the list is drawn ends the list, and the line stays.
    terminal.send("\x15offshoot show sample.jsonl --at te\t");
    terminal.until_text("--at tests\\ pass");
    completes_modes(terminal);
}

fn completes_modes(terminal: &mut Terminal) {
    for (typed, completed) in [("--approval ed", "--approval edits"), ("--sandbox wo", "--sandbox workspace")] {
        terminal.send(&format!("\x15offshoot {typed}\t"));
        terminal.until_text(completed);
    }
}

#[test]
fn bash_completes_after_its_startup_file() {
    let talk = talk_with_sample();
    let Some(mut terminal) = interactive(&talk, "bash", "PS1='shell> '; clear\r") else { return };
    terminal.send("offshoot compl\t");
    terminal.until_text("offshoot completions");
    terminal.send("\x15offshoot show sample.jsonl --at te\t");
    terminal.until_text("--at tests\\ pass");
    completes_modes(&mut terminal);
}

/// The functions of the document, with a program in the place of fzf that chooses the line with a word.
#[test]
fn the_functions_for_fzf_choose_a_session_and_an_entry() {
    for shell in ["bash", "zsh"] {
        let world = World::with_sample();
        world.own("0198c2aa-0000-7000-8000-000000000002", &[&message("aaaa1111", None, 10, "user", "why?")]);
        let bin = world.home().join("bin");
        std::fs::create_dir_all(&bin).unwrap();
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_offshoot"), bin.join("offshoot")).unwrap();
        let fzf = bin.join("fzf");
        std::fs::write(&fzf, "#!/bin/sh\ngrep -m 1 -e \"$CHOICE\"\n").unwrap();
        std::fs::set_permissions(&fzf, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        let functions = blocks("docs/shell.md", "sh").remove(1);
        let script = format!(
            "{functions}\nCHOICE='^0198.*why' offshoot-session && echo \"$OFFSHOOT_SESSION\"\n\
             OFFSHOOT_SESSION=sample.jsonl CHOICE='^tests' offshoot-switch"
        );
        let mut command = Command::new(shell);
        command.args(["-c", &script]).current_dir(world.work()).env_clear().env("HOME", world.home());
        command.env("PATH", format!("{}:/usr/local/bin:/usr/bin:/bin", bin.display()));
        let Ok(output) = command.env("OFFSHOOT_NOW", "2026-02-01T12:00:00.000Z").output() else {
            say(&format!("NOT TESTED: the functions for fzf in {shell}: it is not installed"));
            continue;
        };
        let shown = world.shown(&output);
        assert!(shown.starts_with("[ID1]\nnow at c86f  Fixed: runs of blanks"), "{shell}: {shown}");
    }
}

#[test]
fn zsh_lists_what_fits_and_quotes_what_it_inserts() {
    let talk = talk_with_sample();
    let Some(mut terminal) = interactive(&talk, "zsh", "PS1='shell> '; clear\r") else { return };
    completes_in_a_shell(&mut terminal);
}

#[test]
fn fish_lists_what_fits_and_quotes_what_it_inserts() {
    let talk = talk_with_sample();
    let prompt = "function fish_prompt; printf 'shell> '; end; clear\r";
    let Some(mut terminal) = interactive(&talk, "fish", prompt) else { return };
    completes_in_a_shell(&mut terminal);
}

fn talk_with_sample() -> Talk {
    let talk = Talk::new([]);
    talk.world.write("sample.jsonl", SAMPLE);
    talk
}
