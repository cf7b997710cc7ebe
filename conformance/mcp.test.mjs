// Servers of MCP beside pi 1.6.0: one configuration and one server; what the model is sent and what is stored is equal, but for what
// `docs/mcp.md` lists. MCP_SERVER_EVERYTHING names the folder of an installed `@modelcontextprotocol/server-everything` that is compared as well.
//   OFFSHOOT_BIN=… node --test mcp.test.mjs
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import * as fs from "node:fs";
import { createServer } from "node:http";
import * as path from "node:path";
import { after, test } from "node:test";
import { HERE, newestNode, newestPi, temporaryFolder } from "./lib/places.mjs";
import { CALLS } from "./mcp/server.mjs";

const program = process.env.OFFSHOOT_BIN;
if (!program) throw new Error("set OFFSHOOT_BIN");
const folder = temporaryFolder("mcp");
after(() => fs.rmSync(folder, { recursive: true, force: true }));

/** The results that differ on purpose, by tool: docs/mcp.md says why. */
const DIFFERENT = new Set(["fails-silently", "refuses", "structured-only"]);
const RESOURCES = [["list_mcp_resources", {}], ["list_mcp_resource_templates", {}], ["read_mcp_resource", { server: "every-thing", uri: "demo://one" }]];

const EVERYTHING = process.env.MCP_SERVER_EVERYTHING;
const SERVERS = {
  "the server of this folder": { entry: { command: process.execPath, args: [path.join(HERE, "mcp/server.mjs")] }, calls: CALLS, resources: RESOURCES },
  ...(EVERYTHING && {
    "server-everything": {
      entry: { command: process.execPath, args: [path.resolve(EVERYTHING, "dist/index.js"), "stdio"] },
      calls: [["echo", { message: "hello" }], ["get-sum", { a: 1, b: 2 }], ["get-structured-content", { location: "New York" }], ["get-annotated-message", { messageType: "error", includeImage: true }], ["get-resource-links", { count: 2 }], ["get-tiny-image", {}]],
      resources: RESOURCES.slice(0, 2),
    },
  }),
};

/** A model that makes each call once, under the names that it is offered, and then says that it is done. Keeps the requests. */
async function startModel(wanted) {
  const requests = [];
  const server = createServer((request, response) => {
    let text = "";
    request.on("data", (part) => (text += part));
    request.on("end", () => {
      const body = JSON.parse(text);
      requests.push(body);
      const isFirst = requests.length === 1;
      const blocks = isFirst
        ? wanted(body.tools.map(({ name }) => name)).flatMap(([name, input], index) => [
            ["content_block_start", { index, content_block: { type: "tool_use", id: `c${index}`, name, input: {} } }],
            ["content_block_delta", { index, delta: { type: "input_json_delta", partial_json: JSON.stringify(input) } }],
            ["content_block_stop", { index }],
          ])
        : [
            ["content_block_start", { index: 0, content_block: { type: "text", text: "" } }],
            ["content_block_delta", { index: 0, delta: { type: "text_delta", text: "Done." } }],
            ["content_block_stop", { index: 0 }],
          ];
      const events = [
        ["message_start", { message: { id: "m", type: "message", role: "assistant", model: body.model, content: [], usage: { input_tokens: 1, output_tokens: 1 } } }],
        ...blocks,
        ["message_delta", { delta: { stop_reason: isFirst ? "tool_use" : "end_turn" }, usage: { output_tokens: 2 } }],
        ["message_stop", {}],
      ];
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.end(events.map(([type, data]) => `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`).join(""));
    });
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  return { requests, url: `http://127.0.0.1:${server.address().port}`, end: () => server.close() };
}

/** All lines of the one session below a folder. */
function stored(below) {
  const files = fs.readdirSync(below, { recursive: true }).filter((name) => name.endsWith(".jsonl") && name.includes("sessions"));
  assert.equal(files.length, 1, `${below}: ${files}`);
  return fs.readFileSync(path.join(below, files[0]), "utf8").trim().split("\n").map((line) => JSON.parse(line));
}

/** One program with this server. */
async function used(name, words, data, { entry, calls, resources }) {
  const prefix = "mcp__every_thing__";
  const named = (offered) => {
    const own = offered.filter((one) => one.startsWith(prefix));
    // A name of two tools, or a long one, ends in a hash.
    const called = calls.map(([tool, input]) => [own.find((one) => one === prefix + tool.replace(/[^A-Za-z0-9_]/g, "_")), input]);
    const hashed = own.filter((one) => /_[0-9a-f]{8}$/.test(one)).sort().map((one) => [one, {}]);
    return [...called.filter(([tool]) => tool), ...hashed, ...resources.filter(([tool]) => offered.includes(tool))];
  };
  const model = await startModel(named);
  const home = path.join(folder, name);
  const place = path.join(home, data);
  fs.mkdirSync(place, { recursive: true });
  fs.mkdirSync(path.join(home, "work"));
  const known = { id: "m1", name: "m1", contextWindow: 200000, maxTokens: 8000, reasoning: false, input: ["text", "image"], cost: { input: 1, output: 1, cacheRead: 0, cacheWrite: 0 } };
  const models = { providers: { test: { baseUrl: model.url, api: "anthropic-messages", apiKey: "k", models: [known] } } };
  fs.writeFileSync(path.join(place, "models.json"), JSON.stringify(models), { mode: 0o600 });
  fs.writeFileSync(path.join(place, "mcp.json"), JSON.stringify({ mcpServers: { "every-thing": { ...entry, exposure: "direct" } } }));
  const env = { PATH: process.env.PATH, HOME: home, OFFSHOOT_HOME: place, PI_OFFLINE: "1", PI_SKIP_VERSION_CHECK: "1", LANG: "C.UTF-8", TERM: "dumb" };
  const child = spawn(words[0], [...words.slice(1), "-p", "go"], { cwd: path.join(home, "work"), env, stdio: ["ignore", "pipe", "pipe"] });
  let told = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (part) => (told += part));
  const code = await new Promise((done) => child.on("close", done));
  model.end();
  assert.equal(code, 0, told);
  const results = stored(home).map(({ message }) => message).filter((message) => message?.role === "toolResult");
  return { requests: model.requests, results, told };
}

const without = (object, ...names) => Object.fromEntries(Object.entries(object).filter(([name]) => !names.includes(name)));
/** The file in which a picture or a long text is kept has another name in each run. */
const shown = (value) => JSON.parse(JSON.stringify(value).replaceAll(folder, "FOLDER").replace(/FOLDER\/(pi|ours)-\d+/g, "HOME"));

let nth = 0;
for (const [name, server] of Object.entries(SERVERS)) {
  const skip = fs.existsSync(newestNode()) && fs.existsSync(newestPi()) ? false : "there is no pi 1.6 with its Node.js";
  test(`${name} is used as pi uses it`, { skip }, async () => {
    nth += 1;
    const [theirs, ours] = await Promise.all([
      used(`pi-${nth}`, [newestNode(), path.join(newestPi(), "dist/cli.js"), "--provider", "test", "--model", "m1"], ".pi/agent", server),
      used(`ours-${nth}`, [path.resolve(program), "--model", "test/m1", "--approval", "auto"], "data", server),
    ]);
    const tools = ({ requests }) => requests[0].tools.filter((tool) => tool.name.startsWith("mcp__")).map((tool) => without(tool, "cache_control", "eager_input_streaming"));
    const byName = (one, other) => (one.name < other.name ? -1 : 1);
    assert.ok(tools(ours).length >= server.calls.length, ours.told);
    assert.deepEqual(tools(ours).sort(byName), tools(theirs).sort(byName));
    const helpers = ({ requests }) => requests[0].tools.map((tool) => tool.name).filter((one) => RESOURCES.some(([tool]) => tool === one)).sort();
    assert.deepEqual(helpers(ours), helpers(theirs));
    const results = ({ results: all }) => {
      const compared = all.filter(({ toolName }) => !toolName.includes("_mcp_resource") && ![...DIFFERENT].some((tool) => toolName.endsWith(tool.replaceAll("-", "_"))));
      return shown(compared.map(({ toolCallId, toolName, content, isError }) => ({ toolCallId, toolName, content, isError: isError ?? false })));
    };
    assert.ok(results(ours).length >= server.calls.length - DIFFERENT.size - 1);
    assert.deepEqual(results(ours), results(theirs));
    // The words about resources are offshoot's own; that they came is not.
    const resources = ({ results: all }) => all.filter(({ toolName }) => toolName.includes("_mcp_resource")).map(({ toolName, isError }) => [toolName, isError ?? false]);
    assert.deepEqual(resources(ours), resources(theirs));
    if (process.env.VERBOSE) console.log(JSON.stringify({ theirs: theirs.results, ours: ours.results }, null, 1));
  });
}
