// Situations of other programs' published bug reports, each with what offshoot promises about it. A file of reports/ holds one
// kind; its rows name the report, or say that offshoot itself failed so. Prints how many of each kind were run.
//   OFFSHOOT_BIN=… node --test reports.test.mjs
//   REPORTS_ONLY=PART       the rows with PART in kind, report or name
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { after, describe, test } from "node:test";
import { Place } from "./hostile/place.mjs";

const program = process.env.OFFSHOOT_BIN;
if (!program) throw new Error("set OFFSHOOT_BIN");
const folder = path.join(import.meta.dirname, "reports");
const files = fs.readdirSync(folder).filter((name) => name.endsWith(".mjs")).sort();
const all = (await Promise.all(files.map((name) => import(path.join(folder, name))))).flatMap(({ REPORTS }) => REPORTS ?? []);
const only = process.env.REPORTS_ONLY;
const rows = all.filter(({ kind, report, name }) => !only || `${kind} ${report}: ${name}`.includes(only));

const counts = new Map();
after(() => {
  for (const [kind, { passed, all }] of counts) console.log(`reports: ${passed} of ${all} situations of ${kind} as promised`);
});

describe("reports", { concurrency: os.availableParallelism() }, () => {
  for (const { kind, report, name, promise, run } of rows) {
    test(`${kind} ${report}: ${name}`, async (t) => {
      const count = counts.get(kind) ?? { passed: 0, all: 0 };
      counts.set(kind, { ...count, all: count.all + 1 });
      const place = new Place(program, "report");
      try {
        t.diagnostic(promise);
        await run(place);
      } finally {
        await place.end();
      }
      counts.get(kind).passed += 1;
    });
  }
});
