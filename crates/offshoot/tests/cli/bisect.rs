//! `offshoot bisect`: the turn that broke something is found in a copy, and nothing else changes.

use std::os::unix::process::CommandExt as _;
use std::process::Stdio;

use offshoot_agent::testing::script::Reply;
use serde_json::{Value, json};

use crate::agent::Talk;
use crate::files::{interrupt_restores, kept};

/// A session of turns that each run a command, with the ids of their prompts; the last turn is left to be run.
fn session(commands: &[&str], later: &str) -> (Talk, Vec<String>) {
    let replies = commands.iter().chain([&later]).enumerate().flat_map(|(turn, command)| {
        let call = Reply::call("bash", &format!("c{turn}"), json!({"command": command}));
        [call, Reply::text("done")]
    });
    let talk = Talk::new(replies.collect::<Vec<_>>());
    talk.world.write("n", "0\n");
    for turn in 0..commands.len() {
        take_turn(&talk, turn);
    }
    let prompts = talk.lines().iter().filter(|line| line["message"]["role"] == "user").map(id).collect();
    (talk, prompts)
}

fn take_turn(talk: &Talk, turn: usize) {
    let prompt = format!("turn {turn}");
    let more: &[&str] = if turn == 0 { &[] } else { &["-c"] };
    let said = talk.run(&[&["-p", &prompt, "--approval", "auto"], more].concat());
    assert!(said.contains("done"), "{said}");
    talk.no_problems();
}

fn id(line: &Value) -> String {
    line["id"].as_str().unwrap().to_owned()
}

const COUNT: [&str; 6] =
    ["echo 1 > n", "echo 2 > n", "echo 3 > n; touch unbuilt", "rm unbuilt; echo 4 > n", "echo 5 > n", "echo 6 > n"];

#[test]
fn the_turn_that_broke_it_is_found_and_this_folder_stays() {
    let (talk, prompts) = session(&COUNT, "echo 1 > n");
    talk.world.write("mine", "not of any turn\n");
    let before = talk.world.snapshot();
    // Where `unbuilt` is, nothing can be said.
    let test = "test -e mine || exit 3; test ! -e unbuilt || exit 125; test $(cat n) -lt 5";
    let arguments = ["bisect", "latest", "--good", &prompts[0], "--bad", "@", "--", "sh", "-c", test];
    let said = talk.run(&arguments);
    assert!(said.contains(&format!("in the turn {}  turn 4", &prompts[4][..4])), "{said}");
    assert!(said.starts_with("first bad: ") && said.contains("changed n\n"), "{said}");
    let mut line = arguments.to_vec();
    line.insert(2, "--json");
    let found: Value = serde_json::from_slice(&talk.command(&line).output().unwrap().stdout).unwrap();
    assert_eq!((&found["turn"], &found["suspects"][0]["paths"]), (&json!(prompts[4]), &json!(["n"])), "{found}");
    let folder = talk.world.home().join(".local/share/offshoot/bisect");
    assert_eq!(std::fs::read_dir(folder).unwrap().count(), 0, "the copy is gone");
    let after = talk.world.snapshot();
    let of_folder = |path: &std::path::Path| path.starts_with(talk.world.work());
    assert!(before.iter().filter(|(path, _)| of_folder(path)).all(|(path, file)| after.get(path) == Some(file)));
}

#[test]
fn a_skipped_state_leaves_two_suspects_and_a_flaky_test_is_told() {
    let (talk, prompts) = session(&COUNT, "echo 1 > n");
    let run = |test: &str| {
        talk.run(&[
            "bisect",
            "latest",
            "--good",
            &prompts[0],
            "--bad",
            "@",
            "--setup",
            "test ! -e unbuilt",
            "--",
            "sh",
            "-c",
            test,
        ])
    };
    // It breaks where the setup fails.
    let said = run("test $(cat n) -lt 3");
    assert!(said.contains("skipped states leave 2 suspects") && said.contains("[exit code 1]"), "{said}");
    assert!(said.contains("turn 2") && said.contains("turn 3"), "{said}");
    assert!(said.contains("skipped: --setup failed (exit status: 1)"), "{said}");
    // In state 2 each second run fails.
    let flaky = "test $(cat n) != 2 || { test -e ran && rm ran && exit 1; touch ran; }; test $(cat n) -lt 5";
    let said = run(flaky);
    assert!(said.contains("flaky: it passed once and failed once") && said.contains("in the turn"), "{said}");
    assert!(said.contains("turn 4"), "{said}");
    // Neither end is believed.
    let said = run("false");
    assert!(said.contains("the good entry is bad: nothing can be searched"), "{said}");
    assert!(said.contains("hint: name an entry at which the test passes with --good"), "{said}");
    let said = run("exit 125");
    assert!(said.contains("skipped: the test ended with exit code 125"), "{said}");
    let said = run("kill -9 $$");
    assert!(said.contains("the test ended with signal"), "{said}");
}

#[test]
fn the_good_entry_may_be_on_another_branch() {
    let (talk, prompts) = session(&COUNT, "echo 1 > n");
    let bad = id(talk.lines().iter().rfind(|line| line["customType"] == "offshoot.files").unwrap());
    talk.run(&["switch", "latest", &prompts[2], "--files"]);
    take_turn(&talk, 6);
    let run = |test: &str| talk.run(&["bisect", "latest", "--good", "@", "--bad", &bad, "--", "sh", "-c", test]);
    let said = run("test $(cat n) -lt 6");
    assert!(said.contains("where the branches part): good") && said.contains("turn 5"), "{said}");
    // It was broken before the branches part, and repaired on this one.
    let said = run("test $(cat n) -lt 2");
    assert!(said.contains("the good branch repaired it") && said.contains("[exit code 5]"), "{said}");
    let said = talk.run(&["bisect", "latest", "--good", &bad, "--bad", &prompts[1], "--", "true"]);
    assert!(said.contains("the bad entry comes before the good one"), "{said}");
    let said = talk.run(&["bisect", "latest", "--good", &bad, "--bad", &bad, "--", "true"]);
    assert!(said.contains("the good entry and the bad one are the same"), "{said}");
}

#[test]
fn what_a_killed_search_leaves_is_removed_by_the_next_one() {
    let (talk, prompts) = session(&COUNT[..2], "true");
    let data = talk.world.home().join(".local/share/offshoot");
    let folders = |name: &str| std::fs::read_dir(data.join(name)).unwrap().count();
    let own = kept(&talk);
    let bisect =
        |test: &str| talk.command(&["bisect", "latest", "--good", &prompts[0], "--bad", "@", "--", "sh", "-c", test]);
    let began = talk.world.home().join("began");
    let mut hangs = bisect(&format!("touch {}; exec sleep 1000", began.display()));
    let mut hanging = hangs.process_group(0).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    while !began.exists() {
        assert!(hanging.try_wait().unwrap().is_none(), "it ended before its test began");
        std::thread::yield_now();
    }
    let group = rustix::process::Pid::from_child(&hanging);
    rustix::process::kill_process_group(group, rustix::process::Signal::KILL).unwrap();
    hanging.wait().unwrap();
    assert_eq!((folders("files"), folders("bisect")), (2, 3), "of both folders; the copy, its lock and its output");
    // The next copy has the same path.
    interrupt_restores(&talk, &own);
    let said = talk.world.shown(&bisect("test $(cat n) -lt 2").output().unwrap());
    assert!(said.contains("first bad: "), "{said}");
    assert_eq!((folders("files"), folders("bisect")), (1, 0));
}
