// The hostile corpus: every trap with what offshoot promises about it. Prints how many cases of each kind were run.
// A run takes all traps and a fixed sample of the damaged sessions.
//   OFFSHOOT_BIN=… node --test hostile.test.mjs
//   HOSTILE_SESSIONS=2500   that many damaged sessions, each with every command
//   HOSTILE_ONLY=PART       the cases with PART in group or name
import * as os from "node:os";
import { after, describe, test } from "node:test";
import { ALLOW } from "./hostile/allow.mjs";
import { CRITICAL } from "./hostile/critical.mjs";
import { FILES } from "./hostile/files.mjs";
import { FOLDERS } from "./hostile/folders.mjs";
import { HELD } from "./hostile/held.mjs";
import { IMPORTS } from "./hostile/imports.mjs";
import { PACKAGES } from "./hostile/packages.mjs";
import { Place } from "./hostile/place.mjs";
import { PROJECTS } from "./hostile/projects.mjs";
import { RUNAWAY } from "./hostile/runaway.mjs";
import { READS } from "./hostile/reads.mjs";
import { SERVERS } from "./hostile/servers.mjs";
import { SESSIONS } from "./hostile/sessions.mjs";
import { TOOLS } from "./hostile/tools.mjs";

const program = process.env.OFFSHOOT_BIN;
if (!program) throw new Error("set OFFSHOOT_BIN");
const traps = [...PROJECTS, ...SERVERS, ...TOOLS, ...FILES, ...HELD, ...PACKAGES, ...RUNAWAY, ...IMPORTS, ...FOLDERS, ...CRITICAL];
const all = Number(process.env.HOSTILE_SESSIONS ?? 0);
const damaged = all > 0 ? SESSIONS.all(all) : SESSIONS.sample(100);
const only = process.env.HOSTILE_ONLY;
const cases = [...traps, ...damaged, ...ALLOW, ...READS].filter(({ group, name }) => !only || `${group}: ${name}`.includes(only));

const counts = new Map();
after(() => {
  for (const [group, { passed, all }] of counts) console.log(`hostile: ${passed} of ${all} cases of ${group} as promised`);
});

describe("hostile", { concurrency: 3 * os.availableParallelism() }, () => {
  for (const { group, name, promise, run } of cases) {
    test(`${group}: ${name}`, async (t) => {
      const count = counts.get(group) ?? { passed: 0, all: 0 };
      counts.set(group, { ...count, all: count.all + 1 });
      const place = new Place(program, group);
      try {
        t.diagnostic(promise);
        await run(place);
      } finally {
        await place.end();
      }
      counts.get(group).passed += 1;
    });
  }
});
