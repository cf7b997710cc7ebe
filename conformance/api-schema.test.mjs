// The schema of `offshoot api` and the types made of it: methods are those of the program, real answers have their shapes, and
// programs compile.
//   OFFSHOOT_BIN=… node --test api-schema.test.mjs
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { after, test } from "node:test";
import Ajv from "ajv/dist/2020.js";
import { OffshootError, OffshootSessions } from "../clients/javascript/index.mjs";
import { REWRITE, documentsOf } from "./api/schema.mjs";
import { HERE, MODULES, REPOSITORY, sealedEnvironment, temporaryFolder } from "./lib/places.mjs";

const program = path.resolve(process.env.OFFSHOOT_BIN ?? assert.fail("set OFFSHOOT_BIN"));
const folder = temporaryFolder("api-schema");
after(() => fs.rmSync(folder, { recursive: true, force: true }));
const env = { PATH: process.env.PATH, ...sealedEnvironment(folder) };
const { schema, documents } = await documentsOf(program);

test("the documents have the methods of the program and the shapes of the table", () => {
  for (const [file, text] of documents) assert.equal(fs.readFileSync(file, "utf8"), text, `${file}: ${REWRITE}`);
});

const validator = new Ajv({ strict: false, allErrors: true });
validator.addSchema({ ...schema, $id: "api" });
const pointer = (name) => name.replaceAll("~", "~0").replaceAll("/", "~1");
const shape = (name, part) => validator.getSchema(`api#/$defs/ApiMethods/properties/${pointer(name)}/properties/${part}`);
const errorData = validator.getSchema("api#/$defs/ErrorData");

function faults(name, params, result) {
  return ["params", "result"].flatMap((part) => {
    const check = shape(name, part);
    return check(part === "params" ? params : result) ? [] : check.errors.map((error) => ({ part, ...error }));
  });
}

/** Calls every method, most of them twice; what was sent and what came. */
async function script(offshoot) {
  const seen = [];
  const call = async (method, params = {}) => {
    const result = await offshoot.call(method, params);
    seen.push({ method, params, result });
    return result;
  };
  const user = (content) => ({ role: "user", content, timestamp: 1 });
  const said = (text) => ({ role: "assistant", content: [{ type: "text", text }], provider: "p", model: "m", timestamp: 2 });
  const sessionDir = path.join(folder, "sessions");
  const usage = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, totalTokens: 2, cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 } };

  await call("rpc.discover");
  const { session, sessionFile } = await call("create", { cwd: folder, sessionDir, durability: "os" });
  const of = (method, params = {}) => call(method, { session, ...params });
  await of("getLeafId");
  await of("getLeafEntry");
  await of("undo");
  await of("planUncompact");
  await of("prepareCompaction");
  const question = (await of("appendMessage", { message: user("Why?") })).id;
  const read = { type: "toolCall", id: "c1", name: "write", arguments: { path: "a.txt", content: "one\n" } };
  const first = (await of("appendMessage", { message: { ...said("So."), content: [{ type: "text", text: "So." }, read], usage } })).id;
  await of("appendMessage", { message: { role: "toolResult", toolCallId: "c1", toolName: "write", content: [{ type: "text", text: "done" }], isError: false, timestamp: 3 } });
  await of("appendThinkingLevelChange", { thinkingLevel: "high", configured: null });
  await of("appendModelChange", { provider: "p", modelId: "m" });
  await of("appendLabelChange", { targetId: question, label: "why" });
  await of("appendSessionInfo", { name: "named" });
  await of("appendCustomEntry", { customType: "x", data: { half: "\ud83d" } });
  await of("appendCustomMessageEntry", { customType: "x", content: "words", display: true });
  await of("appendUsage", { kind: "summary", provider: "p", model: "m", usage });
  await of("appendContextEdit", { targetId: question, replacement: { content: "edited" } });
  await of("appendSessionInit", { systemPrompt: "You.", task: "Do.", tools: [], more: 1 });
  await of("appendTtsrInjection", { injectedRules: ["r"] });
  await of("appendModeChange", { mode: "plan" });
  await of("appendServiceTierChange", { serviceTier: "flex" });
  await of("appendEntry", { entry: { type: "mine", of: 1 } });
  await of("appendMessageToBranch", { message: user("below"), parentId: null });
  const tip = await of("getLeafId");

  await of("branch", { entryId: question });
  await of("planPick", { selections: [first, { turn: "why" }], labels: true });
  const { plan } = await of("planPick", { selections: [`..${first}`] });
  await of("pick", { plan, force: true });
  await of("undo", { dryRun: true });
  await of("undo");
  await of("branchWithSummary", { entryId: question, summary: "Left.", fromHook: false });
  await of("planMerge", { source: tip });
  await of("planMerge", { source: tip, entries: true });
  await of("merge", { source: tip, summary: "What it said." });
  await of("merge", { source: tip });
  await of("merge", { source: first, entries: true, again: undefined });
  await of("compare", { a: first, b: "@", patch: true });
  await of("compare", { a: first, b: "@" });
  await of("forecast");
  await of("prepareBranchSummary", { targetId: question });
  await of("prepareCompaction", { settings: { keepRecentTokens: 1 } });
  await of("appendCompaction", { summary: "Short.", firstKeptEntryId: null, tokensBefore: 5 });
  await of("planUncompact");
  await of("uncompact");
  await of("appendResetBoundary");
  await of("switch", { entryId: "why" });

  for (const method of ["getLeafId", "getLeafEntry", "getTree", "getEntries", "getEntryCount", "getHeader", "getSessionName", "getSessionFile", "getSessionId", "getCwd", "getSessionDir", "isPersisted", "getDiagnostics", "getBranch", "giveBack", "buildSessionContext"]) await of(method);
  await of("findEntry", { entry: "why" });
  await of("getEntry", { id: question });
  await of("getEntry", { id: "ffffffff" });
  await of("getChildren", { parentId: question });
  await of("getChildren", { parentId: null });
  await of("getLabel", { id: question });
  await of("resetLeaf");
  for (const withDiagnostics of [true, false]) {
    await call("list", { cwd: folder, sessionDir, withDiagnostics });
    await call("listAll", { sessionDir, withDiagnostics });
  }
  await call("search", { query: "why", number: 1, skip: 0 });
  await call("findMostRecentSession", { sessionDir });
  const opened = await call("open", { path: sessionFile });
  await call("continueRecent", { cwd: folder, sessionDir });
  const other = await call("forkFrom", { sourcePath: sessionFile, targetCwd: "/usr", sessionDir, name: "other" });
  await call("pick", { session: other.session, selections: [first], from: session, again: true });
  await call("createBranchedSession", { session: opened.session, leafId: first });
  await call("newSession", { session: opened.session });
  const lines = fs.readFileSync(sessionFile, "utf8");
  fs.rmSync(sessionFile);
  await of("recreate");
  const entries = await call("loadEntriesFromFile", { path: sessionFile });
  await call("parseSessionEntries", { content: lines });
  await call("migrateSessionEntries", { entries });
  await call("buildSessionContext", { entries, leafId: first });
  const memory = await call("inMemory", { cwd: "/", entries });
  await call("getSessionDir", { session: memory.session });
  await call("close", { session: memory.session });
  const refused = [];
  for (const [method, params] of [["getEntry", { session: 99, id: "x" }], ["branch", { session, entryId: "zzzz" }], ["open", { path: folder }], ["appendMessage", { session, message: { no: 1 } }]]) {
    refused.push(await call(method, params).then(() => assert.fail(`${method} was not refused`), (error) => error));
  }
  return { seen, refused };
}

test("every argument and every result has its shape", { timeout: 120_000 }, async () => {
  const offshoot = await OffshootSessions.start({ program, env });
  const { seen, refused } = await script(offshoot);
  await offshoot.close();
  const wrong = seen.map((one) => ({ ...one, faults: faults(one.method, JSON.parse(JSON.stringify(one.params)), one.result) })).filter((one) => one.faults.length > 0);
  assert.equal(wrong.length, 0, JSON.stringify(wrong.slice(0, 4), null, 1).slice(0, 6000));
  const called = new Set(seen.map(({ method }) => method));
  assert.deepEqual(Object.keys(schema.$defs.ApiMethods.properties).filter((name) => !called.has(name)), []);
  for (const error of refused) {
    assert(error instanceof OffshootError);
    if (error.code === -32000) assert(errorData(error.data), JSON.stringify(error.data));
  }
});

test("the check can fail", () => {
  assert.deepEqual(faults("getLeafId", { session: 1 }, null), []);
  assert.notDeepEqual(faults("getLeafId", { session: 1 }, 5), []);
  assert.notDeepEqual(faults("getLeafId", {}, null), []);
  assert.notDeepEqual(faults("getLeafId", { session: 1, more: 1 }, null), []);
  assert.notDeepEqual(faults("create", {}, { session: 1, sessionId: "x" }), []);
});

test("a program against the types of the package compiles", { timeout: 300_000 }, () => {
  const place = path.join(folder, "typed");
  fs.cpSync(path.join(REPOSITORY, "clients/javascript"), path.join(place, "node_modules/offshoot"), { recursive: true });
  fs.symlinkSync(path.join(MODULES, "@types"), path.join(place, "node_modules/@types"));
  fs.copyFileSync(path.join(HERE, "api/typed.ts"), path.join(place, "typed.mts"));
  const options = ["--noEmit", "--strict", "--target", "es2022", "--module", "nodenext", "--types", "node"];
  const compiler = path.join(MODULES, "typescript/bin/tsc");
  try {
    execFileSync(process.execPath, [compiler, ...options, "typed.mts"], { cwd: place, encoding: "utf8" });
  } catch (error) {
    assert.fail(error.stdout);
  }
});

test("the types of Python can be imported", () => {
  const code = "import offshoot_sessions.types as types; print(types.Appended.__annotations__.keys())";
  const PYTHONPATH = path.join(REPOSITORY, "clients/python");
  const said = execFileSync("python3", ["-c", code], { env: { ...process.env, PYTHONPATH, PYTHONDONTWRITEBYTECODE: "1" }, encoding: "utf8" });
  assert.match(said, /id/);
});
