// Sessions with damage made by chance, always the same for one number, given to every command.
import assert from "node:assert/strict";
import * as fs from "node:fs";
import * as path from "node:path";
import { HEADER, chain, file, message, version1 } from "../robustness/files.mjs";
import { ENTRY, READING, WRITING, words } from "./files.mjs";

/** Numbers below 1 from a seed (mulberry32). */
function chance(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

const stamp = "2026-01-01T00:00:09.000Z";
const entry = (type, id, parentId, more) => JSON.stringify({ type, id, parentId, timestamp: stamp, ...more });
const answered = JSON.parse(message("a", "u", "Calling.", 2, "assistant")).message;
const call = { type: "toolCall", id: "c1", name: "bash", arguments: { command: "ls" } };
/** Every kind of entry, and branches. */
const RICH = [
  message("u", null, "question"),
  entry("message", "a", "u", { message: { ...answered, content: [...answered.content, call], stopReason: "toolUse" } }),
  entry("message", "r", "a", { message: { role: "toolResult", toolCallId: "c1", toolName: "bash", content: [{ type: "text", text: "files" }], isError: false, timestamp: 3 } }),
  entry("model_change", "mc", "r", { provider: "p", modelId: "m2" }),
  entry("thinking_level_change", "tl", "mc", { thinkingLevel: "high" }),
  entry("compaction", "k", "tl", { summary: "S", firstKeptEntryId: "a", tokensBefore: 100 }),
  entry("label", "l", "k", { targetId: "a", label: "here" }),
  entry("branch_summary", "b", "u", { fromId: "l", summary: "tried" }),
  entry("custom_message", "cm", "b", { customType: "x", content: "words", display: true }),
  entry("custom", "cu", "cm", { customType: "offshoot.leaf", data: {} }),
  entry("session_info", "si", "cu", { name: "a name" }),
  entry("message", "bx", "si", { message: { role: "bashExecution", command: "ls", output: "x", exitCode: 0, cancelled: false, truncated: false, timestamp: 4 } }),
];
const TITLED = [JSON.stringify({ type: "title", v: 1, title: "a title", source: "user", pad: " ".repeat(200) }), HEADER, ...RICH].join("\n");
const BASES = [file(RICH), file(chain(12)), version1(12), TITLED, file(chain()).replaceAll("\n", "\r\n")].map((text) => Buffer.from(text));

const splice = (bytes, from, to, ...middle) => Buffer.concat([bytes.subarray(0, from), ...middle, bytes.subarray(to)]);
const lines = (bytes) => bytes.toString("latin1").split("\n");
const bytesOf = (all) => Buffer.from(all.join("\n"), "latin1");
const ODD = ["null", "[]", "{}", "-1", "1e400", "18446744073709551616", '"\\ud800"', "true", '""', `"${"x".repeat(70_000)}"`, "[".repeat(2000) + "]".repeat(2000), '{"a":{"a":{"a":1}}}', '"2026-99-99T99:99:99Z"', '"offshoot.op"', '{"op":"pick","before":null,"lines":3}'];

/** One change each; `at(n)` is a number below n. */
const CHANGES = [
  (bytes, at) => splice(bytes, 0, 0, Buffer.alloc(0)).fill(at(256), at(bytes.length), bytes.length - at(bytes.length) || undefined),
  (bytes, at) => { const copy = Buffer.from(bytes); copy[at(copy.length)] = at(256); return copy; },
  (bytes, at) => bytes.subarray(0, at(bytes.length)),
  (bytes, at) => { const from = at(bytes.length); return splice(bytes, from, Math.min(bytes.length, from + at(200))); },
  (bytes, at) => { const from = at(bytes.length); return splice(bytes, from, from, bytes.subarray(from, from + at(400))); },
  (bytes, at) => { const from = at(bytes.length); return splice(bytes, from, from, Buffer.alloc(at(5000), at(256))); },
  (bytes, at) => { const all = lines(bytes); const [a, b] = [at(all.length), at(all.length)]; [all[a], all[b]] = [all[b], all[a]]; return bytesOf(all); },
  (bytes, at) => { const all = lines(bytes); all.splice(at(all.length), 1); return bytesOf(all); },
  (bytes, at) => { const all = lines(bytes); all.splice(at(all.length), 0, all[at(all.length)]); return bytesOf(all); },
  (bytes, at) => { const all = lines(bytes); const here = at(all.length); all[here] = all[here].replace(/"parentId":("[^"]*"|null)/, () => `"parentId":"${["u", "a", "r", "k", "m1", "m5", "si", "gone"][at(8)]}"`); return bytesOf(all); },
  (bytes, at) => { const all = lines(bytes); const here = at(all.length); let left = at(8); all[here] = all[here].replace(/:("(?:[^"\\]|\\.)*"|\d+|null|true|false)/g, (old) => (left-- === 0 ? `:${ODD[at(ODD.length)]}` : old)); return bytesOf(all); },
  (bytes, at) => { const all = lines(bytes); const here = at(all.length); let left = at(8); all[here] = all[here].replace(/"([a-zA-Z]+)":/g, (old) => (left-- === 0 ? '"id":' : old)); return bytesOf(all); },
  (bytes, at) => { const from = at(bytes.length); return splice(bytes, from, from, Buffer.from("\n")); },
  (bytes, at) => { const all = lines(bytes); const here = at(all.length); all[here] = all[here] + all[(here + 1) % all.length]; return bytesOf(all); },
];

/** The session of a number: a base, and one to four changes. */
export function damaged(number) {
  const next = chance(number);
  const at = (below) => Math.floor(next() * below);
  let bytes = BASES[at(BASES.length)];
  for (let left = 1 + at(4); left > 0 && bytes.length > 0; left -= 1) bytes = CHANGES[at(CHANGES.length)](bytes, at);
  return bytes;
}

const COMMANDS = [...READING, ...WRITING];
/** What rewrites a file in one step, and keeps the old one beside it. */
const REPLACES = /^(repair|migrate|append|label|name|switch|compact|pop|fork)/;

/** A session with all of `commands`, each on a copy of its own. */
const session = (number, commands) => ({
  group: "session",
  name: `damaged session ${number}: ${commands.length === 1 ? commands[0] : "every command"}`,
  promise: "an answer or a clear refusal; what only looks changes nothing, what writes keeps every byte",
  async run(place) {
    const bytes = damaged(number);
    for (const line of commands) {
      const FOLDER = fs.mkdtempSync(path.join(place.root, "s-"));
      const FILE = path.join(FOLDER, "s.jsonl");
      fs.writeFileSync(FILE, bytes);
      const done = await place.offshoot(words(line, { FILE, FOLDER }), { input: ENTRY });
      assert.ok(done.stdout + done.stderr !== "", `${line}: no word`);
      assert.doesNotMatch(done.stderr, /\u001b|\u202e/, `${line}: the session steers the terminal`);
      if (READING.includes(line) || line.startsWith("import") || line.startsWith("fork")) assert.ok(fs.readFileSync(FILE).equals(bytes), `${line}: the file was changed`);
      else if (REPLACES.test(line)) assert.ok(isKept(FOLDER, bytes), `${line}: bytes are lost`);
    }
  },
});

/** Whether the old bytes begin the file, but for a torn end that got its newline, or stand in a copy beside it. */
function isKept(folder, bytes) {
  const there = fs.readdirSync(folder).map((name) => fs.readFileSync(path.join(folder, name)));
  return there.some((content) => content.subarray(0, bytes.length).equals(bytes));
}

export const SESSIONS = {
  /** Each of so many sessions with every command. */
  all: (count) => Array.from({ length: count }, (_, number) => session(number, COMMANDS)),
  /** As many cases as wanted: sessions and commands in turn. */
  sample: (count) => Array.from({ length: count }, (_, number) => session(number, [COMMANDS[number % COMMANDS.length]])),
};
