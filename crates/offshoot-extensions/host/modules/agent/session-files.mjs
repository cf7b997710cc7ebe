// Session files that an extension reads by itself, as subagents do. The session in use is `ctx.sessionManager`.
import * as fs from "node:fs";

/** A file of a session, read only; what is broken in it is left out. */
export class SessionManager {
  #file;
  #entries;

  static open(file) {
    const lines = fs.readFileSync(file, "utf8").split("\n").flatMap((line) => {
      try {
        return line ? [JSON.parse(line)] : [];
      } catch {
        return [];
      }
    });
    return new SessionManager(file, lines);
  }

  constructor(file, lines) {
    this.#file = file;
    this.#entries = lines;
  }

  getHeader = () => this.#entries.find(({ type }) => type === "session") ?? null;
  getEntries = () => this.#entries.filter(({ type }) => type !== "session");
  getSessionFile = () => this.#file;
  getSessionId = () => this.getHeader()?.id;
  getCwd = () => this.getHeader()?.cwd;
  getLeafId = () => this.getEntries().at(-1)?.id ?? null;
  getEntry = (id) => this.getEntries().find((entry) => entry.id === id);
  getSessionName = () => this.getEntries().findLast(({ type }) => type === "session_info")?.name;

  getBranch(from = this.getLeafId()) {
    const byId = new Map(this.getEntries().map((entry) => [entry.id, entry]));
    const path = [];
    for (let at = byId.get(from); at && !path.includes(at); at = byId.get(at.parentId)) path.unshift(at);
    return path;
  }
}
