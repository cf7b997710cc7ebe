// Sessions that an extension reads or makes by itself, as subagents do. The session in use is `ctx.sessionManager`.
import { randomUUID } from "node:crypto";
import * as fs from "node:fs";
import * as path from "node:path";
import { ask } from "../../channel.mjs";
import { readText } from "../../read.mjs";
import { withStatics } from "../../stub.mjs";

/** The records of a file; what is broken in it is left out. */
const recordsOf = (file) =>
  readText(file).split("\n").flatMap((line) => {
    try {
      return line ? [JSON.parse(line)] : [];
    } catch {
      return [];
    }
  });

const textOf = ({ content }) => (typeof content === "string" ? content : (content ?? []).filter(({ type }) => type === "text").map(({ text }) => text).join(" "));

/** What pi's lists say of a session; `undefined` if the file is none. */
function infoOf(file) {
  const manager = SessionFile.open(file);
  const header = manager.getHeader();
  if (!header) return undefined;
  const messages = manager.getEntries().filter(({ type, message }) => type === "message" && ["user", "assistant"].includes(message?.role)).map(({ message }) => message);
  return {
    ...{ path: file, id: header.id, cwd: header.cwd ?? "", name: manager.getSessionName(), parentSessionPath: header.parentSession },
    ...{ created: new Date(header.timestamp), modified: fs.statSync(file).mtime, messageCount: messages.length },
    firstMessage: textOf(messages.find(({ role }) => role === "user") ?? {}) || "(no messages)",
    allMessagesText: messages.map(textOf).join(" "),
  };
}

/** A session of a file, read only, or one in memory. */
class SessionFile {
  #file;
  #records;
  #leaf;

  static open(file) {
    return new SessionFile(file, recordsOf(file));
  }

  /** A session that no file has. */
  static inMemory(cwd = process.cwd(), options = {}, entries = []) {
    const header = { type: "session", version: 3, id: options?.id ?? randomUUID(), timestamp: new Date().toISOString(), cwd };
    return new SessionFile(undefined, [header, ...entries]);
  }

  /** A new session of offshoot, for an agent that is started with it. */
  static create(cwd, sessionDir) {
    const made = SessionFile.inMemory(cwd);
    made.getSessionDir = () => sessionDir ?? "";
    made.isPersisted = () => true;
    return made;
  }

  /** The sessions of a folder, the newest first: from offshoot's folder of sessions, or from another one. */
  static async list(cwd, sessionDir, onProgress) {
    const folder = sessionDir ?? ask("session.getSessionDir");
    const files = folder && fs.existsSync(folder) ? fs.readdirSync(folder).filter((name) => name.endsWith(".jsonl")) : [];
    const found = files.flatMap((name, at) => {
      onProgress?.(at + 1, files.length);
      try {
        return infoOf(path.join(folder, name)) ?? [];
      } catch {
        return [];
      }
    });
    return found.filter((info) => !cwd || path.resolve(info.cwd) === path.resolve(cwd)).sort((one, other) => other.modified.getTime() - one.modified.getTime());
  }

  constructor(file, records) {
    this.#file = file;
    this.#records = records;
    this.#leaf = this.getEntries().at(-1)?.id ?? null;
  }

  getHeader = () => this.#records.find(({ type }) => type === "session") ?? null;
  getEntries = () => this.#records.filter(({ type }) => type !== "session");
  getSessionFile = () => this.#file;
  getSessionDir = () => (this.#file ? path.dirname(this.#file) : "");
  getSessionId = () => this.getHeader()?.id;
  getCwd = () => this.getHeader()?.cwd;
  getLeafId = () => this.#leaf;
  getEntry = (id) => this.getEntries().find((entry) => entry.id === id);
  getLeafEntry = () => this.getEntry(this.#leaf);
  getChildren = (parentId) => this.getEntries().filter((entry) => entry.parentId === parentId);
  getSessionName = () => this.getEntries().findLast(({ type }) => type === "session_info")?.name;
  isPersisted = () => this.#file !== undefined;

  getBranch(from = this.#leaf) {
    const byId = new Map(this.getEntries().map((entry) => [entry.id, entry]));
    const found = [];
    for (let at = byId.get(from); at && !found.includes(at); at = byId.get(at.parentId)) found.unshift(at);
    return found;
  }

  /** Only what is in memory is written to. */
  #append(entry) {
    if (this.#file) throw new Error(`${this.#file} is read only here: offshoot writes sessions`);
    const id = randomUUID().slice(0, 8);
    this.#records.push({ ...entry, id, parentId: this.#leaf, timestamp: new Date().toISOString() });
    this.#leaf = id;
    return id;
  }

  appendMessage = (message) => this.#append({ type: "message", message });
  appendCustomEntry = (customType, data) => this.#append({ type: "custom", customType, data });
  appendCustomMessageEntry = (customType, content, display = true, details) => this.#append({ type: "custom_message", customType, content, display, details });
  appendSessionInfo = (name) => this.#append({ type: "session_info", name });
  appendModelChange = (provider, modelId) => this.#append({ type: "model_change", provider, modelId });
  appendThinkingLevelChange = (thinkingLevel) => this.#append({ type: "thinking_level_change", thinkingLevel });

  branch(id) {
    if (!this.getEntry(id)) throw new Error(`Entry ${id} not found`);
    this.#leaf = id;
  }

  resetLeaf = () => void (this.#leaf = null);
}

export const SessionManager = withStatics(SessionFile, "pi-coding-agent", "SessionManager");
