// A model on the loopback that answers from a script in Anthropic's format, and keeps every request.
import { createServer } from "node:http";

/** The events of one answer: blocks of text, and calls of tools. */
function* events({ say, stop }) {
  yield { type: "message_start", message: { id: "m", type: "message", role: "assistant", content: [], model: "m1", usage: { input_tokens: 10, output_tokens: 1 } } };
  for (const [index, part] of say.entries()) {
    if (part.call) {
      yield { type: "content_block_start", index, content_block: { type: "tool_use", id: part.id, name: part.call, input: {} } };
      yield { type: "content_block_delta", index, delta: { type: "input_json_delta", partial_json: JSON.stringify(part.arguments) } };
    } else {
      yield { type: "content_block_start", index, content_block: { type: "text", text: "" } };
      yield { type: "content_block_delta", index, delta: { type: "text_delta", text: part.text } };
    }
    yield { type: "content_block_stop", index };
  }
  yield { type: "message_delta", delta: { stop_reason: stop ?? (say.some(({ call }) => call) ? "tool_use" : "end_turn") }, usage: { output_tokens: 5 } };
  yield { type: "message_stop" };
}

export async function modelServer(replies) {
  const requests = [];
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (data) => (body += data));
    request.on("end", async () => {
      requests.push({ headers: request.headers, body: body ? JSON.parse(body) : null });
      const reply = replies[Math.min(requests.length, replies.length) - 1] ?? { say: [{ text: "Nothing more." }] };
      if (reply.wait) await new Promise((resolve) => setTimeout(resolve, reply.wait));
      response.writeHead(200, { "content-type": "text/event-stream", "x-test": "yes" });
      for (const event of events(reply)) response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
      response.end();
    });
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${server.address().port}`, requests, end: () => new Promise((resolve) => (server.closeAllConnections(), server.close(resolve))) };
}
