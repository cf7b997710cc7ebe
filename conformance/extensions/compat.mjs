// Runs the tables of extensions, all or some rows, and writes docs/extensions-compat.md.
//   OFFSHOOT_BIN=… node extensions/compat.mjs [--only NAME]… [--part host|program] [--packages] [--misbehaviour] [--write FILE]
import * as fs from "node:fs";
import * as path from "node:path";
import { parseArgs } from "node:util";
import { temporaryFolder } from "../lib/places.mjs";
import { PACKAGES, usePackage } from "./packages.mjs";
import { misbehave } from "./misbehaviour.mjs";
import { page } from "./page.mjs";
import { ROWS, verdict } from "./verdicts.mjs";

const { values } = parseArgs({ options: { only: { type: "string", multiple: true }, part: { type: "string", multiple: true }, write: { type: "string" }, packages: { type: "boolean" }, misbehaviour: { type: "boolean" } } });
const folder = temporaryFolder("extensions");
const program = process.env.OFFSHOOT_BIN && path.resolve(process.env.OFFSHOOT_BIN);
const isWanted = ({ name }) => (!values.only && !(values.misbehaviour && !values.write)) || values.only?.includes(name);
const results = [];
for (const row of ROWS.filter(isWanted)) {
  const found = await verdict(row, folder, { program, parts: values.part });
  results.push({ ...row, ...found });
  for (const [part, list] of Object.entries(found)) if (list?.length) console.log(`✗ ${row.kind} ${row.name}, ${part}\n    ${list.join("\n    ").slice(0, 1500)}`);
}
const versions = JSON.parse(fs.readFileSync(new URL("./packages/package.json", import.meta.url), "utf8")).dependencies;
const packages = [];
for (const entry of values.packages || values.write ? PACKAGES.filter(isWanted) : []) {
  const list = await usePackage(entry, folder);
  packages.push({ ...entry, list, version: versions[entry.name] });
  if (list.length) console.log(`✗ package ${entry.name}\n    ${list.join("\n    ").slice(0, 1500)}`);
}
const holds = ({ host, program: whole }) => !host?.length && !whole?.length;
for (const kind of ["hook", "tool", "extension", "probe"]) {
  const rows = results.filter((row) => row.kind === kind);
  if (rows.length) console.log(`${kind}: ${rows.filter(holds).length} of ${rows.length}; in the whole program ${rows.filter(({ program: whole }) => whole && !whole.length).length} of ${rows.filter(({ program: whole }) => whole).length}`);
}
if (packages.length) console.log(`packages: ${packages.filter(({ list }) => !list.length).length} of ${packages.length}`);
const bad = values.misbehaviour || values.write ? await misbehave(folder, program) : [];
for (const { does, without, with: has, lost, wrong } of bad) console.log(`${wrong.length ? "✗" : "✓"} ${does}: ${without} entries without it, ${has} with it, ${lost} lost${wrong.map((each) => `\n    ${each}`).join("")}`);
if (values.write) fs.writeFileSync(values.write, await page(results, packages, bad));
fs.rmSync(folder, { recursive: true, force: true });
process.exit(0);
