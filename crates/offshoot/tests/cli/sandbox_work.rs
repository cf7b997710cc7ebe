//! Ordinary work in the sandbox: git, cargo and npm do what they do without it.

use std::path::Path;
use std::process::Command;

use offshoot_agent::testing::script::Reply;
use offshoot_protocol::SandboxMode;
use serde_json::json;

use crate::agent::Talk;
use crate::crashes::say;
use crate::sandbox_escapes::{ALL, is_possible, policy};

/// What the model's command printed last is its exit code, whatever the sandbox adds to the result.
fn works(talk: &Talk) {
    talk.run(&["--sandbox", "workspace", "-p", "go"]);
    let lines = talk.lines();
    let result = lines.iter().find(|line| line["message"]["role"] == "toolResult").unwrap();
    assert!(result["message"]["content"].to_string().contains("it ended with 0"), "{result}");
}

fn talk(command: &str) -> Talk {
    let command = format!("({command}); echo it ended with $?");
    Talk::new([Reply::call("bash", "c1", json!({ "command": command })), Reply::text("Done.")])
}

fn has_sandbox(talk: &Talk) -> bool {
    is_possible(&policy(SandboxMode::Workspace, &talk.world.work(), &talk.world.home()), ALL)
}

const COMMIT: &str = "set -e; echo x > a; git add a; git -c user.name=A -c user.email=a@example.org commit -q -m first; git log --oneline";

#[test]
fn git_commits_in_the_sandbox() {
    for is_there_before in [false, true] {
        let begin = if is_there_before { "" } else { "git init -q . && " };
        let talk = talk(&format!("{begin}{COMMIT}"));
        if !has_sandbox(&talk) {
            return;
        }
        if is_there_before {
            let made = Command::new("git").args(["init", "-q", "."]).current_dir(talk.world.work()).status().unwrap();
            assert!(made.success());
        }
        works(&talk);
        let objects = std::fs::read_dir(talk.world.work().join(".git/refs/heads")).unwrap();
        assert_eq!(objects.count(), 1, "the branch has a commit");
    }
}

/// Their hooks and settings stay as they are; commits, branches, fetches and moved files work.
#[test]
fn git_works_in_nested_clones_in_the_sandbox() {
    let work = format!(
        "(cd code/one && {COMMIT}) && cd code/two && {COMMIT} && git checkout -q -b topic && git mv a b \
         && git stash -q && git stash pop -q && git fetch -q ../one HEAD && git gc -q && git diff FETCH_HEAD > ../difference"
    );
    let talk = talk(&work);
    if !has_sandbox(&talk) {
        return;
    }
    for clone in ["code/one", "code/two"] {
        let made = Command::new("git").args(["init", "-q", clone]).current_dir(talk.world.work()).status().unwrap();
        assert!(made.success());
        std::fs::write(talk.world.work().join(clone).join(".envrc"), "").unwrap();
    }
    works(&talk);
}

#[test]
fn cargo_builds_in_the_sandbox() {
    let tools = Path::new(env!("CARGO")).parent().unwrap().display();
    let talk = talk(&format!("PATH='{tools}':$PATH cargo build --offline && target/debug/tiny"));
    if !has_sandbox(&talk) {
        return;
    }
    let work = talk.world.work();
    std::fs::create_dir(work.join("src")).unwrap();
    std::fs::write(work.join("Cargo.toml"), "[package]\nname = \"tiny\"\nversion = \"0.1.0\"\nedition = \"2024\"\n")
        .unwrap();
    std::fs::write(work.join("src/main.rs"), "fn main() {}\n").unwrap();
    works(&talk);
    assert!(work.join("target/debug/tiny").exists());
}

#[test]
fn npm_installs_in_the_sandbox_where_its_cache_may_be_written() {
    if Command::new("npm").arg("--version").output().is_err() {
        say("npm is not installed: not tried");
        return;
    }
    let talk = talk(
        "set -e; (cd tiny && npm pack); npm install --offline --no-audit --no-fund ./tiny/tiny-1.0.0.tgz; npx --offline tiny",
    );
    if !has_sandbox(&talk) {
        return;
    }
    let (work, home) = (talk.world.work(), talk.world.home());
    std::fs::create_dir(home.join(".npm")).unwrap();
    std::fs::create_dir(work.join("tiny")).unwrap();
    std::fs::write(work.join("tiny/package.json"), r#"{"name":"tiny","version":"1.0.0","bin":"run.js"}"#).unwrap();
    std::fs::write(work.join("tiny/run.js"), "#!/usr/bin/env node\n").unwrap();
    std::fs::write(work.join("package.json"), r#"{"name":"user","version":"1.0.0","private":true}"#).unwrap();
    talk.data("settings.json", &json!({"sandbox": {"mode": "workspace", "writable": ["~/.npm"]}}));
    works(&talk);
    assert!(work.join("node_modules/tiny/package.json").exists() && work.join("node_modules/.bin/tiny").exists());
    assert!(home.join(".npm/_cacache").exists(), "its cache was written");
}
