// A fixed third of the packages that users of pi bring along: each does its work in offshoot. docs/packages.md has a row for each.
//   OFFSHOOT_BIN=… node --test moved-packages.test.mjs
import assert from "node:assert/strict";
import * as fs from "node:fs";
import * as path from "node:path";
import { after, test } from "node:test";
import { MOVED, use } from "./extensions/moved-packages.mjs";
import { EXTENSIONS } from "./extensions/places.mjs";
import { REPOSITORY, temporaryFolder } from "./lib/places.mjs";

const folder = temporaryFolder("moved");
after(() => fs.rmSync(folder, { recursive: true, force: true }));

test("the table has a row for each, with its version", () => {
  const page = fs.readFileSync(path.join(REPOSITORY, "docs/packages.md"), "utf8");
  const manifests = ["moved-third", "moved-rest", "packages"].map((kind) => JSON.parse(fs.readFileSync(path.join(EXTENSIONS, kind, "package.json"), "utf8")));
  const versions = Object.assign({}, ...manifests.map(({ dependencies }) => dependencies));
  for (const name of Object.keys(MOVED)) assert.ok(page.includes(`| \`${name}\` ${versions[name]} |`), name);
});

for (const [name, { isInThird, holds }] of Object.entries(MOVED)) {
  if (!isInThird) continue;
  test(name, { timeout: 300_000 }, async () => {
    const facts = await use(name, "offshoot", folder);
    assert.deepEqual(facts.failures, []);
    assert.ok(holds(facts), JSON.stringify(facts).slice(0, 2000));
  });
}
