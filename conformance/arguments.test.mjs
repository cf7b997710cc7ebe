// Arguments of tools of extensions are converted and refused as by pi: every schema of a table with every value.
import assert from "node:assert/strict";
import * as path from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { MODULES } from "./lib/places.mjs";
import { preparedArguments } from "../crates/offshoot-extensions/host/arguments.mjs";

const module = (name) => import(pathToFileURL(path.join(MODULES, name)).href);
const { validateToolArguments } = await module("@earendil-works/pi-ai/dist/utils/validation.js");
const { Type } = await module("typebox/build/index.mjs");

const of = (schema, options) => Type.Object({ n: schema }, options);
const SCHEMAS = {
  ...{ number: of(Type.Number()), integer: of(Type.Integer()), boolean: of(Type.Boolean()), string: of(Type.String()), any: of(Type.Any()) },
  ...{ optional: of(Type.Optional(Type.String())), "optional number": of(Type.Optional(Type.Number())), literal: of(Type.Literal(3)) },
  ...{ strings: of(Type.Array(Type.String())), numbers: of(Type.Array(Type.Number())), tuple: of(Type.Tuple([Type.Number(), Type.String()])) },
  choice: of(Type.Union([Type.Literal("a"), Type.Literal("b")])),
  union: of(Type.Union([Type.Number(), Type.String()])),
  "union of boolean": of(Type.Union([Type.Boolean(), Type.Number()])),
  nullable: of(Type.Union([Type.String(), Type.Null()])),
  record: of(Type.Record(Type.String(), Type.Number())),
  nested: of(Type.Object({ x: Type.Number() })),
  "nested list": of(Type.Array(Type.Object({ x: Type.Optional(Type.Number()) }))),
  "nothing else": of(Type.Number(), { additionalProperties: false }),
  limits: of(Type.Number({ minimum: 2, maximum: 5 })),
  pattern: of(Type.String({ pattern: "^a" })),
};
const VALUES = [3, "3", "3.5", "x", "", true, false, "true", "false", "1", 1, 0, -2.5, null, [], ["1"], [1], [null], ["1", 2], { x: "2" }, { x: 2 }, { x: null }, {}, "a", "b", 2, 9, [{ x: "1" }], [{ x: null }]];
const ARGUMENTS = [{}, ...VALUES.map((n) => ({ n })), { n: 3, m: 4 }];

/** pi keeps a null in an object that it makes a list of. */
const DIFFER = ['nested list {"n":{"x":null}}'];

test("arguments are converted to the types of the schema, or refused, as by pi", () => {
  const outcome = (run) => {
    try {
      return JSON.stringify(run());
    } catch {
      return "refused";
    }
  };
  const [different, counts] = [[], { fit: 0, refused: 0 }];
  for (const [name, parameters] of Object.entries(SCHEMAS)) {
    for (const given of ARGUMENTS) {
      const [theirs, ours] = [outcome(() => validateToolArguments({ name, parameters }, { name, arguments: given })), outcome(() => preparedArguments({ name, parameters }, given))];
      if (theirs !== ours) different.push(`${name} ${JSON.stringify(given)}`);
      counts[ours === "refused" ? "refused" : "fit"] += 1;
    }
  }
  assert.deepEqual(different, DIFFER);
  assert.ok(counts.fit > 250 && counts.refused > 250, JSON.stringify(counts));
});

test("a refusal names the tool, each place, and what was received", () => {
  const parameters = Type.Object({ paths: Type.Array(Type.String()), depth: Type.Number() });
  const refused = () => preparedArguments({ name: "count", parameters }, { paths: [{}], depth: "deep" });
  assert.throws(refused, { message: 'the arguments of count do not fit its schema:\n  - paths.0: must be string\n  - depth: must be number\n\nReceived:\n{\n  "paths": [\n    {}\n  ],\n  "depth": "deep"\n}' });
  assert.deepEqual(preparedArguments({ name: "count", parameters, prepareArguments: ({ path }) => ({ paths: path, depth: "2" }) }, { path: "a" }), { paths: ["a"], depth: 2 });
});
