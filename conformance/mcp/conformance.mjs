// The client scenarios of `@modelcontextprotocol/conformance` against offshoot, as a table.
//
//   OFFSHOOT_BIN=target/debug/offshoot node conformance/mcp/conformance.mjs FOLDER-OF-THE-PACKAGE [SCENARIO…]
//
// The package is not installed by `npm ci` here: name the folder of an installed one. It needs Node.js 22.

import { spawnSync } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const [folder, ...named] = process.argv.slice(2);
if (!folder || !process.env.OFFSHOOT_BIN) throw new Error("usage: OFFSHOOT_BIN=… node conformance.mjs FOLDER [SCENARIO…]");
const program = resolve(folder, "dist/index.js");
const env = { ...process.env, OFFSHOOT_BIN: resolve(process.env.OFFSHOOT_BIN) };
const driver = join(dirname(fileURLToPath(import.meta.url)), "driver.mjs");
const listed = spawnSync(process.execPath, [program, "list", "--client"], { env, encoding: "utf8" }).stdout;
const all = [...listed.matchAll(/^\s+- (\S+) \[(.*)\]/gm)].map(([, name, versions]) => ({ name, versions }));
const cwd = mkdtempSync(join(tmpdir(), "offshoot-conformance-"));
if (all.length === 0) throw new Error(`${program} lists no scenarios`);
let passed = 0;
console.log("| scenario | versions | result |\n|---|---|---|");
for (const { name, versions } of all.filter(({ name }) => named.length === 0 || named.includes(name))) {
  const run = spawnSync(process.execPath, [program, "client", "--command", `${process.execPath} ${driver}`, "--scenario", name], {
    cwd, env, encoding: "utf8", timeout: 60_000,
  });
  const text = `${run.stdout}${run.stderr}`.replace(/\u001b\[[0-9;]*m/g, "");
  const failed = [...text.matchAll(/\[(\S+)\s*\] FAILURE (.*)/g)].map(([, id, why]) => `${id}: ${why}`);
  const is_passed = /OVERALL: PASSED/.test(text);
  passed += is_passed ? 1 : 0;
  console.log(`| ${name} | ${versions} | ${is_passed ? "passed" : `failed: ${[...new Set(failed)].join("; ").slice(0, 300) || text.trim().split("\n").at(-1)}`} |`);
  if (process.env.VERBOSE && !is_passed) console.log(text);
}
console.log(`\n${passed} of ${named.length || all.length} passed`);
