// Settings, system prompts and skills of an oh-my-pi user, under oh-my-pi and under offshoot: what each sends to the model.
//   OFFSHOOT_BIN=../target/debug/offshoot node --test omp-folder.test.mjs
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import * as fs from "node:fs";
import { createServer } from "node:http";
import * as path from "node:path";
import { after, test } from "node:test";
import { bunBinary, newestNode, ompPackage, temporaryFolder } from "./lib/places.mjs";

const program = process.env.OFFSHOOT_BIN && path.resolve(process.env.OFFSHOOT_BIN);
if (!program) throw new Error("set OFFSHOOT_BIN");
const root = fs.realpathSync(temporaryFolder("omp-folder"));
after(() => fs.rmSync(root, { recursive: true, force: true }));

const requests = [];
/** What the model answers, request by request: a text, or a file that it writes. */
let says = [];
const events = (model, { text, write }, tools) => [
  ["message_start", { message: { id: "m", type: "message", role: "assistant", model, content: [], usage: { input_tokens: 1, output_tokens: 1 } } }],
  ["content_block_start", { index: 0, content_block: write ? { type: "tool_use", id: "toolu_1", name: tools.find(({ name }) => /^_?write$/.test(name)).name, input: {} } : { type: "text", text: "" } }],
  ["content_block_delta", { index: 0, delta: write ? { type: "input_json_delta", partial_json: JSON.stringify(write) } : { type: "text_delta", text } }],
  ["content_block_stop", { index: 0 }],
  ["message_delta", { delta: { stop_reason: write ? "tool_use" : "end_turn" }, usage: { output_tokens: 2 } }],
  ["message_stop", {}],
];
const server = createServer((request, response) => {
  let text = "";
  request.on("data", (part) => (text += part));
  request.on("end", () => {
    const body = JSON.parse(text);
    requests.push(body);
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(events(body.model, says.shift() ?? { text: "Done." }, body.tools).map(([type, data]) => `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`).join(""));
  });
});
await new Promise((done) => server.listen(0, "127.0.0.1", done));
after(() => server.close());

const skill = (name, words) => `---\nname: ${name}\ndescription: ${words}\n---\nx\n`;
const tool = (name) => `export default (omp) => omp.registerTool({ name: "${name}", label: "x", description: "x", parameters: { type: "object", properties: {} }, execute: async () => ({ content: [] }) });\n`;
const model = (id) => `      - id: ${id}\n        contextWindow: 200000\n        maxTokens: 64000\n        reasoning: true\n        thinking: {mode: budget, efforts: [low, high]}\n`;
const files = {
  "home/.omp/agent/models.yml": `providers:\n  mine:\n    baseUrl: http://127.0.0.1:${server.address().port}\n    api: anthropic-messages\n    apiKey: key\n    models:\n${model("m1")}${model("m2")}`,
  "home/.omp/agent/config.yml":
    "modelRoles:\n  default: mine/m2:low\nskills:\n  ignoredSkills: [ignored]\n  customDirectories: [~/more]\ndisabledExtensions: [skill:disabled, extension-module:off]\nextensions: [~/listed.ts]\n",
  "home/.omp/agent/APPEND_SYSTEM.md": "APPENDED-BY-USER",
  "home/.omp/agent/skills/kept/SKILL.md": skill("kept", "KEPT-SKILL"),
  "home/.omp/agent/skills/ignored/SKILL.md": skill("ignored", "IGNORED-SKILL"),
  "home/.omp/agent/skills/disabled/SKILL.md": skill("disabled", "DISABLED-SKILL"),
  "home/.omp/agent/managed-skills/learnt/SKILL.md": skill("learnt", "LEARNT-SKILL"),
  "home/.omp/agent/extensions/found.ts": tool("found_tool"),
  "home/.omp/agent/extensions/off.ts": tool("off_tool"),
  "home/.omp/agent/instructions/own.md": "INSTRUCTIONS-OF-USER",
  "home/more/custom/SKILL.md": skill("custom", "CUSTOM-SKILL"),
  "home/listed.ts": tool("listed_tool"),
  "own/settings.json": '{"ompFolder": "on", "piFolder": "off"}',
};
const ofProject = { "work/.omp/config.yml": "modelRoles:\n  default: mine/m1:high\nextensions: [here.ts]\n", "work/here.ts": tool("here_tool"), "work/.omp/SYSTEM.md": "SYSTEM-OF-PROJECT" };
const put = (all) => {
  for (const [name, words] of Object.entries(all)) {
    fs.mkdirSync(path.dirname(path.join(root, name)), { recursive: true });
    fs.writeFileSync(path.join(root, name), words);
  }
};
const WORDS = ["APPENDED-BY-USER", "KEPT-SKILL", "IGNORED-SKILL", "DISABLED-SKILL", "LEARNT-SKILL", "CUSTOM-SKILL", "INSTRUCTIONS-OF-USER", "SYSTEM-OF-PROJECT"];
const TOOLS = ["found_tool", "off_tool", "listed_tool", "here_tool"];

/** What one of the programs sends for a prompt: the model, whether and how much it thinks, and which of the words and tools are there. */
async function sent(name) {
  requests.length = 0;
  const omp = [bunBinary(), [path.join(ompPackage(), "dist/cli.js"), "--no-title", "--auto-approve", "-p", "go"]];
  const [command, args] = name === "omp" ? omp : [program, ["--trust", "-p", "go"]];
  const env = { PATH: process.env.PATH, HOME: path.join(root, "home"), OFFSHOOT_HOME: path.join(root, "own"), PI_NODE: newestNode(), TZ: "UTC", LANG: "C.UTF-8" };
  const child = spawn(command, args, { cwd: path.join(root, "work"), env, stdio: ["ignore", "ignore", "pipe"] });
  let stderr = "";
  child.stderr.on("data", (part) => (stderr += part));
  await new Promise((done) => child.on("close", done));
  const request = requests.find(({ messages }) => JSON.stringify(messages).includes("go"));
  assert.ok(request, `${name} asked nothing: ${stderr}`);
  const all = JSON.stringify([request.system, request.messages]);
  const tools = (request.tools ?? []).map((tool) => tool.name);
  return { model: request.model, budget: request.thinking?.budget_tokens, words: WORDS.filter((word) => all.includes(word)), tools: TOOLS.filter((tool) => all.includes(tool) || tools.includes(tool) || tools.includes(`_${tool}`)) };
}

fs.mkdirSync(path.join(root, "work"), { recursive: true });
put(files);

test("the settings, prompts, skills and extensions of oh-my-pi's folder count as in oh-my-pi", async () => {
  const [theirs, ours] = [await sent("omp"), await sent("offshoot")];
  assert.deepEqual(ours, theirs);
  assert.deepEqual([theirs.model, theirs.words.includes("LEARNT-SKILL"), theirs.tools], ["m2", true, ["found_tool", "listed_tool"]]);
});

test("those of a project come before them, and its list of extensions replaces theirs", async () => {
  put(ofProject);
  const [theirs, ours] = [await sent("omp"), await sent("offshoot")];
  // A SYSTEM.md leaves no list of tools in oh-my-pi's prompt.
  assert.deepEqual({ ...ours, tools: [] }, theirs);
  assert.deepEqual([theirs.model, theirs.words.includes("SYSTEM-OF-PROJECT"), ours.tools], ["m1", true, ["found_tool", "here_tool"]]);
});

test("a rule that stops nothing follows, and oh-my-pi's own rules are there", async () => {
  fs.rmSync(path.join(root, "work/.omp"), { recursive: true });
  put({ "home/.omp/agent/rules/hush.md": "---\ncondition: hushed\ninterruptMode: never\n---\nHush." });
  const seen = {};
  for (const name of ["omp", "offshoot"]) {
    says = [{ write: { path: "a.rs", content: "let x = Box::leak(y);" } }, { text: "The hushed word." }];
    await sent(name);
    const rules = requests.map(({ messages }) => [...JSON.stringify(messages).matchAll(/rule=\\"([\w-]+)\\"/g)].map(([, rule]) => rule));
    const sessions = path.join(root, name === "omp" ? "home/.omp/agent/sessions" : "own/sessions");
    const file = fs.readdirSync(sessions, { recursive: true }).map((at) => path.join(sessions, at)).filter((at) => at.endsWith(".jsonl")).sort((a, b) => fs.statSync(a).mtimeMs - fs.statSync(b).mtimeMs).at(-1);
    const entries = fs.readFileSync(file, "utf8").trim().split("\n").map((line) => JSON.parse(line));
    const shape = entries.filter(({ type }) => /^(message|custom_message|ttsr_injection)$/.test(type)).map(({ type, message, customType, injectedRules }) => [type, message?.role ?? customType ?? injectedRules, message?.stopReason]);
    seen[name] = { rules, shape: shape.filter(([, role]) => role !== "developer") };
  }
  assert.deepEqual(seen.offshoot, seen.omp);
  assert.deepEqual(seen.omp.rules.at(-1), ["rs-box-leak", "hush"]);
});
