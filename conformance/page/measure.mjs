// Measures pages of offshoot, pi and oh-my-pi in one run, and prints or writes the table. Not for CI: it takes minutes and
// needs a quiet machine. GNU time (`/usr/bin/time`) and a Chromium are needed.
//   OFFSHOOT_BIN=../target/release/offshoot node page/measure.mjs [--write ../docs/page.md] [--rounds 3] SESSION…
import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { parseArgs } from "node:util";
import { pathToFileURL } from "node:url";
import { REPOSITORY, bunBinary, library, ompPackage, piPackage, sealedEnvironment, temporaryFolder } from "../lib/places.mjs";
import { richSession } from "./session.mjs";

const { values, positionals } = parseArgs({ options: { write: { type: "string" }, rounds: { type: "string", default: "3" }, only: { type: "string" } }, allowPositionals: true });
const folder = temporaryFolder("measure");
const SECONDS = 180;
const MEGABYTE = 1_000_000;

const rich = path.join(folder, "rich.jsonl");
fs.writeFileSync(rich, richSession().text);
const sessions = [path.join(REPOSITORY, "examples/sample-session.jsonl"), rich, ...positionals.map((file) => path.resolve(file))];

const programs = [
  { name: "offshoot", command: (from, to) => [path.resolve(process.env.OFFSHOOT_BIN ?? "OFFSHOOT_BIN is not set"), "--no-index", "export", from, "-o", to], shows: "#talk article", row: "#rows .row", search: "#search", found: "#hits" },
  { name: "pi", command: (from, to) => [process.execPath, path.join(fs.realpathSync(piPackage()), "dist/cli.js"), "--export", from, to], shows: "#messages > *", row: ".tree-node", search: "#tree-search", found: "#tree-status" },
  { name: "omp", command: (from, to) => [bunBinary(), path.join(fs.realpathSync(ompPackage()), "src/cli.ts"), "--export", from, to], shows: "#messages > *", row: ".tree-node", search: "#tree-search", found: "#tree-status" },
].filter(({ name }) => !values.only || values.only.split(",").includes(name));

const median = (numbers) => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)];

/** One export: seconds on the clock and of the processor, memory in MiB, bytes of the page; null if it fails. */
function exported({ command }, from) {
  const to = path.join(folder, "page.html");
  fs.rmSync(to, { force: true });
  const run = spawnSync("/usr/bin/time", ["-f", "\n%e %U %S %M", ...command(from, to)], { cwd: folder, encoding: "utf8", timeout: SECONDS * 1000, env: { ...process.env, ...sealedEnvironment(folder) }, maxBuffer: 1 << 26 });
  if (run.status !== 0 || !fs.existsSync(to)) return null;
  const [wall, user, system, memory] = run.stderr.trim().split("\n").at(-1).split(" ").map(Number);
  return { wall, processor: user + system, memory: memory / 1024, bytes: fs.statSync(to).size, page: to };
}

/** What a person waits for in the page, in milliseconds; null for what never comes. */
async function opened(browser, { shows, row, search, found }, page) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
  const tab = await context.newPage();
  const drawn = () => tab.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve, 0))));
  const times = { first: null, scroll: null, search: null, click: null };
  try {
    await tab.addInitScript((shows) => {
      const look = () => (document.querySelector(shows) ? (globalThis.shownAt = performance.now()) : setTimeout(look, 10));
      look();
    }, shows);
    await tab.goto(pathToFileURL(page).href, { timeout: 60_000, waitUntil: "commit" });
    await tab.waitForFunction(() => globalThis.shownAt, null, { timeout: 60_000, polling: 50 });
    times.first = await tab.evaluate(() => globalThis.shownAt);
    await drawn();
    times.scroll = await tab.evaluate(async () => {
      const inner = document.querySelector("#content");
      const box = inner && inner.scrollHeight > inner.clientHeight ? inner : document.scrollingElement;
      let longest = 0;
      for (let step = 0; step < 30; step++) {
        const begin = performance.now();
        box.scrollBy(0, 700);
        await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve, 0)));
        longest = Math.max(longest, performance.now() - begin);
      }
      return longest;
    });
    const rows = await tab.locator(row).count();
    if (rows > 1) {
      const begin = Date.now();
      await tab.locator(row).nth(Math.min(rows - 1, 12)).click({ timeout: 60_000 });
      await drawn();
      await tab.waitForFunction(() => document.querySelector("main").getAttribute("aria-busy") !== "true", null, { timeout: 60_000 });
      times.click = Date.now() - begin;
    }
    const begin = Date.now();
    await tab.locator(search).fill("cursor", { timeout: 60_000 });
    await drawn();
    await tab.waitForFunction((found) => !/%/.test(document.querySelector(found).textContent), found, { timeout: 60_000 });
    times.search = Date.now() - begin;
  } catch {
    // The table has what came.
  }
  await context.close();
  return times;
}

const playwright = await library("playwright-core");
const browser = await (playwright.chromium ?? playwright.default.chromium).launch({ executablePath: process.env.CHROMIUM_BIN ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
const lines = [];
/** Programs whose page of the first session showed nothing: what it waits for does not come for larger ones either. */
const silent = new Set();
const number = (value, digits = 0) => (value === null || value === undefined ? "–" : value.toFixed(digits));
for (const session of sessions) {
  for (const program of programs) {
    const size = fs.statSync(session).size;
    const rounds = size > 100 * MEGABYTE ? 1 : Number(values.rounds);
    const runs = [];
    for (let round = 0; round < rounds; round++) {
      const run = exported(program, session);
      if (!run) break;
      runs.push({ ...run, ...(silent.has(program.name) ? { first: null, scroll: null, search: null, click: null } : await opened(browser, program, run.page)) });
      if (runs.at(-1).first !== null) continue;
      if (session === sessions[0]) silent.add(program.name);
      break;
    }
    const of = (name) => {
      const known = runs.map((run) => run[name]).filter((value) => value !== null);
      return known.length > 0 ? median(known) : null;
    };
    const cells = [path.basename(session, ".jsonl"), (size / MEGABYTE).toFixed(size < MEGABYTE ? 2 : 0), program.name, number(of("wall"), 2), number(of("processor"), 2), number(of("memory")), number(of("bytes") === null ? null : of("bytes") / MEGABYTE, 2), ...["first", "scroll", "click", "search"].map((name) => number(of(name)))];
    lines.push(`| ${cells.join(" | ")} |`);
    console.error(lines.at(-1));
  }
}
await browser.close();
fs.rmSync(folder, { recursive: true, force: true });

const version = (folder) => JSON.parse(fs.readFileSync(path.join(folder, "package.json"), "utf8")).version;
const text = `# Pages, measured

Written by \`node conformance/page/measure.mjs --write docs/page.md\`; no figure is typed by hand. Each program exports a session with
its own command and a Chromium opens the page. Medians of ${values.rounds} rounds, and one round for a session of more than 100 MB. Seconds and
milliseconds change with the machine: compare the programs of one run. "–" is an export that failed or took more than ${SECONDS} s, or a page
that showed nothing within a minute. A program whose page of the first session shows nothing is not opened again: oh-my-pi's page fetches two
libraries from the network and shows nothing without it.

offshoot, pi ${version(piPackage())}, oh-my-pi ${version(ompPackage())}; ${os.cpus().length} cores; load ${os.loadavg()[1].toFixed(1)} during the run.

- **export**: seconds on the clock, of the processor, and peak memory in MiB. offshoot without its index.
- **first**: from the address to the first entry that is shown. **scroll**: the longest of 30 steps of 700 px.
- **click**: a row of the tree until its entry is drawn. **search**: a word until all matches are known: offshoot searches the whole
  text, pi and oh-my-pi the rows of the tree.

| session | MB | program | export s | CPU s | MiB | page MB | first ms | scroll ms | click ms | search ms |
|---|--:|---|--:|--:|--:|--:|--:|--:|--:|--:|
${lines.join("\n")}
`;
if (values.write) fs.writeFileSync(path.resolve(values.write), text);
else console.log(text);
