// The request as the program sends it and as the newest pi sends it, for each provider and wire format that offshoot speaks: both are received by
// a server of this test, whose address has the provider's host in its path, so that rules about addresses apply. Keys are only in variables.
//   CONFORMANCE_PI=newest OFFSHOOT_BIN=… node --test captured.test.mjs
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import * as fs from "node:fs";
import * as http from "node:http";
import * as os from "node:os";
import * as path from "node:path";
import { after, test } from "node:test";
import { pathToFileURL } from "node:url";
import { besidePi, IS_NEWEST, REPOSITORY } from "./lib/places.mjs";

const program = process.env.OFFSHOOT_BIN;
if (!program) throw new Error("set OFFSHOOT_BIN");
const skip = IS_NEWEST ? false : "newest.test.mjs runs it with pi 1.6";
const ai = (file) => import(pathToFileURL(path.join(besidePi("pi-ai"), "dist", file)).href);
const { builtinModels, builtinProviders } = skip ? {} : await ai("providers/all.js");
const { clampThinkingLevel } = skip ? {} : await ai("models.js");
const WIRES = [
  "anthropic-messages", "openai-responses", "openai-completions", "google-generative-ai", "mistral-conversations", "azure-openai-responses", "bedrock-converse-stream",
];
/** What an address needs beside a key. */
const PLACES = { CLOUDFLARE_ACCOUNT_ID: "account", CLOUDFLARE_GATEWAY_ID: "gateway" };
/** Azure's address is the person's own. */
const AZURE = "https://resource.openai.azure.com/openai/v1";
const SESSION = "captured-1";
const folder = fs.mkdtempSync(path.join(os.tmpdir(), "captured-"));
after(() => fs.rmSync(folder, { recursive: true, force: true }));

/** Headers that are not compared. */
const OF_EACH = [
  // Of the connection and of the library that makes it.
  "host", "connection", "content-length", "accept", "accept-encoding", "accept-language", "sec-fetch-mode", "transfer-encoding",
  // Each program's own name; offshoot sends none.
  "user-agent", "x-goog-api-client", "x-amz-user-agent",
  // The kits that pi uses: they say which kit it is, and that no browser is meant.
  /^x-stainless-/, /^amz-sdk-/, "anthropic-dangerous-direct-browser-access",
];
/** Betas of Anthropic that belong to members of `compat` without an effect here (docs/models.md). */
const UNUSED_BETAS = [/^message-threads-/, /^mid-conversation-/, /^server-side-fallback-/, /^thinking-binding-controls-/, /^inline-tools-/];

/** The requests of each target, by its number, which is the first part of the path. */
const seen = new Map();
const server = http.createServer((request, response) => {
  let body = "";
  request.on("data", (piece) => (body += piece));
  request.on("end", () => {
    const [, number] = request.url.split("/");
    const { method, url, headers } = request;
    seen.set(number, [...(seen.get(number) ?? []), { method, path: url, headers, body: body && JSON.parse(body) }]);
    response.writeHead(400, { "content-type": "application/json" }).end('{"error":{"message":"captured"}}');
  });
});
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
after(() => server.close());
const origin = `http://127.0.0.1:${server.address().port}`;

const index = fs.readFileSync(path.join(REPOSITORY, "crates/offshoot-agent/src/model/catalogue/index.tsv"), "utf8");
const variables = new Map(index.split("\n").filter((line) => line && !line.startsWith("#")).map((line) => [line.split("\t")[0], line.split("\t")[2].split(" ")]));

/** One model of each provider and wire format, with the address that is moved here. */
const targets = (skip ? [] : builtinProviders()).flatMap((provider) =>
  WIRES.flatMap((api) => {
    const model = provider.getModels().find((known) => known.api === api && (known.baseUrl || provider.id === "azure"));
    if (!model || provider.id === "github-copilot") return [];
    return variables.get(provider.id).map((variable) => ({ model, variable, key: `dummy-${variable.toLowerCase()}` }));
  }),
);
targets.forEach((target, at) => {
  target.number = `${at}`;
  target.model = { ...target.model, baseUrl: `${origin}/${at}/${(target.model.baseUrl || AZURE).replace("https://", "")}` };
});

/** What the program sends. */
async function ours({ model, variable, key, number }) {
  const home = path.join(folder, number);
  fs.mkdirSync(path.join(home, "data"), { recursive: true });
  const moved = { providers: { [model.provider]: { baseUrl: model.baseUrl } } };
  fs.writeFileSync(path.join(home, "data/models.json"), JSON.stringify(moved), { mode: 0o600 });
  const env = { PATH: process.env.PATH, HOME: home, OFFSHOOT_HOME: path.join(home, "data"), [variable]: key, ...PLACES };
  const args = ["-p", "hi", "--provider", model.provider, "--model", model.id, "--thinking", "high", "--tools", "read", "--session-id", SESSION];
  const said = await new Promise((resolve) => {
    const child = execFile(program, [...args, "--system-prompt", "You are a test."], { cwd: home, env, timeout: 60_000 }, (_, out, err) => resolve(out + err));
    child.stdin.end();
  });
  return said;
}

/** The system prompt and the tools that the program has sent. */
function given(api, body) {
  switch (api) {
    case "anthropic-messages":
      return [body.system[0].text, body.tools.map((tool) => [tool, tool.input_schema])];
    case "bedrock-converse-stream":
      return [body.system[0].text, body.toolConfig.tools.map(({ toolSpec }) => [toolSpec, toolSpec.inputSchema.json])];
    case "azure-openai-responses":
    case "openai-responses":
      return [body.input[0].content, body.tools.map((tool) => [tool, tool.parameters])];
    case "mistral-conversations":
    case "openai-completions": {
      const { content } = body.messages[0];
      return [content[0].text ?? content, body.tools.map((tool) => [tool.function, tool.function.parameters])];
    }
    default:
      return [body.systemInstruction.parts[0].text, body.tools[0].functionDeclarations.map((tool) => [tool, tool.parametersJsonSchema])];
  }
}

/** What pi sends of the same. */
async function theirs({ model, variable, key }, [content, tools]) {
  const before = { ...process.env };
  for (const name of [...variables.values()].flat()) delete process.env[name];
  // The server of this test speaks HTTP/1.1 alone.
  Object.assign(process.env, PLACES, { [variable]: key, AWS_BEDROCK_FORCE_HTTP1: "1" });
  try {
    const toolsAdded = tools.map(([{ name, description }, parameters]) => ({ name, description, parameters }));
    const messages = [{ role: "system", content, toolsAdded, timestamp: 0 }, { role: "user", content: [{ type: "text", text: "hi" }], timestamp: 1 }];
    const options = { sessionId: SESSION, reasoning: clampThinkingLevel(model, "high") };
    if (options.reasoning === "off") delete options.reasoning;
    let last;
    for await (const event of builtinModels().streamSimple(model, { messages }, options)) last = event;
    return last.error?.errorMessage;
  } finally {
    process.env = before;
  }
}

function comparable({ method, path: address, headers, body }, model) {
  const compared = Object.entries(headers).filter(([name]) => !OF_EACH.some((known) => (known instanceof RegExp ? known.test(name) : known === name)));
  const kept = Object.fromEntries(compared);
  const betas = (kept["anthropic-beta"] ?? "").split(",").map((beta) => beta.trim()).filter((beta) => beta && !UNUSED_BETAS.some((unused) => unused.test(beta)));
  delete kept["anthropic-beta"];
  if (betas.length) kept["anthropic-beta"] = betas.sort().join(",");
  // pi's kit for Anthropic asks for what is new by the address, too.
  return { method, path: address.replace(/\?beta=true$/, ""), headers: kept, body: plain(body, model) };
}

/** The body without what members of `compat` ask for that have no effect here, and with a text as a text or as its only block alike. */
function plain(body, { compat = {}, api }) {
  if (api === "anthropic-messages") {
    for (const message of body.messages) if (typeof message.content === "string") message.content = [{ type: "text", text: message.content }];
    if (compat.supportsMidConvoToolChanges) body.tools = body.tools?.filter((tool) => !tool.defer_loading);
    delete body.fallbacks;
    delete body.betas;
    delete body.thread;
  }
  if (compat.supportsAdditionalTools && body.input) {
    const added = body.input.filter((item) => item.type === "additional_tools").flatMap((item) => item.tools);
    body.input = body.input.filter((item) => item.type !== "additional_tools");
    if (added.length) body.tools = added;
  }
  if (compat.supportsMidConvoEffort) {
    for (const member of ["thinking", "output_config", "reasoning", "include"]) delete body[member];
    if (body.messages) body.messages = body.messages.filter((message) => message.role !== "system");
    if (body.input) body.input = body.input.filter((item) => item.type !== "configuration_update");
  }
  // What the conversation takes of the window is estimated.
  for (const limits of [body, body.generationConfig ?? {}, body.inferenceConfig ?? {}]) {
    for (const member of ["max_tokens", "max_completion_tokens", "max_output_tokens", "maxOutputTokens", "maxTokens"]) if (limits[member]) limits[member] = 1024 * Math.round(limits[member] / 1024);
  }
  return body;
}

const sorted = (value) =>
  Array.isArray(value)
    ? value.map(sorted)
    : value === null || typeof value !== "object"
      ? value
      : Object.fromEntries(Object.keys(value).sort().map((name) => [name, sorted(value[name])]));

test("the program's request to each provider is pi's", { skip }, async () => {
  const odd = [];
  const waiting = [...targets];
  const worker = async () => {
    for (let target = waiting.shift(); target; target = waiting.shift()) target.said = await ours(target);
  };
  await Promise.all([worker(), worker(), worker()]);
  for (const target of targets) {
    const { model, variable, number, said } = target;
    const name = `${model.provider}/${model.id} (${model.api}, ${variable})`;
    const sent = seen.get(number) ?? [];
    if (sent.length !== 1) {
      odd.push(`${name}: ${sent.length} requests: ${said}`);
      continue;
    }
    const failed = await theirs(target, given(model.api, structuredClone(sent[0].body)));
    const both = seen.get(number);
    if (both.length !== 2) {
      odd.push(`${name}: pi sent ${both.length - 1} requests: ${failed}`);
      continue;
    }
    const [mine, pis] = both.map((request) => sorted(comparable(request, model)));
    try {
      assert.deepEqual(mine, pis);
    } catch (error) {
      odd.push(`${name}: ${error.message.slice(0, 1500)}`);
    }
  }
  assert.deepEqual(odd, [], odd.join("\n"));
  assert.deepEqual([...new Set(targets.map(({ model }) => model.api))].sort(), [...WIRES].sort());
  assert.ok(targets.length > 48, `${targets.length}`);
});
