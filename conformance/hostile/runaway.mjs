// Extensions that never end: promises that nobody keeps, turns without end, programs that outlive the run.
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { node } from "../extensions/places.mjs";
import { answer } from "./model.mjs";

const GO_ON = '{ continue: true, entries: [{ type: "custom_message", customType: "x", content: "go on", display: true }] }';
const SAYS = "again";

/** What asks for another turn at the end of one. */
const CONTINUING = {
  "turn_end goes on": `pi.on("turn_end", () => (${GO_ON}));`,
  "agent_before_settle goes on": `pi.on("agent_before_settle", () => (${GO_ON}));`,
  "both go on": `for (const name of ["turn_end", "agent_before_settle"]) pi.on(name, () => (${GO_ON}));`,
  "agent_end says a follow-up": `pi.on("agent_end", () => pi.sendUserMessage("${SAYS}", { deliverAs: "followUp" }));`,
  "turn_end steers": `pi.on("turn_end", () => pi.sendUserMessage("${SAYS}", { deliverAs: "steer" }));`,
  "agent_settled begins another": `pi.on("agent_settled", () => pi.sendUserMessage("${SAYS}"));`,
  "agent_end triggers a turn": `pi.on("agent_end", () => pi.sendMessage({ customType: "x", content: "${SAYS}", display: true }, { triggerTurn: true }));`,
};

const loaded = (place, code) => ["-e", place.write("x.ts", `export default async function (pi) { ${code} }`)];

const continuing = Object.entries(CONTINUING).map(([name, code]) => ({
  group: "runaway",
  name: `${name}, with --max-turns`,
  promise: "no request after the last turn, and an end with its reason",
  async run(place) {
    const model = await place.model(Array(12).fill(answer("Here.")));
    const done = await place.offshoot([...loaded(place, code), "-p", "hi", "--max-turns", "3"], { env: { PI_NODE: node() }, unlimited: true });
    assert.equal(model.requests.length, 3);
    assert.equal(done.code, 7, done.stderr);
    assert.match(done.stderr, /stopped after 3 answers/);
  },
}));

const NEVER = "new Promise(() => {})";
const CALLS = [answer({ call: "bash", arguments: { command: "touch ran" } }), answer("Done.")];

/** A handler that waits for ever, and whether a call runs nevertheless. */
const WAITING = ["session_start", "input", "before_agent_start", "context", "before_provider_request", "message_end", "tool_call", "tool_result", "turn_end", "agent_end", "agent_before_settle", "session_shutdown"].map((event) => ({
  group: "runaway",
  name: `${event} returns a promise that nobody keeps`,
  promise: "it is given up after a while, which is told, and the run ends",
  async run(place) {
    await place.model([...CALLS, answer("More.")]);
    const env = { PI_NODE: node(), OFFSHOOT_EXTENSION_LIMIT: "4" };
    const done = await place.offshoot([...loaded(place, `pi.on("${event}", () => ${NEVER});`), "-p", "hi"], { env, unlimited: true });
    if (event !== "session_shutdown") assert.match(done.stderr, /did not answer for 4 s, and asked for nothing/);
    assert.equal(fs.existsSync(place.at("ran")), event !== "tool_call", "a call that nobody judged did not run");
  },
}));

const tool = {
  group: "runaway",
  name: "a tool returns a promise that nobody keeps",
  promise: "the model gets an error",
  async run(place) {
    const model = await place.model([answer({ call: "wait", arguments: {} }), answer("Done.")]);
    const code = `pi.registerTool({ name: "wait", label: "w", description: "w", parameters: { type: "object", properties: {} }, execute: () => ${NEVER} });`;
    const env = { PI_NODE: node(), OFFSHOOT_EXTENSION_LIMIT: "2" };
    const done = await place.offshoot([...loaded(place, code), "-p", "hi"], { env, unlimited: true });
    assert.ok(done.stdout.includes("Done."), done.stderr);
    assert.match(JSON.stringify(model.requests[1].body), /did not answer for 12 s/);
  },
};

/** A handler that waits for ever as the session changes, which only a stop ends. */
const stopped = ["session_start", "session_shutdown", "session_before_switch"].map((event) => ({
  group: "runaway",
  name: `${event} of another session returns a promise that nobody keeps`,
  promise: "a stop ends the wait, and the session changes or stays",
  async run(place) {
    await place.model([]);
    const code = `pi.on("${event}", ({ reason }, ctx) => { if (reason !== "startup" && reason !== "quit") { ctx.ui.notify("waits"); return ${NEVER}; } });`;
    const seen = [];
    const done = await place.offshoot([...loaded(place, code), "--mode", "rpc"], {
      env: { PI_NODE: node() },
      unlimited: true,
      input: null,
      when(child) {
        let text = "";
        const send = (line) => child.stdin.write(`${JSON.stringify(line)}\n`);
        send({ id: "new", type: "new_session" });
        child.stdout.on("data", (piece) => {
          text += piece;
          if (text.includes('"waits"') && !seen.includes("waits")) {
            seen.push("waits");
            send({ id: "stop", type: "abort" });
          }
          if (text.includes('"id":"new"') && !seen.includes("new")) {
            seen.push("new");
            child.stdin.end();
          }
        });
      },
    });
    assert.deepEqual(seen, ["waits", "new"], done.stderr);
  },
}));

/** How an extension may start a program. */
const STARTING = {
  "a child": 'spawn("sleep", ["987"])',
  "a child of a shell": 'spawn("sh", ["-c", "sleep 987 & wait"])',
  "a child that nobody waits for": 'spawn("sleep", ["987"], { detached: true, stdio: "ignore" }).unref()',
  "a grandchild whose parent has ended": 'spawn("sh", ["-c", "setsid sleep 987 & exit"], { stdio: "ignore" })',
  "a program of pi.exec": 'pi.exec("sleep", ["987"])',
};

/** Processes that have this in their environment. */
function alive(mark) {
  return fs.readdirSync("/proc").filter((name) => {
    try {
      return /^\d+$/.test(name) && fs.readFileSync(`/proc/${name}/environ`, "utf8").includes(mark);
    } catch {
      return false;
    }
  });
}

const starting = Object.entries(STARTING).map(([name, code]) => ({
  group: "runaway",
  name: `${name} of an extension`,
  promise: "it ends with the program",
  async run(place) {
    if (process.platform !== "linux") return;
    await place.model([answer("Here.")]);
    const mark = `RUNAWAY=${place.root}`;
    const env = { PI_NODE: node(), RUNAWAY: place.root };
    const done = await place.offshoot([...loaded(place, `const { spawn } = await import("node:child_process"); pi.on("session_start", () => { ${code}; });`), "-p", "hi"], { env, unlimited: true });
    assert.ok(done.stdout.includes("Here."), done.stderr);
    const left = alive(mark);
    for (const id of left) process.kill(Number(id), "SIGKILL");
    assert.deepEqual(left, [], "processes are left");
  },
}));

export const RUNAWAY = [...continuing, ...WAITING, tool, ...stopped, ...starting];
