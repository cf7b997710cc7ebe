// A pi user's own folder, with every kind of file and broken ones too, under pi and under offshoot: what each sends to the model.
// Every part of a request that differs is in a table with its reason. offshoot must not change one byte, mode or time of the folder.
//   OFFSHOOT_BIN=../target/debug/offshoot node --test pi-folder.test.mjs
// PI_CLI names another pi, such as the unpacked bundle of 1.5.2.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import * as fs from "node:fs";
import { createServer } from "node:http";
import * as os from "node:os";
import * as path from "node:path";
import { after, test } from "node:test";
import { MODULES, bunBinary } from "./lib/places.mjs";

const offshoot = process.env.OFFSHOOT_BIN;
if (!offshoot) throw new Error("set OFFSHOOT_BIN to the program");
const piCli = process.env.PI_CLI ?? path.join(MODULES, "@earendil-works/pi-coding-agent/dist/cli.js");

// The command line of pi needs a later node than its library.
const runtime = Number(process.versions.node.split(".")[0]) >= 22 ? process.execPath : bunBinary();

const about = JSON.parse(fs.readFileSync(path.join(path.dirname(piCli), piCli.includes("/bundle/") ? "../.." : "..", "package.json"), "utf8"));
const isOld = about.version.startsWith("0.");

const requests = [];
const said = (model) =>
  [
    ["message_start", { message: { id: "m", type: "message", role: "assistant", model, content: [], usage: { input_tokens: 1, output_tokens: 1 } } }],
    ["content_block_start", { index: 0, content_block: { type: "text", text: "" } }],
    ["content_block_delta", { index: 0, delta: { type: "text_delta", text: "Done." } }],
    ["content_block_stop", { index: 0 }],
    ["message_delta", { delta: { stop_reason: "end_turn" }, usage: { output_tokens: 2 } }],
    ["message_stop", {}],
  ].map(([type, data]) => `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`).join("");
const server = createServer((request, response) => {
  let text = "";
  request.on("data", (part) => (text += part));
  request.on("end", () => {
    const body = JSON.parse(text);
    requests.push({ key: request.headers["x-api-key"], body });
    response.writeHead(200, { "content-type": "text/event-stream" }).end(said(body.model));
  });
});
await new Promise((done) => server.listen(0, "127.0.0.1", done));
after(() => server.close());

const root = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), "pi-folder-")));
after(() => fs.rmSync(root, { recursive: true, force: true }));
const home = path.join(root, "home");
const folder = path.join(home, ".pi/agent");
const work = path.join(root, "work");

const model = (id) => ({ id, contextWindow: 200000, maxTokens: 8000, reasoning: true });
const files = {
  "models.json": `{"providers": { // mine
    "mine": {"baseUrl": "http://127.0.0.1:${server.address().port}", "api": "anthropic-messages", "apiKey": "of-models",
      "models": ${JSON.stringify([model("p1"), model("p2")])}}, }}`,
  "auth.json": JSON.stringify({ mine: { type: "api_key", key: "$OWN", env: { OWN: "of-auth" } }, anthropic: { type: "oauth", access: "a", refresh: "r", expires: 1 } }),
  "settings.json": JSON.stringify({
    defaultProvider: "mine", defaultModel: "p2", defaultThinkingLevel: "low", modelThinkingLevels: { "mine/p1": "high" },
    prompts: ["more"], skills: ["!left"], retry: { enabled: false }, shellPath: "/bin/bash",
  }),
  "keybindings.json": '{"app.clear": "alt+q"}',
  "AGENTS.md": "Words of the user.",
  "themes/night.json": '{"name": "night", "colors": {}}',
  "prompts/rev.md": "---\ndescription: Review\nargument-hint: <file>\n---\nReview $1 and ${@:2}.",
  "prompts/all.md": "All of $ARGUMENTS; $@; ${3:-none}.",
  "prompts/broken.md": "---\na: b: c\n---\nx",
  "prompts/with space.md": "never",
  "prompts/.hidden.md": "never",
  "prompts/UPPER.MD": "never",
  "prompts/sub/inner.md": "never",
  "more/sub/deep.md": "Deep $1.",
  "skills/count/SKILL.md": "---\nname: count\ndescription: Counts <letters> & \"words\".\n---\nCount them.\n",
  "skills/BadName/SKILL.md": "---\nname: Bad_Name\ndescription: >\n  Folded\n  text.\n---\nx\n",
  "skills/own/SKILL.md": "---\nname: own\ndescription: For people.\ndisable-model-invocation: true\n---\nx\n",
  "skills/left/SKILL.md": "---\nname: left\ndescription: Left out by the settings.\n---\nx\n",
  "skills/none/SKILL.md": "---\nname: none\n---\nx\n",
  "skills/yaml/SKILL.md": "---\nname: [\n---\nx\n",
  "skills/deep/er/SKILL.md": "---\nname: deeper\ndescription: Found below.\r\n---\r\nx\r\n",
  "skills/lone.md": "---\nname: lone\ndescription: One file.\n---\nAlone.\n",
  "skills/.gitignore": "ignored\n",
  "skills/ignored/SKILL.md": "---\nname: ignored\ndescription: Ignored.\n---\nx\n",
};

/** Writes the home anew. pi writes into its folder, so each of its runs gets its own. */
function prepare() {
  fs.rmSync(home, { recursive: true, force: true });
  fs.rmSync(work, { recursive: true, force: true });
  for (const [name, text] of Object.entries(files)) {
    const file = path.join(folder, name);
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(file, text, { mode: 0o600 });
  }
  fs.symlinkSync("nowhere", path.join(folder, "prompts/dangling.md"));
  fs.mkdirSync(path.join(home, ".agents/skills/shared"), { recursive: true });
  fs.writeFileSync(path.join(home, ".agents/skills/shared/SKILL.md"), "---\nname: shared\ndescription: Shared by agents.\n---\nx\n");
  fs.mkdirSync(work, { recursive: true });
  fs.writeFileSync(path.join(work, "AGENTS.md"), "Words of the project.");
  fs.writeFileSync(path.join(work, "a.txt"), "the file");
  const own = path.join(home, ".local/share/offshoot");
  fs.mkdirSync(own, { recursive: true });
  fs.writeFileSync(path.join(own, "settings.json"), '{"piFolder": "on"}');
}

/** Bytes, mode and time of everything in pi's folder. */
function stamps() {
  const all = {};
  for (const name of fs.readdirSync(folder, { recursive: true })) {
    const file = path.join(folder, name);
    const stat = fs.lstatSync(file);
    all[name] = [stat.mode, stat.mtimeMs, stat.isFile() ? fs.readFileSync(file, "utf8") : ""];
  }
  return { ...all, ".": fs.statSync(folder).mtimeMs };
}

async function run(program, args, input) {
  requests.length = 0;
  const env = { PATH: process.env.PATH, HOME: home, TERM: "dumb", PI_OFFLINE: "1", LANG: "C.UTF-8" };
  const child = spawn(program[0], [...program.slice(1), ...args, "--no-session"], { env, cwd: work });
  let told = "";
  child.stderr.on("data", (part) => (told += part));
  child.stdout.resume();
  child.stdin.end(input ?? "");
  const code = await new Promise((done) => child.on("close", done));
  return { code, told, requests: [...requests] };
}

const text = (content) => (typeof content === "string" ? content : content.filter((one) => one.type === "text").map((one) => one.text).join("\u241e"));
const system = (body) => (typeof body.system === "string" ? body.system : (body.system ?? []).map((one) => one.text).join("\n"));

/** Everything of a request but words of the agents, and what is compared by itself: shape, order, cache marks, other members. */
function rest({ system, tools = [], model, max_tokens, thinking, messages, ...others }) {
  const words = (one) => (typeof one === "string" ? "text" : one.map((block) => ({ ...block, text: "" })));
  const said = ({ content, ...message }) => ({ ...message, content: words(content) });
  const shown = ({ name, description, input_schema, ...tool }) => tool;
  return { system: system && words(system), tools: tools.map(shown), messages: messages.map(said), ...others };
}

/** What a run sent, part by part. Words of the agents themselves are theirs. */
function parts({ code, told, requests }) {
  if (requests.length === 0) return { requests: 0, failed: code !== 0, told };
  const { key, body } = requests[0];
  const words = system(body);
  const skills = [...words.matchAll(/<name>([^]*?)<\/name>\s*<description>([^]*?)<\/description>\s*<location>([^]*?)<\/location>/g)];
  const context = [...words.matchAll(/<(?:project_)?instructions path="([^"]*)">\n([^]*?)<\/(?:project_)?instructions>/g)];
  return {
    requests: requests.length,
    key,
    model: body.model,
    thinking: JSON.stringify(body.thinking ?? null),
    maxTokens: body.max_tokens,
    members: Object.keys(body).sort().join(" "),
    user: requests.map((one) => text(one.body.messages.findLast((message) => message.role === "user")?.content ?? "")).join("\n\u241d\n"),
    tools: (body.tools ?? []).map((tool) => tool.name).join(" "),
    skills: skills.map((match) => match.slice(1).map((one) => one.trimEnd()).join(" | ")).join("\n"),
    rest: JSON.stringify(rest(body)),
    context: context.map((match) => `${match[1]}: ${match[2].trimEnd()}`).join("\n"),
  };
}

/** Arguments, standard input, and the parts that differ on purpose, with the reason. */
const cases = [
  [["-p", "hi"]],
  [["-p", "/rev main.rs a b"]],
  [["-p", "/rev 'two words' \"x y\" z"]],
  [["-p", "/all it's fine"], undefined, isOld ? { user: "an apostrophe in a word is a sign of the word, as in pi 1.5.2" } : {}],
  [["-p", "/all"]],
  [["-p", "/deep x"]],
  [["-p", "/broken x"]],
  [["-p", "/inner x"]],
  [["-p", "/skill:count now"]],
  [["-p", "/skill:own now"]],
  [["-p", "/skill:lone now"]],
  [["-p", "/skill:left now"], undefined, { requests: "an unknown skill is refused, and not sent to the model" }],
  [["-p", "hi", "--model", "p1"]],
  [["-p", "hi", "--model", "p1:off"]],
  [["-p", "hi", "--models", "p1,p2"]],
  [["-p", "hi", "--models", "mine/*1:minimal"]],
  [["-p", "hi", "-np"]],
  [["-p", "/rev x", "-np"]],
  [["-p", "hi", "-ns"]],
  [["-p", "hi", "-nc"]],
  [["-p", "hi", "-t", "read"]],
  [["-p", "hi", "-nt"]],
  [["-p", "@a.txt", "look"]],
  [["-p", "@a.txt"], undefined, { user: "a file alone ends without an empty line" }],
  [["-p", "@a.txt", "/rev x"], undefined, { user: "templates expand before files are joined" }],
  [["-p", "look"], "piped", { user: "piped text ends with a line break, so that its last word stays one" }],
  [["-p", "look"], "piped\n\n", { user: "piped text ends with a line break, so that its last word stays one" }],
  [["-p", "@a.txt", "look"], "piped", { user: "piped text ends with a line break, so that its last word stays one" }],
  [["-p"], "piped"],
  [["-p", "/rev x"], "piped", { user: "templates expand before piped text is joined" }],
];

test("a pi user's folder means the same here, and stays as it is", async (context) => {
  const found = [];
  let compared = 0;
  for (const [args, input, differing = {}] of cases) {
    prepare();
    const theirs = parts(await run([runtime, piCli], args, input));
    prepare();
    const before = stamps();
    // A tool that pi does not have.
    const own = await run([offshoot, "--exclude-tools", "todo,task"], args, input);
    assert.deepEqual(stamps(), before, `${args.join(" ")}: pi's folder`);
    const ours = parts(own);
    const names = differing.requests ? ["requests"] : [...new Set([...Object.keys(theirs), ...Object.keys(ours)])];
    for (const name of names) {
      compared += 1;
      const same = JSON.stringify(theirs[name]) === JSON.stringify(ours[name]);
      if (same !== !(name in differing)) found.push({ args: args.join(" "), name, pi: theirs[name], offshoot: ours[name], ...(theirs.failed ? { told: theirs.told } : {}) });
    }
  }
  assert.deepEqual(found, []);
  const reasons = cases.flatMap(([args, , differing]) => Object.entries(differing ?? {}).map(([part, why]) => `${args.join(" ")}: ${part}: ${why}`));
  context.diagnostic(`${cases.length} command lines, ${compared} parts compared; differing on purpose: ${reasons.length}\n${reasons.join("\n")}`);
});
