// Which session a program opens. The file belongs to the program: nothing of it is read here.

import { resolve } from "node:path";

import { withoutMethods } from "./missing.mjs";
import { printed } from "./places.mjs";

export class SessionManager {
  #cwd;
  /** The arguments of the program that choose the session. */
  args;

  constructor(cwd, args) {
    this.#cwd = resolve(cwd);
    this.args = args;
  }

  static inMemory(cwd = process.cwd()) {
    return new SessionManager(cwd, ["--no-session"]);
  }

  static create(cwd, sessionDir) {
    return new SessionManager(cwd, inFolder(sessionDir));
  }

  static continueRecent(cwd, sessionDir) {
    return new SessionManager(cwd, [...inFolder(sessionDir), "--continue"]);
  }

  static open(path, sessionDir, cwd = process.cwd()) {
    return new SessionManager(cwd, [...inFolder(sessionDir), "--session", resolve(path), "--session-folder", resolve(cwd)]);
  }

  /** The sessions of a folder, the newest first. */
  static async list(cwd, sessionDir) {
    return listed(cwd, sessionDir, []);
  }

  static async listAll() {
    return listed(process.cwd(), undefined, ["--all"]);
  }

  getCwd() {
    return this.#cwd;
  }

  isPersisted() {
    return !this.args.includes("--no-session");
  }
}

withoutMethods(
  SessionManager.prototype,
  "SessionManager",
  ["appendMessage", "appendCustomEntry", "branch", "branchWithSummary", "buildSessionContext", "getBranch", "getChildren", "getEntries", "getEntry", "getHeader", "getLeafId", "getTree", "newSession", "resetLeaf"],
  "the session belongs to the program; OffshootSessions of the package offshoot reads and writes sessions",
);

function inFolder(sessionDir) {
  return sessionDir === undefined ? [] : ["--session-dir", resolve(sessionDir)];
}

async function listed(cwd, sessionDir, more) {
  const rows = await printed(["list", "--json", ...more, ...inFolder(sessionDir)], { cwd });
  return rows.map((row) => ({ ...row, created: new Date(row.created), modified: new Date(row.modified) }));
}
