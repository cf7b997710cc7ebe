// offshoot/sdk: the fourteen SDK examples of pi 1.6.0 print what the table of docs/sdk.md says, and ask the model for what they choose.
//   OFFSHOOT_BIN=… node --test sdk.test.mjs
import assert from "node:assert/strict";
import * as fs from "node:fs";
import * as path from "node:path";
import { test } from "node:test";

import { REPOSITORY } from "./lib/places.mjs";
import { names, run } from "./sdk-examples.mjs";

const program = path.resolve(process.env.OFFSHOOT_BIN ?? assert.fail("set OFFSHOOT_BIN"));
const page = fs.readFileSync(path.join(REPOSITORY, "docs/sdk.md"), "utf8");
/** What the table says of an example. */
const verdict = (name) => page.match(new RegExp(`^\\| \`${name}\` \\| ([^|]+) \\|`, "m"))?.[1].trim();

const SYSTEM = (request) => JSON.stringify(request.body.system);
const tools = (request) => request.body.tools.map(({ name }) => name).join();

/** Of each example what it prints, and what its requests are. */
const EXPECTED = {
  "01-minimal": ({ stdout, requests }) => {
    assert.match(stdout, /^Said\.\{\n {2}role: 'user',[^]*role: 'assistant',/);
    assert.deepEqual(requests.map(tools), ["read,bash,edit,write,todo,task"]);
  },
  "02-custom-model": ({ stdout, requests }) => {
    assert.match(stdout, /^Found model: anthropic\/claude-opus-4-5\nAvailable models: \[\n {2}'anthropic\//);
    const [, first] = stdout.match(/\[\n {2}'anthropic\/([^']+)'/);
    assert.deepEqual(requests.map(({ body }) => body.model), [first]);
  },
  "03-custom-prompt": ({ stdout, requests }) => {
    assert.equal(stdout, "=== Replace prompt ===\nSaid.\n\n=== Modify prompt ===\nSaid.\n");
    const [replaced, appended] = requests.map(SYSTEM);
    assert.match(replaced, /speaks like a pirate/);
    assert.doesNotMatch(replaced, /coding agent running in offshoot/);
    assert.match(appended, /coding agent running in offshoot[^]*## Additional Instructions/);
  },
  "04-skills": ({ stdout, stderr }) => {
    assert.equal(stdout, "Discovered skills: [ 'browser-tools', 'my-skill' ]\nSession created with filtered skills\n");
    assert.match(stderr, /the skill my-skill has no file \/virtual\/SKILL\.md/);
  },
  "05-tools": ({ stdout }) => assert.equal(stdout.split("\n").filter((line) => line.endsWith("session created")).length, 4),
  "06-extensions": ({ code, stderr, requests }) => {
    assert.deepEqual([code, requests.length], [1, 0]);
    assert.match(stderr, /offshoot\/sdk does not have DefaultResourceLoader: extensionFactories/);
  },
  "07-context-files": ({ stdout }) => assert.match(stdout, /work\/AGENTS\.md \(9 chars\)\n {2}- \/virtual\/AGENTS\.md \(103 chars\)\n/),
  "08-prompt-templates": ({ stdout }) => assert.match(stdout, /\/greet: Greets\n {2}\/deploy: Deploy the application\n/),
  "09-api-keys-and-oauth": ({ stdout }) => assert.equal(stdout.split("\n").filter((line) => line.startsWith("Session with")).length, 3),
  "10-settings": ({ stdout, stderr }) => {
    assert.match(stdout, /^Current settings: \{\}\nSession created with custom settings\nTest session created/);
    assert.match(stderr, /the setting retry\.maxRetries of this program has no effect/);
    assert.doesNotMatch(stderr, /retry\.enabled|compaction\.enabled/);
  },
  "11-sessions": ({ stdout }) => assert.match(stdout, /^In-memory session: \(none\)\nNew session file: \S+\.jsonl\nContinued session: \S+\.jsonl\n\nFound 0 sessions:\n$/),
  "12-full-control": ({ stdout, requests }) => {
    assert.equal(stdout, "Said.\n");
    const [request] = requests;
    assert.deepEqual([request.key, request.body.model, tools(request)], ["sk-mine", "claude-sonnet-4-5", "read,bash"]);
    assert.match(SYSTEM(request), /^\[\{"type":"text","text":"You are a minimal assistant/);
    assert.doesNotMatch(SYSTEM(request), /Be kind|browser-tools/);
  },
  "13-session-runtime": ({ stdout }) => {
    const [initial, next, again] = [...stdout.matchAll(/: (\S+\.jsonl)$/gm)].map(([, file]) => file);
    assert.notEqual(initial, next);
    assert.equal(initial, again);
  },
  "14-codemode-mcp": ({ code, stderr, requests }) => {
    assert.deepEqual([code, requests.length], [1, 0]);
    assert.match(stderr, /offshoot\/sdk does not have createCodemodeExtension/);
  },
};

test("the table has every example", () => assert.deepEqual(names(), Object.keys(EXPECTED)));

for (const name of names()) {
  test(name, async () => {
    const ran = await run(name, "offshoot", program);
    EXPECTED[name](ran);
    const refuses = verdict(name) === "says by name that it does not";
    assert.ok(["works", "works differently", "says by name that it does not"].includes(verdict(name)), `the table says ${verdict(name)}`);
    assert.equal(ran.code, refuses ? 1 : 0, ran.stderr);
    assert.equal(/OffshootSdkWarning/.test(ran.stderr), verdict(name) === "works differently" && ["04-skills", "10-settings", "12-full-control"].includes(name), ran.stderr);
  });
}
