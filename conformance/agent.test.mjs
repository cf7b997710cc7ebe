// The agent of offshoot beside pi's: the same model behind both tells the same events, and pi opens what offshoot's agent
// wrote with the same context. The model is offshoot's example `loopback`, which also checks every request.
//   OFFSHOOT_BIN=… OFFSHOOT_LOOPBACK_BIN=../target/debug/examples/loopback node --test agent.test.mjs
import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { createInterface } from "node:readline";
import { after, test } from "node:test";
import { promisify } from "node:util";
import { firstDifference } from "./lib/canon.mjs";
import { Offshoot } from "./lib/offshoot.mjs";
import { startPeers } from "./lib/peers.mjs";
import { bunBinary, piPackage, temporaryFolder } from "./lib/places.mjs";

const [program, loopback] = [process.env.OFFSHOOT_BIN, process.env.OFFSHOOT_LOOPBACK_BIN];
if (!program || !loopback) throw new Error("set OFFSHOOT_BIN and OFFSHOOT_LOOPBACK_BIN");
const folder = temporaryFolder("agent");
const at = (...names) => path.join(folder, ...names);
after(() => fs.rmSync(folder, { recursive: true, force: true }));

/** A model that answers from a script; `end` gives its complaints. */
async function model(name, replies) {
  fs.writeFileSync(at(`${name}.script`), replies.map((reply) => JSON.stringify(reply)).join("\n"));
  const child = spawn(path.resolve(loopback), [at(`${name}.script`)], { stdio: ["pipe", "pipe", "inherit"] });
  const said = [];
  const closed = new Promise((resolve) => child.on("close", resolve));
  await new Promise((resolve) =>
    createInterface({ input: child.stdout }).on("line", (line) => said.push(line) && line.startsWith("key: ") && resolve()),
  );
  const value = (start) => said.find((line) => line.startsWith(start)).slice(start.length);
  const [baseUrl, apiKey] = [value("anthropic-messages: "), value("key: ")];
  const known = { id: "m1", name: "m1", contextWindow: 200000, maxTokens: 8000, reasoning: false, input: ["text"], cost: { input: 1, output: 1, cacheRead: 0, cacheWrite: 0 } };
  const models = JSON.stringify({ providers: { test: { baseUrl, api: "anthropic-messages", apiKey, models: [known] } } });
  return {
    models,
    async end() {
      child.stdin.end();
      await closed;
      return said.slice(said.findIndex((line) => line.endsWith(" requests")) + 1);
    },
  };
}

/** A home with that model, and a working folder. */
function home(name, models, data) {
  fs.mkdirSync(at(name, data), { recursive: true });
  fs.mkdirSync(at(name, "work"), { recursive: true });
  fs.writeFileSync(at(name, data, "models.json"), models);
  return { cwd: at(name, "work"), env: { PATH: process.env.PATH, HOME: at(name), OFFSHOOT_HOME: at(name, "data") }, timeout: 60_000 };
}

/** Runs with nothing on its standard input. */
async function run(file, args, options) {
  const running = promisify(execFile)(file, args, options);
  running.child.stdin.end();
  return (await running).stdout;
}

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
    .filter((event) => !deltas(event) && event.message?.role !== "system")
    .map((event) => {
      const inner = event.assistantMessageEvent ?? event.message ?? event.result ?? {};
      // pi tells the response's id at once, offshoot with the whole message; the provider's own word for the end is pi's alone;
      // pi's write shows people a patch; offshoot says whether a run was stopped.
      const left = ["responseId", "rawStopReason", "details", ...(event.type === "agent_settled" ? ["aborted"] : [])];
      const members = (object) => Object.keys(object).filter((key) => !left.includes(key)).sort().join();
      return `${event.type} ${inner.type ?? inner.role ?? ""} {${members(event)}} {${members(inner)}}`;
    });
}

test("events are pi's", async () => {
  const server = await model("events", [...WORK, ...WORK]);
  const cli = path.join(piPackage(), "dist/cli.js");
  const theirs = await run(bunBinary(), [cli, "--mode", "json", "--provider", "test", "--model", "m1", "go"], home("pi", server.models, ".pi/agent"));
  const ours = await run(path.resolve(program), ["--mode", "json", "--model", "test/m1", "go"], home("ours", server.models, "data"));
  assert.deepEqual(shapes(ours), shapes(theirs));
  await server.end();
});

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
  assert.deepEqual((await server.end()).filter((line) => !line.includes("no reply")), []);
});
