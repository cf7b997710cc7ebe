//! The folder in which the agent works on a session whose header comes from elsewhere.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use insta::assert_snapshot;
use offshoot_agent::testing::script::Reply;
use serde_json::{Value, json};

use crate::agent::Talk;
use crate::extensions::{extension, has_node, node, run};
use crate::rpc_client::RpcClient;
use crate::terminal::Terminal;
use crate::world::{talk as sentences, text};

/// A model that writes `made` into the folder that its session names, and says so, as often as this.
fn writing(times: usize) -> Talk {
    let call = |at| Reply::call("write", &format!("c{at}"), json!({"path": "made", "content": "x"}));
    Talk::new((0..times).flat_map(|at| [call(at), Reply::text("Done.")]))
}

/// A session in the working folder whose header says `cwd`.
fn of(talk_world: &Talk, name: &str, cwd: &str) -> PathBuf {
    let [question, answer] = sentences("why?");
    talk_world.world.write(name, text(name.trim_end_matches(".jsonl"), cwd, &[&question, &answer]))
}

fn elsewhere(talk: &Talk) -> PathBuf {
    let folder = talk.world.home().join("elsewhere");
    fs::create_dir_all(&folder).unwrap();
    folder
}

fn headers(path: &Path) -> Value {
    let text = fs::read_to_string(path).unwrap();
    serde_json::from_str(text.lines().next().unwrap()).unwrap()
}

/// A foreign file with `"cwd":"/"` had `edits` write everywhere, while the note said "only in the working folder".
#[test]
fn a_header_does_not_decide_where_is_written() {
    let talk = writing(2);
    let there = elsewhere(&talk);
    let file = of(&talk, "foreign.jsonl", there.to_str().unwrap());
    let before = fs::read(&file).unwrap();
    let args = ["-p", "--approval", "edits", "--session", "foreign.jsonl", "go on"];
    assert_snapshot!(talk.run(&args), @"
    [stderr]
    error: the session's folder, [HOME]/elsewhere, is not in this one, [WORK]
    hint: `--session-folder [HOME]/elsewhere` works there, `--session-folder .` here
    hint: `offshoot --fork foreign.jsonl` continues a copy in this folder
    [exit code 2]
    ");
    assert_eq!(fs::read(&file).unwrap(), before);
    assert!(!there.join("made").exists() && talk.server.seen().is_empty());

    let named = |folder: &str| talk.run(&[&["--session-folder", folder][..], &args].concat());
    assert_eq!(named("../elsewhere"), "Done.\n");
    assert!(there.join("made").exists() && !talk.world.work().join("made").exists());
    assert_eq!(named("."), "Done.\n");
    assert!(talk.world.work().join("made").exists());
    assert_eq!(headers(&file)["cwd"], there.to_str().unwrap(), "the header stays as it is");
    assert_snapshot!(named(".."), @"
    [stderr]
    error: [WORK]/.. is neither the session's folder, [HOME]/elsewhere, nor this one, [WORK]
    [exit code 2]
    ");
    talk.no_problems();
}

#[test]
fn a_header_counts_by_its_real_path_at_or_below_the_folder_of_the_start() {
    let talk = Talk::new((0..17).map(|_| Reply::text("Yes.")));
    let (work, home) = (talk.world.work(), talk.world.home());
    let (there, work_text) = (elsewhere(&talk), work.display().to_string());
    fs::create_dir(work.join("sub")).unwrap();
    fs::create_dir(home.join("work-too")).unwrap();
    symlink(&there, work.join("out")).unwrap();
    symlink(&work, home.join("in")).unwrap();
    fs::write(work.join("file"), "").unwrap();
    let counting = [
        work_text.clone(),
        format!("{work_text}/"),
        format!("{work_text}/sub"),
        format!("{work_text}/sub/.."),
        format!("{}/in/sub", home.display()),
        "sub".to_owned(),
        ".".to_owned(),
        String::new(),
    ];
    for cwd in counting {
        of(&talk, "s.jsonl", &cwd);
        assert_eq!(talk.run(&["-p", "--session", "s.jsonl", "well?"]), "Yes.\n", "{cwd}");
    }
    let header = r#"{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00.000Z"}"#;
    talk.world.write("s.jsonl", format!("{header}\n"));
    assert_eq!(talk.run(&["-p", "--session", "s.jsonl", "well?"]), "Yes.\n", "no folder");

    let foreign = [
        "/".to_owned(),
        "..".to_owned(),
        "../elsewhere".to_owned(),
        home.display().to_string(),
        format!("{work_text}-too"),
        format!("{work_text}/out"),
        format!("{work_text}/sub/../.."),
        "out/../..".to_owned(),
    ];
    for cwd in foreign {
        of(&talk, "s.jsonl", &cwd);
        let shown = talk.run(&["-p", "--session", "s.jsonl", "well?"]);
        assert!(shown.contains("is not in this one") && shown.contains("--session-folder"), "{cwd}: {shown}");
        assert_eq!(talk.run(&["-p", "--session-folder", ".", "--session", "s.jsonl", "well?"]), "Yes.\n", "{cwd}");
    }
    for cwd in ["gone".to_owned(), format!("{work_text}/file")] {
        of(&talk, "s.jsonl", &cwd);
        let shown = talk.run(&["-p", "--session", "s.jsonl", "well?"]);
        assert!(shown.contains("is not there any more") && shown.contains("--session-folder ."), "{cwd}: {shown}");
    }
}

/// A client of pi 1.6 switches anywhere. Here it is told how.
#[test]
fn a_client_names_the_folder_of_a_session_from_elsewhere() {
    let talk = writing(2);
    let there = elsewhere(&talk);
    let foreign = of(&talk, "foreign.jsonl", there.to_str().unwrap());
    let own = of(&talk, "own.jsonl", talk.world.work().to_str().unwrap());
    let mut client = RpcClient::start(&talk, &["--approval", "edits", "--session", own.to_str().unwrap()]);
    let mut switch = |folder: Option<&str>| {
        let mut command = json!({"type": "switch_session", "sessionPath": foreign});
        folder.into_iter().for_each(|folder| command["sessionFolder"] = json!(folder));
        let answer = client.ask(command);
        let id = client.ask(json!({"type": "get_state"}))["sessionId"].clone();
        talk.world.normalised(&format!("{answer} {id}"))
    };
    assert_snapshot!(switch(None), @r#""the session's folder, [HOME]/elsewhere, is not in this one, [WORK]: `sessionFolder` names the one to work in, [HOME]/elsewhere or [WORK]" "own""#);
    assert_snapshot!(switch(Some("/")), @r#""/ is neither the session's folder, [HOME]/elsewhere, nor this one, [WORK]: `sessionFolder` names the one to work in, [HOME]/elsewhere or [WORK]" "own""#);
    assert_eq!(switch(Some(".")), r#"{"cancelled":false} "foreign""#);
    client.prompt("go on");
    client.event("agent_settled");
    assert!(talk.world.work().join("made").exists() && !there.join("made").exists());
    assert_eq!(client.ask(json!({"type": "new_session"}))["cancelled"], false);
    let mut switch = |folder: Option<&Path>| {
        let mut command = json!({"type": "switch_session", "sessionPath": foreign});
        folder.into_iter().for_each(|folder| command["sessionFolder"] = json!(folder));
        client.ask(command)
    };
    assert_eq!(switch(Some(&there))["cancelled"], false);
    assert_eq!(switch(None)["cancelled"], false, "the folder was named before");
    client.prompt("go on");
    client.event("agent_settled");
    assert!(there.join("made").exists());
    talk.no_problems();
}

#[test]
fn a_client_cannot_start_with_a_session_from_elsewhere() {
    let talk = writing(0);
    let there = elsewhere(&talk);
    of(&talk, "foreign.jsonl", there.to_str().unwrap());
    let shown = talk.run(&["--mode", "rpc", "--session", "foreign.jsonl"]);
    assert!(shown.contains("is not in this one") && shown.contains("--session-folder"), "{shown}");
}

/// Before the screen is there, by letters.
#[test]
fn on_a_terminal_the_person_chooses_the_folder_at_the_start() {
    for (key, is_here) in [("s\r", Some(false)), ("t\r", Some(true)), ("\r", None)] {
        let talk = writing(1);
        let there = elsewhere(&talk);
        of(&talk, "foreign.jsonl", there.to_str().unwrap());
        let args = ["--approval", "edits", "--session", "foreign.jsonl", "go on"];
        let mut terminal = Terminal::offshoot(&talk, &args, (100, 24));
        terminal.until_text("s, t or Enter:").until_text("This session belongs to another folder").send("x\r");
        terminal.until("the question again", |screen| screen.matches("s, t or Enter:").count() == 2).send(key);
        match is_here {
            Some(_) => terminal.until_text("Done.").until_idle().send("\x04"),
            None => assert!(terminal.until_text("the session was not opened").screen().contains("note:")),
        }
        terminal.ended();
        let made = |folder: &Path| folder.join("made").exists();
        assert_eq!((made(&talk.world.work()), made(&there)), (is_here == Some(true), is_here == Some(false)));
    }
}

/// The list of `-r` shows the sessions of every folder.
#[test]
fn on_a_terminal_the_person_chooses_the_folder_of_a_session_of_the_list() {
    for (key, is_here) in [("s\r", Some(false)), ("t\r", Some(true)), ("\r", None)] {
        let talk = writing(1);
        let there = elsewhere(&talk);
        let [question, answer] = sentences("of another folder");
        talk.world.session(".local/share/offshoot/sessions", "0000aaaa-1", &there, &[&question, &answer]);
        let mut terminal = Terminal::offshoot(&talk, &["-r", "--approval", "edits", "go on"], (100, 24));
        terminal.until_text("◉ current folder").send("\t");
        terminal.until_text("› of another folder").send("\r");
        terminal.until_text("This session belongs to another folder").until_text("s, t or Enter:").send(key);
        match is_here {
            Some(_) => terminal.until_text("Done.").until_idle().send("\x04"),
            None => assert!(terminal.until_text("the session was not opened").screen().contains("note:")),
        }
        terminal.ended();
        let made = |folder: &Path| folder.join("made").exists();
        assert_eq!((made(&talk.world.work()), made(&there)), (is_here == Some(true), is_here == Some(false)));
    }
}

/// A session that is picked, and one that an import brings.
#[test]
fn on_a_terminal_the_person_chooses_the_folder_of_the_next_session() {
    let talk = writing(2);
    let there = elsewhere(&talk);
    let foreign = of(&talk, "foreign.jsonl", there.to_str().unwrap());
    let mut terminal = Terminal::offshoot(&talk, &["--approval", "edits"], (100, 24));
    let question = "This session belongs to another folder";
    terminal.until_idle().send("/resume foreign.jsonl\r");
    terminal.until_text(question).until_text("in the session's folder");
    terminal.send("\x1b");
    terminal.until_gone(question);
    terminal.send("/import foreign.jsonl\r");
    terminal.until_text(question).send("\x1b[B\x1b[B\r");
    terminal.until_gone(question);
    terminal.send("/resume foreign.jsonl\r");
    terminal.until_text(question).send("\x1b[B\r");
    terminal.until_gone(question).until_text("session foreign").send("go on\r");
    terminal.until_text("Done.").until_idle();
    assert!(talk.world.work().join("made").exists() && !there.join("made").exists());
    terminal.send("/new\r");
    terminal.until_text("a new session").send("/resume foreign.jsonl\r");
    terminal.until_text(question).send("\r");
    terminal.until_gone(question);
    terminal.until_text("~/elsewhere").send("go on\r");
    terminal.while_not("what is written there", || there.join("made").exists());
    terminal.until_idle().send("\x04");
    assert!(terminal.ended());
    assert_eq!(headers(&foreign)["cwd"], there.to_str().unwrap());
}

const GOES: &str = r#"
import * as fs from "node:fs";
const did = (ctx, text) => fs.appendFileSync(`${process.env.HOME}/did`, `${text} in ${ctx.cwd}\n`);
export default (pi) => {
  pi.on("session_start", async ({ reason }, ctx) => {
    if (reason === "resume") did(ctx, `a command began in ${(await pi.exec("pwd", [])).stdout.trim()},`);
  });
  pi.registerCommand("go", { handler: async (file, ctx) => {
    const withSession = async (ctx) => did(ctx, `went to ${ctx.sessionManager.getCwd()}`);
    const { cancelled } = await ctx.switchSession(file, { withSession }).catch((error) => ({ cancelled: error.message }));
    if (cancelled) did(ctx, cancelled);
  } });
};
"#;

#[test]
fn at_a_switch_of_an_extension_the_person_is_asked_or_it_fails() {
    let talk = writing(0);
    let there = elsewhere(&talk);
    let foreign = of(&talk, "foreign.jsonl", there.to_str().unwrap());
    let go = format!("/go {}", foreign.display());
    if !has_node() {
        return;
    }
    extension(&talk, "goes.ts", GOES);
    let did = || talk.world.normalised(&fs::read_to_string(talk.world.home().join("did")).unwrap_or_default());
    run(&talk, &["-p", &go]);
    assert_snapshot!(did(), @"the session's folder, [HOME]/elsewhere, is not in this one, [WORK]: a person opens it with `--session` and `--session-folder` in [WORK]");
    talk.was_started_before();
    let node = node().unwrap();
    let mut terminal = Terminal::offshoot_in(&talk, &[], (100, 24), &[("PI_NODE", node.to_str().unwrap())]);
    let question = "Where should the agent work on it?";
    terminal.until_idle().send(&format!("{go}\r"));
    terminal.until_text(question).send("\x1b");
    terminal.until_gone(question).while_not("the answer", || did().contains("true in"));
    terminal.send(&format!("{go}\r"));
    terminal.until_text(question).send("\r");
    terminal.until_gone(question).while_not("the other session", || did().contains("went to"));
    terminal.until_text("~/elsewhere").send("\x04");
    assert!(terminal.ended());
    assert_snapshot!(did().lines().skip(1).collect::<Vec<_>>().join("\n"), @"
    true in [WORK]
    a command began in [HOME]/elsewhere, in [HOME]/elsewhere
    went to [HOME]/elsewhere in [HOME]/elsewhere
    ");
}
