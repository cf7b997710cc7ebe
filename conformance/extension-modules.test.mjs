// The rules of modules: each probe is loaded by pi's loader and by offshoot's host, and must come out equal, or work here where pi fails.
//   node --test extension-modules.test.mjs
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { after, test } from "node:test";
import { PROBES } from "./extensions/module-probes.mjs";
import { Owner } from "./extensions/owner.mjs";
import { node } from "./extensions/places.mjs";
import { HERE, newestPi, temporaryFolder } from "./lib/places.mjs";

const NODE = node();
const folder = temporaryFolder("extension-modules");
after(() => fs.rmSync(folder, { recursive: true, force: true }));

/** Probes that pi's loader cannot load, and offshoot's can. */
const MORE_THAN_PI = [
  "imports with .js for a .ts file",
  "imports of a folder",
  "imports of a .tsx file by .js",
  "a decorator of a method",
  "a decorator of a property",
  "a folder's main without an ending",
  "a folder's main with .js for .ts",
];

/** Writes the files of all probes; the entries. */
function written(name) {
  return PROBES.map(({ files }, at) => {
    const place = path.join(folder, name, String(at));
    for (const [file, text] of Object.entries(files)) {
      fs.mkdirSync(path.dirname(path.join(place, file)), { recursive: true });
      fs.writeFileSync(path.join(place, file), text);
    }
    return path.join(place, "index.ts");
  });
}

/** What pi makes of them, in a process of its own. */
function pis(entries) {
  return new Promise((resolve, reject) => {
    const child = spawn(NODE, [path.join(HERE, "extensions/pi-modules.mjs"), newestPi()], { stdio: ["pipe", "pipe", "inherit"] });
    let text = "";
    child.stdout.on("data", (data) => (text += data));
    child.on("error", reject);
    child.on("close", () => resolve(JSON.parse(text)));
    child.stdin.end(JSON.stringify(entries));
  });
}

/** What offshoot's host makes of them. */
async function ours(entries) {
  const owner = new Owner(NODE, { cwd: folder });
  const { extensions } = await owner.load(entries);
  await owner.end();
  return extensions.map(({ error, commands }) => (error ? { error: error.message } : { said: commands[0]?.description }));
}

test("modules are loaded as pi's loader loads them", async () => {
  const [theirs, own] = await Promise.all([pis(written("pi")), ours(written("offshoot"))]);
  const names = (isWanted) => PROBES.filter((_, at) => isWanted(theirs[at], own[at])).map(({ name }) => name);
  assert.equal(theirs.length, PROBES.length);
  const differ = names((pi, here) => pi.error === undefined && pi.said !== here.said);
  assert.deepEqual(differ.map((name) => ({ name, at: PROBES.findIndex((probe) => probe.name === name) })).map(({ name, at }) => ({ name, pi: theirs[at], here: own[at] })), []);
  assert.deepEqual(names((pi, here) => pi.error !== undefined && here.error === undefined), MORE_THAN_PI);
});

test("a file of TypeScript that fails names its line, also where a package in JavaScript asks for it", async () => {
  const place = path.join(folder, "mistakes");
  fs.mkdirSync(path.join(place, "node_modules/dep"), { recursive: true });
  fs.writeFileSync(path.join(place, "node_modules/dep/package.json"), '{"name":"dep","type":"module","exports":"./i.js"}');
  fs.writeFileSync(path.join(place, "node_modules/dep/i.js"), 'export { v } from "./v.ts";');
  fs.writeFileSync(path.join(place, "node_modules/dep/v.ts"), "interface A {\n  a: 1;\n}\n\nthrow new Error('here');\nexport const v: A = { a: 1 };\n");
  fs.writeFileSync(path.join(place, "a.ts"), 'import { v } from "dep";\nexport default () => v;\n');
  fs.writeFileSync(path.join(place, "b.ts"), "type A = {\n  a: 1;\n};\nfunction fails(a: A) {\n  throw new Error(`b ${a.a}`);\n}\nexport default () => fails({ a: 1 });\n");
  const owner = new Owner(NODE, { cwd: place });
  const { extensions } = await owner.load(["a.ts", "b.ts"].map((name) => path.join(place, name)));
  await owner.end();
  assert.deepEqual(extensions.map(({ error }) => [error.message, error.file, error.line]), [
    ["here", path.join(place, "node_modules/dep/v.ts"), 5],
    ["b 1", path.join(place, "b.ts"), 5],
  ]);
});
