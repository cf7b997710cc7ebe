// The agent through `offshoot --mode rpc`: commands, their responses, and events. Knows nothing of what events say.

import { PendingCalls, checkedTimeout } from "./calls.mjs";
import { OffshootError } from "./error.mjs";
import { broken } from "./lines.mjs";
import { Program } from "./program.mjs";

const START_TIMEOUT = 30_000;
/** How many bytes of events may wait for a slow reader before the program has to wait. */
const UNREAD_BYTES = 2 ** 20;

/** A running `offshoot --mode rpc`. */
export class OffshootAgent {
  #program;
  #calls = new PendingCalls();
  #lastId = 0;
  #timeout;
  #listeners = new Set();
  #readers = new Set();

  /** Starts the program and waits until it answers. `args` are more arguments, such as `["--no-session"]`. */
  static async start(options = {}) {
    const { startTimeout = START_TIMEOUT, timeout } = options;
    const agent = new OffshootAgent(options, checkedTimeout(timeout));
    try {
      await agent.call("get_state", {}, { timeout: startTimeout });
      return agent;
    } catch (error) {
      throw agent.#program.failStart(error);
    }
  }

  /** Use `start`. */
  constructor({ program, args = [], cwd, env, closeGrace, onStderr }, timeout) {
    this.#timeout = timeout;
    const take = (record, line) => this.#take(record, line);
    const ended = (error) => this.#ended(error);
    const all = ["--mode", "rpc", ...args];
    this.#program = new Program({ program, args: all, cwd, env, closeGrace }, { take, ended, stderr: onStderr });
  }

  /** The process of the program. */
  get pid() {
    return this.#program.pid;
  }

  /** Sends a command; the data of its response. */
  async call(type, members = {}, { timeout } = {}) {
    const limit = checkedTimeout(timeout) ?? this.#timeout;
    const id = this.#lastId + 1;
    this.#program.send({ ...members, id: `c${id}`, type });
    this.#lastId = id;
    const answer = this.#calls.wait(`c${id}`, type, limit);
    this.#program.resume();
    return answer;
  }

  /** Sends a record that has no response, such as the answer to a question: `{"type":"extension_ui_response", …}`. */
  send(record) {
    this.#program.send(record);
  }

  /** Calls `listener` with every event from now on; returns a function that ends this. */
  listen(listener) {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * Sends a prompt; its events until nothing goes on by itself. `timeout` is for its acceptance. Leaving the loop early
   * does not stop the agent: `abort` does.
   */
  async *prompt(message, members = {}, options = {}) {
    const reader = new EventReader();
    this.#readers.add(reader);
    try {
      const accepted = await this.call("prompt", { ...members, message }, options);
      if (accepted?.disposition === "handled") reader.end(null);
      for (;;) {
        const event = await reader.next();
        this.#balance();
        if (event === undefined) return;
        yield event;
        if (event.type === "agent_settled") return;
      }
    } finally {
      this.#readers.delete(reader);
      this.#balance();
    }
  }

  /** Ends the input, and with it the program; what was sent before is answered. */
  async close() {
    return this.#program.close();
  }

  [Symbol.asyncDispose ?? Symbol.for("Symbol.asyncDispose")]() {
    return this.close();
  }

  #take(record, line) {
    if (typeof record.type !== "string") throw broken(line, "has no type");
    if (record.type !== "response") return this.#tell(record, line.length);
    const { id, success, data, error } = record;
    if (record.command === "parse") throw broken(line, "answers nothing that was asked");
    if (success === true) this.#calls.resolve(id, data);
    else this.#calls.reject(id, new OffshootError("refused", String(error), { data: record }));
    this.#balance();
  }

  #tell(event, bytes) {
    for (const reader of this.#readers) reader.push(event, bytes);
    for (const listener of [...this.#listeners]) {
      try {
        listener(event);
      } catch (error) {
        // The listener's fault: it ends neither the reading nor the other listeners.
        queueMicrotask(() => {
          throw error;
        });
      }
    }
    this.#balance();
  }

  /** Reads on while somebody waits for an answer; else only while events do not pile up. */
  #balance() {
    const isBehind = [...this.#readers].some((reader) => reader.bytes > UNREAD_BYTES);
    if (isBehind && this.#calls.size === 0) this.#program.pause();
    else this.#program.resume();
  }

  #ended(error) {
    this.#calls.rejectAll(error);
    for (const reader of this.#readers) reader.end(error);
  }
}

/** Events that one loop has not read yet, and how it ends. */
class EventReader {
  #events = [];
  #isOver = false;
  #error = null;
  #wake = () => {};

  bytes = 0;

  push(event, bytes) {
    this.#events.push({ event, bytes });
    this.bytes += bytes;
    this.#wake();
  }

  /** After what was read comes the end; with an error if there is one. */
  end(error) {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#error = error;
    this.#wake();
  }

  /** The next event; undefined at the end. */
  async next() {
    while (this.#events.length === 0 && !this.#isOver) await new Promise((resolve) => (this.#wake = resolve));
    if (this.#events.length > 0) {
      const { event, bytes } = this.#events.shift();
      this.bytes -= bytes;
      return event;
    }
    if (this.#error !== null) throw this.#error;
    return undefined;
  }
}
