//! Who has the terminal: signals, the shell, the user's own editor, and no terminal at all.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use insta::assert_snapshot;
use offshoot_agent::testing::script::{Reply, Then};
use rustix::process::Signal;
use serde_json::json;

use crate::agent::Talk;
use crate::agent_stops::container;
use crate::terminal::{Terminal, signal};

/// The process of the program that a shell runs.
fn process(terminal: &mut Terminal, talk: &Talk) -> u32 {
    let file = talk.world.home().join("pid");
    terminal.while_not("the process", || fs::read_to_string(&file).is_ok_and(|pid| pid.ends_with('\n')));
    fs::read_to_string(file).unwrap().trim().parse().unwrap()
}

/// A shell in which offshoot runs, and offshoot's process.
fn in_shell(talk: &Talk) -> (Terminal, u32) {
    let mut terminal = Terminal::shell(talk, (80, 24));
    // `exec` keeps the process that says who it is.
    let program = env!("CARGO_BIN_EXE_offshoot");
    terminal.send(&format!("bash -c 'echo $$ > ~/pid; exec {program}'\r"));
    terminal.until_text("m1");
    let process = process(&mut terminal, talk);
    (terminal, process)
}

#[test]
fn others_stop_it_as_the_key_does() {
    let talk = Talk::new([Reply::text("Forty-two.")]);
    let (mut terminal, process) = in_shell(&talk);
    terminal.send("half a thought");
    terminal.until_text("half a thought");
    signal(process, Signal::TSTP);
    terminal.until("the shell", |screen| screen.contains("Stopped") && screen.ends_with("shell>"));
    assert!(!terminal.screen().contains("half a thought"), "its rows are wiped: {}", terminal.screen());
    terminal.send("stty -a | grep -c -e -icanon\r");
    terminal.until("a plain terminal", |screen| screen.ends_with("\n0\nshell>"));
    terminal.send("fg\r");
    terminal.until("the editor", |screen| screen.contains("\nhalf a thought\n")).send(" more\r");
    terminal.until_text("Forty-two.").until_idle().send("\x04");
    terminal.until("the shell", |screen| screen.ends_with("shell>")).send("exit\r");
    assert!(terminal.ended());
    talk.no_problems();
}

/// Nobody can prepare for this one: when the program continues it takes the terminal back.
#[test]
fn a_stop_that_cannot_be_seen_is_mended() {
    let talk = Talk::new([]);
    let (mut terminal, process) = in_shell(&talk);
    terminal.send("half a thought");
    terminal.until_text("half a thought");
    signal(process, Signal::STOP);
    terminal.until_text("Stopped").send("stty sane; clear; fg\r");
    terminal.until("the editor", |screen| {
        !screen.contains("Stopped") && screen.contains("\nhalf a thought\n") && screen.contains("m1")
    });
    terminal.send("!");
    terminal.until("keys one by one", |screen| screen.contains("\nhalf a thought!\n"));
    terminal.send("\x03\x03");
    terminal.until("the shell", |screen| screen.ends_with("shell>")).send("exit\r");
    assert!(terminal.ended());
}

#[test]
fn without_a_shell_it_goes_on() {
    let talk = Talk::new([]);
    let mut terminal = Terminal::offshoot(&talk, &[], (80, 24));
    terminal.until_text("m1").send("\x1a");
    terminal.until_text("there is no shell to return to").until_text("m1").send("still here");
    terminal.until_text("still here").send("\x03\x03");
    assert!(terminal.ended());
}

/// In a container its parent's session has no number.
#[test]
fn in_a_container_it_goes_on() {
    let Some(container) = container("being stopped") else { return };
    let talk = Talk::new([]);
    let mut command = portable_pty::CommandBuilder::new(container[0]);
    command.args(&container[1..]);
    command.arg(env!("CARGO_BIN_EXE_offshoot"));
    let mut terminal = Terminal::run(&talk, command, (80, 24));
    terminal.until_text("m1").send("\x1a");
    terminal.until_text("there is no shell to return to").send("\x04");
    assert!(terminal.ended());
}

/// The shell that runs it takes part in its job: it would stop as well.
#[test]
fn a_script_is_not_stopped_with_it() {
    let talk = Talk::new([]);
    let mut script = portable_pty::CommandBuilder::new("bash");
    script.args(["-c", concat!(env!("CARGO_BIN_EXE_offshoot"), "; echo behind it")]);
    let mut terminal = Terminal::run(&talk, script, (80, 24));
    terminal.until_text("m1").send("\x1a");
    terminal.until_text("there is no shell to return to").send("\x04");
    assert!(terminal.ended());
    assert!(terminal.screen().ends_with("behind it"), "{}", terminal.screen());
}

#[test]
fn whoever_ends_it_gets_the_terminal_back() {
    for name in [Signal::TERM, Signal::HUP, Signal::INT, Signal::QUIT] {
        let hanging = Reply { then: Then::Hang, cut: Some(900), ..Reply::text(&"so many words ".repeat(40)) };
        let talk = Talk::new([hanging]);
        let mut terminal = Terminal::offshoot(&talk, &["chat", "go"], (80, 24));
        terminal.until_text("so many words").send("a draft");
        terminal.until_text("a draft").send("/tree");
        assert!(terminal.parser.screen().bracketed_paste() && !terminal.is_given_back());
        terminal.until_text("a draft/tree");
        terminal.signal(name);
        assert!(terminal.ended(), "{name:?}: {}", terminal.screen());
        assert!(terminal.is_given_back(), "{name:?}");
        let drafts = talk.world.home().join(".local/state/offshoot/drafts");
        let kept = drafts.read_dir().unwrap().map(|file| fs::read_to_string(file.unwrap().path()).unwrap());
        assert_eq!(kept.collect::<Vec<_>>(), ["a draft/tree"], "{name:?}");
    }
}

/// Also from a screen of its own.
#[test]
fn the_alternate_screen_is_left_at_the_end() {
    let talk = Talk::new([Reply::text("Yes.")]);
    let mut terminal = Terminal::offshoot(&talk, &["chat", "go"], (80, 24));
    terminal.until_text("Yes.").until_idle().send("/tree\r");
    terminal.until_text("Session tree");
    assert!(terminal.parser.screen().alternate_screen());
    terminal.signal(Signal::TERM);
    assert!(terminal.ended());
    assert!(terminal.is_given_back());
    assert!(terminal.screen().contains("› go\n\n  Yes."), "{}", terminal.screen());
}

fn script(talk: &Talk, text: &str) -> String {
    let path = talk.world.write("editor.sh", format!("#!/bin/sh\n{text}\n"));
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path.display().to_string()
}

#[test]
fn the_users_own_editor_has_the_terminal_meanwhile() {
    let talk = Talk::new([Reply::text("I see.")]);
    let editor = script(
        &talk,
        "stty -a | grep -c -e -icanon; read word; printf '%s\\nsecond %s\\n' \"$(cat \"$1\")\" \"$word\" > \"$1\"",
    );
    let mut terminal = Terminal::offshoot_in(&talk, &[], (80, 24), &[("EDITOR", &editor)]);
    terminal.until_text("m1").send("first line\x07");
    terminal.until("the editor's own words", |screen| screen.lines().any(|row| row == "0")).send("line\r");
    terminal.until("what was written", |screen| screen.contains("\nfirst line\nsecond line\n──")).send("\r");
    terminal.until_text("I see.").until_idle();
    let asked = talk.server.seen().pop().unwrap().json()["messages"].to_string();
    assert!(asked.contains("first line\\nsecond line\""), "{asked}");
    terminal.send("\x04");
    assert!(terminal.ended());
    talk.no_problems();
}

/// A turn whose command runs until it is stopped, and the command's process.
fn at_work(editor: &str) -> (Talk, Terminal, u32) {
    let command = "echo $$ > ~/command; exec sleep 1000";
    let talk = Talk::new([Reply::call("bash", "c1", json!({ "command": command })), Reply::text("Done.")]);
    let editor = script(&talk, editor);
    let mut terminal = Terminal::offshoot_in(&talk, &[], (80, 24), &[("EDITOR", &editor)]);
    terminal.until_text("m1").send("go\r");
    terminal.until_text("sleep 1000");
    let file = talk.world.home().join("command");
    terminal.while_not("the command", || fs::read_to_string(&file).is_ok_and(|pid| pid.ends_with('\n')));
    let command = fs::read_to_string(file).unwrap().trim().parse().unwrap();
    (talk, terminal, command)
}

fn is_alive(process: u32) -> bool {
    let status = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    status.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with('Z'))
}

/// Nothing is left over: the command has ended and its call has a result.
fn assert_ended_in_order(talk: &Talk, terminal: &mut Terminal, command: u32) {
    assert!(terminal.ended(), "{}", terminal.screen());
    assert!(terminal.is_given_back(), "{}", terminal.raw());
    assert!(!is_alive(command), "the command is an orphan");
    let lines = talk.lines();
    let result = lines.iter().find(|line| line["message"]["role"] == "toolResult");
    assert_eq!(result.map(|line| &line["message"]["toolCallId"]), Some(&json!("c1")), "{lines:?}");
    assert!(terminal.raw().ends_with_modes_reset(), "{}", terminal.raw());
}

trait Modes {
    fn ends_with_modes_reset(&self) -> bool;
}

impl Modes for String {
    /// The keys of kitty's protocol and reports of the focus are switched off after they were last switched on.
    fn ends_with_modes_reset(&self) -> bool {
        self.rfind("\x1b[<1u") > self.rfind("\x1b[>1u") && self.rfind("\x1b[?1004l") > self.rfind("\x1b[?1004h")
    }
}

/// The editor has read a line: from here on it has the terminal.
fn has_the_terminal(terminal: &mut Terminal) {
    terminal.until_text("begun").send("\r");
    terminal.until_text("ready");
}

/// Story: Ctrl+C in the editor of Ctrl+G ended offshoot, and the model's command went on without it.
#[test]
fn an_interrupt_in_the_users_own_editor_is_the_editors() {
    let (talk, mut terminal, command) = at_work(
        "trap 'echo interrupted' INT; trap 'echo quit' QUIT; echo begun; read go; echo ready; while ! read word; do :; done; echo $word > \"$1\"",
    );
    terminal.send("draft\x07");
    has_the_terminal(&mut terminal);
    terminal.send("\x03");
    terminal.until_text("interrupted").send("\x1c");
    terminal.until("the other key", |screen| screen.lines().any(|row| row.ends_with("quit"))).send("edited\r");
    terminal.until("what was written", |screen| screen.contains("\nedited\n──") && screen.contains("m1"));
    assert!(is_alive(command), "the turn goes on");
    terminal.signal(Signal::INT);
    assert_ended_in_order(&talk, &mut terminal, command);
    talk.no_problems();
}

/// A signal from elsewhere ends both, while the editor has the terminal too. What the editor has saved is kept.
#[test]
fn a_signal_ends_the_users_own_editor_too() {
    for name in [Signal::INT, Signal::TERM, Signal::QUIT, Signal::HUP] {
        let (talk, mut terminal, command) = at_work("echo saved > \"$1\"; echo ready; exec sleep 1000");
        terminal.send("draft\x07");
        terminal.until_text("ready");
        terminal.signal(name);
        assert_ended_in_order(&talk, &mut terminal, command);
        let drafts = talk.world.home().join(".local/state/offshoot/drafts");
        let kept = drafts.read_dir().unwrap().map(|file| fs::read_to_string(file.unwrap().path()).unwrap());
        assert_eq!(kept.collect::<Vec<_>>(), ["saved"], "{name:?}");
    }
}

/// Ctrl+Z in the editor stops the editor and offshoot, and `fg` continues both.
#[test]
fn the_users_own_editor_can_be_stopped() {
    let talk = Talk::new([]);
    let editor = script(&talk, "echo begun; read go; echo ready; read word; echo $word > \"$1\"");
    let mut terminal = Terminal::shell_with(&talk, (80, 24), &[("EDITOR", &editor)]);
    terminal.send(&format!("{}\r", env!("CARGO_BIN_EXE_offshoot")));
    terminal.until_text("m1").send("draft\x07");
    has_the_terminal(&mut terminal);
    terminal.send("\x1a");
    terminal.until("the shell", |screen| screen.contains("Stopped") && screen.ends_with("shell>")).send("fg\r");
    terminal.until("the editor", |screen| !screen.ends_with("shell>") && screen.contains("fg\n")).send("edited\r");
    terminal.until("what was written", |screen| screen.contains("\nedited\n──")).send("\x03\x04");
    terminal.until("the shell", |screen| screen.ends_with("shell>")).send("exit\r");
    assert!(terminal.ended());
    talk.no_problems();
}

/// Without a shell nobody could continue it.
#[test]
fn without_a_shell_the_users_own_editor_goes_on() {
    let talk = Talk::new([]);
    let editor = script(&talk, "echo begun; read go; echo ready; read word; echo $word > \"$1\"");
    let mut terminal = Terminal::offshoot_in(&talk, &[], (80, 24), &[("EDITOR", &editor)]);
    terminal.until_text("m1").send("draft\x07");
    has_the_terminal(&mut terminal);
    terminal.send("\x1a");
    terminal.send("edited\r");
    terminal.until("what was written", |screen| screen.contains("\nedited\n──")).send("\x03\x04");
    assert!(terminal.ended());
}

#[test]
fn an_editor_that_fails_loses_nothing() {
    let talk = Talk::new([]);
    let failing = script(&talk, "echo something else > \"$1\"; exit 3");
    let mut terminal = Terminal::offshoot_in(&talk, &[], (80, 24), &[("EDITOR", &failing)]);
    terminal.until_text("m1").send("a draft\x07");
    terminal.until_text("exit status: 3; the text is as it was");
    terminal.until("the draft", |screen| screen.contains("\na draft\n"));
    terminal.send("\x03\x04");
    assert!(terminal.ended());
    let mut terminal = Terminal::offshoot_in(&talk, &[], (80, 24), &[("EDITOR", "no-such-editor -x")]);
    terminal.until_text("m1").send("a draft\x07");
    terminal.until_text("no-such-editor is not").until("the draft", |screen| screen.contains("\na draft\n"));
    terminal.send("\x03\x04");
    assert!(terminal.ended());
}

#[test]
fn without_a_terminal_it_says_what_to_do() {
    let talk = Talk::new([]);
    assert!(talk.run(&[]).contains("Usage: offshoot [OPTIONS] [PROMPT]\n"), "nothing was asked for: what there is");
    assert_snapshot!(talk.run(&["-c"]), @"
    [stderr]
    error: a conversation needs a terminal
    hint: `offshoot -p PROMPT` asks the model and prints its answer
    hint: `offshoot --mode json PROMPT` prints every event
    [exit code 2]
    ");
    assert_snapshot!(talk.run(&["what is it?"]), @"
    [stderr]
    error: a conversation needs a terminal
    hint: `offshoot -p PROMPT` asks the model and prints its answer
    hint: `offshoot --mode json PROMPT` prints every event
    [exit code 2]
    ");
    assert_snapshot!(talk.run(&["-r"]), @"
    [stderr]
    error: choosing a session needs a terminal
    hint: `offshoot list` shows the sessions, `offshoot --session ID -p PROMPT` continues one
    hint: `offshoot -c -p PROMPT` continues the newest
    [exit code 2]
    ");
}

/// Emacs' shell is one. It prints each sequence as text.
#[test]
fn a_terminal_that_cannot_move_its_cursor_gets_no_sequences() {
    let talk = Talk::new([]);
    for arguments in [&[] as &[_], &["-r"], &["chat", "go"]] {
        let mut terminal = Terminal::offshoot_in(&talk, arguments, (80, 24), &[("TERM", "dumb")]);
        assert!(!terminal.ended(), "{arguments:?}: it is refused");
        let screen = terminal.screen();
        let expected = "error: a conversation needs a terminal that moves its cursor, and TERM is dumb\n\
            hint: `offshoot -p PROMPT` asks the model and prints its answer\n\
            hint: `offshoot --mode json PROMPT` prints every event";
        assert_eq!(screen.trim_end(), expected, "{arguments:?}");
        assert!(!terminal.raw().contains('\x1b'), "{:?}", terminal.raw());
    }
}

/// Terminals say when they are looked at; that is no key.
#[test]
fn a_look_elsewhere_changes_nothing() {
    let talk = Talk::new([Reply::text("Yes.")]);
    // With a clock that goes: soon after the start the cursor is drawn.
    let mut terminal = Terminal::offshoot_in(&talk, &["chat", "go"], (80, 24), &[("OFFSHOOT_NOW", "")]);
    terminal.until_text("Yes.").until_idle().send("dr\x1b[O\x1b[Iaft\x1b[O");
    terminal.until("the draft", |screen| screen.contains("\ndraft\n")).until_raw("\x1b[?25h");
    terminal.until_cursor("draft", 5).send("\x03/tree\r");
    terminal.until_text("Session tree").send("\x1b[O\x1b[I\x1b");
    terminal.until("the editor", |screen| !screen.contains("Session tree")).send("\x04");
    assert!(terminal.ended());
}

/// A prompt from the command line that cannot be sent stays in the editor. No session is made for it.
#[test]
fn without_a_key_the_prompt_stays_in_the_editor() {
    let talk = Talk::new([]);
    let mut terminal = Terminal::offshoot_in(&talk, &["fix the build"], (80, 24), &[("TEST_KEY", "")]);
    terminal.until_text("Provider (Enter to go on without):").send("\n");
    terminal.until("why not, and the text again", |screen| {
        screen.contains("✗ there is no key for anthropic") && screen.contains("\nfix the build\n")
    });
    terminal.send("\x03\x04");
    assert!(terminal.ended());
    assert_eq!(talk.files(), [""; 0].map(std::path::PathBuf::from));
    assert!(!terminal.raw().contains("continues it"), "no session is there to continue: {}", terminal.raw());
    talk.no_problems();
}

/// The terminal began a conversation with a model that does not exist, and said "700% of 1".
#[test]
fn a_model_that_does_not_exist_ends_the_start_as_it_ends_a_run_without_a_screen() {
    let talk = Talk::new([]);
    talk.was_started_before();
    for (arguments, told, near) in [
        (&["--provider", "tset", "--model", "m"] as &[_], "there is no provider tset", "did you mean test?"),
        (&["--provider", "tset"], "there is no provider tset", "did you mean test?"),
        (&["--model", "tset/m1"], "there is no model tset/m1", "did you mean test/m1?"),
        (&["--model", "xyzzyxyzzy"], "there is no model xyzzyxyzzy", ""),
    ] {
        let mut terminal = Terminal::offshoot(&talk, arguments, (100, 24));
        assert!(!terminal.ended(), "{arguments:?}: it is refused");
        let screen = terminal.screen();
        assert!(screen.contains(told) && screen.contains(near), "{arguments:?}: {screen}");
        assert!(screen.contains("`offshoot models` lists the models"), "{arguments:?}: {screen}");
        assert!(!screen.contains("context"), "{arguments:?}: no conversation began: {screen}");
        let printed = talk.run(&[&["-p", "hi"], arguments].concat());
        assert!(printed.contains(told) && printed.contains(near) && printed.contains("[exit code 3]"), "{printed}");
    }
}

/// Who has no key sees the next step, and continues as soon as there is one.
#[test]
fn a_newcomer_without_a_key_is_told_what_to_do() {
    let talk = Talk::new([Reply::text("Welcome.")]);
    let mut terminal = Terminal::offshoot_in(&talk, &[], (80, 24), &[("TEST_KEY", "")]);
    terminal.until_text("Provider (Enter to go on without):").send("\n");
    terminal.until_text("No key yet").until_text("~/work");
    let screen = terminal.screen();
    let (question, conversation) = screen.split_once("note: ").unwrap();
    assert!(question.contains("anthropic  openai  google") && question.contains("test"), "{question}");
    assert_snapshot!(conversation, @"
    the model's calls run unasked (approval: auto); /approval changes that
    offshoot 0.1.0 · ~/work
    ? help · / commands · @ files · ! shell · escape stops · ctrl+d leaves

    ────────────────────────────────────────────────────────────────────────────────
    No key yet: /login asks for one, or set a variable such as ANTHROPIC_API_KEY
    ────────────────────────────────────────────────────────────────────────────────
    ~/work                                                      no model yet: /model
    ");
    terminal.send("hello\r");
    terminal.until("why not, and the text again", |screen| {
        screen.contains("✗ there is no key for anthropic; run `offshoot auth login anthropic`")
            && screen.contains("\nhello\n")
    });
    terminal.send("\x15/model\r");
    // The list opens all the same: it looks for servers of this machine.
    terminal.until_text("Local models …").send("\x1b");
    terminal.until("the notice", |screen| {
        screen.contains("no model can be asked yet") && !screen.contains("Local models …")
    });
    terminal.send("/tree\r");
    terminal.until_text("no entries in this session");
    let keys = r#"{"test": {"type": "api_key", "key": "sk-test-0123456789abcdef"}}"#;
    let file = talk.world.home().join(".local/share/offshoot/auth.json");
    fs::write(&file, keys).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    terminal.send("/model\r");
    terminal.until_text("› m1").send("\r");
    terminal.until("the model", |screen| screen.ends_with("m1 • thinking medium")).send("hello\r");
    terminal.until_text("Welcome.").until_idle().send("\x04");
    assert!(terminal.ended());
    talk.no_problems();
}
