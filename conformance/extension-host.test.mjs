// The host of extensions alone, with an owner in JavaScript: loading, modules, the names of pi, calls, and code that misbehaves.
//   node --test extension-host.test.mjs
import assert from "node:assert/strict";
import * as fs from "node:fs";
import * as path from "node:path";
import { after, test } from "node:test";
import { table } from "./extensions/names.mjs";
import { Owner } from "./extensions/owner.mjs";
import { node } from "./extensions/places.mjs";
import { stubsOf } from "./extensions/stubs.mjs";
import { REASONS } from "../crates/offshoot-extensions/host/named.mjs";
import { MODULES, REPOSITORY, newestPi, piPackage, temporaryFolder } from "./lib/places.mjs";

const NODE = node();
const folder = temporaryFolder("extension-host");
const owners = [];
after(() => {
  // A test that fails leaves its host.
  for (const owner of owners) owner.child.kill("SIGKILL");
  fs.rmSync(folder, { recursive: true, force: true });
});
let count = 0;

/** An owner in a folder of its own with these files; the extensions are those that end in `.ts` and lie at its top. */
async function loaded(files, options = {}, init = {}) {
  const cwd = path.join(folder, String((count += 1)));
  for (const [name, text] of Object.entries(files)) {
    fs.mkdirSync(path.dirname(path.join(cwd, name)), { recursive: true });
    fs.writeFileSync(path.join(cwd, name), text);
  }
  const owner = new Owner(NODE, { cwd, ...options });
  owners.push(owner);
  const { kind = "extension", paths = Object.keys(files).filter((name) => /^[^/]+\.ts$/.test(name)) } = options;
  const ready = await owner.load(paths.map((name) => ({ path: path.join(cwd, name), kind })), init);
  return { owner, ready, cwd };
}
const ext = (body, imports = "") => `${imports}\nexport default function (pi) {\n${body}\n}\n`;
const errors = (ready) => ready.extensions.map(({ error }) => error?.message ?? null);

test("types, enumerations, imports of types and names of CommonJS need no build step", async () => {
  const { owner, ready } = await loaded({
    "a.ts": `import { helper, type Shape } from "./parts/helper.js";\nimport { Other } from "./parts/types";\nimport data from "./parts/data.json";\nimport * as sub from "./parts/sub";\nenum Level { low, high }\nclass Box { constructor(private readonly size: number) {} get twice(): number { return this.size * 2; } }\nexport default async function (pi: any) {\n  const shape: Shape & Other = { name: "s" };\n  const { basename } = require("node:path");\n  pi.registerCommand("say", { handler: async (_: string, ctx: any) => ctx.ui.notify([helper(shape), Level[1], new Box(2).twice, basename(__filename), data.n, sub.deep].join(" ")) });\n}\n`,
    "parts/helper.ts": `export interface Shape { name: string }\nexport const helper = (shape: Shape) => shape.name;\n`,
    "parts/types.ts": "export interface Other { more?: string }\n",
    "parts/data.json": '{"n":7}',
    "parts/sub/index.ts": 'export const deep = "deep" as const;\n',
  });
  assert.deepEqual(errors(ready), [null]);
  await owner.invoke("command", { ext: 0, name: "say", args: "" });
  assert.equal(owner.notes.at(-1).message, "s high 4 a.ts 7 deep");
  await owner.end();
});

test("a package names its extensions, also below node_modules, and in TypeScript", async () => {
  const { owner, ready } = await loaded(
    {
      "node_modules/pack/package.json": '{"name":"pack","pi":{"extensions":["./one.ts","./two/index.ts"]}}',
      "node_modules/pack/one.ts": ext('pi.registerCommand("one", { handler: async () => {} });'),
      "node_modules/pack/two/index.ts": ext('pi.registerCommand("two", { handler: async () => {} });'),
    },
    { paths: ["node_modules/pack"] },
  );
  assert.deepEqual(ready.extensions[0].commands.map(({ name }) => name), ["one", "two"]);
  await owner.end();
});

test("what fails to load is named with its file and line, and the others load", async () => {
  const { owner, ready, cwd } = await loaded({
    "a.ts": "const one = 1;\nexport default function () {\n  throw new Error('no');\n}\n",
    "b.ts": "export default 3;\n",
    "c.ts": "export default function () {\n  const x = ;\n}\n",
    "d.ts": 'import { nothing } from "./missing";\nexport default function () { nothing(); }\n',
    "e.ts": ext('pi.on("tool_call", () => {});'),
  });
  const [a, b, c, d, e] = ready.extensions.map(({ error }) => error);
  assert.deepEqual([a.message, a.file, a.line], ["no", path.join(cwd, "a.ts"), 3]);
  assert.match(b.message, /b\.ts has no default export that is a function/);
  assert.match(`${c.message}\n${c.stack}`, /c\.ts/);
  assert.match(d.message, /missing/);
  assert.equal(e, null);
  await owner.end();
});

test("values of pi's modules come from offshoot where there is no pi, and what it lacks throws when it is used", async () => {
  const names = table([piPackage(), newestPi()]).modules;
  const all = (module) => names[module].map((name) => `${name} as ${module.replaceAll(/\W/g, "_")}_${name}`).join(", ");
  const { owner, ready } = await loaded({
    "a.ts": ext(
      'pi.registerCommand("use", { handler: async (_, ctx) => { ctx.ui.notify(String(b.visibleWidth("日本"))); new c.InteractiveMode(); } });\npi.b = [a, b, c, d, e, f].length;',
      `import * as a from "@earendil-works/pi-ai";\nimport * as b from "@earendil-works/pi-tui";\nimport * as c from "@mariozechner/pi-coding-agent";\nimport * as d from "@earendil-works/pi-agent-core";\nimport * as e from "typebox";\nimport * as f from "@sinclair/typebox";`,
    ),
    "b.ts": ext("pi.all = [pi_tui_Text, pi_coding_agent_main, pi_agent_core_Agent, pi_ai_uuidv7];", ["pi-tui", "pi-coding-agent", "pi-agent-core", "pi-ai"].map((module) => `import { ${all(module)} } from "@earendil-works/${module}";`).join("\n")),
  });
  assert.deepEqual([errors(ready), ready.modules], [[null, null], "offshoot"]);
  const { error } = await owner.invoke("command", { ext: 0, name: "use", args: "" });
  assert.equal(owner.notes.find(({ method }) => method === "ui.notify").message, "4");
  assert.match(error.message, /InteractiveMode of pi-coding-agent is not in offshoot/);
  await owner.end();
});

test("without pi, sessions and settings can be read, and static members that are missing say so", async () => {
  const { owner, ready, cwd } = await loaded(
    {
      "a.ts": ext(
        `pi.registerCommand("use", { handler: async (_, ctx) => {
          const said = (look) => { try { return look(); } catch (error) { return error.message.split(":")[0]; } };
          const made = SessionManager.inMemory("/x");
          made.appendMessage({ role: "user", content: "hi" });
          const [first] = await SessionManager.list("/there", "sessions");
          const manager = ctx.sessionManager;
          ctx.ui.notify(JSON.stringify([
            [made.getBranch().length, made.isPersisted(), made.getCwd()],
            [first.firstMessage, first.messageCount, first.id],
            [SettingsManager.create().getCompactionEnabled(), SettingsManager.create().getTheme(), said(() => SettingsManager.create().setTheme("x"))],
            [said(() => SessionManager.continueRecent("/x")), said(() => new ModelRuntime({}))],
            [manager.isPersisted(), manager.getChildren(null), manager.buildSessionContext().messages],
            spawnSync("pi", ["-p", "hi"], { env: { ...process.env, OFFSHOOT_LAUNCHED: "/bin/echo" } }).stdout.toString(),
          ]));
        } });`,
        'import { spawnSync } from "node:child_process";\nimport { ModelRuntime, SessionManager, SettingsManager } from "@earendil-works/pi-coding-agent";',
      ),
      "sessions/s.jsonl": '{"type":"session","version":3,"id":"s1","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/there"}\n{"type":"message","id":"a","parentId":null,"message":{"role":"user","content":"first words"}}\n',
    },
    {
      sync: {
        "pi.getSettings": () => ({ compaction: { enabled: false }, theme: "dark" }),
        "session.getChildren": () => [],
        "session.buildSessionContext": () => ({ messages: [], thinkingLevel: "off", model: null }),
      },
    },
  );
  assert.deepEqual([errors(ready), fs.existsSync(cwd)], [[null], true]);
  const { error } = await owner.invoke("command", { ext: 0, name: "use", args: "" });
  assert.equal(error, undefined);
  assert.deepEqual(JSON.parse(owner.notes.find(({ method }) => method === "ui.notify").message), [
    [1, false, "/x"],
    ["first words", 1, "s1"],
    [false, "dark", "SettingsManager.setTheme of pi-coding-agent is not in offshoot"],
    ["SessionManager.continueRecent of pi-coding-agent is not in offshoot", "ModelRuntime of pi-coding-agent is not in offshoot"],
    [true, [], []],
    "-p hi\n",
  ]);
  await owner.end();
});

test("nothing of pi is looked for as long as only types are imported", async () => {
  const { owner, ready } = await loaded({ "a.ts": `import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";\nimport { Theme } from "@earendil-works/pi-coding-agent";\nexport default (pi: ExtensionAPI, theme?: Theme) => {};\n` });
  assert.deepEqual([errors(ready), ready.modules], [[null], null]);
  await owner.end();
});

test("where the user has pi, its packages are used, in one instance", async () => {
  const files = { "a.ts": ext('pi.registerCommand("is", { handler: async (_, ctx) => ctx.ui.notify(String(Text === Other && new DynamicBorder().render(3)[0].includes("───"))) });', 'import { Text } from "@earendil-works/pi-tui";\nimport { Text as Other } from "@mariozechner/pi-tui";\nimport { DynamicBorder } from "@earendil-works/pi-coding-agent";') };
  const { owner, ready } = await loaded(files, {}, { piPackages: [MODULES] });
  assert.deepEqual([errors(ready), ready.modules], [[null], "pi"]);
  await owner.invoke("command", { ext: 0, name: "is", args: "" });
  assert.equal(owner.notes.find(({ method }) => method === "ui.notify").message, "true");
  await owner.end();
});

test("where the user has pi 1.6, pi-ai is what pi's loader gives to extensions, and pi may be a link", async () => {
  const files = { "a.ts": ext('pi.registerCommand("is", { handler: async (_, ctx) => ctx.ui.notify([Type === Own, Type === Compat, StringEnum(["a"]).enum[0], typeof getModel, styleText.length].join()) });', 'import { StringEnum, Type, getModel } from "@earendil-works/pi-ai";\nimport { Type as Compat } from "@mariozechner/pi-ai/compat";\nimport { Type as Own } from "typebox";\nimport { styleText } from "@earendil-works/pi-tui";\nimport { DynamicBorder } from "@earendil-works/pi-coding-agent";') };
  const folder = temporaryFolder("linked-pi");
  fs.mkdirSync(path.join(folder, "@earendil-works"));
  fs.symlinkSync(newestPi(), path.join(folder, "@earendil-works/pi-coding-agent"));
  const { owner, ready } = await loaded(files, {}, { piPackages: [folder] });
  assert.deepEqual([errors(ready), ready.modules], [[null], "pi"]);
  await owner.invoke("command", { ext: 0, name: "is", args: "" });
  assert.equal(owner.notes.find(({ method }) => method === "ui.notify").message, "true,true,a,function,3");
  await owner.end();
  fs.rmSync(folder, { recursive: true });
});

test("without pi every name of every entry of its packages can be imported, and throws when it is used", async () => {
  const entries = { "pi-tui": ["renderFakeCursor", "styleText", "parseColor", "mixColors"], "pi-ai/models": ["createModels"], "pi-ai/providers/all": ["builtinModels"] };
  const imports = Object.entries(entries).map(([entry, names]) => `import { ${names.join(", ")} } from "@earendil-works/${entry}";`);
  const { owner, ready } = await loaded({ "a.ts": ext(`pi.registerCommand("use", { handler: () => ${Object.values(entries).flat().map((name) => `[${name}]`).join(" && ")} && parseColor("red") });`, imports.join("\n")) });
  assert.deepEqual(errors(ready), [null]);
  const { error } = await owner.invoke("command", { ext: 0, name: "use", args: "" });
  assert.match(error.message, /parseColor of pi-tui is not in offshoot/);
  await owner.end();
});

test("the names are those of the types of pi 0.87.1 and 1.6.0: none is missing", () => {
  const ours = JSON.parse(fs.readFileSync(path.join(REPOSITORY, "crates/offshoot-extensions/host/names.json"), "utf8"));
  for (const theirs of [table([piPackage()]), table([newestPi()])]) {
    assert.ok(theirs.modules["pi-tui"].length > 50 && theirs.events.length > 20);
    for (const [part, members] of [...Object.entries(theirs.interfaces).map(([name, list]) => [ours.interfaces[name], list]), ...Object.entries(theirs.modules).map(([name, list]) => [ours.modules[name], list])]) {
      assert.deepEqual(members.filter((name) => !part.includes(name)), []);
    }
    assert.deepEqual(theirs.events.filter((name) => !ours.events.includes(name)), []);
  }
});

test("members of events that have no value exist, and the context of a boundary is one of its members", async () => {
  const seen = ["input", "before_agent_start", "tool_result", "message_end", "turn_end"];
  const { owner } = await loaded({ "a.ts": ext(`for (const name of ${JSON.stringify(seen)}) pi.on(name, (event, ctx) => {
    const { type: _, ...rest } = event.message ?? event;
    ctx.ui.notify(event.type + " " + Object.keys(rest).sort().map((key) => key + (rest[key] === undefined ? "?" : "")));
    if (name === "turn_end") ctx.ui.notify(JSON.stringify({ ...event }.context) + JSON.stringify(event.toolResults.map((result) => "usage" in result)));
  });`) });
  let asked = 0;
  owner.sync["ctx.boundaryContext"] = () => ({ canContinue: true, asked: (asked += 1) });
  const result = { role: "toolResult", toolCallId: "c", content: [], isError: false };
  await owner.event({ type: "input", text: "t", images: [], source: "interactive" });
  await owner.event({ type: "before_agent_start", prompt: "p" });
  await owner.event({ type: "tool_result", toolName: "read", content: [] });
  const [kept] = await owner.event({ type: "message_end", message: result });
  assert.equal(kept.ok, null, "what only has no value is not a change");
  await owner.event({ type: "turn_end", entries: [], toolResults: [result] });
  assert.deepEqual(owner.notes.filter(({ method }) => method === "ui.notify").map(({ message }) => message), [
    "input images?,source,streamingBehavior?,text",
    "before_agent_start images?,prompt",
    "tool_result content,details?,toolName,usage?",
    "message_end content,details?,isError,role,toolCallId,usage?",
    "turn_end context,entries,toolResults",
    '{"canContinue":true,"asked":1}[true]',
  ]);
  await owner.end();
});

test("pi and ctx have every name of pi; those without a body throw and are listed", async () => {
  const names = JSON.parse(fs.readFileSync(path.join(REPOSITORY, "crates/offshoot-extensions/host/names.json"), "utf8")).interfaces;
  const { owner } = await loaded({
    "a.ts": ext('pi.registerCommand("names", { handler: async (_, ctx) => ctx.ui.notify(JSON.stringify({ ExtensionAPI: Object.keys(pi), ExtensionCommandContext: Object.keys(ctx), ExtensionUIContext: Object.keys(ctx.ui), ReadonlySessionManager: Object.keys(ctx.sessionManager), ModelRegistry: Object.keys(ctx.modelRegistry) })) });\npi.registerCommand("stub", { handler: async () => pi.registerVirtualModel({}) });'),
  });
  await owner.invoke("command", { ext: 0, name: "names", args: "" });
  for (const [name, has] of Object.entries(JSON.parse(owner.notes.at(-1).message))) assert.deepEqual(names[name].filter((each) => !has.includes(each)), [], name);
  const { error } = await owner.invoke("command", { ext: 0, name: "stub", args: "" });
  assert.match(error.message, /ExtensionAPI\.registerVirtualModel of pi is not in offshoot: offshoot chooses no model anew/);
  await owner.end();
});

test("a synchronous call is answered while an event waits, and sees what was appended before it", async () => {
  const { owner } = await loaded(
    { "a.ts": ext('pi.on("tool_call", async (event, ctx) => {\n  pi.appendEntry("mine", { n: 1 });\n  const before = ctx.sessionManager.getEntries().length;\n  const yes = await ctx.ui.confirm("t", "m");\n  pi.appendEntry("mine", { n: 2 });\n  event.input.command = "changed";\n  return { block: yes, reason: `${before} ${ctx.sessionManager.getEntries().length}` };\n});') },
    { answers: { "ui.confirm": true } },
  );
  const [answer] = await owner.event({ type: "tool_call", toolName: "bash", toolCallId: "c", input: { command: "x" } });
  assert.deepEqual([answer.ok, answer.input], [{ block: true, reason: "1 2" }, { command: "changed" }]);
  await owner.end();
});

test("a context handler that changes nothing sends nothing back", async () => {
  const { owner } = await loaded({ "a.ts": ext('pi.on("context", (event) => { if (event.messages.length === 1) event.messages.push({ role: "user", content: "more", timestamp: 1 }); });') });
  const message = { role: "user", content: 'a "quoted" text\u2028', timestamp: 1.5 };
  const [same] = await owner.event({ type: "context", messages: [message, message] });
  const [changed] = await owner.event({ type: "context", messages: [message] });
  assert.deepEqual([same.ok, changed.ok.messages.length], [null, 2]);
  await owner.end();
});

test("after another load the old pi and ctx throw, modules are fresh, and flags are kept", async () => {
  const { owner, cwd } = await loaded({ "a.ts": ext('let old = globalThis.kept; globalThis.kept ??= { pi };\npi.registerFlag("f", { type: "string", default: "d" });\npi.on("session_start", (_, ctx) => { if (globalThis.kept.ctx) { try { globalThis.kept.ctx.isIdle(); } catch (error) { ctx.ui.notify(error.message); } try { globalThis.kept.pi.getSessionName(); } catch (error) { ctx.ui.notify(`pi: ${error.message}`); } } globalThis.kept.ctx ??= ctx; ctx.ui.notify(`v1 ${pi.getFlag("f")}`); });') });
  await owner.event({ type: "session_start", reason: "startup" });
  fs.writeFileSync(path.join(cwd, "a.ts"), fs.readFileSync(path.join(cwd, "a.ts"), "utf8").replace("v1", "v2"));
  await owner.load([path.join(cwd, "a.ts")], { reason: "reload", flags: { f: "given" } });
  await owner.event({ type: "session_start", reason: "reload" });
  const said = owner.notes.map(({ message }) => message);
  assert.match(said[1], /belongs to a session or a load that is over/);
  assert.match(said[2], /^pi: /);
  assert.deepEqual([said[0], said[3]], ["v1 d", "v2 given"]);
  await owner.end();
});

test("a hook of 0.31 keeps its state when another session comes, and hears of it by its old name", async () => {
  const { owner, cwd } = await loaded({ "a.ts": ext('let n = 0;\nfor (const name of ["session_start", "session_switch", "session_branch", "session_shutdown"]) pi.on(name, (event, ctx) => ctx.ui.notify(`${event.type} ${(n += 1)} ${ctx.hasQueuedMessages()}`));') }, { kind: "hook" });
  const load = (reason) => owner.load([{ path: path.join(cwd, "a.ts"), kind: "hook" }], { reason });
  const start = (reason) => owner.event({ type: "session_start", reason });
  await start("startup");
  await owner.event({ type: "session_shutdown", reason: "new" });
  await load("new");
  await start("new");
  await load("fork");
  await start("fork");
  await load("reload");
  await start("reload");
  assert.deepEqual(owner.notes.map(({ message }) => message), ["session_start 1 false", "session_switch 2 false", "session_branch 3 false", "session_start 1 false"]);
  await owner.end();
});

test("setup and withSession run while the call is open", async () => {
  const log = [];
  const { owner } = await loaded(
    { "a.ts": ext('pi.registerCommand("new", { handler: async (_, ctx) => { const result = await ctx.newSession({ setup: async (session) => session.appendMessage({ role: "user", content: "hi", timestamp: 1 }), withSession: async (next) => next.ui.notify("in it") }); ctx.ui.notify(JSON.stringify(result)); } });') },
    {
      answers: {
        async "ctx.newSession"({ hasSetup, hasWithSession }, owner, { id }) {
          log.push([hasSetup, hasWithSession], (await owner.invoke("setup", { of: id })).ok, (await owner.invoke("withSession", { of: id })).ok);
          return { cancelled: false };
        },
      },
      sync: { "session.appendMessage": ({ message }) => (log.push(message.content), "id") },
    },
  );
  await owner.invoke("command", { ext: 0, name: "new", args: "" });
  assert.deepEqual(log, ["hi", [true, true], null, null]);
  assert.deepEqual(owner.notes.map(({ message }) => message), ["in it", '{"cancelled":false}']);
  await owner.end();
});

test("an aborted question ends at once, and offshoot is told", async () => {
  const { owner } = await loaded(
    { "a.ts": ext('pi.registerCommand("ask", { handler: async (_, ctx) => { const abort = new AbortController(); setTimeout(() => abort.abort(), 20); ctx.ui.notify(String(await ctx.ui.confirm("t", "m", { signal: abort.signal }))); } });') },
    { answers: { "ui.confirm": () => new Promise(() => {}) } },
  );
  await owner.invoke("command", { ext: 0, name: "ask", args: "" });
  assert.equal(owner.notes.at(-1).message, "false");
  await owner.end();
});

test("the names that throw are those of the documents", async () => {
  const page = fs.readFileSync(path.join(REPOSITORY, "docs/extensions.md"), "utf8");
  const section = page.slice(page.indexOf("## What is not there"), page.indexOf("## When something is wrong"));
  const listed = [...section.matchAll(/^- `(\w+)`: (.*)$/gm)].map(([, name, names]) => [name, [...names.matchAll(/`(\w+)`/g)].map(([, each]) => each)]);
  const stubs = (await stubsOf()).filter(([, names]) => names.length > 0);
  assert.deepEqual(listed, stubs);
  // Each says what is missing, in the same words.
  const rows = [...section.matchAll(/^\| (`.*`) \| (.*) \|$/gm)].flatMap(([, names, why]) => [...names.matchAll(/`(\w+)`/g)].map(([, name]) => [name, why]));
  assert.deepEqual(Object.fromEntries(rows), REASONS);
  assert.deepEqual([...new Set(stubs.flatMap(([, names]) => names))].sort(), Object.keys(REASONS).sort());
});

test("a provider that was made as pi makes them answers with its own key, and signs in with its own words", async () => {
  const own = ext(
    `const model = { id: "n1", name: "N 1", api: "own", provider: "own", reasoning: false, input: ["text"], cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }, contextWindow: 10, maxTokens: 5 };
  const streamSimple = (model, context, { apiKey, headers }) => { const stream = createAssistantMessageEventStream(); const message = { role: "assistant", content: [{ type: "text", text: [model.baseUrl, apiKey, headers.a].join(" ") }] }; stream.push({ type: "done", reason: "stop", message }); stream.end(message); return stream; };
  const apiKey = { name: "Own key", resolve: async ({ ctx }) => ({ auth: { apiKey: await ctx.env("PATH") ? "of the environment" : "" } }) };
  pi.registerProvider({ id: "own", name: "Own", baseUrl: "http://own", auth: { apiKey }, getModels: () => [model], streamSimple });
  const oauth = { name: "Signed", login: async ({ prompt, notify }) => { notify({ type: "auth_url", url: "http://sign" }); return { type: "oauth", access: await prompt({ type: "manual_code", message: "code" }), refresh: "r", expires: 1 }; }, refresh: async ({ access }) => ({ access: access + "+", refresh: "s", expires: 2 }), toAuth: async ({ access }) => ({ apiKey: access, baseUrl: "http://other" }) };
  pi.registerProvider({ id: "signed", name: "Signed", auth: { oauth }, getModels: () => [model], streamSimple });
  pi.registerCommand("names", { handler: async (_, ctx) => ctx.ui.notify(JSON.stringify([ctx.modelRegistry.getProviderDisplayName("own"), ctx.modelRegistry.getProvider("own").id, ctx.modelRegistry.getRegisteredNativeProvider("own").name, ctx.modelRegistry.getRegisteredProviderConfig("own") ?? null])) });`,
    'import { createAssistantMessageEventStream } from "@earendil-works/pi-ai";',
  );
  const { owner, ready } = await loaded({ "a.ts": own }, { answers: { "oauth.prompt": "given" } });
  assert.deepEqual(errors(ready), [null]);
  const [plain, signed] = ready.extensions[0].providers;
  assert.deepEqual([plain.name, plain.config.apiKey, plain.config.models[0].baseUrl, plain.hasStream, signed.oauth.name, signed.config.apiKey], ["own", "extension", "http://own", true, "Signed", undefined]);
  const of = (provider, members) => owner.invoke("provider.stream", { ext: 0, provider, model: plain.config.models[0], context: { messages: [] }, options: { headers: { a: "b" }, ...members } });
  assert.equal((await of("own", { apiKey: "extension" })).ok.content[0].text, "http://own of the environment b");
  const { ok: kept } = await owner.invoke("provider.login", { ext: 0, provider: "signed" });
  assert.deepEqual([kept.access, owner.asked.map(({ method }) => method)], ["given", ["oauth.auth", "oauth.prompt"]]);
  const { ok: fresh } = await owner.invoke("provider.refreshToken", { ext: 0, provider: "signed", credentials: kept });
  const { ok: key } = await owner.invoke("provider.getApiKey", { ext: 0, provider: "signed", credentials: fresh });
  assert.equal((await of("signed", { apiKey: key })).ok.content[0].text, "http://other given+ b");
  await owner.invoke("command", { ext: 0, name: "names", args: "" });
  assert.equal(owner.notes.at(-1).message, '["Own","own","Own",null]');
  await owner.end();
});

test("a tool whose files an extension reads touches the file that was named", async () => {
  const { doubtful, exact, existing } = await import("../crates/offshoot-extensions/host/modules/agent/paths.mjs");
  const home = (name) => path.join(process.env.HOME ?? "", name);
  for (const [name, full] of [["a\u00a0b", "/w/a\u00a0b"], ["@t/i", "/w/@t/i"], ["~/x", home("x")], ["./~/x", "/w/~/x"], ["~x", "/w/~x"], ["file:///t/a%20b", "/t/a b"]]) assert.equal(exact("/w", name), full);
  const among = (...names) => async (file) => {
    if (!names.includes(file)) throw new Error("ENOENT");
  };
  for (const [names, given, found] of [
    [["/w/a b", "/w/a\u00a0b"], "a\u00a0b", "/w/a\u00a0b"],
    [["/w/a b"], "a\u00a0b", "/w/a b"],
    [["/w/a\u00a0b"], "a b", "/w/a\u00a0b"],
    [["/w/x 9\u202fPM.png"], "x 9 PM.png", "/w/x 9\u202fPM.png"],
    [["/w/cafe\u0301"], "caf\u00e9", "/w/cafe\u0301"],
    [["/w/t/i"], "@t/i", "/w/t/i"],
    [["/w/it's", "/w/it\u2019s"], "it\u2019s", "/w/it\u2019s"],
    [[], "a b", "/w/a b"],
  ]) {
    assert.equal(await existing("/w", given, among(...names)), found, given);
  }
  assert.equal(await existing("/w", "a b"), "/w/a b");
  for (const [names, given, meant] of [
    [["/w/src"], "@src/x", "src/x"],
    [["/w/src", "/w/@src"], "@src/x", undefined],
    [[], "@new/x", undefined],
    [[], "@/etc/x", "/etc/x"],
    [["/w/src"], "./@src/x", undefined],
  ]) {
    assert.equal(await doubtful("/w", given, among(...names)), meant, given);
  }
});

test("a question of a sign-in goes when the code has come by itself", async () => {
  const { owner } = await loaded(
    { "a.ts": ext('pi.registerProvider("p", { oauth: { name: "P", login: async ({ onManualCodeInput }) => { void onManualCodeInput(); return { access: "a", refresh: "r", expires: 1 }; } } });') },
    { answers: { "oauth.prompt": () => new Promise(() => {}) } },
  );
  const { ok } = await owner.invoke("provider.login", { ext: 0, provider: "p" });
  await owner.ping();
  assert.deepEqual([ok.access, owner.cancelled.length], ["a", 1]);
  await owner.end();
});

test("models of one kind, and of one provider", async () => {
  const models = [{ provider: "a", id: "1" }, { provider: "b", id: "2" }];
  const { owner } = await loaded(
    { "a.ts": ext('pi.registerCommand("m", { handler: async (_, { ui, modelRegistry: r }) => ui.notify(JSON.stringify([r.getModelsOfType("chat").length, r.getModelsOfType("chat", "b"), r.getModelsOfType("image"), r.findOfType("chat", "a", "1"), r.getModelOfType("image", "a", "1") ?? null, await r.getAvailableOfType("chat", "a")])) });') },
    { sync: { "models.getAll": () => models, "models.getAvailable": () => models.slice(1), "models.find": ({ id }) => models.find((model) => model.id === id) } },
  );
  await owner.invoke("command", { ext: 0, name: "m", args: "" });
  assert.deepEqual(JSON.parse(owner.notes.at(-1).message), [2, [models[1]], [], models[0], null, []]);
  await owner.end();
});

test("a footer hears of another branch, and an overlay knows its place and the keys", async () => {
  let gitBranch = "main";
  const { owner } = await loaded(
    {
      "a.ts": ext(`pi.on("session_start", (_, ctx) => ctx.ui.setFooter((tui, theme, data) => { let heard = 0; data.onBranchChange(() => (heard += 1)); return { render: () => [data.getGitBranch() + " " + heard], invalidate() {} }; }));
  let handle; let heard = "";
  pi.registerCommand("over", { handler: async (_, ctx) => { void ctx.ui.custom((tui) => { const off = tui.addInputListener((data) => { heard += data; off(); }); return { width: 30, render: () => ["x"], invalidate() {} }; }, { overlay: true, onHandle: (given) => (handle = given) }); } });
  pi.registerCommand("where", { handler: async (_, ctx) => ctx.ui.notify(JSON.stringify([handle.getBounds() ?? null, heard])) });`),
    },
    { answers: { "ui.custom": () => new Promise(() => {}) }, sync: { "ui.footerData": () => ({ gitBranch, statuses: {} }) } },
  );
  await owner.event({ type: "session_start", reason: "startup" });
  const { component } = owner.notes.find(({ method }) => method === "ui.setFooter");
  const rows = async () => (await owner.invoke("component.render", { component, width: 40 })).ok.rows;
  assert.deepEqual([await rows(), await rows()], [["main 0"], ["main 0"]]);
  gitBranch = "other";
  assert.deepEqual(await rows(), ["other 1"]);
  await owner.invoke("command", { ext: 0, name: "over", args: "" });
  while (!owner.asked.length) await owner.ping();
  assert.deepEqual(owner.asked[0].options, { width: 30 });
  await owner.invoke("component.placed", { component: owner.asked[0].component, row: 2, col: 3, width: 4, height: 1 });
  for (const data of ["a", "b"]) await owner.invoke("terminalInput", { data });
  await owner.invoke("command", { ext: 0, name: "where", args: "" });
  assert.equal(owner.notes.at(-1).message, '[{"row":2,"col":3,"width":4,"height":1},"a"]');
  await owner.end();
});

test("the context of the session is that of its last compaction, with settings", async () => {
  const branch = [
    { type: "message", id: "a", message: { role: "user" } }, { type: "message", id: "b", message: { role: "system" } }, { type: "message", id: "c", message: { role: "user" } },
    { type: "compaction", id: "d", firstKeptEntryId: "b" }, { type: "model_change", id: "e" }, { type: "message", id: "f", message: { role: "user" } },
  ];
  const { owner } = await loaded(
    { "a.ts": ext('pi.registerCommand("s", { handler: async (_, { ui, sessionManager: s }) => ui.notify(JSON.stringify([s.buildContextEntries().map(({ id }) => id), s.buildSessionProjection(), s.getEntryCount()])) });') },
    { sync: { "session.getBranch": () => branch, "session.getEntryCount": () => 6, "session.contextEntries": () => ["d", "c", "f"].map((id) => ({ sourceEntry: { id }, messages: [{ of: id }] })), "session.buildSessionContext": () => ({ messages: [], thinkingLevel: "low", model: null }) } },
  );
  await owner.invoke("command", { ext: 0, name: "s", args: "" });
  const [ids, projection, count] = JSON.parse(owner.notes.at(-1).message);
  assert.deepEqual([ids, count], [["d", "c", "e", "f"], 6]);
  assert.deepEqual(projection, { entries: ["d", "c", "e", "f"].map((id) => ({ sourceEntry: branch.find((entry) => entry.id === id), messages: id === "e" ? [] : [{ of: id }] })), messages: [{ of: "d" }, { of: "c" }, { of: "f" }], thinkingLevel: "low", model: null });
  await owner.end();
});

test("an extension chooses who draws a call, in the order of the extensions", async () => {
  const draws = (word) => `({ renderCall: (args, theme, { keyText, keyHint }) => ({ render: () => ["${word} " + args.of + " " + keyText("app.interrupt") + keyHint("app.interrupt", "ends").length] }) })`;
  const { owner, ready } = await loaded(
    {
      "a.ts": ext(`pi.registerToolRenderer((name, next) => (name === "bash" ? ${draws("own")} : name === "mine" ? ((r) => r && { renderResult: r.renderResult })(next()) : next()));`),
      "b.ts": ext(`pi.registerTool({ name: "mine", description: "d", parameters: { type: "object" }, execute: async () => ({ content: [] }), ...${draws("registered")}, renderResult: () => ({ render: () => ["result"] }) });\npi.registerToolRenderer((name, next) => (name === "read" ? ${draws("second")} : next()));`),
    },
    { sync: { "ui.keys": () => ({ "app.interrupt": ["escape", "tab"] }) } },
  );
  assert.deepEqual(ready.extensions.map(({ hasToolRenderer }) => hasToolRenderer), [true, true]);
  const draw = async (name) => {
    const { ok } = await owner.invoke("toolRender", { ext: 0, name, toolCallId: name, args: { of: "x" }, result: { content: [] }, width: 40 });
    return [ok.call?.rows[0].replace(/\d+$/, "") ?? null, ok.result?.rows[0] ?? null];
  };
  assert.deepEqual(await draw("bash"), ["own x escape/tab", null]);
  assert.deepEqual(await draw("mine"), [null, "result"]);
  assert.deepEqual(await draw("read"), ["second x escape/tab", null]);
  assert.deepEqual(await draw("ls"), [null, null]);
  await owner.end();
});

test("the text of an answer goes through all transformers, and settings are asked for", async () => {
  const { owner, ready } = await loaded(
    {
      "a.ts": ext('pi.registerMarkdownTransformer((text, { messageType, availableWidth }) => `${text} ${messageType} ${availableWidth}`);\npi.registerCommand("s", { handler: async (_, ctx) => ctx.ui.notify(JSON.stringify(pi.getSettings())) });'),
      "b.ts": ext("pi.registerMarkdownTransformer((text) => text.toUpperCase());"),
      "c.ts": ext('pi.registerMarkdownTransformer(() => "never", { messageTypes: ["changelog"] });'),
      "d.ts": ext('pi.registerMarkdownTransformer(() => { throw new Error("odd"); }, { messageTypes: ["user"] });'),
    },
    { sync: { "pi.getSettings": () => ({ theme: "dark" }) } },
  );
  const all = ["user", "assistant", "assistant-thinking"];
  assert.deepEqual(ready.extensions.map(({ markdownTypes }) => markdownTypes), [all, all, ["changelog"], ["user"]]);
  const shown = async (messageType) => (await owner.invoke("markdown", { text: "a", width: 30, messageType })).ok;
  assert.equal(await shown("assistant"), "A ASSISTANT 30");
  assert.equal(await shown("assistant-thinking"), "A ASSISTANT-THINKING 30");
  // One that fails, or returns something else, leaves the text as it is, as in pi.
  assert.equal(await shown("user"), "A USER 30");
  await owner.invoke("command", { ext: 0, name: "s", args: "" });
  assert.equal(owner.notes.at(-1).message, '{"theme":"dark"}');
  await owner.end();
});

/** Every member of `ctx.ui`: its arguments, what it answers and what it sends, with nobody there, over RPC and in the terminal. */
const draws = "() => ({ render: () => [], invalidate() {} })";
const UI = [
  ["select", '"t", ["one", "two"]', [null], ["two", "ui.select"], ["two", "ui.select"]],
  ["confirm", '"t", "m"', [false], [true, "ui.confirm"], [true, "ui.confirm"]],
  ["input", '"t", "p"', [null], ["typed", "ui.input"], ["typed", "ui.input"]],
  ["editor", '"t", "p"', [null], ["written", "ui.editor"], ["written", "ui.editor"]],
  ["notify", '"m", "error"', [null], [null, "ui.notify"], [null, "ui.notify"]],
  ["setStatus", '"k", "v"', [null], [null, "ui.setStatus"], [null, "ui.setStatus"]],
  ["setTitle", '"t"', [null], [null, "ui.setTitle"], [null, "ui.setTitle"]],
  ["setWidget", '"k", ["row"]', [null], [null, "ui.setWidget"], [null, "ui.setWidget"]],
  ["setWidget", `"c", ${draws}`, [null], [null], [null, "ui.setWidget"]],
  ["setWorkingMessage", '"m"', [null], [null], [null, "ui.setWorkingMessage"]],
  ["setWorkingVisible", "false", [null], [null], [null, "ui.setWorkingVisible"]],
  ["setWorkingIndicator", "{ frames: [] }", [null], [null], [null, "ui.setWorkingIndicator"]],
  ["setHiddenThinkingLabel", '"l"', [null], [null], [null, "ui.setHiddenThinkingLabel"]],
  ["setFooter", draws, [null], [null], [null, "ui.setFooter"]],
  ["setHeader", draws, [null], [null], [null, "ui.setHeader"]],
  ["setEditorComponent", "undefined", [null], [null], [null, "ui.keys", "ui.editor", "ui.setEditorComponent"]],
  ["getEditorComponent", "", [null], [null], [null]],
  ["custom", `(tui, theme, keys, done) => (done("done"), { render: () => [], invalidate() {} })`, [null], [null], ["done", "component.done"]],
  ["addAutocompleteProvider", "(own) => own", [null], [null], [null, "ui.addAutocompleteProvider"]],
  ["pasteToEditor", '"p"', [null], [null, "ui.setEditorText"], [null, "ui.pasteToEditor"]],
  ["setEditorText", '"p"', [null], [null, "ui.setEditorText"], [null, "ui.setEditorText"]],
  ["getEditorText", "", [""], [""], ["draft", "ui.getEditorText"]],
  ["getAllThemes", "", [[]], [[]], [[{ name: "dark" }], "ui.getAllThemes"]],
  ["getTheme", '"dark"', [null], [null], [null, "ui.getTheme"]],
  ["setTheme", '"dark"', ["no"], ["no"], ["yes", "ui.setTheme"]],
  ["getToolsExpanded", "", [false], [false], [true, "ui.getToolsExpanded"]],
  ["setToolsExpanded", "true", [null], [null], [null, "ui.setToolsExpanded"]],
];
for (const [at, modes] of [["print", "json"], ["rpc"], ["tui"]].entries()) for (const mode of modes) {
  test(`every member of ctx.ui does in mode ${mode} what its mode has`, async () => {
    const sent = [];
    const keep = (method, answer) => [method, () => (sent.push(method), answer)];
    const sync = Object.fromEntries([keep("ui.getEditorText", "draft"), keep("ui.setEditorText"), keep("ui.pasteToEditor"), keep("ui.getAllThemes", [{ name: "dark" }]), keep("ui.getTheme"), keep("ui.setTheme", { success: true }), keep("ui.getToolsExpanded", true), keep("ui.setToolsExpanded"), keep("ui.editor", {}), keep("ui.keys", {})]);
    const calls = UI.map(([name, args]) => `() => ctx.ui.${name}(${args})`).join(",\n");
    const { owner, ready } = await loaded(
      { "a.ts": ext(`pi.registerTool({ name: "one", description: "d", parameters: { type: "object" }, execute: async (id, { at }, signal, update, ctx) => { const value = await [${calls}][at](); update(value?.success === true ? "yes" : value?.success === false ? "no" : (value ?? null)); return { content: [] }; } });`) },
      { mode, sync, answers: { "ui.select": "two", "ui.confirm": true, "ui.input": "typed", "ui.editor": "written" } },
    );
    assert.deepEqual(errors(ready), [null]);
    owner.onNote = ({ method }) => sent.push(method);
    const { asked } = owner;
    owner.asked = { push: (call) => (sent.push(call.method), asked.push(call)) };
    let answer;
    owner.progress = { push: ({ update }) => (answer = update) };
    const did = [];
    // One member a call: notes and synchronous calls come by two pipes, whose order is not that of the extension.
    for (const [member, [name]] of UI.entries()) {
      sent.length = 0;
      const { error } = await owner.invoke("tool", { ext: 0, name: "one", toolCallId: `c${member}`, params: { at: member } });
      assert.equal(error, undefined);
      did.push([name, answer, ...sent]);
    }
    assert.deepEqual(did, UI.map(([name, , ...columns]) => [name, ...columns[at]]));
    await owner.end();
  });
}

/** Code that misbehaves: what it does, and what must be true of the host afterwards. */
const MISBEHAVIOUR = [
  ["throws", 'throw new Error("boom");', /boom/],
  ["throws nothing", "throw undefined;", /undefined/],
  ["throws what cannot be read", "throw { get message() { throw 1; } };", /./],
  ["returns what has no JSON", "const a = {}; a.a = a; return a;", /JSON/],
  ["returns a string of 1 GB", 'return { block: true, reason: "x".repeat(2 ** 28) + "y".repeat(2 ** 28) };', /characters|string/],
  ["changes prototypes", 'Array.prototype.map = () => { throw new Error("map"); }; JSON.parse = () => 1; JSON.stringify = () => "no"; Promise.prototype.then = undefined;', null],
  ["writes to standard output", 'process.stdout.write("{\\"t\\":\\"ready\\"}\\n".repeat(100)); console.log("{}"); console.error("x");', null],
  ["rejects and nobody looks", "Promise.reject(new Error('lost')); setTimeout(() => { throw new Error('later'); }, 1);", null],
  ["floods", "for (let n = 0; n < 20000; n += 1) ctx.ui.setStatus('k', `${n}`);", null],
  ["leaks timers", "setInterval(() => {}, 1000);", null],
];
for (const [what, code, expected] of MISBEHAVIOUR) {
  test(`an extension that ${what} leaves the host working`, async () => {
    const { owner } = await loaded({ "a.ts": ext(`let done = false;\npi.on("tool_call", async (event, ctx) => { if (done) return { block: true, reason: "works" }; done = true; ${code} });`) });
    const [first] = await owner.event({ type: "tool_call", toolName: "bash", toolCallId: "c", input: {} });
    if (expected) assert.match(first.error.message, expected);
    await owner.ping();
    const [second] = await owner.event({ type: "tool_call", toolName: "bash", toolCallId: "c", input: {} });
    assert.deepEqual(second.ok, { block: true, reason: "works" });
    assert.equal(await owner.end(), 0);
  });
}

test("rows carry text, styles and links, and no sequence that does something", async () => {
  const { owner } = await loaded({ "a.ts": ext('pi.registerCommand("show", { handler: (_, ctx) => ctx.ui.custom(() => ({ render: () => ["\\x1b[31mred\\x1b[0m\\x1b[2J\\x1b]0;title\\x07 \\x1b]8;;http://x\\x07link\\x1b]8;;\\x07 a\\tb\\x07\\x9b5n", "ab\\x1b_pi:c\\x07c\\nsecond"], invalidate() {} })) });') }, { answers: { "ui.custom": () => new Promise(() => {}) } });
  owner.start("command", { ext: 0, name: "show", args: "" });
  while (!owner.asked.length) await owner.ping();
  const { ok } = await owner.invoke("component.render", { component: owner.asked[0].component, width: 40 });
  assert.deepEqual(ok, { rows: ["\x1b[31mred\x1b[0m \x1b]8;;http://x\x07link\x1b]8;;\x07 a   b", "abc", "second"], cursor: { row: 1, column: 2 } });
  await owner.end();
});

test("the messages of a long conversation are read when a handler looks at them", async () => {
  const messages = Array.from({ length: 100 }, (_, at) => ({ role: "user", content: `${"text ".repeat(300)}é😀 ${at}`, timestamp: at }));
  const look = (code) => ext(`pi.on("context", (event) => { ${code} });`);
  const { owner, ready } = await loaded({ "a.ts": look(""), "b.ts": look("event.messages.length;"), "c.ts": look("event.messages.push(event.messages[3]);"), "d.ts": look("event.messages = event.messages.slice(2);"), "e.ts": look("return { messages: [...event.messages].reverse() };") });
  assert.deepEqual(errors(ready), [null, null, null, null, null]);
  const answers = (await owner.event({ type: "context", messages })).map(({ ok }) => ok?.messages.length ?? null);
  assert.deepEqual(answers, [null, null, 101, 98, 100]);
  await owner.end();
});
