// The JavaScript of the extension host fits its types: those of Node.js, and those that its comments give.
//   node --test types.test.mjs
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { after, test } from "node:test";
import { node } from "./extensions/places.mjs";
import { MODULES, REPOSITORY, temporaryFolder } from "./lib/places.mjs";

const HOST = path.join(REPOSITORY, "crates/offshoot-extensions/host");
const CONFIG = path.join(REPOSITORY, "conformance/tsconfig.host.json");
const folder = temporaryFolder("types");
after(() => fs.rmSync(folder, { recursive: true, force: true }));

const check = (config) => spawnSync(process.execPath, [path.join(MODULES, "typescript/bin/tsc"), "-p", config], { encoding: "utf8" });

test("the host has no error of types", () => {
  const { stdout, status } = check(CONFIG);
  assert.equal(stdout, "");
  assert.equal(status, 0);
});

test("an error of types is found", () => {
  const wrong = path.join(folder, "wrong.mjs");
  fs.writeFileSync(wrong, 'import * as fs from "node:fs";\nfs.readFileSyncs("a");\n');
  const { compilerOptions } = JSON.parse(fs.readFileSync(CONFIG, "utf8"));
  const typeRoots = [path.join(MODULES, "@types")];
  const config = path.join(folder, "tsconfig.json");
  fs.writeFileSync(config, JSON.stringify({ compilerOptions: { ...compilerOptions, typeRoots }, include: [wrong] }));
  const { stdout, status } = check(config);
  assert.match(stdout, /wrong\.mjs\(2,4\): error TS\d+: Property 'readFileSyncs'/);
  assert.notEqual(status, 0);
});

// Node.js 26 has no other mode than to strip. There no extension of a project was asked about.
test("names in TypeScript are looked for where types are only stripped", () => {
  const script = path.join(folder, "newest.mjs");
  fs.writeFileSync(
    script,
    `import module from "node:module";
const of26 = (text, { mode = "strip", sourceMap = false } = {}) => {
  if (mode !== "strip" || sourceMap) throw new TypeError("The property 'options.mode' must be one of: 'strip'");
  return text.replace(": number", "        ");
};
module.stripTypeScriptTypes = of26;
module.syncBuiltinESMExports();
const { withoutTypesOf } = await import(${JSON.stringify(path.join(HOST, "typescript.mjs"))});
console.log(withoutTypesOf("export const a: number = 1;", "/x/a.ts"), withoutTypesOf("export const b: number = 2;", "/x/b.ts"));
`,
  );
  const printed = execFileSync(node(), [script], { encoding: "utf8" });
  assert.equal(printed, "export const a         = 1; export const b         = 2;\n");
});
