// RPC: one script of commands for pi and for offshoot with the same model, and pi's own client in front of offshoot.
//   OFFSHOOT_BIN=… OFFSHOOT_LOOPBACK_BIN=../target/tests/examples/loopback node --test rpc.test.mjs
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { after, test } from "node:test";
import { pathToFileURL } from "node:url";
import { home as loopbackHome, model as loopbackModel } from "./lib/model.mjs";
import { MODULES, REPOSITORY, bunBinary, piPackage, temporaryFolder } from "./lib/places.mjs";
import { RpcPeer } from "./lib/rpc.mjs";

const program = process.env.OFFSHOOT_BIN;
if (!program) throw new Error("set OFFSHOOT_BIN");
const folder = temporaryFolder("rpc");
after(() => fs.rmSync(folder, { recursive: true, force: true }));

const START = ["--mode", "rpc", "--provider", "test", "--model", "m1"];
const REPLIES = [
  { say: [{ text: "Writing." }, { call: "write", id: "c1", arguments: { path: "a.txt", content: "one\n" } }] },
  { say: [{ text: "Done." }] },
  { say: [{ text: "Second." }] },
  { say: [{ text: "Third." }] },
];

/** Every command of pi 0.87.1 but those that end the run, in an order in which each has something to do. */
async function script(peer) {
  await peer.ask({ type: "get_state" });
  await peer.ask({ type: "get_last_assistant_text" });
  await peer.prompt("one");
  await peer.ask({ type: "get_state" });
  await peer.ask({ type: "get_messages" });
  await peer.ask({ type: "get_last_assistant_text" });
  await peer.ask({ type: "get_session_stats" });
  const messages = (await peer.ask({ type: "get_fork_messages" })).data.messages;
  const entries = (await peer.ask({ type: "get_entries" })).data;
  await peer.ask({ type: "get_entries", since: entries.leafId });
  await peer.ask({ type: "get_entries", since: "nothing" });
  await peer.ask({ type: "get_tree" });
  await peer.ask({ type: "get_commands" });
  await peer.ask({ type: "get_available_models" });
  await peer.ask({ type: "set_model", provider: "test", modelId: "m2" });
  await peer.ask({ type: "set_model", provider: "test", modelId: "none" });
  await peer.ask({ type: "cycle_model" });
  await peer.ask({ type: "set_thinking_level", level: "high" });
  await peer.ask({ type: "cycle_thinking_level" });
  await peer.ask({ type: "get_available_thinking_levels" });
  await peer.ask({ type: "set_steering_mode", mode: "all" });
  await peer.ask({ type: "set_follow_up_mode", mode: "all" });
  await peer.ask({ type: "set_auto_compaction", enabled: false });
  await peer.ask({ type: "set_auto_retry", enabled: false });
  await peer.ask({ type: "abort_retry" });
  await peer.ask({ type: "abort_bash" });
  await peer.ask({ type: "abort" });
  await peer.ask({ type: "bash", command: "echo hi" });
  await peer.ask({ type: "bash", command: "echo no", excludeFromContext: true });
  await peer.ask({ type: "compact" });
  await peer.ask({ type: "set_session_name", name: " mine " });
  await peer.ask({ type: "set_session_name", name: " " });
  await peer.prompt("two");
  await peer.ask({ type: "clear_queue" });
  await peer.ask({ type: "get_state" });
  const state = (await peer.ask({ type: "get_state" })).data;
  await peer.ask({ type: "export_html", outputPath: "page.html" });
  await peer.ask({ type: "fork", entryId: messages[0].entryId });
  await peer.ask({ type: "fork", entryId: "nothing" });
  await peer.ask({ type: "switch_session", sessionPath: state.sessionFile });
  await peer.ask({ type: "clone" });
  await peer.ask({ type: "new_session" });
  await peer.ask({ type: "get_state" });
  await peer.ask({ type: "switch_session", sessionPath: elsewhere() });
  peer.line("garbage");
  await peer.until((record) => record.command === "parse");
  await peer.ask({ type: "nonsense" });
  return peer.end();
}

/** A session of a folder in which nobody has started a program. */
function elsewhere() {
  const file = path.join(folder, "elsewhere.jsonl");
  const header = { type: "session", version: 3, id: "elsewhere", timestamp: "2026-01-01T00:00:00.000Z", cwd: folder };
  fs.writeFileSync(file, `${JSON.stringify(header)}\n`);
  return file;
}

/** What a script makes a program tell: names and members, without values that differ from run to run. */
function shapes(records) {
  // The provider's own word for the end, and a price class of one provider: pi's alone. The two numbers of a context: offshoot's.
  const left = ["rawStopReason", "cacheWrite1h", "messageTokens", "overheadTokens"];
  const isPiece = (record) => record.assistantMessageEvent || record.type === "bash_execution_update";
  const members = (value, deep) =>
    value === null || typeof value !== "object"
      ? typeof value
      : Array.isArray(value)
        ? `[${value.length ? members(value.at(-1), deep - 1) : ""}]`
        : `{${Object.keys(value).filter((key) => !left.includes(key)).sort().map((key) => (deep > 0 && value[key] !== null ? `${key}:${members(value[key], deep - 1)}` : key))}}`;
  return records
    .filter((record) => !isPiece(record) && record.message?.role !== "system")
    .map((record) => {
      const results = record.type === "turn_end" ? ` ${members(record.toolResults, 2)}` : "";
      if (record.type !== "response") return `event ${record.type} ${Object.keys(record).sort()}${results}`;
      const said = record.success ? members(record.data ?? null, 3) : "refused";
      return `${record.command} ${record.success} ${said}`;
    });
}

/** What differs on purpose: offshoot's line, what it stands for at pi (null: nothing), and why. Each must occur. */
const DIFFERENCES = [
  ["prompt true {disposition:string}", "prompt true object", "pi 1.5.2 says what became of a message"],
  ["event agent_settled aborted,type", "event agent_settled type", "so does its agent_settled"],
  ["get_last_assistant_text true {text}", "get_last_assistant_text true {}", "the text is null, as pi documents it"],
  ["compact settled", null, "whatever ran has settled: a refused compaction too"],
  ["event session_changed leafId,reason,sessionFile,sessionId,type", null, "says which session follows"],
  ["event session_shutdown reason,type", null, "pi tells extensions only"],
  ["event session_changed reason,sessionFile,sessionId,type", null, "the same, of a session without entries"],
  ["switch_session false refused", "switch_session true {cancelled:boolean}", "the header of a file does not decide where is written"],
];

/** The records of offshoot as pi would tell them. */
function asPis(shapes) {
  const found = new Set();
  const line = (shape, at) => (shape.startsWith("event agent_settled") && shapes[at - 1].startsWith("event compaction_end") ? "compact settled" : shape);
  const told = shapes.map(line).flatMap((shape) => {
    const difference = DIFFERENCES.find(([ours]) => ours === shape);
    if (!difference) return [shape];
    found.add(difference);
    return difference[1] === null ? [] : [difference[1]];
  });
  assert.deepEqual(DIFFERENCES.filter((difference) => !found.has(difference)), [], "a difference that is none any more");
  return told;
}

/** What a prompt may call, with where it comes from. pi has an extension of its own beside. */
function called({ records, home }, data) {
  const { commands } = records.find((record) => record.command === "get_commands").data;
  const text = JSON.stringify(commands.filter((command) => command.source !== "extension"));
  return JSON.parse(text.replaceAll(path.join(home, data), "DATA"));
}

async function told(name, file, args, data, run = script) {
  const server = await loopbackModel(folder, name, REPLIES);
  const place = loopbackHome(folder, name, server.models, data);
  for (const [name, text] of [["prompts/ask.md", "---\ndescription: asks\n---\nAsk $1."], ["skills/s/SKILL.md", "---\nname: s\ndescription: does s\n---\nDo it."]]) {
    fs.mkdirSync(path.dirname(path.join(place.env.HOME, data, name)), { recursive: true });
    fs.writeFileSync(path.join(place.env.HOME, data, name), text);
  }
  const peer = new RpcPeer(file, [...args, ...START], place);
  const code = await run(peer);
  const { complaints } = await server.end();
  return { code, complaints, records: peer.records, home: place.env.HOME };
}

test("one script makes pi and offshoot tell the same records", async () => {
  const theirs = await told("pi", bunBinary(), [path.join(piPackage(), "dist/cli.js")], ".pi/agent");
  const ours = await told("ours", program, [], "data");
  assert.deepEqual([ours.code, ours.complaints], [0, []]);
  assert.deepEqual(asPis(shapes(ours.records)), shapes(theirs.records));
  assert.deepEqual(called(ours, "data"), called(theirs, ".pi/agent"));
  console.log(`${ours.records.length} records of offshoot, ${theirs.records.length} of pi, ${DIFFERENCES.length} kinds of differences`);
});

/** The commands of pi 0.31.1 that do not end its process. */
async function olderScript(peer) {
  const prompt = async (message) => {
    const from = peer.records.length;
    await peer.ask({ type: "prompt", message });
    await peer.until((record) => record.type === "agent_end", from);
  };
  await peer.ask({ type: "get_state" });
  await prompt("one");
  for (const type of ["get_state", "get_messages", "get_last_assistant_text", "get_session_stats"]) await peer.ask({ type });
  for (const type of ["get_available_models", "get_branch_messages"]) await peer.ask({ type });
  await peer.ask({ type: "set_model", provider: "test", modelId: "m2" });
  await peer.ask({ type: "set_model", provider: "test", modelId: "none" });
  await peer.ask({ type: "cycle_model" });
  await peer.ask({ type: "set_thinking_level", level: "high" });
  await peer.ask({ type: "cycle_thinking_level" });
  await peer.ask({ type: "set_queue_mode", mode: "all" });
  await peer.ask({ type: "set_auto_compaction", enabled: false });
  await peer.ask({ type: "set_auto_retry", enabled: false });
  for (const type of ["abort_retry", "abort_bash", "abort"]) await peer.ask({ type });
  await peer.ask({ type: "bash", command: "echo hi" });
  await prompt("two");
  const state = (await peer.ask({ type: "get_state" })).data;
  const [first] = peer.records.find((record) => record.command === "get_branch_messages").data.messages;
  await peer.ask({ type: "export_html", outputPath: "page.html" });
  await peer.ask({ type: "branch", entryId: first.entryId });
  await peer.ask({ type: "switch_session", sessionPath: state.sessionFile });
  await peer.ask({ type: "new_session" });
  await peer.ask({ type: "get_state" });
  peer.line("garbage");
  await peer.until((record) => record.command === "parse");
  // pi 0.31.1 goes on when its input ends.
  peer.child.stdin.end();
  peer.child.kill();
  await peer.ended;
}

/** Names and members, to depth 4, of every record but the pieces of an answer, of which one of each kind is enough. */
function olderShapes(records) {
  // Of pi's blocks while they come, and the provider's id, which 0.31.1 did not keep.
  const left = ["index", "partialJson", "responseId"];
  const members = (value, deep) =>
    value === null || typeof value !== "object"
      ? typeof value
      : Array.isArray(value)
        ? `[${value.length ? members(value.at(-1), deep - 1) : ""}]`
        : `{${Object.keys(value).filter((key) => !left.includes(key)).sort().map((key) => (deep > 0 ? `${key}:${members(value[key], deep - 1)}` : key))}}`;
  const isPiece = (record) => record.assistantMessageEvent?.type.endsWith("_delta");
  const shapes = records.map((record) => `${record.command ?? record.type} ${record.success === false ? "refused" : members(record, 4)}`);
  // The provider's library is ahead of pi by a piece, so a block that begins may stand in another's record.
  const same = (shape) => (shape.startsWith("message_update") ? shape.replace(/content:\[[^\]]*\]/g, "content") : shape);
  const deltas = new Set(records.flatMap((record, at) => (isPiece(record) ? [same(shapes[at])] : [])));
  return { records: shapes.filter((_, at) => !isPiece(records[at])).map(same), deltas: [...deltas].sort() };
}

test("a client of pi 0.31 reads its records", async () => {
  const old = path.join(MODULES, "pi-0.31/dist/cli.js");
  const theirs = await told("old", process.execPath, [old], ".pi/agent", olderScript);
  const ours = await told("as-old", program, ["--rpc-version", "0.31"], "data", olderScript);
  assert.deepEqual(ours.complaints, []);
  assert.deepEqual(olderShapes(ours.records), olderShapes(theirs.records));
  const answers = (told) => told.records.filter((record) => record.assistantMessageEvent?.type === "toolcall_end").map((record) => record.message.content);
  assert.deepEqual(answers(ours), answers(theirs));
  console.log(`${ours.records.length} records of offshoot, ${theirs.records.length} of pi 0.31.1`);
});

test("pi's own client drives every command", async () => {
  const { RpcClient } = await import(pathToFileURL(path.join(piPackage(), "dist/modes/rpc/rpc-client.js")).href);
  const server = await loopbackModel(folder, "client", REPLIES);
  const place = loopbackHome(folder, "client", server.models, "data");
  const env = { ...place.env, OFFSHOOT_BIN: path.resolve(program) };
  const client = new RpcClient({ cliPath: path.join(REPOSITORY, "clients/javascript/bin/offshoot.mjs"), cwd: place.cwd, env, provider: "test", model: "m1" });
  await client.start();
  try {
    const events = await client.promptAndWait("one");
    assert.ok(events.some((event) => event.type === "agent_settled"));
    assert.equal(await client.getLastAssistantText(), "Done.");
    const state = await client.getState();
    assert.deepEqual([state.model.id, state.messageCount, state.isStreaming], ["m1", 4, false]);
    assert.equal((await client.getMessages()).length, 4);
    const { entries, leafId } = await client.getEntries();
    assert.equal(entries.at(-1).id, leafId);
    assert.deepEqual((await client.getEntries(leafId)).entries, []);
    assert.equal((await client.getTree()).leafId, leafId);
    const [first] = await client.getForkMessages();
    assert.equal(first.text, "one");
    assert.deepEqual((await client.getAvailableModels()).map((model) => model.id), ["m1", "m2"]);
    assert.equal((await client.setModel("test", "m2")).id, "m2");
    assert.equal((await client.cycleModel()).model.id, "m1");
    await client.setThinkingLevel("high");
    assert.equal(await client.cycleThinkingLevel(), null);
    assert.deepEqual(await client.getAvailableThinkingLevels(), ["off"]);
    await client.setSteeringMode("all");
    await client.setFollowUpMode("one-at-a-time");
    await client.setAutoCompaction(true);
    await client.setAutoRetry(true);
    await client.abortRetry();
    await client.abortBash();
    await client.abort();
    assert.deepEqual(await client.clearQueue(), { steering: [], followUp: [] });
    assert.equal((await client.bash("echo hi")).output, "hi\n");
    await assert.rejects(client.compact());
    await client.setSessionName("mine");
    assert.equal((await client.getSessionStats()).userMessages, 1);
    assert.deepEqual(await client.getCommands(), []);
    const page = await client.exportHtml(path.join(place.cwd, "page.html"));
    assert.ok(fs.existsSync(page.path));
    await client.steer("two");
    await client.waitForIdle();
    await client.followUp("three");
    await client.waitForIdle();
    assert.deepEqual(await client.fork(first.entryId), { text: "one", cancelled: false });
    assert.deepEqual(await client.switchSession(state.sessionFile), { cancelled: false });
    assert.deepEqual(await client.clone(), { cancelled: false });
    assert.deepEqual(await client.newSession(state.sessionFile), { cancelled: false });
    await assert.rejects(client.setModel("test", "none"), /test\/none/);
  } finally {
    await client.stop();
  }
  const { complaints } = await server.end();
  assert.deepEqual(complaints, []);
});

/** A client of the Agent Client Protocol in front of `pi-acp`, which starts `pi --mode rpc` for it. */
class Editor {
  constructor(place) {
    this.told = [];
    this.answers = new Map();
    this.child = spawn(process.execPath, [path.join(MODULES, "pi-acp/dist/index.js")], { ...place, stdio: ["pipe", "pipe", "inherit"] });
    let rest = "";
    this.child.stdout.on("data", (data) => {
      const lines = (rest + data).split("\n");
      rest = lines.pop();
      for (const record of lines.filter(Boolean).map((line) => JSON.parse(line))) {
        if (record.method) this.told.push(record.params.update);
        else this.answers.get(record.id)(record.result ?? record.error);
      }
    });
  }

  ask(method, params) {
    const id = this.answers.size + 1;
    this.child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    return new Promise((resolve) => this.answers.set(id, resolve));
  }
}

test("a published client of pi works unchanged", async () => {
  const server = await loopbackModel(folder, "acp", REPLIES);
  const place = loopbackHome(folder, "acp", server.models, "data");
  const editor = new Editor({ ...place, env: { ...place.env, PI_ACP_PI_COMMAND: path.resolve(program) } });
  try {
    await editor.ask("initialize", { protocolVersion: 1, clientCapabilities: {} });
    const { sessionId } = await editor.ask("session/new", { cwd: place.cwd, mcpServers: [] });
    const ended = await editor.ask("session/prompt", { sessionId, prompt: [{ type: "text", text: "one" }] });
    assert.deepEqual(ended, { stopReason: "end_turn" });
    const words = editor.told.filter((update) => update.sessionUpdate === "agent_message_chunk").map((update) => update.content.text);
    assert.ok(words.join("").endsWith("Writing.Done."), words.join(""));
    const calls = editor.told.filter((update) => update.toolCallId === "c1").map((update) => update.status);
    assert.deepEqual(calls, ["pending", "in_progress", "completed"]);
  } finally {
    editor.child.kill();
  }
  assert.deepEqual((await server.end()).complaints, []);
});
