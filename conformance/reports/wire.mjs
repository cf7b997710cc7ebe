// Situations of published reports in which what a server sent decided the fate of a session: cut arguments, calls without an identity of
// their own, names of no tool, answers without words, damaged lines. What must hold: no tool runs with half of its arguments, and the
// next prompt is sent and answered.
import assert from "node:assert/strict";
import * as fs from "node:fs";
import * as path from "node:path";
import { answer, argumentsOf, delta, event, finish, start, stopBlock, textBlock, toolBlock } from "../hostile/model.mjs";

const line = (value) => `data: ${JSON.stringify(value)}\n\n`;
const chunk = (delta, reason) => line({ choices: [{ delta, finish_reason: reason ?? null }] });
const piece = (call) => chunk({ tool_calls: [call] });
/** A Chat Completions stream. */
const chat = (reason, ...pieces) => pieces.join("") + chunk({}, reason) + "data: [DONE]\n\n";
const said = (text) => chat("stop", chunk({ content: text }));
const call = (index, id, name, text) => piece({ index, id, type: "function", function: { name, arguments: text } });

/** An answer of Anthropic Messages with one call, whose arguments are this text. */
const written = (name, text) => start() + toolBlock(0, "c1", name) + argumentsOf(0, text) + stopBlock(0) + finish("tool_use");

/** A model that speaks Chat Completions. */
async function chatting(place, replies) {
  const model = await place.model(replies);
  const file = path.join(place.data, "models.json");
  fs.writeFileSync(file, fs.readFileSync(file, "utf8").replace("anthropic-messages", "openai-completions"));
  return model;
}

/** Two prompts, both answered; the checks see the model and the last run. */
async function goesOn(place, { replies, chats = false, ends = chats ? [said("Done."), said("On.")] : [answer("Done."), answer("On.")] }) {
  const model = await (chats ? chatting(place, [...replies, ...ends]) : place.model([...replies, ...ends]));
  const first = await place.offshoot(["-p", "begin"], { mayEnd: [0] });
  assert.match(first.stdout, /Done\./);
  const second = await place.offshoot(["-c", "-p", "more"], { mayEnd: [0] });
  assert.match(second.stdout, /On\./);
  return { model, first };
}

const blocks = (place) => place.sessions()[0].flatMap(({ message }) => (Array.isArray(message?.content) ? message.content : []));
const calls = (place) => blocks(place).filter(({ type }) => type === "toolCall");
const results = (place) => place.sessions()[0].map(({ message }) => message).filter((message) => message?.role === "toolResult");

/** Arguments that were cut: nothing is done, the model hears why, the file has the text. */
const cut = (report, name, tool, text, untouched) => ({
  kind: "wire",
  report,
  name,
  promise: "the call is not run, its result says what is wrong and where, and the session goes on",
  async run(place) {
    place.write("build/keep.txt", "kept\n");
    await goesOn(place, { replies: [written(tool, text)] });
    untouched(place);
    const [result] = results(place);
    assert.equal(result.isError, true);
    assert.match(result.content[0].text, /^Not run: .*character \d+/s);
    assert.deepEqual(calls(place)[0].arguments, {});
    assert.ok(calls(place)[0].argumentsError.includes(text));
  },
});

/** Calls whose ids or names no server takes back. */
const odd = (report, name, pieces, check) => ({
  kind: "wire",
  report,
  name,
  promise: "every call has one result, and the next requests are valid",
  async run(place) {
    place.write("a.txt", "a\n");
    const { model } = await goesOn(place, { replies: [chat("tool_calls", ...pieces)], chats: true });
    const { messages } = JSON.parse(model.last);
    const asked = messages.flatMap(({ tool_calls }) => tool_calls ?? []);
    const answered = messages.filter(({ role }) => role === "tool").map(({ tool_call_id }) => tool_call_id);
    assert.deepEqual(asked.map(({ id }) => id), answered);
    assert.equal(new Set(answered).size, answered.length);
    for (const { id, function: { name, arguments: text } } of asked) {
      assert.ok(id);
      assert.match(name, /^[a-zA-Z0-9_-]{1,64}$/);
      assert.ok(JSON.parse(text));
    }
    check(place, asked);
  },
});
const ran = (count) => (place) => assert.equal(results(place).filter(({ isError }) => !isError).length, count);
const read = '{"path":"a.txt"}';

const exists = (name) => (place) => assert.ok(fs.existsSync(place.at(name)), `${name} is there`);
const absent = (name) => (place) => assert.ok(!fs.existsSync(place.at(name)), `${name} was not made`);

export const REPORTS = [
  cut("earendil-works/pi#6284", "a command is cut under a whole end", "bash", '{"command":"rm -rf build', exists("build/keep.txt")),
  cut("can1357/oh-my-pi#11104", "the content of a file is cut under a whole end", "write", '{"path":"half.txt","content":"one\\ntw', absent("half.txt")),
  cut("cline/cline#13001", "a text without its last quote would be closed by a repair", "write", '{"path":"t.txt","content":"export const x', absent("t.txt")),
  cut("Zoo-Code-Org/Zoo-Code#1221", "what the preview could read is whole as a file name", "write", '{"content":"x","path":"src', absent("src")),
  cut("langchain-ai/langchainjs#11469", "a path is cut before its name ends", "bash", '{"command":"touch made", "timeout": 1', absent("made")),
  cut("open-webui/computer#252", "arguments are another kind of value", "bash", '["touch made"]', absent("made")),
  cut("NousResearch/hermes-agent#72488", "two objects are one text", "bash", '{"command":"touch made"}{"command":"touch more"}', absent("made")),
  odd("earendil-works/pi#4854", "calls with empty and null ids", [call(0, "", "read", read), call(1, null, "read", read)], ran(2)),
  odd("langbot-app/LangBot#2262", "a call without the member id", [piece({ index: 0, function: { name: "read", arguments: read } })], ran(1)),
  odd("strands-agents/harness-sdk#1259", "the id is null in every piece", [call(0, null, "read", ""), call(0, null, null, read)], ran(1)),
  odd("ducks/claux#40", "one id twice in an answer", [call(0, "same", "read", read), call(1, "same", "read", read)], ran(2)),
  odd("apache/maka#1976", "all calls at index 0", [call(0, "a", "read", read), call(0, "b", "bash", '{"command":"echo hi"}')], ran(2)),
  odd("endolith/open-interpreter#315", "parallel calls without an index", [call(undefined, "a", "read", read), call(undefined, "b", "read", read)], ran(2)),
  odd("QwenLM/Qwen-Agent#943", "pieces of two calls in turns", [call(0, "a", "read", '{"path":'), call(1, "b", "read", '{"path":'), call(0, null, null, '"a.txt"}'), call(1, null, null, '"a.txt"}')], ran(2)),
  odd("earendil-works/pi#1643", "a whole command as the name of a tool", [call(0, "a", `psql postgresql://h ${"INSERT ".repeat(60)}`, "{}")], (place, [asked]) => {
    assert.equal(calls(place)[0].name.length, 440);
    assert.equal(asked.function.name.length, 64);
  }),
  odd("strands-agents/harness-sdk#1069", "a name with a blank", [call(0, "a", "write file!", read)], (place) => assert.equal(calls(place)[0].name, "write file!")),
  odd("garudust-org/garudust-agent#16", "id and name come before the arguments", [call(0, "a", "read", undefined), piece({ index: 0, function: { arguments: read } })], ran(1)),
  ...["an empty answer", "thinking only"].map((name) => ({
    kind: "wire",
    report: name === "thinking only" ? "QwenLM/qwen-code#7034" : "earendil-works/pi#8462",
    name: `${name} after a tool`,
    promise: "the run says that there is no answer",
    async run(place) {
      place.write("a.txt", "a\n");
      const thought = event("content_block_start", { index: 0, content_block: { type: "thinking", thinking: "" } }) + event("content_block_delta", { index: 0, delta: { type: "thinking_delta", thinking: "hm" } }) + stopBlock(0);
      await place.model([answer({ call: "read", arguments: { path: "a.txt" } }), start() + (name === "thinking only" ? thought : "") + finish("end_turn")]);
      const { stdout, stderr } = await place.offshoot(["-p", "begin"], { mayEnd: [0] });
      assert.equal(stdout.trim(), "");
      assert.match(stderr, name === "thinking only" ? /only thought/ : /empty answer/);
    },
  })),
  {
    kind: "wire",
    report: "symfony/ai#2422",
    name: "content is a list of thoughts and texts",
    promise: "the texts are the answer, the thoughts are thinking",
    async run(place) {
      const parts = [[{ type: "thinking", thinking: [{ type: "text", text: "hm" }] }], [{ type: "text", text: "He" }], "re."];
      await chatting(place, [chat("stop", ...parts.map((content) => chunk({ content })))]);
      const { stdout } = await place.offshoot(["-p", "begin"], { mayEnd: [0] });
      assert.equal(stdout.trim(), "Here.");
      assert.deepEqual(blocks(place).filter(({ type }) => type === "thinking").map(({ thinking }) => thinking), ["hm"]);
    },
  },
  {
    kind: "wire",
    report: "api7/aisix#111",
    name: "one damaged line among others",
    promise: "the other lines are the answer, and the run says what was lost",
    async run(place) {
      await place.model([start() + textBlock(0) + delta(0, "He") + 'event: ping\ndata: {"type": "pi\n\n' + delta(0, "re.") + stopBlock(0) + finish("end_turn")]);
      const { stdout, stderr } = await place.offshoot(["-p", "begin"], { mayEnd: [0] });
      assert.equal(stdout.trim(), "Here.");
      assert.match(stderr, /a part of the answer was lost/);
    },
  },
  {
    kind: "wire",
    report: "NousResearch/hermes-agent#69442",
    name: "a line of the arguments is damaged, and the rest is whole",
    promise: "the call is not run, because the line may have been a part of it",
    async run(place) {
      const lost = "event: content_block_delta\ndata: {\"type\": \"content_bl\n\n";
      const torn = start() + toolBlock(0, "c1", "bash") + argumentsOf(0, '{"command":"touch ma') + lost + argumentsOf(0, 'de"}') + stopBlock(0) + finish("tool_use");
      await goesOn(place, { replies: [torn] });
      absent("made")(place);
      assert.match(results(place)[0].content[0].text, /^Not run: .*could not be read/s);
    },
  },
];
