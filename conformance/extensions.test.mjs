// Hooks, custom tools and extensions that were written for pi, as they are: a fixed third of the tables, or all with CONFORMANCE_ALL=1.
//   OFFSHOOT_BIN=… node --test extensions.test.mjs
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { after, test } from "node:test";
import { examples, install, oldExamples } from "./extensions/places.mjs";
import { drawn, SCREENS } from "./extensions/terminal.mjs";
import { isInThird, OPEN, ROWS, verdict } from "./extensions/verdicts.mjs";
import { MODULES, REPOSITORY, temporaryFolder } from "./lib/places.mjs";

const program = process.env.OFFSHOOT_BIN && path.resolve(process.env.OFFSHOOT_BIN);
if (!program) throw new Error("set OFFSHOOT_BIN");
const folder = temporaryFolder("extensions");
after(() => fs.rmSync(folder, { recursive: true, force: true }));
install();

const chosen = process.env.CONFORMANCE_ALL ? ROWS : ROWS.filter(isInThird);
for (const row of chosen) {
  test(`${row.kind} ${row.name} does under offshoot what it does under pi`, { concurrency: true }, async () => {
    const parts = OPEN.includes(row.name) ? ["host"] : ["host", "program"];
    const { host, program: whole } = await verdict(row, folder, { program, parts });
    assert.deepEqual([host ?? [], whole ?? []], [[], []]);
  });
}

const hasTmux = spawnSync("tmux", ["-V"]).status === 0;
const screens = process.env.CONFORMANCE_ALL ? SCREENS : SCREENS.filter((_, at) => at % 3 === 2);
for (const row of screens) {
  test(`extension ${row.name} draws in offshoot's terminal what it draws in pi's`, { skip: hasTmux ? false : "tmux is not installed" }, async () => {
    const { pi, offshoot } = await drawn(row, folder, program);
    assert.ok(pi.length >= row.enough, `pi drew ${JSON.stringify(pi)}`);
    assert.deepEqual(offshoot, pi);
  });
}

test("the tables have every example of pi", () => {
  const names = (at) => fs.readdirSync(at).filter((name) => name !== "README.md").map((name) => name.replace(/\.ts$/, "")).sort();
  const rows = (kind) => ROWS.filter((row) => row.kind === kind).map(({ name }) => name).sort();
  assert.deepEqual(rows("extension"), names(examples()));
  assert.deepEqual(rows("hook"), names(path.join(oldExamples(), "hooks")));
  assert.deepEqual(rows("tool"), names(path.join(oldExamples(), "custom-tools")));
});

test("our examples have the types of pi", () => {
  const at = path.join(folder, "types");
  fs.cpSync(path.join(REPOSITORY, "examples/extensions"), at, { recursive: true });
  fs.symlinkSync(MODULES, path.join(at, "node_modules"));
  const options = { target: "es2024", module: "nodenext", strict: true, noEmit: true, skipLibCheck: true, allowImportingTsExtensions: true, types: ["node"] };
  fs.writeFileSync(path.join(at, "tsconfig.json"), JSON.stringify({ compilerOptions: options, include: ["*.ts"] }));
  execFileSync(process.execPath, [path.join(MODULES, "typescript/bin/tsc"), "-p", at], { stdio: "pipe", encoding: "utf8" });
});
