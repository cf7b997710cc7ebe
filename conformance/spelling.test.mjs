// The hidden texts of `faces/hidden.json` in every face: what is stored is spelled out wherever it is read, by Rust and by the page's
// JavaScript alike, and what is asked wherever somebody answers. The terminal's faces read the same table in `app/tests/faces.rs`.
//
//   OFFSHOOT_BIN=… node --test spelling.test.mjs

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, test } from "node:test";
import vm from "node:vm";
import { answer } from "./hostile/model.mjs";
import { Place } from "./hostile/place.mjs";
import { sealedEnvironment } from "./lib/places.mjs";
import { RpcPeer } from "./lib/rpc.mjs";
import { closeBrowser, inChromium, missing } from "./page/browser.mjs";
import { exported } from "./page/export.mjs";

after(closeBrowser);

const program = process.env.OFFSHOOT_BIN && path.resolve(process.env.OFFSHOOT_BIN);
if (!program) throw new Error("set OFFSHOOT_BIN");

/** Each with how a command, a name and prose say it. */
const CASES = JSON.parse(readFileSync(new URL("faces/hidden.json", import.meta.url), "utf8"));
const TEXTS = CASES.map(({ text }) => text);
const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u180b-\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ufeff\uffa0\ufff9\u0378\u{1bca0}\u{1d173}\u{e0000}-\u{e0fff}]/u;

/** The functions of the page, without a page. */
const page = vm.createContext({ Intl, document: { getElementById: () => null, querySelectorAll: () => [] } });
const source = readFileSync(new URL("../crates/offshoot-html/src/assets/data.js", import.meta.url), "utf8");
const part = source.slice(source.indexOf("// What a reader cannot see"), source.indexOf("const oneLine ="));
vm.runInContext(`${part}; this.plain = plain; this.spelled = spelled;`, page);

function session(folder, cases = CASES) {
  const entry = (id, parentId, message) => ({ type: "message", id, parentId, timestamp: "2026-11-01T00:00:00.000Z", message });
  const usage = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, totalTokens: 2, cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 } };
  const lines = [{ type: "session", version: 3, id: "11111111-1111-4111-8111-111111111111", timestamp: "2026-11-01T00:00:00.000Z", cwd: folder }];
  let parent = null;
  const add = (id, message) => {
    lines.push(entry(id, parent, message));
    parent = id;
  };
  cases.forEach(({ text }, at) => {
    const id = (kind) => `${kind}${at.toString(16).padStart(7, "0")}`;
    add(id("a"), { role: "user", content: `please ${text}`, timestamp: 1 });
    add(id("b"), { role: "assistant", content: [{ type: "text", text: `I do ${text}` }, { type: "toolCall", id: `c${at}`, name: "bash", arguments: { command: text } }], provider: "p", model: "m", api: "a", usage, stopReason: "toolUse", timestamp: 2 });
    add(id("c"), { role: "toolResult", toolCallId: `c${at}`, toolName: "bash", content: [{ type: "text", text: `out ${text}` }], isError: false, timestamp: 3 });
  });
  return `${lines.map((line) => JSON.stringify(line)).join("\n")}\n`;
}

const one = (text) => text.replace(/\s+/g, " ").trim();
/** As pi, the tree shows the first 50 characters of a command. */
const inARow = (command) => (Array.from(command).length > 50 ? `${Array.from(command).slice(0, 50).join("")}...` : command);

test("200 hidden texts are spelled out in every face", (t) => {
  assert.ok(TEXTS.length >= 200, `${TEXTS.length} texts`);
  const folder = mkdtempSync(path.join(tmpdir(), "offshoot-conformance-spelling-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(path.join(folder, "s.jsonl"), session(folder));
  const env = { PATH: process.env.PATH, HOME: folder, TZ: "UTC" };
  const offshoot = (...words) => execFileSync(program, words, { cwd: folder, env, encoding: "utf8", maxBuffer: 1 << 26 });
  const command = ({ spelled }) => `bash: ${one(spelled)}`;
  const faces = {
    tree: ({ prose, spelled }) => [`user: please ${one(prose)}`, `[bash: ${inARow(one(spelled))}]`],
    show: (told) => [`please ${told.prose}`, `I do ${told.prose}`, command(told)],
    log: (told) => [`please ${one(told.prose)}`, command(told)],
    context: (told) => [`please ${told.prose}`, command(told)],
    export: (told) => [`please ${told.prose}`, command(told)],
  };
  for (const [face, wanted] of Object.entries(faces)) {
    const said = face === "export" ? offshoot("export", "s.jsonl", "--format", "md", "-o", "-") : offshoot(face, "s.jsonl");
    const shown = one(said);
    assert.doesNotMatch(said, HIDDEN, face);
    for (const told of CASES) for (const words of wanted(told)) assert.ok(shown.includes(one(words)), `${face}: ${JSON.stringify(told.text)} is not told as ${JSON.stringify(words)}`);
  }
});

/** So many that the page draws all at once. */
const CHUNK = 15;

test("200 hidden texts are spelled out on the page in Chromium", { skip: missing }, async () => {
  for (let at = 0; at < CASES.length; at += CHUNK) {
    const cases = CASES.slice(at, at + CHUNK);
    const { page, wrong, context } = await inChromium(exported(session("/w", cases)).page);
    const [talk, tree] = (await page.evaluate("['talk', 'side'].map((id) => document.getElementById(id).textContent)")).map(one);
    assert.doesNotMatch(talk + tree, HIDDEN);
    for (const { text, spelled, prose } of cases) {
      // A tool's output has its colours.
      const output = /\u001b\[[\d;]*m/.test(text) ? [] : [`out ${prose}`];
      for (const words of [`please ${prose}`, `I do ${prose}`, `$ ${spelled}`, ...output]) assert.ok(talk.includes(one(words)), `${JSON.stringify(text)} is not told as ${JSON.stringify(words)}`);
      for (const words of [`please ${one(prose)}`, `[bash: ${inARow(one(spelled))}]`]) assert.ok(tree.includes(words), `the tree: ${JSON.stringify(text)} is not told as ${JSON.stringify(words)}`);
    }
    assert.deepEqual(wrong, []);
    await context.close();
  }
});

test("200 hidden texts are spelled out in the questions of RPC", async (t) => {
  const place = new Place(program, "spelling");
  t.after(() => place.end());
  const run = (text, at) => ({ call: "bash", id: `b${at}`, arguments: { command: text } });
  const write = (text, at) => ({ call: "write", id: `w${at}`, arguments: { path: `f${at}`, content: `x ${text}\n` } });
  await place.model([answer(...TEXTS.flatMap((text, at) => [run(text, at), write(text, at)])), answer("Done.")]);
  const peer = new RpcPeer(program, ["--mode", "rpc", "--approval", "ask"], { cwd: place.work, env: { PATH: process.env.PATH, ...sealedEnvironment(place.home) } });
  await peer.ask({ type: "subscribe", ui: true });
  await peer.ask({ type: "prompt", message: "go" });
  let seen = 0;
  /** What is asked next: everything that the client is to show until then. */
  const asked = async () => {
    const from = seen;
    const question = await peer.until(({ type, method }) => (type === "extension_ui_request" && method === "select") || type === "agent_settled", from);
    seen = peer.records.indexOf(question) + 1;
    const shown = peer.records.slice(from, seen).filter(({ type, widgetLines }) => type === "extension_ui_request" || widgetLines);
    peer.line(JSON.stringify({ type: "extension_ui_response", id: question.id, value: "no" }));
    return shown.flatMap(({ title, options, widgetLines }) => [title ?? "", ...(options ?? []), ...(widgetLines ?? [])]);
  };
  for (const { text, spelled } of CASES) {
    const [ofCommand, ofFile] = [await asked(), await asked()];
    assert.doesNotMatch([...ofCommand, ...ofFile].join("\n"), HIDDEN);
    const says = (shown, words) => assert.ok(shown.some((line) => line.includes(words)), `${JSON.stringify(text)} is not told as ${JSON.stringify(words)}: ${JSON.stringify(shown)}`);
    says(ofCommand, `bash ${spelled}: `);
    for (const line of spelled.split("\n")) says(ofFile, line);
  }
  await peer.until(({ type }) => type === "agent_settled", seen);
  await peer.end();
});

test("spelled prose is spelled once", () => {
  for (const told of CASES) assert.deepEqual([page.spelled(told.text), page.spelled(told.text, true), page.plain(told.text)], [told.spelled, told.name, told.prose]);
  for (const text of TEXTS) {
    const once = page.plain(text);
    assert.doesNotMatch(once, HIDDEN);
    assert.equal(page.plain(once), once);
    assert.equal(page.plain(page.spelled(text)), page.spelled(text));
  }
  for (const text of ["Bonjour\u00a0!", "日本\u3000語", "👩\u200d👩\u200d👧 ❤\ufe0f 🇩🇪", "می\u200cخواهم"]) assert.equal(page.plain(text), text);
});
