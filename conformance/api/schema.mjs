// The JSON Schema of `offshoot api`, made of the methods that the program lists and of the shapes of their values; and types
// for TypeScript and Python made of it. With --write it brings docs/ and clients/ up to date.
//   OFFSHOOT_BIN=… node api/schema.mjs --write
import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { fileURLToPath } from "node:url";
import { compile } from "json-schema-to-typescript";
import { REPOSITORY } from "../lib/places.mjs";
import { ARGUMENTS, DEFS, OF_METHOD, OPEN_METHODS, resultOf } from "./shapes.mjs";

const at = (name) => path.join(REPOSITORY, name);
export const REWRITE = "run `OFFSHOOT_BIN=… node conformance/api/schema.mjs --write`";

/** The methods of the program, as `rpc.discover` lists them. */
export function methodsOf(program) {
  const input = '{"jsonrpc":"2.0","id":1,"method":"rpc.discover"}\n';
  return JSON.parse(execFileSync(path.resolve(program), ["api"], { input, encoding: "utf8" })).result.methods;
}

export function schemaOf(methods) {
  const properties = Object.fromEntries(methods.map((method) => [method.name, methodSchema(method)]));
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "offshoot api",
    description: "The arguments and results of the methods of `offshoot api`. docs/api.md says what they do.",
    $ref: "#/$defs/ApiMethods",
    $defs: { ApiMethods: { type: "object", properties, required: Object.keys(properties), additionalProperties: false }, ...DEFS },
  };
}

function methodSchema({ name, params }) {
  const shape = (param) => {
    const found = OF_METHOD[name]?.[param.name] ?? ARGUMENTS[param.name];
    if (found === undefined) throw new Error(`api/shapes.mjs does not know the argument ${param.name} of ${name}`);
    if (param.required || Object.keys(found).length === 0) return found;
    return { anyOf: [found, { type: "null" }] };
  };
  const result = resultOf(name);
  if (result === undefined) throw new Error(`api/shapes.mjs does not know the result of ${name}`);
  const given = {
    type: "object",
    properties: Object.fromEntries(params.map((param) => [param.name, shape(param)])),
    required: params.filter((param) => param.required).map((param) => param.name),
    additionalProperties: OPEN_METHODS.includes(name),
  };
  return { type: "object", properties: { params: given, result }, required: ["params", "result"], additionalProperties: false };
}

/** Types for TypeScript: `ApiMethods` and each shape. */
export async function typescriptOf({ $defs }) {
  const { ApiMethods, ...shapes } = structuredClone($defs);
  const bannerComment = "// The methods of `offshoot api`, generated from docs/api.schema.json. docs/api.md says what they do.\n";
  const options = { additionalProperties: false, bannerComment, unreachableDefinitions: true, style: { printWidth: 120 } };
  const text = await compile({ ...ApiMethods, $defs: shapes }, "ApiMethods", options);
  // Comments without words of ours.
  return text.replace(/( \*\n)? \* This interface was referenced by `ApiMethods`'s JSON-Schema\n \* via the `definition` "\w+"\.\n/g, "").replaceAll("/**\n */\n", "");
}

/** Types for Python: a TypedDict of each shape. */
export function pythonOf({ $defs }) {
  const { ApiMethods, ...shapes } = $defs;
  const lines = [
    '"""The shapes of `offshoot api`, generated from docs/api.schema.json. docs/api.md says what they are."""',
    "",
    "from __future__ import annotations",
    "",
    "from typing import Any, Dict, List, Literal, TypedDict, Union",
  ];
  const nested = [];
  const typeOf = (shape, name) => {
    if (shape.$ref) return shape.$ref.split("/").at(-1);
    if (shape.anyOf) return `Union[${shape.anyOf.map((part, at) => typeOf(part, `${name}${at || ""}`)).join(", ")}]`;
    if (shape.enum) return `Literal[${shape.enum.map((value) => JSON.stringify(value)).join(", ")}]`;
    if (shape.type === "array") return `List[${typeOf(shape.items, `${name}Item`)}]`;
    if (shape.type === "object") {
      if (!shape.properties) return "Dict[str, Any]";
      nested.push([name, shape]);
      return name;
    }
    return { string: "str", integer: "int", number: "float", boolean: "bool", null: "None" }[shape.type] ?? "Any";
  };
  const upper = (name) => name[0].toUpperCase() + name.slice(1);
  const dictionary = (name, { properties, required }) => {
    const members = (isNeeded) =>
      Object.entries(properties).filter(([member]) => required.includes(member) === isNeeded).map(([member, shape]) => [member, typeOf(shape, name + upper(member))]);
    const [needed, others] = [members(true), members(false)];
    const all = [...needed, ...others];
    // A keyword is no name of a member in a class.
    if (all.some(([member]) => member === "from")) {
      const pairs = all.map(([member, type]) => `"${member}": ${type}`);
      return [`${name} = TypedDict("${name}", {${pairs.join(", ")}}${others.length > 0 ? ", total=False" : ""})`];
    }
    const body = (all) => (all.length === 0 ? ["    pass"] : all.map(([member, type]) => `    ${member}: ${type}`));
    if (others.length === 0) return [`class ${name}(TypedDict):`, ...body(needed)];
    // Python 3.9 has no NotRequired.
    return [`class _${name}(TypedDict):`, ...body(needed), "", "", `class ${name}(_${name}, total=False):`, ...body(others)];
  };
  const write = (name, shape) => {
    const text = isAlias(shape) ? [`${name} = ${typeOf(shape, name)}`] : dictionary(name, shape);
    const inner = nested.splice(0);
    for (const [nestedName, nestedShape] of inner) write(nestedName, nestedShape);
    lines.push("", "", ...text);
  };
  // An alias is evaluated at once, so it comes after the names in it.
  const isAlias = (shape) => !(shape.type === "object" && shape.properties);
  const [aliases, classes] = [true, false].map((wanted) => Object.entries(shapes).filter(([, shape]) => isAlias(shape) === wanted));
  for (const [name, shape] of [...classes, ...aliases]) write(name, shape);
  return `${lines.join("\n")}\n`;
}

/** Each generated file with its text. */
export async function documentsOf(program) {
  const schema = schemaOf(methodsOf(program));
  const rpc = fs.readFileSync(at("docs/rpc.d.ts"), "utf8");
  return {
    schema,
    documents: [
      [at("docs/api.schema.json"), `${JSON.stringify(schema, null, 1)}\n`],
      [at("clients/javascript/types/api.d.ts"), await typescriptOf(schema)],
      [at("clients/javascript/types/rpc.d.ts"), rpc],
      [at("clients/python/offshoot_sessions/types.py"), pythonOf(schema)],
    ],
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url) && process.argv[2] === "--write") {
  const { documents } = await documentsOf(process.env.OFFSHOOT_BIN);
  for (const [file, text] of documents) fs.writeFileSync(file, text);
}
