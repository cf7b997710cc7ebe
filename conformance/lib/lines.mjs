// Both ends of a line protocol: one JSON object per LF-terminated line, each request with an `id` that its answer repeats.
// Knows no method names. Splits on LF only, so U+2028 inside a string is harmless.
import { spawn } from "node:child_process";
import { StringDecoder } from "node:string_decoder";

/** Collects chunks and hands out complete lines; one long line is joined once, not once per chunk. */
class LineSplitter {
  #decoder = new StringDecoder("utf8");
  #parts = [];

  push(chunk, onLine) {
    const text = this.#decoder.write(chunk);
    let start = 0;
    for (let end = text.indexOf("\n"); end !== -1; end = text.indexOf("\n", start)) {
      this.#parts.push(text.slice(start, end));
      onLine(this.#parts.join(""));
      this.#parts = [];
      start = end + 1;
    }
    if (start < text.length) this.#parts.push(text.slice(start));
  }
}

/** Serves stdin: `handle(request)` may be async; an exception becomes {id, error}. Requests run one after another. */
export async function serve(handle) {
  const splitter = new LineSplitter();
  for await (const chunk of process.stdin) {
    const lines = [];
    splitter.push(chunk, (line) => lines.push(line));
    for (const line of lines) {
      if (line.trim() === "") continue;
      const request = JSON.parse(line);
      let answer;
      try {
        answer = { id: request.id, result: await handle(request) };
      } catch (error) {
        answer = { id: request.id, error: String(error?.message ?? error) };
      }
      process.stdout.write(`${JSON.stringify(answer)}\n`);
    }
  }
}

/** The answer was an error of the other side, not of the protocol. */
export class RemoteError extends Error {}

/** A child process that answers lines. `request(fields)` resolves with `result` and rejects with a RemoteError. */
export class LineServer {
  #child;
  #pending = new Map();
  #nextId = 1;
  #stderr = "";
  #name;
  #timeout;
  #exited;

  constructor(name, command, { env, cwd, timeout = 60_000 } = {}) {
    this.#name = name;
    this.#timeout = timeout;
    this.#child = spawn(command[0], command.slice(1), { env: { ...process.env, TZ: "UTC", ...env }, cwd, stdio: ["pipe", "pipe", "pipe"] });
    const splitter = new LineSplitter();
    this.#child.stdout.on("data", (chunk) => splitter.push(chunk, (line) => this.#answer(line)));
    this.#child.stderr.on("data", (chunk) => {
      this.#stderr = (this.#stderr + chunk).slice(-4000);
    });
    this.#child.stdin.on("error", () => {});
    this.#exited = new Promise((resolve) => {
      const ended = (why) => {
        this.#failAll(`${name} ended (${why}) ${this.#stderr}`);
        resolve();
      };
      this.#child.on("error", (error) => ended(error.message));
      this.#child.on("exit", (code, signal) => {
        this.exited = true;
        ended(signal ?? `code ${code}`);
      });
    });
    this.exited = false;
  }

  #answer(line) {
    if (line.trim() === "") return;
    let answer;
    try {
      answer = JSON.parse(line);
    } catch {
      return this.#failAll(`${this.#name} wrote a line that is not JSON: ${line.slice(0, 200)}`);
    }
    const waiting = this.#pending.get(answer.id);
    if (!waiting) return;
    this.#pending.delete(answer.id);
    clearTimeout(waiting.timer);
    if (answer.error === undefined || answer.error === null) return waiting.resolve(answer.result);
    const message = typeof answer.error === "string" ? answer.error : (answer.error.message ?? JSON.stringify(answer.error));
    waiting.reject(new RemoteError(`${this.#name}: ${message}`));
  }

  #failAll(message) {
    for (const { reject, timer } of this.#pending.values()) {
      clearTimeout(timer);
      reject(new Error(message));
    }
    this.#pending.clear();
  }

  request(fields, timeout = this.#timeout) {
    if (this.exited) return Promise.reject(new Error(`${this.#name} is not running ${this.#stderr}`));
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#pending.delete(id);
        this.#child.kill("SIGKILL");
        reject(new Error(`${this.#name} gave no answer to ${JSON.stringify(fields).slice(0, 200)} in ${timeout} ms`));
      }, timeout);
      this.#pending.set(id, { resolve, reject, timer });
      this.#child.stdin.write(`${JSON.stringify({ ...fields, id })}\n`);
    });
  }

  /** Of the process, for those who watch it. */
  get pid() {
    return this.#child.pid;
  }

  kill() {
    this.#child.kill("SIGKILL");
  }

  async close() {
    if (!this.exited) this.#child.stdin.end();
    const timer = setTimeout(() => this.#child.kill("SIGKILL"), 5000);
    await this.#exited;
    clearTimeout(timer);
  }
}
