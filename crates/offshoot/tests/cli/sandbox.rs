//! `--sandbox`: what the model's commands and file tools may do, the notices for people and models, and a system that does not
//! enforce all of it.

use std::path::PathBuf;
use std::process::Command;

use offshoot_agent::testing::script::Reply;
use offshoot_protocol::SandboxMode;
use serde_json::{Value, json};

use crate::agent::Talk;
use crate::agent_stops::until_ended;
use crate::sandbox_escapes::{ALL, confined, is_possible, policy};
use crate::terminal::Terminal;

fn bash(command: &str) -> Reply {
    Reply::call("bash", "c1", json!({ "command": command }))
}

fn talk(call: Reply) -> Talk {
    Talk::new([call, Reply::text("Done.")])
}

/// The result of the call, as the model gets it.
fn result(talk: &Talk) -> String {
    let lines = talk.lines();
    let result = lines.iter().find(|line| line["message"]["role"] == "toolResult").unwrap();
    let blocks = result["message"]["content"].as_array().unwrap();
    blocks.iter().filter_map(|block| block["text"].as_str()).collect::<Vec<_>>().join("\n")
}

fn system(talk: &Talk) -> String {
    talk.server.seen().last().unwrap().json()["system"].to_string()
}

/// Whether this system enforces all of a sandbox. Where it does not, the tests of commands say so and prove less.
pub(crate) fn has_sandbox(talk: &Talk) -> bool {
    is_possible(&policy(SandboxMode::Workspace, &talk.world.work(), &talk.world.home()), ALL)
}

#[test]
fn a_command_writes_in_the_working_folder_and_is_told_why_not_elsewhere() {
    let talk = talk(bash("echo x > here && echo y > $TMPDIR/there && echo z > ../elsewhere"));
    if !has_sandbox(&talk) {
        return;
    }
    let printed = talk.run(&["--sandbox", "workspace", "-p", "go"]);
    assert!(
        printed.contains("note: sandbox: commands write only in the working folder and have no network\n"),
        "{printed}"
    );
    let work = talk.world.work();
    assert!(work.join("here").exists() && !talk.world.home().join("elsewhere").exists());
    let result = result(&talk);
    assert!(result.contains("Read-only file system"), "{result}");
    let places = format!("[the sandbox may have stopped this: commands in it write only in {}, ", work.display());
    assert!(result.contains(&places) && result.contains("sandbox.writable"), "{result}");
    let told = system(&talk);
    assert!(told.contains("Commands run in a sandbox: they can write only in the working folder"), "{told}");
    let left = std::fs::read_dir(std::env::temp_dir()).unwrap().flatten();
    let left: Vec<PathBuf> = left.map(|entry| entry.path()).filter(|path| path.join("there").exists()).collect();
    assert!(left.is_empty(), "the temporary folder stays: {left:?}");
}

#[test]
fn the_temporary_folder_of_commands_is_for_their_owner_only() {
    let talk = talk(bash("stat -c 'mode %a' $TMPDIR"));
    talk.run(&["--sandbox", "workspace", "-p", "go"]);
    assert!(result(&talk).contains("mode 700"), "{}", result(&talk));
}

/// They are counted, not listed: a folder can have hundreds.
#[test]
fn what_is_read_only_in_nested_repositories_is_said_and_where_none_was_looked_for() {
    let talk = talk(bash("echo x > code/nested/.git/hooks/pre-commit"));
    if !has_sandbox(&talk) {
        return;
    }
    for folder in ["code/nested/.git/hooks", "code/other/.git/hooks", "a/b/c/d/e/f/g"] {
        std::fs::create_dir_all(talk.world.work().join(folder)).unwrap();
    }
    let printed = talk.run(&["--sandbox", "workspace", "-p", "go"]);
    assert!(
        printed.contains("no network; nested repositories more than 6 folders deep are not protected\n"),
        "{printed}"
    );
    let result = result(&talk);
    assert!(result.contains(", except the hooks and settings of 2 nested repositories; "), "{result}");
    assert!(!talk.world.work().join("code/nested/.git/hooks/pre-commit").exists());
}

#[test]
fn in_the_mode_read_only_other_commands_run_where_they_write_nothing() {
    let command = "echo x > here; echo y > $TMPDIR/there && cat $TMPDIR/there; exec 3<>/dev/tcp/192.0.2.1/80";
    let talk = talk(bash(command));
    if !has_sandbox(&talk) {
        return;
    }
    talk.run(&["--sandbox", "workspace", "--sandbox-network", "on", "--approval", "read-only", "-p", "go"]);
    let result = result(&talk);
    assert!(!talk.world.work().join("here").exists());
    assert!(result.contains("Read-only file system") && result.contains("\ny\n"), "{result}");
    assert!(result.contains("Network is unreachable"), "{result}");
    assert!(result.contains("[the approval mode is read-only: this ran in a sandbox"), "{result}");
    assert!(!talk.lines().iter().any(|line| line["customType"] == "offshoot.approval"), "nobody was asked");
}

#[test]
fn in_the_mode_read_only_without_a_sandbox_only_reads_run() {
    for (command, is_run) in [("cat there | wc -l", true), ("cat there > here", false), ("cargo test", false)] {
        let talk = talk(bash(command));
        std::fs::write(talk.world.work().join("there"), "x\ny\n").unwrap();
        talk.run(&["--approval", "read-only", "-p", "go"]);
        let result = result(&talk);
        assert_eq!(result.contains("the approval mode is read-only"), !is_run, "{command}: {result}");
        assert_eq!(result.trim() == "2", is_run, "{command}: {result}");
        assert!(!talk.world.work().join("here").exists());
    }
}

#[test]
fn without_a_network_the_setting_is_named() {
    let talk = talk(bash("exec 3<>/dev/tcp/192.0.2.1/80"));
    if !has_sandbox(&talk) {
        return;
    }
    talk.run(&["--sandbox", "workspace", "-p", "go"]);
    let result = result(&talk);
    assert!(
        result.contains("[the sandbox may have stopped this: commands in it have no network and write only in ")
            && result.contains("; --sandbox-network on, or"),
        "{result}"
    );
    assert!(!talk.lines().iter().any(|line| line["customType"] == "offshoot.approval"), "nobody was asked");
}

#[test]
fn what_the_settings_add_is_writable() {
    let talk = talk(bash("echo x > ~/.npm/here"));
    std::fs::create_dir(talk.world.home().join(".npm")).unwrap();
    let sandbox = json!({"mode": "workspace", "writable": ["~/.npm"]});
    talk.data("settings.json", &json!({ "sandbox": sandbox }));
    talk.run(&["-p", "go"]);
    assert!(talk.world.home().join(".npm/here").exists(), "{}", result(&talk));
}

#[test]
fn the_file_tools_obey_the_sandbox() {
    for (mode, path, is_written) in [
        ("workspace", "a", true),
        ("workspace", "../a", false),
        ("workspace", "out/a", false),
        ("workspace", "nested/.git/hooks/a", false),
        ("read-only", "a", false),
    ] {
        let talk = talk(Reply::call("write", "c1", json!({"path": path, "content": "x"})));
        let other = talk.world.home().join("other");
        std::fs::create_dir(&other).unwrap();
        std::os::unix::fs::symlink(&other, talk.world.work().join("out")).unwrap();
        std::fs::create_dir_all(talk.world.work().join("nested/.git/hooks")).unwrap();
        talk.run(&["--sandbox", mode, "-p", "go"]);
        let result = result(&talk);
        let files = [talk.world.work(), talk.world.home(), other].map(|folder| folder.join("a").exists());
        assert_eq!(files, [is_written, false, false], "{mode} {path}: {result}");
        assert_eq!(result.contains("the sandbox lets you write only in"), !is_written, "{result}");
        assert!(!talk.world.work().join("nested/.git/hooks/a").exists(), "{result}");
    }
}

#[test]
fn a_stopped_command_leaves_nothing_behind_in_the_sandbox() {
    let talk = talk(Reply::call(
        "bash",
        "c1",
        json!({"command": "setsid sh -c 'echo $$ > pid; exec sleep 1000' & while ! test -s pid; do :; done; sleep 1000", "timeout": 2}),
    ));
    talk.run(&["--sandbox", "workspace", "-p", "go"]);
    assert!(result(&talk).contains("[killed: it took longer than 2 seconds]"), "{}", result(&talk));
    until_ended(&talk.world.read("pid"));
}

/// In a sandbox there are no further namespaces, as in many containers: only Landlock is left.
#[test]
fn what_is_not_enforced_is_said_and_may_be_refused() {
    for required in [false, true] {
        let talk = talk(bash("echo x > here; echo y > ../elsewhere"));
        let mut inside = policy(SandboxMode::Workspace, &talk.world.work(), &talk.world.home());
        inside.network = offshoot_protocol::SandboxNetwork::On;
        if !has_sandbox(&talk) {
            return;
        }
        talk.data("settings.json", &json!({"sandbox": {"mode": "workspace", "required": required}}));
        let outer = confined(&inside, ALL, "exec \"$0\" \"$@\"");
        let run = talk.command(&["-p", "go"]);
        let mut command = Command::new(outer.get_program());
        command.args(outer.get_args()).arg(run.get_program()).args(run.get_args()).current_dir(talk.world.work());
        command.env_clear().env("TMPDIR", talk.world.home());
        command.envs(run.get_envs().filter_map(|(name, value)| Some((name, value?))));
        let printed = talk.world.shown(&command.output().unwrap());
        let (work, home) = (talk.world.work().join("here").exists(), talk.world.home().join("elsewhere").exists());
        let told = system(&talk);
        if required {
            assert!(printed.contains("warning: no command runs: sandbox.required is set"), "{printed}");
            assert!(result(&talk).contains("no command runs: sandbox.required is set"), "{}", result(&talk));
            assert!(told.contains("No command can run here"), "{told}");
            assert_eq!((work, home), (false, false));
        } else {
            let begin = "warning: sandbox, in part: commands write only in the working folder and have no network; not stopped here: ";
            assert!(printed.contains(begin) && printed.contains("(user namespaces are not allowed: "), "{printed}");
            assert!(told.contains("Commands run in a sandbox that this system enforces in part"), "{told}");
            assert_eq!((work, home), (true, false), "{}", result(&talk));
        }
    }
}

#[test]
fn programs_that_read_json_are_told() {
    let talk = Talk::new([bash("true"), Reply::text("Done."), Reply::text("Done."), Reply::text("Done.")]);
    let output = talk.command(&["--sandbox", "workspace", "--mode", "json", "-p", "go"]).output().unwrap();
    let lines = String::from_utf8(output.stdout).unwrap();
    let events: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(events[0]["type"], "session");
    assert_eq!((&events[1]["type"], &events[1]["code"]), (&json!("notice"), &json!("sandbox")));
    assert!(events[1]["message"].as_str().unwrap().contains("sandbox"), "{}", events[1]);
    let result = |arguments: &[&str]| -> Value {
        let output = talk.command(&[arguments, &["--output-format", "json", "-p", "go"]].concat()).output().unwrap();
        serde_json::from_slice(&output.stdout).unwrap()
    };
    assert_eq!(result(&["--sandbox", "workspace"])["sandbox"], events[1]["message"]);
    assert_eq!(result(&[]).get("sandbox"), None);
}

#[test]
fn a_mistyped_mode_is_refused_with_the_modes() {
    let talk = Talk::new([]);
    for (option, modes) in
        [("--sandbox=workspaces", "off, workspace, read-only"), ("--sandbox-network=none", "on, off")]
    {
        let output = talk.command(&[option, "-p", "go"]).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(2) && said.contains(modes), "{said}");
    }
}

/// The folders are named, and outside means with everything that the user can do.
#[test]
fn on_a_terminal_a_command_that_failed_is_offered_again_outside() {
    for (answer, is_run, record) in
        [("y", true, "once_unsandboxed"), ("n", false, "reject"), ("tuse here\r", false, "reject")]
    {
        let talk = talk(bash("echo x > ../elsewhere"));
        if !has_sandbox(&talk) {
            return;
        }
        let mut terminal = Terminal::offshoot(&talk, &["--sandbox", "workspace", "do the work"], (100, 24));
        terminal.until_text("bash failed in the sandbox. Run it again outside?").until_text("tab answers");
        assert!(terminal.screen().contains("write only in "), "{}", terminal.screen());
        assert!(!talk.world.home().join("elsewhere").exists());
        terminal.send("\t");
        terminal.until_text("y allow").send(answer);
        terminal.until_text("Done.").until_gone("Run it again outside?");
        terminal.send("\x04");
        assert!(terminal.ended());
        assert_eq!(talk.world.home().join("elsewhere").exists(), is_run);
        let lines = talk.lines();
        let decisions: Vec<&Value> = lines.iter().filter(|line| line["customType"] == "offshoot.approval").collect();
        assert_eq!(decisions.len(), 1);
        assert_eq!((&decisions[0]["data"]["decision"], &decisions[0]["data"]["by"]), (&json!(record), &json!("user")));
        let told = result(&talk);
        assert_eq!(told.contains("[the user let this run once outside the sandbox]"), is_run, "{told}");
        assert_eq!(told.contains("did not allow this call to run outside the sandbox."), !is_run, "{told}");
        assert_eq!(told.contains("sandbox. use here"), answer.starts_with('t'), "{told}");
        assert_eq!(result(&talk).contains("the sandbox may have stopped this"), !is_run, "{}", result(&talk));
    }
}

#[test]
fn a_required_sandbox_is_never_left() {
    let talk = talk(bash("echo x > ../elsewhere"));
    if !has_sandbox(&talk) {
        return;
    }
    talk.data("settings.json", &json!({"sandbox": {"mode": "workspace", "required": true}}));
    let mut terminal = Terminal::offshoot(&talk, &["do the work"], (100, 24));
    terminal.until_text("Done.").send("\x04");
    assert!(terminal.ended());
    assert!(result(&talk).contains("the sandbox may have stopped this"), "{}", result(&talk));
    assert!(!talk.lines().iter().any(|line| line["customType"] == "offshoot.approval"));
}

/// The kernel that this program meets has no Landlock, as before version 5.13, or no filters: a filter answers the first call as
/// such a kernel does.
const WITHOUT_A_CALL: &str = r#"
    # The number of the call, ENOSYS for this one, everything else as it is.
    my $rules = pack("(SCCL)4", 0x20, 0, 0, 0, 0x15, 0, 1, $ENV{MISSING}, 0x06, 0, 0, 0x00050026, 0x06, 0, 0, 0x7fff0000);
    my $filter = pack("Sx6P", 4, $rules);
    syscall($ENV{PRCTL} + 0, 38, 1, 0, 0, 0) == 0 && syscall($ENV{PRCTL} + 0, 22, 2, $filter) == 0 || die("no filter: $!");
    exec(@ARGV);
"#;

#[test]
fn on_a_kernel_without_landlock_or_filters_it_is_said_what_is_not_stopped() {
    let landlock = "signals to other processes, writes into other programs' pipes (";
    let sockets = format!("other programs' abstract sockets, {landlock}");
    let filters = "limits and priorities of other processes, the session's keys, virtual machines' sockets (system calls cannot be refused: ";
    let seccomp = nix::libc::SYS_seccomp.to_string();
    for (missing, network, open) in [
        ("444", "off", landlock),
        ("444", "on", &sockets),
        (seccomp.as_str(), "off", filters),
        (&seccomp, "on", filters),
    ] {
        let talk = talk(bash("echo x > here; echo y > ../elsewhere"));
        if !has_sandbox(&talk) {
            return;
        }
        let run = talk.command(&["--sandbox", "workspace", "--sandbox-network", network, "-p", "go"]);
        let mut command = Command::new("perl");
        command.args(["-e", WITHOUT_A_CALL]).arg(run.get_program()).args(run.get_args());
        command.current_dir(talk.world.work()).env_clear();
        command.envs(run.get_envs().filter_map(|(name, value)| Some((name, value?))));
        command.env("MISSING", missing);
        command.env("PRCTL", if cfg!(target_arch = "aarch64") { "167" } else { "157" });
        let printed = talk.world.shown(&command.output().unwrap());
        let gaps = format!("; not stopped here: {open}");
        assert!(printed.contains("warning: sandbox, in part: ") && printed.contains(&gaps), "{printed}");
        let why = ["(Landlock is not", "(this kernel has no Landlock)"];
        assert!(missing != "444" || why.iter().any(|why| printed.contains(why)), "{printed}");
        assert!(talk.world.work().join("here").exists() && !talk.world.home().join("elsewhere").exists());
    }
}

/// The agent's own settings and extensions are in it, and what runs at the next log-in.
/// What a command would do there is left alone: nothing is at this name, in the root or elsewhere.
#[test]
fn in_the_root_only_the_temporary_folder_is_writable() {
    let name = format!("offshoot-made-{}", std::process::id());
    let talk = talk(bash(&format!("touch {name} /var/tmp/{name}; touch $TMPDIR/a && echo temporary")));
    if !has_sandbox(&talk) {
        return;
    }
    let mut command = talk.command(&["-p", "--sandbox", "workspace", "work"]);
    let output = command.current_dir("/").output().unwrap();
    let made = [format!("/{name}"), format!("/var/tmp/{name}")].map(|path| std::fs::remove_file(path).is_ok());
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(made, [false, false], "it is gone again");
    assert!(told.contains("your own settings are in this folder"), "{told}");
    assert!(result(&talk).contains("temporary"), "{}", result(&talk));
}

#[test]
fn in_the_home_folder_only_the_temporary_folder_is_writable() {
    // The list of critical paths does not see through a variable.
    let talk = talk(bash("touch made; d=.local/share; touch $d/offshoot/x; touch $TMPDIR/a && echo temporary"));
    if !has_sandbox(&talk) {
        return;
    }
    let mut command = talk.command(&["-p", "--sandbox", "workspace", "work"]);
    let output = command.current_dir(talk.world.home()).output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    let home = talk.world.home();
    assert!(!home.join("made").exists() && !home.join(".local/share/offshoot/x").exists());
    assert!(told.contains("your own settings are in this folder"), "{told}");
    assert!(result(&talk).contains("temporary"), "{}", result(&talk));
}
