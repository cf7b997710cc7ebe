// Runs with three children that are killed after a line and continued: each result once, no request of a child that had ended, the
// ledger equal to the files. `children/kill.mjs` tries more lines.
//   OFFSHOOT_BIN=../target/debug/offshoot node --test children.test.mjs
import assert from "node:assert/strict";
import * as fs from "node:fs";
import * as path from "node:path";
import { test } from "node:test";
import { makeHome, round, run, sessions, startModel } from "./children/scene.mjs";
import { compareDumps, translatePoints } from "./lib/compare.mjs";
import { Offshoot } from "./lib/offshoot.mjs";
import { startPeers } from "./lib/peers.mjs";
import { temporaryFolder } from "./lib/places.mjs";

const program = process.env.OFFSHOOT_BIN;
if (!program) throw new Error("set OFFSHOOT_BIN to the program");

for (const line of [1, 4, 7, 10, 13, 16, 20, 24, 28, 31, 33, 35])
  test(`a run with children that is killed at line ${line} goes on where it stood`, async () => {
    const folder = temporaryFolder("children");
    const seen = await round(path.resolve(program), folder, line);
    assert.deepEqual(seen.wrong, [], folder);
    fs.rmSync(folder, { recursive: true, force: true });
  });

test("pi and oh-my-pi open a parent and its children, and have the same contexts", async () => {
  const folder = temporaryFolder("children");
  const model = await startModel();
  const home = makeHome(folder, model.url);
  const peers = startPeers(folder);
  const offshoot = new Offshoot([path.resolve(program)], folder);
  try {
    const { code, out } = await run(path.resolve(program), home, ["-p", "go"]);
    assert.equal(code, 0, out);
    const files = sessions(home.data);
    assert.deepEqual(files.map(({ name }) => name).slice(1).sort(), ["Alpha", "Beta", "Gamma"]);
    assert.ok(files.find(({ name }) => name === "Gamma").lines.some(({ pickedFrom }) => pickedFrom), "one begins with copies of its parent's context");
    for (const { file } of files) {
      const before = fs.readFileSync(file);
      for (const [name, peer] of Object.entries(peers)) {
        const own = name === "pi";
        const expected = await peer.dump(file, { plain: !own });
        const actual = await offshoot.dump(file, { points: (entries) => translatePoints(expected.contexts, expected.entries, entries, false), plain: !own });
        const differences = compareDumps(expected, actual, { own, plain: !own, labelTimes: own }).filter(({ difference }) => difference !== null);
        assert.deepEqual(differences, [], `${name} ${file}`);
      }
      assert.deepEqual(fs.readFileSync(file), before, `${file} is left alone`);
    }
  } finally {
    await Promise.all([...Object.values(peers), offshoot, model].map((one) => one.close()));
  }
  fs.rmSync(folder, { recursive: true, force: true });
});
