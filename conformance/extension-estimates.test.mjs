// Estimates of tokens and of too long contexts that extensions ask for where pi is not installed: as pi 1.6.0 gives them.
//   node --test extension-estimates.test.mjs
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { REPOSITORY, newestNode, newestPi } from "./lib/places.mjs";
import { Rng } from "./lib/rng.mjs";

const OURS = path.join(REPOSITORY, "crates/offshoot-extensions/host/modules/agent/estimates.mjs");
const CASES = 300;

/** Runs in a process of the Node.js that pi needs: what one of the two modules answers to all cases. */
const SCRIPT = `
const pi = await import(process.argv[1]);
const cases = JSON.parse(await new Response(process.stdin).text());
console.log(JSON.stringify(cases.map(({ entries, from, to, keep }) => {
  const messages = entries.flatMap(pi.sessionEntryToContextMessages);
  const turns = entries.map((_, at) => pi.findTurnStartIndex(entries, at, from));
  return { messages, tokens: messages.map(pi.estimateTokens), usage: pi.getLastAssistantUsage(entries) ?? null, cut: pi.findCutPoint(entries, from, to, keep), turns, compacts: pi.shouldCompact(keep, 100, { enabled: from % 2 === 0, reserveTokens: to }) };
})));`;

function answers(module, cases) {
  const ran = spawnSync(newestNode(), ["--input-type=module", "-e", SCRIPT, pathToFileURL(module).href], { input: JSON.stringify(cases), encoding: "utf8", maxBuffer: 1 << 28 });
  assert.equal(ran.status, 0, ran.stderr);
  return JSON.parse(ran.stdout);
}

const random = new Rng("estimates");
const words = () => "word ".repeat(random.int(0, 60));
const content = () => random.pick([words(), [], [{ type: "text", text: words() }, { type: "image", data: "AA", mimeType: "image/png" }]]);
const usage = () => random.pick([undefined, { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0 }, { input: 3, output: 2, cacheRead: 1, cacheWrite: 1 }, { input: 3, output: 2, cacheRead: 1, cacheWrite: 1, totalTokens: 99 }]);
const answer = () => ({ role: "assistant", content: [{ type: "text", text: words() }, { type: "thinking", thinking: words() }, { type: "toolCall", name: "bash", arguments: { command: words() } }], stopReason: random.pick(["stop", "aborted", "error"]), usage: usage() });
const MESSAGES = [
  () => ({ role: "system", content: words(), sections: { rules: words(), none: undefined }, toolsAdded: random.pick([undefined, [{ name: "read" }]]) }),
  () => ({ role: "user", content: content() }),
  () => ({ role: random.pick(["user", "assistant", "toolResult", "system"]), content: null }),
  () => ({ role: "toolResult", content: [{ type: "text", text: words() }] }),
  () => ({ role: "bashExecution", command: words(), output: words() }),
  () => ({ role: "nobody" }),
  answer,
  answer,
];
const ENTRIES = [
  () => ({ type: "message", message: random.pick(MESSAGES)() }),
  () => ({ type: "message", message: random.pick(MESSAGES)() }),
  () => ({ type: "message", message: random.pick(MESSAGES)() }),
  () => ({ type: "custom_message", customType: "x", content: random.pick([null, content()]), display: true }),
  () => ({ type: "branch_summary", summary: random.pick(["", words()]), fromId: "a" }),
  () => ({ type: "compaction", summary: words(), tokensBefore: 3, systemMessage: random.pick([undefined, { role: "system", content: "s" }]) }),
  () => ({ type: "label", label: "l" }),
];
const oneCase = () => {
  const entries = Array.from({ length: random.int(1, 12) }, () => ({ timestamp: "2026-01-01T00:00:00.000Z", ...random.pick(ENTRIES)() }));
  const from = random.int(0, entries.length - 1);
  return { entries, from, to: random.int(from, entries.length), keep: random.int(0, 120) };
};

test("messages, tokens, usages and cuts are those of pi", () => {
  const cases = Array.from({ length: CASES }, oneCase);
  const [ours, theirs] = [answers(OURS, cases), answers(path.join(newestPi(), "dist/index.js"), cases)];
  cases.forEach((given, at) => assert.deepEqual(ours[at], theirs[at], JSON.stringify(given)));
  assert.ok(theirs.some(({ cut }) => cut.isSplitTurn) && theirs.some(({ cut }) => !cut.isSplitTurn));
});

test("what means that a context is too long is what it means in pi", async () => {
  const pi = await import(path.join(newestPi(), "node_modules/@earendil-works/pi-ai/dist/utils/overflow.js"));
  const ours = await import(path.join(REPOSITORY, "crates/offshoot-extensions/host/modules/agent/overflow.mjs"));
  const rows = fs.readFileSync(path.join(REPOSITORY, "crates/offshoot-agent/src/provider/classify/failures.tsv"), "utf8").split("\n").filter((line) => line && !line.startsWith("#"));
  const none = { input: 0, output: 0, cacheRead: 0 };
  const failed = rows.map((row) => row.split("\t")).map(([provider, , , , errorMessage]) => ({ stopReason: "error", provider, errorMessage, usage: none }));
  const ended = ["stop", "length", "toolUse"].flatMap((stopReason) => [0, 990, 1000, 1001].flatMap((input) => [0, 5].map((output) => ({ stopReason, usage: { input, output, cacheRead: 0 } }))));
  for (const message of [...failed, ...ended]) {
    for (const window of [undefined, 1000]) assert.equal(ours.isContextOverflow(message, window), pi.isContextOverflow(message, window), JSON.stringify(message));
    assert.equal(ours.isRecoverableLength(message, 3), pi.isRecoverableLength(message, 3), JSON.stringify(message));
  }
  assert.ok(failed.some((message) => pi.isContextOverflow(message)) && failed.some((message) => !pi.isContextOverflow(message)));
});
