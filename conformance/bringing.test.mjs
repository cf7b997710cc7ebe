// Work that offshoot brings from one branch to another, as pi and omp open it: a hundred operations at random places of
// random trees for each of them, in one long-lived process each; every fifth is cut after each of its lines, too. And what
// pi does next after a hundred picks.
//   OFFSHOOT_BIN=… OFFSHOOT_LOOPBACK_BIN=… node --test bringing.test.mjs
// CONFORMANCE_SEED changes the places, BRINGINGS their number.
import assert from "node:assert/strict";
import * as fs from "node:fs";
import * as path from "node:path";
import { after, before, test } from "node:test";
import { Draft, EPOCH, text, usage } from "./corpus/draft.mjs";
import { Bringing } from "./lib/bringing.mjs";
import { Continuing, modelsIn } from "./lib/continuing.mjs";
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
    let written = 0;
    for (let at = 0; written < COUNT && at < 3 * COUNT; at++) {
      const rng = new Rng(`${SEED}/${peer}/${at}`);
      const { file } = rng.pick(files);
      const isWritten = await bringing.bring(peer, file, rng, at % 5 === 0).catch((error) => {
        throw new Error(`case ${at} of ${peer}, ${file}: ${error.message}`, { cause: error });
      });
      written += Number(isWritten);
    }
    console.log(peer, JSON.stringify(bringing.counts));
    assert.equal(written, COUNT, JSON.stringify(bringing.counts));
  });
}

test("after picks at random places pi continues as if the words had been said here", async () => {
  const files = run.manifest.filter(({ set, dialect, v1, v2 }) => set === "random" && dialect === "pi" && !v1 && !v2);
  const at = (name) => path.join(run.dir, name);
  const folder = temporaryFolder("continuing");
  const continuing = await Continuing.start(folder, run.offshoot, files.flatMap(({ file }) => modelsIn(at(file))), COUNT);
  try {
    for (let tried = 0; continuing.counts.picks < COUNT && tried < 4 * COUNT; tried++) {
      const rng = new Rng(`${SEED}/next/${tried}`);
      const { file } = rng.pick(files);
      const copy = path.join(folder, `${tried}.jsonl`);
      fs.copyFileSync(at(file), copy);
      await continuing.pick(copy, rng).catch((error) => {
        throw new Error(`case ${tried}, ${file}: ${error.message}`, { cause: error });
      });
    }
    const { requests, complaints } = await continuing.end();
    console.log("pi continues", JSON.stringify({ ...continuing.counts, requests }));
    const { picks, compactions } = continuing.counts;
    assert.deepEqual([picks, complaints, requests % 2], [COUNT, [], 0]);
    // A compaction in the middle of a turn is two requests.
    const most = 2 * (COUNT + 2 * compactions);
    assert.ok(2 * (COUNT + compactions) <= requests && requests <= most, `${requests} requests`);
  } finally {
    continuing.pi.child.kill();
    fs.rmSync(folder, { recursive: true, force: true });
  }
});

const cost = (lines) => lines.reduce((sum, { message }) => sum + (message?.usage?.cost?.total ?? 0), 0);
const linesOf = (file) => fs.readFileSync(file, "utf8").trim().split("\n").map((line) => JSON.parse(line));

/** A trunk of the model m1, and a branch on which another model has answered with 195k tokens for a dollar. */
function session(file, cwd) {
  const draft = new Draft({ cwd });
  const answer = (words, name, more) =>
    draft.message({ role: "assistant", content: text(words), api: "anthropic-messages", provider: "test", model: name, stopReason: "stop", timestamp: EPOCH, ...more });
  const question = draft.user("Why is it slow? ".repeat(40));
  const large = { ...usage(194000, 1000), cost: { input: 1, output: 0, cacheRead: 0, cacheWrite: 0, total: 1 } };
  const there = answer("The index is read twice.", "m2", { usage: large });
  draft.at(question);
  const here = answer("The disk. ".repeat(40), "m1", { usage: usage(40, 10) });
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
      // So that a context that seems full would be compacted.
      fs.writeFileSync(path.join(place.env.HOME, ".pi/agent/settings.json"), JSON.stringify({ compaction: { keepRecentTokens: 10 } }));
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

/** What was said, by pi: role and first words. */
const wordsOf = ({ role, content, summary }) => `${role}: ${(summary ?? (typeof content === "string" ? content : content.map((block) => block.text ?? block.name).join(" "))).replaceAll("\n", " ")}`;

test("an experiment is picked back, the rest merged, merged again, undone and redone, and pi opens every stage", async () => {
  const folder = temporaryFolder("story");
  const say = (text) => ({ say: [{ text }] });
  const server = await model(folder, "story", [
    say("The index is read twice."),
    { say: [{ text: "A cache." }, { call: "write", id: "c1", arguments: { path: "cache.txt", content: "one\n" } }] },
    say("Cached: half the time."),
    say("Or read it once."),
    say("## Tried\nA cache, which halves the time."),
    say("The cache grows without end."),
    say("## Found\nThe cache grows without end."),
    say("Then both."),
  ]);
  const place = home(folder, "story", server.models, "data");
  const shown = [];
  const offshoot = async (...args) => {
    const out = await execute(program, args, place);
    shown.push(`$ offshoot ${args.map((arg) => (/ /.test(arg) ? `'${arg}'` : arg)).join(" ")}\n${out}`);
    return out;
  };
  const talk = (prompt) => offshoot("-c", "-p", prompt, "--model", "test/m1");
  const store = path.join(place.env.OFFSHOOT_HOME, "sessions");
  const file = () => path.join(store, fs.readdirSync(store, { recursive: true }).find((name) => name.endsWith(".jsonl")));
  const bringing = new Bringing(run);
  const stages = [];
  const stage = async () => {
    await bringing.agreed("pi", file());
    const [{ full }] = (await run.peers.pi.dump(file(), { points: [{ kind: "open" }], full: true })).contexts;
    stages.push(full.map(wordsOf));
    return stages.at(-1);
  };
  const said = (words) => linesOf(file()).findLast((line) => line.pickedFrom === undefined && JSON.stringify(line).includes(words)).id;
  try {
    await offshoot("-p", "why is it slow?", "--model", "test/m1");
    await talk("try a cache");
    const experiment = await stage();
    await offshoot("switch", "latest", said("read twice"));
    await talk("without a cache?");
    const here = await stage();

    await offshoot("pick", "latest", said("A cache."));
    const picked = await stage();
    assert.deepEqual(picked.slice(0, here.length), here);
    assert.equal(picked.length, here.length + 2, "the call with its result");
    await offshoot("merge", "latest", said("half the time"), "--model", "test/m1");
    const merged = await stage();
    assert.match(merged.at(-1), /## Tried A cache/);
    assert.equal(await offshoot("merge", "latest", said("half the time"), "--model", "test/m1"), "nothing to do: nothing new on that branch\n");
    assert.deepEqual(await stage(), merged, "nothing is new");
    const leaf = linesOf(file()).at(-1).id;

    await offshoot("switch", "latest", said("half the time"));
    await talk("does it grow?");
    assert.deepEqual((await stage()).slice(0, experiment.length), experiment);
    await offshoot("switch", "latest", leaf);
    const planned = JSON.parse(await offshoot("merge", "latest", said("without end"), "--dry-run", "--json"));
    assert.deepEqual([planned.isRepeated, planned.merged.base], [true, said("half the time")]);
    assert.ok(planned.entries.includes(said("without end")) && !planned.entries.includes(said("A cache.")), JSON.stringify(planned));
    await offshoot("merge", "latest", said("without end"), "--model", "test/m1");
    const again = await stage();
    assert.deepEqual(again.slice(0, merged.length), merged);
    assert.match(again.at(-1), /## Found The cache grows/);
    await offshoot("undo", "latest");
    assert.deepEqual(await stage(), merged);
    await offshoot("undo", "latest");
    assert.deepEqual(await stage(), again);
    assert.match(await talk("so?"), /Then both/);
    assert.equal((await stage()).length, again.length + 2);
    if (process.env.SHOW) console.log(shown.join(""));
    const { requests, complaints } = await server.end();
    assert.deepEqual([requests, complaints], [8, []]);
  } finally {
    await server.end();
    fs.rmSync(folder, { recursive: true, force: true });
  }
});
