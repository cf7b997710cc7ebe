// A model on this machine that answers from a list: well-behaved answers, or what a hostile server sends instead.
import * as http from "node:http";

const event = (type, fields) => `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;

export const start = () => event("message_start", { message: { id: "x", type: "message", role: "assistant", model: "m1", content: [], usage: { input_tokens: 5, output_tokens: 1 } } });
export const textBlock = (index) => event("content_block_start", { index, content_block: { type: "text", text: "" } });
export const delta = (index, text) => event("content_block_delta", { index, delta: { type: "text_delta", text } });
export const toolBlock = (index, id, name) => event("content_block_start", { index, content_block: { type: "tool_use", id, name, input: {} } });
export const argumentsOf = (index, json) => event("content_block_delta", { index, delta: { type: "input_json_delta", partial_json: json } });
export const stopBlock = (index) => event("content_block_stop", { index });
export const finish = (reason, usage = { output_tokens: 5 }) => event("message_delta", { delta: { stop_reason: reason }, usage }) + event("message_stop", {});
export { event };

/** A whole answer of words and calls: `["text", {call: "bash", arguments: {…}}]`. */
export function answer(...parts) {
  const blocks = parts.map((part, index) => {
    if (typeof part === "string") return textBlock(index) + delta(index, part) + stopBlock(index);
    return toolBlock(index, part.id ?? `call_${index}`, part.call) + argumentsOf(index, typeof part.arguments === "string" ? part.arguments : JSON.stringify(part.arguments)) + stopBlock(index);
  });
  return start() + blocks.join("") + finish(parts.some((part) => typeof part !== "string") ? "tool_use" : "end_turn");
}

export class Model {
  #server;
  /** The bodies and headers of what was asked. */
  requests = [];

  /** Each reply is the text of an event stream, or a function of the request and the response. The last one repeats. */
  static async start(replies) {
    const model = new Model();
    model.#server = http.createServer((request, response) => model.#answer(replies, request, response));
    await new Promise((resolve) => model.#server.listen(0, "127.0.0.1", resolve));
    model.port = model.#server.address().port;
    model.url = `http://127.0.0.1:${model.port}`;
    return model;
  }

  async #answer(replies, request, response) {
    const pieces = [];
    request.on("error", () => {});
    response.on("error", () => {});
    try {
      for await (const piece of request) pieces.push(piece);
    } catch {
      return;
    }
    const reply = replies[Math.min(this.requests.length, replies.length - 1)];
    this.requests.push({ path: request.url, headers: request.headers, body: Buffer.concat(pieces).toString() });
    if (typeof reply === "function") return reply(response, request);
    response.writeHead(200, { "content-type": "text/event-stream" }).end(reply);
  }

  /** What the last request says, as text. */
  get last() {
    return this.requests.at(-1)?.body ?? "";
  }

  /** The results of tools in the last request. */
  get results() {
    return JSON.parse(this.last)
      .messages.flatMap(({ content }) => (Array.isArray(content) ? content : []))
      .filter(({ type }) => type === "tool_result")
      .map((part) => ({ isError: part.is_error === true, text: typeof part.content === "string" ? part.content : part.content.map(({ text }) => text ?? "").join("") }));
  }

  end() {
    this.#server.closeAllConnections();
    return new Promise((resolve) => this.#server.close(resolve));
  }
}

/** Writes pieces for as long as they are read. */
export async function pour(response, piece) {
  while (!response.destroyed && !response.writableEnded) {
    if (!response.write(piece())) await new Promise((resolve) => response.once("drain", resolve).once("close", resolve));
    else await new Promise(setImmediate);
  }
}
