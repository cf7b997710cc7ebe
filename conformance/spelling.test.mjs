// Hidden texts in every face: what is stored is spelled out wherever it is read, by Rust and by the page's JavaScript alike.
//
//   OFFSHOOT_BIN=… node --test spelling.test.mjs

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import vm from "node:vm";

const program = process.env.OFFSHOOT_BIN && path.resolve(process.env.OFFSHOOT_BIN);
if (!program) throw new Error("set OFFSHOOT_BIN");

const ESCAPE = "\u001b";
const STRINGS = ["]", "P", "_", "^", "X"].flatMap((kind) => [`${ESCAPE}${kind}; touch P #\u0007`, `${ESCAPE}${kind}; touch P #${ESCAPE}\\`, `${ESCAPE}${kind}; touch P`]);
const EIGHT_BITS = ["\u0090", "\u0098", "\u009b", "\u009d", "\u009e", "\u009f"].map((start) => `${start}; touch P #\u009c`);
const SEQUENCES = ["[2J", "[8m", "[1A", "[2K", "[10D", "[?1049h", "[31;8m", "c", "7", "(0", "#8"].map((rest) => `${ESCAPE}${rest}; touch P`);
const CONTROLS = Array.from({ length: 32 }, (_, code) => String.fromCharCode(code)).filter((one) => !"\n\t\r".includes(one)).concat("\u007f", ...Array.from({ length: 32 }, (_, at) => String.fromCharCode(0x80 + at)));
const FORMATS = ["\u00ad", "\u061c", "\u180e", "\u200b", "\u200e", "\u200f", "\u202a", "\u202b", "\u202c", "\u202d", "\u202e", "\u2060", "\u2061", "\u2063", "\u2066", "\u2067", "\u2068", "\u2069", "\u206a", "\ufeff", "\ufff9", "\u{1bca0}", "\u{1d173}", "\u{e0001}", "\u{e0020}", "\u{e0041}", "\u{e007f}"];
const FILLERS = ["\u034f", "\u115f", "\u1160", "\u17b4", "\u180b", "\u2800", "\u3164", "\ufe00", "\ufe0e", "\ufe0f", "\uffa0", "\u{e0100}", "\u{e01ef}"];
const LINES = ["\u2028", "\u2029", "\u0085"];
const UNASSIGNED = ["\u0378", "\u05ff", "\u{1fffe}", "\u{e0080}", "\u{10ffff}"];
const MARKS = ["\u0301", "\u20dd", "\u0334", "\u0489", "\u093c", "\u0e31"].map((mark) => `\u200b${mark}`);

const TEXTS = [
  ...STRINGS.map((hidden) => `ls ${hidden}`),
  ...EIGHT_BITS.map((hidden) => `ls ${hidden}`),
  ...SEQUENCES.map((hidden) => `ls ${hidden}`),
  ...[...CONTROLS, ...FORMATS, ...FILLERS, ...LINES, ...UNASSIGNED, ...MARKS].map((hidden) => `ls x${hidden}; touch P`),
  ...[...FORMATS, ...FILLERS, ...UNASSIGNED, ...EIGHT_BITS.map((one) => one[0]), ...LINES].map((hidden) => `cat a${hidden}${hidden}b`),
];
const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u180b-\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ufeff\uffa0\ufff9\u0378\u{1bca0}\u{1d173}\u{e0000}-\u{e0fff}]/u;

/** The functions of the page, without a page. */
const page = vm.createContext({ Intl, document: { getElementById: () => null, querySelectorAll: () => [] } });
const source = readFileSync(new URL("../crates/offshoot-html/src/assets/data.js", import.meta.url), "utf8");
const part = source.slice(source.indexOf("// What a reader cannot see"), source.indexOf("const oneLine ="));
vm.runInContext(`${part}; this.plain = plain; this.spelled = spelled;`, page);

function session(folder) {
  const entry = (id, parentId, message) => ({ type: "message", id, parentId, timestamp: "2026-11-01T00:00:00.000Z", message });
  const usage = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, totalTokens: 2, cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 } };
  const lines = [{ type: "session", version: 3, id: "11111111-1111-4111-8111-111111111111", timestamp: "2026-11-01T00:00:00.000Z", cwd: folder }];
  let parent = null;
  const add = (id, message) => {
    lines.push(entry(id, parent, message));
    parent = id;
  };
  TEXTS.forEach((text, at) => {
    const id = (kind) => `${kind}${at.toString(16).padStart(7, "0")}`;
    add(id("a"), { role: "user", content: `please ${text}`, timestamp: 1 });
    add(id("b"), { role: "assistant", content: [{ type: "text", text: `I do ${text}` }, { type: "toolCall", id: `c${at}`, name: "bash", arguments: { command: text } }], provider: "p", model: "m", api: "a", usage, stopReason: "toolUse", timestamp: 2 });
    add(id("c"), { role: "toolResult", toolCallId: `c${at}`, toolName: "bash", content: [{ type: "text", text: `out ${text}` }], isError: false, timestamp: 3 });
  });
  return `${lines.map((line) => JSON.stringify(line)).join("\n")}\n`;
}

test("200 hidden texts are spelled out in every face", (t) => {
  assert.ok(TEXTS.length >= 200, `${TEXTS.length} texts`);
  const folder = mkdtempSync(path.join(tmpdir(), "offshoot-conformance-spelling-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(path.join(folder, "s.jsonl"), session(folder));
  const env = { PATH: process.env.PATH, HOME: folder, TZ: "UTC" };
  const offshoot = (...words) => execFileSync(program, words, { cwd: folder, env, encoding: "utf8", maxBuffer: 1 << 26 });
  const one = (text) => text.replace(/\s+/g, " ");
  const faces = {
    tree: (text) => [`user: please ${one(page.plain(text))}`, `[bash: ${one(page.spelled(text))}]`],
    show: (text) => [`please ${page.plain(text)}`, `I do ${page.plain(text)}`, `bash: ${one(page.spelled(text))}`],
    log: (text) => [`please ${page.plain(text)}`, `bash: ${one(page.spelled(text))}`],
    context: (text) => [`please ${page.plain(text)}`, `bash: ${one(page.spelled(text))}`],
    export: (text) => [`please ${page.plain(text)}`, `bash: ${one(page.spelled(text))}`],
  };
  for (const [face, wanted] of Object.entries(faces)) {
    const shown = face === "export" ? offshoot("export", "s.jsonl", "--format", "md", "-o", "-") : offshoot(face, "s.jsonl");
    assert.doesNotMatch(shown, HIDDEN, face);
    for (const text of TEXTS) for (const words of wanted(text)) assert.ok(shown.includes(words), `${face}: ${JSON.stringify(text)} is not told as ${JSON.stringify(words)}`);
  }
});

test("spelled prose is spelled once", () => {
  for (const text of TEXTS) {
    const once = page.plain(text);
    assert.doesNotMatch(once, HIDDEN);
    assert.equal(page.plain(once), once);
    assert.equal(page.plain(page.spelled(text)), page.spelled(text));
  }
  for (const text of ["Bonjour\u00a0!", "日本\u3000語", "👩\u200d👩\u200d👧 ❤\ufe0f 🇩🇪", "می\u200cخواهم"]) assert.equal(page.plain(text), text);
});
