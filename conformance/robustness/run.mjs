// Runs rows: every program in a folder and a process of its own for each row.
import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import { bunBinary, ompPackage, piPackage, temporaryFolder } from "../lib/places.mjs";
import { Offshoot, Peer } from "./subjects.mjs";

/** Who can be probed on this machine; who cannot is named in the notes. */
export function subjectNames(wanted = ["offshoot", "pi", "omp"]) {
  const isThere = { offshoot: () => true, pi: () => fs.existsSync(piPackage()), omp: () => fs.existsSync(ompPackage()) && bunBinary() !== "" };
  const names = wanted.filter((name) => isThere[name]());
  return { names, notes: wanted.filter((name) => !names.includes(name)).map((name) => `${name} was NOT probed: it is not installed`) };
}

/** What was probed, as rows of [what, version]. */
export function versions(names, [program]) {
  const packaged = (folder) => JSON.parse(fs.readFileSync(`${folder}/package.json`, "utf8")).version;
  const said = (command) => execFileSync(command, ["--version"], { encoding: "utf8" }).trim();
  const rows = { offshoot: () => said(program).replace(/^offshoot /, ""), pi: () => `${packaged(piPackage())} (node ${process.version})`, omp: () => `${packaged(ompPackage())} (bun ${said(bunBinary())})` };
  return names.map((name) => [name, rows[name]()]);
}

/** Runs one row for one program: {good, text, seconds}. */
export async function probe(row, name, command) {
  const folder = temporaryFolder(`robustness-${name}`);
  const subject = name === "offshoot" ? new Offshoot(command, folder) : new Peer(name, folder);
  const start = performance.now();
  try {
    return { ...(await row.run(subject, folder)), seconds: (performance.now() - start) / 1000 };
  } catch (error) {
    return { good: false, text: `FAILS (${error.message})`, seconds: (performance.now() - start) / 1000 };
  } finally {
    await subject.close();
    fs.rmSync(folder, { recursive: true, force: true });
  }
}

export async function probeAll({ rows, names, command, tell }) {
  const results = [];
  for (const row of rows) {
    const seen = {};
    for (const name of names) {
      seen[name] = await probe(row, name, command);
      tell(`${row.name}: ${name} (${seen[name].seconds.toFixed(1)} s): ${seen[name].text}`);
    }
    results.push({ row, seen });
  }
  return results;
}
