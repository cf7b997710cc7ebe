// offshoot against pi and omp: the same files and the same operations, read and written by each.
//   OFFSHOOT_BIN=path/to/offshoot node --test conformance.test.mjs
// CONFORMANCE_SEED changes the random part. Deliberate differences are in differences.mjs.
import assert from "node:assert/strict";
import * as fs from "node:fs";
import * as path from "node:path";
import { after, before, describe as group, test } from "node:test";
import { DIFFERENCES } from "./differences.mjs";
import { PROJECT, REPOSITORY } from "./lib/places.mjs";
import { describe } from "./lib/report.mjs";
import { startRun } from "./lib/run.mjs";
import { sampled } from "./lib/sample.mjs";

const SEED = process.env.CONFORMANCE_SEED ?? "offshoot";
const SETS = [
  ["vector", "pi"],
  ...["hand", "random", "grown"].flatMap((set) => [
    [set, "pi"],
    [set, "omp"],
  ]),
];

function offshootCommand() {
  const program = process.env.OFFSHOOT_BIN;
  if (!program) throw new Error("set OFFSHOOT_BIN to the offshoot binary");
  return [path.resolve(program)];
}

let run;
const agrees = (failures) => assert.ok(failures.length === 0, describe(failures));

before(async () => {
  run = await startRun({ command: offshootCommand(), differences: DIFFERENCES, corpus: { seed: SEED, random: { pi: sampled(40), omp: sampled(20) }, grown: sampled(12) } });
});
after(async () => {
  if (!run) return;
  console.log(`\n${run.report.table()}\n\n${run.planning.counted()}\n`);
  await run.end();
});

group("reading", () => {
  for (const [set, dialect] of SETS) test(`${set} files of ${dialect}`, async () => agrees(await run.reading.read(set, dialect)));
  test("real sessions", async (t) => {
    if (!run.manifest.some(({ set }) => set === "fixture")) return t.skip("no ../shared/fixtures beside the repository");
    agrees(await run.reading.read("fixture", "pi"));
  });
  test("context of the pure function", async () => agrees(await run.reading.pureContexts()));
  test("commands tree and context, pi", async () =>
    agrees([...(await run.reading.commands("vector", "pi")), ...(await run.reading.commands("hand", "pi"))]));
  test("commands tree and context, omp", async () => agrees(await run.reading.commands("hand", "omp")));
  test("list of all sessions, pi", async () => agrees(await run.reading.list("pi")));
  test("list of one folder's sessions, pi", async () => agrees(await run.reading.list("pi", PROJECT)));
  test("list of all sessions, omp", async () => agrees(await run.reading.list("omp")));
  test("odd files open whole, files that are no sessions are refused", async () => agrees(await run.reading.odd()));
});

group("planning", () => {
  for (const set of ["vector", "hand", "random", "grown"]) test(`${set} files of pi`, async () => agrees(await run.planning.plan(set)));
  test("sessions made for plans", async () => agrees(await run.planning.made(SEED, sampled(40))));
  test("sessions that offshoot compacted", async () => agrees(await run.planning.compacted(SEED, sampled(15))));
  test("real sessions", async (t) => {
    if (!run.manifest.some(({ set }) => set === "fixture")) return t.skip("no ../shared/fixtures beside the repository");
    agrees(await run.planning.plan("fixture"));
  });
});

group("writing", () => {
  test("operation vectors", async () => agrees(await run.writing.operationVectors()));
  test("both ways with pi", async () => agrees(await run.writing.piBothWays(SEED, sampled(12))));
  test("both ways with omp", async () => agrees(await run.writing.ompBothWays(SEED, sampled(8))));
  test("one message appended to each pi file", async () => agrees(await run.writing.appendToEach("pi")));
  test("one message appended to each omp file", async () => agrees(await run.writing.appendToEach("omp")));
  test("paths taken into new sessions", async () => agrees(await run.writing.branchedSessions(["vector", "hand", "random"], 2)));
  test("forks with names", async () => agrees(await run.writing.namedForks(["vector"])));
  test("forks", async () => agrees(await run.writing.forks(["vector", "hand", "random"])));
});

test("every deliberate difference is still one", () => {
  const stale = run.report.stale().map(({ peer, aspect, files }) => `${peer} ${aspect} ${(files ?? ["(by what differs)"]).join(", ")}`);
  assert.deepEqual(stale, []);
});

test("every deliberate difference is a row of docs/format.md", () => {
  const document = fs.readFileSync(path.join(REPOSITORY, "docs/format.md"), "utf8");
  const untold = DIFFERENCES.filter(({ documented }) => !document.includes(`\n| ${documented} |`));
  assert.deepEqual(untold, []);
});
