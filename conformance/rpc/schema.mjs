// The JSON Schema of RPC as the program says it, and TypeScript types made of it. With --write it brings docs/ up to date.
//   OFFSHOOT_BIN=… node rpc/schema.mjs --write
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { fileURLToPath } from "node:url";
import { compile } from "json-schema-to-typescript";
import { REPOSITORY } from "../lib/places.mjs";
import { RpcPeer } from "../lib/rpc.mjs";

export const SCHEMA = path.join(REPOSITORY, "docs/rpc.schema.json");
export const TYPES = path.join(REPOSITORY, "docs/rpc.d.ts");
const CLIENT_TYPES = path.join(REPOSITORY, "clients/javascript/types/rpc.d.ts");

const BANNER = "// The lines of `offshoot --mode rpc`, generated from rpc.schema.json. docs/rpc.md says what they do.\n";

/** What the command `get_schema` answers. */
export async function schemaOf(program) {
  const home = fs.mkdtempSync(path.join(os.tmpdir(), "offshoot-rpc-schema-"));
  const env = { PATH: process.env.PATH, HOME: home, OFFSHOOT_HOME: path.join(home, "data") };
  const peer = new RpcPeer(path.resolve(program), ["--mode", "rpc", "--no-session"], { cwd: home, env });
  const { data } = await peer.ask({ type: "get_schema" });
  await peer.end();
  fs.rmSync(home, { recursive: true, force: true });
  return data;
}

export function schemaText(schema) {
  return `${JSON.stringify(schema, null, 1)}\n`;
}

/** A type of each definition that a line uses, and `RpcLines`, which names where to begin. */
export async function typesOf(schema) {
  const is = (name) => ({ $ref: `#/$defs/${name}` });
  const properties = {
    sent: { description: "What a client writes.", anyOf: [is("RpcRequest"), is("UiAnswer")] },
    read: { description: "What it reads.", anyOf: [is("RpcResponse"), is("Event"), is("UiRequest")] },
    data: is("RpcResponses"),
  };
  const lines = { type: "object", properties, required: Object.keys(properties), $defs: structuredClone(schema.$defs) };
  return compile(lines, "RpcLines", {
    additionalProperties: false,
    bannerComment: BANNER,
    style: { printWidth: 120 },
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url) && process.argv[2] === "--write") {
  const schema = await schemaOf(process.env.OFFSHOOT_BIN);
  fs.writeFileSync(SCHEMA, schemaText(schema));
  for (const file of [TYPES, CLIENT_TYPES]) fs.writeFileSync(file, await typesOf(schema));
}
