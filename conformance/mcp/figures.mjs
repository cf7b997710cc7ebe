// What servers of MCP cost in time, beside the same messages sent by hand to the same server: starting, listing, a call, a stop.
//   OFFSHOOT_BIN=… node conformance/mcp/figures.mjs [ROUNDS]
import { spawn } from "node:child_process";
import * as fs from "node:fs";
import { createServer } from "node:http";
import * as path from "node:path";
import { createInterface } from "node:readline";
import { RpcPeer } from "../lib/rpc.mjs";
import { temporaryFolder } from "../lib/places.mjs";

const ME = new URL(import.meta.url).pathname;
const now = () => performance.timeOrigin + performance.now();

/** A server with so many tools. `wait` answers when it is cancelled only; what came when is in the file LOG. */
function serve(count) {
  const tools = [{ name: "echo", inputSchema: { type: "object" } }, { name: "wait", inputSchema: { type: "object" } }];
  while (tools.length < count) tools.push({ name: `tool_${tools.length}`, description: `Does the thing number ${tools.length}`, inputSchema: { type: "object", properties: { path: { type: "string", description: "Where" }, count: { type: "integer" } }, required: ["path"] } });
  const results = {
    initialize: { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo: { name: "measured", version: "1" } },
    "tools/list": { tools },
    "tools/call": { content: [{ type: "text", text: "said" }] },
    ping: {},
  };
  createInterface({ input: process.stdin }).on("line", (line) => {
    const { id, method, params } = JSON.parse(line);
    if (process.env.LOG) fs.appendFileSync(process.env.LOG, `${JSON.stringify({ at: now(), method })}\n`);
    if (id === undefined || params?.name === "wait") return;
    const said = results[method] ? { result: results[method] } : { error: { code: -32601, message: `no ${method}` } };
    process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...said })}\n`);
  });
}

const middle = (times) => [...times].sort((a, b) => a - b)[Math.floor(times.length / 2)];
const most = (times) => Math.max(...times);

/** The server alone: milliseconds to its first answer, to its tools, and of a call. */
async function byHand(count) {
  const child = spawn(process.execPath, [ME, "serve", count], { stdio: ["pipe", "pipe", "inherit"] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  let id = 0;
  const ask = async (method, params = {}) => {
    child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id: (id += 1), method, params })}\n`);
    await lines.next();
    return now();
  };
  const begun = now();
  const started = await ask("initialize");
  const listed = await ask("tools/list");
  const called = await ask("tools/call", { name: "echo" });
  child.kill();
  return { started: started - begun, listed: listed - started, called: called - listed };
}

/** A model that calls the tool which the last prompt names, once, and then says something. */
async function startModel() {
  const requests = [];
  const server = createServer((request, response) => {
    let text = "";
    request.on("data", (part) => (text += part));
    request.on("end", () => {
      const { messages } = JSON.parse(text);
      requests.push({ at: now(), bytes: text.length });
      const last = messages.at(-1);
      const words = typeof last.content === "string" ? last.content : (last.content?.[0]?.text ?? "");
      const delta = last.role === "user" && words.startsWith("mcp__") ? { tool_calls: [{ index: 0, id: `c${requests.length}`, function: { name: words, arguments: "{}" } }] } : { content: "said" };
      response.writeHead(200, { "content-type": "text/event-stream" });
      for (const choice of [{ delta }, { delta: {}, finish_reason: delta.content ? "stop" : "tool_calls" }]) response.write(`data: ${JSON.stringify({ id: "x", model: "m1", choices: [{ index: 0, ...choice }] })}\n\n`);
      response.end("data: [DONE]\n\n");
    });
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  return { requests, url: `http://127.0.0.1:${server.address().port}`, end: () => server.close() };
}

/** offshoot with that server: milliseconds from its start to the first request, without and with remembered definitions. */
async function measured(folder, model, count, rounds) {
  const home = path.join(folder, `home-${count}`);
  const place = path.join(home, "data");
  fs.mkdirSync(path.join(home, "work"), { recursive: true });
  fs.mkdirSync(place);
  const known = { id: "m1", name: "m1", contextWindow: 2_000_000, maxTokens: 8000, reasoning: false, input: ["text"], cost: { input: 1, output: 1, cacheRead: 0, cacheWrite: 0 } };
  fs.writeFileSync(path.join(place, "models.json"), JSON.stringify({ providers: { test: { baseUrl: model.url, api: "openai-completions", apiKey: "k", models: [known] } } }), { mode: 0o600 });
  const log = path.join(home, "log");
  const servers = count > 0 ? { s: { command: process.execPath, args: [ME, "serve", `${count}`], env: { LOG: log }, exposure: count > 100 ? "deferred" : "direct" } } : {};
  fs.writeFileSync(path.join(place, "mcp.json"), JSON.stringify({ mcpServers: servers }));
  const env = { PATH: process.env.PATH, HOME: home, OFFSHOOT_HOME: place, LANG: "C.UTF-8", TERM: "dumb" };
  const first = { cold: [], warm: [] };
  const [calls, stops] = [[], []];
  for (let round = 0; round < rounds; round += 1) {
    fs.rmSync(path.join(place, "cache"), { recursive: true, force: true });
    fs.rmSync(path.join(home, ".cache"), { recursive: true, force: true });
    for (const kind of ["cold", "warm"]) {
      const asked = model.requests.length;
      const begun = now();
      const peer = new RpcPeer(path.resolve(process.env.OFFSHOOT_BIN), ["--mode", "rpc", "--model", "test/m1", "--approval", "auto"], { cwd: path.join(home, "work"), env });
      await peer.prompt("go");
      first[kind].push(model.requests[asked].at - begun);
      if (count === 3) {
        const from = peer.records.length;
        await peer.prompt("mcp__s__echo");
        const end = peer.records.slice(from).find((record) => record.type === "tool_execution_end" && record.toolName === "mcp__s__echo");
        if (end.isError) throw new Error(JSON.stringify(end));
        const [before, next] = model.requests.slice(-2);
        calls.push(next.at - before.at);
        const accepted = peer.records.length;
        await peer.ask({ type: "prompt", message: "mcp__s__wait" });
        await peer.until((record) => record.type === "tool_execution_start", accepted);
        const seen = () => fs.readFileSync(log, "utf8").trim().split("\n").map((line) => JSON.parse(line));
        const waitsFor = async (method, after) => {
          for (;;) {
            const line = seen().find((one) => one.method === method && one.at > after);
            if (line) return line.at;
            await new Promise((done) => setTimeout(done, 5));
          }
        };
        await waitsFor("tools/call", begun);
        const stopped = now();
        await peer.ask({ type: "abort" });
        stops.push((await waitsFor("notifications/cancelled", stopped)) - stopped);
      }
      peer.child.stdin.end();
      await peer.ended;
    }
  }
  return { first, calls, stops, bytes: model.requests.at(-1).bytes };
}

if (process.argv[2] === "serve") serve(Number(process.argv[3]));
else {
  const rounds = Number(process.argv[2] ?? 5);
  const folder = temporaryFolder("mcp-figures");
  const model = await startModel();
  const row = (name, times) => console.log(`${name.padEnd(64)} ${middle(times).toFixed(1).padStart(8)} ms, at most ${most(times).toFixed(1)}`);
  for (const count of [0, 3, 10_000]) {
    const alone = [];
    for (let round = 0; count > 0 && round < rounds; round += 1) alone.push(await byHand(count));
    if (count > 0) {
      row(`by hand, ${count} tools: start`, alone.map(({ started }) => started));
      row(`by hand, ${count} tools: list`, alone.map(({ listed }) => listed));
      row(`by hand, ${count} tools: a call`, alone.map(({ called }) => called));
    }
    const { first, calls, stops, bytes } = await measured(folder, model, count, rounds);
    row(`offshoot, ${count} tools: start to first request`, first.cold);
    row(`offshoot, ${count} tools: the same, tools remembered`, first.warm);
    if (calls.length > 0) row(`offshoot: a call, from the request of the model to its next one`, calls);
    if (stops.length > 0) row(`offshoot: a stop until the server sees it`, stops);
    console.log(`offshoot, ${count} tools: last request ${bytes} bytes`);
  }
  model.end();
  fs.rmSync(folder, { recursive: true, force: true });
}
