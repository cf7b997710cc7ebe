// What is probed: every row answers facts, and a sentence on how they end. Knows files and subjects, not documents.
//
// A verdict is `good` (nothing lost, nothing refused that can be read, no hang) or `bad`; `text` says what was seen.
import * as fs from "node:fs";
import * as path from "node:path";
import { spawnSync } from "node:child_process";
import { FILES, chain, file, version1 } from "./files.mjs";
import { hostilePages } from "./pages.mjs";
import { ALL } from "../lib/sample.mjs";
import { LIMITS, WORDS, killed, until } from "./subjects.mjs";

const good = (text) => ({ good: true, text });
const bad = (text) => ({ good: false, text });
const verdict = (isGood, text) => (isGood ? good(text) : bad(text));

/** The result of a step, or what the program said instead. */
async function step(work) {
  try {
    return { value: await work() };
  } catch (error) {
    return { error: error.message.replaceAll(/\S*offshoot-conformance-\S*\//g, "") };
  }
}

const shown = ({ value, error }) => (error === undefined ? `${value}` : `FAILS (${error})`);

/** Open, context, tree, append one message, reopen: on one file. */
export async function standard(subject, folder, bytes, sentinel) {
  const at = path.join(folder, "s.jsonl");
  fs.writeFileSync(at, bytes);
  const before = Buffer.from(bytes);
  const opened = await step(() => subject.open(at));
  const facts = { opened, untouched: unchanged(at, before) };
  if (opened.error !== undefined) return facts;
  facts.context = await step(() => subject.context());
  // What failed may have ended the program.
  if (facts.context.error !== undefined) await step(() => subject.open(at));
  facts.tree = await step(() => subject.tree());
  if (facts.context.error !== undefined || facts.tree.error !== undefined) await step(() => subject.open(at));
  facts.appended = await step(() => subject.append(WORDS));
  if (facts.appended.error === undefined) {
    facts.again = await step(() => subject.open(at));
    facts.there = await step(() => subject.has(facts.appended.value[0]));
    facts.says = await step(() => subject.says(WORDS));
    facts.contextAgain = facts.says.error === undefined ? await step(() => subject.context()) : facts.says;
  }
  facts.untouched = unchanged(at, before);
  facts.cut = sentinel !== undefined && !fs.readFileSync(at).includes(sentinel);
  facts.found = (await step(() => subject.found())).value ?? [];
  return facts;
}

/** Whether a file still begins with these bytes. */
function unchanged(at, before) {
  if (!fs.existsSync(at)) return false;
  const handle = fs.openSync(at, "r");
  try {
    const now = Buffer.alloc(before.length);
    return fs.readSync(handle, now, 0, now.length, 0) === now.length && now.equals(before);
  } finally {
    fs.closeSync(handle);
  }
}

function sentence(facts) {
  if (facts.opened.error !== undefined) return `refused: ${facts.opened.error}${facts.untouched ? "" : "; FILE CHANGED"}`;
  const parts = [`context ${shown(facts.context)}`, `tree ${shown(facts.tree)}`];
  if (facts.appended.error !== undefined) parts.push(`append FAILS (${facts.appended.error})`);
  else if (facts.there?.value !== true) parts.push(`appended entry LOST${facts.again?.error ? ` (reopening: ${facts.again.error})` : ""}`);
  else parts.push(facts.says.value === true ? `append there (context then ${shown(facts.contextAgain)})` : `append there, but NOT in the context (${shown(facts.contextAgain)})`);
  if (!facts.untouched) parts.push("old bytes REWRITTEN");
  if (facts.cut) parts.push("the long text is CUT on disk");
  if (facts.found.length > 0) parts.push(`says: ${facts.found.join(", ")}`);
  return parts.join("; ");
}

/** Whether nothing was lost; `want` are the context's messages and the tree's nodes that can be had from the file. */
function holds(facts, { want, wantTree, refused }) {
  if (refused) return facts.opened.error !== undefined && facts.untouched;
  if (facts.opened.error !== undefined) return false;
  const counts = (fact, wanted) => fact.error === undefined && (wanted === undefined || fact.value === wanted);
  const there = facts.there?.value === true && facts.says?.value === true;
  const grown = facts.contextAgain?.value === facts.context.value + 1;
  return counts(facts.context, want?.[0]) && counts(facts.tree, want?.[1] ?? wantTree) && there && grown && facts.untouched;
}

function fileRow(row) {
  return {
    group: "e",
    name: row.name,
    slow: row.slow,
    async run(subject, folder) {
      const facts = await standard(subject, folder, row.make(), row.sentinel);
      return verdict(holds(facts, row), sentence(facts));
    },
  };
}

/** (a) Cuts at each byte of the last line; a sample takes every fourth. */
const cuts = {
  group: "a",
  name: "cut at each byte of the last line",
  async run(subject, folder) {
    const whole = Buffer.from(file(chain()));
    const start = whole.lastIndexOf("\n", whole.length - 2) + 1;
    const ends = { good: 0, lost: 0, refused: 0, rewritten: 0 };
    const cutsAt = Array.from({ length: whole.length - start }, (_, at) => start + at).filter((_, at) => ALL || at % 4 === 0);
    for (const end of cutsAt) {
      const facts = await standard(subject, folder, whole.subarray(0, end));
      if (facts.opened.error !== undefined || facts.appended.error !== undefined) ends.refused += 1;
      else if (facts.there.value !== true || facts.says.value !== true) ends.lost += 1;
      else if (!facts.untouched) ends.rewritten += 1;
      else ends.good += 1;
    }
    const total = cutsAt.length;
    const rest = Object.entries(ends).filter(([what, count]) => what !== "good" && count > 0);
    const words = { lost: "LOSE the appended entry", refused: "REFUSED", rewritten: "erase the fragment" };
    return verdict(ends.good === total, [`${ends.good} of ${total} good`, ...rest.map(([what, count]) => `${count} ${words[what]}`)].join("; "));
  },
};

/** (c) Two processes, 500 appends each. */
function twoWriters(size) {
  return {
    group: "c",
    name: `two processes append 500 each, ${size >> 10} KB`,
    async run(subject, folder) {
      const at = path.join(folder, "s.jsonl");
      fs.writeFileSync(at, file(chain()));
      const done = await subject.writers(at, ["1", "2"].map((digit) => digit.repeat(size)));
      const ids = done.flatMap(({ value }) => value ?? []);
      const lines = fs.readFileSync(at, "utf8").trimEnd().split("\n");
      const whole = new Set(lines.flatMap((line) => parsed(line)?.id ?? []));
      const lost = ids.filter((id) => !whole.has(id)).length;
      const torn = lines.filter((line) => parsed(line) === undefined).length;
      await subject.open(at);
      const context = await step(() => subject.context());
      const found = (await step(() => subject.found())).value ?? [];
      const failed = done.filter(({ status }) => status === "rejected").map(({ reason }) => `; a writer FAILS (${reason.message})`);
      const warning = found.length > 0 ? `; says: ${found.join(", ")}` : "; no word of the fork";
      const text = `${ids.length} acknowledged, ${lost} lost, ${torn} torn; context ${shown(context)} of ${whole.size - 1}${warning}${failed.join("")}`;
      return verdict(lost === 0 && torn === 0 && ids.length === 1000 && context.error === undefined, text);
    },
  };
}

const parsed = (line) => {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
};

/** (c2) Two processes open the same old file, then both append. */
const twoUpgrades = {
  group: "c",
  name: "two processes open one version 1 file, then append 500 each",
  async run(subject, folder) {
    const at = path.join(folder, "s.jsonl");
    fs.writeFileSync(at, version1(20));
    const done = await subject.writers(at, ["1".repeat(1024), "2".repeat(1024)]);
    const ids = done.flatMap(({ value }) => value ?? []);
    const there = new Set(fs.readFileSync(at, "utf8").split("\n").flatMap((line) => parsed(line)?.id ?? []));
    const lost = ids.filter((id) => !there.has(id)).length;
    const failed = done.filter(({ status }) => status === "rejected").map(({ reason }) => `; one is told: ${reason.message.replaceAll(/\S*\//g, "")}`);
    return verdict(lost === 0, `${ids.length} acknowledged, ${lost} LOST${failed.join("")}`.replace("0 LOST", "0 lost"));
  },
};

/** (d) Killed while it appends. */
const killedAppends = {
  group: "d",
  name: "kill -9 in an append loop, 12 rounds",
  async run(subject, folder) {
    const at = path.join(folder, "s.jsonl");
    fs.writeFileSync(at, file(chain()));
    const known = new Set();
    for (let round = 0; round < 12; round++) {
      const { child, acknowledged } = subject.loop(at, "x".repeat(500));
      await until(() => acknowledged().length > 20 * round);
      await killed(child);
      for (const id of acknowledged()) known.add(id);
    }
    const there = new Set(fs.readFileSync(at, "utf8").split("\n").flatMap((line) => parsed(line)?.id ?? []));
    const lost = [...known].filter((id) => !there.has(id)).length;
    const opened = await step(() => subject.open(at));
    return verdict(lost === 0 && opened.error === undefined, `${lost} of ${known.size} acknowledged lost${opened.error ? `; then REFUSED (${opened.error})` : ""}`);
  },
};

/** (d) Killed while it upgrades: as soon as anything in the folder changes, a little later each round. */
const killedUpgrades = {
  group: "d",
  name: "kill -9 while version 1 is upgraded, 14 rounds, 20,001 lines",
  async run(subject, folder) {
    const bytes = Buffer.from(version1(20_000));
    const lines = bytes.toString().split("\n").length - 1;
    let [harmed, worst, hit] = [0, lines, 0];
    for (let round = 0; round < 14; round++) {
      const here = fs.mkdtempSync(path.join(folder, "round-"));
      const at = path.join(here, "s.jsonl");
      fs.writeFileSync(at, bytes);
      const before = fs.statSync(at);
      const child = subject.upgrade(at);
      const hasBegun = () => {
        const now = fs.statSync(at);
        return now.size !== before.size || now.ino !== before.ino || fs.readdirSync(here).length > 1 || child.exitCode !== null;
      };
      // No timer may stand between the first byte that changes and the signal.
      const end = Date.now() + LIMITS.seconds * 1000;
      await until(() => spin(hasBegun, 5) || Date.now() > end, LIMITS.seconds);
      spin(() => false, round / 2);
      await killed(child);
      const left = fs.readFileSync(at, "utf8").split("\n").filter((line) => parsed(line) !== undefined).length;
      hit += fs.readFileSync(at).equals(bytes) ? 1 : 0;
      harmed += left < lines ? 1 : 0;
      worst = Math.min(worst, left);
      fs.rmSync(here, { recursive: true });
    }
    const text = harmed === 0 ? `0 of 14 rounds lost lines (${hit} were killed before the new file took its place)` : `${harmed} of 14 rounds LOST lines; worst ${worst} of ${lines} left`;
    return verdict(harmed === 0, text);
  },
};

/** Looks again and again for so many milliseconds. */
function spin(condition, milliseconds) {
  const end = performance.now() + milliseconds;
  do {
    if (condition()) return true;
  } while (performance.now() < end);
  return false;
}

/** (d) The first prompts. */
const firstPrompts = {
  group: "d",
  name: "two user messages, no reply yet, kill -9",
  async run(subject, folder) {
    const { file: at } = await subject.twoMessagesThenKilled(folder);
    const said = at ? fs.readFileSync(at, "utf8").split("\n").filter((line) => parsed(line)?.message?.role === "user").length : 0;
    return verdict(said >= 2, said >= 2 ? "on disk" : `${said} on disk`);
  },
};

/** A small file system that is unmounted afterwards; nothing where mounting is not allowed. */
async function onSmallDisk(folder, kilobytes, work) {
  const disk = path.join(folder, "disk");
  fs.mkdirSync(disk);
  if (spawnSync("mount", ["-t", "tmpfs", "-o", `size=${kilobytes}k`, "tmpfs", disk]).status !== 0) return null;
  try {
    return await work(disk);
  } finally {
    spawnSync("umount", ["-l", disk]);
  }
}

const NOT_MOUNTED = { good: null, text: "NOT RUN: mounting a file system is not allowed here" };

/** (f) A disk that fills up, and then has room again. */
const fullDisk = {
  group: "f",
  name: "disk full during appends, then room again",
  async run(subject, folder) {
    const seen = await onSmallDisk(folder, 256, async (disk) => {
      const at = path.join(disk, "s.jsonl");
      fs.writeFileSync(path.join(disk, "filler"), Buffer.alloc(64 << 10));
      fs.writeFileSync(at, file(chain()));
      await subject.open(at);
      const ids = [];
      let errors = 0;
      for (let i = 0; i < 60; i++) {
        const done = await step(() => subject.append("y".repeat(5000)));
        if (done.error === undefined) ids.push(...done.value);
        else errors += 1;
        if (errors === 3) fs.rmSync(path.join(disk, "filler"), { force: true });
        if (errors > 0 && done.error === undefined && ids.length % 5 === 0) break;
      }
      const lines = fs.readFileSync(at, "utf8").trimEnd().split("\n");
      const there = new Set(lines.flatMap((line) => parsed(line)?.id ?? []));
      const lost = ids.filter((id) => !there.has(id)).length;
      const torn = lines.filter((line) => parsed(line) === undefined).length;
      await subject.close();
      const opened = await step(() => subject.open(at));
      const context = opened.error === undefined ? await step(() => subject.context()) : opened;
      const text = `${errors} errors shown; ${ids.length} acknowledged, ${lost} lost, ${torn} torn; context on reopening ${shown(context)} of ${6 + ids.length}`;
      return verdict(errors > 0 && lost === 0 && torn === 0 && context.value === 6 + ids.length, text);
    });
    return seen ?? NOT_MOUNTED;
  },
};

/** (f) A disk that has no room for a second copy. */
const fullDiskUpgrade = {
  group: "f",
  name: "disk full while version 1 is upgraded",
  async run(subject, folder) {
    const bytes = Buffer.from(version1(1000));
    const seen = await onSmallDisk(folder, Math.ceil(bytes.length / 4096) * 4 + 8, async (disk) => {
      const at = path.join(disk, "s.jsonl");
      fs.writeFileSync(at, bytes);
      const opened = await step(() => subject.open(at));
      const appended = opened.error === undefined ? await step(() => subject.append("x")) : opened;
      const lines = fs.readFileSync(at, "utf8").split("\n").filter((line) => parsed(line) !== undefined).length;
      const said = appended.error === undefined ? "no error" : `error shown (${appended.error})`;
      return verdict(lines >= 1001 && appended.error !== undefined, lines >= 1001 ? `untouched; ${said}` : `${1001 - lines} of 1,000 entries LOST; ${said}`);
    });
    return seen ?? NOT_MOUNTED;
  },
};

/** (g) Who may read what it wrote. */
const modes = {
  group: "g",
  name: "umask 022: mode of a new file and its folder",
  async run(subject, folder) {
    const old = process.umask(0o022);
    try {
      const at = await subject.newFile(folder);
      const mode = (name) => (fs.statSync(name).mode & 0o777).toString(8).padStart(4, "0");
      const seen = [mode(at), mode(path.dirname(at))];
      return verdict(seen.join() === "0600,0700", seen.join(" / "));
    } finally {
      process.umask(old);
    }
  },
};

const [noNewline, ...odd] = FILES.map(fileRow);

export const ROWS = [
  cuts,
  { ...noNewline, group: "b" },
  twoWriters(1 << 10),
  twoWriters(100 << 10),
  twoUpgrades,
  killedAppends,
  killedUpgrades,
  firstPrompts,
  ...odd,
  fullDisk,
  fullDiskUpgrade,
  modes,
  hostilePages,
];
