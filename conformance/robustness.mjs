// Probes what offshoot, pi and omp do with damaged files, full disks, signals and each other; prints or writes the table.
//
//   OFFSHOOT_BIN=… node robustness.mjs [--write FILE] [--facts JSON] [--only PART] [--subjects offshoot,pi,omp]
import * as fs from "node:fs";
import * as path from "node:path";
import { markdown } from "./robustness/report.mjs";
import { ROWS } from "./robustness/probes.mjs";
import { probeAll, subjectNames, versions } from "./robustness/run.mjs";

const options = {};
for (let i = 2; i < process.argv.length; i += 2) options[process.argv[i].replace(/^--/, "")] = process.argv[i + 1];
const unknown = Object.keys(options).find((name) => !["write", "facts", "only", "subjects"].includes(name));
if (unknown !== undefined || !process.env.OFFSHOOT_BIN) {
  console.error(unknown === undefined ? "OFFSHOOT_BIN names no program" : `no option --${unknown}`);
  process.exit(2);
}
const { names, notes } = subjectNames(options.subjects?.split(","));
for (const note of notes) console.error(`NOTE: ${note}`);
const rows = ROWS.filter(({ name }) => !options.only || name.includes(options.only));
const command = [path.resolve(process.env.OFFSHOOT_BIN)];
const results = await probeAll({ rows, names, command, tell: (line) => console.error(line) });
const text = markdown({ results, names, notes, facts: [...versions(names, command), ...JSON.parse(options.facts ?? "[]")], date: new Date().toISOString().slice(0, 10) });
if (options.write) fs.writeFileSync(options.write, text);
else console.log(text);
const failed = results.filter(({ seen }) => seen.offshoot?.good === false);
for (const { row } of failed) console.error(`offshoot fails: ${row.name}`);
process.exit(failed.length === 0 ? 0 : 1);
