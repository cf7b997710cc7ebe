// Keys are planted in auth.json, in variables, behind models.json and in headers. Models let tools print them, and servers repeat them in errors and in
// answers. Afterwards no file below the home but auth.json has one, and no output.
//   OFFSHOOT_BIN=… node --test keys.test.mjs
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import * as fs from "node:fs";
import * as http from "node:http";
import * as os from "node:os";
import * as path from "node:path";
import { after, test } from "node:test";

const program = process.env.OFFSHOOT_BIN;
if (!program) throw new Error("set OFFSHOOT_BIN");
const folder = fs.mkdtempSync(path.join(os.tmpdir(), "keys-"));
after(() => fs.rmSync(folder, { recursive: true, force: true }));
const planted = (name) => `sk-planted-${name}-0123456789abcdef`;
const STORED = planted("stored");
const OTHER = planted("other-stored");
const KEYS = { GROQ_API_KEY: planted("groq"), OWN_KEY: planted("own"), OWN_HEADER: planted("header"), ANTHROPIC_API_KEY: planted("unused") };
const ALL = [STORED, OTHER, ...Object.values(KEYS)];

const text = (content) => [{ delta: { content } }, { delta: {}, finish_reason: "stop" }];
const call = (name, args) => [
  { delta: { tool_calls: [{ index: 0, id: `call_${name}_${JSON.stringify(args).length}`, type: "function", function: { name, arguments: JSON.stringify(args) } }] } },
  { delta: {}, finish_reason: "tool_calls" },
];
const stream = (choices) => [...choices.map((choice) => `data: ${JSON.stringify({ id: "c", choices: [{ index: 0, ...choice }] })}\n\n`), "data: [DONE]\n\n"].join("");
/** What the server has received of a request's keys, in the words of a server that is too open. */
const echo = ({ headers }) => `bad key ${headers.authorization} (${headers["x-own"]}) ${(headers.authorization ?? "").split(" ").at(-1)}`;

/** Each replies to one request. */
const SCRIPTS = {
  tools: [
    () => [200, stream(call("bash", { command: "env" }))],
    () => [200, stream(call("bash", { command: 'cat "$OFFSHOOT_HOME"/*.json "$HOME"/data/*.json; echo done >&2; exit 3' }))],
    () => [200, stream(call("read", { path: "../data/auth.json" }))],
    () => [200, stream(call("grep", { pattern: "sk-planted", path: "../data" }))],
    () => [200, stream(call("bash", { command: "cat leaked.txt" }))],
    () => [200, stream(call("write", { path: "seen.txt", content: "nothing" }))],
    (request) => [200, stream(text(`All was printed: ${echo(request)}`))],
  ],
  refused: [(request) => [401, JSON.stringify({ error: { message: echo(request) } })]],
  failing: [(request) => [500, echo(request)], (request) => [503, echo(request)], () => [200, stream(text("In the end."))]],
  moved: [(request) => [302, "", { location: `/elsewhere?key=${request.headers.authorization}` }]],
  broken: [(request) => [200, `data: ${JSON.stringify({ error: { message: echo(request) } })}\n\n`]],
  strange: [(request) => [200, `data: {"id": ${echo(request)}\n\n`]],
};

let replies = [];
let asked = 0;
const server = http.createServer((request, response) => {
  request.resume();
  request.on("end", () => {
    asked++;
    const [status, body, headers = {}] = (replies.shift() ?? (() => [400, "{}"]))(request);
    response.writeHead(status, { "content-type": status === 200 ? "text/event-stream" : "application/json", ...headers }).end(body);
  });
});
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
after(() => server.close());

function home(name) {
  const at = path.join(folder, name);
  const data = path.join(at, "data");
  fs.mkdirSync(path.join(at, "work"), { recursive: true });
  fs.mkdirSync(data);
  const baseUrl = `http://127.0.0.1:${server.address().port}/v1`;
  const own = { baseUrl, api: "openai-completions", apiKey: "$OWN_KEY", headers: { "x-own": "$OWN_HEADER" }, models: [{ id: "m1" }] };
  const models = { providers: { own, groq: { baseUrl }, openrouter: { baseUrl }, deepseek: { baseUrl } } };
  const auth = { openrouter: { type: "api_key", key: STORED }, deepseek: { type: "api_key", key: OTHER } };
  fs.writeFileSync(path.join(data, "models.json"), JSON.stringify(models), { mode: 0o600 });
  fs.writeFileSync(path.join(data, "auth.json"), JSON.stringify(auth), { mode: 0o600 });
  fs.writeFileSync(path.join(data, "settings.json"), JSON.stringify({ retry: { baseDelayMs: 1 }, shellKeepKeys: ["GROQ_API_KEY", "OWN_KEY", "OWN_HEADER"] }));
  return at;
}

const run = (at, args, input = "") =>
  new Promise((resolve) => {
    const env = { PATH: process.env.PATH, HOME: at, OFFSHOOT_HOME: path.join(at, "data"), XDG_STATE_HOME: path.join(at, "state"), TMPDIR: at, ...KEYS };
    const child = spawn(program, args, { cwd: path.join(at, "work"), env });
    let said = "";
    for (const out of [child.stdout, child.stderr]) out.setEncoding("utf8").on("data", (piece) => (said += piece));
    child.on("close", () => resolve(said));
    child.stdin.end(input);
  });

const files = (at) =>
  fs.readdirSync(at, { withFileTypes: true, recursive: true }).filter((entry) => entry.isFile()).map((entry) => path.join(entry.parentPath ?? entry.path, entry.name));

/** Where a key is in what was written or said: as it is, or in one of the ways in which tools and files spell it. */
const found = (text) => ALL.filter((key) => [key, Buffer.from(key).toString("base64").slice(0, -4), encodeURIComponent(key), [...key].reverse().join("")].some((spelled) => text.includes(spelled)));

test("planted keys are nowhere but in auth.json", async () => {
  const bad = [];
  const look = (name, said) => found(said).forEach((key) => bad.push(`${key} in ${name}`));
  for (const [name, script] of Object.entries(SCRIPTS)) {
    for (const provider of ["own", "groq", "openrouter"]) {
      const at = home(`${name}-${provider}`);
      const model = { own: "m1", groq: "openai/gpt-oss-120b", openrouter: "moonshotai/kimi-k2.7-code" }[provider];
      fs.writeFileSync(path.join(at, "work/leaked.txt"), "nothing yet\n");
      replies = [...script];
      asked = 0;
      const asking = ["--provider", provider, "--model", model];
      const form = { own: [], groq: ["--mode", "json"], openrouter: ["--then", "and again"] }[provider];
      look(`the output of ${name} with ${provider}`, await run(at, ["-p", "print all keys", ...asking, ...form, "--approval", "auto"]));
      assert.ok(asked > 0, `${name} ${provider}`);
      if (name === "tools") {
        // The commands have run, and printed what they were told to.
        const session = files(at).find((file) => file.endsWith(".jsonl") && file.includes("sessions"));
        assert.match(fs.readFileSync(session, "utf8"), /OWN_KEY=\[key hidden by offshoot\]/);
      }
      for (const args of [["doctor"], ["doctor", "--json"], ["auth"], ["models", "--json"], ["models"], ["show", "latest"], ["export", "latest", "--output", "page.html"], ["list", "--json"]]) {
        look(`${args.join(" ")} after ${name}`, await run(at, args));
      }
      for (const file of files(at).filter((file) => !file.endsWith("data/auth.json"))) look(path.relative(folder, file), fs.readFileSync(file, "latin1"));
    }
  }
  assert.deepEqual(bad, []);
});

test("nor do they leave in RPC", async () => {
  const at = home("rpc");
  replies = [...SCRIPTS.tools, ...SCRIPTS.refused];
  const lines = [{ id: "1", type: "prompt", message: "print" }, { id: "2", type: "get_available_models" }, { id: "3", type: "bash", command: "env" }, { id: "4", type: "get_messages" }, { id: "5", type: "get_state" }];
  const said = await run(at, ["--mode", "rpc", "--provider", "own", "--model", "m1"], lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  assert.ok(said.includes("get_available_models"), said);
  const bad = [...found(said), ...files(at).filter((file) => !file.endsWith("data/auth.json")).flatMap((file) => found(fs.readFileSync(file, "latin1")).map((key) => `${key} in ${file}`))];
  assert.deepEqual(bad, []);
});
