// Sessions through `offshoot api`: JSON-RPC over the pipes of one process. Knows nothing of what sessions contain.

import { PendingCalls, checkedTimeout } from "./calls.mjs";
import { OffshootError } from "./error.mjs";
import { broken } from "./lines.mjs";
import { Program } from "./program.mjs";

const START_TIMEOUT = 30_000;
/** Methods that answer with an open session. */
const OPENING = new Set(["create", "open", "continueRecent", "inMemory", "forkFrom", "newSession"]);

/** A running `offshoot api`. Every method of docs/api.md that needs no session is a method here. */
export class OffshootSessions {
  #program;
  #calls = new PendingCalls();
  #lastId = 0;
  #timeout;
  #methods = new Map();

  /** Starts the program and waits until it answers. */
  static async start(options = {}) {
    const { startTimeout = START_TIMEOUT, timeout } = options;
    const sessions = new OffshootSessions(options, checkedTimeout(timeout));
    try {
      const { methods } = await sessions.call("rpc.discover", {}, { timeout: startTimeout });
      sessions.#learn(methods);
      return sessions;
    } catch (error) {
      throw sessions.#program.failStart(error);
    }
  }

  /** Use `start`. */
  constructor({ program, cwd, env, closeGrace, onStderr }, timeout) {
    this.#timeout = timeout;
    const take = (answer, line) => this.#take(answer, line);
    const ended = (error) => this.#calls.rejectAll(error);
    this.#program = new Program({ program, args: ["api"], cwd, env, closeGrace }, { take, ended, stderr: onStderr });
  }

  /** The process of the program. */
  get pid() {
    return this.#program.pid;
  }

  /** Carries out one method. Several calls may be under way; they are carried out in the order of the calls. */
  async call(method, params = {}, { timeout } = {}) {
    const limit = checkedTimeout(timeout) ?? this.#timeout;
    const id = this.#lastId + 1;
    this.#program.send({ jsonrpc: "2.0", id, method, params });
    this.#lastId = id;
    return this.#calls.wait(id, method, limit);
  }

  /** Ends the program after it has answered what it was asked. Everything that was answered is on disk already. */
  async close() {
    return this.#program.close();
  }

  [Symbol.asyncDispose ?? Symbol.for("Symbol.asyncDispose")]() {
    return this.close();
  }

  #learn(methods) {
    for (const { name, params } of methods) {
      const needsSession = params.some((param) => param.name === "session");
      this.#methods.set(name, needsSession);
      if (name in this || (needsSession && name !== "buildSessionContext")) continue;
      const run = async (given, options) => {
        const result = await this.call(name, given, options);
        return OPENING.has(name) ? new Session(this, this.#methods, result) : result;
      };
      Object.defineProperty(this, name, { value: run });
    }
  }

  #take(answer, line) {
    const { id, result, error } = answer;
    if (!Number.isInteger(id) || id < 1 || id > this.#lastId) throw broken(line, "answers nothing that was asked");
    if (result !== undefined) return this.#calls.resolve(id, result);
    if (typeof error?.message !== "string") throw broken(line, "is no answer");
    const { code, message, data } = error;
    this.#calls.reject(id, new OffshootError(data?.kind ?? "request", message, { code, data }));
  }
}

/** An open session. Every method of docs/api.md that has the argument `session` is a method here, without it. */
export class Session {
  #sessions;

  constructor(sessions, methods, opened) {
    this.#sessions = sessions;
    this.#become(opened);
    for (const [name, needsSession] of methods) {
      if (!needsSession) continue;
      const run = async (given = {}, options) => this.#took(name, await this.call(name, given, options));
      Object.defineProperty(this, name, { value: run });
    }
  }

  /** Carries out one method on this session; the answer is as it came. */
  call(method, params = {}, options) {
    return this.#sessions.call(method, { ...params, session: this.number }, options);
  }

  /** Two methods put another session behind the same number. */
  async #took(name, result) {
    if (OPENING.has(name)) {
      this.#become(result);
      return this;
    }
    if (name === "createBranchedSession") {
      const sessionId = await this.call("getSessionId");
      this.#become({ session: this.number, sessionId, sessionFile: result });
    }
    return result;
  }

  #become({ session, sessionId, sessionFile }) {
    this.number = session;
    this.sessionId = sessionId;
    this.sessionFile = sessionFile;
  }
}
