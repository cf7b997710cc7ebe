// Runs with three children that are killed after a line and continued: each result once, no request of a child that had ended, the
// ledger equal to the files. `children/kill.mjs` tries more lines.
//   OFFSHOOT_BIN=../target/debug/offshoot node --test children.test.mjs
import assert from "node:assert/strict";
import * as fs from "node:fs";
import * as path from "node:path";
import { test } from "node:test";
import { round } from "./children/scene.mjs";
import { temporaryFolder } from "./lib/places.mjs";

const program = process.env.OFFSHOOT_BIN;
if (!program) throw new Error("set OFFSHOOT_BIN to the program");

for (const line of [1, 4, 7, 10, 13, 16, 20, 24, 28, 33])
  test(`a run with children that is killed at line ${line} goes on where it stood`, async () => {
    const folder = temporaryFolder("children");
    const seen = await round(path.resolve(program), folder, line);
    assert.deepEqual(seen.wrong, [], folder);
    fs.rmSync(folder, { recursive: true, force: true });
  });
