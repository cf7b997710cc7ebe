// The three programs under one face: open, context, tree, append, reopen. Every call has a limit of time and memory.
// offshoot is asked through its commands, as people do; the peers through their session managers.
import { spawn } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { LineServer } from "../lib/lines.mjs";
import { HERE, bunBinary, ompPackage, piPackage, sealedEnvironment } from "../lib/places.mjs";

export const LIMITS = { seconds: 60, gigabytes: 4 };
export const WORDS = "the words of whoever opened it";

/** A failure of the program under test, in its own words. */
export class Refusal extends Error {}

const short = (text) =>
  text
    .replace(/\s+/g, " ")
    .replace(/^error: /, "")
    .replace(/ hint: .*/, "")
    .replace(/^(\w+ ended \(\w+\)) (?:# )*(Fatal error in , line 0 # )?/, "$1: ")
    .replace(/ # .*/, "")
    .replace(/ at path .*/, "")
    .trim()
    .slice(0, 200);

/** Kills a process that takes more memory than allowed; answers a function that ends the watch and says whether it did. */
function watchMemory(pid) {
  let tooMuch = false;
  const timer = setInterval(() => {
    try {
      const kib = Number(/VmRSS:\s+(\d+)/.exec(fs.readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0);
      if (kib > LIMITS.gigabytes * 1024 * 1024) {
        tooMuch = true;
        process.kill(pid, "SIGKILL");
      }
    } catch {
      // It has ended.
    }
  }, 100);
  return () => {
    clearInterval(timer);
    return tooMuch;
  };
}

/** Counts the messages of a context as JSON and keeps its end; its text may be longer than a string can be. */
class ContextReader {
  messages = 0;
  end = Buffer.alloc(0);
  #depth = 0;
  #inString = false;
  #escaped = false;

  push(chunk) {
    for (const byte of chunk) {
      if (this.#inString) {
        if (this.#escaped) this.#escaped = false;
        else if (byte === 0x5c) this.#escaped = true;
        else if (byte === 0x22) this.#inString = false;
      } else if (byte === 0x22) this.#inString = true;
      else if (byte === 0x7b || byte === 0x5b) {
        this.#depth += 1;
        if (byte === 0x7b && this.#depth === 3) this.messages += 1;
      } else if (byte === 0x7d || byte === 0x5d) this.#depth -= 1;
    }
    this.end = Buffer.concat([this.end, chunk]).subarray(-4096);
  }
}

/** One run of a program to its end: {code, signal, stdout, stderr}; `read` takes the output piece by piece instead. */
function run(command, args, { env, input = "", read }) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { env: { ...process.env, ...env }, stdio: ["pipe", "pipe", "pipe"] });
    const [out, err] = [[], []];
    child.stdout.on("data", read ?? ((chunk) => out.push(chunk)));
    child.stderr.on("data", (chunk) => err.push(chunk));
    child.stdin.on("error", () => {});
    child.stdin.end(input);
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      child.kill("SIGKILL");
    }, LIMITS.seconds * 1000);
    const unwatch = watchMemory(child.pid);
    child.on("error", reject);
    child.on("close", (code, signal) => {
      clearTimeout(timer);
      const tooMuch = unwatch();
      if (late) return reject(new Refusal(`no answer in ${LIMITS.seconds} s`));
      if (tooMuch) return reject(new Refusal(`more than ${LIMITS.gigabytes} GB of memory`));
      resolve({ code, signal, stdout: Buffer.concat(out).toString(), stderr: Buffer.concat(err).toString() });
    });
  });
}

export class Offshoot {
  name = "offshoot";

  /** `folder` becomes its home. */
  constructor(command, folder) {
    this.command = command;
    this.folder = folder;
  }

  /** Words of a command line; fails as the program does. */
  async ask(words, { input, mayFail = [], read, notes = false } = {}) {
    const [program, ...leading] = this.command;
    const done = await run(program, [...leading, ...words], { env: sealedEnvironment(this.folder), input, read });
    if (done.code !== 0 && !mayFail.includes(done.code)) throw new Refusal(short(done.stderr) || `ended with ${done.signal ?? done.code}`);
    return notes ? done.stderr : done.stdout;
  }

  async open(file) {
    this.file = file;
    this.#seen = undefined;
    await this.#read();
  }

  /** Read once for each state of the file: some contexts have hundreds of megabytes. */
  #seen;

  async #read() {
    if (this.#seen === undefined) {
      const reader = new ContextReader();
      await this.ask(["context", this.file, "--json"], { read: (chunk) => reader.push(chunk) });
      this.#seen = reader;
    }
    return this.#seen;
  }

  async context() {
    return (await this.#read()).messages;
  }

  async says(text) {
    return (await this.#read()).end.includes(text);
  }

  async tree() {
    const rows = await this.ask(["tree", this.file, "--flat", "--filter", "all"]);
    return rows.split("\n").length - 1;
  }

  async append(text, times = 1) {
    this.#seen = undefined;
    const entry = JSON.stringify({ type: "message", message: { role: "user", content: [{ type: "text", text }] } });
    const answers = await this.ask(["append", this.file], { input: `${entry}\n`.repeat(times) });
    return answers.trim().split("\n").map((line) => JSON.parse(line).id);
  }

  async has(id) {
    return (await this.ask(["entry", this.file, id], { mayFail: [3] })) !== "";
  }

  /** The codes of what `check` finds, and what every command says of other branches. */
  async found() {
    const report = JSON.parse(await this.ask(["check", this.file, "--json"], { mayFail: [4] }));
    const codes = new Set(report.flatMap(({ diagnostics }) => diagnostics.map(({ code }) => code)));
    const notes = await this.ask(["branches", this.file], { notes: true });
    return [...codes, ...notes.split("\n").filter((line) => line.startsWith("note: ")).map((line) => short(line.slice(6)))];
  }

  /** A process that appends for ever: {child, acknowledged()}. */
  loop(file, text) {
    const [program, ...leading] = this.command;
    const env = { ...process.env, ...sealedEnvironment(this.folder) };
    const child = spawn(program, [...leading, "append", file], { env, stdio: ["pipe", "pipe", "ignore"] });
    const said = collect(child.stdout);
    const entry = `${JSON.stringify({ type: "message", message: { role: "user", content: text } })}\n`.repeat(20);
    child.stdin.on("error", () => {});
    const feed = () => {
      while (!child.killed && child.exitCode === null && child.stdin.writable && child.stdin.write(entry));
    };
    child.stdin.on("drain", feed);
    feed();
    return { child, acknowledged: () => [...said().matchAll(/"id":"([^"]+)"\}\n/g)].map((match) => match[1]) };
  }

  /** A process that upgrades an old file. */
  upgrade(file) {
    const [program, ...leading] = this.command;
    return spawn(program, [...leading, "migrate", file], { env: { ...process.env, ...sealedEnvironment(this.folder) }, stdio: "ignore" });
  }

  async twoMessagesThenKilled(dir) {
    const file = path.join(dir, "new.jsonl");
    const { child, acknowledged } = this.loop(file, "a prompt");
    await until(() => acknowledged().length >= 2);
    await killed(child);
    return { file: fs.existsSync(file) ? file : null };
  }

  async writers(file, texts) {
    this.file = file;
    return Promise.allSettled(texts.map((text) => this.append(text, 500)));
  }

  async newFile(dir) {
    this.file = path.join(dir, "deep", "new.jsonl");
    await this.append("a prompt");
    return this.file;
  }

  /** A session as a page. */
  async page(file, out) {
    await this.ask(["export", file, "-o", out]);
  }

  async close() {}
}

export class Peer {
  #server;
  #unwatch;

  constructor(name, folder) {
    this.name = name;
    this.folder = folder;
    const module = name === "pi" ? path.join(piPackage(), "dist/core/session-manager.js") : path.join(ompPackage(), "src/session/session-manager.ts");
    this.command = [name === "pi" ? process.execPath : bunBinary(), path.join(HERE, "robustness/peer.mjs"), module];
  }

  #started() {
    if (!this.#server || this.#server.exited) {
      this.#server = new LineServer(this.name, this.command, { env: sealedEnvironment(this.folder), cwd: this.folder });
      this.#unwatch = watchMemory(this.#server.pid);
    }
    return this.#server;
  }

  async request(fields) {
    const server = this.#started();
    try {
      return await server.request(fields, LIMITS.seconds * 1000);
    } catch (error) {
      const late = error.message.includes("gave no answer");
      if (!late && !server.exited) throw new Refusal(short(error.message.replace(`${this.name}: `, "")));
      // It has ended, or is about to: the next request goes to a new process.
      const tooMuch = this.#unwatch();
      await this.close();
      if (late) throw new Refusal(`no answer in ${LIMITS.seconds} s`);
      if (tooMuch) throw new Refusal(`more than ${LIMITS.gigabytes} GB of memory`);
      throw new Refusal(short(error.message.replace(`${this.name}: `, "")));
    }
  }

  open(file) {
    this.file = file;
    return this.request({ cmd: "open", file });
  }
  async context() {
    return (await this.request({ cmd: "context" })).messages;
  }
  says(text) {
    return this.request({ cmd: "says", text });
  }
  async tree() {
    return (await this.request({ cmd: "tree" })).nodes;
  }
  append(text, times) {
    return this.request({ cmd: "append", text, times });
  }
  has(id) {
    return this.request({ cmd: "has", entry: id });
  }
  async found() {
    return [];
  }

  #spawn(requests, stderr) {
    const child = spawn(this.command[0], this.command.slice(1), {
      env: { ...process.env, ...sealedEnvironment(this.folder) },
      cwd: this.folder,
      stdio: ["pipe", "pipe", stderr],
    });
    child.stdin.on("error", () => {});
    child.stdin.write(requests.map((request, id) => `${JSON.stringify({ id, ...request })}\n`).join(""));
    return child;
  }

  loop(file, text) {
    const child = this.#spawn([{ cmd: "open", file }, { cmd: "loop", text }], "pipe");
    const said = collect(child.stderr);
    return { child, acknowledged: () => [...said().matchAll(/ACK (\S+)\n/g)].map((match) => match[1]) };
  }

  upgrade(file) {
    return this.#spawn([{ cmd: "open", file }, { cmd: "append", text: "x" }], "ignore");
  }

  async twoMessagesThenKilled(dir) {
    await this.request({ cmd: "create", dir, texts: ["a prompt", "a second prompt"] });
    const child = this.#server;
    child.kill();
    await until(() => child.exited);
    const files = fs.readdirSync(dir, { recursive: true }).filter((name) => name.endsWith(".jsonl"));
    return { file: files.length > 0 ? path.join(dir, files[0]) : null };
  }

  async writers(file, texts) {
    const peers = texts.map(() => new Peer(this.name, this.folder));
    await Promise.all(peers.map((peer) => peer.open(file)));
    const done = await Promise.allSettled(peers.map((peer, at) => peer.append(texts[at], 500)));
    await Promise.all(peers.map((peer) => peer.close()));
    return done;
  }

  page(file, out) {
    return this.request({ cmd: "page", file, out });
  }

  async newFile(dir) {
    return (await this.request({ cmd: "talk", dir: path.join(dir, "deep") })).file;
  }

  async close() {
    this.#unwatch?.();
    this.#server?.kill();
    await this.#server?.close();
    this.#server = null;
  }
}

function collect(stream) {
  const chunks = [];
  stream.on("data", (chunk) => chunks.push(chunk));
  return () => Buffer.concat(chunks).toString();
}

export async function until(condition, seconds = 30) {
  const end = Date.now() + seconds * 1000;
  while (!condition()) {
    if (Date.now() > end) throw new Refusal(`nothing happened in ${seconds} s`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

export async function killed(child) {
  const ended = new Promise((resolve) => (child.exitCode !== null || child.signalCode !== null ? resolve() : child.on("close", resolve)));
  child.kill("SIGKILL");
  await ended;
}
