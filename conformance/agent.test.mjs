// The agent of offshoot beside pi's: the same model behind both tells the same events, and pi opens what offshoot's agent
// wrote with the same context. The model is offshoot's example `loopback`, which also checks every request.
//   OFFSHOOT_BIN=… OFFSHOOT_LOOPBACK_BIN=../target/tests/examples/loopback node --test agent.test.mjs
import assert from "node:assert/strict";
import * as fs from "node:fs";
import * as path from "node:path";
import { after, test } from "node:test";
import { firstDifference } from "./lib/canon.mjs";
import { home as loopbackHome, model as loopbackModel, run } from "./lib/model.mjs";
import { Offshoot } from "./lib/offshoot.mjs";
import { startPeers } from "./lib/peers.mjs";
import { piPackage, piRunner, temporaryFolder } from "./lib/places.mjs";

const program = process.env.OFFSHOOT_BIN;
if (!program) throw new Error("set OFFSHOOT_BIN");
const folder = temporaryFolder("agent");
const at = (...names) => path.join(folder, ...names);
after(() => fs.rmSync(folder, { recursive: true, force: true }));

const model = (name, replies) => loopbackModel(folder, name, replies);
const home = (name, models, data) => loopbackHome(folder, name, models, data);

const WORK = [
  { say: [{ text: "Writing." }, { call: "write", id: "c1", arguments: { path: "a.txt", content: "one\n" } }] },
  { say: [{ text: "Reading." }, { call: "read", id: "c2", arguments: { path: "a.txt" } }] },
  { say: [{ text: "Done." }] },
];

/** Names and members of events; contents are compared elsewhere, and pieces are cut by the wire. */
function shapes(text) {
  const events = text.split("\n").filter(Boolean).map((line) => JSON.parse(line));
  const deltas = (event) => event.assistantMessageEvent?.type.endsWith("_delta");
  return events
    // pi tells extensions only that it ends.
    .filter((event) => !deltas(event) && event.type !== "session_shutdown")
    .map((event) => {
      const inner = event.assistantMessageEvent ?? event.message ?? event.result ?? {};
      // pi tells the response's id at once, offshoot with the whole message; the provider's own word for the end is pi's alone;
      // pi's write shows people a patch; offshoot says whether a run was stopped, and what a summary lacks.
      // pi 1.6 tells how long things took, at which level the model thought, and what a tool gives to programs.
      const left = ["durationMs", "thinkingLevel", "structuredContent", "responseId", "rawStopReason", "details", "report", ...(event.type === "agent_settled" ? ["aborted"] : [])];
      const valued = ["aborted", "attempt", "isError", "maxAttempts", "reason", "source", "stopReason", "success", "toolName", "willRetry"];
      const member = (object, key) => (valued.includes(key) ? `${key}=${object[key]}` : key);
      const members = (object) => Object.keys(object).filter((key) => !left.includes(key)).sort().map((key) => member(object, key)).join();
      return `${event.type} ${inner.type ?? inner.role ?? ""} {${members(event)}} {${members(inner)}}`;
    });
}

/** pi takes several arguments for several prompts; offshoot wants each further one named. */
const ourPrompts = ([first, ...further]) => ["-p", first, ...further.flatMap((text) => ["--then", text])];

/** What a model makes pi and then offshoot tell, to the same prompts in one session. */
async function told(name, replies, prompts, settings) {
  const server = await model(name, [...replies, ...replies]);
  const cli = path.join(piPackage(), "dist/cli.js");
  const places = [home(`${name}-pi`, server.models, ".pi/agent"), home(`${name}-ours`, server.models, "data")];
  fs.writeFileSync(at(`${name}-pi`, ".pi/agent/settings.json"), JSON.stringify(settings));
  // pi always stores the system prompt.
  fs.writeFileSync(at(`${name}-ours`, "data/settings.json"), JSON.stringify({ storeSystemPrompt: true, ...settings }));
  // Both may end with an error: what they told until then is compared.
  const said = (file, args, place) => run(file, args, place).catch((error) => error.stdout ?? assert.fail(error));
  try {
    const theirs = await said(piRunner(), [cli, "--mode", "json", "--provider", "test", "--model", "m1", ...prompts], places[0]);
    const ours = await said(path.resolve(program), ["--mode", "json", "--model", "test/m1", ...ourPrompts(prompts)], places[1]);
    return { theirs: shapes(theirs), ours: shapes(ours) };
  } finally {
    await server.end();
  }
}

/**
 * The same from both, with an event that begins so. pi takes an answer that begins in the millisecond of a compaction for
 * an older one and says nothing of it: then both are asked again.
 */
async function same(name, replies, prompts, settings, about) {
  for (let attempt = 1; ; attempt += 1) {
    const { theirs, ours } = await told(`${name}-${attempt}`, replies, prompts, settings);
    const has = (events) => events.some((event) => event.startsWith(about));
    assert.ok(has(ours), `${about}\n${ours.join("\n")}`);
    if (has(theirs) || attempt === 10) {
      assert.deepEqual(ours, theirs);
      return;
    }
  }
}

const TOO_LONG = { status: 400, body: JSON.stringify({ type: "error", error: { type: "invalid_request_error", message: "prompt is too long: 250000 tokens > 200000 maximum" } }) };
const BUSY = { status: 529, body: JSON.stringify({ type: "error", error: { type: "overloaded_error", message: "Overloaded" } }) };
const LONG = { say: [{ text: "many words ".repeat(40) }] };
const SHORT = [{ say: [{ text: "## Goal\nShort." }] }, { say: [{ text: "## Original Request\nMore." }] }];
const SETTINGS = { retry: { baseDelayMs: 1 }, compaction: { keepRecentTokens: 10 } };
const STORIES = {
  "work": [WORK, ["go"], "tool_execution_end"],
  "a request that fails and is sent again": [[BUSY, BUSY, { say: [{ text: "Here." }] }], ["go"], "auto_retry_end  {attempt=2,success=true"],
  "a request that fails for good": [[BUSY, BUSY, BUSY, BUSY], ["go"], "auto_retry_end  {attempt=3,finalError,success=false"],
  "a context that is too long": [[LONG, TOO_LONG, SHORT[1], { say: [{ text: "It fits." }] }], ["go", "on"], "compaction_end  {aborted=false,reason=overflow,result,type,willRetry=true}"],
  "a context that stays too long": [[LONG, TOO_LONG, SHORT[1], TOO_LONG], ["go", "on"], "compaction_end  {aborted=false,errorMessage,reason=overflow,type,willRetry=false}"],
  "an answer that is cut short": [[LONG, { say: [{ text: "only ha" }], stop: "length" }, SHORT[1], { say: [{ text: "Whole." }] }], ["go", "on"], "compaction_end  {aborted=false,reason=overflow,result,type,willRetry=true}"],
  "an answer that is cut short twice": [[LONG, { say: [{ text: "only ha" }], stop: "length" }, SHORT[1], { say: [{ text: "again" }], stop: "length" }], ["go", "on"], "compaction_end  {aborted=false,errorMessage,reason=overflow,type,willRetry=false}"],
  "calls that are cut short": [[{ say: [{ text: "Now" }, { call: "write", id: "c1", arguments: { path: "b.txt" } }], stop: "length" }, { say: [{ text: "Done." }] }], ["go"], "tool_execution_end  {isError=true"],
  "a summary that is asked for again": [[LONG, TOO_LONG, BUSY, SHORT[1], { say: [{ text: "It fits." }] }], ["go", "on"], "summarization_retry_attempt_start  {reason=overflow,source=compaction"],
  "a full context": [[LONG, { say: [{ text: "many words ".repeat(40) }], usage: { input: 190000, output: 10 } }, ...SHORT, { say: [{ text: "Third." }] }], ["go", "on", "and on"], "compaction_end  {aborted=false,reason=threshold"],
  "a full context between two turns": [[LONG, { ...WORK[0], usage: { input: 190000, output: 10 } }, ...SHORT, { say: [{ text: "Done." }] }], ["go", "on"], "compaction_end  {aborted=false,reason=threshold"],
};
for (const [name, [replies, prompts, about]] of Object.entries(STORIES)) {
  test(`events are pi's: ${name}`, async () => {
    await same(name.replaceAll(" ", "-"), replies, prompts, SETTINGS, about);
  });
}

test("pi opens a day's work with the same context", async () => {
  const words = (text) => [{ say: [{ text }] }];
  const server = await model("work", [...WORK, ...words("Said twice."), ...words("## Goal\nA file."), ...words("## Goal\nTwo words."), ...words("## Goal\nThe rest."), ...words("Another way.")]);
  const place = home("day", server.models, "data");
  const offshoot = (...args) => run(path.resolve(program), args, place);
  await offshoot("-p", "write a file");
  await offshoot("-c", "-p", "say it twice");
  await offshoot("compact", "latest", "--keep-recent-tokens", "5");
  const entries = () => {
    const [file] = fs.readdirSync(at("day/data/sessions"), { recursive: true }).filter((name) => name.endsWith(".jsonl"));
    const whole = at("day/data/sessions", file);
    return [whole, fs.readFileSync(whole, "utf8").trim().split("\n").map((line) => JSON.parse(line))];
  };
  const first = entries()[1].find((entry) => entry.message?.role === "toolResult");
  await offshoot("switch", "latest", first.id, "--summarize");
  await offshoot("-c", "-p", "differently");
  const [file, lines] = entries();
  assert.deepEqual(["compaction", "branch_summary"].filter((type) => !lines.some((entry) => entry.type === type)), []);

  const peers = startPeers(folder);
  const ours = new Offshoot([path.resolve(program)], folder);
  try {
    const expected = await peers.pi.dump(file, { points: [{ kind: "open" }], full: true });
    const actual = await ours.dump(file, { points: () => [{ kind: "open" }], full: true, withTree: false });
    const whole = ({ contexts: [{ settings, full }] }) => ({ settings, messages: full });
    assert.equal(firstDifference(whole(expected), whole(actual)), null);
    assert.ok(whole(actual).messages.length >= 4 && lines.length > 10);
  } finally {
    await Promise.all([peers.pi.close(), peers.omp.close(), ours.close()]);
  }
  assert.deepEqual((await server.end()).complaints.filter((line) => !line.includes("no reply")), []);
});
