// A run with three children against a scripted model, killed in the middle and continued: what then holds. Knows offshoot's command line,
// the files of sessions and of ledgers, not who reports what was found.
import { spawn } from "node:child_process";
import * as fs from "node:fs";
import * as http from "node:http";
import * as path from "node:path";

const TASKS = ["alpha", "beta", "gamma"];
const event = (type, data) => `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`;

/** Anthropic's stream of one answer. */
function answer({ text, call, usage }) {
  const block = call
    ? event("content_block_start", { index: 0, content_block: { type: "tool_use", id: call.id, name: call.name, input: {} } }) +
      event("content_block_delta", { index: 0, delta: { type: "input_json_delta", partial_json: JSON.stringify(call.input) } })
    : event("content_block_start", { index: 0, content_block: { type: "text", text: "" } }) +
      event("content_block_delta", { index: 0, delta: { type: "text_delta", text } });
  const message = { id: "m", type: "message", role: "assistant", model: "m1", content: [], stop_reason: null, usage: { input_tokens: usage.input, output_tokens: 1 } };
  return (
    event("message_start", { message }) +
    block +
    event("content_block_stop", { index: 0 }) +
    event("message_delta", { delta: { stop_reason: call ? "tool_use" : "end_turn" }, usage: { output_tokens: usage.output } }) +
    event("message_stop", {})
  );
}

/** What the model says next in a conversation. */
function next(messages) {
  const said = messages.filter(({ role }) => role === "assistant").length;
  // Gamma begins with the conversation of its parent.
  const told = JSON.stringify(messages.filter(({ role }) => role === "user"));
  const name = TASKS.find((name) => told.includes(`do ${name}`)) ?? "root";
  const calls = { root: 1, alpha: 0, beta: 2, gamma: 1 }[name];
  const usage = { input: 100 + 10 * said, output: 20 + said };
  if (said >= calls) return { name, text: `${name} is done`, usage };
  if (name === "root") {
    const tasks = TASKS.map((task) => ({ task: `do ${task}`, name: task[0].toUpperCase() + task.slice(1), fork: task === "gamma" }));
    return { name, call: { id: "c1", name: "task", input: { tasks } }, usage };
  }
  return { name, call: { id: `${name}${said}`, name: "bash", input: { command: `echo ${name}${said} >> ran.txt` } }, usage };
}

/** A server; `asked` are the conversations that sent requests, in their order. */
export async function startModel() {
  const asked = [];
  const server = http.createServer((request, response) => {
    let body = "";
    request.on("data", (piece) => (body += piece));
    request.on("end", () => {
      const { name, ...what } = next(JSON.parse(body).messages);
      asked.push(name);
      response.writeHead(200, { "content-type": "text/event-stream" });
      const text = answer(what);
      const half = Math.floor(text.length / 2);
      response.write(text.slice(0, half));
      setTimeout(() => response.end(text.slice(half)), Math.random() * 15);
    });
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { asked, url: `http://127.0.0.1:${server.address().port}`, close: () => new Promise((resolve) => server.close(resolve) ?? server.closeAllConnections()) };
}

/** A home that knows the model, with prices. */
export function makeHome(folder, url) {
  const data = path.join(folder, "data");
  fs.mkdirSync(data, { recursive: true });
  fs.mkdirSync(path.join(folder, "work"), { recursive: true });
  const models = [{ id: "m1", contextWindow: 200000, maxTokens: 8000, cost: { input: 3, output: 15 } }];
  fs.writeFileSync(path.join(data, "models.json"), JSON.stringify({ providers: { test: { baseUrl: url, api: "anthropic-messages", apiKey: "k", models } } }), { mode: 0o600 });
  return { cwd: path.join(folder, "work"), env: { PATH: process.env.PATH, HOME: folder, OFFSHOOT_HOME: data }, data };
}

/** The session files below a folder, the root's first, as parsed lines. */
export function sessions(data) {
  const all = fs.readdirSync(path.join(data, "sessions"), { recursive: true }).filter((name) => name.endsWith(".jsonl"));
  const files = all.map((name) => ({ name: path.basename(name, ".jsonl"), file: path.join(data, "sessions", name) }));
  const read = ({ file }) => fs.readFileSync(file, "utf8").split("\n").filter(Boolean).map((line) => JSON.parse(line));
  return files.map((one) => ({ ...one, lines: read(one) })).sort((a, b) => a.file.length - b.file.length);
}

const countLines = (data) => {
  try {
    return sessions(data).reduce((sum, { lines }) => sum + lines.length, 0);
  } catch {
    return 0;
  }
};

/** Starts a run and waits for its end; with `killAt` it is killed once the sessions have so many lines. */
export function run(program, home, args, killAt) {
  return new Promise((resolve) => {
    const child = spawn(program, [...args, "--model", "test/m1", "--approval", "auto", "--no-stdin", "--max-cost", "5"], { ...home, stdio: ["ignore", "pipe", "pipe"] });
    let out = "";
    child.stdout.on("data", (piece) => (out += piece));
    child.stderr.on("data", (piece) => (out += piece));
    let isOver = false;
    const look = () => {
      if (isOver) return;
      if (countLines(home.data) >= killAt) child.kill("SIGKILL");
      else setImmediate(look);
    };
    if (killAt !== undefined) look();
    child.on("close", (code) => {
      isOver = true;
      resolve({ code, out });
    });
  });
}

/** What the ledger says: by account the settled sums and the reservations without an end. */
export function ledger(data) {
  const folder = path.join(data, "ledgers");
  const accounts = {};
  if (!fs.existsSync(folder)) return accounts;
  for (const name of fs.readdirSync(folder)) {
    const lines = fs.readFileSync(path.join(folder, name), "utf8").split("\n").filter(Boolean).map((line) => JSON.parse(line));
    const ends = new Map(lines.filter(({ end }) => end).map((line) => [line.end, line]));
    for (const hold of lines.filter(({ hold }) => hold)) {
      const account = (accounts[hold.account] ??= { settled: [], open: 0 });
      const end = ends.get(hold.hold);
      if (end === undefined) account.open += 1;
      else if (end.requests > 0) account.settled.push(end.tokens);
    }
  }
  return accounts;
}

const answersOf = (lines) => lines.filter(({ message }) => message?.role === "assistant" && message.usage.input > 0);
const endsOf = (lines) => lines.filter(({ customType }) => customType === "offshoot.child_end");

/** One round: what is wrong after a kill at so many lines and a continuation; an empty list if all holds. */
export async function round(program, folder, killAt) {
  const model = await startModel();
  const home = makeHome(folder, model.url);
  const wrong = [];
  const expect = (holds, what) => holds || wrong.push(what);
  try {
    const first = await run(program, home, ["-p", "go"], killAt);
    const wasKilled = first.code === null;
    const before = sessions(home.data);
    const ended = before.filter(({ lines }) => endsOf(lines).length > 0).map(({ name }) => name.toLowerCase());
    const held = ledger(home.data);
    // Only a request that the kill cut may be in the ledger and not in a file.
    let cut = 0;
    for (const [id, { settled, open }] of Object.entries(held)) {
      const lines = before.find(({ name, lines: [head] }) => (id === "" ? !head.parentSession : name === id))?.lines ?? [];
      const used = answersOf(lines).map(({ message }) => message.usage.input + message.usage.output);
      const missing = settled.length - used.length;
      expect(missing === 0 || (missing === 1 && open === 0 && wasKilled), `${id || "root"}: ${settled.length} settled, ${used.length} in the file, ${open} open`);
      expect(used.every((tokens, at) => tokens === settled[at]), `${id || "root"}: the ledger says ${settled}, the file ${used}`);
      expect(open + missing <= 1, `${id || "root"}: ${open} reservations are open`);
      cut += open + missing;
    }
    const from = model.asked.length;
    const again = await run(program, home, [...(before.some(({ lines }) => lines.some(({ message }) => message?.role === "user")) ? ["-c"] : []), "-p", "and now?"]);
    expect(again.code === 0, `the continuation ends with ${again.code}: ${again.out}`);
    for (const name of ended) expect(!model.asked.slice(from).includes(name), `${name} had ended and sent a request`);
    const after = sessions(home.data);
    for (const { name, lines } of after.filter(({ lines: [head] }) => head.parentSession)) {
      expect(endsOf(lines).length === 1, `${name} has ${endsOf(lines).length} ends`);
      expect(endsOf(lines)[0]?.data.status === "completed", `${name} ended as ${JSON.stringify(endsOf(lines)[0]?.data)}`);
    }
    const results = after[0].lines.filter(({ message }) => message?.role === "toolResult" && message.toolName === "task");
    const calls = after[0].lines.flatMap(({ message }) => (message?.role === "assistant" ? message.content.filter(({ type }) => type === "toolCall") : []));
    expect(results.length === calls.length, `${calls.length} calls of task have ${results.length} results`);
    for (const result of results) for (const name of TASKS) {
      const count = JSON.stringify(result.message.content).split(`${name} is done`).length - 1;
      expect(count === 1, `${name} is ${count} times in a result`);
    }
    const ran = fs.existsSync(path.join(home.cwd, "ran.txt")) ? fs.readFileSync(path.join(home.cwd, "ran.txt"), "utf8").split("\n").filter(Boolean) : [];
    expect(new Set(ran).size === ran.length, `a command ran twice: ${ran}`);
    return { wrong, wasKilled, cut, lines: countLines(home.data) };
  } finally {
    await model.close();
  }
}
