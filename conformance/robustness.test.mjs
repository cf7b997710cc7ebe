// offshoot's column of docs/robustness.md: every row, with nothing lost, nothing refused that can be read, no hang.
// A row that this machine cannot run says so. The peers' columns are for `cargo xtask robustness`.
import assert from "node:assert/strict";
import * as os from "node:os";
import * as path from "node:path";
import { describe, test } from "node:test";
import { ROWS } from "./robustness/probes.mjs";
import { probe } from "./robustness/run.mjs";

const command = [path.resolve(process.env.OFFSHOOT_BIN ?? "OFFSHOOT_BIN is not set")];

describe("robustness", { concurrency: os.availableParallelism() }, () => {
  for (const row of ROWS) {
    test(`(${row.group}): ${row.name}`, async (t) => {
      const seen = await probe(row, "offshoot", command);
      if (seen.good === null) console.error(`${row.name}: ${seen.text}`);
      t.diagnostic(seen.text);
      assert.notEqual(seen.good, false, seen.text);
    });
  }
});
