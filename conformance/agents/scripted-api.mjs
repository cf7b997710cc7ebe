// A scripted API on loopback that speaks as Anthropic's and OpenAI's do: each request with tools is recorded and answered by the next step.
import * as http from "node:http";

/** Steps are `{ text, thinking?, calls?: [{ id, name, input }] }`. */
export async function scriptedApi(steps) {
  const requests = [];
  let made = 0;
  const server = http.createServer((request, response) => {
    let body = "";
    request.on("data", (piece) => (body += piece));
    request.on("end", () => {
      const { pathname } = new URL(request.url, "http://loopback");
      const isModel = request.method === "POST" && /\/(messages|responses)$/.test(pathname);
      if (!isModel) return response.writeHead(404, { "content-type": "application/json" }).end("{}");
      const asked = JSON.parse(body);
      // Titles and summaries for lists are asked without tools.
      const step = asked.tools?.length ? (steps.shift() ?? { text: "Nothing more." }) : { text: "A title" };
      if (asked.tools?.length) requests.push(asked);
      made += 1;
      return pathname.endsWith("/messages") ? anthropic(response, asked, step, made) : responses(response, step, made);
    });
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  const close = () => new Promise((done) => (server.closeAllConnections(), server.close(done)));
  return { url: `http://127.0.0.1:${server.address().port}`, requests, close };
}

function events(response) {
  response.writeHead(200, { "content-type": "text/event-stream" });
  return (type, data) => response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`);
}

function anthropic(response, asked, step, made) {
  const thinking = step.thinking ? [{ type: "thinking", thinking: step.thinking, signature: "U2lnbmVk" }] : [];
  const calls = (step.calls ?? []).map((call) => ({ type: "tool_use", ...call }));
  const blocks = [...thinking, { type: "text", text: step.text }, ...calls];
  const usage = { input_tokens: 12, cache_creation_input_tokens: 3, cache_read_input_tokens: 7, output_tokens: 5 };
  const end = { stop_reason: calls.length ? "tool_use" : "end_turn", stop_sequence: null };
  const message = { id: `msg_scripted${made}`, type: "message", role: "assistant", model: asked.model, usage };
  if (!asked.stream) {
    response.writeHead(200, { "content-type": "application/json" });
    return response.end(JSON.stringify({ ...message, ...end, content: blocks }));
  }
  const send = events(response);
  send("message_start", { message: { ...message, content: [], stop_reason: null, stop_sequence: null } });
  blocks.forEach((block, index) => {
    const begin = { thinking: { type: "thinking", thinking: "", signature: "" }, text: { type: "text", text: "" }, tool_use: { ...block, input: {} } };
    send("content_block_start", { index, content_block: begin[block.type] });
    const delta = (delta) => send("content_block_delta", { index, delta });
    if (block.type === "thinking") {
      delta({ type: "thinking_delta", thinking: block.thinking });
      delta({ type: "signature_delta", signature: block.signature });
    } else if (block.type === "text") delta({ type: "text_delta", text: block.text });
    else delta({ type: "input_json_delta", partial_json: JSON.stringify(block.input) });
    send("content_block_stop", { index });
  });
  send("message_delta", { delta: end, usage });
  send("message_stop", {});
  response.end();
}

function responses(response, step, made) {
  const reasoning = { type: "reasoning", id: `rs_${made}`, summary: [{ type: "summary_text", text: step.thinking }], encrypted_content: `sealed${made}` };
  const text = { type: "message", id: `m_${made}`, role: "assistant", status: "completed", content: [{ type: "output_text", text: step.text, annotations: [] }] };
  const calls = (step.calls ?? []).map(({ id, name, input }) => ({ type: "function_call", id: `fc_${id}`, call_id: id, name, arguments: JSON.stringify(input) }));
  const output = [...(step.thinking ? [reasoning] : []), text, ...calls];
  const send = events(response);
  send("response.created", { response: { id: `resp_${made}` } });
  output.forEach((item, output_index) => {
    send("response.output_item.added", { output_index, item });
    send("response.output_item.done", { output_index, item });
  });
  const usage = { input_tokens: 100, input_tokens_details: { cached_tokens: 40 }, output_tokens: 9, output_tokens_details: { reasoning_tokens: 2 }, total_tokens: 109 };
  send("response.completed", { response: { id: `resp_${made}`, output, usage } });
  response.end();
}
