// Packages that users of pi bring along, each with one real use, within the whole of offshoot and of pi 1.6.0, with the same model:
// questions, notes, entries, requests to the model and failures. docs/packages.md has the table.
//   OFFSHOOT_BIN=… node extensions/moved-packages.mjs [NAME…]          installs and compares them; with PI_BESIDE=1 pi is installed beside them
import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import { createServer } from "node:http";
import * as os from "node:os";
import * as path from "node:path";
import { fileURLToPath } from "node:url";
import { newestPi } from "../lib/places.mjs";
import { modelServer } from "./model-server.mjs";
import { PACKAGES } from "./packages.mjs";
import { EXTENSIONS, node } from "./places.mjs";
import { prepare, RpcRun } from "./rpc-run.mjs";

const say = (text) => ({ say: [{ text }] });
const call = (name, given, id = "c1") => ({ say: [{ call: name, id, arguments: given }] });
const prompt = async (run) => [await run.prompt("one")];
/** A command of the extension, and what it says to the person. */
const command = (text) => async (run) => [await run.prompt(text), void (await run.said_(({ method }) => ["notify", "select", "editor"].includes(method)))];

/** A page, and a SearXNG that finds it. */
async function web() {
  const server = createServer((request, response) => {
    const isSearch = request.url.startsWith("/search");
    response.writeHead(200, { "content-type": isSearch ? "application/json" : "text/html" });
    response.end(isSearch ? JSON.stringify({ results: [{ title: "The found page", url: "https://example.com/page", content: "what was looked for" }] }) : "<html><title>A page</title><body><article><h1>A page</h1><p>Its text is here.</p></article></body></html>");
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${server.address().port}`, end: () => new Promise((resolve) => (server.closeAllConnections(), server.close(resolve))) };
}

/** What Ollama answers at its own port. */
async function ollama() {
  const server = createServer((request, response) => {
    const isSearch = request.url.endsWith("/web_search");
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify(isSearch ? { results: [{ title: "The found page", url: "https://example.com/page", content: "what was looked for" }] } : { title: "A page", content: "Its text is here.", links: [] }));
  });
  await new Promise((resolve) => server.listen(11434, "127.0.0.1", resolve));
  return { url: "http://localhost:11434", end: () => new Promise((resolve) => (server.closeAllConnections(), server.close(resolve))) };
}

const GREET = "---\nname: greet\ndescription: Greets somebody.\n---\nGreet $1.\n";
const POLICY = JSON.stringify({ doublePressToConfirm: false, permission: { "*": "allow", bash: { "*": "ask", "rm *": "deny" } } });
const SOURCE = "export function greet(name: string): string {\n  return `Hello ${name}`;\n}\n\nexport class Door {\n  open() {\n    return greet('x');\n  }\n}\n";

/** Each package with one use; `isInThird`: CI runs it; `holds` is what must have come of it. */
export const MOVED = {
  "@juicesharp/rpiv-ask-user-question": { isInThird: true, scenario: () => ({ answers: { select: ["1. Red — warm"] }, replies: [call("ask_user_question", { questions: [{ question: "Which colour?", header: "Colour", options: [{ label: "Red", description: "warm" }, { label: "Blue", description: "cold" }] }] }), say("Done.")], script: prompt }), holds: ({ entries }) => /Red/.test(entries[2].text) && !/declined/.test(entries[2].text) },
  "@juicesharp/rpiv-web-tools": { isInThird: true, server: web, scenario: (at, url) => ({ env: { SEARXNG_URL: url }, replies: [call("web_search", { query: "it", provider: "searxng" }), call("web_fetch", { url: `${url}/page` }, "c2"), say("Done.")], script: prompt }), holds: ({ entries }) => /The found page/.test(entries[2].text) && entries[4].role === "toolResult" },
  "@juicesharp/rpiv-pi": { scenario: () => ({ script: async (run) => { await run.prompt("one"); return run.at("ls $HOME/.pi/agent/agents").split("\n"); } }), holds: ({ results }) => results.length > 10 },
  "@juicesharp/rpiv-todo": { isInThird: true, scenario: () => ({ replies: [call("todo", { action: "create", subject: "Buy milk" }), call("todo", { action: "list" }, "c2"), say("Done.")], script: prompt }), holds: ({ entries }) => /Buy milk/.test(entries[4].text) },
  "@juicesharp/rpiv-workflow": { scenario: () => ({ script: command("/wf") }), holds: ({ said }) => said.length > 0 },
  "@tintinweb/pi-subagents": { isInThird: true, scenario: () => ({ replies: [call("Agent", { prompt: "Say hi", description: "says hi", subagent_type: "Explore" }), say("Hi from the agent."), say("Done.")], script: prompt }), holds: ({ entries }) => entries.some(({ role, text }) => role === "toolResult" && /Hi from the agent/.test(text)) },
  "@gotgenes/pi-permission-system": { isInThird: true, scenario: (at) => ({ files: { [at(".pi/agent/extensions/pi-permission-system/config.json")]: POLICY }, answers: { select: ["No", "Yes"] }, replies: [call("bash", { command: "rm -rf x" }), call("bash", { command: "touch made" }, "c2"), call("bash", { command: "touch made2" }, "c3"), say("Done.")], script: async (run) => [await run.prompt("one"), run.at("ls")] }), holds: ({ results, said }) => results[1] === "made2\n" && said.filter(({ method }) => method === "select").length === 2 },
  "@mjasnikovs/pi-task": { scenario: () => ({ script: command("/task-list") }), holds: ({ said }) => /no tasks/.test(said[0].prefill) },
  "pi-lens": { scenario: () => ({ files: { "src/a.ts": SOURCE }, replies: [call("read_symbol", { path: "src/a.ts", symbol: "greet" }), call("module_report", { path: "src/a.ts", view: "compact" }, "c2"), say("Done.")], script: prompt }), holds: ({ entries }) => /Hello/.test(entries[2].text) },
  "@samfp/pi-memory": { scenario: () => ({ replies: [call("memory_remember", { type: "fact", key: "pref.colour", value: "red" }), call("memory_search", { query: "colour" }, "c2"), say("Done.")], script: prompt }), holds: ({ entries }) => /red/.test(entries[4].text) },
  "@baochunli/pi-collaborating-agents": { scenario: () => ({ replies: [call("agent_message", { action: "reserve", paths: ["src"], reason: "work" }), call("agent_message", { action: "list" }, "c2"), say("Done.")], script: prompt }), holds: ({ entries }) => /Reserved src/.test(entries[2].text) },
  "pi-chrome": { isInThird: true, scenario: () => ({ script: command("/chrome status") }), holds: ({ said }) => said.some(({ message }) => /Chrome/.test(message)) },
  "pi-system-theme": { isInThird: true, scenario: () => ({ programs: { gsettings: "echo \"'prefer-dark'\"" }, script: command("/system-theme") }), holds: ({ said }) => said.length > 0 },
  "pi-sync-system-theme": { scenario: () => ({ script: command("/system-theme") }), holds: ({ said }) => said.length > 0 },
  "@sherif-fanous/pi-theme-sync": { scenario: () => ({ script: command("/theme-sync status") }), holds: ({ said }) => /Theme Sync Status/.test(said[0].message) },
  "pi-btw": { isInThird: true, scenario: () => ({ replies: [say("Done."), say("Beside.")], script: async (run) => [await run.prompt("one"), void (await run.prompt("/btw:thinking low")), void (await run.said_(({ method }) => method === "notify"))] }), holds: ({ said }) => said.some(({ message }) => /low/.test(message)) },
  "pi-simplify": { isInThird: true, scenario: () => ({ files: { "src/a.ts": SOURCE }, script: async (run) => {
    const from = run.mark;
    await run.prompt("/simplify src/a.ts");
    await run.settled(from);
    return [];
  } }), holds: ({ requests }) => /src\/a\.ts/.test(requests[0].messages[0]) },
  "pi-sandbox": { isInThird: true, scenario: () => ({ programs: { bwrap: 'while [ "$1" != -- ]; do shift; done; shift; exec "$@"', socat: 'for word; do case "$word" in UNIX-LISTEN:*) file="${word#UNIX-LISTEN:}"; : > "${file%%,*}";; esac; done; exec sleep 20' }, replies: [call("write", { path: ".env", content: "KEY=1" }), call("bash", { command: "echo out" }, "c2"), say("Done.")], script: async (run) => [await run.prompt("one"), await run.prompt("/sandbox"), run.at("ls -A")] }), holds: ({ said }) => said.length > 0 },
  "context-mode": { scenario: () => ({ replies: [call("bash", { command: "curl http://127.0.0.1:9/" }), call("ctx_execute", { language: "javascript", code: "console.log(6 * 7)" }, "c2"), say("Done.")], script: async (run) => [await run.prompt("one"), await run.prompt("/ctx-doctor")] }), holds: ({ entries }) => /context-mode/.test(entries[2].text) && /42/.test(entries[4].text) },
  "@ollama/pi-web-search": { server: ollama, scenario: () => ({ replies: [call("web_search", { query: "it" }), call("web_fetch", { url: "http://example.com/" }, "c2"), say("Done.")], script: prompt }), holds: ({ entries }) => /The found page/.test(entries[2].text) && /Its text/.test(entries[4].text) },
  "@juicesharp/rpiv-args": { isInThird: true, scenario: (at) => ({ files: { [at("data/skills/greet/SKILL.md")]: GREET, [at(".pi/agent/skills/greet/SKILL.md")]: GREET }, script: async (run) => [await run.prompt("/skill:greet Ada")] }), holds: ({ requests }) => /Greet Ada/.test(requests[0].messages[0]) },
  "@agentuity/pi": { scenario: () => ({ script: command("/organization") }), holds: ({ said }) => said.length > 0 },
  "pi-theme-switcher": { scenario: () => ({ env: { PI_AGENT_THEME: "light" }, script: prompt }), holds: ({ entries }) => entries.length > 0 },
  "@juicesharp/rpiv-warp": { isInThird: true, scenario: () => ({ env: { TERM_PROGRAM: "WarpTerminal", WARP_CLI_AGENT_PROTOCOL_VERSION: "1" }, script: prompt }), holds: ({ entries }) => entries.length > 0 },
};
// With the uses that packages.mjs has for them.
for (const { name, scenario, holds, server } of PACKAGES) MOVED[name] = { kind: "packages", scenario, server, holds: (facts) => holds(facts).length === 0 };

/** The packages of CI are a folder of their own: the others are large. */
const folderOf = (name) => MOVED[name].kind ?? (MOVED[name].isInThird ? "moved-third" : "moved-rest");
const place = (kind) => path.join(os.tmpdir(), `offshoot-${kind}`);

/** Outside of this folder, above which pi lies, so that offshoot's own modules serve the packages. */
function install(kind, name) {
  if (!fs.existsSync(path.join(place(kind), "node_modules", name))) {
    fs.cpSync(path.join(EXTENSIONS, kind), place(kind), { recursive: true });
    execFileSync("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--legacy-peer-deps"], { cwd: place(kind), stdio: "ignore" });
  }
  const scope = path.join(place(kind), "node_modules/@earendil-works");
  fs.mkdirSync(scope, { recursive: true });
  fs.rmSync(path.join(scope, "pi-coding-agent"), { force: true });
  if (process.env.PI_BESIDE) fs.symlinkSync(newestPi(), path.join(scope, "pi-coding-agent"));
}

/** One use under one program: what came of it. */
export async function use(name, who, folder) {
  install(folderOf(name), name);
  const { scenario: make, server: start } = MOVED[name];
  const at = (...names) => path.join(folder, who, name, ...names);
  const beside = await start?.();
  const scenario = make(at, beside?.url);
  const server = await modelServer(scenario.replies ?? [say("Done.")]);
  const prepared = prepare(at(), scenario, who === "pi" ? ".pi/agent" : "data", server.url);
  if (process.env.PI_BESIDE && who === "offshoot") {
    fs.mkdirSync(at(".pi/agent"), { recursive: true });
    fs.copyFileSync(at("data/models.json"), at(".pi/agent/models.json"));
  }
  const extension = ["-e", path.join(place(folderOf(name)), "node_modules", name)];
  const args = who === "pi" ? [path.join(newestPi(), "dist/cli.js"), "--offline", ...extension] : ["--approval", "auto", ...extension];
  const file = who === "pi" ? node() : path.resolve(process.env.OFFSHOOT_BIN);
  const run = new RpcRun({ file, args, place: prepared, server, scenario });
  const limit = setTimeout(() => run.peer.child.kill("SIGKILL"), 90_000);
  try {
    const facts = await run.facts(await scenario.script(run));
    return { ...facts, said: facts.said ?? run.said };
  } catch (error) {
    return { failures: [{ event: "the program", error: `${error.message}\n${run.peer.stderr}` }], results: [], said: run.said, entries: [], requests: [] };
  } finally {
    clearTimeout(limit);
    run.peer.child.kill("SIGKILL");
    await server.end();
    await beside?.end();
  }
}

/** What came of a use, without what differs in each run: folders, ids, times, ports, names by chance. */
const same = (value, folder, who, name) =>
  JSON.stringify(value ?? null)
    .replaceAll(path.join(folder, who, name), "~")
    .replace(/~\/(data|\.pi\/agent)\/(sessions|skills)/g, "~/$2")
    .replace(/--[\w@-]*-work--/g, "FOLDER")
    .replace(/\bm[a-z\d]{13,14}\b/g, "ID")
    .replace(/\d+(\.\d+)? ?m?s\b|"durationMs":\d+|1[67]\d{11}|127\.0\.0\.1:\d+|\d{4}-\d\d-\d\dT[\d:.-]+Z|"pid":\d+|\d+\/\d+\/\d{4}, [\d:]+/g, "#")
    .replace(/[\da-f]{64}|[\da-f]{8}(-[\da-f]{3,}){1,4}|[\da-f]{8}\.{3}|proc_[\da-f]{4}|pid \d+|pi-processes-\w{6}/g, "ID")
    .replace(/(?:Amber|Brisk|Calm|Cedar|Coral|Vivid|[A-Z][a-z]+)(?:[A-Z][a-z]+)(?= \(|["•])/g, "NAME");

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const folder = fs.mkdtempSync(path.join(fs.realpathSync(os.tmpdir()), "moved-"));
  for (const name of process.argv.length > 2 ? process.argv.slice(2) : Object.keys(MOVED)) {
    const [ours, pis] = [await use(name, "offshoot", folder), await use(name, "pi", folder)];
    const parts = ["failures", "results", "said", "entries", "requests"];
    const differs = parts.filter((part) => same(ours[part], folder, "offshoot", name) !== same(pis[part], folder, "pi", name));
    console.log(`${name}: ${differs.length ? `differs in ${differs}` : "equal"}${MOVED[name].holds(ours) ? "" : ", without its work"}`);
    for (const part of differs) console.log(`  ${part}\n    ${same(ours[part], folder, "offshoot", name).slice(0, 600)}\n    ${same(pis[part], folder, "pi", name).slice(0, 600)}`);
  }
  fs.rmSync(folder, { recursive: true, force: true });
  process.exit(0);
}
