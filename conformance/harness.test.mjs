// Tests of the harness itself, without offshoot: the corpus is what it claims, the peers agree with themselves through the
// whole comparison, and a planted fault is found.
//   node --test harness.test.mjs
import assert from "node:assert/strict";
import * as fs from "node:fs";
import * as path from "node:path";
import { after, before, describe as group, test } from "node:test";
import { writeCorpus } from "./corpus.mjs";
import { canon, digestBytes, firstDifference, flattenTree, leavesOf } from "./lib/canon.mjs";
import { operationList } from "./lib/ops.mjs";
import { HERE, PROJECT, bunBinary, temporaryFolder } from "./lib/places.mjs";
import { describe } from "./lib/report.mjs";
import { startRun } from "./lib/run.mjs";
import { shapeOf } from "./lib/shape.mjs";

const fake = (fault) => ["env", `FAKE_FAULT=${fault ?? ""}`, bunBinary(), path.join(HERE, "fake-offshoot.ts")];
const SMALL = { random: { pi: 6, omp: 4 }, grown: 2 };

group("values", () => {
  test("canonical text sorts keys and drops what JSON cannot say", () => {
    assert.equal(canon({ b: undefined, a: [undefined, -0, NaN, "\u2028"] }), '{"a":[null,0,null,"\u2028"]}');
    assert.equal(canon(JSON.parse('{"__proto__":1,"a":2}')), '{"__proto__":1,"a":2}');
  });
  test("the first difference names its place", () => {
    assert.equal(firstDifference({ a: [1, { b: 2 }] }, { a: [1, { b: 2 }] }), null);
    assert.deepEqual(firstDifference({ a: [1, { b: 2 }] }, { a: [1, { b: 3 }] }), { path: "/a/1/b", left: "2", right: "3" });
    assert.deepEqual(firstDifference({ a: null }, {}), { path: "/a", left: "null", right: "(absent)" });
    assert.equal(firstDifference([1, 2], [1]).path, "/1");
  });
  test("trees are flattened without recursion", () => {
    let node = { entry: { id: "n0" }, children: [] };
    for (let i = 1; i < 200_000; i++) node = { entry: { id: `n${i}` }, children: [node] };
    const rows = flattenTree([node]);
    assert.equal(rows.length, 200_000);
    assert.deepEqual(leavesOf(rows), ["n0"]);
  });
  test("a shape forgets ids and times, and nothing else", () => {
    const file = (id, at, text) =>
      `{"type":"session","id":"s${id}","timestamp":"${at}"}\n{"type":"custom","id":"${id}","parentId":null,"timestamp":"${at}","data":"${text}"}\n`;
    const [now, soon] = [new Date().toISOString(), new Date(Date.now() + 5).toISOString()];
    assert.deepEqual(shapeOf(file("a1", now, "x")), shapeOf(file("b2", soon, "x")));
    assert.notDeepEqual(shapeOf(file("a1", now, "x")), shapeOf(file("a1", now, "y")));
    assert.notDeepEqual(shapeOf(file("a1", now, "x")), shapeOf(file("a1", now, "x").trimEnd()));
  });
});

group("corpus", () => {
  test("the same seed gives the same bytes, another seed others", async () => {
    const folder = temporaryFolder("seeds");
    const bytes = async (name, seed) => {
      const dir = path.join(folder, name);
      const manifest = await writeCorpus(dir, { seed });
      return manifest.map(({ file }) => [file, digestBytes(fs.readFileSync(path.join(dir, file)))]);
    };
    const [one, again, other] = [await bytes("one", "s"), await bytes("again", "s"), await bytes("other", "t")];
    fs.rmSync(folder, { recursive: true, force: true });
    assert.deepEqual(one, again);
    assert.notDeepEqual(one, other);
    assert.ok(one.length > 200, `${one.length} files`);
  });
  test("operation lists only refer to entries that were made", () => {
    for (let i = 0; i < 50; i++) {
      const ops = operationList(`refs/${i}`, { dialect: i % 2 ? "pi" : "omp", own: true });
      const refs = (value) =>
        value === null || typeof value !== "object"
          ? []
          : typeof value.$ref === "number"
            ? [value.$ref]
            : Object.values(value).flatMap(refs);
      ops.forEach((op, at) =>
        assert.ok(refs(op).every((ref) => ref < at && /^append|WithSummary$/.test(ops[ref].op) && !ops[ref].mayFail)),
      );
    }
  });
});

group("peers", () => {
  let run;
  before(async () => {
    run = await startRun({ command: fake(), corpus: SMALL });
  });
  after(() => run?.end());

  test("every file is read by the peers that the manifest names, with a context at every point", async () => {
    for (const { file, peers, dialect } of run.manifest) {
      for (const name of peers) {
        const dump = await run.peers[name].dump(path.join(run.dir, file), { contexts: name === dialect });
        assert.deepEqual(
          dump.contexts.filter(({ error }) => error),
          [],
          `${file} read by ${name}`,
        );
      }
    }
  });
  test("vectors have the roles that the format's description gives them", async () => {
    for (const { file, roles } of run.manifest.filter(({ set }) => set === "vector")) {
      const { contexts } = await run.peers.pi.dump(path.join(run.dir, file));
      assert.deepEqual(
        contexts[0].messages.map(([role]) => role),
        roles,
        file,
      );
    }
  });
  test("the peers agree with themselves when they read", async () => {
    agrees(await run.reading.read("vector", "pi"));
    for (const set of ["hand", "random", "grown"]) {
      for (const dialect of ["pi", "omp"]) agrees(await run.reading.read(set, dialect));
    }
    agrees(await run.reading.pureContexts());
    for (const peer of ["pi", "omp"]) agrees(await run.reading.list(peer));
    agrees(await run.reading.list("pi", PROJECT));
  });
  test("the peers agree with themselves when they write", async () => {
    agrees(await run.writing.operationVectors());
    agrees(await run.writing.piBothWays("self", 4));
    agrees(await run.writing.ompBothWays("self", 3));
    agrees(await run.writing.appendToEach("pi"));
    agrees(await run.writing.branchedSessions(["vector", "random"], 2));
    agrees(await run.writing.forks(["vector"]));
    console.log(run.report.table());
  });
});

group("planted faults are found", () => {
  const only =
    (...names) =>
    (file) =>
      names.some((name) => file.endsWith(`${name}.jsonl`));
  const faults = [
    ["drop-message", only("vector-01-two-messages"), (run) => run.reading.read("vector", "pi"), "context"],
    ["drop-message", only("omp/failed-turns"), (run) => run.reading.read("hand", "omp"), "context"],
    ["timestamp", only("vector-05-second-compaction"), (run) => run.reading.read("vector", "pi"), "context"],
    ["thinking", only("vector-08-branch"), (run) => run.reading.read("vector", "pi"), "context"],
    ["child-order", only("pi/children-out-of-order-and-equal"), (run) => run.reading.read("hand", "pi"), "tree"],
    ["label-time", only("pi/labels"), (run) => run.reading.read("hand", "pi"), "tree"],
    ["list", only("random-00"), (run) => run.reading.list("pi"), "list"],
    ["append", only("vector-01-two-messages"), (run) => run.writing.piBothWays("fault", 1), "bytes"],
  ];
  for (const [fault, keep, work, aspect] of faults) {
    test(`${fault}: ${aspect}`, async () => {
      const run = await startRun({ command: fake(fault), corpus: { random: { pi: 4, omp: 0 }, grown: 0, keep } });
      try {
        const failures = await work(run);
        assert.ok(
          failures.some((failure) => failure.aspect === aspect && failure.difference.left !== failure.difference.right),
          describe(failures),
        );
        assert.match(run.report.table(), /\b[1-9]\d*\b/);
      } finally {
        await run.end();
      }
    });
  }
  test("a difference on purpose passes, and is stale when nothing differs", async () => {
    const differences = [{ peer: "pi", aspect: "context", files: ["vector-01-two-messages"], reason: "planted" }];
    for (const [fault, stale] of [
      ["drop-message", 0],
      ["", 1],
    ]) {
      const run = await startRun({ command: fake(fault), differences, corpus: { grown: 0, keep: only("vector-01-two-messages") } });
      try {
        agrees((await run.reading.read("vector", "pi")).filter(({ peer }) => peer === "pi"));
        assert.equal(run.report.stale().length, stale);
      } finally {
        await run.end();
      }
    }
  });
});

function agrees(failures) {
  assert.ok(failures.length === 0, describe(failures));
}
