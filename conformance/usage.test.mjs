// Tokens and their cost from the answers of each wire format: the vectors of offshoot's own test, answered by the newest pi.
//   CONFORMANCE_PI=newest node --test usage.test.mjs
import assert from "node:assert/strict";
import * as fs from "node:fs";
import * as http from "node:http";
import * as path from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import * as zlib from "node:zlib";
import { besidePi, IS_NEWEST, REPOSITORY } from "./lib/places.mjs";

// Older Node.js, which skips the test, lacks it.
const { crc32 } = zlib;
const skip = IS_NEWEST ? false : "newest.test.mjs runs it with pi 1.6";

/** A frame of AWS's event streams. */
function frame(event) {
  const [[name, payload]] = Object.entries(event);
  const header = (key, value) => Buffer.concat([Buffer.from([key.length]), Buffer.from(key), Buffer.from([7, 0, value.length]), Buffer.from(value)]);
  const headers = Buffer.concat([header(":event-type", name), header(":content-type", "application/json"), header(":message-type", "event")]);
  const data = Buffer.from(JSON.stringify(payload));
  const number = (value) => { const four = Buffer.alloc(4); four.writeUInt32BE(value); return four; };
  const lengths = Buffer.concat([number(headers.length + data.length + 16), number(headers.length)]);
  const before = Buffer.concat([lengths, number(crc32(lengths)), headers, data]);
  return Buffer.concat([before, number(crc32(before))]);
}

test("pi counts the same tokens and the same cost", { skip }, async () => {
  const folder = path.join(besidePi("pi-ai"), "dist/api");
  const file = path.join(REPOSITORY, "crates/offshoot-agent/tests/it/wires/usage.jsonl");
  const vectors = fs.readFileSync(file, "utf8").trim().split("\n").map((line) => JSON.parse(line));
  let body;
  // Bedrock's server is asked in HTTP/1.1, without a signature.
  Object.assign(process.env, { AWS_BEDROCK_FORCE_HTTP1: "1", AWS_REGION: "us-east-1" });
  const server = http.createServer((request, response) => {
    request.resume();
    request.on("end", () => response.writeHead(200, { "content-type": typeof body === "string" ? "text/event-stream" : "application/vnd.amazon.eventstream" }).end(body));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    const baseUrl = `http://127.0.0.1:${server.address().port}`;
    for (const { api, provider, cost, events, usage } of vectors) {
      const { streamSimple } = await import(pathToFileURL(path.join(folder, `${api}.js`)).href);
      const isBedrock = api === "bedrock-converse-stream";
      if (isBedrock) body = Buffer.concat(events.map(frame));
      else body = events.map((event) => `${event.type ? `event: ${event.type}\n` : ""}data: ${JSON.stringify(event)}\n\n`).join("");
      if (api === "openai-completions") body += "data: [DONE]\n\n";
      const model = { id: "m1", name: "m1", api, provider, baseUrl, reasoning: false, input: ["text"], cost, contextWindow: 1_000_000, maxTokens: 1000 };
      let last;
      for await (const event of streamSimple(model, { messages: [{ role: "user", content: "x", timestamp: 0 }] }, { apiKey: "sk-k" })) last = event;
      const message = last.message ?? last.error;
      assert.equal(message.stopReason, "stop", message.errorMessage);
      // Tokens of thinking are part of the output; offshoot does not keep them apart.
      const { reasoning: _, cacheWrite1h, cost: { totalFromProvider: __, ...paid }, ...tokens } = message.usage;
      assert.deepEqual({ ...tokens, ...(cacheWrite1h ? { cacheWrite1h } : {}), cost: paid }, usage, JSON.stringify(events));
    }
    assert.ok(vectors.length > 25);
  } finally {
    server.close();
  }
});
