// The selectors of sessions of pi and of offshoot on the same sessions: the same rows in the same order, whatever the sort,
// the filter and the search. Colours are left out, and so are the lines around the rows.
//   OFFSHOOT_SESSIONS_BIN=../target/debug/examples/sessions node --test sessions.test.mjs
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { createInterface } from "node:readline";
import { after, test } from "node:test";
import { pathToFileURL } from "node:url";
import { piPackage, temporaryFolder } from "./lib/places.mjs";
import { Rng } from "./lib/rng.mjs";
import { sampled } from "./lib/sample.mjs";

const program = process.env.OFFSHOOT_SESSIONS_BIN;
if (!program) throw new Error("set OFFSHOOT_SESSIONS_BIN to the example `sessions` of offshoot-tui");
const folder = temporaryFolder("sessions");
process.env.PI_CODING_AGENT_DIR = folder;
const pi = (file) => import(pathToFileURL(path.join(piPackage(), "dist/modes/interactive", file)).href);
const { SessionSelectorComponent } = await pi("components/session-selector.js");
const { filterAndSortSessions, parseSearchQuery } = await pi("components/session-selector-search.js");
const { initTheme } = await pi("theme/theme.js");
initTheme("dark");

const child = spawn(program, [], { stdio: ["pipe", "pipe", "inherit"] });
const waiting = [];
createInterface({ input: child.stdout }).on("line", (line) => waiting.shift().resolve(JSON.parse(line)));
child.on("close", () => waiting.splice(0).forEach(({ reject }) => reject(new Error("the example has ended"))));
const offshoot = (world) =>
  new Promise((resolve, reject) => {
    waiting.push({ resolve, reject });
    child.stdin.write(`${JSON.stringify(world)}\n`);
  });
after(() => {
  child.stdin.end();
  fs.rmSync(folder, { recursive: true, force: true });
});

const SORTS = ["threaded", "recent", "relevance"];
const MINUTE = 60_000;
const rng = new Rng(process.env.CONFORMANCE_SEED ?? "sessions");
const plain = (line) => line.replace(/\x1b\[[0-9;]*m/g, "").trimEnd();

/** The rows that pi's selector draws, all of them. */
async function theirs({ sessions, query, sort, named }) {
  const load = async () => sessions.map((session) => ({ ...session, modified: new Date(session.modified) }));
  const selector = new SessionSelectorComponent(load, load, () => {}, () => {}, () => {}, () => {}, {});
  await new Promise((resolve) => setImmediate(resolve));
  const list = selector.getSessionList();
  list.maxVisible = sessions.length + 1;
  // What the keys would do: the program around the selector tells it which keys those are.
  for (let i = 0; i < sort; i++) selector.toggleSortMode();
  if (named) selector.toggleNameFilter();
  for (const letter of query) selector.handleInput(letter);
  // The line that is typed and a blank one stand above the rows.
  const lines = list.render(80).slice(2).map(plain);
  return lines.length === 1 && /^ {2}No /.test(lines[0]) ? [] : lines;
}

const says = (rows) => (rows.length === 1 && /nothing|none|no pattern|there is no|no sessions/.test(rows[0]) ? [] : rows);

function randomSession(number, all, now) {
  const words = ["parser", "tests", "why", "Node", "CVE", "naïve", "日本語", "gpt5", "src/main.rs", "😀", "the", "table"];
  const said = () => Array.from({ length: rng.int(1, 8) }, () => rng.pick(words)).join(rng.pick([" ", "  ", "\n"]));
  const first = said().replace(/\s+/g, " ");
  const parent = all.length > 0 && rng.int(0, 2) > 0 ? rng.pick(all).path : undefined;
  return {
    path: `/none/sessions/s${number}.jsonl`,
    id: `0198${number.toString(16).padStart(4, "0")}`,
    cwd: rng.pick(["/none/a", "/none/proj-b"]),
    ...(rng.int(0, 2) === 0 ? { name: said().replace(/\s+/g, " ") } : {}),
    ...(parent ? { parentSessionPath: parent } : {}),
    modified: now - (rng.int(0, 500_000) * MINUTE + MINUTE / 2) - number,
    messageCount: rng.int(0, 300),
    firstMessage: first,
    allMessagesText: [first, said(), said()].join(" "),
  };
}

// Not among them: `""`, which pi takes for a search that everything fits, and offshoot for none.
const QUERIES = ["", "parser", "par tes", '"node cve"', '"Node   CVE" the', '"open', "re:pars.r", "re:^0198", "re:(", "re:", "gpt5",
  "5gpt", "naïve", "日", "😀", "zzzz", "proj", "tbl", "NODE", "re:CVE|why", '"the" "table"', "a-b", "01980003"];

test("rows and their order are the same", async () => {
  let rows = 0;
  for (let round = 0; round < sampled(60); round++) {
    const now = Date.now();
    const sessions = [];
    for (let i = 0, count = rng.int(0, 25); i < count; i++) sessions.push(randomSession(i, sessions, now));
    sessions.sort((a, b) => b.modified - a.modified);
    for (const query of round % 3 === 0 ? QUERIES : [rng.pick(QUERIES), ""]) {
      const world = { sessions, query, sort: rng.int(0, 2), named: rng.int(0, 3) === 0, now };
      const expected = await theirs(world);
      const what = `${SORTS[world.sort]}, ${world.named ? "named" : "all"}, ${JSON.stringify(query)}, round ${round}`;
      assert.deepEqual(says(await offshoot(world)), expected, what);
      rows += expected.length;
    }
  }
  assert.ok(rows > sampled(2000), `${rows} rows`);
});

test("the vectors stand on pi's own search", () => {
  const one = { ...randomSession(1, [], Date.now()), allMessagesText: "see node\n cve", modified: new Date() };
  assert.equal(filterAndSortSessions([one], '"node cve"', "relevance").length, 1);
  assert.equal(parseSearchQuery("re:(").regex, null);
  assert.deepEqual(parseSearchQuery('a "b c').tokens.map(({ value }) => value), ["a", '"b', "c"]);
});
