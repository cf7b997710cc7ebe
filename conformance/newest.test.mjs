// The newest pi beside offshoot: the files below run again with that pi, on the Node.js that it asks for. Where it and pi 0.87 differ, offshoot
// does what the newest does.
//   OFFSHOOT_BIN=… OFFSHOOT_LOOPBACK_BIN=… OFFSHOOT_TOOL_BIN=… OFFSHOOT_REQUEST_BIN=… node --test newest.test.mjs
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import * as path from "node:path";
import { test } from "node:test";
import { HERE, newestNode } from "./lib/places.mjs";

/** What runs of each file: what is about pi, and about nothing that the other run has compared already. At least so many tests must run. */
const FILES = {
  "conformance.test.mjs": ["^(reading|planning|writing) (vector files of pi|random files of pi|grown files of pi|list of .* pi|context of the pure function|sessions|operation vectors|both ways with pi|forks with names)", 11],
  "agent.test.mjs": [".", 12],
  "tools.test.mjs": [".", 12],
  "requests.test.mjs": [".", 1],
  "captured.test.mjs": [".", 1],
  "failures.test.mjs": [".", 1],
  "usage.test.mjs": [".", 1],
};

for (const [file, [pattern, enough]] of Object.entries(FILES)) {
  test(`${file} holds with the newest pi`, async () => {
    const { NODE_TEST_CONTEXT: _, ...env } = process.env;
    const args = ["--test", "--test-reporter=spec", `--test-name-pattern=${pattern}`, path.join(HERE, file)];
    const { code, out } = await new Promise((resolve) => {
      execFile(newestNode(), args, { cwd: HERE, env: { ...env, CONFORMANCE_PI: "newest" }, maxBuffer: 1 << 26 }, (error, out) => resolve({ code: error?.code ?? 0, out }));
    });
    assert.equal(code, 0, out.slice(-20_000));
    assert.ok(Number(/pass (\d+)/.exec(out)?.[1]) >= enough, out);
  });
}
