//! A day's work: a prompt whose tools change a real repository, a follow-up, a compaction, a branch, and going on.

use std::process::Command;

use offshoot_agent::testing::script::{Reply, Say};
use serde_json::{Value, json};

use crate::agent::Talk;

fn call(name: &str, id: &str, arguments: &Value) -> Say {
    let arguments = arguments.as_object().unwrap().clone();
    Say::Call { call: name.to_owned(), id: id.to_owned(), arguments, signature: None }
}

fn git(talk: &Talk, arguments: &[&str]) -> String {
    let mut command = Command::new("git");
    command.args(["-c", "user.name=T", "-c", "user.email=t@example.org", "-c", "init.defaultBranch=main"]);
    let output = command.args(arguments).current_dir(talk.world.work()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn replies() -> Vec<Reply> {
    let thinking = Say::Thinking { thinking: "The bug is in add.".to_owned(), signature: Some("c2lnbmVk".to_owned()) };
    let edit = json!({"path": "calc.sh", "edits": [{"oldText": "$1 - $2", "newText": "$1 + $2"}]});
    vec![
        Reply::say([
            thinking,
            call("read", "c1", &json!({"path": "calc.sh"})),
            call("bash", "c2", &json!({"command": "sh calc.sh 2 3"})),
        ]),
        Reply::say([Say::Text { text: "It subtracts.".to_owned() }, call("edit", "c3", &edit)]),
        Reply::call(
            "bash",
            "c4",
            json!({"command": "sh calc.sh 2 3 && git commit -qam 'add adds' && git log --oneline | wc -l"}),
        ),
        Reply::text("Mended: calc.sh adds now, and it is committed."),
        // The follow-up.
        Reply::call("write", "c5", json!({"path": "README.md", "content": "# calc\n\nAdds two numbers.\n"})),
        Reply::text("There is a README.md now."),
        // The compaction: what went, and the beginning of the turn that was cut.
        Reply::text("## Goal\nMend calc.sh.\n\n## Progress\n### Done\n- [x] calc.sh adds"),
        Reply::text("## Original Request\nA readme."),
        // The branch that is left.
        Reply::text("## Goal\nA readme was written."),
        Reply::text("No readme then."),
    ]
}

#[test]
fn from_the_first_prompt_to_the_second_branch() {
    let talk = Talk::new(replies());
    talk.world.write("calc.sh", "echo $(($1 - $2))\n");
    talk.world.write("AGENTS.md", "Always commit.\n");
    git(&talk, &["init", "-q"]);
    git(&talk, &["config", "user.name", "T"]);
    git(&talk, &["config", "user.email", "t@example.org"]);
    git(&talk, &["add", "."]);
    git(&talk, &["commit", "-qm", "begin"]);

    assert_eq!(talk.run(&["-p", "calc.sh is wrong"]), "Mended: calc.sh adds now, and it is committed.\n");
    assert_eq!(talk.world.read("calc.sh"), "echo $(($1 + $2))\n");
    assert_eq!(git(&talk, &["log", "--format=%s"]), "add adds\nbegin\n");
    assert!(talk.server.seen()[0].body.contains("Always commit."), "the project's rules go along");

    assert_eq!(talk.run(&["-c", "-p", "now a readme"]), "There is a README.md now.\n");
    assert_eq!(git(&talk, &["status", "--short"]), "?? README.md\n");

    let compacted = talk.run(&["compact", "latest", "--keep-recent-tokens", "20"]);
    assert!(compacted.starts_with("compacted in "), "{compacted}");
    let compaction = talk.lines().pop().unwrap();
    let summary = compaction["summary"].as_str().unwrap();
    assert!(summary.starts_with("## Goal\nMend calc.sh.") && summary.contains("A readme."), "{summary}");
    assert_eq!(compaction["details"], json!({"readFiles": [], "modifiedFiles": ["calc.sh"]}));

    let lines = talk.lines();
    let readme = lines.iter().find(|line| line["message"]["content"][0]["text"] == "now a readme").unwrap();
    let before = readme["parentId"].as_str().unwrap();
    let switched = talk.run(&["switch", "latest", before, "--summarize"]);
    assert!(switched.starts_with("now at "), "{switched}");

    assert_eq!(talk.run(&["-c", "-p", "no readme, please"]), "No readme then.\n");
    let asked = talk.server.seen().last().unwrap().json()["messages"].to_string();
    assert!(asked.contains("calc.sh is wrong") && !asked.contains("now a readme"), "{asked}");
    assert!(asked.contains("A readme was written."), "the summary of the branch that was left goes along: {asked}");
    let branches: Value = serde_json::from_str(&talk.run(&["branches", "latest", "--json"])).unwrap();
    assert_eq!(branches.as_array().unwrap().len(), 2);
    let check = talk.command(&["check", "latest"]).output().unwrap();
    assert!(check.status.success(), "{}", String::from_utf8_lossy(&check.stdout));
    talk.no_problems();
}
