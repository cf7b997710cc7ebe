// One extension under one whole program over RPC: a script of prompts, commands and answers, and what came of it: questions and notes to the
// person, entries, requests to the model, failures.
import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { RpcPeer } from "../lib/rpc.mjs";
import { modelServer } from "./model-server.mjs";
import { installed, node } from "./places.mjs";

const SGR = /\x1b\[[\d;:]*m|\x1b\]8;[^\x07\x1b]*(?:\x07|\x1b\\)/g;
const plain = (value) => (typeof value === "string" ? value.replace(SGR, "") : Array.isArray(value) ? value.map(plain) : value);
const KNOWN = { contextWindow: 200000, maxTokens: 8000, reasoning: false, input: ["text"], cost: { input: 1, output: 1, cacheRead: 0, cacheWrite: 0 } };

/** Clients answer these; the other methods only tell something. */
const QUESTIONS = { select: (value) => ({ value }), input: (value) => ({ value }), editor: (value) => ({ value }), confirm: (confirmed) => ({ confirmed }) };

/** A home with the model, a working folder, the scenario's files and programs; `agent` is the folder of settings of the program. */
export function prepare(folder, scenario, agent, url) {
  const at = (...names) => path.join(folder, ...names);
  for (const name of ["work", "bin", "extension", agent]) fs.mkdirSync(at(name), { recursive: true });
  const models = ["m1", "m2"].map((id) => ({ id, name: id, ...KNOWN }));
  fs.writeFileSync(at(agent, "models.json"), JSON.stringify({ providers: { test: { baseUrl: url, api: "anthropic-messages", apiKey: "k", models } } }));
  // pi always stores the system prompt.
  if (scenario.storesPrompt) fs.writeFileSync(at(agent, "settings.json"), JSON.stringify({ storeSystemPrompt: true }));
  for (const [file, content] of Object.entries(scenario.files ?? {})) {
    const target = file.startsWith("/") ? file : at("work", file);
    fs.mkdirSync(path.dirname(target), { recursive: true });
    fs.writeFileSync(target, content);
  }
  for (const [program, script] of Object.entries(scenario.programs ?? {})) fs.writeFileSync(at("bin", program), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  const env = { PATH: [at("bin"), path.dirname(node()), process.env.PATH].join(":"), HOME: at(), OFFSHOOT_HOME: at("data"), TZ: "UTC", LANG: "C.UTF-8", ...(process.env.PI_NODE ? { PI_NODE: process.env.PI_NODE } : {}), ...(typeof scenario.env === "function" ? scenario.env({ url }) : scenario.env) };
  if (scenario.shell) execFileSync("bash", ["-c", scenario.shell], { cwd: at("work"), env: { ...process.env, HOME: at() }, stdio: "ignore" });
  return { cwd: at("work"), env };
}

/** Commands of extensions that pi brings itself. */
const PIS_OWN = new Set(["llama", "mcp"]);
const BUILT_IN = new Set(["read", "bash", "edit", "write", "grep", "find", "ls", "ask", "todo", "plan", "task", "bash_output", "bash_stop", "bash_list"]);
/** The words of the built-in tools are each program's own. */
const own = (text) =>
  text?.replace(/(Successfully wrote|wrote \d+ bytes?) to/, "wrote to").replace(/(Successfully replaced 1 block\(s\)|made 1 replacement) in ([^ )]*\w)\.?/, "replaced in $2");

/** What an entry says, without ids and times. */
function entry({ type, customType, message, content, data, details, display, label, name, summary, fromHook }) {
  const text = (value) => (typeof value === "string" ? value : value?.map((part) => part.text ?? `(${part.type}${part.name ? ` ${part.name} ${JSON.stringify(part.arguments)}` : ""})`).join(""));
  if (type === "message") return message.role === "system" ? undefined : { role: message.role, text: own(text(message.content)) ?? message.command, ...(message.role === "toolResult" ? { isError: message.isError, details: BUILT_IN.has(message.toolName) ? null : (message.details ?? null) } : {}), ...(message.output === undefined ? {} : { output: message.output }) };
  if (type === "custom_message") return { type, customType, text: text(content), display, details: details ?? null };
  // Which files the calls changed is recorded by offshoot alone.
  if (customType === "offshoot.files") return undefined;
  if (type === "custom") return { type, customType, data: data ?? null };
  if (type === "label") return { type, label: label ?? null };
  if (type === "session_info") return { type, name };
  if (type === "compaction") return { type, summary, fromHook: fromHook ?? false };
  return undefined;
}

/** Lists of tools in what extensions store, without those that pi does not have. */
const withoutOwnTools = (entries) => JSON.parse(JSON.stringify(entries).replace(/,"ask","todo"(?:,"plan")?(?:,"task")?/g, ""));

/** What a request asks, without the prompt and the tools that each program has of its own. */
function request({ body }, scenario) {
  const text = (content) => (typeof content === "string" ? content : content.map((part) => part.text ?? `(${part.type} ${part.name ?? ""}${part.content ? text(part.content) : ""})`).join("|"));
  const system = typeof body.system === "string" ? body.system : (body.system ?? []).map((part) => part.text).join("\n");
  return {
    messages: body.messages.map(({ role, content }) => `${role}: ${own(text(content))}`),
    tools: (body.tools ?? []).map(({ name }) => name).filter((name) => !BUILT_IN.has(name)).sort(),
    ...(scenario.system ? { system: scenario.system.map((part) => system.includes(part)) } : {}),
  };
}

export class RpcRun {
  constructor({ file, args, place, server, scenario }) {
    Object.assign(this, { server, scenario, place });
    this.peer = new RpcPeer(file, [...args, "--mode", "rpc", "--provider", scenario.model?.[0] ?? "test", "--model", scenario.model?.[1] ?? "m1"], place);
    this.answers = structuredClone(scenario.answers ?? {});
    this.said = [];
    this.#answer();
  }

  async #answer() {
    for (let at = 0; ; at += 1) {
      const record = await this.peer.until((_, index) => index === 0, at).catch(() => undefined);
      if (!record) return;
      if (record.type === "extension_ui_request") this.#question(record);
    }
  }

  #question({ id, type, ...record }) {
    // pi brings an extension of its own.
    const options = record.options?.filter((option) => !option.startsWith("/llama"));
    this.said.push(Object.fromEntries(Object.entries({ ...record, ...(options ? { options } : {}) }).map(([name, value]) => [name, plain(value)])));
    const make = QUESTIONS[record.method];
    if (!make) return;
    const value = this.answers[record.method]?.shift();
    if (value === "never") return;
    this.peer.line(JSON.stringify({ type: "extension_ui_response", id, ...(value === undefined ? { cancelled: true } : make(value)) }));
  }

  at = (script) => execFileSync("bash", ["-c", script], { cwd: this.place.cwd, env: this.place.env, encoding: "utf8" });
  ask = (command) => this.peer.ask(command);
  /** A prompt until all is done; a command of an extension until it has answered. */
  async prompt(message, more = {}) {
    const from = this.peer.records.length;
    const accepted = await this.peer.ask({ type: "prompt", message, ...more });
    if (accepted.success && (await this.#runs(from))) await this.peer.until((record) => record.type === "agent_settled", from);
    return accepted.success;
  }

  /** Whether a run began: commands and messages that an extension takes begin none. */
  async #runs(from) {
    const began = this.peer.until((record) => record.type === "agent_start", from).then(() => true, () => false);
    const limit = new Promise((resolve) => setTimeout(resolve, 700, false));
    return Promise.race([began, limit]);
  }

  settled = (from = 0) => this.peer.until((record) => record.type === "agent_settled", from);
  get mark() {
    return this.peer.records.length;
  }

  /** Waits until a note of the extension is there. */
  said_ = (isWanted) => this.peer.until((record) => record.type === "extension_ui_request" && isWanted(record));

  async facts(results) {
    const entries = (await this.ask({ type: "get_entries" }).catch(() => null))?.data?.entries ?? [];
    const commands = (await this.ask({ type: "get_commands" }).catch(() => null))?.data?.commands ?? [];
    const code = await this.peer.end();
    return {
      results,
      code,
      said: this.scenario.said?.(this.said) ?? this.said,
      failures: this.peer.records.filter(({ type }) => type === "extension_error").map(({ event, error }) => ({ event, error })),
      entries: withoutOwnTools(entries).map(entry).filter(Boolean).map(this.scenario.entries ?? ((each) => each)),
      requests: this.server.requests.map((each) => request(each, this.scenario)),
      commands: commands.filter(({ source }) => source === "extension").filter(({ name }) => !PIS_OWN.has(name)).map(({ name, description }) => ({ name, description })),
    };
  }
}

/** What an extension imports: stand-ins, and packages from npm. */
function installModules(folder, { module = {}, packages = [] }) {
  for (const [name, text] of Object.entries(module)) {
    const at = path.join(folder, "node_modules", name);
    fs.mkdirSync(at, { recursive: true });
    fs.writeFileSync(path.join(at, "package.json"), JSON.stringify({ name, type: "module", main: "index.js", exports: "./index.js" }));
    fs.writeFileSync(path.join(at, "index.js"), text);
  }
  for (const name of packages) fs.cpSync(installed(name), path.join(folder, "node_modules", name), { recursive: true });
}

/** The facts of one program; `start` gives its file and first arguments. */
export async function runRpc(folder, { start, agent, extension, scenario, flag = "-e" }) {
  const server = await modelServer(scenario.replies ?? [{ say: [{ text: "Done." }] }]);
  const place = prepare(folder, scenario, agent, server.url);
  const source = path.join(folder, "extension", path.basename(extension));
  fs.cpSync(extension, source, { recursive: true });
  installModules(path.join(folder, "extension"), scenario);
  const args = [...start.args, flag, path.join(source, scenario.entry ?? ""), ...(scenario.args ?? [])];
  const run = new RpcRun({ file: start.file, args, place, server, scenario });
  const limit = setTimeout(() => run.peer.child.kill("SIGKILL"), 40_000);
  try {
    const results = await scenario.script(run);
    return JSON.parse(JSON.stringify(await run.facts(results)).replaceAll(folder, "DIR").replaceAll(/\b1[78]\d{11}\b/g, "0").replaceAll(/Fork from entry [0-9a-f]{8}/g, "Fork from entry X"));
  } catch (error) {
    return { error: `${error.message}\n${run.peer.stderr}` };
  } finally {
    clearTimeout(limit);
    run.peer.child.kill("SIGKILL");
    await server.end();
  }
}
