// Kills runs with three children after every line and continues them; prints what held.
//
//   OFFSHOOT_BIN=… node children/kill.mjs [ROUNDS]
import * as fs from "node:fs";
import * as path from "node:path";
import { temporaryFolder } from "../lib/places.mjs";
import { round } from "./scene.mjs";

const program = path.resolve(process.env.OFFSHOOT_BIN);
const rounds = Number(process.argv[2] ?? 200);
let [killed, cut, failed, last] = [0, 0, 0, 36];
for (let number = 0; number < rounds; number += 1) {
  const folder = temporaryFolder("children");
  const seen = await round(program, folder, 1 + (number % last));
  killed += seen.wasKilled ? 1 : 0;
  cut += seen.cut;
  if (seen.wrong.length > 0) {
    failed += 1;
    console.log(`round ${number}, killed at line ${1 + (number % last)}: ${seen.wrong.join("; ")} (${folder})`);
  } else fs.rmSync(folder, { recursive: true, force: true });
}
console.log(`${rounds} rounds, ${killed} killed, ${cut} requests cut, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
