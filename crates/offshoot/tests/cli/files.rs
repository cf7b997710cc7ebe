//! Files belong to the tree: what an agent changed is undone and done again with `switch --files`.

use std::path::PathBuf;
use std::process::Stdio;

use offshoot_agent::testing::script::Reply;
use serde_json::{Value, json};

use crate::agent::Talk;
use crate::crashes::fed;
use crate::rpc_client::RpcClient;

fn edit(id: &str, path: &str, old: &str, new: &str) -> Reply {
    Reply::call("edit", id, json!({"path": path, "edits": [{"oldText": old, "newText": new}]}))
}

pub(crate) fn bash(id: &str, command: &str) -> Reply {
    Reply::call("bash", id, json!({"command": command}))
}

/// A session in which an edit and a command changed files, and the id of its prompt.
pub(crate) fn session(talk: &Talk) -> String {
    talk.world.write("a.txt", "one\n");
    talk.world.write("gone.txt", "still here\n");
    let said = talk.run(&["-p", "change it", "--approval", "auto"]);
    assert!(said.contains("done"), "{said}");
    talk.no_problems();
    let lines = talk.lines();
    let is_prompt = |line: &&Value| line["message"]["role"] == "user";
    lines.iter().find(is_prompt).unwrap()["id"].as_str().unwrap().to_owned()
}

pub(crate) fn talk() -> Talk {
    Talk::new([
        edit("c1", "a.txt", "one", "two"),
        bash("c2", "rm gone.txt; mkdir -p sub; echo new > sub/new.txt; chmod 755 a.txt"),
        Reply::text("done"),
    ])
}

pub(crate) fn files(talk: &Talk) -> Vec<String> {
    let read = |name: &str| std::fs::read_to_string(talk.world.work().join(name)).unwrap_or_else(|_| "-".to_owned());
    ["a.txt", "gone.txt", "sub/new.txt"].map(read).into()
}

#[test]
fn an_edit_and_a_command_go_back_and_forth_with_the_conversation() {
    let talk = talk();
    let prompt = session(&talk);
    let after = files(&talk);
    assert_eq!(after, ["two\n", "-", "new\n"]);
    let recorded: Vec<Value> = talk.lines().into_iter().filter(|line| line["customType"] == "offshoot.files").collect();
    assert_eq!(recorded.len(), 2, "{recorded:?}");
    assert_eq!(recorded[0]["data"]["calls"], json!([{"id": "c1", "name": "edit"}]));
    assert_eq!(recorded[1]["data"]["count"], 3, "{recorded:?}");
    let last = talk.lines().last().unwrap()["id"].as_str().unwrap().to_owned();
    let shown = |arguments: &[&str]| talk.run(arguments).replace(&prompt[..4], "PROMPT");
    insta::assert_snapshot!(shown(&["switch", "latest", &prompt, "--files", "--dry-run"]), @"
    would go to PROMPT  change it
    7 entries left behind
    [N] tokens (3 messages, [N] system prompt and tools) · next prompt ≈ [COST]
    would write a.txt
    would write gone.txt
    would remove sub/new.txt
    ");
    assert_eq!(files(&talk), after, "a dry run changes nothing");
    insta::assert_snapshot!(shown(&["switch", "latest", &prompt, "--files"]), @"
    now at PROMPT  change it
    2 files written, 1 removed
    ");
    assert_eq!(files(&talk), ["one\n", "still here\n", "-"]);
    assert!(!talk.world.work().join("sub").exists(), "the folder came with its file, and goes with it");
    insta::assert_snapshot!(talk.run(&["switch", "latest", &last, "--files", "--json"]), @r#"{"id":"[ID1]","to":"[ID2]","left":0,"files":{"written":["a.txt","sub/new.txt"],"removed":["gone.txt"],"merged":[],"conflicts":[],"left":[],"foreign":0}}"#);
    assert_eq!(files(&talk), after);
}

#[test]
fn without_the_option_files_stay_and_what_others_wrote_stays_with_it() {
    let talk = talk();
    let prompt = session(&talk);
    let after = files(&talk);
    talk.run(&["switch", "latest", &prompt]);
    assert_eq!(files(&talk), after);
    talk.world.write("a.txt", "mine\n");
    let said = talk.run(&["switch", "latest", &prompt, "--files"]);
    assert!(said.contains("conflict: a.txt was changed by somebody else and stays"), "{said}");
    assert_eq!(files(&talk), ["mine\n", "still here\n", "-"]);
    let beside = format!("a.txt.offshoot-{}", &prompt[..8]);
    assert_eq!(talk.world.read(&beside), "one\n");
}

/// [`session`] with another commit checked out than now.
pub(crate) fn session_of_another_commit(talk: &Talk) -> String {
    let commit = |digit: &str| format!("{}\n", digit.repeat(40));
    talk.world.write(".git/HEAD", commit("a"));
    let prompt = session(talk);
    talk.world.write(".git/HEAD", commit("b"));
    prompt
}

/// What was recorded at one commit may not fit the files of another one: nothing is done before that was said.
#[test]
fn a_restore_to_files_of_another_commit_warns_first() {
    let talk = talk();
    let prompt = session_of_another_commit(&talk);
    let after = files(&talk);
    let leaf = || talk.run(&["context", "latest"]).contains("done");
    let refused =
        "these files were recorded with aaaaaaaaaaaa checked out in git, and bbbbbbbbbbbb is now: no file was changed";
    let ways: [&[&str]; 4] = [
        &["switch", "latest", &prompt, "--files"],
        &["pop", "latest", &prompt, "--files", "--summary", "x"],
        &["fork", "latest", "--at", &prompt, "--files"],
        &["files", "restore", "latest", &prompt],
    ];
    for way in ways {
        let said = talk.run(way);
        assert!(said.contains(refused) && said.contains("--across-commits") && said.contains("[exit code"), "{said}");
        let said = talk.run(&[way, &["--dry-run"]].concat());
        assert!(said.contains("would write a.txt"), "{said}");
        assert_eq!((files(&talk), leaf(), talk.files().len()), (after.clone(), true, 1), "{way:?}");
    }
    let mut client = RpcClient::start(&talk, &["-c"]);
    let said = client.ask(json!({"type": "navigate_tree", "targetId": prompt, "files": true}));
    assert!(said.as_str().is_some_and(|said| said.contains(refused) && said.contains("acrossCommits")), "{said}");
    let said = client.ask(json!({"type": "fork", "entryId": prompt, "files": true}));
    assert!(said.as_str().is_some_and(|said| said.contains(refused)), "{said}");
    assert_eq!((files(&talk), talk.files().len()), (after.clone(), 1));
    client.ask(json!({"type": "navigate_tree", "targetId": prompt, "files": true, "acrossCommits": true}));
    assert_eq!(files(&talk), ["one\n", "still here\n", "-"]);
    drop(client);
    // Without files there is nothing to warn of, and with the option all is done.
    let said = talk.run(&["undo", "latest", "--files"]);
    assert!(said.contains(refused), "{said}");
    talk.run(&["undo", "latest", "--files", "--across-commits"]);
    assert_eq!(files(&talk), after);
    talk.run(&["switch", "latest", &prompt, "--files", "--across-commits"]);
    assert_eq!(files(&talk), ["one\n", "still here\n", "-"]);
}

/// A session from elsewhere names paths and contents, and none of it has power here.
#[test]
fn a_forged_entry_writes_nothing() {
    let talk = talk();
    let prompt = session(&talk);
    let file = talk.files().remove(0);
    let text = std::fs::read_to_string(&file).unwrap();
    let forged = text.replace("\"sub/new.txt\"", "\"../../.bashrc\"").replace("\"gone.txt\"", "\"a.txt\"");
    assert_ne!(forged, text);
    std::fs::write(&file, forged).unwrap();
    let before = talk.world.snapshot();
    let said = talk.run(&["switch", "latest", &prompt, "--files"]);
    assert!(said.contains("1 entry cannot be read") || said.contains("1 entry recorded"), "{said}");
    let after = talk.world.snapshot();
    let changed: Vec<_> =
        after.iter().filter(|(path, _)| path.file_name().is_some_and(|name| name == ".bashrc")).collect();
    assert!(changed.is_empty(), "{changed:?}");
    assert_eq!(files(&talk)[1..], ["-", "new\n"], "{said} {}", before.len());
}

#[test]
fn the_command_shows_compares_restores_and_collects() {
    let talk = talk();
    let prompt = session(&talk);
    let after = files(&talk);
    let run = |arguments: &[&str]| talk.run(arguments);
    let log = run(&["files", "log", "latest", "--json"]);
    let log: Value = serde_json::from_str(&log).unwrap();
    assert_eq!(log[1]["changes"][2], json!({"path": "sub/new.txt", "verb": "added"}), "{log}");
    insta::assert_snapshot!(run(&["files", "diff", "latest", &prompt]), @"
    --- a.txt
    +++ a.txt
    @@ -1,1 +1,1 @@
    -two
    +one
    --- gone.txt
    +++ gone.txt
    @@ -0,0 +1,1 @@
    +still here
    --- sub/new.txt
    +++ sub/new.txt
    @@ -1,1 +0,0 @@
    -new
    ");
    let edited = talk.lines().into_iter().find(|line| line["customType"] == "offshoot.files").unwrap();
    let said = run(&["files", "diff", "latest", edited["id"].as_str().unwrap()]);
    assert!(said.starts_with("a.txt: its permissions would change\n"), "{said}");
    insta::assert_snapshot!(run(&["files", "restore", "latest", &prompt, "--dry-run"]), @"
    would write a.txt
    would write gone.txt
    would remove sub/new.txt
    ");
    assert_eq!(files(&talk), after, "a dry run changes nothing");
    insta::assert_snapshot!(run(&["files", "restore", "latest", &prompt]), @"2 files written, 1 removed");
    assert_eq!(files(&talk), ["one\n", "still here\n", "-"]);
    talk.world.write("a.txt", "mine\n");
    // The conversation is where it was, and the files are remembered to be elsewhere.
    assert!(run(&["context", "latest"]).contains("done"));
    let last = talk.lines().last().unwrap()["id"].as_str().unwrap().to_owned();
    let said = run(&["files", "restore", "latest", &last]);
    assert!(said.contains("conflict: a.txt"), "{said}");
    assert_eq!(files(&talk), ["mine\n", "-", "new\n"]);
    insta::assert_snapshot!(run(&["files", "status", "latest"]), @"
    files of ~/work are at [ID1]
    3 files changed by this session up to this entry
    changed since: a.txt
    store: 4 contents, 1 KiB
    bounds: 10 MiB per file (files.maxBytes), 2 GiB in all (files.maxStoreBytes)
    ");
    insta::assert_snapshot!(run(&["files", "gc", "latest"]), @"
    removed, needed by no session: 0 contents, 0 KiB
    kept: 4 contents, 1 KiB
    ");
    assert_eq!(talk.lines().last().unwrap()["id"], last.as_str(), "nothing was written to the session");
}

/// Makes every content of the stores older than any that may still be under way.
fn age_contents(folder: &std::path::Path) {
    for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
        if entry.file_type().unwrap().is_dir() {
            age_contents(&entry.path());
        } else {
            let file = std::fs::File::options().write(true).open(entry.path()).unwrap();
            file.set_modified(std::time::UNIX_EPOCH + std::time::Duration::from_secs(1)).unwrap();
        }
    }
}

#[test]
fn contents_that_only_a_session_in_the_trash_needs_go_and_those_of_others_stay() {
    let talk = Talk::new([
        edit("c1", "a.txt", "one", "two"),
        Reply::text("done"),
        edit("c2", "a.txt", "two", "three"),
        Reply::text("done"),
    ]);
    session(&talk);
    let first = talk.lines()[0]["id"].as_str().unwrap().to_owned();
    let said = talk.run(&["-p", "change it again", "--approval", "auto"]);
    assert!(said.contains("done"), "{said}");
    let lines = std::fs::read_to_string(&talk.files()[1]).unwrap();
    let mut lines = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let prompt = lines.find(|line| line["message"]["role"] == "user").unwrap()["id"].clone();
    age_contents(&talk.world.home().join(".local/share/offshoot/files"));
    let collected = || talk.run(&["files", "gc", "latest"]);
    assert!(collected().starts_with("removed, needed by no session: 0 contents"));
    talk.run(&["trash", &first]);
    let said = collected();
    assert!(said.starts_with("removed, needed by no session: 1 content,"), "{said}");
    // What the other session needs is there, and so are the files as they are.
    talk.run(&["switch", "latest", prompt.as_str().unwrap(), "--files"]);
    assert_eq!(files(&talk)[0], "two\n");
    assert!(collected().starts_with("removed, needed by no session: 0 contents"));
}

/// The bounds are the user's: a project can set neither.
#[test]
fn a_setting_says_how_large_a_recorded_file_is() {
    let grow = |id: &str| bash(id, "printf %2000s x > large; printf %1000s x > small");
    let talk = Talk::new([grow("c1"), Reply::text("one"), grow("c2"), Reply::text("two")]);
    let retry = json!({"baseDelayMs": 0});
    talk.data("settings.json", &json!({"retry": retry, "files": {"maxBytes": 1024, "maxStoreBytes": 1 << 30}}));
    let round = |more: &[&str]| {
        talk.world.write("large", "l\n");
        talk.world.write("small", "s\n");
        talk.run(&[more, &["-p", "grow", "--approval", "auto", "--trust"]].concat());
        let prompt = talk.lines().iter().rfind(|line| line["message"]["role"] == "user").unwrap()["id"].clone();
        let said = talk.run(&["files", "restore", "latest", prompt.as_str().unwrap()]);
        let length = |name: &str| std::fs::metadata(talk.world.work().join(name)).unwrap().len();
        (said, length("large"), length("small"))
    };
    let (said, large, small) = round(&[]);
    assert_eq!((large, small), (2000, 2), "{said}");
    assert!(said.contains("large"), "{said}");
    let recorded = talk.lines().iter().rfind(|line| line["customType"] == "offshoot.files").unwrap().to_string();
    assert_eq!(recorded.matches("it is too large").count(), 1, "{recorded}");
    let status = talk.run(&["files", "status", "latest"]);
    assert!(status.contains("bounds: 1 KiB per file (files.maxBytes), 1 GiB in all"), "{status}");
    assert!(
        talk.run(&["files", "status", "latest", "--json"]).contains(r#""limits":{"file":1024,"store":1073741824}"#)
    );
    // A value out of bounds is reported, and the usual one counts; a project's has no effect.
    talk.data("settings.json", &json!({"retry": retry, "files": {"maxBytes": 1 << 30}}));
    talk.world.write(".offshoot/settings.json", r#"{"files": {"maxBytes": 1024}}"#);
    let (said, large, small) = round(&["-c"]);
    assert_eq!((large, small), (2, 2), "{said}");
    let talked = talk.run(&["files", "status", "latest"]);
    assert!(talked.contains("bounds: 10 MiB per file"), "{talked}");
    talk.no_problems();
}

#[test]
fn undo_and_pop_bring_files_too() {
    let talk = talk();
    let prompt = session(&talk);
    let after = files(&talk);
    talk.run(&["switch", "latest", &prompt, "--files"]);
    assert_ne!(files(&talk), after);
    let said = talk.run(&["undo", "latest", "--files"]);
    assert!(said.contains("2 files written, 1 removed"), "{said}");
    assert_eq!(files(&talk), after);
    let said = talk.run(&["pop", "latest", &prompt, "--files", "--summary", "tried"]);
    assert!(said.contains("2 files written, 1 removed"), "{said}");
    assert_eq!(files(&talk), ["one\n", "still here\n", "-"]);
}

/// The path that `fork` prints, and the rest of what it says.
fn forked(said: &str) -> (std::path::PathBuf, String) {
    let (path, rest) = said.split_once('\n').unwrap();
    (path.into(), rest.to_owned())
}

#[test]
fn a_fork_brings_the_files_of_its_entry() {
    let talk = talk();
    let prompt = session(&talk);
    let after = files(&talk);
    let output = talk.command(&["fork", "latest", "--at", &prompt, "--files"]).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("2 files written, 1 removed"), "{said}");
    assert_eq!(files(&talk), ["one\n", "still here\n", "-"]);
    // Both sessions know where the files are.
    let (fork, _) = forked(&String::from_utf8(output.stdout).unwrap());
    let source = talk.files().into_iter().find(|file| *file != fork).unwrap();
    assert!(talk.run(&["files", "status", fork.to_str().unwrap()]).contains("0 files changed"));
    let said = talk.run(&["files", "restore", source.to_str().unwrap()]);
    assert!(said.contains("2 files written, 1 removed"), "{said}");
    assert_eq!(files(&talk), after);
}

/// What is kept of the files of each folder.
pub(crate) fn kept(talk: &Talk) -> Vec<PathBuf> {
    let kept = std::fs::read_dir(talk.world.home().join(".local/share/offshoot/files")).unwrap();
    kept.map(|entry| entry.unwrap().path()).collect()
}

/// As if programs had been killed within restores of all folders but these.
pub(crate) fn interrupt_restores(talk: &Talk, but: &[PathBuf]) {
    let others = kept(talk).into_iter().filter(|folder| !but.contains(folder));
    others.for_each(|folder| std::fs::write(folder.join("restore.json"), "{}").unwrap());
}

#[test]
fn a_fork_in_a_second_folder_leaves_this_one_as_it_is() {
    let talk = talk();
    let prompt = session(&talk);
    let own = kept(&talk);
    talk.world.write(".git/HEAD", "ref: refs/heads/main\n");
    talk.world.write(".gitignore", "built/\n");
    talk.world.write("built/x", "ignored, and there\n");
    talk.world.write("a.txt", "mine, since then\n");
    let before = talk.world.snapshot();
    let second = talk.world.home().join("second");
    let second = second.to_str().unwrap();
    let said = talk.run(&["fork", "latest", "--at", &prompt, "--worktree", second, "--dry-run"]);
    assert!(said.contains("would copy this folder to ") && !std::path::Path::new(second).exists(), "{said}");
    let output = talk.command(&["fork", "latest", "--at", &prompt, "--worktree", second]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("5 files copied to ") && said.contains("; 3 brought to the entry"), "{said}");
    let read = |name: &str| std::fs::read_to_string(talk.world.home().join("second").join(name));
    assert_eq!(read("a.txt").unwrap(), "one\n");
    assert_eq!(read("gone.txt").unwrap(), "still here\n");
    assert_eq!(read("built/x").unwrap(), "ignored, and there\n");
    assert_eq!(read(".git/HEAD").unwrap(), "ref: refs/heads/main\n");
    assert!(read("sub/new.txt").is_err());
    let after = talk.world.snapshot();
    for (path, file) in before.iter().filter(|(path, _)| path.starts_with(talk.world.work())) {
        assert_eq!(after.get(path), Some(file), "{}", path.display());
    }
    // What was recorded in the first folder has power in the second: the new session goes on there.
    let (fork, _) = forked(&String::from_utf8(output.stdout).unwrap());
    let header = std::fs::read_to_string(&fork).unwrap();
    assert!(header.lines().next().unwrap().contains("/second\""), "{header}");
    let again = talk.run(&["fork", "latest", "--at", &prompt, "--worktree", second]);
    assert!(again.contains("is not empty: name a folder that is new or empty"), "{again}");
    talk.world.write("file", "");
    for (to, why) in [("file", "is not a folder: name one that is new or empty"), ("in", "name one outside of it")] {
        let said = talk.run(&["fork", "latest", "--at", &prompt, "--worktree", to]);
        assert!(said.contains(why) && said.contains("[exit code 1]"), "{said}");
    }
    let third = talk.world.home().join("third");
    talk.run(&["fork", "latest", "--worktree", third.to_str().unwrap(), "--no-git"]);
    assert!(third.join("built/x").exists() && !third.join(".git").exists());
    assert_eq!(std::fs::read_to_string(third.join("a.txt")).unwrap(), "two\n", "as at the entry");
    std::fs::remove_dir_all(&third).unwrap();
    interrupt_restores(&talk, &own);
    talk.run(&["fork", "latest", "--worktree", third.to_str().unwrap(), "--no-git"]);
    assert_eq!(std::fs::read_to_string(third.join("a.txt")).unwrap(), "two\n", "it is another folder now");
}

#[test]
fn nothing_is_kept_before_the_first_call_that_may_change_a_file() {
    let talk = Talk::new([
        Reply::call("read", "c1", json!({"path": "a.txt"})),
        Reply::text("hello"),
        bash("c2", "echo two > a.txt"),
        Reply::text("done"),
    ]);
    talk.world.write("a.txt", "one\n");
    let is_kept = || talk.world.home().join(".local/share/offshoot/files").exists();
    talk.run(&["-p", "read it", "--approval", "auto"]);
    assert!(!is_kept());
    talk.run(&["-c", "-p", "change it", "--approval", "auto"]);
    assert!(is_kept());
    talk.no_problems();
}

/// Two branches: one made `n.txt` and changed the first line of `a.txt`, the current one its last line. With the last entry of the other one.
pub(crate) fn branches() -> (Talk, String) {
    let talk = Talk::new([
        bash("c1", "sed -i s/one/ONE/ a.txt; echo new > n.txt"),
        Reply::text("done"),
        bash("c2", "sed -i s/five/FIVE/ a.txt"),
        Reply::text("done"),
    ]);
    talk.world.write("a.txt", "one\n2\n3\n4\nfive\n");
    talk.run(&["-p", "first try", "--approval", "auto"]);
    let lines = talk.lines();
    let id = |line: &Value| line["id"].as_str().unwrap().to_owned();
    let prompt = lines.iter().find(|line| line["message"]["role"] == "user").map(id).unwrap();
    talk.run(&["switch", "latest", &prompt, "--files"]);
    talk.run(&["-c", "-p", "second try", "--approval", "auto"]);
    talk.no_problems();
    assert_eq!(work(&talk), ["one\n2\n3\n4\nFIVE\n", "-"]);
    (talk, id(lines.last().unwrap()))
}

/// The files with the changes of both branches.
pub(crate) fn both() -> [String; 2] {
    ["ONE\n2\n3\n4\nFIVE\n".to_owned(), "new\n".to_owned()]
}

pub(crate) fn work(talk: &Talk) -> [String; 2] {
    ["a.txt", "n.txt"]
        .map(|name| std::fs::read_to_string(talk.world.work().join(name)).unwrap_or_else(|_| "-".to_owned()))
}

#[test]
fn picks_and_merges_bring_what_the_branch_changed_onto_the_files_as_they_are() {
    let (talk, other) = branches();
    let (before, both) = (work(&talk), both());
    let said = talk.run(&["pick", "latest", &format!("..{other}"), "--files", "--dry-run"]);
    assert!(said.contains("would merge a.txt") && said.contains("would write n.txt"), "{said}");
    assert_eq!(work(&talk), before);
    let pick = ["pick", "latest", &format!("..{other}"), "--files"];
    let merge = ["merge", "latest", &other, "--summary", "tried", "--files"];
    let is_result = |line: &Value| line["message"]["toolCallId"] == "c1";
    let result = talk.lines().into_iter().find(is_result).unwrap()["id"].as_str().unwrap().to_owned();
    let one = ["pick", "latest", &result, "--files"];
    for bring in [&pick[..], &one, &merge] {
        let said = talk.run(bring);
        assert!(said.contains("2 files written, 0 removed") && !said.contains("only messages"), "{said}");
        assert_eq!(work(&talk), both);
        // They belong to this branch now.
        let log: Value = serde_json::from_str(&talk.run(&["files", "log", "latest", "--json"])).unwrap();
        let last = log.as_array().unwrap().last().unwrap();
        assert_eq!((&last["calls"], &last["count"]), (&json!([bring[0]]), &json!(2)), "{log}");
        assert!(talk.run(&["files", "status", "latest"]).contains("2 files changed"));
        talk.run(&["undo", "latest", "--files"]);
        assert_eq!(work(&talk), before);
    }
    // A comparison knows what commands did.
    insta::assert_snapshot!(talk.run(&["compare", "latest", "@", &other, "--patch"]).split_once("--- ").unwrap().1, @"
    a.txt
    +++ a.txt
    @@ -1,5 +1,5 @@
    -one
    +ONE
     2
     3
     4
    -FIVE
    +five

    --- n.txt
    +++ n.txt
    @@ -0,0 +1,1 @@
    +new
    ");
    // Whoever asks gets the same.
    let whole: Value =
        serde_json::from_str(&talk.run(&["compare", "latest", "@", &other, "--patch", "--json"])).unwrap();
    let mut client = RpcClient::start(&talk, &["-c"]);
    let over_rpc = client.ask(json!({"type": "compare", "a": "@", "b": other, "patch": true}));
    assert_eq!((&over_rpc["patches"], whole["patches"].as_array().unwrap().len()), (&whole["patches"], 2));
    drop(client);
    let file = talk.files().remove(0);
    let (open, compare) = (json!({"path": file}), json!({"session": 1, "a": "@", "b": other, "patch": true}));
    let line = |id: usize, method: &str, params: &Value| {
        format!("{}\n", json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
    };
    let mut api = talk.command(&["api"]);
    api.stdin(Stdio::piped()).stdout(Stdio::piped());
    let output = fed(api, &(line(1, "open", &open) + &line(2, "compare", &compare)));
    let said = String::from_utf8(output.stdout).unwrap();
    let reply: Value = serde_json::from_str(said.lines().last().unwrap()).unwrap();
    assert_eq!(reply["result"]["patches"], whole["patches"], "{said}");
    // Without the option only messages come.
    talk.run(&pick[..3]);
    assert_eq!(work(&talk), before);
    talk.run(&["undo", "latest"]);
    talk.world.write("a.txt", "mine\n");
    let said = talk.run(&pick);
    assert!(said.contains("conflict: a.txt was changed by somebody else and stays"), "{said}");
    assert_eq!(work(&talk), ["mine\n", "new\n"]);
}

#[test]
fn files_come_over_rpc_where_a_client_asks_for_them() {
    let (talk, other) = branches();
    let (before, both) = (work(&talk), both());
    let mut client = RpcClient::start(&talk, &["-c"]);
    for with_files in [false, true] {
        let selections = [format!("..{other}")];
        client.ask(json!({"type": "pick", "selections": selections, "files": with_files}));
        assert_eq!(work(&talk) == both, with_files);
        client.ask(json!({"type": "undo", "files": with_files}));
        assert_eq!(work(&talk), before);
    }
    client.ask(json!({"type": "navigate_tree", "targetId": other, "files": true}));
    assert_eq!(work(&talk), ["ONE\n2\n3\n4\nfive\n", "new\n"]);
    // A new session before the first message: as the folder was then. The old one knows where the files are, too.
    let first = client.ask(json!({"type": "get_fork_messages"}))["messages"][0]["entryId"].clone();
    let old = client.ask(json!({"type": "get_state"}))["sessionFile"].clone();
    let stays = client.ask(json!({"type": "fork", "entryId": first}));
    assert_eq!((&stays["files"], work(&talk)[1].as_str()), (&Value::Null, "new\n"));
    client.ask(json!({"type": "switch_session", "sessionPath": old}));
    let forked = client.ask(json!({"type": "fork", "entryId": first, "files": true}));
    assert_eq!((&forked["text"], &forked["files"]["removed"]), (&json!("first try"), &json!(["n.txt"])), "{forked}");
    assert_eq!(work(&talk), ["one\n2\n3\n4\nfive\n", "-"]);
    client.ask(json!({"type": "switch_session", "sessionPath": old}));
    client.ask(json!({"type": "navigate_tree", "targetId": other, "files": true}));
    assert_eq!(work(&talk), ["ONE\n2\n3\n4\nfive\n", "new\n"]);
}
