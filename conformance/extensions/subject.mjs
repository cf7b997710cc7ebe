// One extension under one program, with the same verbs for both: pi's loader and components in a process of their own, and offshoot's host.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import * as path from "node:path";
import { pathToFileURL } from "node:url";
import { HERE, MODULES, piPackage } from "../lib/places.mjs";
import { Owner } from "./owner.mjs";

const SGR = /\x1b\[[\d;:]*m|\x1b\]8;[^\x07\x1b]*(?:\x07|\x1b\\)/g;
const CURSOR = /\x1b_pi:c\x07/g;
/** Text of rows: colours differ with the themes, blanks at the end are nothing. */
export const bare = (rows) => rows?.map((row) => row.replace(CURSOR, "").replace(SGR, "").trimEnd()) ?? null;
const plain = (text) => (typeof text === "string" ? text.replace(SGR, "") : text);

export class PiSubject {
  #child;
  #waiting = new Map();
  #next = 1;

  constructor(node, { cwd, env, kind = "extension" }) {
    this.kind = kind;
    const packages = kind === "extension" ? [piPackage(), path.join(piPackage(), "../pi-tui")] : [path.join(MODULES, "pi-0.31"), path.join(MODULES, "@mariozechner/pi-tui")];
    const where = { PI_PACKAGE: packages[0], PI_TUI: pathToFileURL(path.join(packages[1], "dist/index.js")).href, SUBJECT_KIND: kind };
    this.#child = spawn(node, [path.join(HERE, "extensions/pi-subject.mjs")], { cwd, env: { ...env, ...where }, stdio: ["pipe", "pipe", "pipe"] });
    this.stderr = "";
    this.#child.stderr.on("data", (data) => (this.stderr += data));
    createInterface({ input: this.#child.stdout }).on("line", (line) => {
      const start = line.indexOf('{"id":');
      if (start < 0) return;
      const { id, ok, error } = JSON.parse(line.slice(start));
      const { resolve, reject } = this.#waiting.get(id);
      if (error) reject(new Error(error));
      else resolve(ok);
    });
    this.#child.on("close", () => [...this.#waiting.values()].forEach(({ reject }) => reject(new Error(`pi's side ended: ${this.stderr}`))));
  }

  #do(what, given = {}) {
    const id = this.#next++;
    this.#child.stdin.write(`${JSON.stringify({ id, does: what, ...given })}\n`);
    return new Promise((resolve, reject) => this.#waiting.set(id, { resolve, reject }));
  }

  load = (file, scenario) => this.#do("load", { file, scenario });
  described = () => this.#do("described");
  event = async (payload) => said(await this.#do("event", { payload }), this.kind);
  command = (name, args = "") => this.#do("command", { name, args });
  shortcut = (key) => this.#do("shortcut", { key });
  completions = (name, prefix) => this.#do("completions", { name, prefix });
  tool = (name, params) => this.#do("tool", { name, params });
  keys = (data) => this.#do("keys", { data });
  finish = () => this.#do("finish");
  set = (values) => this.#do("set", { values });
  session = (reason) => this.#do("session", { reason });
  rows = async (width = 60) => bare(await this.#do("rows", { width }));
  lasting = async (name, width = 60) => bare(await this.#do("lasting", { name, width }));
  lastingInput = (name, data) => this.#do("lastingInput", { name, data });
  complete = (lines, line, column) => this.#do("complete", { lines, line, column });
  message = async (message, expanded = false, width = 60) => bare(await this.#do("message", { message, expanded, width }));
  entry = async (entry, expanded = false, width = 60) => bare(await this.#do("entry", { entry, expanded, width }));
  log = () => this.#do("log");
  async toolRows(name, given) {
    const { call, result } = await this.#do("toolRows", { name, expanded: false, isPartial: false, isError: false, width: 60, ...given });
    return { call: bare(call), result: bare(result) };
  }

  end() {
    this.#child.stdin.end();
  }
}

/** The prompt's options that a handler changed come within its answer. */
function withoutOptions(ok) {
  if (!ok?.systemPromptOptions) return { ok };
  const { systemPromptOptions: options, ...rest } = ok;
  return { ok: Object.keys(rest).length ? rest : null, options };
}

/** Handlers of a hook are others in number: one event of today is several of then. */
const said = (results, kind) => (kind === "hook" ? results.filter(({ ok }) => ok !== null) : results);

const answered = (text) => ({
  ...{ role: "assistant", content: [{ type: "text", text }], api: "anthropic-messages", provider: "test", model: "m1", stopReason: "stop", timestamp: 0 },
  usage: { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, totalTokens: 2, cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 } },
});

/** An event of 0.31 as offshoot sends it. */
function today(event) {
  const names = { session_switch: ["session_start", event.reason], session_branch: ["session_start", "fork"], session_before_branch: ["session_before_fork"], session_start: ["session_start", "startup"], session_shutdown: ["session_shutdown", "quit"] };
  const [type, reason] = names[event.type] ?? [event.type];
  return { ...event, type, ...(reason ? { reason } : {}) };
}

/** offshoot's host with an owner in JavaScript. */
export class HostSubject {
  #owner;
  #log = [];
  #shown = [];
  #lasting = {};
  #answers = {};
  #commands = [];
  #pending;

  constructor(node, { cwd, env, piPackages = [], kind = "extension" }) {
    const record = (what) => (params) => this.#log.push([what, ...params]);
    const question = (method, params, fallback) => {
      this.#log.push([method, ...params]);
      return this.#answers[method]?.shift() ?? fallback;
    };
    this.kind = kind;
    this.piPackages = piPackages;
    this.#owner = new Owner(node, {
      ...{ cwd, env, mode: "tui" },
      answers: {
        "ui.select": ({ title, options }) => question("select", [title, options], null),
        "ui.confirm": ({ title, message }) => question("confirm", [title, message], false),
        "ui.input": ({ title, placeholder }) => question("input", placeholder === undefined ? [title] : [title, placeholder], null),
        "ui.editor": ({ title, prefill }) => question("editor", prefill === undefined ? [title] : [title, prefill], null),
        "ui.custom": ({ component, overlay, options }) => new Promise((resolve) => this.#shown.push({ component, options: overlay ? options : undefined, resolve })),
        "models.stream": ({ context }) => (this.#log.push(["model", context.messages.map(({ role }) => role)]), answered(this.#answers.model?.shift() ?? "An answer.")),
        "models.getApiKey": ({ provider }) => (provider === "test" ? { apiKey: "k", headers: {} } : null),
        "ctx.newSession": async ({ parentSession, hasSetup, hasWithSession }, owner, { id }) => {
          this.#log.push(["newSession", Boolean(parentSession)]);
          if (hasSetup) await owner.invoke("setup", { of: id });
          if (hasWithSession) await owner.invoke("withSession", { of: id });
          return { cancelled: false };
        },
        "ctx.reload": () => void this.#log.push(["reload"]),
        "ctx.compact": ({ customInstructions }) => void this.#log.push(["compact", customInstructions ?? null]),
        "pi.setModel": () => (this.#log.push(["setModel"]), true),
        ...{ "ctx.waitForIdle": null, "ctx.fork": { cancelled: false }, "ctx.switchSession": { cancelled: false }, "ctx.navigateTree": { cancelled: false } },
        "tools.run": () => ({ content: [{ type: "text", text: "ran" }] }),
      },
      sync: this.#sync(),
    });
    this.#owner.onNote = ({ method, params }) => this.#note(method, params, record);
  }

  #sync() {
    const owner = () => this.#owner;
    const model = { provider: "test", id: "m1", name: "m1", api: "anthropic-messages", contextWindow: 200000, maxTokens: 8000, input: ["text"], reasoning: false, cost: { input: 1, output: 1, cacheRead: 0, cacheWrite: 0 } };
    const note = (...values) => void this.#log.push(values);
    const known = ["read", "bash", "edit", "write", "grep", "find", "ls"];
    return {
      "ctx.isIdle": () => this.idle ?? true,
      "ctx.getModel": () => model,
      "models.find": ({ provider, id }) => (this.kind === "hook" ? { ...model, provider, id } : model),
      "models.getAll": () => [model],
      "models.getAvailable": () => [model],
      "pi.sendMessage": ({ message, options }) => (note("sendMessage", message.customType, message.content, options.triggerTurn ?? false), owner().append({ type: "custom_message", ...message })),
      "pi.sendUserMessage": ({ content, options }) => note("sendUserMessage", content, options.deliverAs ?? null),
      "pi.appendEntry": ({ customType, data }) => (note("appendEntry", customType, data ?? null), owner().append({ type: "custom", customType, data })),
      "pi.setSessionName": ({ name }) => (note("setSessionName", name), void (owner().name = name)),
      "pi.setLabel": ({ entryId, label }) => note("setLabel", entryId, label ?? null),
      "pi.setActiveTools": ({ names }) => (note("setActiveTools", names), void (owner().activeTools = names)),
      "pi.getAllTools": () => [...known, ...this.tools()].map((name) => ({ name, description: name, parameters: {} })),
      "pi.getCommands": () => this.#commands.map(({ name }) => ({ name, source: "extension", description: "", sourceInfo: { path: this.file, source: "local", scope: "temporary", origin: "top-level" } })),
      "pi.setThinkingLevel": ({ level }) => note("setThinkingLevel", level),
      "ui.getEditorText": () => this.editor ?? "",
      "ui.setTheme": ({ name }) => (note("setTheme", name), { success: true }),
      "ui.suspend": () => note("stop"),
      "ui.resume": () => note("start"),
      "session.buildSessionProjection": () => ({ entries: owner().entries, messages: owner().entries.filter(({ type }) => type === "message").map(({ message }) => message) }),
      "host.registered": (params) => this.#registered(params),
    };
  }

  #registered({ ext, ...more }) {
    for (const [name, values] of Object.entries(more)) if (Array.isArray(values)) this.#owner.extensions?.[ext][name].push(...values);
  }

  tools = () => this.#owner.extensions?.[0].tools.map(({ name }) => name) ?? [];

  #note(method, params) {
    const push = (...values) => this.#log.push(values);
    const name = method.replace(/^ui\./, "");
    if (params.component !== undefined && params.component !== null && name.startsWith("set")) {
      push(name, "component");
      this.#lasting[name] = params.component;
    } else if (name === "notify") push("notify", params.message, params.type ?? "info");
    else if (name === "setStatus") push("setStatus", params.key, plain(params.text));
    else if (name === "setWidget") push("setWidget", params.key, params.lines?.map(plain) ?? null, params.placement ?? "aboveEditor");
    else if (["setFooter", "setHeader", "setEditorComponent"].includes(name)) push(name, "default");
    else if (name === "setWorkingIndicator") push(name, params.options ? { ...params.options, frames: params.options.frames?.map(plain) } : null);
    else if (["setTitle", "setWorkingMessage", "setWorkingVisible", "setHiddenThinkingLabel", "setToolsExpanded"].includes(name)) push(name, Object.values(params)[0]);
    else if (name === "setEditorText" || name === "pasteToEditor") {
      this.editor = name === "setEditorText" ? params.text : (this.editor ?? "") + params.text;
      push(name, params.text);
    } else if (method === "ctx.abort" || method === "ctx.shutdown") push(method.slice(4));
    else if (method === "component.done") {
      const at = this.#shown.findIndex(({ component }) => component === params.component);
      if (at >= 0) this.#shown.splice(at, 1)[0].resolve(null);
    } else if (name === "addAutocompleteProvider") this.completes = true;
    else if (method === "error") push("error", params.message);
  }

  async load(file, scenario) {
    this.file = file;
    this.#answers = structuredClone(scenario.answers ?? {});
    this.editor = scenario.editor;
    for (const entry of scenario.entries ?? []) this.#owner.append(entry);
    const { extensions } = await this.#owner.load([{ path: file, kind: this.kind }], { flags: scenario.flags ?? {}, piPackages: this.piPackages });
    if (extensions[0].error) return { error: extensions[0].error.message };
    this.#commands = extensions[0].commands;
    return { ok: this.described() };
  }

  described() {
    const [one] = this.#owner.extensions;
    return {
      events: one.handlers.map(({ event }) => event).sort(),
      commands: one.commands.map(({ name, description }) => ({ name, description })),
      tools: one.tools.map(({ name, label, description, parameters }) => ({ name, label, description, parameters })),
      shortcuts: one.shortcuts.map(({ key }) => key),
      flags: one.flags.map(({ name, type }) => ({ name, type })),
    };
  }

  /** What a custom tool of 0.31 hears of the session. */
  session = async (reason) => void (await this.event({ start: { type: "session_start", reason: "startup" }, switch: { type: "session_start", reason: "new" }, branch: { type: "session_start", reason: "fork" }, shutdown: { type: "session_shutdown", reason: "quit" } }[reason]));

  async event(given) {
    const results = await this.#owner.event(this.kind === "hook" ? today(given) : given);
    return said(results.map(({ ok, error, input }) => (error ? { error: error.message } : { ...withoutOptions(ok), ...(input ? { input } : {}) })), this.kind);
  }

  async #untilShown(result) {
    const before = this.#shown.length;
    let over = false;
    const settled = result.then(({ ok, error }) => ((over = true), error ? { error: error.message } : { ok: ok ?? null }));
    for (let turn = 0; turn < 400 && !over && this.#shown.length <= before; turn += 1) await new Promise((resolve) => setTimeout(resolve, 5));
    if (over) return settled;
    this.#pending = settled;
    return { ok: null, shown: true };
  }

  command = (name, args = "") => this.#untilShown(this.#owner.invoke("command", { ext: 0, name, args }));
  shortcut = (key) => this.#untilShown(this.#owner.invoke("shortcut", { ext: 0, key }));
  completions = async (name, prefix) => (await this.#owner.invoke("completions", { ext: 0, name, prefix })).ok;
  async tool(name, params) {
    const before = this.#owner.progress.length;
    const prepared = await this.#owner.invoke("prepareArguments", { ext: 0, name, args: params });
    const run = () => this.#owner.invoke("tool", { ext: 0, name, toolCallId: "c1", params: prepared.ok });
    const outcome = await this.#untilShown(prepared.error ? Promise.resolve(prepared) : run());
    return outcome.shown ? outcome : { ...outcome, updates: this.#owner.progress.length > before };
  }

  async #rendered(component, width) {
    const { ok, error } = await this.#owner.invoke("component.render", { component, width, height: 24 });
    if (error) throw new Error(error.message);
    return bare(ok.rows);
  }

  rows = async (width = 60) => (this.#shown.length ? this.#rendered(this.#shown.at(-1).component, width) : null);
  lasting = async (name, width = 60) => (this.#lasting[name] ? this.#rendered(this.#lasting[name], width) : null);
  lastingInput = async (name, data) => void (await this.#owner.invoke("component.input", { component: this.#lasting[name], data }));
  complete = async (lines, cursorLine, cursorCol) => (this.completes ? (await this.#owner.invoke("autocomplete", { lines, cursorLine, cursorCol })).ok : null);
  async keys(data) {
    const top = this.#shown.at(-1);
    if (top) await this.#owner.invoke("component.input", { component: top.component, data });
    await this.#owner.ping();
    return null;
  }

  async finish() {
    const outcome = await Promise.race([this.#pending ?? { ok: null }, new Promise((resolve) => setTimeout(resolve, 3000, { hangs: true }))]);
    this.#pending = undefined;
    return outcome;
  }

  set(values) {
    if ("active" in values) this.#owner.activeTools = values.active;
    if ("idle" in values) this.idle = values.idle;
    if ("editor" in values) this.editor = values.editor;
    return null;
  }

  async #rowsOf(kind, members) {
    const { ok, error } = await this.#owner.invoke(kind, { ext: 0, width: 60, ...members });
    if (error) throw new Error(error.message);
    return ok;
  }

  message = async (message, expanded = false, width = 60) => bare((await this.#rowsOf("messageRenderer", { customType: message.customType, message, expanded, width }))?.rows);
  entry = async (entry, expanded = false, width = 60) => bare((await this.#rowsOf("entryRenderer", { customType: entry.customType, entry, expanded, width }))?.rows);
  async toolRows(name, given) {
    const { call, result } = await this.#rowsOf("toolRender", { name, toolCallId: `c${Math.random()}`, expanded: false, isPartial: false, isError: false, ...given });
    return { call: bare(call?.rows), result: bare(result?.rows) };
  }

  async log() {
    await this.#owner.ping();
    return this.#log.splice(0);
  }

  end() {
    this.#owner.end();
  }
}
