// A server over standard input and output with every kind of result, for the comparison with pi. Speaks 2025-11-25.
import { createInterface } from "node:readline";

const schema = (properties = {}, more = {}) => ({ type: "object", properties, ...more });
const text = (words) => ({ type: "text", text: words });
const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/** Each tool: what it says of itself, and its result. */
const TOOLS = {
  echo: [{ description: "Says it again", inputSchema: schema({ text: { type: "string", description: "What" } }, { required: ["text"], additionalProperties: false, $schema: "http://json-schema.org/draft-07/schema#" }) }, ({ text: words }) => ({ content: [text(words)] })],
  "two-texts": [{ title: "Two texts", inputSchema: { type: "object" } }, () => ({ content: [text("one\n"), text("two")] })],
  "fails.here": [{ description: "  fails \n" }, () => ({ content: [text("it failed")], isError: true })],
  "fails-silently": [{ description: "", annotations: { title: "Annotated" }, inputSchema: schema() }, () => ({ content: [], isError: true })],
  refuses: [{ description: "refuses", inputSchema: schema() }, () => null],
  picture: [{ description: "a picture", inputSchema: schema() }, () => ({ content: [text("A pixel:"), { type: "image", data: PIXEL, mimeType: "image/png" }] })],
  linked: [{ description: "links", inputSchema: schema() }, () => ({ content: [{ type: "resource_link", uri: "demo://one", name: "one", mimeType: "text/plain", size: 12, description: "The first" }, { type: "resource_link", uri: "demo://two", name: "two" }] })],
  embedded: [{ description: "embeds", inputSchema: schema() }, () => ({ content: [{ type: "resource", resource: { uri: "demo://one", mimeType: "text/plain", text: "in it" } }] })],
  structured: [{ description: "structures", inputSchema: schema(), outputSchema: schema({ a: { type: "number" } }) }, () => ({ content: [text('{"a":1}')], structuredContent: { a: 1 } })],
  "structured-only": [{ description: "structures only", inputSchema: schema() }, () => ({ content: [], structuredContent: { a: { b: [1, 2] } } })],
  read_only: [{ description: "reads", inputSchema: schema({ deep: { $ref: "#/$defs/deep" } }, { $defs: { deep: { type: "string" } } }), annotations: { readOnlyHint: true } }, () => ({ content: [text("read")] })],
  [`long-${"x".repeat(80)}`]: [{ description: "a long name", inputSchema: schema() }, () => ({ content: [text("long")] })],
  read_file: [{ description: "twice", inputSchema: schema() }, () => ({ content: [text("with _")] })],
  "read-file": [{ description: "twice", inputSchema: schema() }, () => ({ content: [text("with -")] })],
};

/** The calls that are compared. */
export const CALLS = Object.keys(TOOLS).map((name) => [name, name === "echo" ? { text: "hello\n  world " } : {}]);

function answer({ method, params }) {
  switch (method) {
    case "initialize":
      return { protocolVersion: "2025-11-25", capabilities: { tools: {}, resources: {} }, serverInfo: { name: "compared", version: "1" } };
    case "tools/list":
      return { tools: Object.entries(TOOLS).map(([name, [about]]) => ({ name, inputSchema: {}, ...about })) };
    case "tools/call":
      return TOOLS[params.name][1](params.arguments ?? {});
    case "resources/list":
      return { resources: [{ uri: "demo://one", name: "one", mimeType: "text/plain", description: "The first" }] };
    case "resources/templates/list":
      return { resourceTemplates: [{ uriTemplate: "demo://{id}", name: "by id" }] };
    case "resources/read":
      return { contents: [{ uri: params.uri, mimeType: "text/plain", text: `text of ${params.uri}` }] };
    case "ping":
      return {};
    default:
      return null;
  }
}

if (process.argv[1] === new URL(import.meta.url).pathname) {
  createInterface({ input: process.stdin }).on("line", (line) => {
    const message = JSON.parse(line);
    if (message.id === undefined || !message.method) return;
    const result = answer(message);
    const said = result ? { result } : { error: { code: -32601, message: `no ${message.method}` } };
    process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id: message.id, ...said })}\n`);
  });
}
