// pi's AgentSessionRuntime: a session that is replaced by others, each with a program of its own.

import { resolve } from "node:path";

import { withoutMethods } from "./missing.mjs";
import { SessionManager } from "./session-manager.mjs";

export class AgentSessionRuntime {
  #factory;
  #place;
  #made;

  /** Use `createAgentSessionRuntime`. */
  constructor(factory, place, made) {
    this.#factory = factory;
    this.#place = place;
    this.#made = made;
  }

  get session() {
    return this.#made.session;
  }

  get services() {
    return this.#made.services;
  }

  get cwd() {
    return this.#place.cwd;
  }

  get diagnostics() {
    return this.#made.diagnostics;
  }

  get modelFallbackMessage() {
    return this.#made.modelFallbackMessage;
  }

  async newSession() {
    return this.#replace(SessionManager.create(this.cwd), "new");
  }

  /** A file that does not exist is begun. */
  async switchSession(sessionPath) {
    return this.#replace(SessionManager.open(resolve(sessionPath), undefined, this.cwd), "resume");
  }

  async dispose() {
    await this.session.dispose();
  }

  /** The former session ends when the next one has begun. */
  async #replace(sessionManager, reason) {
    const former = this.session;
    const sessionStartEvent = { type: "session_start", reason, previousSessionFile: former.sessionFile };
    this.#made = await this.#factory({ ...this.#place, sessionManager, sessionStartEvent });
    await former.dispose();
    return { cancelled: false };
  }
}

withoutMethods(
  AgentSessionRuntime.prototype,
  "AgentSessionRuntime",
  ["fork", "importFromJsonl"],
  "OffshootAgent has the command fork, and `offshoot import` imports a file",
);

/** The factory makes each session. */
export async function createAgentSessionRuntime(factory, { cwd, agentDir, sessionManager }) {
  const place = { cwd: resolve(cwd), agentDir };
  return new AgentSessionRuntime(factory, place, await factory({ ...place, sessionManager }));
}
