//! `offshoot api`: the wire, what it does to values, and the examples that use it.

mod client;
mod document;
mod extensions;
mod locked;
mod methods;

use std::fs;
use std::path::Path;

use client::{Api, command, each, items, member, string};

const HI: &str = r#"{"role":"user","content":"hi","timestamp":1}"#;

fn append(api: &mut Api, session: &str, message: &str) -> String {
    api.appended("appendMessage", &format!(r#"{{"session":{session},"message":{message}}}"#))
}

fn entry(api: &mut Api, session: &str, id: &str) -> String {
    api.result("getEntry", &format!(r#"{{"session":{session},"id":"{id}"}}"#))
}

#[test]
fn values_come_back_byte_for_byte() {
    let folder = tempfile::tempdir().unwrap();
    let mut api = Api::start(folder.path());
    let opened = api.result("create", r#"{"sessionDir":"s"}"#);
    // Half surrogate pairs, numbers beyond doubles, doubled keys, spaces, escapes that need not be.
    let odd =
        r#"{"role":"user", "content":"\ud83d \u0041\/ \udc00","n":[1e400,-0,1.0,12345678901234567890123],"n":{ }}"#;
    let id = append(&mut api, "1", odd);
    assert_eq!(member(&entry(&mut api, "1", &id), "message").unwrap(), odd);
    let text = r#""\ud83d \u0041""#;
    for (method, params, name) in [
        ("appendCustomEntry", format!(r#""customType":{text},"data":{odd}"#), "customType"),
        (
            "appendCustomMessageEntry",
            format!(r#""customType":"t","content":{text},"display":true,"details":{odd}"#),
            "content",
        ),
        ("appendLabelChange", format!(r#""targetId":"{id}","label":{text}"#), "label"),
        ("appendSessionInfo", format!(r#""name":{text}"#), "name"),
        ("appendThinkingLevelChange", format!(r#""thinkingLevel":{text}"#), "thinkingLevel"),
        ("appendModelChange", format!(r#""provider":"p","modelId":{text}"#), "modelId"),
        ("appendUsage", format!(r#""kind":"k","provider":"p","model":"m","usage":{odd},"note":{text}"#), "note"),
        (
            "appendCompaction",
            format!(r#""summary":{text},"firstKeptEntryId":null,"tokensBefore":1e2,"details":{odd}"#),
            "summary",
        ),
        ("appendModeChange", format!(r#""mode":{text},"data":{odd}"#), "mode"),
        ("branchWithSummary", format!(r#""entryId":"{id}","summary":{text},"details":{odd}"#), "summary"),
        ("appendEntry", format!(r#""entry":{{"type":"novel","x":{odd},"y":{text}}}"#), "y"),
    ] {
        let id = api.appended(method, &format!(r#"{{"session":1,{params}}}"#));
        let entry = entry(&mut api, "1", &id);
        assert_eq!(member(&entry, name).unwrap(), text, "{method}");
        for holder in ["data", "details", "usage", "x"] {
            assert!(member(&entry, holder).is_none_or(|value| value == odd), "{method}: {entry}");
        }
    }
    let file = fs::read_to_string(string(&opened, "sessionFile")).unwrap();
    assert_eq!(file.matches(odd).count(), 8);
    assert!(file.contains(r#""tokensBefore":1e2"#) && !file.contains('\u{fffd}'));
}

#[test]
fn each_sort_of_bad_request_has_its_error() {
    let folder = tempfile::tempdir().unwrap();
    let mut api = Api::start(folder.path());
    api.opened("inMemory", "{}");
    for (request, id, code, said) in [
        ("{", "null", -32700, "at byte 1"),
        (r#"{"jsonrpc":"2.0","id":1,"method":"getLeafId","params":{"session":NaN}}"#, "null", -32700, "byte"),
        ("[]", "null", -32600, "batch"),
        ("5", "null", -32600, "object"),
        (r#"{"jsonrpc":"2.0","id":{},"method":"getLeafId"}"#, "null", -32600, "id"),
        (r#"{"jsonrpc":"2.0","id":true,"method":"getLeafId"}"#, "null", -32600, "id"),
        (r#"{"jsonrpc":"1.0","id":"x","method":"getLeafId"}"#, r#""x""#, -32600, "2.0"),
        (r#"{"id":"x","method":"getLeafId"}"#, r#""x""#, -32600, "2.0"),
        (r#"{"jsonrpc":"2.0"}"#, "null", -32600, "method"),
        (r#"{"jsonrpc":"2.0","id":1,"method":5}"#, "1", -32600, "method"),
        (r#"{"jsonrpc":"2.0","id":1,"method":"getLeafId","params":5}"#, "1", -32600, "params"),
        (r#"{"jsonrpc":"2.0","id":1.50,"method":"nothing"}"#, "1.50", -32601, "nothing"),
        (r#"{"jsonrpc":"2.0","id":null,"method":"nothing"}"#, "null", -32601, "nothing"),
        (r#"{"jsonrpc":"2.0","id":"\ud800","method":"nothing"}"#, r#""\ud800""#, -32601, "nothing"),
        (r#"{"jsonrpc":"2.0","id":1,"method":"getLeafId"}"#, "1", -32602, "session"),
        (r#"{"jsonrpc":"2.0","id":1,"method":"getLeafId","params":[1]}"#, "1", -32602, "by name"),
        (r#"{"jsonrpc":"2.0","id":1,"method":"getLeafId","params":{"session":9}}"#, "1", -32602, "not open"),
        (r#"{"jsonrpc":"2.0","id":1,"method":"getLeafId","params":{"session":"1"}}"#, "1", -32602, "whole number"),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"getEntry","params":{"session":1}}"#,
            "1",
            -32602,
            "\\\"id\\\" is missing",
        ),
        (r#"{"jsonrpc":"2.0","id":1,"method":"getEntry","params":{"session":1,"id":5}}"#, "1", -32602, "a string"),
        (r#"{"jsonrpc":"2.0","id":1,"method":"getEntries","params":{"session":1,"sesion":1}}"#, "1", -32602, "sesion"),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"appendModelChange","params":{"session":1,"model":"p/m","modelId":"m"}}"#,
            "1",
            -32602,
            "either",
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"appendEntry","params":{"session":1,"entry":{"type":"x","id":"i"}}}"#,
            "1",
            -32000,
            "comes from the session",
        ),
    ] {
        let answer = api.ask(request);
        let error = member(&answer, "error").unwrap_or_else(|| panic!("{request} answered {answer}"));
        assert_eq!(
            (member(&answer, "id").unwrap().as_str(), member(&error, "code").unwrap()),
            (id, code.to_string()),
            "{request}"
        );
        assert!(member(&error, "message").unwrap().contains(said), "{request} answered {answer}");
    }
    api.send(b"{\"jsonrpc\":\"2.0\",\"id\":\"\xff\"}\n");
    assert!(api.receive().contains("-32700"));
    assert_eq!(api.result("getEntryCount", r#"{"session":1}"#), "0", "the program goes on");
}

#[test]
fn errors_of_the_library_say_their_kind() {
    let folder = tempfile::tempdir().unwrap();
    let mut api = Api::start(folder.path());
    let opened = api.result("create", r#"{"sessionDir":"s","id":"one"}"#);
    let file = string(&opened, "sessionFile");
    append(&mut api, "1", HI);
    fs::write(folder.path().join("odd.jsonl"), "odd\n").unwrap();
    for (method, params, kind) in [
        ("branch", r#"{"session":1,"entryId":"zzz"}"#, "notFound"),
        ("forkFrom", r#"{"sourcePath":"none.jsonl","targetCwd":"/w"}"#, "notFound"),
        ("create", r#"{"id":"../x"}"#, "invalid"),
        ("appendMessage", r#"{"session":1,"message":{"content":"x"}}"#, "invalid"),
        ("open", r#"{"path":"odd.jsonl"}"#, "damaged"),
        ("loadEntriesFromFile", r#"{"path":"odd.jsonl"}"#, "damaged"),
        ("open", r#"{"path":"s"}"#, "io"),
    ] {
        let error = api.error(method, params);
        assert_eq!(
            (member(&error, "code").unwrap().as_str(), string(&member(&error, "data").unwrap(), "kind").as_str()),
            ("-32000", kind),
            "{method}{params}: {error}"
        );
    }
    let error = api.error("open", r#"{"path":"none/../odd.jsonl"}"#);
    let data = member(&error, "data").unwrap();
    assert_eq!(
        (string(&data, "path"), member(&data, "line").unwrap()),
        (format!("{}/odd.jsonl", folder.path().display()), "1".to_owned())
    );
    assert_eq!(fs::read(folder.path().join("odd.jsonl")).unwrap(), b"odd\n", "not touched");

    let leaf = append(&mut api, "1", HI);
    fs::remove_file(&file).unwrap();
    let error = api.error("branchWithSummary", r#"{"session":1,"entryId":null,"summary":"S"}"#);
    assert!(error.contains(r#""kind":"spilled""#) && error.contains("another program deleted the file"), "{error}");
    assert_eq!(
        api.result("getLeafId", r#"{"session":1}"#),
        format!("\"{leaf}\""),
        "nothing was appended: the leaf stays"
    );
    let error = api.error("appendMessage", &format!(r#"{{"session":1,"message":{HI}}}"#));
    let data = member(&error, "data").unwrap();
    let (kept, spill) = (items(&member(&data, "ids").unwrap()), string(&data, "spill"));
    assert!(std::fs::read_to_string(&spill).unwrap().contains(kept[0].trim_matches('"')), "{error}");
    assert!(!Path::new(&file).exists(), "a deleted session stays deleted");
    // Until the caller says otherwise: then all of it is there.
    api.result("recreate", r#"{"session":1}"#);
    let last = append(&mut api, "1", HI);
    let path = api.result("getBranch", r#"{"session":1}"#);
    assert_eq!(each(&path, "id").len(), 3, "the summary as a root, what came below it, and the last: {path}");
    assert_eq!(each(&path, "id").last(), Some(&last));
    assert!(!Path::new(&spill).exists());
}

#[test]
fn notifications_and_batches() {
    let folder = tempfile::tempdir().unwrap();
    let mut api = Api::start(folder.path());
    api.opened("inMemory", "{}");
    let quiet = format!(r#"{{"jsonrpc":"2.0","method":"appendMessage","params":{{"session":1,"message":{HI}}}}}"#);
    api.send(format!("{quiet}\n[{quiet},{quiet}]\n\n \r\n"));
    api.send("{\"jsonrpc\":\"2.0\",\"method\":\"nothing\"}\n");
    let count = r#"{"jsonrpc":"2.0","id":"n","method":"getEntryCount","params":{"session":1}}"#;
    assert_eq!(api.ask(count), r#"{"jsonrpc":"2.0","id":"n","result":3}"#, "nothing was said before");
    let batch = items(&api.ask(&format!("[{count},{quiet},5,{count}]")));
    assert_eq!(
        (batch.len(), &*batch[0], &*batch[2]),
        (3, r#"{"jsonrpc":"2.0","id":"n","result":3}"#, r#"{"jsonrpc":"2.0","id":"n","result":4}"#)
    );
    assert!(batch[1].contains("-32600"));
    let (rest, status) = api.finish();
    assert!(rest.is_empty() && status.success());
}

#[test]
fn only_a_line_feed_ends_a_line() {
    let folder = tempfile::tempdir().unwrap();
    let mut api = Api::start(folder.path());
    api.opened("create", r#"{"sessionDir":"s"}"#);
    let message = "{\"role\":\"user\",\r\"content\":\"a\u{2028}b\u{2029}c\u{85}d\"}";
    let id = append(&mut api, "1", message);
    assert_eq!(member(&entry(&mut api, "1", &id), "message").unwrap(), message);
    assert_eq!(api.result("getEntryCount", r#"{"session":1}"#), "1");
}

/// A line without an end took all memory.
#[test]
fn a_line_beyond_the_limit_is_refused_and_the_next_one_answered() {
    let folder = tempfile::tempdir().unwrap();
    let mut api = Api::start(folder.path());
    api.send(vec![b' '; 64 << 20]);
    api.send(b"{}\n{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"none\"}\n");
    let refused = api.receive();
    assert!(refused.contains("-32600") && refused.contains("a line holds at most 64 MiB"), "{refused}");
    assert!(api.receive().contains("there is no method"));
}

/// The usual limit of open files ended a program with a thousand sessions.
#[test]
#[cfg(target_os = "linux")]
fn hundreds_of_sessions_are_open_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let mut api = Api::start_with_files(folder.path(), 64);
    api.result("list", "{}");
    let before = api.open_files();
    for number in 1..=300 {
        api.opened("create", r#"{"sessionDir":"s"}"#);
        append(&mut api, &number.to_string(), r#"{"role":"user","content":"hello"}"#);
        append(&mut api, &number.to_string(), r#"{"role":"assistant","content":"hello"}"#);
    }
    assert_eq!(api.open_files() - before, 300 + 256);
    append(&mut api, "7", r#"{"role":"user","content":"again"}"#);
    assert_eq!(api.open_files() - before, 300 + 255, "the file is closed again for appending");
    assert_eq!(api.result("getEntryCount", r#"{"session":7}"#), "3");
}

#[test]
fn long_lines_go_in_and_out() {
    let folder = tempfile::tempdir().unwrap();
    let mut api = Api::start(folder.path());
    api.opened("create", r#"{"sessionDir":"s"}"#);
    let message = format!(r#"{{"role":"user","content":"{}"}}"#, "0123456789é".repeat(100_000));
    let ids = [append(&mut api, "1", &message), append(&mut api, "1", &message)];
    let entries = items(&api.result("getEntries", r#"{"session":1}"#));
    for (entry, id) in entries.iter().zip(&ids) {
        assert!(string(entry, "id") == *id && member(entry, "message").unwrap() == message);
    }
    let context = api.result("buildSessionContext", r#"{"session":1}"#);
    assert_eq!(items(&member(&context, "messages").unwrap()), [message.clone(), message]);
}

#[test]
fn a_deep_tree_is_no_danger() {
    let folder = tempfile::tempdir().unwrap();
    let mut api = Api::start(folder.path());
    let chain = (0..100_000).map(|at: u32| {
        let parent = at.checked_sub(1).map_or("null".to_owned(), |parent| format!("\"{parent:08x}\""));
        format!(r#"{{"type":"x","id":"{at:08x}","parentId":{parent}}}"#)
    });
    let entries = chain.collect::<Vec<_>>().join(",");
    api.opened("inMemory", &format!(r#"{{"entries":[{entries}]}}"#));
    let tree = api.result("getTree", r#"{"session":1}"#);
    assert!(tree.ends_with(&format!("{}]", "]}".repeat(100_000))));
    assert_eq!(items(&api.result("getBranch", r#"{"session":1}"#)).len(), 100_000);
}

#[test]
fn numbers_and_programs_on_one_file_see_each_others_entries() {
    let folder = tempfile::tempdir().unwrap();
    let mut one = Api::start(folder.path());
    let file = string(&one.result("create", r#"{"sessionDir":"s"}"#), "sessionFile");
    let a = append(&mut one, "1", HI);
    let open = format!(r#"{{"path":"{file}"}}"#);
    let second = one.opened("open", &open);
    let mut other = Api::start(folder.path());
    let third = other.opened("open", &open);

    let b = append(&mut one, &second, HI);
    let c = append(&mut other, &third, HI);
    let all = [a.clone(), b.clone(), c.clone()];
    assert_eq!(each(&one.result("getEntries", r#"{"session":1}"#), "id"), all);
    assert_eq!(each(&one.result("getEntries", &format!(r#"{{"session":{second}}}"#)), "id"), all);
    assert_eq!(each(&other.result("getEntries", &format!(r#"{{"session":{third}}}"#)), "id"), all);
    assert_eq!(one.result("getLeafId", r#"{"session":1}"#), format!("\"{a}\""), "a leaf moves only by its own doing");
    assert_eq!(each(&one.result("getChildren", &format!(r#"{{"session":1,"parentId":"{a}"}}"#)), "id"), [b, c]);
}

#[test]
fn what_was_answered_survives_the_program() {
    let folder = tempfile::tempdir().unwrap();
    let mut api = Api::start(folder.path());
    let file = string(&api.result("create", r#"{"sessionDir":"s"}"#), "sessionFile");
    let id = append(&mut api, "1", HI);
    api.kill();
    let text = fs::read_to_string(file).unwrap();
    assert!(text.ends_with('\n') && text.lines().last().unwrap().contains(&id), "{text}");
}

#[test]
fn half_a_request_changes_nothing_and_a_whole_one_needs_no_line_feed() {
    let folder = tempfile::tempdir().unwrap();
    let whole =
        format!(r#"{{"jsonrpc":"2.0","id":7,"method":"appendMessage","params":{{"session":1,"message":{HI}}}}}"#);
    for (sent, entries) in [(&whole[..whole.len() - 1], 0), (&whole[..20], 0), (&whole[..], 1)] {
        let mut api = Api::start(folder.path());
        let file = string(&api.result("create", r#"{"sessionDir":"s"}"#), "sessionFile");
        api.send(sent);
        let (rest, status) = api.finish();
        assert!(status.success() && rest.lines().count() == 1, "{rest}");
        assert_eq!(rest.contains("-32700"), entries == 0, "{rest}");
        assert_eq!(Path::new(&file).exists(), entries == 1);
    }
}

/// Runs a demo from `examples/` with the program that it is to use.
fn demo(interpreter: &str, script: &str) {
    let folder = tempfile::tempdir().unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(script);
    let mut command = command(interpreter, folder.path());
    command.arg(script).arg(env!("CARGO_BIN_EXE_offshoot")).env("PYTHONDONTWRITEBYTECODE", "1");
    let output = command.output().unwrap_or_else(|error| panic!("{interpreter} is needed for this test: {error}"));
    let (said, complained) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert!(output.status.success() && complained.is_empty(), "{said}\n{complained}");
    assert!(said.contains("[the question] Why is the build slow?") && said.ends_with("\nok\n"), "{said}");
}

#[test]
fn the_python_example_works() {
    demo("python3", "python/demo.py");
}

#[test]
fn the_javascript_example_works() {
    demo("node", "javascript/demo.mjs");
}
