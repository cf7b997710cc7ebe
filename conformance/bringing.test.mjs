// Work that offshoot brings from one branch to another, as pi and omp open it: a hundred operations at random places of
// random trees for each of them, in one long-lived process each; every fifth is cut after each of its lines, too. And what
// pi does next after a pick.
//   OFFSHOOT_BIN=… OFFSHOOT_LOOPBACK_BIN=… node --test bringing.test.mjs
// CONFORMANCE_SEED changes the places, BRINGINGS their number.
import assert from "node:assert/strict";
import * as fs from "node:fs";
import * as path from "node:path";
import { after, before, test } from "node:test";
import { Draft, EPOCH, text, usage } from "./corpus/draft.mjs";
import { Bringing } from "./lib/bringing.mjs";
import { home, model, run as execute } from "./lib/model.mjs";
import { bunBinary, piPackage, temporaryFolder } from "./lib/places.mjs";
import { Rng } from "./lib/rng.mjs";
import { startRun } from "./lib/run.mjs";

const SEED = process.env.CONFORMANCE_SEED ?? "bringing";
const COUNT = Number(process.env.BRINGINGS ?? 100);
const program = path.resolve(process.env.OFFSHOOT_BIN);

let run;
before(async () => {
  run = await startRun({ command: [program], corpus: { seed: SEED, random: { pi: 12, omp: 12 }, grown: 2 } });
});
after(async () => run?.end());

for (const peer of ["pi", "omp"]) {
  test(`${peer} opens what was brought, and what was undone`, async () => {
    const files = run.manifest.filter(({ set, dialect, v1, v2 }) => set === "random" && dialect === peer && !v1 && !v2);
    const bringing = new Bringing(run);
    for (let at = 0; at < COUNT; at++) {
      const rng = new Rng(`${SEED}/${peer}/${at}`);
      const { file } = rng.pick(files);
      await bringing.bring(peer, file, rng, at % 5 === 0).catch((error) => {
        throw new Error(`case ${at} of ${peer}, ${file}: ${error.message}`, { cause: error });
      });
    }
    console.log(peer, JSON.stringify(bringing.counts));
    const written = COUNT - (bringing.counts["nothing to do, or refused"] ?? 0);
    assert.ok(written > COUNT / 3, JSON.stringify(bringing.counts));
  });
}

const cost = (lines) => lines.reduce((sum, { message }) => sum + (message?.usage?.cost?.total ?? 0), 0);
const linesOf = (file) => fs.readFileSync(file, "utf8").trim().split("\n").map((line) => JSON.parse(line));

/** A trunk of the model m1, and a branch on which another model has answered with 195k tokens for a dollar. */
function session(file, cwd) {
  const draft = new Draft({ cwd });
  const answer = (words, name, more) =>
    draft.message({ role: "assistant", content: text(words), api: "anthropic-messages", provider: "test", model: name, stopReason: "stop", timestamp: EPOCH, ...more });
  const question = draft.user("Why is it slow?");
  const large = { ...usage(194000, 1000), cost: { input: 1, output: 0, cacheRead: 0, cacheWrite: 0, total: 1 } };
  const there = answer("The index is read twice.", "m2", { usage: large });
  draft.at(question);
  const here = answer("The disk.", "m1", { usage: usage(40, 10) });
  fs.writeFileSync(file, draft.text());
  return { there, here };
}

test("after a pick pi continues as if the words had been said here", async () => {
  const folder = temporaryFolder("next");
  try {
    const outcomes = [];
    for (const isPicked of [true, false]) {
      const server = await model(folder, isPicked ? "picked" : "said", [{ say: [{ text: "Next." }], usage: { input: 60, output: 5 } }]);
      const place = home(folder, isPicked ? "picked" : "said", server.models, ".pi/agent");
      const file = path.join(place.cwd, "s.jsonl");
      const { there, here } = session(file, place.cwd);
      if (isPicked) {
        await execute(program, ["switch", file, here], place);
        await execute(program, ["pick", file, there], place);
      } else {
        // The same words, said here by the model of here, for nothing.
        const words = { role: "assistant", content: text("The index is read twice."), api: "anthropic-messages", provider: "test", model: "m1", stopReason: "stop", timestamp: EPOCH };
        const free = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0, cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 } };
        const line = { type: "message", id: "abcdef01", parentId: here, timestamp: new Date(EPOCH).toISOString(), message: { ...words, usage: free } };
        fs.appendFileSync(file, `${JSON.stringify(line)}\n`);
      }
      const spent = cost(linesOf(file));
      const cli = path.join(piPackage(), "dist/cli.js");
      const events = await execute(bunBinary(), [cli, "--mode", "json", "--session", file, "and now?"], place);
      const lines = linesOf(file);
      const last = lines.findLast(({ message }) => message?.role === "assistant").message;
      outcomes.push({
        model: `${last.provider}/${last.model}`,
        words: last.content,
        compactions: lines.filter(({ type }) => type === "compaction").length,
        compacting: events.includes("compaction_start"),
        added: Number((cost(lines) - spent).toFixed(9)),
        usage: last.usage,
        requests: (await server.end()).requests,
      });
      assert.ok(spent > 1 && spent < 1.1, `the branch counts once: ${spent}`);
    }
    const [picked, said] = outcomes;
    assert.deepEqual(picked, said);
    assert.deepEqual([picked.model, picked.compactions, picked.compacting, picked.requests], ["test/m1", 0, false, 1]);
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
});
