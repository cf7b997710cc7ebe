// The selectors of sessions of pi and of offshoot on the same sessions: the same rows in the same order, whatever the sort
// and the filter. Colours are left out, and so are the lines around the rows. A search differs on purpose: what was said
// is found as it is typed (as in pi 1.5), not by letters that lie scattered in it, and a row shows what was found.
//   OFFSHOOT_SESSIONS_BIN=../target/tests/examples/sessions node --test sessions.test.mjs
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
async function theirs({ sessions, sort, named }) {
  const load = async () => sessions.map((session) => ({ ...session, modified: new Date(session.modified) }));
  const selector = new SessionSelectorComponent(load, load, () => {}, () => {}, () => {}, () => {}, {});
  await new Promise((resolve) => setImmediate(resolve));
  const list = selector.getSessionList();
  list.maxVisible = sessions.length + 1;
  // What the keys would do: the program around the selector tells it which keys those are.
  for (let i = 0; i < sort; i++) selector.toggleSortMode();
  if (named) selector.toggleNameFilter();
  // The line that is typed and a blank one stand above the rows.
  const lines = list.render(80).slice(2).map(plain);
  return lines.length === 1 && /^ {2}No /.test(lines[0]) ? [] : lines;
}

const says = (rows) => (rows.length === 1 && /nothing|none|no pattern|there is no|no sessions|no named session fits/.test(rows[0]) ? [] : rows);

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

const QUERIES = ["parser", "par tes", '"node cve"', '"Node   CVE" the', '"open', '"src/main', "re:pars.r", "re:^0198", "re:(", "re:",
  "gpt5", "5gpt", "naïve", "日", "😀", "zzzz", "proj", "tbl", "NODE", "re:CVE|why", '"the" "table"', "a-b", "01980003", "prsr"];

/** Whether a session fits a search: each word or phrase as it is typed anywhere, a word also fuzzily in name and folder. */
function fits({ id, name = "", cwd, allMessagesText }, query) {
  const places = [id, name, cwd, allMessagesText];
  if (query.startsWith("re:")) {
    try {
      const pattern = query.slice(3).trim();
      return pattern !== "" && places.some((place) => new RegExp(pattern, "i").test(place));
    } catch {
      return false;
    }
  }
  const even = (text) => text.toLowerCase().replace(/\s+/g, " ").trim();
  const isExact = (what) => places.some((place) => even(place).includes(what));
  const inOrder = (word, place) => [...place].reduce((at, letter) => (letter === word[at] ? at + 1 : at), 0) === word.length;
  const swapped = (word) => word.replace(/^(\d+)([a-z]+)$|^([a-z]+)(\d+)$/, "$2$1$4$3");
  const isFuzzy = (word) => [name, cwd].some((place) => [word, swapped(word)].some((one) => inOrder(one, even(place))));
  return query.split('"').every((piece, number) =>
    number % 2 === 1 ? isExact(even(piece)) : even(piece).split(" ").every((word) => word === "" || isExact(word) || isFuzzy(word)));
}

test("rows and their order are the same", async () => {
  let rows = 0;
  for (let round = 0; round < sampled(60); round++) {
    const now = Date.now();
    const sessions = [];
    for (let i = 0, count = rng.int(0, 25); i < count; i++) sessions.push(randomSession(i, sessions, now));
    sessions.sort((a, b) => b.modified - a.modified);
    const world = { sessions, query: "", sort: rng.int(0, 2), named: rng.int(0, 3) === 0, now };
    const expected = await theirs(world);
    const what = `${SORTS[world.sort]}, ${world.named ? "named" : "all"}, round ${round}`;
    assert.deepEqual(says(await offshoot(world)), expected, what);
    rows += expected.length;
    for (const query of round % 3 === 0 ? QUERIES : [rng.pick(QUERIES)]) {
      const found = says(await offshoot({ ...world, query }));
      const count = sessions.filter((session) => (!world.named || session.name) && fits(session, query)).length;
      assert.equal(found.length, count, `${JSON.stringify(query)}, ${what}: ${found.join("\n")}`);
    }
  }
  assert.ok(rows > sampled(400), `${rows} rows`);
});
