// What servers say when a request fails, and what pi makes of it: the vectors of offshoot's own test, with the newest pi. A row names pi's
// verdict where it differs: offshoot looks at the status first, pi only at the words.
//   CONFORMANCE_PI=newest node --test failures.test.mjs
import assert from "node:assert/strict";
import * as fs from "node:fs";
import * as path from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { besidePi, IS_NEWEST, REPOSITORY } from "./lib/places.mjs";

const skip = IS_NEWEST ? false : "newest.test.mjs runs it with pi 1.6";
const pi = (file) => import(pathToFileURL(path.join(besidePi("pi-ai"), "dist/utils", file)).href);

test("pi draws the same from the words of every provider", { skip }, async () => {
  const { isContextOverflow } = await pi("overflow.js");
  const { isRetryableAssistantError } = await pi("retry.js");
  const file = path.join(REPOSITORY, "crates/offshoot-agent/src/provider/classify/failures.tsv");
  const rows = fs.readFileSync(file, "utf8").split("\n").filter((line) => line && !line.startsWith("#"));
  const odd = [];
  for (const row of rows) {
    const [provider, status, ours, theirs, ...text] = row.split("\t");
    // With a body, pi's own words come before the status.
    const words = text.join("\t");
    const named = words.endsWith("(no body)") ? `${status} ${words}` : `${provider} API error (${status}): ${words}`;
    const message = { provider, stopReason: "error", errorMessage: status === "-" ? words : named };
    const got = isContextOverflow(message) ? "overflow" : isRetryableAssistantError(message) ? "retry" : "final";
    if (got !== (theirs === "=" ? ours : theirs)) odd.push(`${got} instead of ${row}`);
  }
  assert.deepEqual(odd, []);
  assert.ok(rows.length > 100);
});
