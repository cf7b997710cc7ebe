//! `offshoot -p` and `--mode json`: the agent without a screen, against a model on this machine.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use insta::assert_snapshot;
use offshoot_agent::testing::script::{Gate, Reply, Then};
use offshoot_agent::testing::server::{KEY, Server};
use offshoot_protocol::message::StopReason;
use serde_json::{Value, json};

use crate::world::World;

/// A world with a model that answers from a script.
pub(crate) struct Talk {
    pub(crate) world: World,
    pub(crate) server: Server,
}

impl Talk {
    pub(crate) fn new(replies: impl IntoIterator<Item = Reply>) -> Self {
        let talk = Self { world: World::new(), server: Server::start(replies).unwrap() };
        talk.data(
            "models.json",
            &json!({"providers": {"test": {
                "baseUrl": talk.server.base_url(offshoot_agent::provider::Api::Anthropic),
                "api": "anthropic-messages",
                "apiKey": "$TEST_KEY",
                "models": [{"id": "m1", "contextWindow": 200_000, "maxTokens": 8000, "reasoning": true,
                    "cost": {"input": 3, "output": 15}, "input": ["text", "image"]}],
            }}}),
        );
        talk.data("settings.json", &json!({"retry": {"baseDelayMs": 0, "maxAgentDelayMs": 0}}));
        talk
    }

    pub(crate) fn data(&self, name: &str, json: &Value) {
        let path = self.world.home().join(".local/share/offshoot").join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, json.to_string()).unwrap();
    }

    /// A prompt of an earlier conversation: this is not the first start.
    pub(crate) fn was_started_before(&self) {
        let folder = self.world.home().join(".local/state/offshoot");
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("prompts"), "\"earlier\"\n").unwrap();
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.world.command(arguments);
        command.env("TEST_KEY", KEY).env("PATH", std::env::var_os("PATH").unwrap());
        command
    }

    /// What a run prints, with stderr and exit code.
    pub(crate) fn run(&self, arguments: &[&str]) -> String {
        self.world.shown(&self.command(arguments).output().unwrap())
    }

    pub(crate) fn files(&self) -> Vec<PathBuf> {
        let is_session = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "jsonl");
        self.world.snapshot().into_keys().filter(is_session).collect()
    }

    /// The lines of the only session.
    pub(crate) fn lines(&self) -> Vec<Value> {
        let files = self.files();
        assert_eq!(files.len(), 1, "{files:?}");
        let text = std::fs::read_to_string(&files[0]).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    pub(crate) fn no_problems(&self) {
        assert_eq!(self.server.problems(), [""; 0]);
    }
}

/// What a request says, as text.
fn asked(talk: &Talk) -> String {
    talk.server.seen().last().unwrap().json()["messages"].to_string()
}

/// The words of the error are a command that can be run as it is.
#[test]
fn after_a_refusal_the_command_that_is_named_lets_the_session_go_on() {
    let refused = json!({"error": {"type": "invalid_request_error", "message": "messages.2.content.0.text: no"}});
    let talk = Talk::new([
        Reply::text("one"),
        Reply::text("two"),
        Reply::error(400, &refused.to_string()),
        Reply::text("round it"),
    ]);
    talk.run(&["-p", "first"]);
    talk.run(&["-c", "-p", "poison"]);
    let output = talk.command(&["-c", "-p", "third"]).output().unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(6) && told.matches("it is about entry").count() == 1, "{told}");
    let (_, command) = told.split_once("`offshoot ").unwrap();
    let (command, _) = command.split_once('`').unwrap();
    let words: Vec<&str> = command.split(' ').collect();
    let told = talk.run(&words);
    assert!(!told.contains("exit code"), "{command}: {told}");
    let told = talk.run(&["-c", "-p", "third"]);
    assert!(told.contains("round it"), "{told}");
    assert!(!talk.server.seen().last().unwrap().body.contains("poison"));
    talk.no_problems();
}

#[test]
fn the_answer_is_printed() {
    let talk = Talk::new([Reply::text("Forty-two.")]);
    assert_snapshot!(talk.run(&["-p", "what is it?"]), @"Forty-two.");
    talk.no_problems();
    let seen = talk.server.seen();
    assert_eq!(seen.len(), 1);
    let request = seen[0].json();
    assert!(request["system"].to_string().contains("Today is 2026-02-01"), "{request}");
    assert_eq!(request["tools"].as_array().unwrap().len(), 6);
    assert_eq!(talk.lines().len(), 5);
}

/// Regression: half an answer looked like a whole one.
#[test]
fn an_answer_that_is_cut_off_says_so() {
    let talk = Talk::new([Reply { stop: Some(StopReason::Length), ..Reply::text("Forty") }, Reply::text("Forty-two.")]);
    let stderr = |output: Output| String::from_utf8(output.stderr).unwrap();
    let cut = talk.command(&["-p", "what is it?"]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&cut.stdout), "Forty\n");
    assert_eq!(stderr(cut), "note: the answer is cut off: it reached its length limit\n");
    assert_eq!(stderr(talk.command(&["-p", "what is it?"]).output().unwrap()), "");
}

/// An import that was not opened by name is not what `-c` continues.
#[test]
fn an_import_is_not_continued_unless_it_was_named() {
    let talk = Talk::new(["One.", "Two.", "Three."].map(Reply::text));
    let lines = crate::world::talk("Whose?");
    let cwd = talk.world.work();
    let foreign = crate::world::text("ffff-0000-1111", cwd.to_str().unwrap(), &[&lines[0], &lines[1]]);
    talk.world.write("foreign.jsonl", foreign);
    talk.world.stdout("import foreign.jsonl");
    assert_snapshot!(talk.run(&["-c", "-p", "first"]), @"
    One.
    [stderr]
    note: no session of [WORK] was found to continue: this is a new one
    hint: `offshoot list --all` shows the sessions of other folders; `offshoot --fork ID` continues a copy of one here
    ");
    assert!(!asked(&talk).contains("Whose?"));
    assert_snapshot!(talk.run(&["--session", "ffff-0000", "-p", "second"]), @"Two.");
    assert!(asked(&talk).contains("Whose?"));
    assert_snapshot!(talk.run(&["-c", "-p", "third"]), @"Three.");
    assert!(asked(&talk).contains("second"));
}

#[test]
fn the_answer_as_one_object() {
    let talk = Talk::new([Reply::text("Forty-two.")]);
    let shown = talk.run(&["-p", "--output-format", "json", "--no-session", "what is it?"]);
    let result: Value = serde_json::from_str(&shown).unwrap();
    assert_eq!(result["result"], "Forty-two.");
    assert_eq!((&result["isError"], &result["stopReason"]), (&json!(false), &json!("stop")));
    assert!(result["usage"]["cost"]["total"].as_f64().unwrap() > 0.0 && result.get("sessionFile").is_none());
    assert_eq!(talk.files().len(), 0, "nothing is kept");
}

/// A program that reads JSON found nothing when the run failed before the model was asked.
#[test]
fn every_failure_is_json_for_who_asked_for_it() {
    let talk = Talk::new([]);
    for (words, error) in [
        (&["-p", "--output-format", "json"][..], "there is nothing to say to the model"),
        (&["-p", "--output-format=json", "--session", "nowhere", "hello there"], "no session matches"),
        (&["-p", "--output-format", "json", "--model", "no-such-model", "hello there"], "no-such-model"),
        (&["-p", "--output-format", "json", ""], "the prompt is empty"),
        (&["-p", "--output-format", "json", "--no-such-option"], "unexpected argument"),
    ] {
        let output = talk.command(words).output().unwrap();
        let result: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!((&result["type"], &result["isError"]), (&json!("result"), &json!(true)), "{words:?}");
        assert!(result["error"].as_str().unwrap().contains(error), "{words:?}: {result}");
        assert!(!output.status.success() && !output.stderr.is_empty());
    }
    let output = talk.command(&["--mode", "json", "-p", "--session", "nowhere", "hello there"]).output().unwrap();
    let event: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(event["type"], "failed");
}

#[test]
fn every_event_is_a_line() {
    let talk = Talk::new([Reply::call("ls", "c1", json!({})), Reply::text("a\u{2028}b")]);
    let output = talk.command(&["--mode", "json", "--tools", "ls", "-p", "look"]).output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty());
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.ends_with('\n') && !text.contains('\r'));
    let events: Vec<Value> = text.split_terminator('\n').map(|line| serde_json::from_str(line).unwrap()).collect();
    let mut names: Vec<&str> = events.iter().map(|event| event["type"].as_str().unwrap()).collect();
    names.dedup();
    assert_snapshot!(names.join(" "), @"session agent_start turn_start message_start message_end message_start message_end message_start message_update message_end tool_execution_start tool_execution_end message_start message_end turn_end turn_start message_start message_update message_end turn_end agent_end agent_settled session_shutdown");
    assert_eq!(events[0], talk.lines()[0], "the first line is the session's header");
    let end = events.iter().rfind(|event| event["type"] == "message_end").unwrap();
    assert_eq!(end["message"]["content"][0]["text"], "a\u{2028}b");
    talk.no_problems();
}

/// A picture: one red dot.
const DOT: &[u8] = b"\x89\x50\x4e\x47\x0d\x0a\x1a\x0a\x00\x00\x00\x0d\x49\x48\x44\x52\x00\x00\x00\x01\x00\x00\x00\x01\
    \x08\x02\x00\x00\x00\x90\x77\x53\xde\x00\x00\x00\x0c\x49\x44\x41\x54\x78\x9c\x63\xf8\xcf\xc0\x00\
    \x00\x03\x01\x01\x00\xc9\xfe\x92\xef\x00\x00\x00\x00\x49\x45\x4e\x44\xae\x42\x60\x82";

#[test]
fn files_pictures_and_what_is_piped_in_go_along() {
    let talk = Talk::new([Reply::text("ok"), Reply::text("ok")]);
    talk.world.write("notes.txt", "buy milk");
    talk.world.write("dot.png", DOT);
    let mut child = talk
        .command(&["-p", "@notes.txt", "@dot.png", "read", "them", "--then", "and again"])
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(b"from the pipe\n").unwrap();
    assert!(child.wait_with_output().unwrap().status.success());
    let seen = talk.server.seen();
    assert_eq!(seen.len(), 2, "the second prompt is asked after the first");
    let first = seen[0].json()["messages"][0]["content"].clone();
    let text = first[0]["text"].as_str().unwrap();
    assert!(
        text.starts_with("from the pipe\n<file name=") && text.contains("buy milk") && text.ends_with("read them"),
        "{text}"
    );
    assert_eq!(first[1]["type"], "image");
    talk.no_problems();
}

#[test]
fn a_session_goes_on_where_it_was() {
    let talk = Talk::new([Reply::text("one"), Reply::text("two"), Reply::text("three"), Reply::text("four")]);
    talk.run(&["-p", "first"]);
    assert_eq!(talk.run(&["-c", "-p", "second"]), "two\n");
    assert!(asked(&talk).contains("first") && asked(&talk).contains("one"));
    let id = talk.lines()[0]["id"].as_str().unwrap().to_owned();
    assert_eq!(talk.run(&["--session", &id, "-p", "third"]), "three\n");
    assert_eq!(talk.run(&["--fork", &id, "-p", "elsewhere"]), "four\n");
    assert!(asked(&talk).contains("third") && asked(&talk).contains("elsewhere"));
    assert_eq!(talk.files().len(), 2);
    let settings = |lines: Vec<Value>| lines.iter().filter(|line| line["type"] == "model_change").count();
    let files = talk.files();
    let read = |file: &PathBuf| {
        std::fs::read_to_string(file).unwrap().lines().map(|l| serde_json::from_str(l).unwrap()).collect()
    };
    assert!(files.iter().all(|file| settings(read(file)) == 1), "the model is recorded once, not at every opening");
    talk.no_problems();
}

#[test]
fn failures_of_the_model_have_an_exit_code_of_their_own() {
    let talk = Talk::new([Reply::error(
        401,
        r#"{"type":"error","error":{"type":"authentication_error","message":"bad key"}}"#,
    )]);
    assert_snapshot!(talk.run(&["-p", "hi"]), @r#"
    [stderr]
    error: the model gave no answer
    caused by: 401 {"type":"error","error":{"type":"authentication_error","message":"bad key"}}
    [exit code 6]
    "#);
    let talk = Talk::new([Reply::error(529, "overloaded"), Reply::text("there")]);
    assert_snapshot!(talk.run(&["-p", "hi"]), @"
    there
    [stderr]
    note: 529 overloaded; next try in 0 s (1 of 3)
    ");
    talk.no_problems();
}

/// A tool empties the session's file: what the library says of it, its hint and its exit code reach the person.
#[test]
fn a_session_that_another_program_damages_is_told_as_the_library_tells_it() {
    let talk = Talk::new([
        Reply::text("first"),
        Reply::call(
            "bash",
            "c1",
            json!({"command": "[ \"$OFFSHOOT_SESSION\" = \"$OFFSHOOT_SESSION_FILE\" ] && : > \"$OFFSHOOT_SESSION\""}),
        ),
        Reply::text("second"),
    ]);
    talk.run(&["-p", "hi"]);
    let said = talk.run(&["-c", "-p", "empty it"]);
    assert!(said.contains("error: the agent had to stop\ncaused by: could not write to "), "{said}");
    assert!(said.contains(": another program shortened the file"), "{said}");
    assert!(said.contains("hint: nothing is lost: `offshoot repair [HOME]/.local/share/"), "{said}");
    assert!(said.contains(".jsonl --copy FILE` writes the session with it to another file"), "{said}");
}

#[test]
fn what_cannot_be_done_is_said() {
    let talk = Talk::new([]);
    assert_snapshot!(talk.run(&["-p", "hi", "--model", "xyzzyxyzzy"]), @"
    [stderr]
    error: there is no model xyzzyxyzzy
    hint: `offshoot models` lists the models; models.json adds others
    [exit code 3]
    ");
    assert_snapshot!(talk.run(&["-p", "hi", "--tools", "read,-bash"]), @r#"
    [stderr]
    error: the tools "read,-bash" mix names with changes (+name, -name)
    [exit code 2]
    "#);
    assert_snapshot!(talk.run(&["-p"]), @"
    [stderr]
    error: there is nothing to say to the model
    hint: `offshoot -p PROMPT`, `offshoot -p @FILE`, or pipe something in
    [exit code 2]
    ");
    assert_snapshot!(World::new().run("-p hi"), @"
    [stderr]
    error: there is no model to ask: no provider has a key
    hint: `offshoot auth login PROVIDER` saves a key; or set its variable (ANTHROPIC_API_KEY, OPENAI_API_KEY, GROQ_API_KEY …)
    hint: `offshoot models --local` finds the models of a server on this machine (Ollama, LM Studio, llama.cpp, vLLM)
    [exit code 6]
    ");
    let no_key = talk.world.shown(&talk.command(&["-p", "hi"]).env_remove("TEST_KEY").output().unwrap());
    assert_snapshot!(no_key, @"
    [stderr]
    error: there is no model to ask: no provider has a key
    hint: `offshoot auth login PROVIDER` saves a key; or set its variable (ANTHROPIC_API_KEY, OPENAI_API_KEY, GROQ_API_KEY …)
    hint: `offshoot models --local` finds the models of a server on this machine (Ollama, LM Studio, llama.cpp, vLLM)
    [exit code 6]
    ");
    let no_key = talk.command(&["-p", "hi", "--model", "test/m1"]).env_remove("TEST_KEY").output().unwrap();
    assert_snapshot!(talk.world.shown(&no_key), @"
    [stderr]
    error: the model cannot be asked
    caused by: the key of test is the variable TEST_KEY, which is not set
    hint: `offshoot models` shows where keys come from
    [exit code 6]
    ");
    assert_eq!(talk.files().len(), 0);
}

/// The codes that `api` reports of the only session.
fn diagnostics_of(talk: &Talk) -> Vec<String> {
    let open = json!({"jsonrpc": "2.0", "id": 1, "method": "open", "params": {"path": talk.files()[0]}});
    let ask = json!({"jsonrpc": "2.0", "id": 2, "method": "getDiagnostics", "params": {"session": 1}});
    let mut api = talk.command(&["api"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    write!(api.stdin.take().unwrap(), "{open}\n{ask}\n").unwrap();
    let output = String::from_utf8(api.wait_with_output().unwrap().stdout).unwrap();
    let answer: Value = serde_json::from_str(output.lines().last().unwrap()).unwrap();
    answer["result"].as_array().unwrap().iter().map(|told| told["code"].as_str().unwrap().to_owned()).collect()
}

/// Two programs prompt the same session at once: each prompt becomes an ordinary branch, and each program reports it.
#[test]
fn a_prompt_beside_one_that_another_program_is_answering() {
    let gate = Gate::new();
    let slow = Reply { gate: Some((0, gate.clone())), ..Reply::text("To the first.") };
    let talk = Talk::new([Reply::text("Begun."), slow, Reply::text("To the second.")]);
    talk.run(&["-p", "begin with this"]);
    let mut first = talk.command(&["-c", "-p", "the first asks"]);
    let first = first.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    talk.server.wait_for(2);
    let check = talk.run(&["check", "latest", "--json"]);
    assert!(check.contains("unanswered-prompt"), "{check}");
    assert_eq!(diagnostics_of(&talk), ["unanswered-prompt"]);
    let second = talk.command(&["-c", "-p", "the second asks"]).output().unwrap();
    gate.open();
    let said = |output: std::process::Output| {
        let [out, err] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
        format!("{out}[stderr]\n{err}")
    };
    let (first, second) = (said(first.wait_with_output().unwrap()), said(second));
    let lines = talk.lines();
    let of = |text: &str| lines.iter().find(|line| line["message"]["content"].to_string().contains(text)).unwrap();
    let (asked, also) = (of("the first asks"), of("the second asks"));
    assert_eq!(asked["parentId"], of("Begun.")["id"]);
    assert_eq!(also["parentId"], of("Begun.")["id"]);
    assert_eq!(of("To the first.")["parentId"], asked["id"]);
    assert_eq!(of("To the second.")["parentId"], also["id"]);
    let request = talk.server.seen()[2].json()["messages"].to_string();
    assert!(!request.contains("the first asks"), "{request}");
    let goes_there = |entry: &Value| format!("{}` goes there", entry["id"].as_str().unwrap());
    assert!(
        second.starts_with("To the second.\n[stderr]\nnote: another program is answering “the first asks”: "),
        "{second}"
    );
    assert!(second.contains(&goes_there(asked)), "{second}");
    assert!(first.starts_with("To the first.\n[stderr]\nnote: another program appended 2 entries on a branch beside this one: “the second asks”"), "{first}");
    assert!(first.contains(&goes_there(of("To the second."))), "{first}");
    talk.no_problems();
}

/// The same as events, and after the program that was asked first was killed: what it left is continued.
#[test]
fn a_prompt_after_a_program_that_was_killed_while_it_answered() {
    let hang = || Reply { then: Then::Hang, cut: Some(100), ..Reply::text(&"on and on ".repeat(50)) };
    let talk = Talk::new([Reply::text("Begun."), hang(), Reply::text("To the second."), Reply::text("To the third.")]);
    talk.run(&["-p", "begin with this"]);
    let mut first = talk.command(&["-c", "-p", "the first asks"]);
    let mut first = first.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    talk.server.wait_for(2);
    let events = talk.command(&["-c", "--mode", "json", "the second asks"]).output().unwrap();
    let events = String::from_utf8(events.stdout).unwrap();
    let notice: Value = serde_json::from_str(events.lines().nth(1).unwrap()).unwrap();
    assert_eq!((&notice["type"], &notice["code"]), (&json!("notice"), &json!("unanswered-prompt")));
    first.kill().unwrap();
    first.wait().unwrap();
    let lines = talk.lines();
    let prompt = lines.iter().find(|line| line["message"]["content"].to_string().contains("the first asks")).unwrap();
    assert_eq!(notice["entryId"], prompt["id"]);
    talk.run(&["switch", "latest", prompt["id"].as_str().unwrap()]);
    assert_eq!(talk.run(&["-c", "-p", "the third asks"]), "To the third.\n");
    assert!(asked(&talk).contains("the first asks"));
}

/// The request says how a picture was scaled, as the tool `read` does. The events count the tokens while the answer streams.
#[test]
fn a_large_picture_says_how_it_was_scaled() {
    let talk = Talk::new([Reply::text("Black.")]);
    // One dot on a canvas of 3000 by 20.
    let dot = b"GIF89a\xb8\x0b\x14\0\x80\0\0\0\0\0\xff\xff\xff,\0\0\0\0\x01\0\x01\0\0\x02\x02D\x01\0;";
    talk.world.write("big.gif", dot);
    let events = talk.run(&["--mode", "json", "@big.gif", "what is it?"]);
    assert!(asked(&talk).contains("[scaled from 3000x20 to 2000x"), "{}", asked(&talk));
    let update = events.lines().find(|line| line.contains("text_delta")).unwrap();
    let update: Value = serde_json::from_str(update).unwrap();
    assert!(update["usage"]["input"].as_u64().unwrap() > 0, "{update}");
    talk.no_problems();
}

/// A pipe that stays open and says nothing kept the run waiting for ever, without a word.
#[test]
fn who_waits_for_standard_input_is_told_so_and_can_leave_it_out() {
    for arguments in [&["-p", "hi"] as &[_], &["--mode", "json", "-p", "hi"]] {
        let talk = Talk::new([Reply::text("Hello.")]);
        let mut child = talk.command(arguments).stdin(Stdio::piped()).spawn().unwrap();
        let mut input = child.stdin.take().unwrap();
        let mut errors = BufReader::new(child.stderr.take().unwrap());
        let mut told = String::new();
        while !told.contains("--no-stdin") {
            assert!(errors.read_line(&mut told).unwrap() > 0, "it ended: {told}");
        }
        assert!(told.starts_with("note: waiting for the end of standard input"), "{told}");
        assert_eq!(talk.server.seen().len(), 0);
        input.write_all(b"late words").unwrap();
        drop(input);
        assert!(child.wait_with_output().unwrap().status.success());
        assert!(asked(&talk).contains("late words"), "{}", asked(&talk));
    }
    let talk = Talk::new([Reply::text("Hello.")]);
    let mut child = talk.command(&["-p", "hi", "--no-stdin"]).stdin(Stdio::piped()).spawn().unwrap();
    let input = child.stdin.take().unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "Hello.\n");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    drop(input);
    let refused = talk.run(&["--mode", "rpc", "--no-stdin"]);
    assert!(refused.contains("--no-stdin") && refused.contains("[exit code 2]"), "{refused}");
}

/// In a folder that was renamed, `-c` began another session without a word.
#[test]
fn a_session_that_is_not_found_to_continue_is_reported() {
    let talk = Talk::new(["New.", "Again."].map(Reply::text));
    assert_snapshot!(talk.run(&["-c", "-p", "go on"]), @"
    New.
    [stderr]
    note: no session of [WORK] was found to continue: this is a new one
    hint: `offshoot list --all` shows the sessions of other folders; `offshoot --fork ID` continues a copy of one here
    ");
    assert_snapshot!(talk.run(&["-c", "-p", "go on"]), @"Again.");
}

/// `@types/i.ts` of a project with both folders was the other one's, and a name with another blank was not found.
#[test]
fn an_attached_file_is_the_one_that_was_named() {
    let talk = Talk::new(std::iter::repeat_n(Reply::text("Seen."), 8));
    for name in ["types/i", "@types/i", "@types/only", "a\u{a0}b", "a b", "cafe\u{301}", "it\u{2019}s"] {
        talk.world.write(name, format!("<{name}>"));
    }
    for (word, name) in [
        ("@types/i", "types/i"),
        ("@@types/i", "@types/i"),
        ("@types/only", "@types/only"),
        ("@a\u{a0}b", "a\u{a0}b"),
        ("@a b", "a b"),
        ("@caf\u{e9}", "cafe\u{301}"),
        ("@it's", "it\u{2019}s"),
        ("@./types/i", "types/i"),
    ] {
        assert!(talk.run(&["-p", word, "hi"]).starts_with("Seen."), "{word}");
        let asked = asked(&talk);
        let file = talk.world.work().join(name);
        assert!(asked.contains(&format!("name=\\\"{}\\\"", file.display())), "{word}: {asked}");
        assert!(asked.contains(&format!("<{name}>")), "{word}: {asked}");
    }
}

/// A shell leaves `--session=~/x` as it is: a folder called `~` was made.
#[test]
fn a_path_below_the_home_directory_is_there_whoever_expands_it() {
    let talk = Talk::new([Reply::text("Yes."), Reply::text("Again.")]);
    assert!(talk.run(&["--session=~/talk.jsonl", "-p", "hi"]).starts_with("Yes."));
    assert!(talk.world.home().join("talk.jsonl").exists() && !talk.world.work().join("~").exists());
    assert!(talk.run(&["show", "~/talk.jsonl"]).contains("Yes."));
}
