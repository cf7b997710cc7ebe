// The calls of `faces/calls.json`, in the dialects of pi, oh-my-pi and Claude Code: every face shows the same tool, subject, files and
// change of each. The terminal's faces read the same table in `app/tests/faces.rs`, the questions of RPC in `rpc/questions.rs`.
//
//   OFFSHOOT_BIN=… node --test calls.test.mjs

import assert from "node:assert/strict";
import * as fs from "node:fs";
import { after, test } from "node:test";
import { exported, forget, offshoot } from "./page/export.mjs";
import { documentOf, settled } from "./robustness/pages.mjs";

after(forget);

/** The tool, what it was given, the subject, the files (`*`: changed), a line that the change removes, and
 * how the page lists the arguments of a tool that it does not know. */
const CALLS = JSON.parse(fs.readFileSync(new URL("faces/calls.json", import.meta.url), "utf8"));

const entry = (id, parentId, message) => ({ type: "message", id, parentId, timestamp: "2026-11-01T00:00:00.000Z", message });

function session() {
  const lines = [{ type: "session", version: 3, id: "11111111-1111-4111-8111-111111111111", timestamp: "2026-11-01T00:00:00.000Z", cwd: "/w" }, entry("aaaaaaaa", null, { role: "user", content: "go", timestamp: 1 })];
  let parent = "aaaaaaaa";
  CALLS.forEach(({ name, given }, at) => {
    const id = (kind) => `${kind}${at.toString(16).padStart(7, "0")}`;
    lines.push(entry(id("b"), parent, { role: "assistant", content: [{ type: "text", text: `${at}.` }, { type: "toolCall", id: `c${at}`, name, arguments: given }], provider: "p", model: "m", api: "a", stopReason: "toolUse", timestamp: 2 }));
    lines.push(entry(id("c"), id("b"), { role: "toolResult", toolCallId: `c${at}`, toolName: name, content: [{ type: "text", text: "ok" }], isError: false, timestamp: 3 }));
    parent = id("c");
  });
  return `${lines.map((line) => JSON.stringify(line)).join("\n")}\n`;
}

/** What each file is used for, once for every call that names it. */
function uses() {
  const files = new Map();
  for (const file of CALLS.flatMap(({ files }) => files)) {
    const [name, isChange] = [file.replace(/\*$/, ""), file.endsWith("*")];
    const use = files.get(name) ?? { reads: 0, changes: 0 };
    files.set(name, { reads: use.reads + !isChange, changes: use.changes + isChange });
  }
  return files;
}

test("30 calls look alike in every face", async () => {
  const { file, page: html } = exported(session());
  const page = await documentOf(fs.readFileSync(html, "utf8"));
  assert.deepEqual(page.errors, []);
  const boxes = Array.from(page.document.querySelectorAll("#talk .call"), (box) => ({ text: box.textContent.replace(/\s+/g, " ").trim(), removed: Array.from(box.querySelectorAll(".removed"), (row) => row.textContent) }));
  assert.equal(boxes.length, CALLS.length);
  const faces = Object.fromEntries(["tree", "show", "log", "context"].map((face) => [face, offshoot(face, file)]));
  faces.markdown = offshoot("export", file, "--format", "md", "-o", "-");
  const wrong = [];
  CALLS.forEach(({ name, given, subject, removed, onPage }, at) => {
    for (const [face, shown] of Object.entries(faces)) {
      const words = face === "tree" ? `[${name}: ${subject}]` : `${name}: ${subject}`;
      if (!shown.includes(words)) wrong.push(`${face} does not say ${words} of ${JSON.stringify(given)}`);
    }
    const isRun = name.toLowerCase() === "bash";
    const words = `${name} ${isRun ? "$ " : ""}${onPage ?? subject}`;
    if (!boxes[at].text.startsWith(words)) wrong.push(`the page says ${JSON.stringify(boxes[at].text.slice(0, 80))}, not ${words}`);
    if (removed && !boxes[at].removed.some((row) => row.includes(removed))) wrong.push(`the page shows no change of ${JSON.stringify(given)}`);
  });
  assert.deepEqual(wrong, []);
});

test("30 calls read and change the same files in every face", async () => {
  const [header, question, ...lines] = session().trimEnd().split("\n");
  const other = JSON.stringify(entry("dddddddd", "aaaaaaaa", { role: "user", content: "another way", timestamp: 4 }));
  const { file, page: html } = exported(`${[header, question, other, ...lines].join("\n")}\n`);
  const wanted = Object.fromEntries(uses());
  const [side] = JSON.parse(offshoot("compare", file, JSON.parse(lines.at(-1)).id, "dddddddd", "--json")).sides;
  assert.deepEqual(Object.fromEntries(side.files.map(({ path, reads, changes }) => [path, { reads, changes }])), wanted, "compare");
  const page = await documentOf(fs.readFileSync(html, "utf8"));
  const card = page.document.querySelector(".chapter.files");
  card.open = true;
  card.dispatchEvent(new page.dom.window.Event("toggle"));
  await settled(page.document);
  card.querySelector("button.more").click();
  const shown = Array.from(card.querySelectorAll(".file .way"), (row) => row.textContent);
  const used = ([name, { changes }]) => `${name.replace("\u202e", "\\u{202e}")}changed ${changes}×`;
  const changed = Object.entries(wanted).filter(([, { changes }]) => changes > 0);
  assert.deepEqual(shown.map(one => one.replace(/, read.*/, "")).sort(), changed.map(used).sort(), "the page's card of files");
});

const ENTRIES = JSON.parse(fs.readFileSync(new URL("faces/entries.json", import.meta.url), "utf8"));

test("what an entry says has the same words in every face; the tree has pi's", async () => {
  for (const { entry: written, words, tree } of ENTRIES) {
    const [header, question] = session().trimEnd().split("\n");
    const told = { id: "bbbbbbbb", parentId: "aaaaaaaa", timestamp: "2026-11-01T00:00:01.000Z", ...written };
    const { file, page: html } = exported(`${[header, question, JSON.stringify(told)].join("\n")}\n`);
    const page = await documentOf(fs.readFileSync(html, "utf8"));
    const faces = { show: offshoot("show", file), log: offshoot("log", file), markdown: offshoot("export", file, "--format", "md", "-o", "-"), page: page.document.querySelector("#talk").textContent };
    if (written.type === "message") faces.context = offshoot("context", file);
    for (const [face, shown] of Object.entries(faces)) for (const said of words) assert.ok(shown.replace(/\s+/g, " ").includes(said), `${face} does not say ${said} of ${JSON.stringify(written)}: ${shown}`);
    const rows = offshoot("tree", file, "--filter", "all");
    assert.ok(rows.includes(tree), `the tree does not say ${tree}: ${rows}`);
    page.close();
  }
});
