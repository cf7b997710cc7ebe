// The rows of pi's tree selector and of offshoot's, for the same trees, leaves, filters and keys.
//   OFFSHOOT_TREE_BIN=../target/tests/examples/tree node --test tree.test.mjs
// offshoot marks where the session is with `← here`, or `← here, 3 below` on the row above it; pi marks it with nothing: the mark is taken away. offshoot writes a run of
// blanks as one, leaves control characters out and cuts a text with `…`: texts are compared by what both have of them.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { createInterface } from "node:readline";
import { after, before, mock, test } from "node:test";
import { pathToFileURL } from "node:url";
import { writeCorpus } from "./corpus.mjs";
import { piPackage, temporaryFolder } from "./lib/places.mjs";
import { Rng } from "./lib/rng.mjs";
import { sampled } from "./lib/sample.mjs";

const program = process.env.OFFSHOOT_TREE_BIN;
if (!program) throw new Error("set OFFSHOOT_TREE_BIN to the example `tree` of offshoot-tui");
const pi = (file) => import(pathToFileURL(path.join(piPackage(), "dist", file)).href);
const { TreeSelectorComponent } = await pi("modes/interactive/components/tree-selector.js");
const { initTheme } = await pi("modes/interactive/theme/theme.js");
const { KeybindingsManager } = await pi("core/keybindings.js");
const { SessionManager } = await pi("core/session-manager.js");
const tui = await import(pathToFileURL(path.join(path.dirname(piPackage()), "pi-tui/dist/index.js")).href);
const SEED = process.env.CONFORMANCE_SEED ?? "tree";
const FILTERS = ["default", "no-tools", "user-only", "labeled-only", "all"];
const KEYS = {
  enter: "\r", escape: "\x1b", "ctrl+e": "\x05", "ctrl+shift+o": "\x1b[111;6u",
  up: "\x1b[A", down: "\x1b[B", left: "\x1b[D", right: "\x1b[C", "ctrl+left": "\x1b[1;5D", "ctrl+right": "\x1b[1;5C",
  backspace: "\x7f", "ctrl+d": "\x04", "ctrl+t": "\x14", "ctrl+u": "\x15", "ctrl+l": "\x0c", "ctrl+a": "\x01", "ctrl+o": "\x0f",
};

let child;
let folder;
const waiting = [];
before(() => {
  delete process.env.HOME; // offshoot's example knows no home directory either
  process.env.TZ = "UTC"; // and its clock hangs in Greenwich
  initTheme("dark");
  tui.setKeybindings(new KeybindingsManager());
  folder = temporaryFolder("tree");
  child = spawn(program, [], { stdio: ["pipe", "pipe", "inherit"] });
  createInterface({ input: child.stdout }).on("line", (line) => waiting.shift().resolve(JSON.parse(line)));
  child.on("close", () => waiting.splice(0).forEach(({ reject }) => reject(new Error("the example has ended"))));
});
after(() => {
  child?.stdin.end();
  if (folder) fs.rmSync(folder, { recursive: true, force: true });
});

const offshoot = (request) =>
  new Promise((resolve, reject) => {
    waiting.push({ resolve, reject });
    child.stdin.write(`${JSON.stringify(request)}\n`);
  });

/** The rows of pi's component at the beginning and after each key. */
function pis(manager, { leaf, selected, columns, rows, filter, keys }) {
  const entries = manager.getEntries();
  const id = (at) => (at === undefined ? undefined : entries[at].id);
  const nothing = () => {};
  const leafId = leaf === undefined ? manager.getLeafId() : id(leaf);
  const selector = new TreeSelectorComponent(manager.getTree(), leafId, rows, nothing, nothing, nothing, id(selected), filter);
  const seen = () => selector.getTreeList().render(columns);
  const all = [seen()];
  for (const key of keys) {
    const typed = key.startsWith("text:") ? [...key.slice(5)] : [KEYS[key]];
    for (const data of typed) selector.handleInput(data);
    all.push(seen());
  }
  return all;
}

const PREFIX = /^[› ]{2}[ │├└─⊟⊞]*(?:• )?/;
/** A row as both can say it: the lines before the text as they are, of the text `most` characters without what is in doubt. */
function plain(row, most) {
  const stripped = row.replace(/\x1b\[[0-9;]*m/g, "").replace(/ ← here(, \d+ below)?$/, "");
  const [prefix] = PREFIX.exec(stripped) ?? [""];
  const text = stripped.slice(prefix.length)
    // offshoot spells out what nobody sees in a call.
    .replace(/\\u\{([0-9a-f]+)\}/g, (_, code) => String.fromCodePoint(Number.parseInt(code, 16)))
    .replace(/[\u2400-\u241f]/g, (picture) => String.fromCharCode(picture.charCodeAt(0) - 0x2400))
    .replace(/[\s\u0085]+/g, " ").replace(/[\p{Cc}\p{Cf}]/gu, "").replace(/…$/, "").trim()
    .replace("[label: ]", "[label: (cleared)]") // an empty label clears
    .replace("NaNk", "0k") // without a number
    .replace(/undefined|null|(?<=\[)message(?=\])/g, ""); // without a word
  return (prefix + [...text].slice(0, most).join("")).trimEnd();
}

function equal(ours, theirs, most, what) {
  ours.forEach((rows, at) => {
    const right = theirs[at].map((row) => plain(row, most));
    const left = rows.map((row, place) => {
      const own = plain(row, most);
      // pi says nothing of entries whose type it does not know.
      const silent = own.replace(/\[[a-z_]+\]$/, "").trimEnd();
      return right[place] === silent ? silent : own;
    });
    rows.forEach((row, place) => {
      if (/…( ← here(, \d+ below)?)?$/.test(row)) right[place] = right[place]?.slice(0, left[place].length);
    });
    assert.deepEqual(left, right, `${what}, after ${at} keys`);
  });
}

/** A tree that somebody could have grown: branches, roots, labels, tools, settings. */
function grow(rng, count) {
  const lines = [{ type: "session", version: 3, id: "tree", timestamp: time(0), cwd: "/w" }];
  const ids = [];
  const calls = [];
  const rest = rng.int(2, 9);
  for (let at = 1; at <= count; at++) {
    const id = at.toString(16).padStart(8, "0");
    // Mostly on from the last one, else from anywhere; sometimes a new root.
    const parentId = ids.length === 0 || rng.int(0, 60) === 0 ? null : rng.int(0, rest) ? ids[ids.length - 1] : rng.pick(ids);
    const base = { id, parentId, timestamp: time(rng.int(0, 5) ? at : rng.int(1, count)) };
    lines.push({ ...base, ...body(rng, at, ids, calls) });
    ids.push(id);
  }
  return `${lines.map((line) => JSON.stringify(line)).join("\n")}\n`;
}

const time = (at) => new Date(Date.UTC(2026, 0, 1) + at * 1000).toISOString();
const message = (message) => ({ type: "message", message });
const text = (text) => [{ type: "text", text }];

function body(rng, at, ids, calls) {
  const words = () => rng.pick(["alpha", "beta two", "gamma\nline", "delta 日本語", `epsilon ${at}`, "zeta ✓ eta", "x".repeat(120)]);
  switch (rng.int(0, 16)) {
    case 0: case 1: case 2: return message({ role: "user", content: rng.int(0, 2) ? words() : text(words()) });
    case 3: case 4: case 5: return message({ role: "assistant", content: text(words()), stopReason: "stop" });
    case 6: case 7: {
      const [name, args] = rng.pick([
        ["read", { path: "/w/a.rs", offset: 5, limit: 10 }], ["read", { path: "/w/b.rs", offset: 3 }], ["write", { path: "c", content: "d" }],
        ["edit", { path: "e" }], ["bash", { command: `echo ${"y".repeat(rng.int(1, 80))}` }], ["grep", { pattern: "f+", path: "g" }],
        ["find", { pattern: "*.h" }], ["ls", {}], ["other", { i: [1, 2.5], j: "k".repeat(rng.int(0, 60)) }],
      ]);
      calls.push({ type: "toolCall", id: `call${at}`, name, arguments: args });
      const said = rng.int(0, 1) ? text(words()) : [];
      return message({ role: "assistant", content: [...said, calls.at(-1)], stopReason: "toolUse" });
    }
    case 8: case 9: {
      const id = calls.length && rng.int(0, 5) ? rng.pick(calls.slice(-3)).id : "none";
      return message({ role: "toolResult", toolCallId: id, toolName: "read", content: text(words()), isError: false });
    }
    case 10: return message(rng.pick([
      { role: "assistant", content: [], stopReason: "aborted" },
      { role: "assistant", content: [], stopReason: "error", errorMessage: `overloaded ${"z".repeat(100)}` },
      { role: "assistant", content: text(" "), stopReason: "length" },
      { role: "bashExecution", command: "ls -l\nwc", output: "", timestamp: 1 },
    ]));
    case 11: return { type: "label", targetId: ids.length ? rng.pick(ids) : "none", label: rng.int(0, 3) ? rng.pick(["mark", "two words"]) : undefined };
    case 12: return rng.pick([{ type: "model_change", provider: "p", modelId: "m-1" }, { type: "thinking_level_change", thinkingLevel: "high" }]);
    case 13: return { type: "compaction", summary: "sum", firstKeptEntryId: ids[0] ?? "none", tokensBefore: rng.int(0, 99999) };
    case 14: return { type: "branch_summary", summary: `left ${words()}`, fromId: "root" };
    case 15: return { type: "custom_message", customType: "note", content: rng.int(0, 1) ? words() : text(words()), display: true };
    default: return rng.pick([{ type: "session_info", name: "a name" }, { type: "session_info" }, { type: "custom", customType: "state", data: {} }, { type: "usage" }]);
  }
}

// Enter and Escape go beyond the rows: to the question, and out. Ctrl+E is for lines that are written.
const MOVES = Object.keys(KEYS).filter((key) => !["enter", "escape", "ctrl+e"].includes(key));
const walk = (rng, count) =>
  Array.from({ length: count }, () =>
    rng.int(0, 9) ? rng.pick(MOVES) : rng.pick(["text:alpha", "text:user ", "text:e", "text:tool", "text:mark", "text:zz"]),
  );

/** Calls that a result finds only on another branch are named by pi alone: results are made to follow their calls. */
function near(file) {
  const parents = new Map();
  const calls = new Map();
  const lines = file.trimEnd().split("\n").map((line) => JSON.parse(line));
  for (const line of lines.slice(1)) {
    const above = new Set(parents.get(line.parentId) ?? []);
    if (line.message?.role === "assistant") for (const block of line.message.content) if (block.type === "toolCall") above.add(block.id);
    if (line.message?.role === "toolResult" && !above.has(line.message.toolCallId)) line.message.toolCallId = "none";
    parents.set(line.id, above);
  }
  return { text: `${lines.map((line) => JSON.stringify(line)).join("\n")}\n`, count: lines.length - 1, calls };
}

test("grown trees: every filter, several leaves, folds, searches, pages", async () => {
  const rng = new Rng(SEED);
  let compared = 0;
  for (let tree = 0; tree < sampled(40); tree++) {
    const file = path.join(folder, `grown-${tree}.jsonl`);
    const { text, count } = near(grow(rng, rng.int(1, 60)));
    fs.writeFileSync(file, text);
    const copy = `${file}.pi`;
    fs.copyFileSync(file, copy);
    const manager = SessionManager.open(copy);
    for (const leaf of [undefined, rng.int(0, count - 1), rng.int(0, count - 1)]) {
      for (const filter of FILTERS) {
        const request = { file, leaf, columns: 300, rows: rng.pick([8, 24, 200]), filter, keys: walk(rng, 25) };
        const ours = await offshoot(request);
        // With nothing to show at first, pi forgets where the session is; offshoot does not.
        if (ours[0][0] === "  No entries found") continue;
        equal(ours, pis(manager, request), 150, JSON.stringify({ SEED, tree, ...request }));
        compared += request.keys.length + 1;
      }
    }
  }
  console.log(`${compared} pictures of grown trees`);
});

/** Keys of somebody who labels: sets, changes, clears and leaves alone, looks for labels and shows their times. */
function labelling(rng, count) {
  // Without a search there is an entry to label, and Enter does not leave. pi begins to write before a known label, offshoot behind it.
  const edit = (...keys) => ["escape", "text:L", "ctrl+e", ...keys];
  const edits = [
    () => edit(`text:${rng.pick(["mark", "two words", "日本 ✓", "x".repeat(30)])}`, "enter"),
    () => edit(...Array(rng.int(1, 35)).fill("backspace"), "enter"),
    () => edit("text:never", "escape"),
    () => edit("enter"),
    () => ["text:T"],
    () => ["text:mark", "backspace"],
    () => ["ctrl+l"],
    () => [rng.pick(MOVES), rng.pick(MOVES)],
  ];
  return Array.from({ length: count }, () => rng.pick(edits)()).flat();
}

test("labels and their times: shown, set, changed, cleared, searched for", async () => {
  const rng = new Rng(`${SEED} labels`);
  // The trees grow in the first minutes of 2026: on that day, in that year, and later.
  const nows = ["2026-01-01T23:59:00.000Z", "2026-11-03T04:05:06.000Z", "2031-02-03T04:05:06.000Z"];
  let compared = 0;
  try {
    for (let tree = 0; tree < sampled(24); tree++) {
      const now = Date.parse(nows[tree % nows.length]);
      mock.timers.reset();
      mock.timers.enable({ apis: ["Date"], now });
      const file = path.join(folder, `labels-${tree}.jsonl`);
      fs.writeFileSync(file, near(grow(rng, rng.int(1, 40))).text);
      fs.copyFileSync(file, `${file}.pi`);
      const manager = SessionManager.open(`${file}.pi`);
      const request = { file, now, columns: 300, rows: 200, filter: "default", keys: ["text:T", ...labelling(rng, 25)] };
      const ours = await offshoot(request);
      if (ours[0][0] === "  No entries found") continue;
      const theirs = pis(manager, request);
      equal(ours, theirs, 150, JSON.stringify({ SEED, tree, ...request }));
      compared += theirs.length;
    }
  } finally {
    mock.timers.reset();
  }
  console.log(`${compared} pictures with labels`);
});

test("a given entry is selected, or the nearest one above it", async () => {
  const rng = new Rng(`${SEED} selected`);
  const file = path.join(folder, "selected.jsonl");
  const { text, count } = near(grow(rng, 50));
  fs.writeFileSync(file, text);
  fs.copyFileSync(file, `${file}.pi`);
  const manager = SessionManager.open(`${file}.pi`);
  for (let selected = 0; selected < count; selected++) {
    const request = { file, selected, columns: 300, rows: 24, filter: rng.pick(FILTERS), keys: ["ctrl+u", "text:zz", "backspace", "ctrl+o"] };
    equal(await offshoot(request), pis(manager, request), 150, JSON.stringify(request));
  }
});

test("deep branches are moved so that the selected text is seen", async () => {
  const rng = new Rng(`${SEED} narrow`);
  for (let tree = 0; tree < sampled(20); tree++) {
    const lines = [{ type: "session", version: 3, id: "deep", timestamp: time(0), cwd: "/w" }];
    // A chain with a stub at every step moves in by a level or two each time.
    for (let at = 0; at < 30; at++) {
      const parentId = at ? `m${at - 1}` : null;
      lines.push({ id: `m${at}`, parentId, timestamp: time(2 * at + 1), ...message({ role: "user", content: `main ${at} ${"w".repeat(rng.int(0, 30))}` }) });
      if (rng.int(0, 2)) lines.push({ id: `s${at}`, parentId, timestamp: time(2 * at + 2), ...message({ role: "user", content: `stub ${at}` }) });
    }
    const file = path.join(folder, `deep-${tree}.jsonl`);
    fs.writeFileSync(file, `${lines.map((line) => JSON.stringify(line)).join("\n")}\n`);
    fs.copyFileSync(file, `${file}.pi`);
    const manager = SessionManager.open(`${file}.pi`);
    const keys = Array.from({ length: 40 }, () => rng.pick(["up", "down", "left", "right", "ctrl+left", "ctrl+right"]));
    const request = { file, columns: rng.pick([24, 40, 80]), rows: 24, keys };
    const [ours, theirs] = [await offshoot(request), pis(manager, request)];
    // The row of the leaf gives its end to the mark.
    ours.forEach((rows, picture) => rows.forEach((row, at) => {
      const [left, right] = [row, theirs[picture][at]].map((side) => side.replace(/\x1b\[[0-9;]*m/g, ""));
      const shown = left.replace(/ ← here(, \d+ below)?$/, "").replace(/…$/, "").trimEnd();
      const what = `tree ${tree}, after ${picture} keys, row ${at}: ${JSON.stringify(request)}`;
      if (shown !== left.trimEnd()) assert.ok(right.startsWith(shown), `${what}\n${left}\n${right}`);
      else assert.equal(shown, right.trimEnd(), what);
    }));
  }
});

// Offshoot shows the message in a provider's error, pi the JSON around it.
const inWords = (line) => {
  const said = line.includes('"errorMessage":') && JSON.parse(line);
  const [, status, body] = (said && said.message?.errorMessage?.match(/^([^{]*)(\{.*\})\s*$/s)) || [];
  if (!body) return line;
  said.message.errorMessage = status + JSON.parse(body).error.message;
  return JSON.stringify(said);
};

// Where the two mean different things by the same bytes; their layout has nothing in it that other files have not.
const ODD = /characters|repeated-keys/;

test("the corpus", async () => {
  const dir = path.join(folder, "corpus");
  const manifest = await writeCorpus(dir, { seed: SEED });
  const [failures, refused] = [[], new Set()];
  let files = 0;
  for (const { file, set, dialect } of manifest) {
    if (set === "odd" || dialect !== "pi" || ODD.test(file)) continue;
    const name = path.join(dir, file);
    fs.writeFileSync(`${name}.pi`, fs.readFileSync(name, "utf8").split("\n").map(inWords).join("\n"));
    const manager = SessionManager.open(`${name}.pi`);
    const ids = manager.getEntries().map(({ id }) => id);
    // Of an id that is there twice, pi draws the last entry in both places.
    if (new Set(ids).size < ids.length) continue;
    files += 1;
    for (const filter of FILTERS) {
      const request = { file: name, columns: 300, rows: 400, filter, keys: ["ctrl+left", "up", "ctrl+left", "ctrl+right"] };
      const ours = await offshoot(request);
      let theirs;
      try {
        theirs = pis(manager, request);
      } catch {
        refused.add(file); // a body that pi's component cannot draw
        continue;
      }
      try {
        equal(ours, theirs, 150, `${file} ${filter}`);
      } catch (error) {
        failures.push(error.message);
      }
    }
  }
  console.log(`${files} files of the corpus; pi could not draw ${[...refused].join(", ") || "none of them less"}`);
  assert.ok(files > 50, `${files} files`);
  assert.ok(refused.size < 3, [...refused].join());
  assert.ok(failures.length === 0, `${failures.length} differences\n${failures.slice(0, 5).join("\n")}`);
});
