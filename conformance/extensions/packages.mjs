// Published extensions, at the versions of packages/package.json: each loads in the whole program and does its work once, against the loopback.
import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import { createServer } from "node:http";
import * as os from "node:os";
import * as path from "node:path";
import { modelServer } from "./model-server.mjs";
import { EXTENSIONS, node } from "./places.mjs";
import { prepare, RpcRun } from "./rpc-run.mjs";

const HERE = path.join(EXTENSIONS, "packages");
const say = (text) => ({ say: [{ text }] });
const call = (name, given, id = "c1") => ({ say: [{ call: name, id, arguments: given }] });

/** An MCP server over standard input with one tool. */
const MCP = `import { createInterface } from "node:readline";
const answer = (id, result) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, result }) + "\\n");
createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === "initialize") answer(id, { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "demo", version: "1" } });
  else if (method === "tools/list") answer(id, { tools: [{ name: "echo", description: "Echoes a text", inputSchema: { type: "object", properties: { text: { type: "string" } } } }] });
  else if (method === "tools/call") answer(id, { content: [{ type: "text", text: "echo: " + params.arguments.text }] });
  else if (id !== undefined) answer(id, {});
});
`;

/** A page, and a SearXNG that finds it. */
async function web() {
  const server = createServer((request, response) => {
    const isSearch = request.url.startsWith("/search");
    response.writeHead(200, { "content-type": isSearch ? "application/json" : "text/html" });
    response.end(isSearch ? JSON.stringify({ results: [{ title: "The found page", url: "https://example.com/page", content: "what was looked for" }] }) : `<html><title>A page</title><body><article><h1>A page</h1><p>${"Its text is here, and it is long enough. ".repeat(20)}</p></article></body></html>`);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${server.address().port}`, end: () => new Promise((resolve) => (server.closeAllConnections(), server.close(resolve))) };
}

const results = (facts) => facts.entries.filter(({ role }) => role === "toolResult").map(({ text }) => text);
const asks = (what, isTrue, seen) => (isTrue ? [] : [`${what}; there was ${JSON.stringify(seen)?.slice(0, 600)}`]);

export const PACKAGES = [
  { name: "pi-aliases", use: "/clear begins a session", scenario: () => ({ script: async (run) => {
    await run.prompt("one");
    const before = (await run.ask({ type: "get_state" })).data.sessionId;
    await run.prompt("/clear");
    return [before !== (await run.ask({ type: "get_state" })).data.sessionId];
  } }), holds: (facts) => asks("the session is another", facts.results[0], facts.results) },
  { name: "@aliou/pi-processes", use: "the model starts a process and reads what it wrote", scenario: () => ({ replies: [call("process", { action: "start", name: "greeter", command: "echo hello; sleep 30" }), call("process", { action: "list" }, "c2"), say("Done.")], script: async (run) => [await run.prompt("one")] }), holds: (facts) => asks("the process is listed", /greeter/.test(results(facts)[1]), facts.entries) },
  { name: "pi-mcp-adapter", use: "the model calls a tool of an MCP server", scenario: (at) => ({ files: { "server.mjs": MCP, ".mcp.json": JSON.stringify({ mcpServers: { demo: { command: node(), args: [at("work/server.mjs")] } } }) }, replies: [call("mcp", { connect: "demo" }), call("mcp", { tool: "demo_echo", args: '{"text":"hi"}' }, "c2"), say("Done.")], script: async (run) => [await run.prompt("one")] }), holds: (facts) => asks("the server's answer came", /echo: hi/.test(results(facts)[1]), facts.entries) },
  { name: "pi-web-access", use: "the model searches and reads a page", server: web, scenario: (at, url) => ({ files: { [at("work/.pi/web-search.json")]: "{}", [at(".pi/web-search.json")]: JSON.stringify({ searxngBaseUrl: url, provider: "searxng", workflow: "none", ssrf: { allowRanges: ["127.0.0.0/8"] } }) }, env: { SEARXNG_BASE_URL: url }, replies: [call("web_search", { query: "it", workflow: "none", provider: "searxng" }), call("fetch_content", { url: `${url}/page` }, "c2"), say("Done.")], script: async (run) => [await run.prompt("one")] }), holds: (facts) => [...asks("the page was found", /The found page/.test(results(facts)[0]), facts.entries), ...asks("the page was read", /Its text is here/.test(results(facts)[1]), facts.entries)] },
  { name: "pi-markdown-preview", use: "the model exports HTML; a script stands in for pandoc", scenario: () => ({ programs: { pandoc: 'case "$*" in *--version*) echo pandoc 3.1;; *) cat > /dev/null; echo "<h1>A title</h1>";; esac' }, replies: [call("preview_export", { format: "html", source: "markdown", markdown: "# A title\n\nText." }), say("Done.")], script: async (run) => [await run.prompt("one")] }), holds: (facts) => asks("a file was made", facts.entries.some(({ role, isError }) => role === "toolResult" && isError === false), facts.entries) },
  { name: "pi-mermaid", use: "a diagram in an answer is drawn", scenario: () => ({ replies: [say("Here:\n```mermaid\ngraph TD\n  A[Start] --> B[End]\n```"), say("Drawn.")], script: async (run) => [await run.prompt("draw"), await new Promise((resolve) => setTimeout(resolve, 1500))] }), holds: (facts) => asks("the drawing is in the session", facts.entries.some(({ type }) => type === "custom_message"), facts) },
  { name: "pi-prompt-template-model", use: "a template chooses its model", scenario: (at) => ({ files: { [at(".pi/agent/prompts/review.md")]: "---\ndescription: reviews\nmodel: test/m2\n---\nReview $@." }, script: async (run) => {
    const from = run.mark;
    await run.prompt("/review it");
    await run.settled(from).catch(() => {});
    return [run.server.requests.map(({ body }) => body.model)];
  } }), holds: (facts) => asks("the template's model was asked", facts.results[0].includes("m2"), facts) },
  { name: "pi-subagents", use: "the model lists its agents (runs need pi's own SDK beside it)", scenario: () => ({ replies: [call("subagent", { action: "list" }), say("Done.")], script: async (run) => [await run.prompt("one")] }), holds: (facts) => asks("the agents are listed", /scout/.test(results(facts)[0]), facts.entries) },
];

/** The folder in which they are installed: outside of this one, above which pi lies, so that offshoot's own modules serve them. */
const FOLDER = process.env.EXTENSION_PACKAGES ?? path.join(os.tmpdir(), "offshoot-extension-packages");

function install() {
  if (fs.existsSync(path.join(FOLDER, "node_modules/pi-aliases"))) return;
  fs.cpSync(HERE, FOLDER, { recursive: true, filter: (file) => !file.includes("node_modules") });
  execFileSync("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund"], { cwd: FOLDER, stdio: "inherit" });
}

/** What a package does not do; nothing is the aim. */
export async function usePackage({ name, scenario: make, holds, server: start }, folder) {
  install();
  const at = (...names) => path.join(folder, "packages", name, ...names);
  const beside = await start?.();
  const scenario = make(at, beside?.url);
  const server = await modelServer(scenario.replies ?? [say("Done.")]);
  const place = prepare(at(), scenario, "data", server.url);
  const run = new RpcRun({ file: path.resolve(process.env.OFFSHOOT_BIN), args: ["--approval", "auto", "-e", path.join(FOLDER, "node_modules", name)], place, server, scenario });
  const limit = setTimeout(() => run.peer.child.kill("SIGKILL"), 90_000);
  try {
    const facts = await run.facts(await scenario.script(run));
    return [...facts.failures.map(({ event, error }) => `${event}: ${error}`), ...holds(facts)];
  } catch (error) {
    return [`${error.message}\n${run.peer.stderr}`];
  } finally {
    clearTimeout(limit);
    run.peer.child.kill("SIGKILL");
    await server.end();
    await beside?.end();
    fs.rmSync(at(), { recursive: true, force: true });
  }
}
