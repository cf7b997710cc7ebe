// Situations of published reports about pictures in a conversation, and about what does not fit the model's window.
import assert from "node:assert/strict";
import * as fs from "node:fs";
import * as path from "node:path";
import * as zlib from "node:zlib";
import { answer, delta, event, finish, stopBlock, textBlock } from "../hostile/model.mjs";

const crcs = Array.from({ length: 256 }, (_, n) => Array.from({ length: 8 }).reduce((c) => (c & 1 ? 0xedb88320 ^ (c >>> 1) : c >>> 1), n));
const crc = (bytes) => ~bytes.reduce((c, byte) => crcs[(c ^ byte) & 255] ^ (c >>> 8), ~0) >>> 0;
function chunk(name, data) {
  const body = Buffer.concat([Buffer.from(name, "latin1"), data]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc(body));
  return Buffer.concat([length, body, sum]);
}
/** A grey PNG; `said` is the size that its header names. */
function png(width, height, said = [width, height]) {
  const head = Buffer.alloc(13);
  head.writeUInt32BE(said[0], 0);
  head.writeUInt32BE(said[1], 4);
  head.set([8, 0, 0, 0, 0], 8);
  const rows = zlib.deflateSync(Buffer.alloc((width + 1) * height));
  return Buffer.concat([Buffer.from("\x89PNG\r\n\x1a\n", "latin1"), chunk("IHDR", head), chunk("IDAT", rows), chunk("IEND", Buffer.alloc(0))]);
}
/** Its header is whole. */
const JPEG = Buffer.from("/9j/4AAQSkZJRgABAQEASABIAAD/2wBDAP//////////////////////////////////////////////////////////////////////////////////////wgALCAABAAEBAREA/8QAFBABAAAAAAAAAAAAAAAAAAAAAP/aAAgBAQABPxA=", "base64");
const DOT = png(1, 1).toString("base64");

const image = (data, mimeType = "image/png") => ({ type: "image", data: Buffer.isBuffer(data) ? data.toString("base64") : data, mimeType });
const user = (...content) => ({ role: "user", content: [{ type: "text", text: "look" }, ...content], timestamp: 1 });
const said = (text = "seen") => ({ role: "assistant", content: [{ type: "text", text }], api: "anthropic-messages", provider: "test", model: "m1", usage: { input: 5, output: 5, cacheRead: 0, cacheWrite: 0, totalTokens: 10, cost: { total: 0 } }, stopReason: "stop", timestamp: 2 });

/** A session with these messages, as another program may have left it. */
function stored(place, messages) {
  const id = (at) => (0x10000000 + at).toString(16);
  const entry = (message, at) => ({ type: "message", id: id(at), parentId: at ? id(at - 1) : null, timestamp: "2026-01-01T00:00:00.000Z", message });
  const header = { type: "session", version: 3, id: "0f7c8a52-0000-4000-8000-000000000001", timestamp: "2026-01-01T00:00:00.000Z", cwd: place.work };
  return place.write("stored.jsonl", [header, ...messages.map(entry)].map((line) => JSON.stringify(line)).join("\n") + "\n");
}

/** A model that sees, or with another window. */
async function model(place, replies, { settings = {}, ...changes } = {}) {
  const server = await place.model(replies, settings);
  const file = path.join(place.data, "models.json");
  const table = JSON.parse(fs.readFileSync(file, "utf8"));
  Object.assign(table.providers.test.models[0], { input: ["text", "image"], ...changes });
  fs.writeFileSync(file, JSON.stringify(table), { mode: 0o600 });
  return server;
}

const blocksOf = (body) => JSON.parse(body).messages.flatMap(({ content }) => (typeof content === "string" ? [] : content)).flatMap((part) => (part.type === "tool_result" && Array.isArray(part.content) ? part.content : [part]));
const imagesOf = (body) => blocksOf(body).filter(({ type }) => type === "image");
const linesOf = (body) => blocksOf(body).filter(({ type, text }) => type === "text" && text.startsWith("[")).map(({ text }) => text);

/** What every service checks: base64, of the type that is named, with sides that it takes. */
function assertAccepted(body) {
  assert.ok(body.length < 32_000_000, "a request of more than 32 MB");
  assert.ok(imagesOf(body).length <= 100, "more than 100 pictures");
  for (const { source } of imagesOf(body)) {
    const bytes = Buffer.from(source.data, "base64");
    assert.equal(bytes.toString("base64"), source.data, "not base64");
    const types = { "image/png": "89504e47", "image/jpeg": "ffd8ff", "image/gif": "47494638", "image/webp": "52494646" };
    assert.ok(bytes.toString("hex").startsWith(types[source.media_type] ?? "none"), `not ${source.media_type}`);
    if (source.media_type === "image/png") assert.ok(Math.max(bytes.readUInt32BE(16), bytes.readUInt32BE(20)) <= 2000, "a side of more than 2000 pixels");
  }
}

/** One prompt in a stored session: it is answered, its request is accepted, and what was stored stays. */
async function goesOn(place, file, server, words = "go on") {
  const before = fs.readFileSync(file);
  const run = await place.offshoot(["--session", file, "-p", words]);
  assert.equal(run.code, 0, run.stderr);
  assertAccepted(server.last);
  assert.deepEqual(fs.readFileSync(file).subarray(0, before.length), before, "stored bytes");
  return run;
}

const choices = (file) => fs.readFileSync(file, "utf8").trim().split("\n").map((line) => JSON.parse(line)).filter(({ customType }) => customType === "offshoot.pictures");
const refusal = (status, type, message) => (response) => response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify({ type: "error", error: { type, message } }));
/** An answer with so many tokens of input, and a text of so many tokens. */
const long = (input, tokens) => event("message_start", { message: { id: "x", type: "message", role: "assistant", model: "m1", content: [], usage: { input_tokens: input, output_tokens: 1 } } }) + textBlock(0) + delta(0, "abc ".repeat(tokens)) + stopBlock(0) + finish("end_turn", { output_tokens: tokens });
const summaries = (server) => server.requests.filter(({ body }) => body.includes("<conversation>")).length;
const helps = /images\.blockImages.*offshoot compact/s;

const SMALL = { contextWindow: 20000, maxTokens: 4000 };

export const REPORTS = [
  {
    kind: "pictures", report: "anthropics/claude-code#34120", name: "stored pictures of a wrong type, of bad base64, of a PDF",
    promise: "the prompt is answered; what is no picture is a line of text; said once",
    async run(place) {
      const server = await model(place, [answer("fine")]);
      const odd = [image(png(2, 2), "image/gif"), image("@@@"), image(Buffer.from("%PDF-1.7"), "application/pdf"), image(png(3, 2).subarray(0, 50)), image("")];
      const file = stored(place, [user(...odd), said()]);
      const run = await goesOn(place, file, server);
      assert.equal(linesOf(server.last).filter((line) => line.startsWith("[picture left out: ")).length, 4, server.last);
      assert.match(run.stderr, /a picture is not sent/);
    },
  },
  {
    kind: "pictures", report: "earendil-works/pi#401", name: "more pictures in one prompt than a request takes",
    promise: "the newest half is sent; the choice is kept, and is no context_edit; the next request begins with the same bytes",
    async run(place) {
      const server = await model(place, [answer("fine")]);
      const file = stored(place, [user(...Array(101).fill(image(DOT))), said()]);
      const run = await goesOn(place, file, server);
      assert.match(run.stderr, /51 older pictures are not sent any more/);
      const first = JSON.parse(server.last).messages[0];
      assert.equal(imagesOf(server.last).length, 50);
      const again = await goesOn(place, file, server, "and again");
      assert.doesNotMatch(again.stderr, /pictures/);
      assert.deepEqual(JSON.parse(server.last).messages[0], first);
      assert.deepEqual(choices(file).map(({ data }) => data), [{ wire: "anthropic-messages", from: "10000000", skip: 51 }]);
      assert.doesNotMatch(fs.readFileSync(file, "utf8"), /context_edit/);
    },
  },
  {
    kind: "pictures", report: "anomalyco/opencode#48476", name: "25 pictures, one of them with a side of more than 2000 pixels",
    promise: "it is scaled for the request",
    async run(place) {
      const server = await model(place, [answer("fine")]);
      await goesOn(place, stored(place, [user(image(png(2600, 20)), ...Array(24).fill(image(DOT))), said()]), server);
      assert.equal(imagesOf(server.last).length, 25);
    },
  },
  {
    kind: "pictures", report: "can1357/oh-my-pi#271", name: "pictures of more bytes than a request takes",
    promise: "the oldest are left out before the service refuses the request",
    async run(place) {
      const server = await model(place, [answer("fine")]);
      // A comment makes a small picture large.
      const large = Buffer.concat([png(2, 2).subarray(0, 33), chunk("tEXt", Buffer.alloc(3_000_000, 65)), png(2, 2).subarray(33)]);
      const run = await goesOn(place, stored(place, [...Array(7)].flatMap(() => [user(image(large)), said()])), server);
      assert.match(run.stderr, /older pictures are not sent any more/);
    },
  },
  {
    kind: "pictures", report: "damianvtran/local-operator#596", name: "the service refuses a request with pictures as too large",
    promise: "the message names what helps, and not that the session is too small",
    async run(place) {
      await model(place, [refusal(413, "request_too_large", "Request exceeds the maximum size")]);
      const run = await place.offshoot(["--session", stored(place, [user(image(DOT)), said()]), "-p", "go on"]);
      assert.equal(run.code, 6);
      assert.match(run.stderr, helps);
      assert.doesNotMatch(run.stderr, /too small/);
    },
  },
  {
    kind: "pictures", report: "anthropics/claude-code#55338", name: "a PNG of few bytes with 30,000 × 30,000 pixels is read and attached",
    promise: "it is not decoded; the text says why",
    async run(place) {
      const server = await model(place, [answer({ call: "read", arguments: { path: "bomb.png" } }), answer("fine")]);
      place.write("bomb.png", png(1, 1, [30000, 30000]));
      assert.equal((await place.offshoot(["-p", "read bomb.png"])).code, 0);
      assert.match(server.results[0].text, /30000x30000 pixels, more than/);
      const attached = await place.offshoot(["-p", "what is it?", "@bomb.png"]);
      assert.equal(attached.code, 2);
      assert.match(attached.stderr, /30000x30000 pixels/);
    },
  },
  {
    kind: "pictures", report: "rcarmo/piclaw#9", name: "a picture is read while the model takes text only, then the model changes",
    promise: "the model that sees gets it",
    async run(place) {
      place.write("dot.png", png(1, 1));
      await model(place, [answer({ call: "read", arguments: { path: "dot.png" } }), answer("nothing to see")], { input: ["text"] });
      await place.offshoot(["-p", "read dot.png"]);
      const server = await model(place, [answer("a dot")]);
      await place.offshoot(["-c", "-p", "and now?"]);
      assert.deepEqual(imagesOf(server.last).map(({ source }) => source.data), [DOT]);
    },
  },
  {
    kind: "pictures", report: "vybestack/llxprt-code#2130", name: "a tool's PNG that was stored as a JPEG",
    promise: "the request names the type that the bytes have",
    async run(place) {
      const server = await model(place, [answer("fine")]);
      const call = { ...said(), content: [{ type: "toolCall", id: "c1", name: "read", arguments: { path: "a.jpg" } }], stopReason: "toolUse" };
      const result = { role: "toolResult", toolCallId: "c1", toolName: "read", content: [{ type: "text", text: "[image/jpeg]" }, image(DOT, "image/jpeg")], isError: false, timestamp: 3 };
      await goesOn(place, stored(place, [user(), call, result, said()]), server);
      assert.deepEqual(imagesOf(server.last).map(({ source }) => source.media_type), ["image/png"]);
    },
  },
  {
    kind: "pictures", report: "anthropics/claude-code#39146", name: "a picture stored as the whole address of its data",
    promise: "its data are sent",
    async run(place) {
      const server = await model(place, [answer("fine")]);
      await goesOn(place, stored(place, [user(image(`data:image/png;base64,${DOT}`, "image/webp")), said()]), server);
      assert.deepEqual(imagesOf(server.last).map(({ source }) => source), [{ type: "base64", media_type: "image/png", data: DOT }]);
    },
  },
  {
    kind: "pictures", report: "anthropics/claude-code#24541", name: "120 pictures have come together over a long session",
    promise: "half of what a request takes is sent, and the next 50 pictures change nothing before them",
    async run(place) {
      const server = await model(place, [answer("fine")]);
      const file = stored(place, [...Array(120)].flatMap(() => [user(image(DOT)), said()]));
      await goesOn(place, file, server);
      assert.equal(imagesOf(server.last).length, 50);
      const before = JSON.parse(server.last).messages.slice(0, 200);
      await goesOn(place, file, server, "more");
      assert.deepEqual(JSON.parse(server.last).messages.slice(0, 200), before);
      assert.equal(choices(file).length, 1);
    },
  },
  {
    kind: "pictures", report: "anthropics/claude-code#51564", name: "one picture of a former time is too large, and every prompt failed",
    promise: "every prompt is answered",
    async run(place) {
      const server = await model(place, [answer("fine")]);
      const file = stored(place, [user(image(png(9000, 30))), said()]);
      for (const words of ["one", "two"]) await goesOn(place, file, server, words);
      assert.equal(imagesOf(server.last).length, 1);
    },
  },
  {
    kind: "pictures", report: "antirez/ds4#1080", name: "a server takes fewer pictures than others of its wire format",
    promise: "its refusal is passed on with what helps, and that helps",
    async run(place) {
      await model(place, [refusal(400, "invalid_request_error", "too many images; at most 16 are allowed")]);
      const file = stored(place, [user(...Array(17).fill(image(DOT))), said()]);
      const run = await place.offshoot(["--session", file, "-p", "go on"]);
      assert.equal(run.code, 6);
      assert.match(run.stderr, helps);
      const server = await model(place, [answer("fine")], { settings: { images: { blockImages: true } } });
      await goesOn(place, file, server);
      assert.equal(imagesOf(server.last).length, 0);
    },
  },
  {
    kind: "pictures", report: "h2non/bimg#394", name: "a JPEG of 150 bytes with 64,250 × 64,250 pixels",
    promise: "it is not decoded, neither when it is read nor when it is stored",
    async run(place) {
      const flood = Buffer.from(JPEG);
      const size = flood.indexOf(Buffer.from("ffc2000b08", "hex")) + 5;
      flood.writeUInt16BE(0xfafa, size);
      flood.writeUInt16BE(0xfafa, size + 2);
      const server = await model(place, [answer({ call: "read", arguments: { path: "flood.jpg" } }), answer("fine")]);
      place.write("flood.jpg", flood);
      assert.equal((await place.offshoot(["-p", "read flood.jpg"])).code, 0);
      assert.match(server.results[0].text, /64250x64250 pixels, more than/);
      await goesOn(place, stored(place, [user(image(flood, "image/jpeg")), said()]), server);
      assert.match(linesOf(server.last).join(), /picture left out: it has 64250x64250 pixels/);
    },
  },
  {
    kind: "window", report: "anomalyco/opencode#27924", name: "one prompt is larger than the window",
    promise: "nothing is sent, nothing is recorded, exit code 7, with the tokens, the window and what helps",
    async run(place) {
      const server = await model(place, [answer("fine")], SMALL);
      const input = "abc ".repeat(100_000);
      const run = await place.offshoot(["-p", "what is it?"], { input });
      assert.equal(run.code, 7, run.stderr);
      assert.match(run.stderr, /about 100,\d{3} tokens, and the window of test\/m1 has 20,000: shorten it/);
      assert.equal(run.stdout, "");
      place.write("long.txt", input);
      for (const words of [["-p", "what?", "@long.txt"], ["--mode", "json", "-p", "what?", "@long.txt"]]) assert.equal((await place.offshoot(words)).code, 7, words.join(" "));
      assert.deepEqual([server.requests, place.sessions()], [[], []]);
      const then = await place.offshoot(["-p", "first", "--then", input.slice(0, 120_000)]);
      assert.equal(then.code, 7, then.stderr);
      assert.equal(server.requests.length, 1, "the first prompt was answered");
      assert.doesNotMatch(JSON.stringify(place.sessions()), /abc abc/);
    },
  },
  {
    kind: "window", report: "anomalyco/opencode#48827", name: "one prompt of a client is larger than the window",
    promise: "`success: false`, nothing is recorded, and the next prompt is accepted",
    async run(place) {
      const server = await model(place, [answer("fine")], SMALL);
      const lines = [{ id: 1, type: "prompt", message: "abc ".repeat(40_000) }, { id: 2, type: "steer", message: "abc ".repeat(40_000) }, { id: 3, type: "follow_up", message: "abc ".repeat(40_000) }, { id: 4, type: "prompt", message: "short" }];
      const run = await place.offshoot(["--mode", "rpc"], { input: lines.map((line) => JSON.stringify(line)).join("\n") + "\n" });
      const replies = run.stdout.trim().split("\n").map((line) => JSON.parse(line)).filter(({ type }) => type === "response");
      assert.deepEqual(replies.map(({ id, success }) => [id, success]), [[1, false], [2, false], [3, false], [4, true]]);
      assert.match(replies[0].error, /about 40,\d{3} tokens.*20,000/);
      // The end of the input may come before the request of the last one.
      assert.doesNotMatch(JSON.stringify([server.requests, place.sessions()]), /abc abc/);
    },
  },
  {
    kind: "window", report: "JustVugg/colibri#506", name: "a prompt a little above the window, with its question at the end",
    promise: "it is sent whole; the provider's refusal is reported with the tokens; it is not shortened, and it is not in the next request",
    async run(place) {
      const server = await model(place, [refusal(400, "invalid_request_error", "prompt is too long: 22000 tokens > 20000 maximum"), answer("fine")], SMALL);
      const run = await place.offshoot(["-p", `${"abc ".repeat(22_000)} THE QUESTION`]);
      assert.equal(run.code, 7, run.stderr);
      assert.match(run.stderr, /refused the prompt, which alone has about 22,\d{3} tokens/);
      assert.equal(server.requests.length, 1);
      assert.match(server.last, /abc THE QUESTION|abc  THE QUESTION/);
      assert.equal((await place.offshoot(["-c", "-p", "short"])).code, 0);
      assert.doesNotMatch(server.last, /THE QUESTION/);
    },
  },
  {
    kind: "window", report: "screenpipe/screenpipe#3852", name: "the conversation and a large prompt are too long together",
    promise: "the conversation is summarised, the prompt is sent whole",
    async run(place) {
      const prompt = `BEGIN ${"abc ".repeat(12_000)}END`;
      const server = await model(place, [long(100, 6000), refusal(413, "invalid_request_error", "prompt is too long: 206134 tokens > 200000 maximum"), answer("## Goal\nEarlier words."), answer("fine")], { ...SMALL, settings: { compaction: { reserveTokens: 1000, keepRecentTokens: 2000 } } });
      const run = await place.offshoot(["-p", "hello", "--then", prompt]);
      assert.equal(run.code, 0, run.stderr);
      assert.ok(server.last.includes(prompt), "the prompt is whole");
      assert.match(server.last, /Earlier words/);
    },
  },
  {
    kind: "window", report: "chaitanyagiri/munder-difflin#133", name: "each compaction leaves the context above the threshold",
    promise: "it is not compacted again with each answer, and what keeps it large is said once",
    async run(place) {
      const talk = (response, request) => {
        const isSummary = server.requests.at(-1).body.includes("<conversation>");
        response.writeHead(200, { "content-type": "text/event-stream" }).end(isSummary ? answer("## Goal\nWords.") : long(6000, 600));
      };
      const server = await model(place, [talk], { ...SMALL, settings: { compaction: { reserveTokens: 16384, keepRecentTokens: 4000 } } });
      const then = [...Array(24).keys()].flatMap((at) => ["--then", `prompt ${at}`]);
      const run = await place.offshoot(["-p", "first", ...then]);
      assert.equal(run.code, 0, run.stderr);
      assert.ok(summaries(server) <= 5, `${summaries(server)} summaries for 25 answers`);
      assert.equal(run.stderr.match(/the compaction made little room/g)?.length, 1, run.stderr);
      assert.match(run.stderr, /keepRecentTokens/);
    },
  },
];
