// What must hold when offshoot writes: the same operations leave files of the same shape as the peer's, each program reads
// what the other wrote, and bytes that were there stay there. Works on copies in a folder of its own.
import * as fs from "node:fs";
import * as path from "node:path";
import { digestBytes, firstDifference } from "./canon.mjs";
import { compareDumps, translatePoints } from "./compare.mjs";
import { operationList } from "./ops.mjs";
import { nameOf } from "./reading.mjs";
import { shapeOf } from "./shape.mjs";
import { OPERATION_VECTORS } from "./vectors.mjs";

const ANSWER = {
  op: "appendMessage",
  message: {
    role: "assistant",
    content: [{ type: "text", text: "appended" }],
    api: "x",
    provider: "p",
    model: "m",
    stopReason: "stop",
    timestamp: 1,
  },
};

export class Writing {
  #copies = 0;

  constructor({ offshoot, peers, dir, manifest, report, folder }) {
    Object.assign(this, { offshoot, peers, dir, manifest, report, folder });
  }

  #newFolder() {
    const folder = path.join(this.folder, `w${this.#copies++}`);
    fs.mkdirSync(folder);
    return folder;
  }

  #copy(file) {
    const copy = path.join(this.#newFolder(), path.basename(file));
    fs.copyFileSync(path.join(this.dir, file), copy);
    return copy;
  }

  /** What both show of a file that at least one of them wrote. `points` limits the contexts. */
  async #agree(peer, file, { plain = false, points } = {}) {
    const expected = await this.peers[peer].dump(file, { plain, points });
    const actual = await this.offshoot.dump(file, {
      plain,
      points: (entries) => translatePoints(expected.contexts, expected.entries, entries, false),
    });
    return compareDumps(expected, actual, { own: !plain, plain, labelTimes: peer === "pi" });
  }

  async #group(peer, group, name, work) {
    try {
      return this.report.add(peer, group, name, await work());
    } catch (error) {
      return this.report.fail(peer, group, name, error.message);
    }
  }

  /** The same operations by both, into new sessions: results and files must have one shape. */
  async #sameOperations(peer, ops, sources = {}) {
    const target = (who) => (sources[who] ? { file: sources[who] } : { dir: this.#newFolder() });
    const theirs = await this.peers[peer].grow(target("peer"), ops);
    const ours = await this.offshoot.grow(target("offshoot"), ops);
    const outcome = ({ ids }) => ids.map((id) => (id === null || id.error ? id : typeof id));
    const shape = ({ file }) => shapeOf(fs.readFileSync(file));
    return {
      file: ours.file,
      findings: [
        { aspect: "results", difference: firstDifference(outcome(theirs), outcome(ours)) },
        { aspect: "bytes", difference: firstDifference(shape(theirs), shape(ours)) },
      ],
    };
  }

  /** offshoot makes a session, pi reads it, pi goes on, offshoot reads that, offshoot goes on, pi reads that. */
  async piBothWays(seed, count) {
    const failed = [];
    for (let i = 0; i < count; i++) {
      const plain = i % 3 === 0;
      const ops = (part) => operationList(`${seed}/both/${i}/${part}`, { size: 25 + 5 * i, plain });
      failed.push(
        ...(await this.#group("pi", "both ways", `seed-${i}`, async () => {
          const { file, findings } = await this.#sameOperations("pi", ops("new"));
          const all = [...findings, ...(await this.#agree("pi", file))];
          if (plain)
            failed.push(...(await this.#group("omp", "both ways, pi files", `seed-${i}`, () => this.#agree("omp", file, { plain }))));
          await this.peers.pi.grow({ file }, ops("pi goes on"));
          all.push(...(await this.#agree("pi", file)));
          await this.offshoot.grow({ file }, ops("offshoot goes on"));
          return [...all, ...(await this.#agree("pi", file))];
        })),
      );
    }
    return failed;
  }

  /** omp makes a session, offshoot goes on, omp reads that, and so on. */
  async ompBothWays(seed, count) {
    const failed = [];
    for (let i = 0; i < count; i++) {
      const ops = (part, own) => operationList(`${seed}/omp both/${i}/${part}`, { dialect: "omp", size: 25 + 5 * i, own });
      failed.push(
        ...(await this.#group("omp", "both ways", `seed-${i}`, async () => {
          const { file } = await this.peers.omp.grow({ dir: this.#newFolder() }, ops("omp begins", true));
          const twin = path.join(this.#newFolder(), path.basename(file));
          fs.copyFileSync(file, twin);
          const { findings } = await this.#sameOperations("omp", ops("offshoot goes on", false), { peer: twin, offshoot: file });
          const all = [...findings, ...(await this.#agree("omp", file))];
          await this.peers.omp.grow({ file }, ops("omp goes on", true));
          all.push(...(await this.#agree("omp", file)));
          await this.offshoot.grow({ file }, ops("offshoot again", false));
          return [...all, ...(await this.#agree("omp", file))];
        })),
      );
    }
    return failed;
  }

  /** The numbered vectors that are operations. */
  async operationVectors() {
    const failed = [];
    for (const [name, ops] of Object.entries(OPERATION_VECTORS)) {
      failed.push(
        ...(await this.#group("pi", "operation vectors", name, async () => {
          const { file, findings } = await this.#sameOperations("pi", ops);
          return [...findings, ...(await this.#agree("pi", file))];
        })),
      );
    }
    return failed;
  }

  /** One message appended to a copy of every valid file: the old bytes stay, the peer reads the whole. */
  async appendToEach(dialect) {
    const failed = [];
    for (const facts of this.manifest.filter((f) => f.dialect === dialect && f.set !== "odd")) {
      const name = nameOf(facts.file);
      failed.push(
        ...(await this.#group(dialect, "append to each", name, async () => {
          const file = this.#copy(facts.file);
          const before = fs.readFileSync(file);
          const { ids } = await this.offshoot.grow({ file }, [ANSWER]);
          const findings = await this.#agree(dialect, file, { points: [{ kind: "open" }, { kind: "id", id: ids[0] }] });
          return [...findings, { aspect: "old bytes", difference: keeps(before, file) }];
        })),
      );
    }
    return failed;
  }

  /** A path taken into a new file, by both, at leaves of every readable v3 file: one shape, one context. */
  async branchedSessions(sets, leavesEach) {
    const failed = [];
    for (const facts of this.manifest.filter((f) => sets.includes(f.set) && f.dialect === "pi" && f.peers.includes("pi") && !f.v1)) {
      const source = await this.peers.pi.dump(path.join(this.dir, facts.file));
      const points = source.contexts.filter(({ kind, error }) => kind === "id" && !error);
      for (const point of points.slice(0, leavesEach)) {
        failed.push(...(await this.#group("pi", "createBranchedSession", nameOf(facts.file), () => this.#branched(facts, point))));
      }
    }
    return failed;
  }

  async #branched(facts, point) {
    const ops = [{ op: "createBranchedSession", leafId: point.id }, ANSWER];
    const source = this.#copy(facts.file);
    const before = digestBytes(fs.readFileSync(source));
    const ours = await this.offshoot.grow({ file: source }, ops);
    const untouched = firstDifference(before, digestBytes(fs.readFileSync(source)));
    const theirs = await this.peers.pi.grow({ file: this.#copy(facts.file) }, ops);
    const shape = ({ file }) => shapeOf(fs.readFileSync(file), { canonical: true });
    return [
      { aspect: "bytes", at: point.id, difference: firstDifference(shape(theirs), shape(ours)) },
      { aspect: "source bytes", at: point.id, difference: untouched },
      { aspect: "parentSession", at: point.id, difference: firstDifference(source, parentOf(ours.file)) },
      ...(await this.#agree("pi", ours.file, { points: [{ kind: "open" }] })),
    ];
  }

  /** A fork with a name: pi reads the name and the same context. */
  async namedForks(sets) {
    const failed = [];
    for (const facts of this.manifest.filter((f) => sets.includes(f.set) && f.dialect === "pi" && f.peers.includes("pi"))) {
      const source = path.join(this.dir, facts.file);
      failed.push(
        ...(await this.#group("pi", "named forks", nameOf(facts.file), async () => {
          const { file } = await this.offshoot.fork(source, this.#newFolder(), { name: "tried (fork)" });
          const { name } = await this.peers.pi.dump(file, { points: [{ kind: "open" }] });
          const findings = [{ aspect: "name", difference: firstDifference("tried (fork)", name) }];
          return [...findings, ...(await this.#agree("pi", file, { points: [{ kind: "open" }] }))];
        })),
      );
    }
    return failed;
  }

  /** All branches copied into a new session. Old versions are upgraded on the way, which pi forgets: there contexts decide. */
  async forks(sets) {
    const failed = [];
    for (const facts of this.manifest.filter((f) => sets.includes(f.set) && f.dialect === "pi" && f.peers.includes("pi"))) {
      const source = path.join(this.dir, facts.file);
      failed.push(
        ...(await this.#group("pi", "forkFrom", nameOf(facts.file), async () => {
          const ours = await this.offshoot.fork(source, this.#newFolder());
          const findings = await this.#agree("pi", ours.file, { points: [{ kind: "open" }] });
          findings.push({ aspect: "parentSession", difference: firstDifference(source, parentOf(ours.file)) });
          if (facts.v1 || facts.v2) return findings;
          const theirs = await this.peers.pi.fork(source, this.#newFolder());
          const shape = ({ file }) => shapeOf(fs.readFileSync(file), { canonical: true });
          return [...findings, { aspect: "bytes", difference: firstDifference(shape(theirs), shape(ours)) }];
        })),
      );
    }
    return failed;
  }
}

function parentOf(file) {
  return JSON.parse(fs.readFileSync(file, "utf8").split("\n")[0]).parentSession;
}

/** null if the old bytes still begin the file, or if an upgraded file has them beside it. */
function keeps(before, file) {
  const after = fs.readFileSync(file);
  if (after.subarray(0, before.length).equals(before)) return null;
  const beside = fs.readdirSync(path.dirname(file)).filter((name) => name.startsWith(path.basename(file)) && name.endsWith(".bak"));
  if (beside.some((name) => fs.readFileSync(path.join(path.dirname(file), name)).equals(before))) return null;
  return { path: "", left: "the old bytes, in place or in a .bak file", right: "neither" };
}
