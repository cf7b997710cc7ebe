// The same conversations through pi's and offshoot's request builders: what would leave for each provider must be the same.
// Ids that either makes up are numbered by their first appearance; everything else is compared as it is.
//   OFFSHOOT_REQUEST_BIN=../target/tests/examples/request node --test requests.test.mjs
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import * as path from "node:path";
import { createInterface } from "node:readline";
import { after, test } from "node:test";
import { pathToFileURL } from "node:url";
import { besidePi, IS_NEWEST } from "./lib/places.mjs";
import { Rng } from "./lib/rng.mjs";
import { sampled } from "./lib/sample.mjs";

const program = process.env.OFFSHOOT_REQUEST_BIN;
if (!program) throw new Error("set OFFSHOOT_REQUEST_BIN to the example `request` of offshoot-agent");
const pi = (file) => import(pathToFileURL(path.join(besidePi("pi-ai"), "dist/api", file)).href);
const apis = {
  "anthropic-messages": await pi("anthropic-messages.js"),
  "openai-responses": await pi("openai-responses.js"),
  "azure-openai-responses": await pi("azure-openai-responses.js"),
  "openai-completions": await pi("openai-completions.js"),
  "google-generative-ai": await pi("google-generative-ai.js"),
  "mistral-conversations": await pi("mistral-conversations.js"),
  "bedrock-converse-stream": await pi("bedrock-converse-stream.js"),
};
const rng = new Rng(process.env.CONFORMANCE_SEED ?? "requests");

const child = spawn(program, [], { stdio: ["pipe", "pipe", "inherit"] });
const waiting = [];
createInterface({ input: child.stdout }).on("line", (line) => waiting.shift().resolve(JSON.parse(line)));
child.on("close", () => waiting.splice(0).forEach(({ reject }) => reject(new Error("the example has ended"))));
after(() => child.stdin.end());
const offshoot = (line) =>
  new Promise((resolve, reject) => {
    waiting.push({ resolve, reject });
    child.stdin.write(`${JSON.stringify(line)}\n`);
  });

const none = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
const model = (id, api, provider, baseUrl, more = {}) => ({
  id, name: id, api, provider, baseUrl, reasoning: true, input: ["text", "image"], cost: none,
  contextWindow: 1_000_000, maxTokens: 32_000, ...more,
});
const blind = { input: ["text"], reasoning: false };
const models = [
  model("claude-test", "anthropic-messages", "anthropic", "https://api.anthropic.com"),
  model("claude-blind", "anthropic-messages", "elsewhere", "https://claude.example", blind),
  model("gpt-test", "openai-responses", "openai", "https://api.openai.com/v1"),
  model("gpt-other", "openai-responses", "openai", "https://api.openai.com/v1", { reasoning: false }),
  model("grok-test", "openai-responses", "xai", "https://api.x.ai/v1"),
  model("llama-test", "openai-completions", "local", "http://localhost:1/v1"),
  model("gpt-chat", "openai-completions", "openai", "https://api.openai.com/v1", blind),
  model("deepseek-test", "openai-completions", "deepseek", "https://api.deepseek.com"),
  model("glm-test", "openai-completions", "zai", "https://api.z.ai/v4"),
  model("anthropic/claude-test", "openai-completions", "openrouter", "https://openrouter.ai/api/v1"),
  model("gemini-3-pro-test", "google-generative-ai", "google", "https://google.example/v1beta"),
  model("us.anthropic.claude-opus-4-6-v1", "bedrock-converse-stream", "amazon-bedrock", "https://bedrock-runtime.us-east-1.amazonaws.com"),
  model("amazon.nova-blind", "bedrock-converse-stream", "amazon-bedrock", "https://bedrock-runtime.us-east-1.amazonaws.com", blind),
  model("mistral-test", "mistral-conversations", "mistral", "https://api.mistral.ai"),
  model("mistral-blind", "mistral-conversations", "mistral", "https://api.mistral.ai", blind),
  // Without pictures: pi puts those of one result between the results of a turn, which Google wants together.
  model("gemini-2.5-flash", "google-generative-ai", "google", "https://google.example/v1beta", { input: ["text"] }),
];
const parameters = { type: "object", properties: { path: { type: "string" } }, required: ["path"] };
const tools = [{ name: "read", description: "Reads a file", parameters }, { name: "ls", description: "Lists", parameters }];

/** A conversation of several models, with whatever each of them signs, and with calls that nothing answered. */
function conversation() {
  let clock = 1;
  let count = 0;
  const words = () => rng.pick(["", " ", "a", "two words", "日本語 😀", "line\nend", '"quoted" \\ </tag>']);
  const text = () => ({ type: "text", text: words() });
  const image = () => ({ type: "image", data: "iVBORw0KGgo=", mimeType: "image/png" });
  const blocks = () => Array.from({ length: rng.int(1, 4) }, () => (rng.int(0, 3) ? text() : image()));
  // pi sends empty texts beside pictures in a result, which Anthropic refuses.
  const result = () => blocks().map((block) => (block.text?.trim() === "" ? { ...block, text: "said" } : block));
  const messages = [{ role: "user", content: "begin", timestamp: clock++ }];
  for (let turn = rng.int(1, 7); turn > 0; turn--) {
    const by = rng.pick(models);
    const content = [];
    if (rng.int(0, 2)) content.push(thought(by, words(), ++count));
    if (rng.int(0, 2)) content.push(by.api === "openai-responses" && rng.int(0, 2) ? { ...text(), textSignature: JSON.stringify({ v: 1, id: `msg_${++count}` }) } : text());
    const calls = Array.from({ length: rng.int(0, 3) }, () => call(by, ++count));
    content.push(...calls);
    // pi sends a thought that nothing follows, which OpenAI refuses.
    if (content.every((block) => block.type === "thinking")) content.push({ type: "text", text: "said" });
    const failed = rng.int(0, 9) === 0;
    const stopReason = failed ? rng.pick(["error", "aborted"]) : calls.length ? "toolUse" : "stop";
    const usage = { ...none, totalTokens: 0, cost: { ...none, total: 0 } };
    messages.push({ role: "assistant", content, api: by.api, provider: by.provider, model: by.id, usage, stopReason, timestamp: clock++ });
    for (const { id, name } of failed ? [] : calls) {
      if (rng.int(0, 8) === 0) continue;
      messages.push({ role: "toolResult", toolCallId: id, toolName: name, content: result(), isError: !rng.int(0, 4), timestamp: clock++ });
    }
    if (!calls.length || !rng.int(0, 3)) messages.push({ role: "user", content: rng.int(0, 2) ? words() : blocks(), timestamp: clock++ });
  }
  messages.push({ role: "user", content: "end", timestamp: clock++ });
  return messages;
}

function thought(by, thinking, count) {
  const mark = Buffer.from(`sign${count}xx`).toString("base64");
  switch (by.api) {
    case "anthropic-messages":
      if (!rng.int(0, 4)) return { type: "thinking", thinking: "[Reasoning redacted]", thinkingSignature: mark, redacted: true };
      return { type: "thinking", thinking, thinkingSignature: rng.int(0, 4) ? mark : "" };
    case "openai-responses":
      return { type: "thinking", thinking, thinkingSignature: JSON.stringify({ type: "reasoning", id: `rs_${count}`, summary: [], encrypted_content: mark }) };
    case "openai-completions":
      return { type: "thinking", thinking, thinkingSignature: rng.pick(["reasoning_content", "reasoning", '[{"type":"reasoning.encrypted","data":"x"}]']) };
    case "bedrock-converse-stream":
      if (!rng.int(0, 4)) return { type: "thinking", thinking: "[Reasoning redacted]", thinkingSignature: mark, redacted: true };
      return { type: "thinking", thinking, thinkingSignature: rng.int(0, 4) ? mark : "" };
    case "mistral-conversations":
      return { type: "thinking", thinking };
    default:
      return { type: "thinking", thinking, ...(rng.int(0, 2) ? { thinkingSignature: mark } : {}) };
  }
}

function call(by, count) {
  // pi 1.6 sends xai its own ids back however long they are; offshoot makes those fit that a server would refuse.
  const ids = {
    "anthropic-messages": `toolu_${count}`,
    "openai-responses": `call_${count}|fc_${count}${rng.int(0, 2) && by.provider !== "xai" ? "x".repeat(80) : ""}`,
    "openai-completions": rng.pick([`call.${count}/+`, `call_${count}`]),
    "google-generative-ai": `read_${count}`,
    "bedrock-converse-stream": `tooluse_${count}`,
    "mistral-conversations": `m${count}`.padEnd(9, "z"),
  };
  const signature = by.api === "google-generative-ai" ? { thoughtSignature: Buffer.from(`call${count}yy`).toString("base64") } : {};
  return { type: "toolCall", id: ids[by.api], name: rng.pick(["read", "ls"]), arguments: { path: `日 ${count}` }, ...signature };
}

/** What pi would send. */
async function theirs(target, messages, thinking, cacheRetention) {
  let payload;
  const system = { role: "system", content: "You are a test.", toolsAdded: tools, timestamp: 0 };
  const options = {
    apiKey: "sk-k", sessionId: "session", reasoning: thinking === "off" ? undefined : thinking, cacheRetention,
    // Mistral's members get the server's names after that.
    ...(target.api === "mistral-conversations" ? { fetch: async (_, { body }) => void (payload = JSON.parse(body)) } : {}),
    onPayload: (sent) => {
      if (target.api === "mistral-conversations") return;
      payload = JSON.parse(JSON.stringify(sent, (_, value) => (value instanceof Uint8Array ? Buffer.from(value).toString("base64") : value)));
      // It is in the path.
      if (target.api === "bedrock-converse-stream") delete payload.modelId;
      throw new Error("nothing leaves");
    },
  };
  for await (const _ of apis[target.api].streamSimple(target, { messages: [system, ...messages] }, options));
  if (target.api !== "google-generative-ai") return payload;
  // The library that pi uses here puts its settings into the body itself.
  const { systemInstruction, tools: declared, maxOutputTokens, thinkingConfig } = payload.config;
  const generationConfig = { maxOutputTokens, ...(thinkingConfig ? { thinkingConfig } : {}) };
  const instruction = { role: "user", parts: [{ text: systemInstruction }] };
  return { contents: payload.contents, systemInstruction: instruction, tools: declared, generationConfig };
}

/** Without what may differ: made-up ids, the words for a missing result, and a text as a string or as its only block. */
function canonical(body) {
  delete body.betas;
  for (const message of body.system ? body.messages : []) {
    if (typeof message.content === "string") message.content = [{ type: "text", text: message.content }];
  }
  const known = new Map();
  const number = (id) => known.get(id) ?? known.set(id, `#${known.size}`).get(id);
  const ids = new Set(["id", "call_id", "tool_call_id", "tool_use_id", "toolUseId"]);
  const walk = (value) => {
    if (Array.isArray(value)) return value.map(walk);
    if (value === null || typeof value !== "object") {
      return /^(\[tool error\] )?No result( provided$|: )/.test(value) ? "(no result)" : value;
    }
    return Object.fromEntries(
      Object.keys(value).sort().map((name) => [name, ids.has(name) && typeof value[name] === "string" ? number(value[name]) : walk(value[name])]),
    );
  };
  return walk(body);
}

// pi 0.87 tells a model what others thought, gives the role `developer` to every server, and sends pictures in results of failed calls.
const skip = IS_NEWEST ? false : "newest.test.mjs runs it with pi 1.6, whose requests these are";
test("every built-in model of a wire format that offshoot speaks gets pi's requests", { skip }, async () => {
  const { builtinProviders } = await import(pathToFileURL(path.join(besidePi("pi-ai"), "dist/providers/all.js")).href);
  const { clampThinkingLevel } = await import(pathToFileURL(path.join(besidePi("pi-ai"), "dist/models.js")).href);
  const all = builtinProviders().flatMap((provider) => provider.getModels());
  // Azure's address is the person's own.
  const address = "https://resource.openai.azure.com/openai/v1";
  const placed = all.map((target) => (target.provider === "azure" ? { ...target, baseUrl: address } : target));
  const spoken = placed.filter((target) => apis[target.api] && target.provider !== "github-copilot" && target.baseUrl);
  const picture = { type: "image", data: "iVBORw0KGgo=", mimeType: "image/png" };
  const differing = new Map();
  let compared = 0;
  // Each thinking level, and each time for which a cache can be asked to keep the conversation.
  const ways = [["off", "short"], ["minimal", "short"], ["high", "short"], ["off", "none"], ["off", "long"]];
  for (const target of spoken) {
    for (const [thinking, cacheRetention] of ways) {
      for (const messages of dialogues(target, picture).slice(cacheRetention === "short" ? 0 : 1)) {
        // pi's agent fits the level to the model before it builds a request; offshoot's builders do that themselves, and ask models of
        // Anthropic and Google that cannot be without thinking for nothing.
        const isOff = thinking === "off" && !target.api.includes("openai-");
        const sent = canonical(await theirs(target, messages, isOff ? "off" : clampThinkingLevel(target, thinking), cacheRetention));
        const expected = withoutRefinements(sent, target.compat ?? {});
        const model = { provider: target.provider, id: target.id, ...(target.provider === "azure" ? { address } : {}) };
        const got = canonical(await offshoot({ model, system: "You are a test.", messages, tools, thinking, cacheRetention, sessionId: "session" }));
        if (refinesEffort(target.compat ?? {})) for (const member of ["thinking", "output_config", "reasoning", "include"]) delete got[member];
        for (const member of ["max_tokens", "max_completion_tokens", "max_output_tokens"]) {
          // What the conversation takes of the window is estimated; where nothing is left, thinking gets its least budget.
          if (Math.abs(got[member] - expected[member]) <= 1024) got[member] = expected[member];
        }
        const [ours, theirLimit] = [got.inferenceConfig, expected.inferenceConfig?.maxTokens];
        if (Math.abs(ours?.maxTokens - theirLimit) <= 1024) ours.maxTokens = theirLimit;
        compared++;
        try {
          assert.deepEqual(got, expected);
        } catch {
          const names = new Set([...Object.keys(got), ...Object.keys(expected)]);
          const members = [...names].filter((name) => JSON.stringify(got[name]) !== JSON.stringify(expected[name]));
          const key = `${target.api} ${members.join(" ")}`;
          differing.set(key, [...(differing.get(key) ?? []), { name: `${target.provider}/${target.id} ${thinking} ${cacheRetention}`, got, expected, members }]);
        }
      }
    }
  }
  const shown = [...differing].map(([key, list]) => {
    const [{ name, got, expected, members }] = list;
    const of = (body) => JSON.stringify(Object.fromEntries(members.map((member) => [member, body[member]])));
    return `${key}: ${list.length}, such as ${name}\n  pi       ${of(expected).slice(0, 600)}\n  offshoot ${of(got).slice(0, 600)}`;
  });
  assert.deepEqual(shown, []);
  assert.equal(compared, spoken.length * 8);
});

const refinesEffort = (compat) => compat.supportsMidConvoEffort;

/**
 * Without what the members of `compat` ask for that have no effect in offshoot (docs/models.md): it says the same in the usual place.
 */
function withoutRefinements(body, compat) {
  if (compat.supportsMidConvoToolChanges) body.tools = body.tools?.filter((tool) => !tool.defer_loading);
  if (compat.allowedFallbackModels) delete body.fallbacks;
  if (compat.supportsAdditionalTools) {
    const added = body.input.filter((item) => item.type === "additional_tools").flatMap((item) => item.tools);
    body.input = body.input.filter((item) => item.type !== "additional_tools");
    if (added.length) body.tools = added;
  }
  if (refinesEffort(compat)) {
    for (const member of ["thinking", "output_config", "reasoning", "include"]) delete body[member];
    body.messages = body.messages?.filter((message) => message.role !== "system");
    body.input = body.input?.filter((item) => item.type !== "configuration_update");
    if (!body.messages) delete body.messages;
    if (!body.input) delete body.input;
  }
  return body;
}

/** A prompt with a picture, and a prompt with a call and its result. */
function dialogues(by, picture) {
  const content = by.input.includes("image") ? [{ type: "text", text: "look" }, picture] : "look";
  const call = { type: "toolCall", id: "call_1", name: "read", arguments: { path: "x" } };
  const usage = { ...none, totalTokens: 0, cost: { ...none, total: 0 } };
  const answer = { role: "assistant", content: [call], api: by.api, provider: by.provider, model: by.id, usage, stopReason: "toolUse", timestamp: 2 };
  const result = { role: "toolResult", toolCallId: "call_1", toolName: "read", content: [{ type: "text", text: "done" }], isError: false, timestamp: 3 };
  return [[{ role: "user", content, timestamp: 1 }], [{ role: "user", content: "go", timestamp: 1 }, answer, result]];
}

test("requests are pi's, whoever spoke before", { skip }, async () => {
  let compared = 0;
  for (let round = 0; round < sampled(150); round++) {
    const messages = conversation();
    for (const target of models) {
      const thinking = rng.pick(["off", "minimal", "low", "medium", "high"]);
      const expected = canonical(await theirs(target, messages, thinking));
      const line = { model: target, system: "You are a test.", messages, tools, thinking, sessionId: "session" };
      const got = canonical(await offshoot(line));
      assert.deepEqual(got, expected, `round ${round}, ${target.provider}/${target.id}, ${thinking}: ${JSON.stringify(messages)}`);
      compared++;
    }
  }
  assert.equal(compared, sampled(150) * models.length);
});
