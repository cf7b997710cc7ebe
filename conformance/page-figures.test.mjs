// The script of pages writes token counts and costs as the library does: both are held to one table.
import assert from "node:assert/strict";
import * as fs from "node:fs";
import * as path from "node:path";
import { test } from "node:test";
import { REPOSITORY } from "./lib/places.mjs";

const read = (file) => fs.readFileSync(path.join(REPOSITORY, file), "utf8");

test("a page writes figures as commands and the terminal do", () => {
  const script = read("crates/offshoot-html/src/assets/data.js");
  const [from, to] = ["const grouped", "/** A stretch of time"].map((mark) => script.indexOf(mark));
  assert.ok(from >= 0 && to > from, "the figures are no longer where they were in data.js");
  const figures = new Function(`${script.slice(from, to)}\nreturn { grouped, dollars, inShort };`)();
  const table = JSON.parse(read("crates/offshoot-session/tests/it/figures.json"));
  assert.deepEqual(Object.keys(figures).sort(), Object.keys(table).sort());
  for (const [name, rows] of Object.entries(table)) {
    for (const [number, words] of rows) assert.equal(figures[name](number), words, `${name}(${number})`);
  }
});
