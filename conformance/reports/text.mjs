// Text that is not quite text: half a character in a file, a stream, an extension and a client's line; messages with members that are missing,
// null or of another type; thinking of another model; results whose call is gone. A session goes on, and its bytes stay.
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { node } from "../extensions/places.mjs";
import { answer, delta, finish, start, stopBlock, textBlock } from "../hostile/model.mjs";

const HALF = "\\ud83d";
const said = (role, content, more = "") => `{"role":"${role}","content":${content},"timestamp":1${more}}`;
const block = (text) => `[{"type":"text","text":"${text}"}]`;
const from = (model = "m1", stop = "stop") => `,"api":"anthropic-messages","provider":"test","model":"${model}","stopReason":"${stop}","usage":{"input":1,"output":1,"cacheRead":0,"cacheWrite":0,"totalTokens":2,"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0}}`;
const calls = (id, args = "{}") => `[{"type":"toolCall","id":"${id}","name":"bash","arguments":${args}}]`;
const result = (id, content) => said("toolResult", content, `,"toolCallId":"${id}","toolName":"bash","isError":false`);

/** A session of these messages, or of whole entries where `type` is first. */
function session(place, messages) {
  const stamp = '"timestamp":"2026-01-01T00:00:00.000Z"';
  const header = `{"type":"session","version":3,"id":"5e551000-0000-4000-8000-000000000001",${stamp},"cwd":${JSON.stringify(place.work)}}`;
  const entries = messages.map((message, at) => {
    const place = `"id":"e${at}","parentId":${at ? `"e${at - 1}"` : "null"},${stamp}`;
    return message.startsWith('{"type"') ? `${message.slice(0, -1)},${place}}` : `{"type":"message",${place},"message":${message}}`;
  });
  return place.write("s.jsonl", `${[header, ...entries].join("\n")}\n`);
}

/** The next prompt is answered, every command reads the file, and what was there stays as it is. */
async function goesOn(place, messages, look = () => {}) {
  const file = session(place, messages);
  const before = fs.readFileSync(file, "utf8");
  for (const words of [["show", file], ["tree", file], ["context", file], ["branches", file], ["export", file, "-o", place.at("page.html")]]) {
    const { code, stderr } = await place.offshoot(words);
    assert.equal(code, 0, `${words[0]}: ${stderr}`);
  }
  assert.equal(fs.readFileSync(file, "utf8"), before, "reading changed the file");
  const checked = await place.offshoot(["check", file]);
  const model = await place.model([answer("fine")]);
  const { code, stdout, stderr } = await place.offshoot(["--session", file, "-p", "go on"]);
  assert.equal(code, 0, stderr);
  assert.match(stdout, /fine/);
  assert.equal(model.requests.length, 1);
  assert.ok(fs.readFileSync(file, "utf8").startsWith(before), "bytes were changed");
  const body = JSON.parse(model.last);
  assert.ok(!/\\u[dD][89a-fA-F]/.test(model.last), "half a character was sent");
  look({ body, checked, sent: JSON.stringify(body.messages) });
}

const halfIsSent = ({ sent, checked }) => {
  assert.match(sent, /a\ufffd/);
  assert.equal(checked.code, 0, checked.stdout);
  assert.match(checked.stdout, /half-character/);
};

/** One answer whose text comes in these pieces, as JSON has them. */
async function streamed(place, pieces, whole) {
  const raw = (piece) => delta(0, "@").replace("@", piece);
  await place.model([start() + textBlock(0) + pieces.map(raw).join("") + stopBlock(0) + finish("end_turn")]);
  const { code, stdout, stderr } = await place.offshoot(["-p", "say it"]);
  assert.equal(code, 0, stderr);
  assert.equal(stdout.trim(), whole);
  const [[, ...entries]] = place.sessions();
  const last = entries.filter(({ message }) => message?.role === "assistant").at(-1);
  assert.equal(last.message.content.find(({ type }) => type === "text").text, whole);
}

/** One prompt with an extension whose texts are cut within an emoji. */
async function extended(place, body, replies, look, words = ["-p", "go"]) {
  const extension = place.write("half.mjs", `const half = "a\\u{1F600}".slice(0, 2);\nexport default function (pi) {\n${body}\n}\n`);
  const model = await place.model(replies);
  const { code, stdout, stderr } = await place.offshoot(["-e", extension, ...words], { env: { PI_NODE: node() } });
  assert.equal(code, 0, stderr);
  await look({ model, stdout, stderr, entries: place.sessions()[0] });
}
const run = answer({ call: "bash", arguments: { command: "echo out" } });
const tool = answer({ call: "half", arguments: {} });

const OWN = `const content = [{ type: "text", text: "\\u{1F600}" + half }];
const zero = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
const own = { id: "o1", name: "o1", reasoning: false, input: ["text"], cost: zero, contextWindow: 100000, maxTokens: 1000 };
pi.registerProvider("own", { baseUrl: "http://127.0.0.1:1", apiKey: "own-key-1234567890", api: "own-api", models: [own], streamSimple: async function* (model) {
  yield { type: "text_start", contentIndex: 0 };
  for (const delta of ["\\u{1F600}"[0], "\\u{1F600}"[1], half]) yield { type: "text_delta", contentIndex: 0, delta };
  yield { type: "text_end", contentIndex: 0 };
  yield { type: "done", reason: "stop", message: { role: "assistant", content, api: model.api, provider: model.provider, model: model.id, usage: { ...zero, totalTokens: 0, cost: { ...zero, total: 0 } }, stopReason: "stop", timestamp: 1 } };
} });`;

const EXTENSIONS = [
  ["a tool's result", `pi.registerTool({ name: "half", label: "h", description: "d", parameters: { type: "object", properties: {} }, execute: async () => ({ content: [{ type: "text", text: half }], details: { half } }) });`, [tool, answer("fine")], ({ model }) => assert.match(model.results[0].text, /^a\ufffd$/)],
  ["a changed result", `pi.on("tool_result", () => ({ content: [{ type: "text", text: half }] }));`, [run, answer("fine")], ({ model }) => assert.match(model.results[0].text, /^a\ufffd$/)],
  ["the reason of a block", `pi.on("tool_call", () => ({ block: true, reason: half }));`, [run, answer("fine")], ({ model }) => assert.match(model.results[0].text, /a\ufffd/)],
  ["a changed context", `pi.on("context", ({ messages }) => ({ messages: [...messages, { role: "user", content: half, timestamp: 1 }] }));`, [answer("fine")], ({ model }) => assert.match(model.last, /a\ufffd/)],
  ["changed input", `pi.on("input", ({ text }) => ({ action: "transform", text: text + half }));`, [answer("fine")], ({ model }) => assert.match(model.last, /goa\ufffd/)],
  ["a message before the run", `pi.on("before_agent_start", () => ({ message: { customType: "x", content: half, display: true }, systemPrompt: half }));`, [answer("fine")], ({ model }) => assert.match(model.last, /a\ufffd/)],
  ["an entry and a name", `pi.on("session_start", () => { pi.appendEntry("kept", { half, [half]: 1 }); pi.setSessionName(half); });`, [answer("fine")], ({ stderr, entries }) => {
    assert.doesNotMatch(stderr, /call null/);
    const entry = entries.find(({ customType }) => customType === "kept");
    // What an extension keeps for itself is what it gets back.
    assert.deepEqual(entry?.data, { half: "a\ud83d", ["a\ud83d"]: 1 });
    assert.equal(entries.find(({ type }) => type === "session_info")?.name, "a\ufffd");
  }],
  ["a stream of its own model", OWN, [answer("unasked")], ({ model, stdout }) => {
    const deltas = stdout.trim().split("\n").map((line) => JSON.parse(line).assistantMessageEvent).filter((event) => event?.type === "text_delta");
    assert.equal(deltas.map(({ delta }) => delta).join(""), "😀a\ufffd");
    assert.equal(model.requests.length, 0);
  }, ["--mode", "json", "--provider", "own", "--model", "o1", "-p", "go"]],
  ["an answer that it changes, its own message and what it shows", `pi.on("message_end", ({ message }) => message.role === "assistant" ? { message: { ...message, content: [{ type: "text", text: half }] } } : undefined);
    pi.on("session_start", (event, ctx) => { ctx.ui.notify(half, "info"); ctx.ui.setStatus("x", half); pi.sendMessage({ customType: "x", content: half, display: true, details: { half } }); });`, [answer("fine")], ({ model, stdout }) => {
    assert.match(stdout, /^a\ufffd/);
    assert.match(model.last, /a\ufffd/);
  }],
];

const asked = said("user", '"start"');
const ROWS = [
  ["anthropics/claude-code#56064, #45982", "half a character in a result, in the user's words and in thinking", (place) =>
    goesOn(place, [said("user", `"a${HALF}"`), said("assistant", calls("c1"), from("m1", "toolUse")), result("c1", block(`a${HALF} b`)), said("assistant", `[{"type":"thinking","thinking":"a${HALF}"},{"type":"text","text":"a${HALF}"}]`, from())], halfIsSent)],
  ["anthropics/claude-code#68325; MoonshotAI/kimi-code#3756", "half a character in arguments and in the name of one", (place) =>
    goesOn(place, [asked, said("assistant", calls("c1", `{"command":"a${HALF}","a${HALF}":[1e999]}`), from("m1", "toolUse")), result("c1", block("ok"))], halfIsSent)],
  ["neighbour of anthropics/claude-code#56064", "the halves of one emoji in two pieces of a stream", (place) => streamed(place, [`a${HALF}`, "\\ude00b"], "a😀b")],
  ...EXTENSIONS.map(([name, body, replies, look, words]) => ["neighbour of openclaw/openclaw#18105", `an extension cuts an emoji: ${name}`, (place) => extended(place, body, replies, look, words)]),
  ["neighbour of anthropics/claude-code#56064", "a client of RPC sends half a character", async (place) => {
    const model = await place.model([answer("fine")]);
    const lines = [`{"id":"i${HALF}","type":"prompt","message":"a${HALF}"}`, '{"id":2,"type":"get_state"}'];
    // The end of the input ends the program, also before it has asked the model.
    const when = (child) => {
      let told = "";
      child.stdout.on("data", (piece) => (told += piece).includes('"type":"agent_end"') && child.stdin.end());
      child.stdin.write(`${lines.join("\n")}\n`);
    };
    const { stdout } = await place.offshoot(["--mode", "rpc"], { input: null, when });
    const first = stdout.split("\n").find((line) => line.includes('"command":"prompt"'));
    assert.ok(first.includes(`"id":"i${HALF}"`) && JSON.parse(first).success, first);
    assert.match(model.last, /a\ufffd/);
  }],
  // Reports that nobody tried here before.
  ["anthropics/claude-code#86560", "half a character in a result: a summary by the model works, too", async (place) => {
    const long = "word ".repeat(30_000);
    const file = session(place, [asked, said("assistant", calls("c1"), from("m1", "toolUse")), result("c1", block(`a${HALF} ${long}`)), said("assistant", block(long), from()), said("user", block(`${long} last`)), said("assistant", block("done"), from())]);
    const model = await place.model([answer("## Goal\nall of it")]);
    const { code, stderr } = await place.offshoot(["compact", file, "--model", "test/m1"]);
    assert.equal(code, 0, stderr);
    assert.match(model.requests[0].body, /a\ufffd/);
    assert.match(fs.readFileSync(file, "utf8"), /"type":"compaction"/);
  }],
  ["anthropics/claude-code#70618", "the words of a cancelled command were cut within an emoji: --json and an export keep the bytes", async (place) => {
    const file = session(place, [asked, said("assistant", calls("c1"), from("m1", "toolUse")), result("c1", block(`Cancelled: ls a${HALF}… errored`))]);
    const { stdout } = await place.offshoot(["context", file, "--json"]);
    assert.ok(stdout.includes(`a${HALF}…`), stdout);
    const copy = place.at("copy.jsonl");
    assert.equal((await place.offshoot(["export", file, "-o", copy])).code, 0);
    assert.ok(fs.readFileSync(copy, "utf8").includes(`a${HALF}…`));
  }],
  ["github/app#945", "the whole history is one line of a protocol: its reader gets it", async (place) => {
    const file = session(place, [asked, said("assistant", calls("c1", `{"intent":"a${HALF}"}`), from("m1", "toolUse")), result("c1", block("ok"))]);
    await place.model([answer("fine")]);
    const { stdout } = await place.offshoot(["--mode", "rpc", "--session", file], { input: '{"id":1,"type":"get_messages"}\n' });
    const line = stdout.split("\n").find((text) => text.includes("get_messages"));
    assert.ok(JSON.parse(line).success, line?.slice(0, 300));
  }],
  ["elie222/rakazo#416; elizaOS/eliza#30904", "a piece of a stream is one half of an emoji and nothing else", (place) => streamed(place, ["a", HALF, "\\ude00", HALF, "b"], "a😀\ufffdb")],
  ["earendil-works/pi PR#1454; openclaw/openclaw#9769", "results of calls of stopped and failed answers go with them", (place) =>
    goesOn(place, ["aborted", "error"].flatMap((stop) => [asked, said("assistant", calls(`gone_${stop}`), from("m1", stop)), result(`gone_${stop}`, block("repaired"))]), ({ sent }) => assert.doesNotMatch(sent, /gone_|repaired|tool_result/))],
  ["neighbour of openclaw/openclaw#9769", "results of calls of an answer that met its limit stay", (place) =>
    goesOn(place, [asked, said("assistant", calls("kept"), from("m1", "length")), result("kept", block("not run"))], ({ sent }) => assert.match(sent, /tool_use.*kept.*tool_result.*not run/))],
  ["anthropics/claude-code#26977", "a result whose call was never written", (place) =>
    goesOn(place, [result("never", block("rejected")), asked, said("assistant", block("yes"), from()), result("never", block("rejected"))], ({ sent }) => assert.doesNotMatch(sent, /rejected/))],
  ["earendil-works/pi#8549", "the content of an extension's message is null", (place) =>
    goesOn(place, [asked, '{"type":"custom_message","customType":"x","content":null,"display":true}', '{"type":"custom_message","customType":"x","display":true}', '{"type":"custom_message","customType":"x","content":7,"display":"yes","details":null}'])],
  ["earendil-works/pi PR#6343, #7159", "the content of messages is null, missing or a text where a list is expected", (place) =>
    goesOn(place, [said("user", "null"), said("assistant", "null", from()), said("assistant", '"words of an answer"', from()), said("assistant", calls("c1"), from("m1", "toolUse")), result("c1", "null"), said("assistant", calls("c2"), from("m1", "toolUse")), result("c2", '"words of a result"'), '{"role":"user"}', said("user", '["bare words",null,7]')], ({ sent }) =>
      ["words of an answer", "words of a result", "bare words"].forEach((words) => assert.ok(sent.includes(words), words)))],
  ["anomalyco/opencode#25005; caozhiyuan/copilot-api#63", "thinking of another model is neither signed nor visible text", (place) =>
    goesOn(place, [asked, said("assistant", '[{"type":"thinking","thinking":"private thought","thinkingSignature":"c2ln"},{"type":"text","text":"spoken"}]', from("m0")), asked, said("assistant", '[{"type":"thinking","thinking":"private thought"}]', from("m0"))], ({ sent }) => {
      assert.match(sent, /spoken/);
      assert.doesNotMatch(sent, /private thought|c2ln/);
    })],
  ["anthropics/claude-code#31562, #54000", "entries of other programs with null in the place of texts", (place) =>
    goesOn(place, ['{"type":"system","subtype":"api_error","content":null,"error":{"status":403}}', said("system", "null", ',"subtype":"api_error"'), asked, said("assistant", calls("c1", '{"path":"a","originalFile":null}'), from("m1", "toolUse")), result("c1", block("ok")).replace('"isError"', '"details":{"originalFile":null,"diff":null},"isError"')])],
];

const kind = "text";
const promise = "the session goes on, its bytes stay, and no half character is sent or shown";
export const REPORTS = ROWS.map(([report, name, run]) => ({ kind, report, name, promise, run }));
