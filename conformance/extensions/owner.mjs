// An owner of a session in JavaScript: starts the host as offshoot does, answers its calls from a small session in memory, and remembers
// what the host said. For tests of the host alone; it decides nothing that the real owner decides.
import { spawn, spawnSync } from "node:child_process";
import * as path from "node:path";
import { REPOSITORY } from "../lib/places.mjs";

export const HOST = path.join(REPOSITORY, "crates/offshoot-extensions/host/host.mjs");

/** The example `module` of offshoot-extensions. */
const TRANSFORMER = process.env.OFFSHOOT_MODULE_BIN ?? path.join(REPOSITORY, "target/debug/examples/module");

function transformed(module) {
  const { stdout, error } = spawnSync(TRANSFORMER, { input: `${JSON.stringify(module)}\n`, maxBuffer: 256 << 20 });
  if (error) throw new Error(`${TRANSFORMER}: ${error.message}; "cargo build -p offshoot-extensions --example module" makes it`);
  const { ok, error: refused } = JSON.parse(stdout.toString());
  if (refused) throw new Error(refused.message);
  return ok;
}

/** Whole lines of a stream, parsed. */
function lines(stream, take) {
  let rest = Buffer.alloc(0);
  stream.on("data", (data) => {
    rest = Buffer.concat([rest, data]);
    for (let end = rest.indexOf(10); end >= 0; end = rest.indexOf(10)) {
      take(JSON.parse(rest.subarray(0, end).toString()));
      rest = rest.subarray(end + 1);
    }
  });
}

export class Owner {
  constructor(node, { cwd, mode = "tui", hasUI = mode === "tui" || mode === "rpc", answers = {}, sync = {}, env } = {}) {
    Object.assign(this, { cwd, mode, hasUI, answers, notes: [], asked: [], progress: [], cancelled: [], entries: [], name: undefined, stderr: "", next: 1, waiting: new Map() });
    this.sync = { ...this.#session(), ...sync };
    this.child = spawn(node, ["--experimental-import-meta-resolve", HOST], { cwd, env, stdio: ["ignore", "ignore", "pipe", "pipe", "pipe", "pipe", "pipe", "pipe"] });
    const [, , errors, this_to, from_host, answersTo, calls] = this.child.stdio;
    this.to = this_to;
    this.answersTo = answersTo;
    errors.on("data", (data) => (this.stderr += data));
    for (const stream of [this.to, this.answersTo]) stream.on("error", () => {});
    lines(from_host, (record) => this.#take(record));
    lines(calls, (record) => this.#answer(record));
    this.ended = new Promise((resolve) => this.child.on("close", (code, signal) => resolve(code ?? signal)));
    this.ended.then(() => [...this.waiting.values()].forEach(({ reject }) => reject(new Error(`the host ended: ${this.stderr}`))));
  }

  send(record) {
    this.to.write(`${JSON.stringify(record)}\n`);
  }

  /** Sends something with an id and waits for what has that id. */
  #request(record, key = this.next++) {
    return new Promise((resolve, reject) => {
      this.waiting.set(key, { resolve, reject });
      this.send(record.t === "init" ? record : { t: record.t, id: key, ...record });
    });
  }

  async load(paths, init = {}) {
    const extensions = paths.map((entry, id) => ({ id, kind: "extension", origin: "flag", ...(typeof entry === "string" ? { path: entry } : entry) }));
    const ready = await this.#request({ t: "init", version: "0", cwd: this.cwd, agentDir: this.cwd, mode: this.mode, hasUI: this.hasUI, flags: {}, reason: "startup", launcher: "/bin/true", piPackages: [], extensions, ...init }, "ready");
    this.extensions = ready.extensions;
    return ready;
  }

  /** Every handler of an event, one after another; their answers. */
  async event(payload) {
    const results = [];
    for (const { handlers } of this.extensions) {
      for (const { id, event } of handlers) if (event === payload.type) results.push(await this.#request({ t: "event", handler: id, payload: this.#sent(payload), ctx: {} }));
    }
    return results;
  }

  /** A long conversation stays with its owner until a handler looks at it. */
  #sent(payload) {
    if (payload.type !== "context" || JSON.stringify(payload).length < 65536) return payload;
    this.sync["host.payload"] = () => payload;
    return { type: payload.type, held: true };
  }

  invoke(kind, members) {
    return this.#request({ t: "invoke", kind, ...members });
  }

  start(kind, members) {
    const id = this.next;
    const result = this.invoke(kind, members);
    result.catch(() => {});
    return { id, result };
  }

  async ping() {
    await this.#request({ t: "ping" }, this.next++);
  }

  end() {
    this.send({ t: "shutdown" });
    return this.ended;
  }

  async #take(record) {
    if (record.t === "ready") return this.#settle("ready", record);
    if (record.t === "result" || record.t === "pong") return this.#settle(record.id, record);
    if (record.t === "progress") return this.progress.push(record);
    if (record.t === "note") {
      // A load begins; no extension said that.
      if (record.method === "ui.reset") return undefined;
      this.notes.push({ method: record.method, ...record.params });
      return this.onNote?.(record);
    }
    if (record.t === "cancelCall") return this.cancelled.push(record.id);
    if (record.t !== "call") return undefined;
    this.asked.push({ method: record.method, ...record.params });
    const answer = this.answers[record.method];
    try {
      const ok = typeof answer === "function" ? await answer(record.params, this, record) : (answer ?? null);
      this.send({ t: "answer", id: record.id, ok: ok ?? null });
    } catch (error) {
      this.send({ t: "answer", id: record.id, error: { message: error.message } });
    }
  }

  /** A synchronous call that needs no answer is a note to those who watch. */
  #noted(method, params) {
    this.notes.push({ method, ...params });
    this.onNote?.({ t: "note", method, params });
  }

  #settle(key, record) {
    this.waiting.get(key)?.resolve(record);
    this.waiting.delete(key);
  }

  #answer({ id, method, params }) {
    const serve = this.sync[method];
    let answer;
    try {
      if (!serve) throw new Error(`not served: ${method}`);
      answer = { id, ok: serve(params) ?? null };
    } catch (error) {
      answer = { id, error: { message: error.message } };
    }
    this.answersTo.write(`${JSON.stringify(answer)}\n`);
  }

  append(entry) {
    const id = String(this.entries.length + 1).padStart(8, "0");
    this.entries.push({ ...entry, id, parentId: this.entries.at(-1)?.id ?? null, timestamp: new Date(0).toISOString() });
    return id;
  }

  #session() {
    const find = ({ id }) => this.entries.find((entry) => entry.id === id);
    return {
      "session.getCwd": () => this.cwd,
      "session.getLeafId": () => this.entries.at(-1)?.id,
      "session.getLeafEntry": () => this.entries.at(-1),
      "session.getEntries": () => this.entries,
      "session.getBranch": () => this.entries,
      "session.getEntry": find,
      "session.getSessionFile": () => "/tmp/session.jsonl",
      "session.getSessionId": () => "s",
      "session.getLabel": () => undefined,
      "session.getSessionName": () => this.name,
      "pi.getSessionName": () => this.name,
      "pi.setSessionName": ({ name }) => void (this.name = name),
      "pi.appendEntry": ({ customType, data }) => this.append({ type: "custom", customType, data }),
      "pi.sendMessage": ({ message }) => this.append({ type: "custom_message", ...message }),
      "pi.sendUserMessage": ({ content }) => void this.notes.push({ method: "sendUserMessage", content }),
      "pi.getActiveTools": () => this.activeTools ?? ["read", "bash", "edit", "write"],
      "pi.setActiveTools": ({ names }) => void (this.activeTools = names),
      "pi.getAllTools": () => ["read", "bash", "edit", "write"].map((name) => ({ name, description: name, parameters: {} })),
      "pi.getCommands": () => [],
      "pi.setLabel": (params) => void this.append({ type: "label", ...params }),
      "pi.getThinkingLevel": () => "off",
      "pi.setThinkingLevel": () => undefined,
      "ctx.isIdle": () => true,
      "ctx.hasPendingMessages": () => false,
      "ctx.isProjectTrusted": () => true,
      "ctx.getModel": () => ({ provider: "test", id: "m1", name: "m1", api: "anthropic-messages", contextWindow: 200000, input: ["text"] }),
      "ctx.getContextUsage": () => ({ tokens: 1000, contextWindow: 200000, percent: 0.5 }),
      "ctx.getSystemPrompt": () => "Be helpful.",
      "ctx.getScopedModels": () => [],
      "models.getAll": () => [],
      "models.getAvailable": () => [],
      "ui.getEditorText": () => this.editorText ?? "",
      ...Object.fromEntries(["ui.setEditorText", "ui.pasteToEditor", "ui.setToolsExpanded"].map((method) => [method, (params) => this.#noted(method, params)])),
      "ui.getToolsExpanded": () => false,
      "ui.editor": () => ({ text: this.editorText ?? "", history: [], actions: [] }),
      "ui.getAllThemes": () => [],
      "ui.getTheme": () => undefined,
      "ui.setTheme": () => ({ success: true }),
      "ui.footerData": () => ({ gitBranch: "main", statuses: {}, availableProviderCount: 1 }),
      "host.transform": transformed,
      "host.registered": (params) => void this.notes.push({ method: "registered", ...params }),
      "host.unregistered": (params) => void this.notes.push({ method: "unregistered", ...params }),
    };
  }
}
