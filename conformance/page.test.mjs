// Pages in a browser's document: what they show is what the commands show, and what a person presses does what it says.
// In jsdom; `page-browser.test.mjs` opens pages in a real browser.
//   OFFSHOOT_BIN=../target/release/offshoot node --test page.test.mjs
import assert from "node:assert/strict";
import * as fs from "node:fs";
import * as path from "node:path";
import { after, test } from "node:test";
import { inflateRawSync } from "node:zlib";
import { ompFiles } from "./corpus/hand-omp.mjs";
import { piFiles } from "./corpus/hand-pi.mjs";
import { oddFiles } from "./corpus/odd.mjs";
import { randomFiles } from "./corpus/random.mjs";
import { ALL } from "./lib/sample.mjs";
import { REPOSITORY } from "./lib/places.mjs";
import { documentOf, settled } from "./robustness/pages.mjs";
import { exported, forget, offshoot } from "./page/export.mjs";

after(forget);

const FILTERS = ["default", "no-tools", "user-only", "labeled-only", "all"];
const SAMPLE = path.join(REPOSITORY, "examples/sample-session.jsonl");
async function opened(body, ...words) {
  const files = exported(body, ...words);
  const page = await documentOf(fs.readFileSync(files.page, "utf8"));
  assert.deepEqual(page.errors, []);
  const [pressed, moved] = [(key) => page.document.dispatchEvent(new page.dom.window.KeyboardEvent("keydown", { key, bubbles: true })), () => settled(page.document)];
  return { ...files, ...page, pressed, moved, $: (selector) => page.document.querySelector(selector), all: (selector) => Array.from(page.document.querySelectorAll(selector)) };
}

/** The page of a session, or nothing if the session has no entries: then no page is made, and the error says so. */
const openedIfAny = (body) =>
  opened(body).catch((error) => {
    if (!/the session is empty/.test(error.stderr)) throw error;
  });

/** Every row of the tree, whatever fits on the screen: as `tree` prints it, without the cursor. */
function rowsOf({ document, dom, $ }) {
  const rows = new Map();
  const count = Number($("#status").textContent.split(" ")[0].replaceAll(",", ""));
  for (let from = 0; from === 0 || from < count; from += 45) {
    $("#rows").scrollTop = from * 24;
    $("#rows").dispatchEvent(new dom.window.Event("scroll"));
    for (const row of document.querySelectorAll(".row")) {
      const part = (name) => row.querySelector(`.${name}`)?.textContent ?? "";
      const label = row.querySelector(".label") ? `[${part("label")}] ` : "";
      const said = part("lines") + part("dot").trim().replace("•", "• ") + part("mark-of") + label + part("text") + part("about");
      rows.set(Number.parseInt(row.style.top, 10), withoutAge(said));
    }
  }
  return [...rows].sort(([a], [b]) => a - b).map(([, row]) => row);
}

/** Between two looks at a clock an age may change. */
const withoutAge = (row) => row.replace(/(now|\d+ (?:min|h|d) ago)(?= ·|$)/, "AGE").replace(/ +$/, "");

/** The rows that the command prints, without ids, cursor and last line. */
function treeOf(file, filter, ...more) {
  const lines = offshoot("tree", file, "--filter", filter, ...more).split("\n").slice(0, -2);
  const cursor = Math.min(...lines.map((line) => line.indexOf("› ")).filter((at) => at >= 0));
  return lines.map((line) => withoutAge(line.slice(cursor + 2)));
}

/** The bytes that the download gives. */
function downloadOf({ document }) {
  const bytes = (block) => (block.dataset.p === undefined ? inflateRawSync(Buffer.from(block.textContent, "base64")) : Buffer.from(block.textContent));
  return Buffer.concat(Array.from(document.querySelectorAll("script.s"), bytes));
}

/** A branch of which a part was merged, one that was merged whole, and one that was not. */
function mergedFile() {
  const user = (id, parentId) => ({ type: "message", id, parentId, message: { role: "user", content: id } });
  const merge = (tip, id, parentId) => ({ type: "branch_summary", id, parentId, fromId: parentId, summary: "tried", details: { merged: { base: "top", tip } } });
  const entries = [user("top", null), user("part1", "top"), user("part2", "part1"), user("whole1", "top"), user("whole2", "whole1"), user("none1", "top"), user("none2", "none1"), user("here", "top"), merge("part1", "m1", "here"), merge("whole2", "m2", "m1")];
  const lines = [{ type: "session", version: 3, id: "merged", cwd: "/w" }, ...entries].map((line) => ({ ...line, timestamp: "2026-01-01T00:00:00.000Z" }));
  return { name: "merged", body: `${lines.map((line) => JSON.stringify(line)).join("\n")}\n` };
}

// Of the odd ones without those of 150,000 entries: jsdom takes minutes for them.
const corpus = [...piFiles(), ...ompFiles(), ...randomFiles("page").filter((_, at) => at % 5 === 0), ...oddFiles(), mergedFile()].filter(({ refused, body }) => !refused && body.length < 2 << 20);

test(`the tree at the side is that of the command, under every filter, folded and open: ${corpus.length} files`, async () => {
  let rows = 0;
  for (const [at, { name, body }] of corpus.entries()) {
    const page = await openedIfAny(body);
    if (!page) continue;
    // A sample tries one filter on each folded tree, and every filter on some.
    const folded = ALL ? FILTERS : [FILTERS[at % FILTERS.length]];
    // What fits the screen is open at first: opened and folded, all is folded.
    page.$("#open").click();
    // Of thousands of rows two views are enough: jsdom takes seconds for each.
    const isLong = body.length > 300_000;
    for (const [filters, ...more] of isLong ? [[["all"], "--open"], [["default"]]] : [[["all", "default"], "--open"], [folded]]) {
      for (const filter of filters) {
        page.$(`[data-filter="${filter}"]`).click();
        const expected = treeOf(page.file, filter, ...more);
        const shown = rowsOf(page);
        assert.deepEqual(shown, expected, `${name}, ${filter} ${more}`);
        rows += shown.length;
      }
      page.$("#open").click();
    }
    page.close();
  }
  assert.ok(rows > 5000, `${rows} rows`);
});

test("the download is what the other export writes", async () => {
  let same = 0;
  for (const { name, body, set } of corpus) {
    if (set === "odd") continue;
    const page = await openedIfAny(body);
    if (!page) continue;
    const other = `${page.file}.copy.jsonl`;
    offshoot("export", page.file, "-o", other);
    // Of an old version the page carries the upgraded entries; a title slot was not in that version.
    const expected = fs.readFileSync(other, "utf8").replace(name.startsWith("v1") ? /^\{"type":"title".*\n/ : /^$/, "");
    assert.equal(downloadOf(page).toString(), expected, name);
    same += 1;
    page.close();
  }
  assert.ok(same > 20, `${same} files`);
});

test("a row shows its branch up to the newest entry, a link leads there, Escape goes back", async () => {
  const page = await opened(fs.readFileSync(SAMPLE));
  // What is said, without the ways to other branches.
  const words = () => page.all("#talk article").map((turn) => turn.textContent).join("\n");
  const at = (words) => page.all(".row").find((row) => row.textContent.includes(words));
  assert.match(words(), /The standard library has it/);
  assert.doesNotMatch(words(), /A dependency or 40 lines/);

  assert.equal(page.$("#reset").hidden, true);
  at("I will count matches").click();
  await page.moved();
  assert.equal(page.$("#reset").hidden, false, "on another branch a button leads back");
  assert.match(words(), /A dependency or 40 lines/, "the whole other branch");
  assert.doesNotMatch(words(), /The standard library has it/);
  assert.match(page.$("#where").textContent, /another branch/);
  assert.match(page.$(".lit").textContent, /I will count matches/);
  assert.equal(page.all(".row.active").length, 1);
  assert.match(page.$(".row.active").textContent, /I will count matches/);

  const drawn = page.$("#talk").firstChild;
  page.all("#talk .copy").findLast((button) => button.textContent === "Link").click();
  assert.match(page.dom.window.location.hash, /^#leafId=\w+&targetId=\w+$/);
  assert.equal(page.$("#talk").firstChild, drawn, "copying a link draws nothing again");

  page.$("#reset").click();
  await page.moved();
  assert.match(words(), /The standard library has it/);
  assert.doesNotMatch(page.$("#where").textContent, /another branch/);
  page.dom.window.history.back();
  await new Promise((resolve) => page.dom.window.addEventListener("popstate", () => setImmediate(resolve), { once: true }));
  await page.moved();
  assert.match(words(), /A dependency or 40 lines/, "back leads to the place before");
  page.pressed("Escape");
  await page.moved();
  assert.match(words(), /The standard library has it/);

  const other = JSON.parse(fs.readFileSync(SAMPLE, "utf8").split("\n").find((line) => line.includes("A dependency or 40 lines"))).id;
  page.dom.window.location.hash = `#leafId=${other}&targetId=${other}`;
  await new Promise((resolve) => page.dom.window.addEventListener("hashchange", () => setImmediate(resolve), { once: true }));
  await page.moved();
  assert.match(words(), /A dependency or 40 lines/);
  page.dom.window.location.hash = "#targetId=nowhere";
  await new Promise((resolve) => page.dom.window.addEventListener("hashchange", () => setImmediate(resolve), { once: true }));
  assert.match(page.$("#said").textContent, /no entry nowhere/);
  page.close();
});

test("what is typed filters rows by every word; thinking and output fold", async () => {
  const page = await opened(fs.readFileSync(SAMPLE));
  const type = (words) => {
    page.$("#search").value = words;
    page.$("#search").dispatchEvent(new page.dom.window.Event("input"));
  };
  type("assistant BLANKS");
  assert.ok(page.all(".row").length > 0 && page.all(".row").every((row) => /assistant.*blanks/i.test(row.textContent)));
  assert.match(page.$("#status").textContent, new RegExp(`^${page.all(".row").length} / 28 entries$`));
  type("before the fix");
  assert.equal(page.all(".row").length, 1, "labels are searched");
  type("no such words");
  assert.equal(page.all(".row").length, 0);
  type("");

  assert.ok(page.all("details.thinking").length > 0 && page.all("details.thinking").every((box) => !box.open));
  page.$("#thinking").click();
  assert.ok(page.all("details.thinking").every((box) => box.open));
  page.pressed("o");
  assert.ok(page.all(".result details.long").length > 0 && page.all(".result details.long").every((box) => box.open));
  assert.equal(page.$("#output").getAttribute("aria-pressed"), "true");
  page.close();
});

const HEADER = { type: "session", version: 3, id: "s", timestamp: "2026-01-01T00:00:00.000Z", cwd: "/usr" };
const lines = (entries) => [HEADER, ...entries].map((line) => `${JSON.stringify(line)}\n`).join("");
const entry = (id, parentId, more) => ({ id, parentId, timestamp: "2026-01-01T00:00:01.000Z", ...more });
const said = (id, parentId, role, content, more = {}) => entry(id, parentId, { type: "message", message: { role, content, ...more } });

test("results stand in the calls that they answer, pictures are shown, cleared labels are not", async () => {
  const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
  const given = { find: { pattern: "*.rs", path: "src", limit: 7 }, grep: { pattern: "x", path: "src", glob: "*.rs", literal: true }, ls: { path: "src", limit: 9 }, bash: { command: "make", timeout: 60 }, other: { a: { b: 1 } } };
  const more = Object.entries(given).map(([name, arguments_]) => ({ type: "toolCall", id: name, name, arguments: arguments_ }));
  const page = await opened(
    lines([
      said("a", null, "user", [{ type: "text", text: "# Title\n\nsee [this](https://example.com/x) and [that](javascript:x)" }, { type: "image", mimeType: "image/png", data: pixel }]),
      said("b", "a", "assistant", [{ type: "toolCall", id: "c1", name: "read", arguments: { path: "src/x.rs", offset: 5, limit: 10 } }, { type: "toolCall", id: "c2", name: "edit", arguments: { path: "y" } }, ...more], { stopReason: "toolUse" }),
      said("c", "b", "toolResult", [{ type: "text", text: "fn main() {}" }], { toolCallId: "c1", toolName: "read" }),
      said("d", "c", "toolResult", [{ type: "text", text: "ok" }], { toolCallId: "c2", toolName: "edit", details: { diff: "-old\n+new" } }),
      said("e", "d", "assistant", [], { stopReason: "error", errorMessage: "overloaded" }),
      entry("f", "e", { type: "compaction", summary: "a **summary**", tokensBefore: 91400, firstKeptEntryId: "e" }),
      entry("g", "f", { type: "label", targetId: "a", label: "kept" }),
      entry("h", "g", { type: "label", targetId: "b", label: "gone" }),
      entry("i", "h", { type: "label", targetId: "b" }),
      entry("j", "i", { type: "custom_message", customType: "gate", content: "hidden words", display: false }),
    ]),
  );
  const [read, edit] = page.all(".call");
  const shown = new Map(page.all(".call").map((call) => [call.querySelector("b").textContent, call.textContent]));
  for (const [name, words] of [["find", /\*\.rs in src.*limit: 7/s], ["grep", /\/x\/ in src.*glob: \*\.rs.*literal: true/s], ["ls", /src.*limit: 9/s], ["bash", /\$ make.*timeout: 60/s], ["other", /a: \{.*"b": 1/s]]) assert.match(shown.get(name), words);
  assert.match(read.textContent, /src\/x\.rs:5-14.*fn main\(\) \{\}/s);
  assert.equal(edit.querySelector(".added").textContent.trim(), "+new");
  assert.equal(page.$("#talk img").src, `data:image/png;base64,${pixel}`);
  assert.equal(page.$("#talk h1").textContent, "Title");
  assert.deepEqual(page.all("#talk a").map((link) => [link.href, link.rel]), [["https://example.com/x", "noopener noreferrer nofollow"]]);
  assert.match(page.$("#talk").textContent, /that \(javascript:x\)/, "what leads nowhere is said");
  assert.match(page.$("#talk").textContent, /error: overloaded/);
  assert.match(page.$("#talk .mark").textContent, /Compaction 91,400 tokens summarised.*summary/s);
  assert.doesNotMatch(page.$("#talk").textContent, /hidden words/);
  assert.deepEqual(page.all("#talk .label").map((label) => label.textContent), ["kept"]);
  page.close();
});

test("a call that was not run because of its arguments says so, on the page and in the transcript", async () => {
  const error = 'EOF while parsing a string at character 9\n\nThe text that came:\n{"comm';
  const calls = ["bash", "write", "edit", "other"].map((name) => ({ type: "toolCall", id: name, name, arguments: {}, argumentsError: error }));
  const session = lines([said("a", null, "user", [{ type: "text", text: "go" }]), said("b", "a", "assistant", calls, { stopReason: "toolUse" })]);
  const page = await opened(session);
  const words = "not run: its arguments cannot be read: EOF while parsing a string at character 9";
  assert.deepEqual(page.all("#talk .call").map((call) => call.textContent.trim()), calls.map(({ name }) => `${name} ${words}`));
  for (const { name } of calls) assert.ok(offshoot("show", page.file).includes(`${name}: ${words}`), name);
  page.close();
});

test("a long conversation is drawn a stretch at a time, and any entry can be reached", async () => {
  const count = 1500;
  const page = await opened(lines(Array.from({ length: count }, (_, i) => said(`m${i}`, i ? `m${i - 1}` : null, i % 2 ? "assistant" : "user", `words ${i}`, i % 2 ? { usage: { cost: { total: 4 } } } : {}))));
  assert.match(page.$("#story").textContent, /Asked 750 requests.*Cost \$3,000\.00this branch \$3,000\.00/s);
  assert.match(page.$("#facts").textContent, /1,500 entries.*\$3,000\.00/s);
  assert.equal(page.$("#status").textContent, "1,500 / 1,500 entries");
  const turns = () => page.all("#talk article").map((turn) => turn.textContent.match(/words (\d+)/)[1]);
  assert.deepEqual([turns().at(0), turns().at(-1)], ["0", "199"]);
  page.$(".rest button").click();
  await page.moved();
  assert.deepEqual([turns().at(0), turns().at(-1)], ["0", "399"]);
  page.pressed("Escape");
  await page.moved();
  assert.deepEqual([turns().at(0), turns().at(-1)], ["1300", "1499"]);
  page.dom.window.location.hash = "#targetId=m700";
  await new Promise((resolve) => page.dom.window.addEventListener("hashchange", () => setImmediate(resolve), { once: true }));
  await page.moved();
  assert.deepEqual([turns().at(0), turns().at(-1)], ["600", "799"]);
  assert.match(page.$(".lit").textContent, /words 700/);
  page.close();
});

test("entries longer than a block, and text in every alphabet, arrive whole", async () => {
  const long = "größe 😀 日本 ".repeat(80_000);
  const page = await opened(lines([said("a", null, "user", `start ${long} end of the long one`), said("b", "a", "assistant", [{ type: "text", text: "ünd nüw 😀" }])]));
  assert.match(page.$("#talk").textContent, /start größe 😀 日本/);
  assert.match(page.$("#talk").textContent, /ünd nüw 😀/);
  assert.equal(JSON.parse(downloadOf(page).toString().split("\n")[1]).message.content, `start ${long} end of the long one`);
  page.close();
});

test("a path and a subtree are pages of their own", async () => {
  const [path_, below] = [await opened(fs.readFileSync(SAMPLE), "--at", "1b9d"), await opened(fs.readFileSync(SAMPLE), "--subtree", "dd37")];
  assert.deepEqual(rowsOf(path_), ['• user: wordcount says 4 for the text "one two three" (two blanks after one). Can you find out why?']);
  assert.equal(below.all("#talk article").length > 5, true);
  assert.match(below.$("#card .note").textContent, /dd3760b2 and what is below it: 13 of 28 entries/);
  path_.close();
  below.close();
});
