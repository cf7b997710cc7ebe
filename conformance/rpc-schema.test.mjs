// The schema and the types of RPC: they are those of the program, real records have their shapes, and a program compiles.
//   OFFSHOOT_BIN=… OFFSHOOT_LOOPBACK_BIN=../target/tests/examples/loopback node --test rpc-schema.test.mjs
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { after, test } from "node:test";
import Ajv from "ajv/dist/2020.js";
import { home as loopbackHome, model as loopbackModel } from "./lib/model.mjs";
import { HERE, MODULES, temporaryFolder } from "./lib/places.mjs";
import { RpcPeer } from "./lib/rpc.mjs";
import { SCHEMA, TYPES, schemaOf, schemaText, typesOf } from "./rpc/schema.mjs";

const program = process.env.OFFSHOOT_BIN;
if (!program) throw new Error("set OFFSHOOT_BIN");
const folder = temporaryFolder("rpc-schema");
after(() => fs.rmSync(folder, { recursive: true, force: true }));

const REWRITE = "run `OFFSHOOT_BIN=… node conformance/rpc/schema.mjs --write`";
const schema = await schemaOf(program);

test("the documents have the schema and the types of the program", async () => {
  assert.equal(fs.readFileSync(SCHEMA, "utf8"), schemaText(schema), REWRITE);
  assert.equal(fs.readFileSync(TYPES, "utf8"), await typesOf(schema), REWRITE);
});

test("a program against the types compiles", () => {
  const options = ["--noEmit", "--strict", "--target", "es2022", "--module", "nodenext", "--allowImportingTsExtensions"];
  const compiler = path.join(MODULES, "typescript/bin/tsc");
  execFileSync(process.execPath, [compiler, ...options, path.join(HERE, "rpc/typed.ts")], { stdio: "inherit" });
});

/** Without members that are not described: what a program writes must be described. */
function strict(value, isWhole = true) {
  if (value === null || typeof value !== "object") return value;
  if (Array.isArray(value)) return value.map((part) => strict(part, isWhole));
  // Members of its own besides those of one of several shapes.
  const isMixed = value.properties && value.oneOf;
  const parts = Object.entries(value).map(([name, part]) => [name, strict(part, !(isMixed && name === "oneOf"))]);
  const closed = Object.fromEntries(parts);
  if (isMixed) closed.unevaluatedProperties = false;
  else if (isWhole && closed.properties && closed.type === "object" && !("additionalProperties" in closed)) closed.additionalProperties = false;
  return closed;
}

const validator = new Ajv({ strict: false, allErrors: true });
validator.addSchema({ ...strict(schema), $id: "rpc" });
const shape = (name) => validator.compile({ $ref: `rpc#/$defs/${name}` });
const [response, event, question] = ["RpcResponse", "Event", "UiRequest"].map(shape);
const isKnown = (command) => command in schema.$defs.RpcResponses.properties;

function faults(record) {
  const check = record.type === "response" ? response : record.type === "extension_ui_request" ? question : event;
  const found = check(record) ? [] : [...check.errors];
  if (record.success && record.data !== undefined) {
    if (!isKnown(record.command)) return [...found, "data that the schema does not know"];
    const data = validator.compile({ $ref: `rpc#/$defs/RpcResponses/properties/${record.command}` });
    if (!data(record.data)) found.push(...data.errors);
  }
  if (record.success && record.data === undefined && isKnown(record.command)) found.push("no data");
  return found;
}

const REPLIES = [
  { say: [{ thinking: "Hm.", signature: "s" }, { text: "Writing." }, { call: "write", id: "c1", arguments: { path: "a.txt", content: "one\n" } }] },
  { say: [{ text: "Listing." }, { call: "bash", id: "c2", arguments: { command: "ls" } }] },
  { say: [{ text: "Done." }] },
  { say: [{ text: "Other." }] },
  { say: [{ text: "Asked." }, { call: "bash", id: "c3", arguments: { command: "touch b" } }] },
  { say: [{ text: "Allowed." }] },
];

/** Every command that answers with data, and every kind of event that a run can have without a fault. */
async function script(peer) {
  for (const type of ["get_state", "get_last_assistant_text", "get_schema", "cycle_model", "cycle_thinking_level"]) await peer.ask({ type });
  await peer.prompt("one");
  const leaf = (await peer.ask({ type: "get_entries" })).data.leafId;
  const [first] = (await peer.ask({ type: "get_fork_messages" })).data.messages;
  for (const type of ["get_state", "get_messages", "get_tree", "get_commands", "get_available_models", "get_session_stats"]) await peer.ask({ type });
  await peer.ask({ type: "set_label", entryId: "@", label: "mine" });
  await peer.ask({ type: "navigate_tree", targetId: first.entryId });
  await peer.prompt("two");
  await peer.ask({ type: "compare", a: leaf, b: "@", patch: true });
  await peer.ask({ type: "pick", selections: [leaf] });
  for (const type of ["undo", "uncompact", "get_branches", "forecast", "list_sessions", "get_children"]) await peer.ask({ type });
  await peer.ask({ type: "list_sessions", all: true });
  // Operations of the table.
  for (const type of ["branches", "context", "list", "show", "tree"]) await peer.ask({ type });
  await peer.ask({ type: "context", llm: true, tokens: true });
  const { sessionFile } = (await peer.ask({ type: "get_state" })).data;
  await peer.ask({ type: "check", session: [sessionFile] });
  await peer.ask({ type: "import", file: sessionFile });
  await peer.ask({ type: "models", search: ["m1"] });
  await peer.ask({ type: "search", query: ["writing"] });
  await peer.ask({ type: "label", entry: "@", text: "yours" });
  await peer.ask({ type: "name", text: "named here" });
  await peer.ask({ type: "todo" });
  await peer.ask({ type: "switch", entry: leaf });
  await peer.ask({ type: "pop", summary: "A detour." });
  await peer.ask({ type: "set_model", provider: "test", modelId: "m2" });
  await peer.ask({ type: "get_available_thinking_levels" });
  await peer.ask({ type: "bash", command: "echo hi; false" });
  await peer.ask({ type: "set_session_name", name: "named" });
  await peer.ask({ type: "set_approval", mode: "ask" });
  await peer.ask({ type: "subscribe", approvals: true, ui: true });
  const asked = peer.prompt("three");
  const question = await peer.until((record) => record.type === "extension_ui_request");
  peer.line(JSON.stringify({ type: "extension_ui_response", id: question.id, value: question.options[0] }));
  await asked;
  await peer.ask({ type: "steer", message: "four" });
  await peer.ask({ type: "clear_queue" });
  await peer.ask({ type: "export_html", outputPath: "page.html" });
  const file = (await peer.ask({ type: "get_state" })).data.sessionFile;
  await peer.ask({ type: "fork", entryId: first.entryId });
  await peer.ask({ type: "clone" });
  await peer.ask({ type: "switch_session", sessionPath: file });
  await peer.ask({ type: "new_session" });
  await peer.ask({ type: "nonsense" });
  peer.line("garbage");
  await peer.until((record) => record.command === "parse");
  return peer.end();
}

test("every record has its shape", async () => {
  const server = await loopbackModel(folder, "schema", REPLIES);
  const place = loopbackHome(folder, "schema", server.models, "data");
  const peer = new RpcPeer(program, ["--mode", "rpc", "--provider", "test", "--model", "m1"], place);
  await script(peer);
  await server.end();
  const wrong = peer.records.map((record) => ({ record, faults: faults(record) })).filter(({ faults }) => faults.length > 0);
  assert.equal(wrong.length, 0, JSON.stringify(wrong.slice(0, 3), null, 1));
  const kinds = new Set(peer.records.map((record) => record.command ?? record.type));
  const data = new Set(peer.records.filter((record) => record.success && record.data !== undefined).map((record) => record.command));
  console.log(`${peer.records.length} records of ${kinds.size} kinds, data of ${data.size} commands`);
  // What needs a longer story: stories of their own have them.
  const elsewhere = ["compact", "merge", "follow_up"];
  const unseen = Object.keys(schema.$defs.RpcResponses.properties).filter((command) => !data.has(command));
  assert.deepEqual(unseen.filter((command) => !elsewhere.includes(command)), []);
});

test("the check can fail", () => {
  assert.notDeepEqual(faults({ type: "agent_settled" }), []);
  assert.notDeepEqual(faults({ type: "turn_start", more: 1 }), []);
  assert.notDeepEqual(faults({ type: "response", command: "get_state", success: true, data: { sessionId: "x" } }), []);
  assert.deepEqual(faults({ type: "response", command: "parse", success: false, error: "why" }), []);
});
