//! Tools as an agent runs them: several at once, with real processes, stopped in the middle.

use std::future::Future;
use std::path::Path;
use std::sync::Arc;

use offshoot_agent::tool::bash::run as run_by_hand;
use offshoot_agent::tool::{self, Bash, ConversationLink, OutputFolder, Shell, Tool, ToolContext, ToolOutcome};
use offshoot_protocol::BashRun;
use offshoot_protocol::message::Block;
use serde_json::{Value, json};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::sync::oneshot;

use crate::world::PATIENCE;

fn place(dir: &Path) -> ToolContext {
    ToolContext {
        call_id: String::new(),
        sandbox: None,
        neutral: None,
        conversation: ConversationLink::default(),
        cwd: dir.to_owned(),
        home: None,
        outputs: OutputFolder::new(dir.join("spill"), "s"),
        session_env: Vec::new(),
        keys: Default::default(),
    }
}

fn on_a_runtime<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async { tokio::time::timeout(PATIENCE, work).await }).expect("waited in vain")
}

fn start(tool: &dyn Tool, arguments: Value, dir: &Path) -> (tool::Running, UnboundedReceiver<ToolOutcome>) {
    let (partial, received) = unbounded_channel();
    (tool.run(arguments, Arc::new(place(dir)), partial), received)
}

fn bash(command: &str, dir: &Path) -> ToolOutcome {
    on_a_runtime(start(&Bash::default(), json!({ "command": command }), dir).0)
}

fn text(outcome: &ToolOutcome) -> &str {
    let first = outcome.content.first().and_then(|block| match block {
        Block::Text { text, .. } => Some(text.as_str()),
        Block::Thinking { .. } | Block::Image { .. } | Block::ToolCall { .. } => None,
    });
    first.expect("the first block is a text")
}

/// Looks again and again until it is so; the runtime's patience ends it.
async fn until(mut is_so: impl FnMut() -> bool) {
    while !is_so() {
        tokio::task::yield_now().await;
    }
}

/// Whether a process that is no corpse has this id, or belongs to the group of this id.
#[cfg(target_os = "linux")]
fn lives(group: i32) -> bool {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    processes.filter_map(|entry| std::fs::read_to_string(entry.path().join("stat")).ok()).any(|stat| {
        let fields: Vec<&str> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
        fields[0] != "Z" && fields[2] == group.to_string()
    })
}

#[cfg(not(target_os = "linux"))]
fn lives(group: i32) -> bool {
    let listed = std::process::Command::new("ps").args(["-A", "-o", "pgid=,stat="]).output().unwrap();
    let listed = String::from_utf8(listed.stdout).unwrap();
    listed.lines().any(|line| line.split_whitespace().next() == Some(&group.to_string()) && !line.contains('Z'))
}

/// Starts a command, waits until it has written its id into a file, and gives that back beside the running command.
async fn started(command: &str, dir: &Path) -> (tokio::task::JoinHandle<ToolOutcome>, i32) {
    let command = format!("echo $$ > id.new; {command}");
    let running = tokio::spawn(start(&Bash::default(), json!({ "command": command }), dir).0);
    let file = dir.join("id");
    until(|| file.exists()).await;
    let id = std::fs::read_to_string(file).unwrap().trim().parse().unwrap();
    (running, id)
}

#[test]
fn output_comes_in_the_order_in_which_it_was_written_and_input_is_empty() {
    let dir = tempfile::tempdir().unwrap();
    let outcome = bash("for n in 1 2 3; do echo out $n; echo err $n >&2; done; cat; pwd -P", dir.path());
    let here = dir.path().canonicalize().unwrap();
    assert_eq!(text(&outcome), format!("out 1\nerr 1\nout 2\nerr 2\nout 3\nerr 3\n{}\n", here.display()));
    assert!(!outcome.is_error && outcome.details.is_none());
}

#[test]
fn every_way_to_end_is_told() {
    let dir = tempfile::tempdir().unwrap();
    for (command, is_error, words) in [
        ("true", false, "(no output)"),
        ("echo so; exit 3", true, "so\n\n\n[exit code 3]"),
        ("kill -TERM $$", true, "(no output)\n\n[exit code 143]"),
        ("nonsense-nobody-has", true, "not found\n\n\n[exit code 127]"),
        ("printf 'caf\\351 \\033[1mx'", false, "caf\u{fffd} \u{1b}[1mx"),
    ] {
        let outcome = bash(command, dir.path());
        assert_eq!(outcome.is_error, is_error, "{command}: {outcome:?}");
        assert!(text(&outcome).ends_with(words), "{command}: {outcome:?}");
    }
    let outcome = bash("true", &dir.path().join("gone"));
    assert!(outcome.is_error && text(&outcome).contains("is gone"), "{outcome:?}");
    for timeout in [json!(0), json!(-1), json!(1e300), json!("soon")] {
        let arguments = json!({ "command": "true", "timeout": timeout });
        assert!(on_a_runtime(start(&Bash::default(), arguments, dir.path()).0).is_error, "{timeout}");
    }
}

#[test]
fn long_output_is_cut_at_the_front_and_kept_in_a_file() {
    let dir = tempfile::tempdir().unwrap();
    let outcome = bash("seq 1 3000", dir.path());
    let details = outcome.details.clone().unwrap();
    let path = details["fullOutputPath"].as_str().unwrap();
    assert!(text(&outcome).starts_with("1001\n1002\n"), "{outcome:?}");
    assert!(text(&outcome).ends_with(&format!("3000\n\n[lines 1001-3000 of 3000; all of it is in {path}]")));
    assert_eq!(std::fs::read_to_string(path).unwrap().lines().count(), 3000);
    assert_eq!(details["truncation"]["truncatedBy"], "lines");

    let outcome = bash("head -c 60000 /dev/zero | tr '\\0' x; exit 1", dir.path());
    assert!(
        outcome.is_error && text(&outcome).contains("[the last 50.0KB of line 1, which has 58.6KB; all of it is in")
    );
}

#[test]
fn partial_outcomes_come_while_a_command_runs() {
    let dir = tempfile::tempdir().unwrap();
    let (outcome, seen) = on_a_runtime(async {
        let command = "echo first; until [ -e go ]; do :; done; echo second";
        let (running, mut partial) = start(&Bash::default(), json!({ "command": command }), dir.path());
        let running = tokio::spawn(running);
        let seen = partial.recv().await.unwrap();
        std::fs::write(dir.path().join("go"), "").unwrap();
        (running.await.unwrap(), seen)
    });
    assert_eq!((text(&seen), text(&outcome)), ("first\n", "first\nsecond\n"));
}

#[test]
fn what_runs_on_in_the_background_holds_nothing_up() {
    let dir = tempfile::tempdir().unwrap();
    let outcome = bash("sleep 1000 & echo $!; echo $$ > id", dir.path());
    assert!(!outcome.is_error, "{outcome:?}");
    let group = std::fs::read_to_string(dir.path().join("id")).unwrap().trim().parse().unwrap();
    assert!(lives(group), "a server that was started lives on");
    let child = text(&outcome).trim().to_owned();
    assert!(std::process::Command::new("kill").arg(child).status().unwrap().success());
}

#[test]
fn a_timeout_kills_all_that_a_command_started() {
    let dir = tempfile::tempdir().unwrap();
    let command = "trap '' TERM; (trap '' TERM; sleep 1000) & echo begun; echo $$ > id; wait";
    on_a_runtime(async {
        // Far more time than the command needs to begin.
        let outcome = start(&Bash::default(), json!({ "command": command, "timeout": 5 }), dir.path()).0.await;
        assert!(outcome.is_error);
        assert_eq!(text(&outcome), "begun\n\n\n[killed: it took longer than 5 seconds]");
        let group = std::fs::read_to_string(dir.path().join("id")).unwrap().trim().parse().unwrap();
        until(|| !lives(group)).await;
    });
}

#[test]
fn a_command_that_is_dropped_leaves_no_process_behind() {
    let dir = tempfile::tempdir().unwrap();
    on_a_runtime(async {
        let command =
            "trap '' TERM INT HUP; (sleep 1000 & sleep 1000) & (nohup sleep 1000 &); mv id.new id; while :; do :; done";
        let (running, group) = started(command, dir.path()).await;
        assert!(lives(group));
        running.abort();
        until(|| !lives(group)).await;
    });
}

#[test]
fn a_group_dies_also_when_its_shell_has_ended_and_only_the_background_writes() {
    let dir = tempfile::tempdir().unwrap();
    on_a_runtime(async {
        let command = "(while :; do echo x; done) & mv id.new id; exit 0";
        let (running, group) = started(command, dir.path()).await;
        running.abort();
        until(|| !lives(group)).await;
    });
}

fn by_hand(command: &str, shell: &Shell, dir: &Path, stop: oneshot::Receiver<()>) -> (BashRun, String) {
    let mut seen = String::new();
    let place = place(dir);
    let run = on_a_runtime(run_by_hand(command, shell, &place, stop, |printed| seen.push_str(&printed.text)));
    (run.unwrap(), seen)
}

#[test]
fn a_persons_command_is_recorded_without_what_only_terminals_understand() {
    let dir = tempfile::tempdir().unwrap();
    let shell =
        Shell { prefix: Some("greeting=hello".into()), env: vec![("WHO".into(), "you".into())], ..Shell::default() };
    let (_sender, stop) = oneshot::channel();
    let command = "printf '\\033[31m%s\\033[0m\\r\\n%s\\007\\n' $greeting $WHO; exit 4";
    let (run, seen) = by_hand(command, &shell, dir.path(), stop);
    let output = "hello\nyou\n".to_owned();
    assert_eq!(seen, output);
    let expected = BashRun { output, exit_code: Some(4), cancelled: false, ..BashRun::stopped() };
    assert_eq!(run, expected);
}

/// The states of a progress bar were one line, one after another.
#[test]
fn the_progress_of_a_persons_command_is_its_last_state() {
    let dir = tempfile::tempdir().unwrap();
    let (_sender, stop) = oneshot::channel();
    let (run, seen) = by_hand("printf 'a\\r\\n 1%%\\r 50%%\\r100%%\\n'", &Shell::default(), dir.path(), stop);
    assert_eq!((run.output.as_str(), seen.as_str()), ("a\n100%\n", "a\n 1%\r 50%\r100%\n"));
}

#[test]
fn a_persons_command_can_be_stopped_and_keeps_its_output() {
    let dir = tempfile::tempdir().unwrap();
    on_a_runtime(async {
        let (sender, stop) = oneshot::channel();
        let (place, shell) = (place(dir.path()), Shell::default());
        let mut sender = Some(sender);
        let run = run_by_hand("echo $$; sleep 1000", &shell, &place, stop, |printed| {
            if let Some(sender) = sender.take_if(|_| printed.text.ends_with('\n')) {
                sender.send(()).unwrap();
            }
        });
        let run = run.await.unwrap();
        assert_eq!((run.cancelled, run.exit_code), (true, None));
        let group = run.output.trim().parse().unwrap();
        until(|| !lives(group)).await;
    });
}

#[test]
fn a_shell_that_is_not_there_is_an_error_with_its_name() {
    let dir = tempfile::tempdir().unwrap();
    let shell = Shell { program: Some("/no/such/shell".into()), ..Shell::default() };
    let (_sender, stop) = oneshot::channel();
    let failed = on_a_runtime(run_by_hand("true", &shell, &place(dir.path()), stop, |_| {})).unwrap_err();
    assert_eq!(failed, "cannot run /no/such/shell: no such file or folder");
}

#[test]
fn edits_of_one_file_at_the_same_time_lose_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let content: String = (0..40).map(|n| format!("<{n}>\n")).collect();
    std::fs::write(dir.path().join("f"), content).unwrap();
    std::os::unix::fs::symlink("f", dir.path().join("link")).unwrap();
    on_a_runtime(async {
        let edits = (0..40).map(|n| {
            let path = if n % 2 == 0 { "f" } else { "link" };
            let edits = json!([{"oldText": format!("<{n}>"), "newText": format!("[{n}]")}]);
            tokio::spawn(start(&tool::Edit, json!({ "path": path, "edits": edits }), dir.path()).0)
        });
        for edit in edits.collect::<Vec<_>>() {
            let outcome = edit.await.unwrap();
            assert!(!outcome.is_error, "{outcome:?}");
        }
    });
    let expected: String = (0..40).map(|n| format!("[{n}]\n")).collect();
    assert_eq!(std::fs::read_to_string(dir.path().join("f")).unwrap(), expected);
}

#[test]
fn tools_are_chosen_by_name() {
    let names = |chosen: &str| {
        let tools = tool::select(chosen, &Shell::default()).map_err(|unknown| unknown.to_string())?;
        Ok::<_, String>(tools.iter().map(|tool| tool.name().to_owned()).collect::<Vec<_>>().join(","))
    };
    assert_eq!(names(tool::DEFAULT).unwrap(), "read,bash,edit,write,ask,todo,plan,task");
    assert_eq!(names(" grep, ls,grep,").unwrap(), "grep,ls");
    assert_eq!(names("").unwrap(), "");
    let known =
        "there are read, bash, edit, write, grep, find, ls, ask, todo, plan, task, bash_output, bash_stop, bash_list";
    assert_eq!(names("read,Raed").unwrap_err(), format!("there is no tool \"Raed\" (did you mean read?); {known}"));
    assert_eq!(names("xyzzy").unwrap_err(), format!("there is no tool \"xyzzy\"; {known}"));
}

#[test]
fn what_models_are_told_is_complete() {
    for tool in tool::all(&Shell::default()) {
        let spec = tool.spec();
        // These come into use in the middle of a run: the system prompt stays as it was.
        let comes_later = spec.name.starts_with("bash_");
        assert!(spec.description.len() > 20 && tool.summary().is_none() == comes_later, "{}", spec.name);
        let fields = spec.parameters["properties"].as_object().unwrap();
        assert!(fields.values().all(|field| field["description"].is_string() && field["type"].is_string()), "{spec:?}");
        if fields.is_empty() {
            continue;
        }
        let outcome = on_a_runtime(start(&*tool, json!({"limit": "many", "path": 7}), Path::new("/")).0);
        assert!(outcome.is_error && text(&outcome).contains("do not fit"), "{}: {outcome:?}", spec.name);
    }
}
