// What must hold when offshoot only reads: contexts, trees and lists agree with the peers, odd files open, nothing is written.
// Each function runs one group over the corpus and puts its findings into the report.
import * as fs from "node:fs";
import * as path from "node:path";
import { digestBytes, firstDifference, leavesOf } from "./canon.mjs";
import { compareDumps, compareLists, translatePoints } from "./compare.mjs";

export const nameOf = (file) => path.basename(file, ".jsonl");

/** Bytes and time of a file: what a reader must leave alone. */
function fingerprint(file) {
  return { bytes: digestBytes(fs.readFileSync(file)), modified: fs.statSync(file).mtimeMs };
}

/** Whether a name (as JSON) is a compaction's short summary in the file. */
function isShortSummary(file, name) {
  return fs.readFileSync(file, "utf8").includes(`"shortSummary":${name}`);
}

/** Whether a message of the file, or its name, is of the kind that takes a whole session out of a peer's list. */
function holdsOddMessage(file) {
  const entries = fs.readFileSync(file, "utf8").split("\n").flatMap((line) => {
    try {
      return [JSON.parse(line)];
    } catch {
      return [];
    }
  });
  return entries.some((entry) => {
    if (entry?.type === "session_info") return entry.name != null && typeof entry.name !== "string";
    if (entry?.type !== "message") return false;
    const { message } = entry;
    if (message === null || message === undefined) return true;
    if (!["user", "assistant"].includes(message.role) || !("content" in message)) return false;
    const { content } = message;
    return Array.isArray(content) ? content.includes(null) : typeof content !== "string";
  });
}

export class Reading {
  /** `offshoot`, `peers` {pi, omp}, the corpus folder `dir`, its `manifest`, and the `report`. */
  constructor({ offshoot, peers, dir, manifest, report }) {
    Object.assign(this, { offshoot, peers, dir, manifest, report });
  }

  files(set, dialect) {
    return this.manifest.filter((facts) => facts.set === set && facts.dialect === dialect);
  }

  /** Every file of one set: its own peer in everything, the other peer in ids and tree. */
  async read(set, dialect) {
    const failed = [];
    const files = this.files(set, dialect);
    if (files.length === 0) throw new Error(`the corpus has no ${set} files of ${dialect}`);
    for (const facts of files) {
      const file = path.join(this.dir, facts.file);
      const before = fingerprint(file);
      for (const name of facts.peers) failed.push(...(await this.#against(name, set, file, facts)));
      failed.push(
        ...this.report.add("(itself)", `${set} left alone`, nameOf(file), [
          { aspect: "bytes", difference: firstDifference(before, fingerprint(file)) },
        ]),
      );
    }
    return failed;
  }

  async #against(name, set, file, facts) {
    const own = name === facts.dialect;
    const options = { v1: facts.v1, own, plain: facts.plain && !own, labelTimes: own && name === "pi" };
    try {
      const expected = await this.peers[name].dump(file, { plain: options.plain, contexts: own || options.plain });
      const points = (entries) => translatePoints(expected.contexts, expected.entries, entries, facts.v1);
      const actual = await this.offshoot.dump(file, { points, plain: options.plain });
      const findings = compareDumps(expected, actual, options);
      if (own) await this.#explain(name, file, facts, expected, actual, findings);
      return this.report.add(name, `${set} ${facts.dialect}`, nameOf(file), findings);
    } catch (error) {
      return this.report.fail(name, `${set} ${facts.dialect}`, nameOf(file), error.message);
    }
  }

  /** Digests say that contexts differ; whole messages say how. Asked for only at the first points that differ. */
  async #explain(name, file, facts, expected, actual, findings) {
    let asked = 0;
    for (const finding of findings) {
      if (finding.aspect !== "context" || finding.difference === null || asked === 3) continue;
      asked++;
      const place = expected.contexts.findIndex((point) => (point.kind === "id" ? point.id : point.kind) === finding.at);
      if (place < 0 || expected.contexts[place].error || actual.contexts[place]?.error) continue;
      const point = ({ kind, id }) => ({ kind, id });
      const [left, right] = await Promise.all([
        this.peers[name].dump(file, { points: [point(expected.contexts[place])], full: true }),
        this.offshoot.dump(file, { points: () => [point(actual.contexts[place])], full: true }),
      ]);
      const whole = ({ contexts: [{ settings, full }] }) => ({ settings, messages: full });
      finding.difference = firstDifference(whole(left), whole(right)) ?? finding.difference;
    }
  }

  /** The commands `tree --json` and `context --json` must say what the peer says of the whole file. */
  async commands(set, dialect) {
    const failed = [];
    for (const facts of this.files(set, dialect).filter(({ v1 }) => !v1)) {
      const file = path.join(this.dir, facts.file);
      const known = await this.peers[dialect].dump(file, { points: [{ kind: "open" }] });
      const rows = (tree) => (dialect === "pi" ? tree : tree.map((row) => row.slice(0, 3)));
      try {
        const [tree, context] = await Promise.all([this.offshoot.tree(file), this.offshoot.context(file)]);
        const { settings, messages } = known.contexts[0];
        failed.push(
          ...this.report.add(dialect, "commands", nameOf(file), [
            { aspect: "tree", difference: firstDifference(rows(known.tree), rows(tree)) },
            { aspect: "context", at: "open", difference: firstDifference({ settings, messages }, context) },
          ]),
        );
      } catch (error) {
        failed.push(...this.report.fail(dialect, "commands", nameOf(file), error.stderr || error.message));
      }
    }
    return failed;
  }

  /** `cwd` given: the sessions of that folder only, as the peer's `list`; else all below the corpus folder. */
  async list(peer, cwd) {
    const dir = path.join(this.dir, peer);
    const [expected, actual] = await Promise.all([this.peers[peer].list(dir, cwd), this.offshoot.list(dir, cwd)]);
    const findings = compareLists(peer, expected, actual, nameOf);
    for (const { session, difference } of findings) {
      if (difference?.path === "" && difference.left === "(absent)") difference.odd = holdsOddMessage(session);
      if (difference?.path === "/name") difference.summary = isShortSummary(session, difference.right);
    }
    return this.report.add(peer, cwd === undefined ? "list all" : "list of a folder", `list ${peer}`, findings);
  }

  /** Context of the last entry for an unknown leaf, of nothing for null: the function without a session. */
  async pureContexts() {
    const entries = fs
      .readFileSync(path.join(this.dir, "pi/every-entry-type.jsonl"), "utf8")
      .trim()
      .split("\n")
      .slice(1)
      .map((line) => JSON.parse(line));
    const findings = [];
    for (const [at, leafId] of [
      ["absent", undefined],
      ["unknown", "no-such-entry"],
      ["null", null],
      ["first", entries[0].id],
      ["last", entries.at(-1).id],
    ]) {
      const [expected, actual] = await Promise.all([this.peers.pi.contextOf(entries, leafId), this.offshoot.contextOf(entries, leafId)]);
      findings.push({ aspect: "context", at, difference: firstDifference(expected, actual) });
    }
    return this.report.add("pi", "pure function", "vector-12-unknown-and-null-leaf", findings);
  }

  async odd() {
    const failed = [];
    for (const facts of this.manifest.filter(({ set }) => set === "odd")) {
      const file = path.join(this.dir, facts.file);
      const before = fingerprint(file);
      const findings = facts.refused ? await this.#refused(file) : await this.#survives(file, facts);
      findings.push({ aspect: "bytes", difference: firstDifference(before, fingerprint(file)) });
      failed.push(...this.report.add("(itself)", facts.refused ? "not sessions" : "odd files", nameOf(file), findings));
    }
    return failed;
  }

  async #refused(file) {
    const outcome = await this.offshoot.api("open", { path: file }).then(
      () => "opened",
      () => "refused",
    );
    return [{ aspect: "open", difference: firstDifference("refused", outcome) }];
  }

  async #survives(file, facts) {
    const isTrue = (aspect, holds, wanted, got) => ({
      aspect,
      difference: holds ? null : { path: "", left: String(wanted), right: String(got) },
    });
    try {
      const points = (tree) => [
        { kind: "open" },
        ...leavesOf(tree)
          .filter((id) => typeof id === "string" && id !== "") // only such an id can be named
          .slice(0, facts.contexts)
          .map((id) => ({ kind: "id", id })),
      ];
      const withTree = facts.nested;
      const first = await this.offshoot.dump(file, { withTree });
      const dump = await this.offshoot.dump(file, { withTree, points: () => points(first.tree) });
      const nodes = withTree ? dump.tree.map((row) => row[1]) : dump.entries.map(([id]) => id);
      const held = new Set(nodes);
      const missing = idsIn(file).filter((id) => !held.has(id));
      const broken = dump.contexts.filter(({ error }) => error);
      const diagnostics = await this.offshoot.check(file);
      const formed = diagnostics.every((d) => ["code", "severity", "message"].every((key) => typeof d[key] === "string"));
      return [
        isTrue("nodes in the tree", nodes.length >= facts.entries, `at least ${facts.entries}`, nodes.length),
        isTrue("ids in the tree", missing.length === 0, "all", `without ${missing.slice(0, 5)}`),
        isTrue("contexts", broken.length === 0, "one for each leaf", broken[0]?.error),
        isTrue("diagnostics", !facts.diagnostic || diagnostics.length > 0, "at least one", "none"),
        isTrue("form of diagnostics", formed, "{code, severity, message}", JSON.stringify(diagnostics).slice(0, 200)),
      ];
    } catch (error) {
      return [isTrue("failure", false, "an answer", error.message)];
    }
  }
}

/** Ids that stand in the file in lines that parse, each once. */
function idsIn(file) {
  const ids = new Set();
  for (const line of fs
    .readFileSync(file, "utf8")
    .replace(/^\ufeff/, "")
    .split("\n")) {
    let record;
    try {
      record = JSON.parse(line);
    } catch {
      continue;
    }
    if (record?.type !== "session" && typeof record?.id === "string" && record.id !== "") ids.add(record.id);
  }
  return [...ids];
}
