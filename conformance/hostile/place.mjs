// Where a hostile case happens: a home, a project and a model of their own, and offshoot run with limits of time and memory.
// What every run must hold, whatever the case promises, is decided here: no panic, no hang, no end by a signal.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { sealedEnvironment, temporaryFolder } from "../lib/places.mjs";
import { Model } from "./model.mjs";

/** A hang is no end in ten seconds; a machine that builds and tests at the same time gets more. */
export const LIMITS = { seconds: process.env.HOSTILE_SESSIONS ? 10 : 60, megabytes: 500 };
/** A key of the user; no server but the model's own may see it, and no file may hold it. */
export const KEY = "sk-ant-api03-hostile-corpus-0123456789";
/** What a private file outside the project says. */
export const SECRET = "the words of a private file outside the project";

/** Codes with which offshoot ends by itself, as its help lists them. */
const ENDS = [0, 1, 2, 3, 4, 5, 6, 7, 130];

/** Data and stack of its own are limited, files that are mapped are not: the kernel refuses what goes beyond. */
const LIMITED = ["sh", "-c", `ulimit -d ${LIMITS.megabytes * 1024}; exec "$@"`, "limited"];

export class Place {
  program;
  #model;

  constructor(program, name) {
    this.program = path.resolve(program);
    this.root = temporaryFolder(`hostile-${name}`);
    this.home = path.join(this.root, "home");
    this.data = path.join(this.home, "offshoot");
    this.work = path.join(this.home, "work");
    for (const folder of [this.data, this.work]) fs.mkdirSync(folder, { recursive: true });
    this.secret = path.join(this.home, "secret.txt");
    fs.writeFileSync(this.secret, SECRET);
  }

  /** Starts a model and makes it the default one. `settings` are the user's. */
  async model(replies, settings = {}) {
    await this.#model?.end();
    this.#model = await Model.start(replies);
    const model = { id: "m1", name: "m1", contextWindow: 200000, maxTokens: 8000, reasoning: false, input: ["text"], cost: { input: 1, output: 1, cacheRead: 0, cacheWrite: 0 } };
    const provider = { baseUrl: this.#model.url, api: "anthropic-messages", apiKey: KEY, models: [model] };
    fs.writeFileSync(path.join(this.data, "models.json"), JSON.stringify({ providers: { test: provider } }), { mode: 0o600 });
    const retry = { maxRetries: 1, baseDelayMs: 0 };
    fs.writeFileSync(path.join(this.data, "settings.json"), JSON.stringify({ defaultProvider: "test", defaultModel: "m1", retry, ...settings }));
    return this.#model;
  }

  at(...names) {
    return path.join(this.work, ...names);
  }

  write(name, content) {
    fs.mkdirSync(path.dirname(this.at(name)), { recursive: true });
    fs.writeFileSync(this.at(name), content);
    return this.at(name);
  }

  /** One run to its end. `when(child)` is told of the start, so that it can stop or feed it; with `input: null` standard input stays open.
   * `unlimited` is for runs that start Node.js, which reserves room that it does not use. */
  async offshoot(words, { input = "", env = {}, mayEnd = ENDS, when = () => {}, unlimited = false } = {}) {
    const done = await run([...(unlimited ? [] : LIMITED), this.program, ...words], { input, when, cwd: this.work, env: { PATH: process.env.PATH, ...sealedEnvironment(this.home), ...env } });
    const told = `offshoot ${words.join(" ").slice(0, 300)}\n${done.stderr.slice(-2000)}`;
    assert.ok(!done.late, `no end in ${LIMITS.seconds} s: ${told}`);
    assert.doesNotMatch(done.stderr, /panicked at|overflowed its stack|memory allocation of/, told);
    assert.equal(done.signal, null, told);
    assert.doesNotMatch(done.stderr, /For more information, try '--help'/, `a mistake of the case: ${told}`);
    assert.ok(mayEnd.includes(done.code), `ended with ${done.code}: ${told}`);
    return done;
  }

  /** The sessions of this home, each entry parsed. */
  sessions() {
    const folder = path.join(this.data, "sessions");
    if (!fs.existsSync(folder)) return [];
    const files = fs.readdirSync(folder, { recursive: true }).filter((name) => name.endsWith(".jsonl"));
    return files.map((name) => fs.readFileSync(path.join(folder, name), "utf8").trimEnd().split("\n").map((line) => JSON.parse(line)));
  }

  async end() {
    await this.#model?.end();
    fs.rmSync(this.root, { recursive: true, force: true, maxRetries: 5 });
  }
}

function run([program, ...args], { input, when, ...options }) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { ...options, stdio: ["pipe", "pipe", "pipe"] });
    const kept = { stdout: [], stderr: [] };
    for (const name of ["stdout", "stderr"]) child[name].on("data", (piece) => kept[name].push(piece));
    child.stdin.on("error", () => {});
    if (input !== null) child.stdin.end(input);
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      child.kill("SIGKILL");
    }, LIMITS.seconds * 1000);
    child.on("error", reject);
    child.on("close", (code, signal) => {
      clearTimeout(timer);
      resolve({ code, signal, late, stdout: Buffer.concat(kept.stdout).toString(), stderr: Buffer.concat(kept.stderr).toString() });
    });
    when(child);
  });
}
