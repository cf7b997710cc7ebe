// Reports about processes: whoever ends the program, and however, its commands end with it, and their calls have results.
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { answer } from "../hostile/model.mjs";

/** Whether a process runs that has this text among its arguments. */
function runs(mark) {
  const ids = fs.readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return ids.some((id) => {
    try {
      const state = fs.readFileSync(`/proc/${id}/stat`, "utf8").split(")").at(-1).trim()[0];
      return state !== "Z" && fs.readFileSync(`/proc/${id}/cmdline`, "utf8").includes(mark);
    } catch {
      return false;
    }
  });
}

/** Waits until a file is there. */
function appears(file) {
  return new Promise((resolve) => {
    const look = () => (fs.existsSync(file) ? resolve() : setTimeout(look, 10));
    look();
  });
}

let marks = 0;

/** A run whose command writes a file when it has begun and would take long; a signal ends the run. */
async function ended(place, signal, command, words = ["-p", "go"]) {
  marks += 1;
  const mark = `60${process.pid}.${marks}`;
  await place.model([answer({ call: "bash", arguments: { command: command(mark) } }), answer("Done.")]);
  const when = (child) => void appears(place.at("begun")).then(() => child.kill(signal));
  const done = await place.offshoot(words, { when });
  assert.equal(done.code, 130, done.stderr);
  assert.ok(!runs(mark), "the command runs on without the program");
  const results = place.sessions()[0].filter(({ message }) => message?.role === "toolResult");
  assert.equal(results.length, 1, "the call has a result");
  return done;
}

const plain = (mark) => `touch begun; sleep ${mark}`;
const orphans = (signal) => (place) => ended(place, signal, plain);

/** A provider whose limit is over after a while. */
const limited = (headers) => (response) => response.writeHead(429, { "content-type": "application/json", ...headers }).end(JSON.stringify({ type: "error", error: { type: "rate_limit_error", message: "usage limit" } }));

export const REPORTS = [
  { kind: "process", report: "earendil-works/pi#3057", name: "the terminal is closed while a command runs", promise: "SIGHUP stops the command, and its call has a result", run: orphans("SIGHUP") },
  { kind: "process", report: "earendil-works/pi#3057", name: "the program is told to end while a command runs", promise: "SIGTERM stops the command, and its call has a result", run: orphans("SIGTERM") },
  { kind: "process", report: "anthropics/claude-code#81210", name: "an end that other programs do not expect", promise: "SIGQUIT stops the command, and its call has a result", run: orphans("SIGQUIT") },
  { kind: "process", report: "aws/agentcore-cli#1438", name: "a command that has started a group of its own", promise: "all processes of the command are stopped", run: (place) => ended(place, "SIGTERM", (mark) => `set -m; sh -c 'sleep ${mark}' & touch begun; wait`) },
  {
    kind: "process",
    report: "earendil-works/pi#9460",
    name: "a command whose descendants ignore the wish to end",
    promise: "they are stopped all the same, and the run ends",
    run: (place) => ended(place, "SIGINT", (mark) => `(trap '' TERM INT HUP; sh -c 'touch begun; sleep ${mark}; sleep ${mark}') & wait`),
  },
  {
    kind: "process",
    report: "earendil-works/pi#3057",
    name: "events are read while the program is told to end",
    promise: "the last events name the end of the call, and no command is left",
    run: async (place) => {
      const done = await ended(place, "SIGINT", plain, ["--mode", "json", "-p", "go"]);
      const types = done.stdout.trimEnd().split("\n").map((line) => JSON.parse(line).type);
      assert.ok(types.includes("tool_execution_end") && types.at(-1) !== "tool_execution_start", types.join(" "));
    },
  },
  {
    kind: "wire",
    report: "griffinwork40/agent-afk#427",
    name: "a limit that is over after a day",
    promise: "the error names when the provider can be asked again, and nothing is sent before",
    run: async (place) => {
      const model = await place.model([limited({ "retry-after": "90000" })]);
      const done = await place.offshoot(["-p", "go"]);
      assert.equal(done.code, 6);
      assert.match(done.stderr, /can be asked again in 25 h 0 min, at \d{4}-\d\d-\d\d \d\d:\d\d/);
      assert.equal(model.requests.length, 1);
    },
  },
  {
    kind: "wire",
    report: "1jehuang/jcode#1183",
    name: "a limit that lasts longer than retries wait",
    promise: "it is waited for if that is wanted, and the run goes on",
    run: async (place) => {
      const retry = { maxRetries: 0, baseDelayMs: 0, provider: { maxRetryDelayMs: 5 } };
      const model = await place.model([limited({ "retry-after-ms": "40" }), limited({ "retry-after-ms": "40" }), answer("Done.")], { retry });
      const done = await place.offshoot(["-p", "go", "--wait-for-limit", "1h"]);
      assert.deepEqual([done.code, done.stdout, model.requests.length], [0, "Done.\n", 3], done.stderr);
    },
  },
  {
    kind: "wire",
    report: "NousResearch/hermes-agent#57235",
    name: "a program shows how long a limit lasts",
    promise: "the event that announces the next try has the wait in it, however long it is",
    run: async (place) => {
      await place.model([limited({ "retry-after": "7200" })]);
      const done = await place.offshoot(["--mode", "json", "-p", "go", "--wait-for-limit", "3h", "--max-time", "1s"]);
      const events = done.stdout.trimEnd().split("\n").map((line) => JSON.parse(line));
      const waits = events.filter(({ type }) => type === "auto_retry_start").map(({ delayMs, attempt }) => [delayMs, attempt]);
      assert.deepEqual([waits, done.code], [[[7200000, 1]], 7], done.stderr);
    },
  },
];
