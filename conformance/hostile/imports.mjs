// What an allowed extension of a project imports, changed after a person has allowed it, as an agent that may write in the project
// would. The person's answer is written as offshoot writes it, by a terminal's question that is answered with yes.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { node } from "../extensions/places.mjs";
import { sealedEnvironment } from "../lib/places.mjs";
import { answer } from "./model.mjs";

const BASE = ".pi/extensions/a.ts";
const touch = (name) => `import * as fs from "node:fs"; fs.writeFileSync(process.cwd() + "/${name}", "");`;
const DEFAULT = "export default () => {};";
const GOOD = "export const x = 1;\n";
const EVIL = `${touch("stolen")}\nexport const x = 1;\n`;
const EVIL_COMMON = 'require("node:fs").writeFileSync(process.cwd() + "/stolen", ""); exports.x = 1;\n';

const imports = (words) => `${words}\n${touch("ran")}\n${DEFAULT}\n`;

/** The extension's words, the files that are there, and which of them is changed to what. */
const CASES = {
  "a file above": [imports('import { x } from "../../lib/h.ts"; x;'), { "lib/h.ts": GOOD }, { "lib/h.ts": EVIL }],
  "a file without an ending": [imports('import { x } from "../../lib/h"; x;'), { "lib/h.ts": GOOD }, { "lib/h.ts": EVIL }],
  "another file in its place": [imports('import { x } from "../../lib/h"; x;'), { "lib/h.js": GOOD }, { "lib/h.ts": EVIL }],
  "an index": [imports('import { x } from "../../lib"; x;'), { "lib/index.ts": GOOD }, { "lib/index.ts": EVIL }],
  "a file of a file": [imports('import "../../lib/h.ts";'), { "lib/h.ts": 'import "./deep/i.js";\n', "lib/deep/i.js": GOOD }, { "lib/deep/i.js": EVIL }],
  "an export from": [imports('export { x } from "../../lib/h.ts";'), { "lib/h.ts": GOOD }, { "lib/h.ts": EVIL }],
  "an import at run time": [imports('await import("../../lib/h.ts");'), { "lib/h.ts": GOOD }, { "lib/h.ts": EVIL }],
  "an import in a template": [imports("await import(`../../lib/h.ts`);"), { "lib/h.ts": GOOD }, { "lib/h.ts": EVIL }],
  "an import with escapes": [imports('await import("../../lib/\\u0068.ts");'), { "lib/h.ts": GOOD }, { "lib/h.ts": EVIL }],
  "require": [imports('const { x } = require("../../lib/h.cjs");'), { "lib/h.cjs": "exports.x = 1;" }, { "lib/h.cjs": EVIL_COMMON }],
  "a require of one's own": [imports('import { createRequire as make } from "node:module"; const load = make(import.meta.url); load("../../lib/h.cjs");'), { "lib/h.cjs": "exports.x = 1;" }, { "lib/h.cjs": EVIL_COMMON }],
  "JSON": [imports('import data from "../../lib/d.json"; if (data.evil) fs.writeFileSync("stolen", "");'), { "lib/d.json": "{}" }, { "lib/d.json": '{"evil":true}' }],
  "JSON by require": [imports('if (require("../../lib/d.json").evil) fs.writeFileSync("stolen", "");'), { "lib/d.json": "{}" }, { "lib/d.json": '{"evil":true}' }],
  "a package": [imports('import { x } from "kit"; x;'), { "node_modules/kit/package.json": '{"name":"kit","type":"module","exports":"./i.js"}', "node_modules/kit/i.js": GOOD }, { "node_modules/kit/i.js": EVIL }],
  "the entry of a package": [imports('import { x } from "kit"; x;'), { "node_modules/kit/package.json": '{"name":"kit","type":"module","exports":"./i.js"}', "node_modules/kit/i.js": GOOD, "node_modules/kit/e.js": EVIL }, { "node_modules/kit/package.json": '{"name":"kit","type":"module","exports":"./e.js"}' }],
  "a package by require": [imports('require("kit");'), { "node_modules/kit/index.js": "exports.x = 1;" }, { "node_modules/kit/index.js": EVIL_COMMON }],
  "a package of a package": [imports('import "kit";'), { "node_modules/kit/package.json": '{"type":"module","exports":"./i.js"}', "node_modules/kit/i.js": 'import "more";', "node_modules/more/index.js": GOOD.replace("export const x", "exports.x") }, { "node_modules/more/index.js": EVIL_COMMON }],
  "a package that was not there": [imports('import { x } from "kit"; x;'), { "node_modules/kit/index.js": "exports.x = 1;" }, { ".pi/node_modules/kit/index.js": EVIL_COMMON }],
  "pi's own package in the project": [imports('import { keyHint } from "@earendil-works/pi-coding-agent"; typeof keyHint;'), {}, { "node_modules/@earendil-works/pi-coding-agent/package.json": '{"name":"@earendil-works/pi-coding-agent","type":"module","exports":"./dist/index.js"}', "node_modules/@earendil-works/pi-coding-agent/dist/index.js": `${touch("stolen")}\nexport const keyHint = 1;` }],
};

/** Answers the question of a terminal. `script` gives the program one. */
function allowed(place, program) {
  const quoted = [program, "--no-session"].map((word) => `'${word}'`).join(" ");
  return new Promise((resolve, reject) => {
    const env = { PATH: process.env.PATH, ...sealedEnvironment(place.home), TERM: "xterm-256color", NO_COLOR: undefined, PI_NODE: node() };
    const child = spawn("script", ["-qefc", quoted, "/dev/null"], { cwd: place.work, env, stdio: ["pipe", "pipe", "ignore"] });
    let shown = "";
    let isAnswered = false;
    const timer = setTimeout(() => child.kill("SIGKILL"), 60_000);
    child.stdout.on("data", (piece) => {
      shown += piece;
      if (!isAnswered && shown.includes("y or Enter: ")) {
        isAnswered = true;
        child.stdin.write("y\n");
      }
      if (isAnswered && fs.existsSync(path.join(place.data, "extensions.json"))) child.kill("SIGTERM");
    });
    child.on("error", reject);
    child.on("close", () => {
      clearTimeout(timer);
      resolve(shown);
    });
  });
}

const changing = Object.entries(CASES).map(([name, [extension, before, after]]) => ({
  group: "import",
  name: `${name} changes after the extension was allowed`,
  promise: "the question names the file, and what was not allowed does not run",
  async run(place) {
    await place.model([answer("One."), answer("Two."), answer("Three.")]);
    fs.writeFileSync(path.join(place.data, "trust.json"), JSON.stringify({ [fs.realpathSync(place.work)]: true }));
    place.write(BASE, extension);
    for (const [file, text] of Object.entries(before)) place.write(file, text);
    const env = { PI_NODE: node() };
    const first = await place.offshoot(["-p", "hi"], { env, unlimited: true });
    assert.ok(!fs.existsSync(place.at("ran")), "it ran before anybody was asked");
    assert.match(first.stderr, /Its files: /);
    const shown = await allowed(place, place.program);
    for (const file of Object.keys(before).filter((file) => !file.includes("node_modules") && file.startsWith("lib"))) {
      assert.ok(shown.includes(path.basename(file)), `the question does not name ${file}: ${shown}`);
    }
    const second = await place.offshoot(["-p", "hi"], { env, unlimited: true });
    assert.ok(fs.existsSync(place.at("ran")), `what was allowed did not run: ${second.stderr}`);
    fs.rmSync(place.at("ran"));
    for (const [file, text] of Object.entries(after)) place.write(file, text);
    await place.offshoot(["-p", "hi"], { env, unlimited: true });
    assert.ok(!fs.existsSync(place.at("stolen")), "what nobody allowed ran");
  },
}));

/** What is refused before anybody is asked. */
const REFUSED = {
  "2,001 files": [(place) => Array.from({ length: 2001 }, (_, i) => place.write(`lib/${i}.ts`, i === 2000 ? GOOD : `import "./${i + 1}.ts";`)), "../../lib/0.ts", /imports more than 2000 files/],
  "more than 64 MiB": [(place) => place.write("lib/big.json", `"${"x".repeat(65 << 20)}"`), "../../lib/big.json", /is larger than 6\d MiB/],
  "a FIFO": [(place) => (fs.mkdirSync(place.at("lib")), execFileSync("mkfifo", [place.at("lib/h.node")])), "../../lib/h.node", null],
  "itself": [() => {}, "./a.ts", /it is new/],
};

const refused = Object.entries(REFUSED).map(([name, [make, imported, told]]) => ({
  group: "import",
  name: `an extension that imports ${name}`,
  promise: "it does not run, which is said, and the start goes on",
  async run(place) {
    await place.model([answer("One.")]);
    fs.writeFileSync(path.join(place.data, "trust.json"), JSON.stringify({ [fs.realpathSync(place.work)]: true }));
    make(place);
    place.write(BASE, imports(`import "${imported}";`));
    const { stdout, stderr } = await place.offshoot(["-p", "hi"], { env: { PI_NODE: node() }, unlimited: true });
    assert.ok(stdout.includes("One."), stderr);
    assert.match(stderr, told ?? /does not run/);
    assert.ok(!fs.existsSync(place.at("ran")), "it ran");
  },
}));

export const IMPORTS = [...changing, ...refused];
