// Servers that answer wrongly, for ever, or with somebody else's words.
import assert from "node:assert/strict";
import * as http from "node:http";
import * as zlib from "node:zlib";
import { answer, argumentsOf, delta, event, finish, pour, start, stopBlock, textBlock, toolBlock } from "./model.mjs";
import { KEY } from "./place.mjs";

const stream = (response) => response.writeHead(200, { "content-type": "text/event-stream" });
const with200 = (text) => (response) => stream(response).end(text);
/** Bounds low enough that an endless answer ends soon. */
const BOUNDS = { answer: { maxBytes: 1 << 20, maxBlocks: 20, maxSeconds: 3 } };
const endless = (piece, first = start() + textBlock(0)) => (response) => (stream(response).write(first), pour(response, piece));
const hangs = (first) => (response) => stream(response).write(first);

const status = (code, body, headers = {}) => (response) => response.writeHead(code, { "content-type": "application/json", ...headers }).end(body);
const ERROR = JSON.stringify({ type: "error", error: { type: "overloaded_error", message: "\u001b]0;taken\u0007 busy \u001b[2J" } });

/** [name, reply, promise, how it is checked]. A run that fails ends with 6, and nothing of the answer is lost. */
const REPLIES = [
  ["deltas without an end", endless(() => delta(0, "on and on ".repeat(100)))],
  ["one delta of 4 MB", with200(start() + textBlock(0) + delta(0, "x".repeat(4 << 20)) + stopBlock(0) + finish("end_turn"))],
  ["a line without an end", endless(() => "x".repeat(65536), "data: ")],
  ["comments without an end", endless(() => ":\n\n".repeat(1000), start())],
  ["pings without an end", endless(() => event("ping", {}).repeat(100), start())],
  ["empty lines without an end", endless(() => "\n".repeat(65536), start())],
  ["blocks without an end", endless(() => textBlock(0) + stopBlock(0), start())],
  ["10,000 blocks", with200(start() + Array.from({ length: 10_000 }, (_, i) => textBlock(i) + delta(i, "x") + stopBlock(i)).join("") + finish("end_turn"))],
  ["thoughts without an end", endless(() => event("content_block_delta", { index: 0, delta: { type: "thinking_delta", thinking: "hm ".repeat(1000) } }), start() + event("content_block_start", { index: 0, content_block: { type: "thinking", thinking: "" } }))],
  ["arguments of a call without an end", endless(() => argumentsOf(0, "x".repeat(1000)), start() + toolBlock(0, "c", "bash") + argumentsOf(0, '{"command":"'))],
  ["a gzip bomb", (response) => (response.writeHead(200, { "content-type": "text/event-stream", "content-encoding": "gzip" }), response.end(zlib.gzipSync(Buffer.alloc(1 << 28))))],
  ["silence after the first word", hangs(start() + textBlock(0) + delta(0, "Well"))],
  ["silence before the first word", (response) => stream(response).flushHeaders()],
  ["a byte now and then", (response) => (stream(response).write(start() + textBlock(0)), drip(response, delta(0, "slow ".repeat(1000))))],
  ["an end in the middle", (response) => (stream(response).write(start() + textBlock(0) + delta(0, "half an")), setTimeout(() => response.destroy(), 50))],
  ["an end in the middle of a character", with200(Buffer.concat([Buffer.from(start() + textBlock(0)), Buffer.from(delta(0, "größe")).subarray(0, -40), Buffer.from([0xc3])]))],
  ["a delta for a block that never began", with200(start() + delta(7, "x") + finish("end_turn"))],
  ["a delta before the start", with200(delta(0, "x") + finish("end_turn"))],
  ["two starts", with200(start() + start() + textBlock(0) + delta(0, "Here.") + stopBlock(0) + finish("end_turn")), "any"],
  ["a block twice", with200(start() + textBlock(0) + textBlock(0) + delta(0, "Here.") + stopBlock(0) + finish("end_turn")), "any"],
  ["a negative index", with200(start() + textBlock(-1) + delta(-1, "x") + finish("end_turn"))],
  ["an index of 2^63", with200(start() + textBlock(2 ** 63) + delta(2 ** 63, "x") + finish("end_turn")), "any"],
  ["an index of words", with200(start() + textBlock("first") + finish("end_turn"))],
  ["no JSON", with200("event: message_start\ndata: {not json}\n\n")],
  ["100,000 nested arrays", with200(`${start()}event: ping\ndata: ${"[".repeat(1e5)}${"]".repeat(1e5)}\n\n`)],
  ["bytes that are no UTF-8", with200(Buffer.concat([Buffer.from(start()), Buffer.alloc(4096, 0xff), Buffer.from("\n\n")]))],
  ["a page", (response) => response.writeHead(200, { "content-type": "text/html" }).end("<html><body>Sign in to the Wi-Fi</body></html>")],
  ["nothing at all", with200("")],
  ["only a start", with200(start())],
  ["an event of an error with escape sequences", with200(start() + `event: error\ndata: ${ERROR}\n\n`)],
  ["escape sequences in the answer", with200(answer("\u001b]52;c;aGk=\u0007Here.\u001b[2J\u202e")), "answers"],
  ["usage of huge, negative and no numbers", with200(start() + textBlock(0) + delta(0, "Here.") + stopBlock(0) + finish("end_turn", { output_tokens: 1e308, input_tokens: -5, cache_read_input_tokens: "many" })), "any"],
  ["a reason to stop that nobody knows", with200(start() + textBlock(0) + delta(0, "Here.") + stopBlock(0) + finish("\u001b[2Jbored")), "any"],
  ["a call of a tool that does not exist", with200(answer({ call: "no-such-tool", arguments: {} })), "loops"],
  ["a call without arguments that are JSON", with200(answer({ call: "bash", arguments: '{"command": ' })), "loops"],
  ["a call whose arguments are an array", with200(answer({ call: "bash", arguments: "[1, 2]" })), "loops"],
  ["calls of one id", with200(answer({ call: "ls", id: "c", arguments: {} }, { call: "ls", id: "c", arguments: {} })), "loops"],
  ["an id of a megabyte", with200(answer({ call: "ls", id: "i".repeat(1 << 20), arguments: {} })), "loops"],
  ["401 with a page of 10 MB", status(401, "x".repeat(10 << 20))],
  ["500 with escape sequences", status(500, ERROR)],
  ["429 that asks for a year", status(429, ERROR, { "retry-after": "31536000" })],
  ["429 that asks for nonsense", status(429, ERROR, { "retry-after": "soon\t" })],
  ["1,000 header lines", (response) => (Array.from({ length: 1000 }, (_, i) => response.setHeader(`x-${i}`, "y".repeat(20))), stream(response).end(answer("Here."))), "any"],
  ["a header of a megabyte", (response) => (response.socket.write(`HTTP/1.1 200 OK\r\nx-long: ${"y".repeat(1 << 20)}\r\n\r\n`), response.socket.end())],
  ["no HTTP", (response) => response.socket.end("SSH-2.0-OpenSSH_9.9\r\n")],
  ["chunks of a wrong length", (response) => response.socket.end("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\nffffffffffffffffff\r\nx\r\n")],
];

function drip(response, text) {
  let at = 0;
  const timer = setInterval(() => (response.destroyed ? clearInterval(timer) : response.write(text[at++ % text.length])), 20);
}

const CHECKS = {
  fails: ({ code }, name) => assert.equal(code, 6, `${name} is a failure`),
  answers: ({ code, stdout }) => (assert.equal(code, 0), assert.match(stdout, /Here\./)),
  any: ({ code }) => assert.ok([0, 6].includes(code), `ended with ${code}`),
  loops: ({ code }) => assert.equal(code, 7, "calls that fail go on until the limit of answers"),
};

/** What is in the session is valid, whatever came; and the key went nowhere but to its own server. */
async function holds(place, done, model) {
  assert.doesNotMatch(done.stderr, /\u001b|\u0007|\u202e/, "the server steers the terminal");
  assert.ok(!(done.stdout + done.stderr).includes(KEY), "the key is shown");
  for (const entries of place.sessions()) {
    const text = JSON.stringify(entries);
    assert.ok(text.includes("say something"), "what was asked is in the session");
    assert.ok(!text.includes(KEY), "the key is in the session");
  }
  assert.ok(model.requests.length > 0);
  if (place.sessions().length > 0) await place.offshoot(["check", "latest"], { mayEnd: [0] });
}

export const SERVERS = REPLIES.map(([name, reply, check = "fails"]) => ({
  group: "server",
  name,
  promise: "the run ends by its limits, the session stays valid, no key leaves",
  async run(place) {
    const model = await place.model([reply], BOUNDS);
    const done = await place.offshoot(["-p", "say something", "--max-turns", "2", "--max-time", "5s"]);
    const isEndless = [6, 7].includes(done.code) && check === "fails";
    if (!isEndless) CHECKS[check](done, name);
    await holds(place, done, model);
  },
}));

/** A server that sends the request on: the key belongs to the first one alone. */
const redirect = (code) => ({
  group: "server",
  name: `${code} to another server`,
  promise: "no key leaves for another server",
  async run(place) {
    const seen = [];
    const other = http.createServer((request, response) => (seen.push(JSON.stringify(request.headers)), response.writeHead(200, { "content-type": "text/event-stream" }).end(answer("Here."))));
    await new Promise((resolve) => other.listen(0, "127.0.0.1", resolve));
    try {
      await place.model([(response) => response.writeHead(code, { location: `http://localhost:${other.address().port}/v1/messages` }).end()], BOUNDS);
      await place.offshoot(["-p", "say something"]);
      assert.ok(seen.every((headers) => !headers.includes(KEY)), "the key went to another server");
    } finally {
      other.closeAllConnections();
      await new Promise((resolve) => other.close(resolve));
    }
  },
});

/** Endless answers with the usual bounds: a stop ends them. */
const stopped = (signal) => ({
  group: "server",
  name: `deltas without an end, stopped by ${signal}`,
  promise: "stopping wins against an answer without an end; what came is in the session",
  async run(place) {
    let child;
    const reply = endless(() => delta(0, "on and on ".repeat(10)));
    await place.model([(response) => (reply(response), setTimeout(() => child.kill(signal), 300))]);
    await place.offshoot(["-p", "say something"], { when: (started) => (child = started), mayEnd: [130] });
    const said = place.sessions()[0].at(-1);
    assert.equal(said.message.stopReason, "aborted");
  },
});

SERVERS.push(...[301, 302, 307, 308].map(redirect), ...["SIGINT", "SIGTERM", "SIGHUP"].map(stopped));
