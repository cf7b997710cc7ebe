// The client of `@modelcontextprotocol/conformance`: `offshoot mcp probe`, with a browser that goes where it is sent.
// Called with the server's address; OFFSHOOT_BIN is the program.

import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

/** The tools that a scenario wants to be called, each by a client of its own. */
const CALLS = {
  "sep-2322-client-request-state": ["test_mrtr_echo_state", "test_mrtr_unrelated", "test_mrtr_no_state", "test_mrtr_no_result_type"].map((tool) => [tool, {}]),
  tools_call: ["add_numbers", { a: 5, b: 3 }],
  "sse-retry": ["test_reconnection", {}],
  "http-invalid-tool-headers": ["valid_tool", {}],
  "json-schema-2020-12-preservation": ["json_schema_echo", { schema: {} }],
  "elicitation-sep1034-client-defaults": ["test_client_elicitation_defaults", {}],
};

/** The client that a scenario wants to be configured: the address of its description. */
const CLIENTS = { "auth/basic-cimd": "https://conformance-test.local/client-metadata.json" };

const url = process.argv.at(-1);
const scenario = process.env.MCP_CONFORMANCE_SCENARIO ?? "";
const context = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? "{}");
const named = CALLS[scenario] ?? (scenario.startsWith("auth/") ? ["test-tool", {}] : []);
// A scenario may say itself what it wants.
const wanted = context.toolCalls?.map((call) => [call.name, call.arguments]);
const calls = wanted ?? (Array.isArray(named[0]) ? named : [named]);
const home = mkdtempSync(join(tmpdir(), "offshoot-mcp-"));

/** Follows the authorization server to the address that offshoot listens at. */
async function browse(address) {
  for (let next = address, hops = 0; hops < 10; hops += 1) {
    const response = await fetch(next, { redirect: "manual" });
    const location = response.headers.get("location");
    if (!location) return;
    next = new URL(location, next).href;
  }
}

/** The schema of the tool beside this one, as models get it. */
async function schemaBeside(tool) {
  const child = spawn(process.env.OFFSHOOT_BIN, ["mcp", "probe", url], { env: { HOME: home, PATH: process.env.PATH }, stdio: ["ignore", "pipe", "inherit"] });
  let text = "";
  for await (const part of child.stdout) text += part;
  return Object.entries(JSON.parse(text).schemas).find(([name]) => name !== tool)[1];
}

/** Runs the client once, and gives its exit code. */
async function probe([tool, args]) {
  const words = ["mcp", "probe", url, "--sign-in"];
  // Whoever asks gets the answers that it proposes.
  if (tool) words.push("--call", tool, "--arguments", JSON.stringify(args), "--answers", "{}");
  const client = context.client_id ?? CLIENTS[scenario];
  if (client) words.push("--client-id", client);
  if (context.client_secret) words.push("--client-secret", context.client_secret);
  const env = { HOME: home, PATH: process.env.PATH };
  const child = spawn(process.env.OFFSHOOT_BIN, words, { env, stdio: ["ignore", "inherit", "pipe"] });
  for await (const line of createInterface({ input: child.stderr })) {
    console.error(line);
    const address = /https?:\/\/\S+/.exec(line)?.[0];
    if (address?.includes("code_challenge")) browse(address).catch((error) => console.error(error));
  }
  return new Promise((done) => (child.exitCode === null ? child.once("close", done) : done(child.exitCode)));
}

if (scenario === "json-schema-2020-12-preservation") calls[0][1].schema = await schemaBeside(calls[0][0]);
let code = 0;
for (const call of calls) code = (await probe(call)) || code;
rmSync(home, { recursive: true, force: true });
process.exit(code);
