// Thirty calls in the dialects of pi, oh-my-pi and Claude Code: every face shows the same tool, subject and change of each.
//
//   OFFSHOOT_BIN=… node --test calls.test.mjs

import assert from "node:assert/strict";
import * as fs from "node:fs";
import { after, test } from "node:test";
import { exported, forget, offshoot } from "./page/export.mjs";
import { documentOf } from "./robustness/pages.mjs";

after(forget);

/** The tool, what it was given, the subject, and a line that the change removes. */
const CALLS = [
  ["read", { path: "src/a.rs" }, "src/a.rs"],
  ["read", { path: "a", offset: 5, limit: 10 }, "a:5-14"],
  ["Read", { file_path: "/w/a.rs", limit: 3 }, "/w/a.rs:1-3"],
  ["_read", { path: "a.rs:10-20" }, "a.rs:10-20"],
  ["write", { path: "a", content: "x\ny\n" }, "a"],
  ["write", { file_path: "b", content: "x" }, "b"],
  ["Write", { file_path: "c", content: "x" }, "c"],
  ["edit", { path: "d", edits: [{ oldText: "gone", newText: "c" }, { oldText: "d", newText: "e" }] }, "d", "gone"],
  ["edit", { path: "e", oldText: "gone", newText: "c" }, "e", "gone"],
  ["edit", { file_path: "f", old_string: "gone", new_string: "c" }, "f", "gone"],
  ["edit", { path: "g", edits: { oldText: "gone", newText: "c" } }, "g", "gone"],
  ["edit", { path: "h", edits: '[{"oldText":"gone","newText":"c"}]' }, "h", "gone"],
  ["edit", { path: "i", edits: [{ op: "update", diff: "@@\n-gone\n+c" }] }, "i", "gone"],
  ["edit", { input: "*** Begin Patch\n*** Update File: j\n@@\n-gone\n+c\n*** Add File: k\n+e\n*** End Patch" }, "j, k", "gone"],
  ["Edit", { file_path: "l", old_string: "gone", new_string: "c", replace_all: true }, "l", "gone"],
  ["MultiEdit", { file_path: "m", edits: [{ old_string: "gone", new_string: "c" }] }, "m", "gone"],
  ["NotebookEdit", { notebook_path: "n.ipynb", new_source: "x", cell_id: "1" }, "n.ipynb"],
  ["bash", { command: "ls\n-l", timeout: 5 }, "ls -l"],
  ["Bash", { command: "ls", description: "lists" }, "ls"],
  ["bash", { command: "ls \u001b]; touch P #\u0007" }, "ls ␛]; touch P #␇"],
  ["grep", { pattern: "p", path: "src" }, "/p/ in src"],
  ["grep", { pattern: "p", file_path: "lib" }, "/p/ in lib"],
  ["grep", { pattern: "p", paths: ["a", "b"] }, '/p/ in ["a","b"]'],
  ["Grep", { pattern: "p", output_mode: "count" }, "/p/ in ."],
  ["find", { pattern: "*.rs" }, "*.rs in ."],
  ["Glob", { pattern: "*.rs", path: "src" }, "*.rs in src"],
  ["ls", {}, "."],
  ["LS", { path: "src" }, "src"],
  ["read", { path: "x\u202ey\nz" }, "x\\u{202e}y␊z"],
  ["write", { path: "o", file_path: "p", content: "x" }, "o"],
];

const entry = (id, parentId, message) => ({ type: "message", id, parentId, timestamp: "2026-11-01T00:00:00.000Z", message });

function session() {
  const lines = [{ type: "session", version: 3, id: "11111111-1111-4111-8111-111111111111", timestamp: "2026-11-01T00:00:00.000Z", cwd: "/w" }, entry("aaaaaaaa", null, { role: "user", content: "go", timestamp: 1 })];
  let parent = "aaaaaaaa";
  CALLS.forEach(([name, given], at) => {
    const id = (kind) => `${kind}${at.toString(16).padStart(7, "0")}`;
    lines.push(entry(id("b"), parent, { role: "assistant", content: [{ type: "text", text: `${at}.` }, { type: "toolCall", id: `c${at}`, name, arguments: given }], provider: "p", model: "m", api: "a", stopReason: "toolUse", timestamp: 2 }));
    lines.push(entry(id("c"), id("b"), { role: "toolResult", toolCallId: `c${at}`, toolName: name, content: [{ type: "text", text: "ok" }], isError: false, timestamp: 3 }));
    parent = id("c");
  });
  return `${lines.map((line) => JSON.stringify(line)).join("\n")}\n`;
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
  CALLS.forEach(([name, given, subject, gone], at) => {
    for (const [face, shown] of Object.entries(faces)) {
      const words = face === "tree" ? `[${name}: ${subject}]` : `${name}: ${subject}`;
      if (!shown.includes(words)) wrong.push(`${face} does not say ${words} of ${JSON.stringify(given)}`);
    }
    const isRun = name.toLowerCase() === "bash";
    const words = `${name} ${isRun ? "$ " : ""}${subject}`;
    if (!boxes[at].text.startsWith(words)) wrong.push(`the page says ${JSON.stringify(boxes[at].text.slice(0, 80))}, not ${words}`);
    if (gone && !boxes[at].removed.some((row) => row.includes(gone))) wrong.push(`the page shows no change of ${JSON.stringify(given)}`);
  });
  assert.deepEqual(wrong, []);
});
