// What could not be written: who asked is told, the next prompt tries the disk anew, and no word is lost.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { node } from "../extensions/places.mjs";
import { answer } from "../hostile/model.mjs";
import { sealedEnvironment } from "../lib/places.mjs";

/** In the place of a published report: offshoot itself failed in this situation, or in one beside it. */
const OWN = "offshoot's own";

const program = path.resolve(process.env.OFFSHOOT_BIN);
/** How long something may take that a row waits for. */
const PATIENCE = 60_000;

/** A program that is driven over RPC. */
class Rpc {
  #child;
  #waiting = [];
  records = [];

  constructor(place, words = []) {
    const env = { PATH: process.env.PATH, ...sealedEnvironment(place.home), OFFSHOOT_LOCK_WAIT: "0.05", ...(words.includes("-e") ? { PI_NODE: node() } : {}) };
    this.#child = spawn(program, ["--mode", "rpc", "--approval", "auto", ...words], { cwd: place.work, env, stdio: ["pipe", "pipe", "pipe"] });
    let rest = "";
    this.stderr = "";
    this.#child.stderr.on("data", (piece) => (this.stderr += piece));
    this.#child.stdout.on("data", (piece) => {
      const lines = (rest + piece).split("\n");
      rest = lines.pop();
      for (const line of lines.filter(Boolean)) this.records.push(JSON.parse(line));
      this.#waiting.forEach((look) => look());
    });
    this.ended = new Promise((resolve) => this.#child.on("close", resolve));
    this.ended.then(() => this.#waiting.forEach((look) => look(true)));
  }

  /** The first record that fits, from `from` on. */
  until(fits, from = 0) {
    return new Promise((resolve, reject) => {
      const late = setTimeout(() => reject(new Error(`waited in vain for ${fits}: ${JSON.stringify(this.records.slice(-5))} ${this.stderr}`)), PATIENCE);
      const look = (isOver) => {
        const found = this.records.slice(from).find(fits);
        if (!found && !isOver) return;
        clearTimeout(late);
        this.#waiting = this.#waiting.filter((other) => other !== look);
        if (found) resolve(found);
        else reject(new Error(`ended without ${fits}: ${this.stderr}`));
      };
      this.#waiting.push(look);
      look();
    });
  }

  /** The response to a command. */
  ask(command) {
    const [id, from] = [`${this.records.length}-${command.type}`, this.records.length];
    this.#child.stdin.write(`${JSON.stringify({ id, ...command })}\n`);
    return this.until((record) => record.type === "response" && record.id === id, from);
  }

  /** A prompt to its end; the response. */
  async say(message) {
    const from = this.records.length;
    const response = await this.ask({ type: "prompt", message });
    await this.until((record) => record.type === "agent_settled", from);
    return response;
  }

  async file() {
    return (await this.ask({ type: "get_state" })).data.sessionFile;
  }

  kill() {
    this.#child.kill("SIGKILL");
    return this.ended;
  }

  end() {
    this.#child.stdin.end();
    return this.ended;
  }
}

/** Another program holds the lock of a file until it is let go. */
async function locked(file) {
  const holder = spawn("flock", ["-x", file, "-c", "echo held; exec cat"], { stdio: ["pipe", "pipe", "inherit"] });
  await new Promise((resolve) => holder.stdout.once("data", resolve));
  return () =>
    new Promise((resolve) => {
      holder.once("close", resolve);
      holder.stdin.end();
    });
}

const entries = (file) => fs.readFileSync(file, "utf8").trimEnd().split("\n").map((line) => JSON.parse(line));
const text = (entry) => (typeof entry.message.content === "string" ? entry.message.content : entry.message.content.map((part) => part.text ?? "").join(""));
const messages = (file, role) => entries(file).filter((entry) => entry.type === "message" && entry.message.role === role).map(text);

/** A session with one answer, and whatever is asked of it while its lock is taken. */
async function whileLocked(place, ask) {
  await place.model([answer("one"), answer("two")]);
  const rpc = new Rpc(place);
  assert.equal((await rpc.say("first")).success, true);
  const file = await rpc.file();
  const release = await locked(file);
  const asked = await ask(rpc, file);
  await release();
  return { rpc, file, asked };
}

const commands = {
  set_session_name: { type: "set_session_name", name: "a name" },
  set_label: { type: "set_label", label: "x" },
  set_thinking_level: { type: "set_thinking_level", level: "off" },
  bash: { type: "bash", command: "echo of the user" },
  clone: { type: "clone" },
  compact: { type: "compact" },
};

const afterCommands = Object.entries(commands).map(([name, command]) => ({
  kind: "writer",
  report: OWN,
  name: `${name} fails while another program holds the lock; then a prompt`,
  promise: "a failed write concerns its own command; the prompt after it is recorded and answered",
  async run(place) {
    const { rpc, asked } = await whileLocked(place, async (rpc, file) => {
      const entryId = entries(file).find((entry) => entry.type === "message").id;
      return rpc.ask({ ...command, entryId });
    });
    assert.equal(asked.type, "response");
    assert.equal((await rpc.say("second")).success, true);
    assert.deepEqual(messages(await rpc.file(), "user").at(-1), "second");
    assert.equal(messages(await rpc.file(), "assistant").at(-1), "two");
    if (name === "bash") assert.match(JSON.stringify(entries(await rpc.file())), /of the user/);
    await rpc.end();
  },
}));

/** Where an entry is that an extension wants to change: it is on another branch, or nowhere. */
const elsewhere = {
  "is on another branch": "ctx.sessionManager.getEntries().find(({ id, type }) => type === \"message\" && !ctx.sessionManager.getBranch().some((entry) => entry.id === id)).id",
  "does not exist": '"ffffffff"',
};

const wrongDrafts = Object.entries(elsewhere).map(([what, target]) => ({
  kind: "writer",
  report: what === "does not exist" ? "KristjanPikhof/Pi-YAML-Hooks#19" : OWN,
  name: `what an extension gives at the end of a turn is wrong: the entry that it changes ${what}`,
  promise: "the extension gets its error, nothing of its entries is written, and the next prompt is answered",
  async run(place) {
    await place.model(["beside", "one", "two", "three"].map((words) => answer(words)));
    await place.offshoot(["-p", "aside"]);
    const folder = path.join(place.data, "sessions");
    const session = path.join(folder, fs.readdirSync(folder, { recursive: true }).find((name) => name.endsWith(".jsonl")));
    const aside = entries(session).find(({ message }) => message?.role === "user");
    const here = { type: "message", id: "0000beef", parentId: aside.parentId, timestamp: aside.timestamp, message: { role: "user", content: "here", timestamp: 0 } };
    fs.appendFileSync(session, `${JSON.stringify(here)}\n`);
    const extension = place.write("wrong.mjs", `export default (pi) => pi.on("turn_end", (event, ctx) => ({ entries: [{ type: "custom", customType: "fine" }, { type: "context_edit", targetId: ${target}, replacement: null }] }));\n`);
    const rpc = new Rpc(place, ["-c", "-e", extension]);
    let from = 0;
    for (const words of ["first", "second"]) {
      assert.equal((await rpc.say(words)).success, true);
      const error = await rpc.until((record) => record.type === "extension_error", from);
      from = rpc.records.length;
      assert.match(error.error, /its entries are not written: .*(not found|not on the active branch)/);
    }
    assert.deepEqual(messages(session, "user"), ["aside", "here", "first", "second"]);
    assert.deepEqual(entries(session).filter(({ type }) => type === "custom"), []);
    assert.equal(rpc.records.filter(({ type }) => type === "failed").length, 0);
    await rpc.end();
  },
}));

export const REPORTS = [
  ...afterCommands,
  {
    kind: "writer",
    report: OWN,
    name: "a prompt while another program holds the lock",
    promise: "it is refused with the reason and not half accepted; sent again it is recorded once",
    async run(place) {
      const { rpc, file, asked } = await whileLocked(place, (rpc) => rpc.ask({ type: "prompt", message: "mine" }));
      assert.equal(asked.success, false);
      assert.match(asked.error, /lock/);
      assert.equal((await rpc.say("mine")).success, true);
      assert.deepEqual(messages(file, "user"), ["first", "mine"]);
      await rpc.end();
    },
  },
  {
    kind: "writer",
    report: OWN,
    name: "`-p` while another program holds the lock",
    promise: "the exit code says so, and standard error has the words of the prompt",
    async run(place) {
      await place.model([answer("one")]);
      await place.offshoot(["-p", "the first prompt"]);
      const folder = path.join(place.data, "sessions");
      const file = path.join(folder, fs.readdirSync(folder, { recursive: true }).find((name) => name.endsWith(".jsonl")));
      const release = await locked(file);
      const done = await place.offshoot(["-c", "-p", "words that nobody may lose"], { env: { OFFSHOOT_LOCK_WAIT: "0.05" } });
      await release();
      assert.notEqual(done.code, 0);
      assert.match(done.stderr, /words that nobody may lose/);
      assert.match(done.stderr, /lock/);
    },
  },
  ...wrongDrafts,
  {
    kind: "writer",
    report: "google-gemini/gemini-cli#27277",
    name: "the disk is full in the middle of a conversation",
    promise: "it is said at once with an exit code, and what could not be written gets into the session later",
    async run(place) {
      await place.model([answer("one"), answer("two")]);
      await place.offshoot(["-p", "x".repeat(20_000)]);
      const env = { PATH: process.env.PATH, ...sealedEnvironment(place.home) };
      const limited = ["-c", 'trap "" XFSZ; ulimit -f 24; exec "$@"', "limited", program, "-c", "-p", "dear words"];
      const done = await new Promise((resolve) => {
        const child = spawn("sh", limited, { cwd: place.work, env });
        let stderr = "";
        child.stderr.on("data", (piece) => (stderr += piece));
        child.on("close", (code) => resolve({ code, stderr }));
        child.stdin.end();
      });
      assert.notEqual(done.code, 0, done.stderr);
      assert.match(done.stderr, /kept in|not recorded/);
      const folder = path.join(place.data, "sessions");
      const file = path.join(folder, fs.readdirSync(folder, { recursive: true }).find((name) => name.endsWith(".jsonl")));
      await place.offshoot(["repair", file]);
      assert.ok(messages(file, "user").includes("dear words") || /dear words/.test(done.stderr));
    },
  },
  {
    kind: "writer",
    report: "earendil-works/pi#7463",
    name: "the folder of the sessions goes away between two prompts",
    promise: "a prompt is refused with the reason; when the folder is there again, the next one brings the file back with everything that was in it",
    async run(place) {
      await place.model([answer("one"), answer("two")]);
      const rpc = new Rpc(place);
      await rpc.say("first");
      const file = await rpc.file();
      fs.rmSync(path.dirname(file), { recursive: true });
      const refused = await rpc.say("second");
      assert.equal(refused.success, false);
      fs.mkdirSync(path.dirname(file), { recursive: true });
      assert.equal((await rpc.say("third")).success, true);
      const said = messages(file, "user");
      assert.deepEqual(said.filter((words) => words !== "second"), ["first", "third"]);
      assert.ok(said.includes("second") || !/kept/.test(refused.error), refused.error);
      await rpc.end();
    },
  },
  {
    kind: "writer",
    report: "github/copilot-cli#4098",
    name: "a session ends in the middle of a record, and is continued twice",
    promise: "the torn line stays alone: every later entry has a line of its own and is read",
    async run(place) {
      const model = await place.model([answer("one"), answer("two"), answer("three")]);
      await place.offshoot(["-p", "the first prompt"]);
      const folder = path.join(place.data, "sessions");
      const file = path.join(folder, fs.readdirSync(folder, { recursive: true }).find((name) => name.endsWith(".jsonl")));
      fs.appendFileSync(file, '{"type":"message","id":"abcdef01","parentId":null,"message":{"role":"assis');
      for (const words of ["the second prompt", "the third prompt"]) await place.offshoot(["-c", "-p", words]);
      const lines = fs.readFileSync(file, "utf8").trimEnd().split("\n");
      assert.equal(lines.filter((line) => !isJson(line)).length, 1);
      for (const words of ["the first prompt", "two", "the third prompt"]) assert.match(model.last, new RegExp(words));
    },
  },
  {
    kind: "writer",
    report: "anthropics/claude-code#80561",
    name: "the file under a running program is replaced by another one",
    promise: "no prompt is answered into nowhere: each is refused with the reason, and the other file keeps its bytes",
    async run(place) {
      const model = await place.model([answer("one"), answer("two")]);
      const rpc = new Rpc(place);
      await rpc.say("first");
      const file = await rpc.file();
      fs.writeFileSync(`${file}.other`, fs.readFileSync(file));
      fs.renameSync(`${file}.other`, file);
      const before = fs.readFileSync(file);
      for (const words of ["second", "third"]) {
        const refused = await rpc.say(words);
        assert.equal(refused.success, false);
        assert.match(refused.error, /another file in its place|open the session again|kept in/);
      }
      assert.deepEqual(fs.readFileSync(file), before);
      assert.equal(model.requests.length, 1);
      await rpc.end();
    },
  },
  {
    kind: "writer",
    report: "HKUDS/nanobot#2334",
    name: "the program is killed while the second tool runs",
    promise: "the prompt, the calls and the first result are in the file, and the session goes on",
    async run(place) {
      const calls = answer({ call: "bash", arguments: { command: "echo first-result" } });
      const hanging = answer({ call: "bash", id: "call_9", arguments: { command: "touch running; sleep 1000" } });
      const model = await place.model([calls, hanging, answer("two")]);
      const rpc = new Rpc(place);
      await rpc.ask({ type: "prompt", message: "work" });
      await rpc.until((record) => record.type === "tool_execution_start" && record.toolCallId === "call_9");
      const file = await rpc.file();
      await rpc.kill();
      assert.deepEqual(messages(file, "user"), ["work"]);
      assert.match(messages(file, "toolResult").join(), /first-result/);
      await place.offshoot(["-c", "-p", "go on please"]);
      assert.match(model.last, /first-result/);
      assert.match(model.last, /go on please/);
      spawnSync("sh", ["-c", `for p in /proc/[0-9]*; do [ "$(readlink $p/cwd)" = "${place.work}" ] && kill -9 \${p#/proc/}; done; true`]);
    },
  },
  {
    kind: "writer",
    report: "can1357/oh-my-pi#8798",
    name: "a tool of an extension never ends, and the user stops it",
    promise: "the stop is answered, the call has a result, and the next prompt is answered",
    async run(place) {
      const model = await place.model([answer({ call: "stuck", arguments: {} }), answer("two")]);
      const extension = place.write("stuck.mjs", 'export default (pi) => pi.registerTool({ name: "stuck", label: "stuck", description: "never ends", parameters: { type: "object", properties: {} }, execute: () => new Promise(() => {}) });\n');
      const rpc = new Rpc(place, ["-e", extension]);
      await rpc.ask({ type: "prompt", message: "work" });
      await rpc.until((record) => record.type === "tool_execution_start");
      assert.equal((await rpc.ask({ type: "abort" })).success, true);
      await rpc.until((record) => record.type === "agent_settled");
      assert.equal((await rpc.say("again")).success, true);
      assert.match(model.last, /stopped this tool call/);
      await rpc.end();
    },
  },
  {
    kind: "writer",
    report: "nesquena/hermes-webui#653",
    name: "a call of a tool that does not exist, beside one of a tool that throws",
    promise: "both have a result that is an error, the model goes on, and the next prompt is answered",
    async run(place) {
      const both = answer({ call: "no_such_tool", arguments: {} }, { call: "throws", arguments: {} });
      const model = await place.model([both, answer("I see"), answer("two")]);
      const extension = place.write("throws.mjs", 'export default (pi) => pi.registerTool({ name: "throws", label: "throws", description: "throws", parameters: { type: "object", properties: {} }, execute: () => { throw new Error("out of the tool"); } });\n');
      const rpc = new Rpc(place, ["-e", extension]);
      await rpc.say("work");
      const [missing, thrown] = model.results;
      assert.ok(missing.isError && /no tool named/.test(missing.text), missing.text);
      assert.ok(thrown.isError && /out of the tool/.test(thrown.text), thrown.text);
      assert.equal((await rpc.say("again")).success, true);
      await rpc.end();
    },
  },
  {
    kind: "writer",
    report: "earendil-works/pi#8177",
    name: "two programs with one session, a prompt in each",
    promise: "the words of both are in the file, and each is told of the other",
    async run(place) {
      await place.model([answer("one"), answer("two"), answer("three"), answer("four")]);
      const one = new Rpc(place);
      await one.say("first");
      const file = await one.file();
      const other = new Rpc(place, ["--session", file]);
      await other.ask({ type: "get_state" });
      assert.equal((await one.say("of the one")).success, true);
      assert.equal((await other.say("of the other")).success, true);
      assert.deepEqual(messages(file, "user"), ["first", "of the one", "of the other"]);
      await other.until((record) => record.type === "notice" && record.code === "diverged");
      await Promise.all([one.end(), other.end()]);
    },
  },
  {
    kind: "writer",
    report: "openclaw/openclaw#21084",
    name: "the program is killed right after an answer",
    promise: "everything that was announced is in the file",
    async run(place) {
      await place.model([answer("one"), answer("two")]);
      const rpc = new Rpc(place);
      for (const words of ["first", "second"]) await rpc.say(words);
      const file = await rpc.file();
      await rpc.kill();
      assert.deepEqual(messages(file, "user"), ["first", "second"]);
      assert.deepEqual(messages(file, "assistant"), ["one", "two"]);
    },
  },
];

function isJson(line) {
  try {
    JSON.parse(line);
    return true;
  } catch {
    return false;
  }
}
