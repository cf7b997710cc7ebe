// The clients for JavaScript and Python, and the launcher: no wrong answer and no hang, whatever the program does.
//   OFFSHOOT_BIN=… OFFSHOOT_LOOPBACK_BIN=… node --test clients.test.mjs
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { after, test } from "node:test";
import { HERE, REPOSITORY, newestNode, sealedEnvironment, temporaryFolder } from "./lib/places.mjs";
import { OffshootAgent, OffshootError, OffshootSessions } from "../clients/javascript/index.mjs";

const program = path.resolve(process.env.OFFSHOOT_BIN ?? assert.fail("set OFFSHOOT_BIN"));
const folder = temporaryFolder("clients");
after(() => fs.rmSync(folder, { recursive: true, force: true }));
const env = { PATH: process.env.PATH, ...sealedEnvironment(folder) };

/** A program with a bad habit. */
function fake(habit) {
  const file = path.join(folder, `fake-${habit}`);
  const words = [process.execPath, path.join(HERE, "clients/fake.mjs"), habit];
  fs.writeFileSync(file, `#!/bin/sh\nexec ${words.map((word) => `'${word}'`).join(" ")} "$@"\n`, { mode: 0o755 });
  return file;
}

/** Both clients, each with what calls one of its methods. */
const CLIENTS = [
  ["sessions", OffshootSessions],
  ["agent", OffshootAgent],
];

/** A client of a program with a bad habit. */
const start = (Client, habit, more = {}) => Client.start({ program: fake(habit), env, ...more });

/** A test of both clients. A hang is a failure. */
function both(name, run) {
  for (const [kind, Client] of CLIENTS) test(`${kind}: ${name}`, { timeout: 120_000 }, () => run(Client, kind));
}

const fails = (promise, kind, pattern = /./) =>
  assert.rejects(promise, (error) => {
    assert(error instanceof OffshootError, error);
    assert.equal(error.kind, kind, error.message);
    assert.match(error.message, pattern);
    return true;
  });

/** What a call of the fake's `echo` answers. */
const echoed = (kind, answer) => (kind === "sessions" ? answer.at : answer.members.at);

const user = (text) => ({ role: "user", content: text, timestamp: 1 });

test("sessions: four tasks of 200 rounds each get their own answers", { timeout: 300_000 }, async () => {
  const sessions = await OffshootSessions.start({ program, env });
  const task = async (name) => {
    const session = await sessions.inMemory({ cwd: "/" });
    for (let round = 0; round < 200; round += 1) {
      const { id } = await session.appendMessage({ message: user(`${name} ${round}`) });
      const [entry, leaf] = await Promise.all([session.getEntry({ id }), session.getLeafId()]);
      assert.deepEqual([entry.id, leaf, entry.message.content], [id, id, `${name} ${round}`]);
    }
  };
  await Promise.all(["a", "b", "c", "d"].map(task));
  await sessions.close();
});

both("late answers are dropped", async (Client, kind) => {
  const client = await start(Client, "none");
  for (let round = 0; round < 200; round += 1) {
    await fails(client.call("hold", {}, { timeout: 1 }), "timeout", /no answer to hold within 1 ms/);
    // The fake answers the held one first.
    assert.equal(echoed(kind, await client.call("echo", { at: round })), round);
  }
  await client.close();
});

both("a time-out of the client holds for each call", async (Client) => {
  const client = await start(Client, "none", { timeout: 1, startTimeout: 60_000 });
  await fails(client.call("hold"), "timeout");
  await assert.rejects(client.call("echo", {}, { timeout: 0 }), TypeError);
  await client.close();
});

both("the end of the program rejects what waits and what is asked later", async (Client) => {
  for (const [habit, pattern] of [["kill", /ended by SIGKILL/], ["exit", /ended with exit code 3/], ["half", /ended with exit code 0/]]) {
    const client = await start(Client, habit);
    const waiting = [client.call("hold"), client.call("hold"), client.call("habit")].map((call) => fails(call, "ended", pattern));
    await Promise.all(waiting);
    await fails(client.call("echo"), "ended", pattern);
    await client.close();
  }
});

test("sessions: kill -9 of the program while it works", { timeout: 120_000 }, async () => {
  const sessions = await OffshootSessions.start({ program, env });
  const session = await sessions.inMemory({ cwd: "/" });
  const results = [];
  for (let at = 0; at < 500; at += 1) results.push(session.appendMessage({ message: user("x".repeat(10_000)) }));
  const settled = Promise.allSettled(results);
  await results[9];
  process.kill(sessions.pid, "SIGKILL");
  const lost = (await settled).filter(({ status }) => status === "rejected");
  for (const { reason } of lost) assert.equal(reason.kind, "ended");
  await fails(session.getLeafId(), "ended", /SIGKILL/);
  assert.deepEqual(await sessions.close(), { exitCode: null, signal: "SIGKILL" });
});

both("the end is seen although another process keeps the pipes", async (Client) => {
  const heir = path.join(folder, "heir");
  const client = await start(Client, "heir", { env: { ...env, HEIR: heir } });
  await fails(client.call("habit"), "ended", /exit code 4/);
  process.kill(Number(fs.readFileSync(heir, "utf8")));
});

both("a program that cannot be started is an error that says why", async (Client) => {
  const at = (name) => path.join(folder, name);
  fs.writeFileSync(at("text"), "no program\n");
  await fails(Client.start({ program: at("missing") }), "startFailed", /missing, which does not exist/);
  await fails(Client.start({ program: at("text") }), "startFailed", /text, which cannot be executed/);
  await fails(Client.start({ program: "offshoot-that-is-not-there" }), "startFailed", /is not on PATH/);
  await fails(Client.start({ program, cwd: at("nowhere") }), "startFailed", /the folder .*nowhere does not exist/);
  await fails(start(Client, "start-exit-unasked"), "startFailed", /cannot start .*exit code 2: error: the settings are broken$/);
  await fails(start(Client, "start-exit"), "startFailed", /exit code 3/);
  await fails(start(Client, "start-garbage"), "startFailed", /not JSON: "Segmentation fault/);
  await fails(start(Client, "start-silent", { startTimeout: 50 }), "startFailed", /no answer .* within 50 ms/);
});

both("what is not the protocol ends the client, not the host", async (Client) => {
  for (const habit of ["garbage", "list", "number", "latin1", "stranger", "nobody", "mirror"]) {
    const client = await start(Client, habit);
    const waiting = fails(client.call("hold"), "protocol");
    await fails(client.call("habit"), "protocol", /offshoot wrote a line that/);
    await waiting;
    await fails(client.call("echo"), "protocol");
    await client.close();
  }
});

both("a program that closes a pipe and lives on is ended", async (Client) => {
  const mute = await start(Client, "mute");
  await fails(mute.call("habit"), "protocol", /closed its output but did not end/);
  await mute.close();
  const deaf = await start(Client, "deaf");
  assert.equal(await deaf.call("habit"), "the last one");
  await fails(deaf.call("hold"), "protocol", /closed its input but did not end/);
  await deaf.close();
});

both("an answer of 10 MB arrives whole, with separators and half a surrogate", async (Client) => {
  const client = await start(Client, "big");
  const expected = `${"ä\u2028\r".repeat(2_000_000)}\ud83d`;
  const answers = await Promise.all([client.call("habit"), client.call("habit")]);
  assert(answers.every((answer) => answer === expected));
  await client.close();
});

test("sessions: what goes in comes out, 10 MB of it and half a surrogate", { timeout: 120_000 }, async () => {
  const sessions = await OffshootSessions.start({ program, env });
  const session = await sessions.inMemory({ cwd: "/" });
  for (const text of ["\ud83d", "a\u2028b\r\u0000", "ü".repeat(5_000_000)]) {
    const { id } = await session.appendMessage({ message: user(text) });
    assert.equal((await session.getEntry({ id })).message.content, text);
  }
  const { content } = (await session.buildSessionContext()).messages[2];
  assert.equal(content.length, 5_000_000);
  await sessions.close();
});

both("standard error is read, and only its end is kept", async (Client) => {
  let bytes = 0;
  const client = await start(Client, "flood", { onStderr: (data) => (bytes += data.length) });
  assert.equal(await client.call("habit"), "after the flood");
  assert.equal(await client.call("habit"), "after the flood");
  await client.close();
  assert(bytes >= 64 << 20);
});

both("what was asked before close is answered, what is asked after it is refused", async (Client, kind) => {
  const client = await start(Client, "none");
  const calls = [1, 2, 3].map((at) => client.call("echo", { at }));
  const held = fails(client.call("hold"), "ended");
  const closed = client.close();
  await fails(client.call("echo"), "closed");
  assert.deepEqual((await Promise.all(calls)).map((answer) => echoed(kind, answer)), [1, 2, 3]);
  assert.deepEqual(await closed, { exitCode: 0, signal: null });
  await held;
  assert.deepEqual(await client.close(), { exitCode: 0, signal: null });
});

both("a program that does not end is killed after the grace time", async (Client) => {
  const client = await start(Client, "stubborn", { closeGrace: 50 });
  const pid = await client.call("habit");
  const waiting = fails(client.call("hold"), "ended", /SIGKILL/);
  assert.deepEqual(await client.close(), { exitCode: null, signal: "SIGKILL" });
  await waiting;
  assert.throws(() => process.kill(pid, 0), { code: "ESRCH" });
});

both("requests that nobody reads are refused before they fill the memory", async (Client) => {
  const client = await start(Client, "busy", { closeGrace: 50 });
  client.call("habit").catch(() => {});
  const text = "x".repeat(60 << 20);
  const calls = [1, 2, 3, 4, 5].map(() => client.call("echo", { text }));
  const settled = Promise.allSettled(calls);
  await fails(calls[4], "backlog", /wait to be sent/);
  await client.close();
  assert.deepEqual((await settled).map(({ reason }) => reason.kind), ["ended", "ended", "ended", "ended", "backlog"]);
});

both("a request that offshoot would not read is refused, and the client lives on", async (Client, kind) => {
  const client = await start(Client, "none");
  await fails(client.call("echo", { text: "x".repeat(64 << 20) }), "tooLong");
  assert.equal(echoed(kind, await client.call("echo", { at: 5 })), 5);
  await client.close();
});

test("agent: a slow reader of events gets all of them, and calls in its loop are answered", { timeout: 120_000 }, async () => {
  const agent = await start(OffshootAgent, "events");
  let next = 0;
  for await (const event of agent.prompt("go")) {
    if (event.type !== "tick") continue;
    assert.equal(event.at, next);
    next += 1;
    if (next % 500 === 0) assert.equal((await agent.call("echo", { at: next })).members.at, next);
  }
  assert.equal(next, 4000);
  await agent.close();
});

test("agent: events that nobody takes hold the program back", { timeout: 120_000 }, async () => {
  const agent = await start(OffshootAgent, "events");
  const events = agent.prompt("go");
  assert.equal((await events.next()).value.at, 0);
  let seen = 0;
  agent.listen(() => (seen += 1));
  // A whole turn of the loop without reading means that the pipe is not read any more.
  for (let before = -1; before !== seen; ) {
    before = seen;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  assert(seen < 2000, `${seen} of 4000 events were read`);
  for (let at = 1; at < 4000; at += 1) assert.equal((await events.next()).value.at, at);
  assert.equal((await events.next()).value.type, "agent_settled");
  assert.equal((await events.next()).done, true);
  await agent.close();
});

test("agent: the end of the program ends a loop over events", { timeout: 120_000 }, async () => {
  const agent = await start(OffshootAgent, "kill");
  const seen = [];
  await fails((async () => { for await (const event of agent.prompt("go")) seen.push(event); })(), "ended", /SIGKILL/);
  assert.deepEqual(seen, []);
  await agent.close();
});

test("python: every test of its client", { timeout: 600_000 }, async () => {
  const environment = { ...process.env, OFFSHOOT_BIN: program, NODE: process.execPath, PYTHONDONTWRITEBYTECODE: "1" };
  const { out, err, end } = await ran("python3", [path.join(HERE, "clients/test_python.py")], { environment });
  assert.equal(end, 0, `${out}${err}`);
  assert.match(err, /Ran \d\d tests/);
});

/** The package as npm installs it, with the program of its platform if there is one. */
function installed(name, binary) {
  const modules = path.join(folder, name, "node_modules");
  fs.cpSync(path.join(REPOSITORY, "clients/javascript"), path.join(modules, "offshoot"), { recursive: true });
  const platform = `offshoot-${process.platform}-${process.arch}`;
  if (binary !== undefined) {
    fs.mkdirSync(path.join(modules, platform, "bin"), { recursive: true });
    fs.writeFileSync(path.join(modules, platform, "package.json"), JSON.stringify({ name: platform }));
    fs.symlinkSync(binary, path.join(modules, platform, "bin/offshoot"));
  }
  return { launcher: path.join(modules, "offshoot/bin/offshoot.mjs"), modules, platform };
}

/** A script of the shell as a program. */
function script(name, text) {
  const file = path.join(folder, `${name}.sh`);
  fs.writeFileSync(file, `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  return file;
}

/** What a process writes and how it ends; `signal` is sent when it has written a line. */
async function ran(file, args, { signal, input = "", environment = env } = {}) {
  // Without a terminal of its own, as under a service manager.
  const child = spawn(file, args, { env: environment, detached: true });
  const said = { out: "", err: "" };
  child.stdout.on("data", (data) => {
    said.out += data;
    if (signal && said.out.endsWith("ready\n")) child.kill(signal);
  });
  child.stderr.on("data", (data) => (said.err += data));
  child.stdin.on("error", () => {});
  child.stdin.end(input);
  return new Promise((resolve) => child.on("close", (code, by) => resolve({ ...said, end: code ?? by })));
}

const echo = script("echo", 'for word; do echo "<$word>"; done; cat; exit 7');
// The second one of Node.js takes the place of its process.
for (const node of [process.execPath, newestNode()]) {
  const version = execFileSync(node, ["--version"], { encoding: "utf8" }).trim();
  const launched = (at, args, more) => ran(node, [at.launcher, ...args], more);

  test(`launcher: arguments, pipes and exit codes pass, Node.js ${version}`, { timeout: 120_000 }, async () => {
    const at = installed(`echo-${version}`, echo);
    const args = ["-p", "two words", "", "--x=ü"];
    const expected = { out: `${args.map((word) => `<${word}>\n`).join("")}in`, err: "", end: 7 };
    assert.deepEqual(await launched(at, args, { input: "in" }), expected);
    const real = installed(`real-${version}`, program);
    assert.match((await launched(real, ["--version"])).out, /^offshoot \d/);
    assert.equal((await launched(real, ["lst"])).end, 2);
  });

  test(`launcher: signals pass, and so does an end by one, Node.js ${version}`, { timeout: 120_000 }, async () => {
    const traps = ["INT", "QUIT", "HUP", "TERM", "USR1", "USR2"].map((name, at) => `trap 'exit ${20 + at}' ${name}`);
    const heedful = installed(`heedful-${version}`, script(`heedful-${version}`, `${traps.join("\n")}\necho ready; while :; do sleep 1 >/dev/null & wait; done`));
    for (const [at, name] of ["INT", "QUIT", "HUP", "TERM", "USR1", "USR2"].entries()) {
      assert.equal((await launched(heedful, [], { signal: `SIG${name}` })).end, 20 + at, name);
    }
    const killed = installed(`killed-${version}`, script(`killed-${version}`, "kill -KILL $$"));
    assert.equal((await launched(killed, [])).end, "SIGKILL");
    const ended = installed(`ended-${version}`, script(`ended-${version}`, "kill -TERM $$"));
    assert.equal((await launched(ended, [])).end, "SIGTERM");
  });

  test(`launcher: a missing platform package is named, Node.js ${version}`, { timeout: 120_000 }, async () => {
    const at = installed(`bare-${version}`);
    const err = `offshoot: the program offshoot was not found: install the package ${at.platform}, or set OFFSHOOT_BIN\n`;
    assert.deepEqual(await launched(at, ["--version"]), { out: "", err, end: 1 });
    const named = (OFFSHOOT_BIN) => launched(at, ["--version"], { environment: { ...env, OFFSHOOT_BIN } });
    assert.match((await named(program)).out, /^offshoot \d/);
    assert.deepEqual(await named("/nowhere"), { out: "", err: "offshoot: OFFSHOOT_BIN names /nowhere, which does not exist\n", end: 1 });
    // Not a loop without end.
    assert.match((await named(at.launcher)).err, /which is the launcher of this package/);
  });
}

test("javascript: the program is an explicit path, OFFSHOOT_BIN, the platform package, or on PATH", { timeout: 120_000 }, async () => {
  const [full, bare] = [installed("full", echo), installed("none")];
  const bin = path.join(folder, "bin");
  fs.mkdirSync(bin);
  fs.symlinkSync(bare.launcher, path.join(bin, "offshoot"));
  const behind = path.join(folder, "behind");
  fs.mkdirSync(behind);
  fs.symlinkSync(echo, path.join(behind, "offshoot"));
  const code = `import { findProgram } from "offshoot"; console.log(findProgram(...JSON.parse(process.env.GIVEN)));`;
  const found = async ({ modules }, given, more) => {
    const file = path.join(path.dirname(modules), "find.mjs");
    fs.writeFileSync(file, code);
    const environment = { ...env, ...more, GIVEN: JSON.stringify(given) };
    const { out, err } = await ran(process.execPath, [file], { environment });
    return out.trim() || err;
  };
  assert.equal(await found(full, [program], { OFFSHOOT_BIN: echo }), program);
  assert.equal(await found(full, [], { OFFSHOOT_BIN: program }), program);
  assert.equal(await found(full, [], {}), path.join(full.modules, full.platform, "bin/offshoot"));
  // The launcher on PATH does not count.
  assert.equal(await found(bare, [], { PATH: `${bin}:${behind}` }), path.join(behind, "offshoot"));
  assert.match(await found(bare, [], { PATH: bin }), new RegExp(`install the package ${bare.platform}`));
});
