// The examples of oh-my-pi 18: one use of each under oh-my-pi and under offshoot, over RPC, with a model that answers from a script.
// What is compared: the names of registered commands, what the person is shown or asked, and what the model gets back from tools.
import { spawn, execFileSync } from "node:child_process";
import * as fs from "node:fs";
import { createServer } from "node:http";
import * as path from "node:path";
import { createInterface } from "node:readline";
import { bunBinary, newestNode, ompPackage } from "../lib/places.mjs";

const text = (words) => ({ type: "text", text: words });
const call = (name, input) => ({ type: "tool_use", id: `t-${name}`, name, input });

/** `says` is what the model answers, request by request; `steps` what is typed, and what an extension is answered by its title. */
export const ROWS = [
  { kind: "extension", name: "api-demo.ts", says: [[call("api_demo", { message: "m" })], [text("ok")]], steps: ["go"] },
  { kind: "extension", name: "chalk-logger.ts", says: [[text("ok")]], steps: ["go"] },
  { kind: "extension", name: "hello.ts", says: [[call("hello", { name: "Ann" })], [text("ok")]], steps: ["go"] },
  { kind: "extension", name: "pirate.ts", says: [[text("ok")]], steps: ["/pirate", "go", "/pirate"] },
  { kind: "extension", name: "plan-mode.ts", differs: "oh-my-pi asks twice: the list of steps that the extension shows begins a run of its own there", says: [[call("bash", { command: "rm -rf x" })], [text("Plan:\n1. Read the file\n2. Write the file")], [text("done [DONE:1]")]], steps: ["/plan", "go", "/todos"], answers: { "Plan mode - what next?": "Stay in plan mode" } },
  { kind: "extension", name: "reload-runtime.ts", says: [[call("reload_runtime", {})], [text("ok")]], steps: ["go"] },
  { kind: "extension", name: "thinking-note.ts", says: [[text("ok")]], steps: ["go"] },
  { kind: "extension", name: "tools.ts", says: [[text("ok")]], steps: ["go"] },
  { kind: "extension", name: "with-deps", says: [[call("parse_duration", { duration: "2 days" })], [text("ok")]], steps: ["go"], module: { ms: "export default (text) => (text === '2 days' ? 172800000 : undefined);" } },
  { kind: "hook", name: "auto-commit-on-exit.ts", says: [[text("Did it.")]], steps: ["go"], git: true, after: "git log --format=%s; git status --porcelain" },
  { kind: "hook", name: "confirm-destructive.ts", says: [[text("ok")]], steps: ["go", { type: "new_session" }], answers: { "Clear session?": false } },
  { kind: "hook", name: "custom-compaction.ts", says: [[text("a long answer ".repeat(50))], [text("ok")]], steps: ["go", "again"], compact: true },
  { kind: "hook", name: "dirty-repo-guard.ts", says: [[text("ok")]], steps: ["go", { type: "new_session" }], git: true, dirty: true, answers: { "You have 1 uncommitted file(s). new session anyway?": "No, let me commit first" } },
  { kind: "hook", name: "file-trigger.ts", says: [[text("ok")]], steps: ["go"] },
  { kind: "hook", name: "git-checkpoint.ts", says: [[call("bash", { command: "echo x" })], [text("ok")]], steps: ["go"], git: true },
  { kind: "hook", name: "handoff.ts", differs: "oh-my-pi has a command of its own of this name; here the extension's runs", says: [[text("ok")]], steps: ["/handoff"] },
  { kind: "hook", name: "permission-gate.ts", says: [[call("bash", { command: "sudo rm -rf x" })], [text("ok")]], steps: ["go"], answers: { "⚠️ Dangerous command:\n\n  sudo rm -rf x\n\nAllow?": "No" } },
  { kind: "hook", name: "protected-paths.ts", says: [[call("write", { path: ".env", content: "x" })], [text("ok")]], steps: ["go"] },
  { kind: "hook", name: "qna.ts", says: [[text("ok")]], steps: ["/qna"] },
  { kind: "hook", name: "status-line.ts", says: [[text("ok")]], steps: ["go"] },
  { kind: "tool", name: "hello", says: [[call("hello", { name: "Ann" })], [text("ok")]], steps: ["go"] },
];

const FOLDERS = { extension: "extensions", hook: "hooks", tool: "custom-tools" };

/** A model that answers from the script; `seen` has the last message of each request. */
async function model(says) {
  const seen = [];
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (part) => (body += part));
    request.on("end", () => {
      const { messages, tools = [], system, model: id } = JSON.parse(body);
      seen.push({ last: messages.at(-1), tools: tools.map(({ name }) => name), system: JSON.stringify(system) });
      const named = (block) => (block.type === "tool_use" ? { ...block, name: tools.find(({ name }) => name.replace(/^_/, "") === block.name)?.name ?? block.name } : block);
      const blocks = (says[seen.length - 1] ?? [text("end")]).map(named);
      const events = [["message_start", { message: { id: "m", type: "message", role: "assistant", model: id, content: [], usage: { input_tokens: 10, output_tokens: 1 } } }]];
      for (const [index, block] of blocks.entries()) {
        const isText = block.type === "text";
        events.push(["content_block_start", { index, content_block: isText ? text("") : { ...block, input: {} } }]);
        events.push(["content_block_delta", { index, delta: isText ? { type: "text_delta", text: block.text } : { type: "input_json_delta", partial_json: JSON.stringify(block.input) } }]);
        events.push(["content_block_stop", { index }]);
      }
      events.push(["message_delta", { delta: { stop_reason: blocks.some(({ type }) => type === "tool_use") ? "tool_use" : "end_turn" }, usage: { output_tokens: 2 } }], ["message_stop", {}]);
      response.writeHead(200, { "content-type": "text/event-stream" }).end(events.map(([type, data]) => `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`).join(""));
    });
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  return { seen, port: server.address().port, end: () => server.close() };
}

const textOf = ({ content }) => (typeof content === "string" ? content : content.map((block) => (block.type === "tool_result" ? textOf(block) : (block.text ?? block.type))).join("\n"));

/** What both engines say of the same mistake. */
const MISTAKE = /undefined is not an object \(evaluating '[^']*'\)|Cannot read properties of undefined \(reading '[^']*'\)/g;

/** What is compared: without colours, the places of a run, and the time that oh-my-pi adds to the output of a command. */
export const comparable = ({ shown, results, errors, after }, root) => {
  const text = JSON.stringify({ shown, results, errors, after }).replaceAll(root, "ROOT").replaceAll(/\\u001b\[[\d;]*m/g, "");
  return JSON.parse(text.replaceAll(MISTAKE, "undefined").replaceAll(/(\\n)+Wall time: [\d.]+ seconds/g, "\\n"));
};

/** Runs a row in one of the programs: what was shown and asked, what came back from tools, and the errors of the extension. */
export async function run(row, program, root, offshoot) {
  const at = (...names) => path.join(root, ...names);
  fs.rmSync(root, { recursive: true, force: true });
  for (const name of ["home/.omp/agent", "work", "own"]) fs.mkdirSync(at(name), { recursive: true });
  const source = path.join(ompPackage(), "examples", FOLDERS[row.kind], row.name);
  const file = at("extension", row.name);
  fs.cpSync(source, file, { recursive: true });
  for (const [name, code] of Object.entries(row.module ?? {})) {
    fs.mkdirSync(at("extension/node_modules", name), { recursive: true });
    fs.writeFileSync(at("extension/node_modules", name, "index.js"), code);
    fs.writeFileSync(at("extension/node_modules", name, "package.json"), JSON.stringify({ name, version: "1.0.0", type: "module", exports: "./index.js" }));
  }
  const server = await model(row.says);
  fs.writeFileSync(at("home/.omp/agent/models.yml"), `providers:\n  mine:\n    baseUrl: http://127.0.0.1:${server.port}\n    api: anthropic-messages\n    apiKey: key\n    models:\n      - id: m\n        contextWindow: 200000\n        maxTokens: 8000\n`);
  fs.writeFileSync(at("own/settings.json"), '{"ompFolder": "on", "piFolder": "off", "approval": "auto"}');
  const env = { PATH: process.env.PATH, HOME: at("home"), OFFSHOOT_HOME: at("own"), PI_NODE: newestNode(), TZ: "UTC", LANG: "C.UTF-8", GIT_AUTHOR_NAME: "a", GIT_AUTHOR_EMAIL: "a@b", GIT_COMMITTER_NAME: "a", GIT_COMMITTER_EMAIL: "a@b" };
  const cwd = at("work");
  if (row.git) execFileSync("bash", ["-c", `git init -q && echo a > a && git add a && git commit -qm first${row.dirty || row.after ? " && echo b > a" : ""}`], { cwd, env });
  const isTool = row.kind === "tool";
  if (isTool) {
    for (const folder of ["home/.omp/agent/tools"]) fs.cpSync(file, at(folder, row.name), { recursive: true });
  }
  const named = isTool ? [] : [row.kind === "hook" ? "--hook" : "-e", row.name.endsWith(".ts") ? file : path.join(file, "index.ts")];
  const common = ["--mode", "rpc", "--model", "mine/m", ...named];
  const [command, args] =
    program === "omp" ? [bunBinary(), [path.join(ompPackage(), "dist/cli.js"), ...common, "--no-title", "--auto-approve"]] : [offshoot, [...common, "--approval", "auto"]];
  const child = spawn(command, args, { cwd, env, stdio: ["pipe", "pipe", "pipe"] });
  const shown = [];
  const errors = [];
  let stderr = "";
  child.stderr.on("data", (part) => (stderr += part));
  let settled = () => {};
  const waiting = new Map();
  createInterface({ input: child.stdout }).on("line", (line) => {
    let record;
    try {
      record = JSON.parse(line);
    } catch {
      return;
    }
    if (record.type === "response" && waiting.has(record.id)) {
      waiting.get(record.id)(record);
      waiting.delete(record.id);
    }
    if (record.type === "extension_error") errors.push(record.error ?? record.message);
    if (record.type === "extension_ui_request") {
      const { method, title, message, statusKey, statusText, widgetKey, widgetLines, text: words, options } = record;
      // oh-my-pi's own.
      if (widgetKey !== "autoresearch" && ["notify", "select", "confirm", "input", "editor", "setStatus", "setWidget", "set_editor_text"].includes(method)) {
        shown.push(JSON.parse(JSON.stringify({ method, title, message, statusKey, statusText, widgetKey, widgetLines, text: words, options })));
      }
      if (["select", "confirm", "input", "editor"].includes(method)) {
        const given = row.answers?.[title];
        const answer = given === undefined ? { cancelled: true } : method === "confirm" ? { confirmed: given } : { value: given };
        child.stdin.write(`${JSON.stringify({ type: "extension_ui_response", id: record.id, ...answer })}\n`);
      }
    }
    if (record.type === "agent_settled" || record.type === "agent_end") settled();
  });
  let number = 0;
  const ask = (record) =>
    new Promise((done) => {
      const id = `r${++number}`;
      waiting.set(id, done);
      child.stdin.write(`${JSON.stringify({ id, ...record })}\n`);
    });
  const ended = new Promise((done) => child.on("close", done));
  const limit = setTimeout(() => child.kill("SIGKILL"), 40_000);
  try {
    const commands = program === "omp" ? [] : await ask({ type: "get_commands" }).then(({ data }) => (data?.commands ?? []).filter(({ source: from }) => from === "extension").map(({ name }) => name));
    for (const step of row.steps) {
      const isCommand = typeof step === "string" && step.startsWith("/");
      const ending = typeof step === "string" && !isCommand ? new Promise((done) => (settled = done)) : undefined;
      const answer = await ask(typeof step === "string" ? { type: "prompt", message: step } : step);
      if (answer.success === false) errors.push(answer.error);
      await ending;
      for (let quiet = 0, last = shown.length; quiet < 4; quiet += 1, last = shown.length) {
        await new Promise((done) => setTimeout(done, 50));
        if (last !== shown.length) quiet = 0;
      }
    }
    child.stdin.end();
    const timer = setTimeout(() => child.kill("SIGTERM"), 3000);
    await ended;
    clearTimeout(timer);
    const isResult = ({ content }) => Array.isArray(content) && content.some(({ type }) => type === "tool_result");
    const results = server.seen.map(({ last }) => last).filter(isResult).map(textOf);
    const after = row.after ? execFileSync("bash", ["-c", row.after], { cwd, env, encoding: "utf8" }) : "";
    const names = new Set(commands);
    return { commands: [...names].sort(), shown, results, errors, after, stderr: stderr.slice(-400), tools: server.seen[0]?.tools };
  } finally {
    clearTimeout(limit);
    child.kill("SIGKILL");
    server.end();
  }
}
