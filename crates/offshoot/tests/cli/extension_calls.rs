//! What commands of extensions do with the session: forecasts, picks, merges, forks, and sessions that they prepare.

use insta::assert_snapshot;
use offshoot_agent::testing::script::Reply;
use serde_json::{Value, json};

use crate::agent::Talk;
use crate::extensions::{extension, has_node, run};

/// Each command writes what it got; after another session `pi` is over.
const CALLS: &str = r#"
import * as fs from "node:fs";
const did = (value) => fs.appendFileSync("did", JSON.stringify(value) + "\n");
const kinds = (ctx) => ctx.sessionManager.getBranch().filter(({ type }) => /^(message|custom_message|compaction|branch_summary)$/.test(type)).map(({ type }) => type);
export default function (pi) {
  const find = (ctx, text) => ctx.sessionManager.getEntries().find((entry) => entry.type === "message" && JSON.stringify(entry.message.content).includes(text)).id;
  const command = (name, handler) => pi.registerCommand(name, { handler });
  command("back", async (args, ctx) => did((await ctx.navigateTree(find(ctx, args))).cancelled));
  command("forecast", async (args, ctx) => did([await ctx.forecast(), await ctx.forecast(find(ctx, args))]));
  command("pick", async (args, ctx) => did(await ctx.pick(args.split(" ").map((text) => find(ctx, text)))));
  command("merge", async (args, ctx) => did([(await ctx.merge(find(ctx, args))).said, kinds(ctx)]));
  command("at", async (args, ctx) => {
    const id = find(ctx, args);
    const withSession = async (next) => did([next.sessionManager.getBranch().filter(({ type }) => type === "message").at(-1).message.content[0].text, kinds(next)]);
    await ctx.fork(id, { position: "at", withSession });
    try { ctx.isIdle(); } catch (error) { did(error.message.slice(0, 60)); }
  });
  command("prepared", (args, ctx) => ctx.newSession({
    setup: async (session) => {
      session.appendMessage({ role: "user", content: "the old words", timestamp: 1 });
      const kept = session.appendMessage({ role: "user", content: "the kept words", timestamp: 2 });
      session.appendContextEdit(kept, { content: "the edited words" });
      session.appendUsage("judge", "p", "m", { input: 1, output: 2, cacheRead: 0, cacheWrite: 0, totalTokens: 3, cost: { total: 0 } }, "a note");
      session.appendCompaction("what was before", kept, 100);
    },
    withSession: async (next) => { did(kinds(next)); await next.sendUserMessage("go on"); },
  }));
}
"#;

fn did(talk: &Talk) -> Vec<Value> {
    let text = std::fs::read_to_string(talk.world.work().join("did")).unwrap_or_default();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_command_forecasts_picks_and_merges() {
    if !has_node() {
        return;
    }
    let talk = Talk::new(["One.", "Two.", "Three.", "What the third one did."].map(Reply::text));
    extension(&talk, "calls.js", CALLS);
    let said =
        ["second", "/back second", "third", "/forecast first", "/pick second Two.", "/back second", "/merge Three."];
    let mut words = vec!["-p", "first"];
    words.extend(said.iter().flat_map(|said| ["--then", said]));
    let printed = run(&talk, &words);
    let did = did(&talk);
    let [back, forecast, picked, _, merged] = did.as_slice() else { panic!("{did:?} {printed}") };
    assert_eq!(back, false);
    let tokens = |at: usize| forecast[at]["messageTokens"].as_u64().unwrap_or_else(|| panic!("{forecast}"));
    assert!(tokens(0) > tokens(1) && tokens(1) > 0, "{forecast}");
    assert!(picked["said"].as_str().is_some_and(|said| said.contains('2')), "{picked}");
    let lines = talk.lines();
    let copies = lines.iter().filter(|line| line["pickedFrom"].is_object() || line["pickedFrom"].is_string());
    assert_eq!(copies.count(), 2, "the message and its answer");
    assert_eq!(merged[1], json!(["message", "message", "branch_summary"]), "{merged}");
    let summary = lines.iter().find(|line| line["type"] == "branch_summary").unwrap();
    assert!(summary["summary"].as_str().unwrap().contains("What the third one did."), "{summary}");
    talk.no_problems();
}

#[test]
fn a_command_forks_at_an_entry_and_prepares_a_session() {
    if !has_node() {
        return;
    }
    let talk = Talk::new(["One.", "Two.", "Three."].map(Reply::text));
    extension(&talk, "calls.js", CALLS);
    let printed = run(&talk, &["-p", "first", "--then", "second", "--then", "/at One.", "--then", "/prepared"]);
    let did = did(&talk);
    let [forked, stale, prepared] = did.as_slice() else { panic!("{did:?} {printed}") };
    assert_eq!(*forked, json!(["One.", ["message", "message"]]), "the entry itself is the last of the copy");
    assert!(
        stale.as_str().unwrap().starts_with("this pi or ctx belongs to a session or a load that is over"),
        "{stale}"
    );
    assert_eq!(*prepared, json!(["message", "message", "compaction"]));
    assert_eq!(talk.files().len(), 3);
    let seen = talk.server.seen();
    let last = seen.last().unwrap().body.clone();
    let has = |text: &str| last.contains(text);
    assert!(has("what was before") && has("the edited words") && has("go on"), "{last}");
    assert!(!has("the old words") && !has("the kept words"), "{last}");
    assert!(talk.files().iter().any(|file| std::fs::read_to_string(file).unwrap().contains("\"note\":\"a note\"")));
    talk.no_problems();
}

/// pi's session manager says the same in the same steps.
const MANAGED: &str = r#"
import * as fs from "node:fs";
import * as path from "node:path";
const did = (...values) => fs.appendFileSync("did", JSON.stringify(values) + "\n");
const refusal = (work) => { try { work(); return "nothing"; } catch (error) { return error.message; } };
const usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0, cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 } };
const answer = { provider: "p", model: "m", api: "a", stopReason: "stop", usage };
export default (pi) => pi.registerCommand("managed", { handler: (args, ctx) => {
  let kept;
  return ctx.newSession({
    setup: async (session) => {
      kept = session;
      const said = (text) => session.appendMessage({ role: "user", content: text, timestamp: 1 });
      const kinds = () => session.getEntries().map(({ type }) => type);
      const first = said("the old words");
      const second = session.appendMessage({ role: "assistant", content: [{ type: "text", text: "two" }], timestamp: 2, ...answer });
      session.appendLabelChange(first, "here");
      said("three");
      const whole = session.getSessionFile();
      did(session.usesDefaultSessionDir());
      const made = session.createBranchedSession(second);
      did("branched", made === session.getSessionFile(), made !== whole, path.dirname(made) === path.dirname(whole), session.getHeader().parentSession === whole, kinds(), session.getLabel(first));
      did(refusal(() => session.createBranchedSession("no-such")), made === session.getSessionFile());
      const chosen = session.newSession({ id: "chosen-id", parentSession: made });
      did("new", chosen === session.getSessionFile(), path.basename(chosen).endsWith("_chosen-id.jsonl"), session.getSessionId(), session.getHeader().parentSession === made, kinds(), session.getLeafId());
      did(refusal(() => session.newSession({ id: "a/b" })), session.getSessionId());
      session.setSessionFile(whole);
      did("file", session.getSessionFile() === whole, kinds(), session.getLeafId() === session.getEntries().at(-1).id);
      did(refusal(() => session.setSessionFile("did")), session.getSessionFile() === whole);
      session.setSessionFile("named.jsonl");
      did("fresh", path.isAbsolute(session.getSessionFile()), path.basename(session.getSessionFile()), kinds());
      said("the last words");
    },
    withSession: async (next) => {
      did("after", path.basename(next.sessionManager.getSessionFile()), ["newSession", "setSessionFile", "createBranchedSession"].map((name) => refusal(() => kept[name]("x")).slice(0, 60)));
      await next.sendUserMessage("go on");
    },
  });
} });
"#;

/// A session that is prepared may become another: a copy of a path, a new one, another file. The agent goes on in it.
#[test]
fn a_prepared_session_may_become_another() {
    if !has_node() {
        return;
    }
    let talk = Talk::new(["One.", "Two."].map(Reply::text));
    extension(&talk, "managed.js", MANAGED);
    let printed = run(&talk, &["-p", "first", "--then", "/managed"]);
    let did = did(&talk);
    let [default, branched, unknown, new, bad, file, foreign, fresh, after] = did.as_slice() else {
        panic!("{did:?} {printed}")
    };
    assert_eq!(*default, json!([true]));
    assert_eq!(*branched, json!(["branched", true, true, true, true, ["message", "message", "label"], "here"]));
    assert!(unknown[0].as_str().unwrap().contains("no-such") && unknown[1] == true, "{unknown}");
    assert_eq!(*new, json!(["new", true, true, "chosen-id", true, [], null]));
    assert!(bad[0].as_str().unwrap().contains("a/b") && bad[1] == "chosen-id", "{bad}");
    assert_eq!(*file, json!(["file", true, ["message", "message", "label", "message"], true]));
    assert!(foreign[0].as_str().unwrap().contains("did") && foreign[1] == true, "{foreign}");
    assert_eq!(*fresh, json!(["fresh", true, "named.jsonl", []]));
    let refused = |name: &str| format!("SessionManager.{name} works only while setup runs: the agent works");
    let expected = ["newSession", "setSessionFile", "createBranchedSession"].map(|name| refused(name)[..60].to_owned());
    assert_eq!(*after, json!(["after", "named.jsonl", expected]));
    let last = talk.server.seen().last().unwrap().body.clone();
    assert!(last.contains("the last words") && last.contains("go on") && !last.contains("the old words"), "{last}");
    let named = std::fs::read_to_string(talk.world.work().join("named.jsonl")).unwrap();
    assert!(named.contains("go on") && named.contains("Two."), "{named}");
    talk.no_problems();
}

/// The first handler drafts, the second one looks at what the model would get. What a third one drafts is wrong.
const BOUNDARY: &str = r#"
import * as fs from "node:fs";
const did = (value) => fs.appendFileSync("did", JSON.stringify(value) + "\n");
const told = ({ contextMessages, canContinue }) => did([contextMessages.filter(({ role }) => role !== "system").map(({ role, content, summary }) => [role, content ?? summary]), canContinue]);
export default (pi) => {
  pi.on("turn_end", ({ context }, { sessionManager }) => {
    told(context);
    const answer = sessionManager.getBranch().find(({ message }) => message?.role === "assistant");
    return { entries: [{ type: "context_edit", targetId: answer.id, replacement: { content: "shorter" } }, { type: "custom_message", customType: "note", content: "a note", display: true }] };
  });
  pi.on("turn_end", ({ context }) => told(context));
  pi.on("turn_end", ({ entries }) => ({ entries: [...entries, { type: "context_edit", targetId: "nope", replacement: null }] }));
  pi.on("turn_end", ({ context, entries }) => {
    told(context);
    return { entries: entries.slice(0, -1) };
  });
};
"#;

/// Story: the new text of an answer was a text in the context of a handler and a block in the next request.
#[test]
fn a_handler_sees_the_context_that_earlier_drafts_leave() {
    if !has_node() {
        return;
    }
    let talk = Talk::new(["One.", "Two."].map(Reply::text));
    extension(&talk, "boundary.js", BOUNDARY);
    let printed = run(&talk, &["-p", "first", "--then", "second"]);
    let did = did(&talk);
    let [before, drafted, refused, ..] = did.as_slice() else { panic!("{did:?} {printed}") };
    let block = |text: &str| json!([{"type": "text", "text": text}]);
    let said = |text: &str| json!(["assistant", block(text)]);
    let user = before[0][0].clone();
    assert_eq!(*before, json!([[user, said("One.")], false]), "{printed}");
    assert_eq!(*drafted, json!([[user, said("shorter"), ["custom", "a note"]], true]));
    assert_eq!(refused, before, "of these drafts nothing would be written");
    let request = talk.server.seen().last().unwrap().body.clone();
    assert!(request.contains("shorter") && request.contains("a note") && !request.contains("One."), "{request}");
    talk.no_problems();
}

/// A tool that makes calls of its own. `seen` has what handlers hear of them.
const NESTED: &str = r#"
import * as fs from "node:fs";
const did = (...values) => fs.appendFileSync("did", JSON.stringify(values) + "\n");
const parameters = { type: "object", properties: { text: { type: "string" } }, required: [] };
export default (pi) => {
  for (const type of ["tool_call", "tool_result", "tool_execution_start", "tool_execution_update", "tool_execution_end"]) {
    pi.on(type, ({ toolCallId, toolName, parentToolCallId, input, isError }) => {
      if (parentToolCallId) did(type, toolCallId, toolName, parentToolCallId, isError);
      if (type === "tool_call" && input.command === "echo never") return { block: true, reason: "not that" };
      if (type === "tool_result" && toolName === "inner") return { content: [{ type: "text", text: "changed" }] };
    });
  }
  pi.registerTool({ name: "inner", label: "inner", description: "i", parameters, executionMode: "sequential", async execute(id, params, signal, onUpdate, ctx) {
    onUpdate({ content: [{ type: "text", text: "half" }], details: {} });
    const listed = await ctx.executeTool("read", { path: "did" });
    return { content: [{ type: "text", text: `inner ${params.text} ${listed.isError}` }], details: { own: 1 } };
  } });
  pi.registerTool({ name: "outer", label: "outer", description: "o", parameters, async execute(id, params, signal, onUpdate, ctx) {
    const text = ({ result }) => result.content[0].text.trim();
    const steps = [];
    const inner = await ctx.executeTool("inner", { text: "x" }, { onUpdate: ({ content }) => steps.push(content[0].text) });
    did("inner", inner.toolCall, text(inner), inner.result.details, inner.isError, steps);
    const shell = await ctx.executeTool("bash", { command: "printf '%s' $((6*7)); seq 1 3000" });
    did("bash", text(shell).split("\n").length < 2100, shell.isError);
    for (const [name, args] of [["bash", { command: "echo never" }], ["no-such", {}], ["inner", { text: {} }], ["write", { path: "made", content: "x".repeat(9000) }]]) {
      const outcome = await ctx.executeTool(name, args);
      did(name, text(outcome).split("\n")[0].slice(0, 60), outcome.isError);
    }
    const stop = new AbortController();
    setTimeout(() => stop.abort(), 1);
    did("stopped", (await ctx.executeTool("bash", { command: "sleep 600" }, { signal: stop.signal })).isError);
    if (params.text === "fail") throw new Error("outer failed");
    return { content: [{ type: "text", text: "done" }], details: {} };
  } });
};
"#;

#[test]
fn a_tool_makes_calls_that_run_as_those_of_the_model_do() {
    if !has_node() {
        return;
    }
    let call = |text: &str| Reply::call("outer", "c1", json!({"text": text}));
    let talk = Talk::new([call("go"), Reply::text("One."), call("fail"), Reply::text("Two.")]);
    extension(&talk, "nested.js", NESTED);
    let printed = run(&talk, &["--approval", "auto", "-p", "first"]);
    let seen = did(&talk);
    let event = |kind: &str, id: &str, tool: &str, parent: &str| json!([kind, id, tool, parent]);
    let told = |value: &Value| seen.iter().filter(|seen| *seen == value).count();
    for (id, tool, parent) in [("c1/1", "inner", "c1"), ("c1/1/1", "read", "c1/1"), ("c1/2", "bash", "c1")] {
        for kind in ["tool_execution_start", "tool_call"] {
            let mut wanted = event(kind, id, tool, parent);
            wanted.as_array_mut().unwrap().push(Value::Null);
            assert_eq!(told(&wanted), 1, "{wanted} {seen:#?} {printed}");
        }
        for kind in ["tool_result", "tool_execution_end"] {
            let mut wanted = event(kind, id, tool, parent);
            wanted.as_array_mut().unwrap().push(json!(false));
            assert_eq!(told(&wanted), 1, "{wanted} {seen:#?}");
        }
    }
    let inner = json!({"type": "toolCall", "id": "c1/1", "name": "inner", "arguments": {"text": "x"}});
    assert_eq!(told(&json!(["inner", inner, "changed", {"own": 1}, false, ["half"]])), 1, "{seen:#?}");
    assert_eq!(told(&json!(["bash", true, false])), 1, "the output is cut as the model's: {seen:#?}");
    assert_eq!(told(&json!(["bash", "not that", true])), 1);
    assert_eq!(told(&json!(["no-such", "there is no tool named no-such", true])), 1);
    let find = |name: &str| seen.iter().rev().find(|seen| seen[0] == name).unwrap().clone();
    assert_eq!(find("inner")[2], true, "arguments that are not those of the schema: {seen:#?}");
    assert_eq!((find("write")[2].clone(), find("stopped")[1].clone()), (json!(false), json!(true)));
    assert_eq!(talk.world.work().join("made").metadata().unwrap().len(), 9000);
    run(&talk, &["-c", "--approval", "auto", "-p", "second"]);
    let lines = talk.lines();
    let results: Vec<&Value> = lines.iter().filter(|line| line["message"]["role"] == "toolResult").collect();
    let [ok, failed] = results.as_slice() else { panic!("{results:#?}") };
    let calls = |result: &Value| {
        let calls = result["message"]["nestedCalls"]["calls"].as_array().cloned().unwrap_or_default();
        let one = |call: &Value| format!("{} {} {}", call["id"].as_str().unwrap(), call["name"], call["status"]);
        calls.iter().map(one).collect::<Vec<_>>().join("\n")
    };
    assert_snapshot!(calls(ok), @r#"
    c1/1 "inner" "ok"
    c1/1/1 "read" "ok"
    c1/2 "bash" "ok"
    c1/3 "bash" "error"
    c1/4 "no-such" "error"
    c1/5 "inner" "error"
    c1/6 "write" "ok"
    c1/7 "bash" "error"
    "#);
    assert_eq!(calls(failed), calls(ok));
    assert!(failed["message"]["isError"] == true && failed["message"]["content"][0]["text"] == "outer failed");
    let nested = &ok["message"]["nestedCalls"];
    assert_eq!((&nested["complete"], &nested["calls"][0]["arguments"]), (&json!(false), &json!({"text": "x"})));
    assert!(nested["calls"][6]["argumentsBytes"].as_u64().is_some_and(|bytes| bytes > 9000), "{nested:#}");
    assert_eq!(nested["calls"][3]["error"], "not that");
    assert!(!talk.server.seen().last().unwrap().body.contains("nestedCalls"));
    talk.no_problems();
}

/// The permissions of the run are those of the calls that tools make.
#[test]
fn a_tool_cannot_make_a_call_that_the_model_could_not() {
    if !has_node() {
        return;
    }
    let talk = Talk::new([Reply::call("outer", "c1", json!({"text": "go"})), Reply::text("One.")]);
    extension(&talk, "nested.js", NESTED);
    talk.data("settings.json", &json!({"permissions": {"deny": ["bash(printf:*)", "write"]}}));
    let printed = run(&talk, &["--approval", "auto", "-p", "first"]);
    let seen = did(&talk);
    let is_refused = |name: &str| seen.iter().find(|seen| seen[0] == name).unwrap()[2] == true;
    assert!(is_refused("write") && is_refused("bash"), "{seen:#?} {printed}");
    assert!(!talk.world.work().join("made").exists());
}

const BUSY: &str = r#"
import * as fs from "node:fs";
const did = (...values) => fs.appendFileSync("did", JSON.stringify(values) + "\n");
const texts = (ctx) => ctx.sessionManager.getBranch().filter(({ type, message }) => type === "message" && message.role === "user").map(({ message: { content } }) => (typeof content === "string" ? content : content[0].text));
export default function (pi) {
  const command = (name, handler) => pi.registerCommand(name, { handler });
  const failed = (promise) => promise.then(() => "went", (error) => error.message);
  let answers;
  pi.on("message_start", ({ message }) => message.role === "assistant" && answers?.());
  /** Ends when the model has begun to answer. */
  const asked = (text) => new Promise((begun) => { answers = begun; pi.sendUserMessage(text); });
  command("work", async (args, ctx) => {
    await asked("slow");
    did("idle", ctx.isIdle(), ctx.signal === undefined);
    const [first] = ctx.sessionManager.getEntries();
    did("navigateTree", await failed(ctx.navigateTree(first.id)));
    did("compact", await new Promise((done) => ctx.compact({ onComplete: () => done("went"), onError: (error) => done(error.message) })));
    did("idle", ctx.isIdle());
    await asked("slow again");
    const file = ctx.sessionManager.getSessionFile();
    await ctx.newSession({ withSession: async (next) => {
      did("new", texts(next), next.isIdle());
      await next.sendUserMessage("quick");
      await next.waitForIdle();
      did("idle", texts(next), next.isIdle());
      await next.switchSession(file, { withSession: async (back) => did("back", texts(back)) });
    } });
  });
  command("anew", async (args, ctx) => { await ctx.reload(); did("reloaded", await failed((async () => ctx.isIdle())())); });
}
"#;

/// What stops the run, what is refused and what waits is the same for a command as for a person.
#[test]
fn a_command_leaves_a_session_in_which_the_agent_works() {
    if !has_node() {
        return;
    }
    let never = offshoot_agent::testing::script::Gate::new();
    // The answer begins and does not end.
    let slow = |text: &str| Reply { gate: Some((600, never.clone())), ..Reply::text(&text.repeat(400)) };
    let talk = Talk::new([Reply::text("One."), slow("Two. "), slow("Three. "), Reply::text("Four.")]);
    extension(&talk, "busy.js", BUSY);
    let printed = run(&talk, &["-p", "first", "--then", "/work", "--then", "/anew"]);
    let did = did(&talk);
    let expected = [
        json!(["idle", false, false]),
        json!(["navigateTree", "the agent is at work: stop it before going elsewhere"]),
        json!(["compact", did[2][1]]),
        json!(["idle", true]),
        json!(["new", [], true]),
        json!(["idle", ["quick"], true]),
        json!(["back", ["first", "slow", "slow again"]]),
        json!(["reloaded", did[7][1]]),
    ];
    assert_eq!(did, expected, "{printed}");
    assert_ne!(did[2][1], "went", "there is too little to compact");
    assert!(did[7][1].as_str().unwrap().starts_with("this pi or ctx belongs to a session or a load that is over"));
}

const PROMPTS: &str = r#"
import * as fs from "node:fs";
export default function (pi) {
  pi.registerTool({ name: "weigh", description: "weighs", promptSnippet: "weighs things", promptGuidelines: ["Weigh twice."], parameters: { type: "object", properties: {} }, async execute() {} });
  pi.registerCommand("options", { handler: async (_, ctx) => {
    const { cwd, selectedTools, toolSnippets, toolGuidelines, skills } = ctx.getSystemPromptOptions();
    fs.writeFileSync("did", JSON.stringify([cwd === ctx.cwd, selectedTools.includes("weigh"), toolSnippets.weigh, toolGuidelines.weigh, skills.map(({ name }) => name)]) + "\n");
  } });
  pi.registerCommand("send", { handler: async (args, ctx) => {
    pi.sendUserMessage(args, { expandPromptTemplates: true });
    await ctx.waitForIdle();
  } });
  pi.registerCommand("plain", { handler: async (args, ctx) => {
    pi.sendUserMessage(args);
    await ctx.waitForIdle();
  } });
}
"#;

#[test]
fn a_command_reads_what_the_prompt_is_made_of_and_sends_templates() {
    if !has_node() {
        return;
    }
    let talk = Talk::new(["One.", "Two."].map(Reply::text));
    extension(&talk, "prompts.js", PROMPTS);
    let data = talk.world.home().join(".local/share/offshoot");
    let write = |name: &str, text: &str| {
        std::fs::create_dir_all(data.join(name).parent().unwrap()).unwrap();
        std::fs::write(data.join(name), text).unwrap();
    };
    write("prompts/greet.md", "Say hello to $1.");
    write("skills/knots/SKILL.md", "---\nname: knots\ndescription: Ties knots.\n---\nTie it.\n");
    let printed = run(&talk, &["-p", "/options", "--then", "/send /greet Ada", "--then", "/plain /greet Ada"]);
    assert_eq!(did(&talk), [json!([true, true, "weighs things", ["Weigh twice."], ["knots"]])], "{printed}");
    let lines = talk.lines();
    let said: Vec<&Value> = lines.iter().filter(|line| line["message"]["role"] == "user").collect();
    let texts: Vec<&Value> = said.iter().map(|line| &line["message"]["content"]).collect();
    let texts: Vec<&str> =
        texts.iter().filter_map(|content| content.as_str().or(content[0]["text"].as_str())).collect();
    assert_eq!(texts, ["Say hello to Ada.", "/greet Ada"]);
    talk.no_problems();
}

/// The command that is sent runs beside the one that sends it.
#[test]
fn a_command_sends_another_command() {
    if !has_node() {
        return;
    }
    let talk = Talk::new([Reply::text("One.")]);
    let again = "pi.registerCommand(\"again\", { handler: async () => pi.sendUserMessage(\"/options\", { expandPromptTemplates: true }) });";
    extension(
        &talk,
        "prompts.js",
        &PROMPTS.replace("pi.registerCommand(\"send\"", &format!("{again}\n  pi.registerCommand(\"send\"")),
    );
    let printed = run(&talk, &["-p", "/again", "--then", "hi"]);
    assert_eq!(did(&talk).len(), 1, "{printed}");
    assert_eq!(talk.server.seen().len(), 1, "the model is not asked for it");
    talk.no_problems();
}
