// What must hold when offshoot plans: compactions, branch summaries and messages for a model are those of pi.
// Compares the same plans at many places of every file and counts them.
import * as fs from "node:fs";
import * as path from "node:path";
import { planFiles } from "../corpus/plans.mjs";
import { firstDifference } from "./canon.mjs";
import { IS_NEWEST } from "./places.mjs";
import { nameOf } from "./reading.mjs";
import { Rng } from "./rng.mjs";

/** Tokens to keep: from "cut at the last message" to pi's default. */
const KEEP = [1, 20, 120, 600, 20_000];
const BUDGETS = [0, 30, 300, 3000];
const SETTINGS = { enabled: true, reserveTokens: 16_384 };
const SORTS = ["compactions", "branches", "contexts"];

export class Planning {
  #counts = new Map(SORTS.map((sort) => [sort, { files: new Set(), compared: 0, equal: 0, deliberate: 0, none: 0, refused: 0 }]));

  constructor({ offshoot, peers, dir, manifest, report, folder }) {
    Object.assign(this, { offshoot, peers, dir, manifest, report, folder });
  }

  /** The files of one set of the corpus. */
  async plan(set) {
    const files = this.manifest.filter((facts) => facts.set === set && facts.dialect === "pi");
    if (files.length === 0) throw new Error(`the corpus has no ${set} files of pi`);
    const failed = [];
    for (const { file } of files) failed.push(...(await this.#file(set, path.join(this.dir, file))));
    return failed;
  }

  /** Sessions made for this. */
  async made(seed, count) {
    const folder = path.join(this.folder, "plans");
    fs.mkdirSync(folder, { recursive: true });
    const failed = [];
    for (const { name, body } of planFiles(seed, count)) {
      const file = path.join(folder, `${name}.jsonl`);
      fs.writeFileSync(file, body);
      failed.push(...(await this.#file("made", file)));
    }
    return failed;
  }

  async #file(set, file) {
    try {
      const { entries } = await this.peers.pi.dump(file, { contexts: false });
      const hasEdits = entries.some(([, type]) => type === "context_edit");
      const wanted = wantedOf(nameOf(file), entries.length);
      const [expected, actual] = await Promise.all([this.peers.pi.plans(file, wanted), this.offshoot.plans(file, wanted)]);
      const findings = SORTS.flatMap((sort) =>
        wanted[sort].map((point, i) => this.#finding({ sort, file, point, hasEdits }, expected[sort][i], actual[sort][i])),
      );
      const compared = findings.filter((finding) => finding !== null);
      const failed = this.report.add("pi", `plans, ${set}`, nameOf(file), compared);
      this.#count(compared, failed);
      return failed;
    } catch (error) {
      return this.report.fail("pi", `plans, ${set}`, nameOf(file), error.stderr || error.stack);
    }
  }

  #finding({ sort, file, point, hasEdits }, expected, actual) {
    const counts = this.#counts.get(sort);
    counts.files.add(file);
    if (expected?.error !== undefined) return void counts.refused++ ?? null;
    if (sort === "contexts" && expected === null) return void counts.none++ ?? null;
    const difference = firstDifference(expected, actual);
    const aspect = difference === null ? "plan" : aspectOf(sort, hasEdits, expected, actual);
    return { sort, aspect, at: `${sort} ${JSON.stringify(point)}`, difference };
  }

  #count(compared, failed) {
    const isWrong = new Set(failed.map(({ at }) => at));
    for (const { sort, at, difference } of compared) {
      const counts = this.#counts.get(sort);
      counts.compared++;
      if (difference === null) counts.equal++;
      else if (!isWrong.has(at)) counts.deliberate++;
    }
  }

  /** Sessions that offshoot compacted: pi opens them with the same context. */
  async compacted(seed, count) {
    const folder = path.join(this.folder, "compacted");
    fs.mkdirSync(folder, { recursive: true });
    const failed = [];
    let done = 0;
    for (const { name, body } of planFiles(seed, count)) {
      const file = path.join(folder, `${name}.jsonl`);
      fs.writeFileSync(file, body);
      if (!(await this.offshoot.compact(file, 300))) continue;
      done++;
      const points = [{ kind: "open" }];
      const [expected, actual] = await Promise.all([
        this.peers.pi.dump(file, { points, full: true }),
        this.offshoot.dump(file, { points: () => points, full: true, withTree: false }),
      ]);
      const whole = ({ contexts: [{ settings, full }] }) => ({ settings, messages: full });
      const difference = firstDifference(whole(expected), whole(actual));
      failed.push(...this.report.add("pi", "compacted", name, [{ aspect: "context", at: "open", difference }]));
    }
    if (done === 0) throw new Error("nothing was compacted");
    return failed;
  }

  /** How many plans were compared, in words. */
  counted() {
    const lines = [...this.#counts].map(([sort, { files, compared, equal, deliberate, none, refused }]) => {
      const more = [
        [deliberate, "different on purpose"],
        [none, "left out: pi's would have to be mended first"],
        [refused, "left out: pi throws"],
      ];
      const said = more.filter(([count]) => count > 0).map(([count, what]) => `, ${count} ${what}`);
      return `${sort}: ${files.size} sessions, ${compared} compared, ${equal} equal${said.join("")}`;
    });
    return lines.join("\n");
  }
}

/**
 * pi splits a turn because the cut moved back onto an entry that says nothing. The same messages go, the same stay; only
 * which part of the summary they are for differs.
 */
function isFalseSplit(expected, actual) {
  if (!expected?.isSplitTurn || !actual || actual.isSplitTurn) return false;
  const { isSplitTurn, summarize, turnPrefix, conversation, turnPrefixConversation, ...same } = expected;
  const ours = { ...actual, summarize: undefined, turnPrefix: undefined };
  const rest = Object.fromEntries(Object.keys(same).map((key) => [key, ours[key]]));
  return firstDifference(same, rest) === null && firstDifference([...summarize, ...turnPrefix], actual.summarize) === null;
}

/** What kind of difference it is. pi 0.87 leaves the edits of a branch out of its summary. */
function aspectOf(sort, hasEdits, expected, actual) {
  if (sort === "compactions" && isFalseSplit(expected, actual)) return "false-split";
  return sort === "branches" && hasEdits && !IS_NEWEST ? "branch-edits" : "plan";
}

/** At which entries, with which settings. */
function wantedOf(name, entries) {
  const rng = new Rng(`plans/${name}`);
  if (entries === 0) return { compactions: [], branches: [], contexts: [], settings: SETTINGS };
  const few = entries > 500;
  const places = [...new Set([entries - 1, ...Array.from({ length: few ? 6 : 8 }, () => rng.int(0, entries - 1))])];
  return {
    settings: SETTINGS,
    compactions: places.flatMap((at) => KEEP.map((keep) => ({ at, keep }))),
    branches: places.map((from) => ({ from, target: rng.int(0, entries - 1), budget: rng.pick(BUDGETS) })),
    contexts: places.slice(0, 2),
  };
}
