// The examples of oh-my-pi 18, one use of each under oh-my-pi and under offshoot: a fixed small part, or all with CONFORMANCE_ALL=1.
//   OFFSHOOT_BIN=… node --test omp-examples.test.mjs
import assert from "node:assert/strict";
import * as fs from "node:fs";
import * as path from "node:path";
import { after, test } from "node:test";
import { comparable, ROWS, run } from "./omp/examples.mjs";
import { ompPackage, temporaryFolder } from "./lib/places.mjs";

const program = process.env.OFFSHOOT_BIN && path.resolve(process.env.OFFSHOOT_BIN);
if (!program) throw new Error("set OFFSHOOT_BIN");
const folder = temporaryFolder("omp-examples");
after(() => fs.rmSync(folder, { recursive: true, force: true }));

const ALWAYS = ["hello.ts", "pirate.ts", "protected-paths.ts", "confirm-destructive.ts", "hello"];
const chosen = process.env.CONFORMANCE_ALL ? ROWS : ROWS.filter(({ name }) => ALWAYS.includes(name));
for (const row of chosen) {
  test(`${row.kind} ${row.name} does under offshoot what it does under oh-my-pi`, async () => {
    const [theirs, ours] = [path.join(folder, "theirs"), path.join(folder, "ours")];
    const [omp, offshoot] = [await run(row, "omp", theirs, program), await run(row, "offshoot", ours, program)];
    const both = [comparable(omp, theirs), comparable(offshoot, ours)];
    if (row.differs) assert.notDeepEqual(both[1], both[0], "the row of differences is out of date");
    else assert.deepEqual(both[1], both[0], offshoot.stderr);
  });
}

test("the table has every example of oh-my-pi", () => {
  for (const [kind, at] of Object.entries({ extension: "extensions", hook: "hooks", tool: "custom-tools" })) {
    const names = fs.readdirSync(path.join(ompPackage(), "examples", at)).filter((name) => name !== "README.md").sort();
    assert.deepEqual(ROWS.filter((row) => row.kind === kind).map(({ name }) => name).sort(), names);
  }
});
